"""The golden comments of Martian's code-review-benchmark: words without places, about pull requests that are named."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

from pydantic import Field, TypeAdapter

from review_advisor.adapters.golden.public_form import CommentText, PublicPart, PullUrl, pull_name, read_form
from review_advisor.adapters.golden.text_reader import ReadText
from review_advisor.core.answers.answers import SEVERITIES, Severity
from review_advisor.core.evaluation.golden.golden_case import (
    GoldenCase,
    GoldenLabel,
    GoldenSet,
    GoldenSetError,
    NamedChange,
    golden_set,
)


class _GoldenComment(PublicPart):
    comment: CommentText
    severity: str = ""


class _GoldenPull(PublicPart):
    url: PullUrl
    pr_title: CommentText = ""
    comments: Annotated[list[_GoldenComment], Field(max_length=500)]


_PULLS = TypeAdapter(Annotated[list[_GoldenPull], Field(max_length=5_000)])


def holds_martian(folder: Path) -> bool:
    """Whether a folder looks like that benchmark, or its part ``offline``."""
    return any((place / "golden_comments").is_dir() for place in (folder, folder / "offline"))


def read_martian(folder: Path, read: ReadText) -> GoldenSet:
    """A case for each pull request. The file that it stands in is its group. Raises ``GoldenSetError``."""
    offline = folder / "offline" if (folder / "offline").is_dir() else folder
    cases, left_out = [], []
    for file in sorted(offline.glob("golden_comments/*.json")):
        for pull in read_form(file, _PULLS, read):
            name = pull_name(pull.url, file)
            texts = {each.comment.strip(): each for each in pull.comments if each.comment.strip()}
            if not texts:
                left_out.append(f"{pull.url} has no golden comment.")
                continue
            labels = tuple(GoldenLabel(text, severity=_severity(each.severity)) for text, each in texts.items())
            cases.append(
                GoldenCase(
                    id=f"martian/{name.repository}/{name.number}",
                    group=f"martian/{file.stem}",
                    kind="faulty",
                    title=pull.pr_title,
                    change=NamedChange(pull.url),
                    labels=labels,
                )
            )
    if not cases:
        raise GoldenSetError(f"{offline / 'golden_comments'} holds no golden comment.")
    return golden_set("martian", "", cases, left_out)


def _severity(word: str) -> Severity | None:
    return cast("Severity", word.casefold()) if word.casefold() in SEVERITIES else None
