"""An outcome that makes the change or the configuration milder than they are known to be is contradicted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from review_advisor.core.facts.files.critical import CriticalPaths
from review_advisor.core.outcome.events import FileFact, PolicyFrozen
from review_advisor.core.outcome.own_facts import UNREADABLE, OwnFacts, contradiction
from review_advisor.core.policy.blast import BlastRadius
from review_advisor.core.policy.guard import Guard
from review_advisor.mockworld.world import MockWorld

WORLD = MockWorld()
FIRST = WORLD.review().events[0]
assert isinstance(FIRST, PolicyFrozen)
(FACT,) = FIRST.files
KNOWN = OwnFacts(("src/app.py",), WORLD.rules, ("CLAUDE.md",), fail_as_veto=False, redact=lambda text: text)


def recorded(*files: FileFact, **policy: Any) -> PolicyFrozen:
    assert isinstance(FIRST, PolicyFrozen)
    return replace(FIRST, files=files or FIRST.files, policy=replace(FIRST.policy, **policy))


def told(first: PolicyFrozen, **known: Any) -> str | None:
    return contradiction(first, replace(KNOWN, **known))


def test_a_record_of_the_change_under_the_configuration_is_not_contradicted() -> None:
    assert told(recorded()) is None


def test_a_file_that_the_record_leaves_out_is_named() -> None:
    left_out = "its record leaves out 'src/other.py', which the pull request changes"
    assert told(recorded(), paths=("src/app.py", "src/other.py")) == left_out
    assert told(recorded(FACT, replace(FACT, path="src/other.py")), paths=("src/app.py", "src/other.py")) is None
    assert told(recorded(FACT, replace(FACT, path="extra.py"))) is None, "a record may say more"


def test_a_renamed_file_is_recorded_under_both_names() -> None:
    renamed = replace(FACT, path="src/new.py", old_path="src/app.py")
    assert told(recorded(renamed), paths=("src/new.py", "src/app.py")) is None
    alone = replace(renamed, old_path=None)
    assert told(recorded(alone), paths=("src/new.py", "src/app.py")) == (
        "its record leaves out 'src/app.py', which the pull request changes"
    )


def test_a_name_is_compared_as_the_outcome_shows_it_and_one_that_is_no_text_is_not() -> None:
    assert (
        told(recorded(replace(FACT, path="src/[gone].py")), redact=lambda text: text.replace("app", "[gone]")) is None
    )
    assert told(recorded(), paths=("src/app.py", f"src/{UNREADABLE}.py")) is None


def test_a_critical_path_that_the_policy_does_not_name_is_a_contradiction() -> None:
    rules = replace(WORLD.rules, critical_paths=CriticalPaths(globs=("src/",)))
    assert told(recorded(), rules=rules) == "its policy does not say that 'src/app.py' is a critical path"
    assert told(recorded(critical_touched=("src/app.py",)), rules=rules) is None
    assert told(recorded(critical_touched=("src/other.py",)), rules=rules) is not None
    assert told(recorded(), rules=replace(rules, critical_paths=CriticalPaths(globs=("other/",)))) is None


def test_a_watched_workflow_that_the_guard_does_not_name_is_a_contradiction() -> None:
    what = "its policy does not say that 'src/app.py' is part of the bot's own implementation"
    assert told(recorded(), watched=("src/app.py",)) == what
    assert told(recorded(guard=Guard(("src/app.py",))), watched=("src/app.py",)) is None


def test_an_own_file_that_the_guard_does_not_name_is_a_contradiction() -> None:
    what = "its policy does not say that 'src/app.py' is part of the bot's own implementation"
    assert told(recorded(), implementation=("src/app.py",)) == what
    assert told(recorded(guard=Guard(("src/app.py",))), implementation=("src/app.py",)) is None
    shown = recorded(replace(FACT, path="src/[gone].py"), guard=Guard(("src/[gone].py",)))
    assert told(shown, implementation=("src/app.py",), redact=lambda text: text.replace("app", "[gone]")) is None


@pytest.mark.parametrize("configured, said, milder", [(True, False, True), (True, True, False), (False, True, False)])
def test_a_switch_that_the_policy_leaves_out_is_a_contradiction(configured: bool, said: bool, milder: bool) -> None:
    degraded = told(recorded(fail_on_degraded=said), rules=replace(WORLD.rules, fail_on_degraded=configured))
    assert degraded == ("its policy leaves out `fail_on` of the configuration" if milder else None)
    as_veto = told(recorded(fail_as_veto=said), fail_as_veto=configured)
    switch = "its policy leaves out HYDRAFLOW_REVIEW_POSTVERIFY_FAIL_AS_VETO"
    assert as_veto == (switch if milder else None)


@pytest.mark.parametrize(
    "field, unit", [("call_seconds", "seconds for a call"), ("review_seconds", "seconds for the review")]
)
def test_a_longer_time_than_the_configuration_allows_is_a_contradiction(field: str, unit: str) -> None:
    assert isinstance(FIRST, PolicyFrozen)
    allowed: dict[str, Any] = {field: 100.0}
    rules = replace(WORLD.rules, **allowed)
    for seconds, says in (
        (99.0, None),
        (100.0, None),
        (101.0, f"its policy allows 101 {unit}, and the configuration 100"),
    ):
        said: dict[str, Any] = {field: seconds}
        budgets = replace(FIRST.policy.budgets, **said)
        assert told(recorded(budgets=budgets), rules=rules) == says


def test_more_money_than_the_blast_radius_and_the_parts_allow_is_a_contradiction() -> None:
    assert isinstance(FIRST, PolicyFrozen)
    assert FIRST.policy.blast.radius is BlastRadius.LOW
    rules = replace(WORLD.rules, usd_by_blast={**WORLD.rules.usd_by_blast, BlastRadius.LOW: 1.0}, max_usd=30.0)
    for dollars, says in ((1.0, None), (1.5, "its policy allows 1.5 USD, and the configuration 1")):
        first = recorded(budgets=replace(FIRST.policy.budgets, max_usd=dollars))
        assert told(first, rules=rules) == says
        assert told(replace(first, shards=3), rules=rules) is None, "parts raise it"
        assert told(replace(first, shards=3), rules=replace(rules, max_usd=1.0)) == says
