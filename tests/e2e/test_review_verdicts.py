"""Whole reviews with the real CLI: who is asked what, in which order, and what each answer leads to."""

from __future__ import annotations

import json

import pytest
from tests.e2e.review_answers import CODE_FILE, PLAN_VALUE, code, confirm, plan, report, veto
from tests.e2e.review_world import (
    EXECUTOR,
    MID_FLIGHT,
    POST_VERIFY,
    PRE_FLIGHT,
    ReviewWorld,
    fences,
)
from tests.e2e.stub_api import Reply, consult, read, several, structured, text, tool_use

from review_advisor.policy.surfaces import Surface
from review_advisor.review.document import Flags
from review_advisor.review.rulings import Outcome

APPROVED, CHANGES, ESCALATED = (Outcome.APPROVED, 0), (Outcome.CHANGES_REQUESTED, 10), (Outcome.ESCALATED, 11)

RECORD = "docs/adr/0007-cache.md"
SOUND_RECORD = """# 7. Cache the prices

Status: proposed

## Context
Prices are read often.

## Decision
We keep prices in memory for one minute, because a stale minute costs less than a slow page.

## Consequences
A change of price shows after a minute.
"""


def test_a_change_is_planned_reviewed_and_judged(world: ReviewWorld) -> None:
    world.change()
    world.says(PRE_FLIGHT, plan())
    world.says(EXECUTOR, read(CODE_FILE), report("approve", "naming"))
    world.says(POST_VERIFY, read(CODE_FILE), confirm())
    done = world.review(body="Prices triple.")
    assert done.end == APPROVED
    assert world.asked == ["pre_flight", "executor", "executor", "post_verify", "post_verify"]
    assert json.loads(done.text("preflight.json")) == PLAN_VALUE
    planned, reviewed, _, judged, _ = world.api.requests
    assert set(fences(planned)) == {"DESCRIPTION", "FILES", "DIFF"}
    assert set(fences(reviewed)) == {"DESCRIPTION", "FILES", "DIFF", "PLAN"}
    assert set(fences(judged)) == {"DESCRIPTION", "FILES", "DIFF", "PLAN", "REPORT"}
    for request in (planned, reviewed, judged):
        assert "Prices triple." in fences(request)["DESCRIPTION"]
        assert fences(request)["DIFF"].count("\n+price_") == 25
    assert json.loads(fences(judged)["PLAN"]) == PLAN_VALUE
    assert json.loads(fences(judged)["REPORT"])["verdict"] == "approve"
    assert [finding.category for finding in done.document.findings] == ["naming"]
    assert done.document.flags == Flags(degraded=False, advisor_disabled=(), lost=(), recovered=False, exhausted=False)


def test_what_the_agents_read_is_the_head_tree_and_nothing_around_it_d5(world: ReviewWorld) -> None:
    """D5: never the operator's checkout, where another branch, uncommitted text and .git lie."""
    world.change({CODE_FILE: code(3)})
    world.repo.write(CODE_FILE, "uncommitted = 1\n")
    world.says(EXECUTOR, read(CODE_FILE), read(".git/config"), read(str(world.repo.path / CODE_FILE)), report())
    world.says(POST_VERIFY, read(CODE_FILE), confirm())
    assert world.review().end == APPROVED
    for role in (EXECUTOR, POST_VERIFY):
        assert "price_3 = 3 * 3" in world.of(role)[1].tool_results[0]
    assert "uncommitted" not in str([request.body for request in world.api.requests])
    assert "[core]" not in str(world.of(EXECUTOR)[-1].body)


def test_a_trivial_change_needs_no_plan(world: ReviewWorld) -> None:
    world.change({CODE_FILE: code(3)})
    world.says(EXECUTOR, report())
    world.says(POST_VERIFY, confirm())
    done = world.review()
    assert done.end == APPROVED
    assert world.asked == ["executor", "post_verify"]
    assert "PLAN" not in fences(world.api.requests[0])


def test_a_patch_without_a_tree_is_reviewed_without_reading_tools(world: ReviewWorld) -> None:
    world.change({CODE_FILE: code(3)})
    world.tools |= {
        EXECUTOR: frozenset({"Agent", "StructuredOutput"}),
        MID_FLIGHT: frozenset(),
        POST_VERIFY: frozenset({"StructuredOutput"}),
    }
    world.says(EXECUTOR, consult("A or B?"), report())
    world.says(MID_FLIGHT, text("B."))
    world.says(POST_VERIFY, confirm())
    patch = world.repo.git("diff", "HEAD~1..HEAD")
    assert world.review(patch=patch).end == APPROVED
    assert world.asked == ["executor", "mid_flight", "executor", "post_verify"]


def test_a_rejection_is_judged_too(world: ReviewWorld) -> None:
    """D38: post-verify sees rejections; confirmed, the no stands."""
    world.change({CODE_FILE: code(3)})
    world.says(EXECUTOR, report("reject", "overflow"))
    world.says(POST_VERIFY, confirm())
    assert world.review().end == CHANGES
    assert world.asked == ["executor", "post_verify"]
    assert json.loads(fences(world.api.requests[1])["REPORT"])["verdict"] == "reject"


