"""Repositories that are made once for all tests of a process."""

from __future__ import annotations

from pathlib import Path

from tests.adapters.git_repository import made_once


def test_what_another_test_has_beside_a_prepared_repository_is_not_copied(tmp_path: Path) -> None:
    def make(folder: Path) -> None:
        (folder / "prepared").write_text("the same for all\n")

    first, second = tmp_path / "first", tmp_path / "second"
    (first / "temporary").mkdir(parents=True)
    made_once(first, make)
    made_once(second, make)
    assert [path.name for path in second.iterdir()] == ["prepared"]
    assert (second / "prepared").read_text() == "the same for all\n"
