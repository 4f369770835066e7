"""Where checkpoints are kept: with the user who verified, outside every ledger, so that no ledger brings its own."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from review_advisor.core.ledger.checkpoint import Checkpoint
from review_advisor.lifetime.owner_file import is_private, private_content, write_private


class Checkpoints:
    """The checkpoints of one user, one for the path of each ledger.

    A folder or a file that belongs to somebody else, or that others may open, holds none.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, ledger: Path) -> Checkpoint | None:
        """What was proven of the ledger at this path; None if that is not known."""
        content = private_content(self._file(ledger)) if is_private(self._folder) else None
        try:
            return None if content is None else TypeAdapter(Checkpoint).validate_json(content)
        except ValidationError:
            return None

    def keep(self, ledger: Path, checkpoint: Checkpoint) -> None:
        """Keep it in place of an earlier one. Raises ``OSError``."""
        self._folder.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            self._folder.mkdir(mode=0o700)
        if not is_private(self._folder):
            raise PermissionError(0, "its folder is not private to you", str(self._folder))
        write_private(self._file(ledger), TypeAdapter(Checkpoint).dump_json(checkpoint), 0o600)

    def _file(self, ledger: Path) -> Path:
        return self._folder / hashlib.sha256(os.fsencode(os.path.realpath(ledger))).hexdigest()


def checkpoints_of(environ: Mapping[str, str]) -> Checkpoints:
    """Those of the user of this environment."""
    given = Path(environ.get("XDG_STATE_HOME", ""))
    home = Path(environ.get("HOME") or os.devnull)
    return Checkpoints((given if given.is_absolute() else home / ".local" / "state") / "review-advisor")
