"""The consult hook as the CLI runs it: one process per event, through a shell. It asks the harness over a socket."""

from __future__ import annotations

import ast
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.consulting import (
    GRANT,
    SENTINEL,
    after,
    ask_hook,
    before,
    command,
    consults_of_a_call,
    granted,
    serving,
)

from review_advisor.agents import consult_hook
from review_advisor.agents.calls import NamedAdvisor
from review_advisor.agents.claude_argv import DEFAULT_LIMITS
from review_advisor.agents.claude_stream import TaskStarted
from review_advisor.safety.children import clear_away, folder_of

REFUSED = "The consult could not be registered. Go on without advice."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A call's private folder."""
    (tmp_path / "call" / "tmp").mkdir(parents=True)
    return tmp_path / "call"


@contextmanager
def answering(folder: Path, *parts: bytes, silent: bool = False) -> Iterator[None]:
    """A harness that says this to whoever asks; a silent one says it and keeps the line open."""
    over = threading.Event()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / consult_hook.SOCKET))
        listener.listen()

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                while connection.recv(65_536):
                    pass
                for part in parts:
                    connection.sendall(part)
                if silent:
                    over.wait(60)

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join(60)


def test_a_granted_consult_is_rewritten_whatever_was_asked_for(folder: Path, tmp_path: Path) -> None:
    """Also where the checkout holds modules of our names, and of the standard library's."""
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    for name in ("json", "socket", "signal", "sitecustomize", "review_advisor"):
        (checkout / f"{name}.py").write_text("raise SystemExit('imported from the checkout')\n")
    consults = consults_of_a_call()
    with serving(folder, consults):
        event = before("t1", model="haiku", run_in_background=True, isolation="worktree", effort="low")
        answer = ask_hook(folder, event, cwd=checkout, PYTHONPATH=str(checkout))
        assert ask_hook(folder, after("t1"), cwd=checkout) == {}
    assert answer["permissionDecision"] == "allow"
    asked = answer["updatedInput"]
    assert asked.pop("prompt").startswith(f"{SENTINEL}\n")
    assert asked == {
        "description": "a question of the executor",
        "subagent_type": "the-advisor",
        "run_in_background": False,
    }
    (record,) = consults.end()
    assert (record.tool_use_id, record.question, record.status, record.reply) == ("t1", "Which?", "answered", "It is.")


def test_past_the_cap_the_reason_says_so(folder: Path) -> None:
    with serving(folder, consults_of_a_call(cap=0)):
        answer = ask_hook(folder, before("t1"))
    assert answer["permissionDecision"] == "deny"
    assert "All 0 consults" in answer["permissionDecisionReason"]


def test_the_hook_sees_no_credential(folder: Path, tmp_path: Path) -> None:
    spy = tmp_path / "spy.py"
    spy.write_text(f"import os\nopen({str(tmp_path / 'seen')!r}, 'w').write(repr(sorted(os.environ)))\n")
    ask_hook(folder, before("t1"), command(str(spy)), ANTHROPIC_AUTH_TOKEN="t", AWS_SECRET_ACCESS_KEY="s")
    assert set(ast.literal_eval((tmp_path / "seen").read_text())) <= {"TMPDIR", "LC_CTYPE"}


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"{",
        b"{}",
        b"null",
        b"allow",
        b'{"hookSpecificOutput": {"permissionDecision": "ask"}}',
        b'{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"',
        b"\xff\xfe",
    ],
)
def test_a_garbled_answer_denies(folder: Path, said: bytes) -> None:
    with answering(folder, said):
        answer = ask_hook(folder, before("t1"))
    assert (answer["permissionDecision"], answer["permissionDecisionReason"]) == ("deny", REFUSED)


@pytest.mark.every_case
def test_no_answer_in_time_denies_also_when_half_of_one_came(folder: Path) -> None:
    with answering(folder, b'{"hookSpecificOutput": {"permissionDecision": "allow"', silent=True):
        answer = ask_hook(folder, before("t1"), command(seconds=1))
    assert (answer["permissionDecision"], answer["permissionDecisionReason"]) == ("deny", REFUSED)


def test_the_hook_gives_up_before_the_cli_gives_up_on_the_hook() -> None:
    assert DEFAULT_LIMITS.hook_patience_seconds < DEFAULT_LIMITS.hook_timeout_seconds


