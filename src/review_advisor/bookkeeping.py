"""Keeping the ledger: proving it, folding others into it, writing it out."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from review_advisor.adapters.artifacts import write_whole
from review_advisor.adapters.ledger.exchange import Folded, events_of_run, export_lines, import_lines, merge, rebuild
from review_advisor.adapters.ledger.exchange import verify as prove
from review_advisor.core.outcome.document import outcome_document
from review_advisor.core.outcome.events import ReviewEnded
from review_advisor.core.record.advisor_log import advisor_log
from review_advisor.core.record.chain import LedgerError
from review_advisor.core.record.harness_run import harness_run
from review_advisor.core.record.review_files import log_file, review_files
from review_advisor.ports import ArtifactError

__all__ = ["Folded", "export_ledger", "export_run", "import_lines", "merge", "prove", "rebuild"]


def export_run(ledger: Path, named: str, folder: Path) -> tuple[str, ...]:
    """Write one run into a folder: its events, its advisor's log, and the files of its review if it is over.

    Below ``runs/`` the same once more as ``advisor-harness`` lays out a run, also of a run that is not over. The names
    written. Raises ``LedgerError``.
    """
    events, lines = events_of_run(ledger, named)
    log, texts = advisor_log(events), {"events.jsonl": "".join(lines)}
    if log.task_id in (".", ".."):
        raise LedgerError(f"The run {log.task_id!r} cannot be written: no folder can have its name.")
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


def export_ledger(ledger: Path, file: Path) -> None:
    """Write all events into a file, whole or not at all. Raises ``LedgerError``."""
    _write(file, export_lines(ledger))


def _write(path: Path, texts: Iterable[str]) -> None:
    try:
        write_whole(path, "".join(texts))
    except ArtifactError as problem:
        raise LedgerError(str(problem)) from None
