"""Evaluations are run, kept, scored and compared."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path, PurePosixPath
from random import Random
from typing import Any, Literal, get_args

from review_advisor import __version__
from review_advisor.app.agent_choice import AgentChoice, agent_command
from review_advisor.app.configuration import load_instructions, read_text
from review_advisor.app.run import TaskOptions, perform_task
from review_advisor.change.change import SourceError
from review_advisor.change.git import why_not_yours
from review_advisor.change.kinds import PYPROJECT
from review_advisor.lab.evaluation_folder import (
    EvaluationError,
    EvaluationFolder,
    NoOutcome,
    earlier_tries,
    evaluations_in,
    keep_evaluation,
    keep_text,
    make_folder,
    read_evaluation,
    results_so_far,
    review_in_process,
)
from review_advisor.lab.gates import SAMPLES
from review_advisor.lab.golden_cases import CommitsChange, GoldenCase, GoldenSet, NamedChange
from review_advisor.lab.golden_repository import NO_CLONES, GoldenClones, make_golden_repository
from review_advisor.lab.harness_stories import (
    MOST,
    PlayedScenario,
    ScenarioCounts,
    ScenarioSummary,
    Trend,
    against,
    read_summary,
    scenarios_text,
    summary_json,
    summary_of,
)
from review_advisor.lab.manifests import (
    USUAL_ARMS,
    AnswerSource,
    Arm,
    ArmFacts,
    CaseShard,
    EvaluationManifest,
    UnansweredArm,
    configured,
    interrupted,
    merged_manifest,
    side_by_side,
    spent_on,
    unanswered_arms,
    wanted_trials,
    why_not_comparable,
)
from review_advisor.lab.results import EvaluationResult, evaluation_result, result_json, result_text
from review_advisor.lab.sampling import Draw
from review_advisor.lab.simulated_reviewers import SIMULATED, difficulties, simulated_set, simulated_trial, true_sums
from review_advisor.lab.trials import CountedTrial, ReviewSums, Trial, TrialKey, chance_sums, count, trial_of
from review_advisor.ledger.task_events import TaskLimits
from review_advisor.policy.prices import read_prices
from review_advisor.policy.settings import CONFIG_FILE, Config, ConfigError, guideline_rules, has_table, parse_config
from review_advisor.policy.thresholds import THRESHOLDS_FILE, parse_thresholds
from review_advisor.review.document import OutcomeDocument, read_outcome
from review_advisor.safety.children import temporary_folder
from review_advisor.safety.files import LARGEST, UserFileError, read_user_file, required_file
from review_advisor.safety.interruption import INTERRUPTION
from review_advisor.tasks.fake import Scenario

Answers = Callable[[GoldenCase, TrialKey, Callable[[], None]], Trial]
"""Asks one arm to review one case. It is called from several threads.

