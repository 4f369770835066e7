"""Hidden marks by which the bot finds its own words again. They are claims: whose words they are, the author says."""

from __future__ import annotations

import re

PREFIX = "<!-- review-advisor:"
SUMMARY = f"{PREFIX}summary -->"
_FINDING = re.compile(re.escape(PREFIX) + r"finding (f-[0-9a-f]{10}) -->")


def review_marker(run_id: str) -> str:
    """The mark of the review that one run wrote."""
    return f"{PREFIX}review {run_id} -->"


def answer_marker(comment_id: int) -> str:
    """The mark of the answer to one comment."""
    return f"{PREFIX}answer {comment_id} -->"


def finding_marker(finding: str) -> str:
    """The mark of the inline comment about one finding."""
    return f"{PREFIX}finding {finding} -->"


def finding_in(body: str) -> str | None:
    """The id of the finding that a comment's first line marks; None for any other comment."""
    found = _FINDING.match(body)
    return found[1] if found else None


def external_id(number: int) -> str:
    """What tells a pull request's check runs from those of another one with the same head."""
    return f"pr-{number}"
