"""What an answer may propose, and why it is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from review_advisor.tasks.retro import (
    LONGEST_CHANGE,
    MOST_PROPOSALS,
    NO_CHANGE,
    REQUIRED_TARGETS,
    ProposalsError,
    checked_proposals,
    schema_example,
)

RUN = "run_20260105T090000Z_0123abcd"


def proposal(target: str = "memory_schema", **more: Any) -> dict[str, Any]:
    return {
        "id": target.replace("_", "-"),
        "target": target,
        "title": "Leave it",
        "rationale": "It served.",
        "evidence": "`status: completed`",
        "proposed_change": NO_CHANGE,
        "validation_plan": "None is needed.",
        "requires_human_approval": True,
        "status": "proposed",
        **more,
    }


def answer(*more: dict[str, Any], summary: Any = "All went well.") -> dict[str, Any]:
    return {"summary": summary, "proposals": [*map(proposal, REQUIRED_TARGETS), *more]}


def errors(body: object) -> tuple[str, ...]:
    return checked_proposals(body, RUN).errors


def test_three_targets_have_a_proposal_each_and_no_change_will_do() -> None:
    found = checked_proposals(answer(), RUN)

    assert found.valid
    assert [each.target for each in found.proposals] == list(REQUIRED_TARGETS)
    assert not any(each.changes_something for each in found.proposals)


@pytest.mark.parametrize("target", ["threshold_table", "council_roster", "review_rules"])
def test_three_more_targets_are_known_and_not_required(target: str) -> None:
    assert errors(answer(proposal(target, proposed_change="Raise it."))) == ()


@pytest.mark.parametrize("target", REQUIRED_TARGETS)
def test_a_target_that_is_missing_is_named(target: str) -> None:
    body = answer()
    body["proposals"] = [each for each in body["proposals"] if each["target"] != target]

    assert errors(body) == (f"There is no proposal for {target}.",)


@pytest.mark.parametrize(
    "fault, error",
    [
        ({"target": "kernel"}, "Proposal 4 is for no known target."),
        ({"title": " "}, "Proposal 4 has no title."),
        ({"rationale": ""}, "Proposal 4 has no rationale."),
        ({"evidence": ["a list"]}, "Proposal 4 has no evidence."),
        ({"proposed_change": None}, "Proposal 4 has no proposed_change."),
        ({"validation_plan": "\n"}, "Proposal 4 has no validation_plan."),
        ({"id": "../../etc"}, "Proposal 4 has no id of letters, digits and dashes."),
        ({"id": "memory-schema"}, "Two proposals have the same id."),
        ({"requires_human_approval": False}, "Proposal 4 does not require a person's approval."),
        ({"requires_human_approval": "true"}, "Proposal 4 does not require a person's approval."),
        ({"status": "approved"}, "The status of proposal 4 is not proposed."),
        ({"status": ""}, "The status of proposal 4 is not proposed."),
        (
            {"proposed_change": "x" * (LONGEST_CHANGE + 1)},
            f"The change of proposal 4 is longer than {LONGEST_CHANGE:,} characters.",
        ),
    ],
)
def test_each_rule_refuses_and_says_so_in_our_own_words(fault: dict[str, Any], error: str) -> None:
    assert errors(answer(proposal("review_rules") | fault)) == (error,)


@pytest.mark.parametrize("fault", [{"requires_human_approval": True}, {"status": "proposed"}, {"title": "A title"}])
def test_what_is_not_there_is_not_taken_for_granted(fault: dict[str, Any]) -> None:
    told = proposal("review_rules")
    (key,) = fault
    del told[key]

    assert len(errors(answer(told))) == 1


def test_the_summary_is_a_text_too() -> None:
    assert errors(answer(summary="")) == errors(answer(summary=7)) == ("The summary is empty.",)


def test_a_flood_is_refused_and_cut() -> None:
    found = checked_proposals(answer(*(proposal("review_rules", id=f"r-{n}") for n in range(5_000))), RUN)

    assert found.errors == (f"There are 5,003 proposals, and at most {MOST_PROPOSALS}.",)
    assert len(found.proposals) == MOST_PROPOSALS


def test_a_huge_text_is_cut_and_a_key_that_the_schema_does_not_name_is_dropped() -> None:
    body = answer(proposal("review_rules", rationale="w" * 1_000_000, approved_by="maria"))
    body |= {"source_run_id": "another", "validation": {"valid": True}}
    found = checked_proposals(body, RUN)

    assert len(found.as_json()) < 40_000
    assert "approved_by" not in found.as_json()
    assert found.source_run_id == RUN


@pytest.mark.parametrize("body", [{}, {"proposals": 3}, {"proposals": ["a text"]}, [], "text", None])
def test_what_has_no_list_of_proposals_is_no_answer(body: object) -> None:
    with pytest.raises(ProposalsError, match="no list of proposals"):
        checked_proposals(body, RUN)


def test_the_form_of_the_document_is_that_of_the_schema() -> None:
    told = json.loads(checked_proposals(answer(), RUN).as_json())

    assert list(told) == ["schema_version", "source_run_id", "summary", "proposals", "validation"]
    assert told["schema_version"] == "improvement-proposals.v1"
    assert list(told["proposals"][0]) == list(schema_example()["proposals"][0])
    assert told["validation"] == {"valid": True, "errors": [], "required_targets": list(REQUIRED_TARGETS)}
