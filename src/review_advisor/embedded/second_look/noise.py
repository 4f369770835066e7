"""Remarks that are right by the letter and that no reviewer would make."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path, PurePosixPath

from review_advisor.core.facts.files.kinds import Kind, kind_of_path
from review_advisor.embedded import rule_table as rules
from review_advisor.embedded.ruff_run import RuffRemark
from review_advisor.embedded.second_look.module_index import Function, ModuleIndex, module_index
from review_advisor.embedded.second_look.origin import called

_TEST_FOLDERS = frozenset({"test", "tests", "testing", "testdata", "__tests__", "spec"})
_DATA_FOLDERS = frozenset({"cases", "data", "fixtures", "samples", "snippets", "testdata"})
_STATEMENT = re.compile(r"[\"']\s*(?:select|insert|update|delete|replace|with|create|drop|alter)\s", re.IGNORECASE)
"""The beginning of a string that is SQL, and no sentence with such a word in it."""
_VALUE = re.compile(r"(?:[=<>(,]|\blike\b|\bin\b)\s*['\"%]*\s*(?:\{|%s|%\(|\+)", re.IGNORECASE)
"""A part in the place of a value. Names of tables and columns come from the program."""
_UNCHOSEN = re.compile(r"^None$|fully_trusted|\bgetmembers\(\)$")
"""The members or the filter that let all of an archive through."""
_OF_TESTS = frozenset({"pytest", "mock", "unittest", "staticmethod", "classmethod"})
"""What such a decorator is put on is not registered anywhere: a second one of its name takes its place."""
_ASSIGNMENT = re.compile(r"[\w.\"'\[\]-]{1,60}\s*[:=]\s*\w?[\"']?(?:\[secret.*)?", re.DOTALL)
_CHANGING = frozenset(
    {
        "add",
        "append",
        "clear",
        "discard",
        "extend",
        "insert",
        "pop",
        "popitem",
        "remove",
        "reverse",
        "setdefault",
        "sort",
        "update",
    }
)


def is_test(path: str) -> bool:
    """Whether a file is a test or lies among them."""
    return kind_of_path(path) is Kind.TESTS or not _TEST_FOLDERS.isdisjoint(PurePosixPath(path).parts[:-1])


def is_test_data(path: str) -> bool:
    """Whether a file is what tests read: it may be broken on purpose."""
    parts = PurePosixPath(path).parts[:-1]
    return is_test(path) and not _DATA_FOLDERS.isdisjoint(parts)


def is_read_by_tests(path: str) -> bool:
    """Whether a file lies among tests, has no test's name, and may be broken on purpose."""
    is_run = PurePosixPath(path).name in ("conftest.py", "__init__.py")
    return not is_run and (is_test_data(path) or (is_test(path) and kind_of_path(path) is not Kind.TESTS))


def is_assignment(quote: str) -> bool:
    """Whether a line gives a name its value, and the secret is that value: no prose, example or list."""
    return _ASSIGNMENT.fullmatch(quote) is not None


def is_noise(remark: RuffRemark, tree: Path) -> bool:
    """Whether a reviewer would leave it unsaid: ruff itself calls it safe, or a second look at its code does."""
    if rules.is_harmless(remark.message):
        return True
    if remark.rule == "PLE0302":  # a stub overloads special methods
        return remark.path.endswith(".pyi")
    if remark.rule not in _HOLDS:
        return False
    text = (tree / remark.path).read_text(encoding="utf-8", errors="replace")
    index = module_index(text)
    return index is not None and not _HOLDS[remark.rule](index, remark)


def _calls(index: ModuleIndex, remark: RuffRemark, *names: str) -> list[ast.Call]:
    """The calls that the remark is about: those that begin on its line, of ``names`` if any is given."""
    return [call for call in index.calls.get(remark.first, ()) if not names or called(call) in names]


def _runs_a_command(index: ModuleIndex, remark: RuffRemark) -> bool:
    """Whether a command has a part from elsewhere, or is a list, of which a shell takes only the first word."""
    calls = _calls(index, remark)
    given = [part for call in calls for part in (*call.args[:1], *(each.value for each in call.keywords))]
    return not calls or any(isinstance(part, ast.List | ast.Tuple) or index.origins(part) for part in given)


def _evaluates_input(index: ModuleIndex, remark: RuffRemark) -> bool:
    """Whether input is run as code. A namespace changes nothing: code gets out of an empty one, too."""
    calls = _calls(index, remark, "exec", "eval")
    return not calls or any("input" in index.origins(each) for call in calls for each in call.args[:1])


def _unpacks_anything(index: ModuleIndex, remark: RuffRemark) -> bool:
    """Whether an archive of tar is unpacked wherever its names lead. A zip file's names are made safe."""
    if "tarfile" not in index.text and "unpack_archive" not in index.text:
        return False
    calls = _calls(index, remark, "extractall", "unpack_archive")
    return not calls or not all(map(_names_members, calls))


def _runs_sql(index: ModuleIndex, remark: RuffRemark) -> bool:
    """Whether a statement of SQL with a value from elsewhere is handed to what runs it."""
    lines = "\n".join(index.lines[remark.first - 1 : remark.last])
    if _STATEMENT.search(lines) is None or _VALUE.search(lines) is None:
        return False
    texts = index.texts.get(remark.first, ())
    return not texts or any(index.origins(part) - {"own"} for text in texts for part in index.statements(text))


def _is_lost(index: ModuleIndex, remark: RuffRemark) -> bool:
    """Whether a function or class takes the place of another of its name, and no decorator registers it."""
    definition = index.definitions.get(remark.first)
    return definition is not None and all(map(_is_of_tests, definition.decorator_list))


def _is_of_tests(decorator: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id in _OF_TESTS for node in ast.walk(decorator))


def _checks_nothing(index: ModuleIndex, remark: RuffRemark) -> bool:
    """Whether nobody waits for the comparison to raise."""
    return remark.first not in index.awaited


def _names_members(call: ast.Call) -> bool:
    """Whether a call says what it unpacks."""
    return any(
        keyword.arg in ("members", "filter") and _UNCHOSEN.search(ast.unparse(keyword.value)) is None
        for keyword in call.keywords
    )


def _is_changed(index: ModuleIndex, remark: RuffRemark) -> bool:
    """Whether the function changes or hands out the default that all its calls share."""
    defaults = index.defaults.get(remark.first)
    return defaults is None or any(
        not name.startswith("_") and name in _changed_in(function) for function, name in defaults
    )


@lru_cache(maxsize=1)
def _changed_in(function: Function) -> frozenset[str]:
    """The names of what a function changes or hands out. One of a thousand parameters has as many remarks."""
    return frozenset(name for node in ast.walk(function) if (name := _changed(node)))


def _changed(node: ast.AST) -> str:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in _CHANGING:
            return name
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
            return name
        case ast.AugAssign(target=ast.Name(id=name)) | ast.Return(value=ast.Name(id=name)):
            return name
        case _:
            return ""


_HOLDS: Mapping[str, Callable[[ModuleIndex, RuffRemark], bool]] = {
    "B006": _is_changed,
    "B015": _checks_nothing,
    "F811": _is_lost,
    "S102": _evaluates_input,
    "S202": _unpacks_anything,
    "S307": _evaluates_input,
    "S602": _runs_a_command,
    "S605": _runs_a_command,
    "S608": _runs_sql,
}
"""Whether a remark of a rule holds at a second look. Where the code is not found again, it does."""
