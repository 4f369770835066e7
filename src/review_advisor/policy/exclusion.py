"""Which files a review leaves unread, and how much of a change a push brings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from pathspec import GitIgnoreSpec

from review_advisor.change.change import REGULAR_MODE, Change, FileChange, Status
from review_advisor.change.diff_text import shown_path
from review_advisor.change.kinds import globs_of, unread_code
from review_advisor.change.lock_formats import FORMATS, ecosystem_of
from review_advisor.change.lockfiles import Incoming, incoming
from review_advisor.change.patch import count_lines
from review_advisor.change.picture_pairs import PictureDifference
from review_advisor.change.shards import Extent, Unsent
from review_advisor.policy.surfaces import Surface

HeadText = Callable[[str], str | None]
"""The whole text of a file at the head; None if it cannot be had."""


SecretHunks = Callable[[FileChange], Collection[int]]
"""The hunks of a file in which something looks like a secret, by their numbers from 0."""


MOST_TOLD_TOGETHER = 40_000
"""Characters that reviewers are told of all files that are left unread. Further files are read."""


MOST_ENTRIES_TOGETHER = 40_000
"""Characters of the facts on changed entries of all these files. Of further files, the diff alone names the entries."""


_ENTRIES_IN_DIFF = "which packages is in the diff of the file: the files before it leave no room"


@dataclass(frozen=True, slots=True)
class ExcludedFile:
    """A file that is left unread, but for the hunks numbered in ``brings.read``, of ``hunks`` in all.

    ``glob`` is the pattern that it matches. ``ecosystem`` is that of a lock file; empty for any other file, which
    somebody may run. ``characters`` are those of its changed lines.
    """

    path: str
    glob: str
    ecosystem: str
    added: int
    removed: int
    characters: int
    hunks: int
    brings: Incoming

    @property
    def why(self) -> str:
        """Why it was not read, its size, and how much of it was read all the same."""
        size = f"excluded by configuration; +{self.added:,} -{self.removed:,} lines, {self.characters:,} characters"
        read = len(self.brings.read)
        return f"{size}; {read:,} of its {self.hunks:,} hunks were read all the same" if read else size


@dataclass(frozen=True, slots=True)
class ReadAnyway:
    """A file that matches ``exclude`` and is read all the same, and why."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Exclusion:
    """What is left unread under the patterns ``globs``, and what they would leave unread but must not."""

    globs: tuple[str, ...] = ()
    files: tuple[ExcludedFile, ...] = ()
    read_anyway: tuple[ReadAnyway, ...] = ()

    @property
    def unsent(self) -> tuple[Unsent, ...]:
        """The files as the coverage of the review names them."""
        return tuple(Unsent(each.path, "excluded", each.why) for each in self.files)

    @property
    def runs(self) -> tuple[str, ...]:
        """The files among them that are no lock files: the title of the check names them."""
        return tuple(each.path for each in self.files if not each.ecosystem)

    def covers(self, path: str) -> bool:
        """Whether the file at ``path`` is left unread."""
        return any(each.path == path for each in self.files)

    def besides(self, paths: Collection[str]) -> Exclusion:
        """The same without the files at these paths, which are read."""
        return replace(self, files=tuple(each for each in self.files if each.path not in paths))

    def applied_to(self, change: Change) -> Change:
        """The change as reviewers are shown it, and as its lines are counted: without what is left unread."""
        if not self.files:
            return change
        left = {each.path: each.brings.read for each in self.files}
        return replace(change, files=tuple(_left(file, left.get(file.path)) for file in change.files))


NOTHING_EXCLUDED = Exclusion()


def _left(file: FileChange, read: Collection[int] | None) -> FileChange:
    if read is None:
        return file
    hunks = tuple(file.hunks[number] for number in read)
    added, removed = count_lines(hunks)
    return replace(file, hunks=hunks, added=added, removed=removed)


@lru_cache(maxsize=64)
def _spec(globs: tuple[str, ...]) -> GitIgnoreSpec:
    return globs_of(globs)


def excluding_glob(globs: tuple[str, ...], path: str) -> str | None:
    """The last pattern that matches ``path``, spelled exactly so; None if none does, or a later one takes it back.

    The name of a lock file matches no folder of that name.
    """
    if not _spec(globs).match_file(path):
        return None
    matching = [glob for glob in globs if not glob.startswith("!") and _spec((glob,)).match_file(path)]
    return next((glob for glob in reversed(matching) if glob not in FORMATS or ecosystem_of(path)), None)


