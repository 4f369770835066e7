"""Every regular expression of the package takes time in proportion to the text: authors choose what is searched.

An expression is superlinear if a run without a bound can be walked again from many places: from every place where a
search may begin, or from every place to which an earlier run can step back. The expressions are taken apart by the
parser of ``re``; the part that ends in the run is tried at every place of short texts made of its own signs. Nothing is
timed: the characters that the tries walk over are counted, and must not quadruple when the text doubles.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]  # the only reading of expressions that cannot differ from the engine's
from typing import Any

import pytest

import review_advisor

Item = tuple[Any, Any]
Items = list[Item]
_MOST = 300
"""A run of at most so many characters has a bound."""
_NEVER_EMPTY: Item = (_constants.LITERAL, ord("x"))
_SIGNS = "aA0_ -./\n\"'=:,;([{<`$\\#*@%+\t"
_SEARCHES = {"search", "sub", "subn", "finditer", "findall", "split"}
_BETWEEN = ("", " ", "\n", "a", ".", "-", "\\")
_TIMES = 6

BOUNDED = {
    "review_advisor.change.redaction._PUBLIC_PART": "the environment, which no author writes",
}
"""Superlinear expressions that read no long text, and what bounds it."""


def test_no_expression_walks_over_a_text_again_and_again_and_every_exception_is_still_one() -> None:
    found = {
        where: run
        for where, pattern, searched in _expressions()
        if (run := superlinear_run(pattern, searched=searched)) is not None
    }
    assert {where: run for where, run in found.items() if where not in BOUNDED} == {}
    assert found.keys() == BOUNDED.keys()


@pytest.mark.parametrize(
    "pattern",
    [
        r"a.*b",
        r"select.+from",
        r"\s*x",
        r"\s*+x",
        r"[+-].*\bpermissions\b",
        r"(?:\w+\s*)+!",
        r"\A(?:a|a+)+!",
        r"\A.*foo.*bar",
        r"\A\s*\w*\s*\w*\s*-",
        r"<!--.*?-->",
        r"\w+@",
        r"x(?=.*y)",
        r"(?:[A-Za-z0-9_]+\.)*key",
        r'"(?:[^"\\]|\\.)*+"',
    ],
)
def test_a_run_that_is_walked_again_is_found(pattern: str) -> None:
    assert superlinear_run(re.compile(pattern, re.DOTALL), searched=True) is not None


@pytest.mark.parametrize(
    "pattern",
    [
        r"\bssl\w*context\b",
        r"\binsert\s+into\b",
        r"(?<!\w)\w++@",
        r"^(?>.*?\bselect\b).+\bfrom\b",
        r"<!--[^<]*-->",
        r"a.{0,100}b",
        r"\Aa+b+c",
        r"x.*",
    ],
)
def test_a_run_that_is_walked_once_is_allowed(pattern: str) -> None:
    assert superlinear_run(re.compile(pattern), searched=True) is None


def _expressions() -> Iterator[tuple[str, re.Pattern[Any], bool]]:
    """Every compiled expression of the package, where it stands, and whether it is searched for anywhere in a text."""
    root = Path(review_advisor.__file__).parent
    used: dict[tuple[str, str], set[str]] = {}
    for file in sorted(root.rglob("*.py")):
        module = ".".join(("review_advisor", *file.relative_to(root).with_suffix("").parts)).removesuffix(".__init__")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(ast.Attribute(ast.Name("re"), method), [ast.Constant(str() | bytes() as text), *_]):
                    if method not in ("compile", "escape"):
                        yield f"{module}:{node.lineno}", re.compile(text), method in _SEARCHES
                case ast.Attribute(ast.Name(name), method):
                    used.setdefault((module if name.startswith("_") else "", name), set()).add(method)
    seen: set[int] = set()
    for found in pkgutil.walk_packages([str(root)], "review_advisor."):
        if found.name.endswith("__main__"):
            continue
        for name, value in list(vars(importlib.import_module(found.name)).items()):
            methods = used.get((found.name if name.startswith("_") else "", name), set())
            searched = not methods & {"match", "fullmatch"} or bool(methods & _SEARCHES)
            for pattern in _patterns(_made(value), seen, 0):
                yield f"{found.name}.{name}", pattern, searched


def _made(value: object) -> object:
    """What a function makes when it is first needed, if it is one that keeps it."""
    if not hasattr(value, "cache_parameters") or value.__wrapped__.__code__.co_argcount:  # type: ignore[attr-defined]
        return value
    return value() if "Pattern" in str(value.__annotations__) else value  # type: ignore[operator]


def _patterns(value: object, seen: set[int], depth: int) -> Iterator[re.Pattern[Any]]:
    if id(value) in seen or depth > 6:
        return
    seen.add(id(value))
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        for each in [*value.keys(), *value.values()]:
            yield from _patterns(each, seen, depth + 1)
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from _patterns(each, seen, depth + 1)
    elif hasattr(value, "__dataclass_fields__"):
        for field in value.__dataclass_fields__:
            yield from _patterns(getattr(value, field, None), seen, depth + 1)


def superlinear_run(pattern: re.Pattern[Any], *, searched: bool) -> str | None:
    """A text over which a run of the expression is walked again and again; None if there is none."""
    is_bytes = isinstance(pattern.pattern, bytes)
    text = pattern.pattern.decode("latin-1") if is_bytes else pattern.pattern
    tree = _parser.parse(text, pattern.flags | (re.UNICODE if is_bytes else 0))
    for lead, cover in _tries(tree.state, _flat(list(tree), keep="GROUPREF" in str(list(tree))), searched=searched):
        found = _walked_again(tree.state, lead, cover)
        if found is not None and (cover is not None or not _consumed(pattern, found)):
            return found
    return None


def _consumed(pattern: re.Pattern[Any], piece: str) -> bool:
    """Whether matches of the whole expression lie side by side over the text, whatever ends it."""

    def matched(text: Any) -> int:
        return sum(found.end() - found.start() for found in pattern.finditer(text))

    texts = [piece * _TIMES + end for end in ("", *_SIGNS)]
    return all(
        2 * matched(text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text) > len(text)
        for text in texts
    )


def _tries(state: Any, items: Items, *, searched: bool) -> Iterator[tuple[Items, Items | None]]:
    """Each part that ends in a run, and the run that can step back to where the part begins (None: the search)."""
    for lead, run, rest in _runs(items, [], []):
        if not _may_all_be_empty(state, rest):
            if searched:
                yield [*lead, _greedy(run)], None
            for at, earlier in enumerate(lead):
                if _steps_back(earlier):
                    yield [*lead[at + 1 :], _greedy(run)], [_greedy(earlier)]
        if _steps_back(run):
            for inner_lead, inner, inner_rest in _runs(list(run[1][2]), [], []):
                if _steps_back(inner):
                    yield [*inner_rest, *inner_lead, _greedy(inner)], [_greedy(inner)]


def _runs(items: Items, before: Items, after: Items) -> Iterator[tuple[Items, Item, Items]]:
    """Each run without a bound, with what stands before it and behind it on one way through the expression."""
    for at, (op, value) in enumerate(items):
        lead, rest = before + items[:at], items[at + 1 :] + after
        match str(op):
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                if value[1] > _MOST:
                    yield lead, (op, value), rest
                yield from _runs(list(value[2]), lead, rest)
            case "SUBPATTERN":
                yield from _runs(list(value[3]), lead, rest)
            case "ATOMIC_GROUP":
                yield from _runs(list(value), lead, rest)
            case "BRANCH":
                for branch in value[1]:
                    yield from _runs(list(branch), lead, rest)
            case "ASSERT" | "ASSERT_NOT" if value[0] > 0:
                yield from _runs(list(value[1]), lead, [_NEVER_EMPTY])


def _flat(items: Items, *, keep: bool) -> Items:
    """The items without plain groups, unless a group is referred to."""
    flat: Items = []
    for op, value in items:
        if str(op) == "SUBPATTERN" and not keep and not value[1] and not value[2]:
            flat += _flat(list(value[3]), keep=keep)
        else:
            flat.append((op, value))
    return flat


def _steps_back(item: Item) -> bool:
    return str(item[0]) in ("MAX_REPEAT", "MIN_REPEAT") and item[1][1] > _MOST


def _greedy(item: Item) -> Item:
    return (_constants.MAX_REPEAT, item[1]) if str(item[0]) == "MIN_REPEAT" else item


def _may_all_be_empty(state: Any, items: Items) -> bool:
    asserts = ("AT", "ASSERT", "ASSERT_NOT")
    return not _parser.SubPattern(state, items).getwidth()[0] and not any(str(op) in asserts for op, _ in items)


def _walked_again(state: Any, lead: Items, cover: Items | None) -> str | None:
    """A text on which ``lead``, tried at each place that ``cover`` reaches, walks more than in proportion to it."""
    tried, covering = _compiled(state, lead), None if cover is None else _compiled(state, cover)
    signs = dict.fromkeys(_SIGNS + "".join(sorted(_literals(lead))))
    units = dict.fromkeys(unit for sign in signs for unit in (_sample(lead[:-1], sign), _sample(lead, sign)))
    pieces = dict.fromkeys(unit + between for unit in ("", *signs, *units) for between in _BETWEEN if unit + between)
    for piece in pieces:
        short = _walked(tried, covering, piece * _TIMES)
        if short > 2 * _TIMES * len(piece) and _walked(tried, covering, piece * 2 * _TIMES) > 3 * short:
            return piece
    return None


def _walked(tried: re.Pattern[str], covering: re.Pattern[str] | None, text: str) -> int:
    """How many characters all tries of ``tried`` walk over."""
    end = len(text)
    if covering is not None:
        found = covering.match(text)
        end = 0 if found is None else found.end()
    return sum(found.end() - at for at in range(end) if (found := tried.match(text, at)) is not None)


def _compiled(state: Any, items: Items) -> re.Pattern[str]:
    compiled: re.Pattern[str] = _compiler.compile(_parser.SubPattern(state, items))
    return compiled


_FITTING: dict[str, str] = {}


def _fitting(name: str, op: Any, value: Any) -> str:
    """The signs that one item matches, of those that are tried."""
    if name not in _FITTING:
        one = _compiled(_parser.State(), [(op, value)])
        signs = _SIGNS + "".join(sorted(_literals([(op, value)])))
        _FITTING[name] = "".join(sign for sign in signs if one.match(sign))
    return _FITTING[name]


def _literals(items: Sequence[Item]) -> set[str]:
    """The signs that stand in the items."""
    found: set[str] = set()
    for op, value in items:
        match str(op):
            case "LITERAL":
                found.add(chr(value))
            case "RANGE":
                found.add(chr(value[0]))
            case "IN" | "ATOMIC_GROUP":
                found |= _literals(list(value))
            case "SUBPATTERN":
                found |= _literals(list(value[3]))
            case "BRANCH":
                found |= {sign for branch in value[1] for sign in _literals(list(branch))}
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                found |= _literals(list(value[2]))
    return found


def _sample(items: Sequence[Item], wanted: str) -> str:
    """A short text that the items match, with the ``wanted`` sign wherever it may stand; asserts are passed over."""
    text = ""
    for op, value in items:
        match str(op):
            case "LITERAL":
                text += chr(value)
            case "IN" | "ANY" | "NOT_LITERAL":
                fitting = _fitting(repr((op, value)), op, value)
                text += wanted if wanted in fitting else fitting[:1]
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                text += _sample(list(value[2]), wanted) * (value[0] if value[0] < _MOST else 1)
            case "SUBPATTERN":
                text += _sample(list(value[3]), wanted)
            case "ATOMIC_GROUP":
                text += _sample(list(value), wanted)
            case "BRANCH":
                text += _sample(list(value[1][0]), wanted)
    return text
