"""What is read of a repository is bounded, and what is missing beside the change stands in nobody's way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.adapters.command_line import APPROVE, project, script, scripted_review
from tests.adapters.git.counting import counting
from tests.adapters.git_repository import Repo

from review_advisor.change.change import SourceError
from review_advisor.change.git import DEFAULT_BOUNDS, TreeBounds
from review_advisor.change.sources import GitSource, open_range
from review_advisor.review.events import Event
from review_advisor.review.rulings import Outcome
from review_advisor.safety.children import make_folder, remove_folder


def blob(repo: Repo, content: bytes = b"x = 1\n") -> str:
    return repo.git("hash-object", "-w", "--stdin", stdin=content).decode().strip()


def tree(repo: Repo, entries: Iterator[tuple[str, str, str]] | list[tuple[str, str, str]]) -> str:
    """A tree of names, each with its kind and its content's name."""
    modes = {"blob": "100644", "tree": "040000"}
    lines = "".join(f"{modes[kind]} {kind} {content}\t{name}\n" for name, kind, content in entries)
    return repo.git("mktree", "--missing", stdin=lines.encode()).decode().strip()


def from_empty_to(repo: Repo, top: str) -> GitSource:
    """A change that brings the whole tree."""
    empty = tree(repo, [])
    old = repo.git("commit-tree", empty, "-m", "empty").decode().strip()
    new = repo.git("commit-tree", top, "-p", old, "-m", "all of it").decode().strip()
    return open_range(repo.path, f"{old}..{new}")


def folders_in_folders(repo: Repo, depth: int) -> str:
    path = "d/" * depth + "f"
    story = "blob\nmark :1\ndata 6\nx = 1\n\ncommit refs/heads/deep\ncommitter a <a@b> 1 +0000\ndata 1\nd\n"
    repo.git("fast-import", "--quiet", stdin=f"{story}M 100644 :1 {path}\n\n".encode())
    return repo.rev("deep^{tree}")


def bomb(repo: Repo, levels: int) -> str:
    """Ten folders that hold the same ten folders, and so on: of a few hundred bytes, ten to the power of ``levels``."""
    top = tree(repo, [("f", "blob", blob(repo))])
    for _ in range(levels):
        top = tree(repo, [(f"d{n}", "tree", top) for n in range(10)])
    return top


def one_blob_under_many_names(repo: Repo, names: int) -> str:
    return tree(
        repo, [(f"f{n:05}", "blob", content) for content in [blob(repo, b"x" * 1_000_000)] for n in range(names)]
    )


