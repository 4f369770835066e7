"""What the repository's configuration says about publishing. Defaults are the product's."""

from __future__ import annotations

from dataclasses import dataclass

from review_advisor.core.answers.answers import Severity

ACTIONS_LOGIN = "github-actions[bot]"
"""The account of a workflow's own token."""


@dataclass(frozen=True, slots=True)
class PublicationRules:
    """Names, labels and limits of what the bot writes on a pull request.

    ``login`` is the account whose comments are the bot's own: it is configured, never asked for, because a workflow's
    token may not ask who it is. ``reviewers`` are accounts and ``org/team``. ``inline_from`` is the lowest severity
    that gets a comment in the diff, ``most_inline`` the most such comments in one review; the summary lists the others.
    ``most_rounds`` is how many reviews of one pull request pushes may start; what a person asks for does not count.
    ``push_repairs``: a repair that was judged right is committed to the head's branch.
    """

    check_name: str = "review-advisor"
    login: str = ACTIONS_LOGIN
    escalation_label: str = "needs-human-review"
    fork_label: str = "review-this-fork"
    reviewers: tuple[str, ...] = ()
    inline_from: Severity = "low"
    most_inline: int = 25
    most_rounds: int = 10
    push_repairs: bool = False

    def is_ours(self, login: str) -> bool:
        """Whether this account is the bot's own."""
        return login.casefold() == self.login.casefold()
