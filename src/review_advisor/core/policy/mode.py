"""Whether the outcomes of reviews gate merges, or are only shown and recorded: the believed configuration's word.

Each mode has a check of its own name.
"""

from __future__ import annotations

from typing import Literal

Mode = Literal["enforce", "shadow"]
_SHADOW = " (shadow)"


def shadow_name(check_name: str) -> str:
    """The name of the check that shadow mode publishes, beside the check ``check_name`` of mode ``enforce``."""
    return check_name + _SHADOW


def is_shadow_name(check_name: str) -> bool:
    """Whether a check of this name is one of shadow mode."""
    return check_name.casefold().endswith(_SHADOW)


def enforcing_name(check_name: str) -> str:
    """The name of the check of mode ``enforce`` beside it, or its own."""
    return check_name[: -len(_SHADOW)] if is_shadow_name(check_name) else check_name
