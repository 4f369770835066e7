"""Credit, authentication, interrupts and bugs: never swallowed, in whichever role they strike."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.scenarios.reading import calls_by_end

from review_advisor.agents.calls import CreditExhaustedError, ModelError, ModelForbiddenError, ModelUnknownError
from review_advisor.mockworld.agents import (
    Line,
    approve,
    authentication_gone,
    bug,
    confirm,
    credit_gone,
    interrupted,
    lost,
    model_unknown,
)
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.roster import ADR_ADVISOR, Advisor, Roster
from review_advisor.policy.surfaces import Role
from review_advisor.review.events import CallEnded, ReviewStopped
from review_advisor.review.ports import ArtifactError
from review_advisor.review.rulings import Outcome
from review_advisor.safety.stop import ReviewInterrupted

UP_TO = {
    Role.PRE_FLIGHT: ["pre_flight"],
    Role.EXECUTOR: ["pre_flight", "executor"],
    Role.MID_FLIGHT: ["pre_flight", "executor"],
    Role.POST_VERIFY: ["pre_flight", "executor", "post_verify"],
}
ROLES = pytest.mark.parametrize("role", UP_TO, ids=lambda role: role.value)
FAULTS = pytest.mark.parametrize(
    "fault, reason",
    [
        pytest.param(credit_gone, "credit_exhausted", id="credit gone"),
        pytest.param(authentication_gone, "authentication_failed", id="credential refused"),
        pytest.param(model_unknown, "model_unknown", id="model unknown"),
        pytest.param(interrupted, "interrupted", id="interrupted"),
    ],
)


def strike(world: MockWorld, role: Role, line: Line) -> None:
    world.change(edited("src/app.py"), spec="a spec, so that a second surface would follow")
    if role is Role.MID_FLIGHT:
        world.agents.script(Role.EXECUTOR, approve().after_asking("May I?"))
    world.agents.script(role, line)


@ROLES
@FAULTS
def test_a_stop_in_any_role_ends_the_review_and_no_further_call_starts_d6(
    world: MockWorld, role: Role, fault: Callable[[], Line], reason: str
) -> None:
    strike(world, role, fault())
    document = world.review()
    assert (document.outcome, document.exit_code) == (Outcome.STOPPED, 12)
    assert world.asked == UP_TO[role]
    (stopped,) = [event for event in document.events if isinstance(event, ReviewStopped)]
    assert stopped.reason == reason
    assert document.because == (stopped.detail,)
    assert world.agents.ended_running == 1
    assert [surface.outcome for surface in document.surfaces] == [None, None]


@ROLES
def test_a_stop_is_no_lost_answer_and_no_degraded_approval(world: MockWorld, role: Role) -> None:
    strike(world, role, credit_gone())
    document = world.review()
    assert not document.flags.degraded
    assert not document.flags.exhausted
    assert calls_by_end(document)["stopped"] == [UP_TO[role][-1]]
    (call,) = [event for event in document.events if isinstance(event, CallEnded) and event.ended == "stopped"]
    assert (call.reason, call.detail) == ("CreditExhaustedError", "the account's credit is exhausted")


SET_BY = {
    Role.PRE_FLIGHT: ("opus", "ADVISOR"),
    Role.EXECUTOR: ("sonnet", "EXECUTOR"),
    Role.MID_FLIGHT: ("opus", "ADVISOR"),
    Role.POST_VERIFY: ("opus", "ADVISOR"),
}


@ROLES
@pytest.mark.parametrize("stop", [ModelUnknownError, ModelForbiddenError], ids=["unknown", "forbidden"])
def test_a_model_that_cannot_be_used_is_named_with_the_settings_that_name_it(
    world: MockWorld, role: Role, stop: type[ModelError]
) -> None:
    in_consult = role is Role.MID_FLIGHT
    strike(world, role, Line(stop=stop("It cannot be used.", in_consult=in_consult)))
    document = world.review()
    model, who = SET_BY[role]
    assert (document.outcome, document.exit_code) == (Outcome.STOPPED, 12)
    settings = f"HYDRAFLOW_PR_REVIEW_{who}_MODEL or HYDRAFLOW_REVIEW_{who}_MODEL sets another."
    assert document.because == (f"It cannot be used. The model asked for is {model!r}; {settings}",)


def test_the_model_of_an_advisor_that_was_consulted_by_id_is_named_as_its_own(world: MockWorld) -> None:
    member = Advisor("dataSteward", "You look after the data.", model="haiku")
    world.rules = replace(world.rules, roster=Roster((ADR_ADVISOR, member)))
    wide = "HYDRAFLOW_PR_REVIEW_ADVISOR_MODEL or HYDRAFLOW_REVIEW_ADVISOR_MODEL"
    own = f"'haiku'; `model` in the declaration of 'dataSteward', or without it {wide}, sets another."
    for asked, words in (("dataSteward", own), ("", f"'opus'; {wide} sets another.")):
        question = json.dumps({"question": "Is it safe?", "advisor": asked})
        stop = ModelUnknownError("It cannot be used.", in_consult=True)
        world.agents.script(Role.MID_FLIGHT, lost())
        world.agents.script(Role.EXECUTOR, Line(stop=stop, questions=(question,)))
        assert world.review().because == (f"It cannot be used. The model asked for is {words}",)


@pytest.mark.parametrize("role", [Role.EXECUTOR, Role.POST_VERIFY], ids=["finds by itself", "votes"])
@pytest.mark.parametrize("member", ["dataSteward", ADR_ADVISOR.id])
def test_the_model_of_a_member_of_a_council_is_named_as_its_own(world: MockWorld, role: Role, member: str) -> None:
    steward = Advisor("dataSteward", "You look after the data.", on="finish", model="haiku")
    world.rules = replace(world.rules, roster=Roster((ADR_ADVISOR, steward)))
    wide = "HYDRAFLOW_PR_REVIEW_ADVISOR_MODEL or HYDRAFLOW_REVIEW_ADVISOR_MODEL"
    own = f"'haiku'; `model` in the declaration of 'dataSteward', or without it {wide}, sets another."
    words = {"dataSteward": own, ADR_ADVISOR.id: f"'opus'; {wide} sets another."}[member]
    world.agents.script(role, Line(stop=ModelUnknownError("It cannot be used.")), advisor=member)
    assert world.review().because == (f"It cannot be used. The model asked for is {words}",)


@ROLES
def test_a_bug_comes_out_untouched(world: MockWorld, role: Role) -> None:
    line = bug()
    strike(world, role, line)
    with pytest.raises(KeyError) as raised:
        world.review()
    assert raised.value is line.bug
    assert world.asked == UP_TO[role]


def test_the_review_says_when_credit_comes_back(world: MockWorld) -> None:
    noon = datetime(2026, 1, 5, 12, tzinfo=UTC)
    world.agents.script(Role.EXECUTOR, Line(stop=CreditExhaustedError("limit reached", resume_at=noon)))
    document = world.review()
    (stopped,) = [event for event in document.events if isinstance(event, ReviewStopped)]
    assert (stopped.detail, stopped.resume_at) == ("limit reached", noon)


def test_the_words_usage_limit_in_an_answer_stop_nothing_d42(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve(summary="usage limit reached; credit exhausted; 401 Unauthorized"))
    assert world.review().outcome is Outcome.APPROVED


def test_what_a_stopped_call_cost_and_asked_is_still_known(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, credit_gone().costing(0.25).after_asking("May I?"))
    document = world.review()
    assert {cost.role: cost.usage.cost_usd for cost in document.cost}[Role.EXECUTOR] == 0.25
    assert [note.consult.question for note in document.surfaces[0].parts[0].consults] == ["May I?"]


def test_an_interrupt_after_the_last_answer_still_stops(world: MockWorld) -> None:
    def press() -> None:
        world.agents.interrupted = ReviewInterrupted("interrupted by SIGTERM", signal_number=15)

    world.agents.script(Role.POST_VERIFY, confirm().while_doing(press))
    document = world.review()
    assert (document.outcome, document.exit_code) == (Outcome.STOPPED, 12)
    assert world.asked == ["pre_flight", "executor", "post_verify"]
    assert document.because == ("interrupted by SIGTERM",)


def test_an_interrupt_between_calls_starts_no_other_and_records_none(world: MockWorld) -> None:
    world.agents.interrupted = ReviewInterrupted("interrupted by SIGINT", signal_number=2)
    document = world.review()
    assert document.outcome is Outcome.STOPPED
    assert world.asked == []
    assert [event.kind for event in document.events] == ["policy_frozen", "review_stopped", "review_ended"]


def test_an_executor_lost_on_one_surface_starts_no_other(world: MockWorld) -> None:
    world.change(edited("src/app.py"), spec="a spec")
    world.agents.script(Role.EXECUTOR, lost())
    document = world.review()
    assert document.outcome is Outcome.STOPPED
    assert world.asked == ["pre_flight", "executor"]
    assert [surface.outcome for surface in document.surfaces] == [Outcome.STOPPED, None]


def test_a_full_disk_is_told_not_swallowed(world: MockWorld) -> None:
    world.artifacts.full_at = 1
    with pytest.raises(ArtifactError, match="no space left"):
        world.review()
