"""A picture is read once whoever judges it has opened its crops: what nobody opened is never approved, and named."""

from dataclasses import replace

import pytest
from tests.scenarios.test_visual_gate import CROP, LOGIN, VISUAL, with_pictures

from review_advisor.agents.calls import LostReason
from review_advisor.mockworld.agents import Line, approve, confirm, garbage, lost, picture, picture_differs, veto, vote
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.outage_rules import OutageRules
from review_advisor.policy.roster import ADR_ADVISOR, Advisor, Roster
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import CallEnded
from review_advisor.review.report import report_text
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound

BEFORE = f"{LOGIN}-1-before.png"
OTHER = "shots/other.png-1-after.png"
JUDGE_OFF = "HYDRAFLOW_VISUAL_GATE_ADVISOR_ENABLED"


def judged(executor: Line, judge: Line | None, *switches: str) -> OutcomeDocument:
    world = MockWorld()
    with_pictures(world, picture_differs(LOGIN), picture("shots/same.png", "identical"))
    world.agents.script(Role.EXECUTOR, executor, surface=VISUAL)
    if judge is not None:
        world.agents.script(Role.POST_VERIFY, judge, surface=VISUAL)
    for switch in switches:
        world.switch(switch, "off")
    document = world.review()
    assert unsound(document.events) is None
    return document


def is_named_as_unread(document: OutcomeDocument) -> bool:
    (login,) = (each for each in document.coverage if each.path == LOGIN)
    named = any(words.startswith(f"{LOGIN} was not read: ") for words in document.because)
    return document.outcome is Outcome.ESCALATED and login.read == "not" and named


UNREAD = {
    "nobody opens any": (approve().opening(), confirm().opening()),
    "the judge opens none": (approve(), confirm().opening()),
    "the judge opens one side": (approve(), confirm().opening(BEFORE)),
    "the judge opens another picture": (approve(), confirm().opening(OTHER, "shots/login.png")),
    "the judge is lost to an outage, the executor opens none": (approve().opening(), lost(LostReason.SERVER_ERROR)),
    "the judge is lost to an outage, the executor opens one side": (
        approve().opening(CROP),
        lost(LostReason.SERVER_ERROR),
    ),
}


@pytest.mark.parametrize("case", UNREAD)
def test_a_picture_that_its_judge_did_not_open_is_not_approved(case: str) -> None:
    document = judged(*UNREAD[case])
    assert is_named_as_unread(document)
    assert "1 of them as pictures" in report_text(document), "the identical pair is read without a model"


def test_without_a_judge_the_executor_has_to_open_it() -> None:
    assert is_named_as_unread(judged(approve().opening(), None, JUDGE_OFF))
    assert judged(approve(), None, JUDGE_OFF).outcome is Outcome.APPROVED


def test_a_judge_that_opened_every_crop_may_approve_what_the_executor_did_not_open() -> None:
    document = judged(approve().opening(), confirm().opening(BEFORE, CROP, "more.png"))
    assert document.outcome is Outcome.APPROVED


def test_a_veto_of_a_judge_that_opened_nothing_is_still_a_veto() -> None:
    document = judged(approve(), veto("it looks wrong").opening())
    assert is_named_as_unread(document)
    assert "vetoed on a one-shot surface" in document.because[0]


@pytest.mark.parametrize("blind", ["", "security"])
def test_each_member_of_a_council_has_to_open_it(blind: str) -> None:
    world = MockWorld()
    members = (ADR_ADVISOR, Advisor(id="security", persona="security", on="finish"))
    world.rules = replace(world.rules, roster=Roster(members))
    with_pictures(world, picture_differs(LOGIN))
    if blind:
        world.agents.script(Role.EXECUTOR, approve().opening(), surface=VISUAL, advisor=blind)
        world.agents.script(Role.POST_VERIFY, vote(90).opening(), surface=VISUAL, advisor=blind)
    document = world.review()
    assert unsound(document.events) is None
    assert is_named_as_unread(document) if blind else document.outcome is Outcome.APPROVED


def test_an_outcome_that_hides_what_was_not_opened_is_not_believed() -> None:
    document = judged(approve(), confirm())
    forged = tuple(
        replace(each, opened=()) if isinstance(each, CallEnded) and each.role is Role.POST_VERIFY else each
        for each in document.events
    )
    assert unsound(forged) == "the end of a part does not follow from its events"


@pytest.mark.parametrize("role", [Role.EXECUTOR, Role.POST_VERIFY])
@pytest.mark.parametrize(
    "first, repaired, is_read",
    [
        (garbage(), confirm().opening(), True),
        (garbage().opening(BEFORE), confirm().opening(CROP), True),
        (garbage().opening(BEFORE), confirm().opening(), False),
        (lost(LostReason.RATE_LIMITED), confirm().opening(), False),
    ],
)
def test_what_a_reviewer_opened_counts_when_its_unusable_reply_is_repaired(
    role: Role, first: Line, repaired: Line, *, is_read: bool
) -> None:
    """A reply that fails its schema is asked for once more: the pictures of that call were seen all the same."""
    world = MockWorld()
    world.rules = replace(world.rules, outage=OutageRules(0.0, (), 1))
    with_pictures(world, picture_differs(LOGIN))
    if role is Role.EXECUTOR:
        world.switch(JUDGE_OFF, "off")
        repaired = replace(approve(), opens=repaired.opens)
    world.agents.script(role, first, repaired, surface=VISUAL)
    document = world.review()
    assert unsound(document.events) is None
    assert document.outcome is Outcome.APPROVED if is_read else is_named_as_unread(document)
