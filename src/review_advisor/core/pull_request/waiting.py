"""Why no review takes place until somebody does something, in words for the person who finds the check."""

from __future__ import annotations

from dataclasses import dataclass

from review_advisor.core.pull_request.commands import WORD
from review_advisor.core.pull_request.rules import PublicationRules
from review_advisor.core.safety.markdown import code, phrase


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
