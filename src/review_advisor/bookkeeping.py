"""Keeping the ledger: proving it, folding others into it, writing it out."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from review_advisor.adapters.artifacts import write_whole
from review_advisor.adapters.ledger.exchange import Folded, events_of_run, export_lines, import_lines, merge, rebuild
from review_advisor.adapters.ledger.exchange import verify as prove
from review_advisor.core.outcome.document import outcome_document
from review_advisor.core.outcome.events import ReviewEnded
from review_advisor.core.outcome.files import review_files
from review_advisor.core.record.advisor_log import advisor_log
from review_advisor.core.record.chain import LedgerError
from review_advisor.ports import ArtifactError

__all__ = ["Folded", "export_ledger", "export_run", "import_lines", "merge", "prove", "rebuild"]


def export_run(ledger: Path, named: str, folder: Path) -> tuple[str, ...]:
    """Write one run into a folder: its events, its advisor's log, and the files of its review if it is over.

    The names written. Raises ``LedgerError``.
    """
    events, lines = events_of_run(ledger, named)
    log = advisor_log(events)
    texts = {"events.jsonl": "".join(lines), f".advisor/{log.task_id}.json": log.model_dump_json(indent=2) + "\n"}
    if isinstance(events[-1], ReviewEnded):
        texts |= review_files(outcome_document(events))
    try:
        (folder / ".advisor").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LedgerError(f"The folder {folder} cannot be made: {error.strerror}.") from None
    for name, text in texts.items():
        _write(folder / name, [text])
    return tuple(texts)


def export_ledger(ledger: Path, file: Path) -> None:
    """Write all events into a file, whole or not at all. Raises ``LedgerError``."""
    _write(file, export_lines(ledger))


def _write(path: Path, texts: Iterable[str]) -> None:
    try:
        write_whole(path, "".join(texts))
    except ArtifactError as problem:
        raise LedgerError(str(problem)) from None
