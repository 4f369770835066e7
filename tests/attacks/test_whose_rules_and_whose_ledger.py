"""Whoever writes a branch chooses neither the rules of its review, nor what is on record, nor that there is no base."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.adapters.command_line import CREDENTIAL, Terminal, project
from tests.adapters.git_repository import Repo, made_once
from tests.adapters.ledgers import five, record

from review_advisor.app.ci import read_document
from review_advisor.change.sources import GitSource, open_base, open_range, open_staged, open_working_tree
from review_advisor.ledger.database import open_to_write
from review_advisor.mockworld.world import MockWorld
from review_advisor.review.document import outcome_json

CONFIG = ".review-advisor.toml"
HOLE = "<?php system($_GET[0]);\n"
LEDGER = "review_logs/ledger/ledger.sqlite3"
NOTHING = "NOTHING TO REVIEW: the change is empty\n"


def terminal_in(folder: Path, tmp_path: Path) -> Terminal:
    temporary = tmp_path / "temporary"
    temporary.mkdir(exist_ok=True)
    return Terminal(folder, temporary)


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """A shell in a small repository of two commits."""
    return terminal_in(project(tmp_path / "project").path, tmp_path)


# --- whose rules ------------------------------------------------------------------------------------------------------


@pytest.fixture
def branched_early(tmp_path: Path) -> Repo:
    """A branch that left the default one while its rules excluded PHP; they have been tightened since."""
    made_once(tmp_path, _rules_are_tightened)
    return Repo(tmp_path / "clone")


def _rules_are_tightened(place: Path) -> None:
    upstream = Repo(place / "upstream")
    upstream.write(CONFIG, 'exclude = ["*.php"]\n')
    upstream.write(".gitattributes", "*.php linguist-generated\n")
    upstream.write("index.php", "<?php\n")
    upstream.commit("Loose rules")
    upstream.write(CONFIG, 'critical_paths = ["*.php"]\n')
    upstream.write(".gitattributes", "# nothing\n")
    upstream.write("REVIEW.md", "Nobody may call system().\n")
    upstream.commit("Strict rules")
    upstream.git("clone", "--quiet", ".", str(place / "clone"))
    clone = Repo(place / "clone")
    clone.git("remote", "set-url", "origin", "../upstream")
    clone.git("switch", "--quiet", "--create", "topic", "HEAD~1")
    clone.write("index.php", HOLE)
    clone.commit("Tidy up")


NAMED = {
    "the branch of a remote": ("--base", "origin/main"),
    "a branch": ("--base", "main"),
    "a commit that the user types": ("--base", "{main}"),
    "a tag": ("--base", "newest"),
    "a range from the merge base": ("--range", "origin/main...HEAD"),
    "a range of two branches": ("--range", "main...topic"),
    "a range from the tip": ("--range", "origin/main.."),
    "nothing: the branch and its edits": (),
    "nothing: edits of a branch": ("--untracked",),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("words", NAMED.values(), ids=NAMED)
def test_an_early_branch_brings_no_old_rules(tmp_path: Path, branched_early: Repo, words: tuple[str, ...]) -> None:
    branched_early.git("tag", "newest", "main")
    main = branched_early.rev("main")
    terminal = terminal_in(branched_early.path, tmp_path)
    done = terminal.review("--json", of=[word.format(main=main) for word in words])
    document = json.loads(done.out)
    read = {each["path"]: each["read"] for each in document["coverage"]}
    assert read["index.php"] == "read"
    assert document["policy"]["blast"]["radius"] == "high"
    assert document["rules_sha"] == main
    assert [each["name"] for each in document["guidelines"]] == ["REVIEW.md"]


def test_a_change_cannot_put_itself_into_shadow_mode(terminal: Terminal) -> None:
    repo = Repo(terminal.folder)
    repo.write(CONFIG, 'mode = "shadow"\n')
    repo.commit("Bring shadow mode")
    policy = json.loads(terminal.review("--json").out)["policy"]
    assert (policy["mode"], policy["guard"]["paths"], policy["blast"]["radius"]) == ("enforce", [CONFIG], "high")
    repo.write("index.php", HOLE)
    repo.commit("Change something else")
    assert json.loads(terminal.review("--json").out)["policy"]["mode"] == "shadow"


def test_a_hook_believes_no_earlier_commit_of_the_branch(tmp_path: Path, branched_early: Repo) -> None:
    branched_early.write("index.php", HOLE + HOLE)
    branched_early.git("add", ".")
    document = json.loads(terminal_in(branched_early.path, tmp_path).review("--json", of=("--staged",)).out)
    assert [(each["path"], each["read"]) for each in document["coverage"]] == [("index.php", "read")]
    assert document["policy"]["blast"]["radius"] == "high"


def test_an_unusable_file_is_named_where_it_stands(tmp_path: Path, branched_early: Repo) -> None:
    branched_early.git("switch", "--quiet", "main")
    branched_early.write(CONFIG, "nonsense = 1\n")
    broken = branched_early.commit("Break the rules")
    branched_early.git("switch", "--quiet", "topic")
    done = terminal_in(branched_early.path, tmp_path).review(of=("--base", "main"))
    assert done.code == 2
    assert broken[:12] in done.sentence


OPENED: dict[str, Callable[[Path], GitSource]] = {
    "base": lambda path: open_base(path, "origin/main"),
    "range": lambda path: open_range(path, "origin/main...HEAD"),
    "staged": open_staged,
    "working tree": open_working_tree,
}


@pytest.mark.parametrize("opened", OPENED.values(), ids=OPENED)
def test_everything_that_a_base_says_is_the_tips(branched_early: Repo, opened: Callable[[Path], GitSource]) -> None:
    branched_early.write("index.php", HOLE + HOLE)
    branched_early.git("add", ".")
    source = opened(branched_early.path)
    try:
        assert source.base_file(CONFIG) == b'critical_paths = ["*.php"]\n'
        assert set(source.base_texts(("REVIEW.md",))) == {"REVIEW.md"}
        (file,) = source.change().files
        assert not file.generated
        assert file.added
    finally:
        source.close()


# --- whose ledger -----------------------------------------------------------------------------------------------------


def ledger_in(repo: Repo, name: str = LEDGER) -> Path:
    """A ledger of five approved and other reviews, as this program writes it."""
    file = repo.path / name
    record(file, *five())
    return file


def tracked(repo: Repo) -> None:
    ledger_in(repo)
    repo.commit("Tidy up")


def staged(repo: Repo) -> None:
    ledger_in(repo)
    repo.git("add", "--force", "review_logs")


def on_the_default_branch(repo: Repo) -> None:
    tracked(repo)
    repo.git("switch", "--quiet", "--create", "topic")
    repo.git("rm", "--quiet", "-r", "--cached", "review_logs")
    repo.git("commit", "--quiet", "--message", "Forget it")


def in_other_letters(repo: Repo) -> None:
    ledger_in(repo)
    ledger_in(repo, "Review_Logs/LEDGER/ledger.sqlite3")
    repo.git("add", "--force", "Review_Logs")
    repo.git("commit", "--quiet", "--message", "Tidy up")


def its_journal(repo: Repo) -> None:
    file = ledger_in(repo)
    repo.write(f"{LEDGER}-wal", "")
    repo.git("add", "--force", f"{file}-wal")
    repo.git("commit", "--quiet", "--message", "Tidy up")


def a_link_in_its_path(repo: Repo) -> None:
    ledger_in(repo, "docs/data/ledger/ledger.sqlite3")
    repo.git("add", "docs")  # ignores itself
    repo.symlink("review_logs", "docs/data")
    repo.git("add", "--force", "review_logs")
    repo.git("commit", "--quiet", "--message", "Tidy up")


def a_link_to_its_folder(repo: Repo) -> None:
    ledger_in(repo, "docs/data/ledger.sqlite3")
    repo.symlink("review_logs/ledger", "../docs/data")
    repo.git("add", "--force", "review_logs")
    repo.git("commit", "--quiet", "--message", "Tidy up")


def a_link_that_nobody_tracks(repo: Repo) -> None:
    ledger_in(Repo(repo.path.parent / "elsewhere"))
    repo.symlink("review_logs", "../elsewhere/review_logs")


def a_submodule(repo: Repo) -> None:
    within = Repo(repo.path / "review_logs")
    within.write("README", "logs\n")
    within.git("add", "README")
    within.git("commit", "--quiet", "--message", "Logs")
    ledger_in(repo)
    repo.git("add", "--force", "review_logs")
    repo.git("commit", "--quiet", "--message", "Tidy up")


def in_a_submodule(repo: Repo) -> None:
    within = Repo(repo.path / "review_logs")
    record(within.path / "ledger" / "ledger.sqlite3", *five())
    within.commit("Logs")


BROUGHT = (
    tracked,
    staged,
    on_the_default_branch,
    in_other_letters,
    its_journal,
    a_link_in_its_path,
    a_link_to_its_folder,
    a_link_that_nobody_tracks,
    a_submodule,
    in_a_submodule,
)
READERS = (
    ("runs", "list"),
    ("runs", "show", "run"),
    ("runs", "export", "run", "out"),
    ("rollup",),
    ("rollup", "--json"),
    ("ui", "--out", "out"),
    ("ledger", "verify"),
    ("ledger", "verify", "--full"),
    ("ledger", "export", "out.jsonl"),
    ("ledger", "rebuild"),
    ("ledger", "repair", "out.sqlite3"),
    ("ledger", "merge", "out.sqlite3", LEDGER),
    ("replay", "--all", "--config", "other.toml"),
    ("calibrate",),
    ("golden", "from-ledger", "out"),
    ("retro", "--run", "run"),
)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("brought", BROUGHT, ids=lambda each: each.__name__)
def test_a_ledger_that_a_branch_brings_along_does_not_count(
    terminal: Terminal, brought: Callable[[Repo], None]
) -> None:
    brought(Repo(terminal.folder))
    done = terminal.run("runs", "list")
    assert done.code == 2
    assert done.sentence.startswith("The ledger ") or "symbolic link" in done.sentence


def test_no_verb_reads_one(terminal: Terminal) -> None:
    tracked(Repo(terminal.folder))
    (terminal.folder / "other.toml").write_text("")
    for words in READERS:
        done = terminal.run(*words, env=CREDENTIAL)
        assert done.code == 2, words
        assert "does not count: git tracks review_logs/ledger/ledger.sqlite3" in done.sentence, words


def test_a_linked_work_tree_has_rules_and_a_ledger_like_any_other(tmp_path: Path, branched_early: Repo) -> None:
    branched_early.git("worktree", "add", "--quiet", "-b", "other", str(tmp_path / "linked"), "topic")
    linked = Repo(tmp_path / "linked")
    document = json.loads(terminal_in(linked.path, tmp_path).review("--json", of=()).out)
    assert document["policy"]["blast"]["radius"] == "high"
    tracked(linked)
    assert "does not count" in terminal_in(linked.path, tmp_path).run("ledger", "verify").sentence
    ledger_in(branched_early)
    assert terminal_in(branched_early.path, tmp_path).run("ledger", "verify").code == 0


def test_a_link_from_outside_leads_to_no_tracked_one(terminal: Terminal, tmp_path: Path) -> None:
    tracked(Repo(terminal.folder))
    outside = tmp_path / "mine"
    outside.symlink_to(terminal.folder / "review_logs")
    assert "does not count" in terminal.run("ledger", "verify", "--ledger", outside / LEDGER[12:]).sentence


def test_one_of_another_user_does_not_count(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger_in(Repo(terminal.folder))
    monkeypatch.setattr("os.geteuid", lambda: os.getuid() + 1)
    assert "another user owns it" in terminal.run("ledger", "verify").sentence


def test_a_review_adds_nothing_to_one_and_judges_all_the_same(terminal: Terminal) -> None:
    tracked(Repo(terminal.folder))
    before = (terminal.folder / LEDGER).read_bytes()
    done = terminal.review("--json", of=("--range", "HEAD~2..HEAD~1"))
    assert json.loads(done.out)["outcome"] == "approved"
    assert "does not count" in done.err
    assert "not recorded" in done.err
    assert (terminal.folder / LEDGER).read_bytes() == before


def test_the_users_own_ledger_in_the_checkout_counts(terminal: Terminal) -> None:
    repo = Repo(terminal.folder)
    repo.write("review_logs/README.md", "What lies here.\n")
    repo.commit("Explain the folder")
    ledger_in(repo)
    assert terminal.run("ledger", "verify").code == 0
    assert terminal.review().code == 0
    assert len(json.loads(terminal.run("runs", "list", "--json").out)) == 6


def test_verifying_says_what_it_cannot_prove(terminal: Terminal) -> None:
    ledger_in(Repo(terminal.folder))
    told = terminal.run("ledger", "verify").out
    assert "who wrote" in told


def test_neither_an_outcome_nor_a_recording_comes_with_a_branch(terminal: Terminal) -> None:
    repo = Repo(terminal.folder)
    file = repo.path / "review_logs" / "pr-7" / "outcome.json"
    repo.write(str(file.relative_to(repo.path)), outcome_json(MockWorld().review()))
    assert not isinstance(read_document(file, {}), str)
    repo.write("review_logs/.recordings/run_1.jsonl", "{}\n")
    repo.commit("Tidy up")
    assert "does not count" in str(read_document(file, {}))
    assert "do not count" in terminal.run("runs", "recording", "run_1").sentence


# --- no base is no empty change ---------------------------------------------------------------------------------------


@pytest.fixture
def upstream(tmp_path: Path) -> Repo:
    """A default branch, and a pull request of two commits, merged as GitHub merges it to try it."""
    made_once(tmp_path / "upstream", _is_tried)
    return Repo(tmp_path / "upstream")


def _is_tried(place: Path) -> None:
    repo = Repo(place)
    repo.write("a.py", "a = 1\n")
    repo.commit("One")
    repo.commit("Two")
    repo.git("switch", "--quiet", "--create", "topic", "HEAD~1")
    repo.write("hole.php", HOLE)
    repo.commit("Tidy up")
    repo.commit("Tidy up more")
    repo.git("switch", "--quiet", "--detach", "main")
    repo.git("merge", "--quiet", "--no-ff", "--message", "Try it", "topic")
    repo.git("update-ref", "refs/pull/7/merge", "HEAD")
    repo.git("switch", "--quiet", "main")


def checked_out(upstream: Repo, fetched: str, *switch: str, depth: str = "--depth=1") -> Repo:
    """What actions/checkout leaves of a reference."""
    clone = Repo(upstream.path.with_name("clone"))
    clone.git("remote", "add", "origin", f"file://{upstream.path}")
    clone.git("fetch", "--quiet", "--no-tags", depth, "origin", fetched)
    clone.git("checkout", "--quiet", "--force", *switch)
    return clone


def cloned(upstream: Repo, *words: str) -> Repo:
    clone = upstream.path.with_name("clone")
    upstream.git("clone", "--quiet", *words, f"file://{upstream.path}", str(clone))
    return Repo(clone)


MERGE, TOPIC = "refs/remotes/pull/7/merge", "refs/remotes/origin/topic"
CUT_OFF: dict[str, tuple[Callable[[Repo], Repo], tuple[str, ...]]] = {
    "a pull request in CI": (lambda up: checked_out(up, f"+refs/pull/7/merge:{MERGE}", MERGE), ()),
    "a push in CI": (lambda up: checked_out(up, f"+refs/heads/topic:{TOPIC}", "-B", "topic", TOPIC), ()),
    "its base, not fetched": (
        lambda up: checked_out(up, f"+refs/pull/7/merge:{MERGE}", MERGE),
        ("--base", "origin/main"),
    ),
    "a range from it": (
        lambda up: checked_out(up, f"+refs/pull/7/merge:{MERGE}", MERGE),
        ("--range", "origin/main...HEAD"),
    ),
    "a clone of one commit": (lambda up: cloned(up, "--depth=1", "--branch=topic"), ()),
    "a clone of one branch": (lambda up: cloned(up, "--single-branch", "--branch=topic"), ()),
    "both tips, and no common ancestor": (
        lambda up: cloned(up, "--depth=1", "--no-single-branch", "--branch=topic"),
        (),
    ),
    "the same with a name": (
        lambda up: cloned(up, "--depth=1", "--no-single-branch", "--branch=topic"),
        ("--base", "origin/main"),
    ),
}


def followed(sentence: str, clone: Repo) -> None:
    """Do what a refusal advises."""
    commands = re.findall(r"`(git (?:fetch|remote) .*?)`", sentence)
    assert commands
    for command in commands:
        subprocess.run(shlex.split(command), cwd=clone.path, check=True, capture_output=True)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("edited", [False, True], ids=["clean", "edited"])
@pytest.mark.parametrize("case", CUT_OFF.values(), ids=CUT_OFF)
def test_a_base_that_is_not_here_is_no_empty_change(
    tmp_path: Path, upstream: Repo, case: tuple[Callable[[Repo], Repo], tuple[str, ...]], *, edited: bool
) -> None:
    checkout, words = case
    clone = checkout(upstream)
    if edited:
        clone.write("a.py", "a = 2\n")
    terminal = terminal_in(clone.path, tmp_path)
    done = terminal.review("--gate", of=words)
    assert done.code == 2, done
    followed(done.sentence, clone)
    again = terminal.review("--json", of=words)
    assert "hole.php" in {each["path"] for each in json.loads(again.out)["coverage"]}, again.err


OF_THE_HEAD = (
    (),
    ("--base", "origin/main"),
    ("--base", "HEAD"),
    ("--range", "origin/main..HEAD"),
    ("--range", "HEAD..HEAD"),
    ("--range", "HEAD.."),
    ("--range", "HEAD...@"),
)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("words", OF_THE_HEAD, ids=str)
def test_the_head_itself_is_no_base_in_a_shallow_clone(tmp_path: Path, upstream: Repo, words: tuple[str, ...]) -> None:
    clone = cloned(upstream, "--depth=1")
    terminal = terminal_in(clone.path, tmp_path)
    done = terminal.review("--gate", of=words)
    assert done.code == 2
    followed(done.sentence, clone)
    assert terminal.review("--gate", of=words).out == NOTHING


def only_a_local_branch(repo: Repo) -> None:
    repo.git("remote", "add", "origin", "https://example.org/never-fetched.git")


def a_branch_of_another_name(repo: Repo) -> None:
    repo.git("branch", "--move", "trunk")


def unborn(repo: Repo) -> None:
    repo.git("switch", "--quiet", "--orphan", "new")
    repo.git("branch", "--delete", "--force", "main")


def unrelated(repo: Repo) -> None:
    repo.git("switch", "--quiet", "--orphan", "new")
    repo.write("hole.php", HOLE)
    repo.commit("Begin anew")


@pytest.mark.parametrize(
    "made", [only_a_local_branch, a_branch_of_another_name, unborn, unrelated], ids=lambda each: each.__name__
)
def test_where_nothing_is_known_of_a_base_nothing_is_called_empty(
    terminal: Terminal, made: Callable[[Repo], None]
) -> None:
    made(Repo(terminal.folder))
    assert terminal.review("--gate", of=()).code == 2


ANYTHING = ((), ("--staged",), ("--untracked",))


@pytest.fixture
def developed(tmp_path: Path) -> Repo:
    """A default branch called develop, and a branch with a hole and rules of its own, pushed as main and master too."""
    made_once(tmp_path / "upstream", _is_developed)
    return Repo(tmp_path / "upstream")


def _is_developed(place: Path) -> None:
    upstream = Repo(place)
    upstream.git("branch", "--move", "develop")
    upstream.write(CONFIG, 'critical_paths = ["*.php"]\n')
    upstream.commit("Strict rules")
    upstream.git("switch", "--quiet", "--create", "topic")
    upstream.write(CONFIG, 'exclude = ["*.php"]\n')
    upstream.write("hole.php", HOLE)
    upstream.commit("Tidy up")
    for name in ("main", "master", "origin/main"):
        upstream.git("branch", name)
    upstream.git("switch", "--quiet", "develop")


@pytest.mark.parametrize("words", ANYTHING, ids=str)
@pytest.mark.parametrize("branch", ["topic", "main"])
def test_a_branch_that_is_called_main_is_no_default_branch(
    tmp_path: Path, developed: Repo, branch: str, words: tuple[str, ...]
) -> None:
    every = "+refs/heads/*:refs/remotes/origin/*"
    clone = checked_out(developed, every, "-B", branch, f"refs/remotes/origin/{branch}", depth="--no-tags")
    clone.git("update-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/topic")  # a pushed branch called HEAD
    clone.write("hole.php", HOLE + HOLE)
    clone.git("add", ".")
    terminal = terminal_in(clone.path, tmp_path)
    done = terminal.review("--gate", of=words)
    assert done.code == 2
    assert "--base REF" in done.sentence
    clone.git("update-ref", "-d", "refs/remotes/origin/HEAD")
    followed(terminal.review("--gate", of=words).sentence, clone)
    document = json.loads(terminal.review("--json", of=words).out)
    assert document["rules_sha"] == developed.rev("develop")
    assert {each["path"]: each["read"] for each in document["coverage"]}["hole.php"] == "read"


@pytest.mark.parametrize("words", ANYTHING, ids=str)
def test_without_any_remote_the_usual_branch_is_the_default_one(terminal: Terminal, words: tuple[str, ...]) -> None:
    repo = Repo(terminal.folder)
    repo.git("switch", "--quiet", "--create", "topic")
    repo.write("hole.php", HOLE)
    repo.git("add", ".")
    assert json.loads(terminal.review("--json", of=words).out)["rules_sha"] == repo.rev("refs/heads/main")


# --- a name that somebody pushed --------------------------------------------------------------------------------------


def pushed_tags(*names: str) -> Callable[[Repo], None]:
    def push(upstream: Repo) -> None:
        for name in names:
            upstream.git("update-ref", f"refs/tags/{name}", "refs/heads/topic")

    return push


def a_tag_like_an_abbreviated_commit(upstream: Repo) -> None:
    upstream.git("update-ref", f"refs/tags/{upstream.rev('refs/heads/main')[:9]}", "refs/heads/topic")


def a_tag_like_a_described_commit(upstream: Repo) -> None:
    upstream.git("update-ref", f"refs/tags/v1-2-g{upstream.rev('refs/heads/main')[:9]}", "refs/heads/topic")


REMOTE_MAIN = "refs/remotes/origin/main"
SHADOWED: dict[str, tuple[Callable[[Repo], None], tuple[str, ...], str]] = {
    "the branch of a remote": (pushed_tags("origin/main"), ("--base", "origin/main"), REMOTE_MAIN),
    "a range of it": (pushed_tags("origin/main"), ("--range", "origin/main..HEAD"), REMOTE_MAIN),
    "a range since it": (pushed_tags("origin/main"), ("--range", "origin/main...HEAD"), REMOTE_MAIN),
    "its parent": (pushed_tags("origin/main"), ("--base", "origin/main~0"), REMOTE_MAIN),
    "its commit": (pushed_tags("origin/main"), ("--base", "origin/main^{commit}"), REMOTE_MAIN),
    "a remote": (pushed_tags("origin"), ("--base", "origin"), "refs/remotes/origin/HEAD"),
    "a local branch": (pushed_tags("main"), ("--base", "main"), "refs/heads/main"),
    "the branch before this one": (pushed_tags("main"), ("--base", "@{-1}"), "another thing"),
    "a branch in its folder": (pushed_tags("heads/main"), ("--base", "heads/main"), "refs/heads/main"),
    "a remote's branch in its folder": (
        pushed_tags("remotes/origin/main"),
        ("--base", "remotes/origin/main"),
        REMOTE_MAIN,
    ),
    "a branch that is only a remote's": (pushed_tags("next"), ("--base", "next"), "refs/remotes/origin/next"),
    "a branch of a remote that is not here": (pushed_tags("origin/old"), ("--base", "origin/old"), "origin/old"),
    "a full name that is not here": (pushed_tags("refs/heads/old"), ("--base", "refs/heads/old"), "refs/heads/old"),
    "an abbreviated commit": (a_tag_like_an_abbreviated_commit, ("--base", "{short}"), "another thing"),
    "a described commit": (a_tag_like_a_described_commit, ("--base", "v1-2-g{short}"), "the commit"),
    "the right side": (pushed_tags("topic"), ("--range", "HEAD~1..topic"), "refs/heads/topic"),
}


def cloned_with_tags(upstream: Repo) -> Repo:
    upstream.git("update-ref", "refs/heads/next", "refs/heads/main")
    clone = cloned(upstream)
    clone.git("switch", "--quiet", "--create", "topic", "refs/remotes/origin/topic")
    return clone


@pytest.mark.parametrize("case", SHADOWED.values(), ids=SHADOWED)
def test_no_pushed_name_stands_for_the_base(
    tmp_path: Path, upstream: Repo, case: tuple[Callable[[Repo], None], tuple[str, ...], str]
) -> None:
    push, words, other = case
    push(upstream)
    clone = cloned_with_tags(upstream)
    main = clone.rev("refs/heads/main")
    named = [word.replace("{short}", main[:9]) for word in words]
    done = terminal_in(clone.path, tmp_path).review("--gate", of=named)
    assert done.code == 2, done
    assert "give the full name" in done.sentence
    assert other in done.sentence


FULL = (
    (),
    ("--base", REMOTE_MAIN),
    ("--base", "refs/heads/main"),
    ("--base", "{main}"),
    ("--range", f"{REMOTE_MAIN}...HEAD"),
    ("--range", "refs/heads/main...@"),
)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("words", FULL, ids=str)
def test_a_full_name_is_that_of_one_ref(tmp_path: Path, upstream: Repo, words: tuple[str, ...]) -> None:
    main = upstream.rev("refs/heads/main")
    names = ("main", "origin/main", "origin/HEAD", "HEAD", main, "refs/heads/main", REMOTE_MAIN)
    pushed_tags(*names)(upstream)
    clone = cloned_with_tags(upstream)
    done = terminal_in(clone.path, tmp_path).review("--json", of=[word.format(main=main) for word in words])
    document = json.loads(done.out)
    assert document["rules_sha"] == main
    assert "hole.php" in {each["path"] for each in document["coverage"]}


def objects_gone(repo: Repo) -> None:
    base = repo.rev("HEAD~1")
    (repo.path / ".git" / "objects" / base[:2] / base[2:]).unlink()


@pytest.mark.parametrize("words", [("--range", "HEAD~1..HEAD"), ("--base", "HEAD~1"), ("--range", "HEAD..unknown")])
def test_an_end_that_is_not_here_is_named(terminal: Terminal, words: tuple[str, ...]) -> None:
    objects_gone(Repo(terminal.folder))
    done = terminal.review("--gate", of=words)
    assert done.code == 2
    assert "fetch" in done.sentence


def as_it_is(_repo: Repo) -> None:
    """The tip of the default branch, without edits."""


def a_commit_of_nothing(repo: Repo) -> None:
    repo.git("switch", "--quiet", "--create", "topic")
    repo.commit("Start the build")


@pytest.mark.parametrize("words", [(), ("--staged",), ("--base", "main"), ("--range", "main..HEAD")], ids=str)
@pytest.mark.parametrize("made", [as_it_is, a_commit_of_nothing], ids=lambda each: each.__name__)
def test_an_empty_change_is_approved_by_nobody(
    terminal: Terminal, made: Callable[[Repo], None], words: tuple[str, ...]
) -> None:
    made(Repo(terminal.folder))
    done = terminal.review("--json", of=words)
    assert done.code == 0
    assert json.loads(done.out)["outcome"] == "nothing_to_review"
    (stored,) = (terminal.folder / "review_logs").glob("*/outcome.json")
    assert json.loads(stored.read_text())["outcome"] == "nothing_to_review"
    (run,) = json.loads(terminal.run("runs", "list", "--json").out)
    assert run["status"] == "nothing_to_review"
    assert json.loads(terminal.run("runs", "list", "--status", "approved", "--json").out) == []
    assert terminal.run("ledger", "verify").code == 0
    sums = json.loads(terminal.run("rollup", "--json").out)
    assert "approved" not in json.dumps(sums)
    assert terminal.review(of=words, env={"NO_COLOR": "1"}).out == NOTHING


def test_an_older_ledger_takes_one(terminal: Terminal) -> None:
    open_to_write(terminal.folder / LEDGER).close()
    assert terminal.review(of=("--staged",)).code == 0
