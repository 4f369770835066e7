"""``review-advisor ledger``: prove it, fold others into it, write it out, read it back."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from review_advisor.cli.terminal.output import note, put
from review_advisor.cli.terminal.problems import ledger_refusals
from review_advisor.core.ledger.chain import LEDGER_FILE

if TYPE_CHECKING:
    from review_advisor.app.ledger import Exported, Folded, Proof, Rebuilt

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

WHOLE_RUNS = click.option(
    "--whole-runs", is_flag=True, help="Leave out runs that are refused, name them, and exit with code 3."
)


@click.group(short_help="Prove, merge, export or import the ledger of reviews.")
def ledger() -> None:
    """Prove, merge, export or import the ledger: the file that every review is recorded in."""


@ledger.command(short_help="Exit 0 if all is as it was recorded, else 3.")
@LEDGER
@click.option("--full", is_flag=True, help="Read everything anew, without a look at what was there before.")
@AS_JSON
@click.pass_context
def verify(context: click.Context, ledger_file: Path, full: bool, as_json: bool) -> None:
    """Prove that the events of every run are as they were recorded, and all else in the ledger what the events say.

    In a large ledger, runs that you verified before are not read again, but for a thousand, if their number, lengths
    and last hashes are those of then. Exit code 3 if something is wrong: what is wrong first is named for each run.
    Without an earlier verification, the proof cannot tell of a run that was taken out with all its rows, nor of one
    that somebody wrote anew with them.
    """
    with ledger_refusals():
        from review_advisor.app.ledger import prove

        proof = prove(ledger_file, os.environ, note, full=full)
    if as_json:
        put(json.dumps(asdict(proof) | {"whole": proof.whole}, indent=2, default=datetime.isoformat) + "\n")
    else:
        put(_proof_text(proof))
    context.exit(0 if proof.whole else BROKEN)


def _proof_text(proof: Proof) -> str:
    from review_advisor.core.report.wording import counted, printable_line

    lines = [f"BROKEN {broken.run_id}: {broken.says}" for broken in proof.broken]
    lines += [f"BROKEN {stray}" for stray in proof.stray]
    if proof.differs is not None:
        how = "was verified by another version" if proof.other_version else "has changed, as by a merge"
        lines.append(f"What you verified on {proof.differs.at:%Y-%m-%d} {how}: all runs were read.")
    found = "all is as it was recorded" if proof.whole else f"{len(proof.broken) + len(proof.stray)} broken"
    if proof.earlier is not None:
        before = f"{counted(proof.earlier.runs, 'run')} verified on {proof.earlier.at:%Y-%m-%d}"
        found = "what was read is as it was recorded" if proof.whole else found
        found += f"; of {before}, {proof.spot_checks:,} were read again (all: --full)"
    lines.append(f"{counted(proof.runs, 'run')}, {counted(proof.events, 'event')}: {found}")
    return "".join(printable_line(line) + "\n" for line in lines)


@ledger.command(short_help="Fold ledger B into ledger A.")
@click.argument("a", type=PATH)
@click.argument("b", type=PATH)
@WHOLE_RUNS
@AS_JSON
@click.pass_context
def merge(context: click.Context, a: Path, b: Path, whole_runs: bool, as_json: bool) -> None:
    """Fold the runs of ledger B into ledger A, which is made if it is not there.

    Runs that A has already change nothing. A run that is another one in A, whose chain is broken, or that cannot be one
    of ours is refused by name, and A stays as it was.
    """
    with ledger_refusals():
        from review_advisor.app.ledger import merge as fold

        folded = fold(a, b, whole_runs=whole_runs)
    _tell(context, folded, _folded(folded), as_json)


@ledger.command(name="export", short_help="Write all events to a file, one JSON object a line.")
@click.argument("file", type=PATH)
@LEDGER
@WHOLE_RUNS
@AS_JSON
@click.pass_context
def export_(context: click.Context, file: Path, ledger_file: Path, whole_runs: bool, as_json: bool) -> None:
    """Write all events to FILE, one JSON object a line. A FILE that is there and no export is left as it is."""
    with ledger_refusals():
        from review_advisor.app.ledger import export_ledger
        from review_advisor.core.report.wording import counted

        exported = export_ledger(ledger_file, file, whole_runs=whole_runs)
    if not as_json:  # on stderr, as FILE may be stdout
        note(f"{counted(exported.runs, 'run')}, {counted(exported.events, 'event')} written")
    _tell(context, exported, "", as_json)


@ledger.command(name="import", short_help="Fold an export into the ledger.")
@click.argument("file", type=PATH)
@LEDGER
@WHOLE_RUNS
@AS_JSON
@click.pass_context
def import_(context: click.Context, file: Path, ledger_file: Path, whole_runs: bool, as_json: bool) -> None:
    """Fold an export into the ledger, as ``merge`` folds a ledger."""
    with ledger_refusals():
        from review_advisor.app.ledger import import_lines

        folded = import_lines(ledger_file, file, whole_runs=whole_runs)
    _tell(context, folded, _folded(folded), as_json)


@ledger.command(short_help="Read all tables anew from the events.")
@LEDGER
@WHOLE_RUNS
@AS_JSON
@click.pass_context
def rebuild(context: click.Context, ledger_file: Path, whole_runs: bool, as_json: bool) -> None:
    """Read all tables anew from the events, as this version reads them. A run that is left out has no rows then."""
    with ledger_refusals():
        from review_advisor.app.ledger import rebuild as read_anew

        rebuilt = read_anew(ledger_file, whole_runs=whole_runs)
    _tell(context, rebuilt, f"{_runs(rebuilt.runs)} read anew\n", as_json)


@ledger.command(short_help="Save what is whole of a damaged ledger into a new one.")
@click.argument("new", type=PATH)
@LEDGER
@AS_JSON
@click.pass_context
def repair(context: click.Context, new: Path, ledger_file: Path, as_json: bool) -> None:
    """Write every run of a damaged ledger that is whole into the new ledger NEW, and name each other run.

    The damaged ledger stays as it is. Exit code 3 if a run is left out.
    """
    with ledger_refusals():
        from review_advisor.app.ledger import repair as save

        saved = save(ledger_file, new)
    _tell(context, saved, f"{_runs(saved.added)} saved in {new}\n", as_json)


def _folded(folded: Folded) -> str:
    return f"{_runs(folded.added)} added, {folded.grown:,} grown, {folded.present:,} there already\n"


def _runs(number: int) -> str:
    from review_advisor.core.report.wording import counted

    return counted(number, "run")


def _tell(context: click.Context, came: Folded | Exported | Rebuilt, words: str, as_json: bool) -> None:
    """Print what came of it, and what was left out; end with code 3 if something was."""
    from review_advisor.core.report.wording import printable_line

    if as_json:
        put(json.dumps(asdict(came)) + "\n")
    else:
        put(words)
        for refusal in came.left_out:
            note(printable_line(f"Left out: {refusal}"))
    context.exit(BROKEN if came.left_out else 0)
