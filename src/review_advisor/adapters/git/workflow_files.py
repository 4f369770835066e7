"""Reads of a repository's CI what the guard asks for: the workflows that run the bot, and the changed ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from review_advisor.adapters.git.object_store import ContentMissingError, ObjectStore
from review_advisor.core.facts.change import FileChange, Workflows
from review_advisor.core.facts.files.paths import OWN_NAME
from review_advisor.core.facts.files.workflows import WORKFLOW_FOLDER, WORKFLOWS
from review_advisor.core.facts.patches.patch_files import shown_name
from review_advisor.ports.review import SourceError

_CI = ".github"
_LARGEST = 1_000_000
"""A larger file, in bytes, is none that GitHub runs: its text counts as unknown."""
_NONE_FOUND = 1


def read_workflows(store: ObjectStore, trees: tuple[str, str], files: Iterable[FileChange]) -> Workflows:
    """What runs the bot in the trees (whose rules hold, and the head's), and the text of each changed workflow."""
    rules, head = trees
    touched = {path for file in files for path in file.paths if path.casefold().startswith(f"{_CI}/")}
    looked_at = dict.fromkeys((rules, head) if touched else (rules,))
    running = {pair for tree in looked_at for pair in _running(store, tree)}
    heads = ((path, _text(store, head, path)) for path in sorted(filter(WORKFLOWS.matches, touched)))
    return Workflows(
        running=tuple(sorted(running)), heads=tuple((path, text) for path, text in heads if text is not None)
    )


def _running(store: ObjectStore, tree: str) -> Iterator[tuple[str, str]]:
    """The files of CI that name the bot, and those that name the local action that does."""
    found = _naming(store, tree, (OWN_NAME, OWN_NAME.replace("-", "_")))
    actions = [str(PurePosixPath(path).parent) for path in found if not path.startswith(WORKFLOW_FOLDER)]
    for path in found | (_naming(store, tree, actions) if actions else set()):
        # One that cannot be read is named all the same, so that a change of it is watched.
        yield path, _text(store, tree, path) or ""


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
