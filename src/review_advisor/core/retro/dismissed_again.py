"""Rules for the team's own file, learnt from findings that people dismissed again and again. No model is asked."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import PurePosixPath

from review_advisor.core.answers.answers import Severity
from review_advisor.core.observation.labels import ObservedLabel, of_findings, proved_right, was_reverted
from review_advisor.core.observation.memory_uses import ReviewedRun
from review_advisor.core.retro.proposals import REQUIRED_TARGETS, ImprovementProposal, ImprovementProposals, unchanged
from review_advisor.core.retro.proposed_edit import append_to

OBSERVATIONS = "observations"
"""What such proposals name as their run."""
FEWEST_PULL_REQUESTS = 3
FEWEST_PEOPLE = 2
MOST_RULES = 10
MILD: frozenset[Severity] = frozenset(("medium", "low"))
"""Only findings of these severities can be asked for less. What is critical or high never is."""
_CATEGORY = re.compile(r"(?!.{41})(?!.*security)[a-z][a-z0-9]*(?:[ _/-][a-z0-9]+)?", re.ASCII)
_PLAIN_PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/-]{0,199}", re.ASCII)
"""Categories and paths are words of others: only names get into a rule, and nothing about security."""
_DISMISSED_BY = re.compile(r"@([A-Za-z0-9](?:[A-Za-z0-9-]{0,38})):", re.ASCII)
"""No ``[bot]``: it is nobody."""


@dataclass(frozen=True, slots=True)
class DismissedAgain:
    """A kind of mild finding that people dismissed in several pull requests, and nobody ever confirmed."""

    repository: str
    category: str
    glob: str
    pull_requests: tuple[int, ...]
    people: tuple[str, ...]
    dismissals: int

    @property
    def rule(self) -> str:
        """The sentence for the team's rules."""
        return (
            f"- In `{self.glob}`, raise no finding of the category `{self.category}` that is medium or low: people"
            " dismissed them again and again. What is critical or high is raised as ever."
        )

    @property
    def id(self) -> str:
        """The same for the same kind of finding."""
        told = repr((self.repository, self.category, self.glob))
        return f"rule-{hashlib.sha256(told.encode()).hexdigest()[:12]}"


@dataclass(frozen=True, slots=True)
class _Fate:
    """One finding of a pull request: whether people proved it right, and who dismissed it."""

    repository: str
    pull_request: int
    path: str
    category: str
    severity: Severity
    right: bool | None
    by: str


def dismissed_again(runs: Iterable[ReviewedRun]) -> tuple[DismissedAgain, ...]:
    """The kinds of findings that people dismissed in 3 pull requests or more, 2 people or more, none ever confirmed.

    A kind is a category in a file, or else in the narrowest folder that has so many, which is neither the whole
    repository nor a top folder. The labels are those of ``observe``: only people who may dismiss are in them, and the
    author of a pull request is not.
    """
    kinds: defaultdict[tuple[str, str], list[_Fate]] = defaultdict(list)
    for fate in _fates(runs):
        kinds[fate.repository, fate.category].append(fate)
    found = [each for _, fates in sorted(kinds.items(), key=itemgetter(0)) for each in _narrowest(fates)]
    return tuple(sorted(found, key=lambda each: (-len(each.pull_requests), each.repository, each.glob)))[:MOST_RULES]


def learnt_proposals(found: Iterable[DismissedAgain]) -> ImprovementProposals:
    """The same as improvement proposals, all for the rules of the team."""
    learnt = tuple(map(_proposal, found))
    kinds = "one kind" if len(learnt) == 1 else f"{len(learnt)} kinds" if learnt else "no kind"
    summary = f"People dismissed {kinds} of mild finding again and again. No model is asked."
    others = (
        unchanged(each, "Dismissals tell nothing about it.", "No dismissal names it.") for each in REQUIRED_TARGETS
    )
    return ImprovementProposals(OBSERVATIONS, summary, (*others, *learnt))


