"""Answers that earlier reviews left: an outcome document for each case, arm and repetition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from review_advisor.adapters.evaluation_folder import EvaluationError
from review_advisor.adapters.git.making.golden_repository import make_golden_repository
from review_advisor.adapters.user_file import LARGEST, required_file
from review_advisor.core.evaluation.golden.golden_case import CommitsChange, GoldenCase, GoldenSet, NamedChange
from review_advisor.core.evaluation.trials.arms import Arm
from review_advisor.core.evaluation.trials.document_trial import trial_of
from review_advisor.core.evaluation.trials.trial import Trial, TrialKey
from review_advisor.core.outcome.document import OutcomeDocument, read_outcome
from review_advisor.lifetime.belongings import temporary_folder
from review_advisor.ports.review import SourceError

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
        told, there = sha256(), False
        for case in cases.cases:
            for arm in arms:
                for repetition in range(1, repetitions + 1):
                    raw = self._bytes(TrialKey(case.id, arm.name, repetition))
                    there = there or raw is not None
                    told.update(b"-" if raw is None else sha256(raw).digest())
        if not there:
            raise EvaluationError(f"{self.folder} has no CASE/ARM/REPETITION/{OUTCOME} of these cases and arms.")
        return told.hexdigest()

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