It calls its last argument before anything is paid: from then on the review counts, also if no answer comes back.
"""


TrialProgress = Callable[[int, int, CountedTrial], None]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """An evaluation that is over. ``asked`` reviews were made or joined now; the others were there already."""

    folder: Path
    result: EvaluationResult
    asked: int
    unanswered: tuple[UnansweredArm, ...]


def evaluate(
    manifest: EvaluationManifest,
    cases: GoldenSet,
    answers: Answers,
    root: Path,
    progress: TrialProgress,
    *,
    jobs: int = 1,
    fresh: bool = False,
    make_ready: Callable[[], object] = lambda: None,
) -> Evaluated:
    """Review every case of the manifest's shard by every arm, and score it. What was answered is not asked again.

    ``make_ready`` is called before the first review that is missing. Its exception, or one of ``answers``, ends it;
    what was answered by then is kept. An interrupt leaves each review its time to end its calls. Raises
    ``EvaluationError``.
    """
    folder = folder_of(root, manifest)
    if why := why_not_yours(folder):
        raise EvaluationError(f"The evaluation {folder} does not count: {why}.")
    kept = EvaluationFolder(folder, manifest)
    by_id = {case.id: case for case in cases.cases}
    with kept.opened(fresh=fresh) as there, INTERRUPTION.taken(_last_words):
        missing = [key for key in wanted_trials(manifest) if key not in there]
        if missing:
            make_ready()
        total = len(there) + len(missing)

        def ask(key: TrialKey) -> CountedTrial:
            case = by_id[key.case]
            return count(case, answers(case, key, lambda: kept.begin(count(case, interrupted(key)))))

        for trial in _answered(missing, ask, jobs):
            kept.keep(trial)
            there[trial.trial.key] = trial
            progress(len(there), total, trial)
        if missing or not kept.is_whole:
            kept.finish(there)
    return _evaluation(kept.folder, len(missing))


def _last_words(_number: int) -> str:
    return "The evaluation was interrupted. What was answered is kept."


def folder_of(root: Path, manifest: EvaluationManifest) -> Path:
    """Where an evaluation is kept."""
    return root / manifest.id


def _answered(keys: Sequence[TrialKey], ask: Callable[[TrialKey], CountedTrial], jobs: int) -> Iterator[CountedTrial]:
    """The answers as they come; one at a time in their order. After a failure those under way still count."""
    if jobs == 1:
        yield from map(ask, keys)
        return
    rest = iter(keys)
    trouble: BaseException | None = None
    with ThreadPoolExecutor(jobs) as pool:
        running: set[Future[CountedTrial]] = {pool.submit(ask, key) for key in islice(rest, jobs)}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for each in done:
                failed = each.exception()
                trouble = trouble or failed
                if failed is None:
                    yield each.result()
            if trouble is None:
                running |= {pool.submit(ask, key) for key in islice(rest, len(done))}
    if trouble is not None:
        raise trouble


def scored(folder: Path) -> EvaluationResult:
    """The score of a whole evaluation. Nothing is written. Raises ``EvaluationError``."""
    return _score(*read_evaluation(folder))


def _evaluation(folder: Path, asked: int) -> Evaluated:
    """The score, kept beside its results: the same bytes for the same results."""
    manifest, trials = read_evaluation(folder)
    result = _score(manifest, trials)
    keep_text(folder, "summary.json", evaluation_json(result))
    keep_text(folder, "summary.txt", result_text(result))
    return Evaluated(folder, result, asked, unanswered_arms(manifest, trials))


def _score(manifest: EvaluationManifest, trials: Sequence[CountedTrial]) -> EvaluationResult:
    truth = _truth(manifest, {arm.name: arm.name for arm in manifest.arms})
    return evaluation_result(manifest, trials, SAMPLES, _draw(manifest), truth)


def evaluation_json(result: EvaluationResult) -> str:
    """As it is kept and printed."""
    return json.dumps(result_json(result), indent=2) + "\n"


def merge_evaluations(folders: Sequence[Path], root: Path) -> Evaluated:
    """The shards of one evaluation as a whole one, with what lost tries cost.

    Raises ``ShardError`` and ``EvaluationError``: also where the whole one has results already.
    """
    parts = [read_evaluation(folder) for folder in folders]
    whole = merged_manifest([manifest for manifest, _ in parts])
    folder = folder_of(root, whole)
    together = [each for _, trials in parts for each in trials]
    keep_evaluation(folder, whole, together, [each for part in folders for each in earlier_tries(part)])
    return _evaluation(folder, len(together))


def compare_evaluations(folders: Sequence[Path]) -> EvaluationResult:
    """The arms of several evaluations beside one another. Raises ``EvaluationError`` where they cannot be compared."""
    evaluations = [read_evaluation(folder) for folder in folders]
    for folder, (manifest, _) in zip(folders[1:], evaluations[1:], strict=True):
        why = why_not_comparable(evaluations[0][0], manifest)
        if why is not None:
            raise EvaluationError(f"{folders[0]} and {folder} cannot be compared. {why}")
    beside = side_by_side(evaluations)
    truth = _truth(beside.manifest, {arm.facts.name: arm.own_name for arm in beside.arms})
    of = {arm.facts.name: arm.evaluation for arm in beside.arms}
    draw = _draw(beside.manifest)
    result = evaluation_result(beside.manifest, beside.trials, SAMPLES, draw, truth, evaluations=of)
    return replace(result, differs=beside.differs)


def whole_evaluations(root: Path) -> list[EvaluationResult]:
    """Every whole evaluation below ``root`` that can be read, in the order of their names."""
    found = []
    for folder in evaluations_in(root):
        with suppress(EvaluationError):
            found.append(scored(folder))
    return found


def _draw(manifest: EvaluationManifest) -> Callable[[int], int]:
    return Random(manifest.seed).randrange  # noqa: S311 (a score wants to be repeated, not secret)


def _truth(manifest: EvaluationManifest, own_names: Mapping[str, str]) -> Mapping[str, ReviewSums]:
    if manifest.answers != "simulated":
        return {}
    return {name: true_sums(each) for name, own in own_names.items() for each in SIMULATED if each.name == own}


def rule_files(config: Config) -> tuple[str, ...]:
    """The files that a folder of an arm may hold beside its configuration: rules at the top, and thresholds."""
    rules = guideline_rules(config)
    given = (each.file for each in rules.configured if each.file)
    return tuple(dict.fromkeys((*rules.files, *given, THRESHOLDS_FILE)))


def read_arm(name: str, path: Path) -> Arm:
    """The arm of a configuration file or of a folder.

    Raises ``ConfigError``, also for what a review could not use, or would not read.
    """
    if not path.is_dir():
        text = read_text(path, "configuration")
        parse_config(text, str(path))
        return configured(name, text)
    place = path / CONFIG_FILE
    text = read_text(place, "configuration") if place.exists() else ""
    known = rule_files(parse_config(text, str(place)))
    files = {each: read_text(path / each, "file of the arm") if (path / each).exists() else "" for each in known}
    _refuse_unread(path, known)
    if not any(files.values()) and not place.exists():
        raise ConfigError(f"{path} holds neither {CONFIG_FILE} nor {' nor '.join(known)}.")
    try:
        parse_thresholds(files[THRESHOLDS_FILE])
    except ValueError as problem:
        raise ConfigError(f"The arm {name} cannot be used. {problem}") from None
    return configured(name, text, files)


def _refuse_unread(folder: Path, known: tuple[str, ...]) -> None:
    """Raise ``ConfigError`` where the folder has what steers a review at a base, and not in an arm."""
    own = (folder / PurePosixPath(THRESHOLDS_FILE).parent).rglob("*")
    others = (each for each in own if each.is_symlink() or not each.is_dir())
    unread = next((each for each in sorted(others) if each.relative_to(folder).as_posix() not in known), None)
    if unread is not None:
        raise ConfigError(f"{unread} is not read: of that folder, an arm has only {THRESHOLDS_FILE}.")
    project = folder / PYPROJECT
    if not (folder / CONFIG_FILE).exists() and project.exists() and has_table(read_text(project, "configuration")):
        raise ConfigError(f"{project} is not read: put its table into {CONFIG_FILE}.")


OUTCOME = "outcome.json"


@dataclass(frozen=True, slots=True)
class RecordedReviews:
    """What lies below ``folder``: ``CASE/ARM/REPETITION/outcome.json``, as written there or by ``eval run``."""

    folder: Path
    _commits: dict[str, tuple[str, str] | None] = field(default_factory=dict)

    def digest(self, cases: GoldenSet, arms: Sequence[Arm], repetitions: int) -> str:
        """Of all outcomes that are there: others are another evaluation. Raises ``EvaluationError`` if none is."""
        if not self.folder.is_dir():
            raise EvaluationError(f"{self.folder} is no folder.")
        digest, there = sha256(), False
        for case in cases.cases:
            for arm in arms:
                for repetition in range(1, repetitions + 1):
                    raw = self._bytes(TrialKey(case.id, arm.name, repetition))
                    there = there or raw is not None
                    digest.update(b"-" if raw is None else sha256(raw).digest())
        if not there:
            raise EvaluationError(f"{self.folder} has no CASE/ARM/REPETITION/{OUTCOME} of these cases and arms.")
        return digest.hexdigest()

    def answer(self, case: GoldenCase, key: TrialKey, _begins: Callable[[], None]) -> Trial:
        """What was recorded. Raises ``EvaluationError`` for what is no outcome, or one of another change."""
        raw = self._bytes(key)
        if raw is None:
            return Trial(*key, verdict="none", status="lost", why=f"{place_of(key)} is not recorded.")
        try:
            document = read_outcome(raw)
        except ValueError:
            raise EvaluationError(f"{self._path(key)} is no outcome document.") from None
        self._check(document, case, key)
        return trial_of(document, case, key)

    def _check(self, document: OutcomeDocument, case: GoldenCase, key: TrialKey) -> None:
        if case.id not in self._commits:
            self._commits[case.id] = _commits_of(case)
        due, found = self._commits[case.id], (document.base_sha, document.head_sha)
        if due is not None and due != found:
            says = " to ".join((each or "none")[:12] for each in found)
            raise EvaluationError(
                f"{self._path(key)} is of another change than {case.id}: of {says}, not {due[0][:12]} to {due[1][:12]}."
            )

    def _bytes(self, key: TrialKey) -> bytes | None:
        path = self._path(key)
        return None if path is None else required_file(path, LARGEST, EvaluationError)

    def _path(self, key: TrialKey) -> Path | None:
        return next((path for path in self._places(key) if path.exists()), None)

    def _places(self, key: TrialKey) -> Iterator[Path]:
        yield self.folder / place_of(key) / OUTCOME
        written = Path(key.case, key.arm, str(key.repetition), OUTCOME)
        if not written.is_absolute() and ".." not in written.parts:
            yield self.folder / written


def _commits_of(case: GoldenCase) -> tuple[str, str] | None:
    """Between which commits a review of the case is; None for a change that is only named."""
    if isinstance(case.change, CommitsChange):
        return case.change.base, case.change.head
    if isinstance(case.change, NamedChange):
        return None
    with temporary_folder("recorded") as folder:
        try:
            made = make_golden_repository(case, folder / "repository")
        except SourceError as trouble:
            raise EvaluationError(str(trouble)) from None
    return made.base, made.head


def place_of(key: TrialKey) -> Path:
    """Where its outcome lies. Ids are of others: what is no plain name becomes one."""
    return Path(_plain(key.case), _plain(key.arm), str(key.repetition))


def _plain(name: str) -> str:
    kept = "".join(each if each.isascii() and (each.isalnum() or each in "-_+") else "-" for each in name)[:80]
    return kept if kept == name else f"{kept}-{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


_SWITCHES = "HYDRAFLOW_"


@dataclass(frozen=True, slots=True)
class EvaluationExtent:
    """How often each case is reviewed, which part of them here, and what chance begins with."""

    repetitions: int = 1
    shard: CaseShard = field(default_factory=CaseShard)
    seed: int = 17


def manifest_of(
    cases: GoldenSet,
    arms: Sequence[Arm],
    answers: AnswerSource,
    extent: EvaluationExtent,
    *,
    clones: GoldenClones = NO_CLONES,
    recorded: RecordedReviews | None = None,
) -> EvaluationManifest:
    """What is asked. Raises ``EvaluationError`` for a case that nobody can review, and where nothing is recorded."""
    if recorded is None:
        _check_changes(cases, clones)
    return EvaluationManifest(
        schema="evaluation.v1",
        answers=answers,
        set_name=cases.name,
        set_digest=cases.digest,
        cases=tuple(case.id for case in cases.cases),
        arms=tuple(arm.facts for arm in arms),
        repetitions=extent.repetitions,
        seed=extent.seed,
        prompts=load_instructions().version,
        prices=max((price.since.isoformat() for price in read_prices()), default=""),
        version=__version__,
        shard=extent.shard,
        recordings="" if recorded is None else recorded.digest(cases, arms, extent.repetitions),
        chance=chance_sums(cases),
    )


def _check_changes(cases: GoldenSet, clones: GoldenClones) -> None:
    """Raise ``EvaluationError`` before anything is paid: for a change that is only named, and commits in no clone."""
    for case in cases.cases:
        if isinstance(case.change, NamedChange):
            raise EvaluationError(f"The case {case.id} only names {case.change.url}: use recorded answers for it.")
        if isinstance(case.change, CommitsChange):
            try:
                make_golden_repository(case, Path(), clones)
            except SourceError as trouble:
                raise EvaluationError(str(trouble)) from None


REVIEW_USD = 2.0
"""US dollars that one review may spend. Less would end reviews that are only thorough, and score them as wrong."""


@dataclass(slots=True)
class EvaluationPurse:
    """What all reviews together may still spend, in US dollars. ``out`` of them hold a part of it."""

    left: float
    out: int = 0
    returned: threading.Condition = field(default_factory=threading.Condition)

    def taken(self) -> float:
        """What one review may spend. It is gone until it is given back.

        Where there is less, the reviews under way are waited for: they seldom need it all. Raises ``EvaluationError``
        once there is less and none is under way.
        """
        with self.returned:
            while self.left < REVIEW_USD and self.out:
                self.returned.wait()
            if self.left < REVIEW_USD:
                raise EvaluationError(
                    f"Of --max-usd, {max(self.left, 0.0):.2f} dollars are left, and one review may need "
                    f"{REVIEW_USD:.2f}. What was answered is kept: give more, and it goes on."
                )
            self.left -= REVIEW_USD
            self.out += 1
            return REVIEW_USD

    def given_back(self, mine: float, spent: float | None) -> None:
        """What was not spent. A review whose cost is not known has spent it all."""
        with self.returned:
            self.left += mine - (mine if spent is None else spent)
            self.out -= 1
            self.returned.notify_all()


@dataclass(frozen=True, slots=True)
class Reviewing:
    """Reviews that are made now. The outcome of each stays in ``kept``, from where it can be scored again.

    ``arms`` by their names, ``clones`` for cases that name commits. The switches of ``environ`` do not hold: each arm
    has its own.
    """

    arms: Mapping[str, Arm]
    agent: Literal["embedded", "claude"]
    environ: Mapping[str, str]
    kept: Path
    warn: Callable[[str], None]
    purse: EvaluationPurse | None
    clones: GoldenClones

    def make_ready(self) -> None:
        """Raises ``CliError`` if the agent cannot be asked."""
        agent_command(AgentChoice(self.agent), Path(), self.environ, self.warn)

    def answer(self, case: GoldenCase, key: TrialKey, begins: Callable[[], None]) -> Trial:
        """One review. What goes wrong in it is a lost trial. Raises ``EvaluationError`` once the money is spent."""
        mine = None if self.purse is None else self.purse.taken()
        trial = interrupted(key)
        try:
            if mine is not None:
                begins()
            with temporary_folder("case") as folder:
                document = self._reviewed(case, key, folder, mine)
            trial = _without(document, key) if isinstance(document, NoOutcome) else trial_of(document, case, key)
        finally:
            if self.purse is not None and mine is not None:
                self.purse.given_back(mine, trial.usd)
        return trial

    def _reviewed(
        self, case: GoldenCase, key: TrialKey, folder: Path, most_usd: float | None
    ) -> OutcomeDocument | NoOutcome:
        arm = self.arms[key.arm]
        try:
            made = make_golden_repository(case, folder / "repository", self.clones, arm.files)
        except SourceError as trouble:
            return NoOutcome(str(trouble), asked=False)
        output = self.kept.resolve() / place_of(key) / OUTCOME
        output.parent.mkdir(parents=True, exist_ok=True)
        arguments = [
            "eval",
            "review-case",
            str(made.folder.resolve()),
            f"{made.base}..{made.head}",
            "--agent",
            self.agent,
        ]
        arguments += ["--output", str(output), "--artifacts", str(folder / "logs")]
        for option, text in (("config", arm.config), ("body-file", case.body), ("spec-file", case.spec)):
            if text or option == "config":
                (folder / option).write_text(text, encoding="utf-8")
                arguments += [f"--{option}", str(folder / option)]
        arguments += ["--rules", made.rules] if made.rules else []
        arguments += ["--title", case.title] if case.title else []
        arguments += ["--most-usd", f"{most_usd:.4f}"] if most_usd is not None else []
        own = {name: value for name, value in self.environ.items() if not name.startswith(_SWITCHES)}
        return review_in_process(arguments, {**own, **arm.environment}, output, folder)


def answers_to(
    manifest: EvaluationManifest,
    arms: Sequence[Arm],
    root: Path,
    environ: Mapping[str, str],
    *,
    max_usd: float | None,
    fresh: bool,
    clones: GoldenClones,
    warn: Callable[[str], None],
) -> Reviewing:
    """Reviews that are made now. What they have spent before counts against ``max_usd``, unless all begins afresh."""
    folder = folder_of(root, manifest)
    before = 0.0 if fresh or max_usd is None else spent_on(results_so_far(folder), REVIEW_USD)
    purse = None if max_usd is None else EvaluationPurse(max_usd - before)
    agent: Literal["embedded", "claude"] = "claude" if manifest.answers == "live" else "embedded"
    return Reviewing({arm.name: arm for arm in arms}, agent, environ, folder / "reviews", warn, purse, clones)


def _without(outcome: NoOutcome, key: TrialKey) -> Trial:
    """A review that left no outcome. Where no call was made it cost nothing."""
    usd = None if outcome.asked else 0.0
    return Trial(*key, "none", "lost" if outcome.asked else "refused", usd=usd, why=outcome.why[:500])


_SUMMARY = "evaluation_summary.json"


@dataclass(frozen=True, slots=True)
class PlayedStories:
    """Where the stories' summary is kept, how it compares with the newest comparable one, and why."""

    folder: Path
    summary: ScenarioSummary
    trend: Trend
    why: str

    @property
    def is_as_it_should_be(self) -> bool:
        """Whether every story ended as it says, and nothing is worse than before."""
        return self.trend != "regressed" and all(each.passed for each in self.summary.results)

    @property
    def text(self) -> str:
        """For people."""
        return scenarios_text(self.summary, self.trend, self.why)

    @property
    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return summary_json(self.summary) | {"verdict": self.trend, "why": self.why}


