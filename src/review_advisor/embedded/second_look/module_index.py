"""A module of Python, parsed and walked once for all remarks about it."""

from __future__ import annotations

import ast
from functools import lru_cache

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
