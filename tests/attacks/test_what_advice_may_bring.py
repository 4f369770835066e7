"""What advice may bring, when the change under review speaks to the advisor, and when the advice itself is hostile.

No advice takes away what is grave, no finding of it counts without a quote that stands, and no text of the change gets
out of its fence in what the advisor is asked.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.attacks.payloads import ATTACKS, ORDER, PLANTED

from review_advisor.change.change import FileChange, Hunk, Status
from review_advisor.github.log_text import job_summary
from review_advisor.github.sarif import sarif_json
from review_advisor.mockworld.agents import Json, Line, approve, change, finding, guidance, lost, reject, veto
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.escalation_rules import EscalationRules
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument, outcome_json, read_outcome
from review_advisor.review.events import Disposed, Event, Recommended, Reported
from review_advisor.review.report import report_text, terminal_report
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound
from review_advisor.safety.fence import fenced

REJECT = change("change_verdict", verdict="reject")
APPROVE = change("change_verdict", verdict="approve")
FAULT = finding("src/app.py", 3, "value = 3", "critical", "it deletes everything")
MILD = finding("src/app.py", 3, "value = 3", "low", "a nit")


@pytest.fixture
def consulting() -> MockWorld:
    """A world in which the review consults the advisor where the executor doubts."""
    world = MockWorld()
    world.rules = replace(world.rules, escalation=EscalationRules("attrition"))
    return world


def identity_of(said: Json) -> str:
    other = MockWorld()
    other.agents.script(Role.EXECUTOR, reject(said))
    return other.review().findings[0].id


def advised(world: MockWorld, advice: Line, *turns: Line) -> OutcomeDocument:
    """The outcome, which is sound, survives being stored, and is what its events say."""
    world.agents.script(Role.EXECUTOR, *(turns or (approve().sure(0.5), approve())))
    world.agents.script(Role.MID_FLIGHT, advice)
    document = world.review()
    assert unsound(document.events) is None
    assert read_outcome(outcome_json(document)).events == document.events
    return document


def ends(document: OutcomeDocument) -> list[tuple[str, str]]:
    return [(each.recommendation, each.disposition) for each in document.events if isinstance(each, Disposed)]


def merge_of(document: OutcomeDocument) -> Recommended:
    return next(each for each in document.events if isinstance(each, Recommended))


# --- a finding that stands ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(approve(), id="the executor says nothing"),
        pytest.param(approve().applying("r1"), id="the executor says that it applied it, and did not"),
        pytest.param(
            approve().overriding("r1", "the author says that it is safe"), id="the executor is talked out of it"
        ),
        pytest.param(
            approve(finding("src/app.py", 3, "value = 3", "low")).applying("r1"), id="the executor plays it down"
        ),
    ],
)
def test_a_rejection_that_the_advisor_gives_a_standing_finding_for_is_applied(
    consulting: MockWorld, second: Line
) -> None:
    document = advised(consulting, guidance("reject it", REJECT, findings=(FAULT,)), approve().sure(0.5), second)
    assert document.outcome is Outcome.CHANGES_REQUESTED
    (found,) = document.findings
    assert (found.severity, found.raised_by, found.id) == ("critical", "mid_flight", identity_of(FAULT))
    assert ends(document) == [("r1", "applied")]
    judged = consulting.calls(Role.POST_VERIFY)[0].prompt
    assert "it deletes everything" in judged
    assert '"raised_by": "mid_flight"' in judged


def test_a_finding_of_the_advisor_is_told_as_the_advisors_wherever_findings_are_told(consulting: MockWorld) -> None:
    document = advised(consulting, guidance("reject it", REJECT, findings=(FAULT,)))
    assert "raised by the advisor" in report_text(document)
    assert "raised by the advisor" in job_summary(document)
    assert '"raisedBy": "mid_flight"' in sarif_json(document, "1")


def test_an_executor_that_was_sure_does_not_hold_a_standing_finding_up(consulting: MockWorld) -> None:
    consulting.consult_requested = True
    document = advised(consulting, guidance("reject it", REJECT, findings=(FAULT,)), approve(), approve())
    assert merge_of(document).merged.conflict == ""
    assert document.outcome is Outcome.CHANGES_REQUESTED


def test_a_grave_finding_alone_rejects_and_a_mild_one_joins_the_report(consulting: MockWorld) -> None:
    grave = advised(consulting, guidance("look at row 3", findings=(FAULT,)))
    assert grave.outcome is Outcome.CHANGES_REQUESTED
    other = MockWorld()
    other.rules = replace(other.rules, escalation=EscalationRules("attrition"))
    mild = advised(other, guidance("look at row 3", findings=(MILD,)))
    assert mild.outcome is Outcome.APPROVED
    assert [(each.severity, each.raised_by) for each in mild.findings] == [("low", "mid_flight")]


def test_what_advice_raises_is_raised_and_keeps_its_id(consulting: MockWorld) -> None:
    """The report said "low -> high" and the finding stayed low."""
    doubted = finding("src/app.py", 3, "value = 3", "low", confidence=0.5)
    raised = guidance("raise it", change("raise", identity_of(doubted), severity="high"))
    again = finding("src/app.py", 3, "value = 3", "low")
    document = advised(consulting, raised, approve(doubted), approve(again).applying("r1"))
    assert [(each.id, each.severity) for each in document.findings] == [(identity_of(doubted), "high")]
    assert document.outcome is Outcome.CHANGES_REQUESTED
    assert '"severity": "high"' in consulting.calls(Role.POST_VERIFY)[0].prompt
    assert '"level": "error"' in sarif_json(document, "1")


def test_a_mild_finding_may_be_overridden_with_a_reason(consulting: MockWorld) -> None:
    doubts = (approve().sure(0.5), approve().overriding("r1", "row 3 is bounded"))
    document = advised(consulting, guidance("look", findings=(MILD,)), *doubts)
    assert (document.findings, ends(document)) == ((), [("r1", "overridden")])


def test_a_rejection_by_advice_is_a_persons_where_its_judge_calls_it_wrong(consulting: MockWorld) -> None:
    consulting.agents.script(Role.POST_VERIFY, veto("it is right"), veto("it is right"))
    brings = guidance("reject it", REJECT, findings=(FAULT,))
    again = reject(FAULT, finding("src/app.py", 5, "value = 5"))
    document = advised(consulting, brings, approve().sure(0.5), approve(), again)
    assert document.outcome is Outcome.ESCALATED


# --- hostile advice -------------------------------------------------------------------------------------------------

FALSE = {
    "a false quote": finding("src/app.py", 3, "rm -rf /", "critical"),
    "a quote of two characters": finding("src/app.py", 3, "va", "critical"),
    "a file outside of the change": finding("src/other.py", 1, "value = 3", "critical"),
    "no file at all": finding("../../etc/passwd", 1, "root:x:0:0", "critical"),
}


@pytest.mark.parametrize("attack", FALSE)
def test_a_finding_without_a_quote_that_stands_turns_nothing(consulting: MockWorld, attack: str) -> None:
    """A rejection for it stays the conflict that it was, and calls a person."""
    advice = guidance("reject it", REJECT, findings=(FALSE[attack],))
    consulting.agents.script(Role.EXECUTOR, approve().sure(0.5))
    consulting.agents.script(Role.MID_FLIGHT, advice, advice)
    document = consulting.review()
    assert unsound(document.events) is None
    assert document.outcome is Outcome.ESCALATED
    assert document.findings == ()
    assert "contradict one another" in document.because[0]
    assert FALSE[attack]["title"] in " ".join(merge_of(document).merged.refused)


@pytest.mark.parametrize(
    "hostile",
    [
        pytest.param(guidance("drop it", change("drop", "{id}")), id="it drops a critical finding"),
        pytest.param(guidance("lower it", change("lower", "{id}", severity="low")), id="it lowers a critical finding"),
        pytest.param(guidance("say it milder", findings=(MILD,)), id="it brings the same finding again, as a low one"),
        pytest.param(
            guidance("drop it", change("drop", "{id}"), findings=(finding("src/app.py", 4, "value = 4", "low"),)),
            id="it brings a nit in the place of a critical finding",
        ),
        pytest.param(
            guidance("it is old", findings=({**FAULT, "pre_existing": True},)), id="it calls a critical finding old"
        ),
        pytest.param(guidance("approve it", APPROVE), id="it approves what the executor rejects"),
        pytest.param(
            guidance("approve it", APPROVE, findings=(finding("src/app.py", 4, "value = 4", "high"),)),
            id="it approves and brings a high finding",
        ),
    ],
)
@pytest.mark.parametrize("second", [approve(), approve().applying("r1")], ids=["silent", "obedient"])
def test_no_advice_loosens_a_rejection_for_a_critical_finding(
    consulting: MockWorld, hostile: Line, second: Line
) -> None:
    identity = identity_of(FAULT)
    named = [
        {**each, "finding": each["finding"].format(id=identity)} for each in (hostile.answer or {}).get("changes", ())
    ]
    advice = replace(hostile, answer={**(hostile.answer or {}), "changes": named})
    consulting.agents.script(Role.EXECUTOR, reject(FAULT).sure(0.5), second)
    consulting.agents.script(Role.MID_FLIGHT, advice, advice)
    document = consulting.review()
    assert unsound(document.events) is None
    assert document.outcome in (Outcome.CHANGES_REQUESTED, Outcome.ESCALATED)
    assert [each.severity for each in document.findings if each.id == identity] == ["critical"]


def test_advice_brought_before_the_executor_is_lost_reaches_the_person(consulting: MockWorld) -> None:
    document = advised(consulting, guidance("reject it", REJECT, findings=(FAULT,)), approve().sure(0.5), lost())
    assert document.outcome is Outcome.ESCALATED
    assert [each.title for each in document.findings] == ["it deletes everything"]


# --- advice that must not pass unseen -------------------------------------------------------------------------------


def choosing(answer: str, *changes: Json) -> Line:
    advice = guidance("act on it", *changes)
    return replace(advice, answer={**(advice.answer or {}), "answer": answer})


@pytest.mark.parametrize("second", [approve(), approve().applying("r1")], ids=["silent", "obedient in words"])
@pytest.mark.parametrize("sure", [0.5, 0.95])
@pytest.mark.parametrize(
    "answer",
    ["stop", "Stop.", "`stop`", "STOP_SIGNAL", "change the verdict", "Change the verdict.", "raise {id}", "drop {id}"],
)
def test_a_listed_answer_that_wants_something_counts_without_further_fields(
    consulting: MockWorld, answer: str, sure: float, second: Line
) -> None:
    """Chosen alone, "stop" and "change the verdict" counted as advice that changes nothing."""
    consulting.consult_requested = True
    said = finding("src/app.py", 3, "value = 3", "medium")
    first = approve(said).sure(sure)
    again = replace(second, answer={**(second.answer or {}), "findings": [said]})
    chosen = choosing(answer.format(id=identity_of(said)))
    consulting.agents.script(Role.EXECUTOR, first, again, again)
    consulting.agents.script(Role.MID_FLIGHT, chosen, chosen)
    document = consulting.review()
    assert unsound(document.events) is None
    assert document.outcome in (Outcome.ESCALATED, Outcome.CHANGES_REQUESTED)
    if "stop" in answer.casefold():
        assert "asked to stop" in document.because[0]


@pytest.mark.parametrize("answer", ["reject", "please stop", "keep f-1, drop f-2", "it opens a shell"])
def test_an_answer_that_is_not_listed_needs_the_executors_word(consulting: MockWorld, answer: str) -> None:
    document = advised(consulting, choosing(answer), approve().sure(0.5), approve(), approve())
    assert document.outcome is Outcome.ESCALATED
    assert "does not say what became of the advice" in document.because[0]


@pytest.mark.parametrize("answer", ["", " ", "keep the verdict", "Keep the verdict.", "`keep the verdict`"])
def test_an_answer_that_keeps_what_there_is_calls_nobody(consulting: MockWorld, answer: str) -> None:
    document = advised(consulting, choosing(answer), approve().sure(0.5), approve())
    assert document.outcome is Outcome.APPROVED
    assert consulting.asked.count("executor") == 2


@pytest.mark.parametrize("sure", [0.5, 0.95])
@pytest.mark.parametrize(
    "second",
    [
        pytest.param(guidance("hm"), id="it says nothing"),
        pytest.param(guidance("look at row 4", findings=(MILD,)), id="it speaks of something else"),
        pytest.param(guidance("see above", change("change_verdict")), id="it names no verdict"),
        pytest.param(guidance("hm", change("drop", "f-unknown")), id="it names what is not there"),
        pytest.param(choosing("maybe"), id="it chooses none of the answers"),
    ],
)
def test_a_contested_rejection_is_not_erased_by_an_answer_that_says_nothing_of_it(
    consulting: MockWorld, second: Line, sure: float
) -> None:
    """A conflict gets one question, then a person: the rejection ended "superseded", the empty answer "not stated"."""
    consulting.consult_requested = True
    consulting.agents.script(Role.EXECUTOR, approve().sure(sure), approve().applying("r2"), approve())
    consulting.agents.script(Role.MID_FLIGHT, guidance("reject it", REJECT), second)
    document = consulting.review()
    assert unsound(document.events) is None
    assert document.outcome is Outcome.ESCALATED
    assert "neither takes back nor repeats" in document.because[0]


@pytest.mark.parametrize(
    "second",
    [guidance("it is right", APPROVE), choosing("keep the verdict")],
    ids=["by a change to the verdict as it stands", "by the listed answer"],
)
def test_a_contested_rejection_may_be_taken_back(consulting: MockWorld, second: Line) -> None:
    consulting.agents.script(Role.EXECUTOR, approve().sure(0.5), approve())
    consulting.agents.script(Role.MID_FLIGHT, guidance("reject it", REJECT), second)
    document = consulting.review()
    assert unsound(document.events) is None
    assert document.outcome is Outcome.APPROVED
    assert ends(document) == [("r1", "superseded"), ("r2", "applied")]
    assert "take it back" in consulting.calls(Role.MID_FLIGHT)[1].prompt


def test_a_contested_rejection_may_be_repeated_with_a_finding_that_stands(consulting: MockWorld) -> None:
    consulting.agents.script(Role.EXECUTOR, approve().sure(0.5), approve())
    consulting.agents.script(
        Role.MID_FLIGHT, guidance("reject it", REJECT), guidance("for row 3", REJECT, findings=(FAULT,))
    )
    document = consulting.review()
    assert unsound(document.events) is None
    assert document.outcome is Outcome.CHANGES_REQUESTED


@pytest.mark.parametrize("severity", ["critical", "high"])
@pytest.mark.parametrize("attack", FALSE)
@pytest.mark.parametrize("besides", [(), (MILD,)], ids=["alone", "beside a finding that stands"])
def test_a_grave_finding_of_the_advisor_that_is_refused_calls_a_person(
    consulting: MockWorld, attack: str, severity: str, besides: tuple[Json, ...]
) -> None:
    """It disappeared, and the change was approved."""
    refused = {**FALSE[attack], "severity": severity, "title": "it opens a back door"}
    document = advised(consulting, guidance("look", findings=(refused, *besides)))
    assert document.outcome is Outcome.ESCALATED
    assert "it opens a back door" in document.because[0]
    judged = consulting.calls(Role.POST_VERIFY)[0].prompt
    assert "it opens a back door" in judged
    assert '"raised_by": "mid_flight"' in judged
    assert "it opens a back door" in terminal_report(document, explain=False)


def test_a_grave_finding_that_is_refused_is_told_beside_what_is_asked_to_be_changed(consulting: MockWorld) -> None:
    refused = finding("src/other.py", 1, "value = 3", "high", "it opens a back door")
    document = advised(consulting, guidance("reject it", REJECT, findings=(FAULT, refused)))
    assert document.outcome is Outcome.CHANGES_REQUESTED
    assert "it opens a back door" in terminal_report(document, explain=False)
    assert "it opens a back door" in job_summary(document)


def test_a_mild_finding_of_the_advisor_that_is_refused_calls_nobody(consulting: MockWorld) -> None:
    nit = finding("src/other.py", 1, "value = 3", "medium", "a nit elsewhere")
    assert advised(consulting, guidance("look", findings=(nit,))).outcome is Outcome.APPROVED


# --- forged records -------------------------------------------------------------------------------------------------


def brought(world: MockWorld) -> OutcomeDocument:
    return advised(world, guidance("reject it", REJECT, findings=(FAULT,)))


def without_finding(each: Event) -> Event:
    return (
        replace(each, report=replace(each.report, verdict="approve", findings=()))
        if isinstance(each, Reported)
        else each
    )


def as_mild(each: Event) -> Event:
    if not isinstance(each, Reported):
        return each
    mild = tuple(replace(one, severity="low") for one in each.report.findings)
    return replace(each, report=replace(each.report, findings=mild))


def not_brought(each: Event) -> Event:
    return replace(each, merged=replace(each.merged, brought=())) if isinstance(each, Recommended) else each


def invented(each: Event) -> Event:
    if not isinstance(each, Recommended):
        return each
    more = tuple(replace(one, title="another") for one in each.merged.brought)
    return replace(each, merged=replace(each.merged, brought=more))


def approves(each: Event) -> Event:
    return replace(each, report=replace(each.report, verdict="approve")) if isinstance(each, Reported) else each


def without_refused(each: Event) -> Event:
    return replace(each, report=replace(each.report, refused=())) if isinstance(each, Reported) else each


def not_unproven(each: Event) -> Event:
    return replace(each, merged=replace(each.merged, unproven=())) if isinstance(each, Recommended) else each


def none_of_it(each: Event) -> Event:
    return without_refused(not_unproven(each))


@pytest.mark.parametrize("forge", [without_refused, not_unproven, none_of_it])
def test_a_record_without_what_was_refused_of_the_advice_is_not_published(consulting: MockWorld, forge: object) -> None:
    assert callable(forge)
    document = advised(consulting, guidance("look", findings=(FALSE["a false quote"],)))
    assert unsound([forge(each) for each in document.events]) is not None


@pytest.mark.parametrize("forge", [without_finding, as_mild, not_brought, invented, approves])
def test_a_record_without_what_the_advice_brought_is_not_published(consulting: MockWorld, forge: object) -> None:
    assert callable(forge)
    document = brought(consulting)
    assert unsound([forge(each) for each in document.events]) is not None


# --- a hostile change in what the advisor is asked ------------------------------------------------------------------


LABELS = ("FILES", "DIFF", "NOT_SHOWN", "SECRETS", "QUESTION")


@pytest.mark.parametrize("attack", ATTACKS)
def test_every_attack_stays_within_the_fences_of_a_consult(consulting: MockWorld, attack: str) -> None:
    """Title, changed lines, summary and finding all carry it, with this run's nonce as if it had leaked."""
    nonce, text = "nonce0001", ATTACKS[attack].text("nonce0001")
    added = tuple(f"+{line}" for line in text.split("\n"))
    hunk = Hunk(0, 0, 1, len(added), "", added)
    consulting.change(FileChange(path="src/app.py", status=Status.ADDED, hunks=(hunk,), added=len(added)))
    consulting.source.stated = replace(consulting.source.stated, title=text)
    said = {**finding("src/app.py", 1, added[0][1:], "low", text[:400]), "body": text[:8_000]}
    consulting.agents.script(Role.EXECUTOR, approve(said, summary=text[:8_000]).sure(0.5), approve())
    consulting.review()
    (consult,) = consulting.calls(Role.MID_FLIGHT)
    same, question = consult.blocks
    fences = [inside for label in LABELS if (inside := fenced(consult.prompt, label, nonce)) is not None]
    outside = consult.prompt
    for inside in fences:
        outside = outside.replace(inside, "")
    assert outside.count(f"{nonce} UNTRUSTED>>>") == len(fences) >= 3
    assert ORDER not in outside
    assert "A harmless remark" not in outside
    assert not any(secret in consult.prompt for secret in PLANTED)
    assert question.startswith("<!-- HYDRAFLOW_MIDFLIGHT_CONSULT_PROMPT_v1 ")
    assert same.startswith("This is review run-1.")
