"""Parts of a review that run in shadow."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Annotated, Literal, assert_never

from pydantic import Field

from review_advisor.agents.answers import GRAVE, Consult, Guidance, Recommendation, ReviewPlan, ReviewReport
from review_advisor.agents.calls import AuthenticationFailedError, CliError, CreditExhaustedError, ModelError
from review_advisor.agents.evidence import CheckedReport
from review_advisor.agents.findings import Finding
from review_advisor.agents.mid_flight import consult_prompt
from review_advisor.agents.prompts import ADVISOR, Instructions, without_frontmatter
from review_advisor.agents.roles import Briefing, Executor, Part, consult_call
from review_advisor.agents.surface_inputs import Subject
from review_advisor.change.change import SourceError
from review_advisor.change.guidelines import BaseText
from review_advisor.change.kinds import DECLARED
from review_advisor.policy.budgets import Refused, most_at_a_time
from review_advisor.policy.escalation_rules import NO_ESCALATION
from review_advisor.policy.outage_rules import NO_SECOND_TRY
from review_advisor.policy.policy import Policy, RoleDecision, SurfacePolicy
from review_advisor.policy.roster import Roster
from review_advisor.policy.shadow_rules import SPEAKERS, Shadow, ShadowPart, ShadowRule
from review_advisor.policy.surfaces import REVIEW_SURFACES, SURFACE_DEFAULTS, PreFlightRule, Role, Surface
from review_advisor.review.agreement import is_same
from review_advisor.review.council import PartJudges
from review_advisor.review.dispatch import Dispatch
from review_advisor.review.document import OutcomeDocument, PartRecord, unanswered
from review_advisor.review.ends import Ending, join_review, missing_words
from review_advisor.review.escalation import consult_grant
from review_advisor.review.events import CallEnded, Consulted, Event, Happened, ReviewStopped
from review_advisor.review.matter import Matter, ReviewRequest, as_shown, looked_around, matter_of, parts_of, subject_of
from review_advisor.review.phase import RunningReview, reviewed
from review_advisor.review.ports import Ports
from review_advisor.review.repair_session import Version
from review_advisor.review.rulings import EXIT_CODES, Move, Outcome, Ruling, rule_panel, worst
from review_advisor.review.votes import MemberAnswer
from review_advisor.safety.fence import clean
from review_advisor.safety.stated_values import nearest_of
from review_advisor.safety.stop import ReviewInterrupted, Stop

_NO_CONSULTS = RoleDecision(False, ("a shadow consults nobody",))


_NO_REPAIR = RoleDecision(False, ("a shadow repairs nothing",))


@dataclass(frozen=True, slots=True)
class ShadowQuestion:
    """One part of a surface as it stood when the executor had first reported on it: the head, and no veto before.

    ``real_objects`` is what was decided there, as in ``ShadowDecided``.
    """

    surface: Surface
    shard: int
    plan: ReviewPlan | None
    report: CheckedReport
    real_objects: bool


@dataclass(frozen=True, slots=True)
class AdviceQuestion:
    """One consult that the review itself asked for and that was answered: its packet, and the real advice."""

    surface: Surface
    shard: int
    attempt: int
    packet: str
    real: Guidance


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A surface that the review left out, and that a shadow runs."""

    surface: Surface


@dataclass(frozen=True, slots=True)
class OnceMore:
    """The whole review, as the shadow's configuration runs it."""


Asked = ShadowQuestion | AdviceQuestion | LeftOut | OnceMore


def shadow_questions(document: OutcomeDocument, policy: Policy, shadow: Shadow) -> tuple[Asked, ...]:
    """What a shadow is asked about this review; nothing of one that was stopped, or that no model made.

    ``policy`` is the one of a review under the rules and switches of the shadow.
    """
    if document.outcome is Outcome.STOPPED or document.policy.static is not None:
        return ()
    if shadow.rule.part == "review":
        return (OnceMore(),) if document.surfaces else ()
    if shadow.rule.part == "consulted":
        return advice_questions(document.events, shadow.rule.surfaces or Surface)
    if shadow.rule.part == "surface":
        ran = {row.surface for row in document.policy.surfaces if not row.left_out_by}
        applying = (row.surface for row in policy.surfaces)
        return tuple(LeftOut(each) for each in applying if each in shadow.rule.surfaces and each not in ran)
    plans = {each.surface: each.plan for each in document.surfaces}
    asked = []
    for record in document.surfaces:
        reused = SURFACE_DEFAULTS[record.surface].pre_flight is PreFlightRule.REUSE
        plan = plans.get(Surface.PR_REVIEW) if reused else record.plan
        if shadow.rule.surfaces and record.surface not in shadow.rule.surfaces:
            continue
        for part in record.parts:
            objects = _real_objects(part, shadow)
            if objects is not None:
                asked.append(ShadowQuestion(record.surface, part.shard, plan, part.reports[0], objects))
    return tuple(asked)


