"""From the words of a story to the lines that the agents speak."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, assert_never

from review_advisor.core.policy.surfaces import Role, Surface
from review_advisor.core.roles.calls import LostReason
from review_advisor.mockworld import lines
from review_advisor.mockworld.agents import FakeAdvisorRunner
from review_advisor.mockworld.lines import Json, Killed, Line
from review_advisor.mockworld.story import ReviewBlock, TroubleBlock
from review_advisor.mockworld.story_change import PushBlock
from review_advisor.mockworld.story_lines import (
    SLOW,
    AdviceLine,
    ExecutorLine,
    Fault,
    JudgementLine,
    Meanwhile,
    PlanLine,
    SpokenLine,
)

LOST: dict[Fault, LostReason] = {
    "crash": LostReason.CRASH,
    "timeout": LostReason.TIMEOUT,
    "prose": LostReason.NO_STRUCTURED_OUTPUT,
    "truncated": LostReason.TRUNCATED,
    "server_error": LostReason.SERVER_ERROR,
    "rate_limited": LostReason.RATE_LIMITED,
    "model_refused": LostReason.MODEL_REFUSED,
    "model_not_found": LostReason.MODEL_NOT_FOUND,
    "call_budget": LostReason.CALL_BUDGET,
    "too_long": LostReason.TOO_LONG,
    "unguarded_consult": LostReason.UNGUARDED_CONSULT,
}
"""The faults that the adapter hands on as a lost answer."""

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
    agents.struck.update(_struck(review.trouble))


def _struck(trouble: TroubleBlock) -> dict[int, Line]:
    found: dict[int, Line] = {}
    if trouble.credit_gone_at_call is not None:
        found[trouble.credit_gone_at_call] = replace(lines.credit_gone(), fault="credit_gone")
    if trouble.auth_gone_at_call is not None:
        found[trouble.auth_gone_at_call] = replace(lines.authentication_gone(), fault="auth_gone")
    return found


@dataclass(frozen=True, slots=True)
class _Unspoken:
    """A line of the story; most of them are never asked for."""

    spoken: SpokenLine
    doing: Doing

    def line(self) -> Line:
        spoken = self.spoken
        words = spoken.summary if isinstance(spoken, ExecutorLine) else ""
        words = spoken.reasoning if isinstance(spoken, JudgementLine) else words
        return _line(
            spoken,
            fault=spoken.fault or "",
            questions=spoken.asks if isinstance(spoken, ExecutorLine) else (),
            quotes_nonce="{nonce}" in words,
            seconds=max(spoken.seconds, SLOW) if spoken.fault == "slow" else spoken.seconds,
            cost_usd=spoken.cost_usd,
            edits=tuple((each.path, each.edit()) for each in spoken.edits) if isinstance(spoken, ExecutorLine) else (),
            meanwhile=self._meanwhile(),
        )

    def _meanwhile(self) -> Callable[[], None] | None:
        told = self.spoken.meanwhile or _NOTHING
        if self.spoken.fault == "stale_head" and told.push is None:
            told = told.model_copy(update={"push": PushBlock()})
        return partial(self.doing, told) if told.push is not None or told.switches else None

    def __str__(self) -> str:
        return str(self.spoken)


def _line(spoken: SpokenLine, **facts: Any) -> Line:
    """What is said, or what goes wrong instead, with all other ``facts`` of the line.

    Two answers are the last one: that is what the adapter makes of a stream with two results.
    What is slow, or comes when the head has moved, is an answer all the same.
    """
    match spoken.fault:
        case None | "two_answers" | "slow" | "stale_head":
            return Line(_answer(spoken), **facts)
        case "garbage":
            return replace(lines.garbage(), **facts)
        case "credit_gone":
            return replace(lines.credit_gone(), **facts)
        case "auth_gone":
            return replace(lines.authentication_gone(), **facts)
        case "interrupted":
            return replace(lines.interrupted(), **facts)
        case "killed":
            return Line(bug=Killed(), **facts)
        case _:
            return Line(lost=LOST[spoken.fault], **facts)


def _answer(spoken: SpokenLine) -> Json | None:
    match spoken:
        case PlanLine():
            return lines.plan(spoken.risk, spoken.focus, spoken.signals).answer
        case ExecutorLine():
            return _report(spoken).answer
        case AdviceLine():
            return lines.guidance(spoken.action, stop=spoken.says == "stop").answer
        case JudgementLine():
            return _judgement(spoken)
        case _:
            raise TypeError(f"nobody speaks {type(spoken).__name__}")


def _report(spoken: ExecutorLine) -> Line:
    found = [lines.finding(f.path, f.line, f.evidence, f.severity, f.title) for f in spoken.findings]
    answers = tuple(lines.evidence(a.disagreement, a.path, a.evidence, a.position) for a in spoken.answers)
    match spoken.says:
        case "approve":
            said = lines.approve(*found, answers=answers, summary=spoken.summary or "looks right")
        case "reject":
            said = lines.reject(*found, answers=answers, summary=spoken.summary or "must not be merged")
        case _:
            assert_never(spoken.says)
    if spoken.knowledge:
        said = said.teaching(*(lines.learned(k.title, k.path, k.evidence, k.body) for k in spoken.knowledge))
    return said


def _judgement(spoken: JudgementLine) -> Json:
    said = lines.confirm(*spoken.points) if spoken.says == "confirm" else lines.veto(*spoken.points)
    answer = {**(said.answer or {}), "suggested_fix_direction": spoken.direction}
    return {**answer, "reasoning": spoken.reasoning} if spoken.reasoning else answer
