"""Untrusted text at a terminal: safe to print, and broken into lines."""

from __future__ import annotations

import re
import textwrap

from review_advisor.safety.fence import clean

WIDTH = 100


_COMMAND = re.compile(r"^([^\S\n]*+)::", re.MULTILINE)


def printable(text: str) -> str:
    """Words from outside, safe to print: no escape codes, no secrets, no workflow commands."""
    return _without_commands(clean(text))


def _without_commands(text: str) -> str:
    found = _COMMAND.sub(r"\1: :", text) if "::" in text else text
    return found.replace("##[", "# #[")


def one_line(text: str) -> str:
    """The same on one line: what stands in a heading or a list can open no line of its own."""
    return " ".join(printable(text).split())


def wrapped(prefix: str, text: str) -> str:
    """``text`` after ``prefix``, further lines indented below it."""
    room = max(WIDTH, len(prefix) + 40)
    words = one_line(text)
    if words and len(prefix) + len(words) <= room:
        return _without_commands(prefix + words)
    indent = " " * min(len(prefix), 17)
    lines = textwrap.wrap(words, room, initial_indent=prefix, subsequent_indent=indent)
    return _without_commands("\n".join(lines)) or prefix.rstrip()  # a line may have been broken before a command
