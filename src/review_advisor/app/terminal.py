"""What every verb prints, and how it is refused."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType

import click

NOTHING_ASKED = 2


NOT_TO_ITS_END = 12


class ExitWithCode(click.ClickException):
    """Ends the command with a sentence and a code of its own."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@contextmanager
def clear_refusals() -> Iterator[None]:
    """Turn the product's own refusals into sentences; let bugs pass."""
    try:
        yield
    except Exception as problem:
        ended = _refusal(problem)
        if ended is None:
            raise
        raise ended from None


def _refusal(problem: Exception) -> ExitWithCode | None:
    """How the command ends; None for a bug. Imports here slow nothing down: something has gone wrong."""
    from review_advisor.agents.calls import CliError
    from review_advisor.change.change import SourceError
    from review_advisor.github.forge import ForgeError
    from review_advisor.lab.evaluation_folder import EvaluationError
    from review_advisor.lab.golden_cases import GoldenSetError
    from review_advisor.lab.manifests import ShardError
    from review_advisor.ledger.chain import LedgerError
    from review_advisor.ledger.organisation import OrganisationError
    from review_advisor.policy.prices import PriceError
    from review_advisor.policy.settings import ConfigError
    from review_advisor.policy.switches import SwitchError
    from review_advisor.review.ports import ArtifactError
    from review_advisor.safety.stop import ReviewInterrupted
    from review_advisor.safety.terminal import printable
    from review_advisor.safety.wording import printable_line

    match problem:
        case CliError() | SwitchError() | ConfigError() | SourceError() | ArtifactError():
            return ExitWithCode(printable(str(problem)), NOTHING_ASKED)
        case LedgerError() | OrganisationError() | PriceError() | EvaluationError() | ShardError() | GoldenSetError():
            return ExitWithCode(printable_line(str(problem)), NOTHING_ASKED)
        case ForgeError() | ReviewBrokenError():
            return ExitWithCode(printable(str(problem)), NOT_TO_ITS_END)
        case ReviewInterrupted():
            return ExitWithCode("The review was interrupted before it began.", 128 + problem.signal_number)
        case _:
            return None


def put(result: str | bytes, *, otherwise: int = 2) -> None:
    """Print a result. A reader that has gone needs none; ``otherwise`` is the code when it cannot be printed.

    Bytes are printed as they are: whoever made them has taken the secrets out.
    """
    try:
        click.echo(without_secrets(result) if isinstance(result, str) else result, nl=False)
    except BrokenPipeError:
        drop(1)
    except OSError as error:
        drop(1)
        raise ExitWithCode(f"The result cannot be printed: {error.strerror}.", otherwise) from None


def note(sentence: str) -> None:
    """Say something on stderr; nobody has to hear it."""
    try:
        click.echo(without_secrets(sentence), err=True)
    except OSError:
        drop(2)


def note_left_out(sentences: Iterable[str], newest: str) -> None:
    """Say what cannot be read, and that no more than the ``newest`` were looked at, if there are more."""
    from review_advisor.safety.wording import printable_line

    for each in sentences:
        note(printable_line(f"left out: {each}"))
    if newest:
        note(f"Only the newest {newest} were read.")


def plain(words: str) -> str:
    """Words from outside on one line, safe to print."""
    from review_advisor.safety.terminal import one_line  # as below

    return one_line(words)


def without_secrets(text: str) -> str:
    """``text`` without the secrets of this process's environment, and without what looks like one.

    A half character, of a file name that is no UTF-8, is shown as an escape.
    """
    from review_advisor.change.redaction import redactor  # --help and --version never get here

    return redactor(os.environ).redact(text.encode("utf-8", "backslashreplace").decode("utf-8"))


def prepare() -> None:
    """Letters that the terminal does not know are shown as escapes; a bug's traceback tells no secret either."""
    sys.excepthook = _tell_bug
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)  # a closed stream is None
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def drop(descriptor: int) -> None:
    """What is still buffered goes nowhere, so that the interpreter does not stumble over it at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def _tell_bug(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    note("".join(traceback.format_exception(kind, error, trace)).rstrip("\n"))


class ReviewBrokenError(Exception):
    """The review made calls and could not finish. One or two sentences (exit code 12)."""
