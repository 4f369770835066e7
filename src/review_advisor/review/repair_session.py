"""Repairs of a vetoed approval: a throw-away copy to edit, which the harness reads back and takes whole or refuses."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from review_advisor.agents.answers import ReportedFinding, ReviewReport
from review_advisor.agents.committed_secrets import with_own_findings
from review_advisor.agents.evidence import CheckedReport, ShownChange
from review_advisor.agents.findings import Finding, RefusedFinding
from review_advisor.agents.mid_flight import ConsultNote, stop_signal, unanswered_critical
from review_advisor.agents.prompts import with_given_rules
from review_advisor.agents.repair_law import Law, edit_grant, may_repair
from review_advisor.agents.roles import Briefing, EditableTree, Part, team_rules
from review_advisor.agents.surface_inputs import SURFACE_INPUTS, Subject
from review_advisor.agents.transcript import Attempt
from review_advisor.change.change import Change, Edits, RefusedPath, RepairState
from review_advisor.change.shards import shards, unsent_of
from review_advisor.change.source import Source
from review_advisor.policy.policy import Policy, SurfacePolicy, policy_of_repaired
from review_advisor.policy.scope import WHOLE
from review_advisor.review.dispatch import Dispatch
from review_advisor.review.escalation import refused_question, watched
from review_advisor.review.events import Repaired
from review_advisor.review.matter import as_shown, looked_around, secrets_of_change
from review_advisor.review.rulings import Standing, standing


@dataclass(frozen=True, slots=True)
class Version:
    """What the next question and judgement of a part are about: the change as it came, or repaired.

    ``tree`` names its tree; None is the head's own.
    """

    briefing: Briefing
    row: SurfacePolicy
    part: Part
    subject: Subject
    tree: str | None = None

    def check(self, report: ReviewReport, open_disagreements: Collection[str]) -> CheckedReport:
        """The report checked against this version. Lines that only a repair brought teach nothing about the code."""
        checker = SURFACE_INPUTS[self.row.surface].checker(self.subject, self.part.shard.files)
        report, uncited = with_given_rules(report, team_rules(self.briefing, self.row, self.part)[0])
        checked = replace(checker.check(report, open_disagreements), uncited=uncited)
        doubts = SURFACE_INPUTS[self.row.surface].doubts(self.subject, self.part.shard.files)
        checked = replace(checked, findings=(*checked.findings, *doubts))
        if SURFACE_INPUTS[self.row.surface].names_secrets:
            paths = {file.path for file in self.part.shard.files}
            own = [each for each in self.subject.secrets if each.fact.path in paths]
            checked = with_own_findings(checked, own)
        unreadable = tuple(RefusedFinding(each.path, each.title, each.severity, each.why) for each in report.unreadable)
        checked = replace(checked, refused=(*unreadable, *checked.refused)) if unreadable else checked
        return checked if self.tree is None else replace(checked, knowledge=(), dropped=())

    def believed(self, advised: Sequence[ReportedFinding], advisor: str) -> tuple[Finding | RefusedFinding, ...]:
        """The findings of an advisor, held against this version by the rules of the executor's."""
        checker = SURFACE_INPUTS[self.row.surface].checker(self.subject, self.part.shard.files)
        report = ReviewReport.model_construct(verdict="reject", summary="", confidence=0.0, findings=tuple(advised))
        checked = checker.check(report, ())
        refused = (replace(each, raised_by=advisor) for each in checked.refused)
        return (*(replace(each, raised_by=advisor, rule="") for each in checked.findings), *refused)

    def halt(self, consults: tuple[ConsultNote, ...]) -> str | None:
        """Why the consults of a report send it to a human before it is judged; None if they do not."""
        seen, part = self.briefing, self.part
        about = watched(seen.policy, self.row, [path for file in part.shard.files for path in file.paths], part.of)
        paths = (path for file in seen.change.files for path in file.paths)
        return (
            stop_signal(consults)
            or refused_question(about, consults)
            or unanswered_critical(consults, seen.policy.critical_touched, paths)
        )

    def standing(self, report: CheckedReport, attempts: tuple[Attempt, ...]) -> Standing:
        """The facts about this version that a ruling on ``report`` needs."""
        return standing(self.briefing.policy, self.row, report.verdict, attempts)


