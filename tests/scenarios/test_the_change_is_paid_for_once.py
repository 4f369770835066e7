"""All calls of a role begin with the same blocks, so that the cache of prompts is read and not written again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from review_advisor.agents.calls import AgentCall
from review_advisor.mockworld.agents import approve, confirm, finding, garbage, reject, veto
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role

PATH = "src/auth/login.py"


def begins(call: AgentCall) -> tuple[object, ...]:
    """All of a call that the cache keeps."""
    edits = call.edits is not None or call.withheld.edits
    consults = call.consults is not None or call.withheld.consults is not None
    return call.blocks[:-1], call.system_prompt, call.answer, call.model, edits, consults


@pytest.fixture
def vetoed(world: MockWorld) -> MockWorld:
    """A critical path; every executor's call that there can be: two vetoes, an unusable reply, a bare rejection."""
    world.checkout({PATH: "".join(f"value = {number}\n" for number in range(1, 31))}, base={})
    world.source.stated = replace(world.source.stated, body="The words of the author.")
    remarks = [finding(PATH, number, f"value = {number}", "low") for number in (1, 2)]
    lines = (approve().after_asking("Is it right?"), garbage(), approve(remarks[0]), reject(), reject(remarks[1]))
    world.agents.script(Role.EXECUTOR, *lines)
    world.agents.script(Role.POST_VERIFY, veto("one"), veto("two"), confirm())
    return world


def test_every_attempt_and_repeated_question_of_a_role_begins_alike(vetoed: MockWorld) -> None:
    vetoed.review()
    for role, asked in ((Role.EXECUTOR, 5), (Role.POST_VERIFY, 3)):
        calls = vetoed.calls(role)
        assert len(calls) == asked
        assert len(set(map(begins, calls))) == 1
        assert "value = 30" in "".join(calls[0].blocks[:-1])
        assert len({call.blocks[-1] for call in calls}) == asked
    assert any(call.edits is not None for call in vetoed.calls(Role.EXECUTOR))


def test_the_pass_on_the_diff_alone_begins_as_the_attempts_do(vetoed: MockWorld) -> None:
    vetoed.rules = replace(vetoed.rules, metadata_blind=True)
    vetoed.agents._lines[Role.EXECUTOR, None, ""].appendleft(approve())
    vetoed.review()
    alone, first, *_ = vetoed.calls(Role.EXECUTOR)
    assert (alone.blind, first.blind) == (True, False)
    assert alone.blocks[0] == first.blocks[0]
    assert len(alone.blocks) == 2
    assert "The words of" not in alone.prompt
    assert begins(alone)[1:] == begins(first)[1:]
    assert (alone.consults, alone.edits) == (None, None)


def test_without_repair_and_on_other_surfaces_no_editing_tool_is_listed(vetoed: MockWorld) -> None:
    vetoed.repair = "off"
    vetoed.review()
    assert not any(call.withheld.edits for call in vetoed.agents.asked)


def test_only_executors_list_what_they_may_not_use(vetoed: MockWorld) -> None:
    vetoed.review()
    others = [call for call in vetoed.agents.asked if call.role is not Role.EXECUTOR]
    assert not any(call.withheld.edits or call.withheld.consults for call in others)
    assert len(next(call for call in others if call.role is Role.PRE_FLIGHT).blocks) == 1
