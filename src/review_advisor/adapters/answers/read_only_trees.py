"""``Agents`` that end the review once a call has changed a tree that it was only to read."""

from __future__ import annotations

import hashlib
from pathlib import Path

from review_advisor.adapters.answers.copies import entries
from review_advisor.core.roles.calls import AgentCall, Answered, Lost, TreeChangedError
from review_advisor.ports.review import Agents, Consults

_BYTES = 16


class ReadOnlyTrees:
    """``agents`` whose calls leave the exported tree as it is, unless they have leave to edit.

    Later calls read the same tree: after a difference nothing that they say about it counts, so the review stops.
    """

    def __init__(self, agents: Agents) -> None:
        self._agents = agents

    def run(self, call: AgentCall, consults: Consults | None = None) -> Answered | Lost:
        """The reply of the agents. Raises what they raise, and ``TreeChangedError``."""
        if call.tree is None or call.edits is not None:
            return self._agents.run(call, consults)
        before = _digest(call.tree)
        if before is None:
            raise TreeChangedError("The tree under review cannot be read, so changes of it would not be noticed.")
        reply = self._agents.run(call, consults)
        after = _digest(call.tree)
        if after is None:
            raise TreeChangedError("The tree under review cannot be read after a call.", reply.receipt)
        if after != before:
            raise TreeChangedError(
                "The tree under review changed during a call without leave to edit it.", reply.receipt
            )
        return reply

    def check_interrupt(self) -> None:
        """As the agents do."""
        self._agents.check_interrupt()

    def end_running(self) -> None:
        """As the agents do."""
        self._agents.end_running()


def _digest(folder: Path) -> int | None:
    """What stands for everything below ``folder``, in whatever order the disk lists it; None if it cannot be read.

    A file's content is told by the time of its last change, which cannot be set back.
    """
    total = 0
    try:
        for path, facts in entries(folder):
            told = repr((path, facts.st_ino, facts.st_size, facts.st_mode, facts.st_ctime_ns))
            digest = hashlib.blake2b(told.encode("utf-8", "surrogateescape"), digest_size=_BYTES)
            total += int.from_bytes(digest.digest(), "big")
    except OSError:
        return None
    return total