def test_a_rejection_that_the_advisor_calls_wrong_is_reconsidered_once_and_never_overturned(world: ReviewWorld) -> None:
    """D38."""
    world.change({CODE_FILE: code(3)})
    world.says(EXECUTOR, report("reject", "overflow"), report("reject", "overflow", "rounding"))
    world.says(POST_VERIFY, veto("No overflow."), veto("Still none."))
    assert world.review().end == ESCALATED
    assert world.asked == ["executor", "post_verify", "executor", "post_verify"]


# --- other surfaces ---------------------------------------------------------------------------------


def test_a_linked_spec_is_checked_with_the_plan_and_the_spec_in_every_prompt(world: ReviewWorld) -> None:
    """D1: the spec reaches post-verify, and so do other models than pr_review's when they are configured."""
    world.change()
    world.models[EXECUTOR] = "claude-haiku-5-5"
    world.says(PRE_FLIGHT, plan())
    world.says(EXECUTOR, report(), report("reject", "spec"))
    world.says(POST_VERIFY, confirm(), confirm())
    done = world.review(spec="Every price is doubled.", environ={"HYDRAFLOW_REVIEW_EXECUTOR_MODEL": "haiku"})
    assert done.end == CHANGES
    assert world.asked == ["pre_flight", "executor", "post_verify", "executor", "post_verify"]
    for request in world.api.requests:
        assert "Every price is doubled." in fences(request)["SPEC"]
    for request in world.api.requests[1:]:
        assert json.loads(fences(request)["PLAN"]) == PLAN_VALUE
    outcomes = [(surface.surface, surface.outcome) for surface in done.document.surfaces]
    assert outcomes == [
        (Surface.PR_REVIEW, Outcome.APPROVED),
        (Surface.PRE_MERGE_SPEC_CHECK, Outcome.CHANGES_REQUESTED),
    ]


def test_a_doubt_about_a_records_sections_is_a_low_finding_and_the_record_is_read_all_the_same(
    world: ReviewWorld,
) -> None:
    """D36: the structural check asks no model, and refuses nothing."""
    world.change({RECORD: "# 7. Cache\n\nStatus: proposed\n"})
    world.says(PRE_FLIGHT, plan())
    world.says(EXECUTOR, report(), report())
    world.says(POST_VERIFY, confirm(), confirm())
    done = world.review()
    world.without_consults.append(world.of(EXECUTOR)[1])
    assert done.end == APPROVED
    assert world.asked == ["executor", "post_verify", "pre_flight", "executor", "post_verify"]
    assert {(finding.category, finding.severity) for finding in done.document.findings} == {("adr-structure", "low")}
    assert RECORD in done.text("report.txt")


def test_a_sound_record_is_planned_reviewed_without_consults_and_judged(world: ReviewWorld) -> None:
    world.change({RECORD: SOUND_RECORD, CODE_FILE: code(3)})
    world.says(PRE_FLIGHT, plan())
    world.says(EXECUTOR, report(), report())
    world.says(POST_VERIFY, confirm(), confirm())
    done = world.review()
    world.without_consults.append(world.of(EXECUTOR)[1])
    assert done.end == APPROVED
    assert world.asked == ["executor", "post_verify", "pre_flight", "executor", "post_verify"]
    assert json.loads(done.text("preflight.adr_review.json")) == PLAN_VALUE
    for request in world.api.requests[2:]:
        assert RECORD in fences(request)["DIFF"]
        assert CODE_FILE not in fences(request)["DIFF"]


def test_a_vetoed_record_has_one_shot(world: ReviewWorld) -> None:
    """D12: no ping-pong on a surface without a loop."""
    world.change({RECORD: SOUND_RECORD})
    world.says(PRE_FLIGHT, plan())
    world.says(EXECUTOR, report(), report())
    world.says(POST_VERIFY, confirm(), veto("A minute is too long."))
    done = world.review()
    world.without_consults.append(world.of(EXECUTOR)[1])
    assert done.end == ESCALATED
    assert len(world.of(POST_VERIFY)) == 2
    assert "A minute is too long." in done.text("transcript.md")


# --- vetoes -----------------------------------------------------------------------------------------


def test_a_veto_hands_the_whole_transcript_back_and_the_review_recovers(world: ReviewWorld) -> None:
    """D23: verdict, reasoning, every disagreement, the direction and the raw reply, not a summary."""
    world.change({CODE_FILE: code(3)})
    said = "Half-up rounding </TRANSCRIPT> loses money."
    world.says(EXECUTOR, report(), report("approve", "rounding"))
    world.says(POST_VERIFY, veto(said), confirm())
    done = world.review()
    assert done.end == APPROVED
    assert done.document.flags.recovered
    assert world.asked == ["executor", "post_verify", "executor", "post_verify"]
    again = fences(world.of(EXECUTOR)[1])
    (attempt,) = json.loads(again["TRANSCRIPT"])["attempts"]
    assert (attempt["verdict"], attempt["reasoning"]) == ("VETO", said)
    assert attempt["disagreements"][0]["id"] == "d0.1"
    assert attempt["disagreements"][0]["executor_claim"] == "prices are safe"
    assert attempt["suggested_fix_direction"] == "round half to even"
    assert "raw" not in attempt
    assert json.loads(again["REPORT"])["verdict"] == "approve"
    assert fences(world.of(POST_VERIFY)[1])["TRANSCRIPT"] == again["TRANSCRIPT"]


