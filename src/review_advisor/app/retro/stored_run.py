"""Everything that is kept of one run: its folder, its record in the ledger, and its recording."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from review_advisor.adapters.git.repository import why_not_yours
from review_advisor.adapters.ledger.run_queries import read_tasks
from review_advisor.adapters.ledger.transfer import events_of_run
from review_advisor.adapters.worktree import WorkFolder
from review_advisor.app.diagnosis.recordings import read_recorded
from review_advisor.app.settings import ConfigError
from review_advisor.app.tasks.edit_memory import is_there
from review_advisor.core.exports.harness_run import harness_run
from review_advisor.core.ledger.chain import RUN_ID, LedgerError
from review_advisor.core.outcome.events import PolicyFrozen
from review_advisor.core.retro.retro_files import RETRO_FOLDER
from review_advisor.core.retro.retro_packet import SeenRun
from review_advisor.core.task.task_files import is_prompt_digest, task_files

_PROMPT = ".prompt.md"
_OF_A_RUN = re.compile(
    r"task\.md|(?:outcome|version_manifest|memory_schema|policy)\.json"
    r"|(?:session_events|advisor_consults|advisor_guidance|memory_proposals|malformed_blocks)\.jsonl"
    r"|(?:executor|advisor)_turn_\d{1,4}\.(?:prompt|final)\.md"
)
_MOST_FILES = 200
_MOST_BYTES = 2_000_000
_NO_PROMPTS = "The prompts: they were not recorded (`--recording full` keeps them)."
_NO_OUTPUT = "What the backends wrote beside their final messages."


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run that is kept. What is written about it goes ``below`` a ``root``: into its own folder or the artefacts."""

    seen: SeenRun
    root: Path
    below: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Recorded:
    """What the ledger holds of a run, by the names of its folder's files; ``why`` says why it holds nothing."""

    run_id: str
    texts: Mapping[str, str] = field(default_factory=dict)
    why: str = ""


def find_stored_run(named: str, runs: Path, artifacts: Path, ledger: Path) -> StoredRun:
    """The run with that id or folder. What of it is not kept is told. Raises ``ConfigError`` where nothing is."""
    folder = Path(named) if "/" in named else runs / named
    run_id = folder.absolute().name
    if not re.fullmatch(RUN_ID, run_id):
        raise ConfigError(f"{named!r} is no id of a run and no folder of one.")
    has_folder = not folder.is_symlink() and folder.is_dir()
    if has_folder and (why := why_not_yours(folder)):
        raise ConfigError(f"The run {folder} does not count: {why}.")
    beside = _of_folder(folder) if has_folder else {}
    recorded = _of_ledger(ledger, run_id)
    if not recorded.texts and "outcome.json" not in beside:
        raise ConfigError(f"Nothing is kept of the run {run_id}: {folder} is no folder of a run. {recorded.why}")
    kept = {name: text for name, text in beside.items() if name.endswith(_PROMPT) and not is_prompt_digest(text)}
    prompts = kept or _recorded_prompts(artifacts, recorded.run_id)
    texts = {name: text for name, text in (recorded.texts or beside).items() if not name.endswith(_PROMPT)}
    missing = [] if prompts else [_NO_PROMPTS]
    missing += [_NO_OUTPUT, *([] if recorded.texts else [f"The ledger's record of the run. {recorded.why}"])]
    seen = SeenRun(recorded.run_id, {**texts, **prompts}, tuple(missing))
    if has_folder:
        return StoredRun(seen, folder.absolute().parent, (run_id,))
    return StoredRun(seen, artifacts.absolute(), (RETRO_FOLDER, recorded.run_id))


def _of_ledger(ledger: Path, run_id: str) -> _Recorded:
    """A task, or the review whose id begins so."""
    if not is_there(ledger):
        return _Recorded(run_id, why=f"There is no ledger {ledger}.")
    try:
        (told,) = read_tasks(ledger, [run_id])
        if not isinstance(told, str):
            return _Recorded(run_id, _of_a_run(task_files(told, {})))
        events, _ = events_of_run(ledger, run_id)
    except LedgerError as refused:
        return _Recorded(run_id, why=str(refused))
    named = events[0].run_id if isinstance(events[0], PolicyFrozen) else run_id
    return _Recorded(named, _of_a_run(harness_run(events)))


def _of_a_run(files: Mapping[str, str]) -> dict[str, str]:
    """The files of a run's folder that say more than the others do."""
    return {name: text for name, text in files.items() if _OF_A_RUN.fullmatch(name)}


def _of_folder(folder: Path) -> dict[str, str]:
    """The same from the folder itself, none of them through a link."""
    try:
        names = sorted(each.name for each in folder.iterdir() if _OF_A_RUN.fullmatch(each.name))
    except OSError as error:
        raise ConfigError(f"{folder} cannot be read: {error.strerror}.") from None
    work = WorkFolder(folder, "")
    found = ((name, work.read(name, _MOST_BYTES)) for name in names[:_MOST_FILES])
    return {name: raw.decode("utf-8", "replace") for name, raw in found if isinstance(raw, bytes)}


def _recorded_prompts(artifacts: Path, run_id: str) -> dict[str, str]:
    """The prompts of a recording, by who was asked and the number of the call."""
    try:
        calls = read_recorded(artifacts, run_id).calls
    except LedgerError:
        return {}
    return {
        f"call_{call.identity.sequence:04}_{call.identity.role}{_PROMPT}": call.prompt
        for call in calls
        if call.prompt is not None
    }
