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

import subprocess


def total(rows):
    """Add up the amounts."""
    return sum(row["amount"] for row in rows)


def average(rows):
    """The mean amount."""
    return total(rows) / len(rows)


def archive(name):
    """Keep a copy of a report."""
    command = "tar czf archive.tgz " + name
    return subprocess.call(command, shell=True)


def largest(rows, seen=[]):
    """The largest amounts so far."""
    seen.extend(row["amount"] for row in rows)
    return sorted(seen)[-3:]
'''
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
    for text, subject in ((_BEFORE, "Add up the accounts"), (_AFTER, "Archive reports, and show the largest amounts")):
        (folder / "reports.py").write_text(text, encoding="utf-8")
        git.run("add", "reports.py")
        git.run("commit", "--quiet", f"--message={subject}")
    return "HEAD~1..HEAD"
