"""Hidden marks by which the bot finds its own words again. They are claims: whose words they are, the author says."""

from __future__ import annotations

import re

from review_advisor.core.answers.findings import FINDING_ID

PREFIX = "<!-- review-advisor:"
SUMMARY = f"{PREFIX}summary -->"
_EXTERNAL = re.compile(
    r"pr-(?P<number>[1-9][0-9]{0,9})(?:/run-(?P<run>[^/]*))?(?:/(?P<seal>(?:signed|noted)-[0-9a-f]{48}))?"
    r"(?:/usd-(?P<usd>[0-9]{1,7}\.[0-9]{2}))?"
    r"(?:/day-(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})-(?P<day_usd>[0-9]{1,7}\.[0-9]{2}))?"
)
MOST_USD = 9_999_999.99
"""More than any pull request may cost: so much, at most, a check run says."""
_FINDING = re.compile(re.escape(PREFIX) + rf"finding ({FINDING_ID}) -->")


def review_marker(run_id: str) -> str:
    """The mark of the review that one run wrote."""
    return f"{PREFIX}review {run_id} -->"


def is_review(body: str) -> bool:
    """Whether a review is marked as one that some run of ours wrote."""
    return body.startswith(f"{PREFIX}review ")


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


def external_id(
    number: int, run: str = "", seal: str = "", usd: float = 0.0, today: tuple[str, float] = ("", 0.0)
) -> str:
    """What tells a pull request's check runs from those of another one with the same head.

    ``run``: the workflow run that wrote the check last; while it is in progress, that run is to conclude it. The
    details URL cannot say so: GitHub ignores the one that a workflow's own token sends. ``seal`` is of the state that
    stands in the summary (``seals``), ``usd`` what all reviews of the pull request have cost, and ``today`` is a
    day with what those cost that pushes started on it; without a day that is not told.
    """
    spent = f"/usd-{min(usd, MOST_USD):.2f}" if round(usd, 2) else ""
    day, day_usd = today
    told = f"/day-{day}-{min(day_usd, MOST_USD):.2f}" if day else ""
    return f"pr-{number}{f'/run-{run}' if run else ''}{f'/{seal}' if seal else ''}{spent}{told}"


def is_check_of(number: int, external: str) -> bool:
    """Whether a check run with this external id is of this pull request."""
    return number_in(external) == number


def number_in(external: str) -> int | None:
    """The number of the pull request whose check run has this external id; None if it is none of ours."""
    number = _told(external, "number")
    return int(number) if number else None


def begun_by(external: str) -> str:
    """The workflow run that wrote the check last; empty where none is named."""
    return _told(external, "run")


def seal_in(external: str) -> str:
    """The seal that a check run bears; empty where it bears none."""
    return _told(external, "seal")


def usd_in(external: str) -> float:
    """What a check run says that all reviews of its pull request have cost; 0 where it says nothing."""
    return float(_told(external, "usd") or 0)


def day_in(external: str) -> tuple[str, float]:
    """A day, and what pushes have cost on it, as a check run says; an empty day where it says nothing."""
    return _told(external, "day"), float(_told(external, "day_usd") or 0)


def _told(external: str, what: str) -> str:
    found = _EXTERNAL.fullmatch(external)
    return (found[what] or "") if found else ""


def is_by_newer(external: str, run: str) -> bool:
    """Whether the check was written last by a workflow run that began after ``run``."""
    return is_newer(begun_by(external), run)


def is_newer(other: str, run: str) -> bool:
    """Whether the workflow run ``other`` began after ``run``: GitHub numbers runs upwards. False for an empty one."""
    return other.isascii() and other.isdecimal() and (len(other), other) > (len(run), run)
