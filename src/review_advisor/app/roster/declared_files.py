"""Reads the files that declare advisors, and makes the roster of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from review_advisor.adapters.worktree import WorkFolder
from review_advisor.app.settings import ConfigError
from review_advisor.core.facts.files.declared import DECLARED, MOST_DECLARED, PRICES, TOO_MANY, is_declared
from review_advisor.core.facts.guidelines import MOST_READ, BaseText, base_text
from review_advisor.core.roster.advisor import DEFAULT_ROSTER, Roster
from review_advisor.core.roster.presets import PresetName, shipped_advisors
from review_advisor.core.shadow.shadow_rule import ShadowRule, Shadows, shadows_of

Files = Callable[[], Mapping[str, BaseText]]
FileReader = Callable[[str], bytes | None]
"""A file of a commit by its path; None if there is none."""
_MOST_TOLD = 10


class RosterError(ConfigError):
    """Declared advisors that cannot be used. A sentence for each mistake, with its file."""


@dataclass(frozen=True, slots=True)
class HeadFiles:
    """The head of a pull request: its files that declare advisors, and any other one by its path."""

    declared: Files
    file: FileReader


@dataclass(frozen=True, slots=True)
class Declares:
    """Where advisors are declared: the ``base``'s files, which hold, and the ``head``'s, which the change brings.

    ``paths`` are those of the change; ``wanted`` the ids that labels ask for. Only a pull request has a ``head`` here.
    """

    base: Files = dict
    head: HeadFiles | None = None
    paths: tuple[str, ...] = ()
    wanted: tuple[str, ...] = ()


NOBODY = Declares()


def roster_of(preset: PresetName, files: Mapping[str, BaseText], wanted: Iterable[str] = ()) -> Roster:
    """Everybody who may be asked, by these files. Raises ``RosterError`` with every mistake in them."""
    if preset == "default" and not files.keys() - {PRICES}:
        return DEFAULT_ROSTER
    from review_advisor.core.roster.roster_files import declared_roster

    roster, problems = declared_roster(preset, files, wanted)
    if problems:
        more = f" There are {len(problems) - _MOST_TOLD} more." if len(problems) > _MOST_TOLD else ""
        raise RosterError(" ".join(problems[:_MOST_TOLD]) + more)
    return roster


def roster_remarks(files: Mapping[str, BaseText]) -> tuple[str, ...]:
    """What is allowed in these files and may be a slip."""
    if not files.keys() - {PRICES}:
        return ()
    from review_advisor.core.roster.roster_files import declared_again

    return declared_again(files)


def declared_shadows(rules: Sequence[ShadowRule], preset: PresetName, files: Files) -> Shadows:
    """What runs in shadow, with judges out of these files, the roster and what ships.

    Nothing if the files are broken: the roster itself says so.
    """
    if not rules:
        return Shadows()
    named = {each for rule in rules for each in rule.advisors}
    try:
        roster = roster_of(preset, files(), sorted(named))
    except RosterError:
        return Shadows()
    return shadows_of(rules, (*shipped_advisors(), *roster.advisors))


def working_files(top: Path) -> dict[str, BaseText]:
    """The files of a working tree that declare advisors, as a commit of them would hold them."""
    place = top / DECLARED
    if place.is_symlink() or not place.is_dir():
        return {DECLARED: text_at(place)} if place.is_symlink() or place.exists() else {}
    every = (path for folder, folders, names in os.walk(place) for path in _files(Path(folder), folders, names))
    found = sorted(name for name in (path.relative_to(top).as_posix() for path in every) if is_declared(name))
    texts = {name: text_at(top / name) for name in found[:MOST_DECLARED]}
    return texts | {name: BaseText(problem=TOO_MANY) for name in found[MOST_DECLARED:]}


def _files(folder: Path, folders: Iterable[str], names: Iterable[str]) -> Iterator[Path]:
    """What lies in a folder and is none itself: a link to a folder is a link."""
    yield from (folder / name for name in names)
    yield from (folder / name for name in folders if (folder / name).is_symlink())


def text_at(path: Path) -> BaseText:
    """The beginning of a file of a working tree. A link is not followed, and nothing but a file is read."""
    if path.is_symlink():
        return BaseText(problem="it is a symbolic link")
    raw = WorkFolder(path.parent, "").read(path.name, MOST_READ)
    return BaseText(problem=raw) if isinstance(raw, str) else base_text(raw)
