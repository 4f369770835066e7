"""Static checks on added lines: ruff, secrets, and checkers of other languages."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import ValidationError

from review_advisor.agents.answers import GRAVE, ReportedFinding
from review_advisor.agents.static import oxlint, shellcheck, zizmor
from review_advisor.agents.static import programs as rules
from review_advisor.agents.static.agent import UsageError
from review_advisor.agents.static.programs import TIMEOUT, CannotRead, CheckerError, Complaint, RunChecker, bounded_run
from review_advisor.change.checker_settings import CHECKERS, RuffSettings, languages_of, nearest
from review_advisor.change.diff_text import ShownLine
from review_advisor.change.kinds import Kind, kind_of_path, language_of
from review_advisor.policy.exclusion import PYTHON
from review_advisor.safety.secret_reading import looks_random
from review_advisor.safety.secrets import holds_mark, is_mark, kind_marked, secrets_in

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


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """One remark of a check. ``evidence`` is the added line as the diff shows it, or a part of it.

    ``silenced``: why it is no finding, if it is none: a comment in the code says so, or it is a mild bug in a file that
    is generated or test data. It is counted and named.
    """

    path: str
    line: int
    check: rules.CheckKind
    rule: str
    message: str
    evidence: str
    worth: rules.Worth
    fix: Fix | None = None
    silenced: str = ""

    @property
    def serious(self) -> bool:
        """Whether it alone makes a change unfit to be approved."""
        return self.worth.severity in GRAVE

    @property
    def place(self) -> str:
        """Rule, line and severity, as a disagreement names them."""
        return f"{self.rule} at {self.path}:{self.line} ({self.worth.severity})"

    def reported(self) -> ReportedFinding:
        """The same as the executor's answer carries it."""
        return ReportedFinding(
            path=self.path,
            line=self.line,
            end_line=None if self.fix is None else self.fix.last,
            suggestion=None if self.fix is None else self.fix.text.removesuffix("\n"),
            severity=self.worth.severity,
            category=f"{self.check}/{self.rule}",
            title=self.message[:200],
            body=f"Found by a static check ({self.rule}), not by a model.",
            confidence=self.worth.confidence,
            evidence=self.evidence,
        )


Function = ast.FunctionDef | ast.AsyncFunctionDef


