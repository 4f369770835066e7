"""A small repository for demonstrations: two commits, the second with a risk in it. Made anew each time."""

from __future__ import annotations

from pathlib import Path

from review_advisor.adapters.git.run import Git, find_git

_BEFORE = '''"""Reports for the accounts team."""


def total(rows):
    """Add up the amounts."""
    return sum(row["amount"] for row in rows)
'''
_AFTER = '''"""Reports for the accounts team."""


def total(rows):
    """Add up the amounts."""
    return sum(row["amount"] for row in rows)


def average(rows):
    """The mean amount."""
    return total(rows) / len(rows)


def largest(rows, count=3):
    """The largest amounts, in order."""
    amounts = sorted(row["amount"] for row in rows)
    return amounts[-count:]


def by_month(rows):
    """The total of each month."""
    months = {}
    for row in rows:
        months.setdefault(row["month"], []).append(row)
    return {month: total(found) for month, found in months.items()}
'''
_DELIVERY = '''"""Delivery of reports."""

import subprocess


def deliver(name):
    """Copy one report to the archive."""
    return subprocess.call("cp " + name + " /srv/archive", shell=True)
'''
_COMMITS: tuple[tuple[str, dict[str, str]], ...] = (
    ("Add up the accounts", {"reports.py": _BEFORE}),
    ("Deliver reports, and show the largest amounts", {"reports.py": _AFTER, "delivery.py": _DELIVERY}),
)
_WHEN = {"GIT_AUTHOR_DATE": "2026-01-05T09:00:00Z", "GIT_COMMITTER_DATE": "2026-01-05T09:00:00Z"}
_WHO = {
    "GIT_AUTHOR_NAME": "Sample",
    "GIT_AUTHOR_EMAIL": "sample@example.invalid",
    "GIT_COMMITTER_NAME": "Sample",
    "GIT_COMMITTER_EMAIL": "sample@example.invalid",
}


def make_sample(folder: Path) -> str:
    """Make the repository in an empty ``folder`` and return the range to review."""
    git = Git(find_git(folder), folder, environment={**_WHO, **_WHEN})
    git.run("init", "--quiet", "--initial-branch=main")
    for subject, texts in _COMMITS:
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
            git.run("add", name)
        git.run("commit", "--quiet", f"--message={subject}")
    return "HEAD~1..HEAD"
