"""``review-advisor rollup --by``: a line for each repository, team or author group."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.command_line import Done, Terminal
from tests.adapters.ledgers import five, record, retold, told

from review_advisor.ledger.queries import Period
from review_advisor.ledger.sums import GroupedBy, add_up, add_up_groups, count_authors

ORGANISATION = """
[teams]
trade = ["acme/shop", "ACME/store"]

[author-groups]
staff = ["mona", "hubot", "Octocat"]
newcomers = ["eve"]

[renamed]
"acme/old" = "acme/shop"
"""
MADE_BY = (("acme/shop", "mona"), ("Acme/Shop", "MONA"), ("acme/old", "hubot"), ("acme/store", "octocat"))
OTHERS = (("acme/lab", "eve"), ("acme/lab", "stranger"), ("acme/lab", "guest"), ("acme/lab", ""))
SINCE = ("--since", "2026-01-01")


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """Reviews of four repositories, one of which has two names."""
    file = tmp_path / "ledger.sqlite3"
    for number, (repository, author) in enumerate((*MADE_BY, *OTHERS), start=1):
        record(file, retold(told(number=number, repository=repository, pull_request=number), author=author))
    return file


@pytest.fixture
def organisation(tmp_path: Path) -> Path:
    """The file that says who is in which."""
    file = tmp_path / "organisation.toml"
    file.write_text(ORGANISATION)
    return file


def rolled(terminal: Terminal, ledger: Path, *words: str | Path) -> Done:
    return terminal.run("rollup", *SINCE, "--ledger", ledger, *words)


def runs_by_group(done: Done) -> dict[str, int | None]:
    told: dict[str, Any] = json.loads(done.out)
    return {each["name"]: each["rollup"] and each["rollup"]["sums"]["runs"] for each in told["groups"]}


def test_each_repository_has_a_line_whatever_its_spelling(terminal: Terminal, ledger: Path) -> None:
    done = rolled(terminal, ledger, "--by", "repository")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].split() == [
        *("repository", "runs", "cost"),
        *("self_repair", "validated", "degraded_share", "missed_escalations", "acted_on"),
    ]
    assert [line.split()[:2] for line in lines[1:]] == [
        ["acme/lab", "4"],
        ["acme/shop", "2"],
        ["acme/old", "1"],
        ["acme/store", "1"],
    ]


def test_a_repository_that_was_renamed_is_one(terminal: Terminal, ledger: Path, organisation: Path) -> None:
    done = rolled(terminal, ledger, "--by", "repository", "--organisation", organisation, "--json")
    assert runs_by_group(done) == {"acme/lab": 4, "acme/shop": 3, "acme/store": 1}


def test_what_is_in_no_team_is_with_the_others(terminal: Terminal, ledger: Path, organisation: Path) -> None:
    done = rolled(terminal, ledger, "--by", "team", "--organisation", organisation, "--json")
    assert runs_by_group(done) == {"trade": 4, "others": 4}


def test_a_group_of_too_few_authors_tells_nothing_of_them(terminal: Terminal, ledger: Path, organisation: Path) -> None:
    asked = ("--by", "author-group", "--organisation", organisation)
    assert runs_by_group(rolled(terminal, ledger, *asked, "--json")) == {
        "staff": 4,
        "author not recorded": 1,
        "newcomers": None,
        "others": None,
    }
    done = rolled(terminal, ledger, *asked)
    assert "newcomers            not shown" in done.out
    assert done.out.endswith("2 groups not shown: nothing is told of fewer than 3 authors in a period\n")
    organisation.write_text("smallest-group = 1\n" + ORGANISATION)
    assert runs_by_group(rolled(terminal, ledger, *asked, "--json"))["newcomers"] == 1


def test_the_whole_minus_what_is_shown_tells_of_no_two_people(
    terminal: Terminal, tmp_path: Path, organisation: Path
) -> None:
    file = tmp_path / "ledger.sqlite3"
    for number, author in enumerate(("mona", "hubot", "octocat", "eve", "stranger"), start=1):
        record(file, retold(told(number=number, repository="acme/shop", pull_request=number), author=author))
    asked = ("--by", "author-group", "--organisation", organisation)
    assert runs_by_group(rolled(terminal, file, *asked, "--json")) == {"newcomers": None, "others": None, "staff": None}
    assert rolled(terminal, file, *asked).out.endswith(
        "3 groups not shown: nothing is told of fewer than 3 authors in a period\n"
    )


def test_an_app_and_another_spelling_are_no_further_people(
    terminal: Terminal, tmp_path: Path, organisation: Path
) -> None:
    organisation.write_text(
        '[author-groups]\nstaff = ["mona", "hubot", "octocat"]\nnewcomers = ["eve", "a[bot]", "b[bot]"]\n'
    )
    file = tmp_path / "ledger.sqlite3"
    made_by = ("mona", "hubot", "octocat", "eve", "Eve", "EVE", "a[bot]", "b[bot]", "x", "y", "z", "w")
    for number, author in enumerate(made_by, start=1):
        record(file, retold(told(number=number, repository="acme/shop", pull_request=number), author=author))
    asked = ("--by", "author-group", "--organisation", organisation, "--json")
    assert runs_by_group(rolled(terminal, file, *asked)) == {"others": 4, "newcomers": None, "staff": None}


def test_the_sums_of_all_groups_are_those_of_the_whole(tmp_path: Path) -> None:
    file = tmp_path / "five.sqlite3"
    record(file, *five())
    whole = add_up(file, Period())
    columns: tuple[GroupedBy, ...] = ("repository", "author")
    for column in columns:
        assert add_up_groups(file, Period(), column, lambda _: "all") == {"all": whole}
    assert count_authors(file, Period(), lambda _: "all") == {"all": 1}


def test_nobody_in_a_period_is_no_group(terminal: Terminal, ledger: Path) -> None:
    asked = ("--until", "2026-01-02", "--by", "repository")
    assert json.loads(rolled(terminal, ledger, *asked, "--json").out) == {"by": "repository", "groups": []}
    assert rolled(terminal, ledger, *asked).out == "No run falls in this period.\n"


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "words, why",
    [
        (("--by", "team"), "needs a file that says who is in which"),
        (("--by", "author-group"), "needs a file that says who is in which"),
        (("--by", "repository", "--advice"), "--by tells KPIs only"),
        (("--by", "author"), "is not one of 'repository', 'team', 'author-group'"),
    ],
)
def test_what_is_missing_or_not_told_is_said(
    terminal: Terminal, ledger: Path, words: tuple[str, ...], why: str
) -> None:
    done = rolled(terminal, ledger, *words)
    assert (done.code, why in done.err) == (2, True)
