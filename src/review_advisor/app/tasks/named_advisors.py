"""The advisors that a file or a folder declares which the user names: for votes and tasks, whose judges they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from review_advisor.adapters.user_file import required_file
from review_advisor.app.settings import ConfigError
from review_advisor.core.facts.files.declared import LONGEST_FILE
from review_advisor.core.report.wording import printable_line
from review_advisor.core.roster.advisor import ADR_ADVISOR, Advisor
from review_advisor.core.roster.declarations import read_declarations
from review_advisor.core.roster.layers import made_roster, twice_declared

_BYTES_OF_A_CHARACTER = 4
_MOST_FILES = 40
_ENDINGS = (".json", ".md")


def read_advisors(path: Path, remark: Callable[[str], None]) -> tuple[Advisor, ...]:
    """The advisors that a file or the files of a folder declare. Raises ``ConfigError`` with every mistake.

    ``remark`` is told of an advisor that is declared again.
    """
    try:
        files = _files(path)
    except OSError as error:
        raise ConfigError(f"{_shown(path)} cannot be read: {error.strerror}.") from None
    declared = [read_declarations(_shown(file), text_of(file, LONGEST_FILE)) for file in files]
    roster, problems = made_roster("default", declared)
    if any(each.said.id == ADR_ADVISOR.id for file in declared for each in file.advisors):
        problems = (*problems, f"{ADR_ADVISOR.id!r} advises in reviews only.")
    advisors = tuple(each for each in roster.advisors if each.id != ADR_ADVISOR.id)
    if not problems and not advisors:
        problems = (f"{_shown(path)} declares no advisor.",)
    if problems:
        raise ConfigError("\n".join(problems))
    for each in twice_declared(declared):
        remark(each)
    return advisors


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        if path.suffix not in _ENDINGS:
            raise ConfigError(f"{_shown(path)}: advisors are declared in files that end in .md or .json.")
        return [path]
    named = [each for each in sorted(path.iterdir()) if not each.is_dir() and not each.name.startswith(".")]
    files = [each for each in named if each.name.casefold() != "readme.md"]
    wrong = [each for each in files if each.suffix not in _ENDINGS]
    if wrong:
        raise ConfigError(f"{_shown(wrong[0])}: advisors are declared in files that end in .md or .json.")
    if len(files) > _MOST_FILES:
        raise ConfigError(f"{_shown(path)} holds more than {_MOST_FILES} files.")
    return files


def text_of(path: Path, longest: int) -> str:
    """The text of a file of at most so many characters; of a longer one no more is read than shows it."""
    try:
        return required_file(path, longest * _BYTES_OF_A_CHARACTER, ConfigError, _shown(path)).decode("utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"{_shown(path)} is not valid UTF-8.") from None


def _shown(path: Path) -> str:
    return printable_line(str(path))
