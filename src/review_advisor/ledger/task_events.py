"""What happens in a task's run, as values."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, Field, ValidationError

from review_advisor.agents.answers import (
    Answer,
    Consult,
    NonBlank,
    Notes,
    Short,
    Tag,
    Text,
    at_most,
    complaints,
    or_left_out,
    otherwise,
)
from review_advisor.agents.calls import Cause
from review_advisor.agents.prompts import MemoryType
from review_advisor.agents.repair_law import TaskPatch
from review_advisor.policy.thresholds import Confidence
from review_advisor.review.votes import Ballot, Tally, cause_without_ruling, tally
from review_advisor.safety.fence import legible, read_json
from review_advisor.safety.stop import Usage

MOST_BLOCKS = 40
"""Blocks that are read of one message; what stands behind them is noted and not read."""


class BlockTag(StrEnum):
    """What a block is for."""

    CONSULT = "ADVISOR_CONSULT"
    GUIDANCE = "ADVISOR_GUIDANCE"
    DONE = "EXECUTOR_DONE"
    PROPOSAL = "MEMORY_PROPOSAL"
    IMPROVEMENTS = "IMPROVEMENT_PROPOSALS"
    READINESS = "RELEASE_READINESS_REPORT"


OF_A_RUN = (BlockTag.CONSULT, BlockTag.GUIDANCE, BlockTag.DONE, BlockTag.PROPOSAL, BlockTag.READINESS)
"""The blocks of a task's run."""


