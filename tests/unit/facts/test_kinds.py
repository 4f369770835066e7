import pytest

from review_advisor.core.facts.change import FileChange, Status
from review_advisor.core.facts.kinds import Kind, changed_code_lines, kind_of, kind_of_path
from review_advisor.mockworld.world import edited, renamed

KINDS = [
    ("src/app.py", Kind.CODE),
    ("docs/install.sh", Kind.CODE),
    ("tests/helper.py", Kind.CODE),
    ("notes.txt", Kind.CODE),
    ("requirements.txt", Kind.CODE),
    ("README.md", Kind.DOCS),
    ("LICENSE", Kind.DOCS),
    ("docs/guide.rst", Kind.DOCS),
    ("tests/test_app.py", Kind.TESTS),
    ("src/app_test.go", Kind.TESTS),
    ("web/button.spec.tsx", Kind.TESTS),
    ("src/ThingTest.java", Kind.TESTS),
    ("conftest.py", Kind.TESTS),
    ("package-lock.json", Kind.LOCK),
    ("deep/Cargo.lock", Kind.LOCK),
    ("go.sum", Kind.LOCK),
    ("dist/app.min.js", Kind.GENERATED),
    ("api/thing_pb2.py", Kind.GENERATED),
    ("vendor/lib/x.py", Kind.VENDORED),
    ("web/node_modules/x/index.js", Kind.VENDORED),
]


@pytest.mark.parametrize("path, kind", KINDS)
def test_the_kind_of_a_path(path: str, kind: Kind) -> None:
    assert kind_of_path(path) is kind


@pytest.mark.parametrize("path", [path for path, kind in KINDS if kind is not Kind.CODE])
def test_only_code_counts_d18(path: str) -> None:
    assert changed_code_lines([edited(path, 500), edited("src/app.py", 7)]) == 7


def test_removed_lines_count_like_added_ones_d17() -> None:
    assert (
        changed_code_lines(
            [FileChange(Status.DELETED, "a.py", removed=9), FileChange(Status.MODIFIED, "b.py", added=4)]
        )
        == 13
    )


ATTRIBUTES: list[tuple[str, Kind]] = [
    ("generated", Kind.GENERATED),
    ("vendored", Kind.VENDORED),
    ("documentation", Kind.DOCS),
]


def attributed(path: str, attribute: str, *, value: bool) -> FileChange:
    stated = {attribute: value}
    return FileChange(
        Status.MODIFIED,
        path,
        generated=stated.get("generated"),
        vendored=stated.get("vendored"),
        documentation=stated.get("documentation"),
    )


@pytest.mark.parametrize("attribute, kind", ATTRIBUTES)
def test_the_base_trees_attributes_beat_the_name(attribute: str, kind: Kind) -> None:
    assert kind_of(attributed("src/app.py", attribute, value=True)) is kind
    denied = {"generated": "x.min.js", "vendored": "vendor/x.py", "documentation": "x.md"}[attribute]
    assert kind_of(attributed(denied, attribute, value=False)) is Kind.CODE


def test_a_rename_that_is_code_on_either_side_is_code() -> None:
    assert kind_of(renamed("src/app.py", "app.md")) is Kind.CODE
    assert kind_of(renamed("app.md", "src/app.py")) is Kind.CODE
    assert kind_of(renamed("a.md", "test_a.py")) is Kind.TESTS
