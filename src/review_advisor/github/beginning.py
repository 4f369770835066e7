"""When a review begins, and why it waits."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Literal

from review_advisor.change.ci_files import CalledFiles
from review_advisor.change.kinds import CRITICAL_PATHS_ADR, CriticalPaths, PathRule
from review_advisor.change.pull_request import BranchCommit, Makers, PullRequest
from review_advisor.github.commands import WORD
from review_advisor.github.memory import OPENS_BREAKER
from review_advisor.github.state import StandingCheck, State, sealed_on
from review_advisor.github.writes import Conclusion
from review_advisor.policy.budgets import LEAST_REVIEW_USD
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.risk import gives_orders
from review_advisor.safety.markdown import code, phrase


@dataclass(frozen=True, slots=True)
class Waiting:
    """A state of waiting: ``title`` is plain text, ``words`` is safe Markdown that says what to do."""

    title: str
    words: str


def fork_waits(rules: PublicationRules, head_sha: str) -> Waiting:
    """A fork's pull request is reviewed when a maintainer has looked at it and put the label on."""
    return Waiting(
        "Not reviewed: a fork waits for a maintainer",
        f"This pull request comes from a fork. A maintainer looks at {code(head_sha)} and puts the label"
        f" {code(rules.fork_label)} on it; then it is reviewed. Each push takes the label off again.",
    )


def draft_waits() -> Waiting:
    """A draft is reviewed when its author says that it is ready."""
    return Waiting(
        "Not reviewed: this is a draft",
        f"It is reviewed when it is marked as ready. `{WORD} review` in a comment reviews it now.",
    )


def nobody_asked(rules: PublicationRules) -> Waiting:
    """The configuration starts no review of this push."""
    when = "when somebody asks" if rules.review == "on_request" else "when a pull request is opened"
    return Waiting(
        "Not reviewed: nobody asked for a review",
        f"A review starts only {when} (`github.review`). `{WORD} review` in a comment reviews this head.",
    )


def same_head(other: int) -> Waiting:
    """A check belongs to a commit, so two pull requests with one head would pass each other's gate."""
    return Waiting(
        f"Not decided: pull request {other} has the same head",
        f"This commit is also the head of pull request {other}, and a check belongs to a commit: one of the two"
        " would pass with the other one's review. Close one of them, or push another commit to it.",
    )


def approval_fell(because: str) -> Waiting:
    """A person's decision was written, and then something was no more as that person had seen it."""
    return Waiting(
        "Not decided: a person's decision did not hold",
        f"A person let this head pass, and at the same moment something changed. {phrase(because)}",
    )


def rounds_used_up(rules: PublicationRules) -> Waiting:
    """Pushes have started as many reviews as they may."""
    return Waiting(
        f"Not reviewed: {rules.most_rounds} automatic reviews are used up",
        f"Pushes to this pull request have started {rules.most_rounds} reviews, and start no more."
        f" `{WORD} review` in a comment reviews this head.",
    )


def money_used_up(rules: PublicationRules, spent_usd: float) -> Waiting:
    """The reviews of the pull request have cost what they may."""
    return Waiting(
        f"Not reviewed: {spent_usd:,.2f} USD are spent",
        f"The reviews of this pull request have cost {spent_usd:,.2f} USD of {rules.most_usd:,.2f}"
        f" (`github.most_usd`). `{WORD} review` in a comment grants one more review, of this head.",
    )


def authors_day_used_up(rules: PublicationRules, author: str, usd: float) -> Waiting:
    """The reviews that an author's pushes started have cost what they may cost on one day."""
    return Waiting(
        f"Not reviewed: {usd:,.2f} USD of the author's day are spent",
        f"The reviews that pushes to pull requests by {code(author)} started today have cost {usd:,.2f} USD of"
        f" {rules.author_day_usd or 0.0:,.2f} (`github.author_day_usd`). The count starts again at midnight UTC."
        f" `{WORD} review` in a comment grants one more review, of this head.",
    )


def breaker_open(reason: str, times: int) -> Waiting:
    """The same failure has come again and again on this head."""
    return Waiting(
        f"Not reviewed: the same failure {times} times",
        f"On this head the review failed {times} times in the same way: {phrase(reason)}\n\n"
        f"Once the cause is gone, `{WORD} review` in a comment starts it again; so does a new push.",
    )


@dataclass(frozen=True, slots=True)
class Beginning:
    """``review``: one begins. ``waiting``: why not, for the check to say; None where there is nothing to say.

    ``drop_fork_label``: what a maintainer had let through is no longer what is there. ``most_usd`` is what is left to
    the pull request's reviews and to its author's day, which bounds this review; None where a person asked for it, who
    grants a whole one.
    """

    review: bool
    because: str
    waiting: Waiting | None = None
    drop_fork_label: bool = False
    most_usd: float | None = None


