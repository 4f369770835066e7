"""Which proposals are a concrete edit of a file that a review reads, and what a person has to do with the others."""

from __future__ import annotations

import pytest
from tests.unit.retro.test_proposals import RUN, answer, proposal

from review_advisor.change.guidelines import LONGEST_GUIDELINE
from review_advisor.policy.thresholds import THRESHOLDS_FILE
from review_advisor.tasks.retro import (
    NO_CHANGE,
    EditRefusedError,
    ImprovementProposal,
    ProposedEdit,
    append_to,
    checked_proposals,
    proposed_edit,
)

RULE = "- Say it once."
THRESHOLD = "[[threshold]]\nvalue = 0.8"


def proposing(target: str, change: str) -> ImprovementProposal:
    *_, last = checked_proposals(answer(proposal(target, id="mine", proposed_change=change)), RUN).proposals
    return last


def test_a_rule_is_appended_to_the_teams_rules() -> None:
    edit = proposed_edit(proposing("review_rules", append_to("REVIEW.md", RULE)))

    assert edit == ProposedEdit("REVIEW.md", RULE)
    assert edit.applied_to("") == f"{RULE}\n"
    assert edit.applied_to("# Rules\n") == f"# Rules\n\n{RULE}\n"
    assert edit.applied_to("# Rules") == f"# Rules\n\n{RULE}\n"


def test_a_file_keeps_its_line_ends_and_a_rule_is_found_in_it_whatever_they_are() -> None:
    rule = "- Say it once.\n- Say it well."
    edit = proposed_edit(proposing("review_rules", append_to("REVIEW.md", rule)))

    after = edit.applied_to("# Rules\r\n")
    assert after == "# Rules\r\n\r\n- Say it once.\r\n- Say it well.\r\n"
    assert edit.is_in(after)
    assert edit.is_in(f"{rule}\n")
    assert not edit.is_in("# Rules\r\n")
    assert proposed_edit(proposing("review_rules", append_to("REVIEW.md", rule.replace("\n", "\r\n")))) == edit


def test_a_threshold_is_appended_to_the_thresholds() -> None:
    edit = proposed_edit(proposing("threshold_table", append_to(THRESHOLDS_FILE, THRESHOLD)))

    assert edit.applied_to("") == f"{THRESHOLD}\n"


@pytest.mark.parametrize(
    "target, change, todo",
    [
        ("review_rules", NO_CHANGE, "recommends no change"),
        ("review_rules", "Be stricter.", "a person has to make one of it"),
        ("review_rules", append_to("REVIEW.md", " "), "a person has to make one of it"),
        ("review_rules", append_to(THRESHOLDS_FILE, THRESHOLD), "a person has to make one of it"),
        ("review_rules", append_to(".github/workflows/ci.yml", "on: push"), "a person has to make one of it"),
        ("threshold_table", append_to("../REVIEW.md", RULE), "a person has to make one of it"),
        ("memory_schema", append_to(".review-advisor/memory.jsonl", "{}"), "review-advisor memory approve"),
        ("executor_prompt", append_to("REVIEW.md", RULE), "no file of this repository"),
        ("advisor_prompt", append_to("REVIEW.md", RULE), "no file of this repository"),
        ("council_roster", append_to(".review-advisor/advisors/a.md", "x"), "Declare the advisor"),
    ],
)
def test_anything_else_is_refused_with_what_a_person_has_to_do(target: str, change: str, todo: str) -> None:
    with pytest.raises(EditRefusedError, match=todo):
        proposed_edit(proposing(target, change))


def test_what_a_review_would_not_read_so_is_refused() -> None:
    with pytest.raises(EditRefusedError, match="shorten it first"):
        ProposedEdit("REVIEW.md", RULE).applied_to("x" * LONGEST_GUIDELINE)
    with pytest.raises(EditRefusedError, match="No review could read the file"):
        ProposedEdit(THRESHOLDS_FILE, "[[threshold]]\nvalue = 8").applied_to("")
