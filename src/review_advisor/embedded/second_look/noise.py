"""Remarks that are right by the letter and that no reviewer would make."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

from review_advisor.core.facts.files.kinds import Kind, kind_of_path
from review_advisor.embedded.ruff_run import RuffRemark
from review_advisor.embedded.second_look.module_index import ModuleIndex, module_index

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
