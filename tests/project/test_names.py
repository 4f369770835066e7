"""One name means one thing: no class has a name twice, and no folder grows until nobody finds a rule in it."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "review_advisor"
MOST_MODULES_OF_A_FOLDER = 18

VERBS = {"begin", "demo", "doctor", "init", "ledger", "observe", "publish", "review", "rollup", "run_task", "runs"}
"""The same verb in ``cli``, in ``app`` and in the rooms that do its work."""

ONE_THING_IN_TWO_LAYERS = {
    "forge": "the port and what implements it",
    "own_facts": "gathered in app, judged in core",
}


def twice(places: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """What stands in more than one place."""
    return {name: where for name, where in sorted(places.items()) if len(where) > 1}


def public_classes(files: Iterable[Path]) -> dict[str, list[str]]:
    """Where each public class of a module is."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in files:
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(file.relative_to(PACKAGE)))
    return found


def test_no_two_public_classes_have_one_name() -> None:
    """A reader who meets a class's name knows which class it is."""
    classes = public_classes(PACKAGE.rglob("*.py"))
    assert "ReviewPhase" in classes
    assert twice(classes) == {}


def test_modules_of_one_name_are_about_one_thing() -> None:
    """A module's name is its subject. Two layers of one verb or one port may share it."""
    modules: dict[str, list[str]] = defaultdict(list)
    for file in PACKAGE.rglob("*.py"):
        if not file.stem.startswith("__"):
            modules[file.stem].append(str(file.relative_to(PACKAGE)))
    assert set(twice(modules)) == VERBS | set(ONE_THING_IN_TWO_LAYERS)


def test_no_folder_holds_more_modules_than_a_reader_can_overlook() -> None:
    """A folder with more opens a room of its own."""
    sizes = {
        str(folder.relative_to(PACKAGE)): len([each for each in folder.glob("*.py") if not each.stem.startswith("__")])
        for folder in (PACKAGE, *PACKAGE.rglob("*"))
        if folder.is_dir()
    }
    assert {folder: size for folder, size in sizes.items() if size > MOST_MODULES_OF_A_FOLDER} == {}
