"""Untrusted text at a terminal: safe to print, and broken into lines."""

from __future__ import annotations

import re
import textwrap

from review_advisor.safety.fence import clean

WIDTH = 100
_COMMAND = re.compile(r"^([^\S\n]*+)::", re.MULTILINE)


def printable(text: str) -> str:
    """Untrusted text, safe to print: no escape codes, no secrets, no workflow commands."""
    return _without_commands(clean(text))


def _without_commands(text: str) -> str:
    text = _COMMAND.sub(r"\1: :", text) if "::" in text else text
    return text.replace("##[", "# #[")


def one_line(text: str) -> str:
    """Untrusted text, safe to print on one line: in a heading or a list it can open no line of its own."""
    return " ".join(printable(text).split())


def wrapped(prefix: str, text: str) -> str:
    """``text`` after ``prefix``, further lines indented below it."""
    room = max(WIDTH, len(prefix) + 40)
    line = one_line(text)
    if line and len(prefix) + len(line) <= room:
        return _without_commands(prefix + line)
    indent = " " * min(len(prefix), 17)
    lines = textwrap.wrap(line, room, initial_indent=prefix, subsequent_indent=indent)
    return _without_commands("\n".join(lines)) or prefix.rstrip()  # a line may have been broken before a command
