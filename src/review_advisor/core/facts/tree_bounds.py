"""How large a tree may be that is read and written out for a review."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TreeBounds:
    """What a review reads at most. Past any of these it does not begin, whatever git could be made to unpack.

    ``paths`` counts files and folders, ``bytes`` the files' contents, ``depth`` the folders above a file;
    ``diff_bytes`` is the text of the change. The kernel of Linux has 96,000 paths, 1.5 GB, and is 9 deep.
    """

    paths: int = 500_000
    bytes: int = 4_000_000_000
    depth: int = 100
    diff_bytes: int = 100_000_000


DEFAULT_BOUNDS = TreeBounds()
