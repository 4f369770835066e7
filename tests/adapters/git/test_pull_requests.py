"""The files of a pull request come from git: as objects, from the real merge base, and nothing is checked out."""

from __future__ import annotations

import base64
import os
import shutil
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.command_line import executable
from tests.adapters.git_remote import NAME, Served, git_by_http, served
from tests.adapters.git_repository import Repo

from review_advisor.change import pull_request_source
from review_advisor.change.change import Age, CompleteReview, Earlier, SourceError, Spec, Touched, TouchedLines
from review_advisor.change.pull_request import BelievedBase, LinkedIssue, PullRequest
from review_advisor.change.pull_request_source import DEPTHS, Remote
from review_advisor.change.shards import Shard
from review_advisor.change.sources import About, GitSource, open_base
from review_advisor.review.document import file_facts

pytestmark = pytest.mark.every_case

TOKEN = "ghs_0123456789abcdefghijABCDEFGHIJ012345"
CREDENTIAL = "Basic " + base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()


def open_pull_request(
    repo: Path, pull: PullRequest, remote: Remote, believed: BelievedBase | None = None, **more: Any
) -> GitSource:
    """Opened under the rules of its own base, unless those of another branch are believed."""
    base = BelievedBase(pull.base_ref, pull.base_sha)
    return pull_request_source.open_pull_request(repo, pull, remote, believed or base, **more)


@pytest.fixture
def github(tmp_path: Path) -> Served:
    return served(tmp_path)


@pytest.fixture
def clone(github: Served, tmp_path: Path) -> Path:
    return github.clone(tmp_path / "clone")


