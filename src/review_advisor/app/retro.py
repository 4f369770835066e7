"""`retro`."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from review_advisor.agents.calls import Agents
from review_advisor.agents.kept_replies import ReadOnlyTrees
from review_advisor.agents.purse import CallEstimates
from review_advisor.app.agent_choice import AgentChoice, agent_command
from review_advisor.app.calibrate import observed_reviews
from review_advisor.app.configuration import (
    NOBODY,
    BaseFile,
    load_instructions,
    load_settings,
    prices_at_head,
    read_recorded,
)
from review_advisor.app.eval import rule_files, scored, write_arm
from review_advisor.app.memory import is_there
from review_advisor.app.options import CLAUDE_BIN, LEDGER, PATH, BoundedNumber, artifacts_option, moment
from review_advisor.app.review import new_run_id, opened_agents
from review_advisor.app.run import ARTIFACTS, forget_old_prompts, named_command, unbound_backends
from review_advisor.app.terminal import ExitWithCode, clear_refusals, note, note_left_out, put
from review_advisor.change.change import SourceError
from review_advisor.change.diff_text import shown_path
from review_advisor.change.git import Git, GitRepository, identity, open_repository, why_not_yours
from review_advisor.change.redaction import redactor
from review_advisor.change.sources import open_commit, open_head
from review_advisor.lab.edit_gate import RulesToShow, named_set, why_not_shown
from review_advisor.lab.evaluation_folder import EvaluationError
from review_advisor.lab.trials import Arm, configured
from review_advisor.ledger.artifacts import TaskFolder
from review_advisor.ledger.chain import LEDGER_FILE, LedgerError
from review_advisor.ledger.queries import RunFilter
from review_advisor.ledger.recorder import TaskRecorder
from review_advisor.ledger.run_queries import read_tasks
from review_advisor.ledger.task_events import TaskEvent, TaskLimits
from review_advisor.ledger.transfer import events_of_run
from review_advisor.policy.policy import RecordingRules
from review_advisor.policy.settings import CONFIG_FILE, ConfigError, guideline_rules, parse_config
from review_advisor.policy.surfaces import Surface
from review_advisor.policy.switches import MASTER, read_switches
from review_advisor.review.events import PolicyFrozen
from review_advisor.review.observed import RUN_ID
from review_advisor.safety.children import temporary_folder
from review_advisor.safety.clock import SystemClock
from review_advisor.safety.files import required_file
from review_advisor.safety.interruption import INTERRUPTION
from review_advisor.tasks.brief_council import MODEL
from review_advisor.tasks.harness_run import harness_run
from review_advisor.tasks.retro import (
    OBSERVATIONS,
    RETRO_FOLDER,
    RULES_FILE,
    EditRefusedError,
    FakeRetroAgents,
    ImprovementProposal,
    ImprovementProposals,
    PostRunReview,
    ProposalsError,
    ProposedEdit,
    RetroPorts,
    RetroRequest,
    SeenRun,
    dismissed_again,
    learnt_proposals,
    proposal_files,
    proposed_edit,
    read_proposals,
    retro_files,
    review_after_the_end,
)
from review_advisor.tasks.run_files import is_prompt_digest, task_files
from review_advisor.tasks.worktree import WorkFolder

REPO = click.option("--repo", type=PATH, default=Path(), help="The repository. [default: this one]")


_ONLY_WITH_RUN = ("advisor", "model", "adapter", "timeout", "max_usd", "claude_bin", "repo", "runs")


@click.group(
    name="retro",
    invoke_without_command=True,
    short_help="Learn from a run after its end, or from what people dismissed again and again.",
)
@click.option("--run", metavar="RUN", help="The task's run or the review to look at: its id, or its folder.")
@click.option(
    "--advisor", default="claude", show_default=True, metavar="NAME", help="Who looks: claude, embedded, fake."
)
@click.option("--advisor-model", "model", default="", metavar="NAME", help="[default: the advisor's of pr_review]")
@click.option("--adapter", type=PATH, metavar="FILE", help="TOML that declares the commands of other CLIs.")
@click.option("--timeout", type=BoundedNumber(1, 86_400), default=240, show_default=True, help="Seconds of one call.")
@click.option("--max-usd", type=BoundedNumber(0.01, 1_000), default=3, show_default=True, help="Money of all calls.")
@CLAUDE_BIN
@REPO
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
    Nothing is applied. `retro apply` makes a branch of one proposal.

    Exit codes: 0 the proposals are valid, 10 they are not, 12 there was no answer, 2 usage or setup.
    """
    if context.invoked_subcommand is not None:
        return
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
    from click.core import ParameterSource

    return context.get_parameter_source(name) is not ParameterSource.DEFAULT


