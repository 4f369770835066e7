"""What a change, a checkout or a repository's own settings may not do to the reading of it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.adapters.git_repository import Repo

from review_advisor.app.agent_choice import repository_top
from review_advisor.change.change import SourceError
from review_advisor.change.git import checkout_around, find_git, nearest_checkout
from review_advisor.change.sources import GitSource, open_base, open_range, open_staged


def trap(folder: Path) -> tuple[Path, Path]:
    """A program that leaves a mark when it runs, and the mark."""
    mark, program = folder / "it-ran", folder / "evil"
    program.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    program.chmod(0o755)
    return program, mark


def hostile_settings(repo: Repo, program: Path) -> None:
    for key in (
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.alternateRefsCommand",
        "core.askPass",
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "gpg.program",
        "merge.evil.driver",
        "pager.log",
        "pager.diff",
    ):
        repo.git("config", key, str(program))
    for verb in ("diff-tree", "rev-parse", "log", "ls-tree", "cat-file"):
        repo.git("config", f"alias.{verb}", f"!{program}")
    for key, value in (
        ("log.showSignature", "true"),
        ("diff.noprefix", "true"),
        ("diff.renames", "false"),
        ("diff.orderFile", str(program)),
        ("diff.context", "0"),
        ("diff.suppressBlankEmpty", "true"),
        ("diff.ignoreSubmodules", "all"),
        ("diff.evil.binary", "true"),
        ("diff.relative", "true"),
        ("color.ui", "always"),
        ("core.bigFileThreshold", "1"),
        ("core.attributesFile", str(repo.path / "attributes")),
        ("i18n.logOutputEncoding", "utf-16"),
        ("format.pretty", "oneline"),
    ):
        repo.git("config", key, value)
    (repo.path / "attributes").write_text("* -diff\n")
    hooks = repo.path / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("post-index-change", "pre-commit", "reference-transaction", "post-checkout"):
        shutil.copy(program, hooks / hook)


def test_settings_of_the_repository_run_nothing_and_change_nothing(repo: Repo, tmp_path: Path) -> None:
    program, mark = trap(tmp_path)
    repo.write("sub/a.py", "".join(f"{n}\n\n" for n in range(10)))
    repo.write("old.py", "same\n" * 9)
    repo.commit()
    repo.write("sub/a.py", "".join(f"{n}\n\n" for n in range(10)).replace("5", "five"))
    (repo.path / "old.py").rename(repo.path / "new.py")
    repo.commit("grüße")
    plain = open_range(repo.path, "HEAD~1..HEAD").change()
    hostile_settings(repo, program)
    (repo.path / ".gitattributes").write_text("*.py diff=evil filter=evil merge=evil\n")
    repo.write(".git/info/attributes", "* diff=evil filter=evil -diff binary\n")
    source = open_range(repo.path / "sub", "HEAD~1..HEAD")
    assert source.change() == plain
    with source.head_tree() as tree:
        assert (tree / "new.py").read_text() == "same\n" * 9
    open_base(repo.path, "HEAD~1").change()
    open_staged(repo.path).change()
    assert not mark.exists()
    repo.git("diff", "HEAD~1", "HEAD")
    assert mark.exists(), "the trap has to work for those who step into it"


@pytest.mark.one_in(5)
@pytest.mark.parametrize("rule", ["*.py -diff", "*.py binary", "*.py -text -diff", "*.py diff=evil", "* -diff"])
def test_attributes_of_the_head_hide_no_text(repo: Repo, rule: str) -> None:
    repo.write("a.py", "one\n")
    repo.write("real.bin", b"\0one")
    repo.commit()
    repo.write(".gitattributes", rule + "\n")
    repo.write("a.py", "one\nimport os\n")
    repo.write("real.bin", b"\0two")
    repo.commit()
    rules, code, binary = open_range(repo.path, "HEAD~1..HEAD").change().files
    assert (rules.added, code.binary, code.added, code.hunks[0].lines) == (1, False, 1, (" one", "+import os"))
    assert binary.binary
    repo.write("a.py", "one\nimport sys\n")
    repo.git("add", ".")
    (staged,) = open_staged(repo.path).change().files
    assert (staged.binary, staged.added, staged.removed) == (False, 1, 1)


def test_variables_of_the_caller_do_not_leak(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit()
    repo.write("a")
    repo.commit()
    other = Repo(tmp_path / "other")
    for name, value in {
        "GIT_DIR": str(other.path / ".git"),
        "GIT_WORK_TREE": str(other.path),
        "GIT_INDEX_FILE": "/nowhere",
        "GIT_OBJECT_DIRECTORY": "/nowhere",
        "GIT_EXTERNAL_DIFF": "/bin/false",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "diff.noprefix",
        "GIT_CONFIG_VALUE_0": "true",
        "GIT_TRACE": "1",
        "GIT_EXEC_PATH": "/nowhere",
        "GIT_NAMESPACE": "x",
    }.items():
        monkeypatch.setenv(name, value)
    assert [f.path for f in open_range(repo.path, "HEAD~1..HEAD").change().files] == ["a"]


def test_replaced_objects_are_not_believed(repo: Repo) -> None:
    repo.write("a", "harmless\n")
    harmless = repo.commit()
    repo.write("a", "harmful\n")
    harmful = repo.commit()
    repo.git("replace", harmful, harmless)
    (file,) = open_range(repo.path, f"{harmless}..{harmful}").change().files
    assert file.hunks[0].lines == ("-harmless", "+harmful")


def test_a_promisor_remote_is_not_asked(repo: Repo, tmp_path: Path) -> None:
    program, mark = trap(tmp_path)
    repo.commit()
    for key, value in (
        ("remote.evil.url", f"ext::{program}"),
        ("remote.evil.promisor", "true"),
        ("remote.evil.vcs", "ext"),
        ("protocol.ext.allow", "always"),
        ("extensions.partialClone", "evil"),
        ("core.repositoryFormatVersion", "1"),
    ):
        repo.git("config", key, value)
    with pytest.raises(SourceError):
        open_range(repo.path, "1" * 40 + "..HEAD")
    assert not mark.exists()


def test_what_a_partial_clone_lacks_is_not_fetched_behind_our_back(repo: Repo, tmp_path: Path) -> None:
    """The promisor remote is whoever the clone says: reading a missing blob would make git speak to it."""
    program, mark = trap(tmp_path)
    program.write_text(f"#!/bin/sh\ntouch {mark}\nexit 1\n")
    repo.write("other", "beside the change\n")
    repo.commit()
    repo.write("a", "one\n")
    repo.commit()
    found = repo.rev("HEAD:other")
    (repo.path / ".git" / "objects" / found[:2] / found[2:]).unlink()
    for key, value in (
        ("remote.evil.url", f"file://{repo.path}"),
        ("remote.evil.promisor", "true"),
        ("remote.evil.uploadpack", str(program)),
        ("extensions.partialClone", "evil"),
        ("core.repositoryFormatVersion", "1"),
    ):
        repo.git("config", key, value)
    source = open_range(repo.path, "HEAD~1..HEAD")
    assert source.change().missing == ("other",)
    with source.head_tree() as tree:
        assert (tree / "a").read_text() == "one\n"
    assert source.head_text("other") is None
    with pytest.raises(SourceError, match="names no commit"):
        open_range(repo.path, "1" * 40 + "..HEAD")
    assert not mark.exists()
    subprocess.run(["git", "cat-file", "blob", found], cwd=repo.path, check=False, capture_output=True)
    assert mark.exists(), "the trap has to work for those who step into it"


def test_git_is_never_taken_from_the_checkout_or_from_a_relative_folder(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, mark = trap(tmp_path)
    (repo.path / "bin").mkdir()
    shutil.copy(program, repo.path / "bin" / "git")
    shutil.copy(program, repo.path / "git")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "git").symlink_to(repo.path / "bin" / "git")
    monkeypatch.chdir(repo.path)
    real = shutil.which("git")
    assert real is not None
    evil = ["", ".", "bin", str(repo.path / "bin"), str(tmp_path / "outside")]
    path = os.pathsep.join([*evil, str(Path(real).parent)])
    monkeypatch.setenv("PATH", path)
    assert find_git(repo.path / "bin") == Path(real)
    repo_head = open_staged(repo.path)
    assert repo_head.change().files == ()
    assert not mark.exists()
    monkeypatch.setenv("PATH", os.pathsep.join(evil))
    with pytest.raises(SourceError, match=r"git was not found .* install git"):
        find_git(repo.path)


def test_a_program_of_no_folder_above_that_may_be_a_checkout_is_started(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """git passes over an empty folder of its name, and takes the next one above for the repository."""
    program, _ = trap(tmp_path)
    programs, deep = repo.path / "bin", repo.path / "sub" / "deep"
    programs.mkdir()
    deep.mkdir(parents=True)
    (repo.path / "sub" / ".git").mkdir()
    shutil.copy(program, programs / "git")
    monkeypatch.setenv("PATH", str(programs))
    with pytest.raises(SourceError, match="git was not found"):
        find_git(deep)
    assert checkout_around(deep) == repo.path == nearest_checkout(repo.path / "bin")
    assert nearest_checkout(deep) == repo.path / "sub"


def test_a_home_under_version_control_keeps_its_programs_from_no_repository_within(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = repo.path.parent
    monkeypatch.setenv("HOME", str(home))
    (home / ".git").mkdir()
    (repo.path / "sub" / ".git").mkdir(parents=True)
    assert checkout_around(repo.path / "sub") == repo.path
    assert checkout_around(home) == home


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_another_user_is_refused_unless_the_user_allows_it(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit()
    for folder in (repo.path, repo.path / ".git"):
        os.chown(folder, 12345, 12345)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    below = repo.path / "below"
    below.mkdir()
    for folder in (repo.path, below):
        with pytest.raises(SourceError, match=rf"another user owns it: .*safe\.directory {repo.path}`"):
            open_range(folder, "HEAD..HEAD")
    with pytest.raises(SourceError, match=rf"another user owns it: .*safe\.directory {repo.path}`"):
        repository_top(below)  # where a review's folder lies, and its configuration
    repo.git("-c", "safe.directory=*", "config", "safe.directory", "*")
    with pytest.raises(SourceError, match="another user owns it"):
        open_range(repo.path, "HEAD..HEAD")
    (home / ".gitconfig").write_text(f"[safe]\n\tdirectory = {repo.path}\n")
    assert open_range(repo.path, "HEAD..HEAD").change().files == ()
    assert repository_top(below) == repo.path


def test_the_users_repository_is_left_as_it_was(repo: Repo) -> None:
    repo.write("a")
    repo.commit()
    repo.write("b")
    repo.git("add", ".")

    def everything() -> dict[str, tuple[int, int]]:
        found = (p for p in repo.path.rglob("*") if not p.is_symlink())
        return {str(p): (p.stat().st_mtime_ns, stat.S_IMODE(p.stat().st_mode)) for p in found}

    before = everything()
    staged = open_staged(repo.path)
    assert [f.path for f in staged.change().files] == ["b"]
    with staged.head_tree():
        pass
    assert everything() == before


def test_a_file_of_the_base_is_not_the_heads(repo: Repo) -> None:
    """The bot's own configuration is read so: a change cannot configure its own review."""
    repo.write("config.toml", "base\n")
    repo.commit()
    repo.write("config.toml", "head\n")
    repo.write("new.toml", "head\n")
    repo.commit()
    source = open_range(repo.path, "HEAD~1..HEAD")
    assert (source.base_file("config.toml"), source.base_file("new.toml")) == (b"base\n", None)


NO_FILE = st.one_of(
    st.text(),
    st.sampled_from(
        ["a\0", "\0", "", ".", "..", "../a", "/a", "/etc/passwd", "a/../a", "./a", "a/", "-z", ":(top)a", "\ud800"]
    ),
    st.just("a" * 300_000),
)


@pytest.fixture(scope="module")
def source_of_one_file(tmp_path_factory: pytest.TempPathFactory) -> GitSource:
    repo = Repo(tmp_path_factory.mktemp("one") / "repo")
    repo.write("a")
    repo.commit()
    return open_range(repo.path, "HEAD..HEAD")


@given(path=NO_FILE)
@settings(max_examples=25)
def test_a_path_that_a_model_names_is_a_file_or_none(source_of_one_file: GitSource, path: str) -> None:
    """Whatever the text: what is no file of the tree is none, and the review goes on."""
    found = source_of_one_file.head_text(path)
    assert found == ("text\n" if path == "a" else None)
