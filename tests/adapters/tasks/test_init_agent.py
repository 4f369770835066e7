"""``init --agent claude-code``: a skill and a marked block, written into the repository and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.adapters.command_line import Terminal

from review_advisor.tasks.run_files import AGENTS_FILE, BLOCK, END, SKILL, SKILL_FILE, START

COMMAND = ("init", "--agent", "claude-code")


def snapshot(folder: Path) -> dict[str, bytes]:
    files = (file for file in folder.rglob("*") if file.is_file() and ".git" not in file.relative_to(folder).parts)
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def test_the_skill_and_the_block_are_written_and_say_when_to_ask(terminal: Terminal) -> None:
    done = terminal.run(*COMMAND)
    assert (done.code, [line.split()[0] for line in done.out.splitlines()]) == (0, ["wrote", "wrote"])
    for name in (SKILL_FILE, AGENTS_FILE):
        text = (terminal.folder / name).read_text(encoding="utf-8")
        assert "critical" in text
        assert "two tool calls in a row have failed" in text
        assert "below 0.7" in text
    assert "runs/<run id>/" in (terminal.folder / AGENTS_FILE).read_text(encoding="utf-8")
    assert not (terminal.folder / ".review-advisor.toml").exists()


def test_a_second_time_changes_nothing_and_an_old_block_is_written_anew(terminal: Terminal) -> None:
    agents = terminal.folder / AGENTS_FILE
    agents.write_text(f"# Ours\n\n{START}\nold\n{END}\n\nAlso ours.\n")
    terminal.run(*COMMAND)
    assert agents.read_text(encoding="utf-8") == f"# Ours\n\n{BLOCK.rstrip()}\n\nAlso ours.\n"
    before = snapshot(terminal.folder)
    done = terminal.run(*COMMAND)
    assert (done.code, done.out.count("it is up to date")) == (0, 2)
    assert snapshot(terminal.folder) == before


def test_files_with_windows_line_ends_keep_them(terminal: Terminal) -> None:
    terminal.run(*COMMAND)
    agents, skill = terminal.folder / AGENTS_FILE, terminal.folder / SKILL_FILE
    for file, old in ((agents, f"# Ours\n\n{START}\nold\n{END}\n"), (skill, SKILL)):
        file.write_bytes(old.replace("\n", "\r\n").encode())
    done = terminal.run(*COMMAND)
    assert [line.split()[0] for line in done.out.splitlines()] == ["left", "wrote"]
    assert agents.read_bytes() == f"# Ours\n\n{BLOCK}".replace("\n", "\r\n").encode()
    assert skill.read_bytes() == SKILL.replace("\n", "\r\n").encode()


def test_a_dry_run_writes_nothing(terminal: Terminal) -> None:
    before = snapshot(terminal.folder)
    assert "would write" in terminal.run(*COMMAND, "--dry-run").out
    assert snapshot(terminal.folder) == before


@pytest.mark.parametrize("case", ["marks", "skill", "text", "link", "folder"])
def test_what_is_in_the_way_of_one_file_keeps_both_as_they_are(terminal: Terminal, tmp_path: Path, case: str) -> None:
    """Broken marks are found before anything is written, and no link leads out of the repository."""
    outside = tmp_path / "outside"
    outside.mkdir()
    agents, skill = terminal.folder / AGENTS_FILE, terminal.folder / SKILL_FILE
    match case:
        case "marks":
            agents.write_text(f"{START}\nno end\n")
        case "skill":
            skill.parent.mkdir(parents=True)
            skill.write_text("---\nname: somebody else's\n---\n")
        case "text":
            agents.write_bytes(b"\xff\xfe")
        case "link":
            (outside / "AGENTS.md").write_text("theirs\n")
            agents.symlink_to(outside / "AGENTS.md")
        case "folder":
            (terminal.folder / ".claude").symlink_to(outside)
    before, around = snapshot(terminal.folder), snapshot(outside)
    done = terminal.run(*COMMAND)
    assert (done.code, "REFUSED" in done.out) == (2, True)
    assert (snapshot(terminal.folder), snapshot(outside)) == (before, around)


def test_the_workflows_commit_is_no_matter_of_an_agent(terminal: Terminal) -> None:
    assert terminal.run(*COMMAND, "--ref", f"a/b@{'0' * 40}").code == 2


def test_the_skill_is_one_that_claude_code_reads() -> None:
    assert SKILL.startswith("---\nname: review-advisor\ndescription: ")
