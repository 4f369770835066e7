"""``review-advisor ledger``: prove it, fold others into it, write it out, read it back."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from review_advisor.cli.terminal.options import AS_JSON, LEDGER, ORGANISATION, PATH, moment
from review_advisor.cli.terminal.output import note, put
from review_advisor.cli.terminal.problems import clear_refusals

if TYPE_CHECKING:
    from review_advisor.app.ledger import Exported, Folded, Proof, Rebuilt

BROKEN = 3
WHOLE_RUNS = click.option(
    "--whole-runs", is_flag=True, help="Leave out runs that are refused, name them, and exit with code 3."
)


@click.group(short_help="Verify, merge, export or import the ledger of reviews.")
def ledger() -> None:
    """Verify, merge, export or import the ledger: the file that records every review."""


@ledger.command(short_help="Verify events and tables: exit 0 if all is as recorded, else 3.")
@LEDGER
@click.option("--full", is_flag=True, help="Read everything, and compare it with no earlier verification.")
@AS_JSON
@click.pass_context
def verify(context: click.Context, ledger_file: Path, full: bool, as_json: bool) -> None:
    """Verify that the events of every run are as recorded, and that all tables agree with them.

    If the number, lengths and last hashes of the runs that you verified before are unchanged, it reads only a
    thousand random ones of these again. Exit code 3 if something is wrong: the first fault of each run is named.
    Only an earlier verification reveals that somebody removed a run, or replaced it with all its rows. Nothing in the
    file reveals who wrote it, or that all of it was written anew.
    """
    with clear_refusals():
        from review_advisor.app.ledger import prove

        proof = prove(ledger_file, os.environ, note, full=full)
    if as_json:
        from review_advisor.core.ledger.chain import NOT_PROVEN

        told = asdict(proof) | {"whole": proof.whole, "not_proven": NOT_PROVEN}
        put(json.dumps(told, indent=2, default=datetime.isoformat) + "\n")
    else:
        put(_proof_text(proof))
    context.exit(0 if proof.whole else BROKEN)


def _proof_text(proof: Proof) -> str:
    from review_advisor.core.ledger.chain import NOT_PROVEN, PROVEN
    from review_advisor.core.report.wording import counted, printable_line

    lines = [f"BROKEN {broken.run_id}: {broken.says}" for broken in proof.broken]
    lines += [f"BROKEN {stray}" for stray in proof.stray]
    if proof.differs is not None:
        how = "was verified by another version" if proof.other_version else "has changed, as by a merge"
        lines.append(f"What you verified on {proof.differs.at:%Y-%m-%d} {how}: all runs were read.")
    found = "all is as it was recorded" if proof.whole else f"{len(proof.broken) + len(proof.stray)} broken"
    if proof.earlier is not None:
        before = f"{counted(proof.earlier.runs, 'run')} verified on {proof.earlier.at:%Y-%m-%d}"
        found = "everything that was read is as recorded" if proof.whole else found
        found += f"; of {before}, {proof.spot_checks:,} were read again (all: --full)"
    lines.append(f"{counted(proof.runs, 'run')}, {counted(proof.events, 'event')}: {found}")
    lines += [PROVEN, NOT_PROVEN] if proof.whole else []
    return "".join(printable_line(line) + "\n" for line in lines)


@ledger.command(short_help="Add the runs of ledger B to ledger A.")
@click.argument("a", type=PATH)
@click.argument("b", type=PATH)
@WHOLE_RUNS
@AS_JSON
@click.pass_context
def merge(context: click.Context, a: Path, b: Path, whole_runs: bool, as_json: bool) -> None:
    """Add the runs of ledger B to ledger A, which is created if it is missing.

    Runs that A already has change nothing. A run that differs in A, is broken or is impossible is refused by name, and
    A stays as it was.
    """
    with clear_refusals():
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
    """Write all events to FILE, one JSON object a line. An existing FILE that is no export stays as it is."""
    with clear_refusals():
        from review_advisor.app.ledger import export_ledger
        from review_advisor.core.report.wording import counted

        exported = export_ledger(ledger_file, file, whole_runs=whole_runs)
    if not as_json:  # on stderr, as FILE may be stdout
        note(f"{counted(exported.runs, 'run')}, {counted(exported.events, 'event')} written")
    _tell(context, exported, "", as_json)


@ledger.command(name="import", short_help="Add the runs of an export to the ledger.")
@click.argument("file", type=PATH)
@LEDGER
@WHOLE_RUNS
@AS_JSON
@click.pass_context
def import_(context: click.Context, file: Path, ledger_file: Path, whole_runs: bool, as_json: bool) -> None:
    """Add the runs of an export to the ledger, as merge adds those of a ledger."""
    with clear_refusals():
        from review_advisor.app.ledger import import_lines

        folded = import_lines(ledger_file, file, whole_runs=whole_runs)
    _tell(context, folded, _folded(folded), as_json)


@ledger.command(short_help="Rebuild all tables from the events.")
@LEDGER
@WHOLE_RUNS
@AS_JSON
@click.pass_context
def rebuild(context: click.Context, ledger_file: Path, whole_runs: bool, as_json: bool) -> None:
    """Rebuild all tables from the events, as this version reads them. A run that is left out has no rows then."""
    with clear_refusals():
        from review_advisor.app.ledger import rebuild as read_anew

        rebuilt = read_anew(ledger_file, whole_runs=whole_runs)
    _tell(context, rebuilt, f"{_runs(rebuilt.runs)} read anew\n", as_json)


@ledger.command(short_help="Save the intact runs of a damaged ledger into a new one.")
@click.argument("new", type=PATH)
@LEDGER
@AS_JSON
@click.pass_context
def repair(context: click.Context, new: Path, ledger_file: Path, as_json: bool) -> None:
    """Write every intact run of a damaged ledger into the new ledger NEW, and name the others.

    The damaged ledger stays as it is. Exit code 3 if a run is left out.
    """
    with clear_refusals():
        from review_advisor.app.ledger import repair as save

        saved = save(ledger_file, new)
    _tell(context, saved, f"{_runs(saved.added)} saved in {new}\n", as_json)


@ledger.command(short_help="Collect the ledgers of many repositories from GitHub.")
@click.argument("repositories", nargs=-1, metavar="[OWNER/NAME]...")
@click.option("--to", "whole", type=PATH, required=True, metavar="FILE", help="The ledger that they are added to.")
@ORGANISATION
@click.option(
    "--since",
    type=moment,
    metavar="WHEN",
    default="30d",
    show_default=True,
    help="Only runs that began since then: a date, or 24h, 7d, 2w ago.",
)
@click.option("--workflow", metavar="PATH", help="The bot's workflow, if it has another path than init gives it.")
@click.option("--branch", "branches", multiple=True, metavar="NAME", help="Believed beside each default branch.")
@AS_JSON
@click.pass_context
def collect(
    context: click.Context,
    repositories: tuple[str, ...],
    whole: Path,
    organisation: Path | None,
    since: datetime,
    workflow: str | None,
    branches: tuple[str, ...],
    as_json: bool,
) -> None:
    """Fetch the ledgers that the bot's workflow stored as artifacts, and add them to one ledger.

    The token in GITHUB_TOKEN needs "actions: read" and "contents: read" in each repository. Artifacts that were added
    before are not fetched again. Exit code 3 if something of the period is missing: each repository says what.
    """
    with clear_refusals():
        from review_advisor.app.organisation.collect import CollectOptions, collect_ledgers
        from review_advisor.app.organisation.named import read_organisation
        from review_advisor.core.organisation.believed_runs import OWN_WORKFLOW
        from review_advisor.core.organisation.collection import collection_text
        from review_advisor.core.report.wording import printable_line

        known = read_organisation(organisation)
        named = repositories or known.repositories
        if not named:
            raise click.UsageError("Name repositories, or a file of them with --organisation.")
        now = datetime.now(UTC)
        if since > now:
            raise click.UsageError(f"--since ({since.isoformat()}) is in the future.")
        found = []
        options = CollectOptions(whole, since, now, workflow or OWN_WORKFLOW, branches, known)
        for each in collect_ledgers(named, options, os.environ):
            found.append(each)
            for sentence in each.notes():
                note(printable_line(sentence))
    put(json.dumps([each.as_json() for each in found], indent=2) + "\n" if as_json else collection_text(found))
    context.exit(0 if all(each.whole for each in found) else BROKEN)


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
