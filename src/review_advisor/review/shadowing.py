"""A shadow of a review that is over: asked in calls of its own, without effect on the review."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from review_advisor.core.answers.answers import ReviewReport
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.ends import join_review, missing_words
from review_advisor.core.outcome.events import CallEnded, Event
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.outcome.rulings import rule_panel
from review_advisor.core.policy.policy import SurfacePolicy
from review_advisor.core.policy.surfaces import Surface
from review_advisor.core.roles.advisors import Briefing, Executor, Part
from review_advisor.core.roles.calls import Stop
from review_advisor.core.roles.instructions import Instructions
from review_advisor.core.roles.surface_inputs import Subject
from review_advisor.core.shadow.shadow_comparison import (
    Left,
    LeftOut,
    ShadowQuestion,
    cut_by_cap,
    is_unanswered,
    missed_findings,
    objects,
    shadow_policy,
    shadow_questions,
    with_surface,
)
from review_advisor.core.shadow.shadow_events import (
    ShadowBegan,
    ShadowCalled,
    ShadowDecided,
    ShadowEnded,
    ShadowEvent,
    ShadowStatus,
)
from review_advisor.core.shadow.shadow_rule import Shadow
from review_advisor.ports.review import CliError, Ports, SourceError
from review_advisor.review.council import PartJudges
from review_advisor.review.dispatch import Dispatch
from review_advisor.review.matter import Matter, ReviewRequest, matter_of, parts_of, subject_of
from review_advisor.review.phase import RunningReview
from review_advisor.review.repair_session import Version
from review_advisor.review.surroundings import looked_around


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
        why = ""
        try:
            if not isinstance(matter, Matter):
                raise matter
            with self._asked(request, document, matter, shadow, left=left, heard=heard) as asked:
                for question in questions:
                    self.tell(asked.decided(question))
        except (Stop, SourceError, CliError) as stop:
            status, why = "stopped", request.redactor.redact(str(stop))
        if status == "finished" and heard.capped:
            status, why = "capped", heard.capped
        ended = ShadowEnded(at=self.ports.clock.now(), status=status, because=why)
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
        base = matter.policy if shadow.rule.part == "surface" else document.policy
        policy = shadow_policy(base, shadow, left)
        ports = replace(self.ports, journal=heard, artifacts=_NoFolder())
        dispatch = Dispatch(
            ports,
            policy.budgets,
            min(self.jobs, len(policy.roster.panel)),
            matter.redactor,
            prompts=self.instructions.version,
            most_calls=shadow.rule.max_calls,
            shadow=shadow.rule.id,
        )
        with ports.source.head_tree() as tree:
            briefing = matter.briefing(request, policy, self.instructions, tree)
            subject = subject_of(ports, request, briefing, lambda: document.events)
            yield _Asked(ports, dispatch, briefing, subject, request, document, shadow)


class _Heard:
    """The events of the shadow's calls. Votes and findings of its judges are told by what it decides."""

    def __init__(self, tell: Callable[[ShadowEvent], None]) -> None:
        self._tell = tell
        self.capped = ""

    def record(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, CallEnded):
            if event.ended in ("refused", "cut_short"):
                self.capped = self.capped or event.detail
            self._tell(ShadowCalled(at=event.at, call=event))


class _NoFolder:
    """The folder of what leaves no artefacts."""

    def write(self, name: str, text: str) -> None:
        """Leave it."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A shadow at work on one review, the one of ``document``."""

    ports: Ports
    dispatch: Dispatch
    briefing: Briefing
    subject: Subject
    request: ReviewRequest
    document: OutcomeDocument
    shadow: Shadow

    def decided(self, question: ShadowQuestion | LeftOut) -> ShadowDecided:
        """What the shadow would have decided there. Raises ``Stop``."""
        told = self._with(question.surface) if isinstance(question, LeftOut) else self._beside(question)
        return self.request.redactor.everywhere(told)

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

    def _part(self, row: SurfacePolicy, question: ShadowQuestion) -> Part:
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
        missed = missed_findings(question.report, report)
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
