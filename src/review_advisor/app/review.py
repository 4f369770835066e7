"""`review`."""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, NamedTuple, Self, assert_never, get_args

import click

from review_advisor.agents.calls import AgentCall, Agents, CliError
from review_advisor.agents.claude import ClaudeAgents, search_path
from review_advisor.agents.claude_argv import credential_secret
from review_advisor.agents.kept_replies import (
    Concluded,
    ReadOnlyTrees,
    RememberingAgents,
    ReplyStore,
    ReviewIdentity,
    RunNames,
    review_identity,
)
from review_advisor.agents.recordings import RecordingFile, RecordingFolder
from review_advisor.app.agent_choice import AgentChoice, agent_command, repository_top
from review_advisor.app.configuration import (
    declares_of,
    kind_notes,
    load_instructions,
    load_settings,
    mended_by,
    read_text,
)
from review_advisor.app.help import CommandWithOptionsOfCI, OptionOfCI
from review_advisor.app.options import CLAUDE_BIN, PATH, REPO, BoundedNumber, artifacts_option
from review_advisor.app.refusals import leave_refusal, told_beside
from review_advisor.app.terminal import NOT_TO_ITS_END, ReviewBrokenError, clear_refusals, note, put
from review_advisor.change.change import Change, FileChange, SourceError, Spec
from review_advisor.change.checker_settings import (
    CHECKERS,
    CONFIG_FILES,
    CheckerProgram,
    RuffSettings,
    folders_above,
    ruff_settings,
    switched_off,
)
from review_advisor.change.git import checkout_around
from review_advisor.change.patch_source import PatchSource, open_patch
from review_advisor.change.pictures import ComparedPictures
from review_advisor.change.redaction import Redactor
from review_advisor.change.sources import About, GitSource, open_base, open_range, open_staged, open_working_tree
from review_advisor.change.tool_remarks import NotSarifError, ToolRemark, read_sarif
from review_advisor.change.work_folder import NoFolder, WorkFolder
from review_advisor.ledger.artifacts import (
    BROKEN,
    FolderArtifacts,
    check_writable,
    refusal_of,
    remove_refusal,
    remove_stale,
    review_files,
    write_whole,
)
from review_advisor.ledger.chain import LEDGER_FILE
from review_advisor.ledger.recorder import Recorder
from review_advisor.policy.escalation_rules import EscalationProfile
from review_advisor.policy.policy import RECORDING_DAYS, RecordingRules, RepairMode, Rules
from review_advisor.policy.prices import read_prices
from review_advisor.policy.settings import ConfigError, Profile, Settings
from review_advisor.review.document import OutcomeDocument, outcome_document, outcome_json
from review_advisor.review.ends import end_of_stop
from review_advisor.review.events import CallEnded, CallStarted, Event, ReviewEnded, ReviewStopped
from review_advisor.review.matter import ReviewRequest
from review_advisor.review.phase import ReviewPhase
from review_advisor.review.ports import ArtifactError, Ports, Wiki
from review_advisor.review.report import PATCH_FILE
from review_advisor.review.rulings import Outcome
from review_advisor.safety.clock import SystemClock
from review_advisor.safety.files import required_file
from review_advisor.safety.interruption import INTERRUPTION
from review_advisor.safety.memory import give_back_freed_memory
from review_advisor.safety.setup_watch import SETUP
from review_advisor.safety.stop import ConsultRecord, ReviewInterrupted, Stop
from review_advisor.safety.wording import counted

if TYPE_CHECKING:
    from review_advisor.agents.recordings import CliOutput


ReportFormat = Literal["text", "json", "markdown", "sarif", "github"]


FORMATS = get_args(ReportFormat)


EXAMPLES = """\b
Examples:
  review-advisor review                        your branch, with what is not committed
  review-advisor review --base main            the changes on this branch
  review-advisor review --range v1.2..HEAD     a range of commits
  review-advisor review --staged               what the next commit will hold
  review-advisor review --patch fix.diff       a patch, without its repository
  review-advisor review --base origin/main --gate --output outcome.json    in CI
  review-advisor review --pr octo/hello#7      a pull request on GitHub
"""


