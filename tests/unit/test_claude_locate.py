"""Finding the CLI."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from review_advisor.agents.calls import CliError
from review_advisor.agents.claude import PINNED_VERSION, check_version, locate, search_path


def fake(folder: Path, says: str = f"{PINNED_VERSION} (Claude Code)", code: int = 0) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "claude"
    path.write_text(f"#!/bin/sh\necho '{says}'\nexit {code}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("version,tested", [("2.1.329", True), ("2.1.330", False), ("2.2.0", False), ("10.0.0", False)])
def test_the_pinned_version_and_newer_ones_are_taken(version: str, tested: bool) -> None:
    found = check_version(Path("/c"), f"{version} (Claude Code)\n")
    assert (found.version, found.tested) == (version, tested)


@pytest.mark.parametrize("printed", ["2.1.197 (Claude Code)", "1.9.999 (Claude Code)", "2.1.329", "v9", ""])
def test_an_older_version_or_another_program_is_a_problem_that_says_how_to_install(printed: str) -> None:
    with pytest.raises(CliError, match="npm install --global @anthropic-ai/claude-code"):
        check_version(Path("/c"), printed)


def test_claude_is_found_on_path_by_absolute_path(tmp_path: Path) -> None:
    path = fake(tmp_path / "bin")
    assert locate("", {"PATH": f".:{path.parent}"}, None).path == path


def test_a_relative_path_entry_finds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tmp_path / "checkout")
    monkeypatch.chdir(tmp_path / "checkout")
    with pytest.raises(CliError, match="no claude on PATH"):
        locate("", {"PATH": ".::checkout"}, None)


def test_a_binary_inside_the_repository_under_review_is_refused(tmp_path: Path) -> None:
    inside = fake(tmp_path / "repository" / "bin")
    link = tmp_path / "bin" / "claude"
    link.parent.mkdir()
    link.symlink_to(inside)
    for explicit, path in ((str(inside), ""), ("", str(inside.parent)), (str(link), "")):
        with pytest.raises(CliError, match="must not choose what reviews it"):
            locate(explicit, {"PATH": path}, tmp_path / "repository")


def test_a_binary_that_is_missing_or_broken_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(CliError, match="no claude binary"):
        locate(str(tmp_path / "none"), {}, None)
    with pytest.raises(CliError, match="exit code 3"):
        locate(str(fake(tmp_path / "bin", code=3)), {}, None)
    broken = tmp_path / "claude"
    broken.write_bytes(b"\x7fELF nonsense")
    broken.chmod(0o755)
    with pytest.raises(CliError, match="does not run"):
        locate(str(broken), {}, None)


def test_what_claude_starts_is_not_looked_for_in_the_checkout(tmp_path: Path) -> None:
    """The CLI runs the first git on its PATH: a change may bring one."""
    checkout, outside = tmp_path / "checkout", tmp_path / "outside"
    for folder in (checkout / "node_modules" / ".bin", outside):
        folder.mkdir(parents=True)
    (tmp_path / "link").symlink_to(checkout)
    inside = (checkout, checkout / "node_modules/.bin", tmp_path / "link/node_modules", outside / "../checkout")
    path = os.pathsep.join([*map(str, inside), ".", "", "bin", str(outside), "/usr/bin"])
    assert search_path(path, checkout) == f"{outside}:/usr/bin"
