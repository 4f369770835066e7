"""A file that a user names: what is none is refused in a sentence, and never waited for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.adapters.command_line import LAST_COMMIT, Terminal
from tests.adapters.git_repository import Repo

from review_advisor.app.ci import read_document
from review_advisor.safety.files import UserFileError, read_user_file


def refusal(path: Path, most: int = 10) -> str:
    with pytest.raises(UserFileError) as told:
        read_user_file(path, most)
    return str(told.value)


def test_a_file_is_read_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"0123456789")
    (tmp_path / "link").symlink_to(file)
    assert read_user_file(file, 10) == read_user_file(tmp_path / "link", 10) == b"0123456789"
    assert refusal(file, 9) == "it is larger than 9 bytes"


def test_a_pipe_a_device_and_a_folder_are_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    assert (refusal(tmp_path / "pipe"), refusal(tmp_path / "zero")) == ("it is no file", "it is no file")
    assert refusal(tmp_path) == "Is a directory"
    assert refusal(tmp_path / "missing") == "No such file or directory"
    assert refusal(Path("a\0b")) != ""


def test_what_a_shell_pipes_in_is_read_to_its_end() -> None:
    reading, writing = os.pipe()
    try:
        os.write(writing, b"said")
        os.close(writing)
        assert read_user_file(Path(f"/dev/fd/{reading}"), 10) == b"said"
    finally:
        os.close(reading)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "words",
    [
        ("review", *LAST_COMMIT, "--config", "pipe"),
        ("review", *LAST_COMMIT, "--body-file", "pipe"),
        ("review", *LAST_COMMIT, "--spec", "pipe"),
        ("review", *LAST_COMMIT, "--with-sarif", "pipe"),
        ("review", "--patch", "pipe"),
        ("run", "Do it", "--executor", "other", "--adapter", "pipe"),
        ("council", "--brief", "pipe", "--advisors", "a.json"),
        ("council", "--brief", "b.json", "--advisors", "pipe.json"),
        ("rollup", "--ledger", "ledger.sqlite3", "--prices", "pipe"),
        ("simulate", "pipe"),
        ("ledger", "import", "pipe"),
    ],
    ids=" ".join,
)
def test_no_command_waits_for_a_pipe_in_the_place_of_a_file(terminal: Terminal, words: Sequence[str]) -> None:
    repo = Repo(terminal.folder)
    for text in ("1", "2"):
        repo.write("app.py", f"value = {text}\n")
        repo.commit(text)
    repo.write("b.json", '{"subject": "Go?", "actions": ["go", "stay"]}')
    os.mkfifo(terminal.folder / "pipe")
    os.mkfifo(terminal.folder / "pipe.json")
    first, *others = words
    done = terminal.run(first, *others, *(("--claude-bin", terminal.agreeing) if first == "review" else ()))
    assert (done.code, "it is no file" in done.sentence) == (2, True), done.sentence


def test_an_outcome_that_is_a_pipe_is_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "outcome.json")
    told = read_document(tmp_path / "outcome.json", {})
    assert told == "There is no outcome to publish: it is no file. The run's log says why."


@pytest.mark.parametrize("place", ["advisors/a.md", "lenses.toml", "prices.toml"])
def test_a_pipe_among_the_declared_files_is_a_mistake_with_its_name(terminal: Terminal, place: str) -> None:
    repo = Repo(terminal.folder)
    repo.write(".review-advisor/advisors/z.json", "[]")
    os.mkfifo(terminal.folder / ".review-advisor" / place)
    checked = terminal.run("config", "check")
    assert checked.code == 2
    assert f".review-advisor/{place}: it is no regular file" in checked.sentence
    row = next(line for line in terminal.run("doctor").out.splitlines() if f".review-advisor/{place}" in line)
    assert "it is no regular file" in row


def test_a_pipe_in_the_place_of_a_file_of_init_is_left_alone(terminal: Terminal) -> None:
    Repo(terminal.folder)
    os.mkfifo(terminal.folder / "AGENTS.md")
    os.mkfifo(terminal.folder / "pyproject.toml")
    done = terminal.run("init", "--agent", "claude-code")
    assert "it is no file" in done.out + done.err
