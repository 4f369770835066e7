"""One run of a task."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import zip_longest
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import ValidationError

from review_advisor.agents.answers import Answer, Notes, Opinion, complaints, own_fields, with_own_fields
from review_advisor.agents.calls import AgentCall, Agents, Answered, EditGrant, Lost, LostReason, ModelError
from review_advisor.agents.prompts import NO_LESSONS, Lessons
from review_advisor.agents.purse import Purse
from review_advisor.agents.repair_law import TaskPatch
from review_advisor.agents.replies import REPAIRABLE, cut_short
from review_advisor.change.redaction import Redactor
from review_advisor.ledger.task_events import (
    BlockIgnored,
    BlockMalformed,
    ConsultHeard,
    CouncilVoted,
    GuidanceHeard,
    GuidanceUsed,
    IdKind,
    Malformed,
    MemoryProposal,
    OpinionHeard,
    OwedReport,
    PatchRead,
    ProposalHeard,
    ReadReport,
    ReportHeard,
    RunStatus,
    Speaker,
    TaskBegun,
    TaskCalled,
    TaskConsult,
    TaskDone,
    TaskEnded,
    TaskEvent,
    TaskLimits,
    TaskMessage,
    TaskVote,
    after_a_turn,
    at_the_end,
    block_id,
)
from review_advisor.policy.budgets import Budgets, Refused, consults_left
from review_advisor.policy.prices import Price
from review_advisor.policy.roster import Advisor
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.policy.switches import model_variables
from review_advisor.review.ports import Clock
from review_advisor.review.votes import Voice, voice_of, vote_form
from review_advisor.safety.fence import legible
from review_advisor.safety.stop import Receipt, ReviewInterrupted, Stop
from review_advisor.safety.wording import counted
from review_advisor.tasks.brief import SYSTEM
from review_advisor.tasks.prompts import (
    ADVISOR_SYSTEM,
    EXECUTOR_SYSTEM,
    NO_COUNCIL,
    OPINION_SYSTEM,
    TaskCouncil,
    advisor_opening,
    advisor_question,
    asked_by_id,
    council_section,
    council_version,
    cut_from,
    disposition_words,
    executor_opening,
    executor_turn,
    misnamed,
    opinion_question,
    prompts_version,
    refused_question,
    repair_words,
    reply_words,
    report_words,
    said_before,
    unanswered_question,
    unread_by_voters,
    vote_question,
    vote_words,
    votes_said,
)
from review_advisor.tasks.protocol import AdvisorSaid, ExecutorSaid, asking_to_stop, hear_advisor, hear_executor


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """What is asked of a run. Backends are names to show; an empty model is the backend's own.

    ``disabled`` says which switch turns the advisor off; empty if none does. ``head`` is the commit whose tree the
    executor reads, in ``tree``. With ``edits`` that is a throw-away copy, which it may change. ``lessons`` are the
    entries of that commit's memory. ``council`` are the declared advisors, if the user wants any. ``evidence`` is the
    material that the task is about, shown to everybody; ``owed`` is the report that a completed end needs.
    """

    run_id: str
    nonce: str
    task: str
    limits: TaskLimits
    redactor: Redactor
    executor_backend: str
    advisor_backend: str
    executor_model: str
    advisor_model: str
    disabled: str = ""
    head: str = ""
    tree: Path | None = None
    edits: EditGrant | None = None
    lessons: Lessons = NO_LESSONS
    council: TaskCouncil = NO_COUNCIL
    evidence: str = ""
    owed: OwedReport | None = None


def begun(request: TaskRequest, at: datetime) -> TaskBegun:
    """The first event of the run."""
    version = council_version() if request.council.advisors else prompts_version()
    return TaskBegun(
        at=at,
        run_id=request.run_id,
        task=request.task,
        executor_backend=request.executor_backend,
        advisor_backend=request.advisor_backend,
        limits=request.limits,
        head=request.head,
        edit=request.edits is not None,
        prompts=version if request.owed is None else f"{version}+{request.owed.version}",
        advisors=request.council.words,
        actions=request.council.actions,
        blind_spots=request.council.blind_spots,
        evidence_sha256=hashlib.sha256(request.evidence.encode()).hexdigest() if request.evidence else "",
    )


@dataclass(frozen=True, slots=True)
class TaskPorts:
    """Everything that a run may touch. ``record`` takes each event as it happens, ``keep_prompt`` each prompt.

    ``read_patch`` reads what was edited in the copy of a run that may edit. By ``prices`` calls are estimated.
    """

    executor: Agents
    advisor: Agents
    clock: Clock
    record: Callable[[TaskEvent], None]
    keep_prompt: Callable[[Speaker, int, str], None]
    read_patch: Callable[[], TaskPatch] = TaskPatch
    prices: tuple[Price, ...] = ()


_NO_SURFACE = Surface.PR_REVIEW
"""A call of the port needs a surface. A task has none, and no agent looks at it."""


_ROLES: dict[Speaker, Role] = {"executor": Role.EXECUTOR, "advisor": Role.MID_FLIGHT}


_FAILED: dict[Speaker, RunStatus] = {"executor": "executor_failed", "advisor": "advisor_failed"}


_OUT_OF_TIME, _NOT_STARTED = 124, 127


MOST_AT_ONCE = 4
"""Declared advisors that are asked side by side."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question to a speaker, in its turn. All ``blocks`` but the last stay the same for a speaker.

    ``advisor`` is the id of a declared one; ``role`` is that of the speaker unless it is given. Without a ``form`` the
    answer is a message. ``model_setting`` says what sets the model where that is not the speaker's usual setting.
    """

    speaker: Speaker
    agents: Agents
    turn: int
    model: str
    system_prompt: str
    blocks: tuple[str, ...]
    tree: Path | None = None
    edits: EditGrant | None = None
    advisor: str = ""
    role: Role | None = None
    form: type[Answer] = TaskMessage
    model_setting: str = ""

    def with_more(self, *texts: str) -> Question:
        """The same with ``texts`` at its end."""
        return replace(self, blocks=(*self.blocks[:-1], "\n\n".join((self.blocks[-1], *texts))))


@dataclass(frozen=True, slots=True)
class Told:
    """The final message of a call; several where one call gave several. ``said`` are the answers in their form."""

    messages: tuple[str, ...]
    said: tuple[object, ...] = ()

    @property
    def whole(self) -> str:
        """All of it."""
        return "\n\n".join(self.messages)


@dataclass(frozen=True, slots=True)
class Halted:
    """The run cannot go on: its status, and why."""

    status: RunStatus
    detail: str


CameBack = Told | Lost | Refused | Halted
"""What comes back from a question."""


def over_a_limit(refused: Refused) -> Halted:
    """The end of a run that cannot go on without the call that was refused."""
    return Halted("budget_exceeded", refused.detail)


def halt_of(said: Sequence[CameBack]) -> Halted | None:
    """Why the run ends after these; None if it may go on."""
    return next((each for each in said if isinstance(each, Halted)), None)


def model_setting(advisor: Advisor | None, speaker: Speaker = "advisor") -> str:
    """What sets the model of a declared ``advisor``; None stands for the usual one."""
    if advisor is not None and advisor.model:
        return f"`model` of {advisor.id!r} in {advisor.source or 'its declaration'}"
    return " or ".join(model_variables(Surface.PR_REVIEW, "EXECUTOR" if speaker == "executor" else "ADVISOR"))


def vote_stop_words(stop: Stop, model: str, setting: str) -> str:
    """What the user is told of a call that cannot be made: the ``model``, where it may be that, and its ``setting``."""
    if not isinstance(stop, ModelError):
        return stop.detail
    return f"{stop.detail} The model asked for is {model!r}; {setting} sets another."


@dataclass(frozen=True, slots=True)
class _Allowed:
    """A call that may be made. ``number`` counts those of its speaker."""

    question: Question
    call: AgentCall
    number: int


class Asking:
    """Makes the calls of one run. Prompts and replies pass the redactor here."""

    def __init__(
        self,
        budgets: Budgets,
        clock: Clock,
        redactor: Redactor,
        record: Callable[[TaskCalled], object],
        keep_prompt: Callable[[Speaker, int, str], None],
        *,
        prices: Iterable[Price],
    ) -> None:
        self._budgets = budgets
        self._clock = clock
        self._redactor = redactor
        self._record = record
        self._keep_prompt = keep_prompt
        self._purse = Purse(budgets, prices)
        self._began = clock.monotonic()
        self._numbers: dict[Speaker, int] = {"executor": 0, "advisor": 0}

    def ask(self, question: Question) -> Told | Lost | Halted:
        """Make one call, if the limits allow it. Raises ``ReviewInterrupted``."""
        (said,) = self._batch([question])
        return over_a_limit(said) if isinstance(said, Refused) else said

    def ask_all(self, questions: Sequence[Question]) -> list[CameBack]:
        """The same for several questions, a few of them side by side. Answers are recorded in the questions' order.

        After a call that halts the run no further one is made: those that are missing at the end were not asked.
        """
        told: list[CameBack] = []
        for first in range(0, len(questions), MOST_AT_ONCE):
            told += self._batch(questions[first : first + MOST_AT_ONCE])
            if halt_of(told) is not None:
                break
        return told

    def _batch(self, questions: Sequence[Question]) -> list[CameBack]:
        leave: list[_Allowed | Refused] = []
        for question in questions:
            question.agents.check_interrupt()
            leave.append(self._leave(question, len(questions)))
        allowed = [each for each in leave if isinstance(each, _Allowed)]
        for each in allowed:
            self._keep_prompt(each.question.speaker, each.number, each.call.prompt)
        if len(allowed) <= 1:
            replies = [self._made(each) for each in allowed]
        else:
            with ThreadPoolExecutor(len(allowed)) as pool:
                replies = list(pool.map(self._made, allowed))
        said = iter([self._taken(each, reply) for each, reply in zip(allowed, replies, strict=True)])
        interrupt = next((each for each in replies if isinstance(each, ReviewInterrupted)), None)
        if interrupt is not None:
            raise interrupt
        return [each if isinstance(each, Refused) else next(said) for each in leave]

    def _leave(self, question: Question, jobs: int) -> _Allowed | Refused:
        self._numbers[question.speaker] += 1
        number, call = self._numbers[question.speaker], self._call(question)
        elapsed, today = self._clock.monotonic() - self._began, self._clock.now().date()
        leave = self._purse.reserve(call, elapsed, today, jobs=jobs)
        if isinstance(leave, Refused):
            self._note(_Allowed(question, call, number), Receipt(), "refused", leave.reason, leave.detail)
            return leave
        call = replace(call, max_usd=leave.max_usd, timeout_seconds=leave.timeout_seconds)
        return _Allowed(question, call, number)

    def _made(self, allowed: _Allowed) -> Answered | Lost | Stop:
        try:
            return self._redactor.everywhere(legible(allowed.question.agents.run(allowed.call)))
        except Stop as stop:
            return stop

    def _taken(self, allowed: _Allowed, reply: Answered | Lost | Stop) -> CameBack:
        self._purse.settle(allowed.call, reply.receipt)
        if not isinstance(reply, Stop):
            return self._read(allowed, reply)
        question = allowed.question
        setting = question.model_setting or model_setting(None, question.speaker)
        detail = self._redactor.redact(legible(vote_stop_words(reply, question.model, setting)))
        self._note(allowed, legible(reply.receipt), "stopped", type(reply).__name__, detail)
        return Halted(_FAILED[allowed.question.speaker], detail)

    def _read(self, allowed: _Allowed, reply: Answered | Lost) -> Told | Lost | Refused:
        messages = tuple(each for said in reply.every_answer if (each := _message(said, allowed.call)) is not None)
        if isinstance(reply, Answered) and len(messages) == len(reply.every_answer):
            told = Told(messages, reply.every_answer)
            self._note(allowed, reply.receipt, "answered", message=told.whole)
            return told
        lost = reply
        if isinstance(lost, Answered):
            lost = Lost(LostReason.INVALID_ANSWER, "it has no message", reply.receipt, reply.every_answer)
        refused = cut_short(lost, allowed.call, self._budgets.call_seconds)
        reason, detail = (lost.reason.value, lost.detail) if refused is None else (refused.reason, refused.detail)
        self._note(allowed, lost.receipt, "lost", reason, detail, exit_code=_exit_code(lost))
        return refused or lost

    def _call(self, question: Question) -> AgentCall:
        role = question.role or _ROLES[question.speaker]
        return AgentCall(
            role=role,
            advisor=question.advisor or role.advisor,
            surface=_NO_SURFACE,
            attempt=question.turn,
            shard=0,
            model=question.model,
            system_prompt=question.system_prompt,
            blocks=tuple(map(self._redactor.redact, question.blocks)),
            answer=question.form,
            tree=question.tree,
            edits=question.edits,
            number=sum(self._numbers.values()),
        )

    def _note(
        self,
        allowed: _Allowed,
        receipt: Receipt,
        ended: Literal["answered", "lost", "refused", "stopped"],
        reason: str = "",
        detail: str = "",
        *,
        message: str = "",
        exit_code: int | None = None,
    ) -> None:
        question, call = allowed.question, allowed.call
        self._record(
            TaskCalled(
                at=self._clock.now(),
                turn=question.turn,
                speaker=question.speaker,
                number=allowed.number,
                model=call.model,
                ended=ended,
                reason=reason,
                detail=detail,
                message=message,
                exit_code=exit_code,
                session_id=receipt.session_id,
                resolved_model=receipt.resolved_model,
                usage=receipt.usage,
                duration_seconds=receipt.duration_seconds,
                tool_failures=receipt.tool_failures,
                prompt_characters=len(call.prompt),
                prompt_sha256=hashlib.sha256(call.prompt.encode("utf-8", "replace")).hexdigest(),
                advisor=question.advisor,
            )
        )


def _message(said: object, call: AgentCall) -> str | None:
    """The message of an answer, or the whole of one in another form; None where there is none."""
    if call.answer is not TaskMessage:
        return json.dumps(said, ensure_ascii=False)
    message = said.get("message") if isinstance(said, dict) else None
    return message if isinstance(message, str) else None


def _exit_code(lost: Lost) -> int | None:
    """As shells and ``timeout`` have it; None where nobody knows it."""
    if lost.reason in (LostReason.TIMEOUT, LostReason.SILENT):
        return _OUT_OF_TIME
    started = lost.receipt.duration_seconds or lost.receipt.session_id
    return _NOT_STARTED if lost.reason is LostReason.CRASH and not started else None


class Advising:
    """Asks them, and records what they say. ``unheard``: a vote is missing that somebody could have given."""

    def __init__(
        self,
        request: TaskRequest,
        agents: Agents,
        asking: Asking,
        record: Callable[[TaskEvent], None],
        now: Callable[[], datetime],
    ) -> None:
        self._request = request
        self._council = request.council
        self._agents = agents
        self._asking = asking
        self._record = record
        self._now = now
        self._opinions: list[OpinionHeard] = []
        self._told: list[str] = []
        self.unheard = False

    @property
    def section(self) -> str:
        """What every call of the executor is told of them."""
        return council_section(self._council, self._opinions, self._request.nonce)

    def opens(self) -> Halted | None:
        """Ask those who speak before the first turn. A lost opinion is none."""
        who = self._council.opening
        task, nonce, evidence = self._request.task, self._request.nonce, self._request.evidence
        told = self._asking.ask_all(
            [
                self._question(
                    each,
                    0,
                    (OPINION_SYSTEM, *opinion_question(task, each, nonce, evidence)),
                    Role.PRE_FLIGHT,
                    with_own_fields(Opinion, each.answer),
                )
                for each in who
            ]
        )
        for advisor, said in zip(who, told, strict=False):
            if isinstance(said, Refused):
                return over_a_limit(said)
            if isinstance(said, Halted):
                return said
            heard = self._opinion(advisor, said)
            self._opinions.append(heard)
            self._record(heard)
        return None

    def watches(self, turn: int, transcript: Sequence[str]) -> Halted | str | None:
        """The votes of those who watch, after a turn that goes on: why the run ends, or what the executor is told."""
        voted = self._vote("turn", turn, transcript, None)
        if not isinstance(voted, CouncilVoted):
            return voted
        over = after_a_turn(voted)
        self._told.append(votes_said(voted, self._request.nonce))
        return self._told[-1] if over is None else Halted(*over)

    def decides(self, turn: int, transcript: Sequence[str], patch: str, cut: int, claimed: str = "") -> Halted | None:
        """The vote on the end of a run that its executor has completed: what it makes of that; None if it stands.

        ``cut`` counts the characters of messages that the transcript itself leaves out. ``claimed`` is the action that
        its report is for.
        """
        voted = self._vote("finish", turn, transcript, patch, cut=cut, claimed=claimed)
        if not isinstance(voted, CouncilVoted):
            return voted
        over = at_the_end(voted)
        return None if over is None else Halted(*over)

    def _vote(
        self,
        moment: Literal["turn", "finish"],
        turn: int,
        transcript: Sequence[str],
        patch: str | None,
        *,
        cut: int = 0,
        claimed: str = "",
    ) -> CouncilVoted | Halted | None:
        council, task, nonce = self._council, self._request.task, self._request.nonce
        evidence = self._request.evidence
        who = council.watching if moment == "turn" else council.voting
        if not who:
            return None
        seen = [entry for entry in transcript if entry not in self._told]  # each votes alone
        questions = [
            self._question(
                each,
                turn,
                (SYSTEM, *vote_question(task, seen, council.actions, each, nonce, patch=patch, evidence=evidence)),
                Role.POST_VERIFY,
                vote_form(each),
            )
            for each in who
        ]
        told = self._asking.ask_all(questions)
        if told and all(isinstance(each, Refused) for each in told):
            return next(over_a_limit(each) for each in told if isinstance(each, Refused))
        voices = self._voices(who, questions, told)
        votes = tuple(map(_cast, voices))
        self.unheard = self.unheard or any(each.lost for each in votes)
        voted = CouncilVoted(
            at=self._now(),
            turn=turn,
            moment=moment,
            actions=council.actions,
            votes=votes,
            claimed=claimed,
            unread=cut + unread_by_voters(seen, patch),
        )
        self._record(voted)
        return halt_of(told) or voted

    def _voices(self, who: Sequence[Advisor], questions: Sequence[Question], told: list[CameBack]) -> list[Voice]:
        """What each of them votes. A vote that nobody can read is asked for once more; ``told`` gets what comes."""
        voices = [self._voice(*each) for each in zip_longest(who, told)]
        if halt_of(told) is None:
            unread = [at for at, said in enumerate(told) if voices[at].lost and _may_be_repeated(said)]
            again = self._asking.ask_all([questions[at].with_more(vote_words(voices[at].lost)) for at in unread])
            for at, said in zip(unread, again, strict=False):
                second = self._voice(who[at], said)  # of two losses the one that the task may have caused counts
                voices[at] = replace(second, cause=voices[at].cause) if second.lost else second
            told += again
        return voices

    def _voice(self, advisor: Advisor, said: CameBack | None) -> Voice:
        actions = self._council.actions
        match said:
            case Told():
                return voice_of(advisor, said.said, actions)
            case Lost():
                return voice_of(advisor, said.every_answer, actions, said)
            case Refused() | Halted():
                return Voice(advisor, lost=said.detail)
            case None:
                return Voice(advisor, lost="it was not asked: the run cannot go on")

    def _opinion(self, advisor: Advisor, said: Told | Lost) -> OpinionHeard:
        at = self._now()
        if isinstance(said, Lost):
            return OpinionHeard(at=at, advisor=advisor.id, lost=said.detail or said.reason.value)
        try:
            answer = with_own_fields(Opinion, advisor.answer).model_validate(said.said[-1], context=Notes())
        except ValidationError as error:
            return OpinionHeard(at=at, advisor=advisor.id, lost=complaints(error))
        return OpinionHeard(
            at=at,
            advisor=advisor.id,
            opinion=answer.opinion,
            concerns=answer.concerns,
            own=own_fields(answer, Opinion),
        )

    def _question(
        self, advisor: Advisor, turn: int, texts: tuple[str, str, str], role: Role, form: type[Opinion] | type
    ) -> Question:
        system, same, varying = texts
        return Question(
            "advisor",
            self._agents,
            turn,
            advisor.model or self._request.advisor_model,
            system,
            (same, varying),
            advisor=advisor.id,
            role=role,
            form=form,
            model_setting=model_setting(advisor),
        )


def _may_be_repeated(said: CameBack) -> bool:
    return isinstance(said, Told) or (isinstance(said, Lost) and said.reason in REPAIRABLE)


def _cast(voice: Voice) -> TaskVote:
    who = voice.advisor
    return TaskVote(who.id, who.weight, who.veto, voice.calls, voice.votes, voice.own, voice.lost, voice.cause)


class Owing:
    """Reads reports of one run. ``claimed`` is the action that the latest usable one is for; empty before it."""

    def __init__(self, request: TaskRequest, record: Callable[[TaskEvent], None], now: Callable[[], datetime]) -> None:
        self._owed = request.owed
        self._record = record
        self._now = now
        self.section = "" if self._owed is None else self._owed.section(request.nonce)
        self._error = ""
        self.claimed = ""

    def take(self, said: ExecutorSaid, turn: int) -> None:
        """Record each report of a message, whatever else it says: nothing that was said once gets lost."""
        if self._owed is None:
            return
        read_body = self._owed.read
        reads = [
            ReadReport("", "", each.error) if isinstance(each, Malformed) else read_body(each.body)
            for each in said.reports
        ]
        for read in reads:
            told = ReportHeard(
                at=self._now(),
                turn=turn,
                tag=self._owed.tag,
                report=read.text,
                action=read.action,
                error=read.error,
            )
            self._record(told)
            if not read.error:
                self.claimed = read.action
        missing = "" if reads else "the block is missing"
        self._error = next((read.error for read in reads if read.error), missing)

    def trouble(self, said: ExecutorSaid, turn: int) -> str:
        """Why a completed end with this message, the last one taken, is none; empty if it is one."""
        if self._owed is None or said.done is None or said.done.status != "completed" or not self._error:
            return ""
        tag, error = self._owed.tag, self._error
        self._record(BlockMalformed(at=self._now(), turn=turn, speaker="executor", tag=tag, error=error))
        return error

    def words(self, open_ids: Sequence[str], trouble: str) -> str:
        """What the executor is asked once more because of it, and of guidance about which it is silent."""
        asked = [disposition_words(open_ids)] if open_ids else []
        asked += [report_words(self._owed.tag, trouble)] if trouble and self._owed is not None else []
        return "\n\n".join(asked)


Said = TypeVar("Said", ExecutorSaid, AdvisorSaid)


class TaskPhase:
    """Runs one task. It keeps no state between runs."""

    def __init__(self, ports: TaskPorts) -> None:
        self._ports = ports

    def run(self, request: TaskRequest) -> TaskEnded:
        """Run the task to its end, which is also the last event. Raises ``ReviewInterrupted``."""
        return _Run(self._ports, request).to_its_end()


class _Run:
    """The state of one run."""

    def __init__(self, ports: TaskPorts, request: TaskRequest) -> None:
        self._ports = ports
        self._request = request
        limits = request.limits
        self._budgets = Budgets(limits.max_usd, limits.call_seconds, limits.run_seconds, limits.max_advisor_calls)
        self._asking = Asking(
            self._budgets, ports.clock, request.redactor, self._record, ports.keep_prompt, prices=ports.prices
        )
        self._advising = Advising(request, ports.advisor, self._asking, self._record, self._now)
        self._owing = Owing(request, self._record, self._now)
        self._patch = ""
        self._turn = 0
        self._transcript: list[str] = []
        self._cut = 0
        self._consults = 0
        self._asked = 0
        self._failed = 0
        self._proposals: list[MemoryProposal] = []
        self._given: list[str] = []

    def to_its_end(self) -> TaskEnded:
        request = self._request
        self._record(begun(request, self._now()))
        if request.disabled:
            ended = self._over("disabled", request.disabled)
        else:
            ended = self._voted(self._with_patch(self._protocol()))
        self._record(ended)
        return ended

    def _protocol(self) -> TaskEnded:
        """Executor, question, advisor, executor again. Guidance is always followed by a turn that can apply it."""
        closing: RunStatus | None = None
        halted = self._advising.opens()
        if halted is not None:
            return self._over(halted.status, halted.detail)
        while True:
            self._turn += 1
            said = self._executor_speaks()
            if isinstance(said, TaskEnded):
                return said
            if said.consult is None:
                return self._ends(said)
            if closing is not None:
                return self._asks_too_late(said.consult, closing)
            halted = self._watched()
            if halted is not None:
                return self._over(halted.status, halted.detail)
            if not consults_left(self._budgets, self._asked, self._failed):
                closing = "advisor_call_limit_reached"
                most = counted(self._budgets.max_consults, "question")
                self._refuse(said.consult, f"this run may ask {most}, and no more")
                continue
            advised = self._advisor_speaks(said.consult)
            if advised is not None:
                return advised
            if self._turn >= self._request.limits.max_turns:
                closing = "max_turns_reached"

    # --- the executor ---

    def _executor_speaks(self, more: str = "") -> ExecutorSaid | TaskEnded:
        """The executor's message of this turn. ``more`` is asked beyond what every turn asks."""
        said = self._heard(self._executor_question(more), hear_executor)
        match said:
            case Malformed():
                return self._over("malformed_block", f"{said.tag}: {said.error}")
            case Lost():
                return self._over("executor_failed", said.detail)
            case Halted():
                return self._over(said.status, said.detail)
        for proposal in said.proposals:
            if proposal not in self._proposals:
                self._proposals.append(proposal)
                number = self._id("mem_prop", len(self._proposals))
                self._record(ProposalHeard(at=self._now(), turn=self._turn, id=number, proposal=proposal))
        return said

    def _executor_question(self, more: str) -> Question:
        request = self._request
        opening = executor_opening(
            request.task,
            request.limits,
            request.nonce,
            edit=request.edits is not None,
            lessons=request.lessons,
            more="\n\n".join(filter(None, (self._advising.section, self._owing.section))),
            evidence=request.evidence,
        )
        varying = executor_turn(self._transcript, self._turn, request.limits)
        question = Question(
            "executor",
            self._ports.executor,
            self._turn,
            request.executor_model,
            EXECUTOR_SYSTEM,
            (f"{opening}\n\n", varying),
            request.tree,
            request.edits,
        )
        return question.with_more(more) if more else question

    def _ends(self, said: ExecutorSaid) -> TaskEnded:
        """What an executor's end comes to. If it is silent about a guidance or owes a report, it is asked once more."""
        done = said.done
        if done is None:
            return self._over("executor_stopped_without_done", "the final message has no block that asks or ends")
        open_ids, trouble = self._record_used(done), self._owing.trouble(said, self._turn)
        if done.status == "completed" and (open_ids or trouble):
            again = self._executor_speaks(self._owing.words(open_ids, trouble))
            if isinstance(again, TaskEnded):
                return again
            if again.done is not None:
                done = again.done
                open_ids, trouble = self._record_used(done), self._owing.trouble(again, self._turn)
        return self._ended_as(done, open_ids, trouble)

    def _ended_as(self, done: TaskDone, open_ids: Sequence[str], trouble: str) -> TaskEnded:
        """The end that this one comes to. ``open_ids`` are guidance about which it is silent."""
        match done.status:
            case "failed":
                return self._over("executor_failed", done.summary or "the executor says failed", done)
            case "needs_human":
                return self._over("conflict_needs_human", done.summary or "the executor asks for a person", done)
            case "completed" if open_ids:
                why = f"the executor does not say what became of {', '.join(open_ids)}"
                return self._over("conflict_needs_human", why, done)
            case "completed" if trouble:
                return self._over("malformed_block", trouble, done)
            case "completed" if self._failed:
                return self._over("degraded", "an answer of the advisor did not come", done)
            case "completed":
                return self._over("completed", "", done)

    def _record_used(self, done: TaskDone) -> list[str]:
        """Record what the executor says of each guidance. The ids of those of which it says nothing that counts."""
        told = {each.guidance: each for each in done.guidance if each.disposition == "applied" or each.reason}
        for number in self._given:
            if number in told:
                what, why = told[number].disposition, told[number].reason
                self._record(GuidanceUsed(at=self._now(), turn=self._turn, id=number, disposition=what, reason=why))
        return [number for number in self._given if number not in told]

    def _with_patch(self, ended: TaskEnded) -> TaskEnded:
        """The end, once the edits are read. Work whose patch is refused is not completed."""
        if self._request.edits is None:
            return ended
        made = self._ports.read_patch()
        self._record(PatchRead(at=self._now(), turn=self._turn, made=made))
        self._patch = made.patch
        if not made.refused or ended.status not in ("completed", "degraded"):
            return ended
        named = "; ".join(f"{each.path}: {each.why}" for each in made.refused)
        return self._over("conflict_needs_human", f"the patch is refused: {named}", ended.done)

    # --- those who watch and vote ---

    def _watched(self) -> Halted | None:
        """Why the run ends after the vote of those who watch. Where it goes on, the executor is told of the votes."""
        said = self._advising.watches(self._turn, self._transcript)
        if isinstance(said, str):
            self._transcript.append(said)
        return said if isinstance(said, Halted) else None

    def _voted(self, ended: TaskEnded) -> TaskEnded:
        """The end, once the declared advisors have voted on it. Only work that is completed is voted on."""
        if ended.status not in ("completed", "degraded"):
            return ended
        over = self._advising.decides(self._turn, self._transcript, self._patch, self._cut, self._owing.claimed)
        if over is not None:
            return self._over(over.status, over.detail, ended.done)
        if ended.status == "completed" and self._advising.unheard:
            return self._over("degraded", "a vote on an earlier turn is missing", ended.done)
        return ended

    # --- questions ---

    def _refuse(self, consult: TaskConsult, why: str) -> None:
        number = self._record_consult(consult, why)
        self._transcript.append(refused_question(number, why))

    def _asks_too_late(self, consult: TaskConsult, status: RunStatus) -> TaskEnded:
        why = "the executor was to finish in this turn, and asks again"
        self._record_consult(consult, why)
        return self._over(status, why)

    def _record_consult(self, consult: TaskConsult, refused: str = "") -> str:
        self._consults += 1
        number = self._id("adv_consult", self._consults)
        asked = consult.advisor if self._request.council.on_demand else ""
        self._record(
            ConsultHeard(at=self._now(), turn=self._turn, id=number, consult=consult, refused=refused, asked=asked)
        )
        return number

    def _asked_one(self, consult: TaskConsult) -> Advisor | None:
        """The declared advisor that a question names; None for the run's own."""
        return next((each for each in self._request.council.on_demand if each.id == consult.advisor), None)

    # --- the advisor ---

    def _advisor_speaks(self, consult: TaskConsult) -> TaskEnded | None:
        """Ask the advisor. None where the executor goes on, with guidance or without."""
        council = self._request.council
        if council.on_demand and consult.advisor and self._asked_one(consult) is None:
            number = self._id("adv_consult", self._consults + 1)
            why, told = misnamed(number, consult.advisor, council)
            self._record_consult(consult, why)
            self._transcript.append(told)
            return None
        number = self._record_consult(consult)
        self._asked += 1
        said = self._heard(self._advisor_question(consult, number), hear_advisor)
        match said:
            case Halted():
                return self._over(said.status, said.detail)
            case Malformed():
                return self._over("malformed_block", f"{said.tag}: {said.error}")
            case Lost():
                self._goes_on_alone(number, said.detail)
            case AdvisorSaid(guidance=None):
                self._goes_on_alone(number, "the answer is empty")
            case AdvisorSaid():
                return self._take(said, number)
        return None

    def _goes_on_alone(self, consult_id: str, why: str) -> None:
        self._failed += 1
        self._transcript.append(unanswered_question(consult_id, why))

    def _take(self, said: AdvisorSaid, consult_id: str) -> TaskEnded | None:
        guidance = said.guidance
        if guidance is None:
            raise ValueError("an answer without guidance cannot be taken")
        number = self._id("adv_guidance", len(self._given) + 1)
        self._record(
            GuidanceHeard(
                at=self._now(),
                turn=self._turn,
                id=number,
                consult_id=consult_id,
                guidance=guidance,
                wrapped=said.wrapped,
            )
        )
        if guidance.stop_signal:
            return self._over("advisor_stop_signal", guidance.guidance)
        self._given.append(number)
        told = f"{number}: {guidance.guidance}\n{guidance.rationale}".strip()
        self._keep("guidance", told)
        return None

    def _advisor_question(self, consult: TaskConsult, number: str) -> Question:
        request = self._request
        varying = advisor_question(self._transcript, consult, number, request.nonce, patch=self._edited())
        one = self._asked_one(consult)
        return Question(
            "advisor",
            self._ports.advisor,
            self._turn,
            (one.model if one else "") or request.advisor_model,
            asked_by_id(one) if one else ADVISOR_SYSTEM,
            (f"{advisor_opening(request.task, request.nonce, request.evidence)}\n\n", varying),
            tree=request.tree,
            advisor=one.id if one else "",
        )

    def _edited(self) -> str:
        """What the executor has edited so far; where that makes no patch, why."""
        if self._request.edits is None:
            return ""
        made = self._ports.read_patch()
        return made.patch or "\n".join(f"no patch because of {each.path}: {each.why}" for each in made.refused)

    # --- both ---

    def _heard(
        self, question: Question, hear: Callable[[Sequence[str], str], Said]
    ) -> Said | Malformed | Lost | Halted:
        """What is said in answer. A message that nobody can read is asked for once more, and then has to be a block."""
        told = self._asking.ask(question)
        said = self._read(question.speaker, told, hear)
        if isinstance(said, Malformed):
            ask_again = repair_words(said, self._request.nonce)
        elif isinstance(said, Lost) and said.reason in REPAIRABLE:
            ask_again = reply_words(said.detail)
        else:
            return said
        before = [said_before(question.speaker, told.whole, self._request.nonce)] if isinstance(told, Told) else []
        second = self._read(question.speaker, self._asking.ask(question.with_more(*before, ask_again)), hear)
        if isinstance(second, ExecutorSaid | AdvisorSaid) and isinstance(said, Malformed) and second.is_mute:
            return said
        return second

    def _read(
        self, speaker: Speaker, told: Told | Lost | Halted, hear: Callable[[Sequence[str], str], Said]
    ) -> Said | Malformed | Lost | Halted:
        if isinstance(told, Lost) and speaker == "advisor":
            stops = asking_to_stop(told.every_answer, self._request.nonce)
            told = Told(stops) if stops else told
        if not isinstance(told, Told):
            return told
        said = hear(told.messages, self._request.nonce)
        for bad in said.malformed:
            tag, error = bad.tag.value, bad.error
            self._record(BlockMalformed(at=self._now(), turn=self._turn, speaker=speaker, tag=tag, error=error))
        for each in said.ignored:
            tag, why = each.tag.value, each.why
            self._record(BlockIgnored(at=self._now(), turn=self._turn, speaker=speaker, tag=tag, why=why))
        if isinstance(said, ExecutorSaid):
            self._owing.take(said, self._turn)
        if said.unusable is not None:
            return said.unusable
        if speaker == "executor":
            self._keep(speaker, told.whole)
        return said

    def _keep(self, who: str, message: str) -> None:
        self._transcript.append(said_before(who, message, self._request.nonce))
        self._cut += cut_from(message)

    def _over(self, status: RunStatus, reason: str, done: TaskDone | None = None) -> TaskEnded:
        return TaskEnded(at=self._now(), turn=self._turn, status=status, reason=reason, done=done)

    def _record(self, event: TaskEvent) -> None:
        self._ports.record(self._request.redactor.everywhere(event))

    def _now(self) -> datetime:
        return self._ports.clock.now()

    def _id(self, kind: IdKind, number: int) -> str:
        return block_id(kind, self._request.run_id, number)
