"""ShellCheck: what is an error by its own word, and the warnings that are one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from review_advisor.agents.static.programs import CheckerError, Complaint, RunChecker, cannot_read, syntax

_UNKNOWN_SHELL = 1071


_STOPS_THERE = (1072, 1073)
"""Where it stops, and where that which it cannot parse begins."""


_MEANT = frozenset(
    {
        *(2057, 2058, 2066, 2070, 2077, 2081, 2104, 2105, 2122, 2144, 2168, 2170, 2171, 2173),
        *(2218, 2252, 2276, 2282, 2283, 2284, 2285, 2286, 2287, 2288, 2289, 2290),
    }
)
"""What is never true, always true, or no command that anybody means. Most others are about quoting."""


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


def read(_folder: Path, copies: Sequence[str], run: RunChecker) -> Iterator[tuple[str, Complaint]]:
    """What ShellCheck says. It follows no other file. Raises ``CheckerError`` or pydantic's ``ValidationError``."""
    code, written = run(["--norc", "--format=json1", "--severity=warning", "--", *copies])
    if code not in (0, 1):
        raise CheckerError(f"shellcheck ended with {code}")
    for each in _Answer.model_validate_json(written).comments:
        if each.code == _UNKNOWN_SHELL:
            yield each.file, cannot_read("ShellCheck does not know its shell")
        elif each.code in _STOPS_THERE:
            yield each.file, syntax(each.message, each.line)
        elif each.code in _MEANT:
            yield each.file, Complaint(f"SC{each.code}", each.message, each.line, each.end, "bug", "medium", 0.8)
