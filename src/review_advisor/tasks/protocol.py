"""The protocol's blocks in a message, and what they mean."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from review_advisor.agents.answers import sets_stop
from review_advisor.agents.mid_flight import read_consult
from review_advisor.ledger.task_events import (
    DONE_BY_SEVERITY,
    MOST_BLOCKS,
    OF_A_RUN,
    BlockTag,
    Body,
    Malformed,
    MemoryProposal,
    Scanned,
    TagBlock,
    TaskConsult,
    TaskDone,
    TaskGuidance,
    read_body,
    scan,
)
from review_advisor.safety.stop import ConsultRecord

_ONE_CONSULT = "one question a turn: another one comes first"


_CONSULT_FIRST = "a question in the same message comes first"


_WORSE = "another end in the same message is worse"


_ONE_GUIDANCE = "one guidance a question: another one comes first"


@dataclass(frozen=True, slots=True)
class Ignored:
    """A block without effect, and why."""

    tag: BlockTag
    why: str


@dataclass(frozen=True, slots=True)
class ExecutorSaid:
    """What an executor's message asks for or says. ``done`` is None beside a question.

    ``reports`` are all that it holds, whatever stands around them.
    """

    consult: TaskConsult | None = None
    done: TaskDone | None = None
    proposals: tuple[MemoryProposal, ...] = ()
    reports: tuple[TagBlock | Malformed, ...] = ()
    malformed: tuple[Malformed, ...] = ()
    ignored: tuple[Ignored, ...] = ()

    @property
    def unusable(self) -> Malformed | None:
        """The block without which nobody knows whether the executor asks or ends; None if the message is usable.

        An end that is no completion needs no other one to be read.
        """
        if self.consult is not None:
            return None
        is_no = self.done is not None and self.done.status != "completed"
        void = (BlockTag.CONSULT,) if is_no else (BlockTag.CONSULT, BlockTag.DONE)
        return next((each for each in self.malformed if each.tag in void), None)

    @property
    def is_mute(self) -> bool:
        """Whether it neither asks nor ends."""
        return self.consult is None and self.done is None


@dataclass(frozen=True, slots=True)
class AdvisorSaid:
    """What an advisor's message advises. ``wrapped``: it has no block, so its text is the guidance."""

    guidance: TaskGuidance | None = None
    wrapped: bool = False
    malformed: tuple[Malformed, ...] = ()
    ignored: tuple[Ignored, ...] = ()

    @property
    def unusable(self) -> Malformed | None:
        """The guidance that nobody can read; a stop signal counts all the same."""
        if self.guidance is not None:
            return None
        return next((each for each in self.malformed if each.tag is BlockTag.GUIDANCE), None)

    @property
    def is_mute(self) -> bool:
        """Whether no block of it is a guidance."""
        return self.guidance is None or self.wrapped


def hear_executor(messages: Sequence[str], nonce: str) -> ExecutorSaid:
    """What the final message says; ``messages`` are several where one call gave several."""
    scanned = _scan_all(messages, nonce)
    consults, bad_consults = _bodies(TaskConsult, scanned, BlockTag.CONSULT)
    ends, bad_ends = _bodies(TaskDone, scanned, BlockTag.DONE)
    proposals, bad_proposals = _bodies(MemoryProposal, scanned, BlockTag.PROPOSAL)
    ignored = [Ignored(BlockTag.CONSULT, _ONE_CONSULT) for _ in consults[1:]]
    if consults:
        ignored += [Ignored(BlockTag.DONE, _CONSULT_FIRST) for _ in ends]
        ignored += [Ignored(each.tag, _CONSULT_FIRST) for each in scanned.of(BlockTag.READINESS)]
    else:
        ignored += [Ignored(BlockTag.DONE, _WORSE) for _ in ends[1:]]
    ignored += _foreign(scanned, (BlockTag.GUIDANCE,), "an executor gives no guidance")
    worst = min(ends, key=lambda end: DONE_BY_SEVERITY.index(end.status), default=None)
    return ExecutorSaid(
        consult=consults[0] if consults else None,
        done=None if consults else worst,
        proposals=tuple(proposals),
        reports=_reports(messages, nonce),
        malformed=(*scanned.malformed, *bad_consults, *bad_ends, *bad_proposals, *_flood(scanned, BlockTag.CONSULT)),
        ignored=tuple(ignored),
    )


