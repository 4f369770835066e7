"""The body of a request that makes or changes a check run."""

from __future__ import annotations

from typing import Any

from review_advisor.core.pull_request.writes import Annotation, Check


def check_body(check: Check) -> dict[str, Any]:
    """The body that brings one of ``in_requests`` about."""
    output: dict[str, Any] = {"title": check.title, "summary": check.summary}
    if check.annotations:
        output["annotations"] = [_annotation(each) for each in check.annotations]
    found: dict[str, Any] = {"name": check.name, "external_id": check.external_id, "output": output}
    if check.details_url is not None:
        found["details_url"] = check.details_url
    if check.conclusion is not None:
        return {**found, "status": "completed", "conclusion": check.conclusion.value}
    return {**found, "status": "in_progress"}


def _annotation(annotation: Annotation) -> dict[str, Any]:
    return {
        "path": annotation.path,
        "start_line": annotation.start_line,
        "end_line": annotation.end_line,
        "annotation_level": annotation.level,
        "title": annotation.title,
        "message": annotation.message,
    }
