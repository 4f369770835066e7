"""The lines of a story as the answers of its agents, and the faults in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, assert_never

from review_advisor.agents.calls import LostReason
from review_advisor.mockworld import agents as lines
from review_advisor.mockworld.agents import FakeAdvisorRunner, Json, Killed, Line
from review_advisor.mockworld.story import (
    SLOW,
    AdviceLine,
    ExecutorLine,
    Fault,
    FindingBlock,
    JudgementLine,
    Meanwhile,
    PlanLine,
    PushBlock,
    ReviewBlock,
    SpokenLine,
    TroubleBlock,
    VoteLine,
)
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.safety.wording import counted

ENDINGS: dict[Fault, Callable[[], Line]] = {
    "garbage": lines.garbage,
    "prose": lines.text_only,
    "credit_gone": lines.credit_gone,
    "auth_gone": lines.authentication_gone,
    "model_not_found": lines.model_unknown,
    "interrupted": lines.interrupted,
    "killed": lambda: Line(bug=Killed()),
}
"""The faults that take the place of an answer. Any other one is called like the reason why the answer is lost."""

Doing = Callable[[Meanwhile], None]
_NOTHING = Meanwhile()


def cast(agents: FakeAdvisorRunner, review: ReviewBlock, doing: Doing) -> None:
    """Give every role its lines; ``doing`` carries out what happens in the meantime."""
    roster: tuple[tuple[Role, tuple[SpokenLine, ...]], ...] = (
        (Role.PRE_FLIGHT, review.pre_flight),
        (Role.EXECUTOR, review.executor),
        (Role.MID_FLIGHT, review.mid_flight),
        (Role.POST_VERIFY, review.post_verify),
    )
    for role, spoken in roster:
        for each in spoken:
            agents.script(role, _Unspoken(each, doing), surface=Surface(each.surface) if each.surface else None)
    for vote in review.votes:
        agents.script(Role.POST_VERIFY, _Unspoken(vote, doing), advisor=vote.advisor)
    agents.struck.update({at: replace(ENDINGS[how](), fault=how) for how, at in _gives_out(review.trouble).items()})


def _gives_out(trouble: TroubleBlock) -> dict[Fault, int]:
    """How the account gives out, and at which call."""
    calls: dict[Fault, int | None] = {
        "credit_gone": trouble.credit_gone_at_call,
        "auth_gone": trouble.auth_gone_at_call,
    }
    return {how: at for how, at in calls.items() if at is not None}


def unmet_troubles(trouble: TroubleBlock, world: MockWorld, *, published: bool) -> Iterator[str]:
    """The troubles of a review that is over which never came, one sentence each."""
    calls, events = len(world.agents.asked), len(world.journal.events)
    for how, at in _gives_out(trouble).items():
        if at > calls:
            yield f"its trouble never came: {how}_at_call is {at}, and the review has {counted(calls, 'call')}"
    if trouble.killed_at_event is not None and trouble.killed_at_event > events:
        at = trouble.killed_at_event
        yield f"its trouble never came: killed_at_event is {at}, and the review has {counted(events, 'event')}"
    if trouble.disk_full_at_write is not None and not world.artifacts.refused:
        at = trouble.disk_full_at_write
        yield f"its trouble never came: disk_full_at_write is {at}, and the review writes fewer artefacts"
    if not published and any(getattr(trouble, name) is not None for name in OF_PUBLICATION):
        yield "its trouble never came: the story is not published"


OF_PUBLICATION = ("publisher_killed_at", "second_publisher_at", "answer_lost_at")


@dataclass(frozen=True, slots=True)
class _Unspoken:
    """A line of the story; most of them are never asked for."""

    spoken: SpokenLine
    doing: Doing

    def line(self) -> Line:
        spoken = self.spoken
        text = spoken.summary if isinstance(spoken, ExecutorLine) else ""
        text = spoken.reasoning if isinstance(spoken, JudgementLine | VoteLine) else text
        return _line(
            spoken,
            fault=spoken.fault or "",
            questions=spoken.asks if isinstance(spoken, ExecutorLine) else (),
            quotes_nonce="{nonce}" in text,
            seconds=max(spoken.seconds, SLOW) if spoken.fault == "slow" else spoken.seconds,
            cost_usd=spoken.cost_usd,
            edits=tuple((each.path, each.edit()) for each in spoken.edits) if isinstance(spoken, ExecutorLine) else (),
            failures=spoken.failures if isinstance(spoken, ExecutorLine) else 0,
            opens=spoken.opens,
            meanwhile=self._meanwhile(),
        )

    def _meanwhile(self) -> Callable[[], None] | None:
        block = self.spoken.meanwhile or _NOTHING
        if self.spoken.fault == "stale_head" and block.push is None:
            block = block.model_copy(update={"push": PushBlock()})
        return partial(self.doing, block) if block.push is not None or block.switches else None

    def __str__(self) -> str:
        return str(self.spoken)


def _line(spoken: SpokenLine, **facts: Any) -> Line:
    """What is said, or what goes wrong instead, with all other ``facts`` of the line.

    What is slow, or comes when the head has moved, is an answer all the same.
    """
    if spoken.fault in (None, "slow", "stale_head"):
        return Line(_answer(spoken), **facts)
    if spoken.fault in SPOILT:
        return replace(SPOILT[spoken.fault](spoken), **facts)
    if spoken.fault in ENDINGS:
        return replace(ENDINGS[spoken.fault](), **facts)
    return Line(lost=LostReason(spoken.fault), **facts)


def _twice(spoken: SpokenLine) -> Line:
    """The line's own answer and a mild one beside it. A no of its own comes first, so that the last word is mild."""
    own, mild = _answer(spoken), _mild(spoken)
    if mild is None or own is None:
        return Line(own)
    return Line(mild, said=(own, mild)) if own["verdict"] in ("reject", "VETO") else Line(own, said=(mild, own))