@lru_cache(maxsize=1)
def module_index(text: str) -> ModuleIndex | None:
    """The index of a module, made once for remarks that follow each other; None if Python cannot read it."""
    try:
        return ModuleIndex(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last for what is nested too deeply
        return None


class ModuleIndex:
    """What the second look asks for, by the line that it begins on or by its name."""

    def __init__(self, module: ast.Module) -> None:
        self.calls: dict[int, list[ast.Call]] = {}
        self.definitions: dict[int, Function | ast.ClassDef] = {}
        self.awaited: set[int] = set()
        """The lines where somebody waits for an exception."""
        self.imports_everything = False
        for node in ast.walk(module):
            self._note(node)

    def _note(self, node: ast.AST) -> None:
        match node:
            case ast.Call():
                self.calls.setdefault(node.lineno, []).append(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.definitions[node.lineno] = node
            case ast.ImportFrom(names=[ast.alias(name="*")]):
                self.imports_everything = True
            case ast.Try(body=[first, *_, last]) | ast.Try(body=[first as last]):
                self.awaited.update(range(first.lineno, (last.end_lineno or 0) + 1))
            case ast.With(items=items) | ast.AsyncWith(items=items):
                if any(_awaits(item.context_expr) for item in items):
                    self.awaited.update(range(node.lineno, (node.end_lineno or 0) + 1))
            case _:
                pass


def _awaits(expression: ast.expr) -> bool:
    match expression:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return "raises" in name.lower()
        case _:
            return False


_TEST_FOLDER = re.compile(
    r"(?:test|tests|testing)(?:[-_.\d].*)?|test(?:apps?|cases?|data|files|libs?|projects?|resources|suites?|utils?)"
    r"|unittests?|.*[-_]tests?|__tests__|spec"
)


_DATA_FOLDERS = frozenset({"cases", "data", "fixtures", "samples", "snippets", "testdata"})


_OF_TESTS = frozenset({"pytest", "mock", "unittest", "staticmethod", "classmethod"})
"""What such a decorator is put on is not registered anywhere: a second one of its name takes its place."""


_REDEFINED = re.compile(r"`([^`]+)`")


def is_test(path: str) -> bool:
    """Whether a file is a test or lies among them."""
    return kind_of_path(path) is Kind.TESTS or any(map(_TEST_FOLDER.fullmatch, PurePosixPath(path).parts[:-1]))


def is_test_data(path: str) -> bool:
    """Whether a file is what tests read: it may be broken on purpose."""
    parts = PurePosixPath(path).parts[:-1]
    return is_test(path) and not _DATA_FOLDERS.isdisjoint(parts)


def is_read_by_tests(path: str) -> bool:
    """Whether a file lies among tests, has no test's name, and may be broken on purpose."""
    is_run = PurePosixPath(path).name in ("conftest.py", "__init__.py")
    return not is_run and (is_test_data(path) or (is_test(path) and kind_of_path(path) is not Kind.TESTS))


def is_noise(remark: RuffRemark, tree: Path) -> bool:
    """Whether a second look at its code says that a reviewer would leave it unsaid."""
    if remark.rule not in _HOLDS:
        return False
    text = (tree / remark.path).read_text(encoding="utf-8", errors="replace")
    index = module_index(text)
    return index is not None and not _HOLDS[remark.rule](index, remark)


def _loses_arguments(index: ModuleIndex, remark: RuffRemark) -> bool:
    """Whether a shell is given a list: it runs the first word alone."""
    given = [call.args[0] for call in index.calls.get(remark.first, ()) if call.args]
    return any(isinstance(part, ast.List | ast.Tuple) and len(part.elts) > 1 for part in given)


def _is_lost(index: ModuleIndex, remark: RuffRemark) -> bool:
    """Whether a function or class takes the place of another of its name, and no decorator registers it."""
    definition = index.definitions.get(remark.first)
    named = _REDEFINED.search(remark.message)
    return (
        definition is not None
        and named is not None
        and named[1] == definition.name
        and all(map(_is_of_tests, definition.decorator_list))
    )


def _is_of_tests(decorator: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id in _OF_TESTS for node in ast.walk(decorator))


_HOLDS: Mapping[str, Callable[[ModuleIndex, RuffRemark], bool]] = {
    "B015": lambda index, remark: remark.first not in index.awaited,  # or somebody waits for it to raise
    "F811": _is_lost,
    "F821": lambda index, _: not index.imports_everything,
    "S602": _loses_arguments,
}
"""Whether a remark of a rule holds at a second look. Where the code is not found again, it does."""


_PYTHON_2 = re.compile(
    r"^\s*print\s+(?![=(\s])|^\s*print\s*>>|^\s*except\b[^#:]*,\s*\w+\s*:|^\s*raise\s+[\w.\[\]]+\s*,|^\s*exec\s+[\"'\w]|\b0[0-7]+\b"
)
"""A statement that only Python 2 has."""


_OLDER = {
    _PYTHON_2: "it is written for Python 2",
    re.compile(r"\.async\b|\basync\s*[=(,)]|\bimport\s+async\b"): "it is written for a Python before 3.7",
}


_PYTHON_3 = re.compile(
    r"\bf[\"']|\)\s*->|\bawait\s|:=|\bsuper\(\)|^from __future__ import annotations|^(?:<{7}|>{7})\s"
    r"|^[^\S\n]*+(?:async\s+(?:def|for|with)\b|nonlocal\b|def\s(?>.*?\w[^\S\n]*+:[^\S\n]*+\w).*\)\s*:)",
    re.MULTILINE,
)
"""What only Python 3 has, and what git leaves in a file that is in conflict."""


_TEMPLATE = re.compile(r"<%|%>|\{%|\{\{")


_FEWEST_NAMES = 2
"""Whoever runs a file that uses so many unknown names puts them into it."""


_FEWEST_FILES = 2


def not_run_as_they_stand(found: Sequence[RuffRemark], tree: Path) -> Mapping[RuffRemark, str]:
    """The remarks about broken code that say nothing, each with the reason."""
    telling = [remark for remark in found if remark.rule == rules.SYNTAX or remark.name]
    paths = {remark.path for remark in telling}
    lines = {path: (tree / path).read_text(encoding="utf-8", errors="replace").split("\n") for path in paths}
    at_fault: dict[str, list[str]] = {}
    for remark in telling:
        if remark.first <= len(lines[remark.path]):
            at_fault.setdefault(remark.path, []).append(lines[remark.path][remark.first - 1])
    unknown = {(remark.path, remark.name) for remark in found if remark.name}
    names_of = Counter(path for path, _ in unknown)
    files_of = Counter(name for _, name in unknown)
    reasons: dict[RuffRemark, str] = {}
    for remark in found:
        faults = at_fault.get(remark.path, ())
        older = next((why for pattern, why in _OLDER.items() if any(map(pattern.search, faults))), "")
        if older or rules.is_of_python_2(remark.name):
            reasons[remark] = older or _OLDER[_PYTHON_2]
        elif remark.rule == rules.SYNTAX and any(map(_TEMPLATE.search, faults)):
            reasons[remark] = "it is a template"
        elif remark.name and names_of[remark.path] >= _FEWEST_NAMES:
            reasons[remark] = f"it uses {names_of[remark.path]} unknown names"
        elif remark.name and files_of[remark.name] >= _FEWEST_FILES:
            reasons[remark] = f"{remark.name} is unknown in other files, too"
        elif is_read_by_tests(remark.path):
            reasons[remark] = f"tests read it, and it cannot run: {remark.rule} in line {remark.first}"
        elif remark.rule == rules.SYNTAX and _PYTHON_3.search("\n".join(lines[remark.path])) is None:
            reasons[remark] = f"line {remark.first} cannot be parsed, and nothing in it is of Python 3"
    return reasons


_EXTRA = "review-advisor[embedded]"


_LONGEST_STATEMENT = 10


_LONGEST_QUOTE = 400


_SHORTEST_QUOTE = 4


_LONGEST_LINE = 2_000
"""A longer one was packed by a program, and holds much that looks drawn."""


_FEWEST_DRAWN = 12
"""So many different characters are in a token of any alphabet that was drawn at random."""


_BY_ITSELF = "the code says so"


_LONE_RETURN = re.compile(rb"\r(?!\n)")


_OTHER_LINES = frozenset({PYTHON, "JavaScript", "TypeScript"})
"""Their checkers end a line at a lone carriage return. Git does not, so their line numbers differ from the diff's."""


class StaticChecks:
    """The checks for one diff. ``tree`` is the exported head tree, or None: then only the shown lines exist.

    ``settings`` are what the base's own configuration of ruff allows. ``programs`` are the checkers of other languages,
    by name, and ``allowed`` the rules of each that the base's configuration of it switches off.
    """

    def __init__(
        self,
        lines: Sequence[ShownLine],
        tree: Path | None,
        settings: Sequence[RuffSettings] = (),
        programs: Mapping[str, str] | None = None,
        allowed: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._settings = settings
        self._programs = programs or {}
        self._allowed = allowed or {}
        self._unread: dict[str, str] = {}
        self._set_aside: dict[str, str] = {}
        self._broken: dict[str, list[tuple[int | None, str]]] = {}
        self._tree = None if tree is None else tree.resolve()
        self._added: dict[str, dict[int, str]] = {}
        self._removed: dict[str, set[str]] = {}
        self._first: dict[str, int] = {}
        """Where the change of each file begins. Above that, old and new lines have the same numbers."""
        for line in lines:
            self._first[line.path] = min(line.number, self._first.get(line.path, line.number))
            if not line.added:
                self._removed.setdefault(line.path, set()).add(_bare(line.text))
            elif line.text.strip():
                self._added.setdefault(line.path, {})[line.number] = line.text
        self._changed = dict.fromkeys(line.path for line in lines)
        self._files = {path: file for path in self._changed if (file := self._file(path)) is not None}

    @property
    def unread(self) -> Mapping[str, str]:
        """The changed files of code that the checks for their language should have read and did not, with the reason.

        Known after ``everything``. A file of which nothing is left is none of them.
        """
        read = {PYTHON, *languages_of(self._programs)}
        there = (path for path in self._changed if path in self._added or path.startswith('"'))
        code = [path for path in there if language_of(path.strip('"')) in read]
        missing = {path: self._why_missing(path) for path in code if path not in self._files}
        misnumbered = {
            path: "it has line ends that git does not count"
            for path in code
            if language_of(path) in _OTHER_LINES
            and path in self._files
            and _LONE_RETURN.search(self._files[path].read_bytes())
        }
        # What breaks a file on an added line is a finding; elsewhere, nobody would be told.
        broken = {path: each[0][1] for path, each in self._broken.items() if all(line is None for line, _ in each)}
        return {**missing, **broken, **self._unread, **self._set_aside, **misnumbered}

    @property
    def set_aside(self) -> frozenset[str]:
        """Those of them that a rule did read: what it says is serious, and the tree says why not to mind."""
        return frozenset(self._set_aside)

    @property
    def has_tree(self) -> bool:
        """Whether ruff can run at all."""
        return self._tree is not None

    def everything(self) -> tuple[CheckFinding, ...]:
        """All checks on all files, by as few runs of ruff as can be.

        Tests do on purpose what security rules forbid, so of their bugs only those count that are broken or never run.
        """
        tests = [path for path in self._changed if is_test(path)]
        code = [path for path in self._changed if path not in tests]
        return (
            *self._ruff((*rules.BUG_RULES, *rules.SECURITY_RULES), code),
            *self._ruff(rules.TEST_RULES, tests),
            *self._secrets(),
            *self._of_programs(),
        )

    def _why_missing(self, path: str) -> str:
        if not self.has_tree:
            return "there is no tree to check it in"
        return "its name cannot be shown as it is" if path.startswith('"') else "it is no plain file of the tree"

    def _of_programs(self) -> Iterator[CheckFinding]:
        others = {path: file for path, file in self._files.items() if language_of(path) in languages_of(self._programs)}
        if not others:
            return

        checked = check(self._programs, others)
        self._unread |= checked.unread
        told: set[tuple[str, str, int]] = set()
        for remark in checked.remarks:
            said = remark.said
            spans = ((said.first, said.last), *((other, other) for other in said.others))
            lines = (self._added_line(remark.path, first, last) for first, last in spans)
            line = next((number for number in lines if number is not None), None)
            if said.is_syntax:  # it may be of another language, or a part that is put together with others
                self._broken.setdefault(remark.path, []).append((None, _unparsed(said.first, said.message)))
                continue
            is_mild = said.severity in ("medium", "low")
            is_left_out = said.rule in self._allowed.get(remark.program, ()) or (
                is_test(remark.path)
                and (said.check == "security" or (is_mild and said.rule not in rules.RULES_OF_TESTS))
            )
            if line is None or is_left_out or self._has_moved(remark.path, line):
                continue
            if (once := (remark.path, said.rule, line)) in told:
                continue
            told.add(once)
            worth = rules.Worth(said.severity, said.confidence)
            quote = self._added[remark.path][line].strip()[:_LONGEST_QUOTE]
            is_packed = said.check == "bug" and self._is_packed(remark.path, line)
            why = "" if is_mild or said.check != "bug" else self._why_unmended(remark.path, said.rule, line)
            if why:
                self._set_aside.setdefault(remark.path, why)
                continue
            silenced = _BY_ITSELF if is_mild and remark.silenced else ""
            if not silenced and is_mild:
                silenced = "a program packed it" if is_packed else self._of_others(remark.path)
            yield CheckFinding(remark.path, line, said.check, said.rule, said.message, quote, worth, silenced=silenced)

    def _why_unmended(self, path: str, rule: str, line: int) -> str:
        """Why nobody here would mend it; empty where somebody would."""
        if self._is_packed(path, line):
            return "a program packed it"
        if is_read_by_tests(path):
            return f"tests read it, and it cannot run: {rule} in line {line}"
        return ""

    def _is_packed(self, path: str, line: int) -> bool:
        lines = self._files[path].read_bytes().split(b"\n")
        return len(lines[line - 1]) > _LONGEST_LINE if line <= len(lines) else False

    def _of_others(self, path: str) -> str:
        """Why nobody minds what is mild there, if that is so. The author of the change chooses what says so."""
        if kind_of_path(path) is Kind.GENERATED:
            return "its name says that it is generated"
        return "it is test data" if is_test_data(path) else ""

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

    def _ruff(self, select: Sequence[str], paths: Iterable[str]) -> Iterator[CheckFinding]:
        files = [path for path in paths if path in self._files and language_of(path) == PYTHON]
        if self._tree is None:
            return
        found = dict.fromkeys(remarks(self._tree, select, files))
        given = {
            remark.name
            for remark in found
            if remark.name and self._added_line(remark.path, remark.first, remark.last) is None
        }
        elsewhere = not_run_as_they_stand(tuple(found), self._tree)
        broken_before = {
            remark.path for remark in found if remark.rule == rules.SYNTAX and remark.first < self._first[remark.path]
        }
        told: set[tuple[str, str, int]] = set()
        for remark in found:
            line = self._added_line(remark.path, remark.first, remark.last)
            worth = rules.worth_of(remark.rule)
            check: rules.CheckKind = "security" if remark.rule in rules.SECURITY_RULES else "bug"
            if remark.rule == rules.SYNTAX and not self._is_allowed(remark):
                place = None if remark.path in broken_before else line
                self._broken.setdefault(remark.path, []).append((place, _unparsed(remark.first, remark.message)))
            if line is None or is_noise(remark, self._tree) or self._is_allowed(remark):
                continue
            is_syntax = remark.rule == rules.SYNTAX  # one error brings about many
            once = (remark.path, remark.rule, 0 if is_syntax else line)
            # A name that lines outside the change use as well comes from somewhere else; a line may only have moved.
            is_old = remark.path in broken_before if is_syntax else self._has_moved(remark.path, line)
            if once in told or remark.name in given or is_old:
                continue
            told.add(once)
            is_mild = worth.severity in ("medium", "low")
            why = "" if is_mild or check != "bug" else elsewhere.get(remark, "")
            if why:
                self._set_aside.setdefault(remark.path, why)
                continue
            fix = self._whole_fix(remark, line)
            added = self._added[remark.path]
            quoted = range(line, (line if fix is None else fix.last) + 1)
            quote = "\n".join(added[number].strip() for number in quoted if number in added)[:_LONGEST_QUOTE]
            silenced = _BY_ITSELF if remark.silenced and rules.may_be_silenced(remark.rule, remark.name) else ""
            if not silenced and is_mild and check == "bug":
                silenced = elsewhere.get(remark) or self._of_others(remark.path)
            yield CheckFinding(remark.path, line, check, remark.rule, remark.message, quote, worth, fix, silenced)

    def _is_allowed(self, remark: RuffRemark) -> bool:
        """Whether the base's configuration allows it."""
        settings = nearest(self._settings, remark.path)
        return settings is not None and settings.allows(remark.rule, remark.path, remark.name)

    def _has_moved(self, path: str, line: int) -> bool:
        return _bare(self._added[path][line]) in self._removed.get(path, ())

    def _whole_fix(self, remark: RuffRemark, line: int) -> Fix | None:
        """Ruff's own fix, if it changes added lines alone, from the one that the finding is about."""
        fix = remark.fix
        if fix is None or fix.first != line or not fix.text.strip():
            return None
        changed = set(range(fix.first, fix.last + 1))
        return fix if changed <= self._added[remark.path].keys() else None

    def _added_line(self, path: str, first: int, last: int) -> int | None:
        added = self._added.get(path, {})
        span = range(first, last + 1 if last - first < _LONGEST_STATEMENT else first + 1)
        return next((number for number in span if number in added), None)

    def _secrets(self) -> Iterator[CheckFinding]:
        """The shapes of secrets."""
        for path in self._added:
            in_prose = kind_of_path(path) is Kind.DOCS or is_test(path)
            told = -1
            for number, kind in self._secret_lines(path, drawn_only=in_prose):
                goes_on, told = number == told + 1 and is_mark(self._added[path][number].strip()), number
                line, quote = self._secret_quote(path, number)
                if quote and not goes_on and kind in rules.TOLD_SECRETS:
                    worth = rules.secret_worth(in_prose=in_prose, has_tree=self.has_tree)
                    message = f"a committed secret: {kind}" if kind else "a committed secret"
                    yield CheckFinding(path, line, "secret", kind or "secret", message, quote, worth)

    def _secret_lines(self, path: str, *, drawn_only: bool) -> Iterator[tuple[int, str]]:
        """The added lines that hold a secret, with its kind; of a prose or test file only what is no placeholder."""
        added = self._added[path]
        file = self._files.get(path)
        text = "" if file is None else file.read_text(encoding="utf-8", errors="replace")
        known: dict[int, str | None] = {}
        for start, end, kind in secrets_in(text):
            line = text.count("\n", 0, start) + 1
            is_packed = text.find("\n", end) - text.rfind("\n", 0, start) > _LONGEST_LINE
            is_sure = not (drawn_only or is_packed)
            counts = is_sure or (kind in rules.ISSUED_SECRETS and _is_drawn(text[start:end]))
            known[line] = known.get(line) or (kind if counts else None)
        written = text.split("\n")
        for number, shown in added.items():
            raw = written[number - 1] if 0 < number <= len(written) else ""
            is_hidden = holds_mark(shown) and not holds_mark(raw) and len(raw) <= _LONGEST_LINE
            kind_there = known.get(number, kind_marked(shown) if is_hidden and not drawn_only else None)
            if kind_there is not None:
                yield number, kind_there

    def _secret_quote(self, path: str, number: int) -> tuple[int, str]:
        """The line to quote: the secret's own without the secret, or the one above where nothing is left of it."""
        added = self._added[path]
        for line in (number, number - 1):
            quote = _without_secret(added.get(line, "").strip())
            if quote:
                return line, quote
        return number, ""


def require_extra(programs: Mapping[str, str]) -> str:
    """The names and versions of the checkers, for reports. Raises ``UsageError`` if one is not installed."""
    try:
        others = [f"{each.name} {version(each.distribution)}" for each in CHECKERS if each.name in programs]
        return ", ".join((f"ruff {version('ruff')}", *others))
    except PackageNotFoundError as error:
        raise UsageError(
            f"Error: the static checks need {error.name}, which is not installed: pip install '{_EXTRA}'"
        ) from error


def _unparsed(line: int, message: str) -> str:
    return f"line {line} cannot be parsed: {message[:200]}"


def _bare(text: str) -> str:
    return "".join(text.split())


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


_MOST_BYTES = 2_000_000


_BUNDLED = b"__webpack_require__"
"""A bundler wrote the file: what is mild there is counted, and not reported."""


_BATCH_OF_CHECK_FILES = 200


_SILENCERS = re.compile(rb"(?:eslint|oxlint)-(?:disable|enable)|eslint-env|zizmor:\s*ignore", re.IGNORECASE)


_SHELLCHECK = re.compile(rb"(#[^\n]*?)(shellcheck|(?=\n|\Z))", re.IGNORECASE)
"""ShellCheck takes spaces of Unicode, too, so what stands between counts for nothing."""


@dataclass(frozen=True, slots=True)
class ProgramRemark:
    """One remark of a program about lines of a file. ``silenced``: a comment in the file says not to report it."""

    path: str
    program: str
    said: Complaint
    silenced: bool


@dataclass(frozen=True, slots=True)
class Checked:
    """What the programs said, and the files that they did not read, with the reason."""

    remarks: tuple[ProgramRemark, ...] = ()
    unread: Mapping[str, str] = field(default_factory=dict)


_Read = Callable[[Path, Sequence[str], RunChecker], Iterator[tuple[str, Complaint]]]


_TOOLS: Mapping[str, tuple[Callable[[int, str], str], _Read]] = {
    "oxlint": (oxlint.copy_name, oxlint.read),
    "shellcheck": (shellcheck.copy_name, shellcheck.read),
    "zizmor": (zizmor.copy_name, zizmor.read),
}


def check(programs: Mapping[str, str], files: Mapping[str, Path]) -> Checked:
    """Run each of ``programs`` (paths by names) on the files of its languages. ``files``: by their shown names."""
    remarks: list[ProgramRemark] = []
    unread: dict[str, str] = {}
    for program in CHECKERS:
        own = {path: file for path, file in files.items() if language_of(path) in program.languages}
        if not own or program.name not in programs:
            continue
        texts: dict[str, bytes] = {}
        for path, file in own.items():
            if file.stat().st_size > _MOST_BYTES:
                unread[path] = f"it has more than {_MOST_BYTES:,} bytes"
            else:
                texts[path] = file.read_bytes()
        paths = list(texts)
        for start in range(0, len(paths), _BATCH_OF_CHECK_FILES):
            batch = {path: texts[path] for path in paths[start : start + _BATCH_OF_CHECK_FILES]}
            checked = _checked(program.name, programs[program.name], batch, TIMEOUT)
            if checked.unread and len(batch) > 1:  # one file must not leave the others unread
                singly = [
                    _checked(program.name, programs[program.name], {path: text}, TIMEOUT / len(batch))
                    for path, text in batch.items()
                ]
                remarks += [each for one in singly for each in one.remarks]
                unread |= {path: why for one in singly for path, why in one.unread.items()}
            else:
                remarks += checked.remarks
                unread |= checked.unread
    unread |= {each.path: each.said.message for each in remarks if isinstance(each.said, CannotRead)}
    return Checked(tuple(each for each in remarks if each.path not in unread or each.said.is_syntax), unread)


def _checked(name: str, program: str, texts: Mapping[str, bytes], timeout: float) -> Checked:
    """All remarks of one run, or all files as unread."""
    try:
        return Checked(tuple(_batch(name, program, texts, timeout)))
    except CheckerError as problem:
        return Checked(unread=dict.fromkeys(texts, str(problem)))
    except (ValidationError, UnicodeDecodeError):
        return Checked(unread=dict.fromkeys(texts, f"what {name} wrote cannot be read"))


def _batch(name: str, program: str, texts: Mapping[str, bytes], timeout: float) -> Iterator[ProgramRemark]:
    heard = dict.fromkeys(_said(name, program, {path: _unsilenced(text) for path, text in texts.items()}, timeout))
    silencing = {path: text for path, text in texts.items() if _unsilenced(text) != text}
    left = set(_said(name, program, silencing, timeout)) if silencing else set()
    for path, said in heard:
        silenced = path in silencing and (path, said) not in left
        yield ProgramRemark(path, name, said, silenced or _BUNDLED in texts[path])


def _said(name: str, program: str, texts: Mapping[str, bytes], timeout: float) -> Iterator[tuple[str, Complaint]]:
    copy_name, read = _TOOLS[name]
    with TemporaryDirectory(prefix="review-advisor-checks-") as made:
        folder = Path(made).resolve()
        copies: dict[str, str] = {}
        for number, (path, text) in enumerate(texts.items()):
            copy = copy_name(number, PurePosixPath(path).name.lower())
            copies[copy] = path
            (folder / copy).parent.mkdir(parents=True, exist_ok=True)
            (folder / copy).write_bytes(text)
        for copy, said in read(
            folder, list(copies), lambda words: bounded_run([program, *words], folder, timeout=timeout)
        ):
            yield copies[copy], said


def _unsilenced(text: bytes) -> bytes:
    blanked = _SILENCERS.sub(lambda found: b"-" * len(found[0]), text)
    return _SHELLCHECK.sub(lambda found: found[1] + b"-" * len(found[2]), blanked)
