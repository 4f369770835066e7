"""Where a change comes from, as a protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from review_advisor.change.around import UseCollector
from review_advisor.change.change import Change, Edits
from review_advisor.change.guidelines import BaseText
from review_advisor.change.picture_pairs import PictureDifference

AsShown = Mapping[str, Callable[[str], str]]
"""What everybody is shown of a changed file's text at the head, by its path: masked, with as many lines."""


class Source(Protocol):
    """Where the change comes from: a git range, the index, a patch."""

    def change(self) -> Change:
        """The facts, read once. Raises ``SourceError`` with one clear sentence."""

    def base_texts(self, paths: Iterable[str]) -> Mapping[str, BaseText]:
        """What stands at these paths where the configuration comes from; a path with nothing is left out."""

    def base_names(self, folder: str) -> tuple[str, ...]:
        """The names of what lies directly in a folder at the base; none if there is no such folder."""

    def head_text(self, path: str) -> str | None:
        """The whole text of one file at the head; None if it cannot be had (a bare patch, a binary file)."""

    def head_texts(self, paths: Iterable[str], tree: str | None = None) -> Mapping[str, str]:
        """The texts of small files at the head, or of ``tree``; a path without one is left out."""

    def collect_uses(self, collector: UseCollector, tree: str | None = None) -> bool:
        """Give ``collector`` every line there in which one of its names stands; False if not all of them."""

    def head_tree(self, tree: str | None = None, shown: AsShown | None = None) -> AbstractContextManager[Path | None]:
        """A fresh folder holding the reviewed head tree, removed afterwards; None if there is none.

        ``tree``: another tree instead, one that ``edits`` has read back. The files in ``shown`` hold what that makes of
        their text; all others are exactly as the tree has them.
        """

    def edits(self, folder: Path) -> Edits:
        """What was edited in a folder that ``head_tree`` made, against the head; read while the folder is there.

        A line that is masked in the folder is still what the tree has; a file in which one was edited is unfit.
        """


class Pictures(Protocol):
    """The change's pictures, before and after, compared without a model."""

    def differences(self, change: Change, check_interrupt: Callable[[], None]) -> tuple[PictureDifference, ...]:
        """Every pair there is, identical ones too; their crops are then in the gallery.

        Once ``check_interrupt`` raises, no more is compared, and the rest is named.
        """

    @property
    def gallery(self) -> Path | None:
        """The private folder that holds the crops and nothing else; None while there are none."""
