"""Which ranges of commits a blind set holds: chosen by hashes of names, before any check runs."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Collection
from pathlib import Path

COMMITS = 200
"""In one range, counted along first parents."""
NEWEST = 3_000
"""The range lies among so many commits."""
FEWEST = 1_000
"""A repository with fewer commits is passed over."""
LISTS_OF_ADVISORIES = ("RustSec/advisory-db", "pypa/advisory-database", "rubysec/ruby-advisory-db")
"""They hold no code."""


def draw(checkouts: Path, known: Collection[str], number: int) -> list[tuple[str, str]]:
    """``number`` repositories of the bare clones OWNER+NAME in ``checkouts``, each with one range.

    The hash of a repository's name decides on its turn and on where its range ends. ``known`` ones are passed over.
    """
    names = (clone.name.replace("+", "/", 1) for clone in checkouts.iterdir())
    drawn: list[tuple[str, str]] = []
    for name in sorted(names, key=_hash):
        clone = checkouts / name.replace("/", "+")
        if name in known or name in LISTS_OF_ADVISORIES or len(drawn) == number:
            continue
        commits = _git(clone, "rev-list", "--first-parent", "HEAD").split()
        if len(commits) >= FEWEST:
            last = int(_hash(name)[-8:], 16) % (min(len(commits), NEWEST) - COMMITS)
            base, head = commits[last + COMMITS][:12], commits[last][:12]
            if _is_whole(clone, base, head):
                drawn.append((name, f"{base}..{head}"))
    return drawn


def _is_whole(clone: Path, base: str, head: str) -> bool:
    """Whether the clone holds each changed file. It may be a snapshot without the largest."""
    changed = (line.split(" ")[2:4] for line in _git(clone, "diff-tree", "-r", "--no-abbrev", base, head).split("\n"))
    names = "\n".join(name for pair in changed for name in pair if name.strip("0"))
    return " missing" not in _git(clone, "cat-file", "--batch-check", given=names)


def _hash(name: str) -> str:
    return hashlib.sha256(f"static_precision {name}".encode()).hexdigest()


def _git(clone: Path, *words: str, given: str = "") -> str:
    done = subprocess.run(["git", "-C", str(clone), *words], input=given, check=True, capture_output=True, text=True)
    return done.stdout