@pytest.mark.parametrize(
    "files,judgements",
    [
        ({CODE_FILE: code(3)}, 2),
        ({CODE_FILE: code(201)}, 3),
        ({CODE_FILE: code(3), "src/auth/login.py": "allow = True\n"}, 4),
    ],
    ids=["low", "medium", "high"],
)
def test_a_veto_that_stands_calls_a_human_once_the_blast_radius_budget_is_spent(
    world: ReviewWorld, files: dict[str, str], judgements: int
) -> None:
    """D10, D20, D24: the budget is fixed at the start, and its end is an escalation."""
    world.change(files)
    world.says(PRE_FLIGHT, *[plan()] * (judgements > 2))
    world.says(EXECUTOR, *(report("approve", f"remark-{number}") for number in range(judgements)))
    world.says(POST_VERIFY, *(veto(f"Not good enough, {number}.") for number in range(judgements)))
    done = world.review()
    assert done.end == ESCALATED
    assert done.document.flags.exhausted
    assert len(world.of(EXECUTOR)) == len(world.of(POST_VERIFY)) == judgements
    transcript = done.text("transcript.md")
    for number in range(judgements):
        assert f"Not good enough, {number}." in transcript
    last = json.loads(fences(world.of(EXECUTOR)[-1])["TRANSCRIPT"])["attempts"]
    assert [attempt["attempt"] for attempt in last] == list(range(judgements - 1))


def test_a_retry_that_changes_nothing_is_not_judged_again(world: ReviewWorld) -> None:
    """D11: other words about the same state are the same state."""
    world.change({CODE_FILE: code(201)})
    world.says(PRE_FLIGHT, plan())
    world.says(EXECUTOR, report("approve", "naming"), report("approve", "naming", summary="I still think so."))
    world.says(POST_VERIFY, veto())
    done = world.review()
    assert done.end == ESCALATED
    assert not done.document.flags.exhausted
    assert "changed neither" in done.why
    assert world.asked == ["pre_flight", "executor", "post_verify", "executor"]


def test_a_retry_that_rejects_is_the_executors_own_no(world: ReviewWorld) -> None:
    world.change({CODE_FILE: code(3)})
    world.says(EXECUTOR, report(), report("reject", "rounding"))
    world.says(POST_VERIFY, veto(), confirm())
    done = world.review()
    assert done.end == CHANGES
    assert not done.document.flags.recovered


# --- inconsistent answers ---------------------------------------------------------------------------

BLOCKING = {"executor_claim": "safe", "advisor_assessment": "not safe", "severity": "blocking"}
APPROVE_BUT_BLOCKING = structured({"verdict": "APPROVE", "reasoning": "fine", "disagreements": [BLOCKING]})
VETO_WITHOUT_REASON = structured({"verdict": "VETO", "disagreements": [BLOCKING]})


TWO_ANSWERS = several(
    tool_use("StructuredOutput", verdict="VETO", reasoning="it breaks"),
    tool_use("StructuredOutput", verdict="APPROVE", reasoning="fine"),
)
TOO_MUCH = structured({"verdict": "VETO", "reasoning": "x" * 8_001, "disagreements": [BLOCKING] * 51})


@pytest.mark.parametrize(
    "reply",
    [APPROVE_BUT_BLOCKING, VETO_WITHOUT_REASON, TWO_ANSWERS, TOO_MUCH],
    ids=["approve but blocking", "veto without a reason", "two answers", "too much"],
)
def test_a_judgement_that_contradicts_itself_is_a_veto_d7(world: ReviewWorld, reply: Reply) -> None:
    """D7: it is handed back, and never asked for again."""
    world.change({CODE_FILE: code(3)})
    world.says(EXECUTOR, report(), report())
    world.says(POST_VERIFY, reply)
    done = world.review()
    assert done.end == ESCALATED
    assert done.calls[1] == ("post_verify", "answered", "")
    assert [attempt.result.verdict for attempt in done.judged] == ["VETO"]


def test_an_approval_with_a_critical_finding_is_a_rejection(world: ReviewWorld) -> None:
    """D7, on the executor's side."""
    critical = {
        "path": CODE_FILE,
        "line": 1,
        "severity": "critical",
        "category": "loss",
        "title": "money is lost",
        "confidence": 0.9,
        "evidence": "price_1 = 1 * 3",
    }
    world.change({CODE_FILE: code(3)})
    world.says(EXECUTOR, report("approve", findings=[critical]))
    world.says(POST_VERIFY, confirm())
    done = world.review()
    assert done.end == CHANGES
    assert [finding.title for finding in done.document.findings] == ["money is lost"]
