"""AACR-Bench: comments on real pull requests that annotators confirmed, and others that they found wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints, TypeAdapter

from review_advisor.adapters.golden.public_form import CommentText, PublicPart, PullUrl, pull_name, read_form
from review_advisor.adapters.golden.text_reader import ReadText
from review_advisor.core.evaluation.golden.case_file import CaseCommit
from review_advisor.core.evaluation.golden.golden_case import (
    CommitsChange,
    GoldenCase,
    GoldenLabel,
    GoldenSet,
    GoldenSetError,
    golden_set,
)

_RIGHT, _WRONG = "positive_samples.json", "negative_samples.json"
_LineNumber = Annotated[int, Field(ge=0, le=10_000_000)]
_ShortText = Annotated[str, StringConstraints(max_length=500)]


class _Comment(PublicPart):
    note: CommentText
    path: _ShortText = ""
    side: _ShortText | None = None
    from_line: _LineNumber | None = None
    to_line: _LineNumber | None = None
    category: _ShortText | None = None


class _Pull(PublicPart):
    githubPrUrl: PullUrl  # noqa: N815 (the benchmark's name)
    source_commit: CaseCommit
    target_commit: CaseCommit
    project_main_language: _ShortText = ""
    comments: Annotated[list[_Comment], Field(max_length=2_000)]


_PULLS = TypeAdapter(Annotated[list[_Pull], Field(max_length=5_000)])


def aacr_folder(folder: Path) -> Path | None:
    """Where the benchmark's samples lie at or below a folder; None if it is another folder."""
    return next((place for place in (folder, folder / "dataset") if (place / _RIGHT).is_file()), None)


def read_aacr(samples: Path, read: ReadText) -> GoldenSet:
    """A case for each pull request in ``aacr_folder``, its repository the group. Raises ``GoldenSetError``.

    The benchmark has no severities. Nobody looked for every fault, so that no case is exhaustive.
    """
    right = {pull.githubPrUrl: pull for pull in read_form(samples / _RIGHT, _PULLS, read)}
    wrong = {}
    if (samples / _WRONG).exists():
        wrong = {pull.githubPrUrl: pull for pull in read_form(samples / _WRONG, _PULLS, read)}
    cases, left_out = [], []
    for url, pull in sorted({**wrong, **right}.items()):
        labels = _labels(right.get(url))
        refuted = tuple(each for each in _labels(wrong.get(url)) if each not in labels)
        if labels or refuted:
            cases.append(_case(pull, labels, refuted, samples))
        else:
            left_out.append(f"{url} has no comment.")
    if not cases:
        raise GoldenSetError(f"{samples} holds no comment.")
    return golden_set("aacr", "", cases, left_out)


def _case(pull: _Pull, labels: tuple[GoldenLabel, ...], refuted: tuple[GoldenLabel, ...], samples: Path) -> GoldenCase:
    name = pull_name(pull.githubPrUrl, samples)
    return GoldenCase(
        id=f"aacr/{name.repository}/{name.number}",
        group=f"aacr/{name.repository}",
        kind="faulty",
        language=pull.project_main_language,
        change=CommitsChange(name.repository, pull.target_commit, pull.source_commit),
        labels=labels,
        refuted=refuted,
    )


def _labels(pull: _Pull | None) -> tuple[GoldenLabel, ...]:
    """The comments, each once. Lines may stand in either order; those of the old side are no place on the new one."""
    comments = () if pull is None else pull.comments
    return tuple(dict.fromkeys(_label(each) for each in comments if each.note.strip()))


def _label(comment: _Comment) -> GoldenLabel:
    ends = sorted(line for line in (comment.from_line, comment.to_line) if line)
    if not ends or comment.side == "left" or not comment.path:
        ends = [0]
    return GoldenLabel(
        comment.note.strip(), comment.path.removeprefix("./"), ends[0], ends[-1], None, comment.category or ""
    )
