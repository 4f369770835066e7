"""The composition root of ``run``: opens both backends and the tree, runs one task, and stores its folder."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from review_advisor.adapters.answers.read_only_trees import ReadOnlyTrees
from review_advisor.adapters.artifacts import TaskFolder
from review_advisor.adapters.clock import SystemClock
from review_advisor.adapters.git.open import open_commit, open_head
from review_advisor.adapters.git.source import GitSource
from review_advisor.adapters.kept_prompts import forget_prompts
from review_advisor.adapters.ledger.recorder import TaskRecorder
from review_advisor.adapters.price_file import read_prices
from review_advisor.app.configuration import load_settings
from review_advisor.app.doctor import AgentChoice, agent_command, repository_top
from review_advisor.app.review import ReviewBrokenError, new_run_id, opened_agents
from review_advisor.app.roster.declared_files import NOBODY
from review_advisor.app.roster.of_source import declares_of, prices_at_head
from review_advisor.app.settings import ConfigError, Settings
from review_advisor.app.storing.recording import CallRecording, open_recording
from review_advisor.app.tasks.declared_commands import OWN_BACKENDS, named_command
from review_advisor.app.tasks.task_advisors import answerable, council_of, switched_off
from review_advisor.core.ledger.chain import LEDGER_FILE
from review_advisor.core.lessons.memory_prompt import NO_LESSONS, Lessons, lessons_of
from review_advisor.core.lessons.memory_record import MEMORY_FILE
from review_advisor.core.metrics.call_estimate import CallEstimates
from review_advisor.core.policy.guard import own_implementation
from review_advisor.core.policy.recording_rules import RecordingMode, RecordingRules
from review_advisor.core.policy.surfaces import Surface
from review_advisor.core.policy.switches import read_switches
from review_advisor.core.report.vote_text import last_vote_text
from review_advisor.core.report.wording import counted, printable_line
from review_advisor.core.retro.retro_files import RETRO_FOLDER
from review_advisor.core.roles.calls import EditGrant, ReviewInterrupted
from review_advisor.core.roles.repair_law import TaskPatch, edit_grant, patch_of
from review_advisor.core.roles.reply_cache import RunNames
from review_advisor.core.safety.redaction import redactor
from review_advisor.core.task.fake_speaker import FakeSpeaker, scenario_of
from review_advisor.core.task.messages import OwedReport
from review_advisor.core.task.task_council import TaskCouncil
from review_advisor.core.task.task_events import Speaker, TaskEvent, TaskLimits
from review_advisor.core.task.task_files import task_files, task_outcome, task_outcome_json
from review_advisor.lifetime.interruption import INTERRUPTION
from review_advisor.ports.review import Agents, ArtifactError, SourceError
from review_advisor.task.brief_votes import MODEL
from review_advisor.task.fake_agents import FakeTaskAgents
from review_advisor.task.task_phase import TaskPhase
from review_advisor.task.task_request import TaskPorts, TaskRequest

ARTIFACTS = Path("review_logs")


@dataclass(frozen=True, slots=True)
class TaskOptions:
    """What the user asked for. An empty model is the one of ``pr_review``. ``adapter`` declares further backends.

    ``recording`` beats the configuration at HEAD. With ``money_is_bound`` the limit of money is the user's own word.
    ``actions`` are what declared advisors vote over, mildest first and with commas between them: those of the file
    ``advisors``, or else of HEAD. Without both nobody of them takes part.
    """

    task: str
    repo: Path = Path()
    executor: str = "claude"
    advisor: str = "claude"
    executor_model: str = ""
    advisor_model: str = ""
    claude_bin: str = ""
    adapter: Path | None = None
    limits: TaskLimits = field(default_factory=TaskLimits)
    runs: Path = Path("runs")
    ledger: Path = ARTIFACTS / LEDGER_FILE
    recording: RecordingMode | None = None
    edit: bool = False
    money_is_bound: bool = False
    advisors: Path | None = None
    actions: str = ""

    @property
    def of_head(self) -> bool:
        """Whether the declared advisors of HEAD take part."""
        return bool(self.actions) and self.advisors is None


@dataclass(frozen=True, slots=True)
class TaskDuty:
    """What a verb of its own brings to a run: evidence, who advises, the report that is owed, and further files.

    ``fake`` is the report of a fake executor. Models and switches are those of ``surface``.
    """

    surface: Surface
    evidence: str
    council: TaskCouncil
    owed: OwedReport
    fake: Mapping[str, Any]
    files: Callable[[Sequence[TaskEvent]], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class RanTask:
    """A run that is over: its folder, what its ``outcome.json`` says, and the signal that ended it, if one did.

    ``votes`` are the last ones of its declared advisors, to print; empty without any.
    """

    folder: Path
    outcome: Mapping[str, Any]
    as_json: str
    interrupted_by: int = 0
    votes: str = ""
    events: tuple[TaskEvent, ...] = ()


@dataclass
class _Record:
    """The run's events as they happen, and its folder, which always holds all of them."""

    folder: TaskFolder
    recorder: TaskRecorder
    keep_prompts: bool
    tell: Callable[[TaskEvent], None]
    more_files: Callable[[Sequence[TaskEvent]], Mapping[str, str]]
    events: list[TaskEvent] = field(default_factory=list)
    prompts: dict[tuple[Speaker, int], str] = field(default_factory=dict)

    def take(self, event: TaskEvent) -> None:
        self.events.append(event)
        self.recorder(event)
        self.tell(event)
        self.folder.store({**self.more_files(self.events), **task_files(self.events, self.prompts)})

    def keep_prompt(self, speaker: Speaker, number: int, prompt: str) -> None:
        if self.keep_prompts:
            self.prompts[speaker, number] = prompt


