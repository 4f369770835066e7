"""One question to an agent, and everything that can come back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Protocol

from pydantic import Field

from review_advisor.agents.answers import Answer
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.safety.stop import ConsultRecord, Receipt, Refusal, Stop, Usage

CallNumber = Annotated[int, Field(ge=0)]
"""A call's number within its review, from 1; 0 for none."""


@dataclass(frozen=True, slots=True)
class NamedAdvisor:
    """A declared advisor that an executor may consult by its id, with its own prompt and model."""

    id: str
    about: str
    prompt: str
    model: str


@dataclass(frozen=True, slots=True)
class ConsultGrant:
    """Leave for the executor to consult the advisor while it works (the Agent tool).

    Each question still needs its own leave (``Consults.ask``): the cap counts all consults of a review together.
    ``advisor_prompt`` and ``advisor_model`` are forced on the subagent whatever the executor asks for. ``sentinel``
    is put in front of every question, and the question is fenced with ``nonce``.
    ``others`` may be asked by their ids; without any, whoever is asked for is this advisor. ``secrets`` tells the
    advisor which secrets it is shown masked; empty without any.
    """

    subagent_type: str
    advisor_prompt: str
    advisor_model: str
    sentinel: str
    nonce: str
    others: tuple[NamedAdvisor, ...] = ()
    secrets: str = ""

    def named(self, wanted: str) -> str | None:
        """The id under which whoever is ``wanted`` is asked; None if nobody has it."""
        if not self.others or wanted in ("", self.subagent_type):
            return self.subagent_type
        return next((each.id for each in self.others if each.id == wanted), None)


@dataclass(frozen=True, slots=True)
class EditGrant:
    """Leave for the executor to edit files in its tree, which is a throw-away copy then.

    ``denied`` are gitignore-style globs that the CLI is told to refuse: a courtesy to the model. What counts is
    the harness's own check of what was edited.
    """

    denied: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Withheld:
    """Tools that a call lists and may not use: another call of the role may, and both must begin alike for the cache.

    Every use of them is refused. ``consults`` describes the advisor as the other call does.
    """

    edits: bool = False
    consults: ConsultGrant | None = None


@dataclass(frozen=True, slots=True)
class AgentCall:
    """One ``claude -p`` call, before it is made. Role and surface travel as fields, never in text.

    ``advisor`` is the id of who is asked. The dispatch gives the call its ``number`` within the review; ``asks_again``
    is the number of the call whose question it repeats, 0 for none.
    ``blocks`` are what is asked. All but the last are the same in every call of the role about this matter: with its
    tools, its answer's form and its system prompt they are what the cache keeps, up to a mark behind the last of them.
    ``answer`` is the pydantic model whose JSON schema the reply must satisfy. ``tree`` is the
    exported head tree the agent may read with Read, Grep and Glob; None means no tools at all. What a call may use,
    ``max_usd`` and ``timeout_seconds``, is said once it is allowed.
    ``evidence`` names what it holds, and another content otherwise; empty where only a look at the files tells.
    ``withheld`` are tools that it lists and may not use. ``blind``: the executor is asked about the diff alone.
    ``further_try`` counts the tries after an outage took the answer, ``crashed_before``: the CLI crashed on this
    question.
    """

    role: Role
    advisor: str
    surface: Surface
    attempt: int
    shard: int
    model: str
    system_prompt: str
    blocks: tuple[str, ...]
    answer: type[Answer]
    tree: Path | None = None
    consults: ConsultGrant | None = None
    max_usd: float = 0.0
    timeout_seconds: float = 0.0
    edits: EditGrant | None = None
    withheld: Withheld = Withheld()
    blind: bool = False
    evidence: str = ""
    number: int = 0
    asks_again: int = 0
    further_try: int = 0
    crashed_before: bool = False

    @property
    def prompt(self) -> str:
        """All that is asked, in one text."""
        return "".join(self.blocks)

    def with_more(self, text: str) -> AgentCall:
        """The call with ``text`` at the end of what is asked: all that stood there before begins it."""
        return replace(self, blocks=(*self.blocks[:-1], f"{self.blocks[-1]}\n\n{text}"))


@dataclass(frozen=True, slots=True)
class Granted:
    """Leave for one consult. ``prompt`` is all that the advisor is asked: sentinel, opening and fenced question.

    ``advisor`` is the id under which it is asked.
    """

    prompt: str
    advisor: str


@dataclass(frozen=True, slots=True)
class Denied:
    """No leave for one consult. ``reason`` is for whoever asked.

    ``at_cap``: the consults of this review alone have reached the cap. Those that a killed run made are not among them.
    """

    reason: str
    at_cap: bool = False


