"""Facts, trigger, blast radius and guard of changes up to a million lines: the time, and whether it grows linearly."""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from _changes import make_many
from _figures import ROOT, Row, command_line, held, tell
from _plot import Plot

from review_advisor.change.shards import shards
from review_advisor.change.sources import open_range
from review_advisor.policy.policy import Rules, decide_policy
from review_advisor.policy.switches import read_switches

BAR_SECONDS = 3.0
BAR_MEGABYTES = 100
MEGABYTES_BEFORE = "fa025c7: 265 MB"
BAR_GROWTH = 1.5
HALVINGS = 4
PICTURE = ROOT / "docs" / "images" / "large-change.svg"


class Figures(TypedDict):
    """What one fresh process measured: seconds, and counts."""

    facts: float
    decisions: float
    parts: float
    lines: int
    files: int
    shards: int
    forgotten: int
    peak_mb: float


def measure(repository: Path, revisions: str) -> Figures:
    """Read the change, decide its policy and cut it into parts."""
    started = time.perf_counter()
    source = open_range(repository, revisions)
    change = source.change()
    read = time.perf_counter()
    decide_policy(change, Rules(), read_switches({}))
    decided = time.perf_counter()
    parts, unsent = shards(change, Rules().shard_tokens)
    cut = time.perf_counter()
    source.close()
    named = {file.path for part in parts for file in part.files} | {each.path for each in unsent}
    return {
        "facts": read - started,
        "decisions": decided - read,
        "parts": cut - decided,
        "lines": sum(file.changed_lines for file in change.files),
        "files": len(change.files),
        "shards": len(parts),
        "forgotten": sum(file.path not in named for file in change.files),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def measured(repository: Path, files: int) -> Figures:
    """The same in a process of its own."""
    words = [sys.executable, __file__, "--measure", str(repository), f"base..files-{files}"]
    figures: Figures = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
    return figures


def cost(runs: Sequence[Figures]) -> float:
    """The median of what facts and decisions took."""
    return statistics.median(run["facts"] + run["decisions"] for run in runs)


def tables(by_size: Mapping[int, Sequence[Figures]]) -> dict[str, list[Row]]:
    """What is told: each size, then the largest against its bar and against the middle one."""
    sizes = sorted(by_size)
    growing: list[Row] = []
    for files in sizes:
        runs = by_size[files]
        lines = runs[0]["lines"]
        remark = f"{files:,} files; {1e6 * cost(runs) / lines:.2f} s for a million at this rate"
        growing.append((f"{lines:,} changed lines", f"{cost(runs):.2f} s", remark))
    largest, middle = by_size[sizes[-1]], by_size[sizes[len(sizes) // 2]]
    growth = (cost(largest) / largest[0]["lines"]) / (cost(middle) / middle[0]["lines"])
    medians = {key: statistics.median(run[key] for run in largest) for key in ("facts", "decisions", "parts")}
    peak = max(run["peak_mb"] for run in largest)
    forgotten = max(run["forgotten"] for runs in by_size.values() for run in runs)
    at_most: list[Row] = [
        ("facts (git's diff, read)", f"{medians['facts']:.2f} s", f"median of {len(largest)}, sizes taking turns"),
        ("trigger, blast radius, guard", f"{medians['decisions']:.2f} s", ""),
        ("facts, trigger, blast radius and guard", f"{cost(largest):.2f} s", held(cost(largest), BAR_SECONDS, "s")),
        ("a line's cost, beside the middle size", f"{growth:.2f} x", held(growth, BAR_GROWTH, "x")),
        ("cutting into parts, besides", f"{medians['parts']:.2f} s", f"{largest[0]['shards']} parts"),
        ("peak memory", f"{peak:.0f} MB", f"{held(peak, BAR_MEGABYTES, 'MB')}; {MEGABYTES_BEFORE}"),
        ("files neither sent nor named", f"{forgotten}", held(forgotten, 0, "files")),
    ]
    return {"facts, trigger, blast radius and guard": growing, f"{largest[0]['lines']:,} changed lines": at_most}


def plot(by_size: Mapping[int, Sequence[Figures]]) -> Plot:
    """Seconds by changed lines."""
    points = [(float(by_size[files][0]["lines"]), cost(by_size[files])) for files in sorted(by_size)]
    return Plot(
        title="Facts, trigger, blast radius and guard",
        across="changed lines (dashed: in proportion to the middle size)",
        up="seconds",
        points=points,
        straight=points[len(points) // 2],
        bar=BAR_SECONDS,
    )


def main() -> None:
    """Make the changes, measure each in fresh processes, and tell what came of it."""
    parser = command_line(__doc__)
    parser.add_argument("--files", type=int, default=10_000, help="of the largest change; 100 changed lines in each")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.measure:
        repository, revisions = chosen.measure
        print(json.dumps(measure(Path(repository), revisions)))
        return
    sizes = sorted({max(1, chosen.files >> halving) for halving in range(HALVINGS + 1)})
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        repository = Path(name) / "many"
        make_many(repository, *sizes)
        rounds = [{files: measured(repository, files) for files in sizes} for _ in range(chosen.runs)]
    by_size = {files: [each[files] for each in rounds] for files in sizes}
    tell(Path(__file__).stem, tables(by_size), write=chosen.write)
    if chosen.write:
        PICTURE.write_text(plot(by_size).svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
