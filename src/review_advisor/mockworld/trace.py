"""A played story for readers: who was asked what, what stood in the prompt, what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from review_advisor.core.outcome.events import (
    BlindJudged,
    CallEnded,
    CallStarted,
    Event,
    PartEnded,
    Repaired,
    Reported,
    RoleSkipped,
    Ruled,
    UnfoundedRejection,
)
from review_advisor.core.outcome.questions import unusual_advisor
from review_advisor.core.report.blind_text import blind_words
from review_advisor.core.report.repair_text import repair_words
from review_advisor.core.roles.calls import Answered, Lost
from review_advisor.core.safety.terminal import one_line
from review_advisor.mockworld.expectations import flags_of
from review_advisor.mockworld.fake_advisor_runner import PlayedCall
from review_advisor.mockworld.promises.played_review import answer_of, fault_of, split_prompt
from review_advisor.mockworld.stories.snapshot import Snapshot
from review_advisor.mockworld.stories.stage import PlayedReview, PlayedStep, PlayedStory
from review_advisor.mockworld.timeline import begins, changes, step_words

LONGEST = 100


def trace_text(origin: str, played: PlayedStory, unmet: Sequence[str]) -> str:
    """The whole story as lines of text, and whether it ended as it says."""
    lines = [f"{origin}: {one_line(played.story.story)}"]
    before: Snapshot | None = None
    for step in played.steps:
        lines += ["", f"  {step.number} {one_line(step_words(step))}"]
        lines += [f"    {_short(words)}"] if (words := begins(step, before)) else []
        lines += [*_review_lines(step.review)] if step.review is not None else []
        lines += [f"    on GitHub: {_short(line)}" for line in changes(step, before)]
        before = step.stands
    lines += ["", *(f"  NOT AS THE STORY SAYS: {one_line(words)}" for words in unmet)]
    lines += [] if unmet else ["  as the story says"]
    return "\n".join(lines) + "\n"


def _review_lines(review: PlayedReview) -> Iterator[str]:
    calls = {asked.call.number: asked for asked in review.asked}
    number = 0
    for event in review.events:
        if isinstance(event, CallStarted):
            number += 1
            yield from _call_lines(number, calls[event.number], review.nonce)
        elif isinstance(event, Reported | UnfoundedRejection):
            yield from _refused_lines(event)
        else:
            yield from _event_lines(event)
    flags = ", ".join(sorted(flags_of(review)))
    code = "no exit code" if review.exit_code is None else f"exit {review.exit_code}"
    yield f"    => {review.ended} ({code}){f', {flags}' if flags else ''}: {_short('; '.join(review.because))}"
    yield from (f"    in shadow: {name} {decision}" for name, decision in review.in_shadow.items())


def _call_lines(number: int, asked: PlayedCall, nonce: str) -> Iterator[str]:
    yield f"    {number:>2} {_who(asked)}"
    yield f"         shown: {', '.join(shown_to(asked, nonce))}"
    for each in asked.advice:
        said = "denied by the cap" if each.line is None else _said(each.line.fault, each.line.answer)
        yield f"         consults: {_short(each.question)} -> {said}"
    yield f"         says: {_answer(asked)}"


def _refused_lines(event: Reported | UnfoundedRejection) -> Iterator[str]:
    """What of a report's findings does not count, and why."""
    for each in event.report.refused:
        yield f"         refused: {_short(f'{each.title}, {each.path}: {each.why}')}"


def _event_lines(event: Event) -> Iterator[str]:
    match event:
        case RoleSkipped():
            yield f"       {event.role.value} on {event.surface.value} does not run: {_short(', '.join(event.because))}"
        case CallEnded() if event.ended == "refused":
            yield f"       {event.role.value} on {event.surface.value} is refused: {_short(event.detail)}"
        case Ruled():
            yield f"       ruling: {event.ruling.move.value}, {_short(event.ruling.because)}"
        case Repaired():
            yield f"       repair {event.result}: {_short(repair_words(event))}"
        case BlindJudged():
            yield f"       by the diff alone: {_short(blind_words(event))}"
        case PartEnded():
            yield f"       {event.surface.value}, part {event.shard + 1}: {event.outcome.value}"
        case _:
            return


def _who(asked: PlayedCall) -> str:
    call = asked.call
    member = unusual_advisor(call.role, call.advisor)
    role = f"{call.role.value}/{member}" if member else call.role.value
    where = f"{role} on {call.surface.value}, attempt {call.attempt + 1}"
    where += ", diff alone" if call.blind else ""
    return where + (f", part {call.shard + 1}" if call.shard else "")


def shown_to(asked: PlayedCall, nonce: str) -> tuple[str, ...]:
    """What stood in a prompt, by the labels of its fences."""
    own, inside = split_prompt(asked.call.prompt, nonce)
    repeated = ("what was wrong with the reply before",) if "Your previous reply could not be used" in own else ()
    return (*(label.lower() for label in inside), *repeated)


def _answer(asked: PlayedCall) -> str:
    fault = fault_of(asked)
    if isinstance(asked.came, Answered):
        return _said(fault, answer_of(asked))
    if isinstance(asked.came, Lost):
        return f"nothing ({fault or asked.came.reason.value})"
    return f"nothing ({fault or type(asked.came).__name__})"


def _said(fault: str, answer: dict[str, Any] | None) -> str:
    struck = f" ({fault})" if fault else ""
    if not answer or fault == "garbage":
        return f"nothing that can be used{struck}"
    what = answer.get("verdict") or ("stop" if answer.get("stop_signal") else "")
    words = answer.get("risk_summary") or answer.get("summary") or answer.get("reasoning") or answer.get("action") or ""
    return f"{what}{struck}{': ' if what else ''}{_short(str(words))}"


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def trace_json(origin: str, played: PlayedStory, unmet: Sequence[str]) -> dict[str, Any]:
    """The same for programs."""
    return {
        "file": origin,
        "story": played.story.story,
        "held": not unmet,
        "unmet": list(unmet),
        "reviews": [_review_json(review) for review in played.reviews],
        "steps": list(_steps_json(played.steps)),
    }


def _steps_json(steps: Sequence[PlayedStep]) -> Iterator[dict[str, Any]]:
    before: Snapshot | None = None
    for step in steps:
        yield {
            "number": step.number,
            "step": step.told.kind,
            "head_sha": step.head,
            "begins": step.begins,
            "because": step.because,
            "on_github": list(changes(step, before)),
            "review": None if step.review is None else step.review.number,
        }
        before = step.stands


def _review_json(review: PlayedReview) -> dict[str, Any]:
    return {
        "number": review.number,
        "head_sha": review.change.head_sha,
        "outcome": review.ended,
        "exit_code": review.exit_code,
        "because": list(review.because),
        "flags": sorted(flags_of(review)),
        "asked": [
            {
                "role": asked.call.role.value,
                "surface": asked.call.surface.value,
                "attempt": asked.call.attempt,
                "part": asked.call.shard + 1,
                "shown": list(shown_to(asked, review.nonce)),
                "consults": [
                    {"question": each.question, "answered": each.line is not None} for each in asked.advice
                ],
                "fault": fault_of(asked),
                "answer": asked.came.value if isinstance(asked.came, Answered) else None,
            }
            for asked in review.asked
        ],
        "rulings": [
            {"surface": event.surface.value, "part": event.shard + 1, "move": event.ruling.move.value,
             "because": event.ruling.because}
            for event in review.events if isinstance(event, Ruled)
        ],
    }  # fmt: skip
