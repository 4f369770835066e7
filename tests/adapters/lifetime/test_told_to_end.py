"""A signal ends the process in time wherever it is, and leaves no child, no temporary folder and no half file."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.adapters.command_line import Terminal, executable, processes_that_know, script, wait_for

from review_advisor import __main__ as process
from review_advisor.agents.claude_argv import DEFAULT_LIMITS
from review_advisor.ledger.chain import LEDGER_FILE
from review_advisor.ledger.proving import verify
from review_advisor.ledger.queries import RunFilter
from review_advisor.ledger.run_queries import list_runs
from review_advisor.safety import children as belongings
from review_advisor.safety.interruption import INTERRUPTION, Interruption
from review_advisor.safety.stop import ReviewInterrupted

pytestmark = pytest.mark.every_case  # `make test` runs the ones of their kind

PATIENCE = 60.0
"""Seconds for a process to end: this machine may be busy. All work here would last far longer."""
MANY = 300
"""So many children nobody starts before the process is told to end."""

# What the process does when the signal comes, in the place of a command of ours.
WORK = {
    "pure Python": "while True: pass",
    "a wait in C": "time.sleep(1000)",
    "a computation in C": "hashlib.pbkdf2_hmac('sha256', b'x', b'y', 2_000_000_000)",
    "a regular expression that holds the interpreter": "re.match('(a+)+$', 'a' * 60 + 'b')",
    "a lock of SQLite": """
        other = sqlite3.connect('locked', isolation_level=None); other.execute('BEGIN EXCLUSIVE')
        sqlite3.connect('locked', timeout=1000).execute('CREATE TABLE t (x)')""",
    "the midst of an import": "open('slow.py', 'w').write('while True: pass'); sys.path.insert(0, ''); import slow",
    "a child": "belongings.run(['/bin/sleep', '1000'], {}, Path())",
    "a child that ignores what it is told": """
        belongings.run(['/bin/sh', '-c', 'trap "" TERM INT; while :; do sleep 1; done'], {}, Path())""",
    "a grandchild with a session of its own": """
        belongings.run(['/bin/sh', '-c', 'setsid sleep 1000 & wait'], {'PATH': os.environ['PATH']}, Path())""",
    "work that asks whether it may go on, and hears of the end before the end comes": """
        artifacts.INTERRUPTION.storing.acquire()
        while True: belongings.check_interrupt()""",
    "other threads' work": """
        with ThreadPoolExecutor(2) as pool: [pool.submit(exec, 'while True: pass') for _ in range(2)]""",
    "what catches everything": """
        while True:
            try: time.sleep(1000)
            except BaseException: pass""",
    "a file that is half written": """
        with artifacts.INTERRUPTION.unfinished(Path('half')): Path('half').write_text('x'); time.sleep(1000)""",
}
DRIVER = """
import hashlib, os, re, sqlite3, sys, time, types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from review_advisor import __main__ as process
from review_advisor.ledger import artifacts
from review_advisor.safety import children as belongings, leftovers as owner_file

def run(arguments):
    folder = belongings.make_folder('tree')
    (folder / 'below').mkdir(); (folder / 'below' / 'file').write_text('x'); (folder / 'below').chmod(0o500)
    Path('busy').touch()
{work}
    return 0

sign_in = lambda: owner_file.sign_in(os.environ, print)
process._ALL_SECONDS = 60.0  # a busy machine must not fail a test
sys.modules['review_advisor.app.main'] = types.SimpleNamespace(run=run, sign_in=sign_in)
process.main()
"""


def driver(terminal: Terminal, work: str) -> subprocess.Popen[str]:
    """Our process, first to last, with other work to do than a command."""
    lines = work.strip("\n").splitlines()
    indent = len(lines[0]) - len(lines[0].lstrip())
    text = DRIVER.format(work="\n".join(f"    {line[indent:]}" for line in lines))
    return subprocess.Popen(
        [sys.executable, "-c", text],
        cwd=terminal.folder,
        env=terminal.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def told(terminal: Terminal, child: subprocess.Popen[str], *numbers: int) -> tuple[int, str]:
    """Send the signals; how the process ended, and its last words."""
    for number in numbers:
        child.send_signal(number)
    try:
        _, err = child.communicate(timeout=PATIENCE)
    finally:
        child.kill()
    terminal.assert_nothing_left()
    assert "Traceback" not in err
    return child.returncode, err.splitlines()[-1]


@pytest.mark.parametrize("work", WORK)
def test_wherever_it_is_and_nothing_is_left(work: str, terminal: Terminal) -> None:
    child = driver(terminal, WORK[work])
    wait_for((terminal.folder / "busy").exists)
    if "child" in work:
        wait_for(lambda: len(processes_that_know(terminal.temporary)) >= 1 and _children_of(child.pid))
    assert told(terminal, child, signal.SIGTERM) == (143, "Interrupted.")
    assert not (terminal.folder / "half").exists()


def _children_of(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def test_a_call_ends_before_its_review_does_and_that_before_two_seconds_are_over() -> None:
    assert DEFAULT_LIMITS.end_grace_seconds < process._GRACE_SECONDS < process._ALL_SECONDS < 2


# --- a review that computes -------------------------------------------------------------------------------------------

REVIEW = """
    from review_advisor.app.review import run_review, ReviewOptions
    from review_advisor.app.agent_choice import AgentChoice
    from review_advisor.app.review import Selection
    def computes(event):
        if event.kind == {kind!r}:
            Path('computing').touch()
            while True: pass
    options = ReviewOptions(
        Path(), Selection('range', 'HEAD~1..HEAD'), AgentChoice('embedded', embedded_script=Path({script!r})),
        output=Path('../outcome.json'), artifacts=Path('../logs'))
    run_review(options, {{'PATH': os.environ['PATH']}}, computes, print)
