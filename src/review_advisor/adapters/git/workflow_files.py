"""Reads of a repository's CI what the guard asks for: the workflows that run the bot, and the changed ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import PurePosixPath
from posixpath import normpath

from review_advisor.adapters.git.object_store import ContentMissingError, ObjectStore
from review_advisor.core.facts.change import FileChange, Workflows
from review_advisor.core.facts.files.paths import OWN_NAME
from review_advisor.core.facts.files.workflows import WORKFLOW_FOLDER, WORKFLOWS
from review_advisor.core.facts.patches.patch_files import shown_name
from review_advisor.ports.review import SourceError

_CI = ".github"
_LARGEST = 1_000_000
"""A larger file, in bytes, is none that GitHub runs: its text counts as unknown."""
_MOST = 200
"""More names than that of local actions and workflows, nobody follows in one tree."""
_LOCAL = re.compile(r"\./([\w.@+/-]*)")
_NONE_FOUND = 1


def read_workflows(store: ObjectStore, trees: tuple[str, str], files: Iterable[FileChange]) -> Workflows:
    """What runs the bot in the trees (whose rules hold, and the head's), and the text of each changed workflow."""
    rules, head = trees
    touched = {path for file in files for path in file.paths if path.casefold().startswith(f"{_CI}/")}
    looked_at = dict.fromkeys((rules, head) if touched else (rules,))
    found = [_running(store, tree) for tree in looked_at]
    running = {pair for texts, _ in found for pair in texts.items()}
    heads = ((path, _text(store, head, path)) for path in sorted(filter(WORKFLOWS.matches, touched)))
    return Workflows(
        running=tuple(sorted(running)),
        heads=tuple((path, text) for path, text in heads if text is not None),
        followed=all(followed for _, followed in found),
    )


def _running(store: ObjectStore, tree: str) -> tuple[dict[str, str], bool]:
    """The files of CI that name the bot, those that name the local action that does, and whatever these call.

    Also whether everything that they call was read.
    """
    found = _naming(store, tree, (OWN_NAME, OWN_NAME.replace("-", "_")))
    actions = [str(PurePosixPath(path).parent) for path in found if not path.startswith(WORKFLOW_FOLDER)]
    # One that cannot be read is named all the same, so that a change of it is watched.
    every = sorted(found | (_naming(store, tree, actions) if actions else set()))
    texts = {path: _text(store, tree, path) or "" for path in every}
    asked: set[str] = set()
    while waiting := set(chain.from_iterable(map(_local_files, texts.values()))) - asked - texts.keys():
        asked |= waiting
        if len(asked) > _MOST:
            return texts, False
        for path in sorted(waiting):
            try:
                raw = store.blob(tree, path, _LARGEST + 1)
            except ContentMissingError:
                return texts, False
            if raw is not None and len(raw) > _LARGEST:
                return texts, False
            if raw is not None:
                texts[path] = raw.decode("utf-8", "replace")
    return texts, True


def _local_files(text: str) -> Iterator[str]:
    """Where the actions and reusable workflows lie that a text of CI may name."""
    for name in {normpath(found.lstrip("/")) for found in _LOCAL.findall(text)}:
        if name.casefold().endswith((".yml", ".yaml")):
            yield name
        else:
            yield from (str(PurePosixPath(name, file)) for file in ("action.yml", "action.yaml"))


def _naming(store: ObjectStore, tree: str, words: Iterable[str]) -> set[str]:
    patterns = [part for word in words for part in ("-e", word)]
    reply = store.git.attempt("grep", "-l", "-z", "-i", "-a", "-F", "--full-name", *patterns, tree, "--", _CI)
    if reply.code not in (0, _NONE_FOUND):
        raise SourceError(f"The workflows of the tree {tree[:12]} cannot be read (a partial or damaged clone?).")
    listed = (shown_name(name).partition(":")[2] for name in reply.stdout.split(b"\0") if name)
    return {path for path in listed if path.casefold().endswith((".yml", ".yaml"))}


def _text(store: ObjectStore, tree: str, path: str) -> str | None:
    try:
        raw = store.blob(tree, path, _LARGEST + 1)
    except ContentMissingError:
        return None
    return None if raw is None or len(raw) > _LARGEST else raw.decode("utf-8", "replace")
