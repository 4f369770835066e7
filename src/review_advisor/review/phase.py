"""The review, start to end, as ADR-0059 tells it. It sequences; every decision is a function of the core.

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
from dataclasses import dataclass, field, replace
from functools import cache, partial

from review_advisor.core.answers.answers import ReviewPlan
from review_advisor.core.answers.evidence import ShownChange
from review_advisor.core.facts.change import Change
from review_advisor.core.facts.guidelines import FoundGuidelines, found_guidelines, looked_for
from review_advisor.core.facts.shards import must_be_read, shards, unsent_of
from review_advisor.core.facts.tool_remarks import ToolRemark
from review_advisor.core.forge_text.wiki_page import Origin, page_text
from review_advisor.core.outcome.coverage import file_facts
from review_advisor.core.outcome.document import OutcomeDocument, outcome_document
from review_advisor.core.outcome.ends import (
    Ending,
    NotRun,
    end_of_stop,
    join_parts,
    join_review,
    why_not_run,
)
from review_advisor.core.outcome.events import (
    KnowledgeStored,
    Planned,
    PolicyFrozen,
    ReviewEnded,
    RoleSkipped,
    SurfaceEnded,
)
from review_advisor.core.outcome.learned import judgement_on, knowledge_of
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.policy.policy import Policy, RepairMode, Rules, SurfacePolicy, decide_policy, left_unread
from review_advisor.core.policy.reading_order import most_dangerous_first
from review_advisor.core.policy.scope import review_scope
from review_advisor.core.policy.static_review import unchecked_files
from review_advisor.core.policy.surfaces import SURFACE_DEFAULTS, PreFlightRule, Role, Surface
from review_advisor.core.policy.switches import Switches
from review_advisor.core.roles.advisors import Briefing, Part, PreFlightAdvisor
from review_advisor.core.roles.calls import ConsultRecord, Stop
from review_advisor.core.roles.instructions import Instructions
from review_advisor.core.roles.knowledge import Page, Proposal, propose
from review_advisor.core.roles.prompts import cuts
from review_advisor.core.roles.surface_inputs import SURFACE_INPUTS, Subject
from review_advisor.core.roles.team_rules import rules_cut
from review_advisor.core.safety.fence import clean
from review_advisor.core.safety.redaction import Redactor
from review_advisor.core.safety.shown_change import hunks_with_secrets
from review_advisor.ports.review import Ports, Source
from review_advisor.review.dispatch import Dispatch
from review_advisor.review.loop import ReviewLoop
from review_advisor.review.repair_session import Version


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """What one review is asked under. ``nonce`` is fresh random text that no change can know.

    ``redactor`` knows the harness's own secrets. ``earlier_consults`` were paid for by earlier runs of the same review:
    they count towards its cap. ``tool_remarks`` are what other tools found: reviewers do not say it again.
    """

    run_id: str
    nonce: str
    rules: Rules
    switches: Switches
    redactor: Redactor = field(default_factory=Redactor)
    repair: RepairMode = "suggest"
    earlier_consults: tuple[ConsultRecord, ...] = ()
    tool_remarks: tuple[ToolRemark, ...] = ()


class ReviewPhase:
    """The last line of defence. It keeps nothing between reviews: one review is one call."""

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
        whole = replace(self._ports.source.change(), tool_remarks=request.tool_remarks)
        request = replace(request, redactor=request.redactor.knowing(whole.files))
        excluded = left_unread(whole, request.rules, self._ports.source.head_text, hunks_with_secrets)
        change = excluded.applied_to(whole)
        parts, unsent = shards(change, request.rules.shard_tokens)
        if len(parts) > 1:
            change = most_dangerous_first(change, request.rules)
            parts, unsent = shards(change, request.rules.shard_tokens)
        pictures = self._ports.pictures.differences(change, self._ports.agents.check_interrupt) if change.files else ()
        policy = decide_policy(
            change,
            request.rules,
            request.switches,
            len(parts),
            pictures=pictures,
            repair=request.repair,
            excluded=excluded,
        )
        scope = review_scope(change, policy, len(parts))
        unsent = excluded.unsent + unsent + must_be_read(change, (*policy.critical_touched, *policy.guard.paths))
        guidelines = self._guidelines(change, request.rules)
        if policy.static is not None:
            languages, waived = request.rules.static_languages, request.rules.allow_unchecked
            unchecked = unchecked_files(change, pictures, languages, waived=waived)
            unsent += tuple(gap for gap in unchecked if not excluded.covers(gap.path))
        jobs = min(self._jobs, len(parts))
        dispatch = Dispatch(
            self._ports,
            policy.budgets,
            jobs,
            request.redactor,
            prompts=self._instructions.version,
            threads=self._threads,
            earlier_consults=request.earlier_consults,
            busy_tries=policy.outage.busy_tries,
        )
        files = file_facts(change, parts, scope)
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
                cut=(*cuts(whole), *rules_cut(guidelines, parts)),
                shards=len(parts),
                policy=policy,
                pictures=pictures,
                scope=scope,
                repository=change.repository,
                server=change.server,
                pull_request=change.pull_request,
                base_ref=change.base_ref,
                rules_ref=change.rules_ref,
                rules_sha=change.rules_sha,
                guidelines=guidelines.facts,
            )
        )
        ends: list[Ending] = []
        stopped: str | None = None
        try:
            if change.files:
                with self._ports.source.head_tree() as tree:
                    briefing = Briefing(
                        request.run_id,
                        request.nonce,
                        change,
                        policy,
                        self._instructions,
                        tree,
                        pictures=pictures,
                        scope=scope,
                        guidelines=guidelines,
                    )
                    running = _RunningReview(self._ports, request, dispatch, briefing)
                    ends = running.surfaces(lambda so_far: join_review(so_far, files, unsent, None))
            self._ports.agents.check_interrupt()
        except Stop as stop:
            dispatch.record(end_of_stop(stop, dispatch.now()))
            stopped = stop.detail
        ending = join_review(ends, files, unsent, stopped)
        dispatch.record(ReviewEnded(at=dispatch.now(), outcome=ending.outcome, because=ending.because))
        return outcome_document(dispatch.events)

    def _guidelines(self, change: Change, rules: Rules) -> FoundGuidelines:
        """The team's own rules for the files of the change, read where the configuration comes from."""
        paths = [file.path for file in change.files]
        texts = self._ports.source.base_texts(looked_for(rules.guidelines, paths)) if paths else {}
        return found_guidelines(rules.guidelines, paths, texts, rules.config_path)


