"""A publisher that is killed, or hears nothing, at any of its requests: run again, there is one of everything."""

from collections.abc import Callable

import pytest
from tests.scenarios.publishing import LINES, PATH, Desk

from review_advisor.github.check_text import check_in_progress
from review_advisor.github.forge import ForgeUnavailable
from review_advisor.github.state import review_marker, without_state
from review_advisor.github.writer import WAITS, PullRequestWriter
from review_advisor.mockworld.agents import Killed, approve, finding, reject, veto
from review_advisor.mockworld.github import WORKFLOW_ABILITIES
from review_advisor.mockworld.github_traffic import (
    Limited,
    NoAnswer,
    RequestMoment,
    Reset,
    ServerFailure,
    Trouble,
    killed,
)
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.review.document import OutcomeDocument

FINDINGS = tuple(finding(PATH, n, f"value = {n}", title=f"fault {n}") for n in (3, 7, 11))
"""Enough to say for every kind of write: a check, a review, a label, a request, a summary."""


def escalating() -> tuple[Desk, OutcomeDocument]:
    desk = Desk(PublicationRules(reviewers=("maria",)))
    desk.github.workflow_token(WORKFLOW_ABILITIES | {"contents:write"})
    PullRequestWriter(desk.bot(), desk.pull.number).checks.stand(
        desk.pull.head_sha, check_in_progress(desk.rules, desk.pull.number)
    )
    reports = [reject(*FINDINGS[: n + 1]) for n in range(3)]
    document = desk.reviewed(*reports, judged=[veto("no"), veto("no"), veto("no")])
    assert document.outcome.value == "escalated"
    desk.github.traffic.log.clear()
    return desk, document


def requests_of_one_publication() -> int:
    desk, document = escalating()
    desk.publish(document)
    return len(desk.github.traffic.log)


REQUESTS = requests_of_one_publication()


def stands_once(desk: Desk, document: OutcomeDocument, *, alone: bool = True) -> None:
    """One check run, one review, one summary, each as it would be without any trouble.

    Unless ``alone``, two may have annotated the check in one moment, which GitHub takes from nobody again.
    """
    calm, same = escalating()
    calm.publish(same)
    assert [(run.status, run.conclusion, run.title) for run in desk.checks] == [
        (run.status, run.conclusion, run.title) for run in calm.checks
    ]
    assert len(desk.checks) == 1
    said_on_lines = desk.checks[0].annotations if alone else set(desk.checks[0].annotations)
    assert len(said_on_lines) == len(document.findings)
    assert [review.state for review in desk.reviews] == ["COMMENTED"]
    said = [thread.comments[0].body.split("\n")[1] for thread in desk.threads]
    assert said == [thread.comments[0].body.split("\n")[1] for thread in calm.threads]
    assert len(said) == len(document.findings)
    assert len(desk.summaries) == 1
    assert without_state(desk.summaries[0].body) == without_state(calm.summaries[0].body)
    assert desk.state is not None
    assert calm.state is not None
    wary = calm.state.model_copy(update={"complete": False, "whole": None})
    assert desk.state in (calm.state, wary), "a state that no check vouched for yet has the next push read whole"
    assert desk.labels == ["needs-human-review"]
    assert desk.github.traffic.unmet == 0


@pytest.mark.one_in(9)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("k", range(REQUESTS))
def test_killed_at_any_request_and_run_again(k: int, after: bool) -> None:
    desk, document = escalating()
    desk.github.traffic.meets(killed(), RequestMoment(k, after=after))
    with pytest.raises(Killed):
        desk.publish(document)
    desk.publish(document)
    stands_once(desk, document)


def coming_back() -> tuple[Desk, OutcomeDocument, OutcomeDocument]:
    """What was fixed stands there again, and two reviews of this head raise it."""
    desk = Desk()
    desk.github.workflow_token(WORKFLOW_ABILITIES | {"contents:write"})
    desk.publish(desk.reviewed(reject(FINDINGS[0])))
    desk.github.pushes(desk.pull, {PATH: LINES.replace("value = 3\n", "value = 4\n")})
    desk.publish(desk.reviewed(approve()))
    desk.github.pushes(desk.pull, {PATH: LINES})
    first, second = (desk.reviewed(reject(FINDINGS[0])) for _ in range(2))
    desk.github.traffic.log.clear()
    return desk, first, second