@dataclass(frozen=True, slots=True)
class ConsultReply:
    """What became of a granted consult. One that was not ``answered`` has failed, and ``reason`` says why.

    ``counts`` is how many of its ``tokens`` count under the cap on those of consults; None for all of them.
    """

    answered: bool
    reply: str = ""
    reason: str = ""
    resolved_model: str = ""
    tokens: int | None = None
    duration_ms: int | None = None
    counts: int | None = None


class Cause(StrEnum):
    """Who can have caused a loss. ``content``: the change under review, perhaps. ``outage``: nobody's change.

    ``rate_limit``: the author of the change, perhaps, who chooses the size and the number of pull requests.
    """

    OUTAGE = "outage"
    CONTENT = "content"
    RATE_LIMIT = "rate_limit"


class LostReason(StrEnum):
    """Why an answer that was asked for did not come. ``LOSSES`` says what each means."""

    CRASH = "crash"
    CRASHED_AGAIN = "crashed_again"
    CRASHED_AT_WORK = "crashed_at_work"
    SILENT = "silent"
    TRUNCATED = "truncated"
    SERVER_ERROR = "server_error"
    RATE_LIMITED = "rate_limited"
    TOLERATED_RATE_LIMIT = "tolerated_rate_limit"
    TIMEOUT = "timeout"
    NO_STRUCTURED_OUTPUT = "no_structured_output"
    INVALID_ANSWER = "invalid_answer"
    MODEL_REFUSED = "model_refused"
    OUTPUT_LIMIT = "output_limit"
    CALL_BUDGET = "call_budget"
    TOO_LONG = "too_long"
    BAD_REQUEST = "bad_request"
    UNGUARDED_CONSULT = "unguarded_consult"
    UNEXPECTED_TOOLS = "unexpected_tools"
    IMPOSSIBLE_USAGE = "impossible_usage"


@dataclass(frozen=True, slots=True)
class Loss:
    """What one reason means: its cause, and what happened in a few words."""

    cause: Cause
    words: str


LOSSES: Mapping[LostReason, Loss] = {
    LostReason.CRASH: Loss(Cause.OUTAGE, "the CLI crashed once with no tool call open, or could not be started"),
    LostReason.SILENT: Loss(Cause.OUTAGE, "the time was over while nothing was heard and no tool call was open"),
    LostReason.TRUNCATED: Loss(Cause.OUTAGE, "the CLI's output ended before its result, with no tool call open"),
    LostReason.SERVER_ERROR: Loss(Cause.OUTAGE, "5xx or 529, or the network failed, after the CLI's own retries"),
    LostReason.RATE_LIMITED: Loss(Cause.RATE_LIMIT, "a rate limit (429) that outlasted the CLI's retries"),
    LostReason.TOLERATED_RATE_LIMIT: Loss(
        Cause.OUTAGE, 'a rate limit (429) that outlasted the retries, where `outage.rate_limits = "soft"`'
    ),
    LostReason.CRASHED_AGAIN: Loss(Cause.CONTENT, "the CLI crashed a second time on the same question"),
    LostReason.CRASHED_AT_WORK: Loss(Cause.CONTENT, "the CLI crashed, or its output ended, while a tool call was open"),
    LostReason.TIMEOUT: Loss(Cause.CONTENT, "the time was over while the model worked or a tool call was open"),
    LostReason.NO_STRUCTURED_OUTPUT: Loss(Cause.CONTENT, "prose, or nothing, instead of a structured answer, twice"),
    LostReason.INVALID_ANSWER: Loss(Cause.CONTENT, "an answer that its schema refuses or nobody can read, twice"),
    LostReason.MODEL_REFUSED: Loss(Cause.CONTENT, "the model declined, or another model answered in its place"),
    LostReason.OUTPUT_LIMIT: Loss(Cause.CONTENT, "the answer was longer than the model or one call may write"),
    LostReason.CALL_BUDGET: Loss(Cause.CONTENT, "the call reached its limit of turns or money"),
    LostReason.TOO_LONG: Loss(Cause.CONTENT, "the prompt was larger than the CLI or the model takes (also 413)"),
    LostReason.BAD_REQUEST: Loss(Cause.CONTENT, "the API refused the request (400), or its reply made no sense"),
    LostReason.UNGUARDED_CONSULT: Loss(Cause.CONTENT, "a consult started that the consult hook had not let through"),
    LostReason.UNEXPECTED_TOOLS: Loss(Cause.CONTENT, "the model had tools that were not offered"),
    LostReason.IMPOSSIBLE_USAGE: Loss(Cause.CONTENT, "the CLI reported negative or impossibly large costs or tokens"),
}
"""The one table of what a loss may be caused by: whatever is not known to be an outage may come from the change."""


