"""``review`` with a surface in shadow that the configuration leaves out: records, and pictures."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.adapters.cli.test_pictures_and_wiki import png
from tests.adapters.command_line import CREDENTIAL, LAST_COMMIT, Terminal
from tests.adapters.git_repository import Repo
from tests.adapters.scripted_models import Models
from tests.adapters.shadows.test_a_shadow_at_the_command_line import questions, rows
from tests.scenarios.test_adr_review import SOUND

from review_advisor.mockworld.agents import approve, reject


@pytest.fixture
def models(tmp_path: Path) -> Models:
    return Models(tmp_path / "models")


def reviewed(terminal: Terminal, models: Models, surface: str, paths: str) -> int:
    """The exit code of a review of the last commit with this surface in shadow."""
    table = (
        f'[[shadow]]\nid = "tried"\npercent = 100\npart = "surface"\nsurfaces = ["{surface}"]\npaths = ["{paths}"]\n'
    )
    (terminal.folder / "shadow.toml").write_text(table)
    words = ("review", "--claude-bin", models.path, "--config", terminal.folder / "shadow.toml", *LAST_COMMIT)
    done = terminal.run(*words, env=CREDENTIAL)
    assert "Traceback" not in done.err
    return done.code


def test_records_are_reviewed_where_the_shadow_looks(terminal: Terminal, models: Models) -> None:
    repo = Repo(terminal.folder)
    repo.write("rfcs/0007-keep-values.md", SOUND)
    repo.commit("Decide something")
    models.executor_says(approve(), reject())
    assert reviewed(terminal, models, "adr_review", "rfcs/") == 0
    assert questions(models)[:1] == ["ReviewReport"]
    assert rows(terminal)[0][:3] == ("tried", "finished", "would_veto")
    assert not list(terminal.folder.glob("review_logs/**/preflight.adr_review.json"))


@pytest.mark.every_case
def test_pictures_are_compared_where_the_shadow_looks(terminal: Terminal, models: Models) -> None:
    repo = Repo(terminal.folder)
    repo.write("shots/page.png", png("white"))
    repo.commit("Show the page")
    repo.write("shots/page.png", png("black"))
    repo.commit("Paint it")
    before = len(models.asked)
    assert reviewed(terminal, models, "visual_gate", "*.png") in (0, 10, 11)
    assert len(models.asked) > before
    assert rows(terminal)[0][:3] == ("tried", "finished", "agreed")
    assert "these pictures" in models.asked[-1].prompt
