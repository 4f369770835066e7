"""An outcome whose record is sound in itself, and not of this change or not under this configuration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.adapters.pull_request_world import APP, LINES, OTHER, Actions, WorkflowRun

from review_advisor.core.facts.change import Status
from review_advisor.core.outcome.document import outcome_document, outcome_json, read_outcome
from review_advisor.core.outcome.events import PolicyFrozen
from review_advisor.core.outcome.soundness import unsound
from review_advisor.core.policy.blast import blast_radius
from review_advisor.core.policy.budgets import surface_retry_budget
from review_advisor.core.policy.policy import Policy
from review_advisor.mockworld.github.records import Pull, PullFile

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
