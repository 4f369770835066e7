"""The team's own rules: where they stand at the base, and which apply to a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from review_advisor.change.change import folders_of
from review_advisor.change.diff_text import shown_path
from review_advisor.change.kinds import PathRule, literal

GuidelineFile = Literal["REVIEW.md", "CLAUDE.md", "AGENTS.md", ".github/copilot-instructions.md"]
"""A file of rules that is looked for. One without a folder in its name is looked for in every folder."""

DEFAULT_FILES: tuple[GuidelineFile, ...] = ("REVIEW.md",)

LONGEST_GUIDELINE = 8_000
"""Characters of one guideline. The rest is not sent, and is named."""

MOST_GUIDELINES = 24_000
"""Characters of all guidelines in one call."""

MOST_READ = 64_000
"""Bytes that are read of one file."""

_CITATION = re.compile(r"(?P<name>.+?)(?:(?::|#)L?(?P<first>\d{1,6})(?:-L?(?P<last>\d{1,6}))?)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ConfiguredGuideline:
    """One ``[[guidelines]]`` of the configuration: for the files that ``paths`` match, a ``text`` or a ``file``."""

    paths: tuple[str, ...]
    text: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class GuidelineRules:
    """What the configuration says on guidelines: which files are looked for, and which are given by globs."""

    files: tuple[GuidelineFile, ...] = DEFAULT_FILES
    configured: tuple[ConfiguredGuideline, ...] = ()

    @property
    def globs(self) -> tuple[str, ...]:
        """Every path that can hold a guideline. A change to one of them is a change to the bot."""
        named = ("/" + literal(each.file) for each in self.configured if each.file)
        return tuple(dict.fromkeys((*self.files, *named)))


DEFAULT_RULES = GuidelineRules()


@dataclass(frozen=True, slots=True)
class BaseText:
    """A file at the base as far as it could be read. ``problem`` says why there is no text; empty if there is one."""

    text: str = ""
    problem: str = ""


def base_text(raw: bytes) -> BaseText:
    """The beginning of a file as text, unless it is none."""
    begin = raw[:MOST_READ]
    return BaseText(problem="it is no text") if b"\0" in begin else BaseText(begin.decode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class Guideline:
    """One document of rules."""

    name: str
    file: str
    """Where it stands: the configuration's own file, for a text that is given there."""
    paths: tuple[str, ...]
    """Globs of the files that it applies to."""
    text: str
    cut: int = 0
    """How many of its characters are not sent."""

    @property
    def lines(self) -> tuple[str, ...]:
        """Its lines as they are sent. The first has the number 1."""
        return tuple(self.text.split("\n"))

    def applies_to(self, paths: Iterable[str]) -> bool:
        """Whether it holds for any of these files."""
        rule = PathRule(self.paths)
        return any(map(rule.matches, paths))


@dataclass(frozen=True, slots=True)
class GuidelineFact:
    """A guideline as the record of a review names it."""

    name: str
    file: str
    lines: int = 0
    """How many of its lines were sent."""
    cut: int = 0
    problem: str = ""
    """Why it was not applied; empty if it was."""

    @property
    def words(self) -> str:
        """Its name, and what of it was not applied."""
        if self.problem:
            return f"{shown_path(self.name)} not applied: {self.problem}"
        return shown_path(self.name) + (f", cut by {self.cut:,} characters" if self.cut else "")


@dataclass(frozen=True, slots=True)
class FoundGuidelines:
    """The guidelines that apply to a change, in the order of their precedence, and what could not be read."""

    applied: tuple[Guideline, ...] = ()
    problems: tuple[GuidelineFact, ...] = ()

    @property
    def facts(self) -> tuple[GuidelineFact, ...]:
        """All of them for the record."""
        applied = (GuidelineFact(each.name, each.file, len(each.lines), each.cut) for each in self.applied)
        return (*applied, *self.problems)

    def for_files(self, paths: Iterable[str]) -> tuple[tuple[Guideline, ...], tuple[Guideline, ...]]:
        """Those for these files that fit into one call, and those for which there is no room."""
        these = tuple(paths)
        sent: list[Guideline] = []
        left: list[Guideline] = []
        room = MOST_GUIDELINES
        for each in self.applied:
            if not each.applies_to(these):
                continue
            fits = len(each.text) <= room
            (sent if fits else left).append(each)
            room -= len(each.text) if fits else 0
        return tuple(sent), tuple(left)