def everything(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every file below a folder: when it was written, who may, and what it says."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(p): (p.stat().st_mtime_ns, stat.S_IMODE(p.stat().st_mode), p.read_bytes()) for p in found}


# --- what is read ---------------------------------------------------------------------------------


@pytest.mark.one_of_its_kind
def test_a_first_review_reads_the_words_from_the_api_and_the_files_from_git(github: Served, clone: Path) -> None:
    pull = github.opens(7)
    before = everything(clone)
    source = open_pull_request(clone, pull, Remote(github.url))
    change = source.change()
    assert (change.label, change.title, change.body, change.author) == ("pr-7", "Add two", "It adds two.", "mona")
    assert (change.repository, change.pull_request) == (NAME, 7)
    assert (change.base_sha, change.head_sha) == (pull.base_sha, pull.head_sha)
    assert [(file.path, file.added, file.removed) for file in change.files] == [("app.py", 1, 0)]
    with source.head_tree() as tree:
        assert (tree / "app.py").read_text() == "one = 1\nzero = 0\ntwo = 2\n"
    source.close()
    assert everything(clone) == before, "the clone is neither written to nor checked out"


@pytest.mark.one_of_its_kind
def test_what_was_merged_into_the_base_meanwhile_is_not_the_pull_requests(github: Served, clone: Path) -> None:
    github.work.git("checkout", "--quiet", "main")
    github.work.write("other.py")
    github.work.commit("Somebody else's work")
    source = open_pull_request(clone, github.opens(7), Remote(github.url))
    assert [file.path for file in source.change().files] == ["app.py"]


def test_the_configuration_is_that_of_the_base_branch_not_of_an_old_commit_that_the_author_chose(
    github: Served, clone: Path
) -> None:
    github.work.git("checkout", "--quiet", "main")
    github.work.write(".review-advisor.toml", "critical_paths = ['**']\n")
    github.work.write("docs/spec.md", "The law of today\n")
    github.work.commit("Stricter rules")
    pull = replace(github.opens(7), body="spec: docs/spec.md")
    source = open_pull_request(clone, pull, Remote(github.url))
    assert source.base_file(".review-advisor.toml") == b"critical_paths = ['**']\n"
    assert source.change().spec == Spec(f"docs/spec.md at base {pull.base_sha[:12]}", "The law of today\n")


def test_a_clone_without_the_present_base_gets_it(github: Served, clone: Path) -> None:
    github.work.git("checkout", "--quiet", "-B", "topic", "main")
    github.work.write("new.py")
    github.work.commit("On top of a newer base")
    github.work.git("checkout", "--quiet", "main")
    github.work.write("later.py")
    github.work.commit("Later")
    source = open_pull_request(clone, github.opens(7), Remote(github.url))
    assert [file.path for file in source.change().files] == ["new.py"]


def test_a_fork_whose_branch_is_gone_is_still_read_by_its_number(github: Served, clone: Path) -> None:
    pull = replace(github.opens(7), head_repository=None, head_ref="deleted")
    assert open_pull_request(clone, pull, Remote(github.url)).change().head_sha == pull.head_sha


@pytest.mark.every_case
def test_more_files_than_the_api_lists(github: Served, clone: Path) -> None:
    for number in range(3_500):
        github.work.write(f"many/{number}.txt", f"{number}\n")
    github.work.commit("3,500 files")
    change = open_pull_request(clone, github.opens(7), Remote(github.url)).change()
    assert len(change.files) == 3_501


def test_hostile_words_stay_words(github: Served, clone: Path) -> None:
    words = "--upload-pack=touch /tmp/x\n::error::😀 \u202e'; $(id) `id`"
    pull = replace(github.opens(7), title=words, body=words, author="-x", head_ref="--upload-pack=evil\n😀")
    change = open_pull_request(clone, pull, Remote(github.url)).change()
    assert (change.title, change.body, change.author, change.label) == (words, words, "-x", "pr-7")


def test_objects_that_are_no_commits_by_name_are_not_asked_for(github: Served, clone: Path) -> None:
    for sha in ("--upload-pack=evil", "main", "refs/heads/main:refs/heads/main", ""):
        with pytest.raises(SourceError, match=r"^Pull request #7 names no commits\.$"):
            open_pull_request(clone, replace(github.opens(7), base_sha=sha), Remote(github.url))


# --- the specification ----------------------------------------------------------------------------


def test_what_the_closed_issues_say_is_the_specification(github: Served, clone: Path) -> None:
    pull = github.opens(7)
    issues = (LinkedIssue(NAME, 3, "Two is missing", "Add it."), LinkedIssue("octo/lib", 4, "And elsewhere", ""))
    source = open_pull_request(clone, pull, Remote(github.url), about=About(issues=issues))
    text = "# #3: Two is missing\n\nAdd it.\n\n# octo/lib#4: And elsewhere"
    assert source.change().spec == Spec("issues #3, octo/lib#4", text)


def test_a_spec_line_comes_before_the_issues_and_the_users_own_before_both(github: Served, clone: Path) -> None:
    pull = replace(github.opens(7), body="spec: app.py")
    about = About(issues=(LinkedIssue(NAME, 3, "Two is missing", ""),))
    named = open_pull_request(clone, pull, Remote(github.url), about=about).change().spec
    assert named is not None
    assert named.origin.startswith("app.py at base ")
    given = Spec("mine.md", "what I say")
    about = replace(about, spec=given, title="mine", body="my words")
    change = open_pull_request(clone, pull, Remote(github.url), about=about).change()
    assert (change.spec, change.title, change.body) == (given, "mine", "my words")


# --- what an earlier review left behind -----------------------------------------------------------


def earlier(head_sha: str) -> Earlier:
    return Earlier(head_sha, "b" * 40, "d" * 16, complete=True, is_ancestor=False, paths=frozenset())


def test_earlier_attempts_and_what_differs_since_are_part_of_the_facts(github: Served, clone: Path) -> None:
    first = github.opens(7)
    github.work.git("checkout", "--quiet", "topic")
    github.work.write("second.py")
    github.work.write("tests/é\n.py")
    github.work.commit("A second push")
    source = open_pull_request(clone, github.opens(7), Remote(github.url))
    assert (source.change().prior_fix_attempts, source.change().earlier) == (0, None)
    told = source.after(2, earlier(first.head_sha)).change()
    known = replace(earlier(first.head_sha), is_ancestor=True, paths=frozenset({"second.py", "tests/é\n.py"}))
    assert told == replace(source.change(), prior_fix_attempts=2, earlier=known)


def test_what_git_calls_renamed_since_the_last_review_is_part_of_the_facts(github: Served, clone: Path) -> None:
    """A file that the pull request brought has no other name between its base and its head."""
    work = github.work
    texts = {name: "".join(f"{name} = {n}\n" for n in range(30)) for name in ("moved", "edited", "kept", "gone")}
    for name, text in texts.items():
        work.write(f"{name}.py", text)
    work.commit("Bring four files")
    first = github.opens(7)
    work.git("rm", "--quiet", "moved.py", "edited.py", "gone.py")
    work.write("tests/é\n.py", texts["moved"])
    work.write("other.py", texts["edited"].replace("edited = 3\n", "edited = 4\n"))
    work.write("copy.py", texts["kept"])
    work.commit("Move two of them, remove one, copy one")
    source = open_pull_request(clone, github.opens(7), Remote(github.url)).after(1, earlier(first.head_sha))
    change = source.change()
    assert change.earlier is not None
    assert change.earlier.renames == {("moved.py", "tests/é\n.py"), ("edited.py", "other.py")}
    assert change.earlier.paths == {"moved.py", "tests/é\n.py", "edited.py", "other.py", "gone.py", "copy.py"}
    facts = {each.path: (each.old_path, each.earlier_path) for each in file_facts(change, (Shard(0, change.files),))}
    assert facts["tests/é\n.py"] == (None, "moved.py")
    assert {name for name, told in facts.items() if told == (None, None)} == {"app.py", "kept.py", "copy.py"}


def test_a_rewritten_history_is_no_continuation(github: Served, clone: Path) -> None:
    first = github.opens(7)
    github.work.git("checkout", "--quiet", "-B", "topic", "main")
    github.work.write("again.py")
    github.work.commit("Started over")
    source = open_pull_request(clone, github.opens(7), Remote(github.url))
    assert source.after(1, earlier(first.head_sha)).change().earlier == earlier(first.head_sha)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("sha", ["f" * 40, "--output=evil", "main", ""])
def test_an_earlier_head_that_nobody_knows_is_no_continuation(github: Served, clone: Path, sha: str) -> None:
    source = open_pull_request(clone, github.opens(7), Remote(github.url))
    assert source.after(0, earlier(sha)).change().earlier == earlier(sha)


WRITTEN = "one = 1\nzero = 0\ntwo = 2\n"


def touched_since(github: Served, clone: Path, first: PullRequest, **whole: str) -> Touched | None:
    """What git says of the lines since a complete review of ``first``."""
    facts = {"head_sha": first.head_sha, "base_sha": first.base_sha, "base_ref": "main", **whole}
    known = replace(earlier(first.head_sha), whole=CompleteReview(**facts))
    change = open_pull_request(clone, github.opens(7), Remote(github.url)).after(1, known).change()
    assert change.earlier is not None
    return change.earlier.touched


def test_the_lines_that_a_push_adds_are_new_and_those_that_it_replaces_are_rework(github: Served, clone: Path) -> None:
    first = github.opens(7)
    github.work.write("app.py", WRITTEN.replace("two = 2\n", "two = 22\n") + "three = 3\n" * 4)
    github.work.write("new.py", "a = 1\n")
    github.work.commit("A second push")
    assert touched_since(github, clone, first) == {
        "app.py": (TouchedLines(3, 7, Age.NEW),),
        "new.py": (TouchedLines(1, 1, Age.NEW),),
    }
    github.work.write("app.py", WRITTEN.replace("two = 2\n", "two = 22\n"))
    github.work.commit("A third push")
    assert touched_since(github, clone, first) == {
        "app.py": (TouchedLines(3, 3, Age.REWORKED),),
        "new.py": (TouchedLines(1, 1, Age.NEW),),
    }


def test_lines_that_a_force_push_leaves_alone_are_unchanged(github: Served, clone: Path) -> None:
    """The forge still has the commit that no branch leads to any more."""
    github.work.git("--git-dir", str(github.bare), "config", "uploadpack.allowAnySHA1InWant", "true")
    first = github.opens(7)
    github.work.git("checkout", "--quiet", "-B", "topic", "main")
    github.work.write("app.py", WRITTEN)
    github.work.write("new.py", "a = 1\n")
    github.work.commit("Started over")
    assert touched_since(github, clone, first) == {"new.py": (TouchedLines(1, 1, Age.NEW),)}


def test_what_was_merged_from_the_base_in_between_is_no_reason_to_begin_anew(github: Served, clone: Path) -> None:
    first = github.opens(7)
    github.work.git("checkout", "--quiet", "main")
    github.work.write("other.py")
    github.work.commit("Somebody else's work")
    github.work.git("checkout", "--quiet", "topic")
    github.work.git("merge", "--quiet", "--no-edit", "main")
    touched = touched_since(github, clone, first)
    assert touched is not None
    assert "app.py" not in touched


@pytest.mark.parametrize(
    "whole",
    [
        {"head_sha": "f" * 40},
        {"head_sha": ""},
        {"head_sha": "--output=evil"},
        {"base_sha": "f" * 40},
        {"base_sha": ""},
        {"base_ref": "release"},
        {"base_ref": ""},
    ],
)
def test_where_it_cannot_be_told_what_differs_every_line_is_new(
    github: Served, clone: Path, whole: dict[str, str]
) -> None:
    assert touched_since(github, clone, github.opens(7), **whole) is None


def test_after_the_base_was_taken_back_every_line_is_new(github: Served, clone: Path) -> None:
    """Lines that are the same may be part of the change for the first time."""
    first = github.opens(7)
    github.work.git("branch", "--quiet", "--force", "main", "main~1")
    assert touched_since(github, clone, first) is None


# --- the head and the merge base ------------------------------------------------------------------


def test_a_head_that_moved_between_api_and_fetch(github: Served, clone: Path) -> None:
    pull = github.opens(7)
    github.work.write("app.py", "something else\n")
    moved = github.work.commit("Another push")
    github.push("topic:refs/pull/7/head")
    said = f"The head of pull request #7 moved from {pull.head_sha[:12]} to {moved[:12]} while it was being read: "
    with pytest.raises(SourceError, match=f"^{said}start the review again.$"):
        open_pull_request(clone, pull, Remote(github.url))


def test_a_head_that_was_force_pushed_is_read_anew(github: Served, clone: Path) -> None:
    open_pull_request(clone, github.opens(7), Remote(github.url))
    github.work.git("checkout", "--quiet", "-B", "topic", "main")
    github.work.write("again.py")
    github.work.commit("Start again")
    change = open_pull_request(clone, github.opens(7), Remote(github.url)).change()
    assert [file.path for file in change.files] == ["again.py"]


def shallow(github: Served, place: Path) -> Path:
    return github.clone(place, "--depth=1")


def grow(repo: Repo, branch: str, count: int) -> None:
    """So many commits without a change on top of a branch."""
    tip, tree = repo.rev(branch), repo.rev(f"{branch}^{{tree}}")
    stream = "".join(
        f"commit refs/heads/{branch}\nmark :{n}\ncommitter A <a@example.org> {1_700_000_000 + n} +0000\n"
        f"data 1\nx\nfrom {tip if n == 1 else f':{n - 1}'}\n"
        for n in range(1, count + 1)
    )
    repo.git("fast-import", "--quiet", "--force", stdin=stream.encode())
    assert repo.rev(f"{branch}^{{tree}}") == tree


def test_a_shallow_checkout_is_deepened_as_far_as_needed(github: Served, tmp_path: Path) -> None:
    github.work.git("checkout", "--quiet", "--detach")
    grow(github.work, "main", DEPTHS[0] + 10)
    pull = github.opens(7)
    clone = shallow(github, tmp_path / "shallow")
    before = everything(clone)
    source = open_pull_request(clone, pull, Remote(github.url))
    assert [file.path for file in source.change().files] == ["app.py"]
    assert source.base_sha == github.work.rev("topic~1")
    assert everything(clone) == before, "the clone stays as shallow as it was"


@pytest.mark.every_case
def test_a_merge_base_out_of_reach(github: Served, tmp_path: Path) -> None:
    github.work.git("checkout", "--quiet", "--detach")
    grow(github.work, "main", DEPTHS[-1] + 1)
    pull = github.opens(7)
    clone = shallow(github, tmp_path / "shallow")
    with pytest.raises(SourceError, match=r"no common ancestor within 4,096 commits; .*fetch-depth: 0"):
        open_pull_request(clone, pull, Remote(github.url))


def test_histories_that_have_nothing_in_common(github: Served, clone: Path) -> None:
    github.work.git("checkout", "--quiet", "--orphan", "stranger")
    github.work.commit("From nowhere")
    with pytest.raises(SourceError, match=r"no common ancestor: their histories are unrelated\.$"):
        open_pull_request(clone, github.opens(7, "stranger"), Remote(github.url))


def test_an_older_ancestor_in_sight_does_not_hide_a_revert(github: Served, tmp_path: Path) -> None:
    """A head that reverts a fix, padded until the fix is out of sight, with a short cut to what was before it."""
    work = github.work
    old = work.rev("main")
    work.git("checkout", "--quiet", "main")
    work.write("app.py", "one = 1\nzero = 0\nfixed = True\n")
    fix = work.commit("Fix a hole")
    work.git("checkout", "--quiet", "-B", "topic", fix)
    grow(work, "topic", DEPTHS[0] + 10)
    tree = work.rev(f"{old}^{{tree}}")
    message = ["-m", "Harmless"]
    head = work.git("commit-tree", tree, "-p", "topic", "-p", old, *message).decode().strip()
    work.git("checkout", "--quiet", "-B", "topic", head)
    change = open_pull_request(shallow(github, tmp_path / "s"), github.opens(7), Remote(github.url)).change()
    assert [(file.path, file.removed) for file in change.files] == [("app.py", 1)]


def test_a_shallow_clone_of_ones_own_is_not_believed_either(github: Served, tmp_path: Path) -> None:
    work = github.work
    old = work.rev("main~1")
    grow(work, "topic", 5)
    head = work.git("commit-tree", work.rev("topic^{tree}"), "-p", "topic", "-p", old, "-m", "x").decode().strip()
    work.git("push", "--quiet", str(github.bare), f"{head}:refs/heads/topic")
    clone = github.clone(tmp_path / "s", "--depth=3", "--no-single-branch")
    with pytest.raises(SourceError, match=r"no common ancestor here: the clone is shallow"):
        open_base(clone, "origin/topic")


# --- who may read, and what becomes of the token ---------------------------------------------------


def spying_git(folder: Path) -> Path:
    """A git that keeps what it was started with, and then is the real one."""
    real = shutil.which("git")
    log = folder / "git.log"
    executable(
        folder / "bin" / "git",
        f'#!/bin/sh\n{{ printf "%s\\n" "ARGV $*"; env | sed "s/^/ENV /"; }} >> {log}\nexec {real} "$@"\n',
    )
    return log


def test_the_token_opens_the_door_and_stands_nowhere(
    github: Served, clone: Path, tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = spying_git(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    pull = github.opens(7)
    with git_by_http(github.root, CREDENTIAL) as door:
        source = open_pull_request(clone, pull, Remote(f"{door.url}/{NAME}.git", TOKEN))
        assert [file.path for file in source.change().files] == ["app.py"]
    assert set(door.authorizations) == {CREDENTIAL}
    secrets = (TOKEN, CREDENTIAL.removeprefix("Basic "))
    seen = log.read_text().splitlines()
    assert any(line.startswith("ARGV") and " fetch " in line for line in seen)
    assert not any(secret in line for line in seen for secret in secrets if line.startswith("ARGV"))
    holders = {line.partition("=")[0] for line in seen for secret in secrets if secret in line}
    assert holders == {"ENV GIT_CONFIG_VALUE_0"}, "and only the fetch is told"
    assert sum("ENV GIT_CONFIG_VALUE_0" in line for line in seen) == 1
    on_disk = [path for place in (clone, scratch) for path in place.rglob("*") if path.is_file()]
    assert not any(secret.encode() in path.read_bytes() for path in on_disk for secret in secrets)


def test_a_token_that_is_not_accepted(github: Served, clone: Path) -> None:
    pull = github.opens(7)
    with git_by_http(github.root, CREDENTIAL) as door:
        for token, said in ((None, r"it needs a token \(GITHUB_TOKEN\)"), ("wrong", "this token may not read it")):
            with pytest.raises(SourceError, match=rf"^Pull request #7 cannot be fetched from http://\S+: {said}\.$"):
                open_pull_request(clone, pull, Remote(f"{door.url}/{NAME}.git", token))


def test_the_token_does_not_follow_a_redirect(github: Served, clone: Path) -> None:
    pull = github.opens(7)
    with git_by_http(github.root) as elsewhere, git_by_http(github.root, redirect_to=elsewhere.url) as door:
        with pytest.raises(SourceError, match=r"^Pull request #7 cannot be fetched"):
            open_pull_request(clone, pull, Remote(f"{door.url}/{NAME}.git", TOKEN))
        assert elsewhere.authorizations == []


def test_a_public_repository_needs_no_token(github: Served, clone: Path) -> None:
    pull = github.opens(7)
    with git_by_http(github.root) as door:
        open_pull_request(clone, pull, Remote(f"{door.url}/{NAME}.git")).change()
    assert set(door.authorizations) == {None}


def test_a_pull_request_that_git_does_not_know(github: Served, clone: Path) -> None:
    pull = replace(github.opens(7), number=8)
    with pytest.raises(
        SourceError, match=r"cannot be fetched from file:\S+: couldn't find remote ref refs/pull/8/head\.$"
    ):
        open_pull_request(clone, pull, Remote(github.url))


def test_settings_of_the_clone_have_no_say_in_the_fetch(github: Served, clone: Path, tmp_path: Path) -> None:
    mark, program = tmp_path / "it-ran", tmp_path / "evil"
    executable(program, f"#!/bin/sh\ntouch {mark}\nexec cat\n")
    for key, value in {
        f"url.ext::{program} .insteadOf": github.url,
        "protocol.ext.allow": "always",
        "core.alternateRefsCommand": str(program),
        "core.sshCommand": str(program),
        "credential.helper": str(program),
        "fetch.recurseSubmodules": "true",
        "remote.origin.uploadpack": str(program),
        "transfer.hideRefs": "refs",
        "core.hooksPath": str(tmp_path),
        "gc.auto": "1",
    }.items():
        Repo(clone).git("config", key, value)
    executable(clone / ".git" / "hooks" / "reference-transaction", f"#!/bin/sh\ntouch {mark}\n")
    change = open_pull_request(clone, github.opens(7), Remote(github.url)).change()
    assert ([file.path for file in change.files], mark.exists()) == (["app.py"], False)
