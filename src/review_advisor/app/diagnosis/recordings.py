"""Recordings of the calls of reviews and tasks: what is recorded, where, and how much there is."""

from __future__ import annotations

from pathlib import Path

from review_advisor.adapters.answers.recording_folder import RecordingFolder
from review_advisor.adapters.git.repository import why_not_yours
from review_advisor.app.configuration import working_config
from review_advisor.app.doctor import Diagnosis
from review_advisor.app.settings import ConfigError
from review_advisor.core.ledger.chain import LedgerError
from review_advisor.core.ledger.recorded_call import Recording, read_recording
from review_advisor.core.report.wording import counted

_RECORDED = {"none": "nothing", "answers": "replies", "full": "prompts, replies and the output of the CLI"}


def read_recorded(artifacts: Path, run: str) -> Recording:
    """The recording of a run. Raises ``LedgerError`` with one sentence, also where a branch may have brought it."""
    folder = RecordingFolder(artifacts)
    if why := why_not_yours(folder.path):
        raise LedgerError(f"The recordings in {folder.path} do not count: {why}.")
    try:
        return read_recording(folder.read(run))
    except LookupError as problem:
        raise LedgerError(str(problem.args[0])) from None
    except OSError as error:
        raise LedgerError(f"The recording of {run} cannot be read: {error.strerror}.") from None


def examine_recordings(repo: Path, artifacts: Path) -> tuple[Diagnosis, ...]:
    """What the working tree's configuration records, and what lies in the folder of these artefacts."""
    try:
        config, _ = working_config(repo)
    except ConfigError as problem:
        return (Diagnosis("privacy", "recording", False, str(problem)),)
    folder = RecordingFolder(artifacts)
    kept = folder.kept()
    says = f'recording = "{config.recording}" keeps {_RECORDED[config.recording]}'
    if kept.recordings:
        days = counted(config.recording_days, "day")
        says += f"; {counted(kept.recordings, 'recording')}, {kept.size:,} bytes, in {folder.path}, kept for {days}"
    if kept.others_may_read:
        says += f". Others on this machine may read them: chmod 700 {folder.path}"
    return (Diagnosis("privacy", "recording", not kept.others_may_read, f"{says}."),)
