"""Opens what a review reads: the change that was selected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from review_advisor.adapters.git.open import open_base, open_patch, open_range, open_staged, open_working_tree
from review_advisor.adapters.git.patch_source import PatchSource
from review_advisor.adapters.git.source import About, GitSource
from review_advisor.adapters.user_file import required_file
from review_advisor.ports.review import SourceError

_LARGEST_PATCH = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Selection:
    """Which change to review, and what names it: revisions, a patch file or a pull request.

    For a working tree, any ``value`` asks for untracked files, too. ``head`` is the only head of the pull request that
    is reviewed; empty: any. ``memory`` is what ``begin`` said of the state; empty if it said nothing.
    ``settle_seconds``: how long to wait for a newer push. ``rules`` is the commit whose rules hold for a range; empty:
    its left side.
    """

    kind: Literal["range", "base", "staged", "working_tree", "patch", "pull_request"]
    value: str = ""
    head: str = ""
    memory: str = ""
    settle_seconds: int = 0
    rules: str = ""


def open_change(
    repo: Path, selection: Selection, about: About, config: Path | None, environ: Mapping[str, str]
) -> GitSource | PatchSource:
    """Open what was selected.

    ``about`` is what the user says of it, ``config`` the configuration file that the user names.

    Raises ``SourceError`` and, for a pull request, ``ConfigError``.
    """
    match selection.kind:
        case "range":
            return open_range(repo, selection.value, about, selection.rules)
        case "base":
            return open_base(repo, selection.value, about)
        case "staged":
            return open_staged(repo, about)
        case "working_tree":
            return open_working_tree(repo, about, untracked=bool(selection.value))
        case "patch":
            return open_patch(Path(selection.value), about, repo, _patch)
        case "pull_request":
            from review_advisor.app.pull_requests.pull_request_source import Named, open_named

            named = Named(selection.value, selection.head, selection.memory, selection.settle_seconds)
            return open_named(repo, named, about, config, environ)


def _patch(path: Path) -> bytes:
    return required_file(path, _LARGEST_PATCH, SourceError, f"The patch {path}")
