"""An outcome that makes the change or the configuration milder than they are known to be is contradicted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from review_advisor.change.kinds import CriticalPaths
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.risk import BlastRadius, Guard
from review_advisor.policy.roster import ADR_ADVISOR, DEFAULT_ROSTER, Advisor, Roster
from review_advisor.review.events import FileFact, PolicyFrozen
from review_advisor.review.own_facts import UNREADABLE, OwnFacts, contradiction

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
    rules = replace(WORLD.rules, max_usd=30.0)
    for dollars, says in ((4.6, None), (4.7, "its policy allows 4.7 USD, and the configuration 4.6")):
        first = recorded(budgets=replace(FIRST.policy.budgets, max_usd=dollars))
        assert told(first, rules=rules) == says
        assert told(replace(first, shards=3), rules=rules) is None, "parts raise it"
        assert told(replace(first, shards=3), rules=replace(rules, max_usd=4.6)) == says


SECURITY = Advisor("security", "You look for holes.", on="finish", weight=2.0, veto=True)


COUNCIL = replace(WORLD.rules, roster=Roster((ADR_ADVISOR, SECURITY)))


@pytest.mark.parametrize(
    "lie",
    [
        {"veto": False},
        {"weight": 1.0},
        {"on": None},
        {"persona": "You approve."},
        {"model": "cheap"},
        {"scopes": ("docs",)},
        {"instanced": True},
        {"answer": "{}"},
        {"by_label": True},
        {"by_path": True},
        {"temperament": "pragmatic"},
    ],
)
def test_an_advisor_that_the_policy_lacks_or_changes_is_a_contradiction(lie: dict[str, Any]) -> None:
    why = "its policy leaves out the advisor {!r} of the configuration, or changes it"
    assert told(recorded(roster=COUNCIL.roster), rules=COUNCIL) is None
    assert told(recorded(roster=DEFAULT_ROSTER), rules=COUNCIL) == why.format("security")
    for member in (SECURITY, ADR_ADVISOR):
        changed = tuple(replace(each, **lie) if each is member else each for each in COUNCIL.roster.advisors)
        if changed != COUNCIL.roster.advisors:
            assert told(recorded(roster=Roster(changed)), rules=COUNCIL) == why.format(member.id)


@pytest.mark.parametrize("by_label,by_path", [(False, False), (True, False), (False, True)])
def test_an_advisor_that_the_configuration_names_nowhere_is_a_contradiction(by_label: bool, by_path: bool) -> None:
    """It could outvote the declared ones and bring money of its own, also as one that is marked as added."""
    further = replace(SECURITY, id="yes", weight=100.0, by_label=by_label, by_path=by_path)
    for rules in (WORLD.rules, COUNCIL):
        said = recorded(roster=Roster((*rules.roster.advisors, further)))
        assert told(said, rules=rules) == "its policy adds the advisor 'yes', whom the configuration does not name"
        assert told(said, rules=rules, of_map=(further,)) is not None, "no path of this change adds it"
        assert told(said, rules=rules, of_map=(further,), cut=True) is None, (
            "a path that GitHub does not list may add it"
        )
        assert told(said, rules=rules, of_map=(further,), paths=("src/app.py", UNREADABLE)) is None


def test_the_money_of_a_council_is_that_of_the_advisors_whom_the_configuration_names() -> None:
    world = MockWorld()
    member = Advisor("security", "You look for holes.", on="finish")
    roster = Roster((replace(ADR_ADVISOR, weight=2.0), replace(member, by_label=True)))
    world.rules = replace(world.rules, roster=roster)
    first = world.review().events[0]
    assert isinstance(first, PolicyFrozen)
    assert told(first, rules=world.rules) is None
    allowed = next(usd for usd in range(1, 100) if "USD" in (told(with_usd(first, usd), rules=world.rules) or ""))
    alone = replace(first, policy=replace(first.policy, roster=Roster(roster.advisors[:1])))
    why = told(with_usd(alone, allowed - 1), rules=replace(world.rules, roster=Roster(roster.advisors[:1])))
    assert "USD, and the configuration" in (why or "")


def with_usd(first: PolicyFrozen, usd: float) -> PolicyFrozen:
    return replace(first, policy=replace(first.policy, budgets=replace(first.policy.budgets, max_usd=usd)))