def advice_questions(events: Iterable[Event], surfaces: Iterable[Surface]) -> tuple[AdviceQuestion, ...]:
    """The consults of a review on these surfaces, in order. An executor's own consults belong to its call."""
    wanted = set(surfaces)
    return tuple(
        AdviceQuestion(each.surface, each.shard, each.attempt, _packet(each.note.consult), each.note.guidance)
        for each in events
        if isinstance(each, Consulted) and each.asked_by == "harness" and each.surface in wanted
        if each.note.status == "answered" and each.note.guidance is not None
    )


def _packet(consult: Consult) -> str:
    """The question as JSON, in the words and the order in which it was put to the real advisor."""
    told = consult.model_dump(mode="json")
    return json.dumps({key: told[key] for key in ("question", "context", "answers", "urgency")}, ensure_ascii=False)


def _real_objects(part: PartRecord, shadow: Shadow) -> bool | None:
    """What the review decided on the first report of a part; None where the shadow has nothing to stand beside."""
    if not part.reports:
        return None
    if shadow.rule.part == "executor":
        return part.reports[0].verdict == "reject"
    if not part.rulings:
        return None
    judged = next((each.result.verdict for each in part.post_verify if each.number == 0), None)
    return objects(part.rulings[0], judged)


def objects(ruling: Ruling, verdict: Literal["APPROVE", "VETO"] | None) -> bool:
    """Whether a judgement does not accept the executor's verdict: it vetoes, if only as advice, or calls a person."""
    return verdict == "VETO" or ruling.move is not Move.ACCEPT


def with_surface(document: OutcomeDocument, ending: Ending) -> bool:
    """Whether the review together with a further surface does not approve: the worst outcome counts."""
    return worst((document.outcome, ending.outcome)) is not Outcome.APPROVED


def is_unanswered(calls: Iterable[CallEnded]) -> bool:
    """Whether an answer that a verdict needs did not come. What was asked once more, and came then, did come.

    A review goes on without a plan, and without an answer to a consult, and so does its shadow.
    """
    return any(each.role not in (Role.PRE_FLIGHT, Role.MID_FLIGHT) for each in unanswered(calls))


def is_cut_by_cap(call: CallEnded) -> bool:
    """Whether a cap of the shadow's own took the answer of a call."""
    return call.ended in ("refused", "cut_short")


def cut_by_cap(members: Sequence[MemberAnswer]) -> bool:
    """Whether the shadow's own cap cost a vote, so that nobody can tell what its panel would have decided."""
    return any(isinstance(each.answer, Refused) for each in members)


@dataclass(frozen=True, slots=True)
class Left:
    """What the review leaves for its shadows: money of its pull request, and time until the ceiling of a review."""

    usd: float
    seconds: float

    def usd_for(self, rule: ShadowRule) -> float:
        """What this shadow may spend: its own cap, and no more than is left."""
        return max(0.0, min(rule.max_usd, self.usd))


