"""Answers of the real pipeline: the change of a golden case is reviewed like any other, each time in its own process.

The case becomes a repository, the arm a configuration file and switches, and the review writes its outcome into the
evaluation's folder. Nothing else is handed to the process, so that other machines can do the same.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from review_advisor import __version__
from review_advisor.adapters.evaluation_folder import results_so_far
from review_advisor.adapters.git.making.golden_repository import NO_CLONES, GoldenClones, make_golden_repository
from review_advisor.adapters.price_file import read_prices
from review_advisor.adapters.review_process import NoOutcome, review_in_process
from review_advisor.app.doctor import AgentChoice, agent_command
from review_advisor.app.evaluation.evaluate import EvaluationError, folder_of
from review_advisor.app.evaluation.recorded_reviews import OUTCOME, RecordedReviews, place_of
from review_advisor.app.shadows.instruction_texts import load_instructions
from review_advisor.core.evaluation.golden.golden_case import CommitsChange, GoldenCase, GoldenSet, NamedChange
from review_advisor.core.evaluation.trials.arms import Arm
from review_advisor.core.evaluation.trials.chance_reviewer import chance_sums
from review_advisor.core.evaluation.trials.document_trial import trial_of
from review_advisor.core.evaluation.trials.kept_trials import interrupted, spent_on
from review_advisor.core.evaluation.trials.manifest import AnswerSource, CaseShard, EvaluationManifest
from review_advisor.core.evaluation.trials.trial import Trial, TrialKey
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.lifetime.belongings import temporary_folder
from review_advisor.ports.review import SourceError

__all__ = ["GoldenClones", "RecordedReviews"]
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