@click.command(cls=CommandWithOptionsOfCI, epilog=EXAMPLES)
@click.option("--range", "revisions", metavar="A..B", help="From A to B (A...B: from their merge base).")
@click.option("--base", metavar="REF", help="The changes on HEAD since its merge base with REF.")
@click.option("--staged", is_flag=True, help="The staged changes.")
@click.option("--untracked", is_flag=True, help="Without a range: untracked files too. Ignored ones are never sent.")
@click.option("--patch", type=PATH, metavar="FILE", help="A patch file. The models have no tree to read.")
@click.option("--pr", metavar="PR", help="A pull request: OWNER/REPO#N, its address, or N with GITHUB_REPOSITORY.")
@click.option("--head", cls=OptionOfCI, metavar="SHA", help="With --pr: review this head commit only.")
@click.option(
    "--memory",
    cls=OptionOfCI,
    metavar="WORD",
    help="With --pr: what `begin` said of the state in the summary comment.",
)
@click.option(
    "--settle",
    cls=OptionOfCI,
    type=click.IntRange(0, 600),
    default=0,
    metavar="SECONDS",
    help="With --pr: wait for a newer push first.",
)
@click.option(
    "--most-usd",
    type=BoundedNumber(min=0, min_open=True),
    metavar="USD",
    help="Spend at most this much, even if the configuration allows more.",
)
@REPO
@click.option("--title", help="The change's title. [default: the pull request's, or the head's subject]")
@click.option(
    "--body-file", type=PATH, metavar="FILE", help="Its description. [default: the pull request's, or the commits']"
)
@click.option("--spec", "spec_file", type=PATH, metavar="FILE", help="The specification it implements.")
@click.option(
    "--agent",
    type=click.Choice(["claude", "embedded"]),
    default="claude",
    show_default=True,
    help="The real CLI, or static checks without a model.",
)
@CLAUDE_BIN
@click.option(
    "--jobs",
    type=click.IntRange(1, 16),
    metavar="N",
    help="Calls at a time, in a change of several parts.  [default: REVIEW_ADVISOR_JOBS, or 4]",
)
@click.option(
    "--repair",
    type=click.Choice(["off", "suggest"]),
    default="suggest",
    show_default=True,
    help="Let the executor answer a veto of its approval with a patch, which is judged and only suggested.",
)
@click.option(
    "--config",
    "config_file",
    type=PATH,
    metavar="FILE",
    help="Configuration. [default: the base's .review-advisor.toml or pyproject.toml]",
)
@click.option("--profile", type=click.Choice(["adr", "hydraflow"]), help="Default critical paths.")
@click.option(
    "--escalation",
    type=click.Choice(["adr", "attrition", "harness"]),
    help="When the review itself consults the advisor.  [default: the configuration's]",
)
@click.option("--consult", is_flag=True, help="Consult the advisor on the executor's report.")
@artifacts_option("Where the review's folder goes.")
@click.option(
    "--ledger",
    "ledger_file",
    type=PATH,
    metavar="FILE",
    help="The ledger that records it.  [default: ledger/ledger.sqlite3 beside the review's folder]",
)
@click.option(
    "--output",
    type=PATH,
    metavar="FILE",
    help="Also write outcome.json here. If the review of a pull request is refused, a .refusal.txt beside it says why.",
)
@click.option(
    "--allow-unchecked",
    is_flag=True,
    help="With --agent embedded: exit 0 even if no rule reads some of the changed code.",
)
@click.option(
    "--with-sarif",
    type=PATH,
    multiple=True,
    metavar="FILE",
    help="Findings of another tool, which the models see and do not repeat. May be given several times.",
)
@click.option("--fresh", is_flag=True, help="Ask all questions again, and ignore stored answers.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="What to print: text; outcome.json; Markdown; SARIF; or annotations for the log of a GitHub workflow.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--explain", is_flag=True, help="Also print how the verdict came about, and what it cost.")
@click.option("--quiet", "-q", is_flag=True, help="No progress and no notes on stderr, only warnings.")
@click.option("--gate", is_flag=True, help="For make and CI: print only one line if the exit code is 0.")
@click.pass_context
def review(
    context: click.Context,
    repo: Path,
    revisions: str | None,
    base: str | None,
    staged: bool,
    patch: Path | None,
    pr: str | None,
    head: str | None,
    memory: str | None,
    settle: int,
    most_usd: float | None,
    title: str | None,
    body_file: Path | None,
    spec_file: Path | None,
    agent: Literal["claude", "embedded"],
    claude_bin: str,
    jobs: int | None,
    repair: Literal["off", "suggest"],
    artifacts: Path,
    ledger_file: Path | None,
    output: Path | None,
    allow_unchecked: bool,
    with_sarif: tuple[Path, ...],
    fresh: bool,
    form: ReportFormat,
    as_json: bool,
    explain: bool,
    quiet: bool,
    untracked: bool,
    config_file: Path | None,
    profile: Literal["adr", "hydraflow"] | None,
    escalation: Literal["adr", "attrition", "harness"] | None,
    consult: bool,
    gate: bool,
) -> None:
    """Review a change: pre-flight plans, the executor reviews, post-verify judges.

    Name the change with one of --range, --base, --staged, --patch and --pr. Without one, it is your branch since the
    default one, with uncommitted edits of tracked files. Progress goes to stderr, the result to stdout, everything else
    into a folder of its own. A pull request is read with GITHUB_TOKEN; its commits are fetched, never checked out, and
    nothing is written on GitHub.
    """
    with told_beside(output if pr is not None else None), clear_refusals():
        from review_advisor.app.agent_choice import AgentChoice

        chosen = _only(
            Selection("range", revisions) if revisions is not None else None,
            Selection("base", base) if base is not None else None,
            Selection("staged") if staged else None,
            Selection("patch", str(patch)) if patch is not None else None,
            Selection("pull_request", pr, head or "", memory or "", settle) if pr is not None else None,
        )
        if untracked and chosen is not None:
            raise click.UsageError("--untracked adds files of the working tree: leave out the range.")
        if head is not None and pr is None:
            raise click.UsageError("--head needs --pr: it names the head of a pull request.")
        if memory is not None and pr is None:
            raise click.UsageError("--memory needs --pr: it tells what is remembered of a pull request.")
        if settle and pr is None:
            raise click.UsageError("--settle needs --pr: it waits for pushes to a pull request.")
        if with_sarif and agent != "claude":
            raise click.UsageError("--with-sarif needs --agent claude: it is shown to models.")
        if allow_unchecked and agent != "embedded":
            raise click.UsageError("--allow-unchecked needs --agent embedded: it is about static checks.")

        options = ReviewOptions(
            repo=repo,
            selection=chosen or Selection("working_tree", "untracked" if untracked else ""),
            agent=AgentChoice(agent, claude_bin),
            jobs=jobs,
            artifacts=artifacts,
            output=output,
            config=config_file,
            profile=profile,
            title=title,
            body_file=body_file,
            spec_file=spec_file,
            repair=repair,
            ledger=ledger_file,
            fresh=fresh,
            allow_unchecked=allow_unchecked,
            with_sarif=with_sarif,
            most_usd=most_usd,
            escalation=escalation,
            consult=consult,
        )
        if as_json and form not in ("text", "json"):
            raise click.UsageError(f"--json and --format {form} are two formats: name one.")
        shown = Shown("json" if as_json else form, explain=explain, quiet=quiet, gate=gate)
        performed = perform(options, shown)
    context.exit(performed.code)


def _only(*selections: Selection | None) -> Selection | None:
    given = [each for each in selections if each is not None]
    if len(given) > 1:
        raise click.UsageError("Name one change: --range, --base, --staged, --patch and --pr exclude one another.")
    return given[0] if given else None


class Shown(NamedTuple):
    """How the result is printed, and what else is."""

    form: ReportFormat = "text"
    explain: bool = False
    quiet: bool = False
    gate: bool = False


class Performed(NamedTuple):
    """A review that was run and printed: the command's exit code, and what was stored in which folder."""

    code: int
    document: OutcomeDocument
    folder: Path


def perform(options: ReviewOptions, shown: Shown) -> Performed:
    """Run the review with progress on stderr, and print its result on stdout."""
    from review_advisor.app.progress import progress
    from review_advisor.review.rulings import Outcome

    embedded = options.agent.agent == "embedded"
    with progress(quiet=shown.quiet or shown.gate, embedded=embedded) as show:
        stored = run_review(options, os.environ, show.event, show.warning, show.remark)
    document = stored.document
    put(_result(document, shown, stored.finding_notes), otherwise=NOT_TO_ITS_END)
    if not (shown.quiet or (shown.gate and document.exit_code == 0)):
        if stored.answered_from is not None:
            when = f"{stored.answered_from.at:%H:%M} UTC ({stored.answered_from.run_id})"
            note(f"Answered from the review that ended at {when}: nothing was paid. --fresh asks again.")
        note(f"Artefacts: {stored.folder}")
    if stored.interrupted_by:
        is_stopped = document.outcome is Outcome.STOPPED
        note("Interrupted: the review did not run to its end." if is_stopped else "Interrupted.")
        return Performed(128 + stored.interrupted_by, document, stored.folder)
    return Performed(document.exit_code, document, stored.folder)


def _result(document: OutcomeDocument, shown: Shown, notes: Mapping[str, str]) -> str | bytes:
    """What goes to stdout. JSON is UTF-8 whatever the terminal's letters are."""
    match shown.form:
        case "json":
            from review_advisor.review.document import outcome_json

            return outcome_json(document).encode("utf-8", "backslashreplace")
        case "sarif":
            from review_advisor import __version__
            from review_advisor.github.sarif import sarif_json

            return sarif_json(document, __version__).encode("utf-8", "backslashreplace")
        case "markdown":
            from review_advisor.github.log_text import job_summary

            return job_summary(document)
        case "github":
            from review_advisor.github.log_text import log_lines

            return "".join(f"{line}\n" for line in log_lines(document))
        case "text":
            return _text(document, shown, notes)
        case _:
            assert_never(shown.form)


def _text(document: OutcomeDocument, shown: Shown, notes: Mapping[str, str]) -> str:
    from review_advisor.app.progress import coloured, is_coloured
    from review_advisor.review.report import headline, terminal_report

    if shown.gate and document.exit_code == 0:
        return headline(document) + "\n"
    report = terminal_report(document, explain=shown.explain, notes=notes)
    return coloured(report, document.outcome) if is_coloured() else report


_LARGEST_PATCH = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Selection:
    """Which change to review, and what names it: revisions, a patch file or a pull request.

    For a working tree, any ``value`` asks for untracked files, too. ``head`` is the only head of the pull request that
    is reviewed; empty: any. ``memory`` is what ``begin`` said of the state; empty if it said nothing.
    ``settle_seconds``: how long to wait for a newer push. ``rules`` is the commit whose rules hold for a range; empty:
    its left side.
    """

    kind: Literal["range", "base", "staged", "working_tree", "patch", "pull_request"]
    value: str = ""
    head: str = ""
    memory: str = ""
    settle_seconds: int = 0
    rules: str = ""


def open_change(
    repo: Path, selection: Selection, about: About, config: Path | None, environ: Mapping[str, str]
) -> GitSource | PatchSource:
    """Open what was selected.

    ``about`` is what the user says of it, ``config`` the configuration file that the user names.

    Raises ``SourceError`` and, for a pull request, ``ConfigError``.
    """
    match selection.kind:
        case "range":
            return open_range(repo, selection.value, about, selection.rules)
        case "base":
            return open_base(repo, selection.value, about)
        case "staged":
            return open_staged(repo, about)
        case "working_tree":
            return open_working_tree(repo, about, untracked=bool(selection.value))
        case "patch":
            return open_patch(Path(selection.value), about, repo, _patch)
        case "pull_request":
            from review_advisor.app.ci import Named, open_named

            named = Named(selection.value, selection.head, selection.memory, selection.settle_seconds)
            return open_named(repo, named, about, config, environ)


def _patch(path: Path) -> bytes:
    return required_file(path, _LARGEST_PATCH, SourceError, f"The patch {path}")


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
        from review_advisor.agents.recordings import RecordedAgents

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
    if rules.prunes and (gone := folder.prune(SystemClock().now(), RECORDING_DAYS)):
        remark(f"{counted(gone, 'recording')} older than {counted(RECORDING_DAYS, 'day')} deleted from {folder.path}.")
    if rules.mode == "none":
        return CallRecording()
    from review_advisor.agents.recordings import CliOutput

    file = RecordingFile(folder, run_id, warn)
    if file.is_open:
        remark(f"The calls of this run are recorded ({rules.mode}) in {folder.path}.")
    return CallRecording(file, CliOutput() if rules.mode == "full" else None)


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


@dataclass(frozen=True, slots=True)
class ReviewOptions:
    """What the user asked for on the command line."""

    repo: Path
    selection: Selection
    agent: AgentChoice = field(default_factory=AgentChoice)
    jobs: int | None = None
    artifacts: Path = Path("review_logs")
    output: Path | None = None
    config: Path | None = None
    profile: Profile | None = None
    title: str | None = None
    body_file: Path | None = None
    spec_file: Path | None = None
    repair: RepairMode = "suggest"
    ledger: Path | None = None
    fresh: bool = False
    allow_unchecked: bool = False
    with_sarif: tuple[Path, ...] = ()
    most_usd: float | None = None
    escalation: EscalationProfile | None = None
    consult: bool = False


@dataclass(frozen=True, slots=True)
class StoredReview:
    """A review that is over: its document, where its artefacts are, and the signal that ended it, if one did.

    ``answered_from`` is the end of the earlier review that gave all of its answers, if one did. ``finding_notes`` say
    of its findings, by their ids, what the base knows of their kind.
    """

    document: OutcomeDocument
    folder: Path
    interrupted_by: int = 0
    answered_from: Concluded | None = None
    finding_notes: Mapping[str, str] = field(default_factory=dict)


def run_review(
    options: ReviewOptions,
    environ: Mapping[str, str],
    subscriber: Callable[[Event], None],
    warn: Callable[[str], None],
    remark: Callable[[str], None] = lambda _sentence: None,
) -> StoredReview:
    """Run one review and store its artefacts.

    Everything that can be refused is refused before the first call: ``SwitchError``, ``ConfigError``,
    ``SourceError``, ``CliError`` and ``ArtifactError``, each one clear sentence; what goes wrong after it is a
    ``ReviewBrokenError``, and leaves no outcome. ``warn`` gets problems that do not stop the review, ``remark`` what
    was chosen for the user. An interrupt of this process ends the calls in flight; the review then ends as stopped.
    """
    give_back_freed_memory()
    with ExitStack() as stack:
        so_far = SoFar(options.output)
        stack.enter_context(INTERRUPTION.taken(so_far.last_words))
        clear(options.output)
        source = _opened(options, environ, stack, remark)
        artifacts = FolderArtifacts(_artifact_root(options), source.label)
        artifacts.clear()
        settings = _settings(options, source, environ)
        SETUP.allow(settings.setup_seconds)
        source.change()
        request = _request(options, settings)
        command = _command(options, request.rules, source, environ, warn)
        artifacts.make()
        if options.output is not None:
            check_writable(options.output)
        recording = open_recording(_artifact_root(options), settings.recording, request.run_id, warn, remark)
        stack.callback(recording.close)
        agents = opened_agents(command, options.repo, environ, stack, recording.hear)
        instructions = load_instructions()
        pictures = stack.enter_context(_pictures(source, settings.rules))
        wiki = _wiki(options, settings.rules)
        under = (request.rules, request.switches, request.repair, command, instructions.texts)
        keeping = open_keeping(
            _artifact_root(options),
            options.ledger,
            review_identity(replace(source.change(), tool_remarks=request.tool_remarks), *under),
            credential_secret(environ),
            warn,
            fresh=options.fresh,
        )
        stack.callback(keeping.recorder.close)
        request = replace(request, earlier_consults=keeping.earlier_consults)
        names, redactor = RunNames(request.run_id, request.nonce), request.redactor
        asked = recording.around(keeping.remembering(agents, names, redactor), names, redactor, source.change().files)
        so_far.artifacts, so_far.keeping = artifacts, keeping
        jobs = options.jobs or settings.jobs
        journal = FanOut([so_far, keeping, subscriber])
        prices = () if request.switches.static else settings.prices.beside(read_prices())
        ports = Ports(asked, source, journal, artifacts, SystemClock(), pictures, wiki, prices)
        send_telemetry = stack.enter_context(_telemetry(environ, warn))
        try:
            with keeping:
                document = ReviewPhase(ports, instructions, jobs).review(request)
                document = stored(document, artifacts, so_far)
                keeping.over(document)
        except (ArtifactError, SourceError) as problem:
            discard(artifacts, options.output)
            if so_far.asked:
                raise ReviewBrokenError(f"{problem} {BROKEN}") from None
            raise
        if not INTERRUPTION.number:
            send_telemetry(document)
        return StoredReview(
            document,
            artifacts.folder,
            INTERRUPTION.number,
            keeping.answered_from(document),
            kind_notes(source.base_file, document, warn),
        )


def _opened(
    options: ReviewOptions, environ: Mapping[str, str], stack: ExitStack, remark: Callable[[str], None]
) -> GitSource | PatchSource:
    """The change that was selected, until ``stack`` ends. From here on the preparation has so much time and no more.

    What is fetched has limits of its own, and waits for the network: the time begins behind it.
    """
    running = SETUP.running(None if options.output is None else refusal_of(options.output))
    is_fetched = options.selection.kind == "pull_request"
    if not is_fetched:
        stack.enter_context(running)
    source = open_change(options.repo, options.selection, _said(options), options.config, environ)
    stack.callback(source.close)
    if is_fetched:
        stack.enter_context(running)
    for sentence in source.remarks:
        remark(sentence)
    return source


def opened_agents(
    command: tuple[str, ...],
    repo: Path,
    environ: Mapping[str, str],
    stack: ExitStack,
    hear: Callable[[AgentCall, bytes], None] | None = None,
) -> Agents:
    """The CLI that ``command`` runs, with its temporary folder, until ``stack`` ends. Raises ``CliError``."""
    path = search_path(environ.get("PATH", ""), checkout_around(repo))
    agents = ClaudeAgents(command, {**environ, "PATH": path}, hear=hear)
    try:
        stack.enter_context(agents)
    except OSError as error:
        raise CliError(f"A temporary folder cannot be made: {error.strerror}.") from None
    return ReadOnlyTrees(agents)


def _settings(options: ReviewOptions, source: GitSource | PatchSource, environ: Mapping[str, str]) -> Settings:
    mended = partial(mended_by, source) if isinstance(source, GitSource) else lambda: None
    declares = declares_of(source)
    named, profile = options.config, options.profile
    try:
        return load_settings(
            options.repo,
            named,
            source.base_file,
            environ,
            profile,
            mended=mended,
            declares=declares,
            escalation=options.escalation,
        )
    except ConfigError as problem:
        if options.config is not None or source.rules_sha is None:
            raise
        raise ConfigError(
            f"{problem} This is the file at the base, {source.rules_sha[:12]}: mend it there, or name another one with "
            "--config."
        ) from None


def _telemetry(
    environ: Mapping[str, str], warn: Callable[[str], None]
) -> AbstractContextManager[Callable[[OutcomeDocument], None]]:
    """Without a variable of OpenTelemetry's, nothing of it is even imported."""
    if not any(name.startswith("OTEL_") for name in environ):
        return nullcontext(lambda _document: None)
    from review_advisor.ledger.telemetry import telemetry

    return telemetry(environ, warn)


def _command(
    options: ReviewOptions,
    rules: Rules,
    source: GitSource | PatchSource,
    environ: Mapping[str, str],
    warn: Callable[[str], None],
) -> tuple[str, ...]:
    command = agent_command(options.agent, options.repo, environ, warn)
    if options.agent.agent != "embedded":
        return command

    programs = installed() if options.agent.static else {}
    others = checker_arguments(programs, source.base_file, allow_unchecked=rules.allow_unchecked)
    return (*command, *base_checks(source.change(), source.base_file), *others)


def _request(options: ReviewOptions, settings: Settings) -> ReviewRequest:
    rules = replace(settings.rules, allow_unchecked=options.allow_unchecked)
    if options.agent.static:
        from review_advisor.change.checker_settings import languages_of
        from review_advisor.policy.exclusion import PYTHON

        rules = replace(rules, static_languages=(PYTHON, *sorted(languages_of(installed()))))
    if options.most_usd is not None:
        rules = replace(rules, max_usd=min(rules.max_usd, options.most_usd))
    if options.consult and (rules.escalation.caps is None or options.agent.static):
        raise ConfigError("--consult needs models and a profile of escalation: name one with --escalation.")
    switches = replace(settings.switches, static=options.agent.static)
    told = tuple(remark for file in options.with_sarif for remark in _told_by_tools(file))
    request = ReviewRequest(new_run_id(), secrets.token_hex(8), rules, switches, settings.redactor, options.repair)
    request = replace(request, priced_by=settings.prices.source)
    return replace(request, tool_remarks=told, consult_requested=options.consult)


def _told_by_tools(file: Path) -> tuple[ToolRemark, ...]:
    try:
        return read_sarif(read_text(file, "SARIF file"))
    except NotSarifError as problem:
        raise SourceError(f"{file} is no SARIF log: {problem}.") from None


def _pictures(source: GitSource | PatchSource, rules: Rules) -> AbstractContextManager[ComparedPictures]:
    """The pictures of the change."""
    return closing(ComparedPictures(source.base_part, source.head_part, rules.visual_paths))


def _wiki(options: ReviewOptions, rules: Rules) -> Wiki:
    """Where a review leaves its knowledge in the working tree.

    The review of a pull request leaves nothing there: the checkout is its base's, and belongs to whoever runs the bot.
    """
    if options.selection.kind == "pull_request":
        return NoFolder("the review of a pull request writes nothing into the checkout")
    top = repository_top(options.repo) if options.selection.kind != "patch" else None
    return WorkFolder(top, rules.wiki_folder) if top and rules.wiki_folder else NoFolder()


def new_run_id() -> str:
    """A fresh run id: ``run_<UTC stamp>_<8 hex digits>``."""
    return f"run_{datetime.now(UTC):%Y%m%dT%H%M%SZ}_{secrets.token_hex(4)}"


def _said(options: ReviewOptions) -> About:
    body = read_text(options.body_file, "body") if options.body_file else None
    spec = Spec(str(file), read_text(file, "specification")) if (file := options.spec_file) else None
    return About(options.title, body, spec)


def _artifact_root(options: ReviewOptions) -> Path:
    return options.artifacts if options.artifacts.is_absolute() else Path.cwd() / options.artifacts


_MOST_FOLDERS = 200


_LONGEST = 100_000
"""The longest argument of a command. A longer one is left out, so that more is found."""


@cache
def installed() -> Mapping[str, str]:
    """The paths of the checkers beside this interpreter, looked up once.

    PATH is not used, because it may lead into the change.
    """
    folder = Path(sys.executable).absolute().parent
    found = {each.name: folder / each.name for each in CHECKERS}
    return {name: str(file) for name, file in found.items() if file.is_file() and os.access(file, os.X_OK)}


def checker_arguments(
    programs: Mapping[str, str], base_file: Callable[[str], bytes | None], *, allow_unchecked: bool
) -> tuple[str, ...]:
    """The arguments that name the checkers of other languages, what the base allows, and what may stay unchecked."""
    chosen = [each for each in CHECKERS if each.name in programs]
    off = {each.name: rules for each in chosen if (rules := base_allows(each, base_file))}
    return (
        *(("--checkers", json.dumps(dict(programs))) if programs else ()),
        *(("--base-allows", json.dumps(off)) if off else ()),
        *(("--allow-unchecked",) if allow_unchecked else ()),
    )


def base_allows(checker: CheckerProgram, base_file: Callable[[str], bytes | None]) -> tuple[str, ...]:
    """The rules of ``checker`` that the base's configuration of it switches off."""
    for name in checker.configs:
        with suppress(SourceError):  # a link, or a file that is not there: it allows nothing
            if (text := base_file(name)) is not None:
                return switched_off(checker.name, text.decode("utf-8", "replace"))
    return ()


def base_checks(change: Change, base_file: Callable[[str], bytes | None]) -> tuple[str, ...]:
    """The arguments for the embedded agent: the base's ruff settings for every folder with a changed Python file."""
    folders = folders_above(file.path for file in change.files if file.path.endswith((".py", ".pyi")))
    found = [
        settings for folder in folders[:_MOST_FOLDERS] if (settings := _checker_settings(folder, base_file)) is not None
    ]
    text = json.dumps([asdict(each) for each in found])
    return ("--base-ruff", text) if found and len(text) <= _LONGEST else ()


def _checker_settings(folder: str, base_file: Callable[[str], bytes | None]) -> RuffSettings | None:
    for name in CONFIG_FILES:
        with suppress(SourceError):  # a link, or a file that is not there: it allows nothing
            text = base_file(f"{folder}/{name}" if folder else name)
            if text is not None and (settings := ruff_settings(text.decode("utf-8", "replace"), folder, name)):
                return settings
    return None
