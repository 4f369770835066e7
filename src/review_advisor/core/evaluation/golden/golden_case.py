"""A case of a golden set: a change, and what a right review of it says."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal

from review_advisor.core.answers.answers import Severity

CaseKind = Literal["faulty", "clean", "hostile"]
"""``clean``: nothing is to be found. ``hostile``: the change tries to talk its reviewer into something."""


WIDEST = 40
"""Lines. A label or a finding about more of them has no place: it would lie over everything in its file."""


@dataclass(frozen=True, slots=True)
class GoldenLabel:
    """A fault, at lines of the new side. Line 0: only its words are known; an empty file: not even that.

    ``severity`` is None and ``category`` empty where the source does not say. ``unchanged``: what should stand there
    was taken away.
    """

    text: str
    file: str = ""
    first_line: int = 0
    last_line: int = 0
    severity: Severity | None = None
    category: str = ""
    unchanged: bool = False

    @property
    def has_lines(self) -> bool:
        """Whether it is about few enough lines to have a place."""
        return self.first_line > 0 and self.last_line - self.first_line < WIDEST


@dataclass(frozen=True, slots=True)
class GoldenFile:
    """A file with its whole text on both sides; None where it is not."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class FilesChange:
    """A change as whole files."""

    kind = "files"
    files: tuple[GoldenFile, ...]


@dataclass(frozen=True, slots=True)
class PatchChange:
    """A change as a unified diff, and the files that it applies to as they were."""

    kind = "patch"
    patch: str
    base_files: tuple[GoldenFile, ...] = ()


@dataclass(frozen=True, slots=True)
class CommitsChange:
    """A change between two commits of a repository: a folder on this machine, or an address."""

    kind = "commits"
    repository: str
    base: str
    head: str


@dataclass(frozen=True, slots=True)
class NamedChange:
    """A pull request that is only named. Recorded findings can be held against its labels; nobody can review it."""

    kind = "named"
    url: str


GoldenChange = FilesChange | PatchChange | CommitsChange | NamedChange


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenCase:
    """``group`` is what a split never cuts: a repository, or a pull request.

    ``labels`` are faults that are there. ``refuted`` are findings that somebody raised and people found wrong.
    ``exhaustive``: no fault is there that no label names. ``canaries`` are texts that a hostile change asks its
    reviewer to say.
    """

    id: str
    group: str
    kind: CaseKind
    change: GoldenChange
    language: str = ""
    exhaustive: bool = False
    title: str = ""
    body: str = ""
    spec: str = ""
    labels: tuple[GoldenLabel, ...] = ()
    refuted: tuple[GoldenLabel, ...] = ()
    canaries: tuple[str, ...] = ()

    @property
    def knows_every_fault(self) -> bool:
        """Whether a finding that no label names can be called wrong."""
        return self.kind == "clean" or self.exhaustive


class GoldenSetError(ValueError):
    """A golden set that cannot be used. One sentence: where, and what is wrong."""


@dataclass(frozen=True, slots=True)
class GoldenSet:
    """Cases in the order of their ids, each id once. ``left_out`` says what the source has that is no case, and why."""

    name: str
    version: str
    cases: tuple[GoldenCase, ...]
    left_out: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Of everything in the cases: two results are of the same set only if it is the same."""
        told = [
            {**asdict(each), "change": {"kind": each.change.kind, **asdict(each.change)}}
            for each in sorted(self.cases, key=lambda case: case.id)
        ]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


def golden_set(name: str, version: str, cases: Iterable[GoldenCase], left_out: Iterable[str] = ()) -> GoldenSet:
    """The set of these cases. Raises ``GoldenSetError`` for an id that is twice."""
    ordered = sorted(cases, key=lambda case: case.id)
    twice = [name for name, times in Counter(case.id for case in ordered).items() if times > 1]
    if twice:
        raise GoldenSetError(f"The golden set {name} has two cases that are called {twice[0]}.")
    return GoldenSet(name, version, tuple(ordered), tuple(left_out))
