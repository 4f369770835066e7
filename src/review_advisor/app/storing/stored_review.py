"""Stores what a review leaves, also one that is interrupted or cannot be brought to its end."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from review_advisor.adapters.artifacts import (
    FolderArtifacts,
    is_replaced,
    remove_refusal,
    remove_stale,
    write_refusal,
    write_whole,
)
from review_advisor.app.storing.recording import Keeping
from review_advisor.core.exports.review_files import review_files
from review_advisor.core.outcome.document import OutcomeDocument, outcome_document, outcome_json
from review_advisor.core.outcome.ends import end_of_stop
from review_advisor.core.outcome.events import CallStarted, Event, ReviewEnded, ReviewStopped
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.report.repair_text import PATCH_FILE
from review_advisor.core.roles.calls import ReviewInterrupted
from review_advisor.core.safety.redaction import redactor
from review_advisor.lifetime.interruption import INTERRUPTION
from review_advisor.lifetime.setup_watch import SETUP
from review_advisor.ports.review import ArtifactError


def clear(output: Path | None) -> None:
    """Remove what an earlier review left in the place of this one's outcome."""
    if output is not None:
        remove_stale(output)
        remove_refusal(output)


@dataclass
class SoFar:
    """A subscriber that knows what has happened so far. Once a call was made, a failure is no mere refusal."""

    output: Path | None
    artifacts: FolderArtifacts | None = None
    keeping: Keeping | None = None
    events: list[Event] = field(default_factory=list)
    asked: bool = False
    is_stored: bool = False

    def __call__(self, event: Event) -> None:
        """Take note of an event."""
        self.events.append(event)
        self.asked = self.asked or isinstance(event, CallStarted)
        if isinstance(event, CallStarted | ReviewEnded):
            SETUP.over()

    def last_words(self, signal_number: int) -> str:
        """Store a review that cannot end by itself as stopped. Returns the sentence for the user."""
        late = INTERRUPTION.late
        if self.artifacts is None or self.keeping is None or not self.events:
            if late and self.output is not None:
                leave_refusal(self.output, late, os.environ)
            return late or "The review was interrupted before it began."
        if self.is_stored:
            return "Interrupted."
        document = _cut_short(self.events, signal_number, late or "The review was interrupted.")
        with suppress(ArtifactError):
            _store(document, self.artifacts, self.output)
        self.keeping.over(document)
        return "Interrupted: the review did not run to its end."


def stored(document: OutcomeDocument, artifacts: FolderArtifacts, so_far: SoFar) -> OutcomeDocument:
    """Store the review. An interrupt that comes meanwhile counts: what is on disk then says stopped."""
    with INTERRUPTION.storing:
        _store(document, artifacts, so_far.output)
        if INTERRUPTION.number and document.outcome is not Outcome.STOPPED:
            document = _cut_short(document.events, INTERRUPTION.number, "The review was interrupted.")
            _store(document, artifacts, so_far.output)
        so_far.is_stored = True
    return document


def store_again(document: OutcomeDocument, artifacts: FolderArtifacts, output: Path | None) -> None:
    """Store the same outcome with what its shadows cost. A pipe that has got the outcome gets no second one."""
    with INTERRUPTION.storing:
        _store(document, artifacts, output if output is not None and is_replaced(output) else None)


def _store(document: OutcomeDocument, artifacts: FolderArtifacts, output: Path | None) -> None:
    if document.repair is None:
        artifacts.remove(PATCH_FILE)
    for name, text in review_files(document).items():
        artifacts.write(name, text)
    if output is not None:
        write_whole(output, outcome_json(document))


def _cut_short(events: Sequence[Event], signal_number: int, why: str) -> OutcomeDocument:
    """The review of these events, ended before its end was on disk."""
    at = datetime.now(UTC)
    stop = end_of_stop(ReviewInterrupted(why, signal_number=signal_number), at)
    before = [event for event in events if not isinstance(event, ReviewStopped | ReviewEnded)]
    return outcome_document([*before, stop, ReviewEnded(at=at, outcome=Outcome.STOPPED, because=(stop.detail,))])


def discard(artifacts: FolderArtifacts, output: Path | None) -> None:
    """Remove what is left of a review that could not finish, if possible."""
    with suppress(ArtifactError):
        artifacts.clear()
    with suppress(ArtifactError):
        if output is not None:
            remove_stale(output)


def leave_refusal(output: Path, sentence: str, environ: Mapping[str, str]) -> None:
    """Write why there is no outcome beside its place, without this process's secrets, if possible."""
    with suppress(ArtifactError):
        write_refusal(output, redactor(environ).redact(sentence))
