"""The composition root: opens the adapters, builds the ports, runs one review, and stores its outcome."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from review_advisor.adapters.answers.read_only_trees import ReadOnlyTrees
from review_advisor.adapters.artifacts import (
    BROKEN,
    FolderArtifacts,
    check_writable,
    refusal_of,
)
from review_advisor.adapters.claude.agents import ClaudeAgents
from review_advisor.adapters.claude.environment import credential_secret
from review_advisor.adapters.claude.locate import search_path
from review_advisor.adapters.clock import SystemClock
from review_advisor.adapters.git.patch_source import PatchSource
from review_advisor.adapters.git.run import checkout_around
from review_advisor.adapters.git.source import About, GitSource
from review_advisor.adapters.pictures.pairs import ComparedPictures
from review_advisor.adapters.price_file import read_prices
from review_advisor.adapters.worktree import NoFolder, WorkFolder
from review_advisor.app.change_source import Selection, open_change
from review_advisor.app.configuration import load_settings, mended_by, read_text
from review_advisor.app.doctor import AgentChoice, agent_command, repository_top
from review_advisor.app.roster.known_kinds import kind_notes
from review_advisor.app.roster.of_source import declares_of
from review_advisor.app.settings import ConfigError, Profile, Settings
from review_advisor.app.shadows.instruction_texts import load_instructions
from review_advisor.app.shadows.run_shadows import ShadowRuns
from review_advisor.app.storing.recording import FanOut, Keeping, open_keeping, open_recording
from review_advisor.app.storing.stored_review import SoFar, clear, discard, store_again, stored
from review_advisor.core.facts.change import Spec
from review_advisor.core.facts.tool_remarks import NotSarifError, ToolRemark, read_sarif
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import Event
from review_advisor.core.policy.escalation_rules import EscalationProfile
from review_advisor.core.policy.policy import RepairMode, Rules
from review_advisor.core.roles.calls import AgentCall
from review_advisor.core.roles.reply_cache import Concluded, RunNames, review_identity
from review_advisor.lifetime.freed_memory import give_back_freed_memory
from review_advisor.lifetime.interruption import INTERRUPTION
from review_advisor.lifetime.setup_watch import SETUP
from review_advisor.ports.review import Agents, ArtifactError, CliError, Ports, SourceError, Wiki
from review_advisor.review.matter import ReviewRequest
from review_advisor.review.phase import ReviewPhase


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


class ReviewBrokenError(Exception):
    """The review made calls and could not finish. One or two sentences (exit code 12)."""


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
        source = source.within(settings.rules.tree)
        source.change()
        request = _request(options, settings)
        command = _command(options, request.rules, source, environ, warn)
        artifacts.make()
        if options.output is not None:
            check_writable(options.output)
        recording = open_recording(_artifact_root(options), settings.recording, request.run_id, warn, remark)
        stack.callback(recording.close)
        agents = opened_agents(command, options.repo, environ, stack, recording.hear)
        instructions, compared = load_instructions(), partial(_pictures, options, source)
        pictures = stack.enter_context(compared(settings.rules))
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
        store = partial(store_again, artifacts=artifacts, output=options.output)
        shadows = ShadowRuns(ports, compared, instructions, settings.shadows, jobs, keeping.ledger, store, warn)
        ended = _ended(document, artifacts.folder, keeping, send_telemetry, partial(shadows.after, request, document))
        return replace(ended, finding_notes=kind_notes(source.base_file, ended.document, warn))


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


def _ended(
    document: OutcomeDocument,
    folder: Path,
    keeping: Keeping,
    send_telemetry: Callable[[OutcomeDocument], None],
    in_shadow: Callable[[], OutcomeDocument],
) -> StoredReview:
    """The stored review, after what is still to be done: the outcome stands whatever becomes of that."""
    answered = keeping.answered_from(document)
    if not INTERRUPTION.number:
        send_telemetry(document)
        document = document if answered is not None else in_shadow()
    return StoredReview(document, folder, INTERRUPTION.number, answered)


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
    from review_advisor.adapters.telemetry.export import telemetry

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
    from review_advisor.app.base_checks import base_checks, checker_arguments, installed

    programs = installed() if options.agent.static else {}
    others = checker_arguments(programs, source.base_file, allow_unchecked=rules.allow_unchecked)
    return (*command, *base_checks(source.change(), source.base_file), *others)


def _request(options: ReviewOptions, settings: Settings) -> ReviewRequest:
    rules = replace(settings.rules, allow_unchecked=settings.rules.allow_unchecked or options.allow_unchecked)
    if options.agent.static:
        from review_advisor.app.base_checks import installed
        from review_advisor.core.facts.checker_settings import languages_of
        from review_advisor.core.policy.static_review import PYTHON

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


def _pictures(
    options: ReviewOptions, source: GitSource | PatchSource, rules: Rules
) -> AbstractContextManager[ComparedPictures]:
    """The pictures of the change, and those of the working tree; a bare repository and a patch have none there."""
    top = _working_tree(options)
    before_and_after = WorkFolder(top, rules.visual_folder) if top and rules.visual_folder else None
    return closing(
        ComparedPictures(
            source.base_part, source.head_part, rules.visual_paths, before_and_after, rules.visual_folder or ""
        )
    )


def _wiki(options: ReviewOptions, rules: Rules) -> Wiki:
    """Where a review leaves its knowledge in the working tree.

    The review of a pull request leaves nothing there: the checkout is its base's, and belongs to whoever runs the bot.
    """
    if options.selection.kind == "pull_request":
        return NoFolder("the review of a pull request writes nothing into the checkout")
    top = _working_tree(options)
    return WorkFolder(top, rules.wiki_folder) if top and rules.wiki_folder else NoFolder()


def _working_tree(options: ReviewOptions) -> Path | None:
    return repository_top(options.repo) if options.selection.kind != "patch" else None


def new_run_id() -> str:
    """A fresh run id: ``run_<UTC stamp>_<8 hex digits>``."""
    return f"run_{datetime.now(UTC):%Y%m%dT%H%M%SZ}_{secrets.token_hex(4)}"


def _said(options: ReviewOptions) -> About:
    body = read_text(options.body_file, "body") if options.body_file else None
    spec = Spec(str(file), read_text(file, "specification")) if (file := options.spec_file) else None
    return About(options.title, body, spec)


def _artifact_root(options: ReviewOptions) -> Path:
    return options.artifacts if options.artifacts.is_absolute() else Path.cwd() / options.artifacts
