"""Fields of the CLI's JSON by their type: what is missing, or of another type, is empty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def text_of(event: Mapping[str, Any], key: str) -> str:
    """A text."""
    value = event.get(key)
    return value if isinstance(value, str) else ""


def list_of(event: Mapping[str, Any], key: str) -> list[Any]:
    """A list."""
    value = event.get(key)
    return value if isinstance(value, list) else []


def dict_of(event: Mapping[str, Any], key: str) -> dict[str, Any]:
    """An object."""
    value = event.get(key)
    return value if isinstance(value, dict) else {}
