"""The checks themselves: the rules of ruff and the shapes of secrets, on added lines only."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePosixPath
from typing import Any

from review_advisor.core.answers.answers import ReportedFinding
from review_advisor.core.facts.kinds import Kind, kind_of_path
from review_advisor.core.facts.patches.diff_text import ShownLine
from review_advisor.core.safety.secret_shapes import holds_mark, is_mark, kind_marked, secrets_in
from review_advisor.core.safety.secret_shapes.randomness import looks_random
from review_advisor.embedded import rule_table as rules
from review_advisor.embedded.command_line import UsageError

_EXTRA = "review-advisor[embedded]"
_BATCH = 400
_RUFF_TIMEOUT = 60
_LONGEST_STATEMENT = 10
_LONGEST_QUOTE = 400
_SHORTEST_QUOTE = 4
_FEWEST_DRAWN = 12
"""So many different characters are in a token of any alphabet that was drawn at random."""
_PYTHON = (".py", ".pyi")


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """One remark of a check. ``evidence`` is the added line as the diff shows it, or a part of it."""

    path: str
    line: int
    check: rules.Check
    rule: str
    message: str
    evidence: str
    worth: rules.Worth

    @property
    def serious(self) -> bool:
        """Whether it alone makes a change unfit to be approved."""
        return self.worth.severity in ("critical", "high")

    @property
    def place(self) -> str:
        """Rule, line and severity, as a disagreement names them."""
        return f"{self.rule} at {self.path}:{self.line} ({self.worth.severity})"

    def reported(self) -> ReportedFinding:
        """The same as the executor's answer carries it."""
        return ReportedFinding(
            path=self.path,
            line=self.line,
            severity=self.worth.severity,
            category=f"{self.check}/{self.rule}",
            title=self.message[:200],
            body=f"Found by a static check ({self.rule}), not by a model.",
            confidence=self.worth.confidence,
            evidence=self.evidence,
        )


class StaticChecks:
    """The checks for one diff. ``tree`` is the exported head tree, or None: then only the shown lines exist."""

    def __init__(self, lines: Sequence[ShownLine], tree: Path | None) -> None:
        self._tree = None if tree is None else tree.resolve()
        self._added: dict[str, dict[int, str]] = {}
        for line in lines:
            if line.added and line.text.strip():
                self._added.setdefault(line.path, {})[line.number] = line.text
        self._files = {path: file for path in self._added if (file := self._file(path)) is not None}

    @property
    def paths(self) -> tuple[str, ...]:
        """All files with added text."""
        return tuple(self._added)

    @property
    def unread(self) -> tuple[str, ...]:
        """Files with added text that no bug rule can read: not Python, or not a plain file of the tree."""
        return tuple(path for path in self._added if path not in self._files or not path.endswith(_PYTHON))

    @property
    def has_tree(self) -> bool:
        """Whether ruff can run at all."""
        return self._tree is not None

    def bugs(self, paths: Iterable[str]) -> tuple[CheckFinding, ...]:
        """The bug rules of ruff."""
        return tuple(self._ruff("bug", rules.BUG_RULES, paths))

    def security(self, paths: Iterable[str]) -> tuple[CheckFinding, ...]:
        """The security rules of ruff (not in tests, which do on purpose what they forbid) and the shapes of secrets."""
        wanted = tuple(paths)
        code = [path for path in wanted if kind_of_path(path) is not Kind.TESTS]
        return (*self._ruff("security", rules.SECURITY_RULES, code), *self._secrets(wanted))

    def everything(self) -> tuple[CheckFinding, ...]:
        """All checks on all files."""
        return (*self.bugs(self.paths), *self.security(self.paths))

    def _file(self, shown: str) -> Path | None:
        relative = PurePosixPath(shown)
        if self._tree is None or shown.startswith('"') or relative.is_absolute() or ".." in relative.parts:
            return None
        wanted = self._tree.joinpath(*relative.parts)
        try:
            # A link anywhere on the way would lead out of what was reviewed.
            return wanted if wanted.resolve(strict=True) == wanted and wanted.is_file() else None
        except OSError:
            return None

    def _ruff(self, check: rules.Check, select: Sequence[str], paths: Iterable[str]) -> Iterator[CheckFinding]:
        files = [path for path in paths if path in self._files and path.endswith(_PYTHON)]
        if self._tree is None:
            return
        for start in range(0, len(files), _BATCH):
            for raw in _run_ruff(self._tree, select, files[start : start + _BATCH]):
                rule, message = raw.get("code") or rules.SYNTAX, str(raw["message"])
                path = Path(raw["filename"]).relative_to(self._tree).as_posix()
                line = self._added_line(path, int(raw["location"]["row"]), int(raw["end_location"]["row"]))
                if line is not None and not (rule == rules.SYNTAX and check != "bug"):
                    quote = self._added[path][line].strip()[:_LONGEST_QUOTE]
                    yield CheckFinding(path, line, check, rule, message, quote, rules.worth(rule, message))

    def _added_line(self, path: str, first: int, last: int) -> int | None:
        added = self._added[path]
        span = range(first, last + 1 if last - first < _LONGEST_STATEMENT else first + 1)
        return next((number for number in span if number in added), None)

    def _secrets(self, paths: Iterable[str]) -> Iterator[CheckFinding]:
        for path in paths:
            in_prose = kind_of_path(path) in (Kind.TESTS, Kind.DOCS)
            told = -1
            for number, kind in self._secret_lines(path, drawn_only=in_prose):
                goes_on, told = number == told + 1 and is_mark(self._added[path][number].strip()), number
                line, quote = self._secret_quote(path, number)
                if quote and not goes_on:
                    worth = rules.secret_worth(kind, in_prose=in_prose, has_tree=self.has_tree)
                    message = f"a committed secret: {kind}" if kind else "a committed secret"
                    yield CheckFinding(path, line, "secret", kind or "secret", message, quote, worth)

    def _secret_lines(self, path: str, *, drawn_only: bool) -> Iterator[tuple[int, str]]:
        """The added lines that hold a secret, with its kind; of a prose or test file only what is no placeholder."""
        added = self._added[path]
        file = self._files.get(path)
        text = "" if file is None else file.read_text(encoding="utf-8", errors="replace")
        known: dict[int, str] = {}
        for start, end, kind in secrets_in(text):
            if not drawn_only or (kind in rules.ISSUED_SECRETS and _is_drawn(text[start:end])):
                known.setdefault(text.count("\n", 0, start) + 1, kind)
        written = text.split("\n")
        for number, shown in added.items():
            raw = written[number - 1] if 0 < number <= len(written) else ""
            if number in known:
                yield number, known[number]
            elif holds_mark(shown) and not holds_mark(raw) and not (drawn_only and file is not None):
                yield number, kind_marked(shown)

    def _secret_quote(self, path: str, number: int) -> tuple[int, str]:
        """The line to quote: the secret's own without the secret, or the one above where nothing is left of it."""
        added = self._added[path]
        for line in (number, number - 1):
            quote = _without_secret(added.get(line, "").strip())
            if quote:
                return line, quote
        return number, ""


