"""The files that declare advisors, read from the forge, for steps that have no git objects."""

from __future__ import annotations

from collections.abc import Iterable

from review_advisor.app.roster.declared_files import Declares, FileReader, HeadFiles
from review_advisor.app.settings import ConfigError
from review_advisor.core.facts.files.declared import DECLARED, MOST_DECLARED, TOO_MANY, is_declared
from review_advisor.core.facts.guidelines import BaseText, base_text
from review_advisor.core.facts.pull_request import PullRequest
from review_advisor.core.roster.wanted import wanted_by
from review_advisor.ports.forge import FolderEntry, Forge, ForgeRejected

MOST_FOLDERS = 10
"""The most folders that are listed: each takes a request."""


def declares_on(
    forge: Forge, pull_request: PullRequest, commit: str, paths: Iterable[str], head_file: FileReader
) -> Declares:
    """Where advisors are declared for a pull request that changes ``paths``; those of ``commit`` apply.

    No request is made before a layer is read. Reading raises ``ForgeError``, and ``ConfigError`` for what GitHub does
    not hand out whole.
    """
    return Declares(
        lambda: declared_at(forge, commit),
        HeadFiles(lambda: declared_at(forge, pull_request.head_sha), head_file),
        tuple(paths),
        wanted_by(pull_request.labels),
    )


def declared_at(forge: Forge, commit: str) -> dict[str, BaseText]:
    """The files of a commit that declare advisors, by their paths, as git would list them.

    One request where nothing is declared; otherwise one more for each folder and each file. No link is followed.
    """
    found: list[FolderEntry] = []
    waiting, listed = [DECLARED], 0
    while waiting:
        listed += 1
        if listed > MOST_FOLDERS:
            raise ConfigError(f"{DECLARED} has more than {MOST_FOLDERS} folders, the most that are read.")
        for entry in filter(lambda each: is_declared(each.path), _inside(forge, waiting.pop(0), commit)):
            if entry.kind == "folder":
                waiting.append(entry.path)
            else:
                found.append(entry)
    found.sort(key=lambda entry: entry.path)
    texts = {entry.path: _text(forge, entry, commit) for entry in found[:MOST_DECLARED]}
    return texts | {entry.path: BaseText(problem=TOO_MANY) for entry in found[MOST_DECLARED:]}


def _inside(forge: Forge, folder: str, commit: str) -> tuple[FolderEntry, ...]:
    try:
        return forge.folder(folder, commit)
    except ForgeRejected as problem:
        raise ConfigError(str(problem)) from None


def _text(forge: Forge, entry: FolderEntry, commit: str) -> BaseText:
    """A file's text. A submodule comes as a file that is not there."""
    if entry.kind != "file":
        return BaseText(problem="it is a symbolic link")
    try:
        raw = forge.file(entry.path, commit)
    except ForgeRejected as problem:
        return BaseText(problem=str(problem).removesuffix("."))
    return BaseText(problem="it is no file") if raw is None else base_text(raw)
