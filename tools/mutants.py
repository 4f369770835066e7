"""Break the rules one at a time, and see that a named test notices: ``make mutants``.

Each fault of ``mutant_list.py`` is put into a copy of the sources, and only the tests named with it run, in a fork of a
process that has imported everything already: there the functions that the fault changes get other code. What is not
killed so, because it strikes at import for example, or by a test that fails there without any fault, is tried once more
in a fork of a process that has imported nothing of ours: there the copy is imported. A fault that survives both, whose
text is no longer in the sources, or whose tests do not run to their end within ten minutes, fails the run.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import math
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import forks
import pytest
from forks import forked, speak_into
from hypothesis import HealthCheck, Phase, settings
from in_place import Functions, first_failure, functions_below, replaced
from mutant_list import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "review_advisor"
KILLED, SURVIVED, STALE, BROKEN = "killed", "SURVIVED", "OLD TEXT NOT FOUND", "TESTS DID NOT RUN"
ENDS: Mapping[int | None, str] = {pytest.ExitCode.OK: SURVIVED, pytest.ExitCode.TESTS_FAILED: KILLED}
SAID = "said.txt"
SHARES = 40
"""Of each process, when the tests are tried without any fault: a test that fails makes its share unsound."""
LIBRARIES = ("hypothesis", "hypothesis.strategies", "pydantic", "github", "click", "rich.console", "yaml", "PIL.Image")
"""Others' modules that most tests import: here once, and never ours, which is imported with the fault in it."""
OPTIONS = ("-qx", "--no-header", "--tb=native", "--timeout=60", "-W", "ignore::pytest.PytestAssertRewriteWarning")
NOTHING_BY_CHANCE: Mapping[str, Any] = {
    "derandomize": True,
    "deadline": None,
    "phases": [Phase.explicit, Phase.generate],  # a failure is not made small: nobody reads it
    "suppress_health_check": [HealthCheck.too_slow],
}
HYPOTHESES = "--hypothesis-profile=faults"
WITHOUT = ("-p", "no:xdist", "-p", "no:cov", "-p", "no:cacheprovider")


def applied(mutant: Mutant, text: str) -> str | None:
    """The source with the fault in it, or None if its old text does not stand there exactly once."""
    return text.replace(mutant.old, mutant.new) if text.count(mutant.old) == 1 else None


def fits(mutant: Mutant, root: Path) -> bool:
    """Whether its old text still stands in the sources, and its tests exist."""
    text = (root / "src" / PACKAGE / mutant.file).read_text(encoding="utf-8")
    return applied(mutant, text) is not None and tests_there(mutant, root)


def tests_there(mutant: Mutant, root: Path) -> bool:
    """Whether every test that is named exists."""
    for test in mutant.tests:
        file, _, name = test.partition("::")
        last = re.escape(name.rpartition("::")[2].partition("[")[0])
        path = root / file
        if not path.is_file() or not re.search(rf"^\s*def {last}\(", path.read_text(encoding="utf-8"), re.MULTILINE):
            return False
    return True


def linked_but(file: Path, sources: Path, copy: Path) -> None:
    """Make ``copy`` the same as ``sources`` by links, without ``file`` and what Python has compiled of it.

    What is compiled already of the others is not compiled again for each fault.
    """
    for part in file.parts:
        for each in sources.iterdir():
            if each.name not in (part, "__pycache__"):
                (copy / each.name).symlink_to(each)
        compiled = copy / "__pycache__"
        compiled.mkdir()
        for each in (sources / "__pycache__").glob("*.pyc"):
            if each.name.partition(".")[0] != file.stem:
                (compiled / each.name).symlink_to(each)
        sources, copy = sources / part, copy / part
        if part != file.name:
            copy.mkdir()


