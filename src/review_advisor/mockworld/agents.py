"""Agents that play a script and remember every question."""

from __future__ import annotations

import json
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from review_advisor.agents.answers import MemberVote, Opinion, ReviewReport
from review_advisor.agents.calls import (
    AgentCall,
    Answered,
    AuthenticationFailedError,
    ConsultGrant,
    ConsultReply,
    Consults,
    CreditExhaustedError,
    Denied,
    Lost,
    LostReason,
    ModelUnknownError,
    tokens,
    total_usage,
)
from review_advisor.agents.prompts import crops_shown, nonce_of
from review_advisor.change.picture_pairs import PictureDifference, PictureState
from review_advisor.mockworld.copies import EditResult
from review_advisor.policy.roster import ADR_ADVISOR, VOICES
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.safety.stop import ConsultRecord, ModelUsage, Receipt, ReviewInterrupted, Stop, Usage

Json = dict[str, Any]


class Killed(BaseException):
    """The process of the review was killed: nothing catches this, as nothing catches SIGKILL."""


@dataclass(frozen=True)
class Line:
    """One scripted reply: an answer, a lost answer, a Stop, or a bug. Before it, an executor may consult."""

    answer: Json | None = None
    """The last answer of the call."""
    said: tuple[Json, ...] = ()
    """All answers of the call, if there is more than one; a lost line may have some, too."""
    lost: LostReason | None = None
    stop: Stop | None = None
    bug: BaseException | None = None
    questions: tuple[str, ...] = ()
    cost_usd: float | None = 0.0
    seconds: float = 1.0
    output_tokens: int = 0
    fault: str = ""
    """The story's word for what goes wrong."""
    quotes_nonce: bool = False
    """``{nonce}`` in the answer becomes the nonce that the prompt states."""
    edits: tuple[tuple[str, EditResult], ...] = ()
    failures: int = 0
    readings: int = 0
    opens: tuple[str, ...] | None = None
    """The crops that it opens as pictures; None: all that it is given."""
    meanwhile: Callable[[], None] | None = field(default=None, compare=False)
    """Called while the agent works: a story uses it to flip a switch or to look around."""

    def after_saying(self, *said: Json) -> Line:
        """This line, after other structured answers in the same call."""
        return replace(self, said=(*said, *([self.answer] if self.answer is not None else [])))

    def failing(self, tools: int) -> Line:
        """This line, after so many failed tool calls in a row."""
        return replace(self, failures=tools)

    def reading(self, times: int) -> Line:
        """This line, after reading one place of a file so often."""
        return replace(self, readings=times)

    def opening(self, *crops: str) -> Line:
        """This line, after opening only these crops as pictures; none: it looks at no picture."""
        return replace(self, opens=crops)

    def sure(self, confidence: float) -> Line:
        """This report, with this confidence in its verdict."""
        return replace(self, answer={**(self.answer or {}), "confidence": confidence})

    def applying(self, *recommendations: str) -> Line:
        """This report, which says that it applied these recommendations."""
        return self._disposing([{"recommendation": each, "disposition": "applied"} for each in recommendations])

    def overriding(self, recommendation: str, reason: str = "the quote shows otherwise") -> Line:
        """This report, which says that it overrode one recommendation."""
        return self._disposing([{"recommendation": recommendation, "disposition": "overridden", "reason": reason}])

    def _disposing(self, said: list[Json]) -> Line:
        before = (self.answer or {}).get("dispositions", [])
        return replace(self, answer={**(self.answer or {}), "dispositions": [*before, *said]})

    def costing(self, usd: float | None) -> Line:
        """This line, at a price; None is a call whose cost nobody reported."""
        return replace(self, cost_usd=usd)

    def taking(self, seconds: float) -> Line:
        """This line, after so many seconds of the world's clock."""
        return replace(self, seconds=seconds)

    def after_asking(self, *questions: str) -> Line:
        """This line, said after consulting the advisor."""
        return replace(self, questions=questions)

    def while_doing(self, action: Callable[[], None]) -> Line:
        """This line; ``action`` happens in the meantime."""
        return replace(self, meanwhile=action)

    def teaching(self, *entries: Json) -> Line:
        """This report, with knowledge entries."""
        return replace(self, answer={**(self.answer or {}), "knowledge": entries})

    def repairing(self, path: str, text: str | None) -> Line:
        """This line, said after writing ``text`` to a file of the executor's copy (None deletes it)."""
        return replace(self, edits=(*self.edits, (path, text)))

    def said_to(self, prompt: str) -> Json:
        """The answer as whoever asks with that prompt gets it."""
        answer = self.answer or {}
        if not self.quotes_nonce:
            return answer
        quoted: Json = json.loads(json.dumps(answer).replace("{nonce}", nonce_of(prompt)))
        return quoted

    @property
    def usage(self) -> Usage:
        """What the call reports to have used."""
        return Usage(output_tokens=self.output_tokens, cost_usd=self.cost_usd)


