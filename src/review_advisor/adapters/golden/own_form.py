"""A golden set in the own form: a folder with a TOML file for each case, or one file with a line of JSON for each.

``set.toml`` has the folder's name and version. A line has the keys of a TOML file, and its ``id``.
"""

from __future__ import annotations

from pathlib import Path

from review_advisor.adapters.golden.text_reader import ReadText
from review_advisor.core.evaluation.golden.case_file import MOST_CASE_BYTES, read_case, read_case_line
from review_advisor.core.evaluation.golden.golden_case import GoldenSet, GoldenSetError, golden_set
from review_advisor.core.facts.files.toml_text import TomlError, read_toml

SET_FILE = "set.toml"
_MOST_BYTES = 200_000_000
_MOST_CASES = 5_000
_MOST_SET_BYTES = 10_000


def read_case_folder(folder: Path, read: ReadText) -> GoldenSet:
    """The cases in every TOML file below ``folder``; links are not followed. Raises ``GoldenSetError``."""
    name, version = _named(folder, read)
    files = sorted(
        path for path in folder.rglob("*.toml") if path != folder / SET_FILE and not _hidden(path.relative_to(folder))
    )
    if not files:
        raise GoldenSetError(f"{folder} holds no golden case: no TOML file lies below it.")
    if len(files) > _MOST_CASES:
        raise GoldenSetError(f"{folder} holds more than {_MOST_CASES:,} cases.")
    cases = []
    for path in files:
        if path.is_symlink():
            raise GoldenSetError(f"{path} is a link; a case is a file of its own.")
        case_id = path.relative_to(folder).with_suffix("").as_posix()
        cases.append(read_case(case_id, read(path, MOST_CASE_BYTES), str(path)))
    return golden_set(name, version, cases)


def read_case_lines(path: Path, read: ReadText) -> GoldenSet:
    """The cases of a file; blank lines are none. Raises ``GoldenSetError``."""
    lines = read(path, _MOST_BYTES).split("\n")
    told = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    if not told:
        raise GoldenSetError(f"{path} holds no golden case.")
    if len(told) > _MOST_CASES:
        raise GoldenSetError(f"{path} holds more than {_MOST_CASES:,} cases.")
    for number, line in told:
        if len(line) > MOST_CASE_BYTES:
            raise GoldenSetError(f"{path}, line {number} is longer than {MOST_CASE_BYTES:,} characters.")
    return golden_set(path.stem, "", [read_case_line(line, f"{path}, line {number}") for number, line in told])


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _named(folder: Path, read: ReadText) -> tuple[str, str]:
    path = folder / SET_FILE
    if not path.exists():
        return folder.resolve().name, ""
    try:
        told = read_toml(read(path, _MOST_SET_BYTES))
    except TomlError as error:
        raise GoldenSetError(f"{path} is not valid TOML: {error}.") from None
    name, version = told.get("name"), told.get("version")
    if told.keys() != {"name", "version"} or not isinstance(name, str) or not isinstance(version, str):
        raise GoldenSetError(f"{path} says the name and the version of the set as texts, and nothing else.")
    return name, version