class RepairSession:
    """The repairs of one part. A context manager: the repaired trees are there until it is left."""

    def __init__(self, source: Source, dispatch: Dispatch, head: Version) -> None:
        self._source = source
        self._dispatch = dispatch
        self._head = head
        self._trees = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._trees.close()

    @contextmanager
    def editable(self, version: Version, attempts: tuple[Attempt, ...]) -> Iterator[EditableTree | None]:
        """A fresh copy of the version's tree to edit, gone afterwards; None where nothing may be repaired."""
        if not may_repair(version.briefing.policy, version.row.surface, attempts):
            yield None
            return
        with self._tree_of(version.subject.change, version.tree) as folder:
            grant = edit_grant(self._head.subject.change, self._head.subject.rules.own_globs)
            yield None if folder is None else EditableTree(folder, grant)

    def read_back(self, version: Version, editable: EditableTree | None, attempt: int) -> Version:
        """The version to judge after an executor's turn: what its edits made, if they were fit to be judged."""
        if editable is None:
            return _with_state(version, ())
        edits = _as_shown(self._source.edits(editable.folder), self._head.briefing.policy)
        if not edits.unfit and edits.tree == (version.tree or self._head.subject.change.tree):
            return _with_state(version, ())
        its_head = self._head.subject
        refused = Law(its_head.change, its_head.rules, its_head.redactor.redact).refusals(edits)
        if refused:
            self._dispatch.record_step(Repaired, version.row, version.part, attempt, result="refused", refused=refused)
            return _with_state(version, refused)
        return self._repaired(edits, attempt)

    def _repaired(self, edits: Edits, attempt: int) -> Version:
        head = self._head
        made = head if edits.tree == head.subject.change.tree else self._with(edits)
        policy = made.briefing.policy
        self._dispatch.record_step(
            Repaired,
            made.row,
            made.part,
            attempt,
            result="withdrawn" if made is head else "accepted",
            patch=edits.patch,
            files=tuple(file.path for file in edits.touched),
            tree=edits.tree,
            blast=policy.blast,
            guard=policy.guard,
        )
        return made

    def _with(self, edits: Edits) -> Version:
        """The head's version with the edits in it: its diff, its tree, and what the policy says about them."""
        head = self._head
        policy = policy_of_repaired(head.briefing.policy, edits.change, head.subject.rules)
        policy = replace(policy, excluded=policy.excluded.besides(_touched(edits)))
        secrets = secrets_of_change(edits.change, head.subject.rules, head.subject.redactor)
        subject = replace(
            head.subject,
            change=edits.change,
            secrets=secrets,
            whole=ShownChange(edits.change.files, redactor=head.subject.redactor, head_text=self._unchanged),
        )
        cut, unsent = shards(SURFACE_INPUTS[head.row.surface].narrow(subject), policy.shard_tokens)
        briefing = replace(
            head.briefing,
            change=edits.change,
            policy=policy,
            tree=self._trees.enter_context(self._tree_of(edits.change, edits.tree)),
            repair=RepairState(edits.patch),
            scope=WHOLE,
            secrets=secrets,
        )
        row = next(row for row in policy.surfaces if row.surface is head.row.surface)
        part = replace(head.part, shard=cut[0], unsent=unsent_of(cut[0], unsent))
        return Version(
            briefing=briefing,
            row=row,
            part=looked_around(self._source, briefing, row, part, edits.tree),
            subject=subject,
            tree=edits.tree,
        )

    def _tree_of(self, change: Change, tree: str | None) -> AbstractContextManager[Path | None]:
        """The tree of a version of the change, with its files as everybody is shown them."""
        head = self._head
        return self._source.head_tree(tree, as_shown(change, head.briefing.policy, head.subject.redactor))

    def _unchanged(self, path: str) -> str | None:
        """The text of a file that the change does not touch. Of one that a repair took back, nothing is the head's."""
        changed = any(file.path == path for file in self._head.subject.change.files)
        return None if changed else self._source.head_text(path)


def _touched(edits: Edits) -> frozenset[str]:
    return frozenset(path for file in edits.touched for path in file.paths)


def _as_shown(edits: Edits, policy: Policy) -> Edits:
    """The edits with the repaired change as reviewers see it. A file that was edited is read whole."""
    return replace(edits, change=policy.excluded.besides(_touched(edits)).applied_to(edits.change))


def _with_state(version: Version, refused: tuple[RefusedPath, ...]) -> Version:
    """The version after a turn of which ``refused`` was not taken."""
    seen = version.briefing
    if seen.repair.refused == refused:
        return version
    return replace(version, briefing=replace(seen, repair=replace(seen.repair, refused=refused)))
