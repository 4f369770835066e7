"""The lock files that are left unread by default: the name of each, its ecosystem, and its reader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from review_advisor.core.facts.lockfiles.composer_lock import read_composer_lock
from review_advisor.core.facts.lockfiles.gemfile_lock import read_gemfile_lock
from review_advisor.core.facts.lockfiles.go_sum import read_go_sum
from review_advisor.core.facts.lockfiles.gradle_lock import read_gradle_lock
from review_advisor.core.facts.lockfiles.lock_entries import LockReader
from review_advisor.core.facts.lockfiles.mix_lock import read_mix_lock
from review_advisor.core.facts.lockfiles.npm_lock import read_npm_lock
from review_advisor.core.facts.lockfiles.nuget_lock import read_nuget_lock
from review_advisor.core.facts.lockfiles.pipfile_lock import read_pipfile_lock
from review_advisor.core.facts.lockfiles.pnpm_lock import read_pnpm_lock
from review_advisor.core.facts.lockfiles.toml_locks import read_cargo_lock, read_poetry_lock, read_uv_lock
from review_advisor.core.facts.lockfiles.yarn_lock import read_yarn_lock


@dataclass(frozen=True, slots=True)
class LockFormat:
    """One row."""

    ecosystem: str
    read: LockReader


LOCK_FORMATS: Mapping[str, LockFormat] = {
    "package-lock.json": LockFormat("npm", read_npm_lock),
    "npm-shrinkwrap.json": LockFormat("npm", read_npm_lock),
    "yarn.lock": LockFormat("Yarn", read_yarn_lock),
    "pnpm-lock.yaml": LockFormat("pnpm", read_pnpm_lock),
    "Cargo.lock": LockFormat("Cargo", read_cargo_lock),
    "poetry.lock": LockFormat("Poetry", read_poetry_lock),
    "uv.lock": LockFormat("uv", read_uv_lock),
    "go.sum": LockFormat("Go", read_go_sum),
    "Gemfile.lock": LockFormat("Bundler", read_gemfile_lock),
    "gems.locked": LockFormat("Bundler", read_gemfile_lock),
    "composer.lock": LockFormat("Composer", read_composer_lock),
    "Pipfile.lock": LockFormat("Pipenv", read_pipfile_lock),
    "packages.lock.json": LockFormat("NuGet", read_nuget_lock),
    "gradle.lockfile": LockFormat("Gradle", read_gradle_lock),
    "mix.lock": LockFormat("Mix", read_mix_lock),
}
DEFAULT_EXCLUDE = tuple(LOCK_FORMATS)
"""What is excluded unless the configuration says otherwise."""


def lock_format(path: str) -> LockFormat | None:
    """The format of a lock file, by its name as the package manager spells it; None for any other file."""
    return LOCK_FORMATS.get(path.rpartition("/")[2])
