"""Remarks that are right by the letter and that no reviewer would make."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from review_advisor.core.facts.files.kinds import Kind, kind_of_path
from review_advisor.embedded import rule_table as rules
from review_advisor.embedded.ruff_run import RuffRemark

_LOOKED_AT = ("B006", "S102", "S202", "S307", "S608")
_TEST_FOLDERS = frozenset({"test", "tests", "testing", "testdata", "__tests__", "spec"})
_DATA_FOLDERS = frozenset({"cases", "data", "fixtures", "samples", "snippets", "testdata"})
_STATEMENT = re.compile(r"[\"']\s*(?:select|insert|update|delete|replace|with|create|drop|alter)\s", re.IGNORECASE)
"""The beginning of a string that is SQL, and no sentence with such a word in it."""
_OF_CONSTANTS = re.compile(r"^[^#]*%\s*\(?(?:[A-Z][A-Z0-9_]*[,\s]*)+\)?\s*[),]*$")
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


def is_assignment(quote: str) -> bool:
    """Whether a line gives a name its value, and the secret is that value: no prose, example or list."""
    return _ASSIGNMENT.fullmatch(quote) is not None


def is_noise(remark: RuffRemark, tree: Path) -> bool:
    """Whether a reviewer would leave it unsaid: ruff itself calls it safe, or a second look at its code does."""
    if rules.is_harmless(remark.message):
        return True
    if remark.rule == "PLE0302":  # a stub overloads special methods
        return remark.path.endswith(".pyi")
    if remark.rule not in _LOOKED_AT:
        return False
    text = (tree / remark.path).read_text(encoding="utf-8", errors="replace")
    match remark.rule:
        case "S608":
            lines = text.split("\n")[remark.first - 1 : remark.last]
            return _STATEMENT.search("\n".join(lines)) is None or _OF_CONSTANTS.search("".join(lines[:1])) is not None
        case "S102" | "S307":  # whoever names the namespace means to run code
            return _each_call(text, remark, ("exec", "eval"), lambda call: len(call.args) + len(call.keywords) > 1)
        case "S202":
            return _each_call(text, remark, ("extractall", "unpack_archive"), _names_members)
        case _:
            return not _is_changed(text, remark)


def _each_call(text: str, remark: RuffRemark, names: Sequence[str], holds: Callable[[ast.Call], bool]) -> bool:
    """Whether ``holds`` is true of each call of ``names`` on the line. A comment there says nothing about a call."""
    module = _parsed(text)
    if module is None:
        return False
    calls = [
        node
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and node.lineno == remark.first and _called(node) in names
    ]
    return bool(calls) and all(map(holds, calls))


def _called(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _names_members(call: ast.Call) -> bool:
    return any(keyword.arg in ("members", "filter") for keyword in call.keywords)


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _is_changed(text: str, remark: RuffRemark) -> bool:
    """Whether the function changes or hands out the default that all its calls share."""
    module = _parsed(text)
    if module is None:
        return True
    for function in ast.walk(module):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for name in _defaults_on(function, remark.first):
                return not name.startswith("_") and any(_changes(node, name) for node in ast.walk(function))
    return True


def _defaults_on(function: ast.FunctionDef | ast.AsyncFunctionDef, line: int) -> Iterator[str]:
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    pairs = [*zip(positional[len(positional) - len(given.defaults) :], given.defaults, strict=True)]
    pairs += [(name, default) for name, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default]
    return (name.arg for name, default in pairs if default.lineno == line)


def _changes(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=known), attr=method)):
            return known == name and method in _CHANGING
        case ast.Subscript(value=ast.Name(id=known), ctx=ast.Store() | ast.Del()):
            return known == name
        case ast.AugAssign(target=ast.Name(id=known)) | ast.Return(value=ast.Name(id=known)):
            return known == name
        case _:
            return False
