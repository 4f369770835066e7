"""Findings as SARIF 2.1.0."""

from __future__ import annotations

import json
import re
from typing import Any, Literal

from review_advisor.agents.answers import Severity
from review_advisor.agents.findings import Finding, ordered
from review_advisor.github.comment_text import may_be_committed
from review_advisor.github.sections import title_of
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.rulings import Outcome
from review_advisor.safety.markdown import plain, plain_line, shortened
from review_advisor.safety.wording import counted

Json = dict[str, Any]
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MOST_MESSAGE = 4_000

MOST_RESULTS = 5_000
"""GitHub takes 25,000 results of a run and shows 5,000."""

_ROOT = "SRCROOT"

_LEVELS: dict[Severity, Literal["error", "warning", "note"]] = {
    "critical": "error",
    "high": "error",
    "medium": "warning",
    "low": "note",
}

_SECURITY: dict[Severity, str] = {"critical": "9.5", "high": "8.0", "medium": "5.0", "low": "2.0"}
"""GitHub's own scale for findings that are about security."""

_NOT_IN_RULE_ID = re.compile(r"[^a-z0-9]+")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")


def sarif_json(document: OutcomeDocument, version: str) -> str:
    """The log as JSON text with a final line feed. ``version`` is the bot's own."""
    return json.dumps(sarif(document, version), indent=2, ensure_ascii=False) + "\n"


def sarif(document: OutcomeDocument, version: str) -> Json:
    """The log as plain values: one run, a rule for each category of finding.

    A review that stopped says so (``executionSuccessful``), so that no findings never reads as nothing found.
    """
    every = ordered(document.findings)
    found = every[:MOST_RESULTS]
    worst = {_rule_id(each.category): each.severity for each in reversed(found)}
    categories = list(dict.fromkeys(_rule_id(each.category) for each in found))
    stopped = document.outcome is Outcome.STOPPED
    invocation: Json = {"executionSuccessful": not stopped, "exitCode": document.exit_code}
    if stopped:
        reason = plain("; ".join(document.because)) or "the review did not run"
        invocation["toolExecutionNotifications"] = [
            {"level": "error", "message": {"text": shortened(reason, MOST_MESSAGE)}}
        ]
    if len(every) > MOST_RESULTS:
        reason = f"{counted(len(every) - MOST_RESULTS, 'milder finding')} left out: a log has a limit"
        notifications = invocation.setdefault("toolExecutionNotifications", [])
        notifications.append({"level": "warning", "message": {"text": reason}})
    run: Json = {
        "tool": {
            "driver": {
                "name": "review-advisor",
                "version": version,
                "rules": [_rule(each, worst[each], source_words(document)) for each in categories],
            }
        },
        "automationDetails": {"id": "review-advisor/"},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
        "results": [_result(each, categories) for each in found],
        "properties": {"outcome": document.outcome.value, "title": title_of(document), "runId": document.run_id},
    }
    if document.head_sha:
        run["properties"]["headSha"] = document.head_sha
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def source_words(document: OutcomeDocument) -> str:
    """Who says what the log holds."""
    if document.policy.static is not None:
        return "Found by a static check: a rule of a checker, or the shape of a secret. No model read the change."
    models = ", ".join(dict.fromkeys(row.executor_model for row in document.policy.surfaces))
    return f"Found by the language model {plain_line(models, 200)}. The quote stands in the change; judge the rest."


def _rule_id(category: str) -> str:
    return _NOT_IN_RULE_ID.sub("-", category.casefold()).strip("-")[:60] or "finding"


def _rule(identity: str, worst: Severity, source: str) -> Json:
    """The rule of a category; GitHub looks here, and not at the result, for how grave a security finding is."""
    name = identity.replace("-", " ")
    security = {"tags": ["security"], "security-severity": _SECURITY[worst]}
    return {
        "id": identity,
        "name": "".join(word.capitalize() for word in name.split()),
        "shortDescription": {"text": f"A finding about {name}."},
        "help": {"text": source},
        **({"properties": security} if "security" in identity.split("-") else {}),
    }


def _result(finding: Finding, categories: list[str]) -> Json:
    rule = _rule_id(finding.category)
    title = plain_line(finding.title, 255)
    body = shortened(plain(finding.words), MOST_MESSAGE)
    result: Json = {
        "ruleId": rule,
        "ruleIndex": categories.index(rule),
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{title}\n\n{body}" if body else title},
        "locations": [{"physicalLocation": _place(finding)}],
        "partialFingerprints": {"findingId/v1": finding.id},
        "rank": round(100 * min(1.0, max(0.0, finding.confidence)), 1),
        "properties": {"severity": finding.severity, "onRemovedLine": finding.removed},
    }
    if finding.pre_existing:
        result["properties"]["preExisting"] = True
    if finding.raised_by:
        result["properties"]["raisedBy"] = finding.raised_by
    if finding.also:
        remarks = [{"severity": each.severity, "title": plain_line(each.title, 255)} for each in finding.also]
        result["properties"]["merged"] = remarks
    if finding.suggestion and may_be_committed(finding):
        result["fixes"] = [_fix(finding, finding.suggestion)]
    return result


def _artifact(finding: Finding) -> Json:
    return {"uri": relative_uri(finding.path), "uriBaseId": _ROOT}


def _region(finding: Finding) -> Json:
    first = max(1, finding.line)
    return {"startLine": first, "endLine": max(first, finding.end_line)}


def _place(finding: Finding) -> Json:
    """Where it is; lines of the old side are no lines of the file as it is now."""
    region = {} if finding.removed else {"region": _region(finding)}
    return {"artifactLocation": _artifact(finding), **region}


def _fix(finding: Finding, suggestion: str) -> Json:
    """The suggestion in the place of whole lines, up to the end of the last one."""
    replacement = {"deletedRegion": _region(finding), "insertedContent": {"text": suggestion.removesuffix("\n")}}
    change = {"artifactLocation": _artifact(finding), "replacements": [replacement]}
    return {"description": {"text": "The reviewer's suggestion."}, "artifactChanges": [change]}


def relative_uri(path: str) -> str:
    """A repository path as a relative URI: never absolute, never up, nothing in it read as a scheme or a query."""
    steps = [step for step in path.split("/") if step not in ("", ".", "..")]
    raw = "/".join(steps).encode("utf-8", "replace")
    return "".join(chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in raw)
