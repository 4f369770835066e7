"""One run of a task: the protocol of executor and advisor, over the same port that reviews ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

from review_advisor.core.policy.budgets import Budgets, consults_left
from review_advisor.core.report.wording import counted
from review_advisor.core.roles.calls import Lost
from review_advisor.core.roles.replies import REPAIRABLE
from review_advisor.core.roster.advisor import Advisor
from review_advisor.core.task.blocks import Malformed
from review_advisor.core.task.council_prompts import asked_by_id, misnamed
from review_advisor.core.task.hearing import AdvisorSaid, ExecutorSaid, asking_to_stop, hear_advisor, hear_executor
from review_advisor.core.task.messages import IdKind, MemoryProposal, TaskConsult, TaskDone, block_id
from review_advisor.core.task.task_events import (
    BlockIgnored,
    BlockMalformed,
    ConsultHeard,
    GuidanceHeard,
    GuidanceUsed,
    PatchRead,
    ProposalHeard,
    Speaker,
    TaskEnded,
    TaskEvent,
)
from review_advisor.core.task.task_prompts import (
    ADVISOR_SYSTEM,
    EXECUTOR_SYSTEM,
    advisor_opening,
    advisor_question,
    cut_from,
    executor_opening,
    executor_turn,
    refused_question,
    repair_words,
    reply_words,
    said_before,
    unanswered_question,
)
from review_advisor.core.task.task_status import RunStatus
from review_advisor.task.advising import Advising
from review_advisor.task.asking import Asking, Halted, Question, Told
from review_advisor.task.owing import Owing
from review_advisor.task.task_request import TaskPorts, TaskRequest, begun

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
