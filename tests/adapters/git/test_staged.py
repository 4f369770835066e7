"""HEAD against the index."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.adapters.git_repository import Repo

from review_advisor.change.change import SourceError, Spec, Status
from review_advisor.change.sources import About, open_staged


def test_the_index_counts_and_the_work_tree_does_not(repo: Repo) -> None:
    repo.write("a", "one\n")
    base = repo.commit()
    repo.write("a", "two\n")
    repo.write("docs/s.md", "new spec\n")
    repo.git("add", ".")
    repo.write("a", "three\n")
    repo.write("untracked", "secret\n")
    repo.write("planned", "later\n")
    repo.git("add", "--intent-to-add", "planned")
    source = open_staged(repo.path, About(body="spec: docs/s.md"))
    change = source.change()
    assert (change.title, change.author, change.base_sha, change.head_sha) == ("staged changes", "", base, None)
    assert [f.path for f in change.files] == ["a", "docs/s.md"]
    assert change.files[0].hunks[0].lines == ("-one", "+two")
    assert change.label.startswith("staged-")
    assert change.spec == Spec("docs/s.md at the index", "new spec\n")
    with source.head_tree() as tree:
        assert sorted(p.name for p in tree.iterdir()) == ["a", "docs"]
        assert (tree / "a").read_text() == "two\n"


def test_what_was_opened_is_what_is_exported(repo: Repo) -> None:
    repo.write("a", "reviewed\n")
    repo.git("add", ".")
    source = open_staged(repo.path)
    repo.write("a", "swapped afterwards\n")
    repo.git("add", ".")
    assert source.change().files[0].hunks[0].lines == ("+reviewed",)
    with source.head_tree() as tree:
        assert (tree / "a").read_text() == "reviewed\n"


SEES_THE_COMMIT = """\
#!{python}
from pathlib import Path
from review_advisor.change.sources import open_staged
Path({seen!r}).write_text("".join(f.path + chr(10) for f in open_staged(Path()).change().files))
"""


@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    "words, committed",
    [(["--all"], ["a", "b", "staged"]), (["a"], ["a"]), (["--include", "a"], ["a", "staged"]), ([], ["staged"])],
    ids=["of everything", "of one file", "of one more file", "of what is staged"],
)
@pytest.mark.parametrize("where", ["in the work tree", "in a linked work tree", "below its top"])
def test_a_hook_sees_what_its_commit_will_hold(
    repo: Repo, tmp_path: Path, words: list[str], committed: list[str], where: str
) -> None:
    for name in ("a", "b", "sub/staged"):
        repo.write(name, "one\n")
    repo.commit()
    at, top = repo, repo.path
    if where == "in a linked work tree":
        top = tmp_path / "linked"
        repo.git("worktree", "add", "-q", str(top))
    hook, seen = repo.path / ".git/hooks/pre-commit", tmp_path / "seen"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(SEES_THE_COMMIT.format(python=sys.executable, seen=str(seen)))
    hook.chmod(0o755)
    for name in ("a", "b", "sub/staged"):
        (top / name).write_text("two\n")
    at.git("-C", str(top), "add", "sub/staged")
    below = where == "below its top"
    files = [f"../{each}" if below and not each.startswith("-") else each for each in words]
    at.git("-C", str(top / "sub" if below else top), "commit", "-qm", "more", *files)
    assert [Path(each).name for each in seen.read_text().splitlines()] == committed
    told = at.git("-C", str(top), "show", "--name-only", "--format=").decode().split()
    assert [Path(each).name for each in told] == committed


def test_the_index_of_another_repository_is_refused(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Repo(tmp_path / "other")
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.path / ".git/index"))
    with pytest.raises(SourceError, match="which is no index of this repository: unset it"):
        open_staged(repo.path)
    monkeypatch.setenv("GIT_INDEX_FILE", "")
    assert open_staged(repo.path).change().files == ()


def test_before_the_first_commit(repo: Repo) -> None:
    assert open_staged(repo.path).change().files == ()
    repo.write("a")
    repo.git("add", ".")
    source = open_staged(repo.path)
    assert [(f.path, f.status) for f in source.change().files] == [("a", Status.ADDED)]
    assert source.base_sha == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    assert source.base_file("a") is None


def test_an_unresolved_merge_is_refused(repo: Repo) -> None:
    repo.commit()
    blob = repo.git("hash-object", "-w", "--stdin", stdin=b"x").decode().strip()
    stages = "".join(f"100644 {blob} {n}\tconflict\n" for n in (1, 2, 3))
    repo.git("update-index", "--index-info", stdin=stages.encode())
    with pytest.raises(SourceError, match="unresolved conflicts"):
        open_staged(repo.path)


@pytest.mark.parametrize("version", ["2", "4"])
def test_split_and_packed_indexes(repo: Repo, version: str) -> None:
    for n in range(50):
        repo.write(f"f{n}")
    repo.commit()
    repo.git("update-index", "--index-version", version)
    repo.git("update-index", "--split-index")
    repo.write("f7", "other\n")
    repo.git("add", ".")
    assert [f.path for f in open_staged(repo.path).change().files] == ["f7"]


def test_sparse_indexes(repo: Repo) -> None:
    repo.write("in/a")
    repo.write("out/b")
    repo.commit()
    repo.git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
    repo.write("in/a", "other\n")
    repo.git("add", "in")
    source = open_staged(repo.path)
    assert [f.path for f in source.change().files] == ["in/a"]
    with source.head_tree() as tree:
        assert (tree / "out" / "b").read_text() == "text\n"


def test_linked_worktrees_have_their_own_index(repo: Repo, tmp_path: Path) -> None:
    repo.commit()
    linked = tmp_path / "linked"
    repo.git("worktree", "add", "--quiet", "--detach", str(linked))
    (linked / "only-here").write_text("x\n")
    repo.git("-C", str(linked), "add", ".")
    assert [f.path for f in open_staged(linked).change().files] == ["only-here"]
    assert open_staged(repo.path).change().files == ()


def test_a_damaged_index_is_one_sentence(repo: Repo) -> None:
    repo.commit()
    (repo.path / ".git/index").write_bytes(b"DIRC garbage")
    with pytest.raises(SourceError, match=r"^git .*\.$"):
        open_staged(repo.path)
