"""Samples for the masking of secrets, drawn by somebody who had not seen the table: random values, none of them real.

They stand in three files of JSON lines. Long values are broken by a sign, so that scanners leave the files alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_BREAK = "\u00a6"


@dataclass(frozen=True)
class CodeSample:
    """A changed file in which code beside what looks like a secret must stay visible."""

    path: str
    text: str
    visible: tuple[str, ...]


@dataclass(frozen=True)
class SecretSample:
    """A piece of a file, with the exact secrets that must be hidden."""

    kind: str
    path: str
    text: str
    secrets: tuple[str, ...]


def _rows(name: str) -> Iterator[list[Any]]:
    """The samples of one file, each a list."""
    text = Path(__file__).with_name(f"redaction_{name}.jsonl").read_text(encoding="utf-8")
    yield from map(json.loads, text.replace(_BREAK, "").splitlines())


CODE_SAMPLES = tuple(CodeSample(path, text, tuple(visible)) for path, text, visible in _rows("code"))
SECRET_SAMPLES = tuple(SecretSample(kind, path, text, tuple(secrets)) for kind, path, text, secrets in _rows("secrets"))
ORDINARY: tuple[tuple[str, str], ...] = tuple((path, text) for path, text in _rows("ordinary"))
