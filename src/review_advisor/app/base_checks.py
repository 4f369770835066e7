"""What the base's own configuration of a checker allows, handed to the embedded agent on its command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict

from review_advisor.core.facts.change import Change
from review_advisor.core.facts.ruff_settings import CONFIG_FILES, RuffSettings, folders_above, ruff_settings
from review_advisor.ports.review import SourceError

_MOST_FOLDERS = 200
_LONGEST = 100_000
"""One argument of a command has a limit; a longer one is left out, and then more is found."""


def base_checks(change: Change, base_file: Callable[[str], bytes | None]) -> tuple[str, ...]:
    """The arguments for the embedded agent: the base's ruff settings for every folder with a changed Python file."""
    folders = folders_above(file.path for file in change.files if file.path.endswith((".py", ".pyi")))
    found = [settings for folder in folders[:_MOST_FOLDERS] if (settings := _settings(folder, base_file)) is not None]
    text = json.dumps([asdict(each) for each in found])
    return ("--base-ruff", text) if found and len(text) <= _LONGEST else ()


def _settings(folder: str, base_file: Callable[[str], bytes | None]) -> RuffSettings | None:
    for name in CONFIG_FILES:
        with suppress(SourceError):  # a link, or a file that is not there: it allows nothing
            text = base_file(f"{folder}/{name}" if folder else name)
            if text is not None and (settings := ruff_settings(text.decode("utf-8", "replace"), folder, name)):
                return settings
    return None