BUSY = frozenset({LostReason.RATE_LIMITED, LostReason.TOLERATED_RATE_LIMIT, LostReason.SERVER_ERROR})
"""The losses after which all calls of the review slow down: 429, 529 and other failures of the server."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A reply that carried structured output. ``value`` is not yet checked against the schema's own rules.

    ``said`` are all structured answers of the call in order, if there was more than this one. A model may answer with
    a value of any type.
    """

    value: dict[str, Any]
    receipt: Receipt = Receipt()
    said: tuple[Any, ...] = ()

    @property
    def every_answer(self) -> tuple[Any, ...]:
        """All structured answers of the call, each once; ``value`` is the last."""
        return _each_once((*self.said, self.value))


@dataclass(frozen=True, slots=True)
class Lost:
    """An answer that was asked for and did not come. ``detail`` is one sentence for people.

    ``said`` are the structured answers that the call gave all the same.
    """

    reason: LostReason
    detail: str
    receipt: Receipt = Receipt()
    said: tuple[Any, ...] = ()

    @property
    def cause(self) -> Cause:
        """Whether the change may have caused it."""
        return LOSSES[self.reason].cause

    @property
    def every_answer(self) -> tuple[Any, ...]:
        """The structured answers of the call, each once."""
        return _each_once(self.said)


def _each_once(said: tuple[Any, ...]) -> tuple[Any, ...]:
    """Of equal answers the last stays."""
    return tuple(each for place, each in enumerate(said) if each not in said[place + 1 :])


class CreditExhaustedError(Stop):
    """The account has no credit, or its limit will not lift soon. ``resume_at``: when, if the CLI said so."""

    def __init__(self, detail: str, receipt: Receipt | None = None, resume_at: datetime | None = None) -> None:
        super().__init__(detail, receipt)
        self.resume_at = resume_at


class ModelError(Stop):
    """What is wrong may be the model that was asked. ``in_consult``: it was the consulted advisor's."""

    def __init__(self, detail: str, receipt: Receipt | None = None, *, in_consult: bool = False) -> None:
        super().__init__(detail, receipt)
        self.in_consult = in_consult


class AuthenticationFailedError(Stop):
    """The credential was refused or is missing."""


class ModelForbiddenError(ModelError, AuthenticationFailedError):
    """The credential may not be used, or not for this model (403): the API does not say which."""


class ModelUnknownError(ModelError):
    """The model does not exist (404): a setting names it."""


class TreeChangedError(Stop):
    """A call without leave to edit changed the tree under review, which the other calls read, or nobody can tell."""


def tokens(usage: Usage) -> int:
    """In, out, cache read and cache write."""
    return sum(_kinds(usage))


def _kinds(usage: Usage) -> tuple[int, int, int, int]:
    return usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens


def total_usage(usages: Iterable[Usage]) -> Usage:
    """The sum; its cost is None only if none of them reported one."""
    every = tuple(usages)
    costs = [usage.cost_usd for usage in every if usage.cost_usd is not None]
    return Usage(
        input_tokens=sum(usage.input_tokens for usage in every),
        output_tokens=sum(usage.output_tokens for usage in every),
        cache_read_tokens=sum(usage.cache_read_tokens for usage in every),
        cache_write_tokens=sum(usage.cache_write_tokens for usage in every),
        cost_usd=sum(costs) if costs else None,
    )


class Consults(Protocol):
    """The consults of one call, counted together with all others of the review. Used from any thread."""

    def ask(self, tool_use_id: str, question: str, wanted: str = "") -> Granted | Denied:
        """Leave for one consult, or the reason why not. An id that was asked before is denied, and not counted.

        ``wanted`` is the advisor that was asked for; empty for the ADR's.
        """

    def settle(self, tool_use_id: str, reply: ConsultReply) -> None:
        """Record what became of a granted consult. Only the first word on it counts."""

    def end(self) -> tuple[ConsultRecord, ...]:
        """All consults of the call, oldest first. What is still open has failed, and no more is granted."""


class Agents(Protocol):
    """Whoever answers a call: the real CLI, the embedded agent, or MockWorld's scripted ones."""

    def run(self, call: AgentCall, consults: Consults | None = None) -> Answered | Lost:
        """Make the call and wait. Raises ``Stop`` for spent credit, failed authentication or an interrupt.

        ``consults`` is given exactly when the call may consult; the receipt holds what became of them.
        """

    def check_interrupt(self) -> None:
        """Raise ``ReviewInterrupted`` once the user or the runner has asked the process to end."""

    def end_running(self) -> None:
        """End every call in flight and start no later one (another part of this review has met a Stop)."""


class CliError(Refusal):
    """The agent cannot be started. One or two sentences for the user: what is missing and how to get it."""

    several_lines = True