def _proposal(each: DismissedAgain) -> ImprovementProposal:
    pulls = ", ".join(f"{each.repository}#{number}" for number in each.pull_requests[:20])
    return ImprovementProposal(
        id=each.id,
        target="review_rules",
        title=f"No mild {each.category} findings in {each.glob}",
        rationale=f"{each.dismissals} findings were dismissed by {len(each.people)} people, and none was confirmed.",
        evidence=f"Dismissed in {pulls}, by {', '.join(f'@{name}' for name in each.people)}.",
        proposed_change=append_to("REVIEW.md", each.rule),
        validation_plan="Evaluate the rule on golden cases before it holds, and count what is dismissed after it.",
        requires_human_approval=True,
        status="proposed",
    )


def _fates(runs: Iterable[ReviewedRun]) -> Iterator[_Fate]:
    """Every finding of each pull request once, as its gravest severity."""
    newest: dict[tuple[str, int], tuple[ObservedLabel, ...]] = {}
    findings: defaultdict[tuple[str, int], dict[str, _Fate]] = defaultdict(dict)
    ordered = sorted(runs, key=lambda run: (run[0].started_at, run[0].run_id))
    for document, labels in ordered:
        if document.repository is None or document.pull_request is None:
            continue
        about = document.repository.casefold(), document.pull_request
        newest[about] = tuple(labels) or newest.get(about, ())
        for each in document.findings:
            before = findings[about].get(each.id)
            mild = each.severity in MILD and (before is None or before.severity in MILD)
            severity = each.severity if mild else "high"
            findings[about][each.id] = _Fate(*about, each.path, each.category.strip().casefold(), severity, None, "")
    for about, labels in newest.items():
        known, dismissers, reverted = of_findings(labels), _dismissers(labels), was_reverted(labels)
        for finding, fate in findings[about].items():
            right = proved_right(known.get(finding, {}), reverted=reverted)
            yield replace(fate, right=right, by=dismissers.get(finding, "") if right is False else "")


def _dismissers(labels: Iterable[ObservedLabel]) -> dict[str, str]:
    """The first who dismissed each finding; empty where that is nobody by name."""
    dismissers: dict[str, str] = {}
    for each in labels:
        if (each.name, each.value) == ("dismissal", "dismissed"):
            named = _DISMISSED_BY.match(each.source)
            dismissers.setdefault(each.finding, named[1].casefold() if named else "")
    return dismissers


def _narrowest(fates: list[_Fate]) -> Iterator[DismissedAgain]:
    """Of one category in one repository: the files that are enough for themselves, then folders without them."""
    rest = [each for each in fates if _PLAIN_PATH.fullmatch(each.path) and _CATEGORY.fullmatch(each.category)]
    depth = max((len(PurePosixPath(each.path).parts) for each in rest), default=0)
    for parts in range(depth, 0, -1):
        proved = {_place(each.path, parts) for each in fates if each.right}
        inside: defaultdict[str, list[_Fate]] = defaultdict(list)
        for each in rest:
            inside[_place(each.path, parts)].append(each)
        found = {place: _again(inside[place], place) for place in sorted(inside.keys() - proved - {""})}
        yield from (again for again in found.values() if again is not None)
        rest = [each for place, some in inside.items() if found.get(place) is None for each in some]


def _place(path: str, parts: int) -> str:
    """The glob of the file, or of the folder, that the first ``parts`` of a path name.

    It is empty for a shorter path, and for a top folder: that is nearly everything.
    """
    steps = PurePosixPath(path).parts
    if len(steps) < parts or (parts == 1 and len(steps) > 1):
        return ""
    return "/" + "/".join(steps[:parts]) + ("" if len(steps) == parts else "/**")


def _again(inside: list[_Fate], glob: str) -> DismissedAgain | None:
    """None where it is too few."""
    dismissed = [each for each in inside if each.by and each.severity in MILD]
    pulls = tuple(sorted({each.pull_request for each in dismissed}))
    people = tuple(sorted({each.by for each in dismissed}))
    if len(pulls) < FEWEST_PULL_REQUESTS or len(people) < FEWEST_PEOPLE:
        return None
    first = inside[0]
    return DismissedAgain(first.repository, first.category, glob, pulls, people, len(dismissed))
