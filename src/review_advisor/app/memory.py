"""`memory`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import click

from review_advisor.agents.prompts import MEMORY_FILE, ReadMemory, read_memory
from review_advisor.app.agent_choice import repository_top
from review_advisor.app.options import LEDGER, REPO
from review_advisor.app.terminal import clear_refusals, note, put
from review_advisor.change.work_folder import WorkFolder
from review_advisor.ledger.chain import LedgerError
from review_advisor.ledger.queries import RunFilter
from review_advisor.ledger.run_queries import RecordedRun, list_runs, read_reviews
from review_advisor.ledger.transfer import events_of_run
from review_advisor.policy.settings import ConfigError
from review_advisor.review.observed import EntryUses, memory_uses
from review_advisor.safety.fence import legible, read_json
from review_advisor.safety.wording import counted
from review_advisor.tasks.memory import MemoryRefusedError
from review_advisor.tasks.review_texts import review_texts

if TYPE_CHECKING:
    from datetime import datetime


@click.group(name="memory")
def memory() -> None:
    """List, approve, reject or expire entries of .review-advisor/memory.jsonl in the working tree.

    Commit the file: reviews read the one of their base.
    """


@memory.command(name="list", short_help="Print the entries, or the proposals of a run.")
@click.option("--from", "run", metavar="RUN", help="A run's folder, or a review's id: print its proposals instead.")
@LEDGER
@REPO
def list_entries(repo: Path, run: str | None, ledger_file: Path) -> None:
    """Print one line for each entry: its id, whether it holds, its type, its content and its hits.

    A hit is a finding that cites the entry; a false hit was dismissed or marked as wrong. Hits come from the file, or
    from the ledger if it has more.
    """
    with clear_refusals():
        from review_advisor.safety.wording import printable_line

        lines = _memory_lines(repo, ledger_file) if run is None else _proposal_lines(run, ledger_file)
        put("".join(f"{printable_line(line)}\n" for line in lines))


def _memory_lines(repo: Path, ledger: Path) -> Iterator[str]:
    from review_advisor.agents.prompts import read_memory
    from review_advisor.policy.settings import ConfigError
    from review_advisor.safety.terminal import printable
    from review_advisor.tasks.memory import with_uses

    found, counts = working_memory(repo), True
    if found.records and is_there(ledger):
        try:
            told = read_memory(with_uses(found, counted_uses(ledger, found)))
            found = replace(found, records=told.records)
        except ConfigError as refused:
            counts = False
            note(f"{printable(str(refused))} The entries are listed without their hits.")
    for each in found.records:
        state = "approved" if each.holds_at(_now()) else "expired"
        taught = f" (taught by {each.taught_by})" if each.taught_by else ""
        told_of = f" [{counted(each.hits, 'hit')}, {each.false_hits} false]" if counts else ""
        yield f"{each.id} {state} {each.type}: {each.content}{taught}{told_of}"
    yield from (f"not read: {problem}" for problem in found.problems)


def _proposal_lines(run: str, ledger: Path) -> Iterator[str]:

    for each in proposals_of(run, ledger):
        yield f"{each.get('id')} proposed {each.get('type') or 'fact'}: {each.get('content')}"


@memory.command(short_help="Add a proposal of a run.")
@click.argument("name", metavar="ID")
@click.option("--from", "run", required=True, metavar="RUN", help="The folder, or the review's id, that proposed it.")
@click.option("--by", required=True, metavar="NAME", help="Who approves it.")
@click.option("--finding", default="", metavar="ID", help="The finding that taught it, instead of the proposal's.")
@click.option("--content", metavar="TEXT", help="The words of the entry, instead of the proposal's.")
@LEDGER
@REPO
def approve(name: str, run: str, by: str, finding: str, content: str | None, ledger_file: Path, repo: Path) -> None:
    """Add the proposal ID to the memory. One that holds a secret is refused."""
    with clear_refusals():
        from review_advisor.change.redaction import redactor
        from review_advisor.tasks.memory import approved, with_record

        proposal, redact = proposal_named(run, ledger_file, name), redactor(os.environ).redact
        proposal |= {} if content is None else {"content": content}
        edit_memory(repo, lambda found: with_record(found, approved(proposal, by, finding, _now(), redact)))
    put(f"{name} is approved. Commit the memory: reviews read the one of their base.\n")


@memory.command(short_help="Write the hits of the entries into the file.")
@LEDGER
@REPO
def count(ledger_file: Path, repo: Path) -> None:
    """Write the ledger's numbers of hits and false hits into the entries, which executors see."""
    with clear_refusals():
        from review_advisor.tasks.memory import with_uses

        edit_memory(repo, lambda found: with_uses(found, counted_uses(ledger_file, found)))
    put("The hits are counted. Commit the memory: reviews read the one of their base.\n")


@memory.command(short_help="Remove an entry.")
@click.argument("name", metavar="ID")
@REPO
def reject(name: str, repo: Path) -> None:
    """Remove the entry ID from the memory. A proposal that nobody approves needs no rejection."""
    with clear_refusals():
        from review_advisor.tasks.memory import without_record

        edit_memory(repo, lambda found: without_record(found, name))
    put(f"{name} is rejected.\n")


@memory.command(short_help="End an entry and keep it.")
@click.argument("name", metavar="ID")
@REPO
def expire(name: str, repo: Path) -> None:
    """Let the entry ID expire now. It stays in the file, but executors do not see it."""
    with clear_refusals():
        from review_advisor.tasks.memory import with_expired

        edit_memory(repo, lambda found: with_expired(found, name, _now()))
    put(f"{name} has expired.\n")


def _now() -> datetime:
    from datetime import UTC, datetime

    return datetime.now(UTC)


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
    """The entries of a review's last reports, as a run folder has them."""
    try:
        events, _ = events_of_run(ledger, named)
    except LedgerError as refused:
        raise ConfigError(f"{named} is no folder and no review. {refused}") from None
    return review_texts(events)[PROPOSALS]


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
