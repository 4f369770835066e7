"""One small working world: a change to review, agents that answer, a clock, and a folder for artefacts.

A story states only its difference from the default: a change of thirty lines in one file of code, agents
that agree with each other, no switches set. ``finish`` proves that nothing was left unsaid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor as Pool
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from review_advisor.agents.calls import AgentCall
from review_advisor.agents.prompts import ADVISOR, Instructions
from review_advisor.change.around import UseCollector
from review_advisor.change.change import Change, Edits, FileChange, Hunk, SourceError, Spec, Status
from review_advisor.change.guidelines import BaseText
from review_advisor.change.picture_pairs import PictureDifference
from review_advisor.change.redaction import redactor
from review_advisor.change.source import AsShown
from review_advisor.change.tool_remarks import ToolRemark
from review_advisor.mockworld.agents import FakeAdvisorRunner, Killed
from review_advisor.mockworld.copies import Checkout, Copies, Edit, EditResult, Texts, changed_between
from review_advisor.mockworld.copies import text_tree_name as tree_name
from review_advisor.policy.outage_rules import NO_SECOND_TRY
from review_advisor.policy.policy import RepairMode, Rules
from review_advisor.policy.prices import Price
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.policy.switches import read_switches
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import Event
from review_advisor.review.matter import ReviewRequest
from review_advisor.review.phase import ReviewPhase
from review_advisor.review.ports import ArtifactError, Ports
from review_advisor.safety.stop import ConsultRecord, ReviewInterrupted


@dataclass
class FakeClock:
    """Time that passes only when a story lets it. ``moment`` is now, ``seconds`` what has passed till now."""

    moment: datetime = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
    seconds: float = 0.0

    def now(self) -> datetime:
        """The world's present moment."""
        return self.moment

    def monotonic(self) -> float:
        """Seconds since the world began."""
        return self.seconds

    def sleep(self, seconds: float) -> None:
        """Let time go by."""
        self.seconds += seconds
        self.moment += timedelta(seconds=seconds)


@dataclass
class FakeSource:
    """A change that is simply stated."""

    stated: Change
    texts: dict[str, str] = field(default_factory=dict)
    """Whole files at the head, by their paths."""
    tree: Path | None = None
    at_base: tuple[str, ...] = ()
    """The names of files at the base."""
    checkout: Copies[str] | Copies[Edit] | None = None
    """With it there are trees, too, and copies of them that can be edited."""
    guidelines: Mapping[str, str] = field(default_factory=dict)
    """Texts at the base, by their paths."""
    breaks: str = ""
    """Why it cannot be read any more."""

    def change(self) -> Change:
        """The stated change."""
        if self.breaks:
            raise SourceError(self.breaks)
        return self.stated

    def base_texts(self, paths: Iterable[str]) -> dict[str, BaseText]:
        """The stated guidelines among these paths."""
        return {path: BaseText(self.guidelines[path]) for path in paths if path in self.guidelines}

    def base_names(self, folder: str) -> tuple[str, ...]:
        """The stated names that lie directly in a folder."""
        return tuple(path.rpartition("/")[2] for path in self.at_base if path.rpartition("/")[0] == folder)

    def head_text(self, path: str) -> str | None:
        """The stated text of a file."""
        return self.texts.get(path)

    def head_texts(self, paths: Iterable[str], tree: str | None = None) -> dict[str, str]:
        """The texts among these paths."""
        texts = self._texts(tree)
        return {path: texts[path] for path in paths if path in texts}

    def collect_uses(self, collector: UseCollector, tree: str | None = None) -> bool:
        """All lines of the texts: the collector looks for its names in each."""
        for path, text in sorted(self._texts(tree).items()):
            for number, line in enumerate(text.split("\n"), start=1):
                collector.add(path, number, line)
        return True

    def _texts(self, tree: str | None) -> Texts:
        if tree is None:
            return self.texts
        return self.checkout.texts_of(tree) if isinstance(self.checkout, Checkout) else {}

    @contextmanager
    def head_tree(self, tree: str | None = None, shown: AsShown | None = None) -> Iterator[Path | None]:  # noqa: ARG002
        """A copy of the checkout; without one the stated folder, or none."""
        if self.checkout is None:
            yield self.tree
        else:
            with self.checkout.copy(tree) as place:
                yield place

    def edits(self, folder: Path) -> Edits:
        """What was edited in a copy."""
        if self.checkout is None:
            raise AssertionError(f"nobody can have edited {folder}: there is no checkout")
        return self.checkout.edits(folder, self.stated)

    def write(self, folder: Path, path: str, written: EditResult) -> None:
        """An executor edits its copy."""
        if self.checkout is None:
            raise AssertionError(f"nobody can edit {folder}: there is no checkout")
        self.checkout.write(folder, path, written)


