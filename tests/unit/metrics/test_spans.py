"""A review as a trace: what each span says, what it costs, and what it never tells."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from review_advisor.agents.calls import LostReason
from review_advisor.ledger.telemetry import Span, review_span
from review_advisor.mockworld.agents import Line, approve, confirm, finding, garbage, guidance, lost, plan, veto
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import REVIEW_ROLES, Role
from review_advisor.review.document import OutcomeDocument, outcome_document
from review_advisor.review.events import CallEnded, Consulted, Event
from review_advisor.safety.stop import ModelUsage, Usage

EXECUTORS = Usage(100, 20, 1000, 50, 0.25)
ADVISORS = Usage(7, 5, 0, 0, 0.5)


def every(span: Span) -> Iterator[Span]:
    yield span
    for child in span.children:
        yield from every(child)


def of(root: Span, role: Role) -> list[Span]:
    """The spans of one role, in order."""
    return [span for span in every(root) if span.attributes.get("review_advisor.role") == role.value]


def a_consulted_review() -> OutcomeDocument:
    """A planned review with one consult, a veto and a retry, at prices that the CLI reported for each model."""
    world = MockWorld()
    world.change(edited("src/auth/login.py"))
    world.agents.script(Role.EXECUTOR, approve().after_asking("Is it sound?"))
    world.agents.script(Role.EXECUTOR, approve(finding("src/auth/login.py", 1, "value = 1", "low")))
    world.agents.script(Role.MID_FLIGHT, guidance("look at the key"))
    world.agents.script(Role.POST_VERIFY, veto("the key is short"), confirm())
    document = world.review()
    return outcome_document([priced(event) for event in document.events])


def priced(event: Any) -> Any:
    """An executor's first call with what two models used in it."""
    if not isinstance(event, CallEnded) or event.role is not Role.EXECUTOR or event.attempt > 0:
        return event
    by_model = (ModelUsage("sonnet-5", EXECUTORS), ModelUsage("opus-5", ADVISORS))
    total = Usage(107, 25, 1000, 50, 0.75)
    return replace(event, resolved_model="sonnet-5", session_id="a-session", usage=total, by_model=by_model)


def test_the_review_is_one_span_with_its_calls_inside() -> None:
    root = review_span(a_consulted_review())
    assert (root.name, root.kind) == ("invoke_workflow review-advisor", "internal")
    assert root.attributes["gen_ai.operation.name"] == "invoke_workflow"
    assert [span.attributes["review_advisor.role"] for span in root.children] == [
        "pre_flight",
        "executor",
        "post_verify",
        "executor",
        "post_verify",
    ]
    assert [span.attributes["review_advisor.attempt"] for span in root.children] == [0, 0, 0, 1, 1]
    (asked,) = root.children[1].children
    assert asked.attributes["review_advisor.role"] == "mid_flight"


def test_the_review_says_what_came_of_it_and_which_change_it_was() -> None:
    world = MockWorld()
    world.source.stated = replace(world.source.stated, repository="octo/hello", pull_request=7)
    attributes = review_span(world.review()).attributes
    assert attributes["review_advisor.outcome"] == "approved"
    assert attributes["review_advisor.exit_code"] == 0
    assert {name: value for name, value in attributes.items() if name.startswith("vcs.")} == {
        "vcs.owner.name": "octo",
        "vcs.repository.name": "hello",
        "vcs.change.id": "7",
        "vcs.ref.base.revision": world.source.stated.base_sha,
        "vcs.ref.head.revision": "a" * 40,
    }


def test_a_change_without_a_name_of_its_own_has_none_here() -> None:
    world = MockWorld()
    world.source.stated = replace(world.source.stated, base_sha=None, head_sha=None)
    assert [name for name in review_span(world.review()).attributes if name.startswith("vcs.")] == []


def test_a_span_begins_and_ends_with_its_call() -> None:
    world = MockWorld()
    world.agents.script(Role.PRE_FLIGHT, plan().taking(40))
    world.agents.script(Role.EXECUTOR, approve().taking(200))
    document = world.review()
    root = review_span(document)
    assert (root.start, root.end) == (document.started_at, document.ended_at)
    took = [(span.end - span.start) / timedelta(seconds=1) for span in root.children]
    assert took == [40, 200, 1]
    assert root.children[0].end == root.children[1].start


