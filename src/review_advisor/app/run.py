"""`run`."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any, TypeVar

import click
from click.core import ParameterSource
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from review_advisor.agents.calls import Agents, CliError, EditGrant
from review_advisor.agents.claude import search_path
from review_advisor.agents.command_agents import CommandAgents
from review_advisor.agents.kept_replies import ReadOnlyTrees, RunNames
from review_advisor.agents.prompts import MEMORY_FILE, NO_LESSONS, Lessons, lessons_of
from review_advisor.agents.purse import CallEstimates
from review_advisor.agents.repair_law import TaskPatch, edit_grant, patch_of
from review_advisor.app.agent_choice import AgentChoice, agent_command, repository_top
from review_advisor.app.configuration import NOBODY, declares_of, load_settings, prices_at_head, read_text
from review_advisor.app.options import CLAUDE_BIN, LEDGER, PATH, REPO, BoundedNumber
from review_advisor.app.review import CallRecording, new_run_id, open_recording, opened_agents
from review_advisor.app.terminal import NOTHING_ASKED, ExitWithCode, ReviewBrokenError, clear_refusals, note, put
from review_advisor.change.change import SourceError
from review_advisor.change.git import checkout_around
from review_advisor.change.kinds import LONGEST_FILE
from review_advisor.change.redaction import redactor
from review_advisor.change.sources import GitSource, open_commit, open_head
from review_advisor.ledger.artifacts import TaskFolder
from review_advisor.ledger.chain import LEDGER_FILE
from review_advisor.ledger.pages import last_vote_text
from review_advisor.ledger.recorder import TaskRecorder
from review_advisor.ledger.task_events import OwedReport, Speaker, TaskEvent, TaskLimits
from review_advisor.policy.declarations import read_declarations
from review_advisor.policy.policy import RECORDING_DAYS, RecordingMode, RecordingRules
from review_advisor.policy.prices import read_prices
from review_advisor.policy.risk import own_implementation
from review_advisor.policy.roster import ADR_ADVISOR, Advisor, Roster
from review_advisor.policy.roster_layers import made_roster, twice_declared
from review_advisor.policy.settings import ConfigError, Settings
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.policy.switches import MASTER, ROLE_SWITCHES, Switches, read_switches, surface_switch
from review_advisor.review.ports import ArtifactError
from review_advisor.safety.clock import SystemClock
from review_advisor.safety.files import required_file
from review_advisor.safety.interruption import INTERRUPTION
from review_advisor.safety.stated_values import TomlError, read_toml, value_mistake, value_place
from review_advisor.safety.stop import ReviewInterrupted
from review_advisor.safety.wording import counted, printable_line
from review_advisor.tasks.brief import BriefError, read_actions
from review_advisor.tasks.brief_council import MODEL
from review_advisor.tasks.fake import FakeSpeaker, FakeTaskAgents, scenario_of
from review_advisor.tasks.prompts import NO_COUNCIL, TaskCouncil
from review_advisor.tasks.retro import RETRO_FOLDER
from review_advisor.tasks.run import TaskPhase, TaskPorts, TaskRequest
from review_advisor.tasks.run_files import forget_prompts, task_files, task_outcome, task_outcome_json

Command = TypeVar("Command", bound=Callable[..., Any])


_SECONDS = BoundedNumber(1, 86_400)


_WHO: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--executor",
        default="claude",
        show_default=True,
        metavar="NAME",
        help="Who does the task: claude, fake, or a command of --adapter.",
    ),
    click.option("--advisor", default="claude", show_default=True, metavar="NAME", help="Who is asked."),
    click.option(
        "--adapter",
        type=PATH,
        metavar="FILE",
        help="TOML that declares the commands of other CLIs.",
    ),
)


_BOUNDS: tuple[Callable[[Any], Any], ...] = (
    click.option("--timeout", type=_SECONDS, default=240, show_default=True, help="Seconds of one call."),
    click.option("--deadline", type=_SECONDS, default=1800, show_default=True, help="Seconds of the whole run."),
    click.option(
        "--max-turns",
        type=click.IntRange(1, 20),
        default=3,
        show_default=True,
        help="Turns in which the executor may ask; one more may apply the last guidance.",
    ),
    click.option(
        "--max-usd",
        type=BoundedNumber(0.01, 1_000),
        default=3,
        show_default=True,
        help="Money of the whole run. Refused where a command of --adapter has a model without a price.",
    ),
    REPO,
    CLAUDE_BIN,
    click.option(
        "--runs",
        type=PATH,
        default=Path("runs"),
        show_default=True,
        metavar="DIR",
        help="Where the run's folder goes.",
    ),
    LEDGER,
    click.option(
        "--recording",
        type=click.Choice(["none", "answers", "full"]),
        help="Keep replies; with full, prompts and output, too. [default: as HEAD configures]",
    ),
)


def shared_options(surface: str, *, questions: tuple[int, int]) -> Callable[[Command], Command]:
    """The options themselves. ``questions`` are the least that a user may allow, and as many as are usual."""
    least, usual = questions
    own = (
        *(
            click.option(f"--{who}-model", default="", metavar="NAME", help=f"[default: the {who}'s of {surface}]")
            for who in ("executor", "advisor")
        ),
        click.option(
            "--max-advisor-calls",
            type=click.IntRange(least, 20),
            default=usual,
            show_default=True,
            help="Questions of the whole run.",
        ),
    )

    def added(command: Command) -> Command:
        for option in reversed((*_WHO, *own, *_BOUNDS)):
            command = option(command)
        return command

    return added


def task_options(context: click.Context, asked: Mapping[str, Any]) -> TaskOptions:
    """What they ask for, without a task."""
    from review_advisor.ledger.task_events import TaskLimits

    same = ("repo", "executor", "advisor", "executor_model", "advisor_model", "claude_bin", "adapter", "runs")
    return TaskOptions(
        task="",
        limits=TaskLimits(
            max_turns=asked["max_turns"],
            max_advisor_calls=asked["max_advisor_calls"],
            max_usd=asked["max_usd"],
            call_seconds=asked["timeout"],
            run_seconds=asked["deadline"],
        ),
        ledger=asked["ledger_file"],
        recording=asked["recording"],
        money_is_bound=context.get_parameter_source("max_usd") is not ParameterSource.DEFAULT,
        **{name: asked[name] for name in same},
    )


def show_event(event: TaskEvent) -> None:
    """A line on stderr, for who waits."""
    from review_advisor.ledger.task_events import told_live
    from review_advisor.safety.wording import printable_line

    line = told_live(event)
    if line:
        note(printable_line(line))


@click.command(name="run")
@click.argument("task", nargs=-1, required=True)
@shared_options("pr_review", questions=(0, 3))
@click.option(
    "--advisors",
    type=PATH,
    metavar="PATH",
    help="A file or folder of declared advisors. [default: HEAD's, if there are --actions]",
)
@click.option(
    "--actions", default="", metavar="LIST", help="What they vote over, mildest first: deploy,delay,rollback."
)
@click.option("--edit", is_flag=True, help="Let the executor edit a throw-away copy; the result is executor.patch.")
@click.option("--json", "as_json", is_flag=True, help="Print outcome.json, without the manifest.")
@click.pass_context
def run_task(
    context: click.Context,
    /,
    task: tuple[str, ...],
    advisors: Path | None,
    actions: str,
    edit: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Let an executor do TASK. It reads the files of HEAD, asks its advisor, goes on with the guidance, and ends.

    Exit codes: 0 completed, 10 not completed, 11 a person decides, 12 the run could not go on, 2 usage or setup.
    """
    with clear_refusals():
        run_task = perform_task
        from review_advisor.ledger.task_events import EXIT_CODES

        if edit and asked["executor"] == "fake":
            raise ExitWithCode("The fake executor edits nothing: leave out --edit.", NOTHING_ASKED)
        words = " ".join(task).strip()
        if not words:
            raise ExitWithCode("The task is empty: say what to do.", NOTHING_ASKED)
        options = replace(task_options(context, asked), task=words, edit=edit, advisors=advisors, actions=actions)
        ran = run_task(options, os.environ, note, show_event)
    put(ran.as_json if as_json else _text(ran.folder, ran.outcome, ran.votes))
    if ran.interrupted_by:
        note("Interrupted: the task did not come to its end.")
        context.exit(128 + ran.interrupted_by)
    context.exit(EXIT_CODES[ran.outcome["status"]])


