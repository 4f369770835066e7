"""Shadow mode: every change is reviewed, and nothing but a check that gates nothing is written on the pull request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.scenarios.publishing import AUTHOR, LINES, MAINTAINER, PATH, REPOSITORY, Desk

from review_advisor.change.git_diff import GitPatcher
from review_advisor.change.pull_request import MergeGroupEvent, PullRequestEvent
from review_advisor.github.begin import BeginPhase, Begun
from review_advisor.github.beginning import draft_waits
from review_advisor.github.check_text import check_waiting
from review_advisor.github.log_text import log_lines
from review_advisor.github.memory import believed_memory
from review_advisor.github.publish import (
    DidNotRun,
    Published,
    PublishPhase,
    ShadowPublishPhase,
    drop_check_of_other_mode,
)
from review_advisor.github.state import begun_by, usd_in
from review_advisor.github.writer import PullRequestWriter
from review_advisor.mockworld.agents import Line, approve, credit_gone, finding, reject, veto
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.review.document import OutcomeDocument

SHADOW = "review-advisor (shadow)"


class ShadowDesk(Desk):
    """A pull request of a repository whose configuration says ``mode = "shadow"``."""

    def __init__(self, rules: PublicationRules | None = None) -> None:
        super().__init__((rules or PublicationRules()).of_mode("shadow"))
        self.world.rules = replace(self.world.rules, mode="shadow")

    def begins(self, action: str = "opened", *, before: str = "", label: str | None = None, by: str = AUTHOR) -> Begun:
        number, head = self.pull.number, self.pull.head_sha
        event = PullRequestEvent(action, REPOSITORY, number, head, by, label, before=before)
        return BeginPhase(self.bot()).begin(event)

    def shadows(self, outcome: OutcomeDocument | DidNotRun, *, run: str = "") -> Published:
        return ShadowPublishPhase(self.bot(run=run)).publish(self.pull.number, outcome)

    def every_check(self) -> list[tuple[str, str | None]]:
        return [(each.name, each.conclusion) for each in self.github.repository(REPOSITORY).checks.values()]

    def assert_quiet(self) -> None:
        """Nothing stands on the pull request that anybody would be told of, or act upon."""
        assert (self.pull.comments, self.pull.reviews, self.labels, self.pull.requested_users) == ([], [], [], [])
        assert {name for name, _ in self.every_check()} <= {SHADOW}


@pytest.fixture
def desk() -> ShadowDesk:
    return ShadowDesk()


BAD = finding(PATH, 3, "value = 3", "critical", title="Off by one")
ENDS: dict[str, tuple[tuple[Line, ...], tuple[Line, ...], str, str]] = {
    "approved": ((approve(),), (), "Approved", "success"),
    "changes requested": ((reject(BAD),), (), "Changes requested: 1 critical", "failure"),
    "escalated": ((approve(), approve(BAD)), (veto("no"), veto("no")), "A person has to decide", "action_required"),
}


@pytest.mark.parametrize("end", ENDS)
def test_the_shadow_check_is_neutral_and_says_what_the_verdict_would_have_been(desk: ShadowDesk, end: str) -> None:
    said, judged, title, conclusion = ENDS[end]
    desk.begins()
    desk.shadows(desk.reviewed(*said, judged=judged))
    (check,) = desk.checks
    assert (check.name, check.conclusion) == (SHADOW, "neutral")
    assert (check.title or "").startswith(f"Would have been: {title}")
    assert f"`review-advisor` would have concluded `{conclusion}`" in (check.summary or "")
    assert "/advisor" not in (check.summary or ""), "no command decides anything"
    assert check.annotations == []
    desk.assert_quiet()


def test_the_page_of_the_shadow_check_lists_the_findings(desk: ShadowDesk) -> None:
    desk.shadows(desk.reviewed(reject(BAD)))
    (check,) = desk.checks
    assert "Off by one" in (check.summary or "")


def test_in_the_log_of_shadow_mode_no_finding_is_an_annotation(desk: ShadowDesk) -> None:
    lines = list(log_lines(desk.reviewed(reject(BAD))))
    assert lines == ["review-advisor: Changes requested: 1 critical", f"- critical {PATH}:3: Off by one"]


def no_outcome(desk: ShadowDesk) -> DidNotRun:
    return DidNotRun("job-1", desk.pull.head_sha, "There is no outcome to publish.")


def stopped(desk: ShadowDesk) -> OutcomeDocument:
    return desk.reviewed(credit_gone())


@pytest.mark.parametrize("end", [no_outcome, stopped])
def test_a_review_that_did_not_run_fails_the_shadow_check(
    desk: ShadowDesk, end: Callable[[ShadowDesk], OutcomeDocument | DidNotRun]
) -> None:
    desk.begins()
    desk.shadows(end(desk))
    assert desk.every_check() == [(SHADOW, "failure")]
    assert "Would have been" not in (desk.checks[0].title or "")
    desk.assert_quiet()


def test_a_head_that_has_moved_gets_a_superseded_check_and_its_cost_goes_on(desk: ShadowDesk) -> None:
    desk.begins()
    before, outcome = desk.pull.head_sha, desk.reviewed(approve().costing(0.9))
    desk.github.pushes(desk.pull, {PATH: f"{LINES}more = 1\n"})
    desk.begins("synchronize", before=before)
    desk.shadows(outcome)
    (old,) = desk.checks_on(before)
    (new,) = desk.checks
    assert (old.conclusion, new.conclusion) == ("cancelled", None)
    assert usd_in(new.external_id) == usd_in(old.external_id) == 0.9


def test_publishing_twice_writes_and_counts_once(desk: ShadowDesk) -> None:
    desk.begins()
    outcome = desk.reviewed(reject(BAD).costing(0.9))
    desk.shadows(outcome)
    (once,) = [replace(each) for each in desk.checks]
    desk.shadows(outcome)
    assert desk.checks == [once]


def test_pushes_add_up_to_the_money_of_a_pull_request(desk: ShadowDesk) -> None:
    """No comment remembers the amount in shadow mode: it goes from check to check."""
    desk.begins()
    desk.shadows(desk.reviewed(approve().costing(0.9)))
    before = desk.pull.head_sha
    desk.rules = desk.rules.model_copy(update={"most_usd": 1.0})
    desk.github.pushes(desk.pull, {PATH: f"{LINES}more = 1\n"})
    assert not desk.begins("synchronize", before=before).review
    assert desk.every_check()[-1] == (SHADOW, "action_required")


@pytest.mark.parametrize("command", ["help", "override {head} it is urgent", f"dismiss f-{'1' * 32} wrong", "what"])
def test_a_command_is_told_that_the_mode_is_shadow_and_decides_nothing(desk: ShadowDesk, command: str) -> None:
    desk.begins()
    desk.shadows(desk.reviewed(reject(BAD)))
    before = desk.every_check()
    heard = desk.hears(MAINTAINER, f"/advisor {command.format(head=desk.pull.head_sha)}")
    assert (heard.review, desk.every_check()) == (False, before)
    assert "The mode is shadow" in desk.pull.comments[-1].body


def test_a_person_may_ask_for_a_shadow_review(desk: ShadowDesk) -> None:
    assert desk.hears(MAINTAINER, "/advisor review").review
    assert f"`{SHADOW}`" in desk.pull.comments[-1].body


def test_a_consult_that_no_profile_allows_begins_no_shadow_review_and_says_so(desk: ShadowDesk) -> None:
    heard = desk.hears(MAINTAINER, "/advisor consult")
    assert (heard.review, heard.consult) == (False, False)
    assert "No review begins. A review consults the advisor only under a profile" in desk.pull.comments[-1].body


def test_a_stranger_does_not_make_the_bot_talk(desk: ShadowDesk) -> None:
    assert not desk.hears("eve", "/advisor review").review
    assert len(desk.pull.comments) == 1, "only the stranger's own"


def test_a_fork_waits_for_its_label_in_the_shadow_check(desk: ShadowDesk) -> None:
    desk.pull.head_repository = "eve/shop"
    assert not desk.begins().review
    assert desk.every_check() == [(SHADOW, "action_required")]
    desk.github.labels(desk.pull, desk.rules.fork_label)
    assert desk.begins("labeled", label=desk.rules.fork_label, by=MAINTAINER).review
    desk.shadows(desk.reviewed(approve()))
    assert desk.every_check() == [(SHADOW, "neutral")]


def test_what_the_configuration_leaves_out_gets_no_shadow_check() -> None:
    """A neutral one would count as a pass of what nobody read."""
    desk = ShadowDesk(PublicationRules(skip_bases=("main",)))
    assert not desk.begins().review
    assert desk.every_check() == []


def test_a_merge_queue_gets_no_check_in_shadow_mode(desk: ShadowDesk) -> None:
    desk.begins()
    desk.shadows(desk.reviewed(approve()))
    name = f"gh-readonly-queue/main/pr-{desk.pull.number}-{desk.pull.head_sha}"
    made = desk.github.commits(REPOSITORY, name, {}, by="github-merge-queue[bot]")
    base = desk.github.base_sha(desk.pull)
    event = MergeGroupEvent("checks_requested", REPOSITORY, made, f"refs/heads/{name}", base)
    assert not BeginPhase(desk.bot()).begin(event).review
    assert [each.name for each in desk.github.repository(REPOSITORY).checks.values() if each.commit == made] == []


def test_a_check_that_a_newer_run_has_begun_is_left_to_that_run(desk: ShadowDesk) -> None:
    outcome = desk.reviewed(approve())
    number, head = desk.pull.number, desk.pull.head_sha
    BeginPhase(desk.bot(run="8")).begin(PullRequestEvent("reopened", REPOSITORY, number, head, AUTHOR))
    left = desk.shadows(outcome, run="7")
    assert desk.every_check() == [(SHADOW, None)]
    assert "another run" in left.notes[0]


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("told", [True, False])
def test_what_a_review_cost_whose_check_another_run_took_goes_on(desk: ShadowDesk, told: bool, moved: bool) -> None:
    """Who closes and reopens a pull request, or edits its base, while it is under review hides no money."""
    head, number = desk.pull.head_sha, desk.pull.number
    BeginPhase(desk.bot(run="7")).begin(PullRequestEvent("opened", REPOSITORY, number, head, AUTHOR))
    outcome = desk.reviewed(approve().costing(0.9)) if told else DidNotRun("job-7", head, "It ended.", True)
    BeginPhase(desk.bot(run="8")).begin(PullRequestEvent("reopened", REPOSITORY, number, head, AUTHOR))
    if moved:
        desk.github.pushes(desk.pull, {PATH: f"{LINES}more = 1\n"})
        desk.begins("synchronize", before=head)
    desk.shadows(outcome, run="7")
    (check,) = desk.checks
    assert check.conclusion is None, "the other run has the word on it"
    assert usd_in(check.external_id) >= 0.9
    if not moved:
        assert begun_by(check.external_id) == "8"
        desk.rules = desk.rules.model_copy(update={"most_usd": 0.9})
        assert not desk.begins("reopened").review


def test_what_a_review_cost_counts_where_an_older_run_has_concluded_its_check(desk: ShadowDesk) -> None:
    """A run that began earlier may write later: its word is not that of the run that was paid for."""
    head, number = desk.pull.head_sha, desk.pull.number
    outcome = desk.reviewed(approve().costing(0.9))
    waiting = check_waiting(desk.rules, number, draft_waits())
    PullRequestWriter(desk.bot(run="6"), number).checks.stand(head, waiting)
    desk.shadows(outcome, run="7")
    (check,) = desk.checks
    assert usd_in(check.external_id) == 0.9


def test_the_check_of_the_mode_that_held_when_the_review_began_is_concluded() -> None:
    desk = Desk()
    number, head = desk.pull.number, desk.pull.head_sha
    BeginPhase(desk.bot(run="5")).begin(PullRequestEvent("opened", REPOSITORY, number, head, AUTHOR))
    (enforcing,) = desk.checks
    desk.rules = desk.rules.of_mode("shadow")
    drop_check_of_other_mode(desk.bot(run="5"), number, head)
    assert (enforcing.conclusion, enforcing.title) == ("cancelled", "Superseded: the mode has changed")


def test_a_shadow_review_remembers_nothing_and_is_told_nothing(desk: ShadowDesk) -> None:
    enforced = desk.rules.model_copy(update={"check_name": "review-advisor"})
    bot = replace(desk.bot(), rules=enforced)
    desk.world.rules = replace(desk.world.rules, mode="enforce")
    PublishPhase(bot, GitPatcher()).publish(desk.pull.number, desk.reviewed(reject(BAD)), asked=False)
    (summary,) = [each.body for each in desk.pull.comments]
    word = PullRequestWriter(bot, 1).recalled().word
    assert believed_memory(desk.forge, enforced, desk.pull.number, word) is not None
    assert believed_memory(desk.forge, desk.rules, desk.pull.number, word) is None
    assert PullRequestWriter(desk.bot(), desk.pull.number).remembered() is None
    assert desk.begins("reopened").memory == ""
    desk.world.rules = replace(desk.world.rules, mode="shadow")
    desk.shadows(desk.reviewed(approve()))
    assert [each.body for each in desk.pull.comments] == [summary], "what the enforcing review left stays as it was"
    assert desk.every_check() == [("review-advisor", "failure"), (SHADOW, "neutral")]
