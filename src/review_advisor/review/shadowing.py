"""A shadow of a review that is over: asked in calls of its own, without effect on the review."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import assert_never

from review_advisor.core.answers.answers import Recommendation, ReviewReport
from review_advisor.core.escalation.packet import consult_grant
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.ends import join_review, missing_words
from review_advisor.core.outcome.events import CallEnded, Event, ReviewStopped
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.outcome.rulings import rule_panel
from review_advisor.core.policy.budgets import most_at_a_time
from review_advisor.core.policy.policy import SurfacePolicy
from review_advisor.core.policy.surfaces import Surface
from review_advisor.core.roles.advisors import Briefing, Executor, Part, consult_call
from review_advisor.core.roles.calls import (
    AuthenticationFailedError,
    CreditExhaustedError,
    ModelError,
    ReviewInterrupted,
    Stop,
)
from review_advisor.core.roles.instructions import Instructions
from review_advisor.core.roles.mid_flight import consult_prompt
from review_advisor.core.roles.surface_inputs import Subject
from review_advisor.core.shadow.shadow_comparison import (
    AdviceQuestion,
    Asked,
    Left,
    LeftOut,
    OnceMore,
    ShadowQuestion,
    changes_of,
    concluded,
    cut_by_cap,
    is_cut_by_cap,
    is_unanswered,
    objects,
    only_in,
    shadow_policy,
    shadow_questions,
    with_surface,
)
from review_advisor.core.shadow.shadow_events import (
    ShadowAdvised,
    ShadowBegan,
    ShadowCalled,
    ShadowDecided,
    ShadowEnded,
    ShadowEvent,
    ShadowReviewed,
    ShadowSaid,
    ShadowStatus,
)
from review_advisor.core.shadow.shadow_rule import Shadow
from review_advisor.ports.review import CliError, Ports, SourceError
from review_advisor.review.council import PartJudges
from review_advisor.review.dispatch import Dispatch
from review_advisor.review.matter import Matter, ReviewRequest, as_shown, looked_around, matter_of, parts_of, subject_of
from review_advisor.review.phase import RunningReview, reviewed
from review_advisor.review.repair_session import Version

_STOPS: Mapping[str, type[Stop]] = {
    "credit_exhausted": CreditExhaustedError,
    "authentication_failed": AuthenticationFailedError,
    "interrupted": ReviewInterrupted,
}
"""The stops after which no other shadow can run either, by the reason that a review gives for them."""


@dataclass(frozen=True, slots=True)
class ShadowPhase:
    """The shadows of one review, run after its outcome is stored. ``ports`` are those of the review.

    ``instructions`` are the shadow's. Only ``tell`` gets their events, which are in no stream and no prompt of the
    review.
    """

    ports: Ports
    instructions: Instructions
    tell: Callable[[ShadowEvent], None]
    jobs: int = 1

    def run(
        self, request: ReviewRequest, document: OutcomeDocument, shadow: Shadow, because: str, left: Left
    ) -> ShadowEnded | None:
        """Ask one shadow about the review; None if there is nothing to ask. ``left`` is what the review has left.

        A stop, such as an interrupt or spent credit, ends the shadow alone. Anything else that is raised is a bug.
        """
        rule = shadow.rule
        request = replace(request, rules=shadow.rules(request.rules), switches=shadow.switches(request.switches))
        matter = self._matter(request)
        questions = shadow_questions(document, matter.policy, shadow) if isinstance(matter, Matter) else ()
        if isinstance(matter, Matter) and not questions:
            return None
        self.tell(
            ShadowBegan(
                at=self.ports.clock.now(),
                run_id=f"{request.run_id}-shadow-{rule.id}",
                shadow=rule.id,
                part=rule.part,
                setup=shadow.setup(self.instructions.version),
                of_run=document.run_id,
                because=because,
                repository=document.repository,
                pull_request=document.pull_request,
                head_sha=document.head_sha,
                max_calls=rule.max_calls,
                max_usd=left.usd_for(rule),
            )
        )
        heard = _Heard(self.tell)
        status: ShadowStatus = "finished"
        why, last = "", False
        try:
            if not isinstance(matter, Matter):
                raise matter
            with self._asked(request, document, matter, shadow, left=left, heard=heard) as asked:
                for question in questions:
                    self.tell(asked.decided(question))
        except (Stop, SourceError, CliError) as stop:
            status, why = "stopped", request.redactor.redact(str(stop))
            last = isinstance(stop, tuple(_STOPS.values())) and not isinstance(stop, ModelError)
        if status == "finished" and heard.capped:
            status, why = "capped", heard.capped
        ended = ShadowEnded(at=self.ports.clock.now(), status=status, because=why, last=last)
        self.tell(ended)
        return ended

    def _matter(self, request: ReviewRequest) -> Matter | SourceError | Stop:
        try:
            return matter_of(self.ports, request)
        except (SourceError, Stop) as problem:
            return problem

    @contextmanager
    def _asked(
        self,
        request: ReviewRequest,
        document: OutcomeDocument,
        matter: Matter,
        shadow: Shadow,
        *,
        left: Left,
        heard: _Heard,
    ) -> Iterator[_Asked]:
        request = replace(request, redactor=matter.redactor)
        base = matter.policy if shadow.rule.part in ("surface", "review") else document.policy
        policy = shadow_policy(base, shadow, left)
        ports = replace(self.ports, journal=heard, artifacts=_NoFolder(), wiki=_NoFolder())
        panel, opening = len(policy.roster.panel), len(policy.roster.opening)
        is_whole = shadow.rule.part == "review"
        most = most_at_a_time(matter.parts, panel, opening, refuter=policy.refuter) if is_whole else panel
        dispatch = Dispatch(
            ports,
            policy.budgets,
            min(self.jobs, most),
            matter.redactor,
            prompts=self.instructions.version,
            most_calls=shadow.rule.max_calls,
            shadow=shadow.rule.id,
            outage=policy.outage,
        )
        shown = as_shown(matter.change, policy, matter.redactor)
        # A whole review opens its own.
        with nullcontext() if is_whole else ports.source.head_tree(shown=shown) as tree:
            briefing = matter.briefing(request, policy, self.instructions, tree)
            subject = subject_of(ports, request, briefing, lambda: document.events)
            yield _Asked(ports, dispatch, replace(matter, policy=policy), briefing, subject, request, document, shadow)


class _Heard:
    """The events of the shadow's calls. Votes and findings of its judges are told by what it decides."""

    def __init__(self, tell: Callable[[ShadowEvent], None]) -> None:
        self._tell = tell
        self.capped = ""

    def record(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, CallEnded):
            if is_cut_by_cap(event):
                self.capped = self.capped or event.detail
            self._tell(ShadowCalled(at=event.at, call=event))


