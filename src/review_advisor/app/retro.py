"""`retro`."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from review_advisor.agents.calls import Agents
from review_advisor.agents.kept_replies import ReadOnlyTrees
from review_advisor.agents.purse import CallEstimates
from review_advisor.app.agent_choice import AgentChoice, agent_command
from review_advisor.app.calibrate import observed_reviews
from review_advisor.app.configuration import (
    NOBODY,
    load_settings,
    prices_at_head,
    read_recorded,
)
from review_advisor.app.memory import is_there
from review_advisor.app.options import CLAUDE_BIN, LEDGER, PATH, BoundedNumber, artifacts_option, moment
from review_advisor.app.review import new_run_id, opened_agents
from review_advisor.app.run import ARTIFACTS, forget_old_prompts, named_command, unbound_backends
from review_advisor.app.terminal import ExitWithCode, clear_refusals, note, note_left_out, put
from review_advisor.change.git import why_not_yours
from review_advisor.change.redaction import redactor
from review_advisor.change.sources import open_commit, open_head
from review_advisor.change.work_folder import WorkFolder
from review_advisor.ledger.artifacts import TaskFolder
from review_advisor.ledger.chain import LEDGER_FILE, LedgerError
from review_advisor.ledger.queries import RunFilter
from review_advisor.ledger.recorder import TaskRecorder
from review_advisor.ledger.run_queries import read_tasks
from review_advisor.ledger.task_events import EXIT_CODES, TaskCalled, TaskEnded, TaskEvent, TaskLimits, told_live
from review_advisor.ledger.transfer import events_of_run
from review_advisor.policy.policy import RecordingRules
from review_advisor.policy.settings import ConfigError
from review_advisor.policy.surfaces import Surface
from review_advisor.policy.switches import MASTER, read_switches
from review_advisor.review.events import PolicyFrozen
from review_advisor.review.observed import RUN_ID
from review_advisor.safety.clock import SystemClock
from review_advisor.safety.interruption import INTERRUPTION
from review_advisor.safety.stop import ReviewInterrupted
from review_advisor.safety.wording import printable_line
from review_advisor.tasks.brief_council import MODEL
from review_advisor.tasks.retro import (
    OBSERVATIONS,
    OUTCOME_FILE,
    PROPOSALS_FILE,
    RETRO_FOLDER,
    REVIEW_FILE,
    FakeRetroAgents,
    ImprovementProposals,
    PostRunReview,
    RetroPorts,
    RetroRequest,
    SeenRun,
    dismissed_again,
    learnt_proposals,
    proposal_files,
    retro_files,
    review_after_the_end,
)
from review_advisor.tasks.review_texts import review_texts
from review_advisor.tasks.run_files import is_prompt_digest, task_files

_ONLY_WITH_RUN = ("advisor", "model", "adapter", "timeout", "max_usd", "claude_bin", "repo", "runs")


@click.command()
@click.option("--run", metavar="RUN", help="The task's run or the review to look at: its id, or its folder.")
@click.option(
    "--advisor",
    default="claude",
    show_default=True,
    metavar="NAME",
    help="Who looks: claude, fake, or a command of --adapter.",
)
@click.option("--advisor-model", "model", default="", metavar="NAME", help="[default: the advisor's of pr_review]")
@click.option("--adapter", type=PATH, metavar="FILE", help="TOML that declares the commands of other CLIs.")
@click.option("--timeout", type=BoundedNumber(1, 86_400), default=240, show_default=True, help="Seconds of one call.")
@click.option("--max-usd", type=BoundedNumber(0.01, 1_000), default=3, show_default=True, help="Money of all calls.")
@CLAUDE_BIN
@click.option("--repo", type=PATH, default=Path(), help="The repository. [default: this one]")
@click.option(
    "--runs", type=PATH, default=Path("runs"), show_default=True, metavar="DIR", help="Where the runs' folders are."
)
@artifacts_option("Where reviews write.")
@LEDGER
@click.option("--since", type=moment, metavar="WHEN", help="Without --run: only reviews from then on.")
@click.option("--repository", metavar="OWNER/NAME", help="Without --run: only the pull requests of this repository.")
@click.pass_context
def retro(
    context: click.Context,
    /,
    run: str | None,
    artifacts: Path,
    ledger_file: Path,
    since: datetime | None,
    repository: str | None,
    **asked: Any,
) -> None:
    """Ask an advisor what a run teaches after its end, in one call, and write proposals beside the run.

    Without --run no model is asked: what people dismissed again and again becomes proposals for the rules of the team.
    Nothing is applied: a person reads the proposals.

    Exit codes: 0 the proposals are valid, 10 they are not, 12 there was no answer, 2 usage or setup.
    """
    if run is None:
        given = [name for name in _ONLY_WITH_RUN if _is_given(context, name)]
        if given:
            raise click.UsageError(f"--{given[0].replace('_', '-')} is for a --run.")
        _learn(artifacts, ledger_file, since, repository)
        return
    if since is not None or repository is not None:
        raise click.UsageError("--since and --repository need no --run: they choose the reviews to learn from.")
    with clear_refusals():
        _look_at(context, run, artifacts, ledger_file, **asked)


def _is_given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is not ParameterSource.DEFAULT


def _look_at(
    context: click.Context, run: str, artifacts: Path, ledger: Path, *, timeout: float, max_usd: float, **asked: Any
) -> None:
    limits = TaskLimits(max_usd=max_usd, call_seconds=timeout, run_seconds=2 * timeout)
    options = RetroOptions(run, limits=limits, artifacts=artifacts, ledger=ledger, **asked)
    try:
        held = run_retro(options, os.environ, note, _show)
    except ReviewInterrupted as stop:
        raise ExitWithCode("Interrupted: there is no review of the run.", 128 + stop.signal_number) from None
    review = held.review
    rows = {
        "run_id": review.source_run_id,
        "retro_id": review.retro_id,
        "status": review.status,
        "review": held.folder / REVIEW_FILE,
        "proposals": held.folder / PROPOSALS_FILE,
        "outcome": held.folder / OUTCOME_FILE,
        "improvement_proposals_valid": str(review.proposals.valid).lower(),
    }
    put("".join(f"{name}: {value}\n" for name, value in rows.items()))
    context.exit(EXIT_CODES[review.status])


def _show(event: TaskEvent) -> None:
    if isinstance(event, TaskCalled) or (isinstance(event, TaskEnded) and event.reason):
        note(printable_line(told_live(event)))


def _learn(artifacts: Path, ledger: Path, since: datetime | None, repository: str | None) -> None:
    with clear_refusals():
        done = learn_rules(ledger, RunFilter(repository=repository, since=since), artifacts)
    note_left_out(done.left_out, "reviews" if done.more else "")
    note(done.proposals.summary)
    learnt = [each for each in done.proposals.proposals if each.changes_something]
    put("".join(f"{each.id}: {printable_line(each.title)}. {printable_line(each.rationale)}\n" for each in learnt))
    put(f"proposals: {done.folder / PROPOSALS_FILE}\n")
    put(f"improvement_proposals_valid: {str(done.proposals.valid).lower()}\n")


@dataclass(frozen=True, slots=True)
class LearntRules:
    """The proposals, and the folder that holds them. ``more``: not all reviews were read."""

    proposals: ImprovementProposals
    folder: Path
    left_out: tuple[str, ...]
    more: bool


def learn_rules(ledger: Path, wanted: RunFilter, artifacts: Path) -> LearntRules:
    """Write what the newest reviews teach. No model is asked. Raises ``LedgerError`` and ``ArtifactError``."""
    read = observed_reviews(ledger, wanted, lambda document, labels: (document, labels))
    proposals = learnt_proposals(dismissed_again(read.runs))
    folder = TaskFolder(artifacts.absolute(), RETRO_FOLDER, OBSERVATIONS)
    folder.make(anew=False)
    folder.store(proposal_files(proposals))
    return LearntRules(proposals, folder.folder, read.left_out, read.more)


_PROMPT = ".prompt.md"


_OF_A_RUN = re.compile(
    r"task\.md|(?:outcome|version_manifest|memory_schema|policy)\.json"
    r"|(?:session_events|advisor_consults|advisor_guidance|memory_proposals|malformed_blocks)\.jsonl"
    r"|(?:executor|advisor)_turn_\d{1,4}\.(?:prompt|final)\.md"
)


_MOST_FILES = 200


_MOST_BYTES = 2_000_000


_NO_PROMPTS = "The prompts: they were not recorded (`--recording full` keeps them)."


_NO_OUTPUT = "What the backends wrote beside their final messages."


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run that is kept. What is written about it goes ``below`` a ``root``: into its own folder or the artefacts."""

    seen: SeenRun
    root: Path
    below: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Recorded:
    """What the ledger holds of a run, by the names of its folder's files; ``why`` says why it holds nothing."""

    run_id: str
    texts: Mapping[str, str] = field(default_factory=dict)
    why: str = ""


