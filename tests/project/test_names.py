"""One name means one thing: no class or type has a name twice, and no folder grows until nobody finds a rule in it."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "review_advisor"


ONE_TYPE_IN_TWO_ROOMS = {"Disposition": "what becomes of advice: in a review, besides, it may be open"}


def twice(places: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """What stands in more than one place."""
    return {name: where for name, where in sorted(places.items()) if len(where) > 1}


def public_types(files: Iterable[Path]) -> dict[str, set[str]]:
    """Where each public class of a module is, and what each public alias of a type stands for."""
    found: dict[str, set[str]] = defaultdict(set)
    for file in files:
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            match node:
                case ast.ClassDef(name=name) if not name.startswith("_"):
                    found[name].add(str(file.relative_to(PACKAGE)))
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if is_alias(name, value):
                    found[name].add(ast.unparse(value))
    return found


def is_alias(name: str, value: ast.expr) -> bool:
    """Whether a module gives a type a name of its own: not a constant, and not a variable of a generic function."""
    is_variable = isinstance(value, ast.Call) and ast.unparse(value.func) in {"TypeVar", "ParamSpec"}
    return name[0].isupper() and not name.isupper() and not is_variable


@pytest.mark.every_case
def test_no_two_public_types_have_one_name() -> None:
    """A reader who meets a type's name knows which type it is."""
    types = public_types(PACKAGE.rglob("*.py"))
    assert {"ReviewPhase", "ActionsEvent"} <= types.keys()
    assert set(twice({name: sorted(means) for name, means in types.items()})) == set(ONE_TYPE_IN_TWO_ROOMS)
