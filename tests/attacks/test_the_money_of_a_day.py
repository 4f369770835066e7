"""Authors who spread their spending over many pull requests, so that no warning of the day's money comes."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from tests.scenarios.publishing import AUTHOR, BOT, LINES, MAINTAINER, PATH, REPOSITORY, Desk

from review_advisor.change.pull_request import CommentEvent, PullRequestEvent
from review_advisor.github.begin import BeginPhase, Begun
from review_advisor.github.publish import DidNotRun, ShadowPublishPhase
from review_advisor.github.state import day_in, external_id
from review_advisor.github.writes import Check, Conclusion
from review_advisor.mockworld.agents import approve
from review_advisor.mockworld.fake_forge import FakeForge
from review_advisor.mockworld.github_records import Pull
from review_advisor.policy.budgets import USD_OF_AN_UNTOLD_REVIEW
from review_advisor.policy.pull_request_rules import PublicationRules

MALLORY = "mallory"
TODAY = "2026-01-05"
EVERYTHING = PublicationRules(repository_day_usd=0.01)


class Team(Desk):
    """It is warned at three dollars a day; each review costs one."""

    def opens(self, by: str) -> Pull:
        made = self.github.opens(
            REPOSITORY, {PATH: f"{LINES}# {len(self.github.repository(REPOSITORY).pulls)}\n"}, by=by
        )
        self.pull = made
        return made

    def happens(self, pull: Pull, action: str = "opened", before: str = "") -> Begun:
        self.pull = pull
        event = PullRequestEvent(action, REPOSITORY, pull.number, pull.head_sha, pull.author, before=before)
        return BeginPhase(self.bot()).begin(event)

    def asks(self, login: str, pull: Pull) -> Begun:
        self.pull = pull
        event = CommentEvent("created", REPOSITORY, pull.number, 77, login, "/advisor review", on_pull_request=True)
        return BeginPhase(self.bot()).begin(event)

    def pays(self, pull: Pull, usd: float = 1.0, *, asked: bool = False) -> None:
        self.pull = pull
        self.publish(self.reviewed(approve().costing(usd)), asked=asked)

    def pushes(self, pull: Pull) -> str:
        before = pull.head_sha
        self.github.pushes(pull, {PATH: f"{LINES}# {before}\n"})
        return before

    def resets(self, pull: Pull) -> None:
        """The branch ends with what the base has, whereupon GitHub closes the pull request."""
        base = self.github.repository(REPOSITORY).branches[pull.base_ref]
        self.github.move_branch(self.github.repository(pull.head_repository or ""), pull.head_ref, base)
        self.github.closes(pull)

    def sleeps(self, days: int) -> None:
        self.clock.moment += timedelta(days=days)
        self.github.second += days * 86_400

    def spends(self, by: str, times: int) -> list[Pull]:
        """One after the other: each a pull request of its own, reviewed once."""
        made = [self.opens(by) for _ in range(times)]
        for pull in made:
            assert self.happens(pull).review
            self.pays(pull)
        return made

    def spent_today(self) -> float:
        """The amount that a warning names, where any amount is worth one."""
        self.rules = EVERYTHING.of_mode("shadow" if self.rules.is_shadow else "enforce")
        found = re.search(r"have cost about ([0-9.]+) USD", self.happens(self.opens("bob")).alert)
        return float(found[1]) if found else 0.0


@pytest.fixture
def desk() -> Team:
    team = Team(PublicationRules(repository_day_usd=3.0))
    for login in (MALLORY, "bob"):
        team.github.user(login)
    return team


def test_an_author_who_opens_many_pull_requests_is_warned_of_and_stops_nobody(desk: Team) -> None:
    desk.spends(MALLORY, 2)
    assert desk.happens(desk.opens("bob")).alert == ""
    desk.pays(desk.pull)
    begun = desk.happens(desk.opens(AUTHOR))
    assert begun.review
    assert "have cost about 3.00 USD of 3.00 (github.repository_day_usd). No review is stopped" in begun.alert


def test_pushes_to_several_open_pull_requests_count_together(desk: Team) -> None:
    for pull in desk.spends(AUTHOR, 2):
        before = desk.pushes(pull)
        assert desk.happens(pull, "synchronize", before).review
        desk.pays(pull)
    assert desk.spent_today() == 4.0


@pytest.mark.parametrize("end", ["closes", "merges"])
def test_a_pull_request_that_is_over_still_counts(desk: Team, end: str) -> None:
    for pull in desk.spends(AUTHOR, 3):
        getattr(desk.github, end)(pull)
    assert desk.spent_today() == 3.0


def test_who_writes_on_the_pull_requests_of_others_makes_nothing_count(desk: Team) -> None:
    """Old pull requests that cost much change by a comment: their day is another one."""
    old = desk.spends("bob", 3)
    desk.clock.moment += timedelta(days=1)
    for pull in old:
        desk.github.comments(pull, by=MALLORY, body="any news?")
    assert desk.spent_today() == 0.0


def test_authors_whom_the_forge_does_not_name_are_counted(desk: Team) -> None:
    desk.github.app_token("renovate")
    for login in (MALLORY, "renovate[bot]"):
        desk.spends(login, 2)
        desk.github.accounts.pop(login)
    assert desk.spent_today() == 4.0


@pytest.mark.parametrize("usd", [0.1, 2.9])
def test_whoever_resets_a_reviewed_branch_to_the_base_has_it_counted_by_an_estimate(desk: Team, usd: float) -> None:
    """GitHub shows no commit of it then that could bear a check: nobody is told whether it was cheap or dear."""
    for _ in range(2):
        pull = desk.opens(MALLORY)
        assert desk.happens(pull).review
        desk.pays(pull, usd)
        desk.resets(pull)
    assert desk.spent_today() == 2 * USD_OF_AN_UNTOLD_REVIEW


def test_no_comment_on_a_branch_that_was_reset_another_day_makes_it_count(desk: Team) -> None:
    old = desk.spends("bob", 2)
    for pull in old:
        desk.resets(pull)
    desk.sleeps(days=30)
    for pull in old:
        desk.github.comments(pull, by=MALLORY, body="any news?")
    assert desk.spent_today() == 0.0


def test_a_fork_that_is_reset_counts_nothing(desk: Team) -> None:
    """It was reviewed on request, if at all."""
    desk.github.forks(REPOSITORY, "bob")
    for _ in range(2):
        desk.resets(desk.opens("bob"))
    fork = desk.pull.head_repository or ""
    del desk.github.repositories[fork]
    desk.rules = EVERYTHING
    assert desk.happens(desk.opens(AUTHOR)).alert == ""


def test_who_opens_many_at_once_has_each_running_review_counted_by_an_estimate(desk: Team) -> None:
    assert all(desk.happens(desk.opens(MALLORY)).review for _ in range(3))
    assert desk.spent_today() == round(3 * USD_OF_AN_UNTOLD_REVIEW, 2)


def test_a_review_that_is_killed_counts_with_the_estimate(desk: Team) -> None:
    pull = desk.opens(MALLORY)
    desk.happens(pull)
    desk.publish(DidNotRun("job-1", pull.head_sha, "There is no outcome.", may_have_asked=True))
    assert desk.spent_today() == USD_OF_AN_UNTOLD_REVIEW


def test_reviews_that_pushes_overtake_are_counted(desk: Team) -> None:
    pull = desk.opens(MALLORY)
    for _ in range(3):
        assert desk.happens(pull, "synchronize", "").review
        desk.pull = pull
        document = desk.reviewed(approve().costing(1.0))
        desk.pushes(pull)
        desk.publish(document)
    assert desk.happens(pull, "synchronize", "").review
    assert desk.spent_today() == 3.0 + USD_OF_AN_UNTOLD_REVIEW, "the one that has begun is an estimate"


def test_a_review_for_which_somebody_with_permission_asked_is_not_of_the_day(desk: Team) -> None:
    first, *_ = desk.spends(AUTHOR, 3)
    assert desk.asks(MAINTAINER, first).review
    assert desk.asks(MAINTAINER, first).most_usd is None
    desk.pays(first, 5.0, asked=True)
    assert {day_in(check.external_id) for check in desk.checks} == {(TODAY, 1.0)}
    assert not desk.asks("eve", first).review


def test_the_next_day_counts_from_nothing(desk: Team) -> None:
    desk.spends(AUTHOR, 3)
    desk.clock.moment += timedelta(days=1)
    assert desk.spent_today() == 0.0


@pytest.mark.parametrize("day", ["2026-01-04", "2026-01-06", "9999-12-31"])
def test_an_amount_of_another_day_hides_none_of_today(desk: Team, day: str) -> None:
    first, *_ = desk.spends(AUTHOR, 3)
    desk.pull = first
    (check,) = desk.checks
    forged = check.external_id.replace(TODAY, day)
    desk.github.repository(REPOSITORY).checks[check.id].external_id = forged
    assert desk.spent_today() == 2.0
    before = desk.pushes(first)
    desk.happens(first, "synchronize", before)
    assert day_in(desk.checks[0].external_id) == (TODAY, 1.0), "the state tells it, too"


def test_a_check_of_anybody_else_counts_for_nothing(desk: Team) -> None:
    pull = desk.opens("bob")
    forged = external_id(pull.number, today=(TODAY, 99.0))
    desk.github.app_token("mallorys-app")
    theirs = FakeForge(desk.github, REPOSITORY, "mallorys-app[bot]")
    theirs.create_check(pull.head_sha, Check("review-advisor", forged, "t", "s", Conclusion.SUCCESS))
    other = FakeForge(desk.github, REPOSITORY, BOT)
    other.create_check(pull.head_sha, Check("review-advisor", external_id(9999, today=(TODAY, 99.0)), "t", "s", None))
    assert desk.spent_today() == 0.0


def test_old_checks_that_tell_no_day_are_unknown(desk: Team) -> None:
    desk.rules = PublicationRules()
    desk.spends(AUTHOR, 5)
    assert desk.spent_today() == 0.0


def test_a_list_that_is_not_whole_is_said_to_be(desk: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("review_advisor.mockworld.fake_forge.MOST_RECENT", 1)
    desk.spends(MALLORY, 1)
    assert "not all known" in desk.happens(desk.opens("bob")).alert


def test_without_the_setting_nothing_is_asked_and_nothing_told(desk: Team) -> None:
    desk.rules = PublicationRules()
    desk.spends(AUTHOR, 1)
    assert not [each for each in desk.github.traffic.log if "recent" in each.operation]
    assert {day_in(check.external_id) for check in desk.checks} == {("", 0.0)}
    assert desk.state is not None
    assert desk.state.day == ""


def test_one_request_lists_what_everybody_spends(desk: Team) -> None:
    desk.spends(AUTHOR, 2)
    pull, before = desk.opens("bob"), len(desk.github.traffic.log)
    desk.happens(pull)
    asked = [each.operation for each in desk.github.traffic.log[before:]]
    assert asked.count("list recent pull requests") == 1
    assert asked.count("list check runs") <= 3


def test_shadow_mode_counts_as_much(desk: Team) -> None:
    desk.rules = desk.rules.of_mode("shadow")
    for asked in (False, True):
        pull = desk.opens(MALLORY)
        assert desk.happens(pull).review
        document = desk.reviewed(approve().costing(2.0))
        ShadowPublishPhase(desk.bot()).publish(pull.number, document, asked=asked)
    assert desk.spent_today() == 2.0
