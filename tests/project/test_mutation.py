"""The faults that ``make mutation`` puts into the core: which there are, and that each accepted one is still there."""

from __future__ import annotations

from pathlib import Path

import mutation
import pytest
from mutation_faults import Fault, faults_of


def faults(folder: Path, source: str) -> list[tuple[str, str]]:
    """What becomes of each faulty place of a module."""
    path = folder / "rule.py"
    path.write_text(source, encoding="utf-8")
    return [(fault.was, fault.now) for fault in faults_of(path, folder)]


@pytest.mark.parametrize(
    "line, was, now",
    [
        ("return a < b", "a < b", "a <= b"),
        ("return a < b", "a < b", "a >= b"),
        ("return a is b", "a is b", "a is not b"),
        ("return a in b", "a in b", "a not in b"),
        ("return a and b", "a and b", "a or b"),
        ("return a and b", "a and b", "b"),
        ("return not a", "not a", "a"),
        ("return a + 1", "1", "2"),
        ("return a * b", "a * b", "a // b"),
        ("return a == 'x'", "'x'", "'x~'"),
        ("return a.startswith('x')", "a.startswith('x')", "a.endswith('x')"),
        ("return re.fullmatch(a, b)", "re.fullmatch(a, b)", "re.search(a, b)"),
        ("return a.strip()", "a.strip()", "a"),
        ("return max(a, b)", "max(a, b)", "min(a, b)"),
        ("return sorted(a)", "sorted(a)", "list(a)"),
        ("return f(a, key=b)", "f(a, key=b)", "f(a)"),
        ("return {'x': a, 'y': b}", "{'x': a, 'y': b}", "{'y': b}"),
        ("return (a, b)", "(a, b)", "(a,)"),
        ("return [each for each in a if b]", "for each in a if b", "for each in a"),
        ("return a[1:b]", "1:b", ":b"),
        ("return a if b else None", "a if b else None", "a if not b else None"),
        ("return a", "return a", "return None"),
        ("a.append(b)", "a.append(b)", "pass"),
        ("a[b] = 1", "a[b] = 1", "pass"),
        ("raise a", "raise a", "pass"),
        ("if a: return b", "if a", "if not a"),
    ],
)
def test_a_rule_can_be_wrong_in_many_ways(tmp_path: Path, line: str, was: str, now: str) -> None:
    assert (was, now) in faults(tmp_path, f"def rule(a, b):\n    {line}\n")


def test_a_promise_of_yes_or_no_turns_into_its_opposite(tmp_path: Path) -> None:
    assert ("return a", "return not a") in faults(tmp_path, "def rule(a) -> bool:\n    return a\n")


@pytest.mark.parametrize(
    "source",
    [
        '"""Words."""\nfrom a import b\n',
        "def rule(a: int | str = None) -> int | None: ...\n",
        "@dataclass(frozen=True)\nclass Rule:\n    a: int\n",
        "KIND = Literal['a', 'b']\nT = TypeVar('T', bound=int)\nEither = A | B\n",
        "def rule(a):\n    assert_never(a)\n",
        "if TYPE_CHECKING:\n    a = 1\n",
    ],
)
def test_what_only_readers_and_type_checkers_see_is_left_alone(tmp_path: Path, source: str) -> None:
    assert faults(tmp_path, source) == []


def test_a_fault_is_known_by_its_function_and_its_text_and_not_by_its_line(tmp_path: Path) -> None:
    rule = "class Rules:\n    def first(self):\n        return self.a + 1, self.b + 1\n"
    path = tmp_path / "rule.py"
    keys = []
    for source in (rule, f"X = None\n\n\n{rule}"):
        path.write_text(source, encoding="utf-8")
        keys.append([fault.key for fault in faults_of(path, tmp_path)])
    assert keys[0] == keys[1]
    ones = [key for key in keys[0] if key[2:4] == ("1", "2")]
    assert ones == [("rule.py", "Rules.first", "1", "2", 1), ("rule.py", "Rules.first", "1", "2", 2)]


def test_what_is_imported_is_told_from_what_is_called(tmp_path: Path) -> None:
    path = tmp_path / "rule.py"
    path.write_text("LIMIT = 3\n\n\ndef rule(most=4):\n    return most + 5\n", encoding="utf-8")
    found = {fault.was: (fault.function, sorted(fault.names)) for fault in faults_of(path, tmp_path)}
    assert (found["3"], found["4"]) == (("", ["LIMIT"]), ("", ["rule"]))
    assert found["5"][0] == "rule"


@pytest.fixture(scope="module")
def everything() -> list[Fault]:
    return mutation.all_faults()


@pytest.mark.every_case
def test_a_fault_can_be_compiled(everything: list[Fault]) -> None:
    for fault in mutation.sample(everything, 1, seed=3):
        assert fault.edit is not None
        compile(fault.edit.broken(), fault.file, "exec")


@pytest.mark.every_case
def test_every_module_of_the_core_has_its_share_of_a_sample_and_the_same_each_time(everything: list[Fault]) -> None:
    one, again, other = (mutation.sample(everything, 2, seed) for seed in (1, 1, 2))
    assert [fault.key for fault in one] == [fault.key for fault in again] != [fault.key for fault in other]
    assert {fault.file for fault in one} == {fault.file for fault in everything}


@pytest.mark.every_case
def test_every_accepted_fault_is_still_there_and_has_its_reason(everything: list[Fault]) -> None:
    accepted = mutation.equivalents()
    assert sorted(accepted.keys() - {fault.key for fault in everything}) == []
    assert [key for key, because in accepted.items() if not because.strip()] == []
