"""Whether a question got its answer, where one role has two advisors: the one who is lost hides behind nobody."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.ledger.test_runs import RUN

from review_advisor.agents.answers import Consult
from review_advisor.agents.mid_flight import ConsultNote
from review_advisor.change.change import Change, FileChange, Status
from review_advisor.change.shards import shards
from review_advisor.github.sections import MOST_REASONS, stake
from review_advisor.ledger.pages import RunPage
from review_advisor.ledger.rows import rows_of_events
from review_advisor.ledger.telemetry import CALLS, made_calls, measurements, review_span
from review_advisor.policy.policy import Rules, decide_policy
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.policy.switches import read_switches
from review_advisor.review.document import OutcomeDocument, ends_of_calls, file_facts, outcome_document, unanswered
from review_advisor.review.events import (
    CallEnded,
    CallStarted,
    Consulted,
    Ended,
    Event,
    PolicyFrozen,
    ReviewEnded,
)
from review_advisor.review.report import report_text
from review_advisor.review.rulings import Outcome

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
CHANGE = Change("pr-7", files=(FileChange(Status.MODIFIED, "a.py"),))
POLICY = decide_policy(CHANGE, Rules(), read_switches({}))
NO_ANSWER: tuple[Ended, ...] = ("lost", "refused", "cut_short")


@dataclass(frozen=True)
class Put:
    """One question to one advisor, and how its one or two calls ended."""

    role: Role
    advisor: str
    attempt: int
    shard: int
    ends: tuple[Ended, ...]

    @property
    def name(self) -> str:
        usual = self.advisor == self.role.value
        return f"pr_review/{self.role.value}" + ("" if usual else f"/{self.advisor}")

    @property
    def answered(self) -> bool:
        return "answered" in self.ends


ONE_CALL: list[tuple[Ended, ...]] = [("answered",), *((end,) for end in NO_ANSWER)]
TWO_CALLS: list[tuple[Ended, ...]] = [("lost", "answered"), *(("lost", end) for end in NO_ANSWER)]
ENDS = st.sampled_from([*ONE_CALL, *TWO_CALLS])
ROLES = st.sampled_from([Role.PRE_FLIGHT, Role.EXECUTOR, Role.POST_VERIFY])


@st.composite
def asked(draw: st.DrawFn, advisors: tuple[str, ...] = ("", "security", "speed")) -> list[Put]:
    """Any questions; each advisor of a role is asked once in a part and an attempt. ``""`` is the role's usual one."""
    keys = st.tuples(ROLES, st.sampled_from(advisors), st.integers(0, 1), st.integers(0, 1))
    puts = draw(st.lists(keys, min_size=1, max_size=8, unique=True))
    return [Put(role, advisor or role.value, attempt, part, draw(ENDS)) for role, advisor, attempt, part in puts]


def stream_of(puts: list[Put], order: Any) -> list[Event]:
    """Their calls under way together: which one starts or ends next is for ``order`` to say."""
    left = [[(put, place) for place in range(len(put.ends))] for put in puts]
    under_way: dict[int, CallStarted] = {}
    first: dict[int, int] = {}
    events: list[Event] = []
    number = 0
    while any(left):
        at = order([place for place, its in enumerate(left) if its])
        put, again = left[at][0]
        end = put.ends[again]
        about: dict[str, Any] = {
            "at": NOON, "surface": Surface.PR_REVIEW, "role": put.role, "advisor": put.advisor,
            "attempt": put.attempt, "shard": put.shard, "requested_model": "m",
        }  # fmt: skip
        if at in under_way:
            events.append(
                CallEnded(**about, number=under_way.pop(at).number, asks_again=_again(first, at, again), ended=end)
            )
            left[at].pop(0)
            continue
        number += 1
        asks_again = _again(first, at, again)
        first.setdefault(at, number)
        if end == "refused":
            events.append(CallEnded(**about, number=number, asks_again=asks_again, ended=end))
            left[at].pop(0)
        else:
            under_way[at] = CallStarted(**about, number=number, asks_again=asks_again)
            events.append(under_way[at])
    return events


def _again(first: dict[int, int], at: int, again: int) -> int:
    return first[at] if again else 0


def document_of(events: list[Event]) -> OutcomeDocument:
    parts, unsent = shards(CHANGE, 1000)
    begun = PolicyFrozen(
        at=NOON, run_id="r", label="pr-7", title="", base_sha=None, head_sha=None, files=file_facts(CHANGE, parts),
        unsent=unsent, cut=(), shards=len(parts), policy=POLICY,
    )  # fmt: skip
    return outcome_document([begun, *events, ReviewEnded(at=NOON, outcome=Outcome.ESCALATED, because=())])


