"""Which files are copies of another project. What a static rule says of those is for the people who make them.

The evidence stands in the tree under review, so its author may forge it. It hides no secret and no danger, and what
is serious is then told as not checked, which approves nothing, not even where the configuration lets pass what no rule
reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePosixPath

from review_advisor.core.facts.files.kinds import Kind, kind_of_path

_FOLDERS = re.compile(
    r"_?vendor(?:s|ed|ized)?|_?bundled|extern(?:al)?s?|third[-_]?part(?:y|ies)|3rd[-_]?party|(?:site|dist)-packages",
    re.IGNORECASE,
)
"""Names of folders that hold copies."""
_MANIFEST = re.compile(
    r".+\.dist-info|.+-\d[^/]*\.egg-info|PKG-INFO|\.bower\.json|_?vendor(?:ed)?\.txt|moz\.yaml|\.gitrepo"
)
"""What an installer, or whoever copies, leaves beside a copy."""
_PROJECT = frozenset({"setup.py", "pyproject.toml", "setup.cfg", "package.json"})
_LICENCE = re.compile(r"(?:UN)?LICEN[CS]E|COPYING|COPYRIGHT", re.IGNORECASE)
_OWN = re.compile(r"(?:UN)?LICEN[CS]E|COPYING|COPYRIGHT|NOTICE|AUTHORS|CONTRIBUTORS|MAINTAINERS|CREDITS", re.IGNORECASE)
_OWNER = re.compile(
    r"copyright[\s:]+(?:\(c\)|©|\d{4})(?:\(c\)|©|\d{4}|[-,]|by|the|present|\s)*(?P<a>[^\d\W][^\n]{1,80})"
    r"|^__author__\s*=\s*[\"'](?P<b>[^\"'\n]{2,80})|\bis part of (?P<c>[^\n]{2,40}?)(?: and is released|[.,\n])",
    re.IGNORECASE | re.MULTILINE,
)
"""Who a notice says that a text belongs to. Licences speak of copyright elsewhere, too, without a year."""
_SELF_SAID = re.compile(
    r"^[ \t]*[\"']?(?:author|maintainer|name)s?[\"']?[ \t]*[=:](?P<a>[^\n]{2,80})", re.IGNORECASE | re.MULTILINE
)
_WORD = re.compile(r"[^\W\d_]{3,}")
_COMMON_WORDS = (
    "all and authors author rights reserved the see file inc ltd llc gmbh corp corporation foundation software free"
    " contributors contributor developers developer development project team others com org net www http https name"
    " copyright owner notice holder holders email mail github license licence fsf"
)
_COMMON = frozenset(_COMMON_WORDS.split())
_VERSION = re.compile(r"^__version__\s*=\s*[\"'](?P<a>\d[^\"'\n]{0,40})", re.MULTILINE)
_BANNER = re.compile(
    r"\A.{0,200}?\b[a-z][\w.+-]{0,40} v?\d+\.\d+\.\d+\b.{0,600}(?:copyright|licen[cs]e|\(c\))",
    re.IGNORECASE | re.DOTALL,
)
"""Name, version and licence at the top of a file: one that its own project released."""
_LONGEST = 20_000
_MOST_ENTRIES = 500
_FEWEST_VERSIONS = 3
"""A folder of so many packages of different versions is no part of one project."""


class CopiedCode:
    """The copies in ``tree``, looked for where a file of it is asked about."""

    def __init__(self, tree: Path) -> None:
        self._tree = tree
        self._known: dict[PurePosixPath, str] = {}

    def why(self, path: str) -> str:
        """Why the file at ``path`` is a copy of another project; empty where nothing says so."""
        evidence = next((found for found in self._evidence(PurePosixPath(path)) if found), "")
        return f"it is copied code of another project ({evidence})" if evidence else ""

    def _evidence(self, path: PurePosixPath) -> Iterator[str]:
        if kind_of_path(str(path)) is Kind.VENDORED:
            yield "by its name"
        folders = [folder for folder in path.parents if folder.parts]
        yield from (f"{folder}/" for folder in folders if _FOLDERS.fullmatch(folder.name))
        if folders:  # a project's own files may stand at its root
            yield str(path) if _BANNER.match(self._text(path)) else ""
            yield str(path) if self._is_release_of_others(self._text(path)) else ""
        yield from map(self._of_folder, folders)

    def _of_folder(self, folder: PurePosixPath) -> str:
        if folder not in self._known:
            self._known[folder] = next(self._signs(folder), "")
        return self._known[folder]

    def _signs(self, folder: PurePosixPath) -> Iterator[str]:
        names = self._names(folder)
        yield from (f"{folder / name}" for name in names if _MANIFEST.fullmatch(name) and folder.suffix != ".egg-info")
        for name in names:
            if _LICENCE.match(name) and self._is_of_others(_owners(self._text(folder / name))):
                yield f"{folder / name}"
        if len(folder.parts) > 1 and folder.parts[0] != "src":
            first = folder / "__init__.py"
            said = self._text(first)
            beside = self._versions(folder.parent)
            if self._is_release_of_others(said) or (
                _VERSION.search(said) and _owners(said) and len(beside) >= _FEWEST_VERSIONS
            ):
                yield f"{first}"

    def _versions(self, folder: PurePosixPath) -> set[str]:
        """The versions of the packages in a folder that is no package and no project."""
        names = self._names(folder)
        if "__init__.py" in names and self._text(folder / "__init__.py").strip():
            return set()
        if not _PROJECT.isdisjoint(names):
            return set()
        texts = (self._text(folder / name / "__init__.py") for name in names)
        return {found["a"] for text in texts if (found := _VERSION.search(text))}

    def _is_release_of_others(self, text: str) -> bool:
        return _VERSION.search(text) is not None and self._is_of_others(_owners(text))

    def _is_of_others(self, owners: frozenset[str]) -> bool:
        return bool(owners and self._own) and owners.isdisjoint(self._own)

    @cached_property
    def _own(self) -> frozenset[str]:
        """The words that name the owners of this repository."""
        root = PurePosixPath()
        names = self._names(root)
        said = [_owners(self._text(root / name)) for name in names if _OWN.match(name)]
        said += [
            _words(found["a"])
            for name in names
            if name in _PROJECT
            for found in _SELF_SAID.finditer(self._text(root / name))
        ]
        listed = [
            _words(self._text(root / name))
            for name in names
            if re.match(r"AUTHORS|CONTRIBUTORS|MAINTAINERS|CREDITS", name)
        ]
        return frozenset().union(*said, *listed)

    def _names(self, folder: PurePosixPath) -> list[str]:
        try:
            return sorted(entry.name for entry in islice((self._tree / folder).iterdir(), _MOST_ENTRIES))
        except OSError:
            return []

    def _text(self, path: PurePosixPath) -> str:
        file = self._tree / path
        try:
            if file.resolve(strict=True) != file or not file.is_file():  # a link would lead out of what was reviewed
                return ""
            with file.open("rb") as opened:
                return opened.read(_LONGEST).decode("utf-8", "replace")
        except OSError:
            return ""


def _owners(text: str) -> frozenset[str]:
    """The words that a text names its owners with."""
    return frozenset().union(*(_words(found["a"] or found["b"] or found["c"]) for found in _OWNER.finditer(text)))


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text)) - _COMMON