def shadow_policy(policy: Policy, shadow: Shadow, left: Left) -> Policy:
    """The review's policy with the shadow's judges, models, effort and money. It repairs nothing.

    A surface is judged by whoever judges the review. Inline members only advise, and nobody reads that in a shadow. Of
    a whole review ``policy`` is its own: it consults, repairs and outlasts outages as a review does, so that nothing
    else differs.
    """
    rule = shadow.rule
    judging = tuple(each for each in policy.roster.advisors if not each.inline)
    surfaces = tuple(row for row in policy.surfaces if rule.part != "surface" or row.surface in rule.surfaces)
    budgets = replace(
        policy.budgets,
        max_usd=left.usd_for(rule),
        review_seconds=max(0.0, min(policy.budgets.review_seconds, left.seconds)),
    )
    effort = policy.effort
    if rule.effort:
        effort = {**effort, **{role: {policy.blast.radius: rule.effort} for role in SPEAKERS[rule.part]}}
    if rule.part == "review":
        return replace(policy, budgets=budgets, roster=Roster(judging), effort=effort)
    if rule.part == "consulted":
        rows = tuple(replace(row, advisor_model=rule.model or row.advisor_model) for row in policy.surfaces)
        return replace(policy, surfaces=rows, budgets=budgets, effort=effort, outage=NO_SECOND_TRY)
    return replace(
        policy,
        surfaces=tuple(_row(row, shadow) for row in surfaces),
        budgets=replace(budgets, max_consults=0),
        roster=Roster(judging if rule.part == "surface" else shadow.panel),
        effort=effort,
        outage=NO_SECOND_TRY,
        escalation=NO_ESCALATION,
        repair=_NO_REPAIR,
        wants_knowledge=False,
        consult_requested=False,
    )


def _row(row: SurfacePolicy, shadow: Shadow) -> SurfacePolicy:
    rule = shadow.rule
    executor = rule.model if rule.part == "executor" and rule.model else row.executor_model
    advisor = rule.model if rule.part == "judge" and rule.model else row.advisor_model
    roles = {**row.roles, Role.MID_FLIGHT: _NO_CONSULTS}
    return replace(row, roles=roles, executor_model=executor, advisor_model=advisor)


def only_in(one: Iterable[Finding], other: Sequence[Finding]) -> tuple[Finding, ...]:
    """The critical and high findings of ``one`` that the ``other`` one does not have."""
    grave = (each for each in one if each.severity in GRAVE)
    return tuple(each for each in grave if not any(is_same(each, its) for its in other))


def concluded(document: OutcomeDocument) -> Outcome:
    """What a review concludes, as its exit code says: an approval can call a person, too."""
    return Outcome.ESCALATED if document.exit_code == EXIT_CODES[Outcome.ESCALATED] else document.outcome


def changes_of(guidance: Guidance) -> tuple[str, ...]:
    """What an advice changes in the report, in one form each: wording, order and what is kept do not count."""
    told = {
        " ".join(filter(None, (each.does, each.finding, each.severity, each.verdict)))
        for each in guidance.changes
        if each.does != "keep"
    }
    return tuple(sorted(told))