@given(asked(), st.data())
def test_whoever_gave_no_answer_is_named_whoever_else_answered(puts: list[Put], data: st.DataObject) -> None:
    document = document_of(stream_of(puts, lambda some: data.draw(st.sampled_from(some))))
    lost = {put.name for put in puts if not put.answered}
    assert set(document.flags.lost) == lost
    told = "\n".join(line for line in report_text(document).splitlines() if "answers lost" in line)
    assert {name for name in told.partition(": ")[2].split(", ") if name} == lost
    summary = stake(document).text
    assert all(f"`{name}`" in summary for name in document.flags.lost[:MOST_REASONS])

    rows = rows_of_events(POLICY, document.events)["calls"]
    answered = {row["asks_again"] or row["call"] for row in rows if row["ended"] == "answered"}
    missing = [row for row in rows if (row["asks_again"] or row["call"]) not in answered]
    expected = {(put.role.value, put.advisor) for put in puts if not put.answered}
    assert {(row["role"], row["advisor"]) for row in missing} == expected

    made = [(put, end) for put in puts for end in put.ends if end != "refused"]
    counted = Counter(
        (each.attributes["role"], each.attributes["outcome"] == "success")
        for each in measurements(document) if each.metric is CALLS
    )  # fmt: skip
    judged = [(put.role.value, end == "answered") for put, end in made if put.role is not Role.EXECUTOR]
    assert counted == Counter(judged)
    failed = {span.attributes["gen_ai.agent.name"] for span in review_span(document).children if span.failed}
    assert failed >= {put.advisor for put, end in made if not put.answered}


@given(asked(), st.data())
def test_an_end_is_matched_with_its_own_start(puts: list[Put], data: st.DataObject) -> None:
    events = stream_of(puts, lambda some: data.draw(st.sampled_from(some)))
    ends = ends_of_calls(events)
    for index, event in enumerate(events):
        assert isinstance(event, CallStarted | CallEnded)
        its = events[ends[index]]
        assert isinstance(its, CallEnded)
        assert (its.number, its.advisor, its.place) == (event.number, event.advisor, event.place)
    assert [call.ended for call in made_calls(events)] == [
        each for each in events if isinstance(each, CallEnded) and each.ended != "refused"
    ]


def test_a_consult_belongs_to_the_call_that_it_names() -> None:
    def ended(number: int) -> CallEnded:
        return CallEnded(
            at=NOON,
            surface=Surface.PR_REVIEW,
            role=Role.EXECUTOR,
            advisor="executor",
            number=number,
            ended="answered",
            requested_model="m",
        )

    note = ConsultNote(Consult(question="why?"), "failed")
    consult = Consulted(at=NOON, surface=Surface.PR_REVIEW, advisor="mid_flight", number=1, note=note)
    one, other = made_calls([ended(1), ended(2), consult])
    assert (one.consults, other.consults) == ([consult], [])


def test_only_the_call_that_is_under_way_is_shown_as_unanswered() -> None:
    """The page of an unfinished run: of two judges who were asked together one has answered."""

    def judge(number: int, advisor: str) -> CallStarted:
        return CallStarted(
            at=NOON,
            surface=Surface.PR_REVIEW,
            role=Role.POST_VERIFY,
            number=number,
            advisor=advisor,
            requested_model="m",
        )

    answered = CallEnded(
        at=NOON, surface=Surface.PR_REVIEW, role=Role.POST_VERIFY, number=2, advisor="speed", requested_model="m",
        ended="answered",
    )  # fmt: skip
    page = RunPage(RUN, (judge(1, "security"), judge(2, "speed"), answered))
    titles = [entry["title"] for entry in page.as_json()["entries"]]
    assert titles == ["Post-verify (security) was asked; no answer is recorded", "Post-verify (speed) answered"]


def test_a_question_that_was_answered_in_the_end_did_not_stop_the_review() -> None:
    about: dict[str, Any] = {
        "at": NOON,
        "surface": Surface.PR_REVIEW,
        "role": Role.POST_VERIFY,
        "advisor": "post_verify",
        "requested_model": "m",
    }
    calls = (CallEnded(**about, number=1, ended="lost"), CallEnded(**about, number=2, asks_again=1, ended="answered"))
    assert unanswered(calls) == ()
