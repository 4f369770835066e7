"""Whoever wants a required check to pass, or to be skipped, gains nothing by shadow mode."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import get_args

import pytest
from pydantic import ValidationError
from tests.adapters.ledgers import Story
from tests.scenarios.five_stories import STORIES
from tests.scenarios.publishing import AUTHOR, LINES, MAINTAINER, PATH, REPOSITORY, Desk
from tests.scenarios.test_shadow_mode import BAD, SHADOW, ShadowDesk

from review_advisor.app.ci import rules_at
from review_advisor.app.configuration import believed_base, mended_on, publication_rules
from review_advisor.change.pull_request import MergeGroupEvent
from review_advisor.github.begin import BeginPhase
from review_advisor.github.publish import DidNotRun
from review_advisor.github.writes import Check, Conclusion
from review_advisor.mockworld.agents import approve, reject
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.policy import Mode
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.scope import WHOLE
from review_advisor.review.events import PolicyFrozen
from review_advisor.review.own_facts import OwnFacts, contradiction

CONFIG = ".review-advisor.toml"
SHADOWED = 'mode = "shadow"\n'
REQUIRED = "review-advisor"


def believed(desk: Desk) -> PublicationRules:
    pull_request = desk.forge.pull_request(desk.pull.number)
    return rules_at(desk.forge, believed_base(desk.forge, pull_request).commit)[0]


def as_enforcing(desk: ShadowDesk) -> None:
    """The configuration becomes ``mode = "enforce"``."""
    desk.rules = PublicationRules()
    desk.world.rules = replace(desk.world.rules, mode="enforce")


def passed(desk: Desk) -> list[str | None]:
    """What the required check says on the present head."""
    runs = desk.github.repository(REPOSITORY).checks.values()
    return [each.conclusion for each in runs if (each.name, each.commit) == (REQUIRED, desk.pull.head_sha)]


# --- the mode decides nothing of a review ---


@pytest.mark.one_in(3)
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_a_review_in_shadow_mode_asks_and_decides_what_it_does_in_force(story: Story) -> None:
    enforcing, shadow = MockWorld(), MockWorld()
    shadow.rules = replace(shadow.rules, mode="shadow")
    documents = []
    for world in (enforcing, shadow):
        story(world)
        documents.append(world.review())
    assert shadow.agents.asked == enforcing.agents.asked
    before, after = documents
    assert (before.policy.mode, after.policy.mode) == ("enforce", "shadow")
    assert replace(after, policy=before.policy, events=before.events) == before
    assert after.events[1:] == before.events[1:]


# --- who says what the mode is ---


def test_a_pull_request_that_switches_to_shadow_is_judged_under_the_mode_of_its_base() -> None:
    desk = Desk()
    desk.github.pushes(desk.pull, {CONFIG: SHADOWED})
    assert (believed(desk).is_shadow, believed(desk).check_name) == (False, REQUIRED)


def test_a_base_branch_of_the_authors_own_does_not_switch_to_shadow() -> None:
    desk = Desk()
    desk.github.commits(REPOSITORY, "mine", {CONFIG: SHADOWED}, by=AUTHOR)
    desk.pull.base_ref = "mine"
    assert not believed(desk).is_shadow


@pytest.mark.parametrize("mended", [SHADOWED, f"{SHADOWED}language = 'French'\n", ""])
def test_who_mends_a_broken_configuration_does_not_choose_the_mode(mended: str) -> None:
    desk = Desk()
    tip = desk.github.commits(REPOSITORY, "main", {CONFIG: 'laguage = "French"\n'}, by=MAINTAINER)
    pull = desk.github.opens(REPOSITORY, {CONFIG: mended}, by=AUTHOR)
    found = mended_on(desk.forge, desk.forge.pull_request(pull.number), tip)
    assert found is not None
    assert not publication_rules(found[0]).is_shadow
    assert not rules_at(desk.forge, tip)[0].is_shadow


def test_a_slip_in_a_configuration_of_shadow_mode_reports_no_required_check() -> None:
    desk = Desk()
    tip = desk.github.commits(REPOSITORY, "main", {CONFIG: f'{SHADOWED}laguage = "French"\n'}, by=MAINTAINER)
    rules, why = rules_at(desk.forge, tip)
    assert (rules.check_name, bool(why)) == (SHADOW, True)


@pytest.mark.parametrize(
    "text", ['mode = "Shadow"\n', "mode = true\n", 'mode = "shadow"\nmode = "shadow"\n', "mode = ["]
)
def test_a_mode_that_cannot_be_read_is_not_shadow(text: str) -> None:
    desk = Desk()
    tip = desk.github.commits(REPOSITORY, "main", {CONFIG: text}, by=MAINTAINER)
    rules, why = rules_at(desk.forge, tip)
    assert (rules.check_name, bool(why)) == (REQUIRED, True)


# --- what a shadow check may say ---


@pytest.mark.parametrize("name, conclusion", tuple(product((REQUIRED, SHADOW), Conclusion)))
def test_only_a_shadow_check_is_neutral_and_no_shadow_check_passes(name: str, conclusion: Conclusion) -> None:
    allowed = conclusion is not (Conclusion.SUCCESS if name == SHADOW else Conclusion.NEUTRAL)
    try:
        Check(name, "pr-1", "title", "summary", conclusion)
    except ValueError:
        assert not allowed
    else:
        assert allowed


@pytest.mark.parametrize("name", [SHADOW, "gate (shadow)", "gate (Shadow)"])
def test_no_configuration_gives_the_required_check_the_name_of_a_shadow_check(name: str) -> None:
    with pytest.raises(ValidationError, match="shadow"):
        PublicationRules(check_name=name)


# --- what a shadow review leaves behind ---


@pytest.mark.parametrize("end", ["approve", "override", "dismiss", "queue", "left out"])
def test_nothing_in_shadow_mode_writes_the_required_check(end: str) -> None:
    desk = ShadowDesk(PublicationRules(skip_bases=("main",) if end == "left out" else ()))
    desk.begins()
    desk.shadows(desk.reviewed(approve() if end in ("approve", "queue") else reject(BAD)))
    if end in ("override", "dismiss"):
        what = desk.pull.head_sha if end == "override" else "f-01234567890123456789012345678901"
        desk.hears(MAINTAINER, f"/advisor {end} {what} it is urgent")
    if end == "queue":
        _queued(desk)
    assert {name for name, _ in desk.every_check()} == {SHADOW}
    assert "success" not in {conclusion for _, conclusion in desk.every_check()}


def test_an_override_in_shadow_mode_leaves_a_failed_required_check_failed() -> None:
    desk = ShadowDesk()
    as_enforcing(desk)
    desk.publish(desk.reviewed(reject(BAD)))
    desk.rules = desk.rules.of_mode("shadow")
    desk.hears(MAINTAINER, f"/advisor override {desk.pull.head_sha} it is urgent")
    assert passed(desk) == ["failure"]
    assert desk.state is not None
    assert desk.state.approved_by == ""


def test_a_pass_in_shadow_mode_lets_the_enforcing_check_neither_pass_nor_skip_anything() -> None:
    """The first enforcing review of the very same head reads the whole change, and its own verdict counts."""
    desk = ShadowDesk()
    desk.begins()
    desk.shadows(desk.reviewed(approve()))
    as_enforcing(desk)
    assert _queued(desk) == ["action_required"], "the queue asks for the enforcing check"
    begun = desk.begins("reopened")
    assert (begun.review, begun.memory, passed(desk)) == (True, "", [None])
    document = desk.reviewed(reject(BAD))
    assert document.scope == WHOLE
    desk.publish(document)
    assert passed(desk) == ["failure"]


def test_a_second_pull_request_into_a_base_in_shadow_mode_borrows_no_pass_of_the_first() -> None:
    """A check belongs to a commit: the review against one branch would pass the required check of another."""
    desk = ShadowDesk()
    as_enforcing(desk)
    desk.publish(desk.reviewed(approve()))
    assert passed(desk) == ["success"]
    first, desk.pull = desk.pull, desk.github.opens(REPOSITORY, {PATH: LINES}, by=AUTHOR, sha=desk.pull.head_sha)
    assert first.head_sha == desk.pull.head_sha
    desk.rules = desk.rules.of_mode("shadow")
    desk.begins()
    assert passed(desk) == ["action_required"]


@pytest.mark.parametrize("action, stands", [("edited", "cancelled"), ("reopened", "success")])
def test_a_change_of_the_base_branch_in_shadow_mode_takes_the_pass_against_another_one_back(
    action: str, stands: str
) -> None:
    """Where nothing but the mode has changed, the enforcing review keeps its word on its head."""
    desk = ShadowDesk()
    as_enforcing(desk)
    desk.publish(desk.reviewed(approve()))
    desk.rules = desk.rules.of_mode("shadow")
    desk.begins(action)
    assert passed(desk) == [stands]


def test_a_command_that_was_given_in_shadow_mode_settles_nothing_later() -> None:
    desk = ShadowDesk()
    desk.shadows(desk.reviewed(reject(BAD)))
    desk.hears(MAINTAINER, f"/advisor override {desk.pull.head_sha} it is urgent")
    as_enforcing(desk)
    desk.publish(desk.reviewed(reject(BAD)))
    desk.begins("reopened")
    assert desk.state is not None
    assert (desk.state.approved_by, "success" in passed(desk)) == ("", False)


@pytest.mark.parametrize("ran", get_args(Mode))
def test_an_outcome_of_the_other_mode_is_no_review(ran: Mode) -> None:
    desk = ShadowDesk()
    desk.world.rules = replace(desk.world.rules, mode=ran)
    document = desk.reviewed(approve())
    (first, *_) = document.events
    assert isinstance(first, PolicyFrozen)
    other = replace(desk.world.rules, mode="enforce" if ran == "shadow" else "shadow")
    for rules, said in ((desk.world.rules, None), (other, f"its review ran in mode {ran}")):
        known = OwnFacts((PATH,), rules, (), fail_as_veto=False, redact=str)
        found = contradiction(first, known)
        assert (found is None) if said is None else (found is not None and said in found)


def test_a_shadow_review_that_did_not_run_fails_whatever_was_there_before() -> None:
    desk = ShadowDesk()
    desk.shadows(desk.reviewed(approve()))
    desk.begins("reopened")
    desk.shadows(DidNotRun("job-2", desk.pull.head_sha, "The review's job ended without an outcome."))
    assert desk.every_check() == [(SHADOW, "failure")]


def _queued(desk: ShadowDesk) -> list[str | None]:
    """The merge queue asks for the check of its commit; what every check on it says."""
    name = f"gh-readonly-queue/main/pr-{desk.pull.number}-{desk.pull.head_sha}"
    made = desk.github.commits(REPOSITORY, name, {}, by="github-merge-queue[bot]")
    base = desk.github.base_sha(desk.pull)
    BeginPhase(desk.bot()).begin(MergeGroupEvent("checks_requested", REPOSITORY, made, f"refs/heads/{name}", base))
    return [each.conclusion for each in desk.github.repository(REPOSITORY).checks.values() if each.commit == made]