def require_extra() -> str:
    """The names and versions of the checkers, for reports. Raises ``UsageError`` if they are not installed."""
    try:
        return f"ruff {version('ruff')}"
    except PackageNotFoundError as error:
        raise UsageError(
            f"Error: the static checks need {error.name}, which is not installed: pip install '{_EXTRA}'"
        ) from error


def _run_ruff(tree: Path, select: Sequence[str], files: Sequence[str]) -> list[dict[str, Any]]:
    from ruff import find_ruff_bin  # type: ignore[import-untyped]  # noqa: PLC0415 - only if a Python file changed

    command = [
        *(find_ruff_bin(), "check", "--isolated", "--no-cache", "--no-fix", "--exit-zero", "--quiet"),
        *("--output-format", "json", "--target-version", "py314"),
        *("--select", ",".join(select), "--ignore", ",".join(rules.IGNORED_RULES), "--", *files),
    ]
    try:
        ended = subprocess.run(command, cwd=tree, env={}, capture_output=True, timeout=_RUFF_TIMEOUT, check=False)
    except subprocess.TimeoutExpired as error:
        raise UsageError(f"Error: ruff did not end within {_RUFF_TIMEOUT} seconds") from error
    if ended.returncode != 0:
        raise UsageError(f"Error: ruff failed: {ended.stderr.decode('utf-8', 'replace').strip()[:500]}")
    found: list[dict[str, Any]] = json.loads(ended.stdout)
    return found


def _is_drawn(token: str) -> bool:
    """Whether a token was drawn at random; a placeholder is made of words or repeats itself."""
    return len(set(token)) >= _FEWEST_DRAWN and looks_random(token)


def _without_secret(text: str) -> str:
    """The shown line, or what stands in front of a secret that it still shows: a report repeats no secret."""
    if is_mark(text):
        return ""
    found = secrets_in(text)
    if not found:
        return text[:_LONGEST_QUOTE]
    before = text[: found[0][0]].strip()
    return before[-_LONGEST_QUOTE:] if len(before) >= _SHORTEST_QUOTE else ""