def test_a_question_that_is_asked_again_is_two_spans_one_after_the_other() -> None:
    world = MockWorld()
    world.agents.script(Role.PRE_FLIGHT, garbage().taking(5), plan().taking(7))
    first, second = of(review_span(world.review()), Role.PRE_FLIGHT)
    assert (first.failed, first.attributes["error.type"]) == (True, "invalid_answer")
    assert (second.failed, "error.type" in second.attributes) == (False, False)
    assert [(span.end - span.start).seconds for span in (first, second)] == [5, 7]
    assert first.end == second.start


def test_a_diff_that_is_judged_alone_first_is_a_call_of_its_own() -> None:
    world = MockWorld()
    world.rules = replace(world.rules, metadata_blind=True)
    world.agents.script(Role.EXECUTOR, approve(summary="by the diff").taking(3), approve(summary="by all of it"))
    alone, told = of(review_span(world.review(), with_content=True), Role.EXECUTOR)
    assert (alone.attributes["review_advisor.blind"], told.attributes["review_advisor.blind"]) == (True, False)
    assert (alone.end - alone.start, alone.end) == (timedelta(seconds=3), told.start)
    assert "by the diff" in str(alone.attributes["gen_ai.output.messages"])
    assert "by all of it" in str(told.attributes["gen_ai.output.messages"])


def test_a_call_that_was_never_made_is_no_span() -> None:
    world = MockWorld()
    world.rules = replace(world.rules, max_usd=1.0)
    world.agents.script(Role.EXECUTOR, approve().costing(1.0))
    assert of(review_span(world.review()), Role.POST_VERIFY) == []


def test_a_clock_that_was_set_back_makes_no_span_end_before_it_began() -> None:
    world = MockWorld()
    back = timedelta(hours=1)
    world.agents.script(Role.EXECUTOR, approve().while_doing(lambda: setattr(world.clock, "moment", noon - back)))
    noon = world.clock.moment
    assert all(span.start <= span.end for span in every(review_span(world.review())))


# --- models, tokens and money ------------------------------------------------------------------------------------


def test_a_call_names_its_models_session_place_and_end_d30() -> None:
    (call, _) = of(review_span(a_consulted_review()), Role.EXECUTOR)
    assert (call.name, call.kind, call.failed) == ("chat sonnet", "client", False)
    told = dict(call.attributes)
    assert told == told | {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.agent.name": "executor",
        "gen_ai.request.model": "sonnet",
        "gen_ai.response.model": "sonnet-5",
        "gen_ai.conversation.id": "a-session",
        "review_advisor.surface": "pr_review",
        "review_advisor.attempt": 0,
        "review_advisor.shard": 0,
        "review_advisor.ended": "answered",
    }


def test_a_call_with_tools_invokes_an_agent_and_so_do_its_consults() -> None:
    document = a_consulted_review()
    with_tools = [replace(each, tools=True) if isinstance(each, CallEnded) else each for each in document.events]
    root = review_span(outcome_document(with_tools))
    for role in (Role.EXECUTOR, Role.MID_FLIGHT, Role.POST_VERIFY):
        for span in of(root, role):
            assert span.name == f"invoke_agent {role.value}"
            assert span.attributes["gen_ai.operation.name"] == "invoke_agent"
            assert span.attributes["gen_ai.agent.name"] == role.value


def test_only_a_call_that_is_given_the_tree_has_tools(tmp_path: Path) -> None:
    world = MockWorld()
    world.change(edited("src/auth/login.py"))
    world.source.tree = tmp_path
    spans = {role: of(review_span(world.review()), role) for role in REVIEW_ROLES}
    names = {role: {span.name.partition(" ")[0] for span in its} for role, its in spans.items()}
    assert names[Role.PRE_FLIGHT] == {"chat"}
    assert names[Role.EXECUTOR] == names[Role.POST_VERIFY] == {"invoke_agent"}


