"""A patch as a source, with or without a repository around it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from review_advisor.adapters.git.object_store import ObjectStore
from review_advisor.core.facts.change import Change, Spec, Status
from review_advisor.core.facts.files.paths import OWN_PIPELINE, PYPROJECT, may_configure
from review_advisor.core.facts.guidelines import BaseText
from review_advisor.core.facts.patches.around import UseCollector
from review_advisor.core.facts.patches.patch import PatchError
from review_advisor.core.facts.patches.patch_files import files_of_patch
from review_advisor.core.facts.repair_edits import Edits
from review_advisor.core.facts.tree_bounds import TreeBounds
from review_advisor.ports.review import AsShown, SourceError

_SHORT = 12


class PatchSource:
    """A patch from a file. Made by ``open_patch``; ``base`` is the tree of the repository around it, if any."""

    base_sha: str | None = None

    remarks: tuple[str, ...] = ()

    def __init__(
        self, patch: bytes, *, title: str, body: str, spec: Spec | None, base: tuple[ObjectStore, str] | None = None
    ) -> None:
        self._patch = patch
        self._base = base
        self._title = title
        self._body = body
        self._spec = spec

    def within(self, bounds: TreeBounds) -> PatchSource:  # noqa: ARG002 (as GitSource)
        """The same source: no tree is read."""
        return self

    @property
    def label(self) -> str:
        """The change's, which is known before anything of it is read."""
        return f"patch-{hashlib.sha256(self._patch).hexdigest()[:_SHORT]}"

    def change(self) -> Change:
        """The facts, as far as the patch tells them. Raises ``SourceError`` for a damaged patch."""
        try:
            files = files_of_patch(self._patch)
        except PatchError as error:
            raise SourceError(f"The patch cannot be read: {error}.") from error
        if not files:
            raise SourceError("The patch holds no change: make it with `git diff` or `git format-patch`.")
        lines = (line for file in files if PYPROJECT in file.paths for hunk in file.hunks for line in hunk.lines)
        configured = may_configure(self.base_file(PYPROJECT))
        return Change(
            label=self.label,
            title=self._title,
            body=self._body,
            files=files,
            spec=self._spec,
            own_repository=self.base_file(OWN_PIPELINE) is not None,
            config_in_pyproject=configured or any(may_configure(line.encode()) for line in lines),
        )

    def head_tree(
        self,
        tree: str | None = None,  # noqa: ARG002 (as GitSource)
        shown: AsShown | None = None,  # noqa: ARG002 (as above)
    ) -> AbstractContextManager[None]:
        """A patch comes without a tree: None."""
        return nullcontext()

    def edits(self, folder: Path) -> Edits:
        """A bug: nobody can edit a tree that is not there."""
        raise AssertionError(f"a patch has no tree that could be edited in {folder}")

    def base_file(self, path: str) -> bytes | None:
        """A regular file at the HEAD of the repository around the patch; None without one."""
        if self._base is None:
            return None
        store, tree = self._base
        return store.blob(tree, path, refuse_links=True)

    def base_texts(self, paths: Iterable[str]) -> dict[str, BaseText]:
        """What stands at these paths of that HEAD; nothing without one."""
        return {} if self._base is None else self._base[0].texts(self._base[1], paths)

    def base_declared(self) -> dict[str, BaseText]:
        """The files of that HEAD which declare advisors; none without one."""
        return {} if self._base is None else self._base[0].declared(self._base[1])

    def base_part(self, path: str, most: int) -> bytes | None:  # noqa: ARG002 (as above)
        """A patch comes without a base: None."""
        return None

    def head_part(self, path: str, most: int) -> bytes | None:  # noqa: ARG002 (as above)
        """A patch comes without a tree: None."""
        return None

    def base_names(self, folder: str) -> tuple[str, ...]:
        """The names in a folder of the repository around it; none without one."""
        return () if self._base is None else self._base[0].names(self._base[1], folder)

    def head_text(self, path: str) -> str | None:
        """The text of a file that the patch adds, which stands in it whole; None for any other."""
        for file in self.change().files:
            if file.path == path and file.status is Status.ADDED and not file.binary:
                return "\n".join(line[1:] for hunk in file.hunks for line in hunk.lines if line.startswith("+"))
        return None

    def head_texts(self, paths: Iterable[str], tree: str | None = None) -> dict[str, str]:  # noqa: ARG002 (as above)
        """A patch comes without a tree: none."""
        return {}

    def collect_uses(self, collector: UseCollector, tree: str | None = None) -> bool:  # noqa: ARG002 (as above)
        """A patch comes without a tree: nothing is found."""
        return False

    def close(self) -> None:
        """Remove the private folder that the reading goes through."""
        if self._base is not None:
            self._base[0].close()
