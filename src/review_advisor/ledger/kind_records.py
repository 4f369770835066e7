"""How often findings of a kind were right."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from review_advisor.agents.findings import Finding
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import CallEnded, MemberReviewed, Reported
from review_advisor.review.observed import ObservedLabel, of_findings, proved_right, was_reverted
from review_advisor.safety.stated_values import TomlError, read_toml, value_mistake, value_place

LabelSource = Literal["", "people", "revert", "golden"]
"""Who says whether a finding is right. ``people``: whose word ``observe`` counts; the author's only for a finding.

``golden``: the labels of golden cases.
"""


OBSERVED_SOURCES: tuple[LabelSource, ...] = ("people", "revert")


@dataclass(frozen=True, slots=True)
class FindingKind:
    """What kind of finding it is. An empty field means any."""

    advisor: str = ""
    model: str = ""
    surface: str = ""
    category: str = ""
    prompts: str = ""

    def parents(self) -> tuple[FindingKind, ...]:
        """This kind, then each wider one: first any version of the prompts, then any category, surface and model."""
        wider = [self]
        for name in ("prompts", "category", "surface", "model", "advisor"):
            last = wider[-1]
            kept = {each: getattr(last, each) for each in _FIELDS if each != name}
            if getattr(last, name):
                wider.append(FindingKind(**kept))
        return tuple(wider)

    @property
    def words(self) -> str:
        """What it names, for a person."""
        return " / ".join(filter(None, (getattr(self, each) for each in _FIELDS))) or "all"


_FIELDS = ("advisor", "model", "surface", "category", "prompts")


@dataclass(frozen=True, slots=True)
class ConfidencePair:
    """``confidence`` is 0 to 1. ``right`` is None where nobody said anything; ``source`` is empty then.

    ``group`` is the pull request: findings of one are alike, and are never parted.
    """

    group: str
    kind: FindingKind
    confidence: float
    right: bool | None = None
    source: LabelSource = ""


def labelled(pairs: Iterable[ConfidencePair], source: LabelSource = "") -> tuple[ConfidencePair, ...]:
    """The pairs of which it is known whether they are right; of one source where that is named."""
    return tuple(each for each in pairs if each.right is not None and source in ("", each.source))


def stated_once(reviews: Iterable[tuple[str, Sequence[ConfidencePair]]]) -> tuple[ConfidencePair, ...]:
    """The pairs of many reviews of golden cases, each of the case that is named: repetitions tell nothing new.

    A model's right, wrong and unlabelled findings on a case count as often as in the one review that has most of them,
    whatever arm, prompts or evaluation asked; those of the first reviews count.
    """
    kept: dict[tuple[object, ...], ConfidencePair] = {}
    for case, pairs in reviews:
        times = Counter[tuple[object, ...]]()
        for each in pairs:
            of = (case, each.group, each.kind.advisor, each.kind.model, each.right)
            times[of] += 1
            kept.setdefault((*of, times[of]), each)
    return tuple(kept.values())


FEWEST_OF_CELL = 30


FEWEST_GROUPS = 10
"""Fewer pull requests tell nothing of others: their findings are alike."""


@dataclass(frozen=True, slots=True)
class CalibrationCell:
    """The labelled pairs that tell something about ``asked``: those of ``kind``, which is the same or wider.

    ``own`` is how many ``asked`` itself has.
    """

    asked: FindingKind
    kind: FindingKind
    own: int
    pairs: tuple[ConfidencePair, ...]

    @property
    def is_enough(self) -> bool:
        """Whether they are enough to say anything; the widest cell may be too small as well."""
        return len(self.pairs) >= FEWEST_OF_CELL


def cells(pairs: Sequence[ConfidencePair]) -> tuple[CalibrationCell, ...]:
    """A cell for everything together, then one for each kind that has a label, the most frequent first.

    A cell below ``FEWEST_OF_CELL`` labels is that of its nearest parent that has them, or of everything.
    """
    held: dict[FindingKind, list[ConfidencePair]] = {FindingKind(): []}
    exact: dict[FindingKind, int] = {}
    for each in pairs:
        if each.right is None:
            continue
        exact[each.kind] = exact.get(each.kind, 0) + 1
        for kind in dict.fromkeys((*each.kind.parents(), FindingKind())):
            held.setdefault(kind, []).append(each)
    kinds = sorted(exact, key=lambda kind: (-exact[kind], kind.words))
    return tuple(_cell(kind, held) for kind in dict.fromkeys((FindingKind(), *kinds)))


def _cell(asked: FindingKind, held: Mapping[FindingKind, Sequence[ConfidencePair]]) -> CalibrationCell:
    found = next((kind for kind in asked.parents() if len(held.get(kind, ())) >= FEWEST_OF_CELL), FindingKind())
    return CalibrationCell(asked, found, len(held.get(asked, ())), tuple(held[found]))


EXECUTOR = "executor"


_DIGITS = 12
"""So much of the version of the prompts tells two versions apart."""


@dataclass(frozen=True, slots=True)
class StatedRun:
    """What a review stated on the pull request ``group``: a finding's id, its kind and its confidence each."""

    began: datetime
    run_id: str
    group: str
    stated: tuple[tuple[str, FindingKind, float], ...]
    labels: tuple[ObservedLabel, ...]


