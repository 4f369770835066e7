import dataclasses
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from review_advisor.change.change import Change, FileChange, Spec, Status
from review_advisor.change.kinds import CRITICAL_PATHS_HYDRAFLOW
from review_advisor.change.picture_pairs import PictureDifference
from review_advisor.mockworld.world import deleted, edited
from review_advisor.policy.escalation_rules import EscalationRules
from review_advisor.policy.policy import (
    Policy,
    RoleDecision,
    Rules,
    decide_policy,
    policy_of_repaired,
    surfaces_that_apply,
)
from review_advisor.policy.roster import ADR_ADVISOR, Advisor, Roster
from review_advisor.policy.surfaces import REVIEW_SURFACES, SURFACE_DEFAULTS, Authority, PreFlightRule, Role, Surface
from review_advisor.policy.switches import read_switches

OFF = read_switches({})
SPEC = Spec("docs/spec.md", "a wish")


def test_the_surface_table_is_the_adrs() -> None:
    rows = {
        surface.value: (row.pre_flight.value, row.mid_flight, row.authority.value, row.retries)
        for surface, row in SURFACE_DEFAULTS.items()
    }
    assert rows == {
        "pr_review": ("composite trigger", True, "veto", "blast radius"),
        "pre_merge_spec_check": ("reuses pr_review's plan", True, "veto", "blast radius"),
        "adr_review": ("always", False, "veto", "one shot"),
        "visual_gate": ("no", False, "veto", "one shot"),
        "wiki_ingest": ("no", False, "advisory", "none"),
        "release_readiness": ("always", True, "veto", "one shot"),
    }
    assert set(SURFACE_DEFAULTS) - set(REVIEW_SURFACES) == {Surface.RELEASE_READINESS}


@pytest.mark.parametrize(
    "change, expected",
    [
        (Change("x"), ["pr_review"]),
        (Change("x", spec=SPEC), ["pr_review", "pre_merge_spec_check"]),
        (Change("x", files=(edited("docs/adr/0001-x.md"),)), ["pr_review", "adr_review"]),
        (Change("x", files=(edited("doc/decisions/0001-x.md"),)), ["pr_review"]),
        (
            Change("x", spec=SPEC, files=(edited("docs/adr/ADR-01_x.md"),)),
            ["pr_review", "pre_merge_spec_check", "adr_review"],
        ),
        (Change("x", files=(deleted("docs/adr/0001-x.md"),)), ["pr_review"]),
    ],
)
def test_each_surface_applies_when_the_table_says(change: Change, expected: list[str]) -> None:
    assert [surface.value for surface in surfaces_that_apply(change, Rules())] == expected


def test_pictures_and_a_wiki_bring_their_surfaces() -> None:
    pictures = (PictureDifference("a.png", "identical"),)
    rules = Rules(wiki_folder="wiki")
    found = surfaces_that_apply(Change("x", spec=SPEC), rules, pictures)
    assert [surface.value for surface in found] == [
        "pr_review",
        "pre_merge_spec_check",
        "visual_gate",
        "wiki_ingest",
    ]
    assert decide_policy(Change("x"), rules, read_switches({})).wants_knowledge
    assert not decide_policy(Change("x"), Rules(), read_switches({})).wants_knowledge


def test_the_policy_is_frozen_d24() -> None:
    policy = decide_policy(Change("x"), Rules(), read_switches({}))
    with pytest.raises(dataclasses.FrozenInstanceError):
        policy.fail_as_veto = True  # type: ignore[misc]


@pytest.mark.parametrize(
    "files",
    [(edited("auth/login.py"), edited("CLAUDE.md")), (edited("src/a.py", 201),)],
    ids=["critical and our own", "many lines"],
)
def test_a_repair_that_leaves_less_of_a_change_makes_nothing_milder(files: tuple[FileChange, ...]) -> None:
    before = decide_policy(Change("x", files=files), Rules(), read_switches({}))
    after = policy_of_repaired(before, Change("x", files=(edited("README.md"),)), Rules())
    assert after == before


