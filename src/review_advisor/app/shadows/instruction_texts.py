"""Reads instructions: those that ship with the package, and those that the shadows of a working tree try."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from review_advisor.app.roster.declared_files import text_at
from review_advisor.core.roles.instructions import Instructions
from review_advisor.core.shadow.shadow_instructions import instruction_files, instructions_of
from review_advisor.core.shadow.shadow_rule import ShadowRule


def load_instructions() -> Instructions:
    """The standing instructions that ship with the package."""
    folder = Path(__file__).parents[2] / "agents"
    return Instructions({path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.md")})


def instruction_problems(rules: Sequence[ShadowRule], top: Path) -> tuple[str, ...]:
    """A sentence on each mistake in the instructions that shadows try, as they stand in a working tree."""
    shipped = load_instructions()
    problems: list[str] = []
    for rule in rules:
        folders = {top / Path(path).parent for path in instruction_files(rule)}
        found = (each for folder in folders if _is_no_link(folder) for each in folder.iterdir())
        made = instructions_of(rule, shipped, {path.relative_to(top).as_posix(): text_at(path) for path in found})
        problems += () if isinstance(made, Instructions) else made
    return tuple(problems)


def _is_no_link(folder: Path) -> bool:
    """Whether a commit of the working tree has the folder: git follows no link, nor does a review."""
    return folder.is_dir() and not (folder.is_symlink() or folder.parent.is_symlink())