def stated_run(document: OutcomeDocument, labels: Iterable[ObservedLabel]) -> StatedRun | None:
    """What of a review counts here, which is little of it; None where it was of no pull request."""
    if not document.repository or document.pull_request is None:
        return None
    group = f"{document.repository.casefold()}#{document.pull_request}"
    stated = tuple((finding.id, kind, finding.confidence) for finding, kind in stated_findings(document))
    return StatedRun(document.started_at, document.run_id, group, stated, tuple(labels))


def observed_pairs(runs: Iterable[StatedRun]) -> tuple[ConfidencePair, ...]:
    """A pair for each finding that people were shown, by whoever stated a confidence of it.

    A finding that several pushes repeat counts once for each who raised it, with the confidence of the first review.
    None of our own checks counts.
    """
    ordered = sorted(runs, key=lambda run: (run.began, run.run_id))
    labels_of = {run.group: run.labels for run in ordered if run.labels}
    first: dict[tuple[str, str, str], ConfidencePair] = {}
    for run in ordered:
        for finding, kind, confidence in run.stated:
            right, source = _truth(finding, labels_of.get(run.group, ()))
            first.setdefault(
                (run.group, kind.advisor, finding), ConfidencePair(run.group, kind, confidence, right, source)
            )
    return tuple(first.values())


def stated_findings(document: OutcomeDocument) -> Iterator[tuple[Finding, FindingKind]]:
    """Each finding that people were shown, with its kind, once for each report of it."""
    shown = {each.id for each in document.findings}
    models = {
        each.number: each.resolved_model or each.requested_model
        for each in document.events
        if isinstance(each, CallEnded)
    }
    for event in document.events:
        if isinstance(event, MemberReviewed) or (isinstance(event, Reported) and not event.structural):
            advisor = event.advisor if isinstance(event, MemberReviewed) else EXECUTOR
            model, surface, prompts = models.get(event.number, ""), event.surface.value, event.prompts[:_DIGITS]
            for finding in event.report.findings:
                if finding.id in shown:
                    yield finding, FindingKind(advisor, model, surface, finding.category.casefold(), prompts)


def _truth(finding: str, labels: Sequence[ObservedLabel]) -> tuple[bool | None, LabelSource]:
    """A revert is told apart from what people say: it calls every finding of its pull request right."""
    right = proved_right(of_findings(labels).get(finding, {}), reverted=False)
    if right is not None:
        return right, "people"
    return (True, "revert") if was_reverted(labels) else (None, "")


KINDS_FILE = ".review-advisor/calibration.toml"


LONGEST_KINDS_FILE = 200_000


LONGEST_NAME = 120


MOST_KINDS = 300
"""The most that are proposed and believed, those with the most labels first."""


_Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]


