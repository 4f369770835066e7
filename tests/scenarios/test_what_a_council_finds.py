"""Five members review a change by themselves. How many raise a finding decides what is posted, never the verdict."""

from dataclasses import replace

import pytest
from tests.scenarios.publishing import PATH, Desk

from review_advisor.github.log_text import job_summary
from review_advisor.mockworld.agents import approve, finding, reject
from review_advisor.policy.roster import ADR_ADVISOR, Advisor, Roster
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.document import OutcomeDocument, council_findings, outcome_json, read_outcome
from review_advisor.review.events import MemberReviewed, Repaired
from review_advisor.review.report import report_text
from review_advisor.review.rulings import Outcome

NAMES = ("security", "tester", "operator", "writer")
MEMBERS = tuple(Advisor(name, f"You are the {name}.", on="finish") for name in NAMES)
LONELY, SHARED, GRAVE, LENS = "lonely remark", "shared remark", "leaking handle", "missing assertion"


def said(title: str, line: int, severity: str = "low") -> dict[str, object]:
    return finding(PATH, line, f"value = {line}", severity, title)


def reviewed(desk: Desk, *own: tuple[str, list[dict[str, object]]], members: int = 4) -> OutcomeDocument:
    desk.world.rules = replace(desk.world.rules, roster=Roster((ADR_ADVISOR, *MEMBERS[:members])))
    for name, findings in own:
        desk.world.agents.script(Role.EXECUTOR, approve(*findings), advisor=name)
    lead = (said(LONELY, 3), said(SHARED, 9), said(GRAVE, 15, "high"), said("missing assertion of the tester", 21))
    return read_outcome(outcome_json(desk.reviewed(approve(*lead))))


OWN = (
    ("security", [said("shared remark, too", 9), said("unbounded loop", 27)]),
    ("tester", [said("missing assertion", 22), said("the loop is unbounded", 27)]),
    ("operator", [said("a shared remark", 10), said("loop: unbounded", 28)]),
    ("writer", [said("odd name", 1)]),
)


def posted(desk: Desk) -> list[str]:
    return [comment.body for thread in desk.threads for comment in thread.comments]


def test_agreement_decides_what_is_posted_and_everything_else_is_told() -> None:
    desk = Desk()
    document = reviewed(desk, *OWN)
    assert document.outcome is Outcome.APPROVED
    desk.publish(document)
    bodies = "".join(posted(desk))
    assert LONELY not in bodies
    assert all(title in bodies for title in (SHARED, GRAVE, LENS))
    assert "unbounded" not in bodies
    (summary,) = desk.summaries
    assert "1 milder finding not posted on the diff" in summary.body
    assert "(raised by 0 of 5 members)" in summary.body
    for text in (summary.body, job_summary(document), report_text(document)):
        words = " ".join(text.split())
        assert "Only members raise (none of it blocks):" in words
        assert "raised by 3 of 5 members" in words
        assert "raised by 2 of 5 members" in words
        assert "1 more finding of members, each raised by too few to be listed" in words


def test_publishing_twice_posts_nothing_more() -> None:
    desk = Desk()
    document = reviewed(desk, *OWN)
    desk.publish(document)
    before = posted(desk)
    desk.publish(document)
    assert posted(desk) == before


@pytest.mark.parametrize("members", [1, 3])
def test_a_smaller_council_folds_nothing(members: int) -> None:
    desk = Desk()
    document = reviewed(desk, *OWN[:members], members=members)
    desk.publish(document)
    assert all(title in "".join(posted(desk)) for title in (LONELY, SHARED, GRAVE, LENS))
    assert f"raised by 0 of {members + 1} members" in report_text(document)


def test_a_finding_that_blocks_is_posted_whoever_raises_it() -> None:
    desk = Desk()
    desk.world.rules = replace(desk.world.rules, roster=Roster((ADR_ADVISOR, *MEMBERS)))
    document = desk.reviewed(reject(said(LONELY, 3)))
    desk.publish(document)
    assert document.outcome is Outcome.CHANGES_REQUESTED
    assert LONELY in "".join(posted(desk))


def test_what_members_find_by_themselves_changes_no_verdict() -> None:
    grave = [said("hole in everything", 27, "critical")]
    plain, told = reviewed(Desk()), reviewed(Desk(), *((name, grave) for name in NAMES))
    assert (plain.outcome, plain.because, plain.exit_code) == (told.outcome, told.because, told.exit_code)
    assert [each.id for each in plain.findings] == [each.id for each in told.findings]


def test_after_a_repair_the_findings_about_the_tree_before_it_fold_nothing() -> None:
    events = reviewed(Desk(), *OWN).events
    own = [each for each in events if isinstance(each, MemberReviewed)]
    at = own[-1].at
    repaired = Repaired(at=at, surface=Surface.PR_REVIEW, result="accepted", tree="t")
    refused = replace(repaired, result="refused", tree="")
    before = council_findings(events)
    assert before.few
    assert not council_findings([*events, repaired, refused, *own[:4]]).few
    assert council_findings([*events, repaired, *own]) == before
    assert council_findings([*events, repaired, *own[:4], replace(repaired, result="withdrawn")]) == before
