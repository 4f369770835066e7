"""Installing from a git reference, as ``pipx install`` and ``uv tool install`` do: into an environment of its own."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from review_advisor import __version__

ROOT = Path(__file__).parents[2]


@pytest.mark.timeout(600)  # it installs the product and its libraries
def test_the_installed_program_reviews_the_sample(tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True, capture_output=True)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    head = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    wanted = [f"git+{ROOT.as_uri()}@{head.stdout.strip()}", *extras["embedded"]]
    install = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", *wanted]
    done = subprocess.run(install, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

    bot = environment / "bin" / "review-advisor"
    said = subprocess.run([bot, "--version"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert said.stdout == f"review-advisor, version {__version__}\n"
    shown = subprocess.run([bot, "demo"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (shown.returncode, shown.stdout.splitlines()[0]) == (0, "CHANGES REQUESTED"), shown.stderr
    assert len(list(tmp_path.glob("review_logs/*/github.html"))) == 1