def _text(folder: Path, outcome: Any, votes: str) -> str:
    rows = {
        "run_id": outcome["run_id"],
        "run_dir": folder,
        "status": outcome["status"],
        "advisor_consults": outcome["advisor_consult_count"],
        "memory_proposals": outcome["memory_proposal_count"],
    }
    if "council" in outcome and outcome["council"]["actions"]:
        rows["action"] = outcome["council"]["action"] or "none"
    return "".join(f"{name}: {value}\n" for name, value in rows.items()) + (f"\n{votes}\n" if votes else "")


OWN_BACKENDS = ("claude", "embedded", "fake")


_ALWAYS = ("HOME", "LANG", "LC_ALL")


_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")


_Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class DeclaredCommand(BaseModel):
    """One backend: its words, and the variables of the environment that it may see beside the usual ones."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: tuple[Annotated[str, Field(min_length=1)], ...] = Field(min_length=1)
    environment: tuple[_Variable, ...] = ()


_FILE: TypeAdapter[dict[str, DeclaredCommand]] = TypeAdapter(dict[str, DeclaredCommand])


def declared_commands(file: Path) -> Mapping[str, DeclaredCommand]:
    """The backends that a TOML file declares, by name. Raises ``ConfigError`` with one sentence."""
    text = read_text(file, "adapter file")
    try:
        found = _FILE.validate_python(read_toml(text))
    except TomlError as error:
        raise ConfigError(f"{file} is not valid TOML: {error}.") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = value_place(first["loc"])
        raise ConfigError(f"{file} is wrong at {place}: {value_mistake(first)}.") from None
    for name in found:
        if name in OWN_BACKENDS or not _NAME.fullmatch(name):
            raise ConfigError(f"{file} declares {name!r}: use another name, of small letters, digits, _ and -.")
    return found


def named_command(name: str, file: Path | None, repo: Path, environ: Mapping[str, str]) -> CommandAgents:
    """The backend that ``file`` declares by that name. Raises ``ConfigError`` and ``CliError``."""
    commands = declared_commands(file) if file is not None else {}
    if name not in commands:
        known = ", ".join((*OWN_BACKENDS, *commands))
        raise ConfigError(f"There is no backend {name!r}: use one of {known}; --adapter declares more.")
    return open_command(commands[name], repo, environ)


def open_command(declared: DeclaredCommand, repo: Path, environ: Mapping[str, str]) -> CommandAgents:
    """The backend, its program found outside of the repository. Raises ``CliError`` where it is not there."""
    top = checkout_around(repo)
    path = search_path(environ.get("PATH", ""), top)
    name = declared.command[0]
    program = Path(shutil.which(name, path=path) or "")
    if not program.is_absolute() or program.resolve().is_relative_to(top):
        raise CliError(f"The command {name!r} is not on PATH, or lies inside the repository.")
    seen = {each: environ[each] for each in (*_ALWAYS, *declared.environment) if each in environ}
    return CommandAgents((str(program), *declared.command[1:]), {**seen, "PATH": path})


_BYTES_OF_A_CHARACTER = 4


_MOST_FILES = 40


_ENDINGS = (".json", ".md")


def read_advisors(path: Path, remark: Callable[[str], None]) -> tuple[Advisor, ...]:
    """The advisors that a file or the files of a folder declare. Raises ``ConfigError`` with every mistake.

    ``remark`` is told of an advisor that is declared again.
    """
    try:
        files = _files(path)
    except OSError as error:
        raise ConfigError(f"{_shown(path)} cannot be read: {error.strerror}.") from None
    declared = [read_declarations(_shown(file), text_of(file, LONGEST_FILE)) for file in files]
    roster, problems = made_roster("default", declared)
    if any(each.said.id == ADR_ADVISOR.id for file in declared for each in file.advisors):
        problems = (*problems, f"{ADR_ADVISOR.id!r} advises in reviews only.")
    advisors = tuple(each for each in roster.advisors if each.id != ADR_ADVISOR.id)
    if not problems and not advisors:
        problems = (f"{_shown(path)} declares no advisor.",)
    if problems:
        raise ConfigError("\n".join(problems))
    for each in twice_declared(declared):
        remark(each)
    return advisors


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        if path.suffix not in _ENDINGS:
            raise ConfigError(f"{_shown(path)}: advisors are declared in files that end in .md or .json.")
        return [path]
    named = [each for each in sorted(path.iterdir()) if not each.is_dir() and not each.name.startswith(".")]
    files = [each for each in named if each.name.casefold() != "readme.md"]
    wrong = [each for each in files if each.suffix not in _ENDINGS]
    if wrong:
        raise ConfigError(f"{_shown(wrong[0])}: advisors are declared in files that end in .md or .json.")
    if len(files) > _MOST_FILES:
        raise ConfigError(f"{_shown(path)} holds more than {_MOST_FILES} files.")
    return files


def text_of(path: Path, longest: int) -> str:
    """The text of a file of at most so many characters; of a longer one no more is read than shows it."""
    try:
        return required_file(path, longest * _BYTES_OF_A_CHARACTER, ConfigError, _shown(path)).decode("utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"{_shown(path)} is not valid UTF-8.") from None


def _shown(path: Path) -> str:
    return printable_line(str(path))


def council_of(
    named: Path | None, actions: str, head: Roster | None, backend: str, remark: Callable[[str], None]
) -> TaskCouncil:
    """Who advises and votes in a run: the advisors of the ``named`` file or folder, or else those of ``head``.

    Without a file and without ``actions`` that is nobody. ``backend`` is who answers. ``remark`` is told what may be a
    slip. Raises ``ConfigError``.
    """
    if named is None and not actions:
        return NO_COUNCIL
    advisors = read_advisors(named, remark) if named is not None else _of_head(head)
    try:
        council = TaskCouncil(advisors, read_actions(actions) if actions else ())
    except BriefError as problem:
        raise ConfigError(str(problem)) from None
    voting = ", ".join(each.id for each in council.voting)
    if voting and not council.actions:
        raise ConfigError(
            f"Over what do these advisors vote: {voting}? Name the actions with --actions, mildest first."
        )
    if council.actions and not voting:
        raise ConfigError("Nobody votes over the actions: declare an advisor with `on: finish` or `on: request`.")
    return answerable(council, backend)


def answerable(council: TaskCouncil, backend: str) -> TaskCouncil:
    """The same council, if ``backend`` can answer for it. Raises ``ConfigError``."""
    if backend not in OWN_BACKENDS and (council.voting or council.opening):
        known = ", ".join(OWN_BACKENDS)
        raise ConfigError(f"The command {backend!r} has no form for opinions and votes: use --advisor with {known}.")
    return council


def switched_off(switches: Switches, council: TaskCouncil, surface: Surface | None = None) -> str:
    """The switch that turns an advisor of the run off; empty if none does. ``surface`` is that of a verb of its own."""
    if not switches.master:
        return f"{MASTER} is off"
    if surface is not None and not switches.surfaces[surface]:
        return f"{surface_switch(surface)} is off"
    needed: Mapping[Role, object] = {
        Role.MID_FLIGHT: True,
        Role.PRE_FLIGHT: council.opening,
        Role.POST_VERIFY: council.voting,
    }
    return next(
        (f"{ROLE_SWITCHES[role]} is off" for role, who in needed.items() if who and not switches.roles[role]), ""
    )


def _of_head(head: Roster | None) -> tuple[Advisor, ...]:
    declared = tuple(each for each in (head or Roster()).advisors if each.id != ADR_ADVISOR.id)
    if not declared:
        raise ConfigError("HEAD declares no advisor in .review-advisor/advisors/: name a file with --advisors.")
    return declared


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


def perform_task(
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
    rules = RecordingRules(prunes=False) if work is None else work.settings.recording
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
    if not rules.prunes:
        return
    for each in folders:
        gone = forget_prompts(Path.cwd() / each, SystemClock().now(), RECORDING_DAYS)
        if gone:
            remark(
                f"Prompts of {counted(gone, 'run')} older than {counted(RECORDING_DAYS, 'day')} deleted from {each}."
            )


def unbound_backends(sides: Iterable[tuple[str, str]], estimates: CallEstimates, today: date) -> Iterator[str]:
    """The backends whose calls no limit of money binds, each with the reason."""
    for backend, model in dict.fromkeys(sides):
        if backend not in OWN_BACKENDS and not estimates.binds(model, today):
            why = "is free by the list of prices" if estimates.knows(model, today) else "has no price to estimate it by"
            yield f"{backend!r}: a command reports no cost, and the model {model!r} {why}."
