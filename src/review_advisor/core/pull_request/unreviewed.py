"""Which pull requests the believed configuration leaves unreviewed, on purpose, so that their check passes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from review_advisor.core.facts.files.called_files import CalledFiles
from review_advisor.core.facts.files.critical import CRITICAL_PATHS_ADR, CriticalPaths
from review_advisor.core.facts.files.paths import PathRule
from review_advisor.core.policy.guard import gives_orders
from review_advisor.core.pull_request.rules import PublicationRules
from review_advisor.core.pull_request.seals import sealed_on
from review_advisor.core.pull_request.standing import StandingCheck
from review_advisor.core.pull_request.state import State
from review_advisor.core.pull_request.writes import Conclusion

LEFT_OUT = "Not reviewed: configured"
"""The title of the check of what is left unreviewed."""


@dataclass(frozen=True, slots=True)
class NeverLeftOut:
    """What is reviewed whatever ``github.skip_paths`` says.

    These are critical paths, the bot's own ``implementation``, and what the workflow that runs it calls: everything, if
    not all of that could be read.
    """

    critical: CriticalPaths = CRITICAL_PATHS_ADR
    implementation: tuple[str, ...] = ()
    called: CalledFiles = CalledFiles(())  # noqa: RUF009 (it names nothing, and nobody adds to it)
    followed: bool = True

    def covers(self, path: str) -> bool:
        """Whether a changed path has to be reviewed."""
        own = gives_orders(path) or PathRule(self.implementation).matches(path) or self.called.names(path)
        return own or not self.followed or self.critical.matches(path)


DEFAULT = NeverLeftOut()


def is_untouched(head_sha: str, checks: Iterable[StandingCheck], state: State | None) -> bool:
    """Whether leaving this head unreviewed takes nothing back: no review of it began or is remembered.

    ``checks`` are the bot's own on it: none, or only those that say that it is left unreviewed.
    """
    said = all(each.conclusion == Conclusion.SUCCESS and each.title == LEFT_OUT for each in checks)
    return said and (state is None or head_sha not in (state.head_sha, sealed_on(state)))


def left_out_by_base(base_ref: str, rules: PublicationRules) -> str | None:
    """Why a pull request into this base branch is not reviewed, in a few words; None if it is."""
    return f"its base branch {base_ref} is in github.skip_bases" if base_ref in rules.skip_bases else None


def left_out_by_paths(paths: Iterable[str], rules: PublicationRules, never: NeverLeftOut) -> str | None:
    """The same of the paths that it changes, both sides of renames. All have to match, and none may be critical."""
    changed, skipped = tuple(paths), PathRule(rules.skip_paths)
    left_out = bool(changed) and all(skipped.matches(path) and not never.covers(path) for path in changed)
    return "all paths that it changes are in github.skip_paths" if left_out else None
