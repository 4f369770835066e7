"""Time and peak memory of reading, deciding and cutting up two large changes. A report: it has no bars yet."""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _runs import git, report

from review_advisor.adapters.git.open import open_range
from review_advisor.core.facts.shards import shards
from review_advisor.core.policy.policy import Rules, decide_policy
from review_advisor.core.policy.switches import read_switches

FILES, LINES_EACH, LONG_FILE = 1_000, 100, 120_000


def make_many(folder: Path) -> None:
    """1,000 files, 100 new lines in each."""
    for number in range(FILES):
        path = folder / f"package{number % 20}" / f"module{number}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"value_{line} = {number} * {line}\n" for line in range(LINES_EACH)))


def make_one(folder: Path) -> None:
    """One file of 120,000 new lines."""
    (folder / "long.py").write_text("".join(f"value_{line} = {line}\n" for line in range(LONG_FILE)))


def measure(repository: Path) -> None:
    """In a process of its own: read the change, decide the policy, cut it into shards; print what it took."""
    idle = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    source = open_range(repository, "HEAD~1..HEAD")
    change = source.change()
    read = time.perf_counter()
    parts, unsent = shards(change, Rules().shard_tokens)
    cut = time.perf_counter()
    decide_policy(change, Rules(), read_switches({}), len(parts))
    decided = time.perf_counter()
    named = {file.path for part in parts for file in part.files} | {each.path for each in unsent}
    figures = {
        "read": read - started,
        "cut": cut - read,
        "decide": decided - cut,
        "idle": idle / 1024,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "files": len(change.files),
        "lines": sum(file.added + file.removed for file in change.files),
        "shards": len(parts),
        "unsent": len(unsent),
        "forgotten": sum(file.path not in named for file in change.files),
    }
    print(json.dumps(figures))


def main() -> None:
    """Make each change, measure it in a fresh process, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.measure:
        measure(chosen.measure)
        return
    for make in (make_many, make_one):
        with tempfile.TemporaryDirectory(prefix="bench-") as name:
            folder = Path(name)
            git(folder, "init", "--quiet", "--initial-branch=main")
            git(folder, "commit", "--quiet", "--allow-empty", "--message=x")
            make(folder)
            git(folder, "add", "--all")
            git(folder, "commit", "--quiet", "--message=y")
            words = [sys.executable, __file__, "--measure", name]
            figures = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
        print(make.__doc__)
        report(
            [
                ("changed lines", f"{figures['lines']:,}", f"in {figures['files']:,} files"),
                ("facts (diff)", f"{figures['read']:.2f} s", ""),
                ("shards", f"{figures['cut']:.2f} s", f"{figures['shards']} parts, {figures['unsent']} unsent by name"),
                ("policy (trigger, blast, guard)", f"{figures['decide']:.2f} s", ""),
                ("files neither sent nor named", f"{figures['forgotten']}", ""),
                (
                    "peak memory",
                    f"{figures['peak']:.0f} MB",
                    f"{figures['idle']:.0f} MB before it",
                ),
            ]
        )


if __name__ == "__main__":
    main()
