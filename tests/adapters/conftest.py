"""What the tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.adapters.command_line import Terminal, project


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """A shell in a small repository of two commits."""
    repo = project(tmp_path / "project")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    return Terminal(repo.path, temporary)
