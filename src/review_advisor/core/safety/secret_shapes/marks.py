"""The marks that stand in a text where a secret was."""

from __future__ import annotations

import re

REDACTED = "[secret removed]"
"""Stands for a secret of the harness's own. Nobody is told of which kind it was."""
_MARK = re.compile(r"\[secret(?: removed|: (?P<kind>[A-Za-z0-9][A-Za-z0-9 .'/-]{1,48}))\]")


def mark(kind: str) -> str:
    """What stands for a recognised secret: it says the kind, and is the same for any two secrets of one kind."""
    return f"[secret: {kind}]"


def holds_mark(text: str) -> bool:
    """Whether something was taken out of ``text``."""
    return _MARK.search(text) is not None


def is_mark(text: str) -> bool:
    """Whether ``text`` is a mark and nothing else."""
    return _MARK.fullmatch(text) is not None


def kind_marked(text: str) -> str:
    """The kind that the first mark in ``text`` names; empty if there is none, or it names none."""
    found = _MARK.search(text)
    return (found["kind"] or "") if found else ""
