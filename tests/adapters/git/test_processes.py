"""How many git processes a review needs: each costs more time than what most of them are asked."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.adapters.command_line import project, script, scripted_review
from tests.adapters.git.counting import counting
from tests.adapters.git_repository import Repo

from review_advisor.change.change import SourceError
from review_advisor.change.git import open_repository
from review_advisor.change.git_store import ObjectStore
from review_advisor.change.sources import open_range


def asked(started: Path) -> Counter[str]:
    """How often each of git's commands was started."""
    return Counter(
        line.partition("log.showSignature=false ")[2].split()[0] for line in started.read_text().splitlines()
    )


def test_the_facts_of_one_commit_need_twelve_processes_of_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = Repo(tmp_path / "repo")
    for text in ("x = 1\n", "x = 1\ny = 2\n"):
        repo.write("app.py", text)
        repo.commit()
    started = counting(tmp_path, monkeypatch)
    source = open_range(repo.path, "HEAD~1..HEAD")
    try:
        for name in (".review-advisor.toml", "pyproject.toml"):
            assert source.base_file(name) is None
        assert [file.path for file in source.change().files] == ["app.py"]
    finally:
        source.close()
    assert asked(started) == {"rev-parse": 4, "ls-tree": 4, "diff-tree": 2, "grep": 1, "log": 1}


def test_a_tree_that_is_missing_is_refused_beside_one_that_is_there(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    repo.write("app.py", "x = 1\n")
    repo.commit()
    store = ObjectStore(open_repository(repo.path))
    with pytest.raises(SourceError, match="partial or damaged clone"):
        store.trees(repo.rev("HEAD"), "1" * 40)
    store.close()


def test_a_review_reads_the_facts_of_its_change_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = project(tmp_path / "project", "x = 1\n", "x = 2\n")
    started = counting(tmp_path, monkeypatch)
    scripted_review(repo.path, script(tmp_path))
    words = asked(started)
    assert (words["diff-tree"], words["grep"], words["log"]) == (2, 1, 1)
