"""The dashboard's first page has a table of repositories."""

from __future__ import annotations

from typing import Any

from tests.adapters.command_line import Terminal
from tests.adapters.dashboard.written_dashboard import WrittenDashboard
from tests.adapters.ledgers import record, told


def rows(terminal: Terminal, *repositories: str) -> list[Any]:
    for number, repository in enumerate(repositories, start=1):
        record(terminal.folder / "ledger.sqlite3", told(number=number, repository=repository, pull_request=number))
    done = terminal.run("ui", "--ledger", "ledger.sqlite3", "--out", "site")
    assert done.code == 0, done.err
    found: list[Any] = WrittenDashboard(terminal.folder / "site").overview["repositories"]["rows"]
    return [(row["name"], row["cells"][0]) for row in found]


def test_one_repository_is_not_compared_with_itself(terminal: Terminal) -> None:
    assert rows(terminal, "acme/shop", "ACME/shop") == []


def test_several_repositories_have_a_table(terminal: Terminal) -> None:
    expected = [("acme/shop", "2"), ("acme/<b>lab", "1")]
    assert rows(terminal, "acme/shop", "acme/<b>lab", "acme/shop") == expected
