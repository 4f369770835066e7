"""Remarks that are right by the letter and that no reviewer would make."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from review_advisor.core.facts.files.kinds import Kind, kind_of_path
from review_advisor.embedded import rule_table as rules
from review_advisor.embedded.ruff_run import RuffRemark

_TEST_FOLDERS = frozenset({"test", "tests", "testing", "testdata", "__tests__", "spec"})
_DATA_FOLDERS = frozenset({"cases", "data", "fixtures", "samples", "snippets", "testdata"})
_OTHER_SILENCE = re.compile(r"#.*(?:pylint:\s*disable|re-?export|type:\s*ignore|pragma:)", re.IGNORECASE)
_STATEMENT = re.compile(r"[\"']\s*(?:select|insert|update|delete|replace|with|create|drop|alter)\s", re.IGNORECASE)
"""The beginning of a string that is SQL, and no sentence with such a word in it."""
_OF_CONSTANTS = re.compile(r"%\s*\(?(?:[A-Z][A-Z0-9_]*[,\s]*)+\)?\s*[),]*$")
_IN_NAMESPACE = re.compile(r"\b(?:exec|eval)\((?:[^(),]|\([^()]*\))*,")
"""Whoever names the namespace means to run code."""
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
    """Whether a reviewer would leave it unsaid. Nothing serious is, but for what ruff itself calls safe."""
    if rules.is_harmless(remark.message):
        return True
    line = _line(tree, remark)
    match remark.rule:
        case "F841":
            return _OTHER_SILENCE.search(line) is not None
        case "S608":
            return _STATEMENT.search(line) is None or _OF_CONSTANTS.search(line) is not None
        case "S102" | "S307":
            return _IN_NAMESPACE.search(line) is not None
        case "S202":
            return "members" in line or "filter" in line
        case "B006":
            return not _is_changed(tree, remark)
        case _:
            return False


def _line(tree: Path, remark: RuffRemark) -> str:
    lines = (tree / remark.path).read_text(encoding="utf-8", errors="replace").split("\n")
    return lines[remark.first - 1] if remark.first <= len(lines) else ""


def _is_changed(tree: Path, remark: RuffRemark) -> bool:
    """Whether the function changes or hands out the default that all its calls share."""
    text = (tree / remark.path).read_text(encoding="utf-8", errors="replace")
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
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
        case ast.Assign(targets=[ast.Attribute()], value=ast.Name(id=known)):
            return known == name
        case _:
            return False
