"""The review's folder of artefacts: each file appears whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from review_advisor.lifetime.interruption import INTERRUPTION
from review_advisor.ports.review import ArtifactError

_NAMES = (
    "outcome.json",
    "report.txt",
    "advisor_session.jsonl",
    "transcript.md",
    "repair.patch",
    "preflight*.json",
    "wiki/*.md",
    ".advisor/*.json",
)
_FOLDERS = ("wiki", ".advisor")
_DEVICES = (Path("/dev"), Path("/dev/fd"))
_PREFIX = ".review-advisor-"
BROKEN = "The review did not run to its end."
"""How the sentence ends that is left beside no outcome although models were asked."""
_MOST_SAID = 2_000
"""Characters or bytes of a refusal."""


class FolderArtifacts:
    """One review's folder below ``root``, named after the change."""

    def __init__(self, root: Path, label: str) -> None:
        self._root = root
        self.folder = root / label

    def clear(self) -> None:
        """Remove what an earlier review of the same change left, so that nobody takes it for this one's."""
        self._refuse_links()
        for name in _NAMES:
            for path in self.folder.glob(name):
                remove_stale(path)
        for below in _FOLDERS:
            with suppress(OSError):  # it is not there, or somebody else's file is in it
                (self.folder / below).rmdir()

    def make(self) -> None:
        """Make the folder, and find out whether it can be written to. Raises ``ArtifactError``.

        The folder gets a ``.gitignore`` of its own, so that artefacts are never committed by accident.
        """
        self._refuse_links()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArtifactError(f"The artefact folder {self.folder} cannot be made: {error.strerror}.") from None
        self.write(".gitignore", "*\n")

    def write(self, name: str, text: str) -> None:
        """Store ``text`` as ``name`` in the folder, or in folders below it."""
        path = self.folder / name
        if path.parent != self.folder:
            self._refuse_links()
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise ArtifactError(f"{path.parent} cannot be made: {error.strerror}.") from None
        write_whole(path, text)

    def remove(self, name: str) -> None:
        """See to it that no ``name`` is in the folder."""
        remove_stale(self.folder / name)

    def _refuse_links(self) -> None:
        for part in (self._root, self.folder, *(self.folder / name for name in _FOLDERS)):
            if part.is_symlink():
                raise ArtifactError(f"{part} is a symbolic link; artefacts are only written to a real folder.")


class TaskFolder:
    """``<root>/<run id>/``, or deeper ``below``. Only its owner can read it, and git ignores it.

    No link below ``root`` is followed, and none is ``root``. Whatever lies in a file's place is replaced by the file.
    """

    def __init__(self, root: Path, *below: str) -> None:
        self._written: dict[str, str] = {}
        self._parts = tuple(root.joinpath(*below[:number]) for number in range(len(below) + 1))
        self.folder = self._parts[-1]

    def make(self, *, anew: bool = True) -> None:
        """Make it; unless ``anew``, it may be there already. Raises ``ArtifactError``."""
        self._refuse_links()
        try:
            for part in self._parts[:-1]:
                part.mkdir(parents=True, exist_ok=True)
            self.folder.mkdir(mode=0o700, exist_ok=not anew)
        except OSError as error:
            raise ArtifactError(f"The run's folder {self.folder} cannot be made: {error.strerror}.") from None
        self.store({".gitignore": "*\n"})

    def store(self, files: Mapping[str, str]) -> None:
        """Write those of the files that are new or changed, in their order. Raises ``ArtifactError``."""
        self._refuse_links()
        for name, text in files.items():
            if self._written.get(name) != text:
                path = self.folder / name
                _write_file(path, text)
                path.chmod(0o600)
                self._written[name] = text

    def _refuse_links(self) -> None:
        for part in self._parts:
            if part.is_symlink():
                raise ArtifactError(f"{part} is a symbolic link; a run is only written to a real folder.")


def write_whole(path: Path, text: str) -> None:
    """Write ``text`` to ``path`` atomically. Raises ``ArtifactError`` with one sentence; leaves no half file.

    What is no file, such as ``/dev/stdout`` or a pipe, is written to as it is.
    """
    if not _is_device(path):
        _write_file(path, text)
        return
    try:
        with path.open("w", encoding="utf-8", errors="backslashreplace") as device:
            device.write(text)
    except OSError as error:
        raise ArtifactError(f"{path} cannot be written: {error.strerror}.") from None


def _write_file(path: Path, text: str) -> None:
    try:
        _replace(path, (text,))
    except OSError as error:
        raise ArtifactError(f"{path} cannot be written: {error.strerror}.") from None


def is_replaced(path: Path) -> bool:
    """Whether a further text takes the place of what was written to ``path``. What is no file gets it in addition."""
    return not _is_device(path)


def write_as_it_comes(path: Path, texts: Iterable[str]) -> None:
    """The same for a text in parts, which are never in memory together: if getting one fails, nothing is written."""
    try:
        if _is_device(path):
            with tempfile.TemporaryFile() as parts:
                parts.writelines(text.encode("utf-8", "backslashreplace") for text in texts)
                parts.seek(0)
                with path.open("wb") as device:
                    shutil.copyfileobj(parts, device)
        else:
            _replace(path, texts)
    except OSError as error:
        raise ArtifactError(f"{path} cannot be written: {error.strerror}.") from None


def write_refusal(outcome: Path, sentence: str) -> None:
    """Leave beside the place of an outcome why there is none. Raises ``ArtifactError``."""
    write_whole(refusal_of(outcome), f"{sentence[:_MOST_SAID]}\n")


def read_refusal(outcome: Path) -> str | None:
    """What ``write_refusal`` left, None if it left nothing: words from another job, of which nothing is believed."""
    path = refusal_of(outcome)
    try:
        if path.is_symlink() or not path.is_file():
            return None
        with path.open("rb") as stream:
            return stream.read(_MOST_SAID).decode("utf-8", "replace").strip() or None
    except OSError:
        return None


def remove_refusal(outcome: Path) -> None:
    """Remove what an earlier review left there. Raises ``ArtifactError`` if something else is there."""
    remove_stale(refusal_of(outcome))


def refusal_of(outcome: Path) -> Path:
    """The file beside the place of an outcome that says why there is none."""
    return outcome.with_suffix(".refusal.txt")


def _replace(path: Path, texts: Iterable[str]) -> None:
    temporary = path.with_name(f"{_PREFIX}{secrets.token_hex(8)}")
    with INTERRUPTION.unfinished(temporary):
        with temporary.open("x", encoding="utf-8", errors="backslashreplace") as file:  # the umask says who may read it
            file.writelines(texts)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)


def check_writable(path: Path) -> None:
    """Find out, before anything is paid for, whether ``path`` can be written. Raises ``ArtifactError``."""
    if _is_device(path):
        return
    try:
        tempfile.TemporaryFile(dir=path.parent, prefix=_PREFIX).close()
    except OSError as error:
        raise ArtifactError(f"{path} cannot be written: {error.strerror}.") from None


def remove_stale(path: Path) -> None:
    """Remove an earlier review's file. Raises ``ArtifactError`` if something else is there; a device stays."""
    if _is_device(path):
        return
    if path.is_symlink():
        raise ArtifactError(f"{path} is a symbolic link; name the file itself.")
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise ArtifactError(f"{path} is in the way and cannot be removed: {error.strerror}.") from None


def _is_device(path: Path) -> bool:
    """Whether it is written to and never replaced, as everybody's /dev/stdout: also where that leads to a file."""
    if path.parent in _DEVICES:
        return True
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
