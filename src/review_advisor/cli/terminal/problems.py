"""Which exceptions are clear refusals and not bugs: one sentence on stderr, and the documented exit code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
    from review_advisor.app.evaluation.evaluate import EvaluationError, ShardError
    from review_advisor.app.evaluation.golden_sets import GoldenSetError
    from review_advisor.app.evaluation.martian_score import MartianError
    from review_advisor.app.review import ReviewBrokenError
    from review_advisor.app.settings import ConfigError
    from review_advisor.core.ledger.chain import LedgerError
    from review_advisor.core.metrics.prices import PriceError
    from review_advisor.core.organisation.organisation import OrganisationError
    from review_advisor.core.policy.switches import SwitchError
    from review_advisor.core.report.wording import printable_line
    from review_advisor.core.roles.calls import ReviewInterrupted
    from review_advisor.core.safety.terminal import printable
    from review_advisor.ports.forge import ForgeError
    from review_advisor.ports.review import ArtifactError, CliError, SourceError

    match problem:
        case CliError() | SwitchError() | ConfigError() | SourceError() | ArtifactError():
            return ExitWithCode(printable(str(problem)), NOTHING_ASKED)
        case LedgerError() | OrganisationError() | PriceError() | EvaluationError() | ShardError():
            return ExitWithCode(printable_line(str(problem)), NOTHING_ASKED)
        case GoldenSetError() | MartianError():
            return ExitWithCode(printable_line(str(problem)), NOTHING_ASKED)
        case ForgeError() | ReviewBrokenError():
            return ExitWithCode(printable(str(problem)), NOT_TO_ITS_END)
        case ReviewInterrupted():
            return ExitWithCode("The review was interrupted before it began.", 128 + problem.signal_number)
        case _:
            return None


@contextmanager
def told_beside(output: Path | None) -> Iterator[None]:
    """Leave the sentence of a refusal beside the file that was to hold the outcome, for the job that publishes."""
    try:
        yield
    except ExitWithCode as refusal:
        if output is not None:
            from review_advisor.app.storing.stored_review import leave_refusal

            leave_refusal(output, refusal.message, os.environ)
        raise
