"""Answers that outlive the process they were given to: what a review that is started again knows them by."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from pydantic import TypeAdapter

from review_advisor.core.answers.answers import answer_schema
from review_advisor.core.facts.change import Change
from review_advisor.core.policy.surfaces import Role, Surface
from review_advisor.core.roles.calls import AgentCall, Answered, Lost, LostReason

_FACTS: TypeAdapter[object] = TypeAdapter(object)
_NONCE, _RUN = "\0nonce\0", "\0run\0"
"""No prompt holds a NUL of its own, and no reply: the fence and ``legible`` show it as an escape."""


_CRASHES = frozenset({LostReason.CRASH, LostReason.CRASHED_AGAIN, LostReason.CRASHED_AT_WORK})


@dataclass(frozen=True, slots=True)
class RunNames:
    """What only one run is called. Answers are kept without it, so that the next run can take them for its own."""

    run_id: str
    nonce: str

    def taken_out(self, text: str) -> str:
        """``text`` as every run of this review has it."""
        return text.replace(self.nonce, _NONCE).replace(self.run_id, _RUN)

    def put_in(self, text: str) -> str:
        """The inverse."""
        return text.replace(_NONCE, self.nonce).replace(_RUN, self.run_id)


@dataclass(frozen=True, slots=True)
class ReviewIdentity:
    """What makes two runs runs of one review: the change by its label, and a ``key`` of 64 hex digits for all of it."""

    label: str
    key: str


ANSWERS_FOR = timedelta(hours=1)
"""So long a review that is over answers for itself when it is started again."""


@dataclass(frozen=True, slots=True)
class Concluded:
    """That a review has come to its end, when, and in which run."""

    at: datetime
    run_id: str

    def answers_at(self, now: datetime) -> bool:
        """Whether its replies still count. Of an end that is yet to come, by a clock that was wrong, they do not."""
        return timedelta(0) <= now - self.at < ANSWERS_FOR


@dataclass(frozen=True, slots=True)
class EditedFile:
    """What an executor left in the place of one file of its copy; ``base64`` is None for a file that it deleted."""

    path: str
    mode: int
    base64: str | None


@dataclass(frozen=True, slots=True)
class KeptReply:
    """One reply as it is kept; ``number`` counts the replies of a review in the order in which they came.

    ``usable``: it is an answer that fits its schema. ``edits`` are what the executor did to its copy of the tree.
    ``paid_by`` is the run that was given it first.
    """

    number: int
    paid_by: str
    surface: Surface
    role: Role
    shard: int
    usable: bool
    reply: Answered | Lost
    edits: tuple[EditedFile, ...] = ()
    advisor: str = ""
    attempt: int = 0


def review_identity(change: Change, *under: object) -> ReviewIdentity:
    """The review of ``change`` under everything that it goes by."""
    about = replace(change, files=(), earlier=None)  # trees and prompts tell what these say
    return ReviewIdentity(change.label, _digest((about, *under)))


def answer_key(call: AgentCall, names: RunNames, evidence: str) -> str:
    """Everything that is asked, as 64 hex digits: the same question of two runs of one review has the same key.

    ``evidence`` stands for what the call's tree holds. Money and time are no part of the question.
    """
    grant = call.consults
    advisor = () if grant is None else (grant.subagent_type, grant.advisor_model, grant.advisor_prompt, *grant.others)
    edits = None if call.edits is None else call.edits.denied
    leave = (edits, call.withheld.edits, call.withheld.consults is not None)
    asked = (call.role, call.advisor, call.surface, call.attempt, call.shard, call.blind, call.model, advisor, leave)
    words = (names.taken_out(call.system_prompt), names.taken_out(call.prompt), answer_schema(call.answer))
    tried = (call.further_try,) if call.further_try else ()
    efforts = (call.effort, "" if grant is None else grant.effort)
    effort = (efforts,) if any(efforts) else ()
    shadow = (("shadow", call.shadow),) if call.shadow else ()
    return _digest((asked, words, call.tree is not None, evidence, *tried, *effort, *shadow))


def renamed(reply: Answered | Lost, change: Callable[[str], str]) -> Answered | Lost:
    """``reply`` with every text in it changed: one run's names are taken out of it, or another's put in."""

    def other(value: Any) -> Any:
        if isinstance(value, str):
            return change(value)
        if isinstance(value, dict):
            return {other(key): other(inner) for key, inner in value.items()}
        return [other(inner) for inner in value] if isinstance(value, list | tuple) else value

    consults = tuple(
        replace(each, question=other(each.question), reply=other(each.reply), reason=other(each.reason))
        for each in reply.receipt.consults
    )
    receipt = replace(reply.receipt, consults=consults)
    said = tuple(other(each) for each in reply.said)
    if isinstance(reply, Answered):
        return Answered(other(reply.value), receipt, said)
    return replace(reply, detail=other(reply.detail), receipt=receipt, said=said)


def crashed(reply: Answered | Lost) -> bool:
    """Whether the CLI crashed on the question."""
    return isinstance(reply, Lost) and reply.reason in _CRASHES


def on_asking_again(reply: Answered | Lost, *, crashed_before: bool) -> Answered | Lost:
    """``reply`` to a question that an earlier run may have asked: the second crash on one may be the change's doing."""
    if crashed_before and isinstance(reply, Lost) and reply.reason is LostReason.CRASH:
        return replace(reply, reason=LostReason.CRASHED_AGAIN)
    return reply


def to_forget(kept: Iterable[KeptReply]) -> tuple[KeptReply, ...]:
    """What a review that has stopped must not hear again when it is started again.

    A reply that was of no use is asked for anew, unless an answer was built on it: one of the same part, or after
    a plan that did not come any of the same surface. That answer would be paid for twice. Two advisors who are asked
    side by side, in one role and attempt, build on one another in nothing.
    """
    replies = sorted(kept, key=lambda reply: reply.number)
    return tuple(
        reply
        for place, reply in enumerate(replies)
        if not reply.usable and not any(_builds_on(reply, later) for later in replies[place + 1 :])
    )


def _builds_on(reply: KeptReply, later: KeptReply) -> bool:
    same_part = reply.role is Role.PRE_FLIGHT or reply.shard == later.shard
    beside = (reply.role, reply.attempt) == (later.role, later.attempt) and reply.advisor != later.advisor
    return later.usable and later.surface is reply.surface and same_part and not beside


def _digest(facts: object) -> str:
    text = json.dumps(_FACTS.dump_python(facts, mode="json"), sort_keys=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
