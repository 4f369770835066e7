"""One small working world: a change to review, agents that answer, a clock, and a folder for artefacts.

A story states only its difference from the default: a change of thirty lines in one file of code, agents
that agree with each other, no switches set. ``finish`` proves that nothing was left unsaid.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor as Pool
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from review_advisor.core.facts.change import Change, FileChange, Hunk, Spec, Status
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import Event
from review_advisor.core.policy.policy import Rules
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.policy.switches import read_switches
from review_advisor.core.roles.calls import AgentCall
from review_advisor.core.roles.instructions import ADVISOR, Instructions
from review_advisor.mockworld.agents import FakeAdvisorRunner
from review_advisor.ports import ArtifactError, Ports
from review_advisor.review_phase import ReviewPhase, ReviewRequest


@dataclass
class FakeClock:
    """Time that passes only when a story lets it."""

    moment: datetime = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
    seconds: float = 0.0

    def now(self) -> datetime:
        """The world's present moment."""
        return self.moment + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        """Seconds since the world began."""
        return self.seconds

    def pass_seconds(self, seconds: float) -> None:
        """Let time go by."""
        self.seconds += seconds


@dataclass
class FakeSource:
    """A change that is simply stated. ``texts`` are whole files at the head."""

    stated: Change
    texts: dict[str, str] = field(default_factory=dict)
    tree: Path | None = None

    def change(self) -> Change:
        """The stated change."""
        return self.stated

    def head_text(self, path: str) -> str | None:
        """The stated text of a file."""
        return self.texts.get(path)

    @contextmanager
    def head_tree(self) -> Iterator[Path | None]:
        """The stated folder, or none."""
        yield self.tree


@dataclass
class MemoryJournal:
    """Keeps every event."""

    events: list[Event] = field(default_factory=list)

    def record(self, event: Event) -> None:
        """Keep it."""
        self.events.append(event)


@dataclass
class MemoryArtifacts:
    """A folder in memory; ``full`` makes it refuse like a full disk."""

    files: dict[str, str] = field(default_factory=dict)
    full: bool = False

    def write(self, name: str, text: str) -> None:
        """Store it, or refuse."""
        if self.full:
            raise ArtifactError(f"{name} cannot be written: no space left on device")
        self.files[name] = text


def edited(path: str, lines: int = 30, text: str = "value = {n}", status: Status = Status.MODIFIED) -> FileChange:
    """A file with ``lines`` added lines; line n reads ``text`` with ``{n}`` filled in."""
    body = tuple("+" + text.replace("{n}", str(n)) for n in range(1, lines + 1))
    hunks = (Hunk(0, 0, 1, lines, "", body),) if lines else ()
    return FileChange(status, path, added=lines, hunks=hunks)


def deleted(path: str, lines: int = 30) -> FileChange:
    """A file that the change removes."""
    body = tuple(f"-value = {n}" for n in range(1, lines + 1))
    return FileChange(Status.DELETED, path, new_mode="000000", removed=lines, hunks=(Hunk(1, lines, 0, 0, "", body),))


def renamed(old: str, new: str) -> FileChange:
    """A file that only moves."""
    return FileChange(Status.RENAMED, new, old_path=old)


DEFAULT_CHANGE = Change(
    label="pr-7",
    title="Add a value",
    body="It is needed.",
    author="ada",
    base_sha="b" * 40,
    head_sha="a" * 40,
    files=(edited("src/app.py"),),
)


class MockWorld:
    """The world of one story."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.agents = FakeAdvisorRunner(self.clock)
        self.source = FakeSource(DEFAULT_CHANGE)
        self.journal = MemoryJournal()
        self.artifacts = MemoryArtifacts()
        self.environment: dict[str, str] = {}
        self.rules = Rules()
        self.reviews = 0
        self.pool: Pool | None = None
        self.jobs = 1

    def change(self, *files: FileChange, spec: str | None = None, prior_fix_attempts: int = 0) -> None:
        """Put these files under review instead of the default one."""
        linked = Spec("docs/spec.md", spec) if spec is not None else None
        self.source.stated = replace(
            self.source.stated,
            files=files or self.source.stated.files,
            spec=linked,
            prior_fix_attempts=prior_fix_attempts,
        )

    def switch(self, name: str, value: str) -> None:
        """Set an environment variable of the next review."""
        self.environment[name] = value

    def review(self) -> OutcomeDocument:
        """Run one review with everything the world holds now."""
        self.reviews += 1
        ports = Ports(self.agents, self.source, self.journal, self.artifacts, self.clock)
        request = ReviewRequest(
            run_id=f"run-{self.reviews}",
            nonce=f"nonce{self.reviews:04d}",
            rules=self.rules,
            switches=read_switches(self.environment),
        )
        return ReviewPhase(ports, INSTRUCTIONS, self.pool, self.jobs).review(request)

    @property
    def asked(self) -> list[str]:
        """The roles that were asked, in order."""
        return [call.role.value for call in self.agents.asked]

    @property
    def consulted(self) -> list[str]:
        """What executors asked the advisor mid-flight, in order."""
        return [question for question, _ in self.agents.consulted]

    def calls(self, role: Role) -> list[AgentCall]:
        """What one role was asked, in order."""
        return [call for call in self.agents.asked if call.role is role]

    def finish(self) -> None:
        """End the story. Raises ``AssertionError`` if a scripted line was never said."""
        unsaid = self.agents.unsaid()
        if unsaid:
            raise AssertionError("never said:\n" + "\n".join(unsaid) + "\nasked: " + ", ".join(self.asked))


INSTRUCTIONS = Instructions(
    {
        name: f"[{name}]"
        for name in (
            ADVISOR,
            "pre_flight",
            "executor",
            "mid_flight",
            "post_verify",
            "pr_review",
            "pre_merge_spec_check",
            "adr_review",
        )
    }
)