def exclusion(
    change: Change,
    globs: tuple[str, ...],
    always_read: Collection[str],
    head_text: HeadText,
    secrets: SecretHunks,
) -> Exclusion:
    """Decide it for every file of the change.

    ``always_read`` are the critical paths and those that the guard watches, both sides of every rename. ``secrets``
    tells the hunks in which something looks like a secret: they are read, with a mark in its place.
    """
    files: list[ExcludedFile] = []
    read: list[ReadAnyway] = []
    times = Counter(path for file in change.files for path in file.paths)
    room, room_for_entries = MOST_TOLD_TOGETHER, MOST_ENTRIES_TOGETHER
    for file in change.files:
        glob = excluding_glob(globs, file.path)
        if glob is None:
            continue
        why = next(_must_be_read(file, change, always_read), None)
        if why is None and times[file.path] > 1:
            why = "two files of the change have its name"
        made = _excluded(file, glob, head_text, secrets) if why is None else why
        if not isinstance(made, str):
            room -= len(made.path) + sum(map(len, (*made.brings.hosts, *made.brings.packages, *made.brings.doubts)))
            made = made if room >= 0 else "the files before it leave no room to tell what it brings in"
        if isinstance(made, str):
            read.append(ReadAnyway(file.path, made))
        else:
            room_for_entries -= sum(map(len, made.brings.entries))
            if room_for_entries < 0:
                made = replace(made, brings=replace(made.brings, entries=(_ENTRIES_IN_DIFF,)))
            files.append(made)
    return Exclusion(globs, tuple(files), tuple(read))


def _must_be_read(file: FileChange, change: Change, always_read: Collection[str]) -> Iterator[str]:
    if file.path in always_read:
        yield "it is a critical path, or one that the guard watches"
    if file.status is not Status.MODIFIED or file.old_path is not None:
        yield f"it is {file.status.value}: only a file that the base has under the same name is left unread"
    if (file.old_mode, file.new_mode) != (REGULAR_MODE, REGULAR_MODE):
        yield "it is no regular file on both sides, or its mode changes"
    if file.binary or not file.hunks:
        yield "it has no lines that can be compared"
    if shown_path(file.path) != file.path:
        yield "its name holds unusual characters"
    open_on = () if change.earlier is None else change.earlier.findings
    if any(each.status == "open" and each.path == file.path for each in open_on):
        yield "a finding on it is open"


def _excluded(file: FileChange, glob: str, head_text: HeadText, secrets: SecretHunks) -> ExcludedFile | str:
    head = head_text(file.path)
    if head is None:
        return "its whole text cannot be had"
    brings = incoming(file, head)
    if isinstance(brings, str):
        return brings
    marked = set(secrets(file))
    if marked:
        told = (*brings.doubts, "something in it looks like a secret")
        brings = replace(brings, doubts=told, read=tuple(sorted(marked.union(brings.read))))
    if len(brings.read) == len(file.hunks):
        return "every hunk of it has to be read: " + "; ".join(brings.doubts[:3])
    return ExcludedFile(
        path=file.path,
        glob=glob,
        ecosystem=ecosystem_of(file.path),
        added=file.added,
        removed=file.removed,
        characters=sum(len(line) - 1 for line in file.signed_lines),
        hunks=len(file.hunks),
        brings=brings,
    )


PYTHON = "Python"
"""The language that the embedded agent always has rules for; it reads others where their checkers are installed."""


_NEEDS_A_MODEL = {
    Surface.PRE_MERGE_SPEC_CHECK: "the specification",
    Surface.ADR_REVIEW: "decision records",
    Surface.VISUAL_GATE: "pictures",
}


@dataclass(frozen=True, slots=True)
class StaticReview:
    """What a review by static checks leaves out, in words: languages that no rule reads, and surfaces."""

    unchecked: tuple[str, ...] = ()


def static_checks(change: Change, surfaces: Sequence[Surface], read: Collection[str]) -> StaticReview:
    """What static checks cannot say anything about in ``change``, to which ``surfaces`` would apply.

    ``read`` are the languages that they have rules for.
    """
    languages = sorted({language for _, language in unread_code(change.files, read)})
    left_out = [words for surface, words in _NEEDS_A_MODEL.items() if surface in surfaces]
    return StaticReview((*languages, *left_out))


def unchecked_files(
    change: Change, pictures: Sequence[PictureDifference], read: Collection[str], *, waived: bool
) -> tuple[Unsent, ...]:
    """The files of code, and the pictures of visual_gate, that no rule reads. ``waived``: they may be approved."""
    extent: Extent = "waived" if waived else "unchecked"
    code = [Unsent(path, extent, f"no rule reads {language}") for path, language in unread_code(change.files, read)]
    seen = {gap.path for gap in code}
    differing = (picture.name for picture in pictures if picture.state != "identical" and picture.name not in seen)
    return (*code, *(Unsent(name, extent, "no rule sees a picture") for name in differing))
