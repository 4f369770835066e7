"""A pull request as an HTML page that looks like GitHub's."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from review_advisor.github.writes import Annotation
from review_advisor.mockworld.github import GitHub
from review_advisor.mockworld.github_records import (
    CheckRun,
    IssueComment,
    Pull,
    Review,
    ReviewThread,
    TimelineEntry,
    shown_lines,
)

THEMES = ("light", "dark")

LINES_ABOVE = 3
"""So many lines of the diff stand above an inline comment's own."""

KEPT_HTML = re.compile(r"(?:<!--(?:(?!-->).)*+-->|</?details>|<summary>[^<]*</summary>|</?sub>|\s)+", re.DOTALL)
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
LEVELS = {"failure": "Check failure", "warning": "Check warning", "notice": "Check notice"}

STATES = {
    "success": "Passed",
    "neutral": "Neutral",
    "failure": "Failed",
    "action_required": "Action required",
    "cancelled": "Cancelled",
    "in_progress": "In progress",
}

SIGNS = {
    "success": ("passed", "M4.5 8.5l2.5 2.5 4.5-5.5"),
    "failure": ("failed", "M5 5l6 6M11 5l-6 6"),
    "action_required": ("asks", "M8 4v5M8 11v1.2"),
    "stopped": ("failed", "M4 8h8"),
    "unverified": ("asks", ""),
    "cancelled": ("muted", "M4 8h8"),
    "neutral": ("muted", "M4 8h8"),
    "in_progress": ("asks", ""),
}

EMOJI = {
    "\u2705": "success",
    "\u274c": "failure",
    "\u270b": "action_required",
    "\u26d4": "stopped",
    "\U0001f7e1": "unverified",
    "\u26aa": "neutral",
}
"""What the bot's headings begin with, drawn: not every machine has a font for it."""

Record = IssueComment | Review | CheckRun | TimelineEntry


def page(
    title: str,
    records: Sequence[Record],
    patches: Mapping[str, str],
    theme: str = "light",
    *,
    opened: bool = False,
    heading: str = "",
) -> str:
    """A whole HTML document that shows these records from the top. It fetches nothing and runs nothing.

    ``patches`` are the diffs, by path, below which inline comments stand. ``opened``: what is folded is shown opened.
    ``heading`` stands above.
    """
    style = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    body = "\n".join(_record(record, patches) for record in records)
    body = f'<h1 class="pull">{html.escape(heading)}</h1>\n{body}' if heading else body
    if opened:
        body = body.replace("<details>", "<details open>")
    return (
        f'<!DOCTYPE html>\n<html lang="en" class="{theme}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><title>{html.escape(title)}</title>'
        f"<style>{style}</style></head><body>\n{body}\n</body></html>\n"
    )


def conversation(github: GitHub, pull: Pull) -> tuple[Record, ...]:
    """What everybody sees of the pull request, from the top, and the checks of its head.

    Reviews that are not submitted are not in it.
    """
    reviews = [each for each in pull.reviews if each.state != "PENDING"]
    records: list[Record] = sorted((*pull.happened, *pull.comments, *reviews), key=lambda each: each.at)
    opening = [IssueComment(pull.id, pull.author, pull.body, pull.at)] if pull.body.strip() else []
    checks = [run for run in github.repository(pull.repository).checks.values() if run.commit == pull.head_sha]
    return (*opening, *records, *checks)


def patches_of(github: GitHub, pull: Pull) -> dict[str, str]:
    """The diffs of the pull request, by path."""
    return {file.path: file.patch or "" for file in github.changed_files(pull)}


def pull_page(github: GitHub, pull: Pull) -> str:
    """The HTML document, as everybody sees the pull request."""
    state = "Merged" if pull.merged else pull.state.capitalize()
    labels = "".join(f" · {label}" for label in pull.labels)
    heading = f"{pull.title} #{pull.number} · {state}{labels}"
    records, patches = conversation(github, pull), patches_of(github, pull)
    return page(f"{pull.title} #{pull.number}", records, patches, heading=heading)


def _record(record: Record, patches: Mapping[str, str]) -> str:
    match record:
        case IssueComment():
            edited = " · edited" if record.editor else ""
            return _remark(record.author, f"commented{edited}", record.body)
        case Review():
            threads = (_thread(thread, patches) for thread in record.threads)
            return _remark(record.author, "reviewed", record.body) + "\n".join(threads)
        case CheckRun():
            return _check(record)
        case TimelineEntry():
            return f'<p class="event"><b>{_name(record.by)}</b> {html.escape(record.text)}</p>'


# --- Markdown --------------------------------------------------------------------------------------------------------


def markdown(text: str, replaced: Sequence[str] = (), *, by: str = "[bot]") -> str:
    """A body as GitHub shows it. ``replaced`` are the lines that a suggestion in it would take the place of.

    HTML that a person writes is shown as text. Raises ``ValueError`` for a bot's HTML of which GitHub would drop some.
    """
    made = MarkdownIt("gfm-like", {"linkify": False, "html": by.endswith("[bot]"), "breaks": True})
    for kind in ("html_block", "html_inline"):
        made.add_render_rule(kind, _kept)
    made.add_render_rule("fence", _fence)
    rendered = made.render(text, {"replaced": replaced})
    for emoji, state in EMOJI.items():
        rendered = rendered.replace(emoji, sign(state))
    return f'<div class="markdown">{rendered}</div>'


