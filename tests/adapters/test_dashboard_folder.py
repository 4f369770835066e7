"""The dashboard's folder: whose files it leaves alone, who may read what it writes, and that it is always whole."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.ledgers import nothing, record, told
from tests.adapters.written_dashboard import files

from review_advisor.adapters.dashboard.site import MARKER, Site, SiteError, literal, script


@pytest.fixture
def kept(terminal: Terminal) -> None:
    """The ledger that the command looks at without being told: two reviews."""
    record(terminal.folder / "review_logs" / "ledger" / "ledger.sqlite3", told(nothing), told(nothing, 2))


def written(folder: Path) -> Path:
    """A whole dashboard, of nothing."""
    site = Site(folder)
    site.begin()
    site.finish({})
    return folder


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
        "link is a symbolic link; a dashboard is only written to a real folder."
    )
    assert "cannot be written to app.py" in refused(terminal, "--out", "app.py")
    (terminal.folder / "empty").mkdir()
    assert terminal.run("ui", "--out", "empty").code == 0


@pytest.mark.parametrize("name", ["notes.txt", "index.html"])
def test_nothing_is_begun_among_the_files_of_somebody_else(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(SiteError, match="holds something else than a dashboard"):
        Site(tmp_path).begin()
    assert files(tmp_path) == {name: b"mine"}


@pytest.mark.usefixtures("kept")
def test_links_within_the_folder_lead_nowhere(terminal: Terminal, tmp_path: Path) -> None:
    terminal.run("ui", "--out", "site")
    outside = tmp_path / "outside"
    (terminal.folder / "site" / "data").rename(outside)
    (terminal.folder / "site" / "data").symlink_to(outside)
    before = files(outside)
    assert "data is a symbolic link" in refused(terminal, "--out", "site")
    assert files(outside) == before


@pytest.mark.parametrize(
    "name", ["notes.txt", "data/notes.txt", "data/runs/mine.js", "data/lists/old", "words.js/mine"]
)
def test_what_is_not_ours_in_a_folder_of_ours_is_left_alone(tmp_path: Path, name: str) -> None:
    folder = written(tmp_path / "site")
    if name.startswith("words.js/"):
        (folder / "words.js").unlink()
    theirs = folder / name
    theirs.parent.mkdir(exist_ok=True)
    theirs.write_text("mine")
    before = files(folder)
    with pytest.raises(SiteError) as refusal:
        Site(folder).begin()
    assert str(refusal.value) == (
        f"The folder {folder} holds {name.removesuffix('/mine')!r}, which is no part of a dashboard: name another one,"
        " or an empty one."
    )
    assert files(folder) == before


def test_a_link_in_the_place_of_a_file_is_not_ours(tmp_path: Path) -> None:
    file = written(tmp_path / "site") / "words.js"
    file.rename(tmp_path / "theirs.js")
    file.symlink_to(tmp_path / "theirs.js")
    with pytest.raises(SiteError, match=r"holds 'words\.js', which is no part of a dashboard"):
        Site(tmp_path / "site").begin()
    assert file.is_symlink()


@pytest.mark.usefixtures("kept")
def test_what_git_ignores_is_the_users_choice_once_they_have_made_it(terminal: Terminal) -> None:
    terminal.run("ui", "--out", "site")
    (terminal.folder / "site" / ".gitignore").write_text("!*\n")
    assert terminal.run("ui", "--out", "site").code == 0
    assert (terminal.folder / "site" / ".gitignore").read_text() == "!*\n"


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_files_are_readable_by_whom_the_users_umask_says(terminal: Terminal, umask: int) -> None:
    assert terminal.run("ui", "--out", "site", before=lambda: _umask(umask)).code == 0
    modes = {path.is_dir(): path.stat().st_mode & 0o777 for path in (terminal.folder / "site").rglob("*")}
    assert modes == {True: 0o777 & ~umask, False: 0o666 & ~umask}


def _umask(umask: int) -> None:
    os.umask(umask)


def test_an_earlier_dashboard_is_whole_until_the_later_one_is(tmp_path: Path) -> None:
    """Whenever the writing ends: an open page finds what its overview names, as it was."""
    folder = tmp_path / "site"
    site = Site(folder)
    site.begin()
    site.finish({"lists": [site.write("lists", ["old"])], "file": site.write("runs", "old")})
    before = files(folder)
    later = Site(folder)
    later.begin()
    assert files(folder) == before
    new = later.write("lists", ["new"]), later.write("runs", "new")
    assert {name: content for name, content in files(folder).items() if name in before} == before
    later.finish({"lists": [new[0]], "file": new[1]})
    assert {name for name in files(folder) if name.startswith("data/")} == {
        "data/overview.js",
        f"data/lists/{new[0]}.js",
        f"data/runs/{new[1]}.js",
    }


def test_a_file_is_called_by_its_content_and_nothing_of_it_stands_in_the_name(tmp_path: Path) -> None:
    site = Site(tmp_path / "site")
    site.begin()
    names = [site.write("runs", {"run_id": run_id}) for run_id in ("../../evil", "", "a", "a")]
    assert all(re.fullmatch("[0-9a-f]{32}", name) for name in names)
    assert len(set(names)) == 3
    assert names[2] == names[3]


def test_a_file_that_cannot_be_written_is_one_sentence_and_leaves_no_half_of_it(tmp_path: Path) -> None:
    site = Site(tmp_path / "site")
    site.begin()
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
