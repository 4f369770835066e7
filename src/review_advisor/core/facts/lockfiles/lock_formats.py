"""The lock files that are left unread by default: the name of each, and its ecosystem."""

from __future__ import annotations

from collections.abc import Mapping

ECOSYSTEMS: Mapping[str, str] = {
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
    "yarn.lock": "Yarn",
    "pnpm-lock.yaml": "pnpm",
    "Cargo.lock": "Cargo",
    "poetry.lock": "Poetry",
    "uv.lock": "uv",
    "go.sum": "Go",
    "composer.lock": "Composer",
    "Pipfile.lock": "Pipenv",
}
DEFAULT_EXCLUDE = tuple(ECOSYSTEMS)
"""What is excluded unless the configuration says otherwise."""


def ecosystem_of(path: str) -> str:
    """The ecosystem of a lock file, by its name as the package manager spells it; empty for any other file."""
    return ECOSYSTEMS.get(path.rpartition("/")[2], "")
