"""`ledger`."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from review_advisor.app.options import AS_JSON, LEDGER, PATH, moment
from review_advisor.app.terminal import clear_refusals, note, put
from review_advisor.change.change import SourceError
from review_advisor.github.actions import read_github
from review_advisor.github.artifacts import LedgerArtifact, WorkflowArtifacts, workflow_artifacts
from review_advisor.github.forge import ForgeError, ForgeUnavailable
from review_advisor.lab.collected import (
    LEDGER_ARTIFACT,
    MOST_PACKED,
    OWN_WORKFLOW,
    Believing,
    CollectedLedgers,
    CollectedRepository,
    RefusedArtifact,
    Shelf,
    attempts,
    sort_artifacts,
    unpack_ledger,
)
from review_advisor.ledger.artifacts import advisor_log, log_file, review_files, write_as_it_comes
from review_advisor.ledger.chain import LedgerError
from review_advisor.ledger.proving import Proof, checkpoints_of
from review_advisor.ledger.proving import verify as verify_from_proving
from review_advisor.ledger.transfer import events_of_run, export_runs, refuse_to_replace
from review_advisor.review.document import outcome_document
from review_advisor.review.events import ReviewEnded
from review_advisor.review.ports import ArtifactError, Clock
from review_advisor.safety.children import temporary_folder
from review_advisor.safety.clock import SystemClock

if TYPE_CHECKING:
    from review_advisor.ledger.recorder import Rebuilt
    from review_advisor.ledger.transfer import Folded


BROKEN = 3


WHOLE_RUNS = click.option(
    "--whole-runs", is_flag=True, help="Leave out runs that are refused, name them, and exit with code 3."
)


@click.group()
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
    A removed or replaced run is noticed only if you verified the ledger before. Nothing in the
    file reveals who wrote it, or that all of it was written anew.
    """
    with clear_refusals():
        proof = prove(ledger_file, os.environ, note, full=full)
    if as_json:
        from review_advisor.ledger.chain import NOT_PROVEN

        told = asdict(proof) | {"whole": proof.whole, "not_proven": NOT_PROVEN}
        put(json.dumps(told, indent=2, default=datetime.isoformat) + "\n")
    else:
        put(_proof_text(proof))
    context.exit(0 if proof.whole else BROKEN)


def _proof_text(proof: Proof) -> str:
    from review_advisor.ledger.chain import NOT_PROVEN, PROVEN
    from review_advisor.safety.wording import counted, printable_line

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
        from review_advisor.ledger.transfer import merge as fold

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
        from review_advisor.safety.wording import counted

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
        from review_advisor.ledger.transfer import import_lines

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
        from review_advisor.ledger.transfer import rebuild as read_anew

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
        from review_advisor.ledger.transfer import repair as save

        saved = save(ledger_file, new)
    _tell(context, saved, f"{_runs(saved.added)} saved in {new}\n", as_json)


_REPOSITORY = r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}/[A-Za-z0-9._-]{1,100}"


_RENAMING = re.compile(f"({_REPOSITORY})=({_REPOSITORY})")


def renaming(value: str) -> tuple[str, str]:
    """A repository's earlier and its present name."""
    found = _RENAMING.fullmatch(value)
    if found is None:
        raise click.BadParameter(f"{value!r} is not OLD=NEW, both as OWNER/NAME.")
    return found[1], found[2]