def opinion(
    says: str = "nothing unusual", *concerns: str, of_each: Mapping[str, str] | None = None, **own: Any
) -> Line:
    """A declared advisor speaks before the executor begins; ``own`` are its own fields."""
    instances = [{"_instance": name, "opinion": text} for name, text in (of_each or {}).items()]
    return Line({"opinion": says, "concerns": list(concerns), "instances": instances, **own})


def plan(risk: str = "a risk", focus: tuple[str, ...] = (), signals: tuple[str, ...] = ()) -> Line:
    """Pre-flight plans the review."""
    areas = [{"description": f"look at {path}", "files": [path], "rationale": "it changed"} for path in focus]
    return Line({"risk_summary": risk, "focus_areas": areas, "rubric": ["it works"], "escalation_signals": signals})


def finding(
    path: str, line: int, evidence: str, severity: str = "high", title: str = "a fault", *, confidence: float = 0.9
) -> Json:
    """One finding of the executor."""
    return {
        "path": path,
        "line": line,
        "severity": severity,
        "category": "correctness",
        "title": title,
        "body": "",
        "confidence": confidence,
        "evidence": evidence,
    }


def picture_differs(name: str, *crops: str, pixels: int = 7) -> PictureDifference:
    """A pair of pictures that differs, with its crops; two of one place by default."""
    return PictureDifference(name, "differs", pixels, crops or (f"{name}-1-before.png", f"{name}-1-after.png"))


def picture(name: str, state: PictureState, why: str = "") -> PictureDifference:
    """A pair of pictures of which nothing is shown."""
    return PictureDifference(name, state, why=why)


def learned(
    title: str, path: str, quote: str, body: str = "It has been so for years.", tags: tuple[str, ...] = ()
) -> Json:
    """One knowledge entry of the executor."""
    return {"title": title, "body": body, "path": path, "evidence": quote, "tags": tags}


def evidence(disagreement: str, path: str, quote: str, position: str = "contested") -> Json:
    """The executor's answer to one disagreement, with a quote."""
    return {"disagreement": disagreement, "position": position, "path": path, "evidence": quote}


def approve(*findings: Json, answers: tuple[Json, ...] = (), summary: str = "looks right") -> Line:
    """The executor approves."""
    return _report("approve", findings, answers, summary)


def reject(*findings: Json, answers: tuple[Json, ...] = (), summary: str = "must not be merged") -> Line:
    """The executor rejects."""
    return _report("reject", findings, answers, summary)


def _report(verdict: str, findings: tuple[Json, ...], answers: tuple[Json, ...], summary: str) -> Line:
    report = {"verdict": verdict, "summary": summary, "confidence": 0.9, "findings": findings, "answers": answers}
    return Line(report)


def confirm(*concerns: str, pre_existing: tuple[str, ...] = ()) -> Line:
    """Post-verify confirms the executor's verdict, and which of its findings the change did not bring."""
    line = _judgement("APPROVE", "the verdict is right", concerns, "concern", None)
    return replace(line, answer={**(line.answer or {}), "pre_existing": list(pre_existing)}) if pre_existing else line


def veto(*blocking: str, reasoning: str = "the verdict is wrong", direction: str | None = None) -> Line:
    """Post-verify calls the executor's verdict wrong."""
    return _judgement("VETO", reasoning, blocking, "blocking", direction)


def vote(
    approve: float = 0, request_changes: float = 0, block: float = 0, *blocking: str, on: str = "approve", why: str = ""
) -> Line:
    """A member of a council judges the executor's verdict ``on`` the change, and votes about the change itself."""
    mild = approve > max(request_changes, block) and not blocking
    verdict = "APPROVE" if mild is (on == "approve") else "VETO"
    weights = {"approve": approve, "request_changes": request_changes, "block": block}
    calls = {**weights, "_tool": max(weights, key=lambda action: weights[action]), "_reasoningForCall": why}
    line = _judgement(verdict, why or "so it is", blocking, "blocking", None)
    return replace(line, answer={**(line.answer or {}), "calls": json.dumps(calls)})


def voices(*who: str, approve: float = 90, block: float = 0, says: str = "") -> Line:
    """Inline members advise in one call, all of them the same."""
    calls = json.dumps({"approve": approve, "block": block, "_reasoningForCall": says})
    return Line({each: {"calls": calls} for each in who})