class _NoFolder:
    """The folder of what leaves no artefacts and no knowledge."""

    def write(self, name: str, text: str) -> None:
        """Leave it."""

    def store(self, name: str, text: str) -> str | None:  # noqa: ARG002
        """Leave it, and say so."""
        return "a shadow stores nothing"


@dataclass(frozen=True, slots=True)
class _Asked:
    """A shadow at work on one review, the one of ``document``."""

    ports: Ports
    dispatch: Dispatch
    matter: Matter
    briefing: Briefing
    subject: Subject
    request: ReviewRequest
    document: OutcomeDocument
    shadow: Shadow

    def decided(self, question: Asked) -> ShadowSaid:
        """What the shadow would have decided there. Raises ``Stop``."""
        match question:
            case OnceMore():
                return self.request.redactor.everywhere(self._once_more())
            case AdviceQuestion():
                return self.request.redactor.everywhere(self._advised(question))
            case LeftOut():
                return self.request.redactor.everywhere(self._with(question.surface))
            case ShadowQuestion():
                return self.request.redactor.everywhere(self._beside(question))
            case _:
                assert_never(question)

    def _advised(self, question: AdviceQuestion) -> ShadowAdvised:
        """What it answers to the packet of a consult."""
        row = next(each for each in self.briefing.policy.surfaces if each.surface is question.surface)
        part = self._part(row, question)
        grant = consult_grant(self.briefing, row, question.attempt)
        if grant is None:
            raise AssertionError("a review that consulted had leave to")
        prompt = consult_prompt(grant, question.packet)
        call = consult_call(self.briefing, row, part, question.attempt, prompt)
        advice = self.dispatch.ask(call, Recommendation).answer
        return ShadowAdvised(
            at=self.dispatch.now(),
            surface=question.surface,
            shard=question.shard,
            attempt=question.attempt,
            real_stops=question.real.stops,
            stops=advice.stops if isinstance(advice, Recommendation) else None,
            real=changes_of(question.real),
            changes=changes_of(advice) if isinstance(advice, Recommendation) else (),
            because=advice.action if isinstance(advice, Recommendation) else missing_words(advice),
        )

    def _once_more(self) -> ShadowReviewed:
        """The whole review by the shadow's own configuration, beside the real one."""
        real = self.document
        other = reviewed(self.ports, self.request, self.matter, self.briefing.instructions, self.dispatch)
        stop = next((each for each in other.events if isinstance(each, ReviewStopped)), None)
        if stop is not None:
            raise _STOPS.get(stop.reason, Stop)(stop.detail)
        calls = [each for each in other.events if isinstance(each, CallEnded)]
        is_lost = other.outcome is Outcome.STOPPED or is_unanswered(calls) or any(map(is_cut_by_cap, calls))
        return ShadowReviewed(
            at=self.dispatch.now(),
            real=concluded(real),
            outcome=None if is_lost else concluded(other),
            because="; ".join(other.because),
            missed=() if is_lost else tuple(each.id for each in only_in(real.findings, other.findings)),
            besides=tuple(
                f"{each.severity} {each.path}:{each.line} {each.title}"
                for each in only_in(other.findings, real.findings)
            ),
        )

    def _beside(self, question: ShadowQuestion) -> ShadowDecided:
        row = next(each for each in self.briefing.policy.surfaces if each.surface is question.surface)
        version = Version(self.briefing, row, self._part(row, question), self.subject)
        judges = self.shadow.rule.part == "judge"
        return self._judged(version, question) if judges else self._executed(version, question)

    def _with(self, surface: Surface) -> ShadowDecided:
        """The surface as a review runs it: its plan, its executor, its judges and what it hands back."""
        (row,) = (each for each in self.briefing.policy.surfaces if each.surface is surface)
        alone = replace(self.briefing, policy=replace(self.briefing.policy, surfaces=(row,)))
        running = RunningReview(self.ports, self.request, self.dispatch, alone)
        (ending,) = running.surfaces(lambda ends: join_review(ends, (), (), None))
        calls = (each for each in self.dispatch.events if isinstance(each, CallEnded) and each.surface is surface)
        verdict = self.document.outcome
        return ShadowDecided(
            at=self.dispatch.now(),
            surface=surface,
            shard=0,
            verdict="approve" if verdict is Outcome.APPROVED else "reject",
            real_objects=verdict is not Outcome.APPROVED,
            shadow_objects=None if is_unanswered(calls) else with_surface(self.document, ending),
            because="; ".join(ending.because),
        )

    def _part(self, row: SurfacePolicy, question: ShadowQuestion | AdviceQuestion) -> Part:
        parts = parts_of(self.ports, row, self.subject, self.briefing.nonce)
        part = next(each for each in parts if each.shard.index == question.shard)
        return looked_around(self.ports.source, self.briefing, row, part)

    def _judged(self, version: Version, question: ShadowQuestion) -> ShadowDecided:
        answers = PartJudges(self.dispatch).judge(version, question.plan, question.report, ())
        ruling, joint = rule_panel(version.standing(question.report, ()), answers.members)
        capped = cut_by_cap(answers.members)
        said = None if joint is None or capped else objects(ruling, joint.verdict)
        return self._compared(question, ruling.because, shadow_objects=said)

    def _executed(self, version: Version, question: ShadowQuestion) -> ShadowDecided:
        call = Executor(self.briefing).call(version.row, version.part, question.plan)
        asked = self.dispatch.ask(call, ReviewReport)
        if not isinstance(asked.answer, ReviewReport):
            return self._compared(question, missing_words(asked.answer), shadow_objects=None)
        report = version.check(asked.answer, ())
        missed = tuple(each.id for each in only_in(question.report.findings, report.findings))
        return self._compared(question, report.summary, shadow_objects=report.verdict == "reject", missed=missed)

    def _compared(
        self, question: ShadowQuestion, because: str, *, shadow_objects: bool | None, missed: tuple[str, ...] = ()
    ) -> ShadowDecided:
        return ShadowDecided(
            at=self.dispatch.now(),
            surface=question.surface,
            shard=question.shard,
            verdict=question.report.verdict,
            real_objects=question.real_objects,
            shadow_objects=shadow_objects,
            because=because,
            missed=missed,
        )
