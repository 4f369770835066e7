"""Which pull requests the believed configuration leaves unreviewed, on purpose, so that their check passes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from review_advisor.core.facts.files.called_files import CalledFiles
from review_advisor.core.facts.files.critical import CRITICAL_PATHS_ADR, CriticalPaths
from review_advisor.core.facts.files.paths import PathRule
from review_advisor.core.facts.pull_request import BranchCommit, Makers, PullRequest
from review_advisor.core.policy.guard import gives_orders
from review_advisor.core.pull_request.rules import PublicationRules
from review_advisor.core.pull_request.seals import sealed_on
from review_advisor.core.pull_request.standing import StandingCheck
from review_advisor.core.pull_request.state import State
from review_advisor.core.pull_request.writes import Conclusion
from review_advisor.core.shadow.draw import drawn

_WEB = "web-flow"
"""GitHub's own account: it signs what is made through its interface, and the author is then whoever asked for it."""
_FURTHER_AUTHOR = "co-authored-by"
_MODE = "shadow mode"
"""What the draw of pull requests is for: no shadow draws the same ones by chance."""
LEFT_OUT = "Not reviewed: configured"
"""The title of the check of what is left unreviewed."""


@dataclass(frozen=True, slots=True)
class NeverLeftOut:
    """What is reviewed whatever ``github.skip_paths`` and ``github.skip_authors`` say.

    These are critical paths, the bot's own ``implementation``, and what the workflow that runs it calls: everything, if
    not all of that could be read.
    """

    critical: CriticalPaths = CRITICAL_PATHS_ADR
    implementation: tuple[str, ...] = ()
    called: CalledFiles = field(default_factory=lambda: CalledFiles(()))
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


def left_out_by_draw(pull_request: PullRequest, rules: PublicationRules) -> str | None:
    """Why shadow mode does not review this pull request, whatever is pushed to it; None in mode ``enforce``."""
    if not rules.is_shadow:
        return None
    repository = pull_request.repository.casefold()
    found = drawn(rules.shadow_percent, _MODE, repository, str(pull_request.number))
    share = f"github.shadow_percent is {rules.shadow_percent:g}"
    return None if found.is_in else f"it has place {found.place:.2f} of 100, and {share}"


def left_out_by_author(
    pull_request: PullRequest,
    commits: Sequence[BranchCommit],
    pushers: Makers,
    rules: PublicationRules,
) -> str | None:
    """The same of its author: a bot of the list, if bots of the list made and pushed all that it brings.

    A fork's is never left out. A commit counts as a bot's if the forge vouches for it, and it is no merge and names no
    further author.
    """
    listed = {each.casefold() for each in rules.skip_authors}
    if pull_request.from_fork or not pull_request.by_bot or pull_request.author.casefold() not in listed:
        return None
    made = bool(commits) and all(_is_made_by(listed, each) for each in commits)
    pushed = bool(pushers.logins) and pushers.whole and all(each.casefold() in listed for each in pushers.logins)
    return f"its author {pull_request.author} is in github.skip_authors" if made and pushed else None


def _is_made_by(listed: Collection[str], commit: BranchCommit) -> bool:
    by = commit.by_bot and commit.author.casefold() in listed
    signed = commit.verified and commit.committer.casefold() in (*listed, _WEB)
    return by and signed and commit.parents == 1 and _FURTHER_AUTHOR not in commit.message.casefold()


def left_out_by_paths(paths: Iterable[str], rules: PublicationRules) -> str | None:
    """The same of the paths that it changes, both sides of renames: all have to match."""
    changed, skipped = tuple(paths), PathRule(rules.skip_paths)
    left_out = bool(changed) and all(map(skipped.matches, changed))
    return "all paths that it changes are in github.skip_paths" if left_out else None
