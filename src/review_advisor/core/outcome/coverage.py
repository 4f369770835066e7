"""What of a change was read, and what was not: complete, or named."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from review_advisor.core.facts.change import Change, Status
from review_advisor.core.facts.files.kinds import kind_of
from review_advisor.core.facts.pictures import PictureDifference
from review_advisor.core.facts.shards import Extent, Shard, Unsent
from review_advisor.core.outcome.ends import NOT_OPENED
from review_advisor.core.outcome.events import Event, FileFact, PartEnded, PolicyFrozen, Reported
from review_advisor.core.policy.scope import WHOLE, Scope, files_to_show
from review_advisor.core.policy.surfaces import Surface


@dataclass(frozen=True, slots=True)
class FileCoverage:
    """One file of the change: whether it was read, and why not, or how if not as text.

    ``earlier``: in the review before this one. ``picture``: visual_gate compared its pixels, and judged what differs.
    """

    path: str
    read: Literal["read"] | Extent
    why: str = ""
    earlier: bool = False
    picture: bool = False

    @property
    def read_or_excluded(self) -> bool:
        """Whether nothing of it is left to read: a model read it, or the configuration excludes it."""
        return self.read in ("read", "excluded")


def coverage(first: PolicyFrozen, events: Sequence[Event]) -> tuple[FileCoverage, ...]:
    """Every file of the change, then what else could not be sent whole."""
    reports = [event for event in events if isinstance(event, Reported)]
    read_parts = {report.shard for report in reports if report.surface is Surface.PR_REVIEW}
    judged = any(report.surface is Surface.VISUAL_GATE and not report.structural for report in reports)
    unsent = {gap.path: gap for report in reports for gap in report.report.unchecked}
    unsent |= {gap.path: gap for gap in first.unsent}
    pictures = {picture.name: picture for picture in first.pictures}
    unopened = {name for event in events if isinstance(event, PartEnded) for name in event.unopened}
    files = tuple(
        _file(file, read_parts, unsent.pop(file.path, None), _picture(pictures.get(file.path), unopened, judged=judged))
        for file in first.files
    )
    return files + tuple(FileCoverage(gap.path, gap.extent, gap.why) for gap in unsent.values())


def _file(file: FileFact, read_parts: set[int], gap: Unsent | None, picture: FileCoverage | None) -> FileCoverage:
    seen = [shard in read_parts for shard in file.shards]
    if not any(seen):
        return FileCoverage(file.path, "not", "no report came on its part of the change")
    if gap is not None:
        return FileCoverage(file.path, gap.extent, gap.why)
    if file.binary:
        return picture or FileCoverage(file.path, "not", "binary")
    if not all(seen):
        return FileCoverage(file.path, "partly", "no report came on some of its parts")
    if file.earlier:
        return FileCoverage(file.path, "read", f"in the review of {file.earlier}", earlier=True)
    return FileCoverage(file.path, "read")


def _picture(picture: PictureDifference | None, unopened: Collection[str], *, judged: bool) -> FileCoverage | None:
    """What visual_gate saw of a picture. Without its report, nobody has looked at what differs."""
    if picture is None:
        return None
    if picture.state == "identical":
        return FileCoverage(picture.name, "read", "visual_gate compared it: the same pixels", picture=True)
    if not picture.crops:
        return FileCoverage(picture.name, "not", picture.why or "nothing of it could be shown")
    if not judged:
        return FileCoverage(picture.name, "not", "no report of visual_gate came on what differs in it")
    if picture.name in unopened:
        return FileCoverage(picture.name, "not", f"by visual_gate: {NOT_OPENED}")
    if picture.partly:
        return FileCoverage(picture.name, "partly", f"by visual_gate: {picture.why}", picture=True)
    return FileCoverage(picture.name, "read", "visual_gate judged what differs in it", picture=True)


def file_facts(change: Change, parts: Sequence[Shard], scope: Scope = WHOLE) -> tuple[FileFact, ...]:
    """What the first event says about each file of the change."""
    went: dict[str, list[int]] = defaultdict(list)
    for part in parts:
        for path in dict.fromkeys(file.path for file in part.files):
            went[path].append(part.index)
    shown = {file.path for file in files_to_show(change, scope)}
    renamed = {path: old for old, path in change.earlier.renames} if change.earlier is not None else {}
    return tuple(
        FileFact(
            path=file.path,
            status=file.status,
            kind=kind_of(file),
            binary=file.binary,
            shards=tuple(went[file.path]),
            earlier="" if file.path in shown else scope.since or "",
            old_path=file.old_path if file.status is Status.RENAMED else None,
            earlier_path=renamed.get(file.path),
            copied_from=file.old_path if file.status is Status.COPIED else None,
        )
        for file in change.files
    )
