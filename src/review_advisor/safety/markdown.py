"""Untrusted text in Markdown: nothing in it acts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from review_advisor.safety.fence import whole
from review_advisor.safety.terminal import printable

GUTTER = "| "
"""In front of a line that is to be read and not obeyed."""

_MARKS = r"(?:[\s>*+_#~-]|\d{1,9}[.)])*"
"""What stands before the first word of a line in Markdown, and what a bot may pass over."""

_MENTIONED = (
    "all-?contributors", "bors", "claude", "codecov", "coderabbitai", "codex", "copilot", "cursor", "dependabot",
    "gemini-code-assist", "greptileai", "homu", "k8s-ci-robot", "mergify(?:io)?", "openshift-ci", "packit", "renovate",
    "rultor", "rustbot",
)  # fmt: skip

_SPOKEN = (
    "add to (?:allow|white)list", "atlantis", "bors", r"delegate=.*", r"delegate\+", "digger", "homu",
    "i have read the cla", "jenkins", "lgtm", "merge it", "ok to test", "r=.*", "r[+?]", "recheck",
    "retest", "(?:re)?test this", "terrateam", "trigger:",
)  # fmt: skip

_DEPLOYED = ("deploy", "help", "lock", "noop", "unlock", "wcid")

_ORDER = re.compile(
    rf"{_MARKS}(?:"
    r"[/!][a-z][\w:+.-]*(?!\S)"  # a word of its own: no path, no condition
    rf"|@(?:{'|'.join(_MENTIONED)})(?![\w-])"
    r"|@[\w-]+(?:\[bot\])?[,:]?[ \t]+\S"  # somebody is told something: no decorator
    rf"|\.(?:{'|'.join(_DEPLOYED)})(?!\S)"
    rf"|(?:{'|'.join(_SPOKEN)})(?!\w)"
    ")",
    re.IGNORECASE,
)


def gives_order(line: str) -> bool:
    """Whether a line begins with what a bot could obey."""
    return _ORDER.match(line) is not None


def gives_orders(text: str) -> bool:
    """Whether any of its lines does."""
    return any(map(gives_order, text.split("\n")))


def behind_gutter(text: str) -> str:
    """The text with a visible mark in front of each line, if any of them gives an order."""
    if not gives_orders(text):
        return text
    return "\n".join(f"{GUTTER}{line}" for line in text.split("\n"))


MOST_PROSE = 4_000
MOST_PHRASE = 600
MOST_CODE = 300
_EMOJI = "[\u2190-\u2bff\U0001f000-\U0001faff]"
_EMOJI_GLUE = re.compile(f"\ufe0f|(?<={_EMOJI})\ufe0f?\u200d(?={_EMOJI})")
_OWN_MARK = re.compile(r"<!--(?=\s*review-advisor)", re.IGNORECASE)

_LOADED = re.compile(
    r"[@$]|://|(?<![A-Za-z0-9])www\.|github\.com|#\d|(?:GH|GHSA|CVE)-\w|[0-9a-f]{7}|^[\"'(\[{]*/[a-z]|^!\w",
    re.IGNORECASE,
)
"""What GitHub acts on wherever it stands in a text, and what bots take for a command."""

_OPENING, _CLOSING = "\"'([{", ".,;:!?)]}\"'"

_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", "`": "&#96;", **{sign: f"\\{sign}" for sign in "\\*_[]|~"}}
)

_BLOCK_START = re.compile(r"[#+=:-]|\d{1,9}(?=[.)])")
_SPAN = re.compile(r"`([^`\n]+)`")

_STRONG = re.compile(r"(?<!\S)\\\*\\\*(?=[^\s\\])((?:[^\\]|\\[^*])*?[^\s\\])\\\*\\\*(?=[.,:;!?)]*(?:\s|$))")
"""Whole words between escaped double stars."""

_CODE = "\0"
"""Stands for a span of code while the text around it is looked at: no text has this character."""

_BULLET = re.compile(r"[-*+] +(?=\S)")
_FENCE = re.compile(r"`{3,}|~{3,}")
_BACKQUOTES = re.compile(r"`+")
_BAR = re.compile(r"(?<!\\)\|")


def prose(text: str, most: int = MOST_PROSE) -> str:
    """Several lines as Markdown: paragraphs, plain list items and code stay what they are, the rest is literal.

    ``most`` counts the characters before they are escaped, which makes at most five of each.
    """
    blocks: list[str] = []
    code_lines: list[str] | None = None
    fence = ""
    listed = False
    for raw in shortened(plain(text), most).split("\n"):
        mark = _FENCE.match(raw.strip())
        if code_lines is not None:
            if mark is not None and mark[0].startswith(fence):
                blocks.append(_block("\n".join(code_lines)))
                code_lines = None
            else:
                code_lines.append(raw)
        elif mark is not None:
            fence, code_lines = mark[0], []
        else:
            bullet = _BULLET.match(raw.strip())
            if listed and not bullet and raw.strip():
                blocks.append("")
            listed = bullet is not None
            line = raw.strip()
            blocks.append(
                f"- {_inline(printable(line[bullet.end() :]), _STRONG)}" if bullet else _inline(line, _STRONG)
            )
    if code_lines is not None:
        blocks.append(_block("\n".join(code_lines)))
    return "\n".join(blocks).strip("\n")


def phrase(text: str, most: int = MOST_PHRASE) -> str:
    """Words within a line of ours: one line, and nothing in it can end that line's construct, table cells excepted."""
    return _inline(shortened(_flat(text), most))