def _look_at(
    context: click.Context, run: str, artifacts: Path, ledger: Path, *, timeout: float, max_usd: float, **asked: Any
) -> None:
    from review_advisor.ledger.task_events import EXIT_CODES, TaskLimits
    from review_advisor.safety.stop import ReviewInterrupted
    from review_advisor.tasks.retro import OUTCOME_FILE, PROPOSALS_FILE, REVIEW_FILE

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
    from review_advisor.ledger.task_events import TaskCalled, TaskEnded, told_live
    from review_advisor.safety.wording import printable_line

    if isinstance(event, TaskCalled) or (isinstance(event, TaskEnded) and event.reason):
        note(printable_line(told_live(event)))


def _learn(artifacts: Path, ledger: Path, since: datetime | None, repository: str | None) -> None:
    with clear_refusals():
        from review_advisor.ledger.queries import RunFilter
        from review_advisor.safety.wording import printable_line
        from review_advisor.tasks.retro import PROPOSALS_FILE

        done = learn_rules(ledger, RunFilter(repository=repository, since=since), artifacts)
    note_left_out(done.left_out, "reviews" if done.more else "")
    note(done.proposals.summary)
    learnt = [each for each in done.proposals.proposals if each.changes_something]
    put("".join(f"{each.id}: {printable_line(each.title)}. {printable_line(each.rationale)}\n" for each in learnt))
    put(f"proposals: {done.folder / PROPOSALS_FILE}\n")
    put(f"improvement_proposals_valid: {str(done.proposals.valid).lower()}\n")


@retro.command(short_help="Make a branch of one proposal, if an evaluation shows that it does no harm.")
@click.argument("file", type=PATH)
@click.option("--proposal", "name", required=True, metavar="ID", help="Which one.")
@click.option("--eval", "evaluation", type=PATH, metavar="DIR", help="A whole evaluation by models with both rules.")
@REPO
def apply(file: Path, name: str, evaluation: Path | None, repo: Path) -> None:
    """Make a local branch of the proposal ID in FILE: one commit, one file. Nothing is pushed or checked out.

    Only text for REVIEW.md or .review-advisor/thresholds.toml becomes a branch. Without --eval, today's rules and
    the new ones are written as two arms for `eval run`, and no branch is made.
    """
    with clear_refusals():
        from datetime import UTC, datetime

        made = apply_proposal(ApplyOptions(file, name, repo, evaluation), os.environ, datetime.now(UTC))
    put(
        f"branch: {made.name}\ncommit: {made.commit}\nparent: {made.parent}\nfile: {made.path}\nset: {made.evaluated}\n"
    )
    note(
        f"Nothing is pushed. {made.path} is under the guard: the pull request of this branch is judged with veto"
        " authority, and a person has to approve it."
    )


_FILE_MODES = ("100644", "100755")


@dataclass(frozen=True, slots=True)
class NewBranch:
    """A branch to make: ``text`` is the whole file at ``path`` in its only commit, whose parent is ``parent``."""

    name: str
    parent: str
    path: str
    text: str
    message: str
    at: datetime


