"""Whole reviews with the real CLI in which the executor consults its advisor, or tries to misuse it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.e2e.review_answers import CODE_FILE, code, confirm, guidance, report, veto
from tests.e2e.review_world import EXECUTOR, MID_FLIGHT, POST_VERIFY, PRE_FLIGHT, ReviewWorld, fences, nonce_of
from tests.e2e.stub_api import Reply, consult, consult_block, error, forever, several, structured, text, tool_use

from review_advisor.review.rulings import Outcome
from review_advisor.safety.fence import fenced

APPROVED, ESCALATED = (Outcome.APPROVED, 0), (Outcome.ESCALATED, 11)
CRITICAL_FILE = "src/auth/login.py"
FAULT = error(400, "invalid_request_error", "messages.0: bad thing")


def question(words: str, **more: Any) -> str:
    """A consult in the asked form."""
    return json.dumps({"question": words, "context": "x = 1", "options": ["A", "B"], **more})


def six(*, at_once: bool) -> list[Reply]:
    """Six consults: in one message, or one after the other."""
    if at_once:
        return [several(*(consult_block(f"Question {number}?") for number in range(6)))]
    return [consult(f"Question {number}?") for number in range(6)]


def statuses(world_consults: tuple[Any, ...]) -> list[str]:
    return sorted(note.status for note in world_consults)


@pytest.fixture
def small(world: ReviewWorld) -> ReviewWorld:
    """A world with a change that needs no plan."""
    world.change({CODE_FILE: code(3)})
    return world


def test_an_answer_reaches_the_executor_and_the_record(small: ReviewWorld) -> None:
    """D27: the question and the guidance are events, not fiction."""
    small.says(EXECUTOR, consult(question("A or B?")), report())
    small.says(MID_FLIGHT, guidance("Choose B.", risk_flags=["irreversible"]))
    small.says(POST_VERIFY, confirm())
    done = small.review()
    assert done.end == APPROVED
    assert small.asked == ["executor", "mid_flight", "executor", "post_verify"]
    (asked,) = small.of(MID_FLIGHT)
    sentinel, _, prompt = asked.prompt.partition("\n")
    assert f"nonce={nonce_of(small.of(EXECUTOR)[0])} surface=pr_review" in sentinel
    asked_inside = fenced(prompt, "QUESTION", nonce_of(small.of(EXECUTOR)[0]))
    assert asked_inside is not None
    assert json.loads(asked_inside)["question"] == "A or B?"
    assert "Choose B." in small.of(EXECUTOR)[1].tool_results[0]
    (note,) = done.consults
    assert (note.status, note.wrapped, note.resolved_model) == ("answered", False, "claude-opus-5-5")
    assert (note.consult.question, note.consult.options) == ("A or B?", ("A", "B"))
    assert note.guidance is not None
    assert (note.guidance.action, note.guidance.risk_flags) == ("Choose B.", ("irreversible",))
    assert note.tokens == 120  # as the scripted API counts one request: 100 in, 20 out
    assert note.duration_ms is not None
    assert note.duration_ms > 0
    costs = {(cost.role.value, cost.model) for cost in done.document.cost}
    assert {("mid_flight", "claude-opus-5-5"), ("executor", "claude-sonnet-5-5")} <= costs


def test_an_advisor_that_has_read_a_file_is_heard_and_its_tokens_are_unknown(small: ReviewWorld) -> None:
    """The CLI then puts a note of its own before the answer, and counts the last request alone."""
    small.says(EXECUTOR, consult(question("A or B?")), report())
    small.says(MID_FLIGHT, several(tool_use("Read", file_path=CODE_FILE)), guidance("Choose B.", risk_flags=["late"]))
    small.says(POST_VERIFY, confirm())
    done = small.review()
    assert done.end == APPROVED
    assert len(small.of(MID_FLIGHT)) == 2
    (note,) = done.consults
    assert note.guidance is not None
    assert (note.guidance.action, note.guidance.risk_flags, note.wrapped) == ("Choose B.", ("late",), False)
    assert note.tokens is None
    assert note.duration_ms is not None
    (cost,) = [cost for cost in done.document.cost if cost.role.value == "mid_flight"]
    assert (cost.usage.input_tokens, cost.usage.output_tokens) == (200, 40)


def test_guidance_in_plain_words_is_guidance(small: ReviewWorld) -> None:
    small.says(EXECUTOR, consult("A or B?"), report())
    small.says(MID_FLIGHT, text('Choose B. {"stop_signal": false}'))
    small.says(POST_VERIFY, confirm())
    done = small.review()
    assert done.end == APPROVED
    (note,) = done.consults
    assert note.wrapped
    assert note.guidance is not None
    assert note.guidance.action.startswith("Choose B.")


def test_a_retry_is_told_what_was_asked_and_answered_before(small: ReviewWorld) -> None:
    small.says(EXECUTOR, consult(question("A or B?")), report(), report("approve", "rounding"))
    small.says(MID_FLIGHT, guidance("Choose B."))
    small.says(POST_VERIFY, veto(), confirm())
    assert small.review().end == APPROVED
    (noted,) = json.loads(fences(small.of(EXECUTOR)[-1])["GUIDANCE"])
    assert noted["consult"]["question"] == "A or B?"
    assert noted["guidance"]["action"] == "Choose B."


@pytest.mark.parametrize("model", ["opus", "claude-opus-5-5"])
def test_with_one_model_for_both_roles_consults_are_told_apart_from_the_executor(
    small: ReviewWorld, model: str
) -> None:
    small.models[EXECUTOR] = "claude-opus-5-5"
    small.says(EXECUTOR, *(consult(question(f"Question {number}?")) for number in range(5)), report())
    small.says(MID_FLIGHT, *(guidance("Choose B.") for _ in range(5)))
    small.says(POST_VERIFY, confirm())
    done = small.review(environ={"HYDRAFLOW_REVIEW_EXECUTOR_MODEL": model})
    assert done.end == APPROVED
    costs = {cost.role: cost for cost in done.document.cost}
    assert {cost.model for cost in costs.values()} == {"claude-opus-5-5"}
    executor, consults = costs[EXECUTOR], costs[MID_FLIGHT]
    assert (executor.calls, executor.usage.input_tokens, executor.usage.output_tokens) == (1, 600, 120)
    assert (consults.calls, consults.usage.input_tokens, consults.usage.output_tokens) == (5, 500, 100)
    assert (consults.usage.cost_usd, executor.shared, consults.shared) == (None, True, True)
    (row,) = [line for line in (done.folder / "report.txt").read_text().splitlines() if "  mid_flight " in line]
    assert " 5 consults " in row
    assert row.endswith("  cost counted with the executor")


# --- the cap ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("at_once", [False, True], ids=["one by one", "in one message"])
def test_of_six_consults_five_reach_the_advisor(small: ReviewWorld, at_once: bool) -> None:
    """D27: the cap is enforced, not asked for."""
    small.says(EXECUTOR, *six(at_once=at_once), report())
    small.says(MID_FLIGHT, forever(guidance()))
    small.says(POST_VERIFY, confirm())
    done = small.review()
    assert done.end == APPROVED
    assert len(small.of(MID_FLIGHT)) == 5
    assert statuses(done.consults) == ["answered"] * 5 + ["denied"]
    refusals = [result for result in small.of(EXECUTOR)[-1].tool_results if "All 5 consults" in result]
    assert len(refusals) == 1


def test_the_cap_is_shared_by_the_attempts_of_a_review(small: ReviewWorld) -> None:
    """D27: a veto buys no new consults."""
    three = several(*(consult_block(f"Question {number}?") for number in range(3)))
    small.says(EXECUTOR, three, report(), three, report("approve", "rounding"))
    small.says(MID_FLIGHT, forever(guidance()))
    small.says(POST_VERIFY, veto(), confirm())
    done = small.review()
    assert done.end == APPROVED
    assert len(small.of(MID_FLIGHT)) == 5
    assert statuses(done.consults) == ["answered"] * 5 + ["denied"]
    assert {"attempt=0", "attempt=1"} == {
        word for request in small.of(MID_FLIGHT) for word in request.prompt.split() if word.startswith("attempt=")
    }


def test_the_cap_is_shared_by_the_surfaces_of_a_review(small: ReviewWorld) -> None:
    three = several(*(consult_block(f"Question {number}?") for number in range(3)))
    small.says(EXECUTOR, three, report(), three, report())
    small.says(MID_FLIGHT, forever(guidance()))
    small.says(POST_VERIFY, confirm(), confirm())
    done = small.review(spec="Every price triples.")
    assert done.end == APPROVED
    assert len(small.of(MID_FLIGHT)) == 5


@pytest.mark.parametrize("asked", [f"Is {CRITICAL_FILE} safe?", "Is this safe?"], ids=["named", "nothing named"])
def test_a_question_about_a_critical_path_that_stays_open_calls_a_human(world: ReviewWorld, asked: str) -> None:
    world.change({CODE_FILE: code(3), CRITICAL_FILE: "allow = True\n"})
    world.says(PRE_FLIGHT, structured({"risk_summary": "login"}))
    world.says(EXECUTOR, consult("First?"), consult(question(asked)), report())
    world.says(MID_FLIGHT, guidance())
    done = world.review(environ={"HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS": "1"})
    assert done.end == ESCALATED
    assert CRITICAL_FILE in done.why or "critical paths" in done.why
    assert not world.of(POST_VERIFY)
    assert asked in done.text("transcript.md")


def test_a_question_about_another_file_may_stay_open(world: ReviewWorld) -> None:
    world.change({CODE_FILE: code(3), CRITICAL_FILE: "allow = True\n"})
    world.says(PRE_FLIGHT, structured({"risk_summary": "login"}))
    world.says(EXECUTOR, consult("First?"), consult(question(f"Is {CODE_FILE} tidy?")), report())
    world.says(MID_FLIGHT, guidance())
    world.says(POST_VERIFY, confirm())
    done = world.review(environ={"HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS": "1"})
    assert done.end == APPROVED
    assert statuses(done.consults) == ["answered", "denied"]


def test_a_consult_that_failed_is_given_back(small: ReviewWorld) -> None:
    small.says(EXECUTOR, *six(at_once=False), consult("One more?"), report())
    small.answers(MID_FLIGHT, lambda: FAULT if len(small.of(EXECUTOR)) == 1 else guidance())
    small.says(POST_VERIFY, confirm())
    done = small.review()
    assert done.end == APPROVED
    assert [note.status for note in done.consults] == ["failed"] + ["answered"] * 5 + ["denied"]


def test_an_advisor_that_always_fails_is_asked_no_more_than_the_refunds_allow(small: ReviewWorld) -> None:
    small.says(EXECUTOR, *six(at_once=False), report())
    small.says(MID_FLIGHT, forever(FAULT))
    small.says(POST_VERIFY, confirm())
    done = small.review(environ={"HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS": "2"})
    assert done.end == APPROVED
    assert [note.status for note in done.consults] == ["failed"] * 5 + ["denied"]


# --- the advisor's stop -----------------------------------------------------------------------------


def test_a_stop_signal_calls_a_human_before_any_judgement(small: ReviewWorld) -> None:
    small.says(EXECUTOR, consult("Delete the table?"), report())
    small.says(MID_FLIGHT, guidance("Do not merge this.", stop_signal=True))
    done = small.review()
    assert done.end == ESCALATED
    assert "Do not merge this." in done.why
    assert small.asked == ["executor", "mid_flight", "executor"]
    assert "Delete the table?" in done.text("transcript.md")


# --- an executor that wants another advisor ---------------------------------------------------------


@pytest.mark.parametrize(
    "wish",
    [
        {"model": "haiku"},
        {"subagent_type": "general-purpose"},
        {"subagent_type": "Explore"},
        {"run_in_background": True},
    ],
    ids=lambda wish: str(next(iter(wish.values()))),
)
def test_the_executor_gets_its_advisor_whatever_it_asks_for(small: ReviewWorld, wish: dict[str, Any]) -> None:
    """D27: no downgrade (the world checks model and tools), no other agent, no answer that comes too late."""
    small.says(EXECUTOR, consult("A or B?", **wish), report())
    small.says(MID_FLIGHT, guidance())
    small.says(POST_VERIFY, confirm())
    done = small.review()
    assert done.end == APPROVED
    assert small.asked == ["executor", "mid_flight", "executor", "post_verify"]
    assert "Choose B." in small.of(EXECUTOR)[1].tool_results[0]
    assert small.of(MID_FLIGHT)[0].prompt.startswith("<!-- HYDRAFLOW_MIDFLIGHT_CONSULT_PROMPT_v1 nonce=")
    assert [note.resolved_model for note in done.consults] == ["claude-opus-5-5"]


def test_the_advisor_cannot_consult(small: ReviewWorld) -> None:
    """Nor can it use any other tool than the three reading ones."""
    small.says(EXECUTOR, consult("A or B?"), report())
    small.says(MID_FLIGHT, consult("And you?"), several(tool_use("Bash", command="id")), guidance())
    small.says(POST_VERIFY, confirm())
    done = small.review()
    assert done.end == APPROVED
    assert len(small.of(MID_FLIGHT)) == 3
    assert "uid=" not in str(small.of(MID_FLIGHT)[-1].body)
    assert [note.status for note in done.consults] == ["answered"]


@pytest.mark.parametrize("tool", ["Bash", "Write", "WebFetch"])
def test_a_tool_that_was_not_offered_does_nothing(small: ReviewWorld, tool: str) -> None:
    """D4, D41, D43: read-only is enforced, not meant."""
    target = small.root / "written"
    inputs = {
        "Bash": {"command": f"touch {target}"},
        "Write": {"file_path": str(target), "content": "x"},
        "WebFetch": {"url": small.api.url, "prompt": "x"},
    }
    for role, last in ((EXECUTOR, report()), (POST_VERIFY, confirm())):
        small.says(role, several(tool_use(tool, **inputs[tool])), last)
    assert small.review().end == APPROVED
    assert not target.exists()
