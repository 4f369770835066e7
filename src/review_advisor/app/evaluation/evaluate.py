"""Running an evaluation: every review that is not there yet is asked for, side by side, and kept as it comes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from random import Random

from review_advisor.adapters.evaluation_folder import (
    EvaluationError,
    EvaluationFolder,
    earlier_tries,
    evaluations_in,
    keep_evaluation,
    keep_text,
    read_evaluation,
)
from review_advisor.adapters.git.repository import why_not_yours
from review_advisor.core.evaluation.golden.golden_case import GoldenCase, GoldenSet
from review_advisor.core.evaluation.trials.comparison import side_by_side
from review_advisor.core.evaluation.trials.group_samples import SAMPLES
from review_advisor.core.evaluation.trials.kept_trials import UnansweredArm, interrupted, unanswered_arms
from review_advisor.core.evaluation.trials.manifest import (
    EvaluationManifest,
    ShardError,
    merged_manifest,
    wanted,
    why_not_comparable,
)
from review_advisor.core.evaluation.trials.measures import ReviewSums
from review_advisor.core.evaluation.trials.result_table import result_json, result_text
from review_advisor.core.evaluation.trials.results import EvaluationResult, evaluation_result
from review_advisor.core.evaluation.trials.simulated_reviewers import SIMULATED, true_sums
from review_advisor.core.evaluation.trials.trial import CountedTrial, Trial, TrialKey, count
from review_advisor.lifetime.interruption import INTERRUPTION

__all__ = ["EvaluationError", "ShardError"]
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
        missing = [key for key in wanted(manifest) if key not in there]
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
    return _evaluated(kept.folder, len(missing))


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


def _evaluated(folder: Path, asked: int) -> Evaluated:
    """The score, kept beside its results: the same bytes for the same results."""
    manifest, trials = read_evaluation(folder)
    result = _score(manifest, trials)
    keep_text(folder, "summary.json", as_json(result))
    keep_text(folder, "summary.txt", result_text(result))
    return Evaluated(folder, result, asked, unanswered_arms(manifest, trials))


def _score(manifest: EvaluationManifest, trials: Sequence[CountedTrial]) -> EvaluationResult:
    truth = _truth(manifest, {arm.name: arm.name for arm in manifest.arms})
    return evaluation_result(manifest, trials, SAMPLES, _draw(manifest), truth)


def as_json(result: EvaluationResult) -> str:
    """As it is kept and printed."""
    return json.dumps(result_json(result), indent=2) + "\n"


def merge(folders: Sequence[Path], root: Path) -> Evaluated:
    """The shards of one evaluation as a whole one, with what lost tries cost.

    Raises ``ShardError`` and ``EvaluationError``: also where the whole one has results already.
    """
    parts = [read_evaluation(folder) for folder in folders]
    whole = merged_manifest([manifest for manifest, _ in parts])
    folder = folder_of(root, whole)
    together = [each for _, trials in parts for each in trials]
    keep_evaluation(folder, whole, together, [each for part in folders for each in earlier_tries(part)])
    return _evaluated(folder, len(together))


def compare(folders: Sequence[Path]) -> EvaluationResult:
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
