"""The roster that the declared files of a repository make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from review_advisor.core.facts.files.declared import ADVISORS, DECLARED, LENS_MAP, OPTIONAL, PRICES, stands_for_prices
from review_advisor.core.facts.guidelines import BaseText
from review_advisor.core.roster.advisor import Roster
from review_advisor.core.roster.declarations import DeclaredFile, read_declarations
from review_advisor.core.roster.layers import made_roster, twice_declared
from review_advisor.core.roster.lens_map import NO_MAP, read_lens_map
from review_advisor.core.roster.presets import PresetName

_README = "readme.md"


def declared_roster(
    preset: PresetName, texts: Mapping[str, BaseText], wanted: Iterable[str] = ()
) -> tuple[Roster, tuple[str, ...]]:
    """The roster of these files, by their paths, and every mistake in them as a sentence.

    ``wanted`` are the ids that labels ask for: see ``made_roster``.
    """
    files: dict[str, list[DeclaredFile]] = {ADVISORS: [], OPTIONAL: []}
    problems: list[str] = []
    lens_map = NO_MAP
    for path, text in sorted(texts.items()):
        if path == PRICES or _says_nothing(path):
            continue
        told = _misplaced(path) or text.problem
        if told:
            problems.append(f"{path}: {told}.")
        elif path == LENS_MAP:
            lens_map = read_lens_map(text.text)
        else:
            files[str(PurePosixPath(path).parent)].append(read_declarations(path, text.text))
    roster, mistakes = made_roster(preset, files[ADVISORS], files[OPTIONAL], wanted, lens_map)
    return roster, (*problems, *mistakes)


def declared_again(texts: Mapping[str, BaseText]) -> tuple[str, ...]:
    """A remark on each advisor that several of these files declare, or one of them several times."""
    files = (
        read_declarations(path, text.text)
        for path, text in sorted(texts.items())
        if str(PurePosixPath(path).parent) == ADVISORS and not (_says_nothing(path) or text.problem or _misplaced(path))
    )
    return twice_declared(tuple(files))


def _says_nothing(path: str) -> bool:
    """Whether a file in a folder is there for people or for tools alone."""
    name = PurePosixPath(path).name
    return "/" in path and (name.startswith(".") or name.casefold() == _README)


def _misplaced(path: str) -> str:
    """Why nobody reads the file at this path; empty if it is read."""
    if path.casefold() in (DECLARED, ADVISORS, OPTIONAL):
        return "it is not a folder, and links are not followed"
    if path == LENS_MAP:
        return ""
    if path.casefold() == LENS_MAP:
        return f"files there are not read: the map of paths is {LENS_MAP}"
    if stands_for_prices(path):
        return f"files there are not read: the list of prices is {PRICES}"
    if str(PurePosixPath(path).parent) not in (ADVISORS, OPTIONAL):
        return f"files there are not read: declare advisors in {ADVISORS}, or in {OPTIONAL}"
    if PurePosixPath(path).suffix not in (".md", ".json"):
        return "advisors are declared in files that end in .md or .json"
    return ""
