"""Whoever wants more advice than a review grants: by floods, side by side, with forged clients, or after the end."""

from __future__ import annotations

import errno
import json
import os
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.consulting import (
    ANSWERED_WITHIN,
    GRANT,
    after,
    ask_hook,
    before,
    consults_of_a_call,
    said_to,
    serving,
)

from review_advisor.agents.calls import AgentCall, Answered, ConsultReply, Consults, Denied, Granted, Lost
from review_advisor.agents.claude_stream import TaskStarted
from review_advisor.agents.consult_hook import SOCKET
from review_advisor.mockworld.agents import FakeAdvisorRunner, veto
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role
from review_advisor.review.consults import CallConsults
from review_advisor.review.rulings import Outcome
from review_advisor.safety.stop import ConsultRecord

CAP = "HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS"


@dataclass
class Flooding(FakeAdvisorRunner):
    """Its executors ask ``each`` questions at once and say this of the granted ones; they ``meet`` before they ask."""

    each: int = 50
    says: ConsultReply | None = None
    meet: threading.Barrier | None = None
    granted: list[str] = field(default_factory=list)
    kept: list[Consults] = field(default_factory=list)

    def run(self, call: AgentCall, consults: Consults | None = None) -> Answered | Lost:
        if consults is None:
            return super().run(call)
        if self.meet is not None:
            self.meet.wait()

        def ask(number: int) -> None:
            identity = f"toolu_{call.shard}_{call.attempt}_{number}"
            if isinstance(consults.ask(identity, f"Is src/app.py right, {number}?"), Granted):
                self.granted.append(identity)
                if self.says is not None:
                    consults.settle(identity, self.says)

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(ask, range(self.each)))
        self.kept.append(consults)
        reply = super().run(call, consults)
        return replace(reply, receipt=replace(reply.receipt, consults=consults.end()))


@pytest.fixture
def flooded() -> MockWorld:
    world = MockWorld()
    world.agents = Flooding(world.clock)
    return world


def agents_of(world: MockWorld) -> Flooding:
    assert isinstance(world.agents, Flooding)
    return world.agents


def test_a_flood_of_questions_is_granted_the_cap_and_told_as_denied(flooded: MockWorld) -> None:
    document = flooded.review()
    notes = [note for part in document.surfaces[0].parts for note in part.consults]
    assert len(agents_of(flooded).granted) == 5
    assert [note.status for note in notes].count("denied") == 45


def test_consults_that_fail_on_purpose_are_refunded_three_times_in_the_whole_review(flooded: MockWorld) -> None:
    agents_of(flooded).says = ConsultReply(False, reason="on purpose")
    flooded.agents.script(Role.POST_VERIFY, veto("a fault"))
    flooded.review()
    assert len(flooded.calls(Role.EXECUTOR)) == 2
    assert len(agents_of(flooded).granted) == 8


@pytest.mark.parametrize("cap", [1, 2])
def test_calls_side_by_side_share_what_is_left_of_the_cap(flooded: MockWorld, cap: int) -> None:
    flooded.switch(CAP, str(cap))
    flooded.rules = replace(flooded.rules, shard_tokens=180)
    flooded.change(*(edited(f"src/{name}.py") for name in "ab"))
    flooded.jobs = 2
    agents = agents_of(flooded)
    agents.meet, agents.each, agents.says = threading.Barrier(2, timeout=60), 20, ConsultReply(True, "Yes.")
    document = flooded.review()
    assert document.outcome is Outcome.APPROVED
    assert len(agents.granted) == cap


def test_leave_that_outlives_its_call_is_worth_nothing(flooded: MockWorld) -> None:
    flooded.switch(CAP, "20")
    flooded.review()
    (kept,) = agents_of(flooded).kept
    assert not isinstance(kept.ask("later", "And now?"), Granted)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "call" / "tmp").mkdir(parents=True)
    return tmp_path / "call"


def test_another_users_process_gets_no_answer_and_counts_nothing(folder: Path) -> None:
    consults = consults_of_a_call()
    with serving(folder, consults, user=os.getuid() + 1):
        assert ask_hook(folder, before("t1"))["permissionDecision"] == "deny"
    assert consults.end() == ()


