"""``review-advisor ledger collect``: what is typed, and what comes of many repositories."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.organisation.workflows import BANK, SHOP, Fleet, fleet


@pytest.fixture
def octo(terminal: Terminal, tmp_path: Path) -> Iterator[Fleet]:
    """Two repositories of one organisation."""
    with fleet(terminal, tmp_path / "fleet", SHOP, BANK) as made:
        yield made


def test_the_ledgers_of_many_repositories_become_one(octo: Fleet) -> None:
    octo.reviews(SHOP)
    octo.reviews(BANK)
    octo.reviews(SHOP)
    done = octo.collect(SHOP, BANK)
    assert done.out == (
        "repository  ledgers  runs  state\n"
        "octo/shop   2        2     whole\n"
        "octo/bank   1        1     whole\n"
        "3 runs added from 2 repositories; none with something missing\n"
    )
    assert (done.code, done.err) == (0, "")
    assert sorted(octo.held()) == [BANK, SHOP, SHOP]
    verified = octo.terminal.run("ledger", "verify", "--ledger", octo.whole)
    assert verified.code == 0, verified.out
