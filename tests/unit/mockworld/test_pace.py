"""MockWorld's agents can take their time by what they are asked."""

from review_advisor.agents.calls import AgentCall
from review_advisor.mockworld.agents import Line, confirm
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.review.events import CallEnded, Verified

SECONDS = {Role.PRE_FLIGHT: 20.0, Role.EXECUTOR: 60.0, Role.POST_VERIFY: 40.0}


def test_each_answer_takes_the_time_and_the_money_that_its_call_is_given() -> None:
    world = MockWorld()
    world.agents.script(Role.POST_VERIFY, confirm("a concern").taking(5))

    def pace(call: AgentCall, line: Line) -> Line:
        return line.taking(SECONDS[call.role]).costing(len(call.prompt) / 1_000_000)

    world.agents.pace = pace
    document = world.review()
    world.finish()

    calls = {event.role: event for event in document.events if isinstance(event, CallEnded)}
    assert {role: call.duration_seconds for role, call in calls.items()} == SECONDS
    assert all(call.usage.cost_usd == call.prompt_characters / 1_000_000 for call in calls.values())
    assert (document.ended_at - document.started_at).total_seconds() == sum(SECONDS.values())
    (judged,) = (event.judged.result for event in document.events if isinstance(event, Verified))
    assert [each.advisor_assessment for each in judged.disagreements] == ["a concern"]
