"""The requests that bring a check run about: fifty annotations in each, the conclusion in the last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from review_advisor.adapters.github.rest_answers import AnnotationAnswer
from review_advisor.core.pull_request.writes import ANNOTATIONS_PER_REQUEST, Annotation, Check

_Key = tuple[str, int, int, str, str, str]


def bodies(check: Check, annotations: tuple[Annotation, ...]) -> list[dict[str, Any]]:
    """The bodies to send, in order, at least one; until the last the check run is in progress.

    So a publication that is killed between two of them leaves a check that does not pass.
    """
    starts = range(0, max(len(annotations), 1), ANNOTATIONS_PER_REQUEST)
    batches = [annotations[start : start + ANNOTATIONS_PER_REQUEST] for start in starts]
    return [_body(check, batch, last=batch is batches[-1]) for batch in batches]


def missing(wanted: tuple[Annotation, ...], standing: Iterable[AnnotationAnswer]) -> tuple[Annotation, ...]:
    """The wanted annotations that do not stand yet: GitHub adds those of every update to the ones before."""
    stands = Counter(map(_standing_key, standing))
    found: list[Annotation] = []
    for annotation in wanted:
        key = _key(annotation)
        if stands[key]:
            stands[key] -= 1
        else:
            found.append(annotation)
    return tuple(found)


def _body(check: Check, annotations: tuple[Annotation, ...], *, last: bool) -> dict[str, Any]:
    output: dict[str, Any] = {"title": check.title, "summary": check.summary}
    if annotations:
        output["annotations"] = [_annotation(each) for each in annotations]
    body: dict[str, Any] = {"name": check.name, "external_id": check.external_id, "output": output}
    if check.details_url is not None:
        body["details_url"] = check.details_url
    if last and check.conclusion is not None:
        return {**body, "status": "completed", "conclusion": check.conclusion.value}
    return {**body, "status": "in_progress"}


def _annotation(annotation: Annotation) -> dict[str, Any]:
    return {
        "path": annotation.path,
        "start_line": annotation.start_line,
        "end_line": annotation.end_line,
        "annotation_level": annotation.level,
        "title": annotation.title,
        "message": annotation.message,
    }


def _key(each: Annotation) -> _Key:
    return each.path, each.start_line, each.end_line, each.level, _text(each.title), _text(each.message)


def _standing_key(each: AnnotationAnswer) -> _Key:
    level = each.annotation_level or ""
    return each.path, each.start_line, each.end_line, level, _text(each.title or ""), _text(each.message or "")


def _text(text: str) -> str:
    return text.replace("\r\n", "\n").strip()
