"""What a shadow is asked about the consults of a review, and what counts as a difference of advice."""

import json

from tests.scenarios.test_escalation import ATTRITION, under

from review_advisor.agents.answers import Guidance, RecommendedChange
from review_advisor.agents.calls import LostReason
from review_advisor.mockworld.agents import Line, approve, guidance, lost
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.shadow import advice_questions, changes_of


def consulted(advice: Line) -> MockWorld:
    world = under(MockWorld(), ATTRITION)
    world.agents.script(Role.EXECUTOR, approve().sure(0.5), approve(summary="sure"))
    world.agents.script(Role.MID_FLIGHT, advice)
    return world


def test_the_question_is_the_consults_own_packet_with_the_real_advice() -> None:
    world = consulted(guidance("look at the last row"))
    (question,) = advice_questions(world.review().events, Surface)
    assert question.packet in world.calls(Role.MID_FLIGHT)[0].prompt
    assert set(json.loads(question.packet)) == {"question", "context", "answers", "urgency"}
    assert question.real.action == "look at the last row"


def test_an_unanswered_consult_and_one_on_another_surface_are_no_question() -> None:
    assert advice_questions(consulted(lost(LostReason.TIMEOUT)).review().events, Surface) == ()
    assert advice_questions(consulted(guidance()).review().events, [Surface.ADR_REVIEW]) == ()


def test_words_order_and_what_is_kept_make_no_difference() -> None:
    lower = RecommendedChange(does="lower", finding="f1", severity="low", quote="a proof")
    verdict = RecommendedChange(does="change_verdict", verdict="approve")
    keep = RecommendedChange(does="keep", finding="f2")
    one = Guidance(action="one way", changes=(lower, verdict, keep))
    other = Guidance(action="another way", changes=(verdict, lower.model_copy(update={"quote": "another"})))
    assert changes_of(one) == changes_of(other) == ("change_verdict approve", "lower f1 low")
    assert changes_of(Guidance(action="none")) == ()
