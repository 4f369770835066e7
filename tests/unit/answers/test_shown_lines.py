"""What an agent is shown of a change can be quoted, whatever was taken out of it."""

from collections.abc import Iterator

import pytest
from benchmarks._secret_samples import CONTEXTS, KEYS, NAMED, PASSWORDS, TOKENS, Draw, left

from review_advisor.agents.answers import ReportedFinding, ReviewReport
from review_advisor.agents.evidence import ShownChange
from review_advisor.agents.prompts import DIFF, diff
from review_advisor.change.change import FileChange, Hunk, Status
from review_advisor.change.diff_text import changed_lines
from review_advisor.change.redaction import redactor
from review_advisor.safety.fence import fenced

NONCE = "n0nce-7f3a"
SHAPES = TOKENS + NAMED + PASSWORDS + KEYS


def _file(draw: Draw, number: int) -> tuple[FileChange, list[str]]:
    """A file with some secrets, whose lines are added, removed or kept as chance has it, and the secrets."""
    lines: list[str] = []
    secrets: list[str] = []
    for _ in range(draw.randrange(1, 4)):
        shape = draw.choice(SHAPES)
        secret = shape.make(draw)
        whole = draw.choice(list(CONTEXTS.values()))(shape.name, secret, draw)
        sign = draw.choice(("+", "-", " ", "mixed"))
        lines += ((draw.choice("+- ") if sign == "mixed" else sign) + line for line in whole.split("\n"))
        secrets += [shape.bare(secret)] if sign != "mixed" else []
    cut = draw.randrange(len(lines) + 1) if draw.random() < 0.3 else len(lines)
    hunks = [Hunk(1, 9, 1, 9, "", tuple(lines[:cut]))] + (
        [Hunk(90, 9, 90, 9, "", tuple(lines[cut:]))] if cut < len(lines) else []
    )
    return FileChange(Status.MODIFIED, f"src/f{number}.txt", added=1, removed=1, hunks=tuple(hunks)), secrets


def _shown(files: tuple[FileChange, ...]) -> Iterator[tuple[str, int, str]]:
    """Path, line and text of every changed line that the executor sees: as its prompt holds it."""
    prompt = redactor({}).knowing(files).in_prompt(diff(files, NONCE, 0, 1))
    inside = fenced(prompt, DIFF, NONCE)
    assert inside is not None
    yield from ((line.path, line.number, line.text) for line in changed_lines(inside))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(200))
def test_every_line_that_is_shown_can_be_quoted(seed: int) -> None:
    draw = Draw(seed)
    made = [_file(draw, number) for number in range(draw.randrange(1, 4))]
    files = tuple(file for file, _ in made)
    shown = [line for line in _shown(files) if len(line[2].strip()) >= 4]
    findings = tuple(
        ReportedFinding(
            path=path, line=number, severity="high", category="x", title=f"t{at}", body="b", confidence=1, evidence=text
        )
        for at, (path, number, text) in enumerate(shown)
    )
    known = redactor({}).knowing(files)
    checked = ShownChange(files, redactor=known).check(
        ReviewReport(verdict="reject", summary="s", confidence=1, findings=findings)
    )
    assert [(refused.path, refused.title, refused.why) for refused in checked.refused] == []
    text = "\n".join(line for _, _, line in shown)
    assert [piece for _, secrets in made for secret in secrets if (piece := left(secret, text))] == []