@pytest.mark.parametrize(
    "event",
    [b"", b"grant me", b"\0" * 100_000, b'{"hook_event_name": "PreToolUse"}', b"[" * 100_000, b'{"tool_use_id": 1'],
    ids=["nothing", "words", "zeros", "half an event", "depth", "no JSON"],
)
def test_whoever_speaks_no_event_gets_no_answer_and_keeps_nobody_from_one(folder: Path, event: bytes) -> None:
    consults = consults_of_a_call(cap=1)
    with serving(folder, consults):
        assert said_to(folder, event) == b""
        assert b'"allow"' in said_to(folder, json.dumps(before("t1")).encode())
    assert [record.tool_use_id for record in consults.end()] == ["t1"]


def test_whoever_holds_the_line_keeps_nobody_from_an_answer(folder: Path) -> None:
    with serving(folder, consults_of_a_call()), socket.socket(socket.AF_UNIX) as silent:
        silent.connect(str(folder / SOCKET))
        silent.sendall(b'{"hook_event_name": "PreTool')
        assert b'"allow"' in said_to(folder, json.dumps(before("t1")).encode())


def test_a_process_that_is_short_of_descriptors_for_a_moment_answers_afterwards(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept, failures = socket.socket.accept, [OSError(errno.EMFILE, "Too many open files")] * 2

    def short(listener: socket.socket) -> tuple[socket.socket, Any]:
        if failures:
            raise failures.pop()
        return accept(listener)

    monkeypatch.setattr(socket.socket, "accept", short)
    with serving(folder, consults_of_a_call()):
        assert b'"allow"' in said_to(folder, json.dumps(before("t1")).encode())
    assert failures == []


def test_a_process_that_is_short_of_threads_leaves_one_hook_unanswered_and_hears_the_next(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, failures = threading.Thread.start, [RuntimeError("can't start new thread")]

    def short(thread: threading.Thread) -> None:
        if failures:
            raise failures.pop()
        start(thread)

    with serving(folder, consults_of_a_call()), socket.socket(socket.AF_UNIX) as client:
        monkeypatch.setattr(threading.Thread, "start", short)
        client.settimeout(ANSWERED_WITHIN)
        client.connect(str(folder / SOCKET))
        assert client.recv(1) == b""
        assert b'"allow"' in said_to(folder, json.dumps(before("t1")).encode())


@dataclass
class Slow:
    """The consults of a call that answer a question only once the hook is gone."""

    of: CallConsults
    hook_is_gone: threading.Event = field(default_factory=threading.Event)
    settled: threading.Event = field(default_factory=threading.Event)

    def ask(self, tool_use_id: str, question: str, wanted: str = "") -> Granted | Denied:
        assert self.hook_is_gone.wait(60)
        return self.of.ask(tool_use_id, question, wanted)

    def settle(self, tool_use_id: str, reply: ConsultReply) -> None:
        self.of.settle(tool_use_id, reply)
        self.settled.set()

    def end(self) -> tuple[ConsultRecord, ...]:
        return self.of.end()


def test_leave_that_comes_after_the_hook_gave_up_is_refunded_and_starts_nobody(folder: Path) -> None:
    consults = Slow(consults_of_a_call(cap=1))
    with serving(folder, consults) as server:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(folder / SOCKET))
            client.sendall(json.dumps(before("t1")).encode())
            client.shutdown(socket.SHUT_WR)
        consults.hook_is_gone.set()
        assert consults.settled.wait(ANSWERED_WITHIN)
        answer = json.loads(said_to(folder, json.dumps(before("t2")).encode()))["hookSpecificOutput"]
        assert answer["permissionDecision"] == "allow", "the one consult of the cap was given back"
        late = TaskStarted("t1", GRANT.subagent_type, answer["updatedInput"]["prompt"], is_backgrounded=False)
        assert not server.has_granted(late)
    assert consults.end()[0].reason == "the consult hook had given up before it was answered"


def test_an_answer_that_nobody_asked_for_settles_nothing(folder: Path) -> None:
    consults = consults_of_a_call(cap=1)
    with serving(folder, consults):
        said_to(folder, json.dumps(after("t1", "Approve it.")).encode())
        said_to(folder, json.dumps(before("t1")).encode())
    (record,) = consults.end()
    assert (record.status, record.reply) == ("failed", "")


def test_nobody_is_heard_once_the_call_is_over(folder: Path) -> None:
    with serving(folder, consults_of_a_call()):
        pass
    with pytest.raises(ConnectionRefusedError):
        said_to(folder, json.dumps(before("t1")).encode())
    assert ask_hook(folder, before("t1"))["permissionDecision"] == "deny"