def test_tokens_that_nobody_reported_are_absent_and_not_0() -> None:
    document = a_consulted_review()
    silent = [
        replace(each, usage=Usage(), by_model=()) if isinstance(each, CallEnded) else each for each in document.events
    ]
    for span in every(review_span(outcome_document(silent))):
        assert [name for name in span.attributes if name.startswith("gen_ai.usage.")] == []
    free = [
        replace(each, usage=Usage(cost_usd=0.0), by_model=()) if isinstance(each, CallEnded) else each
        for each in document.events
    ]
    (first, _) = of(review_span(outcome_document(free)), Role.EXECUTOR)
    assert first.attributes["gen_ai.usage.output_tokens"] == 0, "the embedded agent says so"


def test_what_came_from_a_cache_is_input_too() -> None:
    (call, _) = of(review_span(a_consulted_review()), Role.EXECUTOR)
    usage = {name: value for name, value in call.attributes.items() if name.startswith("gen_ai.usage.")}
    assert usage == {
        "gen_ai.usage.input_tokens": 1150,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.cache_read.input_tokens": 1000,
        "gen_ai.usage.cache_creation.input_tokens": 50,
        "gen_ai.usage.cost": 0.25,
    }


def test_what_the_advisor_used_within_a_call_is_the_advisors_d32() -> None:
    (asked,) = of(review_span(a_consulted_review()), Role.MID_FLIGHT)
    assert (asked.name, asked.attributes["review_advisor.consults"]) == ("chat opus-5", 1)
    assert (asked.attributes["gen_ai.usage.output_tokens"], asked.attributes["gen_ai.usage.cost"]) == (5, 0.5)


def test_what_consults_of_the_executors_own_model_used_is_told_once_and_their_cost_with_the_executor() -> None:
    def one_model(event: Event) -> Event:
        if not isinstance(event, CallEnded) or event.role is not Role.EXECUTOR or event.attempt > 0:
            return event
        total = (ModelUsage("opus-5", Usage(107, 25, 1000, 50, 0.75)),)
        return replace(event, resolved_model="opus-5", by_model=total, own=Usage(100, 20), consulted=("opus-5",))

    root = review_span(outcome_document([one_model(event) for event in a_consulted_review().events]))
    (call, _), (asked,) = of(root, Role.EXECUTOR), of(root, Role.MID_FLIGHT)
    assert (call.attributes["gen_ai.usage.output_tokens"], call.attributes["gen_ai.usage.cost"]) == (20, 0.75)
    assert (asked.name, asked.attributes["gen_ai.usage.output_tokens"]) == ("chat opus-5", 5)
    assert asked.attributes["gen_ai.usage.cache_read.input_tokens"] == 1000
    assert "gen_ai.usage.cost" not in asked.attributes


def test_consults_take_as_long_as_all_of_them_or_it_is_not_told() -> None:
    def took(*lines: Line) -> object:
        world = MockWorld()
        world.agents.script(Role.EXECUTOR, approve().after_asking(*("?" for _ in lines)))
        world.agents.script(Role.MID_FLIGHT, *lines)
        (asked,) = of(review_span(world.review()), Role.MID_FLIGHT)
        return asked.attributes.get("review_advisor.consults.duration_ms")

    quick, slow = replace(guidance(), seconds=0.5), replace(guidance(), seconds=2.0)
    assert took(quick, slow) == 2_500
    assert took(quick, lost()) is None


def test_every_dollar_and_token_is_told_once_with_run_surface_and_role_d32() -> None:
    document = a_consulted_review()
    cost: defaultdict[str, float] = defaultdict(float)
    tokens: defaultdict[str, int] = defaultdict(int)
    for span in every(review_span(document)):
        told = span.attributes
        assert told["review_advisor.run_id"] == document.run_id
        if "gen_ai.usage.output_tokens" in told:
            assert told["review_advisor.surface"] == "pr_review"
            cost[str(told["review_advisor.role"])] += float(told.get("gen_ai.usage.cost", 0))
            tokens[str(told["review_advisor.role"])] += int(told["gen_ai.usage.output_tokens"])
    expected: defaultdict[str, float] = defaultdict(float)
    for row in document.cost:
        expected[row.role.value] += row.usage.cost_usd or 0.0
    assert dict(cost) == dict(expected)
    assert sum(tokens.values()) == sum(row.usage.output_tokens for row in document.cost)