class Session:
    """How a session of pytest ended: it may raise after its end."""

    code: int = pytest.ExitCode.INTERNAL_ERROR

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Keep it."""
        self.code = exitstatus


def copied(mutant: Mutant, root: Path, folder: Path) -> str:
    """Make a copy of the sources with the fault, for the processes that a test starts; the faulty text is given."""
    copy, file = folder / "sources", Path(PACKAGE, mutant.file)
    text = (root / "src" / file).read_text(encoding="utf-8")
    copy.mkdir()
    linked_but(file, root / "src", copy)
    faulty = text.replace(mutant.old, mutant.new)
    (copy / file).write_text(faulty, encoding="utf-8")
    os.environ["PYTHONPATH"], os.environ["PYTEST_DEBUG_TEMPROOT"] = str(copy), str(folder)
    return faulty


class Warm:
    """A session of pytest that has imported and collected everything: each fault is tried in a fork of it."""

    def __init__(self, mutants: Mapping[int, Mutant], root: Path, folders: Mapping[int, Path], jobs: int) -> None:
        self.mutants, self.root, self.folders, self.jobs = mutants, root, folders, jobs
        self.items = defaultdict[str, list[pytest.Item]](list)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Try each fault, let a file stand in the folder of each that is killed, and end this process."""
        signal.alarm(0)
        import_all(self.root / "src")
        for item in session.items:
            for name in {item.nodeid, item.nodeid.partition("[")[0]}:
                self.items[name].append(item)
        functions = functions_below(self.root / "src" / PACKAGE)
        gc.freeze()
        sound = self.sound(session)
        work = {number: partial(self.tried, number, session, functions) for number in self.mutants}
        for number, code in forked(work, self.jobs):
            shutil.rmtree(self.folders[number], ignore_errors=True)
            self.folders[number].mkdir(exist_ok=True)
            if code == pytest.ExitCode.TESTS_FAILED and sound.issuperset(self.mutants[number].tests):
                (self.folders[number] / KILLED).touch()
        os._exit(0)

    def sound(self, session: pytest.Session) -> set[str]:
        """The named tests that pass in forks of this process without any fault: only these show one."""
        tests = sorted({test for mutant in self.mutants.values() for test in mutant.tests if test in self.items})
        many = min(self.jobs * SHARES, len(tests))
        shares = {number: tests[number::many] for number in range(many)}

        def doing(number: int) -> int:
            return first_failure(session, [item for test in shares[number] for item in self.items[test]])

        os.environ["PYTHONPATH"] = str(self.root / "src")
        ends = forked({number: partial(doing, number) for number in shares}, self.jobs)
        return {test for number, code in ends if code == pytest.ExitCode.OK for test in shares[number]}

    def tried(self, number: int, session: pytest.Session, functions: Functions) -> int:
        """In a fork: put the fault in, and run its tests."""
        mutant = self.mutants[number]
        path = self.root / "src" / PACKAGE / mutant.file
        right = compile(path.read_text(encoding="utf-8"), str(path), "exec", dont_inherit=True)
        wrong = compile(copied(mutant, self.root, self.folders[number]), str(path), "exec", dont_inherit=True)
        if not all(test in self.items for test in mutant.tests) or not replaced(right, wrong, functions):
            return pytest.ExitCode.NO_TESTS_COLLECTED
        return first_failure(session, [item for test in mutant.tests for item in self.items[test]])


def import_all(sources: Path) -> None:
    """Import every module of the package, because a function that does not exist yet gets no fault."""
    for path in sorted((sources / PACKAGE).rglob("*.py")):
        if path.name != "__main__.py":
            importlib.import_module(".".join(path.relative_to(sources).with_suffix("").parts).removesuffix(".__init__"))


