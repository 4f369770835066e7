"""The dashboard's folder: whose files it leaves alone, who may read what it writes, and that it is always whole."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.dashboard.written_dashboard import files
from tests.adapters.ledgers import nothing, record, told

from review_advisor.ledger.dashboard import MARKER, SiteError, literal, script, writing


@pytest.fixture
def kept(terminal: Terminal) -> None:
    """The ledger that the command looks at without being told: two reviews."""
    record(terminal.folder / "review_logs" / "ledger" / "ledger.sqlite3", told(nothing), told(nothing, 2))


def written(folder: Path) -> Path:
    """A whole dashboard, of nothing."""
    with writing(folder) as site:
        site.finish({})
    return folder


def begin(folder: Path) -> None:
    """A writing that comes to nothing."""
    with writing(folder):
        pass


def refused(terminal: Terminal, *words: str | Path) -> str:
    done = terminal.run("ui", *words)
    assert done.code == 2, done.err
    return done.sentence


# --- whose files ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("kept")
def test_a_folder_of_somebody_else_is_left_alone(terminal: Terminal) -> None:
    theirs = terminal.folder / "theirs"
    theirs.mkdir()
    (theirs / "index.html").write_text("theirs")
    assert refused(terminal, "--out", "theirs").startswith(
        f"The folder theirs holds something else than a dashboard ({MARKER} is not there)"
    )
    assert files(theirs) == {"index.html": b"theirs"}
    (terminal.folder / "link").symlink_to(theirs)
    assert refused(terminal, "--out", "link") == (
        "link is a symbolic link; a dashboard is only written to real files and folders."
    )
    assert "cannot be written to app.py" in refused(terminal, "--out", "app.py")
    (terminal.folder / "empty").mkdir()
    assert terminal.run("ui", "--out", "empty").code == 0


@pytest.mark.parametrize("name", ["notes.txt", "index.html"])
def test_nothing_is_begun_among_the_files_of_somebody_else(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(SiteError, match="holds something else than a dashboard"):
        begin(tmp_path)
    assert files(tmp_path) == {name: b"mine"}


@pytest.mark.usefixtures("kept")
def test_links_within_the_folder_lead_nowhere(terminal: Terminal, tmp_path: Path) -> None:
    terminal.run("ui", "--out", "site")
    outside = tmp_path / "outside"
    (terminal.folder / "site" / "data").rename(outside)
    (terminal.folder / "site" / "data").symlink_to(outside)
    before = files(outside)
    assert "site/data is a symbolic link" in refused(terminal, "--out", "site")
    assert files(outside) == before


THEIRS = (
    *(".DS_Store", "Thumbs.db", "notes.txt", "old.js", "data/notes.txt", "data/lists/old/1.js", "data/runs/mine.js"),
    *(
        "data/list-1.json",
        f"data/runs/{'0' * 20}.txt",
        f"data/lists/{'0' * 20}.js",
        f"data/{'0' * 32}.js",
        "lists/1.js",
    ),
)
"""What others may leave in a folder of ours: some looks like ours, and is not."""


def test_what_is_not_ours_in_a_folder_of_ours_is_left_as_it_is(tmp_path: Path) -> None:
    folder = written(tmp_path / "site")
    for name in THEIRS:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("mine")
    (folder / "link").symlink_to(tmp_path / "nowhere")
    before = files(folder)
    assert files(written(folder)) == before
    assert (folder / "link").is_symlink()


@pytest.mark.parametrize(
    "name",
    [
        *("words.js", "index.html", MARKER, ".gitignore", "data/overview.js"),
        *(f"data/runs/{'0' * 32}.js", f"data/lists/{'0' * 32}.js"),
        f"data/.review-advisor-{'0' * 16}",
    ],
)
@pytest.mark.parametrize("is_link", [True, False])
def test_a_link_or_a_folder_in_the_place_of_a_file_of_ours_is_refused(tmp_path: Path, name: str, is_link: bool) -> None:
    folder = written(tmp_path / "site")
    (tmp_path / "theirs").write_text("mine")
    (folder / name).unlink(missing_ok=True)
    if is_link:
        (folder / name).symlink_to(tmp_path / "theirs")
    else:
        (folder / name).mkdir()
    before = files(folder)
    with pytest.raises(SiteError) as refusal:
        begin(folder)
    what = "is a symbolic link; a dashboard is only written to real files and folders."
    if not is_link:
        what = f"holds something else than a dashboard ({MARKER} is not there)"
        what = (
            what if name == MARKER else "is no plain file, as it is in a dashboard: remove it, or name another place."
        )
    assert what in str(refusal.value)
    assert files(folder) == before
    assert (tmp_path / "theirs").read_text() == "mine"


def test_a_file_in_the_place_of_a_folder_of_ours_is_refused(tmp_path: Path) -> None:
    folder = written(tmp_path / "site")
    (folder / "data" / "runs").rmdir()
    (folder / "data" / "runs").write_text("mine")
    with pytest.raises(SiteError) as refusal:
        begin(folder)
    assert str(refusal.value) == (
        f"{folder / 'data' / 'runs'} is no folder, as it is in a dashboard: remove it, or name another place."
    )
    assert (folder / "data" / "runs").read_text() == "mine"


@pytest.mark.usefixtures("kept")
def test_what_git_ignores_is_the_users_choice_once_they_have_made_it(terminal: Terminal) -> None:
    terminal.run("ui", "--out", "site")
    (terminal.folder / "site" / ".gitignore").write_text("!*\n")
    assert terminal.run("ui", "--out", "site").code == 0
    assert (terminal.folder / "site" / ".gitignore").read_text() == "!*\n"


@pytest.mark.every_case
@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_files_are_readable_by_whom_the_users_umask_says(terminal: Terminal, umask: int) -> None:
    assert terminal.process("ui", "--out", "site", before=lambda: _umask(umask)).code == 0
    modes = {path.is_dir(): path.stat().st_mode & 0o777 for path in (terminal.folder / "site").rglob("*")}
    assert modes == {True: 0o777 & ~umask, False: 0o666 & ~umask}


def _umask(umask: int) -> None:
    os.umask(umask)


def test_an_earlier_dashboard_is_whole_until_the_later_one_is(tmp_path: Path) -> None:
    """Whenever the writing ends: an open page finds what its overview names, as it was."""
    folder = tmp_path / "site"
    with writing(folder) as site:
        site.finish({"lists": [site.write("lists", ["old"])], "file": site.write("runs", "old")})
    before = files(folder)
    with writing(folder) as later:
        assert files(folder) == before
        new = later.write("lists", ["new"]), later.write("runs", "new")
        assert {name: content for name, content in files(folder).items() if name in before} == before
        later.finish({"lists": [new[0]], "file": new[1]})
    assert {name for name in files(folder) if name.startswith("data/")} == {
        "data/overview.js",
        f"data/lists/{new[0]}.js",
        f"data/runs/{new[1]}.js",
    }


# --- one writer at a time ---------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("kept")
def test_one_dashboard_is_written_at_a_time_and_the_second_writer_changes_nothing(terminal: Terminal) -> None:
    """As where cron and a person write the same one: each would remove what the other has just written."""
    folder = terminal.folder / "site"
    with writing(folder) as site:
        digest = site.write("runs", {"a": 1})
        before = files(folder)
        assert refused(terminal, "--out", "site") == (
            "The dashboard in site is being written by another command: try again when it has ended."
        )
        assert files(folder) == before
        (folder / "data" / "list-1.js").mkdir()
        assert refused(terminal, "--out", "site").startswith("The dashboard in site is being written"), (
            "it is half done"
        )
        (folder / "data" / "list-1.js").rmdir()
        site.finish({"runs": [digest]})
        assert f"data/runs/{digest}.js" in files(folder)
        assert refused(terminal, "--out", "site").startswith("The dashboard in site is being written"), "to the end"
    assert terminal.run("ui", "--out", "site").code == 0


def test_who_writes_holds_every_other_writer_back(tmp_path: Path) -> None:
    with writing(tmp_path / "site"), pytest.raises(SiteError, match="is being written"), writing(tmp_path / "site"):
        raise AssertionError("there were two")


def test_a_writing_that_came_to_nothing_holds_nobody_back(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="lost"), writing(tmp_path / "site"):
        raise RuntimeError("lost")
    assert files(tmp_path / "site").keys() == {MARKER, ".gitignore"}
    written(tmp_path / "site")


def test_the_marker_is_the_same_file_for_every_writer(tmp_path: Path) -> None:
    """The lock is on the file and not on its name: one that is replaced locks nobody out."""
    marker = written(tmp_path / "site") / MARKER
    said, first = marker.read_text(), marker.stat().st_ino
    for other in ("half a sen", 2 * said, ""):
        marker.write_text(other)
        written(tmp_path / "site")
        assert (marker.read_text(), marker.stat().st_ino) == (said, first)


# --- its files --------------------------------------------------------------------------------------------------------


def test_a_file_is_called_by_its_content_and_nothing_of_it_stands_in_the_name(tmp_path: Path) -> None:
    with writing(tmp_path / "site") as site:
        names = [site.write("runs", {"run_id": run_id}) for run_id in ("../../evil", "", "a", "a")]
    assert all(re.fullmatch("[0-9a-f]{32}", name) for name in names)
    assert len(set(names)) == 3
    assert names[2] == names[3]


def test_a_file_that_cannot_be_written_is_one_sentence_and_leaves_no_half_of_it(tmp_path: Path) -> None:
    with writing(tmp_path / "site") as site:
        digest = site.write("lists", {})
        (tmp_path / "site" / "data" / "lists" / f"{digest}.js").unlink()
        (tmp_path / "site" / "data" / "lists" / f"{digest}.js").mkdir()
        before = files(tmp_path / "site")
        with pytest.raises(SiteError, match=r"cannot be written to .*Is a directory"):
            site.write("lists", {})
    assert files(tmp_path / "site") == before


def test_a_value_is_one_call_with_one_literal() -> None:
    hostile = {"a": '</script>\u2028\u2029");alert(1)//', "b": "\ud800", "c": [1.5, None]}
    made = script("overview", literal(hostile))
    assert made.count("\n") == 1
    assert made.startswith(r'dashboard.receive("overview",{"a":"\u003c/script>\u2028\u2029\");alert(1)//",')
    assert json.loads(made.removeprefix('dashboard.receive("overview",').removesuffix(");\n")) == hostile
    with pytest.raises(ValueError, match="not JSON compliant"):
        literal(float("nan"))