def play_scenarios(root: Path, environ: Mapping[str, str], now: datetime) -> PlayedStories:
    """Play the stories, and keep what they came to. Raises ``EvaluationError``, and as a task's run does."""
    summary = summary_of([_played(name, environ) for name in get_args(Scenario)])
    earlier = [_earlier(each) for each in sorted(root.glob(f"eval_scenarios_*/{_SUMMARY}"))]
    comparable = [each for each in earlier if each is not None and each.terms == summary.terms]
    trend, why = against(comparable[-1] if comparable else None, summary)
    folder = make_folder(root / f"eval_scenarios_{now:%Y%m%dT%H%M%S%fZ}")
    done = PlayedStories(folder, summary, trend, why)
    form = done.as_json
    keep_text(folder, _SUMMARY, json.dumps(form, indent=2) + "\n")
    keep_text(folder, "evaluation_summary.md", f"```text\n{done.text}```\n")
    keep_text(folder, "scenario_results.jsonl", "".join(json.dumps(each) + "\n" for each in form["results"]))
    return done


def _earlier(path: Path) -> ScenarioSummary | None:
    try:
        return read_summary(read_user_file(path, LARGEST))
    except UserFileError:
        return None


def _played(name: Scenario, environ: Mapping[str, str]) -> PlayedScenario:
    limits = TaskLimits(max_turns=MOST, max_advisor_calls=MOST)
    with temporary_folder("scenario") as folder:
        options = TaskOptions(
            name, executor="fake", advisor="fake", limits=limits, runs=folder / "runs", ledger=folder / "ledger.sqlite"
        )
        outcome = perform_task(options, environ, lambda _sentence: None).outcome
    counts = ScenarioCounts(
        outcome["status"],
        outcome["advisor_consult_count"],
        outcome["advisor_guidance_count"],
        outcome["malformed_block_count"],
    )
    applied = sum(how == "applied" for how in outcome["guidance_applied"].values())
    return PlayedScenario(name, counts, applied)


