"""The change of a story: files, pushes and switches, as the words that a YAML file may use."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from review_advisor.core.facts.change import REGULAR_MODE, SUBMODULE_MODE, SYMLINK_MODE, FileChange, Hunk, Status
from review_advisor.core.facts.pictures import PictureDifference, PictureState
from review_advisor.core.policy.surfaces import Surface
from review_advisor.core.policy.switches import (
    FAIL_AS_VETO,
    FORCE_ON,
    MASTER,
    MAX_CONSULTS_VARIABLE,
    ROLE_SWITCHES,
    read_switches,
    surface_switch,
)
from review_advisor.core.roster.nearest import nearest_of

SWITCH_NAMES = (
    MASTER,
    *ROLE_SWITCHES.values(),
    *map(surface_switch, Surface),
    FAIL_AS_VETO,
    FORCE_ON,
    MAX_CONSULTS_VARIABLE,
    *(f"HYDRAFLOW_{place}_{who}_MODEL" for place in ("REVIEW", *(s.value.upper() for s in Surface))
      for who in ("ADVISOR", "EXECUTOR")),
)  # fmt: skip
_MODES = {"file": REGULAR_MODE, "symlink": SYMLINK_MODE, "submodule": SUBMODULE_MODE}
_ABSENT = "000000"


def _as_text(given: Any) -> Any:
    """YAML's own yes and no, and numbers, as the environment would hold them."""
    if isinstance(given, bool):
        return "true" if given else "false"
    return str(given) if isinstance(given, int) else given


def _known(given: dict[str, str]) -> dict[str, str]:
    for name in given:
        if name not in SWITCH_NAMES:
            raise ValueError(f"no variable is called {name}; {nearest_of(name, SWITCH_NAMES)}")
    if given:
        read_switches(given)
    return given


StorySwitches = Annotated[dict[str, Annotated[str, BeforeValidator(_as_text)]], AfterValidator(_known)]
"""Environment variables by name. Unknown names and values that mean nothing are refused."""


class Block(BaseModel):
    """Common to all blocks of a story: unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class FileBlock(Block):
    """One changed file. Its lines are made from `text`."""

    path: str = Field(min_length=1, description="Its path at the head.")
    status: Status = Field(default=Status.MODIFIED, description="What happened to it.")
    old_path: str | None = Field(default=None, description="Where it was before a rename or copy.")
    added: int = Field(default=0, ge=0, le=200_000, description="Added lines.")
    removed: int = Field(default=0, ge=0, le=200_000, description="Removed lines.")
    text: str = Field(default="value = {n}", description="What line n reads; `{n}` is its number.")
    hunks: int = Field(default=1, ge=1, le=1_000, description="Into how many hunks the added lines fall.")
    binary: bool = Field(default=False, description="Whether git calls it binary.")
    kind: Literal["file", "symlink", "submodule"] = Field(default="file", description="What stands there.")
    generated: bool | None = Field(default=None, description="The base tree's `linguist-generated` attribute.")
    vendored: bool | None = Field(default=None, description="The base tree's `linguist-vendored` attribute.")
    whole: str | None = Field(
        default=None, description="Its whole text at the head (the check of ADR records reads it)."
    )

    def facts(self) -> FileChange:
        """The file as git would tell it."""
        there = _MODES[self.kind]
        return FileChange(
            status=self.status,
            path=self.path,
            old_path=self.old_path,
            old_mode=_ABSENT if self.status is Status.ADDED else there,
            new_mode=_ABSENT if self.status is Status.DELETED else there,
            added=0 if self.binary else self.added,
            removed=0 if self.binary else self.removed,
            binary=self.binary,
            hunks=() if self.binary else tuple(self._hunks()),
            generated=self.generated,
            vendored=self.vendored,
        )

    def line(self, number: int) -> str:
        """Line ``number`` of the added ones, from 1."""
        return self.text.replace("{n}", str(number))

    def _hunks(self) -> list[Hunk]:
        """The removed lines stand in the first hunk, as ``-old``; hunks are a hundred lines apart."""
        removed = tuple(f"-{self.text.replace('{n}', f'old {n}')}" for n in range(1, self.removed + 1))
        pieces = min(self.hunks, max(1, self.added))
        cuts = [self.added * piece // pieces for piece in range(pieces + 1)]
        found = []
        for piece, (first, last) in enumerate(pairwise(cuts)):
            gone = removed if piece == 0 else ()
            lines = (*gone, *(f"+{self.line(n)}" for n in range(first + 1, last + 1)))
            if lines:
                start = first + 1 + 100 * piece
                found.append(Hunk(start, len(gone), start, last - first, "", lines))
        return found


class PictureBlock(Block):
    """One pair of pictures, before and after, as the comparison of pixels found it."""

    name: str = Field(min_length=1, description="The picture's path.")
    state: PictureState = Field(default="differs", description="What the comparison says.")
    pixels: int = Field(default=7, ge=0, description="How many pixels differ.")
    partly: bool = Field(default=False, description="Whether not all that differs is shown.")
    why: str = Field(default="", description="What must be known beside the state.")

    def facts(self) -> PictureDifference:
        """The pair as the pipeline is given it, with two crops where something is to be seen."""
        seen = self.state in ("differs", "added", "removed")
        crops = (f"{self.name}-1-before.png", f"{self.name}-1-after.png") if seen else ()
        pixels = self.pixels if seen else 0
        return PictureDifference(self.name, self.state, pixels, crops, self.why, partly=self.partly and seen)


class PushBlock(Block):
    """A push to the pull request."""

    by: str = Field(default="", description="Who pushes; empty: the author.")
    files: tuple[FileBlock, ...] | None = Field(
        default=None, description="The whole change at the new head; left out: the same files, another head."
    )
    bare: bool = Field(default=False, description="It is a bare patch: there is no tree to read or to repair.")
    pictures: tuple[PictureBlock, ...] = Field(default=(), description="Pairs of pictures, before and after.")
