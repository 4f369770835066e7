"""What a coding agent is told about its advisor: a skill of its own, and a marked block in AGENTS.md."""

from __future__ import annotations

SKILL_FILE = ".claude/skills/review-advisor/SKILL.md"
AGENTS_FILE = "AGENTS.md"
START, END = "<!-- review-advisor:start -->", "<!-- review-advisor:end -->"

_CONDITIONS = """\
Ask before you go on alone, when
1. a step is critical: authentication, permissions, migrations, deletion, payments, workflows, a public interface;
2. two tool calls in a row have failed;
3. your confidence in the next step is below 0.7, or somebody asks for a second opinion."""

BLOCK = f"""\
{START}
## A second opinion

`review-advisor run "TASK"` lets an executor do a task with a stronger advisor.
`review-advisor review` reviews your branch.
{_CONDITIONS}

Say what became of each advice: applied, or why not. The log of a task stands in `runs/<run id>/`, that of a review in
`review_logs/`. `review-advisor init --agent claude-code` writes this block anew: change nothing between its marks.
{END}
"""

SKILL = f"""\
---
name: review-advisor
description: Ask a stronger model for a second opinion, or a review of the branch, when a step is critical or fails.
---

{START}
{_CONDITIONS}

- A task with an advisor: `review-advisor run "TASK" --max-advisor-calls 3`. Only exit code 0 means completed.
- A review of the branch: `review-advisor review`. 0 approves, 10 asks for changes, 11 calls a person.

Apply an advice if it fits your evidence; otherwise say why not. Never ask the same twice.
{END}
"""


class MarksError(ValueError):
    """The marks of a file are not one start and one end behind it. One sentence."""


def with_line_ends_of(text: str, written: str) -> str:
    """``written`` with the line ends of ``text``: Windows' if its first line ends so."""
    first = text.find("\n")
    return written.replace("\n", "\r\n") if first > 0 and text[first - 1] == "\r" else written


def with_block(text: str, block: str) -> str:
    """``text`` with ``block`` in the place of the marked one, or at its end if none is marked.

    The block has the line ends of the text. Doing it twice is doing it once. Raises ``MarksError``.
    """
    starts, ends = text.count(START), text.count(END)
    if starts == ends == 0:
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        return text + with_line_ends_of(text + gap, f"{gap}{block}")
    first, last = text.find(START), text.find(END)
    if (starts, ends) != (1, 1) or last < first:
        raise MarksError(f"its marks {START} and {END} do not stand once each, in this order: mend or remove them")
    return f"{text[:first]}{with_line_ends_of(text, block.rstrip())}{text[last + len(END) :]}"