def simulated(
    arms: Sequence[str], groups: int, extent: EvaluationExtent
) -> tuple[EvaluationManifest, GoldenSet, Answers]:
    """What is asked, of which cases, and by whom: all of it follows from the seed."""
    seed = extent.seed
    parts = {arm.name: arm.part for arm in USUAL_ARMS}
    cases = simulated_set(groups, _chance(seed, "cases"))
    hard = difficulties(cases, _chance(seed, "difficulties"))
    reviewers = {each.name: each for each in SIMULATED}

    def answer(case: GoldenCase, key: TrialKey, _begins: Callable[[], None]) -> Trial:
        chance = _chance(seed, *map(str, key))
        return simulated_trial(reviewers[key.arm], case, key.repetition, hard[case.group], chance)

    manifest = EvaluationManifest(
        schema="evaluation.v1",
        answers="simulated",
        set_name=cases.name,
        set_digest=cases.digest,
        cases=tuple(case.id for case in cases.cases),
        arms=tuple(ArmFacts(name, parts[name]) for name in arms),
        repetitions=extent.repetitions,
        seed=seed,
        version=__version__,
        shard=extent.shard,
    )
    return manifest, cases, answer


def _chance(seed: int, *of: str) -> Draw:
    return Random("/".join((str(seed), *of))).randrange  # noqa: S311 (it wants to be repeated, not secret)