def _mild(spoken: SpokenLine) -> Json | None:
    match spoken:
        case ExecutorLine():
            return lines.approve().answer
        case JudgementLine():
            return lines.confirm().answer
        case _:
            return None


def _misshapen(spoken: SpokenLine) -> Line:
    """The line's own answer in a form that its schema refuses."""
    own = _answer(spoken) or {}
    needed = {"summary", "reasoning", "risk_summary", "action"}
    bare = {key: value for key, value in own.items() if key not in needed}
    return Line({**bare, "verdict": str(own["verdict"]).capitalize()} if "verdict" in own else bare)


SPOILT: dict[Fault, Callable[[SpokenLine], Line]] = {"two_answers": _twice, "misshapen": _misshapen}
"""The faults that spoil the line's own answer."""


def _answer(spoken: SpokenLine) -> Json | None:
    match spoken:
        case PlanLine():
            return lines.plan(spoken.risk, spoken.focus, spoken.signals).answer
        case ExecutorLine():
            return report_line(spoken).answer
        case AdviceLine():
            found = tuple(map(_finding, spoken.findings))
            changes = [lines.change("change_verdict", verdict=spoken.verdict)] if spoken.verdict else []
            stop, flags = spoken.says == "stop", spoken.risk_flags
            return lines.guidance(spoken.action, *changes, stop=stop, findings=found, flags=flags).answer
        case JudgementLine():
            return _judgement(spoken)
        case VoteLine():
            weights = (spoken.approve, spoken.request_changes, spoken.block)
            return lines.vote(*weights, *spoken.points, on=spoken.on, why=spoken.reasoning).answer
        case _:
            raise TypeError(f"nobody speaks {type(spoken).__name__}")


def report_line(spoken: ExecutorLine) -> Line:
    """The report that a line of the executor says, whatever its fault."""
    found = map(_finding, spoken.findings)
    answers = tuple(lines.evidence(a.disagreement, a.path, a.evidence, a.position) for a in spoken.answers)
    match spoken.says:
        case "approve":
            line = lines.approve(*found, answers=answers, summary=spoken.summary or "looks right")
        case "reject":
            line = lines.reject(*found, answers=answers, summary=spoken.summary or "must not be merged")
        case _:
            assert_never(spoken.says)
    if spoken.knowledge:
        line = line.teaching(*(lines.learned(k.title, k.path, k.evidence, k.body) for k in spoken.knowledge))
    if spoken.applies:
        line = line.applying(*spoken.applies)
    for recommendation, reason in spoken.overrides.items():
        line = line.overriding(recommendation, reason)
    return line.sure(spoken.confidence)


def _finding(block: FindingBlock) -> Json:
    finding = lines.finding(
        block.path, block.line, block.evidence, block.severity, block.title, confidence=block.confidence
    )
    return finding | ({"rule": block.rule} if block.rule else {})


def _judgement(spoken: JudgementLine) -> Json:
    line = lines.confirm(*spoken.points) if spoken.says == "confirm" else lines.veto(*spoken.points)
    answer = {**(line.answer or {}), "suggested_fix_direction": spoken.direction}
    return {**answer, "reasoning": spoken.reasoning} if spoken.reasoning else answer
