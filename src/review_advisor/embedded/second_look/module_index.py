"""A module of Python, parsed and walked once for all remarks about it."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from review_advisor.embedded.second_look.origin import Origin, called, origins

_RUN_SQL = re.compile(r"execut|query|quer(?:y|ies)$|^(?:raw|text|run|sql|read_sql)", re.IGNORECASE)
"""The name of a function that takes a statement of SQL and runs it."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@lru_cache(maxsize=1)
def module_index(text: str) -> ModuleIndex | None:
    """The index of a module, made once for remarks that follow each other; None if Python cannot read it."""
    try:
        return ModuleIndex(text, ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):
        return None


class ModuleIndex:
    """What the second look asks for, by the line that it begins on or by its name."""

    def __init__(self, text: str, module: ast.Module) -> None:
        self.text = text
        self.lines = text.split("\n")
        self._module = module
        self._origins: dict[ast.expr, frozenset[Origin]] = {}
        self.calls: dict[int, list[ast.Call]] = {}
        self.texts: dict[int, list[ast.expr]] = {}
        """Where a text is put together: an operator, an f-string, a call."""
        self.definitions: dict[int, Function | ast.ClassDef] = {}
        self.defaults: dict[int, list[tuple[Function, str]]] = {}
        """The parameters whose defaults stand on a line, each with its function."""
        self.awaited: set[int] = set()
        """The lines under a ``with`` that waits for an exception."""
        self._names: dict[ast.expr, list[str]] = {}
        self._statements: dict[ast.expr | str, list[ast.expr]] = {}
        for node in ast.walk(module):
            self._note(node)

    def origins(self, expression: ast.expr) -> frozenset[Origin]:
        """Where what goes into ``expression`` comes from, searched once."""
        if expression not in self._origins:
            self._origins[expression] = origins(self._module, expression)
        return self._origins[expression]

    def statements(self, text: ast.expr) -> list[ast.expr]:
        """What is handed to functions that run SQL and holds ``text``, or a name that it is assigned to."""
        held: list[ast.expr | str] = [text, *self._names.get(text, ())]
        return list(dict.fromkeys(part for each in held for part in self._statements.get(each, ())))

    def _note(self, node: ast.AST) -> None:
        match node:
            case ast.Call():
                self.calls.setdefault(node.lineno, []).append(node)
                self.texts.setdefault(node.lineno, []).append(node)
                if _RUN_SQL.search(called(node)):
                    self._note_statements(node)
            case ast.BinOp() | ast.JoinedStr():
                self.texts.setdefault(node.lineno, []).append(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.definitions[node.lineno] = node
                self._note_defaults(node)
            case ast.ClassDef():
                self.definitions[node.lineno] = node
            case ast.Assign(targets=targets, value=value):
                self._names[value] = [target.id for target in targets if isinstance(target, ast.Name)]
            case ast.With(items=items) | ast.AsyncWith(items=items):
                if any(_awaits(item.context_expr) for item in items):
                    self.awaited.update(range(node.lineno, (node.end_lineno or 0) + 1))
            case _:
                pass

    def _note_statements(self, call: ast.Call) -> None:
        for part in (*call.args, *(each.value for each in call.keywords)):
            for node in ast.walk(part):
                if isinstance(node, ast.expr):
                    self._statements.setdefault(node.id if isinstance(node, ast.Name) else node, []).append(part)

    def _note_defaults(self, function: Function) -> None:
        given = function.args
        positional = [*given.posonlyargs, *given.args]
        pairs = [*zip(positional[len(positional) - len(given.defaults) :], given.defaults, strict=True)]
        pairs += [(name, value) for name, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value]
        for name, default in pairs:
            self.defaults.setdefault(default.lineno, []).append((function, name.arg))


def _awaits(expression: ast.expr) -> bool:
    return isinstance(expression, ast.Call) and "raises" in called(expression).lower()
