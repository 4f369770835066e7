"""Authors whose change runs a call into its deadline, or who push while it runs: such a call tells no cost."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from tests.scenarios.publishing import AUTHOR, LINES, PATH, REPOSITORY, Desk

from review_advisor.agents.calls import (
    AuthenticationFailedError,
    CreditExhaustedError,
    LostReason,
    ModelUnknownError,
    TreeChangedError,
)
from review_advisor.change.pull_request import PullRequestEvent
from review_advisor.github import beginning
from review_advisor.github.begin import BeginPhase, Begun
from review_advisor.github.publish import DidNotRun
from review_advisor.github.state import State
from review_advisor.mockworld.agents import Line, approve, interrupted, lost, plan
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.prices import Price
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.rulings import Outcome
from review_advisor.safety.stop import Stop

KILLED = lost(LostReason.TIMEOUT).costing(None)
AT_WORK = replace(KILLED, output_tokens=100_000)
"""A call that told 100,000 tokens before it was killed: a dollar, by the price below."""
PRICES = tuple(Price(model, date(2026, 1, 1), 0.0, 10.0, 0.0, 0.0) for model in ("sonnet", "opus"))


class Team(Desk):
    def happens(self, action: str = "synchronize") -> Begun:
        event = PullRequestEvent(action, REPOSITORY, self.pull.number, self.pull.head_sha, AUTHOR)
        return BeginPhase(self.bot()).begin(event)

    def pushes(self) -> None:
        self.github.pushes(self.pull, {PATH: f"{LINES}# {self.pull.head_sha}\n"})

    def started_by_pushes(self, report: Line, *, most: int = 8) -> int:
        """Push again and again; how often a review begins of which this comes."""
        for times in range(most):
            if not self.happens().review:
                return times
            self.publish(self.reviewed(report))
            self.pushes()
        return most

    @property
    def memory(self) -> State:
        assert self.state is not None
        return self.state


@pytest.mark.parametrize("prices", [(), PRICES], ids=["without a price", "by price"])
@pytest.mark.parametrize("report", [AT_WORK, approve().costing(None)], ids=["killed", "answered"])
def test_calls_that_tell_no_cost_end_at_the_cap_of_the_pull_request(report: Line, prices: tuple[Price, ...]) -> None:
    desk = Team(PublicationRules(most_usd=2.0))
    desk.world.prices = prices
    report = replace(report, output_tokens=100_000)
    assert desk.started_by_pushes(report) == (2 if prices else 1)
    assert desk.memory.spent_usd == pytest.approx(2.0 if prices else 2.3, abs=0.1)
    assert desk.memory.estimated_usd == pytest.approx(desk.memory.spent_usd, abs=0.01)


def test_they_count_for_the_money_of_the_day() -> None:
    desk = Team(PublicationRules(repository_day_usd=2.0))
    desk.world.prices = PRICES
    for told in ("", "have cost about 2.00 USD of 2.00 (github.repository_day_usd)"):
        assert desk.happens().review
        desk.publish(desk.reviewed(AT_WORK))
        alert = desk.happens().alert
        assert (told in alert, bool(alert)) == (True, bool(told))
        desk.pushes()


def test_a_call_that_told_no_tokens_costs_what_it_was_estimated_at() -> None:
    desk = Team(PublicationRules())
    desk.world.prices = PRICES
    assert desk.started_by_pushes(KILLED, most=1) == 1
    assert 0.01 < desk.memory.spent_usd < 0.1


def test_what_is_counted_is_called_an_estimate_and_what_it_cost_stays_unknown() -> None:
    desk = Team(PublicationRules())
    desk.world.prices = PRICES
    desk.world.agents.script(Role.PRE_FLIGHT, plan().costing(0.5))
    document = desk.reviewed(replace(approve().costing(None), output_tokens=2_000), judged=[AT_WORK])
    desk.publish(document)
    summary = desk.summaries[0].body
    assert (
        "1.52 USD so far on this pull request, of 50.00; 1.02 of it is an estimate, for what reported no cost."
        in summary
    )
    assert "**Cost**: 0.5000 USD, and 2 calls unknown" in summary
    assert document.unpriced == 2


def test_a_review_that_a_push_ends_costs_what_its_call_told() -> None:
    desk = Team(PublicationRules(most_usd=2.0))
    desk.world.prices = PRICES
    for _ in range(2):
        assert desk.happens().review
        document = desk.reviewed(replace(interrupted().costing(None), output_tokens=100_000))
        desk.pushes()
        desk.publish(document)
    assert desk.memory.spent_usd >= 2.0
    assert not desk.happens().review


def test_a_call_of_which_the_record_has_no_end_is_not_free() -> None:
    desk = Team(PublicationRules())
    document = desk.reviewed(approve())
    cut = replace(document, events=tuple(each for each in document.events if each.kind != "call_ended"))
    desk.publish(cut)
    assert desk.memory.spent_usd == 2.3


@pytest.mark.parametrize(
    "report",
    [
        lost(LostReason.TIMEOUT).costing(0.5),
        lost(LostReason.CRASH).costing(0.5),
        interrupted(),
        Line(stop=TreeChangedError("The tree was changed.")),
    ],
    ids=["deadline", "crash", "interrupted", "tree changed"],
)
def test_a_stopped_review_that_a_push_started_is_a_round(report: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beginning, "MOST_ROUNDS", 3)
    desk = Team()
    assert desk.started_by_pushes(report) == 3
    assert desk.memory.rounds == 3
    assert desk.checks[0].conclusion == "action_required"


@pytest.mark.parametrize(
    "stop",
    [CreditExhaustedError("No credit."), AuthenticationFailedError("Refused."), ModelUnknownError("No such model.")],
    ids=["credit", "authentication", "model"],
)
def test_trouble_with_the_teams_own_account_eats_no_rounds(stop: Stop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beginning, "MOST_ROUNDS", 1)
    desk = Team()
    assert desk.started_by_pushes(Line(stop=stop), most=2) == 2
    assert desk.memory.rounds == 0


def test_a_stopped_review_that_a_person_asked_for_is_no_round() -> None:
    desk = Team()
    desk.publish(desk.reviewed(KILLED), asked=True)
    assert desk.memory.rounds == 0


def test_a_job_that_is_killed_is_a_round_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beginning, "MOST_ROUNDS", 2)
    desk = Team()
    for number in range(2):
        assert desk.happens().review
        for _ in range(2):
            desk.publish(DidNotRun(f"job-{number}", desk.pull.head_sha, "There is no outcome.", may_have_asked=True))
        desk.pushes()
    assert not desk.happens().review
    desk.publish(DidNotRun("job-3", desk.pull.head_sha, "There is no credential."))
    assert desk.memory.rounds == 2


def test_inside_one_review_such_a_call_counts_with_the_tokens_that_it_told() -> None:
    world = MockWorld()
    world.prices = PRICES
    world.rules = replace(world.rules, max_usd=0.9)
    world.agents.script(Role.EXECUTOR, replace(approve().costing(None), output_tokens=100_000))
    document: OutcomeDocument = world.review()
    assert document.outcome is Outcome.ESCALATED
    assert document.because == ("post-verify was refused (what is left of $0.90 is too little for another call)",)
