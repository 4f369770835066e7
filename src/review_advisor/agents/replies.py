"""What a reply is worth: an answer, a no inside an unusable answer, or a lost one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar, cast

from pydantic import ValidationError

from review_advisor.agents.answers import (
    ACTIONS,
    SEVERITIES,
    WEIGHTS,
    Answer,
    Guidance,
    MemberVote,
    Notes,
    PostVerifyResult,
    ReportedFinding,
    ReviewReport,
    Severity,
    UnreadableFinding,
    bare,
    complaints,
    every_object,
    every_word,
    sets_stop,
    severest_calls,
    values_under,
    worst_named,
)
from review_advisor.agents.calls import AgentCall, Answered, Cause, Lost, LostReason
from review_advisor.agents.evidence import CheckedReport
from review_advisor.agents.prompts import REPORT
from review_advisor.policy.budgets import Refused
from review_advisor.safety.fence import facts_text, fence_facts

LooseAnswer = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Voice:
    """How one role says yes and no.

    ``yes`` and ``no`` are its verdicts. A word of ``noes`` in a verdict is a no, and so is one of ``grave`` in a
    severity, or whatever ``objects`` finds. ``remarks`` is the list that gives the reasons. ``readable`` is what can be
    read of an answer that its schema refuses.
    """

    yes: str
    no: str
    noes: tuple[str, ...]
    grave: tuple[str, ...]
    remarks: str
    readable: Callable[[LooseAnswer], dict[str, Any]]
    objects: Callable[[LooseAnswer], bool]


def spoken_no(model: type[Answer], said: Sequence[object]) -> dict[str, Any] | None:
    """The most severe of the answers as one that ``model`` takes; None if none of them says no.

    Its remarks include those of every other answer that fits the schema.
    """
    if issubclass(model, Guidance):
        return _spoken_stop(model, said)
    voice = _voice(model)
    if voice is None:
        return None
    noes = [each for each in said if _says_no(model, voice, each)]
    if not noes:
        return None
    readable = voice.readable(_holder(model, noes[-1]))
    fitting = [
        each for each in said if isinstance(each, Mapping) and each is not noes[-1] and _fits(model, voice, each)
    ]
    remarks = [readable[voice.remarks], *(_items(each.get(voice.remarks)) for each in fitting)]
    return {**readable, **_votes(model, said), "verdict": voice.no, voice.remarks: _each_once(remarks)}


def _spoken_stop(model: type[Answer], said: Sequence[object]) -> dict[str, Any] | None:
    stops = [_holder(model, each) for each in said if sets_stop(each)]
    if not stops:
        return None
    stop = {"action": _words(stops[-1].get("action")).strip() or facts_text(stops[-1]), "stop_signal": True}
    whole = {**stops[-1], **stop}
    try:
        model.model_validate(whole)
    except ValidationError:
        return stop
    return whole


def every_yes(model: type[Answer], said: Sequence[object]) -> bool:
    """Whether each of the answers says yes, and the last repeats every remark that could not be read before.

    A draft that its schema refuses for another reason is still a yes. Where no verdict is asked for, any answer is one.
    """
    voice = _voice(model)
    return voice is None or all(_says_yes(model, voice, each, _holder(model, said[-1])) for each in said)


def joined(model: type[Answer], said: Sequence[object]) -> LooseAnswer:
    """The last answer, where none says no: with the severest vote, or with the findings of all that could be read."""
    last = said[-1]
    if not isinstance(last, Mapping):
        return {}
    if issubclass(model, MemberVote):
        return {**last, **_votes(model, said)}
    if len(said) == 1 or not issubclass(model, ReviewReport) or not isinstance(last.get("findings", []), list | tuple):
        return last
    drafts = [_remarks(model, _EXECUTOR, _holder(model, each))[0] for each in said[:-1]]
    return {**last, "findings": _each_once([_items(last.get("findings")), *drafts])}


def finding_severity(said: object) -> Severity:
    """The severity of a finding as it was given; one that nobody knows is the worst."""
    given = said.get("severity") if isinstance(said, Mapping) else None
    return cast("Severity", worst_named(SEVERITIES, given))


def _voice(model: type[Answer]) -> _Voice | None:
    return next((voice for kind, voice in _VOICES if issubclass(model, kind)), None)


def _says_no(model: type[Answer], voice: _Voice, said: object) -> bool:
    own = _holder(model, said)
    verdicts = [said] if isinstance(said, str) else values_under(("verdict",), said)
    unasked = [value for key, value in own.items() if key not in model.model_fields]
    graves = values_under(("severity",), _without_pre_existing(said))
    return (
        any(no in word for each in verdicts for word in every_word(each) for no in voice.noes)
        or any(word in voice.noes for word in every_word(unasked))
        or any(word != bare(voice.yes) for each in values_under(("verdict",), unasked) for word in every_word(each))
        or any(grave in word for each in graves for word in every_word(each) for grave in voice.grave)
        or voice.objects(own)
    )


def _says_yes(model: type[Answer], voice: _Voice, said: object, last: LooseAnswer) -> bool:
    own = _holder(model, said)
    verdict = own.get("verdict")
    if not isinstance(verdict, str) or bare(verdict) != bare(voice.yes):
        return False
    if not isinstance(own.get(voice.remarks, []), list | tuple):
        return False
    try:
        unreadable = _remarks(model, voice, own)[1]
    except ValidationError:
        return False
    repeated = [_about(each) for each in _items(last.get(voice.remarks))]
    return all(_about(each) in repeated for each in unreadable)


def _remarks(model: type[Answer], voice: _Voice, own: LooseAnswer) -> tuple[list[Any], list[Any]]:
    """The answer's remarks that can be read, and those that cannot. Raises ``ValidationError`` if it is no yes."""
    notes = Notes()
    readable = voice.readable(own)
    model.model_validate({**readable, "verdict": voice.yes}, context=notes)
    unreadable = [each for each, _ in notes.unreadable]
    return [each for each in readable[voice.remarks] if not any(each is other for other in unreadable)], unreadable


