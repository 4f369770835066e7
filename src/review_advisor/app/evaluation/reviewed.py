"""Answers of the real pipeline: the change of a golden case is reviewed like any other, each time in its own process.

The case becomes a repository, the arm a configuration file and switches, and the review writes its outcome into the
evaluation's folder. Nothing else is handed to the process, so that other machines can do the same.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from review_advisor import __version__
from review_advisor.adapters.git.golden_repository import make_golden_repository
from review_advisor.adapters.price_file import read_prices
from review_advisor.adapters.review_process import kept_outcome, review_in_process
from review_advisor.app.evaluation.evaluate import Answers, EvaluationError, folder_of, spent_in
from review_advisor.app.shadows.instruction_texts import load_instructions
from review_advisor.core.evaluation.golden.golden_case import GoldenCase, GoldenSet, NamedChange
from review_advisor.core.evaluation.trials.arms import Arm
from review_advisor.core.evaluation.trials.document_trial import trial_of
from review_advisor.core.evaluation.trials.manifest import AnswerSource, CaseShard, EvaluationManifest
from review_advisor.core.evaluation.trials.trial import Trial, TrialKey
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.lifetime.belongings import temporary_folder
from review_advisor.ports.review import SourceError

_SWITCHES = "HYDRAFLOW_"
OUTCOME = "outcome.json"


@dataclass(frozen=True, slots=True)
class EvaluationExtent:
    """How often each case is reviewed, which part of them here, and what chance begins with."""

    repetitions: int = 1
    shard: CaseShard = field(default_factory=CaseShard)
    seed: int = 17


def manifest_of(
    cases: GoldenSet, arms: Sequence[Arm], answers: AnswerSource, extent: EvaluationExtent
) -> EvaluationManifest:
    """What is asked. Raises ``EvaluationError`` for a set with cases that nobody can review."""
    if answers != "recorded":
        for case in cases.cases:
            if isinstance(case.change, NamedChange):
                raise EvaluationError(f"The case {case.id} only names {case.change.url}: use recorded answers for it.")
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
    )


REVIEW_USD = 2.0
"""US dollars that one review may spend. Less would end reviews that are only thorough, and score them as wrong."""


@dataclass(slots=True)
class EvaluationPurse:
    """What all reviews together may still spend, in US dollars."""

    left: float
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def taken(self) -> float:
        """What one review may spend. It is gone until it is given back. Raises ``EvaluationError`` if there is less."""
        with self._lock:
            if self.left < REVIEW_USD:
                raise EvaluationError(
                    f"Of --max-usd, {max(self.left, 0.0):.2f} dollars are left, and one review may need "
                    f"{REVIEW_USD:.2f}. What was answered is kept: give more, and it goes on."
                )
            self.left -= REVIEW_USD
            return REVIEW_USD

    def given_back(self, mine: float, spent: float | None) -> None:
        """What was not spent. A review whose cost is not known has spent it all."""
        with self._lock:
            self.left += mine - (mine if spent is None else spent)


def recorded_answers(folder: Path) -> Answers:
    """What earlier reviews left: ``CASE/ARM/REPETITION/outcome.json`` below ``folder``."""

    def answer(case: GoldenCase, key: TrialKey) -> Trial:
        path = folder / _place(key) / OUTCOME
        try:
            document = kept_outcome(path)
        except (OSError, ValueError):
            raise EvaluationError(f"{path} is no outcome document.") from None
        if document is None:
            return _lost(key, f"{_place(key)} is not recorded.")
        return trial_of(document, case, key)

    return answer


@dataclass(frozen=True, slots=True)
class Reviewing:
    """Reviews that are made now. The outcome of each stays in ``kept``, from where it can be scored again.

    ``arms`` by their names. The switches of ``environ`` do not hold: each arm has its own.
    """

    arms: Mapping[str, Arm]
    agent: Literal["embedded", "claude"]
    environ: Mapping[str, str]
    kept: Path
    purse: EvaluationPurse | None = None

    def answer(self, case: GoldenCase, key: TrialKey) -> Trial:
        """One review. What goes wrong in it is a lost trial. Raises ``EvaluationError`` once the money is spent."""
        mine = None if self.purse is None else self.purse.taken()
        trial = _lost(key, "it was interrupted")
        try:
            with temporary_folder("case") as folder:
                document = self._reviewed(case, key, folder, mine)
            trial = _lost(key, document) if isinstance(document, str) else trial_of(document, case, key)
        finally:
            if self.purse is not None and mine is not None:
                self.purse.given_back(mine, trial.usd)
        return trial

    def _reviewed(self, case: GoldenCase, key: TrialKey, folder: Path, most_usd: float | None) -> OutcomeDocument | str:
        arm = self.arms[key.arm]
        try:
            made = make_golden_repository(case, folder / "repository", rules=arm.files)
        except SourceError as trouble:
            return str(trouble)
        output = self.kept.resolve() / _place(key) / OUTCOME
        output.parent.mkdir(parents=True, exist_ok=True)
        arguments = ["eval", "review-case", str(made.folder), f"{made.base}..{made.head}", "--agent", self.agent]
        arguments += ["--output", str(output), "--artifacts", str(folder / "logs")]
        for option, text in (("config", arm.config), ("body-file", case.body), ("spec-file", case.spec)):
            if text or option == "config":
                (folder / option).write_text(text, encoding="utf-8")
                arguments += [f"--{option}", str(folder / option)]
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
    recorded: Path | None,
    max_usd: float | None,
) -> Answers:
    """Who answers an evaluation that is not simulated. What it has spent before counts against ``max_usd``."""
    if manifest.answers == "recorded" and recorded is not None:
        return recorded_answers(recorded)
    folder = folder_of(root, manifest)
    purse = None if max_usd is None else EvaluationPurse(max_usd - spent_in(folder))
    agent: Literal["embedded", "claude"] = "claude" if manifest.answers == "live" else "embedded"
    return Reviewing({arm.name: arm for arm in arms}, agent, environ, folder / "reviews", purse).answer


def _place(key: TrialKey) -> Path:
    """Where its outcome lies. Ids are of others: what is no plain name becomes one."""
    return Path(_plain(key.case), _plain(key.arm), str(key.repetition))


def _plain(name: str) -> str:
    from hashlib import sha256

    kept = "".join(each if each.isascii() and (each.isalnum() or each in "-_+") else "-" for each in name)[:80]
    return kept if kept == name else f"{kept}-{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _lost(key: TrialKey, why: str) -> Trial:
    return Trial(key.case, key.arm, key.repetition, "none", "lost", usd=None, why=why)
