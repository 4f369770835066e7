"""How large a tree may be that is read and written out for a review."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class TreeBounds(BaseModel):
    """How large a repository may be: past any of these limits nothing is read and nobody is asked.

    The kernel of Linux has 96,000 paths, 1.5 GB, and is 9 deep.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    paths: int = Field(
        default=500_000, ge=1, le=10_000_000, description="The most files and folders of a reviewed tree."
    )
    bytes: int = Field(
        default=4_000_000_000,
        ge=1,
        le=1_000_000_000_000,
        description="The most bytes of its files, which a review may write several times.",
    )
    depth: int = Field(default=100, ge=1, le=1_000, description="The deepest nesting of its folders.")
    diff_bytes: int = Field(default=100_000_000, ge=1, le=1_000_000_000, description="The most bytes of the diff.")


DEFAULT_BOUNDS = TreeBounds()
