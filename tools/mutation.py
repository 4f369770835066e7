"""Put small faults into ``core``, wherever one fits, and see how many of them the tests notice.

By default a sample of each module is tried, the same one each time; ``--all`` tries every fault. The faults in
``mutation_equivalents.toml`` change nothing that anybody can see, for the reasons named there; they do not count.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

from mutation_faults import Fault, defined_by, faults_of
from mutation_trials import (
    CORE,
    KILLED,
    PACKAGE,
    ROOT,
    SURVIVED,
    TIMED_OUT,
    UNFIT,
    Survey,
    Test,
    Trial,
    parsed,
    surveyed,
    try_functions,
    try_imports,
)

EQUIVALENTS = Path(__file__).with_name("mutation_equivalents.toml")
WANTED = 0.9
TESTS = (
    *sorted(folder.relative_to(ROOT).as_posix() for folder in ROOT.glob("tests/unit/[a-z]*/")),
    *("tests/unit/test_patch.py", "tests/unit/report/test_progress_lines.py", "tests/unit/test_settings.py"),
    *("tests/scenarios", "tests/simulation"),
)
_MOST_SECONDS = 8.0
"""Of CPU time: for one fault no more is spent on the tests of its room, and no more on those of other rooms."""
_CONTROL = -1
Key = tuple[str, str, str, str, int]


def all_faults() -> list[Fault]:
    """Every fault of every module of the core."""
    return [fault for path in sorted(CORE.rglob("*.py")) for fault in faults_of(path, CORE)]


def equivalents() -> dict[Key, str]:
    """The accepted survivors, each with its reason."""
    told = tomllib.loads(EQUIVALENTS.read_text(encoding="utf-8"))
    return {
        (each["file"], each.get("function", ""), each["was"], each["now"], each.get("nth", 1)): each["because"]
        for each in told.get("equivalent", [])
    }


def sample(faults: Iterable[Fault], size: int, seed: int) -> list[Fault]:
    """``size`` faults of each module: the same for the same seed, whatever happens to other modules."""
    by_file: dict[str, list[Fault]] = defaultdict(list)
    for fault in faults:
        by_file[fault.file].append(fault)
    chosen = []
    for file, its in by_file.items():
        dice = random.Random(f"{seed}:{file}")
        chosen += dice.sample(its, min(size, len(its)))
    return chosen


def reaching(fault: Fault, survey: Survey, known: Mapping[frozenset[str], frozenset[str]]) -> list[int]:
    """The tests to try a fault with: those of its own module, then the fastest of its room and of the other rooms."""
    inside = _reached(fault, survey)
    found = inside or survey.of_names(known[fault.names]) or survey.of_lines(str(CORE / fault.file), 1, 10**6)
    folder, _, module = fault.file.removesuffix(".py").removesuffix("/__init__").rpartition("/")
    its_room, its_tests = f"tests/unit/{folder.partition('/')[0]}/", f"tests/unit/{folder}/test_{module}.py"
    # A test that reads a table by itself reaches no function that uses it.
    own = [at for at, test in enumerate(survey.tests) if test.startswith(its_tests) and (at in found or not inside)]
    near = {at for at in found if survey.tests[at].startswith(its_room)} - set(own)
    far = found - near - set(own)
    return [*own, *_fastest(near, survey.seconds), *_fastest(far, survey.seconds)]


def _reached(fault: Fault, survey: Survey) -> set[int]:
    """The tests that run the faulty lines; none where they run when the module is imported."""
    return survey.of_lines(str(CORE / fault.file), *fault.lines) if fault.function else set()


def _fastest(tests: Iterable[int], seconds: Sequence[float]) -> list[int]:
    """The fastest of these tests, as many as the time allows."""
    ordered = sorted(tests, key=seconds.__getitem__)
    spent = accumulate(seconds[at] for at in ordered)
    return [at for at, so_far in zip(ordered, spent, strict=True) if so_far <= _MOST_SECONDS]


def tried(faults: Sequence[Fault], tests: Sequence[str], jobs: int) -> list[str]:
    """How each fault ended."""
    began = time.monotonic()
    survey = surveyed(tests)
    if survey.failed or not survey.tests:
        raise SystemExit(f"without any fault these tests fail: {', '.join(survey.failed) or 'there are none'}")
    _tell(f"{len(survey.tests)} tests surveyed in {time.monotonic() - began:.0f} s")
    trees = [parsed(path) for path in PACKAGE.rglob("*.py")]
    at_import = {fault.names for fault in faults if not _reached(fault, survey)}
    known = {names: defined_by(names, trees) for names in at_import}
    chosen = [reaching(fault, survey, known) for fault in faults]
    ends = {number: SURVIVED for number, its in enumerate(chosen) if not its}
    meter = _Meter(faults, len(faults) - len(ends))
    needed = [sum(survey.seconds[at] for at in its) for its in chosen]
    inside = {
        n: Trial(fault, chosen[n], needed[n]) for n, fault in enumerate(faults) if chosen[n] and _reached(fault, survey)
    }
    ends |= _believed(try_functions(_with_control(inside), tests, jobs, meter))
    imported = {
        n: Trial(fault, [survey.tests[at] for at in chosen[n]], needed[n])
        for n, fault in enumerate(faults)
        if ends.get(n, UNFIT) == UNFIT
    }
    ends |= _believed(try_imports(_with_control(imported), survey.imported, jobs, meter))
    return [ends[n] for n in range(len(faults))]


def _with_control(trials: dict[int, Trial[Test]]) -> dict[int, Trial[Test]]:
    """The trials, and one of a module in which nothing is wrong, with the tests of the first."""
    if not trials:
        return trials
    first = next(iter(trials.values()))
    return {_CONTROL: replace(first, fault=replace(first.fault, edit=None)), **trials}


def _believed(ends: dict[int, str]) -> dict[int, str]:
    control = ends.pop(_CONTROL, SURVIVED)
    if control != SURVIVED:
        raise SystemExit(f"a module without any fault was {control}, too: nothing of this can be believed")
    return ends


class _Meter:
    """A line for each survivor as it is found, and one now and then on how far it is."""

    def __init__(self, faults: Sequence[Fault], total: int) -> None:
        self.faults, self.total, self.done = faults, total, 0
        self.began = self.told = time.monotonic()
        self.where = os.dup(2)

    def __call__(self, number: int, end: str) -> None:
        self.done += end != UNFIT
        if end == SURVIVED and number != _CONTROL:
            os.write(self.where, f"survived: {self.faults[number]}\n".encode())
        if time.monotonic() - self.told > 20:
            self.told = time.monotonic()
            os.write(self.where, f"{self.done} of {self.total} faults, {self.told - self.began:.0f} s\n".encode())


def _tell(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def table(faults: Sequence[Fault], ends: Sequence[str]) -> str:
    """How many of each room were noticed."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for fault, end in zip(faults, ends, strict=True):
        for room in (fault.file.partition("/")[0], "core"):
            counts[room][end] += 1
    order = [*sorted(counts.keys() - {"core"}), "core"]
    rows = []
    for room in order:
        killed = counts[room][KILLED] + counts[room][TIMED_OUT]
        rows.append(
            f"{room:<12} {counts[room].total():>6} faults {killed:>6} killed {killed / counts[room].total():>7.1%}"
        )
    return "\n".join(rows)


