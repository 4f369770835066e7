"""What a repository's artifacts hold of its reviews: what is to be fetched, and what is gone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from review_advisor.core.organisation.believed_runs import Believing, WorkflowRun
from review_advisor.core.report.wording import counted

LEDGER_ARTIFACT = "review-advisor-ledger-"
"""How the action calls the artifact with a run's ledger; the number of the attempt follows."""
MOST_ATTEMPTS = 100
"""A run may be started again so often that nobody would ask for each attempt's artifacts."""
_RETENTION = timedelta(days=90)
"""So long GitHub keeps artifacts where no artifact shows otherwise."""
_NOTHING_RAN = ("cancelled", "skipped", "action_required", "startup_failure")


@dataclass(frozen=True, slots=True)
class LedgerArtifact:
    """An artifact as GitHub lists it. ``run`` and ``repository`` are None where GitHub does not say them."""

    id: int
    name: str
    run: int | None
    repository: int | None
    size: int
    expired: bool
    made: datetime
    expires: datetime | None = None


@dataclass(frozen=True, slots=True)
class Shelf:
    """What is to be fetched, the oldest first; why runs are not believed, with how often; and what is gone, in words.

    ``gaps`` are of reviews, ``silent`` of runs that were well without a ledger: perhaps they reviewed nothing.
    """

    wanted: tuple[LedgerArtifact, ...] = ()
    unbelieved: tuple[tuple[str, int], ...] = ()
    gaps: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()


def attempts(runs: Iterable[WorkflowRun]) -> range:
    """Which attempts there are artifacts of."""
    return range(1, min(max((run.attempt for run in runs), default=0), MOST_ATTEMPTS) + 1)


def sort_artifacts(
    runs: Iterable[WorkflowRun],
    artifacts: Iterable[LedgerArtifact],
    believing: Believing,
    collected: Mapping[int, int],
    now: datetime,
) -> Shelf:
    """What of a period's runs to fetch: artifacts of believed runs that are over, and were not collected before.

    ``collected`` has the run of each artifact that was. An artifact that has expired is a gap, unless it was collected.
    So is a believed run without any artifact that began before what the repository still keeps, unless one of its was;
    of one that ended well nobody can tell.
    """
    unbelieved: Counter[str] = Counter()
    of_run: dict[int, list[LedgerArtifact]] = {}
    for each in artifacts:
        if each.run is not None and each.repository == believing.repository and _is_ledger(each.name):
            of_run.setdefault(each.run, []).append(each)
    kept_for = max((each.expires - each.made for its in of_run.values() for each in its if each.expires), default=None)
    known = frozenset(collected.values())
    wanted: list[LedgerArtifact] = []
    expired: list[datetime] = []
    forgotten: list[datetime] = []
    silent: list[datetime] = []
    for run in runs:
        belief = believing.of(run)
        if not belief.believed:
            unbelieved[belief.because] += 1
        elif run.status == "completed":
            its = of_run.get(run.id, [])
            left = [each for each in its if each.id not in collected]
            wanted += [each for each in left if not each.expired]
            expired += [each.made for each in left if each.expired]
            missing = not its and run.id not in known and run.conclusion not in _NOTHING_RAN
            if missing and run.begun < now - (kept_for or _RETENTION):
                (silent if run.conclusion == "success" else forgotten).append(run.begun)
    return Shelf(
        tuple(sorted({each.id: each for each in wanted}.values(), key=lambda each: (each.made, each.id))),
        tuple(sorted(unbelieved.items())),
        tuple(_gaps(expired, forgotten, kept_for or _RETENTION)),
        tuple(_too_old(silent, "successful run", kept_for or _RETENTION)),
    )


def _is_ledger(name: str) -> bool:
    return re.fullmatch(rf"{LEDGER_ARTIFACT}[0-9]{{1,4}}", name) is not None


def _gaps(expired: list[datetime], forgotten: list[datetime], kept_for: timedelta) -> Iterable[str]:
    if expired:
        yield f"{counted(len(expired), 'ledger')} expired before being collected{_between(expired)}"
    yield from _too_old(forgotten, "run", kept_for)


def _too_old(begun: list[datetime], what: str, kept_for: timedelta) -> Iterable[str]:
    if begun:
        kept = counted(kept_for.days, "day")
        yield f"{counted(len(begun), what)} older than what is kept ({kept}), with no ledger{_between(begun)}"


def _between(moments: list[datetime]) -> str:
    first, last = f"{min(moments):%Y-%m-%d}", f"{max(moments):%Y-%m-%d}"
    return f": {first}" if first == last else f": {first} to {last}"
