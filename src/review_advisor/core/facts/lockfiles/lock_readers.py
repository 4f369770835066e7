"""The reader of each lock file that is left unread by default."""

from __future__ import annotations

from collections.abc import Mapping

from review_advisor.core.facts.lockfiles.composer_lock import read_composer_lock
from review_advisor.core.facts.lockfiles.go_sum import read_go_sum
from review_advisor.core.facts.lockfiles.lock_entries import LockReader
from review_advisor.core.facts.lockfiles.npm_lock import read_npm_lock
from review_advisor.core.facts.lockfiles.pipfile_lock import read_pipfile_lock
from review_advisor.core.facts.lockfiles.pnpm_lock import read_pnpm_lock
from review_advisor.core.facts.lockfiles.toml_locks import read_cargo_lock, read_poetry_lock, read_uv_lock
from review_advisor.core.facts.lockfiles.yarn_lock import read_yarn_lock

LOCK_READERS: Mapping[str, LockReader] = {
    "package-lock.json": read_npm_lock,
    "npm-shrinkwrap.json": read_npm_lock,
    "yarn.lock": read_yarn_lock,
    "pnpm-lock.yaml": read_pnpm_lock,
    "Cargo.lock": read_cargo_lock,
    "poetry.lock": read_poetry_lock,
    "uv.lock": read_uv_lock,
    "go.sum": read_go_sum,
    "composer.lock": read_composer_lock,
    "Pipfile.lock": read_pipfile_lock,
}
"""By the name of the file."""
