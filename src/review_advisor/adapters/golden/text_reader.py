"""How the readers of golden sets get the text of a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

ReadText = Callable[[Path, int], str]
"""The text of a file of so many bytes at most, in UTF-8. Raises ``GoldenSetError``."""