HOSTILE: dict[str, tuple[Callable[[Repo], str], TreeBounds, str]] = {
    "folders in folders": (
        lambda repo: folders_in_folders(repo, 1_000),
        DEFAULT_BOUNDS,
        r"holds more than 100 folders one inside the other: it is not read\. `tree\.depth`",
    ),
    "a bomb of folders": (
        lambda repo: bomb(repo, 12),
        TreeBounds(paths=1_000),
        r"holds more than 1,000 files and folders: it is not read\. `tree\.paths`",
    ),
    "one blob under many names": (
        lambda repo: one_blob_under_many_names(repo, 5_000),
        DEFAULT_BOUNDS,
        r"holds more than 4,000,000,000 bytes: it is not read\. `tree\.bytes`",
    ),
    "a change of many lines": (
        lambda repo: tree(repo, [("f", "blob", blob(repo, b"x = 1\n" * 10_000))]),
        TreeBounds(diff_bytes=50_000),
        r"The text of the change is larger than 50,000 bytes: it is not read\. `tree\.diff_bytes`",
    ),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("attack", HOSTILE)
def test_what_is_larger_than_a_bound_is_not_read(attack: str, repo: Repo, scratch: Path) -> None:
    """Nothing of it is left on disk either."""
    make, bounds, said = HOSTILE[attack]
    source = from_empty_to(repo, make(repo)).within(bounds)
    with pytest.raises(SourceError, match=said):
        source.change()
    if attack != "a change of many lines":
        with pytest.raises(SourceError, match=said), source.head_tree():
            pass
    source.close()
    assert list(scratch.iterdir()) == []


def test_the_base_is_held_to_the_limits_as_well(repo: Repo) -> None:
    large = repo.git("commit-tree", bomb(repo, 3), "-m", "large").decode().strip()
    small = repo.git("commit-tree", tree(repo, [("f", "blob", blob(repo))]), "-p", large, "-m", "s").decode().strip()
    source = open_range(repo.path, f"{large}..{small}").within(TreeBounds(paths=1_000))
    with pytest.raises(SourceError, match="holds more than 1,000 files and folders"):
        source.change()


@pytest.mark.every_case
def test_a_deep_tree_within_the_bounds_is_written_out_and_removed(repo: Repo, tmp_path: Path) -> None:
    source = from_empty_to(repo, folders_in_folders(repo, 1_000)).within(TreeBounds(depth=1_000))
    assert source.change().files[0].path == "d/" * 1_000 + "f"
    with source.head_tree() as folder:
        assert Path(folder, *["d"] * 1_000, "f").read_text() == "x = 1\n"
    assert not folder.exists()


@pytest.mark.every_case
def test_what_an_executor_leaves_behind_is_removed_however_deep(tmp_path: Path) -> None:
    deep = place = make_folder("tree", tmp_path)
    for _ in range(1_500):
        deep = deep / "d"
        deep.mkdir()
    (deep / "f").write_text("x")
    remove_folder(place)
    assert not place.exists()


@pytest.mark.every_case
def test_git_is_started_as_often_for_many_files_as_for_one(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = counting(tmp_path, monkeypatch)
    counts = []
    for names in (1, 3_000):
        content = blob(repo)
        source = from_empty_to(repo, tree(repo, [(f"f{n:05}", "blob", content) for n in range(names)]))
        before = len(started.read_text().splitlines())
        with source.head_tree() as folder:
            assert sum(1 for _ in folder.iterdir()) == names
        counts.append(len(started.read_text().splitlines()) - before)
        source.close()
    assert counts == [2, 2]


# --- what is missing --------------------------------------------------------------------------------------------------


def without(repo: Repo, name: str) -> None:
    """The clone lacks the content of a file at HEAD."""
    found = repo.rev(f"HEAD:{name}")
    (repo.path / ".git" / "objects" / found[:2] / found[2:]).unlink()


def test_a_file_that_is_missing_beside_the_change_is_named_and_the_review_goes_on(tmp_path: Path) -> None:
    repo = project(tmp_path / "project", "x = 1\n", "x = 2\n")
    repo.write("other.py", "y = 1\n")
    repo.commit()
    repo.write("app.py", "x = 3\n")
    repo.commit()
    without(repo, "other.py")
    events: list[Event] = []
    document = scripted_review(repo.path, script(tmp_path), events.append).document
    assert document.outcome is Outcome.APPROVED
    assert document.cut == ("files beside the change whose content is not in the clone: other.py",)
    source = open_range(repo.path, "HEAD~1..HEAD")
    assert source.head_text("other.py") is None
    with source.head_tree() as folder:
        assert "is not in the clone" in (folder / "other.py").read_text()
        assert (folder / "app.py").read_text() == "x = 3\n"


def test_of_many_missing_files_the_first_are_named_and_the_others_counted(repo: Repo) -> None:
    for n in range(30):
        repo.write(f"f{n:02}", f"{n}\n")
    repo.commit()
    repo.write("app.py", "x = 1\n")
    repo.commit()
    for n in range(30):
        without(repo, f"f{n:02}")
    change = open_range(repo.path, "HEAD~1..HEAD").change()
    assert (change.missing[0], len(change.missing), change.missing_files) == ("f00", 20, 30)


def test_a_file_of_the_change_that_is_missing_is_a_refusal(tmp_path: Path) -> None:
    repo = project(tmp_path / "project", "x = 1\n", "x = 2\n")
    without(repo, "app.py")
    asked: list[Event] = []
    with pytest.raises(SourceError, match=r"^The content of 'app\.py', a file of the change, is not in the repository"):
        scripted_review(repo.path, script(tmp_path, ReviewReport=[APPROVE]), asked.append)
    assert asked == []


@pytest.mark.parametrize("name", ["pyproject.toml", ".review-advisor.toml"])
def test_a_configuration_that_cannot_be_read_is_never_taken_for_none(name: str, repo: Repo) -> None:
    repo.write(name, "[tool.review-advisor]\n" if name == "pyproject.toml" else "")
    repo.commit()
    repo.write("app.py", "x = 1\n")
    repo.commit()
    without(repo, name)
    source = open_range(repo.path, "HEAD~1..HEAD")
    assert source.change().config_in_pyproject is (name == "pyproject.toml")
    with pytest.raises(SourceError, match=f"The content of {name} is not in the repository"):
        source.base_file(name)


def test_the_limits_are_the_bases_and_nobody_is_asked_past_them(tmp_path: Path) -> None:
    repo = project(tmp_path / "project", "x = 1\n", "x = 2\n")
    repo.write(".review-advisor.toml", "[tree]\npaths = 2\n")
    repo.commit()
    repo.write("app.py", "x = 3\n")
    repo.write("more.py", "x = 3\n")
    repo.write(".review-advisor.toml", "[tree]\npaths = 200\n")
    repo.commit()
    asked: list[Event] = []
    with pytest.raises(SourceError, match=r"holds more than 2 files and folders"):
        scripted_review(repo.path, script(tmp_path), asked.append)
    assert asked == []


def test_the_base_may_allow_more_than_the_usual_limits(tmp_path: Path) -> None:
    repo = project(tmp_path / "project", "x = 1\n", "x = 2\n")
    repo.write(".review-advisor.toml", "[tree]\ndepth = 200\n")
    repo.write("d/" * 150 + "f", "")
    repo.commit()
    repo.write("app.py", "x = 3\n")
    repo.commit()
    assert scripted_review(repo.path, script(tmp_path)).document.outcome is Outcome.APPROVED


def test_within_the_same_limits_nothing_is_read_again(tmp_path: Path) -> None:
    source = open_range(project(tmp_path / "project").path, "HEAD~1..HEAD")
    change = source.change()
    assert source.within(DEFAULT_BOUNDS).change() is change
    assert source.within(TreeBounds(depth=9)).change() is not change
