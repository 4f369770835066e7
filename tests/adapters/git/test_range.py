"""A range of commits: its facts, its words, and the ways to name it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.adapters.git_repository import Repo

from review_advisor.change.change import SUBMODULE_MODE, SYMLINK_MODE, Change, FileChange, SourceError, Spec, Status
from review_advisor.change.sources import About, open_base, open_range


def last(repo: Repo) -> Change:
    return open_range(repo.path, "HEAD~1..HEAD").change()


def only(repo: Repo) -> FileChange:
    (file,) = last(repo).files
    return file


def test_every_kind_of_change_with_its_counts(repo: Repo) -> None:
    lines = [f"line {n}\n" for n in range(20)]
    before: dict[str, str | bytes] = {
        "edited": "one\ntwo\n",
        "gone": "a\nb\nc\n",
        "copied": "same\n" * 9,
        "run.sh": "text\n",
        "old-name": "".join(lines),
        "src/orchestrator.py": "".join([*lines, "x\n"]),
        "a.png": b"\x89PNG\0one",
        "b.png": b"\0one",
        "to-link": b"\0\1\2",
    }
    for name, content in before.items():
        repo.write(name, content)
    repo.commit()
    for name in ("gone", "b.png", "to-link", "src/orchestrator.py"):
        (repo.path / name).unlink()
    (repo.path / "old-name").rename(repo.path / "new-name")
    (repo.path / "run.sh").chmod(0o755)
    (repo.path / "to-link").symlink_to("target")
    (repo.path / "link").symlink_to("/etc/passwd")
    after: dict[str, str | bytes] = {
        "edited": "one\n2\nthree\n",
        "new": "x\n",
        "empty": "",
        "copied": "same\n" * 10,
        "copy": "same\n" * 9,
        "docs/notes.py": "".join([*lines, "y\n"]),
        "a.png": b"\x89PNG\0two",
    }
    for name, content in after.items():
        repo.write(name, content)
    repo.commit()
    regular, none = "100644", "000000"
    files = last(repo).files
    assert {f.path: (f.status, f.old_path, f.old_mode, f.new_mode, f.added, f.removed) for f in files} == {
        "a.png": (Status.MODIFIED, None, regular, regular, 0, 0),
        "b.png": (Status.DELETED, None, regular, none, 0, 0),
        "copied": (Status.MODIFIED, None, regular, regular, 1, 0),
        "copy": (Status.ADDED, None, none, regular, 9, 0),
        "docs/notes.py": (Status.RENAMED, "src/orchestrator.py", regular, regular, 1, 1),
        "edited": (Status.MODIFIED, None, regular, regular, 2, 1),
        "empty": (Status.ADDED, None, none, regular, 0, 0),
        "gone": (Status.DELETED, None, regular, none, 0, 3),
        "link": (Status.ADDED, None, none, SYMLINK_MODE, 1, 0),
        "new": (Status.ADDED, None, none, regular, 1, 0),
        "new-name": (Status.RENAMED, "old-name", regular, regular, 0, 0),
        "run.sh": (Status.MODIFIED, None, regular, "100755", 0, 0),
        "to-link": (Status.TYPE_CHANGED, None, regular, SYMLINK_MODE, 1, 0),
    }
    assert [f.path for f in files if f.binary] == ["a.png", "b.png", "to-link"]
    without_lines = ["a.png", "b.png", "empty", "new-name", "run.sh"]
    assert [f.path for f in files if not f.hunks] == without_lines
    repo.commit("nothing")
    assert last(repo).files == ()


def test_hunks_keep_marks_line_numbers_and_the_section(repo: Repo) -> None:
    body = "def f():\n" + "".join(f"    {n}\n" for n in range(10))
    repo.write("a.py", body)
    repo.commit()
    repo.write("a.py", body.replace("    8\n", "    eight\n"))
    repo.commit()
    (hunk,) = only(repo).hunks
    assert (hunk.old_start, hunk.old_count, hunk.new_start, hunk.new_count, hunk.section) == (7, 5, 7, 5, "def f():")
    assert hunk.lines == ("     5", "     6", "     7", "-    8", "+    eight", "     9")


def test_a_file_that_becomes_a_link_counts_all_its_lines(repo: Repo) -> None:
    repo.write("a", "x\ny\nz\n")
    repo.write("b", "next\n")
    repo.commit()
    (repo.path / "a").unlink()
    (repo.path / "a").symlink_to("x\ny\nother")
    repo.write("b", "next\nmore\n")
    repo.commit()
    a, b = last(repo).files
    assert (a.status, a.old_mode, a.new_mode, a.is_symlink) == (Status.TYPE_CHANGED, "100644", SYMLINK_MODE, True)
    assert (a.added, a.removed, len(a.hunks)) == (3, 3, 2)
    assert (b.added, b.removed, b.hunks[0].lines) == (1, 0, (" next", "+more"))


def test_a_submodule_that_moves(repo: Repo) -> None:
    for name in ("1" * 40, "2" * 40):
        repo.git("update-index", "--add", "--cacheinfo", f"{SUBMODULE_MODE},{name},lib")
        repo.git("commit", "--quiet", "--message", "move lib")
    file = only(repo)
    assert (file.is_submodule, file.added, file.removed) == (True, 1, 1)
    assert file.hunks[0].lines == ("-Subproject commit " + "1" * 40, "+Subproject commit " + "2" * 40)


def test_lines_end_at_line_feeds_only(repo: Repo) -> None:
    repo.write("a", "")
    repo.commit()
    content = "crlf\r\nform\ffeed\nlone\rreturn\nsep\u2028arator\nnext\u0085line\n".encode() + b"latin \xe9\n\nlast"
    repo.write("a", content)
    repo.commit()
    file = only(repo)
    assert file.added == 8
    assert file.hunks[0].lines == (
        "+crlf\r",
        "+form\ffeed",
        "+lone\rreturn",
        "+sep\u2028arator",
        "+next\u0085line",
        "+latin \ufffd",
        "+",
        "+last",
        "\\ No newline at end of file",
    )


def test_content_that_looks_like_a_diff_fools_nobody(repo: Repo) -> None:
    fake = "-- a/real.py\n++ b/real.py\n@@ -1 +1 @@\ndiff --git a/other b/other\nrename to src/orchestrator.py\n"
    repo.write("a.patch", fake)
    repo.write("b", "b\n")
    repo.commit()
    repo.write("a.patch", fake.replace("-- a", "++ c").replace("++ b", "-- d"))
    repo.write("b", "b\nmore\n")
    repo.commit()
    a, b = last(repo).files
    assert (a.path, a.added, a.removed, a.old_path) == ("a.patch", 2, 2, None)
    assert [line for line in a.hunks[0].lines if line[0] in "+-"] == [
        "--- a/real.py",
        "-++ b/real.py",
        "+++ c/real.py",
        "+-- d/real.py",
    ]
    assert (b.path, b.added) == ("b", 1)


NAMES = [
    "tab\there",
    'quo"te',
    "new\nline",
    "back\\slash",
    "-x",
    "--help",
    "--output=x",
    ":(top)x",
    ":!y",
    "*.py",
    "b/a b/x.txt",
    " lead",
    "trail ",
    "grüße",
    "日本語",
    "\u2028",
    "a => b",
    "{a => b}",
]


@pytest.mark.one_in(12)
@pytest.mark.parametrize("name", NAMES)
def test_odd_names(repo: Repo, name: str) -> None:
    repo.write("plain", "plain\n")
    repo.write(name, "one\n" * 5)
    repo.commit()
    repo.write(name, "one\n" * 5 + "two\n")
    repo.commit()
    file = only(repo)
    assert (file.path, file.added, file.hunks[0].lines[-1]) == (name, 1, "+two")
    with open_range(repo.path, "HEAD~1..HEAD").head_tree() as tree:
        assert (tree / name).read_text() == "one\n" * 5 + "two\n"
    (repo.path / name).rename(repo.path / "moved")
    repo.commit()
    assert only(repo).paths == ("moved", name)
    assert open_range(repo.path, "HEAD~1..HEAD").base_file(name) == b"one\n" * 5 + b"two\n"


def test_names_that_are_not_utf8(repo: Repo) -> None:
    repo.commit()
    repo.write(b"caf\xe9/\xff.py", "x\n")
    repo.commit()
    assert only(repo).path == "caf\\xe9/\\xff.py"


def test_one_commit_gives_its_own_words(repo: Repo) -> None:
    base = repo.commit("start")
    repo.write("a")
    head = repo.commit("Add a\n\nBecause it was missing.\nReally.\n")
    change = last(repo)
    assert (change.title, change.body, change.author) == ("Add a", "Because it was missing.\nReally.", "Ada Lovelace")
    assert (change.base_sha, change.head_sha, change.label) == (base, head, f"range-{base[:12]}-{head[:12]}")
    assert (change.prior_fix_attempts, change.own_repository, change.spec) == (0, False, None)


def test_several_commits_give_all_messages_oldest_first(repo: Repo) -> None:
    repo.commit("start")
    repo.commit("first\n\nwhy")
    repo.commit("second")
    change = open_range(repo.path, "HEAD~2..HEAD").change()
    assert (change.title, change.body) == ("second", "first\n\nwhy\n\nsecond")


def test_two_dots_three_dots_and_base(repo: Repo) -> None:
    start = repo.commit("start")
    repo.git("checkout", "--quiet", "-b", "topic")
    repo.write("topic")
    topic = repo.commit("topic")
    repo.git("checkout", "--quiet", "main")
    repo.write("main", "on main\n")
    repo.commit("main")
    two = open_range(repo.path, "main..topic")
    assert {f.path: f.status for f in two.change().files} == {"main": Status.DELETED, "topic": Status.ADDED}
    three = open_range(repo.path, "main...topic")
    assert three.base_sha == start
    assert [f.path for f in three.change().files] == ["topic"]
    repo.git("checkout", "--quiet", "--detach", "topic")
    base = open_base(repo.path, "main").change()
    assert (base.base_sha, base.head_sha, [f.path for f in base.files]) == (start, topic, ["topic"])
    assert open_range(repo.path, "main..").change().head_sha == topic


def test_going_backwards_still_has_a_title(repo: Repo) -> None:
    repo.commit("start")
    repo.write("a")
    repo.commit("next")
    change = open_range(repo.path, "HEAD..HEAD~1").change()
    assert (change.title, change.body, [f.status for f in change.files]) == ("start", "", [Status.DELETED])


def test_merge_commits_and_several_merge_bases(repo: Repo) -> None:
    repo.commit("start")
    repo.git("checkout", "--quiet", "-b", "left")
    repo.write("l")
    left = repo.commit("left")
    repo.git("checkout", "--quiet", "-b", "right", "main")
    repo.write("r")
    right = repo.commit("right")
    repo.git("merge", "--quiet", "--no-edit", left)
    repo.git("checkout", "--quiet", "left")
    repo.git("merge", "--quiet", "--no-edit", right)
    source = open_range(repo.path, "right...left")
    assert source.base_sha == repo.git("merge-base", "right", "left").decode().strip()
    assert len(source.change().files) == 1
    assert [f.path for f in open_range(repo.path, "main..left").change().files] == ["l", "r"]


def test_the_empty_tree_as_base_shows_the_root_commit(repo: Repo) -> None:
    repo.write("a")
    repo.commit("root")
    empty = repo.git("hash-object", "-t", "tree", os.devnull).decode().strip()
    change = open_range(repo.path, f"{empty}..HEAD").change()
    assert (change.base_sha, change.title, [f.path for f in change.files]) == (empty, "root", ["a"])


def test_no_common_ancestor(repo: Repo) -> None:
    repo.commit("start")
    repo.git("checkout", "--quiet", "--orphan", "other")
    repo.commit("other root")
    with pytest.raises(SourceError, match="no common ancestor"):
        open_base(repo.path, "main")


@pytest.mark.parametrize(
    "range_",
    [
        "main",
        "",
        "nope..HEAD",
        "HEAD..nope",
        "--output=x..HEAD",
        "HEAD..--help",
        "^HEAD..HEAD",
        "a\0b..HEAD",
        "HEAD:..HEAD~9",
    ],
)
def test_bad_ranges_are_one_sentence(repo: Repo, range_: str) -> None:
    repo.write("a")
    repo.commit()
    with pytest.raises(SourceError, match=r"^.*\.$"):
        open_range(repo.path, range_)
    assert sorted(p.name for p in repo.path.iterdir()) == [".git", "a"]


def test_shallow_clones_say_what_to_fetch(repo: Repo, tmp_path: Path) -> None:
    base = repo.commit("start")
    repo.write("a")
    repo.commit("next")
    repo.write("b")
    repo.commit("last")
    repo.git("clone", "--quiet", "--depth=2", f"file://{repo.path}", str(tmp_path / "shallow"))
    with pytest.raises(SourceError, match=r"shallow.*fetch-depth: 0"):
        open_range(tmp_path / "shallow", f"{base}..HEAD")
    change = open_range(tmp_path / "shallow", "HEAD~1..HEAD").change()
    assert ([f.path for f in change.files], change.title) == (["b"], "last")


def test_a_shallow_clone_without_a_merge_base(repo: Repo, tmp_path: Path) -> None:
    repo.commit("start")
    repo.git("checkout", "--quiet", "-b", "topic")
    repo.commit("topic")
    repo.git("checkout", "--quiet", "main")
    repo.commit("main")
    repo.git("clone", "--quiet", "--depth=1", "--no-single-branch", f"file://{repo.path}", str(tmp_path / "shallow"))
    with pytest.raises(SourceError, match="no common ancestor here: the clone is shallow"):
        open_base(tmp_path / "shallow", "origin/topic")


def test_a_folder_inside_the_repository_covers_all_of_it(repo: Repo) -> None:
    repo.commit()
    repo.write("top")
    repo.write("sub/inner")
    repo.commit()
    change = open_range(repo.path / "sub", "HEAD~1..HEAD").change()
    assert [f.path for f in change.files] == ["sub/inner", "top"]
    assert open_range(repo.path / "sub", "HEAD..HEAD").base_file("top") == b"text\n"


def test_bare_repositories_and_linked_worktrees(repo: Repo, tmp_path: Path) -> None:
    repo.commit()
    repo.write("a")
    repo.commit()
    repo.git("clone", "--quiet", "--bare", str(repo.path), str(tmp_path / "bare.git"))
    repo.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"))
    for place in (tmp_path / "bare.git", tmp_path / "linked"):
        assert [f.path for f in open_range(place, "HEAD~1..HEAD").change().files] == ["a"]


def test_sha256_repositories(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo", "--object-format=sha256")
    repo.write("a", "one\n")
    repo.commit()
    repo.write("a", "two\n")
    repo.commit()
    source = open_range(repo.path, "HEAD~1..HEAD")
    change = source.change()
    assert (len(change.head_sha or ""), change.files[0].changed_lines) == (64, 2)
    with source.head_tree() as tree:
        assert (tree / "a").read_text() == "two\n"


def test_not_a_repository(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="not in a git repository"):
        open_range(tmp_path, "HEAD~1..HEAD")
    with pytest.raises(SourceError, match="is not a folder"):
        open_range(tmp_path / "missing", "HEAD~1..HEAD")


def test_the_linked_spec_comes_from_the_base_first(repo: Repo) -> None:
    repo.write("docs/spec.md", "as agreed\n")
    base = repo.commit()
    repo.write("docs/spec.md", "as the author likes\n")
    repo.write("docs/new.md", "new\n")
    head = repo.commit("change\n\nSpec: docs/spec.md")
    assert last(repo).spec == Spec(f"docs/spec.md at base {base[:12]}", "as agreed\n")
    new = open_range(repo.path, "HEAD~1..HEAD", About(body="spec: docs/new.md")).change()
    assert new.spec == Spec(f"docs/new.md at head {head[:12]}", "new\n")
    given = Spec("issue 7", "the issue's text")
    assert open_range(repo.path, "HEAD~1..HEAD", About(spec=given)).change().spec == given
    assert open_range(repo.path, "HEAD~1..HEAD", About(body="spec: no/such.md")).change().spec is None


def test_base_file(repo: Repo) -> None:
    repo.write("sub/config.toml", b"a\r\n\xff")
    (repo.path / "link").symlink_to("sub/config.toml")
    repo.commit()
    source = open_range(repo.path, "HEAD..HEAD")
    assert source.base_file("sub/config.toml") == b"a\r\n\xff"
    for name in ("sub", "missing", "sub/*", ":(top)sub/config.toml", "--help"):
        assert source.base_file(name) is None
    with pytest.raises(SourceError, match="link is a symbolic link at the base"):
        source.base_file("link")


def test_the_bots_own_repository_is_known_by_either_side(repo: Repo) -> None:
    repo.commit()
    repo.write("src/review_advisor/review/phase.py")
    repo.commit()
    assert last(repo).own_repository
    (repo.path / "src/review_advisor/review/phase.py").unlink()
    repo.commit()
    assert last(repo).own_repository


def test_linguist_attributes_come_from_the_base_tree_only(repo: Repo) -> None:
    rules = "*.pb.py linguist-generated\nvendor/** linguist-vendored=true\nvendor/ours/** -linguist-vendored\n"
    repo.write(".gitattributes", rules)
    repo.write("docs/.gitattributes", "*.py linguist-documentation\n[attr]x y\n")
    repo.commit()
    repo.write(".gitattributes", "* linguist-generated\n")
    repo.write(".git/info/attributes", "* linguist-vendored\n")
    for name in ("a.pb.py", "vendor/a.py", "vendor/ours/a.py", "docs/a.py", "src/a.py"):
        repo.write(name)
    repo.commit()
    said = {f.path: (f.generated, f.vendored, f.documentation) for f in last(repo).files}
    assert said == {
        ".gitattributes": (None, None, None),
        "a.pb.py": (True, None, None),
        "docs/a.py": (None, None, True),
        "src/a.py": (None, None, None),
        "vendor/a.py": (None, True, None),
        "vendor/ours/a.py": (None, False, None),
    }


def test_private_folders_are_gone_afterwards(repo: Repo, scratch: Path) -> None:
    repo.commit()
    source = open_range(repo.path, "HEAD..HEAD")
    source.change()
    assert len(list(scratch.iterdir())) == 1
    del source
    assert list(scratch.iterdir()) == []
    with pytest.raises(SourceError):
        open_range(repo.path, "HEAD..nope")
    assert list(scratch.iterdir()) == []


RECORD = "# 1. Keep\n\nStatus: Accepted\n\n## Context\n\nTeh shop.\n\n## Decision\n\nWe keep it.\n"


@pytest.mark.parametrize(
    "old, new, paths",
    [("Teh", "The", ("docs/adr/0001-keep.md",)), ("We keep it.", "We drop it.", ()), ("Accepted", "Superseded", ())],
)
def test_a_record_says_whether_its_decision_or_status_changes(
    repo: Repo, old: str, new: str, paths: tuple[str, ...]
) -> None:
    repo.write("docs/adr/0001-keep.md", RECORD)
    repo.commit("Decide")
    repo.write("docs/adr/0001-keep.md", RECORD.replace(old, new))
    repo.commit("Change")
    assert last(repo).same_decisions == paths


def test_a_record_that_is_too_long_to_compare_counts_as_decided_anew(repo: Repo) -> None:
    repo.write("docs/adr/0001-keep.md", "x" * 300_000 + RECORD)
    repo.commit("Decide")
    repo.write("docs/adr/0001-keep.md", "x" * 300_000 + RECORD.replace("keep it", "drop it"))
    repo.commit("Change")
    assert last(repo).same_decisions == ()