def requests_of_what_comes_back() -> int:
    desk, first, _ = coming_back()
    desk.publish(first)
    return len(desk.github.traffic.log)


@pytest.mark.one_in(9)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("k", range(requests_of_what_comes_back()))
def test_what_comes_back_is_said_once_though_its_publisher_is_killed_and_another_run_follows(
    k: int, after: bool
) -> None:
    desk, first, second = coming_back()
    desk.github.traffic.meets(killed(), RequestMoment(k, after=after))
    with pytest.raises(Killed):
        desk.publish(first)
    desk.publish(second)
    assert [thread.resolved_by is None for thread in desk.threads] == [False, True]
    assert [run.conclusion for run in desk.checks] == ["failure"]
    assert len(desk.summaries) == 1


TROUBLES: dict[str, Callable[[], Trouble]] = {
    "server error": ServerFailure,
    "reset": Reset,
    "no answer": NoAnswer,
    "limit": lambda: Limited(secondary=True),
}


@pytest.mark.one_in(20)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("trouble", TROUBLES.values(), ids=list(TROUBLES))
@pytest.mark.parametrize("k", range(REQUESTS))
def test_a_request_without_an_answer_is_looked_after_before_anything_is_sent_again(
    k: int, trouble: Callable[[], Trouble], after: bool
) -> None:
    desk, document = escalating()
    desk.github.traffic.meets(trouble(), RequestMoment(k, after=after))
    desk.publish(document)
    stands_once(desk, document)


def test_an_outage_is_waited_for_a_stated_time_and_then_said() -> None:
    desk, document = escalating()
    for n in range(REQUESTS * 10):
        desk.github.traffic.meets(ServerFailure(503), RequestMoment(n))
    began = desk.clock.monotonic()
    with pytest.raises(ForgeUnavailable):
        desk.publish(document)
    assert desk.clock.monotonic() - began == sum(WAITS)


def test_a_limit_on_writes_is_waited_for_as_long_as_github_asks() -> None:
    desk, document = escalating()
    for n in range(2):
        desk.github.traffic.meets(Limited(secondary=True, seconds=60), RequestMoment(n, operation="create comment"))
    began = desk.clock.monotonic()
    desk.publish(document)
    assert desk.clock.monotonic() - began == 120
    stands_once(desk, document)


def test_a_limit_that_lasts_is_not_waited_for() -> None:
    desk, document = escalating()
    desk.github.traffic.meets(Limited(seconds=1800), RequestMoment(operation="create comment"))
    began = desk.clock.monotonic()
    with pytest.raises(ForgeUnavailable):
        desk.publish(document)
    assert desk.clock.monotonic() == began


def test_two_check_runs_of_ours_say_the_same() -> None:
    desk, document = escalating()
    desk.forge.create_check(desk.pull.head_sha, check_in_progress(desk.rules, desk.pull.number))
    desk.publish(document)
    assert [run.conclusion for run in desk.checks] == ["action_required"] * 2


def test_two_summaries_of_ours_become_the_older_one() -> None:
    desk, document = escalating()
    desk.publish(document)
    kept = desk.summaries[0].id
    desk.forge.create_comment(desk.pull.number, desk.summaries[0].body)
    desk.publish(document)
    assert [each.id for each in desk.summaries] == [kept]


def test_a_pending_review_of_another_run_is_thrown_away() -> None:
    desk, document = escalating()
    half = f"{review_marker('another-run')}\nhalf a review"
    desk.forge.start_review(desk.pull.number, desk.pull.head_sha, half, ())
    desk.publish(document)
    assert [review.state for review in desk.reviews] == ["COMMENTED"]
    assert "half a review" not in desk.reviews[0].body


def test_what_was_prepared_and_never_shown_is_said_by_the_next_run() -> None:
    desk = Desk()
    first, second = (desk.reviewed(reject(*FINDINGS)) for _ in range(2))
    desk.github.traffic.meets(killed(), RequestMoment(operation="submit review"))
    with pytest.raises(Killed):
        desk.publish(first)
    assert [review.state for review in desk.reviews] == ["PENDING"]
    desk.publish(second)
    assert [review.state for review in desk.reviews] == ["COMMENTED"]
    assert [thread.comments[0].line for thread in desk.threads] == [3, 7, 11]
