"""The self-modification guard (T29): a change to the bot itself is judged with veto authority everywhere."""

from __future__ import annotations

from dataclasses import dataclass

from review_advisor.core.facts.change import Change
from review_advisor.core.facts.files.paths import (
    NEVER_REPAIRED,
    OWN_IMPLEMENTATION_ANYWHERE,
    OWN_IMPLEMENTATION_HERE,
    OWN_NAME,
    PathRule,
)
from review_advisor.core.facts.files.workflows import WORKFLOW_FOLDER, watched

_ORDERS = PathRule((*OWN_IMPLEMENTATION_ANYWHERE, *NEVER_REPAIRED))


@dataclass(frozen=True, slots=True)
class Guard:
    """Whether the change touches the bot's own implementation, and where."""

    paths: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """True forces veto authority, a high blast radius, and escalation of a missing post-verify."""
        return bool(self.paths)


def guard(change: Change, own_globs: tuple[str, ...], check_name: str = OWN_NAME) -> Guard:
    """Look at both sides of every path, before any classification; of CI only at what concerns the bot."""
    own = PathRule(own_implementation(change, own_globs)).touched_by(change.files)
    return Guard(tuple(dict.fromkeys((*own, *watched(change, check_name)))))


def own_implementation(change: Change, own_globs: tuple[str, ...]) -> tuple[str, ...]:
    """The globs of the bot's own implementation in this repository.

    ``own_globs`` are what its configuration adds: the file that it was read from, wherever it stands, and the files of
    the team's own rules.
    """
    return implementation_globs(own_globs, here=change.own_repository, pyproject=change.config_in_pyproject)


def implementation_globs(own_globs: tuple[str, ...], *, here: bool, pyproject: bool) -> tuple[str, ...]:
    """The same for whoever has no change. ``here``: it is the bot's own repository; ``pyproject`` may configure it."""
    patterns = OWN_IMPLEMENTATION_ANYWHERE + own_globs
    if here:
        patterns += OWN_IMPLEMENTATION_HERE
    if pyproject:
        patterns += ("/pyproject.toml",)
    return patterns


def gives_orders(path: str) -> bool:
    """Whether a file at ``path`` tells the bot, CI, git, an editor or an agent what to do, in whichever repository."""
    return _ORDERS.matches(path)


def every_implementation() -> tuple[str, ...]:
    """The globs for whoever does not know the repository: those of any, and those of the bot's own."""
    return (*OWN_IMPLEMENTATION_ANYWHERE, WORKFLOW_FOLDER, *OWN_IMPLEMENTATION_HERE)
