import json
from dataclasses import replace

import pytest
from tests.scenarios.reading import moves, shown

from review_advisor.agents.calls import AgentCall
from review_advisor.change.change import Status
from review_advisor.github.sections import surfaces, title_of
from review_advisor.mockworld.agents import finding, plan, reject, veto
from review_advisor.mockworld.world import MockWorld, deleted, edited
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.policy.switches import MASTER, ROLE_SWITCHES
from review_advisor.review.report import report_text
from review_advisor.review.rulings import Outcome

SWITCH = "HYDRAFLOW_ADR_REVIEW_ADVISOR_ENABLED"
RECORD = "docs/adr/0007-keep-values.md"
ADR = Surface.ADR_REVIEW
SOUND = """# Keep values

Status: accepted

## Context

Values come and go.

## Decision

We keep every value for ever, in the order in which it came, whatever it costs.

## Consequences

Disks fill up.
"""


def a_record(world: MockWorld, text: str | None = SOUND) -> None:
    world.change(edited(RECORD, 12, status=Status.ADDED), edited("src/app.py", 5))
    if text is not None:
        world.source.texts[RECORD] = text


def on_the_record(world: MockWorld) -> list[AgentCall]:
    return [call for call in world.agents.asked if call.surface is ADR]


def test_a_doubt_about_its_structure_is_a_low_finding_and_the_record_is_read_all_the_same_d36(world: MockWorld) -> None:
    a_record(world, SOUND.replace("## Decision", "## Musings"))
    document = world.review()
    assert [call.role.value for call in on_the_record(world)] == ["pre_flight", "executor", "post_verify"]
    assert (document.outcome, document.exit_code) == (Outcome.APPROVED, 0)
    (doubt,) = document.findings
    assert (doubt.path, doubt.title, doubt.severity) == (RECORD, "section 'Decision' is missing", "low")
    assert doubt.category == "adr-structure"


def test_a_doubt_does_not_stand_in_for_what_the_executor_finds(world: MockWorld) -> None:
    a_record(world, "# Only a title\n")
    world.agents.script(Role.EXECUTOR, reject(finding(RECORD, 1, "value = 1")), surface=ADR)
    document = world.review()
    assert document.outcome is Outcome.CHANGES_REQUESTED
    assert sorted(each.title for each in document.findings if each.category == "adr-structure") == [
        "section 'Context' is missing",
        "section 'Decision' is missing",
    ]
    assert len(document.findings) == 3


@pytest.mark.parametrize("besides", [(), (MASTER,), tuple(ROLE_SWITCHES.values())])
def test_its_switch_turns_all_of_it_off(world: MockWorld, besides: tuple[str, ...]) -> None:
    a_record(world, "# Only a title\n")
    for switch in (SWITCH, *besides):
        world.switch(switch, "false")
    document = world.review()
    assert on_the_record(world) == []
    assert document.findings == ()
    assert document.outcome is Outcome.APPROVED
    (_, record) = document.surfaces
    assert (record.outcome, record.plan, [part.reports for part in record.parts]) == (None, None, [()])
    assert [(skip.role, skip.disabled_by) for skip in record.skipped] == [(Role.EXECUTOR, SWITCH)]


def test_switched_off_is_told_apart_from_nothing_found(world: MockWorld) -> None:
    a_record(world)
    world.switch(SWITCH, "false")
    document = world.review()
    assert {"adr_review/pre_flight", "adr_review/post_verify"} <= set(document.flags.advisor_disabled)
    assert f"adr_review: did not run\n  executor did not run: switched off by {SWITCH}" in report_text(document)
    assert "| adr_review | switched off | switched off | 0 |" in surfaces(document).text
    assert title_of(document) == "Approved (advisor switched off)"


