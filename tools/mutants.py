"""Break the rules one at a time, and see that a named test notices: ``make mutants``.

Each fault of ``mutant_list.py`` is put into a copy of the sources; only the tests named with it run against the copy.
A fault that survives, or whose text is no longer in the sources, fails the run.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutant_list import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parent.parent
KILLED, SURVIVED, STALE, BROKEN = "killed", "SURVIVED", "OLD TEXT NOT FOUND", "TESTS DID NOT RUN"
TESTS_FAILED = 1


def applied(mutant: Mutant, text: str) -> str | None:
    """The source with the fault in it, or None if its old text does not stand there exactly once."""
    return text.replace(mutant.old, mutant.new) if text.count(mutant.old) == 1 else None


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


def tried(mutant: Mutant, root: Path) -> str:
    """Run the mutant's tests against a copy of the sources with the fault in it."""
    file = Path("review_advisor", mutant.file)
    broken = applied(mutant, (root / "src" / file).read_text(encoding="utf-8"))
    if broken is None or not tests_there(mutant, root):
        return STALE
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy = Path(folder)
        linked_but(file, root / "src", copy)
        (copy / file).write_text(broken, encoding="utf-8")
        options = ["-q", "-x", "-n0", "-p", "no:cacheprovider", "--no-header", "--timeout=60"]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *mutant.tests],
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode == TESTS_FAILED:
        return KILLED
    return SURVIVED if done.returncode == 0 else f"{BROKEN}\n{done.stdout}{done.stderr}"


def main() -> int:
    """Print the table; 1 unless every fault is killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="", help="faults whose name contains this")
    options = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if options.only in mutant.fault]
    started = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        ends = list(pool.map(lambda mutant: tried(mutant, ROOT), chosen))
    # Those that live come last, where a reader of a long log looks first.
    for mutant, end in sorted(zip(chosen, ends, strict=True), key=lambda row: row[1] != KILLED):
        print(f"{end.partition(chr(10))[0]:<18}  {mutant.fault:<58}  {mutant.tests[0].rpartition('::')[2]}")
        print(end.partition("\n")[2], end="")
    killed = ends.count(KILLED)
    print(f"{killed} of {len(chosen)} faults killed in {time.monotonic() - started:.0f} s")
    return 0 if killed == len(chosen) and chosen else 1


if __name__ == "__main__":
    sys.exit(main())
