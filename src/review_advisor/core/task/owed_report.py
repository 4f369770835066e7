"""The report that an executor owes with its completed end: a block of its own, whose form the run's verb brings."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from review_advisor.core.task.blocks import BlockTag


@dataclass(frozen=True, slots=True)
class ReadReport:
    """What a report's block says: its JSON, and the ``action`` of the run that it is for; empty if nobody can tell.

    ``error`` says why it cannot be used, without words of its own; empty if it can.
    """

    text: str
    action: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class OwedReport:
    """``rules`` and ``form`` are what the executor is told of it; ``read`` reads what its block holds."""

    tag: BlockTag
    rules: str
    form: str
    read: Callable[[Mapping[str, Any]], ReadReport]

    def section(self, nonce: str) -> str:
        """What every call of the executor is told of it."""
        return f'{self.rules}\n<{self.tag} nonce="{nonce}">\n{self.form}\n</{self.tag}>'

    @property
    def version(self) -> str:
        """A digest of these texts."""
        return hashlib.sha256(self.section("nonce").encode()).hexdigest()[:12]
