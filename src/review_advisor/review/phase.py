"""The review, start to end, as ADR-0059 tells it. It sequences; every decision is a pure function.

change  -> policy, frozen
for each surface that applies:
    plan    <- pre-flight, if its trigger fires
    loop:   executor, post-verify, ruling, over each of its parts (see ``loop``)
outcome <- the surfaces' outcomes, the worst wins
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor as Pool
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

from review_advisor.agents.answers import Opinion, ReviewPlan
from review_advisor.agents.prompts import Instructions
from review_advisor.agents.roles import (
    Briefing,
    OpeningAdvisor,
    Part,
    PreFlightAdvisor,
    SpokenOpinion,
    opinions_section,
)
from review_advisor.agents.surface_inputs import SURFACE_INPUTS, Page
from review_advisor.change.change import Change
from review_advisor.policy.budgets import most_at_a_time
from review_advisor.policy.policy import Policy, SurfacePolicy
from review_advisor.policy.roster import Advisor
from review_advisor.policy.surfaces import SURFACE_DEFAULTS, PreFlightRule, Role, Surface
from review_advisor.review.dispatch import Dispatch
from review_advisor.review.document import OutcomeDocument, judgement_on, outcome_document
from review_advisor.review.ends import Ending, NotRun, end_of_stop, join_parts, join_review, why_not_run
from review_advisor.review.events import (
    KnowledgeStored,
    Opined,
    Planned,
    PolicyFrozen,
    ReviewEnded,
    RoleSkipped,
    SurfaceEnded,
)
from review_advisor.review.loop import ReviewLoop
from review_advisor.review.matter import Matter, ReviewRequest, as_shown, looked_around, matter_of, parts_of, subject_of
from review_advisor.review.ports import Ports
from review_advisor.review.repair_session import Version
from review_advisor.review.rulings import Outcome
from review_advisor.review.wiki_page import Origin, page_text
from review_advisor.safety.fence import clean
from review_advisor.safety.stop import Stop


class ReviewPhase:
    """One review is one call. It keeps nothing between reviews."""

    def __init__(
        self,
        ports: Ports,
        instructions: Instructions,
        jobs: int = 1,
        threads: Callable[[int], Pool] = ThreadPoolExecutor,
    ) -> None:
        self._ports = ports
        self._instructions = instructions
        self._jobs = jobs
        self._threads = threads

    def review(self, request: ReviewRequest) -> OutcomeDocument:
        """Review the source's change. Spent credit, failed authentication and interrupts end as ``stopped``.

        Raises ``SourceError`` if the change cannot be read and ``ArtifactError`` if the review's folder
        cannot be written. Anything else that is raised is a bug.
        """
        matter = matter_of(self._ports, request)
        policy, request = matter.policy, replace(request, redactor=matter.redactor)
        panel, opening = len(policy.roster.panel), len(policy.roster.opening)
        jobs = min(self._jobs, most_at_a_time(matter.parts, panel, opening))
        dispatch = Dispatch(
            self._ports,
            policy.budgets,
            jobs,
            request.redactor,
            prompts=self._instructions.version,
            threads=self._threads,
            earlier_consults=request.earlier_consults,
            outage=policy.outage,
        )
        return reviewed(self._ports, request, matter, self._instructions, dispatch)


def reviewed(
    ports: Ports, request: ReviewRequest, matter: Matter, instructions: Instructions, dispatch: Dispatch
) -> OutcomeDocument:
    """The review of a matter under its policy, by the calls of this ``dispatch``. A stop ends it as ``stopped``."""
    policy, change, files, unsent = matter.policy, matter.change, matter.files, matter.unsent
    dispatch.record(
        PolicyFrozen(
            at=dispatch.now(),
            run_id=request.run_id,
            label=change.label,
            title=request.redactor.redact(clean(change.title)),
            base_sha=change.base_sha,
            head_sha=change.head_sha,
            files=files,
            unsent=unsent,
            cut=matter.cut,
            shards=matter.parts,
            policy=policy,
            pictures=matter.pictures,
            scope=matter.scope,
            repository=change.repository,
            server=change.server,
            pull_request=change.pull_request,
            base_ref=change.base_ref,
            rules_ref=change.rules_ref,
            rules_sha=change.rules_sha,
            guidelines=matter.guidelines.facts,
            priced_by=request.priced_by,
            secrets=tuple(each.fact for each in matter.secrets),
        )
    )
    ends: list[Ending] = []
    stopped: str | None = None
    try:
        if change.files:
            shown = as_shown(change, policy, request.redactor)
            with ports.source.head_tree(shown=shown) as tree:
                briefing = matter.briefing(request, policy, instructions, tree)
                running = RunningReview(ports, request, dispatch, briefing)
                ends = running.surfaces(lambda so_far: join_review(so_far, files, unsent, None))
        ports.agents.check_interrupt()
    except Stop as stop:
        dispatch.record(end_of_stop(stop, dispatch.now()))
        stopped = stop.detail
    ending = join_review(ends, files, unsent, stopped)
    dispatch.record(ReviewEnded(at=dispatch.now(), outcome=ending.outcome, because=ending.because))
    return outcome_document(dispatch.events)


class RunningReview:
    """The state of one review in flight: its calls, and the plans its surfaces made."""

    def __init__(self, ports: Ports, request: ReviewRequest, dispatch: Dispatch, briefing: Briefing) -> None:
        self._ports = ports
        self._briefing = briefing
        self._dispatch = dispatch
        self._change: Change = briefing.change
        self._policy: Policy = briefing.policy
        self._pre_flight_advisor = PreFlightAdvisor(briefing)
        self._loop = ReviewLoop(ports.source, dispatch)
        self._plans: dict[Surface, ReviewPlan] = {}
        self._spoken: dict[Surface, Sequence[SpokenOpinion]] = {}
        self._subject = subject_of(ports, request, briefing, lambda: dispatch.events)

    def surfaces(self, joined: Callable[[Sequence[Ending]], Ending]) -> list[Ending]:
        """Review every surface that applies; a surface that stops ends the review."""
        ends: list[Ending] = []
        for row in self._policy.surfaces:
            not_run = why_not_run(row, joined(ends), guarded=self._policy.guard.holds) if ends else None
            ending = self._surface(row) if not_run is None else self._left_out(row, not_run)
            if ending is None:
                continue
            self._dispatch.record(
                SurfaceEnded(
                    at=self._dispatch.now(), surface=row.surface, outcome=ending.outcome, because=ending.because
                )
            )
            ends.append(ending)
            if ending.outcome is Outcome.STOPPED:
                break
        return ends

    def _left_out(self, row: SurfacePolicy, not_run: NotRun) -> Ending | None:
        """Record that a surface does not run; what it comes to all the same, if it does."""
        at, because, switch = self._dispatch.now(), (not_run.because,), not_run.disabled_by
        self._dispatch.record(
            RoleSkipped(at=at, surface=row.surface, role=Role.EXECUTOR, because=because, disabled_by=switch)
        )
        return not_run.ending

    def _surface(self, row: SurfacePolicy) -> Ending:
        subject = self._subject
        looks = SURFACE_INPUTS[row.surface]
        found = None if looks.structural is None else looks.structural(subject)
        parts = parts_of(self._ports, row, subject, self._briefing.nonce)

        def head(part: Part) -> Version:
            looked = looked_around(self._ports.source, self._briefing, row, part)
            return Version(self._briefing, row, looked, subject)

        if found is None:
            plan = self._pre_flight(row, parts)
            section = opinions_section(self._opinions(row, parts), self._briefing.nonce)
            parts = [replace(part, opinions=section) for part in parts] if section else parts
            ending = join_parts(self._dispatch.together(parts, lambda part: self._loop.review(head(part), plan)))
        else:
            ending = join_parts([self._loop.judge(head(parts[0]), found)])
        if ending.outcome is Outcome.APPROVED:
            self._store(row, parts[0], looks.pages(subject))
        return ending

    def _store(self, row: SurfacePolicy, part: Part, pages: Sequence[Page]) -> None:
        """Store what an approved surface leaves behind, beside the review.

        Only what the advisor approved is knowledge, and stands in the repository's own folder, too.
        """
        if not pages:
            return
        self._ports.agents.check_interrupt()
        judgement = judgement_on(row.surface, self._dispatch.events)
        origin = Origin(self._briefing.run_id, self._change.label, self._change.head_sha, judgement)
        for page in pages:
            text = page_text(page, origin)
            self._ports.artifacts.write(f"wiki/{page.name}", text)
            missing = origin.refused or self._ports.wiki.store(page.name, text) or ""
            self._dispatch.record_step(
                KnowledgeStored,
                row,
                part,
                title=page.entry.title,
                name=page.name,
                not_in_repository=missing,
                proposal=bool(origin.refused),
            )

    def _pre_flight(self, row: SurfacePolicy, parts: Sequence[Part]) -> ReviewPlan | None:
        """A plan if the trigger fires; a lost or refused one is simply no plan."""
        if SURFACE_DEFAULTS[row.surface].pre_flight is PreFlightRule.REUSE:
            return self._plans.get(Surface.PR_REVIEW)
        if not row.roles[Role.PRE_FLIGHT].runs:
            self._dispatch.record_skipped(Role.PRE_FLIGHT, row, parts[0])
            return None
        call = self._pre_flight_advisor.call(row, parts[0] if len(parts) == 1 else None)
        asked = self._dispatch.ask(call, ReviewPlan)
        plan = asked.answer
        if not isinstance(plan, ReviewPlan):
            return None
        self._plans[row.surface] = plan
        self._dispatch.record_step(Planned, row, parts[0], number=asked.number, plan=plan)
        name = "preflight.json" if row.surface is Surface.PR_REVIEW else f"preflight.{row.surface.value}.json"
        self._ports.artifacts.write(name, plan.model_dump_json(indent=2) + "\n")
        return plan

    def _opinions(self, row: SurfacePolicy, parts: Sequence[Part]) -> Sequence[SpokenOpinion]:
        """What the declared advisors say before the executor begins, where there is a plan to be made."""
        if SURFACE_DEFAULTS[row.surface].pre_flight is PreFlightRule.REUSE:
            return self._spoken.get(Surface.PR_REVIEW, ())
        if row.roles[Role.PRE_FLIGHT].runs:
            opinions = self._dispatch.together(self._policy.roster.opening, partial(self._opinion, row, parts))
            self._spoken[row.surface] = tuple(each for each in opinions if each is not None)
        return self._spoken.get(row.surface, ())

    def _opinion(self, row: SurfacePolicy, parts: Sequence[Part], advisor: Advisor) -> SpokenOpinion | None:
        """One advisor's opinion; a lost or refused one is simply none."""
        opening = OpeningAdvisor(self._briefing, advisor)
        asked = self._dispatch.ask(opening.call(row, parts[0] if len(parts) == 1 else None), opening.form)
        if not isinstance(asked.answer, Opinion):
            return None
        spoken = opening.spoken(asked.answer)
        self._dispatch.record_step(
            Opined,
            row,
            parts[0],
            number=asked.number,
            advisor=spoken.advisor,
            opinion=spoken.opinion,
            instances=spoken.instances,
            own=spoken.own,
            missing=spoken.missing,
        )
        return spoken
