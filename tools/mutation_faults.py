"""Every small fault that can be put into a module: comparisons, conditions, numbers, arguments, entries, statements."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_OTHER_NAME = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "fullmatch": "search",
    "match": "search",
    "search": "match",
    "startswith": "endswith",
    "endswith": "startswith",
    "partition": "rpartition",
    "rpartition": "partition",
    "removeprefix": "removesuffix",
    "removesuffix": "removeprefix",
    "issubset": "issuperset",
    "find": "rfind",
}
_TIDYING = {"strip", "lstrip", "rstrip", "lower", "upper", "casefold"}
_TAKING_TEXT = {"startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "split"}
_FOR_TYPES_ONLY = {"assert_never", "TypeVar", "NewType", "cast"}


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of one module. ``function`` is empty for what runs when the module is imported.

    ``names`` are what such code defines; ``lines`` is where the faulty code stands. ``nth`` tells equal faults of one
    function apart. Without an ``edit`` nothing is wrong: to see that the tests pass then.
    """

    file: str
    function: str
    was: str
    now: str
    nth: int
    lines: tuple[int, int]
    names: frozenset[str]
    edit: Edit | None

    @property
    def key(self) -> tuple[str, str, str, str, int]:
        """What an accepted survivor is known by: no line number, so that it outlives changes elsewhere."""
        return self.file, self.function, self.was, self.now, self.nth

    def __str__(self) -> str:
        """Where it is and what it does."""
        where = f"{self.file}:{self.lines[0]} {self.function}".rstrip()
        return f"{where}: {self.was}  ->  {self.now}" + (f"  (number {self.nth})" if self.nth > 1 else "")


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of one place of a syntax tree: of a field of a node, or of one entry of a field that is a list."""

    tree: ast.Module
    parent: ast.AST
    field: str
    at: int | None
    new: ast.AST

    def broken(self) -> ast.Module:
        """The tree with the fault in it. The tree itself is changed: whoever asks has it for themselves."""
        if self.at is None:
            setattr(self.parent, self.field, self.new)
        else:
            getattr(self.parent, self.field)[self.at] = self.new
        return ast.fix_missing_locations(self.tree)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the walk is: the outermost function, what the statement defines, whether a bool is to be returned."""

    function: str = ""
    scope: str = ""
    names: frozenset[str] = frozenset()
    returns_bool: bool = False


