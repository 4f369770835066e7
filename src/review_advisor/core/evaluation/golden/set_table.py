"""A golden set for people and for machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, get_args

from review_advisor.core.answers.answers import SEVERITIES
from review_advisor.core.evaluation.golden.from_observations import ObservedCases
from review_advisor.core.evaluation.golden.golden_case import CaseKind, GoldenSet
from review_advisor.core.report.wording import counted, printable_line, table


def cases_text(known: GoldenSet) -> str:
    """One line for each case, then what the set holds."""
    rows = [("case", "kind", "language", "labels", "title")]
    rows += [
        (case.id, case.kind, printable_line(case.language), str(len(case.labels)), printable_line(case.title))
        for case in known.cases
    ]
    return "".join(f"{line}\n" for line in (table(rows, 160).rstrip("\n"), *_sums(known)))


def check_text(known: GoldenSet) -> str:
    """What the set holds, and what its labels do not say."""
    return "".join(f"{line}\n" for line in (*_sums(known), *_gaps(known)))


def set_as_json(known: GoldenSet) -> dict[str, Any]:
    """The same for machines."""
    return {
        "name": known.name,
        "version": known.version,
        "digest": known.digest,
        "left_out": list(known.left_out),
        "cases": [
            {
                "id": case.id,
                "group": case.group,
                "kind": case.kind,
                "language": case.language,
                "exhaustive": case.exhaustive,
                "change": case.change.kind,
                "title": case.title,
                "labels": len(case.labels),
                "refuted": len(case.refuted),
            }
            for case in known.cases
        ],
    }


def observed_text(found: ObservedCases) -> str:
    """How many findings have a label, from whom, and the share that has none."""
    return "".join(f"{line}\n" for line in _observed(found))


def observed_as_json(found: ObservedCases) -> dict[str, int]:
    """The same for machines."""
    return {
        "cases": len(found.cases),
        "findings": found.findings,
        "confirmed": found.confirmed,
        "reverted": found.reverted,
        "dismissed": found.dismissed,
        "unlabelled": found.unlabelled,
        "overridden": found.overridden,
        "without_commits": found.without_commits,
    }


def _sums(known: GoldenSet) -> Iterator[str]:
    kinds = Counter(case.kind for case in known.cases)
    named = ", ".join(f"{kinds[kind]} {kind}" for kind in get_args(CaseKind))
    version = f", version {printable_line(known.version)}" if known.version else ""
    cases = f"{counted(len(known.cases), 'case')} ({named})"
    yield f"{printable_line(known.name)}{version}: {cases}, digest {known.digest[:16]}"
    groups = len({case.group for case in known.cases})
    labels = sum(len(case.labels) for case in known.cases)
    refuted = sum(len(case.refuted) for case in known.cases)
    told = f" and {counted(refuted, 'refuted finding')}" if refuted else ""
    yield f"{counted(groups, 'group')}, {counted(labels, 'label')}{told}"
    complete = sum(case.knows_every_fault for case in known.cases)
    yield f"In {complete} of {len(known.cases)} every fault is known: only there an unmatched finding is wrong."


def _gaps(known: GoldenSet) -> Iterator[str]:
    languages = Counter(case.language or "unknown" for case in known.cases)
    yield "languages: " + ", ".join(f"{printable_line(name)} {number}" for name, number in sorted(languages.items()))
    labels = [label for case in known.cases for label in case.labels]
    severities = Counter[str](label.severity or "unknown" for label in labels)
    yield "severities: " + ", ".join(
        f"{name} {severities[name]}" for name in (*SEVERITIES, "unknown") if severities[name]
    )
    placeless = sum(not label.has_lines for label in labels)
    if placeless:
        yield f"no lines, so that words alone decide what is found: {placeless} of {counted(len(labels), 'label')}"
    named = sum(case.change.kind == "named" for case in known.cases)
    if named:
        yield f"only a name, so that nobody can review it here: {counted(named, 'case')}"
    yield from (f"left out: {printable_line(each)}" for each in known.left_out)


def _observed(found: ObservedCases) -> Iterator[str]:
    total = found.findings
    yield f"{counted(len(found.cases), 'case')} from {counted(total, 'finding')} on pull requests"
    for number, words in (
        (found.confirmed, "confirmed by people"),
        (found.reverted, "on pull requests that were reverted"),
        (found.dismissed, "dismissed by people, or marked as wrong"),
        (found.unlabelled, "without a label"),
    ):
        yield f"  {number:>5}  {_share(number, total)}  {words}"
    if found.overridden:
        overridden = counted(found.overridden, "pull request")
        yield f"People overrode the bot on {overridden}. That proves no single finding wrong."
    if found.without_commits:
        yield f"{counted(found.without_commits, 'review')} name no commits, and are left out."


def _share(number: int, total: int) -> str:
    return f"{number / total:>4.0%}" if total else "   -"
