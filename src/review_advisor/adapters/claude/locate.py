"""Finds the CLI's binary and checks its version."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from review_advisor.adapters.claude.environment import absolute_path_entries
from review_advisor.lifetime.belongings import run
from review_advisor.ports.review import CliError

PINNED_VERSION = "2.1.329"
"""The floor, and the version everything here was measured with."""

_VERSION = re.compile(r"^(\d+)\.(\d+)\.(\d+)\b")
_HOW_TO_INSTALL = (
    f"Install it with `npm install @anthropic-ai/claude-code@{PINNED_VERSION}`, or without Node at run time "
    f"`npm install @anthropic-ai/claude-code-linux-x64@{PINNED_VERSION}` (name the version: on Node below 22 npm "
    "otherwise picks an old one)."
)
_VERSION_TIMEOUT_SECONDS = 15


@dataclass(frozen=True, slots=True)
class LocatedCli:
    """A usable CLI. ``tested`` is False for a version newer than the one this was measured with."""

    path: Path
    version: str
    tested: bool


def locate(explicit: str, environ: Mapping[str, str], under_review: Path | None) -> LocatedCli:
    """The CLI at ``explicit``, or the first ``claude`` on PATH; never one that lies inside ``under_review``.

    Raises ``CliError`` when there is none, when it does not run, or when it is older than the pinned version.
    """
    path = _find(explicit, environ)
    inside = under_review is not None and any(p.is_relative_to(under_review.resolve()) for p in (path, path.resolve()))
    if inside:
        raise CliError(f"{path} lies inside the repository under review, which must not choose what reviews it.")
    return check_version(path, _ask_version(path))


def search_path(path: str, under_review: Path) -> str:
    """``PATH`` for whatever ``claude`` starts: without relative entries, and without any that leads into a checkout.

    The CLI itself looks for git there. A change may bring a program of that name.
    """
    root = under_review.resolve()
    entries = absolute_path_entries(path).split(os.pathsep)
    places = ((entry, {Path(os.path.normpath(entry)), Path(entry).resolve()}) for entry in entries)
    return os.pathsep.join(entry for entry, its in places if not any(place.is_relative_to(root) for place in its))


def check_version(path: Path, printed: str) -> LocatedCli:
    """Hold what ``--version`` printed against the pinned version."""
    found = _VERSION.match(printed.strip())
    if found is None or "Claude Code" not in printed:
        raise CliError(f"{path} does not say a Claude Code version. {_HOW_TO_INSTALL}")
    version = found.group(0)
    if _parts(version) < _parts(PINNED_VERSION):
        raise CliError(f"{path} is version {version}, older than {PINNED_VERSION}. {_HOW_TO_INSTALL}")
    return LocatedCli(path, version, tested=version == PINNED_VERSION)


def _find(explicit: str, environ: Mapping[str, str]) -> Path:
    if explicit:
        path = Path(explicit).expanduser().absolute()
        if not path.is_file():
            raise CliError(f"There is no claude binary at {path}. {_HOW_TO_INSTALL}")
        return path
    found = shutil.which("claude", path=absolute_path_entries(environ.get("PATH", "")))
    if found is None:
        raise CliError(f"There is no claude on PATH. {_HOW_TO_INSTALL}")
    return Path(found).absolute()


def _ask_version(path: Path) -> str:
    # An empty environment: to say its version it needs nothing, and it gets no credential.
    try:
        environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "DISABLE_AUTOUPDATER": "1"}
        done = run([str(path), "--version"], environment, Path("/"), seconds=_VERSION_TIMEOUT_SECONDS)
    except OSError as error:
        raise CliError(f"{path} does not run ({type(error).__name__}). {_HOW_TO_INSTALL}") from error
    if done.code != 0:
        raise CliError(f"{path} --version ended with exit code {done.code}. {_HOW_TO_INSTALL}")
    return done.stdout.decode(errors="replace")


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
