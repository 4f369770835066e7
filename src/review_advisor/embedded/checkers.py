"""The checks themselves: ruff and detect-secrets, on added lines only."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePosixPath
from typing import Any

from review_advisor.core.answers.answers import ReportedFinding
from review_advisor.core.facts.kinds import Kind, kind_of_path
from review_advisor.core.facts.patches.diff_text import ShownLine
from review_advisor.core.safety.secret_shapes import REDACTED, holds_mark, is_mark, kind_marked
from review_advisor.embedded import rule_table as rules
from review_advisor.embedded.command_line import UsageError

_EXTRA = "review-advisor[embedded]"
_BATCH = 400
_RUFF_TIMEOUT = 60
_LONGEST_STATEMENT = 10
_LONGEST_QUOTE = 400
_SHORTEST_QUOTE = 4
_SHORTEST_SECRET = 12
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
        detectors = _detectors()
        for path in paths:
            in_prose = kind_of_path(path) in (Kind.TESTS, Kind.DOCS)
            written = self._written_lines(path)
            for number, shown in self._added[path].items():
                raw = written[number - 1] if 0 < number <= len(written) else shown
                found = _secret(detectors, raw, shown)
                if found is None:
                    continue
                kind, secret = found
                quote = _quote(shown, secret)
                if quote:
                    message = f"a committed secret: {kind}"
                    worth = self._secret_worth(kind, in_prose=in_prose, known=secret != REDACTED)
                    yield CheckFinding(path, number, "secret", kind, message, quote, worth)

    def _secret_worth(self, kind: str, *, in_prose: bool, known: bool) -> rules.Worth:
        if kind in rules.WEAK_SECRETS:
            return rules.WEAK_SECRET
        if in_prose:
            return rules.SECRET_IN_PROSE
        return rules.SECRET_IN_CODE if self.has_tree or known else rules.REMOVED_SECRET

    def _written_lines(self, path: str) -> list[str]:
        file = self._files.get(path)
        return [] if file is None else file.read_text(encoding="utf-8", errors="replace").split("\n")


def require_extra() -> str:
    """The names and versions of the checkers, for reports. Raises ``UsageError`` if they are not installed."""
    try:
        return f"ruff {version('ruff')}, detect-secrets {version('detect-secrets')}"
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


Detector = Callable[[str], Iterable[str]]


def _detectors() -> list[tuple[str, Detector]]:
    from detect_secrets.plugins import (  # noqa: PLC0415 - 100 ms, and not every question needs it
        aws,
        azure_storage_key,
        basic_auth,
        github_token,
        gitlab_token,
        jwt,
        npm,
        openai,
        private_key,
        pypi_token,
        sendgrid,
        slack,
        stripe,
    )

    found = (
        aws.AWSKeyDetector(),
        azure_storage_key.AzureStorageKeyDetector(),
        github_token.GitHubTokenDetector(),
        gitlab_token.GitLabTokenDetector(),
        npm.NpmDetector(),
        openai.OpenAIDetector(),
        private_key.PrivateKeyDetector(),
        pypi_token.PypiTokenDetector(),
        sendgrid.SendGridDetector(),
        slack.SlackDetector(),
        stripe.StripeDetector(),
        basic_auth.BasicAuthDetector(),
        jwt.JwtTokenDetector(),
    )
    return [(str(detector.secret_type), detector.analyze_string) for detector in found]


def _secret(detectors: Iterable[tuple[str, Detector]], raw: str, shown: str) -> tuple[str, str] | None:
    """The kind of secret in a line, and the secret, which is ``REDACTED`` where only its mark is there to go by."""
    if len(raw) >= _SHORTEST_SECRET:
        for kind, detect in detectors:
            for secret in detect(raw):
                if kind != "Private Key" or f"-----{secret}" in raw:
                    return kind, secret
    if holds_mark(shown) and (raw is shown or not holds_mark(raw)):
        return kind_marked(shown) or REDACTED, REDACTED
    return None


def _quote(shown: str, secret: str) -> str:
    """The shown line, or what stands in front of a secret that the diff still shows: a report repeats no secret."""
    text = shown.strip()
    if is_mark(text):
        return ""
    before, found, _ = text.partition(secret)
    if found and secret != REDACTED and len(before.strip()) >= _SHORTEST_QUOTE:
        return before.strip()[-_LONGEST_QUOTE:]
    return text[:_LONGEST_QUOTE]