def run_task(
    options: TaskOptions,
    environ: Mapping[str, str],
    warn: Callable[[str], None],
    tell: Callable[[TaskEvent], None] = lambda _event: None,
    duty: TaskDuty | None = None,
) -> RanTask:
    """Run one task and store its folder. ``duty`` is what a verb of its own brings.

    What can be refused is refused before the first call: ``SwitchError``, ``ConfigError``, ``SourceError``,
    ``CliError`` and ``ArtifactError``, each one clear sentence; what goes wrong after it is a ``ReviewBrokenError``. An
    interrupt ends the calls in flight; the folder then says running. ``tell`` gets each event.
    """
    with ExitStack() as stack:
        stack.enter_context(INTERRUPTION.taken(lambda _number: "The task was interrupted."))
        run_id, nonce = new_run_id(), secrets.token_hex(8)
        work = stack.enter_context(_work(options, environ)) if _has_work(options) else None
        head = work.settings.rules.roster if work is not None else None
        if duty is None:
            council = council_of(options.advisors, options.actions, head, options.advisor, warn)
        else:
            council = answerable(duty.council, options.advisor)
        owed = None if duty is None else (duty.owed.tag, duty.fake)
        speaker = FakeSpeaker(scenario_of(options.task), nonce, run_id, owed)
        rules = _recording_rules(options, work)
        artifacts = repository_top(Path()) / ARTIFACTS
        recording = open_recording(artifacts, rules, run_id, warn, warn)
        stack.callback(recording.close)
        forget_old_prompts((options.runs, artifacts / RETRO_FOLDER), rules, warn)
        redact = redactor(environ)
        backends = _Backends(options, environ, warn, FakeTaskAgents(speaker, council), stack, recording)
        switches = read_switches(environ)
        surface = Surface.PR_REVIEW if duty is None else duty.surface
        executor_model = _model(options.executor, options.executor_model, switches.executor_models[surface])
        advisor_model = _model(options.advisor, options.advisor_model, switches.advisor_models[surface])
        clock, prices = SystemClock(), read_prices() if work is None else prices_at_head(options.repo)
        declared = ((options.advisor, each.model) for each in council.advisors if each.model)
        sides = ((options.executor, executor_model), (options.advisor, advisor_model), *declared)
        for unbound in unbound_backends(sides, CallEstimates(prices), clock.now().date()):
            if options.money_is_bound:
                raise ConfigError(f"--max-usd cannot bind {unbound}")
            warn(f"No limit of money binds {unbound}")
        names = RunNames(run_id, nonce)
        executor, advisor = (recording.around(agents, names, redact) for agents in backends.of_both())
        recorder = TaskRecorder(Path.cwd() / options.ledger, warn)
        folder = TaskFolder(Path.cwd() / options.runs, run_id)
        more_files = _no_files if duty is None else duty.files
        record = _Record(folder, recorder, rules.mode == "full", tell, more_files)
        record.folder.make()
        request = TaskRequest(
            run_id=run_id,
            nonce=nonce,
            task=options.task,
            limits=options.limits,
            redactor=redact,
            executor_backend=options.executor,
            advisor_backend=options.advisor,
            executor_model=executor_model,
            advisor_model=advisor_model,
            disabled=switched_off(switches, council, None if duty is None else duty.surface),
            head=work.head if work is not None else "",
            tree=work.tree if work is not None else None,
            edits=work.grant if work is not None else None,
            lessons=_lessons(work.source) if work is not None else NO_LESSONS,
            council=council,
            evidence="" if duty is None else duty.evidence,
            owed=None if duty is None else duty.owed,
        )
        ports = TaskPorts(executor, advisor, clock, record.take, record.keep_prompt, prices=prices)
        phase = TaskPhase(replace(ports, read_patch=work.patch) if work is not None else ports)
        interrupted = 0
        try:
            phase.run(request)
        except ReviewInterrupted as stop:
            interrupted = stop.signal_number
        except (ArtifactError, SourceError) as problem:
            raise ReviewBrokenError(f"{problem} The task did not run to its end.") from None
        outcome, as_json = task_outcome(record.events), task_outcome_json(record.events)
        votes = last_vote_text(record.events)
        return RanTask(record.folder.folder, outcome, as_json, interrupted, votes, tuple(record.events))


