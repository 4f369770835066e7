"""The shipped workflow, in a repository that is warned of what reviews cost a day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.adapters.pull_request_world import APP, AUTHOR, LINES, MAINTAINER, Actions

from review_advisor.github.state import day_in, external_id
from review_advisor.mockworld.github import second_of
from review_advisor.mockworld.github_records import CheckRun, Pull

CONFIG = ".review-advisor.toml"
BOUND = "[github]\nrepository_day_usd = 30.0\n"


def opened(actions: Actions, branch: str, by: str = AUTHOR) -> Pull:
    """A pull request with a head of its own."""
    return actions.opens({APP: f"{LINES}value = 32  # {branch}\n"}, by=by, branch=branch)


def has_cost(check: CheckRun, pull: Pull, day: datetime) -> None:
    check.external_id = external_id(pull.number, usd=40.0, today=(day.date().isoformat(), 40.0))


def test_the_run_warns_of_the_days_money_and_stops_nobody(actions: Actions) -> None:
    """Whether midnight comes in between or not, one of the two reviews was today."""
    actions.main_becomes({CONFIG: BOUND})
    now = datetime.now(UTC)
    actions.github.second = second_of(now)
    for day in (now, now + timedelta(days=1)):
        pull = opened(actions, f"of-{day.date()}")
        actions.starts("opened", pull).begin()
        check = actions.check(pull)
        assert day_in(check.external_id)[1] == 0.0
        has_cost(check, pull, day)
        check.status, check.conclusion = "completed", "success"

    another = opened(actions, "another", by=MAINTAINER)
    ran = actions.starts("opened", another, by=MAINTAINER).begin()
    told = ran.done["begin"].err
    assert ran.began, "nobody is stopped"
    assert "::warning title=review-advisor::The reviews that pushes started today (UTC) have cost about" in told
    assert "No review is stopped for that." in told
