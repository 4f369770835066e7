"""ShellCheck: what is an error by its own word, and the warnings that are one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from review_advisor.embedded.programs.bounded_run import CheckerError
from review_advisor.embedded.programs.complaint import Complaint, cannot_read, syntax

_UNKNOWN_SHELL = 1071
_STOPS_THERE = (1072, 1073)
"""Where it stops, and where that which it cannot parse begins."""
_FIRST_OF_MEANING = 2000
_WARNINGS = frozenset({2115, 2252})
"""``rm -rf "$folder/"`` with a name that may be empty, and a condition that is always true."""
_LEFT_OUT = frozenset({2148, 2239, 2242})
"""No shell is named, or by no whole path; exit with a negative number."""


class _Comment(BaseModel):
    file: str
    line: int
    end: Annotated[int, Field(alias="endLine")]
    level: Literal["error", "warning", "info", "style"]
    code: int
    message: str


class _Answer(BaseModel):
    comments: tuple[_Comment, ...]


def copy_name(number: int, _name: str) -> str:
    """A name that says bash; a script's own first line counts more."""
    return f"{number}.bash"


def read(
    _folder: Path, copies: Sequence[str], run: Callable[[Sequence[str]], tuple[int, bytes]]
) -> Iterator[tuple[str, Complaint]]:
    """What ShellCheck says. It follows no other file. Raises ``CheckerError`` or pydantic's ``ValidationError``."""
    code, written = run(["--norc", "--format=json1", "--severity=warning", "--", *copies])
    if code not in (0, 1):
        raise CheckerError(f"shellcheck ended with {code}")
    for each in _Answer.model_validate_json(written).comments:
        if each.code == _UNKNOWN_SHELL:
            yield each.file, cannot_read("ShellCheck does not know its shell")
        elif each.code in _STOPS_THERE:
            yield each.file, syntax(each.message, each.line)
        elif each.code in _WARNINGS or (
            each.level == "error" and each.code >= _FIRST_OF_MEANING and each.code not in _LEFT_OUT
        ):
            yield each.file, Complaint(f"SC{each.code}", each.message, each.line, each.end, "bug", "medium", 0.8)
