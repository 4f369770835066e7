"""Every fault of ``make mutants`` still fits the sources, and the tests named with it exist."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import mutants
import pytest
from mutant_list import MUTANTS, Mutant
from tests.adapters.command_line import processes_that_know, wait_for

FEWEST = 25


def source(mutant: Mutant) -> str:
    return (mutants.ROOT / "src" / "review_advisor" / mutant.file).read_text(encoding="utf-8")


def test_every_fault_still_fits_the_sources_and_its_tests_exist() -> None:
    """Its old text has to stand in the file exactly once."""
    assert [
        mutant.fault for mutant in MUTANTS if mutants.applied(mutant, source(mutant)) in {None, source(mutant)}
    ] == []
    assert [
        mutant.fault for mutant in MUTANTS if not (mutant.tests and mutants.tests_there(mutant, mutants.ROOT))
    ] == []


@pytest.mark.one_in(20)
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.fault)
def test_a_file_with_a_fault_in_it_is_python_still(mutant: Mutant) -> None:
    broken = mutants.applied(mutant, source(mutant))
    assert broken is not None
    compile(broken, mutant.file, "exec")


def test_there_are_enough_and_none_twice() -> None:
    assert len({mutant.fault for mutant in MUTANTS}) == len(MUTANTS) >= FEWEST


def test_a_test_that_does_not_exist_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_one() -> None: ...\n")
    found = [
        mutants.tests_there(Mutant("", "", "", "", (name,)), tmp_path)
        for name in ("test_it.py::test_one", "test_it.py::test_o", "test_it.py::test_two", "gone.py::test_one")
    ]
    assert found == [True, False, False, False]


def test_old_text_that_stands_twice_or_never_is_noticed() -> None:
    mutant = Mutant("", "", "a", "b", ())
    assert [mutants.applied(mutant, text) for text in ("xay", "aa", "x")] == ["xby", None, None]


RULE = "FIRST = 1\n\n\ndef rule():\n    return FIRST + 1\n"
ITS_TESTS = """
import os
import subprocess
import sys
import time
from pathlib import Path
import pytest

from review_advisor import rule
from review_advisor.others import others

FOUND = [sys.executable, "-c", "from review_advisor.rule import rule; raise SystemExit(rule() != 2)"]

def test_strict():
    assert rule.rule() == 2

def test_in_a_process():
    subprocess.run(FOUND, check=True)

def test_weak():
    assert rule.rule()

def test_that_fails_where_everything_is_imported():
    assert "review_advisor.seldom" not in sys.modules

def test_that_waits(tmp_path):
    Path(os.environ["BEGUN"]).touch()
    time.sleep(100)

@pytest.mark.parametrize("open_files", ["one", "one two"])
def test_that_leaves_something_open(open_files):
    os.environ["LEFT_OPEN"] = open_files
    assert rule.rule() == 2
"""
AFTER_THE_SESSION = """
import os
import pytest

def pytest_unconfigure():
    left = [pytest.PytestUnraisableExceptionWarning(each) for each in os.environ.get("LEFT_OPEN", "").split()]
    if left:
        raise left[0] if len(left) == 1 else ExceptionGroup("several", left)
