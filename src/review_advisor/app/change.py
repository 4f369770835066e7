"""Opens what a review reads: the change that was selected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from review_advisor.adapters.git.open import open_base, open_patch, open_range, open_staged
from review_advisor.adapters.git.patch_source import PatchSource
from review_advisor.adapters.git.source import About, GitSource

if TYPE_CHECKING:
    from review_advisor.app.pull_request_source import OpenedPullRequest


@dataclass(frozen=True, slots=True)
class Selection:
    """Which change to review.

    A range, a base to compare HEAD with, the index, a patch file, a pull request by its name, or the one that an event
    file is about. ``head`` is the only head of the named pull request that is reviewed; empty: whatever it is.
    ``memory`` is the word of ``begin`` on what is remembered of it.
    """

    kind: Literal["range", "base", "staged", "patch", "pull_request", "event"]
    value: str = ""
    head: str = ""
    memory: str = ""


@dataclass(frozen=True, slots=True)
class OpenedChange:
    """A change that is open for reading."""

    source: GitSource | PatchSource


def open_change(
    repo: Path, selection: Selection, about: About, config: Path | None, environ: Mapping[str, str]
) -> OpenedChange | OpenedPullRequest:
    """Open what was selected. ``about`` is what the user says of it, ``config`` the configuration file they name.

    Raises ``SourceError`` and, for a pull request, ``ConfigError``.
    """
    title, body, spec = about.title, about.body, about.spec
    match selection.kind:
        case "range":
            return OpenedChange(open_range(repo, selection.value, title=title, body=body, spec=spec))
        case "base":
            return OpenedChange(open_base(repo, selection.value, title=title, body=body, spec=spec))
        case "staged":
            return OpenedChange(open_staged(repo, title=title, body=body, spec=spec))
        case "patch":
            return OpenedChange(open_patch(Path(selection.value), title=title, body=body, spec=spec, repo=repo))
        case "pull_request":
            from review_advisor.app.pull_request_source import Named, open_named

            named = Named(selection.value, selection.head, selection.memory)
            return open_named(repo, named, about, config, environ)
        case "event":
            from review_advisor.app.pull_request_source import open_of_event

            return open_of_event(repo, selection.value, about, config, environ)