@dataclass(frozen=True, slots=True)
class _Work:
    """What the executor works in: HEAD's tree in a folder of its own, and leave to edit it, if the user gave it."""

    source: GitSource
    settings: Settings
    tree: Path
    grant: EditGrant | None

    @property
    def head(self) -> str:
        return self.source.change().head_sha or ""

    def patch(self) -> TaskPatch:
        own = own_implementation(self.source.change(), self.settings.rules.own_globs)
        return patch_of(self.source.edits(self.tree), own, self.settings.redactor.redact)


@contextmanager
def _work(options: TaskOptions, environ: Mapping[str, str]) -> Iterator[_Work]:
    """Open it. Raises ``SourceError``, ``ConfigError`` and ``SwitchError``."""
    source = open_commit(options.repo)
    try:
        declares = declares_of(source) if options.of_head else NOBODY
        settings = load_settings(options.repo, None, source.base_file, environ, None, declares=declares)
        source = source.within(settings.rules.tree)
        with source.head_tree() as tree:
            grant = edit_grant(source.change(), settings.rules.own_globs) if options.edit else None
            yield _Work(source, settings, tree, grant)
    finally:
        source.close()


def _has_work(options: TaskOptions) -> bool:
    """Whether a run reads HEAD: its tree for a real executor, its settings for a real advisor where there is one.

    Raises ``ConfigError`` for a folder that is not there, and for an executor that can do no task.
    """
    if options.executor == "embedded":
        raise ConfigError(
            "The embedded agent holds static checks and does no task: use --executor with claude or fake."
        )
    if not options.repo.is_dir():
        raise ConfigError(f"{printable_line(str(options.repo))} is not a folder: name a repository with --repo.")
    if options.executor != "fake" or options.of_head:
        return True
    head = open_head(options.repo) if options.advisor != "fake" else None
    if head is not None:
        head.store.close()
    return head is not None


def _recording_rules(options: TaskOptions, work: _Work | None) -> RecordingRules:
    rules = RecordingRules(days=None) if work is None else work.settings.recording
    return rules if options.recording is None else replace(rules, mode=options.recording)


def _lessons(source: GitSource) -> Lessons:
    """The memory of HEAD as the executor is shown it."""
    memory = source.base_texts((MEMORY_FILE,)).get(MEMORY_FILE)
    return NO_LESSONS if memory is None else lessons_of(memory, SystemClock().now())


@dataclass(frozen=True, slots=True)
class _Backends:
    """The backends of one run. Both sides of one kind share it."""

    options: TaskOptions
    environ: Mapping[str, str]
    warn: Callable[[str], None]
    fake: FakeTaskAgents
    stack: ExitStack
    recording: CallRecording

    def of_both(self) -> tuple[Agents, Agents]:
        """The executor's and the advisor's."""
        executor = self._open(self.options.executor)
        same = self.options.advisor == self.options.executor
        return executor, executor if same else self._open(self.options.advisor)

    def _open(self, backend: str) -> Agents:
        match backend:
            case "fake":
                return self.fake
            case "claude" | "embedded":
                repo = self.options.repo
                command = agent_command(AgentChoice(backend, self.options.claude_bin), repo, self.environ, self.warn)
                return opened_agents(command, repo, self.environ, self.stack, self.recording.hear)
            case _:
                named = named_command(backend, self.options.adapter, self.options.repo, self.environ)
                return ReadOnlyTrees(named)


def _model(backend: str, said: str, usual: str) -> str:
    return MODEL if backend == "fake" else said or usual


def _no_files(events: Sequence[TaskEvent]) -> Mapping[str, str]:
    del events
    return {}


def forget_old_prompts(folders: Iterable[Path], rules: RecordingRules, remark: Callable[[str], None]) -> None:
    """Delete the prompts in folders of runs that are older than the rules allow."""
    if rules.days is None:
        return
    for each in folders:
        gone = forget_prompts(Path.cwd() / each, SystemClock().now(), rules.days)
        if gone:
            remark(f"Prompts of {counted(gone, 'run')} older than {counted(rules.days, 'day')} deleted from {each}.")


def unbound_backends(sides: Iterable[tuple[str, str]], estimates: CallEstimates, today: date) -> Iterator[str]:
    """The backends whose calls no limit of money binds, each with the reason."""
    for backend, model in dict.fromkeys(sides):
        if backend not in OWN_BACKENDS and not estimates.binds(model, today):
            why = "is free by the list of prices" if estimates.knows(model, today) else "has no price to estimate it by"
            yield f"{backend!r}: a command reports no cost, and the model {model!r} {why}."
