"""What a branch has brought since its last tag: the commits of its own line, and the pull requests that they name."""

from __future__ import annotations

import re
from pathlib import Path

from review_advisor.adapters.git.repository import GitRepository, open_repository
from review_advisor.core.facts.pull_request import LARGEST_PULL_REQUEST
from review_advisor.core.readiness.merged_changes import MOST_CHANGES, MergedChange, ReleaseHistory
from review_advisor.ports.review import SourceError

_MOST_LISTED = 16_000_000
_MOST_SECONDS = 60.0
_VERSIONS = ("v[0-9]*", "[0-9]*.[0-9]*")
_MERGED = re.compile(r"Merge pull request #(\d{1,10}) ", re.ASCII)
_SQUASHED = re.compile(r" \(#(\d{1,10})\)$", re.ASCII)


def open_release_history(repo: Path, since: str) -> ReleaseHistory:
    """What HEAD has brought since the commit ``since``; empty: since the last annotated tag of a version.

    Raises ``SourceError``.
    """
    repository = open_repository(repo)
    head = repository.commit("HEAD")
    tag = "" if since else _last_tag(repository)
    start = repository.commit(f"refs/tags/{tag}" if tag else since)
    since = since or tag
    told = repository.git.limited(
        "log",
        "-z",
        "--first-parent",
        f"--max-count={MOST_CHANGES + 1}",
        "--format=%H %P%n%B",
        f"{start}..{head}",
        "--",
        most=_MOST_LISTED,
        seconds=_MOST_SECONDS,
    )
    changes = tuple(map(_change, told.decode("utf-8", "replace").split("\0")[:-1]))
    if not changes:
        raise SourceError(f"Nothing has changed since {since}: name an earlier tag with --since.")
    passed = _passed_over(repository, tag, start) if tag else ()
    return ReleaseHistory(since, start, head, changes[:MOST_CHANGES], len(changes) > MOST_CHANGES, passed)


def origin_of(repo: Path) -> str:
    """The URL that the repository was cloned from; empty without one. Raises ``SourceError``."""
    reply = open_repository(repo).git.attempt("config", "--get", "remote.origin.url")
    return reply.stdout.decode("utf-8", "replace").strip()


def _last_tag(repository: GitRepository) -> str:
    """The nearest annotated one that is called like a version: any other name is one that is left in passing."""
    reply = repository.git.attempt("describe", "--abbrev=0", *(f"--match={each}" for each in _VERSIONS), "HEAD")
    name = reply.stdout.decode("utf-8", "replace").strip()
    if reply.code != 0 or not name:
        advice = repository.advice("check the tags, or")
        raise SourceError(f"No annotated tag of a version leads to HEAD: name a commit with --since, or {advice}.")
    return name


def _passed_over(repository: GitRepository, tag: str, start: str) -> tuple[str, ...]:
    """The other annotated tags from ``start`` on: each may have been meant as a release."""
    told = repository.git.limited(
        "for-each-ref",
        "--format=%(objecttype) %(refname:strip=2)",
        f"--contains={start}",
        "--merged=HEAD",
        "refs/tags",
        most=_MOST_LISTED,
        seconds=_MOST_SECONDS,
    )
    lines = told.decode("utf-8", "replace").splitlines()
    names = (line.removeprefix("tag ") for line in lines if line.startswith("tag "))
    return tuple(name for name in names if name != tag)


def _change(entry: str) -> MergedChange:
    """One commit of the log: names of it and its parents, then its message."""
    names, _, message = entry.partition("\n")
    commit, *parents = names.split()
    subject, *body = message.strip().splitlines() or [""]
    merged = _MERGED.match(subject)
    head = parents[1] if len(parents) == 2 else ""  # noqa: PLR2004 (of more parents nobody can tell the head)
    if merged is not None and len(parents) > 1:
        title = next((each.strip() for each in body if each.strip()), subject)
        return MergedChange(commit, title, _number(merged[1]), head)
    squashed = _SQUASHED.search(subject)
    return MergedChange(commit, subject, None if squashed is None else _number(squashed[1]), head)


def _number(digits: str) -> int | None:
    number = int(digits)
    return number if 0 < number <= LARGEST_PULL_REQUEST else None
