"""``review-advisor ledger``: prove it, fold others into it, write it out, read it back."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from review_advisor.cli.output import put
from review_advisor.cli.problems import ledger_refusals
from review_advisor.core.record.place import LEDGER_FILE

if TYPE_CHECKING:
    from review_advisor.bookkeeping import Folded

BROKEN = 3
PATH = click.Path(path_type=Path)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
LEDGER = click.option(
    "--ledger",
    "ledger_file",
    type=PATH,
    metavar="FILE",
    default=Path("review_logs", LEDGER_FILE),
    show_default=True,
    help="The ledger.",
)


@click.group(short_help="Prove, merge, export or import the ledger of reviews.")
def ledger() -> None:
    """Prove, merge, export or import the ledger: the file that every review is recorded in."""


@ledger.command(short_help="Exit 0 if every run's events are as they were recorded, else 3.")
@LEDGER
@AS_JSON
@click.pass_context
def verify(context: click.Context, ledger_file: Path, as_json: bool) -> None:
    """Prove that the events of every run are as they were recorded, in their order, none missing.

    Exit code 3 if not: the first event that is wrong is named for each run. The proof tells of changes; it cannot tell
    of somebody who wrote a whole run anew.
    """
    with ledger_refusals():
        from review_advisor.bookkeeping import prove
        from review_advisor.core.record.runs import cell

        proof = prove(ledger_file)
    if as_json:
        put(json.dumps(asdict(proof) | {"whole": not proof.broken}, indent=2) + "\n")
    else:
        for each in proof.broken:
            put(cell(f"BROKEN {each.run_id}: event {each.index}: {each.why}") + "\n")
        found = f"{len(proof.broken)} broken" if proof.broken else "every chain is whole"
        put(f"{proof.runs} runs, {proof.events} events: {found}\n")
    context.exit(BROKEN if proof.broken else 0)


@ledger.command(short_help="Fold ledger B into ledger A.")
@click.argument("a", type=PATH)
@click.argument("b", type=PATH)
@AS_JSON
def merge(a: Path, b: Path, as_json: bool) -> None:
    """Fold the runs of ledger B into ledger A, which is made if it is not there.

    Runs that A has already change nothing. A run that is another one in A, or whose chain is broken, is refused by
    name, and A stays as it was.
    """
    with ledger_refusals():
        from review_advisor.bookkeeping import merge as fold

        folded = fold(a, b)
    _tell(folded, as_json)


@ledger.command(name="export", short_help="Write all events to a file, one JSON object a line.")
@click.argument("file", type=PATH)
@LEDGER
def export_(file: Path, ledger_file: Path) -> None:
    """Write all events to FILE, one JSON object a line."""
    with ledger_refusals():
        from review_advisor.bookkeeping import export_ledger

        export_ledger(ledger_file, file)


@ledger.command(name="import", short_help="Fold an export into the ledger.")
@click.argument("file", type=PATH)
@LEDGER
@AS_JSON
def import_(file: Path, ledger_file: Path, as_json: bool) -> None:
    """Fold an export into the ledger, as ``merge`` folds a ledger."""
    with ledger_refusals():
        from review_advisor.bookkeeping import import_lines

        folded = import_lines(ledger_file, file)
    _tell(folded, as_json)


@ledger.command(short_help="Read all tables anew from the events.")
@LEDGER
def rebuild(ledger_file: Path) -> None:
    """Read all tables anew from the events, as this version reads them."""
    with ledger_refusals():
        from review_advisor.bookkeeping import rebuild as read_anew

        count = read_anew(ledger_file)
    put(f"{count} runs read anew\n")


def _tell(folded: Folded, as_json: bool) -> None:
    if as_json:
        put(json.dumps(asdict(folded)) + "\n")
    else:
        put(f"{folded.added} runs added, {folded.grown} grown, {folded.present} there already\n")
