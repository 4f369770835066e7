"""Improvement proposals: what a review of a run after its end may propose, and why it is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import StrictBool, ValidationError

from review_advisor.core.answers.answers import Answer, Text
from review_advisor.core.answers.tolerant import Notes, otherwise
from review_advisor.core.safety.legible import legible, read_json

SCHEMA = "improvement-proposals.v1"
RequiredTarget = Literal["memory_schema", "executor_prompt", "advisor_prompt"]
ImprovementTarget = Literal[RequiredTarget, "threshold_table", "council_roster", "review_rules"]
REQUIRED_TARGETS: tuple[RequiredTarget, ...] = get_args(RequiredTarget)
TARGETS: tuple[ImprovementTarget, ...] = (*REQUIRED_TARGETS, "threshold_table", "council_roster", "review_rules")
NO_CHANGE = "No change recommended"
MOST_PROPOSALS = 20
LONGEST_CHANGE = 4_000
"""Characters of a proposed change. Half of one would be another one, so a longer one is refused."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}", re.ASCII)
_TEXTS = ("title", "rationale", "evidence", "proposed_change", "validation_plan")
_Told = Annotated[Text, otherwise("")]


class ImprovementProposal(Answer):
    """One proposal as it was told. What is missing, or of another type, is empty.

    A valid one is ``proposed`` and requires a person's approval.
    """

    id: _Told = ""
    target: _Told = ""
    title: _Told = ""
    rationale: _Told = ""
    evidence: _Told = ""
    proposed_change: _Told = ""
    validation_plan: _Told = ""
    requires_human_approval: Annotated[StrictBool, otherwise(fallback=False)] = False
    status: _Told = ""

    @property
    def changes_something(self) -> bool:
        """Whether it is more than the word that nothing need change."""
        return not self.proposed_change.casefold().startswith(NO_CHANGE.casefold())


class ToldProposals(Answer):
    """A whole answer. Without a list of proposals it is none."""

    summary: _Told = ""
    proposals: tuple[ImprovementProposal, ...]


@dataclass(frozen=True, slots=True)
class ImprovementProposals:
    """The proposals of one run, ``errors`` as sentences without the answer's own words; without any they are valid."""

    source_run_id: str
    summary: str
    proposals: tuple[ImprovementProposal, ...] = ()
    errors: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether a person may decide on them as they stand."""
        return not self.errors

    def as_json(self) -> str:
        """For ``improvement_proposals.json``."""
        told = {
            "schema_version": SCHEMA,
            "source_run_id": self.source_run_id,
            "summary": self.summary,
            "proposals": [each.model_dump() for each in self.proposals],
            "validation": {"valid": self.valid, "errors": self.errors, "required_targets": REQUIRED_TARGETS},
        }
        return json.dumps(told, indent=2, ensure_ascii=False) + "\n"


class ProposalsError(ValueError):
    """No improvement proposals. One sentence."""


def checked_proposals(body: object, source_run_id: str) -> ImprovementProposals:
    """What an answer proposes, with everything that is wrong with it. Keys that the schema does not name are dropped.

    ``source_run_id`` is the harness's own, whatever the answer names. Raises ``ProposalsError`` for no such answer.
    """
    notes = Notes()
    try:
        told = ToldProposals.model_validate(legible(body), context=notes)
    except ValidationError:
        raise ProposalsError("It has no list of proposals, each of them an object.") from None
    kept = told.proposals[:MOST_PROPOSALS]
    errors = tuple(dict.fromkeys((*_errors(told), *_approvals(kept))))
    return ImprovementProposals(source_run_id, told.summary, kept, errors)


def read_proposals(text: bytes) -> ImprovementProposals:
    """The proposals of a file, checked anew: what it says of its own validity is not believed.

    Raises ``ProposalsError``.
    """
    try:
        body = read_json(text)
    except ValueError:
        raise ProposalsError("It is no JSON.") from None
    if not isinstance(body, dict) or body.get("schema_version") != SCHEMA:
        raise ProposalsError(f"It does not say that it is {SCHEMA}.")
    source = body.get("source_run_id")
    return checked_proposals(body, source if isinstance(source, str) else "")


def unchanged(target: str, rationale: str, evidence: str) -> ImprovementProposal:
    """The word that a target need not change."""
    return ImprovementProposal(
        id=target.replace("_", "-"),
        target=target,
        title=f"Leave the {target.replace('_', ' ')} as it is",
        rationale=rationale,
        evidence=evidence,
        proposed_change=NO_CHANGE,
        validation_plan="None is needed.",
        requires_human_approval=True,
        status="proposed",
    )


def _errors(told: ToldProposals) -> Iterator[str]:
    """What is wrong with all of them together, and with the texts of each."""
    if not told.summary:
        yield "The summary is empty."
    if len(told.proposals) > MOST_PROPOSALS:
        yield f"There are {len(told.proposals):,} proposals, and at most {MOST_PROPOSALS}."
    for number, each in enumerate(told.proposals[:MOST_PROPOSALS], 1):
        if not _ID.fullmatch(each.id):
            yield f"Proposal {number} has no id of letters, digits and dashes."
        if each.target not in TARGETS:
            yield f"Proposal {number} is for no known target."
        for name in _TEXTS:
            if not getattr(each, name):
                yield f"Proposal {number} has no {name}."
        if len(each.proposed_change) > LONGEST_CHANGE:
            yield f"The change of proposal {number} is longer than {LONGEST_CHANGE:,} characters."
    ids = [each.id for each in told.proposals[:MOST_PROPOSALS]]
    if len(set(ids)) < len(ids):
        yield "Two proposals have the same id."
    there = {each.target for each in told.proposals[:MOST_PROPOSALS]}
    yield from (f"There is no proposal for {target}." for target in REQUIRED_TARGETS if target not in there)


def _approvals(proposals: Sequence[ImprovementProposal]) -> Iterator[str]:
    """Nothing that calls itself approved, or in no need of a person, is a proposal."""
    for number, each in enumerate(proposals, 1):
        if each.requires_human_approval is not True:
            yield f"Proposal {number} does not require a person's approval."
        if each.status != "proposed":
            yield f"The status of proposal {number} is not proposed."


def schema_example() -> dict[str, Any]:
    """The form of an answer, as its prompt shows it."""
    proposal = {
        "id": "...",
        "target": "|".join(TARGETS),
        **dict.fromkeys(_TEXTS, "..."),
        "requires_human_approval": True,
        "status": "proposed",
    }
    return {"summary": "...", "proposals": [proposal]}
