"""The composition root: opens the adapters, builds the ports, runs one review, stores what came of it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from review_advisor.adapters.answers.read_only_trees import ReadOnlyTrees
from review_advisor.adapters.artifacts import (
    FolderArtifacts,
    check_writable,
    remove_refusal,
    remove_stale,
    write_refusal,
    write_whole,
)
from review_advisor.adapters.claude.agents import ClaudeAgents
from review_advisor.adapters.claude.environment import credential_secret
from review_advisor.adapters.claude.locate import search_path
from review_advisor.adapters.clock import SystemClock
from review_advisor.adapters.git.patch_source import PatchSource
from review_advisor.adapters.git.source import About, GitSource
from review_advisor.adapters.journal import FanOut
from review_advisor.adapters.pictures.pairs import ComparedPictures
from review_advisor.adapters.worktree import NoFolder, WorkFolder
from review_advisor.app.base_checks import base_checks, checker_arguments, installed
from review_advisor.app.change_source import Selection, open_change
from review_advisor.app.configuration import load_settings, read_text
from review_advisor.app.doctor import AgentChoice, agent_command, repository_top
from review_advisor.app.recording import Keeping, open_keeping
from review_advisor.app.settings import Config, ConfigError, Profile, Settings
from review_advisor.core.exports.review_files import review_files
from review_advisor.core.facts.change import Spec
from review_advisor.core.facts.checker_settings import languages_of
from review_advisor.core.facts.tool_remarks import NotSarifError, ToolRemark, read_sarif
from review_advisor.core.outcome.document import OutcomeDocument, outcome_document, outcome_json
from review_advisor.core.outcome.ends import end_of_stop
from review_advisor.core.outcome.events import CallStarted, Event, ReviewEnded, ReviewStopped
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.policy.policy import RepairMode, Rules
from review_advisor.core.policy.static_review import PYTHON
from review_advisor.core.report.repair_text import PATCH_FILE
from review_advisor.core.roles.calls import ReviewInterrupted
from review_advisor.core.roles.instructions import Instructions
from review_advisor.core.roles.reply_cache import Concluded, RunNames, review_identity
from review_advisor.core.safety.redaction import redactor
from review_advisor.lifetime.interruption import INTERRUPTION
from review_advisor.ports.review import ArtifactError, CliError, Ports, SourceError, Wiki
from review_advisor.review.phase import ReviewPhase, ReviewRequest


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


@dataclass(frozen=True, slots=True)
class StoredReview:
    """A review that is over: its document, where its artefacts are, and the signal that ended it, if one did.

    ``answered_from`` is the end of the earlier review that gave all of its answers, if one did.
    """

    document: OutcomeDocument
    folder: Path
    interrupted_by: int = 0
    answered_from: Concluded | None = None


class ReviewBrokenError(Exception):
    """The review had made calls and could not be brought to its end. One or two sentences (exit code 12)."""


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
    ``ReviewBrokenError``, and leaves no outcome. ``warn`` gets sentences that do not stop the review, ``remark`` what
    was chosen for the user. An interrupt of this process ends the calls in flight; the review then ends as stopped.
    """
    with ExitStack() as stack:
        so_far = _SoFar(options.output)
        stack.enter_context(INTERRUPTION.taken(so_far.last_words))
        if options.output is not None:
            remove_stale(options.output)
            remove_refusal(options.output)
        source = open_change(options.repo, options.selection, _said(options), options.config, environ)
        stack.callback(source.close)
        for sentence in source.remarks:
            remark(sentence)
        artifacts = FolderArtifacts(_artifact_root(options), source.label)
        artifacts.clear()
        settings = _settings(options, source, environ)
        source = source.within(settings.rules.tree)
        source.change()
        request = _request(options, settings)
        command = _command(options, request.rules, source, environ, warn)
        artifacts.make()
        if options.output is not None:
            check_writable(options.output)
        path = search_path(environ.get("PATH", ""), repository_top(options.repo))
        agents = ClaudeAgents(command, {**environ, "PATH": path})
        try:
            stack.enter_context(agents)
        except OSError as error:
            raise CliError(f"A temporary folder cannot be made: {error.strerror}.") from None
        instructions = load_instructions()
        pictures, wiki = _pictures_and_wiki(options, settings.rules, source)
        stack.callback(pictures.close)
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
        asked = keeping.remembering(ReadOnlyTrees(agents), RunNames(request.run_id, request.nonce), request.redactor)
        so_far.artifacts, so_far.keeping = artifacts, keeping
        journal = FanOut([so_far, keeping, subscriber])
        ports = Ports(asked, source, journal, artifacts, SystemClock(), pictures, wiki)
        send_telemetry = stack.enter_context(_telemetry(environ, warn))
        try:
            with keeping:
                document = ReviewPhase(ports, instructions, options.jobs or settings.jobs).review(request)
                document = _stored(document, artifacts, so_far)
                keeping.over(document)
        except (ArtifactError, SourceError) as problem:
            _discard(artifacts, options.output)
            if so_far.asked:
                raise ReviewBrokenError(f"{problem} The review did not run to its end.") from None
            raise
        if not INTERRUPTION.number:
            send_telemetry(document)
        return StoredReview(document, artifacts.folder, INTERRUPTION.number, keeping.answered_from(document))


def _settings(options: ReviewOptions, source: GitSource | PatchSource, environ: Mapping[str, str]) -> Settings:
    mended = partial(_mended, source) if isinstance(source, GitSource) else lambda: None
    try:
        return load_settings(options.repo, options.config, source.base_file, environ, options.profile, mended=mended)
    except ConfigError as problem:
        if options.config is not None or source.base_sha is None:
            raise
        raise ConfigError(
            f"{problem} This is the file at the base, {source.base_sha[:12]}: mend it there, or name another one with "
            "--config."
        ) from None


