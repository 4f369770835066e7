"""Edits the memory of a working tree. People commit it like any other file; a review reads the one of its base."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from review_advisor.adapters.ledger.browsing import RecordedRun, read_reviews
from review_advisor.adapters.ledger.run_queries import list_runs
from review_advisor.adapters.ledger.transfer import events_of_run
from review_advisor.adapters.worktree import WorkFolder
from review_advisor.app.doctor import repository_top
from review_advisor.app.settings import ConfigError
from review_advisor.core.exports.harness_run import harness_run
from review_advisor.core.ledger.chain import LedgerError
from review_advisor.core.ledger.runs import RunFilter
from review_advisor.core.lessons.approval import MemoryRefusedError
from review_advisor.core.lessons.memory_record import MEMORY_FILE, ReadMemory, read_memory
from review_advisor.core.observation.memory_uses import EntryUses, memory_uses
from review_advisor.core.safety.legible import legible, read_json

PROPOSALS = "memory_proposals.jsonl"
MOST_REVIEWS = 1_000
"""The most reviews that are searched for findings that cite an entry."""
_MOST_READ = 1_000_000
_PLACE = PurePosixPath(MEMORY_FILE)


def working_memory(repo: Path) -> ReadMemory:
    """The memory as it stands in the working tree, empty without one. Raises ``ConfigError`` if it cannot be read."""
    top = repository_top(repo)
    if not (top / MEMORY_FILE).is_symlink() and not (top / MEMORY_FILE).exists():
        return ReadMemory()
    raw = WorkFolder(top, str(_PLACE.parent)).read(_PLACE.name, _MOST_READ)
    if isinstance(raw, str):
        raise ConfigError(f"{MEMORY_FILE} cannot be read: {raw}.")
    return read_memory(raw.decode("utf-8", "replace"))


def edit_memory(repo: Path, edit: Callable[[ReadMemory], str]) -> None:
    """Write what ``edit`` makes of the memory, whole or not at all. Raises ``ConfigError`` if nothing was written.

    A memory with a line that is no record is not edited, so that no line is lost.
    """
    memory = working_memory(repo)
    if memory.problems:
        raise ConfigError(f"{MEMORY_FILE} cannot be edited: {memory.problems[0]}. Mend it first.")
    try:
        text = edit(memory)
    except MemoryRefusedError as refused:
        raise ConfigError(str(refused)) from None
    missing = WorkFolder(repository_top(repo), str(_PLACE.parent)).replace(_PLACE.name, text)
    if missing is not None:
        raise ConfigError(f"{MEMORY_FILE} is not written: {missing}.")


def proposals_of(run: str, ledger: Path) -> tuple[dict[str, Any], ...]:
    """What a run proposed: by its folder, or by its id in the ledger. Raises ``ConfigError``."""
    if not Path(run).is_dir():
        return tuple(_objects(_of_review(run, ledger)))
    raw = WorkFolder(Path(run), "").read(PROPOSALS, _MOST_READ)
    if isinstance(raw, str):
        raise ConfigError(f"{PROPOSALS} of that run cannot be read: {raw}.")
    return tuple(_objects(raw.decode("utf-8", "replace")))


def proposal_named(run: str, ledger: Path, name: str) -> dict[str, Any]:
    """One of them. Raises ``ConfigError`` if the run proposed none of that id."""
    found = next((each for each in proposals_of(run, ledger) if each.get("id") == name), None)
    if found is None:
        raise ConfigError(f"That run has no proposal {name}.")
    return found


def is_there(ledger: Path) -> bool:
    """Whether there is something under this name, also where nobody may look."""
    try:
        return ledger.exists()
    except OSError:
        return True


def counted_uses(ledger: Path, memory: ReadMemory) -> dict[str, EntryUses]:
    """How often findings cite each entry, in the newest reviews of the ledger. Raises ``ConfigError``."""
    try:
        names = [line.run_id for line in list_runs(ledger, RunFilter(limit=MOST_REVIEWS))]
        kept = (each for each in read_reviews(ledger, names) if isinstance(each, RecordedRun))
        return memory_uses(memory.records, ((each.document, each.labels) for each in kept if each.document is not None))
    except LedgerError as refused:
        raise ConfigError(str(refused)) from None


def _of_review(named: str, ledger: Path) -> str:
    """The entries of a review's last reports, as its run folder has them."""
    try:
        events, _ = events_of_run(ledger, named)
    except LedgerError as refused:
        raise ConfigError(f"{named} is no folder and no review. {refused}") from None
    return harness_run(events)[PROPOSALS]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = legible(read_json(line))
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise ConfigError(f"Line {number} of {PROPOSALS} is no JSON object.")
        yield value
