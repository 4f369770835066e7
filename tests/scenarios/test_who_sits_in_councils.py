"""A rollup says who sat in councils, who dissented there, and whether it is always the same panel."""

from __future__ import annotations

from dataclasses import replace

from review_advisor.agents.calls import LostReason
from review_advisor.ledger.artifacts import PanelLog, WeeklyRollup, weekly_text
from review_advisor.mockworld.agents import Line, lost, vote
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.roster import ADR_ADVISOR, Advisor, Roster
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument


def judged(*votes: tuple[str, Line]) -> OutcomeDocument:
    """A review whose panel is the ADR's advisor and these members."""
    world = MockWorld()
    members = [Advisor(name, f"You are {name}.", on="finish") for name, _ in votes]
    world.rules = replace(world.rules, roster=Roster((ADR_ADVISOR, *members)))
    world.agents.script(Role.POST_VERIFY, vote(90), advisor=ADR_ADVISOR.id if members else "post_verify")
    for name, line in votes:
        world.agents.script(Role.POST_VERIFY, line, advisor=name)
    return world.review()


def test_seats_votes_and_dissents_of_each_member_are_counted() -> None:
    log = PanelLog()
    first = judged(("one", vote(90)), ("two", vote(40, 60)))
    second = judged(("one", lost(LostReason.SERVER_ERROR)))
    for document in (first, second, MockWorld().review()):
        log.add(document.events)
    told = log.as_json()
    rows = {each["id"]: (each["seats"], each["votes"], each["dissents"]) for each in told["members"]}
    assert rows == {ADR_ADVISOR.id: (2, 2, 1), "one": (2, 1, 0), "two": (1, 1, 1)}
    assert told["reviews"] == 2
    assert [each["reviews"] for each in told["panels"]] == [1, 1]
    assert not told["never_differs"]


def test_a_panel_that_is_always_the_same_is_told() -> None:
    rollup = WeeklyRollup()
    document = judged(("one", vote(90)))
    for number in range(10):
        assert not rollup.councils.never_differs
        rollup.add(f"run-{number}", document.events)
    assert "the same panel judged all 10 reviews that had a council" in weekly_text(rollup)
    assert rollup.as_json()["councils"]["never_differs"]


def test_members_that_vote_alike_are_told_once_they_voted_often_enough() -> None:
    rollup = WeeklyRollup()
    fine, split = judged(("one", vote(90)), ("two", vote(80, 70))), judged(("one", vote(0, 90)), ("two", vote(80, 70)))
    for number in range(10):
        rollup.add(f"fine-{number}", fine.events)
        assert rollup.as_json()["councils"]["pairs"][0]["agreement"] is None
        rollup.add(f"split-{number}", split.events)
    pairs = {(each["one"], each["other"]): each for each in rollup.as_json()["councils"]["pairs"]}
    assert pairs["one", "two"] == {"one": "one", "other": "two", "votes": 20, "agreement": 0.5, "kappa": 0.0}
    assert pairs[ADR_ADVISOR.id, "two"]["kappa"] is None
    lines = [line.split() for line in weekly_text(rollup).splitlines()]
    assert ["two", "members", "votes", "agree", "kappa"] in lines
    assert ["one,", "two", "20", "50%", "0.00"] in lines


def test_without_a_council_the_rollup_says_nothing_of_one() -> None:
    rollup = WeeklyRollup()
    rollup.add("run-1", MockWorld().review().events)
    assert "council" not in weekly_text(rollup)
