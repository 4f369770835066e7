"""The shipped workflow, unchanged, in a repository whose configuration says ``mode = "shadow"``."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.adapters.git_remote import NAME
from tests.adapters.github.webhook_events import Events
from tests.adapters.pull_request_world import APP, AUTHOR, LINES, MAINTAINER, OWNER, Actions, WorkflowRun

from review_advisor.mockworld.agents import approve, finding, reject, veto
from review_advisor.mockworld.github_records import Pull

pytestmark = pytest.mark.every_case  # `make test` runs the ones of their kind

CONFIG = ".review-advisor.toml"
SHADOWED = 'mode = "shadow"\n'
ENFORCED = 'mode = "enforce"\n'
SHADOW = "review-advisor (shadow)"
RIGHT = LINES + "value = 32\n"
DEEP = LINES + "value = 33\n"
FAULT = finding(APP, 31, "value = 32", "critical", title="thirty-two is wrong")


def outcome(ran: WorkflowRun) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(ran.outcome.read_text())
    return document


def told(actions: Actions, pull: Pull) -> list[tuple[str, str | None]]:
    """The checks on its head."""
    return [(each.name, each.conclusion) for each in actions.checks(pull.head_sha)]


def is_quiet(pull: Pull) -> bool:
    return (pull.comments, pull.reviews, pull.labels, pull.requested_users) == ([], [], [], [])


def test_a_life_in_shadow_mode_and_then_in_force(actions: Actions) -> None:
    """A rejection, a pass, the switch to enforce: the enforcing check begins afresh, and nothing is left out."""
    actions.main_becomes({CONFIG: SHADOWED})
    pull = actions.opens({APP: RIGHT})
    actions.models.executor_says(reject(FAULT))
    ran = actions.happens("opened", pull)
    assert told(actions, pull) == [(SHADOW, "neutral")]
    assert actions.check(pull).title == "Would have been: Changes requested: 1 critical"
    assert "thirty-two is wrong" in (actions.check(pull).summary or "")
    assert is_quiet(pull)
    assert outcome(ran)["policy"]["mode"] == "shadow"
    assert not list(ran.home.glob("*.sarif")), "code scanning would show it in the diff"
    assert "Would have been" in (ran.place / "step-summary.md").read_text()

    actions.pushed(pull, {APP: DEEP})
    assert told(actions, pull) == [(SHADOW, "neutral")]
    assert is_quiet(pull)

    actions.main_becomes({CONFIG: ENFORCED})
    ran = actions.happens("reopened", pull)
    assert told(actions, pull) == [(SHADOW, "neutral"), ("review-advisor", "success")]
    assert outcome(ran)["scope"]["since"] is None
    assert len(actions.summaries(pull)) == 1


@pytest.mark.every_case
@pytest.mark.one_of_its_kind
def test_a_pull_request_that_switches_to_shadow_is_judged_in_force_and_guarded(actions: Actions) -> None:
    pull = actions.opens({CONFIG: SHADOWED})
    ran = actions.happens("opened", pull)
    assert told(actions, pull) == [("review-advisor", "success")]
    policy = outcome(ran)["policy"]
    assert (policy["mode"], policy["guard"]["paths"], policy["blast"]["radius"]) == ("enforce", [CONFIG], "high")


def test_a_pull_request_that_switches_to_enforce_is_judged_in_shadow_and_guarded(actions: Actions) -> None:
    actions.main_becomes({CONFIG: SHADOWED})
    pull = actions.opens({CONFIG: ENFORCED})
    ran = actions.happens("opened", pull)
    assert told(actions, pull) == [(SHADOW, "neutral")]
    policy = outcome(ran)["policy"]
    assert (policy["mode"], policy["guard"]["paths"]) == ("shadow", [CONFIG])


@pytest.mark.parametrize("before, after", [(ENFORCED, SHADOWED), (SHADOWED, ENFORCED)])
def test_a_mode_that_changes_while_a_review_runs_leaves_no_verdict(actions: Actions, before: str, after: str) -> None:
    """The review began in one mode; the other mode's check says that it did not run, and its own is superseded."""
    actions.main_becomes({CONFIG: before})
    pull = actions.opens({APP: RIGHT})
    ran = actions.starts("opened", pull).begin().review()
    actions.main_becomes({CONFIG: after})
    ran.publish()
    first = "review-advisor" if before == ENFORCED else SHADOW
    other = SHADOW if before == ENFORCED else "review-advisor"
    assert told(actions, pull) == [(first, "cancelled"), (other, "failure")]


