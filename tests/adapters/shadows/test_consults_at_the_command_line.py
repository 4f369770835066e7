"""``review`` with an advisor on consults in shadow: it is put the packet that the real advisor was put."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.adapters.command_line import CREDENTIAL, LAST_COMMIT, Terminal
from tests.adapters.scripted_models import Models
from tests.adapters.shadows.test_a_shadow_at_the_command_line import questions, rows

from review_advisor.mockworld.agents import approve

CONFIG = (
    '[escalation]\nprofile = "attrition"\n[[shadow]]\nid = "other"\npercent = 100\npart = "consulted"\nmodel = "x"\n'
)


@pytest.fixture
def models(tmp_path: Path) -> Models:
    return Models(tmp_path / "models")


def test_the_same_packet_is_answered_again_after_the_outcome(terminal: Terminal, models: Models) -> None:
    (terminal.folder / "shadow.toml").write_text(CONFIG)
    models.executor_says(approve().sure(0.5), approve(summary="now I am sure").applying("r1"))
    words = ("review", "--claude-bin", models.path, "--config", terminal.folder / "shadow.toml", *LAST_COMMIT)
    done = terminal.run(*words, env=CREDENTIAL)
    assert done.code == 0, done.err
    asked = ["ReviewReport", "Recommendation", "ReviewReport", "PostVerifyResult", "Recommendation"]
    assert questions(models) == asked
    assert models.asked[1].prompt == models.asked[4].prompt
    assert rows(terminal) == [("other", "finished", "agreed", 1)]
    text = terminal.run("rollup", "--shadow").out
    assert "other (consulted; model x)" in text
    assert "would have called a person" in text
    assert "would have advised otherwise" in text