def tried_warm(mutants: Mapping[int, Mutant], root: Path, folders: Mapping[int, Path], jobs: int, said: Path) -> int:
    """In a process of its own: import everything, try every fault in forks, and mark the folders of those killed."""
    signal.alarm(math.ceil(forks.WALL_SECONDS))  # for a test that never ends while it is imported
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # its forks are ended first
    speak_into(said)
    os.chdir(root)
    sys.path[:0] = [str(root), str(root / "src")]
    files = {test.partition("::")[0]: None for mutant in mutants.values() for test in mutant.tests}
    words = [*OPTIONS, *WITHOUT, "-s", "--maxfail=0", HYPOTHESES, *files]
    return pytest.main(words, plugins=[Warm(mutants, root, folders, jobs)])


def tried(mutant: Mutant, root: Path, folder: Path) -> int:
    """In a process of its own: run the mutant's tests against a copy of the sources with the fault in it.

    It gives pytest's exit code, and leaves in ``folder`` what pytest said.
    """
    copied(mutant, root, folder)
    speak_into(folder / SAID)
    os.chdir(root)
    sys.path[:0] = [str(root), str(folder / "sources")]
    assert not any(name.partition(".")[0] == PACKAGE for name in sys.modules), "the fault would not be imported"
    session = Session()
    try:
        return pytest.main([*OPTIONS, *WITHOUT, HYPOTHESES, *mutant.tests], plugins=[session])
    except (pytest.PytestWarning, ExceptionGroup):  # after the session: a test that failed left something open
        if session.code != pytest.ExitCode.TESTS_FAILED:
            raise
        return session.code


def tried_all(mutants: Sequence[Mutant], root: Path, jobs: int) -> list[str]:
    """How each ends, and after a line break what pytest said where its tests did not run."""
    settings.register_profile("faults", **NOTHING_BY_CHANCE)
    ends = dict.fromkeys(range(len(mutants)), STALE)
    with tempfile.TemporaryDirectory(prefix="faults-") as name:
        fitting = {number: mutant for number, mutant in enumerate(mutants) if fits(mutant, root)}
        folders = {number: Path(name, str(number)) for number in fitting}
        for folder in folders.values():
            folder.mkdir()
        said = Path(name, SAID)
        for _, code in forked({0: partial(tried_warm, fitting, root, folders, jobs, said)}, 1, seconds=math.inf):
            if code:
                print(f"The process that imports everything ended with {code}:\n{said.read_text(errors='replace')}")
        ends |= {number: KILLED for number, folder in folders.items() if (folder / KILLED).exists()}
        again = {number: mutant for number, mutant in fitting.items() if ends[number] != KILLED}
        print(f"{len(again)} faults are tried once more, with everything imported anew", flush=True)
        work = {number: partial(tried, mutant, root, folders[number]) for number, mutant in again.items()}
        for number, code in forked(work, jobs):
            said = folders[number] / SAID
            told = said.read_text(encoding="utf-8", errors="replace") if said.exists() else ""
            ends[number] = ENDS.get(code, f"{BROKEN}\n{told}")
            shutil.rmtree(folders[number], ignore_errors=True)
    return list(ends.values())


def main() -> int:
    """Print the table; 1 unless every fault is killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=(os.cpu_count() or 1) + 1)
    parser.add_argument("--only", default="", help="faults whose name contains this")
    options = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if options.only in mutant.fault]
    started = time.monotonic()
    for library in LIBRARIES:
        importlib.import_module(library)
    gc.freeze()
    ends = tried_all(chosen, ROOT, options.jobs)
    # Those that live come last, where a reader of a long log looks first.
    for mutant, end in sorted(zip(chosen, ends, strict=True), key=lambda row: row[1] != KILLED):
        print(f"{end.partition(chr(10))[0]:<18}  {mutant.fault:<58}  {mutant.tests[0].rpartition('::')[2]}")
        print(end.partition("\n")[2], end="")
    killed = ends.count(KILLED)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = f"{time.monotonic() - started:.0f} s, {spent.ru_utime + spent.ru_stime:.0f} s of CPU time"
    print(f"{killed} of {len(chosen)} faults killed in {took}")
    return 0 if killed == len(chosen) and chosen else 1


if __name__ == "__main__":
    sys.exit(main())
