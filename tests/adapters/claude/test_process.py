"""ClaudeAgents against a fake executable that misbehaves on order."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.adapters.command_line import executable, wait_for
from tests.adapters.consulting import consults_of_a_call

from review_advisor.agents.answers import ReviewPlan
from review_advisor.agents.calls import AgentCall, Answered, ConsultGrant, Lost, LostReason
from review_advisor.agents.claude import ClaudeAgents
from review_advisor.agents.claude_argv import Limits
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.safety.interruption import INTERRUPTION
from review_advisor.safety.stop import ReviewInterrupted

pytestmark = pytest.mark.every_case

# Plays the steps of its script, which lies beside it: one JSON list per line.
_FAKE = """
import json, os, signal, subprocess, sys, time
for line in open(__file__ + ".steps"):
    step, *args = json.loads(line)
    if step == "write": sys.stdout.buffer.write(args[0].encode()); sys.stdout.flush()
    elif step == "flood":
        for _ in range(args[1]): sys.stdout.write(args[0])
    elif step == "stderr": sys.stderr.write(args[0]); sys.stderr.flush()
    elif step == "sleep": time.sleep(args[0])
    elif step == "ignore": signal.signal(signal.SIGTERM, signal.SIG_IGN)
    elif step == "read":
        text = sys.stdin.read()
        open(args[0], "w").write(json.dumps([text, os.getcwd(), dict(os.environ), sys.argv]))
    elif step == "child": subprocess.Popen(["sleep", "600"], start_new_session=args[0])
    elif step == "detached": subprocess.Popen(["sleep", "600"], start_new_session=args[0],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    elif step == "descriptor": open(args[0], "w").write(os.read(int(os.environ[args[1]]), 999).decode())
    elif step == "kill": os.kill(os.getpid(), args[0])
    elif step == "exit": sys.stdout.flush(); os._exit(args[0])
"""
LIMITS = Limits(terminate_grace_seconds=0.5, end_grace_seconds=0.5, max_line_bytes=100_000, max_stream_bytes=1_000_000)
WELL_BEFORE_ITS_OWN_END = 100.0
"""Seconds: what a step of these tests would take if nobody ended it is six times as long."""
GRANT = ConsultGrant("the-advisor", "You advise.", "opus", "<!-- s -->", "n0nce")

Play = Callable[..., tuple[str, ...]]


def event(**fields: Any) -> str:
    return json.dumps(fields) + "\n"


def result(**more: Any) -> str:
    return event(type="result", subtype="success", is_error=False, **more)


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """The command of a fake that plays these steps."""
    fake = tmp_path / "fake.py"
    fake.write_text(_FAKE)

    def command(*steps: tuple[Any, ...]) -> tuple[str, ...]:
        Path(f"{fake}.steps").write_text("".join(json.dumps(step) + "\n" for step in steps))
        return (sys.executable, "-I", str(fake))

    return command


@pytest.fixture(autouse=True)
def private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where every private folder lies; at the end of each test nothing may be left of it, nor any process."""
    folder = tmp_path / "private"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []
    wait_for(lambda: processes_of(folder) == [])  # what was killed may still be ending


def processes_of(folder: Path) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and str(folder).encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


CALL = AgentCall(
    role=Role.PRE_FLIGHT,
    advisor=Role.PRE_FLIGHT.advisor,
    surface=Surface.PR_REVIEW,
    attempt=1,
    shard=0,
    model="m",
    system_prompt="s",
    blocks=("the prompt",),
    answer=ReviewPlan,
    tree=None,
    consults=None,
    max_usd=1.0,
    timeout_seconds=100.0,
)


def ask(command: tuple[str, ...], call: AgentCall = CALL, **environ: str) -> Answered | Lost:
    with ClaudeAgents(command, {"PATH": os.environ["PATH"], **environ}, LIMITS) as agents:
        return agents.run(call, None if call.consults is None else consults_of_a_call(grant=call.consults))


def lost(outcome: Answered | Lost) -> LostReason:
    assert isinstance(outcome, Lost), outcome
    return outcome.reason


def said_in(line: str) -> str:
    """The text of the one user message."""
    (block,) = json.loads(line)["message"]["content"]
    return str(block["text"])


@pytest.mark.one_of_its_kind
def test_prompt_folder_and_environment_reach_the_child(play: Play, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    command = play(("read", str(seen)), ("write", result(structured_output={"n": 1})))
    prompt = "äöü \u2028" * 200_000
    outcome = ask(command, replace(CALL, blocks=(prompt,), tree=tmp_path), GITHUB_TOKEN="x")
    assert isinstance(outcome, Answered)
    text, cwd, environment, words = json.loads(seen.read_text())
    assert said_in(text) == prompt
    assert cwd == str(tmp_path)
    assert "GITHUB_TOKEN" not in environment
    assert prompt not in words


@pytest.mark.parametrize("prompt", ["/compact", "  /x", "", "\n"])
def test_a_prompt_never_starts_as_a_command(play: Play, tmp_path: Path, prompt: str) -> None:
    seen = tmp_path / "seen"
    ask(play(("read", str(seen))), replace(CALL, blocks=(prompt,)))
    assert said_in(json.loads(seen.read_text())[0]) == f"Request:\n{prompt}"


@pytest.mark.one_of_its_kind
def test_a_prompt_beyond_the_clis_limit_is_not_even_asked(play: Play) -> None:
    assert lost(ask(play(("kill", 9)), replace(CALL, blocks=("x" * 10_000_000,)))) is LostReason.TOO_LONG


@pytest.mark.one_of_its_kind
def test_the_key_is_readable_from_its_descriptor_and_nowhere_else(play: Play, tmp_path: Path) -> None:
    key, seen = tmp_path / "key", tmp_path / "seen"
    command = play(("descriptor", str(key), "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR"), ("read", str(seen)))
    ask(command, ANTHROPIC_API_KEY="the-key")
    assert key.read_text() == "the-key"
    assert "the-key" not in seen.read_text()


def test_a_child_that_does_not_read_its_prompt_may_still_answer(play: Play) -> None:
    command = play(("write", result(structured_output={"n": 1})))
    assert isinstance(ask(command, replace(CALL, blocks=("x" * 5_000_000,))), Answered)


def test_garbage_between_events_is_passed_over(play: Play) -> None:
    command = play(("write", "garbage\n\n{\n"), ("write", result(structured_output={"n": 1})), ("write", "\x00more"))
    outcome = ask(command)
    assert isinstance(outcome, Answered)
    assert outcome.value == {"n": 1}


def test_an_answer_without_its_newline_counts(play: Play) -> None:
    assert isinstance(ask(play(("write", result(structured_output={"n": 1}).strip()))), Answered)


def test_an_answer_in_many_pieces_counts(play: Play) -> None:
    steps = [("write", letter) for letter in result(structured_output={"n": 1})]
    assert isinstance(ask(play(*steps)), Answered)


@pytest.mark.parametrize("code", [0, 134])
def test_a_stream_that_ends_within_a_line_is_no_outage(play: Play, code: int) -> None:
    half = result(structured_output={"verdict": "VETO"})[:-5]
    assert lost(ask(play(("write", half), ("exit", code)))) is LostReason.INVALID_ANSWER


def test_a_crash_is_told_with_its_last_words(play: Play) -> None:
    outcome = ask(play(("stderr", "x" * 100_000 + "\nerror: out of luck\n"), ("exit", 3)))
    assert lost(outcome) is LostReason.CRASH
    assert isinstance(outcome, Lost)
    assert outcome.detail.endswith("exit code 3 before its result: error: out of luck")


@pytest.mark.parametrize("piece,times", [("x" * 1000, 300), ("{}\n" * 1000, 1000)], ids=["one line", "many lines"])
def test_output_without_end_is_cut_off(play: Play, piece: str, times: int) -> None:
    outcome = ask(play(("flood", piece, times), ("sleep", 600)))
    assert lost(outcome) is LostReason.OUTPUT_LIMIT
    assert isinstance(outcome, Lost)
    assert "more output" in outcome.detail


@pytest.mark.one_in(2)
@pytest.mark.parametrize("stubborn", [False, True], ids=["obedient", "ignores SIGTERM"])
def test_the_deadline_ends_a_child(play: Play, stubborn: bool) -> None:
    steps: list[tuple[Any, ...]] = [("ignore",)] if stubborn else []
    started = time.monotonic()
    outcome = ask(play(*steps, ("sleep", 600)), replace(CALL, timeout_seconds=0.6))
    assert lost(outcome) is LostReason.SILENT
    assert time.monotonic() - started < WELL_BEFORE_ITS_OWN_END
    assert outcome.receipt.duration_seconds >= 0.6


THINKS = event(type="assistant", message={"id": "2", "model": "m", "content": [{"type": "text", "text": "hm"}]})
RETRIES = event(type="system", subtype="api_retry", attempt=1)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("said,reason", [(RETRIES, LostReason.SILENT), (THINKS, LostReason.TIMEOUT)])
def test_signs_of_life_come_from_the_model_and_not_from_the_clis_retries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, reason: LostReason
) -> None:
    """When something is heard, the test says: just before the deadline. A busy machine may be late with it."""
    ticks = chain([0.0], repeat(1.9))
    monkeypatch.setattr("review_advisor.agents.claude.time", SimpleNamespace(monotonic=lambda: next(ticks)))
    claude = executable(tmp_path / "claude", f"#!/bin/sh\nwhile echo '{said}'; do sleep 0.05; done\n")
    assert lost(ask((str(claude),), replace(CALL, timeout_seconds=2.0))) is reason


@pytest.mark.parametrize("call_seconds,enough", [(600, 60), (120, 60), (100, 50), (4, 2)])
def test_silence_is_a_minute_or_half_of_a_short_call(call_seconds: float, enough: float) -> None:
    assert Limits().is_silence(enough, call_seconds)
    assert not Limits().is_silence(enough - 0.1, call_seconds)


@pytest.mark.parametrize("own_session", [False, True])
@pytest.mark.parametrize("step", ["child", "detached"])
def test_grandchildren_do_not_outlive_the_call_nor_hold_it_up(play: Play, step: str, own_session: bool) -> None:
    started = time.monotonic()
    outcome = ask(play((step, own_session), ("write", result(structured_output={"n": 1}))))
    assert isinstance(outcome, Answered)
    assert time.monotonic() - started < WELL_BEFORE_ITS_OWN_END


def test_a_deadline_takes_the_grandchildren_too(play: Play) -> None:
    steps = (("ignore",), ("child", True), ("detached", False), ("sleep", 600))
    assert lost(ask(play(*steps), replace(CALL, timeout_seconds=0.6))) is LostReason.SILENT


def test_a_consult_without_a_record_ends_the_child(play: Play) -> None:
    started = event(type="system", subtype="task_started", tool_use_id="t1", subagent_type="the-advisor")
    for call in (CALL, replace(CALL, consults=GRANT)):
        outcome = ask(play(("write", started), ("sleep", 600)), call)
        assert lost(outcome) is LostReason.UNGUARDED_CONSULT
        assert outcome.receipt.duration_seconds < WELL_BEFORE_ITS_OWN_END


def test_a_cli_that_is_gone_in_mid_review_is_a_lost_answer_and_leaves_nothing() -> None:
    outcome = ask(("/nonexistent/claude",))
    assert lost(outcome) is LostReason.CRASH
    assert isinstance(outcome, Lost)
    assert outcome.detail == "/nonexistent/claude cannot be started: No such file or directory."


def test_an_interrupt_ends_parallel_calls_and_refuses_later_ones(play: Play, private: Path) -> None:
    command = play(("ignore",), ("child", True), ("sleep", 600))
    raised: list[int] = []
    with ClaudeAgents(command, {"PATH": os.environ["PATH"]}, LIMITS) as agents:

        def run() -> None:
            try:
                agents.run(CALL)
            except ReviewInterrupted as interrupted:
                raised.append(interrupted.signal_number)

        threads = [threading.Thread(target=run) for _ in range(3)]
        for thread in threads:
            thread.start()
        wait_for(lambda: len(processes_of(private)) == 6)
        with INTERRUPTION.taken(str):
            INTERRUPTION.interrupt(signal.SIGINT)
            for thread in threads:
                thread.join()
            assert raised == [signal.SIGINT] * 3
            with pytest.raises(ReviewInterrupted):
                agents.run(CALL)


def test_ending_the_running_calls_is_lost_for_them_and_lets_no_later_one_start(play: Play, private: Path) -> None:
    with ClaudeAgents(play(("sleep", 600)), {"PATH": os.environ["PATH"]}, LIMITS) as agents:
        outcomes: list[Answered | Lost] = []
        thread = threading.Thread(target=lambda: outcomes.append(agents.run(CALL)))
        thread.start()
        wait_for(lambda: bool(processes_of(private)))
        agents.end_running()
        thread.join()
        assert [lost(outcome) for outcome in outcomes] == [LostReason.CRASH]
        play(("write", result(structured_output={"n": 1})))
        late = agents.run(CALL)
        assert isinstance(late, Lost)
        assert late.detail == "The review was ended before this call could start."


def test_a_bug_in_the_reader_leaves_no_child(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("review_advisor.agents.claude_stream.StreamReader.feed", broken)
    with pytest.raises(ZeroDivisionError):
        ask(play(("write", "{}\n"), ("child", True), ("sleep", 600)))
