"""Writing the dashboard's folder: our own files and nobody else's, each whole or not at all."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

STATIC = Path(__file__).with_name("static")
MARKER = "review-advisor-dashboard.txt"
"""Stands in every folder that is ours: nothing is written into a folder that holds other things and not this."""
_MARKED = "This folder is written by `review-advisor ui`, which replaces what is in it.\n"
_DATA = "data"
_RUNS = "runs"
_NAME = re.compile(r"(overview|list-\d{1,6}|runs/[0-9a-f]{20})", re.ASCII)
_PREFIX = ".review-advisor-"


class SiteError(Exception):
    """The folder cannot be written. One sentence for the user."""


def script(name: str, value: Any) -> str:
    """A script that hands one JSON value to the page: a page that was opened as a file may load nothing else.

    Non-ASCII letters, U+2028 and U+2029 among them, and ``<`` are escaped. Raises ``ValueError`` for NaN and infinity.
    """
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False).replace("<", "\\u003c")
    return f'dashboard.receive("{name}",{text});\n'


class Site:
    """One writing of the dashboard into ``folder``. ``begin`` comes first, ``finish`` last."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._written: set[str] = set()

    def begin(self) -> None:
        """Make the folder, or see that it is ours; put the pages into it. Raises ``SiteError``."""
        with _sentences(self.folder):
            self._refuse_links()
            marker = self.folder / MARKER
            if self.folder.exists() and not marker.is_file() and any(self.folder.iterdir()):
                raise SiteError(
                    f"The folder {self.folder} holds something else than a dashboard ({MARKER} is not there):"
                    " name another one, or an empty one."
                )
            (self.folder / _DATA / _RUNS).mkdir(parents=True, exist_ok=True)
            _put(marker, _MARKED.encode())
            _put(self.folder / ".gitignore", b"*\n")  # texts of reviews are never committed by accident
            for file in sorted(STATIC.iterdir()):
                if file.name != "index.html" and file.is_file():
                    _put(self.folder / file.name, file.read_bytes())

    def write(self, name: str, value: Any) -> None:
        """Hand a value to the pages under this name, which is one of ours. Raises ``SiteError``."""
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name of the dashboard's")
        with _sentences(self.folder):
            _put(self.folder / _DATA / f"{name}.js", script(name, value).encode("ascii"))
        self._written.add(name)

    def finish(self) -> None:
        """Put the first page there, and remove the data that an earlier writing left. Raises ``SiteError``."""
        with _sentences(self.folder):
            _put(self.folder / "index.html", (STATIC / "index.html").read_bytes())
            for name, file in self._data():
                if name not in self._written:
                    file.unlink(missing_ok=True)

    def _data(self) -> Iterator[tuple[str, Path]]:
        """Our files below ``data``, by name; what else lies there is left alone."""
        data = self.folder / _DATA
        for file in (*data.iterdir(), *(data / _RUNS).iterdir()):
            name = file.relative_to(data).as_posix().removesuffix(".js")
            if file.suffix == ".js" and _NAME.fullmatch(name):
                yield name, file

    def _refuse_links(self) -> None:
        for part in (self.folder, self.folder / MARKER, self.folder / _DATA, self.folder / _DATA / _RUNS):
            if part.is_symlink():
                raise SiteError(f"{part} is a symbolic link; a dashboard is only written to a real folder.")


@contextmanager
def _sentences(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SiteError(f"The dashboard cannot be written to {folder}: {error.strerror}.") from None


def _put(path: Path, content: bytes) -> None:
    """Write the file whole or not at all, unless it is so already: to replace one takes the disk far longer."""
    if not path.is_symlink() and path.is_file() and path.read_bytes() == content:
        return
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=_PREFIX)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:  # an interrupt leaves no half file either
        Path(temporary).unlink(missing_ok=True)
        raise