@dataclass(frozen=True, slots=True)
class KindRecord:
    """Of the findings of a kind that people judged, how many were right. The prompts' version is of no account here."""

    kind: FindingKind
    labels: int
    right: int

    @property
    def words(self) -> str:
        """A sentence to stand beside a finding of the kind. Only what always happened is told as 0% or 100%."""
        share = round(100 * self.right / self.labels)
        if 0 < self.right < self.labels:
            share = min(max(share, 1), 99)
        return f"Findings of this kind were right {share}% of the time, as people said (n = {self.labels:,})."


@dataclass(frozen=True, slots=True)
class KindRecords:
    """The records of a file. ``made`` is the day of their calibration."""

    made: date
    records: tuple[KindRecord, ...]

    def notes(self, document: OutcomeDocument) -> Mapping[str, str]:
        """What is known of the findings of a review, by their ids: a sentence where there are labels enough."""
        known = enough(self.records)
        return {name: known[kind].words for name, kind in kinds_of(document).items() if kind in known}


def enough(records: Iterable[KindRecord]) -> dict[FindingKind, KindRecord]:
    """Those of which people judged enough findings to say anything."""
    return {each.kind: each for each in records if each.labels >= FEWEST_OF_CELL}


def kinds_of(document: OutcomeDocument) -> Mapping[str, FindingKind]:
    """The kind of each finding that a model stated: the executor's, where it raised the finding as well."""
    kinds: dict[str, FindingKind] = {}
    for finding, kind in stated_findings(document):
        if finding.id not in kinds or kind.advisor == EXECUTOR:
            kinds[finding.id] = replace(kind, prompts="")
    return kinds


def kind_records(pairs: Iterable[ConfidencePair]) -> tuple[KindRecord, ...]:
    """The records by people's labels of every kind that has enough of ten pull requests, those with most labels first.

    A kind that a model gave no name, or an endless one, has none.
    """
    judged: dict[FindingKind, list[bool]] = defaultdict(list)
    groups: dict[FindingKind, set[str]] = defaultdict(set)
    for each in labelled(pairs, "people"):
        kind = replace(each.kind, prompts="")
        if all(0 < len(getattr(kind, name)) <= LONGEST_NAME for name in ("advisor", "model", "surface", "category")):
            judged[kind].append(bool(each.right))
            groups[kind].add(each.group)
    told = (kind for kind in judged if len(groups[kind]) >= FEWEST_GROUPS)
    made = enough(KindRecord(kind, len(judged[kind]), sum(judged[kind])) for kind in told).values()
    return tuple(sorted(made, key=lambda each: (-each.labels, each.kind.words)))[:MOST_KINDS]


class _KindRow(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    advisor: _Name
    model: _Name
    surface: _Name
    category: _Name
    labels: Annotated[int, Field(ge=1, le=1_000_000_000)]
    right: Annotated[int, Field(ge=0)]

    @model_validator(mode="after")
    def _is_a_share(self) -> Self:
        if self.right > self.labels:
            raise ValueError(f"{self.right} of {self.labels} labels cannot be right")
        return self


class _KindFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    made: date
    labels_of: Literal["people"]
    kind: Annotated[tuple[_KindRow, ...], Field(max_length=MOST_KINDS)] = ()


def parse_kind_records(text: str) -> KindRecords:
    """The tables ``[[kind]]`` of ``.review-advisor/calibration.toml``. Raises ``ValueError``."""
    if len(text) > LONGEST_KINDS_FILE:
        raise ValueError(f"{KINDS_FILE} has more than {LONGEST_KINDS_FILE:,} characters.")
    try:
        file = _KindFile.model_validate(read_toml(text))
    except TomlError as error:
        raise ValueError(f"{KINDS_FILE} is not valid TOML: {error}.") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = value_place(first["loc"])
        raise ValueError(f"{KINDS_FILE}: {where + ': ' if where else ''}{value_mistake(first)}.") from None
    kinds = (
        KindRecord(FindingKind(e.advisor, e.model, e.surface, e.category.casefold()), e.labels, e.right)
        for e in file.kind
    )
    return KindRecords(file.made, tuple(kinds))
