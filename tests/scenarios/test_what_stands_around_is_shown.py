"""The executor is shown what stands around the hunks, and so is the advisor that the review consults."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.scenarios.reading import is_shown, shown

from review_advisor.agents.prompts import AROUND
from review_advisor.change.around import LEAST_ROOM
from review_advisor.mockworld.agents import approve, confirm, finding, plan, veto
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.escalation_rules import EscalationRules
from review_advisor.policy.surfaces import Role, Surface

APP, TILL = "src/app.py", "src/till.py"
BEFORE = "def sell(cart):\n" + "".join(f"    step_{n}()\n" for n in range(20))
AFTER = BEFORE.replace("step_10()", "step_ten()")
NOTED = finding(APP, 12, "step_ten()", "low")


@pytest.fixture
def shop(world: MockWorld) -> MockWorld:
    """One line of a definition changes, and another file uses its name."""
    world.checkout({APP: AFTER, TILL: "sell(cart)\n"}, {APP: BEFORE, TILL: "sell(cart)\n"})
    world.source.texts = {APP: AFTER, TILL: "sell(cart)\n"}
    return world


def test_the_rest_of_the_definition_and_uses_of_its_name_are_shown(shop: MockWorld) -> None:
    shop.review()
    (call,) = shop.calls(Role.EXECUTOR)
    told = shown(call, AROUND)
    assert "LINES 1-8 of src/app.py\n def sell(cart):\n     step_0()\n" in told
    assert "USES of sell\n src/till.py:1: sell(cart)" in told
    assert "step_ten" not in told, "the diff shows it"


def test_the_advisor_that_the_review_consults_is_shown_it_too(shop: MockWorld) -> None:
    shop.rules = replace(shop.rules, escalation=EscalationRules("attrition"))
    shop.agents.script(Role.EXECUTOR, approve().sure(0.5), approve())
    shop.review()
    (consult,), executor = shop.calls(Role.MID_FLIGHT), shop.calls(Role.EXECUTOR)[0]
    assert shown(consult, AROUND) == shown(executor, AROUND)
    assert (consult.tree, consult.evidence) == (executor.tree, executor.evidence)


def test_neither_the_planner_nor_the_judge_is_shown_it(shop: MockWorld) -> None:
    shop.switch("HYDRAFLOW_REVIEW_PREFLIGHT_FORCE_ON", "true")
    shop.agents.script(Role.PRE_FLIGHT, plan())
    shop.review()
    assert [is_shown(call, AROUND) for call in (*shop.calls(Role.PRE_FLIGHT), *shop.calls(Role.POST_VERIFY))] == [
        False,
        False,
    ]


def test_every_attempt_and_the_pass_on_the_diff_alone_begin_with_the_same_of_it(shop: MockWorld) -> None:
    shop.rules = replace(shop.rules, metadata_blind=True)
    shop.agents.script(Role.EXECUTOR, approve(), approve(), approve(NOTED))
    shop.agents.script(Role.POST_VERIFY, veto("look again"), confirm())
    shop.review()
    calls = shop.calls(Role.EXECUTOR)
    assert len(calls) == 3
    assert {is_shown(call, AROUND) for call in calls} == {True}
    assert len({call.blocks[0] for call in calls}) == 1


def test_beside_a_repaired_change_stands_what_is_around_it_in_the_repaired_tree(shop: MockWorld) -> None:
    """Two vetoes: the third attempt is shown the diff with the repair of the second."""
    path = "src/auth/app.py"
    shop.checkout({path: AFTER}, {path: BEFORE})
    repaired = AFTER.replace("    step_0()\n", "    step_zero()\n    and_more()\n")
    shop.agents.script(Role.EXECUTOR, approve(), approve().repairing(path, repaired), approve(summary="again"))
    shop.agents.script(Role.POST_VERIFY, veto("an 11"), veto("still"))
    shop.review()
    first, second, third = shop.calls(Role.EXECUTOR)
    assert "step_0()" in shown(first, AROUND) == shown(second, AROUND)
    assert "+    step_zero()" in shown(third, "DIFF")
    assert shown(third, AROUND).startswith(
        "LINES 7-9 of src/auth/app.py\n     step_4()\n     step_5()\n     step_6()\n"
    )


def test_without_a_tree_there_is_none(shop: MockWorld) -> None:
    shop.source.checkout = None
    shop.source.tree = None
    shop.repair = "off"
    shop.review()
    assert not any(is_shown(call, AROUND) for call in shop.agents.asked)


def test_other_surfaces_have_none(shop: MockWorld) -> None:
    shop.change(*shop.source.stated.files, spec="a spec")
    shop.review()
    of = {(call.surface, call.role): is_shown(call, AROUND) for call in shop.agents.asked}
    assert of[Surface.PR_REVIEW, Role.EXECUTOR]
    assert not of[Surface.PRE_MERGE_SPEC_CHECK, Role.EXECUTOR]


@pytest.mark.parametrize("glob, told", [("src/till.py", False), ("*.lock", True)])
def test_what_the_configuration_excludes_is_not_shown_as_a_use(shop: MockWorld, glob: str, told: bool) -> None:
    shop.rules = replace(shop.rules, exclude=(glob,))
    shop.review()
    (call,) = shop.calls(Role.EXECUTOR)
    assert ("USES of sell" in shown(call, AROUND)) is told


def test_a_quote_of_what_stands_around_proves_nothing(shop: MockWorld) -> None:
    shop.agents.script(Role.EXECUTOR, approve(finding(APP, 2, "    step_0()", "low", "a fault around")))
    document = shop.review()
    assert document.findings == ()
    (part,) = document.surfaces[0].parts
    assert [each.title for each in part.reports[0].refused] == ["a fault around"]


def test_it_keeps_within_its_room(shop: MockWorld) -> None:
    shop.source.texts = {APP: AFTER.replace("step_0()", f"step_0({'x' * 250})")}
    shop.source.texts |= {f"src/m{n}.py": f"sell({'x' * 380})\n" for n in range(100)}
    shop.review()
    (call,) = shop.calls(Role.EXECUTOR)
    assert len(shown(call, AROUND)) <= LEAST_ROOM
    assert "and 94 lines more" in shown(call, AROUND)


def test_a_part_that_is_full_has_no_room_for_it(shop: MockWorld) -> None:
    shop.rules = replace(shop.rules, shard_tokens=50)
    shop.review()
    assert not any(is_shown(call, AROUND) for call in shop.agents.asked)