def hear_advisor(messages: Sequence[str], nonce: str) -> AdvisorSaid:
    """What the advisor's final message advises. Of several guidances one that asks to stop counts, else the first.

    One that asks to stop counts also if it, or another one, cannot be read.
    """
    scanned = _scan_all(messages, nonce)
    given, bad = _bodies(TaskGuidance, scanned, BlockTag.GUIDANCE)
    malformed = (*scanned.malformed, *bad, *_flood(scanned, BlockTag.GUIDANCE))
    ignored = [Ignored(BlockTag.GUIDANCE, _ONE_GUIDANCE) for _ in given[1:]]
    executors = (BlockTag.CONSULT, BlockTag.DONE, BlockTag.PROPOSAL, BlockTag.READINESS)
    ignored += _foreign(scanned, executors, "an advisor neither asks nor ends nor proposes")
    is_broken = any(each.tag is BlockTag.GUIDANCE for each in (*scanned.malformed, *bad))
    in_prose = _wrapped("\n\n".join(messages)) if is_broken or not given else None
    in_blocks = next((_stop_in(each) for each in scanned.of(BlockTag.GUIDANCE) if sets_stop(each.body)), None)
    stop = in_blocks or (in_prose if in_prose is not None and in_prose.stop_signal else None)
    if stop is None and any(each.tag is BlockTag.GUIDANCE for each in malformed):
        return AdvisorSaid(malformed=malformed, ignored=tuple(ignored))
    chosen = stop or (given[0] if given else in_prose)
    return AdvisorSaid(chosen, chosen is in_prose, malformed, tuple(ignored))


def asking_to_stop(said: Sequence[object], nonce: str) -> tuple[str, ...]:
    """The messages that ask to stop, of all that a lost answer of the advisor holds all the same."""
    return tuple(message for each in said if _stops(message := _text(each), nonce))


def _stops(message: str, nonce: str) -> bool:
    guidance = hear_advisor([message], nonce).guidance
    return guidance is not None and guidance.stop_signal


def _text(said: object) -> str:
    message = said.get("message") if isinstance(said, dict) else None
    return message if isinstance(message, str) else json.dumps(said, ensure_ascii=False)


def _reports(messages: Sequence[str], nonce: str) -> tuple[TagBlock | Malformed, ...]:
    """Every report, also one within another block: one that says no must not get lost."""
    scanned = _scan_all(messages, nonce, (BlockTag.READINESS,))
    return (*scanned.found, *_flood(scanned, BlockTag.READINESS))


def _stop_in(block: TagBlock) -> TaskGuidance:
    """A guidance that asks to stop, whatever else can be read of it."""
    read = read_body(TaskGuidance, block)
    if isinstance(read, Malformed):
        return TaskGuidance(guidance="the advisor asks to stop, in a block that cannot be read", stop_signal=True)
    return read.model_copy(update={"stop_signal": True})


def _scan_all(messages: Sequence[str], nonce: str, tags: tuple[BlockTag, ...] = OF_A_RUN) -> Scanned:
    scanned = [scan(message, nonce, tags) for message in messages]
    return Scanned(tuple(each for one in scanned for each in one.found), any(one.unread for one in scanned))


def _bodies(kind: type[Body], scanned: Scanned, tag: BlockTag) -> tuple[list[Body], list[Malformed]]:
    good, bad = list[Body](), list[Malformed]()
    for each in scanned.of(tag):
        read = read_body(kind, each)
        if isinstance(read, Malformed):
            bad.append(read)
        else:
            good.append(read)
    return good, bad


def _foreign(scanned: Scanned, tags: tuple[BlockTag, ...], why: str) -> list[Ignored]:
    return [Ignored(each.tag, why) for each in scanned.found if isinstance(each, TagBlock) and each.tag in tags]


def _flood(scanned: Scanned, gravest: BlockTag) -> Iterator[Malformed]:
    """Behind so many blocks there may be the gravest: a question, or guidance with a stop signal."""
    if scanned.unread:
        yield Malformed(gravest, f"the message has more than {MOST_BLOCKS} blocks")


def _wrapped(text: str) -> TaskGuidance | None:
    """Advice in prose; None where there are no words. A stop signal counts in any form."""
    guidance = read_consult(ConsultRecord("", "?", "answered", reply=text)).guidance
    if guidance is None:
        return None
    return TaskGuidance(guidance=guidance.action, rationale=guidance.rationale, stop_signal=guidance.stop_signal)
