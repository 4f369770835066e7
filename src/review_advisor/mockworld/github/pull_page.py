"""A whole pull request as a page: what was said and done, in order, and the check on its head."""

from __future__ import annotations

from review_advisor.mockworld.github.model import GitHub
from review_advisor.mockworld.github.page import Record, page
from review_advisor.mockworld.github.records import IssueComment, Pull


def pull_page(github: GitHub, pull: Pull) -> str:
    """The HTML document, as everybody sees the pull request: reviews that are not submitted are not on it."""
    said = [each for each in pull.reviews if each.state != "PENDING"]
    shown: list[Record] = sorted((*pull.happened, *pull.comments, *said), key=lambda each: each.at)
    opening = [IssueComment(pull.id, pull.author, pull.body, pull.at)] if pull.body.strip() else []
    checks = [run for run in github.repository(pull.repository).checks.values() if run.commit == pull.head_sha]
    patches = {file.path: file.patch or "" for file in github.changed_files(pull)}
    state = "Merged" if pull.merged else pull.state.capitalize()
    labels = "".join(f" · {label}" for label in pull.labels)
    heading = f"{pull.title} #{pull.number} · {state}{labels}"
    return page(f"{pull.title} #{pull.number}", (*opening, *shown, *checks), patches, heading=heading)
