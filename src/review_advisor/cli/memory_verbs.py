"""``review-advisor memory``: people decide what is remembered."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from review_advisor.cli.terminal.options import LEDGER, REPO
from review_advisor.cli.terminal.output import note, put
from review_advisor.cli.terminal.problems import clear_refusals
from review_advisor.core.report.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime


@click.group(name="memory", short_help="List, approve, reject or expire what executors are reminded of.")
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

    A hit is a finding that cites the entry; a false hit was dismissed or marked as wrong. The numbers are the file's,
    or those of the newest reviews of the ledger if they tell of more.
    """
    with clear_refusals():
        from review_advisor.core.report.wording import printable_line

        lines = _memory_lines(repo, ledger_file) if run is None else _proposal_lines(run, ledger_file)
        put("".join(f"{printable_line(line)}\n" for line in lines))


def _memory_lines(repo: Path, ledger: Path) -> Iterator[str]:
    from review_advisor.app.settings import ConfigError
    from review_advisor.app.tasks.edit_memory import counted_uses, is_there, working_memory
    from review_advisor.core.lessons.approval import with_uses
    from review_advisor.core.lessons.memory_record import read_memory
    from review_advisor.core.safety.terminal import printable

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
    from review_advisor.app.tasks.edit_memory import proposals_of

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
        from review_advisor.app.tasks.edit_memory import edit_memory, proposal_named
        from review_advisor.core.lessons.approval import approved, with_record
        from review_advisor.core.safety.redaction import redactor

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
        from review_advisor.app.tasks.edit_memory import counted_uses, edit_memory
        from review_advisor.core.lessons.approval import with_uses

        edit_memory(repo, lambda found: with_uses(found, counted_uses(ledger_file, found)))
    put("The hits are counted. Commit the memory: reviews read the one of their base.\n")


@memory.command(short_help="Remove an entry.")
@click.argument("name", metavar="ID")
@REPO
def reject(name: str, repo: Path) -> None:
    """Remove the entry ID from the memory. A proposal that nobody approves needs no rejection."""
    with clear_refusals():
        from review_advisor.app.tasks.edit_memory import edit_memory
        from review_advisor.core.lessons.approval import without_record

        edit_memory(repo, lambda found: without_record(found, name))
    put(f"{name} is rejected.\n")


@memory.command(short_help="End an entry and keep it.")
@click.argument("name", metavar="ID")
@REPO
def expire(name: str, repo: Path) -> None:
    """Let the entry ID expire now. It stays in the file, but executors do not see it."""
    with clear_refusals():
        from review_advisor.app.tasks.edit_memory import edit_memory
        from review_advisor.core.lessons.approval import with_expired

        edit_memory(repo, lambda found: with_expired(found, name, _now()))
    put(f"{name} has expired.\n")


def _now() -> datetime:
    from datetime import UTC, datetime

    return datetime.now(UTC)