def test_no_switch_of_a_surface_loosens_the_guard(world: MockWorld) -> None:
    world.change(edited(RECORD, 12, status=Status.ADDED), edited(".review-advisor.toml", 2))
    world.switch(SWITCH, "false")
    document = world.review()
    assert on_the_record(world) == []
    assert [call.role for call in world.agents.asked if call.surface is Surface.PR_REVIEW][-1] is Role.POST_VERIFY
    assert document.outcome is Outcome.ESCALATED
    assert document.because == (f"adr_review is switched off by {SWITCH} while the self-modification guard holds",)


@pytest.mark.parametrize("switch", [MASTER, *ROLE_SWITCHES.values()])
def test_a_switch_of_all_surfaces_leaves_its_executor_on(world: MockWorld, switch: str) -> None:
    a_record(world, "# Only a title\n")
    world.switch(switch, "false")
    document = world.review()
    assert Role.EXECUTOR in [call.role for call in on_the_record(world)]
    assert len(document.findings) == 2


def test_a_record_whose_decision_and_status_stay_is_no_matter_for_it(world: MockWorld) -> None:
    a_record(world)
    world.source.stated = replace(world.source.stated, same_decisions=(RECORD,))
    assert [surface.surface for surface in world.review().surfaces] == [Surface.PR_REVIEW]


def test_a_sound_record_is_always_planned(world: MockWorld) -> None:
    a_record(world)
    world.agents.script(Role.PRE_FLIGHT, plan("for ever is long"), surface=ADR)
    document = world.review()
    assert [call.role.value for call in on_the_record(world)] == ["pre_flight", "executor", "post_verify"]
    assert document.policy.surfaces[1].roles[Role.PRE_FLIGHT].because == ("this surface is always planned",)
    assert json.loads(world.artifacts.files["preflight.adr_review.json"])["risk_summary"] == "for ever is long"
    assert all("for ever is long" in shown(call, "PLAN") for call in on_the_record(world)[1:])
    assert document.outcome is Outcome.APPROVED


def test_it_reads_the_record_and_nothing_else(world: MockWorld) -> None:
    a_record(world)
    world.review()
    for call in on_the_record(world):
        assert f"FILE {RECORD}" in shown(call, "DIFF")
        assert "FILE src/app.py" not in shown(call, "DIFF")


def test_its_executor_has_nobody_to_consult(world: MockWorld) -> None:
    a_record(world)
    document = world.review()
    assert on_the_record(world)[1].consults is None
    (skip,) = [skip for skip in document.surfaces[1].skipped if skip.role is Role.MID_FLIGHT]
    assert (skip.because, skip.disabled_by) == (("adr_review has no mid_flight",), None)


def test_one_veto_calls_a_human_d12(world: MockWorld) -> None:
    a_record(world)
    world.agents.script(Role.POST_VERIFY, veto("disks are finite"), surface=ADR)
    document = world.review()
    assert (document.outcome, document.exit_code) == (Outcome.ESCALATED, 11)
    assert moves(document, 1) == ["escalate"]
    assert document.because == ("vetoed on a one-shot surface",)
    assert not document.flags.exhausted
    assert len(on_the_record(world)) == 3


def test_a_rejection_the_advisor_calls_wrong_calls_a_human_too(world: MockWorld) -> None:
    a_record(world)
    world.agents.script(Role.EXECUTOR, reject(finding(RECORD, 1, "value = 1")), surface=ADR)
    world.agents.script(Role.POST_VERIFY, veto("it is sound"), surface=ADR)
    document = world.review()
    assert document.outcome is Outcome.ESCALATED
    assert not document.flags.exhausted


def test_where_the_whole_text_cannot_be_had_the_model_judges(world: MockWorld) -> None:
    a_record(world, text=None)
    assert world.review().outcome is Outcome.APPROVED
    assert len(on_the_record(world)) == 3


def test_a_removed_record_is_no_record(world: MockWorld) -> None:
    world.change(deleted(RECORD, 10))
    document = world.review()
    assert [surface.surface for surface in document.surfaces] == [Surface.PR_REVIEW]
    assert world.asked == ["executor", "post_verify"]
