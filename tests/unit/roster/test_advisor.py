"""Who of a roster speaks when."""

from __future__ import annotations

from review_advisor.policy.roster import ADR_ADVISOR, DEFAULT_ROSTER, Advisor, Roster

PLANNER = Advisor("planner", "Plans.", on="start")
JUDGE = Advisor("judge", "Judges.", on="finish")
WATCHER = Advisor("watcher", "Watches every turn.", on="request")
SPECIALIST = Advisor("specialist", "Knows one thing.")


def test_the_default_roster_is_the_advisor_of_the_adr_alone() -> None:
    assert DEFAULT_ROSTER.advisors == (ADR_ADVISOR,)
    assert (DEFAULT_ROSTER.starting, DEFAULT_ROSTER.panel) == ((ADR_ADVISOR,), (ADR_ADVISOR,))
    assert DEFAULT_ROSTER.on_demand == ()
    assert ADR_ADVISOR.veto


def test_each_advisor_speaks_at_its_moment() -> None:
    roster = Roster((ADR_ADVISOR, PLANNER, JUDGE, WATCHER, SPECIALIST))
    assert roster.starting == (ADR_ADVISOR, PLANNER, WATCHER)
    assert roster.panel == (ADR_ADVISOR, JUDGE, WATCHER)
    assert roster.on_demand == (SPECIALIST,)
