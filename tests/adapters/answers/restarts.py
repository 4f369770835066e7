"""Reviews of MockWorld that are killed and started again, with their answers kept on disk."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

import pytest

from review_advisor.agents.calls import AgentCall, Answered, Consults, Lost
from review_advisor.agents.kept_replies import RememberingAgents, ReplyStore, RunNames, review_identity
from review_advisor.change.redaction import NO_SECRETS, redactor
from review_advisor.mockworld.agents import FakeAdvisorRunner, Killed
from review_advisor.mockworld.world import INSTRUCTIONS, MemoryArtifacts, MemoryJournal, MockWorld
from review_advisor.policy.budgets import Budgets
from review_advisor.policy.switches import read_switches
from review_advisor.review.consults import ReviewConsults
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import CallEnded, Event, KnowledgeStored, PolicyFrozen
from review_advisor.review.matter import ReviewRequest
from review_advisor.review.phase import ReviewPhase
from review_advisor.review.ports import Ports

SECRET = b"whoever pays knows it"
NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def no_warning(sentence: str) -> None:
    """Keeping answers has nothing to say while all is well."""
    raise AssertionError(sentence)


def store_of(
    world: MockWorld, root: Path, secret: bytes = SECRET, warn: Any = no_warning, *, fresh: bool = False
) -> ReplyStore:
    """The kept answers of the world's present change."""
    switches = read_switches(world.environment)
    review = review_identity(world.source.change(), world.rules, switches, world.repair)
    return ReplyStore(root, review, secret, warn, fresh=fresh)


def remembering(world: MockWorld, store: ReplyStore) -> RememberingAgents:
    """The agents of the world's present run."""
    return RememberingAgents(world.agents, store, names_of(world), redactor(world.environment))


def names_of(world: MockWorld) -> RunNames:
    """Every run has its own."""
    return RunNames(f"run_20260105T090000Z_{world.reviews:08x}", f"{world.reviews:016x}")


def run(world: MockWorld, store: ReplyStore) -> OutcomeDocument:
    """One run of the review."""
    world.reviews += 1
    names, agents = names_of(world), remembering(world, store)
    ports = Ports(agents, world.source, world.journal, world.artifacts, world.clock, world.pictures, world.wiki)
    request = ReviewRequest(
        run_id=names.run_id,
        nonce=names.nonce,
        rules=world.rules,
        switches=read_switches(world.environment),
        redactor=redactor(world.environment),
        repair=world.repair,
        earlier_consults=store.inherited_consults,
    )
    return ReviewPhase(ports, INSTRUCTIONS, world.jobs, world.threads).review(request)


def restarted(world: MockWorld, root: Path) -> OutcomeDocument:
    """A new process: nothing is left of the last one but what it wrote to disk."""
    world.journal, world.artifacts = MemoryJournal(), MemoryArtifacts()
    return run(world, store_of(world, root))


def killed_at(world: MockWorld, root: Path, number: int) -> None:
    """A run whose process is killed when its ``number``-th event is recorded."""
    world.journal = MemoryJournal(killed_at=number)
    with pytest.raises(Killed):
        run(world, store_of(world, root))


PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload([__name__])


def really_killed_at(story: Callable[[MockWorld], None], world: MockWorld, root: Path, number: int) -> None:
    """The same by the kernel: a process of its own reviews the story, and SIGKILL ends it in the midst of that event.

    The agents of ``world`` answer it from here, as a provider of models would: they outlive it.
    """
    here, there = PROCESSES.Pipe()
    consults = ReviewConsults(Budgets(max_usd=1.0), NO_SECRETS)
    process = PROCESSES.Process(target=_die_at, args=(story, there, root, number))
    process.start()
    there.close()
    with suppress(EOFError):
        while True:
            call: AgentCall = here.recv()
            here.send(world.agents.run(call, None if call.consults is None else consults.of_call(call.consults)))
    process.join()
    world.reviews += 1
    assert process.exitcode == -signal.SIGKILL


def _die_at(story: Callable[[MockWorld], None], there: Connection, root: Path, number: int) -> None:
    world = MockWorld()
    story(world)
    world.agents = cast("FakeAdvisorRunner", _Elsewhere(there))
    world.journal = _Deadly(killed_at=number)
    run(world, store_of(world, root))


@dataclass
class _Elsewhere:
    """The Agents port of a process whose questions are answered in another one."""

    there: Connection

    def run(self, call: AgentCall, consults: Consults | None = None) -> Answered | Lost:
        self.there.send(call)
        reply: Answered | Lost = self.there.recv()
        return reply

    def check_interrupt(self) -> None:
        """Nobody interrupts it."""

    def end_running(self) -> None:
        """Nothing runs beside it."""


@dataclass
class _Deadly(MemoryJournal):
    """Ends its process as the kernel would: nothing is caught, closed or flushed."""

    def record(self, event: Event) -> None:
        try:
            super().record(event)
        except Killed:
            os.kill(os.getpid(), signal.SIGKILL)


def retold(document: OutcomeDocument) -> list[Event]:
    """What happened, without what every run has of its own: its moments, its names, and who was paid when."""
    return [_retold(event) for event in document.events]


def _retold(event: Event) -> Event:
    if isinstance(event, PolicyFrozen):
        return replace(event, at=NOON, run_id="")
    if isinstance(event, CallEnded):
        return replace(event, at=NOON, prompt_sha256="", kept=False, paid_by="")
    if isinstance(event, KnowledgeStored):
        return replace(event, at=NOON, not_in_repository="")  # the first run may have put it there
    return replace(event, at=NOON)
