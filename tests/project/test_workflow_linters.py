"""zizmor and GitHub's own schema on every workflow that this project ships or writes; actionlint: ``make e2e``."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.project.workflow_files import ACTION_FILE, ROOT, every_workflow

BIN = Path(sys.executable).parent
RULES = ROOT / ".github" / "zizmor.yml"
EVERY = {**every_workflow(), "action.yml": ACTION_FILE.read_text(encoding="utf-8")}


def complaints(name: str, text: str, folder: Path) -> str:
    """What the two linters say of a workflow or of the action; nothing if both are content."""
    action = name == ACTION_FILE.name
    file = folder / name if action else folder / ".github" / "workflows" / f"{Path(name).stem}.yml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    schema = "vendor.github-actions" if action else "vendor.github-workflows"
    commands = (
        (BIN / "zizmor", "--offline", "--config", RULES, "--no-progress", "--quiet", file),
        (BIN / "check-jsonschema", "--builtin-schema", schema, file),
    )
    done = [subprocess.run(command, capture_output=True, text=True, check=False) for command in commands]
    return "".join(each.stdout + each.stderr for each in done if each.returncode)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", EVERY)
def test_the_linters_find_nothing(name: str, tmp_path: Path) -> None:
    assert complaints(name, EVERY[name], tmp_path) == ""


@pytest.mark.every_case
@pytest.mark.parametrize(
    "before,after,said",
    [
        (" # zizmor: ignore[dangerous-triggers]", " #", "dangerous-triggers"),
        ("uses: actions/checkout@", "uses: actions/checkout@main # ", "unpinned-uses"),
        ("- uses: some-owner/", "- run: echo ${{ github.head_ref }}\n      - uses: some-owner/", "template-injection"),
        ("timeout-minutes: 15", "timeout-minutes: soon", "timeout-minutes"),
        ("runs-on: ubuntu-24.04", "run-on: ubuntu-24.04", "run-on"),
    ],
)
def test_a_workflow_that_is_not_sound_is_noticed(before: str, after: str, said: str, tmp_path: Path) -> None:
    text = EVERY["written by init"]
    assert before in text
    assert said in complaints("written by init", text.replace(before, after), tmp_path)
