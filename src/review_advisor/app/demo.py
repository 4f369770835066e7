"""`demo`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from review_advisor.app.options import PATH, artifacts_option
from review_advisor.app.terminal import NOT_TO_ITS_END, clear_refusals, note
from review_advisor.change.change import Change
from review_advisor.change.git import Git, find_git, identity
from review_advisor.change.sources import open_range
from review_advisor.safety.children import temporary_folder

PAGE = "github.html"
"""The file in the review's folder that shows the pull request."""


@click.command()
@click.option("--range", "revisions", metavar="A..B", help="Review this range of --repo instead of the sample.")
@click.option("--repo", type=PATH, help="The repository of --range. [default: this one]")
@artifacts_option("Where the review's folder goes.")
@click.pass_context
def demo(context: click.Context, revisions: str | None, repo: Path | None, artifacts: Path) -> None:
    """Review a small sample change with the embedded agent: static checks, no model, no token.

    The review's folder gets a page that shows the check and the comments as they would stand on GitHub. Exit code 0 if
    the review ran to its end, whatever it found.
    """
    if repo is not None and revisions is None:
        raise click.UsageError("--repo needs --range: it is the repository of that range.")
    with clear_refusals():
        from review_advisor.app.agent_choice import AgentChoice
        from review_advisor.app.review import ReviewOptions, Selection, Shown, perform
        from review_advisor.mockworld.publishing import page_of

        with demonstration(repo or Path(), revisions) as shown:
            note(f"Reviewing {shown.words}.")
            note("The embedded agent plays both models with static checks. Processes, hooks and rulings are real.")
            note("Staged: what the first report leaves out, the consult, and the veto.")
            options = ReviewOptions(
                repo=shown.repo,
                selection=Selection("range", shown.revisions),
                agent=AgentChoice("embedded", staged=True),
                artifacts=artifacts,
            )
            stored = perform(options, Shown(explain=True))
            if stored.code >= NOT_TO_ITS_END:
                context.exit(stored.code)
            page = stored.folder / PAGE
            page.write_text(page_of(shown.change, stored.document), encoding="utf-8")
    note(f"As it would stand on GitHub: {page}")
    note(f"`review-advisor review` would exit with {stored.code} here. With real models: {shown.real_command}")


_BASE = {
    "accounts.py": '''"""The accounts of a shop."""


def total(rows):
    """Add up the amounts."""
    return sum(row["amount"] for row in rows)
''',
}


_HEAD = {
    "reports.py": '''"""Monthly reports for the accounts team."""

from accounts import total


def by_month(rows):
    """The rows of each month."""
    return {row["month"]: row for row in rows}


def by_month(rows):
    """The total of each month."""
    months = {}
    for row in rows:
        months.setdefault(row["month"], []).append(row)
    return {month: total(found) for month, found in months.items()}
''',
    "settings.py": '''"""Which reports a team gets."""

import json


def read_settings(path):
    """The settings that a team has written, or none."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return {} if text is "" else json.loads(text)
''',
    "delivery.py": '''"""Delivery of reports."""

import subprocess


def deliver(name):
    """Copy one report to the archive."""
    return subprocess.call(["cp", name, "/srv/archive"], shell=True)
''',
}


TITLE = "Write monthly reports and deliver them"


_COMMITS = (("Add up the accounts", _BASE), (TITLE, _HEAD))


_BY = identity("Sample", "sample@example.invalid", "2026-01-05T09:00:00Z")


def make_sample(folder: Path) -> str:
    """Make the repository in an empty ``folder`` and return the range to review."""
    git = Git(find_git(folder), folder, environment=_BY)
    git.run("init", "--quiet", "--initial-branch=main")
    for subject, texts in _COMMITS:
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
            git.run("add", name)
        git.run("commit", "--quiet", f"--message={subject}")
    return "HEAD~1..HEAD"


@dataclass(frozen=True, slots=True)
class Demonstration:
    """The change to review: its repository and range, and what it is called in a sentence.

    ``real_command`` is the command that reviews such a change with real models.
    """

    repo: Path
    revisions: str
    change: Change
    words: str
    real_command: str


@contextmanager
def demonstration(repo: Path, revisions: str | None) -> Iterator[Demonstration]:
    """A range of ``repo``, or the sample repository where no range is named; that lies in a temporary folder.

    Raises ``SourceError`` for a range that cannot be opened.
    """
    if revisions is not None:
        where = "" if repo == Path() else f" --repo {shlex.quote(str(repo))}"
        command = f"review-advisor review{where} --range {shlex.quote(revisions)}"
        yield Demonstration(repo, revisions, _change(repo, revisions), revisions, command)
        return
    with temporary_folder("sample") as folder:
        made = make_sample(folder)
        words = "a small sample change, which has a fault in each of three files"
        command = "review-advisor review, in your repository"
        yield Demonstration(folder, made, _change(folder, made), words, command)


def _change(repo: Path, revisions: str) -> Change:
    source = open_range(repo, revisions)
    try:
        return source.change()
    finally:
        source.close()
