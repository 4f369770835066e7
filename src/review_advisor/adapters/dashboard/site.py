"""Writing the dashboard's folder: our own files and nobody else's, each whole or not at all."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

STATIC = Path(__file__).with_name("static")
MARKER = "review-advisor-dashboard.txt"
"""Stands in every folder that is ours: nothing is written into a folder that holds other things and not this."""
_MARKED = "This folder is written by `review-advisor ui`, which replaces what is in it.\n"
_IGNORING = ".gitignore"
_DATA = "data"
_OVERVIEW = "overview"
_FOLDERS = (_DATA, f"{_DATA}/lists", f"{_DATA}/runs")
_OUR_FILE = re.compile(r"data/(overview|(lists|runs)/[0-9a-f]{32})\.js|(.*/)?\.review-advisor-[0-9a-f]{16}", re.ASCII)
"""The data, and what a writer left that was killed. All else that is ours lies in the folder itself."""
_OUR_PAGES = frozenset({MARKER, _IGNORING, *(file.name for file in STATIC.iterdir())})


class SiteError(Exception):
    """The folder cannot be written. One sentence for the user."""


def literal(value: Any) -> str:
    """A value as JSON that can stand in a script.

    Non-ASCII letters, U+2028 and U+2029 among them, and ``<`` are escaped. Raises ``ValueError`` for NaN and infinity.
    """
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False).replace("<", "\\u003c")


def script(name: str, text: str) -> str:
    """A script that hands a literal to the page: a page that was opened as a file may load nothing else."""
    return f'dashboard.receive("{name}",{text});\n'


class Site:
    """One writing of the dashboard into ``folder``. ``begin`` comes first, ``finish`` last.

    A file of data is called by its content, and ``finish`` puts the first page there that names them. So an earlier
    dashboard is whole until then, and a page of it that is open never shows anything of the later one.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._written: set[str] = set()

    def begin(self) -> None:
        """Make the folder, or see that it is ours. Raises ``SiteError``."""
        with _sentences(self.folder):
            self._refuse_links()
            self._refuse_what_is_not_ours()
            self.folder.mkdir(parents=True, exist_ok=True)
            _put(self.folder / MARKER, _MARKED.encode())
            for below in _FOLDERS:
                (self.folder / below).mkdir(exist_ok=True)
            ignoring = self.folder / _IGNORING
            if not ignoring.exists():
                _put(ignoring, b"*\n")  # texts of reviews are never committed by accident

    def write(self, kind: Literal["lists", "runs"], value: Any) -> str:
        """Hand a value to the pages, under its kind and the digest that this returns. Raises ``SiteError``."""
        text = literal(value)
        digest = hashlib.sha256(text.encode("ascii")).hexdigest()[:32]
        self._hand_over(f"{kind}/{digest}", text)
        return digest

    def finish(self, overview: Any) -> None:
        """Put the pages and what the first one shows there, and remove what an earlier writing left.

        Raises ``SiteError``.
        """
        with _sentences(self.folder):
            for file in sorted(STATIC.iterdir()):
                if file.name != "index.html":
                    _put(self.folder / file.name, file.read_bytes())
            self._hand_over(_OVERVIEW, literal(overview))
            _put(self.folder / "index.html", (STATIC / "index.html").read_bytes())
            for name, file in self._entries():
                if _OUR_FILE.fullmatch(name) and name not in self._written:
                    file.unlink(missing_ok=True)

    def _hand_over(self, name: str, text: str) -> None:
        path = f"{_DATA}/{name}.js"
        with _sentences(self.folder):
            _put(self.folder / path, script(name, text).encode("ascii"))
        self._written.add(path)

    def _entries(self) -> Iterator[tuple[str, Path]]:
        """What lies in the folder and in those below it that are ours, by its path from there."""
        for folder in (self.folder, *(self.folder / below for below in _FOLDERS)):
            for path in folder.iterdir() if folder.is_dir() else ():
                yield path.relative_to(self.folder).as_posix(), path

    def _refuse_what_is_not_ours(self) -> None:
        """Nobody else's file is replaced, removed, or ignored by git because of us."""
        found = list(self._entries())
        if found and not (self.folder / MARKER).is_file():
            raise SiteError(
                f"The folder {self.folder} holds something else than a dashboard ({MARKER} is not there):"
                " name another one, or an empty one."
            )
        for name, path in found:
            if not _is_ours(name, path):
                raise SiteError(
                    f"The folder {self.folder} holds {name!r}, which is no part of a dashboard: name another one, or an"
                    " empty one."
                )

    def _refuse_links(self) -> None:
        for part in (self.folder, self.folder / MARKER, *(self.folder / below for below in _FOLDERS)):
            if part.is_symlink():
                raise SiteError(f"{part} is a symbolic link; a dashboard is only written to a real folder.")


def _is_ours(name: str, path: Path) -> bool:
    if path.is_symlink():
        return False
    return (
        path.is_dir() if name in _FOLDERS else path.is_file() and bool(name in _OUR_PAGES or _OUR_FILE.fullmatch(name))
    )


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
    temporary = path.with_name(f".review-advisor-{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as file:  # readable by whom the user's umask says
            file.write(content)
        temporary.replace(path)
    except BaseException:  # an interrupt leaves no half file either
        temporary.unlink(missing_ok=True)
        raise