"""


@pytest.mark.parametrize("kind", ["policy_frozen", "call_started", "call_ended", "verified", "review_ended"])
def test_a_review_that_computes_is_stored_as_stopped(kind: str, terminal: Terminal, tmp_path: Path) -> None:
    """Its ledger is whole as well, and tells the same."""
    child = driver(terminal, REVIEW.format(kind=kind, script=str(script(tmp_path))))
    wait_for((terminal.folder / "computing").exists)
    expected = (130, "Interrupted: the review did not run to its end.")
    assert told(terminal, child, signal.SIGINT) == expected
    document = json.loads((tmp_path / "outcome.json").read_text())
    assert (document["outcome"], document["exit_code"]) == ("stopped", 12)
    assert [path.read_text() for path in (tmp_path / "logs").glob("*/outcome.json")] == [
        (tmp_path / "outcome.json").read_text()
    ]
    assert [run.status for run in list_runs(tmp_path / "logs" / LEDGER_FILE, RunFilter())] == ["stopped"]
    assert verify(tmp_path / "logs" / LEDGER_FILE).broken == ()


@pytest.mark.one_of_its_kind
def test_a_second_signal_ends_it_at_once(terminal: Terminal, tmp_path: Path) -> None:
    """The child is not given its time to end; what is stored says stopped all the same."""
    claude = executable(
        tmp_path / "claude",
        "#!/bin/sh\n[ \"$1\" = --version ] && echo '2.1.329 (Claude Code)' && exit\n"
        f"trap '' INT TERM\ncat >/dev/null\n: >{tmp_path}/started\nwhile :; do sleep 1; done\n",
    )
    words = ("review", "--range", "HEAD~1..HEAD", "--claude-bin", str(claude), "--output", "../outcome.json")
    child = terminal.start(*words, env={"ANTHROPIC_API_KEY": "none-needed"})
    wait_for((tmp_path / "started").exists)
    code, sentence = told(terminal, child, signal.SIGINT, signal.SIGTERM)
    assert code in (130, 143)  # two signals at once come in any order
    assert sentence == "Interrupted: the review did not run to its end."
    assert json.loads((tmp_path / "outcome.json").read_text())["outcome"] == "stopped"


# --- one door, one lock -----------------------------------------------------------------------------------------------


def test_no_child_starts_unknown_to_the_end_however_the_moments_fall(tmp_path: Path) -> None:
    """Threads start children as fast as they can while the process is told to end."""
    started: list[belongings.Child] = []
    refused: list[ReviewInterrupted] = []

    def start() -> None:
        try:
            while len(started) < MANY:
                started.append(belongings.start(["/bin/sleep", "1000"], {}, tmp_path, stdin=belongings.DEVNULL))
        except ReviewInterrupted as interrupted:
            refused.append(interrupted)

    threads = [threading.Thread(target=start) for _ in range(3)]
    try:
        with INTERRUPTION.taken(str):
            for thread in threads:
                thread.start()
            wait_for(lambda: len(started) > 10)
            INTERRUPTION.interrupt(signal.SIGTERM)
            for thread in threads:
                thread.join()
        assert len(refused) == len(threads)
        for child in started:
            child.communicate(timeout=PATIENCE)
        assert {child.returncode for child in started} == {-signal.SIGTERM}
    finally:
        for child in started:
            child.kill()
            child.communicate()


class _Slow:
    """A child that is being started: entered, or not, when the process is told to end."""

    pid = 0
    ended = False

    def poll(self) -> int | None:
        return 0 if self.ended else None

    def terminate(self) -> None:
        self.ended = True


def test_whoever_ends_the_process_waits_for_a_child_that_is_being_started() -> None:
    interruption, child = Interruption(), _Slow()
    with interruption.starting:
        ending = threading.Thread(target=interruption.interrupt, args=(15,))
        ending.start()
        time.sleep(0.05)
        assert interruption.number == 0
        interruption.add_child(child)
    ending.join()
    assert child.ended


def test_what_goes_wrong_because_a_child_was_ended_is_an_interrupt(tmp_path: Path) -> None:
    def read() -> None:
        with belongings.start(["/bin/sleep", "1000"], {}, tmp_path) as child:
            INTERRUPTION.interrupt(signal.SIGINT)
            assert child.stdout is not None
            if not child.stdout.read():
                raise ValueError("half a stream")

    def wait() -> None:
        timer = threading.Timer(0.1, INTERRUPTION.interrupt, (signal.SIGINT,))
        timer.start()
        try:
            belongings.run(["/bin/sleep", "1000"], {}, tmp_path)
        finally:
            timer.join()

    for broken in (read, wait):
        with INTERRUPTION.taken(str), pytest.raises(ReviewInterrupted):
            broken()