"""
WITHOUT = "import nothing_of_this_name\n\ndef test_strict(): ...\n"
ENDLESS = "while True: ...\n\ndef test_strict(): ...\n"
FAULTS = {
    "killed": ("FIRST + 1", "FIRST + 2", ["test_rule.py::test_strict"]),
    "killed at import": ("FIRST = 1", "FIRST = 2", ["test_rule.py::test_strict"]),
    "killed in a process": ("FIRST + 1", "FIRST + 2", ["test_rule.py::test_in_a_process"]),
    "killed by one of two": ("FIRST + 1", "FIRST + 2", ["test_rule.py::test_weak", "test_rule.py::test_strict"]),
    "killed, and a file is left open": (
        "FIRST + 1",
        "FIRST + 2",
        ["test_rule.py::test_that_leaves_something_open[one]"],
    ),
    "killed, and two are": ("FIRST + 1", "FIRST + 2", ["test_rule.py::test_that_leaves_something_open[one two]"]),
    "SURVIVED, though its test fails without it": (
        "FIRST + 1",
        "FIRST + 2",
        ["test_rule.py::test_that_fails_where_everything_is_imported"],
    ),
    "SURVIVED": ("FIRST + 1", "FIRST + 2", ["test_rule.py::test_weak"]),
    "OLD TEXT NOT FOUND": ("FIRST + 3", "FIRST + 2", ["test_rule.py::test_strict"]),
    "OLD TEXT NOT FOUND, nor its test": ("FIRST + 1", "FIRST + 2", ["test_rule.py::test_gone"]),
    "TESTS DID NOT RUN": ("FIRST + 1", "FIRST + 2", ["test_without.py::test_strict"]),
    "TESTS DID NOT RUN, one of two": (
        "FIRST + 1",
        "FIRST + 2",
        ["test_without.py::test_strict", "test_rule.py::test_strict"],
    ),
    "TESTS DID NOT RUN: the fault is no Python": ("FIRST + 1", "FIRST +", ["test_rule.py::test_strict"]),
}
TRIED = """
import json, signal, sys
from pathlib import Path
import forks
import mutants
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
forks.WALL_SECONDS = float(sys.argv[2])
faults = [mutants.Mutant("", "rule.py", *fault) for fault in json.loads(sys.argv[3])]
print(json.dumps(mutants.tried_all(faults, Path(sys.argv[1]), 2)))
"""


def started(root: Path, faults: list[tuple[str, str, list[str]]], seconds: float = 600) -> subprocess.Popen[str]:
    """The faults of a product of one rule are being tried, each for so many seconds at most."""
    package = root / "src" / "review_advisor"
    (package / "others").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "rule.py").write_text(RULE)
    (package / "seldom.py").touch()
    (package / "others" / "__init__.py").write_text("def others(): ...\n")
    (root / "conftest.py").write_text(AFTER_THE_SESSION)
    (root / "test_rule.py").write_text(ITS_TESTS)
    (root / "test_without.py").write_text(WITHOUT)
    (root / "test_endless.py").write_text(ENDLESS)
    command = [sys.executable, "-c", TRIED, str(root), str(seconds), json.dumps(faults)]
    # Not measured: the product of this test is called as ours is, and its sources are gone before the report is made.
    env = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    return subprocess.Popen(
        command,
        cwd=mutants.ROOT / "tools",
        env={**env, "BEGUN": str(root / "begun")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ends(root: Path, faults: list[tuple[str, str, list[str]]], seconds: float = 600) -> list[str]:
    """How they end."""
    process = started(root, faults, seconds)
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert (root / "src" / "review_advisor" / "rule.py").read_text() == RULE
    told = json.loads(out.splitlines()[-1])
    assert isinstance(told, list)
    return told


@pytest.mark.every_case
def test_every_end_that_a_fault_can_come_to_is_told(tmp_path: Path) -> None:
    told = dict(zip(FAULTS, ends(tmp_path, list(FAULTS.values())), strict=True))
    assert [name for name, end in told.items() if not name.startswith(end.partition("\n")[0])] == [], told
    assert "nothing_of_this_name" in told["TESTS DID NOT RUN"]


@pytest.mark.every_case
def test_a_fault_whose_tests_cannot_even_be_collected_in_time_is_ended(tmp_path: Path) -> None:
    (end,) = ends(tmp_path, [("FIRST + 1", "FIRST + 2", ["test_endless.py::test_strict"])], seconds=0.5)
    assert end.startswith("TESTS DID NOT RUN\n")


@pytest.mark.every_case
def test_whoever_is_interrupted_leaves_no_test_running(tmp_path: Path) -> None:
    process = started(tmp_path, [("FIRST + 1", "FIRST + 2", ["test_rule.py::test_that_waits"])])
    wait_for((tmp_path / "begun").exists)
    process.send_signal(signal.SIGINT)
    process.communicate()

    assert process.returncode != 0
    assert processes_that_know(tmp_path / "begun") == []
