"""What the tests of the command line share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.adapters.command_line import Terminal, project
from tests.adapters.git_repository import Repo
from tests.adapters.pull_request_world import Actions, acting


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """An empty repository."""
    return Repo(tmp_path / "repo")


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """A shell in a small repository of two commits."""
    repo = project(tmp_path / "project")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    return Terminal(repo.path, temporary)


@pytest.fixture
def actions(tmp_path: Path) -> Iterator[Actions]:
    """GitHub, git and a runner, for a story; all of them end with it."""
    with acting(tmp_path) as made:
        yield made


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files: nobody else's lie there."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder
