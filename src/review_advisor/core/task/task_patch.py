"""What an executor's edits come to: one patch, taken whole or refused whole, under the law of repairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from review_advisor.core.facts.repair_edits import WHOLE, Edits, RefusedPath
from review_advisor.core.roles.repair_law import LEAKS, PathLaw


@dataclass(frozen=True, slots=True)
class TaskPatch:
    """The patch and the files it touches; both empty where nothing was edited, and where ``refused`` says why not."""

    patch: str = ""
    files: tuple[str, ...] = ()
    refused: tuple[RefusedPath, ...] = ()


def patch_of(edits: Edits, own: tuple[str, ...], redact: Callable[[str], str]) -> TaskPatch:
    """The patch that edits of HEAD's tree come to. ``own`` are globs of the bot's implementation.

    A task may touch every file that a repair may touch in a change that touches all of them.
    """
    law = PathLaw(frozenset(path for file in edits.touched for path in file.paths), own)
    refused = edits.unfit or law.refusals(edits.touched)
    if redact(edits.patch) != edits.patch:
        refused = (*refused, RefusedPath(WHOLE, LEAKS))
    if refused:
        return TaskPatch(refused=refused)
    return TaskPatch(edits.patch, tuple(file.path for file in edits.touched))