_NONCE = re.compile(r"\bnonce\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'/]+))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TagBlock:
    """A block with its JSON object."""

    tag: BlockTag
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Malformed:
    """A block that stands there and cannot be read. ``error`` says why, without words of the message."""

    tag: BlockTag
    error: str


@dataclass(frozen=True, slots=True)
class Scanned:
    """All blocks of a message, in their order. ``unread``: there may be more behind the first ``MOST_BLOCKS``."""

    found: tuple[TagBlock | Malformed, ...] = ()
    unread: bool = False

    def of(self, tag: BlockTag) -> tuple[TagBlock, ...]:
        """The readable blocks with this tag."""
        return tuple(each for each in self.found if isinstance(each, TagBlock) and each.tag is tag)

    @property
    def malformed(self) -> tuple[Malformed, ...]:
        """The others."""
        return tuple(each for each in self.found if isinstance(each, Malformed))


def block_form(tag: BlockTag, body: str, nonce: str) -> str:
    """A block as it has to stand in a message."""
    return f'<{tag} nonce="{nonce}">\n{body}\n</{tag}>'


def scan(message: str, nonce: str, tags: tuple[BlockTag, ...] = OF_A_RUN) -> Scanned:
    """The blocks with these ``tags`` that count in a final message. ``nonce`` is the run's, and not empty.

    A block that is not closed is malformed; whatever follows it is taken for its content.
    """
    if not nonce:
        raise ValueError("a run without a nonce cannot tell its blocks from quotations")
    found: list[TagBlock | Malformed] = []
    rest = message.replace("\r\n", "\n").replace("\r", "\n")
    while (opening := _first_opening(rest, nonce, tags)) is not None:
        if len(found) == MOST_BLOCKS:
            return Scanned(tuple(found), unread=True)
        tag = BlockTag(opening[1].upper())
        closing = re.compile(rf"</{tag}\s*>", re.IGNORECASE).search(rest, opening.end())
        if closing is None:
            found.append(Malformed(tag, f"the block is not closed: </{tag}> is missing"))
            break
        found.append(_read(tag, rest[opening.end() : closing.start()]))
        rest = rest[closing.end() :]
    return Scanned(tuple(found))


@cache
def _openings(tags: tuple[BlockTag, ...]) -> re.Pattern[str]:
    return re.compile(rf"^ {{0,3}}<({'|'.join(tags)})\b([^<>]*)>", re.IGNORECASE | re.MULTILINE)


def _first_opening(text: str, nonce: str, tags: tuple[BlockTag, ...]) -> re.Match[str] | None:
    """The first opening tag with the nonce that begins a line of the text's own paragraphs.

    What a line is depends on the lines before it alone, so no more is parsed than up to a tag.
    """
    carrying = [each for each in _openings(tags).finditer(text) if _nonces(each[2]) == [nonce]]
    if not carrying:
        return None
    starts = [0, *(end.end() for end in re.finditer("\n", text))]
    lines = [bisect_right(starts, each.start(1)) - 1 for each in carrying]
    if lines[0] in _own_lines(text[: carrying[0].end()]):
        return carrying[0]
    own = _own_lines(text[: carrying[-1].end()])
    return next((each for each, line in zip(carrying, lines, strict=True) if line in own), None)


def _nonces(attributes: str) -> list[str]:
    return [double or single or bare for double, single, bare in _NONCE.findall(attributes)]


def _own_lines(text: str) -> frozenset[int]:
    """The numbers of the lines that are neither code, quotation nor markup."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - reviews know a task's events and read no message

    # Lists are left out: a block directly behind one is no quotation.
    markdown = MarkdownIt("zero", {"html": True}).enable(["code", "fence", "blockquote", "html_block"])
    spans: Iterator[list[int]] = (
        token.map
        for token in markdown.parse(text)
        if token.type == "paragraph_open" and token.level == 0 and token.map is not None
    )
    return frozenset(line for first, end in spans for line in range(first, end))


def _read(tag: BlockTag, body: str) -> TagBlock | Malformed:
    told = legible(_object_in(body))
    if isinstance(told, dict):
        return TagBlock(tag, told)
    return Malformed(tag, "the block's content is not one JSON object")


def _object_in(body: str) -> object:
    """The JSON of a body: the whole of it, or the one object that prose or a code fence surrounds."""
    text = body.strip()
    for candidate in (text, text[text.find("{") : text.rfind("}") + 1]):
        try:
            return read_json(candidate)
        except ValueError:
            continue
    return None


RunStatus = Literal[
    "completed",
    "executor_stopped_without_done",
    "advisor_call_limit_reached",
    "max_turns_reached",
    "advisor_stop_signal",
    "executor_failed",
    "advisor_failed",
    "malformed_block",
    "running",
    "voted_down",
    "conflict_needs_human",
    "budget_exceeded",
    "disabled",
    "degraded",
]
"""The nine of advisor-harness, of which ``running`` is also a run that was killed, and five of ours."""


_ENDS: Mapping[RunStatus, tuple[int, str]] = {
    "completed": (0, "the executor ends as completed and accounts for each guidance"),
    "executor_stopped_without_done": (10, "the executor neither asks nor ends"),
    "advisor_call_limit_reached": (10, "the executor asks again after a refusal"),
    "max_turns_reached": (10, "the executor asks after the last turn"),
    "malformed_block": (10, "a block stays unreadable"),
    "voted_down": (10, "the vote is for another action than the mildest"),
    "advisor_stop_signal": (
        11,
        "the advisor asks to stop, or an advisor that votes after each turn, with `veto`, blocks",
    ),
    "conflict_needs_human": (
        11,
        (
            "the executor wants a person or passes over a guidance, its patch is refused, or the vote is split,"
            " incomplete, or was cast on part of the patch only"
        ),
    ),
    "degraded": (11, "completed without an answer of an advisor"),
    "executor_failed": (12, "the executor says failed, or does not answer"),
    "advisor_failed": (12, "the advisor's account or model cannot be used"),
    "budget_exceeded": (12, "over a limit of money, time or prompt size"),
    "disabled": (12, "a switch turns the advisor off"),
    "running": (12, "unfinished or killed"),
}
"""The exit code of each status, and when it holds. 10: not completed. 11: a person decides. 12: it could not go on."""


EXIT_CODES: Mapping[RunStatus, int] = {status: code for status, (code, _) in _ENDS.items()}
"""Only ``completed`` is 0."""


STATUS_WORDS: Mapping[RunStatus, str] = {status: words for status, (_, words) in _ENDS.items()}
"""When each holds; the page on ``run`` prints it."""


def ended_words(status: RunStatus, reason: str, summary: str) -> str:
    """How a run ended, in one line for a person."""
    return f"{status}: {reason or summary or STATUS_WORDS[status]}"


def error_mode(status: RunStatus, malformed: str) -> str:
    """What a list is filtered by: ``none``, the status, or the tag of the block that nobody could read."""
    if status == "completed":
        return "none"
    return f"malformed:{malformed}" if status == "malformed_block" and malformed else status


DoneStatus = Literal["completed", "failed", "needs_human"]


DONE_BY_SEVERITY: tuple[DoneStatus, ...] = ("failed", "needs_human", "completed")
"""Of several statuses in one message the first of these counts."""


Disposition = Literal["applied", "overridden", "superseded", "refused"]
"""What an executor did with a guidance."""


IdKind = Literal["adv_consult", "adv_guidance", "mem_prop"]


Body = TypeVar("Body", bound=Answer)


_IN_ANY_CASE = BeforeValidator(lambda said: said.strip().lower() if isinstance(said, str) else said)


class TaskMessage(Answer):
    """The final message of a call. Its blocks are read from it."""

    message: str = Field(description="your whole final message, with its blocks")


class TaskConsult(Consult):
    """A question of a task's executor. Only the question must be there.

    ``advisor`` is the id of the declared advisor that is asked; empty for the run's own. Records tell it elsewhere.
    """

    options: Annotated[tuple[Annotated[Short, or_left_out()], ...], at_most(20), otherwise(())] = ()
    urgency: Annotated[Literal["low", "normal", "high"], _IN_ANY_CASE, otherwise("normal")] = "normal"
    advisor: Annotated[Short, otherwise("")] = Field(default="", exclude=True)


class TaskGuidance(Answer):
    """The advisor's answer. ``stop_signal`` ends the run, and a person decides."""

    guidance: NonBlank
    rationale: Text = ""
    stop_signal: bool = False


class UsedGuidance(Answer):
    """What an executor did with one guidance."""

    guidance: Short = Field(description="the guidance's id")
    disposition: Annotated[Disposition, _IN_ANY_CASE]
    reason: Text = ""


class TaskDone(Answer):
    """An executor's last word. Only ``completed`` completes a run, and it must be there."""

    status: Annotated[DoneStatus, _IN_ANY_CASE]
    summary: Text = ""
    guidance: Annotated[tuple[Annotated[UsedGuidance, or_left_out()], ...], at_most(20), otherwise(())] = ()


class MemoryProposal(Answer):
    """What an executor offers to remember. A person decides on it."""

    type: Annotated[MemoryType, otherwise("fact")] = "fact"
    content: NonBlank
    source_excerpt: Text = ""
    confidence: Annotated[Confidence | None, otherwise(None)] = None
    expires_at: Annotated[Short | None, otherwise(None)] = None
    tags: Annotated[tuple[Annotated[Tag, or_left_out()], ...], at_most(10), otherwise(())] = ()


@dataclass(frozen=True, slots=True)
class ReadReport:
    """What a report's block says: its JSON, and the ``action`` of the run that it is for; empty if nobody can tell.

    ``error`` says why it cannot be used, without words of its own; empty if it can.
    """

    text: str
    action: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class OwedReport:
    """The report that an executor owes with its completed end: a block of its own, whose form the run's verb brings.

    ``rules`` and ``form`` are what the executor is told of it; ``read`` reads what its block holds.
    """

    tag: BlockTag
    rules: str
    form: str
    read: Callable[[Mapping[str, Any]], ReadReport]

    def section(self, nonce: str) -> str:
        """What every call of the executor is told of it."""
        return f"{self.rules}\n{block_form(self.tag, self.form, nonce)}"

    @property
    def version(self) -> str:
        """A digest of these texts."""
        return hashlib.sha256(self.section("nonce").encode()).hexdigest()[:12]


def read_body(kind: type[Body], block: TagBlock) -> Body | Malformed:
    """The block as a value, or why it is none. A missing optional field has its default."""
    try:
        return kind.model_validate(block.body, context=Notes())
    except ValidationError as error:
        return Malformed(block.tag, complaints(error))


def block_id(kind: IdKind, run_id: str, number: int) -> str:
    """The identity of a run's ``number``-th block of this kind: the kind and twelve hexadecimal digits."""
    return f"{kind}_{hashlib.sha256(f'{kind} {run_id} {number}'.encode()).hexdigest()[:12]}"


Speaker = Literal["executor", "advisor"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLimits:
    """What a run may use. ``call_seconds`` is the time of one call, ``run_seconds`` that of the run."""

    max_turns: int = 3
    max_advisor_calls: int = 3
    max_usd: float = 3.0
    call_seconds: float = 240.0
    run_seconds: float = 1800.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStep:
    """Common to all. ``turn`` is the executor's, from 1; 0 before the first."""

    at: datetime
    turn: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskBegun(TaskStep):
    """The first event. ``head`` is the commit whose tree the executor reads; empty without a tree.

    ``advisors`` are the declared ones in words, ``actions`` what they vote over, mildest first, and ``blind_spots``
    what the declarations ask for and no run has. ``evidence_sha256`` is the digest of the evidence that the task is
    about; empty without any.
    """

    kind: Literal["task_began"] = "task_began"
    run_id: str
    task: str
    executor_backend: str
    advisor_backend: str
    limits: TaskLimits
    head: str = ""
    edit: bool = False
    prompts: str = ""
    advisors: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    blind_spots: tuple[str, ...] = ()
    evidence_sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCalled(TaskStep):
    """One call is over. ``number`` counts the calls of its speaker from 1. ``message`` is what it said, all of it.

    A ``refused`` call was not made. ``exit_code`` is 124 for a call that ran out of time, 127 for one that could not
    be started, and None where nobody knows it. ``advisor`` is the id of the declared advisor that was asked; empty for
    the run's own two.
    """

    kind: Literal["task_called"] = "task_called"
    speaker: Speaker
    number: int
    model: str
    ended: Literal["answered", "lost", "refused", "stopped"]
    reason: str = ""
    detail: str = ""
    message: str = ""
    exit_code: int | None = None
    session_id: str = ""
    resolved_model: str = ""
    usage: Usage
    duration_seconds: float = 0.0
    tool_failures: int = 0
    prompt_characters: int = 0
    prompt_sha256: str = ""
    advisor: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsultHeard(TaskStep):
    """The executor asks. ``refused`` says why nobody was asked; empty if somebody was.

    ``asked`` is the id of the declared advisor that the question is for; empty for the run's own.
    """

    kind: Literal["consult_heard"] = "consult_heard"
    id: str
    consult: TaskConsult
    refused: str = ""
    asked: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuidanceHeard(TaskStep):
    """The advisor answers. ``wrapped``: it sent no block, so its whole text is the guidance."""

    kind: Literal["guidance_heard"] = "guidance_heard"
    id: str
    consult_id: str
    guidance: TaskGuidance
    wrapped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GuidanceUsed(TaskStep):
    """What the executor says that it did with one guidance."""

    kind: Literal["guidance_used"] = "guidance_used"
    id: str
    disposition: Disposition
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalHeard(TaskStep):
    """The executor offers something to remember. It is stored and approved by nobody."""

    kind: Literal["proposal_heard"] = "proposal_heard"
    id: str
    proposal: MemoryProposal


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockMalformed(TaskStep):
    """A block that nobody can read."""

    kind: Literal["block_malformed"] = "block_malformed"
    speaker: Speaker
    tag: str
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockIgnored(TaskStep):
    """A readable block without effect, and why."""

    kind: Literal["block_ignored"] = "block_ignored"
    speaker: Speaker
    tag: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportHeard(TaskStep):
    """The executor hands in the report that its run owes. ``report`` is its JSON as far as it can be read.

    ``action`` is the action of the run that it is for; empty where nobody can tell. ``error`` says why it cannot be
    used; empty if it can.
    """

    kind: Literal["report_heard"] = "report_heard"
    tag: str
    report: str
    action: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchRead(TaskStep):
    """What the harness found in the copy that the executor could edit, once the executor had ended."""

    kind: Literal["patch_read"] = "patch_read"
    made: TaskPatch


@dataclass(frozen=True, slots=True, kw_only=True)
class OpinionHeard(TaskStep):
    """What a declared advisor says before the first turn; ``own`` are its own fields as JSON.

    ``lost`` says why it says nothing.
    """

    kind: Literal["opinion_heard"] = "opinion_heard"
    advisor: str
    opinion: str = ""
    concerns: tuple[str, ...] = ()
    own: str = ""
    lost: str = ""


@dataclass(frozen=True, slots=True)
class TaskVote:
    """One declared advisor's vote: ``calls`` as it gave them, and the weight of each action that was read from them.

    ``lost`` says why there is none, and ``cause`` who can have caused that.
    """

    advisor: str
    weight: float
    veto: bool
    calls: str = ""
    weights: tuple[float, ...] = ()
    own: str = ""
    lost: str = ""
    cause: Cause = Cause.CONTENT


@dataclass(frozen=True, slots=True, kw_only=True)
class CouncilVoted(TaskStep):
    """Declared advisors vote over the run's actions: after a ``turn`` those who watch it, at the ``finish`` all.

    ``claimed`` is the action that the executor's report is for; empty for the mildest.
    ``unread`` counts the characters of the messages and the patch that were too long for them to be shown.
    """

    kind: Literal["council_voted"] = "council_voted"
    moment: Literal["turn", "finish"]
    actions: tuple[str, ...]
    votes: tuple[TaskVote, ...]
    claimed: str = ""
    unread: int = 0

    @property
    def standing(self) -> tuple[str, ...]:
        """The actions whose choice leaves the executor's end as it is: what it claims, and all that is milder."""
        last = self.actions.index(self.claimed) if self.claimed in self.actions else 0
        return self.actions[: last + 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEnded(TaskStep):
    """The last event. ``done`` is what the executor said at the end, if it did."""

    kind: Literal["task_ended"] = "task_ended"
    status: RunStatus
    reason: str = ""
    done: TaskDone | None = None


def counted_votes(event: CouncilVoted, *, missing: bool = True) -> Tally:
    """What the votes come to, by the rules of a council. Without ``missing`` only those count that came."""
    came = [each for each in event.votes if missing or not each.lost]
    return tally(
        event.actions,
        [
            Ballot(
                each.advisor,
                cause_without_ruling(each.cause) if each.lost else each.weights,
                each.weight,
                each.veto,
            )
            for each in came
        ],
    )


def voted_words(event: CouncilVoted) -> str:
    """The result of a vote on one line."""
    when = "vote on the end" if event.moment == "finish" else "vote of who watches"
    return f"{when}: {counted_votes(event).why}"


def told_live(event: TaskEvent) -> str:
    """The line that somebody who waits is shown; empty where there is nothing to show."""
    match event:
        case TaskCalled():
            cost = "" if event.usage.cost_usd is None else f", ${event.usage.cost_usd:.4f}"
            who = event.advisor or event.speaker
            return f"turn {event.turn}, {who}: {event.ended} in {event.duration_seconds:.0f} s{cost}"
        case ConsultHeard():
            whom = f" to {event.asked}" if event.asked else ""
            return f"turn {event.turn}, question{whom}: {event.consult.question}"
        case GuidanceHeard():
            return f"turn {event.turn}, guidance: {event.guidance.guidance}"
        case OpinionHeard():
            return f"{event.advisor}: {event.opinion or f'no opinion ({event.lost})'}"
        case CouncilVoted():
            return f"turn {event.turn}, {voted_words(event)}"
        case ReportHeard():
            return f"turn {event.turn}, {event.tag}: {event.error or event.action}"
        case BlockMalformed():
            return f"turn {event.turn}, {event.tag} of the {event.speaker} is malformed: {event.error}"
        case TaskEnded():
            return ended_words(event.status, event.reason, event.done.summary if event.done else "")
        case _:
            return ""


TaskEvent = (
    TaskBegun
    | TaskCalled
    | ConsultHeard
    | GuidanceHeard
    | GuidanceUsed
    | ProposalHeard
    | BlockMalformed
    | BlockIgnored
    | ReportHeard
    | PatchRead
    | OpinionHeard
    | CouncilVoted
    | TaskEnded
)


def after_a_turn(event: CouncilVoted) -> tuple[RunStatus, str] | None:
    """How a run ends after the vote of those who watch it, and why; None if it goes on.

    Only somebody with the veto right ends it. If none of those who block has spoken, a person decides.
    """
    counted = counted_votes(event)
    if not counted.blocked_by:
        return None
    if set(counted.blocked_by) <= set(counted.missing):
        return "conflict_needs_human", f"the vote of {_named(counted.missing)} is missing, who may block"
    return "advisor_stop_signal", counted.why


def at_the_end(event: CouncilVoted) -> tuple[RunStatus, str] | None:
    """What the vote makes of a run that its executor has completed, and why; None if it stays as it is."""
    counted = counted_votes(event)
    if counted.nobody:
        return "conflict_needs_human", counted.why
    if counted.winner not in event.standing:
        if counted_votes(event, missing=False).winner not in event.standing:
            return "voted_down", counted.why
        against = event.standing[-1]
        why = f"the vote of {_named(counted.missing)} is missing, and a missing vote counts against {against}"
        return "conflict_needs_human", why
    if counted.is_split:
        return "conflict_needs_human", f"the votes for {counted.winner} are {counted.spread:.0f} apart"
    if event.unread:
        return "conflict_needs_human", unread_words(event)
    if counted.missing:
        return "degraded", f"the vote of {_named(counted.missing)} is missing"
    return None


def unread_words(event: CouncilVoted) -> str:
    """How much of the run nobody who voted was shown."""
    return f"{event.unread:,} characters of its messages and its patch were shown to nobody who votes"


def last_vote(events: Sequence[TaskEvent]) -> CouncilVoted | None:
    """The latest vote of a run: that on its end, if there was one."""
    return next((each for each in reversed(events) if isinstance(each, CouncilVoted)), None)


def blind_spots(events: Sequence[TaskEvent]) -> tuple[str, ...]:
    """Whom the run has not heard, in sentences."""
    spots = [each for event in events if isinstance(event, TaskBegun) for each in event.blind_spots]
    opinions = [event for event in events if isinstance(event, OpinionHeard) and event.lost]
    spots += [f"{each.advisor} gave no opinion: {each.lost}" for each in opinions]
    last = last_vote(events)
    if last is not None:
        spots += [f"{each.advisor} gave no vote: {each.lost}" for each in last.votes if each.lost]
        spots += [unread_words(last)] if last.unread else []
    return tuple(spots)


def _named(ids: Sequence[str]) -> str:
    return " and ".join(ids)
