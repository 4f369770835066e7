"""Runs checkers of other languages that may be installed."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import Literal

from review_advisor.agents.answers import Severity
from review_advisor.safety.private_keys import PRIVATE_KEY
from review_advisor.safety.secret_issuers import FORMATS

TIMEOUT = 60.0


MOST_OUTPUT = 50_000_000


RunChecker = Callable[[Sequence[str]], tuple[int, bytes]]
"""One run of a checker by its arguments: its exit code and what it wrote."""


class CheckerError(Exception):
    """A checker that did not end in time, wrote too much or could not run. The message says which."""


def bounded_run(
    command: Sequence[str], folder: Path, *, timeout: float = TIMEOUT, most_output: int = MOST_OUTPUT
) -> tuple[int, bytes]:
    """Run ``command`` in ``folder`` without an environment. Returns its exit code and what it wrote.

    Raises ``CheckerError``.
    """
    name = Path(command[0]).name
    try:
        process = subprocess.Popen(
            command, cwd=folder, env={}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    except OSError as error:
        raise CheckerError(f"{name} cannot be run: {error.strerror}") from error
    late: list[bool] = []

    def end() -> None:
        late.append(True)
        process.kill()

    timer = Timer(timeout, end)
    timer.start()
    try:
        with process:
            written = b"" if process.stdout is None else process.stdout.read(most_output + 1)
            if len(written) > most_output:
                process.kill()
    finally:
        timer.cancel()
    if late:
        raise CheckerError(f"{name} did not end within {timeout:.0f} seconds")
    if len(written) > most_output:
        raise CheckerError(f"{name} wrote more than {most_output:,} bytes")
    return process.returncode, written


CheckKind = Literal["bug", "security", "secret"]


BUG_RULES = (
    *("E9", "F5", "F62", "F631", "F632", "F634", "F7", "F811", "F821", "F823", "F9", "PLE"),
    *("B002", "B015", "B016", "B025", "B029"),
)


TEST_RULES = ("E9", "F631", "F632", "F634", "F7", "F811", "F821", "F823", "B015", "PLE")
"""In tests: what is broken there, or never runs."""


RULES_OF_TESTS = ("no-focused-tests",)
"""What is mild in a test of JavaScript, and says that other tests do not run."""


SECURITY_RULES = ("S602",)
"""Only where a shell loses the arguments. Whether a text is dangerous depends on who writes it, which no rule sees."""


IGNORED_RULES = (
    *("F541", "F704", "F706", "F722", "PLE0101", "PLE0302", "PLE0604", "PLE0605", "PLE0643"),
    *("PLE0704", "PLE1205", "PLE1206"),
    *("PLE2510", "PLE2512", "PLE2513", "PLE2514", "PLE2515"),
)
"""The rules above are sure by construction, or were right in what was judged by hand."""


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
    "S": Worth("high", 0.85),
}


def worth_of(rule: str) -> Worth:
    """The longest prefix of ``rule`` in the table decides."""
    prefixes = (rule[:length] for length in range(len(rule), 0, -1))
    return next((_BY_RULE[prefix] for prefix in prefixes if prefix in _BY_RULE), Worth("low", 0.7))


_NAMES_OF_PYTHON_2 = (
    "StandardError apply basestring buffer cmp coerce execfile file intern long raw_input reduce reload unichr unicode"
    " xrange"
)


_PYTHON_2_NAMES = frozenset(_NAMES_OF_PYTHON_2.split())


def is_of_python_2(name: str) -> bool:
    """Whether only Python 2 has such a name."""
    return name in _PYTHON_2_NAMES


def may_be_silenced(rule: str, name: str) -> bool:
    """Whether a comment in the code is heard. It is the author's word, so what is serious is told all the same.

    ``name``: the unknown name that the remark is about. One that only Python 2 has is the exception, because code for
    both versions has to use it.
    """
    return worth_of(rule).severity in ("medium", "low") or is_of_python_2(name)


ISSUED_SECRETS = frozenset(form.kind for form in FORMATS)
"""Kinds with a format of their own."""


_PUBLIC = frozenset(
    {"Alibaba Cloud key id", "AWS access key id", "Google API key", "Razorpay key id", "Tencent Cloud key id"}
)
"""They name a key, or a site gives them to each visitor."""


_BESIDE_AN_ID = frozenset({"Alibaba Cloud secret", "AWS secret access key", "Tencent Cloud secret"})


TOLD_SECRETS = (ISSUED_SECRETS - _PUBLIC - {"web token"}) | _BESIDE_AN_ID | {PRIVATE_KEY, ""}
"""Kinds that are findings; a harness's own secret has none. What a name alone makes a secret is hidden, not told."""


_SECRET = Worth("critical", 0.9)


_SECRET_IN_PROSE = Worth("medium", 0.7)
"""In tests and documentation many are invented."""


_REMOVED_SECRET = Worth("high", 0.7)
"""Without a tree only the redactor's word is there to go by."""


def secret_worth(*, in_prose: bool, has_tree: bool) -> Worth:
    """What a committed secret is worth."""
    if in_prose:
        return _SECRET_IN_PROSE
    return _SECRET if has_tree else _REMOVED_SECRET


@dataclass(frozen=True, slots=True)
class Complaint:
    """``rule`` is broken on the lines ``first`` to ``last``. ``is_syntax``: the program reads no further there.

    ``others`` are further lines that the program points to.
    """

    rule: str
    message: str
    first: int
    last: int
    check: CheckKind
    severity: Severity
    confidence: float
    is_syntax: bool = False
    others: tuple[int, ...] = ()


class CannotRead(Complaint):
    """The program does not read this file at all. ``message`` says why."""


def syntax(message: str, line: int) -> Complaint:
    """The program cannot parse the file."""
    return Complaint("invalid-syntax", message, line, line, "bug", "high", 0.9, is_syntax=True)


def cannot_read(message: str) -> CannotRead:
    """The program does not know this kind of file."""
    return CannotRead("", message, 1, 1, "bug", "low", 0.0)
