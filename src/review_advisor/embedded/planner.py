"""Pre-flight by static checks: where to look, from counts and kinds alone."""

from __future__ import annotations

from collections import Counter

from review_advisor.core.answers.answers import FocusArea, ReviewPlan
from review_advisor.core.facts.files.kinds import Kind, kind_of_path
from review_advisor.embedded.material import FileCount, Material

_MOST_FOCUS_AREAS = 3
_LONGEST_PATH = 500


def plan(material: Material, checkers: str) -> ReviewPlan:
    """The most-changed code files, at most three; other text only if there is no code. Same input, same plan."""
    files = material.files or _counted(material)
    return ReviewPlan(
        risk_summary=f"Static checks, no model: {checkers}. {_summary(files)}",
        focus_areas=tuple(_area(file) for file in _focus(files)),
        rubric=(
            "bugs: what ruff calls broken on added lines of Python files",
            "security: shells that lose their arguments on added lines of Python files that are not tests",
            "secrets: shapes of known tokens and private keys on all added lines",
            "each focus file: a finding on it, or a quote of one of its changed lines",
        ),
        escalation_signals=(
            "a focus file starts processes, evaluates text, or handles credentials",
            "a file that no rule can read",
        ),
    )


def _focus(files: tuple[FileCount, ...]) -> list[FileCount]:
    readable = [file for file in files if file.is_text and file.changed and len(file.path) <= _LONGEST_PATH]
    code = [file for file in readable if file.kind is Kind.CODE]
    if code:
        return sorted(code, key=lambda file: (-file.changed, file.path))[:_MOST_FOCUS_AREAS]
    return sorted(readable, key=lambda file: (-file.changed, file.path))[:1]


def _area(file: FileCount) -> FocusArea:
    return FocusArea(
        description=f"{file.path}: +{file.added} -{file.removed}",
        files=(file.path,),
        rationale=f"Among the most-changed {file.kind.value} of this change.",
    )


def _summary(files: tuple[FileCount, ...]) -> str:
    if not files:
        return "No changed file is listed."
    kinds = Counter(file.kind.value for file in files)
    added, removed = sum(file.added for file in files), sum(file.removed for file in files)
    listed = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return f"Changed files: {len(files)} ({listed}), lines: +{added} -{removed}."


def _counted(material: Material) -> tuple[FileCount, ...]:
    added = Counter(line.path for line in material.lines if line.added)
    removed = Counter(line.path for line in material.lines if not line.added)
    paths = sorted(added.keys() | removed.keys())
    return tuple(
        FileCount(path, "modified", added[path], removed[path], kind_of_path(path), is_text=True) for path in paths
    )