ShadowStatus = Literal["finished", "capped", "stopped"]
"""How it ended: with every question, at its own cap of calls, money or time, or by a failure or an interrupt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowBegan(Happened):
    """The first event. ``of_run`` is the review whose outcome was decided before. ``setup`` says who runs, in words.

    ``because`` says why it is due. ``max_calls`` and ``max_usd`` are its own caps.
    """

    kind: Literal["shadow_began"] = "shadow_began"
    run_id: str
    shadow: str
    part: ShadowPart
    setup: str
    of_run: str
    because: str
    repository: str | None = None
    pull_request: int | None = None
    head_sha: str | None = None
    max_calls: int = 0
    max_usd: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowCalled(Happened):
    """One of its calls is over, or was refused by its cap."""

    kind: Literal["shadow_called"] = "shadow_called"
    call: CallEnded


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowDecided(Happened):
    """What it would have decided on one part of a surface, beside what was decided there.

    ``verdict`` is the real executor's. ``real_objects`` and ``shadow_objects`` say whether the review, and the shadow,
    do not accept the verdict; of a shadow executor, whether each rejects the change. Of a surface that the review left
    out, they say whether the review, and the review together with it, do not approve; the verdict is then the review's.
    ``shadow_objects`` is None for an answer that did not come. ``missed`` are the ids of the real executor's critical
    and high findings that a shadow executor does not have.
    """

    kind: Literal["shadow_decided"] = "shadow_decided"
    surface: Surface
    shard: int
    verdict: Literal["approve", "reject"]
    real_objects: bool
    shadow_objects: bool | None
    because: str
    missed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowAdvised(Happened):
    """What it advised on one consult of the review, beside the ``real`` advice: what each changes in the report.

    ``real_stops`` and ``stops`` say whether they call a person; ``stops`` is None for an answer that did not come.
    """

    kind: Literal["shadow_advised"] = "shadow_advised"
    surface: Surface
    shard: int
    attempt: int
    real_stops: bool
    stops: bool | None
    real: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowReviewed(Happened):
    """What a whole review in shadow came to, beside the ``real`` one: what each concludes, as its exit code says.

    ``outcome`` is None where an answer that its verdict needs did not come. ``missed`` are the ids of the real review's
    critical and high findings that it does not have, ``besides`` its own that the real one does not have, in words.
    """

    kind: Literal["shadow_reviewed"] = "shadow_reviewed"
    real: Outcome
    outcome: Outcome | None
    because: str
    missed: tuple[str, ...] = ()
    besides: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowEnded(Happened):
    """The last event. Without it the run was killed while its shadow was at work.

    ``last``: what stopped it would stop every other one as well.
    """

    kind: Literal["shadow_ended"] = "shadow_ended"
    status: ShadowStatus
    because: str = ""
    last: bool = False


ShadowSaid = ShadowDecided | ShadowAdvised | ShadowReviewed
"""What it would have decided."""


ShadowEvent = Annotated[
    ShadowBegan | ShadowCalled | ShadowDecided | ShadowAdvised | ShadowReviewed | ShadowEnded,
    Field(discriminator="kind"),
]


INSTRUCTIONS = f"{DECLARED}/instructions"


LONGEST_INSTRUCTIONS = 10_000
"""Characters of one file. The system prompt is an argument of a process, and has three of them."""


_WHOSE: Mapping[ShadowPart, str] = {
    "judge": "a judge",
    "executor": "an executor",
    "consulted": "an advisor on consults",
    "surface": "a surface",
    "review": "a role",
}


def instruction_files(rule: ShadowRule) -> tuple[str, ...]:
    """The paths at which a version of the prompts of this shadow can stand; none where it has those that ship."""
    if not rule.instructions:
        return ()
    roles = SPEAKERS[rule.part]
    advisor = (ADVISOR,) if any(role is not Role.EXECUTOR for role in roles) else ()
    names = (*advisor, *(role.value for role in roles), *(surface.value for surface in REVIEW_SURFACES))
    return tuple(f"{_folder(rule)}{name}.md" for name in names)


def instructions_of(
    rule: ShadowRule, shipped: Instructions, texts: Mapping[str, BaseText]
) -> Instructions | tuple[str, ...]:
    """The instructions of a shadow, by the ``texts`` of its folder; or a sentence on each mistake in them.

    A file takes the place of the one that ships under its name. What of a text cannot be seen is spelled out. A shadow
    without a folder has the ``shipped`` ones.
    """
    if not rule.instructions:
        return shipped
    read = instruction_files(rule)
    problems: list[str] = []
    instead: dict[str, str] = {}
    for path, found in sorted(texts.items()):
        name = path.removeprefix(_folder(rule)).removesuffix(".md")
        if name not in shipped.texts:
            files = (f"{each}.md" for each in shipped.texts)
            problems.append(f"{path}: nobody reads it; {nearest_of(path.removeprefix(_folder(rule)), files)}")
        elif path in read:
            instead[name] = text = clean(found.text.removeprefix("\ufeff").replace("\r\n", "\n"))
            problem = found.problem or _problem(found.text, text)
            problems += [f"{path}: {problem}."] if problem else []
    if not instead:
        problems.append(f"put the words of {_WHOSE[rule.part]} into one of its files: {', '.join(read)}.")
    if problems:
        return tuple(f"shadow.{rule.id}: {each}" for each in problems)
    return replace(shipped, texts={**shipped.texts, **instead})


def _problem(raw: str, text: str) -> str:
    if not without_frontmatter(text):
        return "it is empty"
    too_long = max(len(raw), len(text)) > LONGEST_INSTRUCTIONS
    return f"it is longer than {LONGEST_INSTRUCTIONS:,} characters" if too_long else ""


def _folder(rule: ShadowRule) -> str:
    return f"{INSTRUCTIONS}/{rule.instructions}/"


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
        most = most_at_a_time(matter.parts, panel, opening) if is_whole else panel
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
