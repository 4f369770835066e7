"""What a reply is worth: a checked answer, or a lost one. A lost answer is asked for once more, unless it says no."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from review_advisor.core.answers.answers import Answer, ReviewReport, UnreadableFinding
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.answers.spoken_no import every_yes, finding_severity, joined, spoken_no
from review_advisor.core.answers.tolerant import Notes, complaints
from review_advisor.core.policy.budgets import Refused
from review_advisor.core.roles.calls import AgentCall, Answered, Cause, Lost, LostReason
from review_advisor.core.roles.prompts import REPORT
from review_advisor.core.safety.fence import facts_text, fence_facts

_NO_CLEAR_YES = "an answer of the call is neither a clear yes nor a clear no"
REPAIRABLE = frozenset({LostReason.NO_STRUCTURED_OUTPUT, LostReason.INVALID_ANSWER})

Checked = TypeVar("Checked", bound=Answer)


@dataclass(frozen=True, slots=True)
class CheckedReply(Generic[Checked]):
    """``notes``: what was cut or set right, in words. ``raw``: what was said, as JSON; empty without an answer."""

    answer: Checked | Lost
    notes: tuple[str, ...] = ()
    raw: str = ""


def checked_reply(model: type[Checked], reply: Answered | Lost) -> CheckedReply[Checked]:
    """``reply`` as a ``model``, or lost with the schema's complaints in one sentence.

    Of several answers in one call the most severe counts. One that says no counts even if the schema refuses it, and
    even if the call was lost after it. Where none says no, they come to a yes only if each of them is one, and an
    outage is none after an answer that may have been a no. Bounds on length and number cut an answer; they never lose
    it.
    """
    said = reply.every_answer
    no = spoken_no(model, said)
    if no is None:
        lost = _lost(model, reply)
        if lost is not None:
            return CheckedReply(lost)
    notes = Notes()
    if len(said) > 1:
        notes.add(f"the call gave {len(said)} answers: the most severe counts")
    if no is not None:
        _note_the_no(notes, no, reply)
    try:
        answer = _read(model, no or joined(model, said), notes)
    except ValidationError as error:
        return CheckedReply(Lost(LostReason.INVALID_ANSWER, complaints(error), reply.receipt))
    return CheckedReply(answer, notes.words, facts_text(said[0] if len(said) == 1 else said))


def _lost(model: type[Answer], reply: Answered | Lost) -> Lost | None:
    """Why there is no answer, where none says no: the call was lost, or one of several answers is no clear yes."""
    may_hide_a_no = reply.cause is not Cause.CONTENT if isinstance(reply, Lost) else len(reply.every_answer) > 1
    if may_hide_a_no and not every_yes(model, reply.every_answer):
        return Lost(LostReason.INVALID_ANSWER, _NO_CLEAR_YES, reply.receipt)
    return reply if isinstance(reply, Lost) else None


def _note_the_no(notes: Notes, no: Mapping[str, Any], reply: Answered | Lost) -> None:
    if isinstance(reply, Lost):
        notes.add(f"the call was lost ({reply.reason.value}) after an answer that says no: it counts")
    elif "verdict" in no and reply.value.get("verdict") != no["verdict"]:
        notes.add(f"an answer of the call says no, whatever its verdict: it counts as {no['verdict']}")


def _read(model: type[Checked], said: Mapping[str, Any], notes: Notes) -> Checked:
    """The answer, with what could not be read of it. Raises ``ValidationError``."""
    own = {key: value for key, value in said.items() if key != "unreadable"}
    answer = model.model_validate(own, context=notes)
    if not isinstance(answer, ReviewReport) or not notes.unreadable:
        return answer
    unreadable = tuple(_unreadable(each, why) for each, why in notes.unreadable)
    return answer.model_copy(update={"unreadable": unreadable})


def _unreadable(said: object, why: str) -> UnreadableFinding:
    given = said if isinstance(said, Mapping) else {"title": said}
    path, title = (str(given.get(key) or "").strip()[:500] for key in ("path", "title"))
    return UnreadableFinding(
        path=path or "(no path)", title=title or "(no title)", severity=finding_severity(said), why=why
    )


def lost_twice(first: Lost, second: Lost) -> Lost:
    """Why a question that was asked twice has no answer: of two losses, the one its author may rather have caused.

    Of two with one cause it is the second.
    """
    by_author = (Cause.OUTAGE, Cause.RATE_LIMIT, Cause.CONTENT)
    return max((second, first), key=lambda lost: by_author.index(lost.cause))


def cut_short(lost: Lost, call: AgentCall, call_seconds: float) -> Refused | None:
    """A lost answer that one of our own caps took away in flight, as the refusal it is; None for any other.

    The call's money, turns and size are caps that a change's author can drive it into. So is its time, where
    the review's end made it shorter than ``call_seconds``.
    """
    if lost.reason is LostReason.CALL_BUDGET:
        return Refused("money", f"the call reached its cap: {lost.detail}")
    if lost.reason is LostReason.TOO_LONG:
        return Refused("size", "the prompt is larger than one call takes")
    late = lost.reason in (LostReason.TIMEOUT, LostReason.SILENT)
    if late and call.timeout_seconds < call_seconds:
        return Refused("wall_clock", "the time was over before the answer came")
    return None


def finding_ask(call: AgentCall, number: int, report: CheckedReport, nonce: str) -> AgentCall:
    """The question of ``call`` once more, after ``report``: a rejection without a finding that stands.

    ``number`` is that of the call that brought it.
    """
    note = (
        f"Your previous reply rejected the change, and nobody can act on it: {report.unfounded}. A finding stands only"
        " if its path is a changed file and its evidence is a verbatim quote of the changed lines of that file. Give"
        " your whole report again. If you still reject, name at least one finding that stands; where no line can be"
        " quoted, say in the summary what a person has to look at. This was your reply, with the reason for each"
        " refused finding:"
    )
    before = fence_facts(REPORT, replace(report, knowledge=(), dropped=()), nonce)
    return replace(call.with_more(f"{note}\n{before}"), asks_again=number)


def repair_ask(call: AgentCall, number: int, lost: Lost) -> AgentCall:
    """The question of ``call`` once more, saying what was wrong with the reply. ``number`` is that call's."""
    note = f"Your previous reply could not be used ({lost.detail}). Answer again, only through the structured output."
    return replace(call.with_more(note), asks_again=number)