def test_a_repair_that_makes_more_of_a_change_makes_it_stricter() -> None:
    before = decide_policy(Change("x", files=(edited("src/a.py"),)), Rules(), read_switches({}))
    after = policy_of_repaired(before, Change("x", files=(edited("src/a.py"), edited("CLAUDE.md"))), Rules())
    assert (before.guard.holds, after.guard.paths) == (False, ("CLAUDE.md",))
    assert (before.blast.radius.value, after.blast.radius.value) == ("low", "high")


def test_a_repair_that_adds_code_counts_its_lines_and_the_critical_paths_it_touches() -> None:
    files = (edited("src/a.py", 10),)
    before = decide_policy(Change("x", files=files), Rules(), read_switches({}))
    more = (edited("src/a.py", 40), edited("src/auth/login.py", 5))
    after = policy_of_repaired(before, Change("x", files=more), Rules())
    assert (before.code_lines, before.critical_touched) == (10, ())
    assert (after.code_lines, after.critical_touched) == (45, ("src/auth/login.py",))
    assert after.budgets == before.budgets
    assert [row.retry_budget for row in after.surfaces] == [3]


def test_what_no_file_configures_is_what_the_manual_says() -> None:
    manual = Path("docs/configuration.md").read_text(encoding="utf-8")
    rules = Rules()
    for key, value in (
        ("budget.max_usd", f"{rules.max_usd:g}"),
        ("budget.call_seconds", f"{rules.call_seconds:g}"),
        ("budget.review_seconds", f"{rules.review_seconds:g}"),
    ):
        row = next(line for line in manual.splitlines() if line.startswith(f"| `{key}` |"))
        assert f"| `{value}` |" in row, row
    policy = decide_policy(
        Change("x", files=tuple(edited(f"src/{n}.py", 400) for n in range(9))), rules, OFF, shards=40
    )
    assert (policy.budgets.max_usd, policy.shard_tokens, policy.fail_on_degraded) == (30.0, 60_000, False)


def test_money_counts_what_is_shown_beside_the_diff_where_there_is_a_tree() -> None:
    files = (edited("src/a.py", 400),)
    usd = {
        words: decide_policy(change, Rules(), switches).budgets.max_usd
        for words, change, switches in (
            ("without a tree", Change("x", files=files), OFF),
            ("with one", Change("x", files=files, tree="1" * 40), OFF),
            ("by static checks", Change("x", files=files, tree="1" * 40), replace(OFF, static=True)),
        )
    }
    assert usd["with one"] > usd["without a tree"] >= usd["by static checks"]
    full = tuple(edited(f"src/{n}.py", 9_000) for n in range(4))
    bare, whole = (
        decide_policy(Change("x", files=full, tree=tree), Rules(shard_tokens=2_000), OFF) for tree in (None, "1" * 40)
    )
    assert bare.budgets == whole.budgets, "a full part has no room"


def test_the_money_grows_with_the_advisors_that_speak_before_the_executor() -> None:
    early = tuple(Advisor(f"early{n}", "P", on="start") for n in range(6))
    silent = tuple(replace(each, on=None) for each in early)
    usual, opened, on_demand = (
        decide_policy(Change("x", files=(edited("src/a.py", 40),)), Rules(roster=Roster((ADR_ADVISOR, *others))), OFF)
        for others in ((), early, silent)
    )
    assert opened.budgets.max_usd > 2 * usual.budgets.max_usd
    assert on_demand.budgets == usual.budgets == replace(opened.budgets, max_usd=usual.budgets.max_usd)


def test_reusing_a_plan_is_neither_running_nor_switched_off() -> None:
    off = {"HYDRAFLOW_REVIEW_PREFLIGHT_ENABLED": "no"}
    policy = decide_policy(Change("x", spec=SPEC), Rules(), read_switches(off))
    reuse = policy.surfaces[1].roles[Role.PRE_FLIGHT]
    assert (reuse.runs, reuse.because, reuse.disabled_by) == (False, (PreFlightRule.REUSE.value,), None)
    assert policy.advisor_disabled == ("pr_review/pre_flight",)


def test_the_adrs_own_critical_paths_can_be_chosen_d14() -> None:
    rules = Rules(critical_paths=CRITICAL_PATHS_HYDRAFLOW)
    for path in ("src/orchestrator.py", "src/state/x.py", "src/merge_loop.py", "src/review_phase.py"):
        policy = decide_policy(Change("x", files=(deleted(path),)), rules, read_switches({}))
        assert policy.critical_touched == (path,)
        assert policy.blast.radius == "high"


