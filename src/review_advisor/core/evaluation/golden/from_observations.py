"""Golden cases from what people decided on a repository's own pull requests, and from what was reverted there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from review_advisor.core.answers.findings import Finding
from review_advisor.core.evaluation.golden.case_file import CASE_ID
from review_advisor.core.evaluation.golden.golden_case import CommitsChange, GoldenCase, GoldenLabel
from review_advisor.core.facts.change import OBJECT_NAME
from review_advisor.core.observation.labels import (
    ObservedLabel,
    of_findings,
    of_pull_request,
    proved_right,
    was_reverted,
)
from review_advisor.core.observation.memory_uses import ReviewedRun
from review_advisor.core.outcome.document import OutcomeDocument


@dataclass(frozen=True, slots=True)
class ObservedCases:
    """The cases, and how many findings there were of each kind; a finding of several pushes counts once.

    ``confirmed``: somebody who may write agreed to it. ``reverted``: it was raised on a pull request that was
    reverted. ``dismissed``: people took it back, or disagreed with it. ``unlabelled``: nobody said anything.
    ``overridden`` are pull requests that people approved although the bot had called them, which proves no single
    finding wrong. ``without_commits`` are reviews that name no commits.
    """

    cases: tuple[GoldenCase, ...]
    confirmed: int
    reverted: int
    dismissed: int
    unlabelled: int
    overridden: int
    without_commits: int

    @property
    def findings(self) -> int:
        """All of them."""
        return self.confirmed + self.reverted + self.dismissed + self.unlabelled


@dataclass(slots=True)
class _Pull:
    """The reviews of one pull request, the newest first, and what is known of it."""

    reviews: list[OutcomeDocument] = field(default_factory=list)
    labels: Sequence[ObservedLabel] = ()


def cases_from(runs: Iterable[ReviewedRun]) -> ObservedCases:
    """A case for each pull request of which people said something, at the newest head that has such a finding.

    The labels are those of ``observe``: the author of a pull request has no say against a finding. Lines that changed
    and threads that were closed prove nothing, and silence makes no case clean: no case is exhaustive.
    """
    pulls: dict[tuple[str, int], _Pull] = {}
    without_commits = 0
    for document, labels in runs:
        if document.repository is None or document.pull_request is None:
            continue
        if not (_is_commit(document.base_sha) and _is_commit(document.head_sha)):
            without_commits += 1
            continue
        pull = pulls.setdefault((document.repository.casefold(), document.pull_request), _Pull())
        pull.reviews.append(document)
        pull.labels = labels or pull.labels
    for pull in pulls.values():
        pull.reviews.sort(key=lambda document: document.started_at, reverse=True)
    counts = {"confirmed": 0, "reverted": 0, "dismissed": 0, "unlabelled": 0}
    for pull in pulls.values():
        for finding in {each.id for document in pull.reviews for each in document.findings}:
            counts[_proof(finding, pull.labels)] += 1
    cases = [case for pull in pulls.values() if (case := _case(pull)) is not None]
    return ObservedCases(
        tuple(sorted(cases, key=lambda case: case.id)),
        **counts,
        overridden=sum(of_pull_request(pull.labels, "escalation") == "approved" for pull in pulls.values()),
        without_commits=without_commits,
    )


def _is_commit(name: str | None) -> bool:
    return name is not None and re.fullmatch(OBJECT_NAME, name) is not None


def _proof(finding: str, labels: Sequence[ObservedLabel]) -> str:
    """What is known of a finding: a revert outweighs every opinion, as in the KPIs."""
    if was_reverted(labels):
        return "reverted"
    right = proved_right(of_findings(labels).get(finding, {}), reverted=False)
    return "unlabelled" if right is None else "confirmed" if right else "dismissed"


def _case(pull: _Pull) -> GoldenCase | None:
    for document in pull.reviews:
        proofs = {each.id: _proof(each.id, pull.labels) for each in document.findings}
        labels = tuple(_label(each) for each in document.findings if proofs[each.id] in {"confirmed", "reverted"})
        refuted = tuple(_label(each) for each in document.findings if proofs[each.id] == "dismissed")
        if labels or refuted:
            return GoldenCase(
                id=_case_id(document.repository or "", document.pull_request or 0),
                group=f"{document.repository}#{document.pull_request}",
                kind="faulty",
                title=" ".join(document.title.split())[:1_000],
                change=CommitsChange(document.repository or "", document.base_sha or "", document.head_sha or ""),
                labels=labels,
                refuted=refuted,
            )
    return None


def _case_id(repository: str, number: int) -> str:
    """The repository and the number. A name that is no name of a case becomes one that no other repository gets."""
    name = f"{repository}/{number}"
    if re.fullmatch(CASE_ID, name):
        return name
    plain = re.sub(r"[^A-Za-z0-9]+", "-", repository).strip("-")[:80] or "pull"
    return f"{plain}-{sha256(repository.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}/{number}"


def _label(finding: Finding) -> GoldenLabel:
    """A finding as a label; one about removed lines has no place on the new side."""
    lines = (0, 0) if finding.removed else (finding.line, finding.end_line)
    return GoldenLabel(f"{finding.title}\n{finding.words}", finding.path, *lines, finding.severity, finding.category)
