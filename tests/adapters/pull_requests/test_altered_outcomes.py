"""An outcome that a hostile job left, put on its pull request: what stands then, and that the check never waits on."""

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from tests.adapters.pull_request_world import APP, LINES, Actions
from tests.scenarios.publishing import REPOSITORY, Desk
from tests.unit.outcome.altered import KINDS, Altered, alterations

from review_advisor.app.ci import read_document
from review_advisor.github.check_text import check_in_progress
from review_advisor.github.forge import ForgeError
from review_advisor.github.publish import DidNotRun, Unfinished
from review_advisor.github.sections import conclusion_of
from review_advisor.mockworld.agents import finding, reject
from review_advisor.mockworld.github_traffic import RefusedRequest, RequestMoment
from review_advisor.review.document import OutcomeDocument, outcome_document, outcome_json

NOT_RUN = "The review did not run"
NOT_PUBLISHED = "The review could not be published"
STEP = 97
"""Of some thousands of altered fields in each kind of review, every so many-th is published."""
OTHER_BASE = ("policy_frozen: base_ref", "policy_frozen: without base_ref")
"""With it the outcome is of another base branch, so it is superseded."""


def reviewed(desk: Desk, kind: str) -> OutcomeDocument:
    """A review of that kind, of the desk's pull request."""
    KINDS[kind](desk.world)
    stated = desk.world.source.stated
    desk.world.source.stated = replace(
        stated,
        base_ref=desk.pull.base_ref,
        base_sha=desk.github.base_sha(desk.pull),
        head_sha=desk.pull.head_sha,
        repository=REPOSITORY,
        pull_request=desk.pull.number,
    )
    return desk.world.review()


def unfinished(desk: Desk) -> Unfinished:
    """The check that is to be concluded, before anything of it is known."""
    return Unfinished(desk.bot(), desk.pull.number, desk.pull.head_sha)


def handed_over(altered: Altered, document: OutcomeDocument, file: Path) -> OutcomeDocument | str:
    """What the job that publishes has of it: the whole document follows from the events, wherever that can be."""
    try:
        whole = outcome_document(altered.events)
    except (TypeError, LookupError, ValueError, ArithmeticError):
        whole = replace(document, events=altered.events)
    file.write_text(outcome_json(whole), encoding="utf-8")
    return read_document(file, {})


@pytest.mark.one_in(25)
@pytest.mark.parametrize("kind", KINDS)
def test_an_altered_outcome_concludes_as_before_or_as_one_that_did_not_run(kind: str, tmp_path: Path) -> None:
    desk = Desk()
    document = reviewed(desk, kind)
    due = conclusion_of(document)
    found = alterations(document, list(KINDS).index(kind), STEP)
    for altered in islice(found, 0, None, 2):
        if "policy.fail_on_degraded" in altered.what:
            continue
        desk.forge.create_check(desk.pull.head_sha, check_in_progress(desk.rules, desk.pull.number))
        told = handed_over(altered, document, tmp_path / "outcome.json")
        outcome = DidNotRun("9001", desk.pull.head_sha, told) if isinstance(told, str) else told
        with unfinished(desk).decided():
            desk.publish(outcome)
        for check in desk.checks:
            conclusion = "cancelled" if any(each in altered.what for each in OTHER_BASE) else due
            concluded = ("failure", NOT_RUN) if isinstance(told, str) else (conclusion, check.title)
            assert (check.conclusion, check.title) == concluded, altered.what
        desk.github.repository(REPOSITORY).checks.clear()
        desk.pull.comments.clear()
        desk.pull.reviews.clear()


@pytest.mark.every_case
def test_a_repair_that_nobody_made_ends_the_check_as_not_run(actions: Actions) -> None:
    pull = actions.opens({APP: LINES + "value = 31\n"})
    actions.models.executor_says(reject(finding(APP, 31, "value = 31")))
    ran = actions.starts("opened", pull).begin().review()
    document = json.loads(ran.outcome.read_text())
    for event in document["events"]:
        if event["kind"] == "part_ended":
            event["repaired"] = True
    ran.outcome.write_text(json.dumps(document))
    ran.publish()
    check = actions.check(pull)
    assert (check.conclusion, check.title) == ("failure", NOT_RUN)
    assert "the end of a part does not follow from its events" in (check.summary or "")


@pytest.mark.parametrize("operation", ["create comment", "list comments", "list reviews"])
def test_what_cannot_be_published_does_not_leave_the_check_in_progress(operation: str) -> None:
    desk = Desk()
    outcome = desk.reviewed(reject(finding("src/a.py", 3, "value = 3")))
    desk.forge.create_check(desk.pull.head_sha, check_in_progress(desk.rules, desk.pull.number))
    desk.github.traffic.meets(RefusedRequest(422, "Not like this"), RequestMoment(operation=operation))
    with pytest.raises(ForgeError), unfinished(desk).decided():
        desk.publish(outcome)
    assert [(each.conclusion, each.title) for each in desk.checks] == [("failure", NOT_PUBLISHED)]
    desk.publish(outcome)
    assert [each.title for each in desk.checks] == ["Changes requested: 1 high"]


def test_a_fault_of_ours_while_publishing_fails_the_check_and_is_not_hidden() -> None:
    desk = Desk()
    desk.forge.create_check(desk.pull.head_sha, check_in_progress(desk.rules, desk.pull.number))
    with pytest.raises(ZeroDivisionError), unfinished(desk).decided():
        raise ZeroDivisionError
    assert [(each.conclusion, each.title) for each in desk.checks] == [("failure", NOT_PUBLISHED)]


def test_a_verdict_that_stands_is_not_taken_back_by_what_goes_wrong_after_it() -> None:
    desk = Desk()
    desk.publish(desk.reviewed())
    with pytest.raises(ZeroDivisionError), unfinished(desk).decided():
        raise ZeroDivisionError
    assert [each.conclusion for each in desk.checks] == ["success"]