def _about(remark: object) -> object:
    """What tells that one remark repeats another: path and title, or else all of it."""
    if isinstance(remark, Mapping) and {"path", "title"} <= remark.keys():
        return remark["path"], remark["title"]
    return remark


def _each_once(remarks: Iterable[Iterable[Any]]) -> list[Any]:
    found: list[Any] = []
    for each in remarks:
        found += [remark for remark in each if remark not in found]
    return found


def _holder(model: type[Answer], said: object) -> LooseAnswer:
    """The outermost object that has one of the model's keys, or else the outermost."""
    fields = model.model_fields.keys()
    outermost: LooseAnswer = next(every_object(said), {})
    return next((each for each in every_object(said) if fields & each.keys()), outermost)


def _votes(model: type[Answer], said: Sequence[object]) -> dict[str, str]:
    """The vote of several answers of a member of the council: nothing where there is only one answer."""
    if len(said) == 1 or not issubclass(model, MemberVote):
        return {}
    return {"calls": severest_calls([_holder(model, each).get("calls") for each in said], ACTIONS)}


def _fits(model: type[Answer], voice: _Voice, said: LooseAnswer) -> bool:
    try:
        model.model_validate({**said, "verdict": voice.no})
    except ValidationError:
        return False
    return True


# --- what can be read of an answer that says no -----------------------------------------------------------------------


def _judgement(said: LooseAnswer) -> dict[str, Any]:
    return {
        "reasoning": _words(said.get("reasoning")),
        "suggested_fix_direction": _words(said.get("suggested_fix_direction")) or None,
        "disagreements": [_disagreement(each) for each in _items(said.get("disagreements"))],
        "calls": said.get("calls", ""),
    }


def _disagreement(said: object) -> dict[str, str]:
    """One disagreement; one that cannot be told to be milder is blocking."""
    if not isinstance(said, Mapping):
        return {"executor_claim": "", "advisor_assessment": _words(said), "severity": "blocking"}
    claim, assessment = _words(said.get("executor_claim")), _words(said.get("advisor_assessment"))
    word = _words(said.get("severity")).strip().casefold()
    return {
        "executor_claim": claim,
        "advisor_assessment": assessment if claim or assessment else _words(said),
        "severity": word if word in WEIGHTS else "blocking",
    }


def _report(said: LooseAnswer) -> dict[str, Any]:
    confidence = said.get("confidence")
    sure = isinstance(confidence, int | float) and 0 <= confidence <= 1
    return {
        "summary": _words(said.get("summary")),
        "does": _words(said.get("does")),
        "confidence": confidence if sure else 0.0,
        "findings": _items(said.get("findings")),
        "answers": _items(said.get("answers")),
        "knowledge": _items(said.get("knowledge")),
        "dispositions": _items(said.get("dispositions")),
    }


def _items(value: object) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _words(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else facts_text(value)


def _critical(report: LooseAnswer) -> bool:
    """Whether a finding counts as critical. One that is called pre-existing in so many words is for its judge."""
    findings = report.get("findings")
    return isinstance(findings, list | tuple) and any(
        finding_severity(each) == SEVERITIES[0] and not _called_pre_existing(each) for each in findings
    )


def _without_pre_existing(said: object) -> object:
    """An answer without the findings that it calls pre-existing: how grave these are, a judge is asked."""
    if not isinstance(said, Mapping) or not isinstance(said.get("findings"), list | tuple):
        return said
    return {**said, "findings": [each for each in said["findings"] if not _called_pre_existing(each)]}


def _called_pre_existing(finding: object) -> bool:
    """Only of a finding that has no other keys than those that are asked for."""
    known = ReportedFinding.model_fields.keys()
    return isinstance(finding, Mapping) and finding.get("pre_existing") is True and finding.keys() <= known


_JUDGE = _Voice("APPROVE", "VETO", ("veto",), ("block",), "disagreements", _judgement, lambda _: False)


_EXECUTOR = _Voice("approve", "reject", ("reject",), ("critical", "block"), "findings", _report, _critical)


_VOICES: tuple[tuple[type[Answer], _Voice], ...] = ((PostVerifyResult, _JUDGE), (ReviewReport, _EXECUTOR))


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
