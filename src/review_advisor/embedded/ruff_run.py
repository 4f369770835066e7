"""One run of ruff over some files of a tree, under no configuration, with its fixes as whole lines."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from review_advisor.embedded import rule_table as rules
from review_advisor.embedded.command_line import UsageError

_TIMEOUT = 60
_BATCH = 400
_UNKNOWN_NAME = re.compile(r"[Uu]ndefined name `([^`]+)`")
_OTHER_SILENCE = {
    "F821": re.compile(r"#\s*type:\s*ignore\[[\w, -]*name-defined"),
}
_TESTS_VERSION = re.compile(r"\bversion_info\b|\bPY[23]\b")
"""Code for two versions of Python. It may name what only the older has (``may_be_silenced``), and nothing else."""
_SILENCED = re.compile(r"#\s*noqa(?![\w-])(?:\s*:\s*(?P<rules>[A-Z]+\d+(?:[,\s]+[A-Z]+\d+)*))?", re.IGNORECASE)
_WHOLE_FILE_SILENCED = re.compile(
    r"^\s*#\s*(?:ruff|flake8)\s*:\s*noqa(?:\s*:\s*(?P<rules>[A-Z]+\d+(?:[,\s]+[A-Z]+\d+)*))?\s*$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Fix:
    """New text for the lines ``first`` to ``last``; empty where they go."""

    first: int
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class RuffRemark:
    """What ruff says of the lines ``first`` to ``last``. ``silenced``: a comment in the code says not to.

    ``name`` is the unknown name that it is about, if it is about one.
    """

    path: str
    rule: str
    message: str
    first: int
    last: int
    name: str
    silenced: bool
    fix: Fix | None


def remarks(tree: Path, select: Sequence[str], files: Sequence[str]) -> Iterator[RuffRemark]:
    """Run ruff on ``files`` of ``tree``. Raises ``UsageError`` if it fails."""
    texts: dict[str, list[str]] = {}
    for start in range(0, len(files), _BATCH):
        for raw in _run(tree, select, files[start : start + _BATCH]):
            path = Path(raw["filename"]).relative_to(tree).as_posix()
            if path not in texts:
                texts[path] = (tree / path).read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
            yield _remark(raw, path, texts[path])


def _remark(raw: dict[str, Any], path: str, lines: Sequence[str]) -> RuffRemark:
    rule, message = str(raw.get("code") or rules.SYNTAX), str(raw["message"])
    row = int(raw.get("noqa_row") or raw["location"]["row"])
    name = _UNKNOWN_NAME.search(message)
    return RuffRemark(
        path=path,
        rule=rule,
        message=message,
        first=int(raw["location"]["row"]),
        last=int(raw["end_location"]["row"]),
        name=name[1] if name else "",
        silenced=_is_silenced(rule, lines[row - 1 : row], lines),
        fix=_fix(raw.get("fix"), lines),
    )


def _is_silenced(rule: str, own: Sequence[str], lines: Sequence[str]) -> bool:
    if rule == "F821" and any(_TESTS_VERSION.search(line) for line in lines):
        return True
    other = _OTHER_SILENCE.get(rule)
    if other is not None and any(other.search(line) for line in own):
        return True
    comments = [found for line in own for found in _SILENCED.finditer(line)]
    comments += [found for line in lines if "noqa" in line and (found := _WHOLE_FILE_SILENCED.match(line))]
    return any(
        found["rules"] is None or rule.startswith(tuple(re.split(r"[,\s]+", found["rules"].upper())))
        for found in comments
    )


def _fix(raw: Any, lines: Sequence[str]) -> Fix | None:
    """A fix that ruff itself calls safe, as whole lines; None where it has none, or where that reaches too far."""
    if not isinstance(raw, dict) or raw.get("applicability") != "safe" or not raw.get("edits"):
        return None
    edits = sorted(raw["edits"], key=lambda edit: _place(edit, "location"))
    first, last = _place(edits[0], "location")[0], max(_place(edit, "end_location")[0] for edit in edits)
    if last > len(lines) or last - first >= rules.LONGEST_FIX:
        return None
    text = "".join(lines[first - 1 : last])
    starts = [0]
    for line in lines[first - 1 : last]:
        starts.append(starts[-1] + len(line))
    for edit in reversed(edits):
        (row, column), (end_row, end_column) = _place(edit, "location"), _place(edit, "end_location")
        begin, end = starts[row - first] + column - 1, starts[end_row - first] + end_column - 1
        text = text[:begin] + str(edit.get("content") or "") + text[end:]
    return Fix(first, last, text)


def _place(edit: dict[str, Any], which: str) -> tuple[int, int]:
    return int(edit[which]["row"]), int(edit[which]["column"])


def _run(tree: Path, select: Sequence[str], files: Sequence[str]) -> list[dict[str, Any]]:
    from ruff import find_ruff_bin  # type: ignore[import-untyped]  # noqa: PLC0415 - only if a Python file changed

    command = [
        *(find_ruff_bin(), "check", "--isolated", "--no-cache", "--no-fix", "--exit-zero", "--quiet", "--ignore-noqa"),
        *("--output-format", "json", "--target-version", "py314"),
        *("--select", ",".join(select), "--ignore", ",".join(rules.IGNORED_RULES), "--", *files),
    ]
    try:
        ended = subprocess.run(command, cwd=tree, env={}, capture_output=True, timeout=_TIMEOUT, check=False)
    except subprocess.TimeoutExpired as error:
        raise UsageError(f"Error: ruff did not end within {_TIMEOUT} seconds") from error
    if ended.returncode != 0:
        raise UsageError(f"Error: ruff failed: {ended.stderr.decode('utf-8', 'replace').strip()[:500]}")
    found: list[dict[str, Any]] = json.loads(ended.stdout)
    return found