NO_GUIDELINES = FoundGuidelines()


def looked_for(rules: GuidelineRules, paths: Iterable[str]) -> tuple[str, ...]:
    """The paths at which a guideline for these files can stand, each once."""
    folders = dict.fromkeys(folder for path in paths for folder in folders_of(path))
    found = [
        f"{folder}/{name}" if folder else name
        for folder in folders
        for name in rules.files
        if not folder or "/" not in name
    ]
    return tuple(dict.fromkeys((*(each.file for each in rules.configured if each.file), *found)))


def found_guidelines(
    rules: GuidelineRules, paths: Iterable[str], texts: Mapping[str, BaseText], config_path: str | None
) -> FoundGuidelines:
    """The guidelines for these files among ``texts``, which are files of the base by their paths.

    Those that the configuration gives by globs come first, then the files, nearest folder first. A file that
    ``[[guidelines]]`` name and that is not there is a problem; any other is simply no guideline.
    """
    these = tuple(paths)
    applied: list[Guideline] = []
    problems: list[GuidelineFact] = []
    for number, each in enumerate(rules.configured, 1):
        if not any(map(PathRule(each.paths).matches, these)):
            continue
        name, text = (each.file, texts.get(each.file, BaseText(problem="it does not exist at the base")))
        if not each.file:
            name, text = f"guidelines[{number}]", BaseText(each.text)
        if text.problem:
            problems.append(GuidelineFact(name, name, problem=text.problem))
        else:
            applied.append(_guideline(name, each.file or config_path or "", each.paths, text.text))
    deepest_first = sorted(
        looked_for(GuidelineRules(rules.files), these),
        key=lambda path: -len([part for part in _folder(path, rules.files).split("/") if part]),
    )
    for path in deepest_first:
        text = texts.get(path, BaseText())
        if text.problem:
            problems.append(GuidelineFact(path, path, problem=text.problem))
        elif text.text.strip() and all(path != each.name for each in applied):
            folder = _folder(path, rules.files)
            applied.append(_guideline(path, path, (f"/{literal(folder)}/" if folder else "*",), text.text))
    return FoundGuidelines(tuple(applied), tuple(problems))


def cited(citation: str, given: Iterable[GuidelineFact | Guideline]) -> tuple[str, int, int] | None:
    """Name, first and last line of a citation such as ``REVIEW.md:12``; None if it names nothing that was given.

    Without a line it is of the whole document: its lines are 0 then.
    """
    lines = {each.name: each.lines if isinstance(each.lines, int) else len(each.lines) for each in given}
    if citation in lines:
        return citation, 0, 0
    parted = _CITATION.fullmatch(citation)
    if parted is None or parted["name"] not in lines or parted["first"] is None:
        return None
    first = int(parted["first"])
    last = int(parted["last"] or first)
    return (parted["name"], first, last) if 1 <= first <= last <= lines[parted["name"]] else None


def _guideline(name: str, file: str, paths: tuple[str, ...], text: str) -> Guideline:
    text = text.replace("\r\n", "\n").strip("\n")
    kept = text[:LONGEST_GUIDELINE]
    return Guideline(name, file, paths, kept, len(text) - len(kept))


def _folder(path: str, names: Iterable[str]) -> str:
    """The folder that a file of rules is about; empty for the root."""
    name = next(each for each in names if path == each or path.endswith(f"/{each}"))
    return path.removesuffix(name).strip("/")
