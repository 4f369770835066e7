"""Golden cases from what people decided: never from silence, and none is called complete."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.adapters.ledgers import told

from review_advisor.lab.golden_cases import CommitsChange, ObservedCases, case_text, cases_from, read_case
from review_advisor.mockworld.agents import finding, reject
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.observed import LabelName, ObservedLabel, Value

BASE, HEAD = "a" * 40, "b" * 40


def reviewed(number: int = 1, *, pull_request: int = 7, head: str = HEAD) -> OutcomeDocument:
    """A review with two findings."""

    def story(world: MockWorld) -> None:
        first, second = finding("src/app.py", 4, "value = 4"), finding("src/app.py", 5, "value = 5", title="five")
        world.agents.script(Role.EXECUTOR, reject(first, second))

    return replace(told(story, number, pull_request=pull_request), base_sha=BASE, head_sha=head)


REVIEW = reviewed()
FIRST, SECOND = REVIEW.findings


def label(name: LabelName, value: Value, of: str = "") -> ObservedLabel:
    return ObservedLabel(of, name, value, "@maria")


JUDGED = label("judged", "judged")


def numbers(found: ObservedCases) -> tuple[int, int, int, int]:
    return found.confirmed, found.reverted, found.dismissed, found.unlabelled


@pytest.mark.parametrize(
    "labels, counts, right, refuted",
    [
        ((), (0, 0, 0, 2), None, None),
        ((label("reaction", "up", FIRST.id),), (1, 0, 0, 1), 1, 0),
        ((label("reaction", "down", FIRST.id),), (0, 0, 1, 1), 0, 1),
        ((label("dismissal", "dismissed", FIRST.id), label("reaction", "up", SECOND.id)), (1, 0, 1, 0), 1, 1),
        ((label("reaction", "both", FIRST.id),), (0, 0, 0, 2), None, None),
        ((label("thread", "resolved", FIRST.id), label("at_merge", "gone", FIRST.id)), (0, 0, 0, 2), None, None),
        ((JUDGED, label("reverted", "reverted"), label("dismissal", "dismissed", FIRST.id)), (0, 2, 0, 0), 2, 0),
        ((label("reverted", "reverted"),), (0, 0, 0, 2), None, None),
        ((JUDGED, label("reverted", "not_reverted")), (0, 0, 0, 2), None, None),
        ((label("escalation", "approved"),), (0, 0, 0, 2), None, None),
    ],
)
def test_only_what_people_decided_and_reverts_make_labels(
    labels: tuple[ObservedLabel, ...], counts: tuple[int, int, int, int], right: int | None, refuted: int | None
) -> None:
    found = cases_from([(REVIEW, labels)])
    assert numbers(found) == counts
    assert found.findings == 2
    assert [(len(case.labels), len(case.refuted)) for case in found.cases] == (
        [] if right is None else [(right, refuted)]
    )
    assert not any(case.knows_every_fault for case in found.cases)


def test_a_case_names_its_commits_and_is_read_back_from_its_file() -> None:
    (case,) = cases_from([(REVIEW, (label("reaction", "up", FIRST.id),))]).cases
    assert (case.id, case.group) == ("acme/shop/7", "acme/shop#7")
    assert case.change == CommitsChange("acme/shop", BASE, HEAD)
    assert (case.labels[0].file, case.labels[0].first_line, case.labels[0].severity) == (
        "src/app.py",
        4,
        FIRST.severity,
    )
    assert read_case(case.id, case_text(case), "x") == case


def test_a_pull_request_is_one_case_at_the_newest_head_that_people_spoke_of() -> None:
    later = replace(reviewed(2, head="c" * 40), findings=(SECOND,))
    labels = (label("reaction", "up", FIRST.id),)
    found = cases_from([(later, labels), (REVIEW, labels)])
    assert numbers(found) == (1, 0, 0, 1)
    assert [case.change for case in found.cases] == [CommitsChange("acme/shop", BASE, HEAD)]
    assert len(cases_from([(REVIEW, labels), (reviewed(2, pull_request=8), labels)]).cases) == 2


def test_a_finding_about_removed_lines_has_no_place() -> None:
    gone = replace(REVIEW, findings=(replace(FIRST, removed=True),))
    (case,) = cases_from([(gone, (label("reaction", "up", FIRST.id),))]).cases
    assert (case.labels[0].file, case.labels[0].first_line) == ("src/app.py", 0)


def test_a_review_without_commits_is_counted_and_one_without_a_pull_request_is_not_asked_about() -> None:
    found = cases_from([(replace(REVIEW, head_sha=None), ()), (replace(REVIEW, pull_request=None), ())])
    assert (found.without_commits, found.findings, found.cases) == (1, 0, ())


def test_overridden_pull_requests_are_told() -> None:
    assert cases_from([(REVIEW, (label("escalation", "approved"),))]).overridden == 1


def test_repositories_of_any_name_have_cases_of_their_own() -> None:
    names = ("acme/.github", "acme/github", "acme/-github", "acme/.GitHub.io", "./.")
    up = (label("reaction", "up", FIRST.id),)

    cases = cases_from((replace(REVIEW, repository=name), up) for name in names).cases

    assert len({case.id.casefold() for case in cases}) == len(names)
    assert "acme/github/7" in {case.id for case in cases}
    for case in cases:
        assert read_case(case.id, case_text(case), case.id) == case
