"""What the check concludes and says in one line: the table of outcomes, with everything that must not be overlooked."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from tests.unit.forge_text.stories import told

from review_advisor.agents.answers import Severity
from review_advisor.github.sections import conclusion_of, heading_of, title_of
from review_advisor.mockworld.agents import lost
from review_advisor.policy.surfaces import Role
from review_advisor.policy.switches import MASTER
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.rulings import EXIT_CODES, Outcome

DOCUMENT = told()
VERDICTS = {
    Outcome.NOTHING_TO_REVIEW: ("success", "Nothing to review: the change is empty"),
    Outcome.APPROVED: ("success", "Approved"),
    Outcome.CHANGES_REQUESTED: ("failure", "Changes requested"),
    Outcome.ESCALATED: ("action_required", "A person has to decide"),
    Outcome.STOPPED: ("failure", "The review did not run to its end"),
}
GREEN, RED, HAND, YELLOW, NOT_RUN, EMPTY = "\u2705", "\u274c", "\u270b", "\U0001f7e1", "\u26d4", "\u26aa"
SIGNS = {
    Outcome.NOTHING_TO_REVIEW: EMPTY,
    Outcome.APPROVED: GREEN,
    Outcome.CHANGES_REQUESTED: RED,
    Outcome.ESCALATED: HAND,
    Outcome.STOPPED: NOT_RUN,
}


def ended(outcome: Outcome, *, degraded: bool = False, off: bool = False, code: int | None = None) -> OutcomeDocument:
    """The document of a review that ended so. ``code`` is another exit code than the outcome's."""
    flags = replace(DOCUMENT.flags, degraded=degraded, advisor_disabled=(MASTER,) if off else ())
    return replace(DOCUMENT, outcome=outcome, exit_code=EXIT_CODES[outcome] if code is None else code, flags=flags)


EVERYTHING = list(itertools.product(Outcome, (False, True), (False, True)))


@pytest.mark.parametrize("outcome, degraded, off", EVERYTHING)
def test_the_conclusion_is_the_outcomes(outcome: Outcome, degraded: bool, off: bool) -> None:
    conclusion, verdict = VERDICTS[outcome]
    document = ended(outcome, degraded=degraded, off=off)
    assert conclusion_of(document) == conclusion
    assert title_of(document).startswith(verdict)


@pytest.mark.parametrize("outcome, degraded, off", EVERYTHING)
def test_only_a_verified_approval_has_the_green_sign(outcome: Outcome, degraded: bool, off: bool) -> None:
    document = ended(outcome, degraded=degraded, off=off)
    unverified = outcome is Outcome.APPROVED and (degraded or off)
    assert heading_of(document).partition(" ")[0] == (YELLOW if unverified else SIGNS[outcome])


def test_an_approval_that_the_team_does_not_take_unverified_asks_for_a_person_and_shows_it() -> None:
    document = ended(Outcome.APPROVED, degraded=True, code=11)
    assert conclusion_of(document) == "action_required"
    assert heading_of(document).startswith(f"{HAND} Approved")


@pytest.mark.parametrize("outcome", [each for each in Outcome if each is not Outcome.NOTHING_TO_REVIEW])
def test_a_switch_that_is_off_is_in_the_title_behind_the_verdict(outcome: Outcome) -> None:
    plain = title_of(ended(outcome))
    assert title_of(ended(outcome, off=True)) == f"{plain} (advisor switched off)", "which roles: where there is room"


def test_an_empty_change_names_no_switch_because_nobody_would_be_asked() -> None:
    assert title_of(ended(Outcome.NOTHING_TO_REVIEW, off=True)) == title_of(ended(Outcome.NOTHING_TO_REVIEW))


def test_an_approval_that_nobody_verified_says_so_in_the_title() -> None:
    unverified = told(lambda world: world.agents.script(Role.POST_VERIFY, lost()))
    assert conclusion_of(unverified) == "success"
    assert title_of(unverified) == "Approved (degraded: not verified by the advisor)"
    assert heading_of(unverified).startswith(YELLOW)


def test_findings_are_counted_by_severity_the_worst_first_and_only_in_a_verdict() -> None:
    found: tuple[Severity, ...] = ("low", "critical", "low", "medium")
    titles = {outcome: title_of(ended(outcome), found) for outcome in Outcome}
    assert titles == {
        Outcome.NOTHING_TO_REVIEW: "Nothing to review: the change is empty",
        Outcome.APPROVED: "Approved, with findings: 1 critical, 1 medium, 2 low",
        Outcome.CHANGES_REQUESTED: "Changes requested: 1 critical, 1 medium, 2 low",
        Outcome.ESCALATED: "A person has to decide",
        Outcome.STOPPED: "The review did not run to its end",
    }
    assert title_of(ended(Outcome.APPROVED), ()) == "Approved"
