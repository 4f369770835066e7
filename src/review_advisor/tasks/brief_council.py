"""A vote of declared advisors on a brief."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from review_advisor.agents.calls import AgentCall, Agents, Answered, Consults, Lost
from review_advisor.agents.purse import Purse
from review_advisor.change.redaction import Redactor
from review_advisor.policy.budgets import Allowance, Budgets, Refused
from review_advisor.policy.prices import Price
from review_advisor.policy.roster import Advisor, AnswerField, AnswerFields
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.votes import Voice, as_all, joint_form, voice_of, vote_form
from review_advisor.safety.fence import legible
from review_advisor.safety.stop import Receipt, Stop, Usage
from review_advisor.tasks.brief import SYSTEM, Brief, as_one, question
from review_advisor.tasks.run import MOST_AT_ONCE, model_setting, vote_stop_words

CALL_SECONDS = 240.0


MODEL = "fake"


_MOST_OF_A_VOTE = 101


@dataclass(frozen=True, slots=True)
class CouncilRequest:
    """One vote. ``model`` is that of advisors that name none; ``max_usd`` is shared by all calls.

    By ``prices`` they are estimated, as of ``today``.
    """

    brief: Brief
    advisors: tuple[Advisor, ...]
    inline: bool
    model: str
    max_usd: float
    nonce: str
    redactor: Redactor
    prices: tuple[Price, ...]
    today: date


@dataclass(frozen=True, slots=True)
class CouncilReply:
    """What each advisor gave, in their order. ``cost_usd`` is None where a call did not report its cost."""

    voices: tuple[Voice, ...]
    cost_usd: float | None


def ask_council(request: CouncilRequest, agents: Agents) -> CouncilReply:
    """Ask every advisor once. A call that fails is a lost voice.

    Nor is a call made that costs more than is left for it, by its estimate. Raises ``Stop`` for what ends every vote:
    spent credit, failed authentication, a model that cannot be used, an interrupt.
    """
    who = request.advisors
    calls = (
        [_call(request, None, 1)] if request.inline else [_call(request, each, at) for at, each in enumerate(who, 1)]
    )
    purse = Purse(Budgets(request.max_usd, CALL_SECONDS, CALL_SECONDS), request.prices, len(calls))
    replies = _answers(request, agents, purse, calls)
    late = [at for at, reply in enumerate(replies) if isinstance(reply, Refused)]
    if len(late) < len(calls):  # what the others have not used came back
        for at, reply in zip(late, _answers(request, agents, purse, [calls[at] for at in late]), strict=True):
            replies[at] = reply
    costs = [each.receipt.usage.cost_usd for each in replies if not isinstance(each, Refused)]
    known = [each for each in costs if each is not None]
    each_reply = replies * len(who) if request.inline else replies
    voices = tuple(_voice(request, *each) for each in zip(who, each_reply, strict=True))
    return CouncilReply(voices, sum(known) if len(known) == len(costs) else None)


def _answers(
    request: CouncilRequest, agents: Agents, purse: Purse, calls: Sequence[AgentCall]
) -> list[Answered | Lost | Refused]:
    """What each call was answered, all of them side by side; what they did not use is in the purse again."""
    leave = [purse.reserve(call, 0.0, request.today) for call in calls]
    with ThreadPoolExecutor(MOST_AT_ONCE) as pool:
        replies = list(pool.map(lambda call, allowed: _asked(request, agents, call, allowed), calls, leave))
    for call, allowed, reply in zip(calls, leave, replies, strict=True):
        if isinstance(allowed, Allowance) and not isinstance(reply, Refused):
            purse.settle(replace(call, max_usd=allowed.max_usd), reply.receipt)
    return replies


def _asked(
    request: CouncilRequest, agents: Agents, call: AgentCall, allowed: Allowance | Refused
) -> Answered | Lost | Refused:
    agents.check_interrupt()
    if isinstance(allowed, Refused):
        return allowed
    call = replace(call, max_usd=allowed.max_usd, timeout_seconds=allowed.timeout_seconds)
    try:
        return request.redactor.everywhere(legible(agents.run(call)))
    except Stop as stop:
        whose = next((each for each in request.advisors if each.id == call.advisor), None)
        told = vote_stop_words(stop, call.model, model_setting(whose))
        stop.detail = request.redactor.redact(legible(told))
        raise


def _voice(request: CouncilRequest, advisor: Advisor, reply: Answered | Lost | Refused) -> Voice:
    if isinstance(reply, Refused):
        return Voice(advisor, lost=reply.detail)
    said = reply.every_answer
    if request.inline:
        said = tuple(each.get(advisor.id) if isinstance(each, Mapping) else None for each in said)
    return voice_of(advisor, said, request.brief.actions, reply if isinstance(reply, Lost) else None)


def _call(request: CouncilRequest, advisor: Advisor | None, number: int) -> AgentCall:
    """The question to one advisor; None for all of them in one call."""
    who = request.advisors
    return AgentCall(
        role=Role.POST_VERIFY,
        advisor=Role.POST_VERIFY.advisor if advisor is None else advisor.id,
        surface=Surface.PR_REVIEW,
        attempt=1,
        shard=0,
        model=(advisor.model if advisor else "") or request.model,
        system_prompt=SYSTEM,
        blocks=(
            request.redactor.redact(question(request.brief, request.nonce)),
            as_all(who) if advisor is None else as_one(advisor),
        ),
        answer=joint_form(who) if advisor is None else vote_form(advisor),
        number=number,
    )


class ModelFreeAgents:
    """Agents who answer at once, and for nothing: there is no call that could be ended."""

    def check_interrupt(self) -> None:
        """Nothing runs here that an interrupt could end."""

    def end_running(self) -> None:
        """The same."""


def free_answer(value: Mapping[str, Any]) -> Answered:
    """An answer that has cost nothing."""
    return Answered(dict(value), Receipt(Usage(cost_usd=0.0), resolved_model=MODEL))


class FakeCouncil(ModelFreeAgents):
    """Agents without a model: votes are a pure function of advisor and action, and cost nothing.

    Without actions they have an opinion alone.
    """

    def __init__(self, advisors: Sequence[Advisor], actions: Sequence[str]) -> None:
        self._said = {each.id: _fake_vote(each, actions) for each in advisors}

    def run(self, call: AgentCall, consults: Consults | None = None) -> Answered | Lost:  # noqa: ARG002 (the port's)
        """The vote of who is asked, or of all."""
        return free_answer(self._said.get(call.advisor, self._said))


def _fake_vote(advisor: Advisor, actions: Sequence[str]) -> Mapping[str, Any]:
    weights = [zlib.crc32(f"{advisor.id} {action}".encode()) % _MOST_OF_A_VOTE for action in actions]
    weights[-1:] = [each or 1 for each in weights[-1:]]
    calls = ", ".join(f'"{action}": {weight}' for action, weight in zip(actions, weights, strict=True))
    fields = AnswerFields.model_validate_json(advisor.answer).properties if advisor.answer else {}
    said = {"opinion": "It is a fake advisor's only opinion.", "calls": f"{{{calls}}}"}
    return {**{name: _fake_field(field) for name, field in fields.items()}, **said}


def _fake_field(field: AnswerField) -> object:
    match field.type:
        case "string":
            return field.enum[0] if field.enum else MODEL
        case "boolean":
            return False
        case "array":
            return []
        case _:
            return field.minimum if field.minimum is not None else min(0, field.maximum or 0)
