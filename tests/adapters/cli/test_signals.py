"""Ctrl-C and TERM at any moment: a sentence, 130 or 143, no process and no file left, and never a verdict on disk."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from tests.adapters.command_line import (
    CONFIRM,
    CREDENTIAL,
    STUCK_BOT,
    Done,
    Terminal,
    executable,
    fake_claude,
    lines,
    processes_that_know,
    project,
    script,
    scripted_review,
    wait_for,
)

from review_advisor.review.events import (
    CallEnded,
    CallStarted,
    Event,
    PolicyFrozen,
    ReviewEnded,
    ReviewStopped,
    SurfaceEnded,
)
from review_advisor.review.rulings import Outcome
from review_advisor.safety.interruption import INTERRUPTION

SIGNALS = [signal.SIGINT, signal.SIGTERM]


def slow_git(folder: Path, at: str) -> dict[str, str]:
    """A git that stops for good at one of its subcommands, and leaves a mark there.

    The shell leaves it itself: a ``touch`` might still be ending when the mark is seen.
    """
    real = next(Path(place, "git") for place in os.environ["PATH"].split(":") if Path(place, "git").exists())
    stop = f'case "$*" in *" {at} "*) : >{folder}/reached; exec sleep 1000;; esac'
    executable(folder / "git", f'#!/bin/sh\n{stop}\nexec {real} "$@"\n')
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def ended(terminal: Terminal, process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=60)
    assert "Traceback" not in err, err
    terminal.assert_nothing_left()
    return process.returncode, out, err.splitlines()[-1]


def told_to_end(
    terminal: Terminal, number: signal.Signals, when: Callable[[], object], *words: str | Path, env: dict[str, str]
) -> Done:
    """The command in this process, where nothing cuts off a review that takes its time to end, however busy it is."""

    def tell() -> None:
        wait_for(when)
        INTERRUPTION.interrupt(number)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    done = terminal.run(*words, env=env)
    teller.join()
    return done


# --- (a) while git reads --------------------------------------------------------------------------


@pytest.mark.one_in(6)
@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("at", ["rev-parse", "diff-tree", "log"])
def test_while_git_reads(terminal: Terminal, tmp_path: Path, number: signal.Signals, at: str) -> None:
    output = tmp_path / "outcome.json"
    output.write_text("an earlier outcome")
    words = ("review", "--agent", "embedded", "--range", "HEAD~1..HEAD", "--output", str(output))
    env = slow_git(tmp_path / "slow", at)
    done = told_to_end(terminal, number, (tmp_path / "slow" / "reached").exists, *words, env=env)
    assert (done.code, done.sentence) == (128 + number, "The review was interrupted before it began.")
    assert not output.exists()


@pytest.mark.every_case
def test_while_the_demo_looks_for_something_to_show(terminal: Terminal, tmp_path: Path) -> None:
    process = terminal.start("demo", env=slow_git(tmp_path / "slow", "diff-tree"))
    wait_for((tmp_path / "slow" / "reached").exists)
    process.send_signal(signal.SIGTERM)
    assert ended(terminal, process) == (143, "", "Interrupted.")


# --- (b) while an agent works ---------------------------------------------------------------------


@pytest.mark.one_in(2)
@pytest.mark.parametrize("number", SIGNALS)
def test_while_an_agent_hangs(terminal: Terminal, tmp_path: Path, number: signal.Signals) -> None:
    """Also what the agent started, and what of it ignores a TERM."""
    started = tmp_path / "started"
    sleeper = "sh -c 'trap \"\" TERM INT; sleep 1000' &"
    claude = fake_claude(tmp_path, then=f"cat >/dev/null\n{sleeper}\n: >{started}\nwait")
    output = tmp_path / "outcome.json"
    words = ("review", "--range", "HEAD~1..HEAD", "--claude-bin", str(claude), "--output", str(output))

    def hangs() -> bool:
        return started.exists() and len(processes_that_know(terminal.temporary)) > 1

    done = told_to_end(terminal, number, hangs, *words, env=CREDENTIAL)
    assert (done.code, done.err.splitlines()[-1]) == (128 + number, "Interrupted: the review did not run to its end.")
    assert done.out.splitlines()[:2] == [
        "STOPPED: the review did not run to its end",
        "  because The review was interrupted.",
    ]
    document = json.loads(output.read_text())
    assert (document["outcome"], document["exit_code"]) == ("stopped", 12)
    assert [event["reason"] for event in document["events"] if event["kind"] == "review_stopped"] == ["interrupted"]


@pytest.mark.every_case
def test_while_four_agents_hang(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "small_parts.toml").write_text("shard_tokens = 2000\n")
    repo = project(terminal.folder / "inner", "x = 1\n", "x = 2\n")
    for number in range(4):
        repo.write(f"part{number}.py", lines(250))
    repo.commit("Four files")
    claude = fake_claude(tmp_path, then=f"cat >/dev/null\n: >{tmp_path}/started-$$\nexec sleep 1000")
    process = terminal.start(
        *("review", "--repo", str(repo.path), "--range", "HEAD~1..HEAD", "--claude-bin", str(claude)),
        *("--jobs", "4", "--config", str(tmp_path / "small_parts.toml")),
        env={"ANTHROPIC_API_KEY": "none-needed", "HYDRAFLOW_REVIEW_PREFLIGHT_ENABLED": "off"},
    )
    wait_for(lambda: len(list(tmp_path.glob("started-*"))) == 4)
    process.send_signal(signal.SIGINT)
    assert ended(terminal, process)[0] == 130


@pytest.mark.every_case
def test_the_runners_way_int_and_soon_term(terminal: Terminal, tmp_path: Path) -> None:
    claude = fake_claude(tmp_path, then=f"trap '' INT TERM\ncat >/dev/null\n: >{tmp_path}/started\nsleep 1000")
    words = ("review", "--range", "HEAD~1..HEAD", "--claude-bin", str(claude))
    process = terminal.start(*words, env={"ANTHROPIC_API_KEY": "none-needed"})
    wait_for((tmp_path / "started").exists)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    code, _, sentence = ended(terminal, process)
    assert code in (130, 143)
    assert sentence.startswith("Interrupted"), "a busy machine may have no time left to say more"


@pytest.mark.every_case
def test_a_closed_terminal_ends_the_agents_too(terminal: Terminal, tmp_path: Path) -> None:
    claude = fake_claude(tmp_path, then=f"cat >/dev/null\n: >{tmp_path}/started\nexec sleep 1000")
    words = ("review", "--range", "HEAD~1..HEAD", "--claude-bin", str(claude))
    process = terminal.start(*words, env={"ANTHROPIC_API_KEY": "none-needed"})
    wait_for((tmp_path / "started").exists)
    process.send_signal(signal.SIGHUP)
    assert ended(terminal, process)[0] == 129


# --- (c) between the calls, and at every other event ----------------------------------------------


@pytest.mark.one_in(5)
@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("moment", [CallEnded, PolicyFrozen, CallStarted, SurfaceEnded, ReviewEnded])
def test_at_every_event(tmp_path: Path, number: signal.Signals, moment: type[Event]) -> None:
    """No verdict is on disk, however late the interrupt comes: (d), the very end, included."""
    repo = project(tmp_path / "project")
    sent: list[Event] = []

    def interrupt(event: Event) -> None:
        if isinstance(event, moment) and not sent:
            sent.append(event)
            INTERRUPTION.interrupt(number)

    output = tmp_path / "outcome.json"
    review = scripted_review(repo.path, script(tmp_path), interrupt, output=output)
    assert (review.interrupted_by, review.document.outcome) == (number, Outcome.STOPPED)
    assert json.loads((review.folder / "outcome.json").read_text())["outcome"] == "stopped"
    assert json.loads(output.read_text())["outcome"] == "stopped"
    assert (review.folder / "report.txt").read_text().startswith("STOPPED")
    assert [event.reason for event in review.document.events if isinstance(event, ReviewStopped)] == ["interrupted"]
    asked = {path.stem for path in (tmp_path / "script.json.played").glob("*.count")}
    assert asked <= {PolicyFrozen: set(), CallEnded: {"ReviewReport"}}.get(moment, {"ReviewReport", "PostVerifyResult"})


def opened_of(pid: int) -> list[str]:
    """What a process has open, each as often as it does."""
    found = []
    for each in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # it was closed meanwhile
            found.append(str(each.readlink()))
    return found


@pytest.mark.every_case
@pytest.mark.parametrize("number", SIGNALS)
def test_before_the_change_is_read_nothing_is_stored(terminal: Terminal, number: signal.Signals) -> None:
    """The main thread waits for a writer that never writes."""
    body, writer = os.pipe()
    words = ("review", "--agent", "embedded", "--staged", "--body-file", "/dev/stdin")
    process = terminal.start(*words, bot=STUCK_BOT, stdin=body)
    pipe = str(Path(f"/proc/self/fd/{body}").readlink())
    os.close(body)
    try:
        wait_for(lambda: opened_of(process.pid).count(pipe) == 2)  # it has begun to read
        process.send_signal(number)
        assert ended(terminal, process) == (128 + number, "", "The review was interrupted before it began.")
    finally:
        os.close(writer)
    assert not (terminal.folder / "review_logs").exists()


# --- (d) right at the end -------------------------------------------------------------------------


@pytest.mark.every_case
def test_while_the_report_is_printed_into_a_full_pipe(terminal: Terminal, tmp_path: Path) -> None:
    """The review is over and stands; the command still ends at once, and says that it was interrupted."""
    many = [
        {
            "path": "app.py",
            "line": 2,
            "severity": "low",
            "category": f"style {number}",
            "title": f"Remark {number}",
            "body": "so many words " * 100,
            "confidence": 0.5,
            "evidence": "y = 2",
        }
        for number in range(100)
    ]
    report = {"verdict": "reject", "summary": "many remarks", "confidence": 0.9, "findings": many}
    answers = [
        {"type": "result", "subtype": "success", "is_error": False, "structured_output": answer}
        for answer in (report, CONFIRM["answer"])
    ]
    for name, answer in zip(("report", "verdict"), answers, strict=True):
        (tmp_path / name).write_text(json.dumps(answer) + "\n")
    choose = f'case "$*" in *\'"title": "ReviewReport"\'*) cat {tmp_path}/report;; *) cat {tmp_path}/verdict;; esac'
    claude = fake_claude(tmp_path, then=f"cat >/dev/null\n{choose}")
    words = ("review", "--range", "HEAD~1..HEAD", "--claude-bin", str(claude))
    process = terminal.start(*words, env={"ANTHROPIC_API_KEY": "none-needed"})
    logs = terminal.folder / "review_logs"
    wait_for(lambda: list(logs.glob("*/outcome.json")))
    assert process.stdout is not None
    # The report is larger than a pipe: once its first letters are here, the command waits for a reader.
    process.stdout.buffer.peek(1)  # type: ignore[attr-defined]  # typeshed's TextIO hides the reader
    process.send_signal(signal.SIGTERM)
    assert ended(terminal, process)[::2] == (143, "Interrupted.")
    assert [json.loads(path.read_text())["outcome"] for path in logs.glob("*/outcome.json")] == ["changes_requested"]
