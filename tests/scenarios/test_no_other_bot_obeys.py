"""Whatever a review is made of, no line that reaches GitHub begins as a command of another bot."""

from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.scenarios.publishing import PATH, Desk
from tests.unit.forge_text.bots import ORDERS, obeyed_in

from review_advisor.github.answers import dismissed, explained, refused, unknown, verdict_stays
from review_advisor.github.publish import DidNotRun
from review_advisor.github.state import KnownFinding
from review_advisor.mockworld.agents import approve, finding, guidance, plan, reject, veto
from review_advisor.mockworld.world import edited
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.surfaces import Role

MARKS = ("", "\n", "> ", "- ", "```\n", "~~~\n", "1. ", "| ", "<details>\n", "\u2028", "**")
lines = st.builds(lambda mark, order: mark + order, st.sampled_from(MARKS), st.sampled_from(ORDERS))
said = st.lists(lines, min_size=1, max_size=3).map("\n".join)


def received(desk: Desk) -> Iterator[str | None]:
    """Every text of ours that stands on GitHub."""
    yield from (comment.body for comment in desk.pull.comments)
    for review in desk.pull.reviews:
        yield review.body
        yield from (comment.body for thread in review.threads for comment in thread.comments)
    for check in desk.checks:
        yield from (check.title, check.summary)
        yield from (text for each in check.annotations for text in (each.title, each.message))


def escalated(desk: Desk, words: list[str]) -> None:
    """Planned, consulted, vetoed twice; every word that anybody says is one of these."""
    remarks = [
        {**finding(PATH, n, f"value = {n}", "low", word[:400]), "body": word, "category": word[:60], "suggestion": word}
        for n, word in enumerate(words, start=3)
    ]
    first, *_, last = words
    remarks.append({**remarks[-1], "title": first[:400], "body": first, "suggestion": last})  # said twice: one finding
    remarks.append(finding(first, 1, "nowhere", "low", last[:400]))  # not believed
    desk.world.switch("HYDRAFLOW_REVIEW_PREFLIGHT_FORCE_ON", "true")
    desk.world.agents.script(Role.PRE_FLIGHT, plan(first, focus=(last,), signals=(first,)))
    desk.world.agents.script(Role.MID_FLIGHT, guidance(last))
    judged = [veto(*words, reasoning=last, direction=first), veto(*words, reasoning=first)]
    reports = (approve(*remarks[1:], summary=first).after_asking(last), approve(*remarks, summary=last))
    files = (edited(PATH, 30), edited(f"{first.splitlines()[-1]}.py"))
    desk.publish(desk.reviewed(*reports, judged=judged, files=files))


@pytest.mark.every_case
@settings(max_examples=40)
@given(st.lists(said, min_size=2, max_size=3))
@example(["/lgtm", "@dependabot merge"])
@example([".deploy production", "!merge"])
def test_no_line_that_an_escalation_writes_is_obeyed(words: list[str]) -> None:
    desk = Desk(
        PublicationRules(reviewers=("maria",), check_name="review").model_copy(
            update={"escalation_label": words[0][:40]}
        )
    )
    desk.pull.title, desk.pull.body = words[0], words[-1]
    escalated(desk, words)
    assert desk.threads, "there is something to obey"
    assert obeyed_in(received(desk)) == []


@pytest.mark.every_case
@settings(max_examples=40)
@given(st.lists(said, min_size=1, max_size=3))
def test_no_line_that_a_rejection_or_a_repair_writes_is_obeyed(words: list[str]) -> None:
    desk = Desk()
    before = "\n".join(words).replace("\u2028", "") + "\nx = rows[0]\n"
    desk.world.checkout({PATH: before}, {PATH: "x = 1\n"})
    remark = {**finding(PATH, 1, words[0], "high", words[-1][:400]), "suggestion": words[0]}
    desk.world.agents.script(Role.POST_VERIFY, veto(*words))
    mended = before.replace("x = rows[0]", "x = rows[0] if rows else 0")
    files = desk.world.source.stated.files
    repaired = desk.reviewed(approve(), approve().repairing(PATH, mended), files=files)
    assert repaired.repair is not None
    rejected = desk.reviewed(reject(remark, summary=words[-1]), files=files)
    for outcome in (repaired, rejected, DidNotRun("9001", desk.pull.head_sha, words[0])):
        desk.publish(outcome)
        assert obeyed_in(received(desk)) == []


@given(said, st.sampled_from(ORDERS))
def test_no_answer_to_a_person_is_obeyed(word: str, order: str) -> None:
    known = KnownFinding(
        id=f"f-{'1' * 32}",
        path=order,
        line=3,
        title=word,
        severity="high",
        status="dismissed",
        reason=word,
        by=order,
    )
    told = (explained(known), dismissed(order, word, verdict_stays(order)), refused(word), unknown(order))
    assert obeyed_in(told) == []