def _kept(_self: Any, tokens: Sequence[Token], at: int, *_: Any) -> str:
    found = tokens[at].content
    if not KEPT_HTML.fullmatch(found):
        raise ValueError(f"GitHub would not keep all of {found!r}")
    return found


def _fence(_self: Any, tokens: Sequence[Token], at: int, _options: Any, env: dict[str, Any]) -> str:
    code, info = tokens[at].content, tokens[at].info.strip()
    if info == "suggestion":
        return _suggestion(env["replaced"], code)
    return f"<pre><code>{html.escape(code)}</code></pre>"


def _suggestion(replaced: Sequence[str], code: str) -> str:
    rows = [_row("removed", "", "-", line) for line in replaced]
    rows += [_row("added", "", "+", line) for line in code.removesuffix("\n").split("\n")]
    return (
        '<div class="suggestion"><div class="lines">Suggested change</div>'
        f'<table class="diff">{"".join(rows)}</table><div class="buttons">'
        '<span class="button">Commit suggestion</span> <span class="button">Add suggestion to batch</span></div></div>'
    )


def sign(state: str) -> str:
    """A small picture of a conclusion."""
    colour, path = SIGNS[state]
    return (
        f'<svg class="sign" viewBox="0 0 16 16"><circle cx="8" cy="8" r="8" fill="var(--{colour})"/>'
        f'<path d="{path}" fill="none" stroke="var(--page)" stroke-width="1.8" stroke-linecap="round"/></svg>'
    )


# --- comments, threads, checks ---------------------------------------------------------------------------------------


def _remark(author: str, did: str, body: str) -> str:
    return (
        f'<div class="said">{_face(author)}<div class="box">'
        f'<div class="head"><b>{_name(author)}</b>{_bot(author)} {did}</div>{markdown(body, by=author)}</div></div>'
    )


def _thread(thread: ReviewThread, patches: Mapping[str, str]) -> str:
    """A thread below its lines of the diff; an outdated one below the line that it was made on."""
    first = thread.comments[0]
    last = first.line or first.original_line
    begin = first.start_line or last
    if thread.outdated:
        patch = f"@@ -{last},0 +{last},1 @@\n+{thread.text}"
        begin = last
    else:
        patch = patches[first.path]
    about = f"Comment on line +{last}" if begin == last else f"Comment on lines +{begin} to +{last}"
    states = (("Outdated", thread.outdated), ("Resolved", thread.resolved_by is not None))
    tags = "".join(f' <span class="tag">{state}</span>' for state, holds in states if holds)
    comments = "".join(
        f'<div class="remark">{_face(each.author)}<b>{_name(each.author)}</b>{_bot(each.author)}'
        f"{markdown(each.body, _lines(patch, begin, last), by=each.author)}</div>"
        for each in thread.comments
    )
    rows = "".join(_rows(patch, begin, last))
    button = "Unresolve" if thread.resolved_by else "Resolve"
    return (
        f'<div class="thread"><div class="file"><code>{html.escape(first.path)}</code>{tags}</div>'
        f'<div class="lines">{about}</div><table class="diff">{rows}</table>'
        f'{comments}<div class="below"><span class="button">{button} conversation</span></div></div>'
    )


def _lines(patch: str, begin: int, last: int) -> list[str]:
    right = shown_lines(patch).right
    return [right[number].text for number in range(begin, last + 1)]


def _rows(patch: str, begin: int, last: int) -> Iterator[str]:
    """The new side of the diff down to the lines that are commented on."""
    added = {number for number, line in shown_lines(patch).right.items() if f"\n+{line.text}\n" in f"\n{patch}\n"}
    for number, line in shown_lines(patch).right.items():
        if begin - LINES_ABOVE <= number <= last:
            is_added = number in added and line.text.strip()
            yield _row("added" if is_added else "", str(number), "+" if is_added else " ", line.text)


def _row(kind: str, number: str, mark: str, text: str) -> str:
    return f'<tr class="{kind}"><td class="number">{number}</td><td>{mark} {html.escape(text)}</td></tr>'


def _check(run: CheckRun) -> str:
    state = run.conclusion or "in_progress"
    notes = "".join(map(_note, run.annotations))
    return (
        f'<div class="check"><h1>{sign(state)} {html.escape(run.title or "")}<small>{html.escape(run.name)} · '
        f'{STATES[state]}</small></h1><h2 class="part">DETAILS</h2>{markdown(run.summary or "")}'
        f"{'<h2 class=part>ANNOTATIONS</h2>' if notes else ''}{notes}</div>"
    )


def _note(each: Annotation) -> str:
    first, last = each.start_line, each.end_line
    lines = f"line {first}" if first == last else f"lines {first} to {last}"
    return (
        f'<div class="note {each.level}"><p>{LEVELS[each.level]} on {lines} in {html.escape(each.path)}</p>'
        f"<b>{html.escape(each.title)}</b><pre>{html.escape(each.message)}</pre></div>"
    )


def _face(login: str) -> str:
    return f'<span class="face{" bot" if login.endswith("[bot]") else ""}">{login[:1].upper()}</span>'


def _name(login: str) -> str:
    return html.escape(login.removesuffix("[bot]"))


def _bot(login: str) -> str:
    return ' <span class="tag">bot</span>' if login.endswith("[bot]") else ""
