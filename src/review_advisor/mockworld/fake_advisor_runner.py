"""FakeAdvisorRunner: the Agents port, played from a script, remembering everything that was asked."""

from __future__ import annotations

import json
import threading
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from review_advisor.core.answers.answers import ReviewReport
from review_advisor.core.answers.challenge import Challenge
from review_advisor.core.answers.member_vote import MemberVote
from review_advisor.core.answers.opinion import Opinion
from review_advisor.core.outcome.cost import tokens, total_usage
from review_advisor.core.policy.surfaces import Role, Surface
from review_advisor.core.roles.calls import (
    AgentCall,
    Answered,
    ConsultGrant,
    ConsultRecord,
    ConsultReply,
    Denied,
    Lost,
    LostReason,
    ModelUsage,
    Receipt,
    Stop,
)
from review_advisor.core.roles.picture_prompt import crops_shown
from review_advisor.core.roster.advisor import ADR_ADVISOR, VOICES
from review_advisor.mockworld.editable_copies import EditResult
from review_advisor.mockworld.lines import Line, approve, confirm, guidance, opinion, plan, stands, voices, vote
from review_advisor.ports.review import Consults


class Passing(Protocol):
    """A clock that a story can let run."""

    def sleep(self, seconds: float) -> None:
        """Let time go by."""
        ...

    def monotonic(self) -> float:
        """Seconds since the world began."""
        ...


class Scripted(Protocol):
    """A line that is made when its turn comes."""

    def line(self) -> Line:
        """What is said then."""
        ...


@dataclass(frozen=True, slots=True)
class Advice:
    """One consult as it was played. ``line`` is what the advisor said, None where the cap denied the question."""

    question: str
    grant: ConsultGrant
    line: Line | None


@dataclass(slots=True)
class PlayedCall:
    """One call as it was played: what was said to it, and what came of that (None while it runs)."""

    call: AgentCall
    line: Line
    at: float
    advice: list[Advice] = field(default_factory=list)
    came: Answered | Lost | BaseException | None = None


@dataclass
class FakeAdvisorRunner:
    """Plays the lines given for each role, in order; a role without a script agrees with everything.

    ``asked`` holds every call in order. A consult is played if the review grants it. ``consulted`` holds every question
    with the leave it was asked under.
    ``played`` holds both with what was said. ``struck`` are lines for the n-th call, counted from 1, whoever
    makes it. ``lifelike``: a line that takes longer than its call may is lost, and an executor without the Agent tool
    asks nothing and without leave edits nothing, as with the real adapter; otherwise the first passes and the others
    are faults of the story. ``write`` is where an executor's edits go. ``pace`` gives each line the time and the price
    that it has as the answer to its call; consults keep their own.
    """

    clock: Passing
    asked: list[AgentCall] = field(default_factory=list)
    played: list[PlayedCall] = field(default_factory=list)
    struck: dict[int, Line] = field(default_factory=dict)
    lifelike: bool = False
    write: Callable[[Path, str, EditResult], None] | None = None
    pace: Callable[[AgentCall, Line], Line] | None = None
    ended_running: int = 0
    interrupted: Stop | None = None
    _lines: dict[tuple[Role, Surface | None, str], deque[Line | Scripted]] = field(
        default_factory=lambda: defaultdict(deque)
    )
    consulted: list[tuple[str, ConsultGrant]] = field(default_factory=list)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def script(self, role: Role, *lines: Line | Scripted, surface: Surface | None = None, advisor: str = "") -> None:
        """Give ``role`` its next lines, on any surface or on one only.

        ``advisor`` is a member of a council: as an executor it says what it finds by itself, as post-verify it votes.
        """
        self._lines[role, surface, advisor].extend(lines)

    def unsaid(self) -> list[str]:
        """The lines nobody asked for."""
        return [
            f"{role.value}{f'/{advisor}' if advisor else ''}{f' on {surface.value}' if surface else ''}: {line}"
            for (role, surface, advisor), lines in self._lines.items()
            for line in lines
        ]

    def run(self, call: AgentCall, consults: Consults | None = None) -> Answered | Lost:
        """Answer as scripted."""
        with self._lock:
            self.asked.append(call)
            line = self.struck.get(len(self.asked)) or self._next(*_voice(call), call.surface) or _agreeing(call)
            line = line if self.pace is None else self.pace(call, line)
            played = PlayedCall(call, line, self.clock.monotonic())
            self.played.append(played)
        try:
            reply = self._reply(played, consults)
        except BaseException as raised:
            played.came = raised
            raise
        played.came = reply
        return reply

    def _reply(self, played: PlayedCall, consults: Consults | None) -> Answered | Lost:
        line, call = played.line, played.call
        questions = () if self.lifelike and call.consults is None else line.questions
        records = self._consulting(questions, played, consults)
        self._edit(line, call)
        late = self.lifelike and line.seconds > call.timeout_seconds
        seconds = call.timeout_seconds if late else line.seconds
        self.clock.sleep(seconds)
        if line.meanwhile is not None:
            line.meanwhile()
        used = _used(call.model, line, played.advice)
        turns = len(questions) + (line.lost is None and line.stop is None and not late)
        receipt = replace(
            used,
            resolved_model=call.model,
            duration_seconds=seconds,
            consults=records,
            turns=turns,
            tool_failures=line.failures,
            opened=crops_shown(call.prompt) if line.opens is None else line.opens,
            failures_unadvised=line.failures,
            readings_unadvised=line.readings,
        )
        if line.bug is not None:
            raise line.bug
        if line.stop is not None:
            line.stop.receipt = receipt
            raise line.stop
        if late:
            return Lost(LostReason.TIMEOUT, f"no answer after {seconds:g} seconds", receipt)
        if line.lost is not None:
            return Lost(line.lost, f"scripted: {line.lost.value}", receipt, line.said)
        return Answered(line.said_to(call.prompt), receipt, line.said)

    def _edit(self, line: Line, call: AgentCall) -> None:
        for path, text in line.edits:
            if call.edits is None or call.tree is None or self.write is None:
                if self.lifelike:
                    return
                raise AssertionError(f"an executor without leave to edit cannot write {path}")
            self.write(call.tree, path, text)

    def check_interrupt(self) -> None:
        """Raise the interrupt that a story asked for."""
        if self.interrupted is not None:
            raise self.interrupted

    def end_running(self) -> None:
        """Count the order to end what is running."""
        self.ended_running += 1

    def _next(self, role: Role, advisor: str, surface: Surface) -> Line | None:
        for key in ((role, surface, advisor), (role, None, advisor)):
            if lines := self._lines.get(key):
                next_one = lines.popleft()
                return next_one if isinstance(next_one, Line) else next_one.line()
        return None

    def _consulting(
        self, questions: tuple[str, ...], played: PlayedCall, consults: Consults | None
    ) -> tuple[ConsultRecord, ...]:
        grant = played.call.consults
        if not questions:
            return ()
        if grant is None or consults is None:
            raise AssertionError(f"an executor without the Agent tool cannot ask: {questions[0]}")
        for question in questions:
            with self._lock:
                self.consulted.append((question, grant))
                identity = f"toolu_{len(self.consulted)}"
            if isinstance(consults.ask(identity, question, _wanted(question)), Denied):
                played.advice.append(Advice(question, grant, None))
            else:
                consults.settle(identity, self._advice(question, grant, played))
        return consults.end()

    def _advice(self, question: str, grant: ConsultGrant, played: PlayedCall) -> ConsultReply:
        with self._lock:
            line = self._next(Role.MID_FLIGHT, "", played.call.surface) or _AGREES[Role.MID_FLIGHT]
        played.advice.append(Advice(question, grant, line))
        self.clock.sleep(line.seconds)
        if line.meanwhile is not None:
            line.meanwhile()
        if line.bug is not None:
            raise line.bug
        if line.stop is not None:
            raise line.stop
        if line.lost is not None:
            return ConsultReply(False, reason=f"scripted: {line.lost.value}")
        return ConsultReply(
            True,
            json.dumps(line.answer),
            resolved_model=grant.advisor_model,
            tokens=line.output_tokens,
            duration_ms=round(line.seconds * 1000),
        )