def make_branch(repository: GitRepository, branch: NewBranch) -> str:
    """Make it, and give the name of its commit. Nothing is pushed. Raises ``SourceError``, also if it is there."""
    where = repository.git.run("rev-parse", "--absolute-git-dir").removesuffix(b"\n")
    folder = Path(os.fsdecode(where))
    by = identity("review-advisor", "review-advisor@localhost", branch.at.isoformat(timespec="seconds"))
    ref = f"refs/heads/{branch.name}"
    try:
        with temporary_folder("index") as place:
            own = {**repository.git.environment, **by, "GIT_DIR": str(folder), "GIT_INDEX_FILE": str(place / "i")}
            git = replace(repository.git, folder=folder, environment=own)
            _refuse_taken(git, branch.name, ref)
            entry = git.run("ls-tree", "-z", "--full-tree", branch.parent, "--", branch.path)
            mode = entry.partition(b" ")[0].decode("ascii") or _FILE_MODES[0]
            if mode not in _FILE_MODES:
                raise SourceError(f"{shown_path(branch.path)} is no plain file in {branch.parent[:12]}.")
            git.run("read-tree", "--end-of-options", f"{branch.parent}^{{tree}}")
            blob = _named(git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=branch.text.encode()))
            told = f"{mode} {blob}\t{branch.path}\0".encode()
            git.run("update-index", "-z", "--index-info", stdin=told)
            tree = _named(git.run("write-tree"))
            changed = git.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", f"{branch.parent}^{{tree}}", tree)
            if changed != f"{branch.path}\0".encode():
                raise SourceError(f"{shown_path(branch.path)} alone cannot be changed in {branch.parent[:12]}.")
            made = git.run("commit-tree", tree, "-p", branch.parent, stdin=branch.message.encode())
            commit = _named(made)
            git.run("update-ref", ref, commit, "0" * len(commit))
            return commit
    except OSError as error:
        raise SourceError(f"A temporary folder cannot be made: {error.strerror}.") from None


def _refuse_taken(git: Git, name: str, ref: str) -> None:
    """Raises ``SourceError`` where the branch is there, where a worktree would be on it, or where no such name fits."""
    if git.attempt("show-ref", "--verify", "--quiet", ref).code == 0:
        raise SourceError(f"There is a branch {name} already: delete it, or go on with it.")
    own = git.attempt("symbolic-ref", "--quiet", "HEAD").stdout.decode("utf-8", "replace").strip()
    worktrees = git.run("worktree", "list", "--porcelain").decode("utf-8", "replace").splitlines()
    heads = {own, *(line.removeprefix("branch ") for line in worktrees)}
    if ref in heads:
        raise SourceError(f"A worktree is on the branch {name}, which has no commit yet: switch it to another one.")
    top = "/".join(ref.split("/")[:3])
    listed = git.run("for-each-ref", "--format=%(refname)", top).decode("utf-8", "replace").splitlines()
    near = next((each for each in listed if f"{ref}/".startswith(f"{each}/") or each.startswith(f"{ref}/")), None)
    if near is not None:
        shown = shown_path(near.removeprefix("refs/heads/"))
        raise SourceError(f"There can be no branch {name} beside the branch {shown}: rename that one.")


def _named(output: bytes) -> str:
    return output.decode("ascii").strip()


_LARGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class ApplyOptions:
    """What the user asked for: the proposal called ``name`` in ``file``, and the ``evaluation`` that allows it."""

    file: Path
    name: str
    repo: Path = Path()
    evaluation: Path | None = None


@dataclass(frozen=True, slots=True)
class ProposalBranch:
    """The branch of a proposal: one commit that changes the file at ``path``. ``evaluated``: by which golden set."""

    name: str
    commit: str
    parent: str
    path: str
    evaluated: str


def apply_proposal(options: ApplyOptions, environ: Mapping[str, str], at: datetime) -> ProposalBranch:
    """Make the branch. Its parent is the default branch, or else HEAD. Nothing is pushed, and no file changes.

    Raises ``ConfigError`` for a proposal that is none, that only a person can carry out, or that no ``evaluation``
    shows to be good, and ``SourceError`` where git refuses. Without an evaluation, the arms to evaluate are written.
    """
    name = options.name
    proposal = _named_proposal(options.file, name)
    repository = open_repository(options.repo)
    start = repository.default_branch() or "HEAD"
    parent = repository.commit(start)
    try:
        edit = proposed_edit(proposal)
        with closing(open_commit(options.repo, parent)) as source:
            today, edited = _arms_of(name, edit, source.base_file)
    except EditRefusedError as refused:
        raise ConfigError(f"The proposal {name} is not applied. {refused}") from None
    redact = redactor(environ).redact
    if redact(edit.added) != edit.added:
        raise ConfigError(f"The proposal {name} is not applied: its text holds a secret.")
    if redact(name) != name:
        raise ConfigError("The proposal is not applied: its id holds a secret.")
    evaluated = redact(_require_evaluation(today, edited, options.file.absolute().parent, options.evaluation))
    message = f"Apply the proposal {name}\n\nIt was made by `review-advisor retro`, and evaluated on {evaluated}.\n"
    text = edited.files[edit.path]
    branch = NewBranch(f"review-advisor/retro-{name}", parent, edit.path, text, message, at)
    return ProposalBranch(branch.name, make_branch(repository, branch), parent, edit.path, evaluated)


