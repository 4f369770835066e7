"""Which of a call's answers says no, and how it is read: a usable "no" inside an unusable answer is a no.

``said`` is every structured answer of one call, in order. Nothing in it has to fit a schema.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from review_advisor.core.answers.answers import WEIGHTS, Answer, PostVerifyResult, ReviewReport
from review_advisor.core.safety.fence import facts_text

Said = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _No:
    """How an answer of one role says no. ``verdict``: its word for it. ``remarks``: the list that gives the reasons."""

    verdict: str
    word: re.Pattern[str]
    severity: re.Pattern[str]
    remarks: str
    readable: Callable[[Said], dict[str, Any]]


def spoken_no(model: type[Answer], said: Sequence[Said]) -> dict[str, Any] | None:
    """The most severe of the answers as one that ``model`` takes; None if none of them says no.

    Its remarks include those of every other answer that fits the schema.
    """
    no = _how(model)
    noes = [] if no is None else [each for each in said if _says(no, each)]
    if no is None or not noes:
        return None
    chosen = said[-1] if _says(no, said[-1]) else noes[-1]
    readable = no.readable(_holder(model, chosen))
    return {**readable, "verdict": no.verdict, no.remarks: _remarks(model, no, readable, said, chosen)}


def joined(model: type[Answer], said: Sequence[Said]) -> Said:
    """The last answer, where none says no; a report with the findings of every other one that fits the schema."""
    last = said[-1]
    if len(said) == 1 or not issubclass(model, ReviewReport) or not isinstance(last.get("findings", []), list | tuple):
        return last
    return {**last, "findings": _remarks(model, _EXECUTORS_NO, last, said, last)}


def _how(model: type[Answer]) -> _No | None:
    return next((no for kind, no in _NOES if issubclass(model, kind)), None)


def _says(no: _No, said: Said) -> bool:
    return any(no.word.search(word) for word in _texts_under("verdict", said)) or any(
        no.severity.search(word) for word in _texts_under("severity", said)
    )


def _texts_under(key: str, said: object) -> Iterator[str]:
    """Every text under that key, at any depth and in any case."""
    for each in every_object(said):
        for name, value in each.items():
            if isinstance(value, str) and name.strip().casefold() == key:
                yield value


def every_object(said: object) -> Iterator[Mapping[str, Any]]:
    """Every object in it, the outermost first."""
    waiting: deque[object] = deque([said])
    while waiting:
        each = waiting.popleft()
        if isinstance(each, Mapping):
            yield each
            waiting.extend(each.values())
        elif isinstance(each, list | tuple):
            waiting.extend(each)


def _holder(model: type[Answer], said: Said) -> Said:
    """The outermost object that has one of the model's keys."""
    return next((each for each in every_object(said) if model.model_fields.keys() & each.keys()), said)


def _remarks(model: type[Answer], no: _No, chosen: Said, said: Iterable[Said], but: Said) -> list[Any]:
    """The chosen answer's remarks, then those of every other answer that fits the schema; each once."""
    found: list[Any] = []
    fitting = (each for each in said if each is not but and _fits(model, {**each, "verdict": no.verdict}))
    for each in (chosen, *fitting):
        found += [remark for remark in each.get(no.remarks, ()) if remark not in found]
    return found


def _fits(model: type[Answer], said: Said) -> bool:
    try:
        model.model_validate(said)
    except ValidationError:
        return False
    return True


# --- what can be read of an answer that says no -----------------------------------------------------------------------


def _judgement(said: Said) -> dict[str, Any]:
    return {
        "reasoning": _words(said.get("reasoning")),
        "suggested_fix_direction": _words(said.get("suggested_fix_direction")) or None,
        "disagreements": [_disagreement(each) for each in _items(said.get("disagreements"))],
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


def _report(said: Said) -> dict[str, Any]:
    confidence = said.get("confidence")
    sure = isinstance(confidence, int | float) and 0 <= confidence <= 1
    return {
        "summary": _words(said.get("summary")),
        "confidence": confidence if sure else 0.0,
        "findings": _items(said.get("findings")),
        "answers": _items(said.get("answers")),
        "knowledge": _items(said.get("knowledge")),
    }


def _items(value: object) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _words(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else facts_text(value)


_JUDGES_NO = _No("VETO", re.compile(r"(?i)\bveto"), re.compile("(?i)block"), "disagreements", _judgement)
_EXECUTORS_NO = _No("reject", re.compile(r"(?i)\breject"), re.compile("(?i)critical|block"), "findings", _report)
_NOES: tuple[tuple[type[Answer], _No], ...] = ((PostVerifyResult, _JUDGES_NO), (ReviewReport, _EXECUTORS_NO))
