"""Installing from a git reference, by the line that ``docs/terminal.md`` gives."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from review_advisor import __version__

ROOT = Path(__file__).parents[2]
PLACE = "git+https://github.com/OWNER/review-advisor@COMMIT"


@pytest.fixture(params=["pipx", "uv tool"])
def installer(request: pytest.FixtureRequest) -> list[str]:
    """The command of the pinned installer, which is not installed with everything else."""
    home = Path(os.environ["REVIEW_ADVISOR_E2E_INSTALLERS"])
    return {"pipx": [sys.executable, "-m", "pipx"], "uv tool": [str(home / "bin" / "uv"), "tool"]}[request.param]


def documented() -> tuple[str, list[str]]:
    """What the page installs, and the commands that it names for it."""
    page = (ROOT / "docs/terminal.md").read_text(encoding="utf-8")
    line = re.search(r'^(pipx) install "(.+)" +# or: (uv tool) install$', page, re.MULTILINE)
    assert line, "the page gives no line to install the bot with"
    return line[2], [line[1], line[3]]


def test_the_page_names_both_installers() -> None:
    wanted, commands = documented()
    assert PLACE in wanted
    assert commands == ["pipx", "uv tool"]


@pytest.mark.timeout(600)  # it installs the product and its libraries
def test_the_program_that_the_page_installs_reviews_the_sample(installer: list[str], tmp_path: Path) -> None:
    head = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    wanted = documented()[0].replace(PLACE, f"git+{ROOT.as_uri()}@{head.stdout.strip()}")
    home = Path(os.environ["REVIEW_ADVISOR_E2E_INSTALLERS"])
    programs = tmp_path / "bin"
    variables = {
        **os.environ,
        "PATH": f"{programs}:{home / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(home),
        "PIPX_DEFAULT_BACKEND": "pip",  # without it pipx takes uv, which the other row runs
        "PIPX_HOME": str(tmp_path / "pipx"),
        "PIPX_BIN_DIR": str(programs),
        "UV_TOOL_DIR": str(tmp_path / "uv"),
        "UV_TOOL_BIN_DIR": str(programs),
    }
    done = subprocess.run(
        [*installer, "install", wanted], env=variables, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr

    del variables["PYTHONPATH"]
    bot = programs / "review-advisor"
    said = subprocess.run([bot, "--version"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert said.stdout == f"review-advisor, version {__version__}\n"
    shown = subprocess.run([bot, "demo"], env=variables, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (shown.returncode, shown.stdout.splitlines()[0]) == (0, "CHANGES REQUESTED"), shown.stderr
    assert len(list(tmp_path.glob("review_logs/*/github.html"))) == 1