def _wanted(question: str) -> str:
    """The advisor that a question in the asked form names; empty for the ADR's."""
    try:
        told = json.loads(question)
    except ValueError:
        return ""
    return str(told.get("advisor", "")) if isinstance(told, dict) else ""


def _voice(call: AgentCall) -> tuple[Role, str]:
    """As what somebody is asked, and who: a member of a council reviews by itself first, and then votes."""
    member = ADR_ADVISOR.id if call.advisor == call.role.advisor else call.advisor
    if issubclass(call.answer, MemberVote | Challenge) or call.advisor == VOICES:
        return call.role, member
    by_itself = call.role is Role.POST_VERIFY and issubclass(call.answer, ReviewReport)
    return (Role.EXECUTOR, member) if by_itself else (call.role, "")


def _agreeing(call: AgentCall) -> Line:
    """What somebody without a script says."""
    role, _ = _voice(call)
    if issubclass(call.answer, MemberVote):
        return vote(90) if "The executor approved" in call.prompt else vote(0, 90, on="reject")
    if issubclass(call.answer, Challenge):
        return stands()
    if call.advisor == VOICES:
        return voices(*(each.alias or "" for each in call.answer.model_fields.values()))
    return opinion() if issubclass(call.answer, Opinion) else _AGREES[role]


def _used(model: str, line: Line, advice: list[Advice]) -> Receipt:
    """What a call reports to have used: what its consults used is in it, as the CLI counts, and told by model."""
    answers = [(each.grant.advisor_model, each.line.usage) for each in advice if each.line is not None]
    consults = [ModelUsage(advisor, usage) for advisor, usage in answers if tokens(usage)]
    if not consults:
        return Receipt(usage=line.usage)
    every = [ModelUsage(model, line.usage), *consults]
    by_model = tuple(
        ModelUsage(name, total_usage(each.usage for each in every if each.model == name))
        for name in dict.fromkeys(each.model for each in every)
    )
    return Receipt(usage=total_usage(each.usage for each in every), by_model=by_model, own=line.usage)


_AGREES = {
    Role.PRE_FLIGHT: plan(),
    Role.EXECUTOR: approve(),
    Role.MID_FLIGHT: guidance(),
    Role.POST_VERIFY: confirm(),
}