def test_without_harness_script_or_folder_the_hook_denies(folder: Path) -> None:
    denied = [
        ask_hook(folder, before("t1")),
        ask_hook(folder, before("t1"), command("/nonexistent.py")),
        ask_hook(folder, before("t1"), TMPDIR=""),
        ask_hook(folder, before("t1"), TMPDIR=str(folder / "nowhere")),
    ]
    assert [answer["permissionDecisionReason"] for answer in denied] == [REFUSED] * 4


@pytest.mark.parametrize(
    "event",
    [{}, {"hook_event_name": "PreToolUse"}, {"hook_event_name": "PreToolUse", "tool_use_id": "t", "tool_input": 3}],
)
def test_an_event_that_is_none_denies_and_counts_nothing(folder: Path, event: dict[str, Any]) -> None:
    consults = consults_of_a_call()
    with serving(folder, consults):
        assert ask_hook(folder, event)["permissionDecisionReason"] == REFUSED
    assert consults.end() == ()


def test_a_folder_whose_path_is_longer_than_an_address_can_be_is_served_all_the_same(folder: Path) -> None:
    deep = folder / "/".join(["quite-a-long-name-of-a-folder"] * 6)
    assert len(os.fsencode(deep)) > 150
    with serving(deep, consults_of_a_call()):
        assert ask_hook(deep, before("t1"))["permissionDecision"] == "allow"


def test_the_socket_of_a_harness_that_was_killed_goes_with_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next run removes the temporary folders of a dead one."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    dead = "0123456789abcdef"
    call = folder_of(dead) / "calls-x" / "call-1"
    with serving(call, consults_of_a_call()):
        assert stat.S_ISSOCK((call / consult_hook.SOCKET).lstat().st_mode)
        clear_away(dead)
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "started,guarded",
    [
        ({}, True),
        ({"prompt": None}, False),
        ({"prompt": f"{SENTINEL}\nApprove."}, False),
        ({"subagent_type": "general-purpose"}, False),
        ({"is_backgrounded": True}, False),
        ({"tool_use_id": "t2"}, False),
        ({"tool_use_id": "t3"}, False),
    ],
    ids=["as granted", "without a prompt", "other words", "other agent", "background", "denied", "never asked"],
)
def test_a_subagent_is_guarded_only_as_it_was_granted(folder: Path, started: dict[str, Any], guarded: bool) -> None:
    with serving(folder, consults_of_a_call(cap=1)) as server:
        prompt = granted(folder, "t1")["prompt"]
        assert granted(folder, "t2") is None
        told = {"tool_use_id": "t1", "subagent_type": GRANT.subagent_type, "prompt": prompt, "is_backgrounded": False}
        assert server.has_granted(TaskStarted(**{**told, **started})) is guarded


def test_a_grant_is_good_for_one_start(folder: Path) -> None:
    with serving(folder, consults_of_a_call()) as server:
        prompt = granted(folder, "t1")["prompt"]
        started = TaskStarted("t1", GRANT.subagent_type, prompt, is_backgrounded=False)
        assert [server.has_granted(started) for _ in range(2)] == [True, False]


def test_an_advisor_that_is_asked_by_its_id_runs_as_itself_and_nobody_else_does(folder: Path) -> None:
    others = (NamedAdvisor("dataSteward", "data", "You look after data.", "haiku"),)
    consults = consults_of_a_call(grant=replace(GRANT, others=others))
    with serving(folder, consults) as server:
        rewritten = ask_hook(folder, before("t1", subagent_type="dataSteward", model="opus"))["updatedInput"]
        assert (rewritten["subagent_type"], set(rewritten)) == (
            "dataSteward",
            {"description", "prompt", "subagent_type", "run_in_background"},
        )
        as_the_first = TaskStarted("t1", GRANT.subagent_type, rewritten["prompt"], is_backgrounded=False)
        assert not server.has_granted(as_the_first), "who was granted is who starts"
        refused = ask_hook(folder, before("t2", subagent_type="dataStewart"))
        assert refused["permissionDecision"] == "deny"
        assert refused["permissionDecisionReason"].endswith("'dataStewart'; did you mean 'dataSteward'?")
        again = ask_hook(folder, before("t3", subagent_type="dataSteward"))["updatedInput"]
        assert server.has_granted(TaskStarted("t3", "dataSteward", again["prompt"], is_backgrounded=False))
    told = [(each.advisor, each.status) for each in consults.end()]
    assert told == [("dataSteward", "failed"), ("", "failed"), ("dataSteward", "failed")]


def test_the_hook_needs_nothing_but_the_standard_library() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import runpy; runpy.run_path({consult_hook.__file__!r}, run_name='hook')"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
