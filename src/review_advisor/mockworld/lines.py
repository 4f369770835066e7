"""What an agent of MockWorld can say, in the words of the domain."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from review_advisor.core.facts.pictures import PictureDifference, PictureState
from review_advisor.core.roles.calls import (
    AuthenticationFailedError,
    CreditExhaustedError,
    LostReason,
    ModelUnknownError,
    ReviewInterrupted,
    Stop,
    Usage,
)
from review_advisor.core.roles.prompts import nonce_of
from review_advisor.mockworld.editable_copies import EditResult

Json = dict[str, Any]


class Killed(BaseException):
    """The process of the review was killed: nothing catches this, as nothing catches SIGKILL."""


@dataclass(frozen=True)
class Line:
    """One scripted reply: an answer, a lost answer, a Stop, or a bug. Before it, an executor may consult.

    ``said`` are all answers of the call, if there is more than one; ``answer`` is the last of them. A lost line may
    have said something, too. ``meanwhile`` is called while the agent works: a story uses it to flip a switch or to
    look around. ``fault`` is the story's word for what goes wrong. With ``quotes_nonce``, ``{nonce}`` in the answer
    becomes the nonce that the prompt states. ``opens`` are the crops that it opens as pictures, all that it is shown
    unless a story says otherwise.
    """

    answer: Json | None = None
    said: tuple[Json, ...] = ()
    lost: LostReason | None = None
    stop: Stop | None = None
    bug: BaseException | None = None
    questions: tuple[str, ...] = ()
    cost_usd: float | None = 0.0
    seconds: float = 1.0
    output_tokens: int = 0
    fault: str = ""
    quotes_nonce: bool = False
    edits: tuple[tuple[str, EditResult], ...] = ()
    failures: int = 0
    readings: int = 0
    opens: tuple[str, ...] | None = None
    meanwhile: Callable[[], None] | None = field(default=None, compare=False)

    def after_saying(self, *said: Json) -> Line:
        """The same line, after other structured answers in the same call."""
        return replace(self, said=(*said, *([self.answer] if self.answer is not None else [])))

    def failing(self, tools: int) -> Line:
        """The same line, after so many failed tool calls in a row."""
        return replace(self, failures=tools)

    def reading(self, times: int) -> Line:
        """The same line, after reading one place of a file so often."""
        return replace(self, readings=times)

    def opening(self, *crops: str) -> Line:
        """The same line, after opening only these crops as pictures; none: it looks at no picture."""
        return replace(self, opens=crops)

    def sure(self, confidence: float) -> Line:
        """The same report, with this confidence in its verdict."""
        return replace(self, answer={**(self.answer or {}), "confidence": confidence})

    def applying(self, *recommendations: str) -> Line:
        """The same report, which says that it applied these recommendations."""
        return self._disposing([{"recommendation": each, "disposition": "applied"} for each in recommendations])

    def overriding(self, recommendation: str, reason: str = "the quote shows otherwise") -> Line:
        """The same report, which says that it overrode one recommendation."""
        return self._disposing([{"recommendation": recommendation, "disposition": "overridden", "reason": reason}])

    def _disposing(self, said: list[Json]) -> Line:
        before = (self.answer or {}).get("dispositions", [])
        return replace(self, answer={**(self.answer or {}), "dispositions": [*before, *said]})

    def costing(self, usd: float | None) -> Line:
        """The same line, at a price; None is a call whose cost nobody reported."""
        return replace(self, cost_usd=usd)

    def taking(self, seconds: float) -> Line:
        """The same line, after so many seconds of the world's clock."""
        return replace(self, seconds=seconds)

    def after_asking(self, *questions: str) -> Line:
        """The same line, said after consulting the advisor."""
        return replace(self, questions=questions)

    def while_doing(self, action: Callable[[], None]) -> Line:
        """The same line; ``action`` happens in the meantime."""
        return replace(self, meanwhile=action)

    def teaching(self, *entries: Json) -> Line:
        """The same report, with knowledge entries."""
        return replace(self, answer={**(self.answer or {}), "knowledge": entries})

    def repairing(self, path: str, text: str | None) -> Line:
        """The same line, said after writing ``text`` to a file of the executor's copy (None deletes it)."""
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
    said = _judgement("APPROVE", "the verdict is right", concerns, "concern", None)
    return replace(said, answer={**(said.answer or {}), "pre_existing": list(pre_existing)}) if pre_existing else said


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
    said = _judgement(verdict, why or "so it is", blocking, "blocking", None)
    return replace(said, answer={**(said.answer or {}), "calls": json.dumps(calls)})


def voices(*who: str, approve: float = 90, block: float = 0, says: str = "") -> Line:
    """Inline members advise in one call, all of them the same."""
    calls = json.dumps({"approve": approve, "block": block, "_reasoningForCall": says})
    return Line({each: {"calls": calls} for each in who})


def refutes(path: str, quote: str, why: str = "it is not so") -> Line:
    """The refuter calls a finding wrong, by a quote."""
    return Line({"verdict": "refuted", "reasoning": why, "path": path, "quote": quote})


def stands(verdict: str = "stands") -> Line:
    """The refuter does not refute a finding."""
    return Line({"verdict": verdict, "reasoning": "it is right", "path": "", "quote": ""})


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
    said = {"action": action, "rationale": "because", "stop_signal": stop}
    more = {"changes": changes, "findings": findings, "risk_flags": flags}
    return Line(said | {name: value for name, value in more.items() if value})


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
