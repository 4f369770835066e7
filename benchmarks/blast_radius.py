"""How many ordinary commits have which blast radius and trigger, and why; and which known fixes are looked at closely.

The policy of each commit is decided as for `review-advisor review COMMIT^..COMMIT` with the default configuration.
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

from _figures import ROOT, Row, command_line, tell

from review_advisor.change.change import SourceError
from review_advisor.change.sources import open_range
from review_advisor.policy.policy import Policy, Rules, decide_policy
from review_advisor.policy.risk import BlastRadius
from review_advisor.policy.surfaces import Role
from review_advisor.policy.switches import read_switches

FIXES = Path(__file__).with_suffix(".tsv")
MOST_HIGH, MOST_MEDIUM, LEAST_FIXES = 5.0, 25.0, 24
_MANY = re.compile(r"^\d+ changed lines of code, (more than \d+)$")


def main() -> None:
    """Tell the shares of each repository, and how many of the fixes are medium or high."""
    chosen = _options().parse_args()
    totals: list[Row] = []
    for told in chosen.repositories or [str(ROOT)]:
        name, _, path = told.rpartition("=")
        repository = Path(path).resolve()
        policies = list(decided(repository, commits(repository, chosen.commits)))
        totals.append(share(name or repository.name, policies))
        tell(Path(__file__).stem, {f"why, in {name or repository.name}": reasons(policies)}, write=False)
    tables = {f"the newest {chosen.commits:,} commits": totals}
    if chosen.fixes:
        each, total = fixes(chosen.fixes, held_out=chosen.held_out)
        tell(Path(__file__).stem, {"each fix": each}, write=False)
        tables["fixes of vulnerabilities"] = total
    tell(Path(__file__).stem, tables, write=chosen.write)


def _options() -> ArgumentParser:
    parser = command_line(__doc__)
    parser.add_argument("repositories", nargs="*", metavar="[NAME=]PATH", help="checkouts, or bare repositories")
    parser.add_argument("--commits", type=int, default=100, help="the newest so many, without merges (default: 100)")
    parser.add_argument("--fixes", type=Path, metavar="FOLDER", help=f"where those of {FIXES.name} lie, as OWNER/NAME")
    parser.add_argument("--held-out", action="store_true", help="judge the fixes too that the rules were not built on")
    return parser


def commits(repository: Path, most: int) -> list[str]:
    """The newest commits that have one parent."""
    listed = [
        "git",
        "-C",
        str(repository),
        "log",
        "--no-merges",
        "--min-parents=1",
        f"--max-count={most}",
        "--format=%H",
    ]
    return subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split()


def decided(repository: Path, names: Iterable[str]) -> Iterator[Policy]:
    """The policy of each commit; one that cannot be read is named on stderr."""
    switches = read_switches({})
    for name in names:
        try:
            with closing(open_range(repository, f"{name}^..{name}")) as source:
                yield decide_policy(source.change(), Rules(), switches)
        except SourceError as error:
            print(f"{name}: {error}", file=sys.stderr)


def share(name: str, policies: list[Policy]) -> Row:
    """How many of the commits are high and medium, beside the bars."""
    high, medium = (
        100 * sum(policy.blast.radius is radius for policy in policies) / max(len(policies), 1)
        for radius in (BlastRadius.HIGH, BlastRadius.MEDIUM)
    )
    within = high <= MOST_HIGH and medium <= MOST_MEDIUM
    bars = f"bars {MOST_HIGH:g}, {MOST_MEDIUM:g} %: {'held' if within else 'MISSED'}"
    return f"{name}: high, medium", f"{high:.1f}, {medium:.1f} %", bars


def reasons(policies: list[Policy]) -> list[Row]:
    """A row for each reason of a radius that is not low, and of pre-flight's trigger."""
    rows: list[Row] = []
    for radius in (BlastRadius.HIGH, BlastRadius.MEDIUM):
        because = [_reasons(policy.blast.because) for policy in policies if policy.blast.radius is radius]
        rows += _by_reason(radius.value, because, len(policies))
    decisions = [policy.surfaces[0].roles[Role.PRE_FLIGHT] for policy in policies]
    return rows + _by_reason("planned", [_reasons(each.because) for each in decisions if each.runs], len(policies))


def _reasons(because: Iterable[str]) -> set[str]:
    """Each reason, without the number of lines of this change."""
    return {_MANY.sub(r"\1 changed lines of code", reason) for reason in because}


def _by_reason(what: str, groups: Iterable[set[str]], count: int) -> list[Row]:
    found = Counter(reason for group in groups for reason in group)
    return [(f"{what}: {reason}", f"{100 * times / count:.1f} %", "") for reason, times in found.most_common()]


def fixes(folder: Path, *, held_out: bool) -> tuple[list[Row], list[Row]]:
    """A row for each fix of the list, and one for how many are medium or high."""
    with FIXES.open(encoding="utf-8", newline="") as file:
        listed = [row for row in csv.DictReader(file, delimiter="\t") if held_out or row["use"] == "build"]
    rows: list[Row] = []
    for row in listed:
        radii = [policy.blast for policy in decided(folder / row["repository"], [row["commit"]])]
        rows += [(f"{row['advisory']} {row['repository']}", blast.radius.value, blast.because[0]) for blast in radii]
    seen = sum(radius != BlastRadius.LOW for _, radius, _ in rows)
    bar = f"bar {LEAST_FIXES}: {'held' if seen >= LEAST_FIXES else 'MISSED'}" if held_out else "without the held-out"
    return rows, [("medium or high", f"{seen} of {len(listed)}", bar)]


if __name__ == "__main__":
    main()