class _RunningReview:
    """The state of one review in flight: its calls, and the plans its surfaces made."""

    def __init__(self, ports: Ports, request: ReviewRequest, dispatch: Dispatch, briefing: Briefing) -> None:
        self._ports = ports
        self._briefing = briefing
        self._rules = request.rules
        self._redactor = request.redactor
        self._dispatch = dispatch
        self._change: Change = briefing.change
        self._policy: Policy = briefing.policy
        self._pre_flight_advisor = PreFlightAdvisor(briefing)
        self._whole = ShownChange(
            self._change.files,
            redactor=self._redactor,
            head_text=ports.source.head_text,
            touched=self._change.earlier.touched if self._change.earlier is not None else None,
        )
        self._loop = ReviewLoop(ports.source, dispatch)
        self._plans: dict[Surface, ReviewPlan] = {}
        self._subject = Subject(
            change=self._change,
            rules=self._rules,
            whole=self._whole,
            redactor=self._redactor,
            head_text=ports.source.head_text,
            pictures=briefing.pictures,
            proposal=cache(partial(_proposal, ports.source, self._rules, dispatch)),
        )

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
        found = looks.structural(subject)
        parts = self._parts(row, subject)

        def head(part: Part) -> Version:
            return Version(self._briefing, row, part, subject)

        if found is None:
            plan = self._pre_flight(row, parts)
            ending = join_parts(self._dispatch.together(parts, lambda part: self._loop.review(head(part), plan)))
        else:
            ending = join_parts([self._loop.judge(head(parts[0]), found)])
        if ending.outcome is Outcome.APPROVED:
            self._store(row, parts[0], looks.pages(subject))
        return ending

    def _parts(self, row: SurfacePolicy, subject: Subject) -> list[Part]:
        looks = SURFACE_INPUTS[row.surface]
        cut, unsent = shards(looks.narrow(subject), self._rules.shard_tokens)
        return [
            Part(
                shard,
                len(cut),
                unsent_of(shard, unsent),
                about=looks.about,
                section=looks.section(subject, self._briefing.nonce),
                gallery=self._ports.pictures.gallery if looks.reads == "gallery" else None,
                unread=looks.unread(subject.pictures),
            )
            for shard in cut
        ]

    def _store(self, row: SurfacePolicy, part: Part, pages: Sequence[Page]) -> None:
        """Store what an approved surface leaves behind, beside the review and in the repository's own folder."""
        if not pages:
            return
        self._ports.agents.check_interrupt()
        judgement = judgement_on(row.surface, self._dispatch.events)
        origin = Origin(self._briefing.run_id, self._change.label, self._change.head_sha, judgement)
        for page in pages:
            text = page_text(page, origin)
            self._ports.artifacts.write(f"wiki/{page.name}", text)
            missing = self._ports.wiki.store(page.name, text) or ""
            title = page.entry.title
            self._dispatch.record_step(
                KnowledgeStored, row, part, title=title, name=page.name, not_in_repository=missing
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


def _proposal(source: Source, rules: Rules, dispatch: Dispatch) -> Proposal:
    """What the review has learned when somebody first asks for it: wiki_ingest, which runs last."""
    return propose(knowledge_of(dispatch.events), source.base_names(rules.wiki_folder or ""))
