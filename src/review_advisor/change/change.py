"""The Change under review: files, hunks, title, authors and specification, as facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Literal

from review_advisor.change.tool_remarks import ToolRemark
from review_advisor.safety.stop import Refusal

MOST_GROWTH = 3
"""Lines that replace others are rework up to so many times as many; more than that is new code in an old place."""


class Age(StrEnum):
    """How long a finding's lines have been part of the pull request."""

    NEW = "new"
    REWORKED = "reworked"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class TouchedLines:
    """Lines ``first`` to ``last`` of a file at the head that differ since the last complete review."""

    first: int
    last: int
    age: Age


Touched = Mapping[str, tuple[TouchedLines, ...]]
"""By path. A file that is missing is the same as it was."""


def touched(first: int, added: int, removed: int) -> TouchedLines:
    """The lines of one replacement: ``added`` lines from ``first`` on, in the place of ``removed`` ones.

    Lines that are only taken out touch both neighbours: a check that is gone exposes what stands beside it.
    """
    if not added:
        return TouchedLines(first - 1, first, Age.NEW)
    age = Age.REWORKED if removed and added <= MOST_GROWTH * removed else Age.NEW
    return TouchedLines(first, first + added - 1, age)


def age_of(known: Touched | None, path: str, first: int, last: int, *, removed: bool) -> Age:
    """The age of lines of the head; of removed lines that of their file.

    ``known`` is None where there was no complete review, or nobody can tell what differs since: all lines are new then.
    """
    if known is None:
        return Age.NEW
    spans = known.get(path)
    if spans is None:
        return Age.UNCHANGED
    if removed or not spans:  # a binary file, or one whose name or mode alone differs
        return Age.NEW
    ages = {each.age for each in spans if each.first <= last and first <= each.last}
    return next((age for age in Age if age in ages), Age.UNCHANGED)


@dataclass(frozen=True, slots=True)
class EarlierFinding:
    """A finding that was raised before: still open, or dismissed by a person (``by``, with their reason)."""

    id: str
    path: str
    line: int
    title: str
    severity: str
    status: Literal["open", "dismissed"]
    reason: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class CompleteReview:
    """The last review that read and judged every file: of which head, against which tip of which base branch."""

    head_sha: str
    base_sha: str
    base_ref: str


@dataclass(frozen=True, slots=True)
class Earlier:
    """The last review of the pull request."""

    head_sha: str
    base_sha: str
    """Where its diff began."""
    policy_digest: str
    """Stands for the policy that it was decided under."""
    complete: bool
    """It read and judged every file."""
    is_ancestor: bool
    """Its head is part of the present history."""
    paths: frozenset[str]
    """Every path that differs between its head and the present one."""
    findings: tuple[EarlierFinding, ...] = ()
    renames: frozenset[tuple[str, str]] = frozenset()
    """The old and the present path of each file that git calls renamed between its head and the present one."""
    rules_sha: str = ""
    """The commit whose configuration held."""
    whole: CompleteReview | None = None
    """The last complete review, which may be an older one."""
    touched: Touched | None = None
    """The lines that differ since ``whole``; None where nobody can tell."""


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
        """Another hunk at this place, with these lines."""
        return Hunk(self.old_start, self.old_count, self.new_start, self.new_count, self.section, lines)


@dataclass(frozen=True, slots=True)
class FileChange:
    """One changed path. Modes are git's six octal digits, ``"000000"`` for an absent side."""

    status: Status
    path: str
    r"""The head's side (the base's for a deletion), from the repository's root, with forward slashes.

    Bytes that are not UTF-8 appear as ``\xNN``.
    """
    old_path: str | None = None
    """Set for renames and copies only."""
    old_mode: str = "100644"
    new_mode: str = "100644"
    added: int = 0
    """git's own count (``--numstat``), 0 for a binary file."""
    removed: int = 0
    """git's own count, 0 for a binary file."""
    binary: bool = False
    hunks: tuple[Hunk, ...] = ()
    generated: bool | None = None
    """The ``linguist-generated`` attribute, by the tree whose rules hold; None where it says nothing."""
    vendored: bool | None = None
    """The ``linguist-vendored`` attribute, likewise."""
    documentation: bool | None = None
    """The ``linguist-documentation`` attribute, likewise."""

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
    """What is under review: a git range, the index, a patch, or a pull request."""

    label: str
    """The name of its folder of artefacts: letters, digits, dots and dashes only.

    ``range-<base>-<head>``, ``staged-<head>``, ``patch-<digest>`` or ``pr-<number>``.
    """
    title: str = ""
    body: str = ""
    author: str = ""
    base_ref: str | None = None
    """The name of a pull request's base branch."""
    base_sha: str | None = None
    """A full object name; of a pull request the tip of its base branch."""
    head_sha: str | None = None
    """A full object name; None for the index and for a patch."""
    files: tuple[FileChange, ...] = field(default=())
    spec: Spec | None = None
    prior_fix_attempts: int = 0
    own_repository: bool = False
    """This is the bot's own repository, where its package and build files are its implementation."""
    config_in_pyproject: bool = False
    """``pyproject.toml`` configures the bot, on either side."""
    tree: str | None = None
    """The head tree; None for a patch, which comes without one."""
    repository: str | None = None
    """A pull request's repository, ``owner/name``."""
    pull_request: int | None = None
    """A pull request's number."""
    server: str = ""
    rules_ref: str | None = None
    """The branch whose configuration holds."""
    rules_sha: str | None = None
    """The commit whose configuration holds."""
    earlier: Earlier | None = None
    """The last review of the pull request."""
    missing: tuple[str, ...] = ()
    """The first of the ``missing_files``."""
    missing_files: int = 0
    """How many files of the head the change leaves alone, whose content is not in the repository."""
    tool_remarks: tuple[ToolRemark, ...] = ()
    workflows: Workflows | None = None
    """None where nobody read them: then every change of one concerns the bot."""
    same_decisions: tuple[str, ...] = ()
    """Records that change in neither their decision nor their status."""


WHOLE = "*"
"""The path of a refusal that is about the repair as a whole."""

MASKED_LINE = "it writes over a line with a secret, which is shown masked"
WRITES_MARK = "it writes the mark of a secret"


@dataclass(frozen=True, slots=True)
class RefusedPath:
    """A touched path for which a repair is refused as a whole, and why."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Edits:
    """The folder as the executor left it."""

    tree: str
    """The name of the tree that it holds."""
    patch: str
    """Leads from the head to ``tree``."""
    change: Change
    """The change under review with the edits: from the base to ``tree``."""
    touched: tuple[FileChange, ...]
    """The files that differ between the head and ``tree``."""
    unfit: tuple[RefusedPath, ...] = ()
    """What cannot be part of any patch; then the other fields say that nothing was edited."""


@dataclass(frozen=True, slots=True)
class RepairState:
    """What of repairs is in the version under judgement.

    ``patch`` leads from the head to it, empty for the head itself. ``refused`` says why the executor's latest
    edits are not in it.
    """

    patch: str = ""
    refused: tuple[RefusedPath, ...] = ()


@dataclass(frozen=True, slots=True)
class CommittedFile:
    """A whole file as a commit holds it. ``mode`` is git's: ``100644``, or ``100755`` for one that may be run."""

    path: str
    mode: str
    content: bytes


class PatchRefused(Exception):  # noqa: N818 (what git did, not what went wrong)
    """git does not apply the patch. One sentence for the user."""


class SourceError(Refusal):
    """The change cannot be read: nothing was asked. One sentence for the user (exit code 2)."""

    several_lines = True
