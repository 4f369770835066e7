"""The dashboard's first page has tables of repositories, teams and author groups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.adapters.command_line import Terminal
from tests.adapters.dashboard.written_dashboard import WrittenDashboard
from tests.adapters.ledgers import record, retold, told

ORGANISATION = """
[teams]
trade = ["acme/shop"]

[author-groups]
staff = ["mona", "hubot", "octocat"]
newcomers = ["zoe"]
"""


def groups(terminal: Terminal, *words: str | Path) -> dict[str, Any]:
    done = terminal.run("ui", "--ledger", "ledger.sqlite3", "--out", "site", *words)
    assert done.code == 0, done.err
    found = WrittenDashboard(terminal.folder / "site").overview["groups"]
    return {each["by"]: each for each in found}


def reviewed(terminal: Terminal, *made: tuple[str, str]) -> None:
    for number, (repository, author) in enumerate(made, start=1):
        review = told(number=number, repository=repository, pull_request=number)
        record(terminal.folder / "ledger.sqlite3", retold(review, author=author))


def test_one_repository_is_not_compared_with_itself(terminal: Terminal) -> None:
    reviewed(terminal, ("acme/shop", "mona"), ("ACME/shop", "mona"))
    assert groups(terminal) == {}


def test_several_repositories_have_a_table(terminal: Terminal) -> None:
    reviewed(terminal, ("acme/shop", "mona"), ("acme/<b>lab", "mona"), ("acme/shop", "mona"))
    found = groups(terminal)
    assert list(found) == ["repository"]
    assert [(row["name"], row["team"], row["cells"][0]) for row in found["repository"]["rows"]] == [
        ("acme/shop", "", "2"),
        ("acme/<b>lab", "", "1"),
    ]


def test_teams_and_author_groups_have_one_each_and_nobody_is_alone_in_a_row(terminal: Terminal) -> None:
    reviewed(
        terminal,
        ("acme/shop", "mona"),
        ("acme/lab", "hubot"),
        ("acme/shop", "octocat"),
        ("acme/lab", "eve"),
        ("acme/lab", "ada"),
        ("acme/lab", "zoe"),
    )
    (terminal.folder / "organisation.toml").write_text(ORGANISATION)
    found = groups(terminal, "--organisation", "organisation.toml")
    assert list(found) == ["repository", "team", "author-group"]
    assert {row["name"]: row["team"] for row in found["repository"]["rows"]} == {
        "acme/shop": "trade",
        "acme/lab": "others",
    }
    assert {row["name"]: row["cells"][0] for row in found["team"]["rows"]} == {"trade": "2", "others": "4"}
    assert {row["name"]: row["cells"][0] for row in found["author-group"]["rows"]} == {
        "staff": "3",
        "others": "not shown",
        "newcomers": "not shown",
    }
    assert found["author-group"]["least"] == 3


def test_a_file_that_cannot_be_read_is_named(terminal: Terminal) -> None:
    reviewed(terminal, ("acme/shop", "mona"))
    done = terminal.run("ui", "--ledger", "ledger.sqlite3", "--organisation", "none.toml")
    assert (done.code, done.sentence) == (2, "The organisation none.toml cannot be read: No such file or directory.")
