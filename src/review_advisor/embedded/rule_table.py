"""Which rules the static checks run, and what each is worth. Tables only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from review_advisor.core.answers.answers import Severity
from review_advisor.core.safety.secret_shapes.issuers import FORMATS
from review_advisor.core.safety.secret_shapes.private_keys import KIND as PRIVATE_KEY

Check = Literal["bug", "security", "secret"]

BUG_RULES = ("F", "E9", "B", "PLE")
SECURITY_RULES = ("S",)
IGNORED_RULES = ("S101", "S404", "S603", "S607")
"""Rules that fire on every assert and on every started process: noise, whatever the change."""

SYNTAX = "invalid-syntax"
LONGEST_FIX = 10
"""So many lines at most does a suggestion replace."""


@dataclass(frozen=True, slots=True)
class Worth:
    """How bad a rule's remark is, and how often such a remark is right."""

    severity: Severity
    confidence: float


_BY_RULE: dict[str, Worth] = {
    SYNTAX: Worth("high", 0.95),
    "E9": Worth("high", 0.9),
    "F": Worth("medium", 0.85),
    "F401": Worth("low", 0.9),
    "F403": Worth("low", 0.9),
    "F405": Worth("low", 0.8),
    "F541": Worth("low", 0.9),
    "F7": Worth("high", 0.95),
    "F82": Worth("high", 0.95),
    "F841": Worth("low", 0.9),
    "PLE": Worth("high", 0.9),
    "B": Worth("medium", 0.8),
    "B008": Worth("low", 0.7),
    "B028": Worth("low", 0.8),
    "B904": Worth("low", 0.8),
    "B905": Worth("low", 0.8),
    "S": Worth("medium", 0.7),
    "S102": Worth("high", 0.8),
    "S105": Worth("medium", 0.7),
    "S106": Worth("medium", 0.7),
    "S107": Worth("medium", 0.7),
    "S108": Worth("low", 0.7),
    "S110": Worth("low", 0.8),
    "S112": Worth("low", 0.8),
    "S301": Worth("high", 0.8),
    "S302": Worth("high", 0.8),
    "S307": Worth("high", 0.85),
    "S311": Worth("low", 0.7),
    "S501": Worth("high", 0.9),
    "S506": Worth("high", 0.85),
    "S602": Worth("high", 0.85),
    "S604": Worth("medium", 0.7),
    "S605": Worth("high", 0.85),
    "S608": Worth("high", 0.7),
    "S609": Worth("high", 0.8),
    "S701": Worth("high", 0.8),
}
_HARMLESS = "seems safe"


def worth(rule: str, message: str) -> Worth:
    """The longest prefix of ``rule`` in the table decides; what ruff itself calls safe is low."""
    prefixes = (rule[:length] for length in range(len(rule), 0, -1))
    found = next((_BY_RULE[prefix] for prefix in prefixes if prefix in _BY_RULE), Worth("low", 0.7))
    return Worth("low", found.confidence) if _HARMLESS in message else found


ISSUED_SECRETS = frozenset(form.kind for form in FORMATS)
"""Kinds with a format of their own: the others are known by the name or the place that they stand under."""
_SECRET = Worth("critical", 0.9)
_SECRET_BY_ITS_NAME = Worth("high", 0.8)
_SECRET_IN_PROSE = Worth("medium", 0.7)
"""In tests and documentation many are invented."""
_REMOVED_SECRET = Worth("high", 0.7)
"""Without a tree only the redactor's word is there to go by."""


def secret_worth(kind: str, *, in_prose: bool, has_tree: bool) -> Worth:
    """What a committed secret of this kind is worth."""
    if in_prose:
        return _SECRET_IN_PROSE
    if not has_tree:
        return _REMOVED_SECRET
    return _SECRET if kind in ISSUED_SECRETS or kind == PRIVATE_KEY else _SECRET_BY_ITS_NAME
