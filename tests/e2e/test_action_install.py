"""The action's own way to install the product and the CLI, on a machine that has neither."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.project.workflow_files import Runner, action_step

from review_advisor import __version__
from review_advisor.agents.claude import PINNED_VERSION


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    made = Runner(tmp_path)
    made.prepare()
    return made


@pytest.mark.timeout(600)  # it installs the product and its libraries
def test_the_product_runs_and_a_hostile_workspace_changes_nothing(runner: Runner) -> None:
    (runner.workspace / "review_advisor").mkdir()
    for name in ("review_advisor/__init__.py", "json.py", "sitecustomize.py"):
        (runner.workspace / name).write_text("raise SystemExit('the workspace was imported')\n")
    (runner.workspace / "pip.conf").write_text("[global]\nno-index = true\n")

    done = runner.run(action_step("Install review-advisor, checked by hash"), {})
    assert (done.returncode, done.stderr) == (0, "")

    python = runner.temporary / "review-advisor" / "venv" / "bin" / "python"
    command = [str(python), "-I", "-m", "review_advisor", "--version"]
    said = subprocess.run(command, cwd=runner.workspace, capture_output=True, text=True, check=False)
    assert (said.stdout, said.stderr) == (f"review-advisor, version {__version__}\n", "")


def test_the_pinned_cli_is_where_the_review_looks_for_it(runner: Runner) -> None:
    (runner.workspace / "package.json").write_text('{"dependencies": {"left-pad": "1.3.0"}}')
    (runner.workspace / ".npmrc").write_text("ignore-scripts=false\noffline=true\n")

    done = runner.run(action_step("Install the pinned claude CLI, checked by hash"), {})
    assert done.returncode == 0, done.stderr

    found = list(
        (runner.temporary / "review-advisor" / "cli").glob("node_modules/@anthropic-ai/claude-code-linux-*/claude")
    )
    assert len(found) == 1
    said = subprocess.run([found[0], "--version"], capture_output=True, text=True, check=False)
    assert said.stdout.startswith(f"{PINNED_VERSION} ")