def _mended(source: GitSource) -> tuple[Config, str] | None:
    from review_advisor.app.pull_request_source import mended_by

    return mended_by(source)


def _telemetry(
    environ: Mapping[str, str], warn: Callable[[str], None]
) -> AbstractContextManager[Callable[[OutcomeDocument], None]]:
    """Without a variable of OpenTelemetry's, nothing of it is even imported."""
    if not any(name.startswith("OTEL_") for name in environ):
        return nullcontext(lambda _document: None)
    from review_advisor.adapters.telemetry.export import telemetry

    return telemetry(environ, warn)


def leave_refusal(output: Path, sentence: str, environ: Mapping[str, str]) -> None:
    """Leave beside where the outcome would be why there is none, without this process's secrets; at best."""
    with suppress(ArtifactError):
        write_refusal(output, redactor(environ).redact(sentence))


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
    rules = replace(settings.rules, allow_unchecked=settings.rules.allow_unchecked or options.allow_unchecked)
    if options.agent.static:
        rules = replace(rules, static_languages=(PYTHON, *sorted(languages_of(installed()))))
    switches = replace(settings.switches, static=options.agent.static)
    told = tuple(remark for file in options.with_sarif for remark in _told_by_tools(file))
    request = ReviewRequest(new_run_id(), secrets.token_hex(8), rules, switches, settings.redactor, options.repair)
    return replace(request, tool_remarks=told)


def _told_by_tools(file: Path) -> tuple[ToolRemark, ...]:
    try:
        return read_sarif(read_text(file, "SARIF file"))
    except NotSarifError as problem:
        raise SourceError(f"{file} is no SARIF log: {problem}.") from None


def _pictures_and_wiki(
    options: ReviewOptions, rules: Rules, source: GitSource | PatchSource
) -> tuple[ComparedPictures, Wiki]:
    """What a review reads and leaves in the working tree; a bare repository and a patch have none.

    The review of a pull request leaves nothing there: the checkout is its base's, and belongs to whoever runs the bot.
    """
    top = repository_top(options.repo) if options.selection.kind != "patch" else None
    before_and_after = WorkFolder(top, rules.visual_folder) if top and rules.visual_folder else None
    pictures = ComparedPictures(
        source.base_part, source.head_part, rules.visual_paths, before_and_after, rules.visual_folder or ""
    )
    if options.selection.kind == "pull_request":
        return pictures, NoFolder("the review of a pull request writes nothing into the checkout")
    return pictures, WorkFolder(top, rules.wiki_folder) if top and rules.wiki_folder else NoFolder()


@dataclass
class _SoFar:
    """A subscriber that knows what has happened so far. Once a call was made, nothing is a mere refusal."""

    output: Path | None
    artifacts: FolderArtifacts | None = None
    keeping: Keeping | None = None
    events: list[Event] = field(default_factory=list)
    asked: bool = False
    is_stored: bool = False

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        self.asked = self.asked or isinstance(event, CallStarted)

    def last_words(self, signal_number: int) -> str:
        """Store as stopped a review that does not come to its end by itself. Returns the sentence for the user."""
        if self.artifacts is None or self.keeping is None or not self.events:
            return "The review was interrupted before it began."
        if self.is_stored:
            return "Interrupted."
        document = _cut_short(self.events, signal_number)
        with suppress(ArtifactError):
            _store(document, self.artifacts, self.output)
        self.keeping.over(document)
        return "Interrupted: the review did not run to its end."


def new_run_id() -> str:
    """A fresh run id: ``run_<UTC stamp>_<8 hex digits>``."""
    return f"run_{datetime.now(UTC):%Y%m%dT%H%M%SZ}_{secrets.token_hex(4)}"


def load_instructions() -> Instructions:
    """The standing instructions that ship with the package."""
    folder = Path(__file__).parents[1] / "agents"
    texts = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    return Instructions(texts)


def _said(options: ReviewOptions) -> About:
    body = read_text(options.body_file, "body") if options.body_file else None
    spec = None
    if options.spec_file is not None:
        spec = Spec(str(options.spec_file), read_text(options.spec_file, "specification"))
    return About(options.title, body, spec)


def _artifact_root(options: ReviewOptions) -> Path:
    return options.artifacts if options.artifacts.is_absolute() else Path.cwd() / options.artifacts


def _stored(document: OutcomeDocument, artifacts: FolderArtifacts, so_far: _SoFar) -> OutcomeDocument:
    """Store the review. An interrupt that comes meanwhile counts: what is on disk then says stopped."""
    with INTERRUPTION.storing:
        _store(document, artifacts, so_far.output)
        if INTERRUPTION.number and document.outcome is not Outcome.STOPPED:
            document = _cut_short(document.events, INTERRUPTION.number)
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


def _cut_short(events: Sequence[Event], signal_number: int) -> OutcomeDocument:
    """The review of these events, interrupted before its end was on disk."""
    at = datetime.now(UTC)
    stop = end_of_stop(ReviewInterrupted("The review was interrupted.", signal_number=signal_number), at)
    before = [event for event in events if not isinstance(event, ReviewStopped | ReviewEnded)]
    return outcome_document([*before, stop, ReviewEnded(at=at, outcome=Outcome.STOPPED, because=(stop.detail,))])


def _discard(artifacts: FolderArtifacts, output: Path | None) -> None:
    with suppress(ArtifactError):
        artifacts.clear()
    with suppress(ArtifactError):
        if output is not None:
            remove_stale(output)
