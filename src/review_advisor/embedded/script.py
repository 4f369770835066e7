"""Scripted replies: a file of lists, each reply played once, in order, across processes."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path
from typing import Any

from review_advisor.embedded.command_line import UsageError

CONSULT = "consult"
"""The name under which a subagent's replies are listed."""


class Script:
    """The replies of a file, by question: an answer schema's title, or ``consult``.

    What was played is kept in the folder ``<file>.played``, one counter a question, under a lock: two
    processes never get the same reply. Nothing is ever invented for a question with no reply left.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            listed = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UsageError(f"Error: the script {file.name} cannot be read: {error}") from error
        if not isinstance(listed, dict) or not all(isinstance(replies, list) for replies in listed.values()):
            raise UsageError(f"Error: the script {file.name} must map each question to a list of replies")
        self._replies: dict[str, list[Any]] = listed

    def take(self, question: str) -> dict[str, Any]:
        """The next reply to ``question``, now played. Raises ``UsageError`` if there is none."""
        replies = self._replies.get(question, [])
        folder = self._file.with_name(self._file.name + ".played")
        folder.mkdir(exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            counter = folder / f"{question}.count"
            played = int(counter.read_text(encoding="ascii")) if counter.exists() else 0
            if played >= len(replies):
                raise UsageError(f"Error: the script {self._file.name} has no reply left for {question!r}")
            counter.write_text(str(played + 1), encoding="ascii")
        reply = replies[played]
        if not isinstance(reply, dict):
            raise UsageError(f"Error: reply {played} for {question!r} in {self._file.name} is not an object")
        return reply
