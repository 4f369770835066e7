"""No text of a change keeps the review from its first call, or from saying that it did not run.

Each text is long enough that an expression which walks over it again and again does not come back in a test's time.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from tests.adapters.command_line import CREDENTIAL, Terminal, executable, project
from tests.adapters.git_repository import Repo
from tests.attacks.lock_files import sha512
from tests.counted import steps

from review_advisor.agents.mid_flight import _says_stop
from review_advisor.change.change import FileChange, Hunk, Status
from review_advisor.change.ci_files import CalledFiles, CiEdit, concern
from review_advisor.change.decision_records import structure_faults
from review_advisor.change.lockfiles import incoming
from review_advisor.change.pull_request import spec_path
from review_advisor.change.risky_code import TOO_LONG, risky_code
from review_advisor.safety.fence import read_json
from review_advisor.safety.setup_watch import LATE
from review_advisor.safety.terminal import printable

LONG = 300_000
WORKFLOW = "on: push\njobs:\n  review:\n    steps:\n    - uses: {}\n"


def _risky(text: str) -> object:
    return risky_code([FileChange(Status.MODIFIED, "app.py", hunks=(Hunk(1, 0, 1, 1, "", [f"+{text}"]),))])


def _called(text: str) -> object:
    return CalledFiles([(".github/workflows/ci.yml", text)]).sought


def _edited(text: str) -> object:
    return concern(CiEdit((f"+{text}",), in_place=True, after=text), ("review-advisor",))


READERS: dict[str, tuple[Callable[[str], object], tuple[str, ...]]] = {
    "risky code": (_risky, ("select ", "update ", "a", " ")),
    "what CI calls": (_called, ("a", "a/b/", "a/b+", "uses: ./", " ")),
    "an edit of CI": (_edited, ("permissions", "write: ", " ")),
    "a record": (structure_faults, ("in the context of ", "in the context of a facing ", "# ", " ", "#")),
    "a description": (spec_path, ("spec: ", "spec:\n", " ")),
    "a reply that may say stop": (_says_stop, ("_", "no ", "stop signal ", " ")),
    "a reply": (lambda text: read_json(f"[{text}"), ('"\\', "[", '"')),
    "a line for the terminal": (lambda text: printable(f"{text}::"), ("\n", " ", "-----BEGIN ")),
}


def _copies(folder: str, versions: range) -> str:
    """A lock file of npm with so many copies of one package, each in a folder of its own."""
    packages = {
        f"node_modules/{folder}{number}/node_modules/x": {
            "version": f"1.0.{number}",
            "resolved": f"https://npm.example/x/-/x-1.0.{number}.tgz",
            "integrity": sha512(str(number)),
        }
        for number in versions
    }
    return json.dumps({"name": "a", "lockfileVersion": 3, "packages": packages}, indent=2) + "\n"


def test_copies_of_one_package_are_not_each_held_against_all_others() -> None:
    """Where each is held against all, twice as many take four times the steps."""

    def steps_for(number: int) -> int:
        base, head = _copies("a", range(number)), _copies("b", range(number, 2 * number))
        before, after = base.split("\n")[:-1], head.split("\n")[:-1]
        lines = (*(f"-{line}" for line in before), *(f"+{line}" for line in after))
        file = FileChange(Status.MODIFIED, "package-lock.json", hunks=(Hunk(1, len(before), 1, len(after), "", lines),))
        made = incoming(file, head)
        assert not isinstance(made, str)
        assert made.changed == number
        return steps(lambda: incoming(file, head))

    assert steps_for(400) < 2.3 * steps_for(200)


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    (tmp_path / "temporary").mkdir()
    return Terminal(tmp_path, tmp_path / "temporary")


@pytest.mark.parametrize("reader, unit", [(name, unit) for name, (_, units) in READERS.items() for unit in units])
def test_a_long_run_of_anything_is_read_in_time(reader: str, unit: str) -> None:
    read, _ = READERS[reader]
    text = unit * (LONG // len(unit))

    for hostile in (f"{text}x", f"# {text}x#y"):
        with suppress(ValueError):  # it is no reply, which is found out in time
            read(hostile)


def test_a_line_too_long_to_look_at_is_itself_a_reason_to_look_closely() -> None:
    assert _risky("select " * 10_000 + "from") == (f"app.py: {TOO_LONG}",)


HOSTILE = {
    "a line of SQL that never ends": ("app.py", f'x = "{"select " * (LONG // 7)}"\n', "Change"),
    "a word that never ends": ("app.py", f"x = {'a' * LONG}\n", "Change"),
    "a run of quotation marks": ("app.py", 'x = "' + '\\"' * (LONG // 2) + "\n", "Change"),
    "a workflow with a long word": (".github/workflows/ci.yml", WORKFLOW.format("a" * LONG), "Change"),
    "a workflow with a long path": (".github/workflows/ci.yml", WORKFLOW.format("a/" * (LONG // 2)), "Change"),
    "a record of one endless sentence": ("docs/adr/0001-x.md", "in the context of " * (LONG // 18), "Change"),
    "a record with an endless heading": ("docs/adr/0001-x.md", f"# {' ' * LONG}x#y\n", "Change"),
    "a commit message of many megabytes": ("app.py", "x = 2\n", "Change\n\n" + "spec: password=aaaa " * 300_000),
    "a subject of many megabytes": ("app.py", "x = 2\n", "a" * 5_000_000),
}


@pytest.mark.parametrize("attack", HOSTILE)
def test_a_hostile_change_is_reviewed_in_time(terminal: Terminal, tmp_path: Path, attack: str) -> None:
    repo = Repo(tmp_path / "hostile")
    repo.write("app.py", "x = 1\n")
    repo.commit("Base")
    path, text, message = HOSTILE[attack]
    repo.write(path, text)
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "--file=-", stdin=message.encode())
    terminal.folder = repo.path

    done = terminal.review("--output", tmp_path / "outcome.json")

    outcome = json.loads((tmp_path / "outcome.json").read_text())
    assert done.code in (0, 10, 11)
    assert outcome["outcome"] != "stopped"
    assert any(event["kind"] == "call_started" for event in outcome["events"])


def test_a_preparation_without_end_is_ended_and_nothing_is_asked(terminal: Terminal, tmp_path: Path) -> None:
    terminal.folder = project(tmp_path / "project").path
    slow = _slow_git(tmp_path / "slow")
    claude = executable(tmp_path / "claude" / "claude", f"#!/bin/sh\n: > {tmp_path}/asked\n")
    config = tmp_path / "config.toml"
    config.write_text("[budget]\nsetup_seconds = 1\n")
    output = tmp_path / "outcome.json"

    words = ("--range", "HEAD~1..HEAD", "--config", config, "--output", output, "--claude-bin", claude)
    done = terminal.process("review", *words, env={**CREDENTIAL, **slow})

    assert done.code == 12
    assert done.out == ""
    assert "did not run: its preparation took longer than 1 seconds" in done.err
    assert "reading the change with git" in done.err
    assert "No model was asked" in done.err
    assert not (tmp_path / "asked").exists()
    assert not output.exists()
    assert output.with_suffix(".refusal.txt").read_text().strip() in done.err


@pytest.mark.parametrize("words", [("--staged",), ("--range", "HEAD..unknown"), ("--no-such-option",)], ids=str)
def test_the_process_that_watches_is_gone_before_the_end(tmp_path: Path, words: tuple[str, ...]) -> None:
    program = (
        "import os, sys\n"
        "from review_advisor.__main__ import main\n"
        "try:\n"
        "    main()\n"
        "except SystemExit:\n"
        "    os.waitpid(-1, os.WNOHANG)\n"  # it raises where there is no child, running or dead
    )

    command = [sys.executable, "-c", program, "review", *words]
    folder = project(tmp_path / "project").path
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)

    assert done.stderr.endswith("ChildProcessError: [Errno 10] No child processes\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda each: each.name)
def test_no_signal_leaves_the_process_that_watches_behind(tmp_path: Path, number: signal.Signals) -> None:
    program = (
        "import os, sys\n"
        "from review_advisor.__main__ import _Watch\n"
        "from review_advisor.safety.setup_watch import SETUP\n"
        "SETUP.start()\n"
        "_Watch()\n"
        "print(SETUP._child, flush=True)\n"
        "with SETUP.running(None):\n"
        "    sys.stdin.read()\n"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}

    with subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, text=True, **pipes) as process:  # type: ignore[call-overload]
        child = int(process.stdout.readline())
        os.kill(child, number)  # Ctrl-C reaches both
        process.send_signal(number)
        process.wait()

    assert process.returncode == 128 + number
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_work_that_nothing_can_interrupt_is_killed(tmp_path: Path) -> None:
    refusal = tmp_path / "outcome.refusal.txt"
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from review_advisor.__main__ import _Watch\n"
        "from review_advisor.safety.setup_watch import SETUP\n"
        "SETUP.start()\n"
        "_Watch()\n"
        "with SETUP.running(Path(sys.argv[1])):\n"
        "    SETUP.allow(0.1)\n"
        "    sum(range(10**15))\n"  # one operation of the interpreter, which lets no other thread have its turn
    )

    done = subprocess.run([sys.executable, "-c", program, refusal], capture_output=True, text=True, check=False)

    assert done.returncode == -signal.SIGKILL
    assert "The review did not run" in done.stderr
    assert refusal.read_text() == done.stderr


def test_a_signal_from_elsewhere_ends_no_review_before_its_time(terminal: Terminal, tmp_path: Path) -> None:
    terminal.folder = project(tmp_path / "project").path
    claude = executable(
        tmp_path / "claude" / "claude",
        f'#!/bin/sh\nkill -{LATE.value} $PPID\n[ "$1" = --version ] && exec {terminal.agreeing} "$@"\n'
        f'exec {terminal.agreeing} "$@"\n',
    )

    done = terminal.process("review", "--range", "HEAD~1..HEAD", "--claude-bin", claude, env=CREDENTIAL)

    assert done.code == 0


def _slow_git(folder: Path) -> dict[str, str]:
    """A git that stops for good where it compares two trees."""
    real = next(Path(place, "git") for place in os.environ["PATH"].split(":") if Path(place, "git").exists())
    executable(folder / "git", f'#!/bin/sh\ncase "$*" in *" diff-tree "*) exec sleep 1000;; esac\nexec {real} "$@"\n')
    return {"PATH": f"{folder}:{os.environ['PATH']}"}