def beginning(
    pull_request: PullRequest,
    state: State | None,
    rules: PublicationRules,
    *,
    asked: bool,
    opening: bool = True,
    spent_usd: float = 0.0,
    author_usd: float = 0.0,
) -> Beginning:
    """The decision. ``asked``: somebody who may push asked for a review, by a label of this very head or by a command.

    A command means whatever head is there when it is heard. A fork is reviewed only when asked: a label that is still
    there may be older than what is there now. ``opening``: the event opens the pull request, and does not change it.
    ``spent_usd`` is what its reviews have cost, by whoever says the most, and ``author_usd`` what those reviews cost
    today that pushes to the author's pull requests started. Who asks for a review grants it.
    """
    if pull_request.state != "open":
        return Beginning(review=False, because=f"the pull request is {pull_request.state}")
    if asked:
        return Beginning(review=True, because="a person asked for it")
    if pull_request.from_fork:
        waiting, stale = fork_waits(rules, pull_request.head_sha), rules.fork_label in pull_request.labels
        return Beginning(review=False, because="its head is in a fork", waiting=waiting, drop_fork_label=stale)
    if pull_request.draft:
        return Beginning(review=False, because="it is a draft", waiting=draft_waits())
    if rules.review == "on_request" or (rules.review == "opened" and not opening):
        return Beginning(review=False, because="nobody asked for a review", waiting=nobody_asked(rules))
    failing = state.failing if state is not None else None
    if failing is not None and failing.head_sha == pull_request.head_sha and failing.times >= OPENS_BREAKER:
        waiting = breaker_open(failing.reason, failing.times)
        return Beginning(review=False, because="the same failure came again and again", waiting=waiting)
    used_up = _used_up(pull_request, state, rules, spent_usd, author_usd)
    if used_up is not None:
        return Beginning(review=False, because="its automatic reviews are used up", waiting=used_up)
    left_usd = min(_left(rules.most_usd, spent_usd), _left(rules.author_day_usd, author_usd))
    return Beginning(review=True, because="its head is to be reviewed", most_usd=left_usd)


def _used_up(
    pull_request: PullRequest, state: State | None, rules: PublicationRules, spent_usd: float, author_usd: float
) -> Waiting | None:
    """Why pushes start no further review: the rounds or the money of the pull request, or its author's money today."""
    match used_up_of(state.rounds if state is not None else 0, spent_usd, rules):
        case "rounds":
            return rounds_used_up(rules)
        case "money":
            return money_used_up(rules, spent_usd)
    if _left(rules.author_day_usd, author_usd) < LEAST_REVIEW_USD:
        return authors_day_used_up(rules, pull_request.author, author_usd)
    return None


def used_up_of(rounds: int, spent_usd: float, rules: PublicationRules) -> Literal["rounds", "money"] | None:
    """Which cap of a pull request pushes have used up; None while they start reviews."""
    if rounds >= rules.most_rounds:
        return "rounds"
    return "money" if _left(rules.most_usd, spent_usd) < LEAST_REVIEW_USD else None


def _left(most_usd: float | None, usd: float) -> float:
    """What is left under a cap; without one, everything."""
    return inf if most_usd is None else round(most_usd - usd, 2)


OPENING_ACTIONS = ("opened", "reopened", "ready_for_review")
"""What opens a pull request; a push, another base branch and the like change it."""


_QUEUED = re.compile(r"(?:refs/heads/)?gh-readonly-queue/.+/pr-([1-9][0-9]{0,9})-[0-9a-f]{40}")


def queued_pull_request(head_ref: str) -> int | None:
    """The number of the pull request that a merge queue's branch stands for; None if it is no such branch."""
    found = _QUEUED.fullmatch(head_ref)
    return int(found[1]) if found else None


_WEB = "web-flow"
"""GitHub's own account: it signs what is made through its interface, and the author is then whoever asked for it."""


_FURTHER_AUTHOR = "co-authored-by"


_MODE = "shadow mode"
"""What the draw of pull requests is for."""


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
    about = "\0".join((_MODE, repository, str(pull_request.number)))
    digest = hashlib.sha256(about.encode("utf-8", "replace")).digest()
    place = int.from_bytes(digest[:8], "big") / 2**64 * 100
    if place < rules.shadow_percent:
        return None
    return f"it has place {place:.2f} of 100, and github.shadow_percent is {rules.shadow_percent:g}"


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
