"""The Change: what is under review, as facts that a Source established by git plumbing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from enum import StrEnum

from review_advisor.core.facts.earlier_review import Earlier
from review_advisor.core.facts.tool_remarks import ToolRemark


class Status(StrEnum):
    """What happened to a file between base and head (the letters of ``git diff --raw``)."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"
    COPIED = "copied"
    TYPE_CHANGED = "type_changed"


OBJECT_NAME = r"[0-9a-f]{40}|[0-9a-f]{64}"
"""What git calls a commit or another object, whole, as a regular expression; SHA-1 or SHA-256."""
REGULAR_MODE = "100644"
EXECUTABLE_MODE = "100755"
SYMLINK_MODE = "120000"
SUBMODULE_MODE = "160000"
MOST_RENAMES = 1_000
"""Among more deleted files times new ones than the square of this, no renames are looked for."""


@dataclass(frozen=True, slots=True, init=False)
class Hunk:
    """One hunk of a text patch. Line numbers count from 1; an empty side has start 0.

    ``text`` is all its lines, each with a line end: an object for each line would take four times the memory.
    """

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    section: str
    text: str

    def __init__(  # noqa: PLR0917 (the numbers of a hunk's header, in its order)
        self, old_start: int, old_count: int, new_start: int, new_count: int, section: str, lines: Iterable[str]
    ) -> None:
        values = (old_start, old_count, new_start, new_count, section, "".join([f"{line}\n" for line in lines]))
        for each, value in zip(fields(self), values, strict=True):
            object.__setattr__(self, each.name, value)

    @property
    def lines(self) -> tuple[str, ...]:
        r"""The lines without their ends, each with its first character.

        That is ``" "``, ``"+"``, ``"-"``, or a backslash for "No newline at end of file".
        """
        return tuple(self.text.split("\n")[:-1])

    def with_lines(self, lines: Iterable[str]) -> Hunk:
        """The same place with other lines."""
        return Hunk(self.old_start, self.old_count, self.new_start, self.new_count, self.section, lines)


@dataclass(frozen=True, slots=True)
class FileChange:
    r"""One changed path.

    ``path`` is the head side (the base side for a deletion), with forward slashes, relative to the
    repository's root; bytes that are not UTF-8 appear as ``\xNN``. ``old_path`` is set for renames
    and copies only. Modes are git's six octal digits, ``"000000"`` for an absent side. ``added`` and
    ``removed`` are git's own counts (``--numstat``), 0 for a binary file.
    """

    status: Status
    path: str
    old_path: str | None = None
    old_mode: str = "100644"
    new_mode: str = "100644"
    added: int = 0
    removed: int = 0
    binary: bool = False
    hunks: tuple[Hunk, ...] = ()
    generated: bool | None = None
    """The ``linguist-generated`` attribute, by the tree whose rules hold; None where it says nothing."""
    vendored: bool | None = None
    """The same of ``linguist-vendored``."""
    documentation: bool | None = None
    """The same of ``linguist-documentation``."""

    def __hash__(self) -> int:
        """Not of every line: what is rendered is remembered by its files, and looked up for every call."""
        return hash((self.path, self.added, self.removed))

    @property
    def paths(self) -> tuple[str, ...]:
        """Both sides: the path, and the old path of a rename or copy."""
        return (self.path,) if self.old_path is None else (self.path, self.old_path)

    @property
    def changed_lines(self) -> int:
        """Added plus removed."""
        return self.added + self.removed

    @property
    def signed_lines(self) -> Iterator[str]:
        """The added and the removed lines that are shown, each with its sign."""
        return (line for hunk in self.hunks for line in hunk.lines if line.startswith(("+", "-")))

    @property
    def is_symlink(self) -> bool:
        """Whether either side is a symbolic link."""
        return SYMLINK_MODE in (self.old_mode, self.new_mode)

    @property
    def is_submodule(self) -> bool:
        """Whether either side is a submodule."""
        return SUBMODULE_MODE in (self.old_mode, self.new_mode)


def folders_of(path: str) -> Iterator[str]:
    """The folders that a file lies in, the nearest first; the root, an empty name, is the last."""
    folder = path
    while folder:
        folder = folder.rpartition("/")[0]
        yield folder


@dataclass(frozen=True, slots=True)
class Spec:
    """The specification a change says it implements: where it was found, and its text."""

    origin: str
    text: str


@dataclass(frozen=True, slots=True)
class Workflows:
    """What was read of a repository's CI, as pairs of path and text.

    ``running`` are the files below ``.github`` that name the bot, or such a file, and what they call, before or after
    the change; ``heads`` the changed workflows at the head. ``followed``: all that they call was read.
    ``links`` are the symbolic links that they go through, each with where it leads.
    """

    running: tuple[tuple[str, str], ...] = ()
    heads: tuple[tuple[str, str], ...] = ()
    followed: bool = True
    links: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """What is under review: a git range, the index, a patch, or a pull request.

    ``label`` names the change's folder of artefacts (``range-<base>-<head>``, ``staged-<head>``,
    ``patch-<digest>``, ``pr-<number>``): letters, digits, dots and dashes only. ``base_sha`` and ``head_sha`` are full
    object names; ``head_sha`` is None for the index and for a patch. ``own_repository`` says that
    this is the bot's own repository, where its package and build files are its implementation;
    ``config_in_pyproject`` that ``pyproject.toml`` configures the bot, on either side.
    ``tree`` names the head tree, None for a patch, which comes without one. ``repository`` (``owner/name``) and
    ``pull_request`` (its number) are a pull request's, whose ``base_ref`` is the name of its base branch and
    ``base_sha`` the tip of that. ``rules_ref`` and ``rules_sha`` are the branch and the commit whose configuration
    holds for it. ``earlier`` is the last review of it. ``missing`` are the first of ``missing_files``: files of the
    head that the change leaves alone, and whose content is not in the repository. ``workflows`` is None where nobody
    read them: then every change of one concerns the bot. ``same_decisions`` are records that change in neither their
    decision nor their status.
    """

    label: str
    title: str = ""
    body: str = ""
    author: str = ""
    base_ref: str | None = None
    base_sha: str | None = None
    head_sha: str | None = None
    files: tuple[FileChange, ...] = field(default=())
    spec: Spec | None = None
    prior_fix_attempts: int = 0
    own_repository: bool = False
    config_in_pyproject: bool = False
    tree: str | None = None
    repository: str | None = None
    pull_request: int | None = None
    server: str = ""
    rules_ref: str | None = None
    rules_sha: str | None = None
    earlier: Earlier | None = None
    missing: tuple[str, ...] = ()
    missing_files: int = 0
    tool_remarks: tuple[ToolRemark, ...] = ()
    workflows: Workflows | None = None
    same_decisions: tuple[str, ...] = ()
