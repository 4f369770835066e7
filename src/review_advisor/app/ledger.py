"""Work on the ledger: verify it, add others to it, write it out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from review_advisor.adapters.artifacts import write_as_it_comes
from review_advisor.adapters.ledger.checkpoints import checkpoints_of
from review_advisor.adapters.ledger.proving import Proof, verify
from review_advisor.adapters.ledger.rows import Rebuilt
from review_advisor.adapters.ledger.salvage import repair
from review_advisor.adapters.ledger.transfer import (
    Folded,
    events_of_run,
    export_runs,
    import_lines,
    merge,
    rebuild,
    refuse_to_replace,
)
from review_advisor.core.exports.advisor_log import advisor_log
from review_advisor.core.exports.harness_run import harness_run
from review_advisor.core.exports.review_files import log_file, review_files
from review_advisor.core.ledger.chain import LedgerError
from review_advisor.core.outcome.document import outcome_document
from review_advisor.core.outcome.events import ReviewEnded
from review_advisor.ports.review import ArtifactError

__all__ = [
    "Exported",
    "Folded",
    "Proof",
    "Rebuilt",
    "export_ledger",
    "export_run",
    "import_lines",
    "merge",
    "prove",
    "rebuild",
    "repair",
]


def prove(ledger: Path, environ: Mapping[str, str], warn: Callable[[str], None], *, full: bool) -> Proof:
    """Verify a ledger: what came since this user's last verification or, with ``full``, all. Raises ``LedgerError``.

    If it is whole, the next verification begins where this one ended. ``warn`` is told if that cannot be stored.
    """
    kept = checkpoints_of(environ)
    proof = verify(ledger, None if full else kept.of(ledger), datetime.now(UTC))
    if proof.reached is not None:
        try:
            kept.keep(ledger, proof.reached)
        except OSError as error:
            warn(f"The next verification reads the whole ledger again: {error.strerror} ({error.filename}).")
    return proof


def export_run(ledger: Path, named: str, folder: Path) -> tuple[str, ...]:
    """Write one run into a folder: its events, its advisor's log, and the files of its review if it is over.

    Below ``runs/`` the same once more as ``advisor-harness`` lays out a run, also of a run that is not over. The names
    written. Raises ``LedgerError``.
    """
    events, lines = events_of_run(ledger, named)
    log, texts = advisor_log(events), {"events.jsonl": "".join(lines)}
    if log.task_id in (".", ".."):
        raise LedgerError(f"The run {log.task_id!r} cannot be written: its name cannot be a folder's.")
    texts |= {f"runs/{log.task_id}/{name}": text for name, text in harness_run(events).items()}
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