def faults_of(path: Path, root: Path) -> list[Fault]:
    """Every fault of the module at ``path``, in the order of its text."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    file = path.relative_to(root).as_posix()
    seen: Counter[tuple[str, str, str]] = Counter()
    found = []
    for place, node, edit in _edits(tree, tree, _Place()):
        was, now = _text(node), _text(edit.new)
        seen[place.function, was, now] += 1
        lines = _lines(node)
        nth = seen[place.function, was, now]
        found.append(Fault(file, place.function, was, now, nth, lines, place.names, edit))
    return found


def _lines(node: ast.AST) -> tuple[int, int]:
    placed = [each for each in ast.walk(node) if isinstance(each, ast.expr | ast.stmt | ast.pattern)]
    return min(each.lineno for each in placed), max(each.end_lineno or each.lineno for each in placed)


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.If | ast.While):
        return f"if {_text(node.test)}"
    return " ".join(ast.unparse(node).split())


def _edits(tree: ast.Module, node: ast.AST, place: _Place) -> Iterator[tuple[_Place, Any, Edit]]:
    for field, child, at in _children(node):
        inner = _inside(child, place, node, field)
        if inner is None:
            continue
        for new in (*_statement(child, inner), *_operation(child, inner), *_value(child, node)):
            yield inner, child, Edit(tree, node, field, at, ast.copy_location(new, child))
        yield from _edits(tree, child, inner)


def _children(node: ast.AST) -> Iterator[tuple[str, ast.AST, int | None]]:
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield field, value, None
        elif isinstance(value, list):
            yield from ((field, each, at) for at, each in enumerate(value) if isinstance(each, ast.AST))


def _inside(child: ast.AST, place: _Place, parent: ast.AST, field: str) -> _Place | None:
    """The place below ``child``, or None where a fault would mean nothing: types, decorators, docstrings."""
    if field in ("annotation", "returns", "decorator_list", "bases") or _means_nothing(child):
        return None
    if isinstance(parent, ast.FunctionDef) and field == "body" and not place.function:
        place = replace(place, function=place.scope)
    if isinstance(child, ast.FunctionDef):
        place = replace(place, returns_bool=isinstance(child.returns, ast.Name) and child.returns.id == "bool")
    if place.function:
        return place
    if isinstance(child, ast.ClassDef | ast.FunctionDef):
        name = child.name + ("." if isinstance(child, ast.ClassDef) else "")
        return replace(place, scope=place.scope + name, names=place.names | {child.name})
    if isinstance(child, ast.Assign | ast.AnnAssign):
        return replace(place, names=place.names | set(_named(child)))
    return place


def _means_nothing(node: ast.AST) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Import() | ast.ImportFrom():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Subscript(value=ast.Name(id="Literal" | "Annotated")):
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id=name))) | ast.Call(func=ast.Name(id=name)):
            return name in _FOR_TYPES_ONLY
        case ast.keyword(arg="strict"):
            return True
    return False


def _named(statement: ast.Assign | ast.AnnAssign) -> Iterator[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    for target in targets:
        yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


# --- statements ------------------------------------------------------------------------------------------------------


def _statement(node: ast.AST, place: _Place) -> Iterator[ast.AST]:
    match node:
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            yield ast.Return(_negated(value) if _returns_bool(place, node) else ast.Constant(None))
        case ast.Expr() | ast.AugAssign() | ast.Continue() | ast.Break() | ast.Raise():
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()
        case ast.If(test=test) | ast.While(test=test) if not isinstance(test, ast.Compare | ast.BoolOp):
            yield _with(node, test=_negated(test))
        case ast.match_case(guard=ast.expr()):
            yield _with(node, guard=None)
        case ast.comprehension(ifs=ifs):
            yield from (_with(node, ifs=rest) for rest in _less_one(ifs))


def _returns_bool(place: _Place, node: ast.Return) -> bool:
    return place.returns_bool or isinstance(node.value, ast.Compare)


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


# --- expressions -----------------------------------------------------------------------------------------------------


def _operation(node: ast.AST, place: _Place) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=ops):
            for at, op in enumerate(ops):
                yield from (_with(node, ops=[*ops[:at], new(), *ops[at + 1 :]]) for new in _COMPARED[type(op)])
        case ast.BoolOp(op=op, values=values):
            yield _with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
            for rest in _less_one(values):
                yield rest[0] if len(rest) == 1 else _with(node, values=rest)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.BinOp(op=op) if type(op) in _COMPUTED and not _joins(node, place):
            yield _with(node, op=_COMPUTED[type(op)]())
        case ast.IfExp(test=test) if not isinstance(test, ast.Compare | ast.BoolOp):
            yield _with(node, test=_negated(test))


def _value(node: ast.AST, parent: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Constant(value=value):
            yield from map(ast.Constant, _other_values(value, parent))
        case ast.Call():
            yield from _call(node)
        case ast.Dict(keys=keys, values=values):
            pairs = list(zip(keys, values, strict=True))
            yield from (ast.Dict([k for k, _ in rest], [v for _, v in rest]) for rest in _less_one(pairs))
        case ast.Tuple(elts=elts, ctx=ast.Load()) if len(elts) > 1 and not isinstance(parent, ast.Subscript):
            yield from (_with(node, elts=rest) for rest in _less_one(elts))
        case ast.List(elts=elts, ctx=ast.Load()) | ast.Set(elts=elts):
            yield from (ast.List(rest, ast.Load()) for rest in _less_one(elts))
        case ast.Slice():
            bounds = ("lower", "upper", "step")
            yield from (_with(node, **{bound: None}) for bound in bounds if getattr(node, bound) is not None)


def _joins(node: ast.BinOp, place: _Place) -> bool:
    """Whether it puts texts, tuples or types together: anything else instead would only raise."""
    if any(isinstance(each, ast.JoinedStr | ast.Tuple | ast.List) for each in (node.left, node.right)):
        return True
    if any(isinstance(each, ast.Constant) and isinstance(each.value, str | bytes) for each in (node.left, node.right)):
        return True
    return isinstance(node.op, ast.BitOr) and not place.function


def _call(node: ast.Call) -> Iterator[ast.AST]:
    if not _is_zip(node):
        yield from (_with(node, keywords=rest) for rest in _less_one(node.keywords))
    match node.func:
        case ast.Name(id=name) if name in _OTHER_NAME:
            yield _with(node, func=ast.Name(_OTHER_NAME[name], ast.Load()))
        case ast.Name(id="sorted") if not node.keywords:
            yield _with(node, func=ast.Name("list", ast.Load()))
        case ast.Attribute(attr=name) if name in _OTHER_NAME:
            yield _with(node, func=_with(node.func, attr=_OTHER_NAME[name]))
        case ast.Attribute(attr=name, value=receiver) if name in _TIDYING:
            yield receiver


def _is_zip(node: ast.AST) -> bool:
    """Its one keyword, ``strict``, changes only what a bug elsewhere would come to."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "zip"


def _other_values(value: object, parent: ast.AST) -> Iterator[bool | int | float | str]:
    compared = isinstance(parent, ast.Compare | ast.MatchValue)
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield value + 1
        if compared:
            yield value - 1
    elif isinstance(value, str) and (compared or _takes_text(parent)):
        yield f"{value}~"


def _takes_text(parent: ast.AST) -> bool:
    return isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr in _TAKING_TEXT


def _negated(test: ast.expr) -> ast.expr:
    return (
        test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else ast.UnaryOp(ast.Not(), test)
    )


def _less_one(values: list[Any]) -> Iterator[list[Any]]:
    return ([*values[:at], *values[at + 1 :]] for at in range(len(values)))


def _with(node: Any, **fields: object) -> Any:
    new = copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def defined_by(names: Iterable[str], trees: Iterable[ast.Module]) -> frozenset[str]:
    """``names``, and every name that a module defines by means of one of them."""
    known = set(names)
    assigned = [
        (set(_named(each)), {node.id for node in ast.walk(each) if isinstance(node, ast.Name)})
        for tree in trees
        for each in tree.body
        if isinstance(each, ast.Assign | ast.AnnAssign)
    ]
    while new := {name for targets, used in assigned if used & known for name in targets} - known:
        known |= new
    return frozenset(known)
