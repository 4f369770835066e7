"""Trying a fault where everything is imported already: the functions that it changes get other code."""

from __future__ import annotations

import gc
import inspect
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

Place = tuple[str, str, int]
Functions = Mapping[Place, Sequence[FunctionType]]


def functions_below(folder: Path) -> Functions:
    """Every function that exists now and is written below ``folder``, by file, qualified name and first line."""
    found: dict[Place, list[FunctionType]] = defaultdict(list)
    gc.unfreeze()  # what is frozen is not listed
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename.startswith(f"{folder}/"):
            found[_place(each.__code__)].append(each)
    return found


def all_codes(code: CodeType) -> Iterator[CodeType]:
    """It, and every function, class and comprehension that is written in it."""
    yield code
    for each in _codes_in(code):
        yield from all_codes(each)


def replaced(old: CodeType, new: CodeType, functions: Functions) -> bool:
    """Let every function of the module ``old`` be that of the module ``new``; False if the fault is not wholly in.

    That is so if it strikes while the module is imported, in a function that does not exist yet, or in one of two that
    cannot be told apart, because they begin on one line under one name.
    """
    pairs, places = _differing(old, new), Counter(map(_place, all_codes(old)))
    changed = {_place(each) for was, _ in pairs or () for each in all_codes(was)}
    if pairs is None or any(places[place] > 1 and place in functions for place in changed):
        return False
    return all(_put(*pair, functions) for pair in pairs)


def first_failure(session: pytest.Session, items: Sequence[pytest.Item]) -> int:
    """Run tests that a session has collected until one fails; it gives pytest's exit code."""
    session.testsfailed = 0
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            return pytest.ExitCode.TESTS_FAILED
    return pytest.ExitCode.OK


def _differing(old: CodeType, new: CodeType) -> list[tuple[CodeType, CodeType]] | None:
    """The outermost functions that differ; None if anything outside of functions does."""
    if old.co_flags & inspect.CO_OPTIMIZED:
        return [] if _alike(old, new) else [(old, new)]
    if _own(old) != _own(new):
        return None
    inner = [_differing(*pair) for pair in zip(_codes_in(old), _codes_in(new), strict=True)]
    return None if None in inner else [pair for pairs in inner for pair in pairs or ()]


def _alike(old: CodeType, new: CodeType) -> bool:
    return _own(old) == _own(new) and all(map(_alike, _codes_in(old), _codes_in(new)))


def _own(code: CodeType) -> tuple[Any, ...]:
    """What it does but for the codes in it, of which the names are here; where it stands does not count."""
    values = [each.co_name if isinstance(each, CodeType) else (type(each), each) for each in code.co_consts]
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    return code.co_code, code.co_exceptiontable, names, counts, values


def _put(old: CodeType, new: CodeType, functions: Functions) -> bool:
    """Put ``new`` into the functions of ``old``, and into those that these have made already: a validator is one."""
    there = functions.get(_place(old), ())
    if there and _taken(old) != _taken(new):  # what it closes over, and its defaults, stay
        return False
    for each in there:
        each.__code__ = new
    inner, others = _codes_in(old), _codes_in(new)
    if len(inner) != len(others):
        made = any(functions.get(_place(each)) for code in inner for each in all_codes(code))
        return bool(there) and not made
    done = [_put(*pair, functions) for pair in zip(inner, others, strict=True)]
    return bool(there) or any(done)


def _taken(code: CodeType) -> tuple[Any, ...]:
    return code.co_freevars, code.co_argcount, code.co_kwonlyargcount


def _codes_in(code: CodeType) -> list[CodeType]:
    return [each for each in code.co_consts if isinstance(each, CodeType)]


def _place(code: CodeType) -> Place:
    return code.co_filename, code.co_qualname, code.co_firstlineno