def main() -> int:
    """Print the survivors and the table; 1 below nine in ten, or where an accepted survivor is none any more."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=8, metavar="N", help="faults tried of each module (8)")
    parser.add_argument(
        "--all", action="store_true", help="try every fault, the accepted ones too: they have to survive"
    )
    parser.add_argument("--seed", type=int, default=1, help="which sample")
    parser.add_argument("--only", default="", help="faults of files whose path holds this, such as outcome/ends")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="the tests that have to notice")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    os.chdir(ROOT)
    began, everything, accepted = time.monotonic(), all_faults(), equivalents()
    gone = accepted.keys() - {fault.key for fault in everything}
    chosen = [fault for fault in everything if options.only in fault.file]
    if not options.all:
        chosen = sample((fault for fault in chosen if fault.key not in accepted), options.sample, options.seed)
    ends = tried(chosen, options.tests, options.jobs)
    counted = [(fault, end) for fault, end in zip(chosen, ends, strict=True) if fault.key not in accepted]
    wrong = [fault for fault, end in zip(chosen, ends, strict=True) if fault.key in accepted and end != SURVIVED]
    for fault, end in counted:
        if end == SURVIVED:
            print(f"SURVIVED  {fault}")
    for key in sorted(gone):
        print(f"accepted, but no such fault exists any more: {key}")
    for fault in wrong:
        print(f"accepted, but a test notices it: {fault}")
    print(table([fault for fault, _ in counted], [end for _, end in counted]))
    killed = sum(end != SURVIVED for _, end in counted)
    print(f"{killed} of {len(counted)} faults killed in {time.monotonic() - began:.0f} s; {len(accepted)} accepted")
    return 1 if gone or wrong or killed < WANTED * len(counted) else 0


if __name__ == "__main__":
    sys.exit(main())
