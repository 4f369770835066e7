"""Where a repository declares its advisors: in a folder of its own, which the guard watches."""

from __future__ import annotations

DECLARED = ".review-advisor"
"""The folder of everything that a repository declares for the bot beside its configuration."""
ADVISORS = f"{DECLARED}/advisors"
OPTIONAL = f"{ADVISORS}/optional"
"""Advisors that a label of a pull request may add."""
LENS_MAP = f"{DECLARED}/lenses.toml"
"""The repository's own map from paths to lenses and advisors."""
PRICES = f"{DECLARED}/prices.toml"
"""The repository's own prices of models."""
LONGEST_FILE = 32_000
"""Characters of one declaration file. A longer one is refused, not cut: half of it says something else."""
MOST_DECLARED = 60
"""Files that are read."""
TOO_MANY = f"more than {MOST_DECLARED} files lie there"
"""The problem of every further one."""


def is_declared(path: str) -> bool:
    """Whether the file at ``path`` declares advisors, maps paths to them or lists prices, or stands for their folder.

    A file or folder whose name differs in its case alone is looked at, so that its owner hears that nobody reads it.
    """
    small = path.casefold()
    return small in (DECLARED, ADVISORS, OPTIONAL, LENS_MAP, PRICES) or small.startswith((f"{ADVISORS}/", f"{PRICES}/"))


def stands_for_prices(path: str) -> bool:
    """Whether somebody may take what is at ``path`` for the list of prices, and nobody reads it."""
    small = path.casefold()
    return path != PRICES and (small == PRICES or small.startswith(f"{PRICES}/"))