def test_a_deleted_critical_file_is_a_high_blast_d17() -> None:
    policy = decide_policy(Change("x", files=(deleted("src/auth/login.py", 1),)), Rules(), read_switches({}))
    assert policy.blast.radius == "high"


def test_lines_that_look_like_headers_are_lines_d17() -> None:
    """Counts are git's own; a removed ``-- x`` or an added ``++ y`` is one line like any other."""
    file = FileChange(Status.MODIFIED, "a.sql", added=101, removed=100)
    assert decide_policy(Change("x", files=(file,)), Rules(), read_switches({})).code_lines == 201


def test_each_surface_has_its_models_and_its_decisions() -> None:
    environment = {"HYDRAFLOW_PR_REVIEW_EXECUTOR_MODEL": "haiku"}
    policy = decide_policy(Change("x", spec=SPEC), Rules(), read_switches(environment))
    assert [(row.executor_model, row.advisor_model) for row in policy.surfaces] == [
        ("haiku", "opus"),
        ("sonnet", "opus"),
    ]
    assert policy.surfaces[0].authority is Authority.VETO


def test_a_surface_decides_on_every_advisor_role() -> None:
    row = decide_policy(Change("x"), Rules(), read_switches({})).surfaces[0]
    assert list(row.roles) == [Role.PRE_FLIGHT, Role.MID_FLIGHT, Role.POST_VERIFY]
    without_a_judge: dict[Role, RoleDecision] = {
        role: decision for role, decision in row.roles.items() if role is not Role.POST_VERIFY
    }
    others: list[dict[Role, RoleDecision]] = [
        {},
        without_a_judge,
        {**row.roles, Role.EXECUTOR: RoleDecision(True, ("always",))},
    ]
    for roles in others:
        with pytest.raises(ValueError, match="one decision for each advisor role"):
            replace(row, roles=roles)


def test_the_decisions_stand_in_one_order_however_they_come() -> None:
    row = decide_policy(Change("x"), Rules(), read_switches({})).surfaces[0]
    turned = dict(reversed(list(row.roles.items())))
    again = replace(row, roles=turned)
    assert list(again.roles) == list(row.roles) != list(turned)
    turned.clear()
    assert again == row, "the row keeps a copy of its own"


def test_a_policy_comes_back_as_it_was_and_half_a_row_does_not() -> None:
    policy = decide_policy(Change("x"), Rules(), read_switches({}))
    policies = TypeAdapter(Policy)
    told = policies.dump_python(policy, mode="json")
    assert list(told["surfaces"][0]["roles"]) == ["pre_flight", "mid_flight", "post_verify"]
    assert policies.validate_python(told) == policy
    del told["surfaces"][0]["roles"]["post_verify"]
    with pytest.raises(ValidationError):
        policies.validate_python(told)


def test_a_surface_without_a_planner_says_so() -> None:
    from review_advisor.policy.policy import _pre_flight
    from review_advisor.policy.risk import TriggerFacts

    decision = _pre_flight(Surface.WIKI_INGEST, TriggerFacts(True, 1, (), 99), read_switches({}))
    assert (decision.runs, decision.because) == (False, ("no",))


def test_the_caps_of_consults_grow_with_the_declared_members_of_the_council() -> None:
    attrition = EscalationRules("attrition")
    judges = tuple(Advisor(name, "Judges.", on="finish") for name in ("one", "two"))
    added = (
        Advisor("three", "Judges.", on="finish", by_label=True),
        Advisor("4", "Judges.", on="finish", by_path=True),
    )
    generous = replace(OFF, max_consults=20)
    for panel, consults, tokens in (((), 4, 12_000), (judges, 12, 36_000), ((*judges, *added), 12, 36_000)):
        rules = Rules(escalation=attrition, roster=Roster((ADR_ADVISOR, *panel)))
        budgets = decide_policy(Change("pr-7", files=(edited("src/app.py"),)), rules, generous).budgets
        assert (budgets.max_consults, budgets.max_consult_tokens) == (consults, tokens)
    assert decide_policy(Change("pr-7", files=()), Rules(), generous).budgets.max_consult_tokens is None
