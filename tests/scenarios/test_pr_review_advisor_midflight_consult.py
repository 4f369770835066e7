import json
from dataclasses import replace

import pytest
from tests.scenarios.reading import own_words, shown

from review_advisor.mockworld.agents import approve, finding, guidance, lost, veto
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import answer_notes, spent
from review_advisor.review.events import CallEnded
from review_advisor.review.report import report_text
from review_advisor.review.rulings import Outcome

QUESTION = json.dumps(
    {"question": "May seven repeat?", "context": "value = 7", "options": ["yes", "no"], "urgency": "high"}
)


def test_a_stuck_executor_asks_and_goes_on(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve().after_asking(QUESTION))
    world.agents.script(Role.MID_FLIGHT, guidance("seven may repeat"))
    document = world.review()
    assert document.outcome is Outcome.APPROVED
    assert world.asked == ["pre_flight", "executor", "post_verify"]
    assert world.consulted == [QUESTION]
    (note,) = document.surfaces[0].parts[0].consults
    assert (note.consult.question, note.consult.options, note.consult.urgency) == (
        "May seven repeat?",
        ("yes", "no"),
        "high",
    )
    assert note.guidance is not None
    assert (note.status, note.guidance.action, note.wrapped) == ("answered", "seven may repeat", False)
    assert note.resolved_model == "opus"


@pytest.mark.parametrize("words, told", [(80, False), (81, True)])
def test_advice_that_is_longer_than_asked_reaches_the_executor_whole_and_is_told(
    world: MockWorld, words: int, *, told: bool
) -> None:
    """The CLI hands its sub-agent's answer to the executor itself: it cannot be cut on the way."""
    world.agents.script(Role.EXECUTOR, approve().after_asking(QUESTION))
    world.agents.script(
        Role.MID_FLIGHT, replace(guidance(), answer={"action": "look again", "rationale": "word " * words})
    )
    document = world.review()
    (note,) = document.surfaces[0].parts[0].consults
    assert note.guidance is not None
    assert len(note.guidance.rationale.split()) == words
    says = f"pr_review/mid_flight: the rationale has {words} words of 80, and all were given"
    assert (says in " ".join(report_text(document).split())) is told
    assert (says in answer_notes(document)) is told


@pytest.mark.parametrize("executor", ["sonnet", "opus"])
def test_what_consults_use_is_counted_apart_from_what_the_executor_uses(world: MockWorld, executor: str) -> None:
    world.switch("HYDRAFLOW_REVIEW_EXECUTOR_MODEL", executor)
    world.agents.script(Role.EXECUTOR, replace(approve(), output_tokens=700).after_asking("one?", "two?"))
    world.agents.script(Role.MID_FLIGHT, *(replace(guidance(), output_tokens=90) for _ in range(2)))
    used = spent(event for event in world.review().events if isinstance(event, CallEnded))
    assert (used.executor_tokens, used.consult_tokens, used.advisor_tokens) == (700, 180, 180)


def test_every_consult_carries_the_runs_sentinel_and_is_granted_not_trusted_d27(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve().after_asking(QUESTION))
    world.review()
    ((_, grant),) = world.agents.consulted
    sentinel = "nonce=nonce0001 surface=pr_review run=run-1 attempt=0"
    assert grant.sentinel == f"<!-- HYDRAFLOW_MIDFLIGHT_CONSULT_PROMPT_v1 {sentinel} -->"
    assert (grant.subagent_type, grant.advisor_model) == ("hydraflow-review-advisor", "opus")
    assert grant.advisor_prompt == "[hydraflow-review-advisor]\n\n[mid_flight]"


def test_the_executor_is_told_how_to_consult_and_when_not_to(world: MockWorld) -> None:
    world.review()
    (executor,) = world.calls(Role.EXECUTOR)
    assert (
        'up to 5 times in the whole review, with the Agent tool (subagent_type "hydraflow-review-advisor")'
        in own_words(executor)
    )
    assert world.calls(Role.POST_VERIFY)[0].consults is None


def test_the_advisors_model_is_what_the_settings_say_not_what_a_prompt_says_d27(world: MockWorld) -> None:
    world.switch("HYDRAFLOW_PR_REVIEW_ADVISOR_MODEL", "opus-next")
    world.agents.script(Role.EXECUTOR, approve().after_asking("Really?"))
    document = world.review()
    assert world.agents.consulted[0][1].advisor_model == "opus-next"
    assert document.surfaces[0].parts[0].consults[0].resolved_model == "opus-next"


def test_a_lost_consult_leaves_the_executor_to_its_own_judgement(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve().after_asking(QUESTION))
    world.agents.script(Role.MID_FLIGHT, lost())
    document = world.review()
    assert document.outcome is Outcome.APPROVED
    assert not document.flags.degraded
    (note,) = document.surfaces[0].parts[0].consults
    assert (note.status, note.guidance, note.reason) == ("failed", None, "scripted: crash")


def test_a_retry_is_told_what_was_asked_and_answered_before(world: MockWorld) -> None:
    noted = finding("src/app.py", 7, "value = 7", severity="low")
    world.agents.script(Role.EXECUTOR, approve().after_asking(QUESTION), approve(noted))
    world.agents.script(Role.MID_FLIGHT, guidance("seven may repeat"))
    world.agents.script(Role.POST_VERIFY, veto("seven repeats"))
    world.review()
    first, second = world.calls(Role.EXECUTOR)
    assert "GUIDANCE" not in first.prompt
    (told,) = json.loads(shown(second, "GUIDANCE"))
    assert told["consult"]["question"] == "May seven repeat?"
    assert told["guidance"]["action"] == "seven may repeat"
    assert (told["tokens"], told["duration_ms"]) == (None, None), (
        "a question does not depend on how long an answer took"
    )
    assert "seven may repeat" not in own_words(second)
    assert second.consults is not None
    assert "attempt=1" in second.consults.sentinel


@pytest.mark.parametrize("words", ["stop here", "call a human"])
def test_the_advisors_stop_signal_calls_a_human_before_any_judgement(world: MockWorld, words: str) -> None:
    world.agents.script(Role.EXECUTOR, approve().after_asking(QUESTION))
    world.agents.script(Role.MID_FLIGHT, guidance(words, stop=True))
    document = world.review()
    assert (document.outcome, document.exit_code) == (Outcome.ESCALATED, 11)
    assert document.because == (f"the advisor asked to stop: {words}",)
    assert world.asked == ["pre_flight", "executor"]
    assert not document.flags.exhausted
