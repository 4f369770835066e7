"""What ``review`` takes without a range, and the forms in which it prints."""

from __future__ import annotations

import json

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.git_repository import Repo

TRACKED_AND_KNOWN = "Untracked and not sent (--untracked sends them): new.py."


def files(out: str) -> list[str]:
    return [file["path"] for file in json.loads(out)["coverage"]]


@pytest.fixture
def branch(terminal: Terminal) -> Repo:
    """A branch of one commit, with an edit that is not committed, a new file and an ignored one."""
    repo = Repo(terminal.folder)
    repo.git("switch", "--quiet", "--create", "topic")
    repo.write(".gitignore", "*.log\nreview_logs/\n")
    repo.write("committed.py", "x = 1\n")
    repo.commit("The topic")
    repo.write("committed.py", "x = 2\n")
    repo.write("new.py", "y = 1\n")
    repo.write("secret.log", "z\n")
    return repo


@pytest.mark.usefixtures("branch")
def test_without_a_range_it_takes_the_branch_and_what_is_not_committed_and_says_so(terminal: Terminal) -> None:
    done = terminal.review("--json", of=())
    assert done.code == 0, done.err
    assert sorted(files(done.out)) == [".gitignore", "committed.py"]
    said = done.err.splitlines()
    assert said[0].startswith("Reviewing the changes since main (")
    assert said[0].endswith("), with what is not committed of tracked files.")
    assert said[1] == TRACKED_AND_KNOWN


def test_what_is_on_disk_counts_and_the_index_stays_as_it_is(terminal: Terminal, branch: Repo) -> None:
    before = branch.git("status", "--porcelain"), branch.git("count-objects")
    done = terminal.review("--json", of=())
    assert json.loads(done.out)["title"].startswith("changes since main (")
    assert (branch.git("status", "--porcelain"), branch.git("count-objects")) == before


@pytest.mark.usefixtures("branch")
def test_untracked_files_are_sent_on_request_and_ignored_ones_never(terminal: Terminal) -> None:
    done = terminal.review("--json", "--untracked", of=())
    assert sorted(files(done.out)) == [".gitignore", "committed.py", "new.py"]
    assert "Untracked and sent: new.py." in done.err.splitlines()


def test_on_the_default_branch_it_takes_what_is_not_committed(terminal: Terminal) -> None:
    repo = Repo(terminal.folder)
    assert terminal.review(of=()).out == "NOTHING TO REVIEW: the change is empty\n"
    (tracked, *_) = repo.git("ls-files").decode().splitlines()
    repo.write(tracked, "changed = 1\n")
    done = terminal.review("--json", of=())
    assert files(done.out) == [tracked]
    assert done.err.startswith("Reviewing the changes since the last commit, with")


@pytest.mark.parametrize("words", [("--untracked", "--staged"), ("--staged", "--base", "main"), ("--allow-unchecked",)])
def test_choices_that_exclude_one_another_are_refused(terminal: Terminal, words: tuple[str, ...]) -> None:
    assert terminal.review(*words, of=()).code == 2


@pytest.mark.parametrize("wrong, near", [("mian", "main"), ("origin/main", "main"), ("nothing-like-it-at-all", None)])
def test_an_unknown_base_names_the_nearest_refs(terminal: Terminal, wrong: str, near: str | None) -> None:
    done = terminal.review(of=("--base", wrong))
    assert done.code == 2
    assert done.sentence.endswith(f"The nearest names here: {near}.") == (near is not None)
    assert ("nearest" in done.sentence) == (near is not None)


@pytest.mark.every_case
def test_each_format_prints_one_thing(terminal: Terminal) -> None:
    printed = {form: terminal.review("--format", form).out for form in ("text", "json", "markdown", "sarif", "github")}
    assert printed["text"].startswith("APPROVED\n")
    assert json.loads(printed["json"])["outcome"] == "approved"
    assert printed["markdown"].startswith("## ")
    assert json.loads(printed["sarif"])["version"] == "2.1.0"
    assert printed["github"].startswith("review-advisor: Approved")
    assert terminal.review("--json").out.startswith('{\n  "schema_version"')
    assert terminal.review("--json", "--format", "sarif").code == 2


def test_quiet_leaves_the_result_alone(terminal: Terminal) -> None:
    done = terminal.review("--quiet")
    assert (done.err, done.out.splitlines()[0]) == ("", "APPROVED")


def test_a_gate_that_passes_prints_one_line_and_nothing_else(terminal: Terminal) -> None:
    done = terminal.review("--gate")
    assert (done.code, done.out, done.err) == (0, "APPROVED\n", "")


def test_how_it_came_about_is_told_on_request(terminal: Terminal) -> None:
    assert "post-verify" not in terminal.review().out
    assert "  post-verify  APPROVE" in terminal.review("--explain").out


def test_what_another_tool_found_is_read_before_anything_is_paid(terminal: Terminal) -> None:
    log = terminal.folder.parent / "other.sarif"
    log.write_text('{"version": "2.1.0", "runs": []}')
    assert terminal.review("--with-sarif", log).code == 0
    log.write_text("no log")
    done = terminal.review("--with-sarif", log)
    assert (done.code, done.sentence) == (2, f"{log} is no SARIF log: it is not JSON.")
    assert terminal.run("review", "--agent", "embedded", "--with-sarif", log).code == 2