@ledger.command(short_help="Collect the ledgers of many repositories from GitHub.")
@click.argument("repositories", nargs=-1, required=True, metavar="OWNER/NAME...")
@click.option("--to", "whole", type=PATH, required=True, metavar="FILE", help="The ledger that they are added to.")
@click.option(
    "--renamed",
    type=renaming,
    multiple=True,
    metavar="OLD=NEW",
    help="A repository's earlier name, under which runs are in its artifacts, and its present one.",
)
@click.option(
    "--since",
    type=moment,
    metavar="WHEN",
    default="30d",
    show_default=True,
    help="Only runs that began since then: a date, or 24h, 7d, 2w ago.",
)
@click.option("--workflow", metavar="PATH", help="The bot's workflow, if it has another path than init gives it.")
@click.option(
    "--branch",
    "branches",
    multiple=True,
    metavar="NAME",
    help="Another branch whose runs count, besides the default branch.",
)
@AS_JSON
@click.pass_context
def collect(
    context: click.Context,
    repositories: tuple[str, ...],
    whole: Path,
    renamed: tuple[tuple[str, str], ...],
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
        from review_advisor.lab.collected import OWN_WORKFLOW, collection_text
        from review_advisor.safety.wording import printable_line

        now = datetime.now(UTC)
        if since > now:
            raise click.UsageError(f"--since ({since.isoformat()}) is in the future.")
        found = []
        options = CollectOptions(whole, since, now, workflow or OWN_WORKFLOW, branches, renamed)
        for each in collect_ledgers(repositories, options, os.environ):
            found.append(each)
            for sentence in each.notes():
                note(printable_line(sentence))
    put(json.dumps([each.as_json() for each in found], indent=2) + "\n" if as_json else collection_text(found))
    context.exit(0 if all(each.whole for each in found) else BROKEN)


def _folded(folded: Folded) -> str:
    return f"{_runs(folded.added)} added, {folded.grown:,} grown, {folded.present:,} there already\n"


def _runs(number: int) -> str:
    from review_advisor.safety.wording import counted

    return counted(number, "run")


def _tell(context: click.Context, came: Folded | Exported | Rebuilt, words: str, as_json: bool) -> None:
    """Print what came of it, and what was left out; end with code 3 if something was."""
    from review_advisor.safety.wording import printable_line

    if as_json:
        put(json.dumps(asdict(came)) + "\n")
    else:
        put(words)
        for refusal in came.left_out:
            note(printable_line(f"Left out: {refusal}"))
    context.exit(BROKEN if came.left_out else 0)


def prove(ledger: Path, environ: Mapping[str, str], warn: Callable[[str], None], *, full: bool) -> Proof:
    """Verify a ledger: what came since this user's last verification or, with ``full``, all. Raises ``LedgerError``.

    If it is whole, the next verification begins where this one ended. ``warn`` is told if that cannot be stored.
    """
    kept = checkpoints_of(environ)
    proof = verify_from_proving(ledger, None if full else kept.of(ledger), datetime.now(UTC))
    if proof.reached is not None:
        try:
            kept.keep(ledger, proof.reached)
        except OSError as error:
            warn(f"The next verification reads the whole ledger again: {error.strerror} ({error.filename}).")
    return proof


def export_run(ledger: Path, named: str, folder: Path) -> tuple[str, ...]:
    """Write one run into a folder: its events, its advisor's log, and the files of its review if it is over.

    The names written. Raises ``LedgerError``.
    """
    events, lines = events_of_run(ledger, named)
    log, texts = advisor_log(events), {"events.jsonl": "".join(lines)}
    if isinstance(events[-1], ReviewEnded):
        texts |= review_files(outcome_document(events))
    else:
        texts |= log_file(log)
    for name, text in texts.items():
        _make(folder / name)
        _write(folder / name, [text])
    return tuple(texts)


def _make(path: Path) -> None:
    """The folder that a file goes into."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LedgerError(f"The folder {path.parent} cannot be made: {error.strerror}.") from None


@dataclass(frozen=True, slots=True)
class Exported:
    """How many runs and events were written, and of each other run why it was not."""

    runs: int
    events: int
    left_out: tuple[str, ...]


def export_ledger(ledger: Path, file: Path, *, whole_runs: bool = False) -> Exported:
    """Write all events into a file, whole or not at all. Raises ``LedgerError``.

    A broken run is refused, and everything with it; or, if only ``whole_runs`` are wanted, left out. A file that is
    neither empty nor an earlier export is not replaced.
    """
    refuse_to_replace(file, ledger)
    written: Counter[str] = Counter()
    left_out: list[str] = []

    def lines() -> Generator[str, None, None]:
        for each in export_runs(ledger):
            if not isinstance(each, str):
                written.update(runs=1, events=len(each))
                yield from each
            elif whole_runs:
                left_out.append(each)
            else:
                raise LedgerError(each)

    with closing(lines()) as told:
        _write(file, told)
    return Exported(written["runs"], written["events"], tuple(left_out))


def _write(path: Path, texts: Iterable[str]) -> None:
    try:
        write_as_it_comes(path, texts)
    except ArtifactError as problem:
        raise LedgerError(str(problem)) from None


_WORKFLOW = re.compile(r"\.github/workflows/[A-Za-z0-9._-]{1,100}\.ya?ml")


LIMITED = "it was not asked, because the limit of requests is reached: start again later"


@dataclass(frozen=True, slots=True)
class CollectOptions:
    """What is collected: of runs that began in a period, those of the file ``workflow``.

    ``branches`` are believed beside each default branch. ``renamed`` are pairs of a repository's old and present name.
    """

    ledger: Path
    since: datetime
    until: datetime
    workflow: str = OWN_WORKFLOW
    branches: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()


def collect_ledgers(
    repositories: Sequence[str], options: CollectOptions, environ: Mapping[str, str], clock: Clock | None = None
) -> Iterator[CollectedRepository]:
    """Collect repository by repository, in the order in which they are named.

    Raises ``SourceError`` before anything is asked, if a name or the environment cannot be used, and ``LedgerError`` if
    the ledger cannot. What cannot be read of one repository does not stop the others, but for the
    limit of requests.
    """
    github, time = read_github(environ), clock or SystemClock()
    if not _WORKFLOW.fullmatch(options.workflow):
        raise SourceError("--workflow takes the path of a workflow's file, such as .github/workflows/review.yml.")
    try:
        opened = [
            (name, workflow_artifacts(name, token=github.token, api_url=github.api_url, clock=time))
            for name in {name.casefold(): name for name in repositories}.values()
        ]
    except ForgeError as problem:
        raise SourceError(str(problem)) from None
    limited = False
    with closing(CollectedLedgers(options.ledger, github.server_url)) as collected:
        for name, artifacts in opened:
            found = CollectedRepository(name, trouble=LIMITED)
            if not limited:
                reading = _Reading(name, artifacts, options, collected)
                limited = reading.read()
                found = reading.found
            yield found


class _Reading:
    """The work on one repository. ``found`` is what came of it so far."""

    def __init__(
        self, name: str, artifacts: WorkflowArtifacts, options: CollectOptions, collected: CollectedLedgers
    ) -> None:
        self.found = CollectedRepository(name)
        self._artifacts = artifacts
        self._options = options
        self._collected = collected
        present = name.casefold()
        self._names = {present, *(old.casefold() for old, new in options.renamed if new.casefold() == present)}

    def read(self) -> bool:
        """Collect it; whether the limit of requests is reached."""
        try:
            shelf = self._shelf()
            self.found = replace(self.found, unbelieved=shelf.unbelieved, gaps=shelf.gaps, silent=shelf.silent)
            for artifact in shelf.wanted:
                self._take(artifact)
        except ForgeError as problem:
            self.found = replace(self.found, trouble=str(problem))
            return isinstance(problem, ForgeUnavailable) and problem.wait > 0
        return False

    def _shelf(self) -> Shelf:
        identity, default = self._artifacts.repository()
        options = self._options
        believing = Believing(identity, options.workflow, {default, *options.branches})
        runs = self._artifacts.runs(options.workflow, options.since, options.until)
        numbers = attempts(run for run in runs if believing.of(run).believed)
        listed = [each for number in numbers for each in self._artifacts.artifacts(f"{LEDGER_ARTIFACT}{number}")]
        return sort_artifacts(runs, listed, believing, self._collected.known, options.until)

    def _take(self, artifact: LedgerArtifact) -> None:
        """Take in one artifact, or say why not; only a limit or a silent server ends the work on the repository."""
        found = self.found
        which = f"artifact {artifact.id} of run {artifact.run}"
        try:
            archive = self._artifacts.archive(artifact, MOST_PACKED)
            with temporary_folder("collected") as folder:
                file = unpack_ledger(archive, folder)
                folded = self._collected.take_in(file, self._names, artifact)
        except ForgeUnavailable:
            raise
        except (ForgeError, RefusedArtifact) as refusal:
            why = str(refusal).rstrip(".")
            self.found = replace(found, refused=(*found.refused, f"{which}: {why}"))
        else:
            self.found = replace(
                found,
                ledgers=found.ledgers + 1,
                added=found.added + folded.added,
                grown=found.grown + folded.grown,
                present=found.present + folded.present,
                refused=(*found.refused, *(f"{which}: {each.rstrip('.')}" for each in folded.left_out)),
            )
