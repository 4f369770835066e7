"""``council.json``: the verdict of a council with its findings by tier, who raises them, and its blind spots."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from review_advisor.agents.calls import LostReason
from review_advisor.ledger.artifacts import COUNCIL_FILE, council_verdict, review_files
from review_advisor.mockworld.agents import Line, approve, finding, lost, reject, vote
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.roster import ADR_ADVISOR, Advisor, Roster
from review_advisor.policy.surfaces import Role
from review_advisor.review.rulings import EXIT_CODES, Outcome

RISK = json.dumps({"type": "object", "properties": {"score": {"type": "integer"}}})
MEMBERS = tuple(Advisor(name, f"You are {name}.", on="finish") for name in ("one", "two"))
NAMES = (ADR_ADVISOR.id, "one", "two")
GRAVE = finding("src/app.py", 3, "value = 3", "high", "The value overflows")
MILD = finding("src/app.py", 7, "value = 7", "low", "The name is unclear")


@pytest.fixture
def world() -> MockWorld:
    found = MockWorld()
    found.rules = replace(found.rules, roster=Roster((ADR_ADVISOR, *MEMBERS)))
    return found


def told(world: MockWorld) -> dict[str, Any]:
    files = review_files(world.review())
    world.finish()
    said: dict[str, Any] = json.loads(files[COUNCIL_FILE])
    return said


def votes(world: MockWorld, *lines: Line) -> None:
    for name, line in zip(NAMES, lines, strict=True):
        world.agents.script(Role.POST_VERIFY, line, advisor=name)


def test_findings_are_by_tier_and_consensus_and_name_who_raises_them(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, reject(MILD, GRAVE))
    for name in ("one", "two"):
        world.agents.script(Role.EXECUTOR, reject(GRAVE), advisor=name)
    votes(world, *[vote(5, 90, on="reject")] * 3)
    said = told(world)
    assert (said["verdict"], said["counts"]) == ("needs_work", {"must_fix": 1, "should_fix": 0, "consider": 1})
    grave, mild = said["findings"]
    assert (grave["tier"], grave["file_line"], grave["consensus"]) == (
        "must_fix",
        "src/app.py:3",
        ["executor", "one", "two"],
    )
    assert (mild["tier"], mild["consensus"]) == ("consider", ["executor"])
    assert said["report_path"] in review_files(world.review())


def test_a_clean_change_is_solid_and_votes_have_the_form_of_act_017(world: MockWorld) -> None:
    roster = Roster((ADR_ADVISOR, replace(MEMBERS[0], answer=RISK), MEMBERS[1]))
    world.rules = replace(world.rules, roster=roster)
    own = vote(80, 10)
    votes(world, vote(90), replace(own, answer={**(own.answer or {}), "own": {"score": 7}}), vote(70))
    said = told(world)
    assert said["verdict"] == "solid"
    (panel,) = said["votes"]
    assert panel["advisors"][1] == {
        "id": "one",
        "score": 7,
        "calls": {"approve": 80, "request_changes": 10, "block": 0},
    }


def test_an_approval_over_findings_is_sound_with_fixes(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve(MILD))
    assert told(world)["verdict"] == "sound_with_fixes"


def test_a_missing_member_is_a_blind_spot_and_a_person_decides(world: MockWorld) -> None:
    votes(world, vote(90), vote(90), lost(LostReason.TIMEOUT))
    said = told(world)
    assert said["verdict"] == "not_ready"
    assert said["blind_spots"] == [
        "none of the 3 members of the council is declared to dissent",
        "two did not judge (lost: timeout)",
    ]


def test_an_approval_that_calls_a_person_is_not_ready(world: MockWorld) -> None:
    """Whoever reads this file alone must not take for sound what the review's exit code refuses."""
    world.rules = replace(world.rules, fail_on_degraded=True)
    votes(world, vote(90), vote(90), lost(LostReason.SERVER_ERROR))
    document = world.review()
    assert document.outcome is Outcome.APPROVED
    assert document.exit_code == EXIT_CODES[Outcome.ESCALATED]
    said = council_verdict(document)
    assert said is not None
    assert said["verdict"] == "not_ready"


def test_without_any_vote_and_without_a_council_there_is_no_file(world: MockWorld) -> None:
    votes(world, *[lost(LostReason.SERVER_ERROR)] * 3)
    assert council_verdict(world.review()) is None
    assert COUNCIL_FILE not in review_files(MockWorld().review())


def test_another_member_or_weight_is_another_version_of_the_roster(world: MockWorld) -> None:
    first = told(world)["roster_version"]
    world.rules = replace(world.rules, roster=Roster((ADR_ADVISOR, replace(MEMBERS[0], weight=2.0), MEMBERS[1])))
    assert told(world)["roster_version"] != first
