"""Break the rules one at a time, and see that a named test notices: ``make mutants``.

Each fault of ``mutant_list.py`` is put into a copy of the sources; only the tests named with it run against the copy,
in a fork of this process, which has imported pytest and other libraries and nothing of ours. A fault that survives,
whose text is no longer in the sources, or whose tests do not run to their end within ten minutes, fails the run.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import re
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from forks import forked, speak_into
from hypothesis import HealthCheck, Phase, settings
from mutant_list import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "review_advisor"
KILLED, SURVIVED, STALE, BROKEN = "killed", "SURVIVED", "OLD TEXT NOT FOUND", "TESTS DID NOT RUN"
ENDS: Mapping[int | None, str] = {pytest.ExitCode.OK: SURVIVED, pytest.ExitCode.TESTS_FAILED: KILLED}
SAID = "said.txt"
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


def tried(mutant: Mutant, root: Path, folder: Path) -> int:
    """In a process of its own: run the mutant's tests against a copy of the sources with the fault in it.

    It gives pytest's exit code, and leaves in ``folder`` what pytest said.
    """
    copy, file = folder / "sources", Path(PACKAGE, mutant.file)
    text = (root / "src" / file).read_text(encoding="utf-8")
    copy.mkdir()
    linked_but(file, root / "src", copy)
    (copy / file).write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    speak_into(folder / SAID)
    os.chdir(root)
    os.environ["PYTHONPATH"] = str(copy)  # for the processes that a test starts
    sys.path[:0] = [str(root), str(copy)]
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
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        folders = {number: Path(name, str(number)) for number, mutant in enumerate(mutants) if fits(mutant, root)}
        for folder in folders.values():
            folder.mkdir()
        work = {number: partial(tried, mutants[number], root, folder) for number, folder in folders.items()}
        for number, code in forked(work, jobs):
            said = folders[number] / SAID
            told = said.read_text(encoding="utf-8", errors="replace") if said.exists() else ""
            ends[number] = ENDS.get(code, f"{BROKEN}\n{told}")
            shutil.rmtree(folders[number])
    return list(ends.values())


def main() -> int:
    """Print the table; 1 unless every fault is killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
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
