"""What a review keeps while it runs: its record in the ledger, the replies that were paid for, and a recording."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from review_advisor.adapters.answers.recording_folder import RecordingFile, RecordingFolder
from review_advisor.adapters.answers.remembering import RememberingAgents
from review_advisor.adapters.answers.reply_store import ReplyStore
from review_advisor.adapters.clock import SystemClock
from review_advisor.adapters.ledger.recorder import Recorder
from review_advisor.core.facts.change import FileChange
from review_advisor.core.ledger.chain import LEDGER_FILE
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import CallEnded, Event
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.policy.recording_rules import RecordingRules
from review_advisor.core.report.wording import counted
from review_advisor.core.roles.calls import AgentCall, ConsultRecord, Stop
from review_advisor.core.roles.reply_cache import Concluded, ReviewIdentity, RunNames
from review_advisor.core.safety.redaction import Redactor
from review_advisor.ports.review import Agents, ArtifactError, CliError, SourceError

if TYPE_CHECKING:
    from review_advisor.adapters.answers.recorded_agents import CliOutput

_REPLIES = "answers"
_NO_BUG = (Stop, SourceError, ArtifactError, CliError)


class FanOut:
    """Hands each event to all subscribers, in the thread where it happened."""

    def __init__(self, subscribers: Sequence[Callable[[Event], None]]) -> None:
        self._subscribers = tuple(subscribers)

    def record(self, event: Event) -> None:
        """Give ``event`` to everyone."""
        for subscriber in self._subscribers:
            subscriber(event)


@dataclass(frozen=True, slots=True)
class Keeping:
    """The keeping of one review: a subscriber of its events.

    The review does not depend on it: a failure is one warning. ``replies`` is None if no reply costs anything.
    ``ledger`` is the file that records it. A context manager: if a bug ends the block, the next run does not use the
    answers that led to it.
    """

    recorder: Recorder
    replies: ReplyStore | None
    ledger: Path

    def __call__(self, event: Event) -> None:
        """Record one event."""
        self.recorder(event)

    def remembering(self, agents: Agents, names: RunNames, redactor: Redactor) -> Agents:
        """``agents`` behind the replies that an earlier run of this review got."""
        return agents if self.replies is None else RememberingAgents(agents, self.replies, names, redactor)

    @property
    def earlier_consults(self) -> tuple[ConsultRecord, ...]:
        """The consults of those replies: they count towards the review's cap."""
        return () if self.replies is None else self.replies.inherited_consults

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.replies is not None and isinstance(error, Exception) and not isinstance(error, _NO_BUG):
            self.replies.forget_all()

    def over(self, document: OutcomeDocument) -> None:
        """The review is over and stored. Started again, it reuses its replies; for a while only, if it did not stop."""
        self.recorder.finish(document)
        if self.replies is not None and document.outcome is Outcome.STOPPED:
            self.replies.forget_useless()
        elif self.replies is not None:
            self.replies.conclude(document.run_id)

    def answered_from(self, document: OutcomeDocument) -> Concluded | None:
        """The end of the earlier review that gave all answers of this one; None if a model was asked."""
        ended = [event for event in document.events if isinstance(event, CallEnded)]
        if self.replies is None or not ended or not all(event.kept for event in ended):
            return None
        return self.replies.inherited_end


def open_keeping(
    artifacts: Path,
    ledger: Path | None,
    review: ReviewIdentity,
    secret: bytes,
    warn: Callable[[str], None],
    *,
    fresh: bool = False,
) -> Keeping:
    """The keeping of one review.

    ``ledger`` is the file that the user names; without one it lies in the artefact root, as the replies do. Only
    whoever pays for the answers knows ``secret``; without it no reply is kept. ``warn`` gets what goes wrong.
    ``fresh``: no reply of an earlier run counts.
    """
    path = ledger or artifacts / LEDGER_FILE
    replies = ReplyStore(artifacts / _REPLIES, review, secret, warn, fresh=fresh) if secret else None
    return Keeping(Recorder(path, warn), replies, path)


@dataclass(frozen=True, slots=True)
class CallRecording:
    """The recording of one run's calls, as the rules ask. Without ``file`` nothing is recorded."""

    file: RecordingFile | None = None
    output: CliOutput | None = None

    @property
    def hear(self) -> Callable[[AgentCall, bytes], None] | None:
        """Takes the output of the CLI; None if it is not recorded."""
        return None if self.output is None else self.output.hear

    def around(self, agents: Agents, names: RunNames, redactor: Redactor, files: Iterable[FileChange] = ()) -> Agents:
        """``agents`` whose calls are recorded without the secrets that ``redactor`` knows and those of ``files``."""
        if self.file is None:
            return agents
        from review_advisor.adapters.answers.recorded_agents import RecordedAgents

        return RecordedAgents(agents, self.file, names, redactor.knowing(files), SystemClock().now, self.output)

    def close(self) -> None:
        """Close the file."""
        if self.file is not None:
            self.file.close()


def open_recording(
    artifacts: Path, rules: RecordingRules, run_id: str, warn: Callable[[str], None], remark: Callable[[str], None]
) -> CallRecording:
    """The recording of a run. Recordings that are older than the rules allow are deleted first.

    ``remark`` is told how many those were, and where this one lies; ``warn`` what goes wrong.
    """
    folder = RecordingFolder(artifacts)
    if rules.days is not None and (gone := folder.prune(SystemClock().now(), rules.days)):
        remark(f"{counted(gone, 'recording')} older than {counted(rules.days, 'day')} deleted from {folder.path}.")
    if rules.mode == "none":
        return CallRecording()
    from review_advisor.adapters.answers.recorded_agents import CliOutput

    file = RecordingFile(folder, run_id, warn)
    if file.is_open:
        remark(f"The calls of this run are recorded ({rules.mode}) in {folder.path}.")
    return CallRecording(file, CliOutput() if rules.mode == "full" else None)