def find_stored_run(named: str, runs: Path, artifacts: Path, ledger: Path) -> StoredRun:
    """The run with that id or folder. What of it is not kept is told. Raises ``ConfigError`` where nothing is."""
    folder = Path(named) if "/" in named else runs / named
    run_id = folder.absolute().name
    if not re.fullmatch(RUN_ID, run_id):
        raise ConfigError(f"{named!r} is no id of a run and no folder of one.")
    has_folder = not folder.is_symlink() and folder.is_dir()
    if has_folder and (why := why_not_yours(folder)):
        raise ConfigError(f"The run {folder} does not count: {why}.")
    beside = _of_folder(folder) if has_folder else {}
    recorded = _of_ledger(ledger, run_id)
    if not recorded.texts and "outcome.json" not in beside:
        raise ConfigError(f"Nothing is kept of the run {run_id}: {folder} is no folder of a run. {recorded.why}")
    kept = {name: text for name, text in beside.items() if name.endswith(_PROMPT) and not is_prompt_digest(text)}
    prompts = kept or _recorded_prompts(artifacts, recorded.run_id)
    texts = {name: text for name, text in (recorded.texts or beside).items() if not name.endswith(_PROMPT)}
    missing = [] if prompts else [_NO_PROMPTS]
    missing += [_NO_OUTPUT, *([] if recorded.texts else [f"The ledger's record of the run. {recorded.why}"])]
    seen = SeenRun(recorded.run_id, {**texts, **prompts}, tuple(missing))
    if has_folder:
        return StoredRun(seen, folder.absolute().parent, (run_id,))
    return StoredRun(seen, artifacts.absolute(), (RETRO_FOLDER, recorded.run_id))


