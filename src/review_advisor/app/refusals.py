"""The sentence that is left in the place of an outcome."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from review_advisor.app.terminal import ExitWithCode
from review_advisor.change.redaction import redactor
from review_advisor.ledger.artifacts import write_refusal
from review_advisor.review.ports import ArtifactError


def leave_refusal(output: Path, sentence: str, environ: Mapping[str, str]) -> None:
    """Write why there is no outcome beside its place, without this process's secrets, if possible."""
    with suppress(ArtifactError):
        write_refusal(output, redactor(environ).redact(sentence))


@contextmanager
def told_beside(output: Path | None) -> Iterator[None]:
    """Leave the sentence of a refusal beside the file that was to hold the outcome, for the job that publishes."""
    try:
        yield
    except ExitWithCode as refusal:
        if output is not None:
            leave_refusal(output, refusal.message, os.environ)
        raise
