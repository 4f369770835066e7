"""The composition root of ``retro --run``: opens the advisor, asks about one stored run, and stores the answer."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path

from review_advisor.adapters.answers.read_only_trees import ReadOnlyTrees
from review_advisor.adapters.artifacts import TaskFolder
from review_advisor.adapters.clock import SystemClock
from review_advisor.adapters.git.open import open_commit, open_head
from review_advisor.adapters.ledger.recorder import TaskRecorder
from review_advisor.app.configuration import load_settings
from review_advisor.app.doctor import AgentChoice, agent_command
from review_advisor.app.retro.stored_run import find_stored_run
from review_advisor.app.review import new_run_id, opened_agents
from review_advisor.app.roster.declared_files import NOBODY
from review_advisor.app.roster.of_source import prices_at_head
from review_advisor.app.settings import ConfigError
from review_advisor.app.tasks.declared_commands import named_command
from review_advisor.app.tasks.run_task import ARTIFACTS, forget_old_prompts, unbound_backends
from review_advisor.core.ledger.chain import LEDGER_FILE
from review_advisor.core.metrics.call_estimate import CallEstimates
from review_advisor.core.policy.recording_rules import RecordingRules
from review_advisor.core.policy.surfaces import Surface
from review_advisor.core.policy.switches import MASTER, read_switches
from review_advisor.core.retro.retro_files import RETRO_FOLDER, PostRunReview, retro_files
from review_advisor.core.safety.redaction import redactor
from review_advisor.core.task.task_events import TaskEvent, TaskLimits
from review_advisor.lifetime.interruption import INTERRUPTION
from review_advisor.ports.review import Agents
from review_advisor.task.brief_votes import MODEL
from review_advisor.task.post_run_review import FakeRetroAgents, RetroPorts, RetroRequest, review_after_the_end


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
        return RecordingRules(days=None)
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
