"""How often findings of a kind were right: ``.review-advisor/calibration.toml`` of the base says so."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from review_advisor.core.evaluation.calibration.cells import FEWEST_GROUPS, FEWEST_OF_CELL
from review_advisor.core.evaluation.calibration.confidence_pair import ConfidencePair, FindingKind, labelled
from review_advisor.core.evaluation.calibration.observed_pairs import EXECUTOR, stated_findings
from review_advisor.core.facts.files.toml_text import TomlError, read_toml
from review_advisor.core.facts.files.value_mistake import value_mistake, value_place
from review_advisor.core.outcome.document import OutcomeDocument

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
