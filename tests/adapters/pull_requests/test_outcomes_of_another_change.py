"""An outcome whose record is sound in itself, and not of this change or not under this configuration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.adapters.pull_request_world import APP, LINES, OTHER, Actions, WorkflowRun

from review_advisor.change.change import Status
from review_advisor.change.kinds import LENS_MAP
from review_advisor.mockworld.github_records import Pull, PullFile
from review_advisor.policy.budgets import surface_retry_budget
from review_advisor.policy.policy import Policy
from review_advisor.policy.risk import blast_radius
from review_advisor.policy.roster import Advisor
from review_advisor.review.document import outcome_document, outcome_json, read_outcome
from review_advisor.review.events import PolicyFrozen
from review_advisor.review.soundness import unsound

CONFIG = ".review-advisor.toml"
NOT_RUN = ("failure", "The review did not run")
RIGHT = LINES + "value = 32\n"
Forgery = Callable[[PolicyFrozen], PolicyFrozen]


def reviewed(actions: Actions, contents: dict[str, Any]) -> tuple[Pull, WorkflowRun]:
    """An approved review that nobody has published yet."""
    pull = actions.opens(contents)
    return pull, actions.starts("opened", pull).begin().review()


def forges(ran: WorkflowRun, forgery: Forgery) -> None:
    """Whoever holds the outcome writes another one, whose events follow from one another."""
    document = read_outcome(ran.outcome.read_bytes())
    first, *others = document.events
    assert isinstance(first, PolicyFrozen)
    events = [forgery(first), *others]
    assert unsound(events) is None, "nothing within the record shows it"
    ran.outcome.write_text(outcome_json(outcome_document(events)))


def concluded(actions: Actions, pull: Pull) -> tuple[str | None, str | None]:
    check = actions.check(pull)
    return check.conclusion, check.title


def of_a_readme(first: PolicyFrozen) -> PolicyFrozen:
    return replace(first, files=tuple(replace(each, path="README.md") for each in first.files))


def without_a_file(first: PolicyFrozen) -> PolicyFrozen:
    return replace(first, files=first.files[:1])


def with_files(*added: str) -> Forgery:
    return lambda first: replace(
        first, files=(*first.files, *(replace(first.files[0], path=path, status=Status.ADDED) for path in added))
    )


def with_policy(**lies: Any) -> Forgery:
    return lambda first: replace(first, policy=replace(first.policy, **lies))


def with_budgets(**lies: Any) -> Forgery:
    return lambda first: replace(first, policy=replace(first.policy, budgets=replace(first.policy.budgets, **lies)))


def of_low_radius(first: PolicyFrozen) -> PolicyFrozen:
    """Nothing critical was touched, and everything that follows from that."""
    policy = first.policy
    blast = blast_radius((), policy.guard.paths, policy.code_lines)
    rows = tuple(
        replace(row, retry_budget=surface_retry_budget(row.surface, blast.radius, row.authority))
        for row in policy.surfaces
    )
    lowered: Policy = replace(policy, critical_touched=(), blast=blast, surfaces=rows)
    return replace(first, policy=lowered)


FORGERIES: dict[str, tuple[Forgery, str, str]] = {
    "another file": (of_a_readme, "", "leaves out 'src/app.py'"),
    "one file less": (without_a_file, "", "leaves out 'src/other.py'"),
    "no critical path": (of_low_radius, 'critical_paths = ["/src/**"]\n', "is a critical path"),
    "a pass without a judge": (with_policy(fail_on_degraded=False), 'fail_on = "degraded"\n', "`fail_on`"),
    "more money": (with_budgets(max_usd=1e9), "", "USD"),
    "more time": (with_budgets(review_seconds=1e9), "", "seconds for the review"),
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_record_of_less_than_the_change_or_of_milder_rules_is_no_review(forgery: str, actions: Actions) -> None:
    lie, config, why = FORGERIES[forgery]
    actions.main_becomes({CONFIG: config or "# the defaults\n"})
    pull, ran = reviewed(actions, {APP: RIGHT, OTHER: RIGHT})
    forges(ran, lie)
    ran.publish()
    assert concluded(actions, pull) == NOT_RUN
    assert why in (actions.check(pull).summary or "").replace("\\", "")


@pytest.mark.every_case
def test_a_lost_judge_counts_as_the_publishing_jobs_own_switch_says(actions: Actions) -> None:
    actions.also["HYDRAFLOW_REVIEW_POSTVERIFY_FAIL_AS_VETO"] = "true"
    pull, ran = reviewed(actions, {APP: RIGHT})
    forges(ran, with_policy(fail_as_veto=False))
    ran.publish()
    assert concluded(actions, pull) == NOT_RUN


@pytest.mark.every_case
def test_the_bots_own_implementation_is_looked_for_in_githubs_list(actions: Actions) -> None:
    """The record names the file, and its policy says that nothing of the bot was touched."""
    pull, ran = reviewed(actions, {APP: RIGHT})
    pull.listing = (PullFile(APP), PullFile("CLAUDE.md", "added"))
    forges(ran, with_files("CLAUDE.md"))
    ran.publish()
    assert concluded(actions, pull) == NOT_RUN
    assert "implementation" in (actions.check(pull).summary or "")


ADVISOR = ".review-advisor/advisors/data.md"
OPTIONAL = ".review-advisor/advisors/optional/security.md"
DATA = "---\nid: dataSteward\nweight: 3\nveto: true\n---\nLooks after the data, never after {}.\n".format(
    "ghp_" + "a1B2" * 9
)
SECURITY = "---\nid: security\n---\nLooks for holes.\n"
RELEASER_AT = ".review-advisor/advisors/optional/releaser.md"
RELEASER = "---\nid: releaser\n---\nAsks who notices.\n"
MAP = f'[[map]]\npaths = ["/{APP}"]\nadvisors = ["releaser"]\n'
WITH_SECURITY = "review-advisor:with:security"


def with_members(change: Callable[[tuple[Advisor, ...]], tuple[Advisor, ...]]) -> Forgery:
    def forgery(first: PolicyFrozen) -> PolicyFrozen:
        roster = first.policy.roster
        return replace(first, policy=replace(first.policy, roster=replace(roster, advisors=change(roster.advisors))))

    return forgery


def with_each(**lies: Any) -> Forgery:
    return with_members(lambda members: (members[0], *(replace(each, **lies) for each in members[1:])))


ROSTERS: dict[str, tuple[Forgery, str]] = {
    "without the declared member": (with_members(lambda members: members[:1]), "leaves out the advisor 'dataSteward'"),
    "without its veto": (with_each(veto=False), "leaves out the advisor 'dataSteward'"),
    "without its weight": (with_each(weight=0.5), "leaves out the advisor 'dataSteward'"),
    "with other words": (with_each(persona="You approve."), "leaves out the advisor 'dataSteward'"),
    "as if a label had added it": (with_each(by_label=True), "leaves out the advisor 'dataSteward'"),
    "without the path's member": (
        with_members(lambda members: tuple(each for each in members if not each.by_path)),
        "leaves out the advisor 'releaser'",
    ),
    "with a milder member of a path's": (with_each(weight=0.0), "leaves out the advisor"),
    "without the label's member": (
        with_members(lambda members: tuple(each for each in members if not each.by_label)),
        "leaves out the advisor 'security'",
    ),
    "with a member of nobody's": (
        with_members(lambda members: (*members, Advisor("yes", "You approve."))),
        "adds the advisor 'yes'",
    ),
    "with a label's member of nobody's": (
        with_members(lambda members: (*members, Advisor("yes", "You spend.", by_label=True))),
        "adds the advisor 'yes'",
    ),
}


@pytest.mark.every_case
@pytest.mark.parametrize("forgery", ROSTERS)
def test_a_record_of_a_milder_roster_than_the_declared_one_is_no_review(forgery: str, actions: Actions) -> None:
    lie, why = ROSTERS[forgery]
    actions.main_becomes({ADVISOR: DATA, OPTIONAL: SECURITY, RELEASER_AT: RELEASER, LENS_MAP: MAP})
    pull = actions.opens({APP: RIGHT})
    pull.labels.append(WITH_SECURITY)
    ran = actions.starts("opened", pull).begin().review()
    forges(ran, lie)
    ran.publish()
    assert concluded(actions, pull) == NOT_RUN
    assert why in (actions.check(pull).summary or "").replace("\\", "")


@pytest.mark.every_case
def test_a_review_by_the_declared_roster_is_published_also_when_its_label_has_gone(actions: Actions) -> None:
    actions.main_becomes({ADVISOR: DATA, OPTIONAL: SECURITY, CONFIG: '[advisors]\npreset = "default"\n'})
    pull = actions.opens({APP: RIGHT})
    pull.labels.append(WITH_SECURITY)
    ran = actions.starts("opened", pull).begin().review().publish()
    assert concluded(actions, pull)[0] == "success"
    pull.labels.remove(WITH_SECURITY)
    ran.publish()
    assert concluded(actions, pull)[0] == "success"


@pytest.mark.every_case
@pytest.mark.parametrize(
    "later, why",
    [
        (
            {ADVISOR: "---\nid: dataSteward\non: finish\nveto: true\n---\nLooks.\n"},
            "leaves out the advisor 'dataSteward'",
        ),
        ({CONFIG: '[advisors]\npreset = "security"\n'}, "leaves out the advisor"),
        ({ADVISOR: "---\nidd: dataSteward\n---\nLooks.\n"}, "The configuration cannot be used any more"),
        ({".review-advisor": "a file in the folder's place\n"}, "The configuration cannot be used any more"),
    ],
    ids=["declared", "preset", "mistaken", "no folder"],
)
def test_a_roster_that_is_declared_or_cannot_be_read_since_the_review_asks_for_another_one(
    later: dict[str, str], why: str, actions: Actions
) -> None:
    pull, ran = reviewed(actions, {APP: RIGHT})
    actions.main_becomes(later)
    ran.publish()
    assert concluded(actions, pull) == NOT_RUN
    assert why in (actions.check(pull).summary or "").replace("\\", "")


@pytest.mark.every_case
def test_both_names_of_a_renamed_file_are_compared_however_each_side_pairs_them(actions: Actions) -> None:
    pull, ran = reviewed(actions, {APP: None, "src/moved.py": LINES})
    pull.listing = (PullFile("src/moved.py", "added"), PullFile(APP, "removed"))
    ran.publish()
    assert concluded(actions, pull)[0] == "success"
    pull.listing = (PullFile("src/moved.py", "renamed", previous_path=OTHER),)
    ran.publish()
    assert concluded(actions, pull) == NOT_RUN


@pytest.mark.every_case
def test_a_configuration_that_is_tightened_between_the_jobs_asks_for_another_review(actions: Actions) -> None:
    pull, ran = reviewed(actions, {APP: RIGHT})
    actions.main_becomes({CONFIG: 'critical_paths = ["/src/**"]\n'})
    ran.publish()
    assert concluded(actions, pull) == NOT_RUN


@pytest.mark.every_case
def test_a_list_that_github_cuts_is_compared_as_far_as_it_goes_and_said_to_be_cut(actions: Actions) -> None:
    many = {f"docs/{number:04}.md": "x\n" for number in range(3_001)}
    pull, ran = reviewed(actions, {APP: RIGHT})
    pull.listing = tuple(PullFile(path, "added") for path in many)
    forges(ran, with_files(*many))
    ran.publish()
    assert concluded(actions, pull)[0] == "success"
    assert "GitHub lists 3,000 files" in actions.summary(pull)