def _of_ledger(ledger: Path, run_id: str) -> _Recorded:
    """A task, or the review whose id begins so."""
    if not is_there(ledger):
        return _Recorded(run_id, why=f"There is no ledger {ledger}.")
    try:
        (read,) = read_tasks(ledger, [run_id])
        if not isinstance(read, str):
            return _Recorded(run_id, _of_a_run(task_files(read, {})))
        events, _ = events_of_run(ledger, run_id)
    except LedgerError as refused:
        return _Recorded(run_id, why=str(refused))
    named = events[0].run_id if isinstance(events[0], PolicyFrozen) else run_id
    return _Recorded(named, review_texts(events))


def _of_a_run(files: Mapping[str, str]) -> dict[str, str]:
    """The files of a run's folder that say more than the others do."""
    return {name: text for name, text in files.items() if _OF_A_RUN.fullmatch(name)}


def _of_folder(folder: Path) -> dict[str, str]:
    """The same from the folder itself, none of them through a link."""
    try:
        names = sorted(each.name for each in folder.iterdir() if _OF_A_RUN.fullmatch(each.name))
    except OSError as error:
        raise ConfigError(f"{folder} cannot be read: {error.strerror}.") from None
    work = WorkFolder(folder, "")
    found = ((name, work.read(name, _MOST_BYTES)) for name in names[:_MOST_FILES])
    return {name: raw.decode("utf-8", "replace") for name, raw in found if isinstance(raw, bytes)}