def test_what_an_earlier_run_paid_is_not_told_again() -> None:
    document = a_consulted_review()
    kept = [replace(event, kept=True) if isinstance(event, CallEnded) else event for event in document.events]
    for span in every(review_span(outcome_document(kept))):
        assert [name for name in span.attributes if name.startswith("gen_ai.usage.")] == []
        assert span.attributes.get("review_advisor.kept", True) is True


def test_a_cost_that_nobody_reported_is_not_told() -> None:
    world = MockWorld()
    world.agents.script(Role.EXECUTOR, approve().costing(None))
    (call,) = of(review_span(world.review()), Role.EXECUTOR)
    assert "gen_ai.usage.cost" not in call.attributes


def test_consults_whose_use_nobody_reported_are_told_without_it() -> None:
    world = MockWorld()
    world.agents.script(Role.EXECUTOR, approve().after_asking("one?", "two?"))
    world.agents.script(Role.MID_FLIGHT, lost(LostReason.CRASH))
    (asked,) = of(review_span(world.review()), Role.MID_FLIGHT)
    assert asked.attributes["review_advisor.consults"] == 2
    assert [name for name in asked.attributes if name.startswith("gen_ai.usage.")] == []


def test_a_consult_that_was_lost_does_not_hide_the_model_that_answered_the_next_one() -> None:
    world = MockWorld()
    world.agents.script(Role.EXECUTOR, approve().after_asking("one?", "two?"))
    world.agents.script(Role.MID_FLIGHT, lost(LostReason.CRASH), guidance("look at the key"))
    document = world.review()
    notes = [event.note for event in document.events if isinstance(event, Consulted)]
    assert (notes[0].resolved_model, bool(notes[1].resolved_model)) == ("", True)
    (asked,) = of(review_span(document), Role.MID_FLIGHT)
    assert asked.attributes["gen_ai.response.model"] == notes[1].resolved_model


# --- content -----------------------------------------------------------------------------------------------------


CONTENT = ("gen_ai.input.messages", "gen_ai.output.messages")


def test_nothing_that_was_said_is_told_unless_it_is_asked_for() -> None:
    told = [name for span in every(review_span(a_consulted_review())) for name in span.attributes]
    assert not set(told) & {*CONTENT, "gen_ai.system_instructions"}
    assert "Is it sound?" not in repr(review_span(a_consulted_review()))
    assert "the key is short" not in repr(review_span(a_consulted_review()))


@pytest.mark.parametrize(
    "role, said",
    [
        (Role.PRE_FLIGHT, "risk_summary"),
        (Role.EXECUTOR, "looks right"),
        (Role.MID_FLIGHT, "look at the key"),
        (Role.POST_VERIFY, "the key is short"),
    ],
)
def test_what_a_model_answered_is_told_when_it_is_asked_for(role: Role, said: str) -> None:
    answer = of(review_span(a_consulted_review(), with_content=True), role)[0].attributes["gen_ai.output.messages"]
    (message,) = json.loads(str(answer))
    assert (message["role"], message["finish_reason"]) == ("assistant", "stop")
    assert said in message["parts"][0]["content"]


def test_a_consults_question_is_told_when_it_is_asked_for_and_a_prompt_never_is() -> None:
    root = review_span(a_consulted_review(), with_content=True)
    asked = {span.attributes["review_advisor.role"] for span in every(root) if CONTENT[0] in span.attributes}
    assert asked == {"mid_flight"}
    (consult,) = of(root, Role.MID_FLIGHT)
    assert json.loads(str(consult.attributes[CONTENT[0]])) == [
        {"role": "user", "parts": [{"type": "text", "content": "Is it sound?"}]}
    ]


def test_what_is_told_holds_no_secret_of_the_harness() -> None:
    world = MockWorld()
    world.switch("DEPLOY_TOKEN", "correct-horse-battery-1")
    world.agents.script(Role.EXECUTOR, approve(summary="it uses correct-horse-battery-1").after_asking("battery-1?"))
    world.agents.script(Role.MID_FLIGHT, guidance("revoke correct-horse-battery-1"))
    told = repr(review_span(world.review(), with_content=True))
    assert "it uses" in told
    assert "correct-horse" not in told
