"""What the embedded agent reads of a question."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from review_advisor.agents import prompts
from review_advisor.agents.answers import ReviewPlan, ReviewReport
from review_advisor.agents.prompts import PICTURES
from review_advisor.agents.static.agent import UsageError
from review_advisor.change.diff_text import SHOWN_PATH, ShownLine, changed_lines, shown_path
from review_advisor.change.kinds import Kind
from review_advisor.safety.fence import fenced

A = TypeVar("A", bound=BaseModel)


_STATISTIC = re.compile(
    rf"\w+, \+(\d+) -(\d+), (\w+)(?:, from {SHOWN_PATH})?(?:, mode \d+ to \d+)?"
    rf"((?:, binary, not shown)?(?:, symlink)?(?:, submodule)?): ({SHOWN_PATH})"
)


@dataclass(frozen=True, slots=True)
class FileCount:
    """One line of the list of files. ``is_text`` is False for binary files, symlinks and submodules."""

    path: str
    added: int
    removed: int
    kind: Kind
    is_text: bool

    @property
    def changed(self) -> int:
        """Added plus removed."""
        return self.added + self.removed


@dataclass(frozen=True, slots=True)
class PastDisagreement:
    """One disagreement of an earlier attempt, as the transcript tells it."""

    id: str
    assessment: str


@dataclass(frozen=True, slots=True)
class Material:
    """All that was asked about. ``disagreements`` is None on a first attempt. ``pictures``: of which no check sees any.

    Paths are as shown in the diff.
    """

    files: tuple[FileCount, ...] = ()
    lines: tuple[ShownLine, ...] = ()
    plan: ReviewPlan | None = None
    report: ReviewReport | None = None
    disagreements: tuple[PastDisagreement, ...] | None = None
    pictures: bool = False

    def lines_of(self, path: str) -> tuple[ShownLine, ...]:
        """The changed lines of one file that hold any text."""
        return tuple(line for line in self.lines if line.path == path and line.text.strip())

    def planned_files(self) -> tuple[str, ...]:
        """The plan's focus files that have changed text in this diff, in the plan's order, each once."""
        if self.plan is None:
            return ()
        here = {line.path for line in self.lines if line.text.strip()}
        planned = (path for area in self.plan.focus_areas for path in area.files)
        return tuple(dict.fromkeys(path for path in planned if path in here))


def material_of(prompt: str) -> Material:
    """Read a prompt of this product. Raises ``UsageError`` for any other text."""
    try:
        nonce = prompts.nonce_of(prompt)
    except ValueError as error:
        raise UsageError(f"Error: {error}") from error
    transcript = fenced(prompt, prompts.TRANSCRIPT, nonce)
    lines = tuple(changed_lines(fenced(prompt, prompts.DIFF, nonce) or ""))
    report = _read(ReviewReport, fenced(prompt, prompts.REPORT, nonce))
    return Material(
        files=tuple(_counts(fenced(prompt, prompts.FILES, nonce) or "")),
        lines=lines,
        plan=_read(ReviewPlan, fenced(prompt, prompts.PLAN, nonce)),
        report=None if report is None else _with_shown_paths(report, {line.path for line in lines}),
        disagreements=None if transcript is None else _disagreements(transcript),
        pictures=fenced(prompt, PICTURES, nonce) is not None,
    )


def _counts(text: str) -> list[FileCount]:
    counts = []
    for line in text.split("\n"):
        found = _STATISTIC.fullmatch(line)
        if found is not None and found[3] in set(Kind):
            added, removed, kind, not_text, path = found.groups()
            counts.append(FileCount(path, int(added), int(removed), Kind(kind), not not_text))
    return counts


def _read(model: type[A], text: str | None) -> A | None:
    if text is None:
        return None
    try:
        return model.model_validate_json(text)
    except ValidationError:
        return None


def _with_shown_paths(report: ReviewReport, shown: set[str]) -> ReviewReport:
    # A report that was held against the change names files as they are, not as the diff shows them.
    findings = (
        one if one.path in shown else one.model_copy(update={"path": shown_path(one.path)}) for one in report.findings
    )
    return report.model_copy(update={"findings": tuple(findings)})


def _disagreements(text: str) -> tuple[PastDisagreement, ...]:
    try:
        every = [one for attempt in json.loads(text)["attempts"] for one in attempt["disagreements"]]
        return tuple(PastDisagreement(str(one["id"]), str(one["advisor_assessment"])) for one in every)
    except (ValueError, KeyError, TypeError):
        return ()
