"""The ledger that most of these tests begin with."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.adapters.ledgers import five, record


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The five stories, which no test changes."""
    path = tmp_path_factory.mktemp("whole") / "ledger.sqlite3"
    record(path, *five())
    return path


@pytest.fixture
def ledger(whole: Path, tmp_path: Path) -> Path:
    """A test's own copy of them."""
    path = tmp_path / "ledger.sqlite3"
    path.write_bytes(whole.read_bytes())
    return path
