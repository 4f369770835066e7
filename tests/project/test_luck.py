"""No test depends on those that ran before it."""

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]
GENERATORS = ("Draw", "Random")


def drawn_in_tests(source: str) -> Iterator[str]:
    """Functions that draw from a generator of their module: what they get depends on the order of the tests."""
    if source.isascii() and not any(name in source for name in GENERATORS):
        return  # elsewhere Python may read other letters as these
    module = ast.parse(source)
    shared = {
        target.id
        for line in module.body
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Call)
        for target in line.targets
        if isinstance(target, ast.Name) and ast.unparse(line.value.func).rpartition(".")[2] in GENERATORS
    }
    for function in ast.walk(module):
        if isinstance(function, ast.FunctionDef) and any(
            isinstance(name, ast.Name) and name.id in shared for name in ast.walk(function)
        ):
            yield function.name


def test_no_test_draws_from_a_generator_that_others_draw_from() -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in sorted(TESTS.rglob("*.py"))}
    assert sources
    assert [
        f"{path.relative_to(TESTS)}: {name}" for path, text in sources.items() for name in drawn_in_tests(text)
    ] == []


def test_a_shared_generator_is_found_and_an_own_one_is_not() -> None:
    shared = "DRAW = Draw(1)\nA = DRAW.word(3)\ndef test_it():\n    assert DRAW.word(3)\n"
    assert list(drawn_in_tests(shared)) == ["test_it"]
    assert list(drawn_in_tests("A = random.Random(1)\ndef test_it():\n    A.random()\n")) == ["test_it"]
    assert list(drawn_in_tests("A = random.\uff32andom(1)\ndef test_it():\n    A.random()\n")) == ["test_it"]
    assert list(drawn_in_tests("def test_it():\n    draw = Draw(1)\n    assert draw.word(3)\n")) == []