@dataclass
class FakePictures:
    """Pairs of pictures that are simply stated, and the folder that their crops would lie in."""

    stated: tuple[PictureDifference, ...] = ()
    folder: Path = Path("gallery")

    @property
    def gallery(self) -> Path | None:
        """The folder, if anything is shown."""
        return self.folder if any(picture.crops for picture in self.stated) else None

    def differences(self, change: Change, check_interrupt: Callable[[], None]) -> tuple[PictureDifference, ...]:
        """The stated pairs; none of them is looked at once the review is interrupted."""
        del change
        try:
            check_interrupt()
        except ReviewInterrupted:
            return tuple(PictureDifference(each.name, "unreadable", why="interrupted") for each in self.stated)
        return self.stated


@dataclass
class MemoryWiki:
    """The repository's wiki folder in memory; ``refuses`` is why nothing can be stored in it."""

    files: dict[str, str] = field(default_factory=dict)
    refuses: str | None = None

    def store(self, name: str, text: str) -> str | None:
        """Store it, unless something is in the way."""
        why = self.refuses or ("a file of that name is there already" if name in self.files else None)
        if why is None:
            self.files[name] = text
        return why


@dataclass
class MemoryJournal:
    """Keeps every event. ``killed_at``: the process is killed at that event, counted from 1."""

    events: list[Event] = field(default_factory=list)
    killed_at: int | None = None

    def record(self, event: Event) -> None:
        """Keep it."""
        self.events.append(event)
        if len(self.events) == self.killed_at:
            raise Killed


@dataclass
class MemoryArtifacts:
    """A folder in memory. From the ``full_at``-th artefact on it refuses like a full disk; ``refused``: it has."""

    files: dict[str, str] = field(default_factory=dict)
    full_at: int | None = None
    refused: bool = False

    def write(self, name: str, text: str) -> None:
        """Store it, or refuse."""
        if self.full_at is not None and len(self.files) + 1 >= self.full_at:
            self.refused = True
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
    """The world of one story, with its own clock and agents unless they are given."""

    def __init__(self, clock: FakeClock | None = None, agents: FakeAdvisorRunner | None = None) -> None:
        self.clock = clock or FakeClock()
        self.agents = agents or FakeAdvisorRunner(self.clock)
        self.source = FakeSource(DEFAULT_CHANGE)
        self.agents.write = self.source.write
        self.repair: RepairMode = "suggest"
        self.journal = MemoryJournal()
        self.artifacts = MemoryArtifacts()
        self.pictures = FakePictures()
        self.wiki = MemoryWiki()
        self.environment: dict[str, str] = {}
        self.rules = Rules(outage=NO_SECOND_TRY)
        self.static = False
        self.tool_remarks: tuple[ToolRemark, ...] = ()
        self.consult_requested = False
        self.earlier_consults: tuple[ConsultRecord, ...] = ()
        self.reviews = 0
        self.threads: Callable[[int], Pool] = ThreadPoolExecutor
        self.jobs = 1
        self.prices: tuple[Price, ...] = ()

    def change(self, *files: FileChange, spec: str | None = None, prior_fix_attempts: int = 0) -> None:
        """Put these files under review instead of the default one."""
        linked = Spec("docs/spec.md", spec) if spec is not None else None
        self.source.stated = replace(
            self.source.stated,
            files=files or self.source.stated.files,
            spec=linked,
            prior_fix_attempts=prior_fix_attempts,
        )

    def checkout(self, head: Texts, base: Texts) -> None:
        """Put the change between two trees of whole texts under review: a head that an executor may repair."""
        self.source.checkout = Checkout(base, head)
        self.source.texts = dict(head)
        self.source.stated = replace(self.source.stated, files=changed_between(base, head), tree=tree_name(head))

    def switch(self, name: str, value: str) -> None:
        """Set an environment variable of the next review."""
        self.environment[name] = value

    @property
    def run_id(self) -> str:
        """The latest review's id."""
        return f"run-{self.reviews}"

    @property
    def nonce(self) -> str:
        """The latest review's nonce."""
        return f"nonce{self.reviews:04d}"

    def review(self) -> OutcomeDocument:
        """Run one review with everything the world holds now."""
        self.reviews += 1
        ports = Ports(
            self.agents,
            self.source,
            self.journal,
            self.artifacts,
            self.clock,
            self.pictures,
            self.wiki,
            self.prices,
        )
        request = ReviewRequest(
            run_id=self.run_id,
            nonce=self.nonce,
            rules=self.rules,
            switches=replace(read_switches(self.environment), static=self.static),
            redactor=redactor(self.environment),
            repair=self.repair,
            tool_remarks=self.tool_remarks,
            consult_requested=self.consult_requested,
            earlier_consults=self.earlier_consults,
        )
        return ReviewPhase(ports, INSTRUCTIONS, self.jobs, self.threads).review(request)

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


_OF_NO_REVIEW = (Role.RETRO, Surface.RELEASE_READINESS)
INSTRUCTIONS = Instructions({name: f"[{name}]" for name in (ADVISOR, *Role, *Surface) if name not in _OF_NO_REVIEW})
