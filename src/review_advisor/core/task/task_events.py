"""What happens in a task's run, as values. The files of its folder and its rows are readings of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from review_advisor.core.council.ballots import Ballot, Tally, cause_without_ruling, tally
from review_advisor.core.roles.calls import Cause, Usage
from review_advisor.core.roles.repair_law import TaskPatch
from review_advisor.core.task.messages import Disposition, MemoryProposal, TaskConsult, TaskDone, TaskGuidance
from review_advisor.core.task.task_status import RunStatus, ended_words

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


def told_live(event: TaskEvent) -> str:  # noqa: PLR0911 (a line for each kind of event)
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