def _named_proposal(file: Path, name: str) -> ImprovementProposal:
    try:
        found = read_proposals(required_file(file, _LARGEST, ConfigError))
    except ProposalsError as refused:
        raise ConfigError(f"{file} holds no improvement proposals. {refused}") from None
    if not found.valid:
        raise ConfigError(f"The proposals in {file} are not valid. {found.errors[0]}")
    proposal = next((each for each in found.proposals if each.id == name), None)
    if proposal is None:
        raise ConfigError(f"{file} has no proposal {name}.")
    return proposal


def _arms_of(name: str, edit: ProposedEdit, base_file: BaseFile) -> tuple[Arm, Arm]:
    """The rules of the base without and with the edit. Raises ``EditRefusedError`` and ``ConfigError``."""
    config = _text(base_file(CONFIG_FILE))
    parsed = parse_config(config, CONFIG_FILE)
    if edit.path == RULES_FILE and RULES_FILE not in guideline_rules(parsed).files:
        raise EditRefusedError(f"The configuration has no review read {RULES_FILE}.")
    before = {path: _text(base_file(path)) for path in rule_files(parsed)}
    if edit.is_in(before[edit.path]):
        raise EditRefusedError(f"{edit.path} holds its text already.")
    after = before | {edit.path: edit.applied_to(before[edit.path])}
    return configured(f"today-{name}", config, before), configured(f"retro-{name}", config, after)


def _text(raw: bytes | None) -> str:
    try:
        return "" if raw is None else raw.decode()
    except UnicodeDecodeError:
        raise EditRefusedError("A file that it concerns is not UTF-8 text.") from None


def _require_evaluation(today: Arm, edited: Arm, place: Path, evaluation: Path | None) -> str:
    """The golden set of the evaluation that allows the edit. Raises ``ConfigError``."""
    if evaluation is None:
        folders = {each.name: place / f"arm-{each.name}" for each in (today, edited)}
        for each in (today, edited):
            write_arm(each, folders[each.name])
        told = " ".join(f"--arm {name}={folder}" for name, folder in folders.items())
        raise ConfigError(
            "No branch is made without an evaluation of these rules beside today's. Run `review-advisor eval run --set"
            f" SET --answers live --max-usd USD --arms executor-only,advisor-only {told}`, and name its folder with"
            " --eval."
        )
    rules = RulesToShow(edited.facts.settings, today.facts.settings, load_instructions().version)
    try:
        result = scored(evaluation)
    except EvaluationError as problem:
        raise ConfigError(str(problem)) from None
    why = why_not_shown(result, rules)
    if why:
        raise ConfigError(f"No branch is made: {evaluation} does not show that reviews stay good. {why}")
    return named_set(result.manifest)


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
        (told,) = read_tasks(ledger, [run_id])
        if not isinstance(told, str):
            return _Recorded(run_id, _of_a_run(task_files(told, {})))
        events, _ = events_of_run(ledger, run_id)
    except LedgerError as refused:
        return _Recorded(run_id, why=str(refused))
    named = events[0].run_id if isinstance(events[0], PolicyFrozen) else run_id
    return _Recorded(named, _of_a_run(harness_run(events)))


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
        case "claude" | "embedded":
            choice = AgentChoice(options.advisor, options.claude_bin)
            return opened_agents(agent_command(choice, options.repo, environ, warn), options.repo, environ, stack)
        case name:
            return ReadOnlyTrees(named_command(name, options.adapter, options.repo, environ))
