"""The review's folder of artefacts: each file appears whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from review_advisor.ports import ArtifactError


class FolderArtifacts:
    """One review's folder below ``root``, named after the change."""

    def __init__(self, root: Path, label: str) -> None:
        """Make the folder. Raises ``ArtifactError`` if it cannot be made or written to.

        ``root`` gets a ``.gitignore`` of its own, so that artefacts are never committed by accident.
        """
        self.folder = root / label
        try:
            for part in (root, self.folder):
                if part.is_symlink():
                    raise ArtifactError(f"{part} is a symbolic link; artefacts are only written to a real folder.")
                part.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArtifactError(f"The artefact folder {self.folder} cannot be made: {error.strerror}.") from None
        write_whole(root / ".gitignore", "*\n")

    def write(self, name: str, text: str) -> None:
        """Store ``text`` as ``name`` in the folder."""
        write_whole(self.folder / name, text)


def write_whole(path: Path, text: str) -> None:
    """Write ``text`` to ``path`` atomically. Raises ``ArtifactError`` with one sentence; leaves no half file."""
    temporary: str | None = None
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise ArtifactError(f"{path} cannot be written: {error.strerror}.") from None


def remove_stale(paths: Iterable[Path]) -> None:
    """Remove what an earlier review left under these names, so that nobody takes it for this one's outcome."""
    for path in paths:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise ArtifactError(f"{path} is in the way and cannot be removed: {error.strerror}.") from None
