"""Which rules the static checks run, and what each is worth. Tables only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from review_advisor.core.answers.answers import Severity
from review_advisor.core.safety.secret_shapes.issuers import FORMATS
from review_advisor.core.safety.secret_shapes.private_keys import KIND as PRIVATE_KEY

Check = Literal["bug", "security", "secret"]

BUG_RULES = (
    *("E9", "F5", "F62", "F631", "F632", "F634", "F7", "F811", "F82", "F9", "PLE"),
    *("B002", "B006", "B012", "B015", "B016", "B025", "B029", "B030", "B033"),
)
TEST_RULES = ("E9", "F631", "F632", "F634", "F7", "F811", "F82", "B015", "PLE")
"""In tests: what is broken there, or never runs."""
RULES_OF_TESTS = ("no-focused-tests",)
"""What is mild in a test of JavaScript, and says that other tests do not run."""
SECURITY_RULES = (
    *("S102", "S103", "S201", "S202", "S306", "S307", "S323", "S501", "S502", "S503", "S504", "S505", "S506"),
    *("S508", "S509", "S602", "S605", "S608", "S609", "S612", "S701"),
)
IGNORED_RULES = (
    *("F541", "F722", "PLE0101", "PLE0604", "PLE0704", "PLE1205", "PLE1206"),
    *("PLE2510", "PLE2512", "PLE2513", "PLE2514", "PLE2515"),
)
"""The rules above were chosen by reading what each says of real changes (``benchmarks/static_precision.py``)."""

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
    "F7": Worth("high", 0.95),
    "F82": Worth("high", 0.95),
    "PLE": Worth("high", 0.9),
    "B": Worth("medium", 0.8),
    "S": Worth("medium", 0.7),
    "S102": Worth("high", 0.8),
    "S202": Worth("high", 0.8),
    "S307": Worth("high", 0.85),
    "S501": Worth("high", 0.9),
    "S506": Worth("high", 0.85),
    "S602": Worth("high", 0.85),
    "S605": Worth("high", 0.85),
    "S608": Worth("high", 0.7),
    "S609": Worth("high", 0.8),
    "S701": Worth("high", 0.8),
}
_HARMLESS = "seems safe"


def worth(rule: str) -> Worth:
    """The longest prefix of ``rule`` in the table decides."""
    prefixes = (rule[:length] for length in range(len(rule), 0, -1))
    return next((_BY_RULE[prefix] for prefix in prefixes if prefix in _BY_RULE), Worth("low", 0.7))


_NAMES_OF_PYTHON_2 = "basestring buffer cmp execfile file intern long raw_input reduce reload unichr unicode xrange"
_PYTHON_2_NAMES = frozenset(_NAMES_OF_PYTHON_2.split())


def is_of_python_2(name: str) -> bool:
    """Whether only Python 2 has such a name."""
    return name in _PYTHON_2_NAMES


def may_be_silenced(rule: str, name: str) -> bool:
    """Whether a comment in the code is heard. It is the author's word, so what is serious is told all the same.

    ``name``: the unknown name that the remark is about. One that only Python 2 has is the exception, because code for
    both versions has to use it.
    """
    return worth(rule).severity in ("medium", "low") or is_of_python_2(name)


def is_harmless(message: str) -> bool:
    """Whether ruff itself calls what it found safe."""
    return _HARMLESS in message


ISSUED_SECRETS = frozenset(form.kind for form in FORMATS) - {"web token"}
"""Kinds with a format of their own; the others are known by what stands around them, or are written as examples."""
SURE_SECRETS = ISSUED_SECRETS | {"web token", PRIVATE_KEY, ""}
"""Kinds that count wherever they stand; a harness's own secret has none."""
UNSURE_SECRETS = frozenset({"key"})
"""What is called a key is a public one in most changes: the redactor hides it, and nobody is told."""
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