def _recorded_prompts(artifacts: Path, run_id: str) -> dict[str, str]:
    """The prompts of a recording, by who was asked and the number of the call."""
    try:
        calls = read_recorded(artifacts, run_id).calls
    except LedgerError:
        return {}
    return {
        f"call_{call.identity.sequence:04}_{call.identity.role}{_PROMPT}": call.prompt
        for call in calls
        if call.prompt is not None
    }


@dataclass(frozen=True, slots=True)
class RetroOptions:
    """What the user asked for. An empty model is the advisor's of ``pr_review``. ``adapter`` declares backends."""

    run: str
    advisor: str = "claude"
    model: str = ""
    claude_bin: str = ""
    adapter: Path | None = None
    limits: TaskLimits = field(default_factory=TaskLimits)
    repo: Path = Path()
    runs: Path = Path("runs")
    artifacts: Path = ARTIFACTS
    ledger: Path = ARTIFACTS / LEDGER_FILE


@dataclass(frozen=True, slots=True)
class HeldRetro:
    """A review after the end, and the folder that holds its files."""

    review: PostRunReview
    folder: Path


def run_retro(
    options: RetroOptions,
    environ: Mapping[str, str],
    warn: Callable[[str], None],
    tell: Callable[[TaskEvent], None] = lambda _event: None,
) -> HeldRetro:
    """Ask about one run, and write the answer beside it.

    What can be refused is refused before the call: ``ConfigError``, ``SwitchError``, ``CliError``, ``ArtifactError``.
    Raises ``ReviewInterrupted``. ``tell`` gets each event.
    """
    if options.advisor == "embedded":
        raise ConfigError(
            "The embedded agent holds static checks and looks at no run: use --advisor with claude or fake."
        )
    switches = read_switches(environ)
    if not switches.master:
        raise ConfigError(f"{MASTER} is off: no advisor is asked.")
    stored = find_stored_run(options.run, options.runs, options.artifacts, options.ledger)
    with ExitStack() as stack:
        stack.enter_context(INTERRUPTION.taken(lambda _number: "The run is not looked at: interrupted."))
        nonce, is_fake = secrets.token_hex(8), options.advisor == "fake"
        advisor = FakeRetroAgents(nonce) if is_fake else _opened(options, environ, warn, stack)
        model = MODEL if is_fake else options.model or switches.advisor_models[Surface.PR_REVIEW]
        clock, prices = SystemClock(), prices_at_head(options.repo)
        for each in unbound_backends([(options.advisor, model)], CallEstimates(prices), clock.now().date()):
            warn(f"No limit of money binds {each}")
        rules = _recording_rules(options.repo, environ)
        forget_old_prompts((options.runs, options.artifacts / RETRO_FOLDER), rules, warn)
        folder = TaskFolder(stored.root, *stored.below)
        folder.make(anew=False)
        recorder = TaskRecorder(Path.cwd() / options.ledger, warn)

        def record(event: TaskEvent) -> None:
            recorder(event)
            tell(event)

        request = RetroRequest(
            retro_id=new_run_id(),
            nonce=nonce,
            run=stored.seen,
            backend=options.advisor,
            model=model,
            limits=options.limits,
            redactor=redactor(environ),
        )
        review = review_after_the_end(request, RetroPorts(advisor, clock, record, prices))
        folder.store(retro_files(review, with_prompt=rules.mode == "full"))
        return HeldRetro(review, folder.folder)


def _recording_rules(repo: Path, environ: Mapping[str, str]) -> RecordingRules:
    """Those of HEAD; without one no prompt is kept, and none deleted. Raises ``ConfigError``."""
    head = open_head(repo)
    if head is None:
        return RecordingRules(prunes=False)
    head.store.close()
    with closing(open_commit(repo)) as source:
        return load_settings(repo, None, source.base_file, environ, None, declares=NOBODY).recording


def _opened(options: RetroOptions, environ: Mapping[str, str], warn: Callable[[str], None], stack: ExitStack) -> Agents:
    match options.advisor:
        case "claude":
            choice = AgentChoice("claude", options.claude_bin)
            return opened_agents(agent_command(choice, options.repo, environ, warn), options.repo, environ, stack)
        case name:
            return ReadOnlyTrees(named_command(name, options.adapter, options.repo, environ))
