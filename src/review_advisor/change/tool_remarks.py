"""Remarks of other tools, read from SARIF files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MOST_REMARKS = 2_000
"""So many results of one file are read; reviewers see those on the files of their part."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ESCAPED = re.compile(rb"%([0-9A-Fa-f]{2})")
_LONGEST_MESSAGE = 300
_LONGEST_NAME = 200


class NotSarifError(ValueError):
    """A text that is no SARIF log. A few words say why."""


@dataclass(frozen=True, slots=True)
class ToolRemark:
    """One result of a tool. ``line`` is 0 where it names none."""

    tool: str
    rule: str
    path: str
    line: int
    message: str


def read_sarif(text: str) -> tuple[ToolRemark, ...]:
    """The results with a place in a file, in their order. Raises ``NotSarifError``."""
    try:
        log: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotSarifError("it is not JSON") from error
    if not isinstance(log, Mapping) or not isinstance(log.get("runs"), list):
        raise NotSarifError("it has no list of runs")
    found: list[ToolRemark] = []
    for run in log["runs"]:
        for remark in _of_run(run):
            if len(found) == MOST_REMARKS:
                return tuple(found)
            found.append(remark)
    return tuple(found)


def on_files(remarks: Iterable[ToolRemark], paths: Iterable[str]) -> tuple[ToolRemark, ...]:
    """Those on one of these files."""
    known = frozenset(paths)
    return tuple(remark for remark in remarks if remark.path in known)


def _of_run(run: Any) -> Iterator[ToolRemark]:
    tool = _text(_inner(run, "tool", "driver").get("name")) or "a tool"
    results = run.get("results") if isinstance(run, Mapping) else None
    for result in results if isinstance(results, list) else ():
        locations = result.get("locations") if isinstance(result, Mapping) else None
        place = _inner(locations[0] if isinstance(locations, list) and locations else None, "physicalLocation")
        path = _path(_inner(place, "artifactLocation").get("uri"))
        if path:
            line = _inner(place, "region").get("startLine")
            yield ToolRemark(
                tool=tool,
                rule=_text(result.get("ruleId")) or _text(_inner(result, "rule").get("id")),
                path=path,
                line=line if isinstance(line, int) and not isinstance(line, bool) and line > 0 else 0,
                message=_text(_inner(result, "message").get("text"), _LONGEST_MESSAGE),
            )


def _inner(value: Any, *keys: str) -> Mapping[str, Any]:
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _text(value: Any, most: int = _LONGEST_NAME) -> str:
    return " ".join(value.split())[:most] if isinstance(value, str) else ""


def _path(uri: Any) -> str:
    """A path from the root of the repository; empty for a place outside of it."""
    if not isinstance(uri, str):
        return ""
    if uri.startswith("/") or _SCHEME.match(uri):
        return ""
    raw = _ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), uri.encode("utf-8", "replace"))
    return raw.decode("utf-8", "replace").removeprefix("./")
