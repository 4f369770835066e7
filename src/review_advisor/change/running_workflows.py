"""The workflows of a tree that run the bot, and whatever they call."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from review_advisor.change.change import FileChange, SourceError, Workflows
from review_advisor.change.ci_files import WORKFLOW_FOLDER, WORKFLOWS, CalledFiles, link_target
from review_advisor.change.git_store import ContentMissingError, ObjectStore
from review_advisor.change.kinds import OWN_NAME
from review_advisor.change.patch import shown_name

_CI = ".github"

_LARGEST = 1_000_000
"""A larger file, in bytes, is none that GitHub runs: its text counts as unknown."""

_MOST = 200
"""More names of local actions and workflows than that, or more links, nobody follows in one tree."""

_NONE_FOUND = 1


def read_workflows(
    store: ObjectStore, trees: tuple[str, str], files: Iterable[FileChange], repository: str | None
) -> Workflows:
    """What runs the bot in the trees (whose rules hold, and the head's), and the text of each changed workflow.

    ``repository`` is the repository's own name; None where it is unknown.
    """
    rules, head = trees
    touched = {path for file in files for path in file.paths if path.casefold().startswith(f"{_CI}/")}
    looked_at = dict.fromkeys((rules, head) if touched else (rules,))
    found = [_Running(store, tree, repository) for tree in looked_at]
    heads = ((path, _text(store, head, path)) for path in sorted(filter(WORKFLOWS.matches, touched)))
    return Workflows(
        running=tuple(sorted({pair for each in found for pair in each.texts.items()})),
        heads=tuple((path, text) for path, text in heads if text is not None),
        followed=all(each.followed for each in found),
        links=tuple(sorted({pair for each in found for pair in each.links.items()})),
    )


class _Running:
    """The files of CI that name the bot, those that name the local action that does, and whatever these call.

    ``followed``: everything that they call was read, and every link was followed.
    """

    def __init__(self, store: ObjectStore, tree: str, repository: str | None) -> None:
        self._store, self._tree = store, tree
        found = _naming(store, tree, (OWN_NAME, OWN_NAME.replace("-", "_")))
        actions = [str(PurePosixPath(path).parent) for path in found if not path.startswith(WORKFLOW_FOLDER)]
        # One that cannot be read is named all the same, so that a change of it is watched.
        every = sorted(found | (_naming(store, tree, actions) if actions else set()))
        self.texts = {path: _text(store, tree, path) or "" for path in every}
        self.links: dict[str, str] = {}
        self._called = CalledFiles(self.texts.items(), repository)
        self._asked: set[str] = set()
        self._waiting = set(store.link_paths(tree)) if every else set[str]()
        self.followed = True
        while self.followed and (self._more_links() or self._more_texts()):
            pass

    def _more_links(self) -> bool:
        """Follow the links that are called by now; whether there was one."""
        touched = sorted(filter(self._called.goes_through, self._waiting))
        self._waiting -= set(touched)
        for link in touched:
            text = self._store.link_text(self._tree, link)
            target = None if text is None else link_target(link, text)
            self.followed = self.followed and target is not None and len(self.links) < _MOST
            if target is not None:
                self.links[link] = target
                self._called.follow(link, target)
        return bool(touched)

    def _more_texts(self) -> bool:
        """Read what is named by now; whether there was anything."""
        waiting = set(self._called.sought) - self._asked - self.texts.keys()
        self._asked |= waiting
        self.followed = len(self._asked) <= _MOST
        for path in sorted(waiting) if self.followed else ():
            try:
                raw = self._store.blob(self._tree, path, _LARGEST + 1)
            except ContentMissingError:
                self.followed = False
                continue
            if raw is not None and len(raw) > _LARGEST:
                self.followed = False
            elif raw is not None:
                self.texts[path] = raw.decode("utf-8", "replace")
                self._called.read(path, self.texts[path])
        return bool(waiting)


def _naming(store: ObjectStore, tree: str, names: Iterable[str]) -> set[str]:
    patterns = [part for word in names for part in ("-e", word)]
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
