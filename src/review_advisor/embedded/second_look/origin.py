"""Where the value of an expression may come from, as far as its own module tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Literal

Origin = Literal["input", "parameter", "own", "unknown"]
"""``input``: what a user, a request or the network says. ``own``: an object's own. ``unknown``: nothing here tells."""

_REQUESTS = frozenset({"request", "req"})
_OF_MODULES = {
    ("sys", "argv"),
    ("sys", "stdin"),
    ("os", "environ"),
    ("os", "getenv"),
}
_READING = frozenset({"input", "raw_input", "recv"})
_CLIENTS = frozenset({"requests", "httpx", "urllib", "urlopen"})
_HARMLESS = frozenset({"bool", "float", "int", "len", "hash", "id", "ord", "quote", "round", "sum", "time"})
"""What these calls give back holds no text of anybody's, unless the module gives such a name to something else."""
_MOST_STEPS = 500


def origins(module: ast.Module, expression: ast.expr) -> frozenset[Origin]:
    """Every origin of what goes into ``expression``; none if all of it is written in the module."""
    return frozenset(_Search(_names_in(module)).of(expression))


class _Names:
    """What a module binds: each name with the values it is given, parameters, and imported modules."""

    def __init__(self, module: ast.Module) -> None:
        self.values: dict[str, list[ast.expr]] = {}
        self.parameters: set[str] = set()
        self.modules: set[str] = set()
        self.made: set[str] = set()
        """Functions and classes of the module, and what it imports under another name."""
        for node in ast.walk(module):
            self._note(node)

    def _note(self, node: ast.AST) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._bind(target, value)
            case (
                ast.AnnAssign(target=target, value=ast.expr() as value)
                | ast.AugAssign(target=target, value=value)
                | ast.NamedExpr(target=target, value=value)
                | ast.For(target=target, iter=value)
                | ast.AsyncFor(target=target, iter=value)
                | ast.comprehension(target=target, iter=value)
                | ast.withitem(context_expr=value, optional_vars=ast.expr() as target)
            ):
                self._bind(target, value)
            case ast.arg(arg=name):
                self.parameters.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                self.made.add(name)
            case ast.Import(names=names):
                self.modules |= {(each.asname or each.name).partition(".")[0] for each in names}
                self.made |= {each.asname for each in names if each.asname}
            case ast.ImportFrom(names=names):
                self.made |= {each.asname for each in names if each.asname and each.asname != each.name}
            case _:
                pass

    def has_own(self, name: str) -> bool:
        """Whether the module itself says what a name is."""
        return name in self.made or name in self.values or name in self.parameters

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                self.values.setdefault(node.id, []).append(value)


@lru_cache(maxsize=1)
def _names_in(module: ast.Module) -> _Names:
    """The same, made once for a file of many remarks."""
    return _Names(module)


class _Search:
    """One search. It looks at each name once, and gives up beyond a number of steps."""

    def __init__(self, names: _Names) -> None:
        self._names = names
        self._seen: set[str] = set()
        self._steps = 0

    def of(self, expression: ast.expr) -> Iterator[Origin]:
        """The origins of one expression, some of them more than once."""
        self._steps += 1
        match expression:
            case _ if self._steps > _MOST_STEPS:
                yield "unknown"
            case ast.Constant() | ast.Compare():
                pass
            case ast.Name(id=name):
                yield from self._of_name(name)
            case ast.Attribute(value=ast.Name(id=module), attr=attr) if (module, attr) in _OF_MODULES:
                yield "input"
            case ast.Call():
                yield from self._of_call(expression)
            case ast.IfExp(body=body, orelse=other):
                yield from self.of(body)
                yield from self.of(other)
            case _:
                for part in ast.iter_child_nodes(expression):
                    if isinstance(part, ast.expr):
                        yield from self.of(part)

    def _of_name(self, name: str) -> Iterator[Origin]:
        if name in self._seen:
            return
        self._seen.add(name)
        if name.isupper() and name not in self._names.parameters:
            yield from self._of_constant(name)
            return
        if name in _REQUESTS:
            yield "input"
        if name in self._names.parameters:
            yield "own" if name in ("self", "cls") else "parameter"
        for value in self._names.values.get(name, ()):
            yield from self.of(value)
        if not (name in self._names.parameters or name in self._names.values or name in self._names.modules):
            yield "unknown"

    def _of_constant(self, name: str) -> Iterator[Origin]:
        """A constant is the program's own, unless a run gives it. What stands elsewhere, too, is still looked at."""
        seen = {*self._seen}
        yield from (
            origin for value in self._names.values.get(name, ()) for origin in self.of(value) if origin != "unknown"
        )
        self._seen = seen
        if self._steps > _MOST_STEPS:
            yield "unknown"

    def _of_call(self, call: ast.Call) -> Iterator[Origin]:
        name = called(call)
        if name in _HARMLESS and not any(map(self._names.has_own, (name, *_names(call.func)))):
            return
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if name in _READING or _CLIENTS.intersection(_names(call.func)):
            yield "input"
        if not given and isinstance(call.func, ast.Name):
            yield "unknown"
        for part in given:
            yield from self.of(part)
        if isinstance(call.func, ast.Attribute):
            yield from self.of(call.func)


def called(call: ast.Call) -> str:
    """The last name of what is called; empty if it has none."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _names(expression: ast.expr) -> Mapping[str, None]:
    return {node.id: None for node in ast.walk(expression) if isinstance(node, ast.Name)}
