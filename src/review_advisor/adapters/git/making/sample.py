"""A small repository for the demo: two commits, the second with a fault in each of three files. Made anew each time."""

from __future__ import annotations

from pathlib import Path

from review_advisor.adapters.git.run import Git, find_git, identity

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
