"""Recorded reviews of Martian's code-review-benchmark, counted as the benchmark counts and one to one.

``make eval MARTIAN=DIR`` runs it, too; DIR is a checkout of the benchmark with its results.
One to one, each finding counts for one golden comment and each comment for one finding, and a comment that only calls a
tool is no finding. Brackets: the middle 95% of samples of pull requests by repository. No model is asked.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from review_advisor.lab.matching import best_pairs
from review_advisor.lab.sampling import middle, resamples
from review_advisor.safety.wording import printable_line, table

SAMPLES, SEED = 2_000, 17
TRIGGER = re.compile(r"\s*(?:/[\w-]+(?:\s+[\w-]+)?|@[\w-]+(?:\s+[\w-]+)?|[\w-]+\s+review)\s*", re.IGNORECASE)
"""A comment that only calls a reviewer, such as ``/name review`` or ``@name``."""


class Counts(NamedTuple):
    """Golden comments that were found, findings, and comments that could be found."""

    right: int
    shown: int
    golden: int

    @property
    def shares(self) -> tuple[float, float, float]:
        """Precision, recall and F1."""
        both = self.shown + self.golden
        return self.right / max(self.shown, 1), self.right / max(self.golden, 1), 2 * self.right / max(both, 1)


def pooled(counts: Iterable[Counts]) -> Counts:
    """All of them as one: shares are of all pull requests at once."""
    return Counts(*map(sum, zip(*counts, strict=True)))


def published(judged: Mapping[str, Any]) -> Counts:
    """A tool's counts on one pull request by the benchmark's own rules."""
    right = len(judged["true_positives"])
    return Counts(right, right + len(judged["false_positives"]), right + len(judged["false_negatives"]))


def golden_of(judged: Mapping[str, Any]) -> set[str]:
    """The golden comments that a judge looked for in a tool's findings."""
    return {each["golden_comment"] for part in ("true_positives", "false_negatives") for each in judged[part]}


def one_to_one(judged: Mapping[str, Any], golden: list[str]) -> Counts:
    """A tool's counts on one pull request that has these golden comments."""
    says: dict[str, set[str]] = defaultdict(set)
    for hit in judged["true_positives"]:
        says[hit["matched_candidate"]].add(hit["golden_comment"])
    wrong = {each["candidate"] for each in judged["false_positives"] if not TRIGGER.fullmatch(each["candidate"])}
    findings = [*says, *sorted(wrong - says.keys())]
    worth = {(row, golden.index(comment)): 1 for row, text in enumerate(findings) for comment in says.get(text, ())}
    return Counts(len(best_pairs(len(findings), len(golden), worth)), len(findings), len(golden))


def judge_lines(judge: Path, repositories: Mapping[str, str], table_of: Mapping[str, Any]) -> Iterable[str]:
    """The table of one judge, the best tool first."""
    pulls = sorted(json.loads((judge / "evaluations.json").read_text()).items())
    as_published: dict[str, list[Counts]] = defaultdict(list)
    strictly: dict[str, list[Counts]] = {}
    for place, (_, of_tools) in enumerate(pulls):
        by_tool = {tool: each for tool, each in of_tools.items() if not each.get("skipped")}
        golden = sorted(set().union(*map(golden_of, by_tool.values())))
        for tool, each in by_tool.items():
            as_published[tool].append(published(each))
            strictly.setdefault(tool, [Counts(0, 0, 0)] * len(pulls))[place] = one_to_one(each, golden)
    samples = resamples([repositories[url] for url, _ in pulls], SAMPLES, Random(SEED).randrange)
    rows = [("tool", "P", "R", "F1", "one to one: P", "R", "F1")]
    for tool, counts in sorted(strictly.items(), key=lambda item: -pooled(item[1]).shares[2]):
        low, high = middle([pooled(counts[place] for place in sample).shares[2] for sample in samples])
        shares = [f"{share:.3f}" for share in (*pooled(as_published[tool]).shares, *pooled(counts).shares)]
        rows.append((printable_line(tool), *shares[:-1], f"{shares[-1]} [{low:.3f}, {high:.3f}]"))
    equal = [
        tool
        for tool, counts in as_published.items()
        if tool in table_of
        and [table_of[tool][name] for name in ("precision", "recall", "f1")]
        == [round(100 * share, 1) for share in pooled(counts).shares]
    ]
    yield f"Judge {printable_line(judge.name)}: {len(pulls)} pull requests\n"
    yield table(rows)
    yield f"{len(equal)} of {len(rows) - 1} tools are as in the published table to the third decimal.\n\n"


def main(folder: Path) -> None:
    """Print a table for each judge."""
    offline = folder / "offline" if (folder / "offline").is_dir() else folder
    judges = sorted(path.parent for path in offline.glob("results/*/evaluations.json"))
    if not judges:
        sys.exit(f"{folder} holds no results of that benchmark: offline/results/*/evaluations.json is missing.")
    files = sorted(offline.glob("golden_comments/*.json"))
    repositories = {pull["url"]: file.stem for file in files for pull in json.loads(file.read_text())}
    dashboard = offline / "analysis" / "benchmark_dashboard.json"
    tables = json.loads(dashboard.read_text())["models"] if dashboard.exists() else {}
    for judge in judges:
        sys.stdout.writelines(judge_lines(judge, repositories, tables.get(judge.name, {}).get("overall_metrics", {})))


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["."]))
