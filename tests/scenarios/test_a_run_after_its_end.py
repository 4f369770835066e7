"""The advisor looks at a run after its end: one question, one more at most, and nothing that it says is carried out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from tests.scenarios.task_runs import COST, NONCE, RUN, Reply, Speaking, block
from tests.unit.retro.test_proposals import answer, proposal

from review_advisor.agents.calls import AgentCall, AuthenticationFailedError, Lost, LostReason
from review_advisor.change.redaction import Redactor, redactor
from review_advisor.ledger.task_events import TaskCalled, TaskEnded, TaskEvent, TaskLimits
from review_advisor.mockworld.world import FakeClock
from review_advisor.policy.surfaces import Role
from review_advisor.safety.stop import Receipt, ReviewInterrupted, Usage
from review_advisor.tasks.retro import (
    NO_CHANGE,
    OUTCOME_FILE,
    PROPOSALS_FILE,
    REVIEW_FILE,
    FakeRetroAgents,
    PostRunReview,
    RetroPorts,
    RetroRequest,
    SeenRun,
    retro_files,
    review_after_the_end,
)
from review_advisor.tasks.run_files import task_outcome

TAG = "IMPROVEMENT_PROPOSALS"
SEEN = SeenRun(RUN, {"outcome.json": '{"status": "completed"}'}, ("The prompts.",))


def said(*more: dict[str, Any]) -> str:
    return f"It went well.\n\n{block(TAG, answer(*more))}"


@dataclass(frozen=True)
class Held:
    """A review after the end, with its events and calls."""

    review: PostRunReview
    events: list[TaskEvent]
    calls: list[AgentCall]

    @property
    def files(self) -> dict[str, str]:
        return retro_files(self.review)

    @property
    def outcome(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self.files[OUTCOME_FILE])
        return told


def held(
    *replies: Reply, usage: Usage = COST, redact: Redactor | None = None, events: list[TaskEvent] | None = None
) -> Held:
    clock = FakeClock()
    advisor = Speaking([], list(replies), clock, usage=usage)
    heard: list[TaskEvent] = [] if events is None else events
    request = RetroRequest("run_retro", NONCE, SEEN, "scripted", "strong", TaskLimits(), redact or Redactor())
    review = review_after_the_end(request, RetroPorts(advisor, clock, heard.append))
    assert not advisor.advisor, "a reply was not asked for"
    return Held(review, heard, advisor.calls)


def test_one_call_of_the_role_retro_without_tools_and_the_proposals_are_valid() -> None:
    found = held(said())

    assert (found.review.status, found.review.proposals.valid, found.review.reason) == ("completed", True, "")
    (call,) = found.calls
    assert (call.role, call.advisor, call.model, call.tree) == (Role.RETRO, "retro", "strong", None)
    assert "The prompts." in call.prompt, "what was not seen is said"
    assert found.review.not_seen == ("The prompts.",)


def test_what_it_costs_is_recorded_as_a_task_of_the_advisor_alone() -> None:
    found = held(said())

    (called,) = (each for each in found.events if isinstance(each, TaskCalled))
    assert (called.advisor, called.usage.cost_usd) == ("retro", 0.05)
    told = task_outcome(found.events)
    assert (told["status"], told["executor_backend"], told["executor_turn_count"]) == ("completed", "none", 0)
    assert found.outcome["usage"]["cost_usd"] == told["usage"]["advisor"]["cost_usd"] == 0.05


def test_an_answer_that_nobody_can_read_is_asked_for_once_more() -> None:
    found = held("I have no proposals.", said())

    assert (found.review.status, len(found.calls)) == ("completed", 2)
    assert "It has no readable block IMPROVEMENT_PROPOSALS." in found.calls[1].prompt
    assert found.outcome["usage"]["calls"] == 2


def test_the_second_answer_is_the_last() -> None:
    found = held("No.", "Still no.")

    assert (found.review.status, found.review.proposals.valid) == ("malformed_block", False)
    assert found.files[REVIEW_FILE] == "Still no.\n"
    assert json.loads(found.files[PROPOSALS_FILE])["validation"]["valid"] is False


def test_an_answer_that_breaks_a_rule_is_read_and_refused_without_another_call() -> None:
    found = held(said(proposal("review_rules", status="approved")))

    assert (found.review.status, len(found.calls)) == ("malformed_block", 1)
    assert found.review.reason == "The proposals are refused: The status of proposal 4 is not proposed."


@pytest.mark.parametrize(
    "quoted",
    [
        said().replace(NONCE, "f" * 16),
        said().replace(f' nonce="{NONCE}"', ""),
        "```\n" + said() + "\n```",
        "\n".join(f"> {line}" for line in said().splitlines()),
        "\n".join(f"    {line}" for line in said().splitlines()),
        said() + "\n\n" + said(),
        block(TAG, "{not json"),
        block(TAG, {"proposals": "none"}),
        block("EXECUTOR_DONE", answer()),
    ],
    ids=["other nonce", "no nonce", "fenced", "quoted", "indented", "two", "no JSON", "no list", "other block"],
)
def test_a_block_that_may_be_a_quotation_or_says_nothing_is_none(quoted: str) -> None:
    found = held(quoted, quoted)

    assert not found.review.proposals.valid
    assert found.review.proposals.proposals == ()


@pytest.mark.every_case
def test_a_hostile_answer_fills_no_disk_and_tells_no_secret() -> None:
    secret = "hunter2-hunter2-hunter2"
    huge = proposal("review_rules", rationale=f"{secret} " + "w" * 2_000_000, evil={"a": ["b"] * 1_000})
    found = held(said(huge), redact=redactor({"MY_PASSWORD": secret}))

    assert len(found.files[PROPOSALS_FILE]) < 50_000
    assert "evil" not in found.files[PROPOSALS_FILE]
    assert not any(secret in text for text in found.files.values())


def test_what_an_answer_says_is_no_markup_in_the_files() -> None:
    found = held(said(proposal("review_rules", title="![x](http://evil.example/p.png)", rationale="<img src=x>")))

    shown = found.files["improvement_proposals.md"]
    assert "## `![x](http" in shown, "a title is shown as code where it would be markup"
    assert "<img" not in shown


def test_no_answer_is_told_and_writes_all_files_nevertheless() -> None:
    found = held(Lost(LostReason.TIMEOUT, "It took too long.", Receipt(COST)))

    assert (found.review.status, found.outcome["usage"]["cost_usd"]) == ("advisor_failed", 0.05)
    assert found.files[REVIEW_FILE].startswith("There is no review. The advisor did not answer: It took too long.")
    assert found.files["post_run_review_advisor.stderr.txt"] == "It took too long.\n"


def test_an_account_that_is_refused_ends_it() -> None:
    found = held(AuthenticationFailedError("The key is refused."))

    assert (found.review.status, found.review.reason) == ("advisor_failed", "The key is refused.")


def test_money_that_is_spent_allows_no_second_question() -> None:
    found = held("No.", usage=Usage(cost_usd=3.0))

    assert (found.review.status, len(found.calls)) == ("budget_exceeded", 1)


def test_an_interrupt_leaves_it_unfinished_in_the_record() -> None:
    events: list[TaskEvent] = []
    with pytest.raises(ReviewInterrupted):
        held(ReviewInterrupted("now"), events=events)

    assert not any(isinstance(each, TaskEnded) for each in events)


def test_only_what_would_change_something_is_a_proposed_patch() -> None:
    change = "Append to REVIEW.md:\n- Say it once."
    quiet, loud = held(said()), held(said(proposal("review_rules", proposed_change=change)))

    assert "No change is proposed." in quiet.files["policy_patch_proposal.md"]
    assert change in loud.files["policy_patch_proposal.md"]
    assert NO_CHANGE not in loud.files["policy_patch_proposal.md"]
    assert "Nothing of this is applied. A person decides." in loud.files["policy_patch_proposal.md"]


def test_the_fake_advisor_says_the_same_each_time_for_nothing() -> None:
    def fake() -> PostRunReview:
        request = RetroRequest("run_retro", NONCE, SEEN, "fake", "fake", TaskLimits(), Redactor())
        return review_after_the_end(request, RetroPorts(FakeRetroAgents(NONCE), FakeClock(), lambda _event: None))

    assert fake() == fake()
    assert fake().proposals.valid