def _judgement(verdict: str, reasoning: str, points: tuple[str, ...], severity: str, direction: str | None) -> Line:
    disagreements = [
        {"executor_claim": "the change is fine", "advisor_assessment": point, "severity": severity} for point in points
    ]
    return Line(
        {
            "verdict": verdict,
            "reasoning": reasoning,
            "disagreements": disagreements,
            "suggested_fix_direction": direction,
        }
    )


def guidance(
    action: str = "look again",
    *changes: Json,
    stop: bool = False,
    findings: tuple[Json, ...] = (),
    flags: tuple[str, ...] = (),
) -> Line:
    """The advisor answers a consult: it recommends changes of the report, brings findings, and names risks."""
    answer = {"action": action, "rationale": "because", "stop_signal": stop}
    more = {"changes": changes, "findings": findings, "risk_flags": flags}
    return Line(answer | {name: value for name, value in more.items() if value})


def change(does: str, finding: str = "", *, quote: str = "", path: str = "src/app.py", **more: str) -> Json:
    """One change of a report that the advisor recommends."""
    proof = {"path": path, "quote": quote} if quote else {}
    return {"does": does, "finding": finding, **proof, **more}


def lost(reason: LostReason = LostReason.CRASH) -> Line:
    """The call ends without an answer."""
    return Line(lost=reason)


def garbage() -> Line:
    """The reply does not fit its schema."""
    return Line({"certainly": "not the schema"})


def text_only() -> Line:
    """The model answered in prose, without structured output."""
    return Line(lost=LostReason.NO_STRUCTURED_OUTPUT)


def credit_gone() -> Line:
    """The account has no credit left."""
    return Line(stop=CreditExhaustedError("the account's credit is exhausted"))


def model_unknown() -> Line:
    """The model does not exist."""
    return Line(stop=ModelUnknownError("the model does not exist"))


def authentication_gone() -> Line:
    """The credential is refused."""
    return Line(stop=AuthenticationFailedError("the credential was refused"))


def interrupted() -> Line:
    """Somebody pressed Ctrl-C."""
    return Line(stop=ReviewInterrupted("interrupted by SIGINT", signal_number=2))


def bug() -> Line:
    """Our own code is wrong."""
    return Line(bug=KeyError("a bug in the harness"))


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
    result: Answered | Lost | BaseException | None = None


@dataclass
class FakeAdvisorRunner:
    """Plays the lines given for each role, in order; a role without a script agrees with everything.

    A consult is played if the review grants it.
    """

    clock: Passing
    asked: list[AgentCall] = field(default_factory=list)
    """Every call in order."""
    played: list[PlayedCall] = field(default_factory=list)
    """Every call and its consults, each with its line."""
    struck: dict[int, Line] = field(default_factory=dict)
    """Lines for the n-th call, counted from 1, whoever makes it."""
    lifelike: bool = False
    """As with the real adapter, a line that takes longer than its call may is lost; an executor without the Agent tool
    asks nothing, and without leave edits nothing. Otherwise the first passes, and the others are faults of the story.
    """
    write: Callable[[Path, str, EditResult], None] | None = None
    """Where an executor's edits go."""
    pace: Callable[[AgentCall, Line], Line] | None = None
    """Gives each line the time and the price that it has as the answer to its call; consults keep their own."""
    ended_running: int = 0
    interrupted: Stop | None = None
    _lines: dict[tuple[Role, Surface | None, str], deque[Line | Scripted]] = field(
        default_factory=lambda: defaultdict(deque)
    )
    consulted: list[tuple[str, ConsultGrant]] = field(default_factory=list)
    """Every question with the leave it was asked under."""
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
            played.result = raised
            raise
        played.result = reply
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
        members = json.loads(question)
    except ValueError:
        return ""
    return str(members.get("advisor", "")) if isinstance(members, dict) else ""


def _voice(call: AgentCall) -> tuple[Role, str]:
    """As what somebody is asked, and who: a member of a council reviews by itself first, and then votes."""
    member = ADR_ADVISOR.id if call.advisor == call.role.advisor else call.advisor
    if issubclass(call.answer, MemberVote) or call.advisor == VOICES:
        return call.role, member
    by_itself = call.role is Role.POST_VERIFY and issubclass(call.answer, ReviewReport)
    return (Role.EXECUTOR, member) if by_itself else (call.role, "")


def _agreeing(call: AgentCall) -> Line:
    """What somebody without a script says."""
    role, _ = _voice(call)
    if issubclass(call.answer, MemberVote):
        return vote(90) if "The executor approved" in call.prompt else vote(0, 90, on="reject")
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