def code(text: str, most: int = MOST_CODE) -> str:
    """A name, a path or a command as a code span, on one line."""
    return _span(shortened(_flat(text), most))


def code_block(text: str, info: str = "", most: int = MOST_PROSE) -> str:
    """A fenced block. ``info`` is our own word; whatever is inside, it ends where we end it."""
    return _block(shortened(plain(text), most), info)


def cell(markdown: str) -> str:
    """Safe Markdown of one line as a table's cell: a bar ends a cell, in code too, unless a backslash is before it."""
    return _BAR.sub(r"\|", markdown)


def own_command(words: str) -> str:
    """A command of ours, to be copied into a comment."""
    return f"```\n{words}\n```"


def quote(markdown: str) -> str:
    """Safe Markdown as a quotation."""
    return "\n".join(f"> {line}" if line else ">" for line in markdown.split("\n"))


def is_exact(text: str) -> bool:
    """Whether ``text`` can be shown in a block without a single character changed."""
    return plain(text) == text and not gives_orders(text)


def plain(text: str) -> str:
    """The text where no Markdown is read: secrets, invisible characters, workflow commands and our marks disarmed."""
    return _OWN_MARK.sub("<! --", printable(_EMOJI_GLUE.sub("", whole(text).replace("\r\n", "\n"))))


def plain_text(text: str, most: int) -> str:
    """``plain`` text, cut after ``most`` characters, and behind a gutter where it would give an order to a bot."""
    return behind_gutter(shortened(plain(text), most))


def plain_line(text: str, most: int) -> str:
    """``plain`` text on one line of at most ``most`` characters."""
    flat = _flat(text)
    return flat if len(flat) <= most else flat[: most - 1].rstrip() + "…"


def shortened(text: str, most: int) -> str:
    """``text`` cut after at most ``most`` characters, at a line's end if one is near; the cut is said in words."""
    if len(text) <= most:
        return text
    head = text[:most]
    at_line = head.rfind("\n")
    kept = head[:at_line] if at_line > most // 2 else head
    gap = "\n" if "\n" in head else " "
    return f"{kept}{gap}[cut here: {len(text) - len(kept):,} more characters]"


def _flat(text: str) -> str:
    return " ".join(plain(text).split())


def _inline(line: str, strong: re.Pattern[str] | None = None) -> str:
    """One line, literal but for what is ``strong``.

    Neighbouring pieces of code are joined, so that no two backquotes of ours ever meet.
    """
    made: list[str] = []
    spans: list[str] = []
    for is_code, pieces in groupby(_pieces(line), key=itemgetter(0)):
        text = "".join(piece for _, piece in pieces)
        if is_code:
            spans.append(_span(text))
            made.append(_CODE)
        else:
            made.append(text.translate(_ESCAPES) if made else _at_start(text))
    masked = "".join(made)
    parts = (masked if strong is None else strong.sub(r"**\1**", masked)).split(_CODE)
    return "".join(part + span for part, span in zip(parts, [*spans, ""], strict=True))


def _at_start(piece: str) -> str:
    """A line's first words, which open no heading, list, rule or table."""
    mark = _BLOCK_START.match(piece)
    if mark is None:
        return piece.translate(_ESCAPES)
    digits, rest = (mark[0], piece[mark.end() :]) if mark[0].isdigit() else ("", piece)
    return f"{digits}\\{rest[:1]}{rest[1:].translate(_ESCAPES)}"


def _pieces(line: str) -> Iterator[tuple[bool, str]]:
    """The line cut into text and code."""
    at = 0
    if gives_order(line):
        at = len(line.split(maxsplit=1)[0])
        yield True, line[:at]
    for span in _SPAN.finditer(line, at):
        if span[1].strip():
            yield from _words(line[at : span.start()])
            yield True, span[1]
            at = span.end()
    yield from _words(line[at:])


def _words(text: str) -> Iterator[tuple[bool, str]]:
    for word in re.split(r"(\s+)", text):
        if not _LOADED.search(word) and not _LOADED.search(word.replace("*", "")):
            if word:
                yield False, word
            continue
        bare = word.lstrip(_OPENING)
        core = bare.rstrip(_CLOSING)
        before, after = word[: len(word) - len(bare)], bare[len(core) :]
        yield from ((is_code, each) for is_code, each in ((False, before), (True, core), (False, after)) if each)


def _span(content: str) -> str:
    fence = "`" * (_longest_run(content) + 1)
    pad = " " if content[:1] in ("`", " ", "") or content[-1:] in ("`", " ") else ""
    return f"{fence}{pad}{content}{pad}{fence}"


def _block(content: str, info: str = "") -> str:
    if gives_orders(content):
        content, info = behind_gutter(content.removesuffix("\n")), ""
    fence = "`" * max(3, _longest_run(content) + 1)
    body = content.removesuffix("\n")
    return "\n".join([f"{fence}{info}", *([body] if content else []), fence])


def _longest_run(content: str) -> int:
    return max(map(len, _BACKQUOTES.findall(content)), default=0)
