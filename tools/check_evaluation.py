"""Hold the scoring of evaluations against reviewers whose truth is known: ``make eval``.

Two runs of the command have to write the same bytes. Intervals of 95% may miss the truth in one of twenty cases, and
those of one seed are alike, so three quarters of them have to hold theirs. The gates have to say what the simulated
reviewers are made for: there are so many cases that no other seed would say otherwise.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

GROUPS = 400
SHARE = 0.75
SURE = {
    ("paired", "cost_of_correct"): {"pass"},
    ("paired", "ship"): {"pass", "undecided"},
    ("council", "cost_of_correct"): {"fail"},
    ("council", "ship"): {"fail"},
}
"""The answers that a gate may give to an arm."""


def evaluated(root: Path) -> dict[str, bytes]:
    """What the command writes into a folder, by the names of the files."""
    command = [sys.executable, "-m", "review_advisor", "eval", "run", "--groups", str(GROUPS), "--out", str(root)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return {str(each.relative_to(root)): each.read_bytes() for each in sorted(root.rglob("*")) if each.is_file()}


def held_truths(summary: dict[str, Any]) -> list[bool]:
    """Of every interval, whether the truth lies in it."""
    measures = [measure for arm in summary["arms"] for measure in arm["measures"].values()]
    return [each["low"] <= each["truth"] <= each["high"] for each in measures if each["low"] is not None]


def problems(summary: dict[str, Any]) -> Iterator[str]:
    """What is wrong with the score of simulated reviewers, in sentences."""
    held = held_truths(summary)
    if not held or sum(held) < SHARE * len(held):
        yield f"Only {sum(held)} of {len(held)} intervals hold their truth."
    answers = {(gate["arm"], gate["gate"]): gate["answer"] for gate in summary["gates"]}
    for (arm, gate), may in SURE.items():
        if answers.get((arm, gate)) not in may:
            yield f"The gate {gate} of {arm} is {answers.get((arm, gate))}: it has to be {' or '.join(sorted(may))}."


def main() -> int:
    """Score twice and compare."""
    with tempfile.TemporaryDirectory() as folder:
        first, second = (evaluated(Path(folder, name)) for name in ("one", "two"))
    found = ["Two runs wrote different bytes."] if first != second else []
    summary = next(json.loads(text) for name, text in first.items() if name.endswith("summary.json"))
    found += problems(summary)
    held = held_truths(summary)
    print(
        "\n".join(found)
        or f"Twice the same bytes; {sum(held)} of {len(held)} intervals hold their truth; gates as due."
    )
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
