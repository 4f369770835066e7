"""What the protocol's blocks say, as checked values with defaults for what may be missing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, Field, ValidationError

from review_advisor.core.answers.answers import Answer, Confidence, Consult, NonBlank, Short, Tag, Text
from review_advisor.core.answers.tolerant import Notes, at_most, complaints, or_left_out, otherwise
from review_advisor.core.lessons.memory_record import MemoryType
from review_advisor.core.task.blocks import BlockTag, Malformed, TagBlock, block_form

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