def test_a_shadow_review_without_an_outcome_fails_the_shadow_check_and_only_that(actions: Actions) -> None:
    actions.main_becomes({CONFIG: SHADOWED})
    pull = actions.opens({APP: RIGHT})
    actions.starts("opened", pull).begin().publish()
    assert told(actions, pull) == [(SHADOW, "failure")]
    assert is_quiet(pull)


def test_where_the_token_may_not_write_the_log_annotates_nothing_in_shadow_mode(actions: Actions) -> None:
    """GitHub would show the log's commands in the diff."""
    actions.main_becomes({CONFIG: SHADOWED})
    pull = actions.opens({APP: RIGHT})
    actions.models.executor_says(reject(FAULT))
    ran = actions.starts("opened", pull).begin().review()
    done = actions.perform(ran, "review", "Publish", ran.publishing())
    assert done.code == 12
    assert "Changes requested" in done.out
    assert f"- critical {APP}:31: thirty-two is wrong" in done.out
    assert "::" not in done.out


def test_an_escalation_in_shadow_mode_calls_nobody(actions: Actions) -> None:
    actions.main_becomes({CONFIG: f'{SHADOWED}[github]\nreviewers = ["{MAINTAINER}"]\n'})
    pull = actions.opens({APP: RIGHT})
    actions.models.executor_says(approve(), approve(FAULT))
    actions.models.judge_says(veto("no"), veto("no"))
    actions.happens("opened", pull)
    assert (actions.check(pull).title or "").startswith("Would have been: A person has to decide")
    assert is_quiet(pull)


@pytest.mark.parametrize("slip", ["", 'laguage = "French"\n'])
@pytest.mark.parametrize("by", ["a second pull request", "another base branch"])
def test_no_pass_against_an_enforcing_branch_counts_for_one_in_shadow_mode(
    actions: Actions, by: str, slip: str
) -> None:
    """A slip in the configuration leaves the mode as it is, and the required check as it has to be."""
    trusting = '[github]\ntrusted_bases = ["release"]\n'
    actions.main_becomes({CONFIG: SHADOWED + trusting})
    actions.branch_becomes("release", {CONFIG: ENFORCED}, by=OWNER)
    pull = actions.opens({APP: RIGHT}, base="release")
    actions.happens("opened", pull)
    assert told(actions, pull) == [("review-advisor", "success")]
    actions.main_becomes({CONFIG: SHADOWED + slip + trusting})
    if by == "another base branch":
        actions.github.retargets(pull, "main")
        payload = Events(actions.github).retargeted(pull, by=OWNER, from_ref="release", from_sha=pull.head_sha)
        actions.to_its_end(actions.event("pull_request_target", payload))
    else:
        second = actions.github.opens(NAME, {}, by=AUTHOR, branch="same", sha=pull.head_sha)
        actions.git.push(f"{pull.head_sha}:refs/pull/{second.number}/head")
        actions.happens("opened", second)
    assert [each for name, each in told(actions, pull) if name == "review-advisor"] != ["success"]


def test_a_merge_queue_is_neither_passed_nor_failed_in_shadow_mode(actions: Actions) -> None:
    actions.main_becomes({CONFIG: SHADOWED})
    pull = actions.opens({APP: RIGHT})
    actions.happens("opened", pull)
    sha = actions.github.commits(
        pull.repository, f"gh-readonly-queue/main/pr-{pull.number}-{pull.head_sha}", {}, by=OWNER
    )
    ran = actions.event("merge_group", Events(actions.github).queued(pull, by=OWNER, sha=sha)).begin()
    assert (ran.began, actions.checks(sha)) == (False, [])


def test_a_configuration_with_a_slip_fails_the_check_of_its_mode(actions: Actions) -> None:
    actions.main_becomes({CONFIG: f'{SHADOWED}laguage = "French"\n'})
    pull = actions.opens({APP: RIGHT})
    assert not actions.starts("opened", pull).begin().began
    assert told(actions, pull) == [(SHADOW, "failure")]


def test_who_mends_the_configuration_is_reviewed_whatever_it_leaves_out(actions: Actions) -> None:
    left_out = f'{SHADOWED}[github]\nskip_bases = ["main"]\n'
    actions.main_becomes({CONFIG: f'{left_out}check_naem = "x"\n'})
    pull = actions.opens({CONFIG: left_out})
    actions.happens("opened", pull)
    assert told(actions, pull) == [(SHADOW, "neutral")]
