"""``review --pr``: GitHub says which pull request it is, git says what is in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.command_line import APPROVE, CONFIRM, Done, Terminal, script, scripted_review
from tests.adapters.git_remote import NAME, Served, served
from tests.adapters.github.door import Door, opened

from review_advisor.app.review import Selection, open_change
from review_advisor.change.change import Change, SourceError
from review_advisor.change.sources import About
from review_advisor.github.state import SUMMARY, State, state_block
from review_advisor.mockworld.github import READING_ABILITIES, GitHub
from review_advisor.mockworld.github_records import Pull
from review_advisor.policy.risk import BlastRadius
from review_advisor.policy.settings import ConfigError
from review_advisor.review.rulings import Outcome

pytestmark = pytest.mark.every_case  # `make test` runs the ones of their kind

APP = "advisor[bot]"


@dataclass
class World:
    """GitHub's API and git's side of the same repository, a checkout of its base, and somebody at a terminal."""

    github: GitHub
    door: Door
    git: Served
    clone: Path
    terminal: Terminal
    environ: dict[str, str] = field(default_factory=dict)

    def opens(self, *, by: str = "mona", **difference: Any) -> Pull:
        """A pull request with what is on ``topic``."""
        pull = self.github.opens(NAME, by=by, title="Add two", sha=self.git.work.rev("topic"), **difference)
        self.git.push("main:refs/heads/main", f"topic:refs/pull/{pull.number}/head")
        return pull

    def review(self, *words: str | Path, env: dict[str, str] | None = None) -> Done:
        """A review by the embedded agent."""
        said = ("review", "--agent", "embedded", "--repo", self.clone, "--artifacts", self.clone.parent / "logs")
        return self.terminal.run(*said, *words, env={**self.environ, **(env or {})})

    def outcome(self, *words: str | Path, env: dict[str, str] | None = None) -> dict[str, Any]:
        """The document of a review that ran to its end."""
        done = self.review("--json", *words, env=env)
        assert done.code in (0, 10, 11), done.err
        document: dict[str, Any] = json.loads(done.out)
        return document

    def open(self, selection: Selection, env: dict[str, str] | None = None) -> Change:
        """What a review of it would read."""
        return open_change(self.clone, selection, About(), None, {**self.environ, **(env or {})}).change()

    def refused(self, selection: Selection, env: dict[str, str] | None = None) -> str:
        """The sentence with which nothing is reviewed."""
        with pytest.raises(SourceError) as refusal:
            self.open(selection, env)
        return str(refusal.value)


def named(pull: Pull) -> Selection:
    """The pull request by its name."""
    return Selection("pull_request", f"{NAME}#{pull.number}")


@pytest.fixture
def world(tmp_path: Path, terminal: Terminal) -> Iterator[World]:
    git = served(tmp_path)
    clone = git.clone(tmp_path / "clone")
    github = GitHub()
    for login in ("mona", "octocat"):
        github.user(login)
    github.opens_repository(NAME)
    github.commits(NAME, "main", {"app.py": "one = 1\n"}, by="octo", sha=git.work.rev("main"))
    token = github.workflow_token(READING_ABILITIES)
    with opened(github) as door:
        environ = {
            "GITHUB_TOKEN": token.value,
            "GITHUB_API_URL": door.url,
            "GITHUB_SERVER_URL": f"file://{git.root}",
            "GITHUB_EVENT_NAME": "pull_request_target",
        }
        yield World(github, door, git, clone, terminal, {**environ})


# --- what is reviewed -----------------------------------------------------------------------------


@pytest.mark.one_of_its_kind
def test_a_first_review_is_bound_to_the_pull_request_d30(world: World) -> None:
    pull = world.opens(body="It adds two.")
    document = world.outcome("--pr", f"{NAME}#{pull.number}")
    told = {name: document[name] for name in ("repository", "pull_request", "label", "title", "base_sha", "head_sha")}
    assert told == {
        "repository": NAME,
        "pull_request": pull.number,
        "label": f"pr-{pull.number}",
        "title": "Add two",
        "base_sha": world.git.work.rev("main"),
        "head_sha": world.git.work.rev("topic"),
    }
    assert [file["path"] for file in document["coverage"]] == ["app.py"]
    assert (world.clone.parent / "logs" / f"pr-{pull.number}" / "outcome.json").is_file()


def test_nothing_is_checked_out_and_nothing_is_written(world: World) -> None:
    pull = world.opens()
    before = {path: path.read_bytes() for path in world.clone.rglob("*") if path.is_file()}
    world.outcome("--pr", f"{NAME}#{pull.number}")
    assert {path: path.read_bytes() for path in world.clone.rglob("*") if path.is_file()} == before
    assert world.environ["GITHUB_TOKEN"].encode() not in b"".join(before.values())
    place = world.github.repository(NAME)
    assert (list(place.checks), pull.comments, pull.labels) == ([], [], [])


def test_what_is_learned_from_a_pull_request_never_enters_the_checkout(world: World) -> None:
    """Its wiki folder is the base's: a page there would be of a change that nobody has merged."""
    world.git.work.git("checkout", "--quiet", "main")
    world.git.work.write(".review-advisor.toml", 'wiki_folder = "docs/wiki"\n')
    world.github.commits(NAME, "main", {}, by="octo", sha=world.git.work.commit("Keep a wiki"))
    selection = named(world.opens())
    entry = {"title": "It counts", "body": "Everything here is counted.", "path": "app.py", "evidence": "two = 2"}
    report = {"answer": {**APPROVE["answer"], "knowledge": [entry]}}
    replies = script(world.clone.parent, ReviewReport=[report], PostVerifyResult=[CONFIRM, CONFIRM])
    done = scripted_review(world.clone, replies, environ=world.environ, selection=selection)
    (stored,) = done.document.surfaces[-1].stored
    assert stored.not_in_repository == "the review of a pull request writes nothing into the checkout"
    assert (done.folder / "wiki" / "it-counts.md").is_file()
    assert not (world.clone / "docs").exists()


def test_a_number_is_enough_where_the_repository_is_known(world: World) -> None:
    pull = world.opens()
    change = world.open(Selection("pull_request", str(pull.number)), {"GITHUB_REPOSITORY": NAME})
    assert (change.repository, change.pull_request) == (NAME, pull.number)


def test_a_fork_is_read_through_the_repository_it_asks(world: World) -> None:
    world.github.forks(NAME, "octocat")
    pull = world.opens(by="octocat", branch="--upload-pack=touch x\n😀")
    assert world.open(named(pull)).head_sha == world.git.work.rev("topic")


def test_hostile_words_reach_neither_a_command_line_nor_the_log_as_they_are(world: World) -> None:
    pull = world.opens(body="::add-mask::x\n--upload-pack=y\n\u202e")
    pull.title = "::error::😀\n$(touch pwned)\u202e"
    done = world.review("--pr", f"{NAME}#{pull.number}")
    assert done.code in (0, 10, 11), done.err
    assert "\n::" not in done.out + done.err
    assert not (world.clone / "pwned").exists()


def test_a_draft_is_reviewed_when_somebody_asks_for_it(world: World) -> None:
    assert world.open(named(world.opens(draft=True))).head_sha == world.git.work.rev("topic")


def test_the_issues_that_it_closes_are_its_specification(world: World) -> None:
    issue = world.github.opens_issue(NAME, by="octocat", title="Two is missing", body="Add two.")
    spec = world.open(named(world.opens(closes=[issue.number]))).spec
    assert spec is not None
    assert (spec.origin, spec.text) == ("issue #1", "# #1: Two is missing\n\nAdd two.")


# --- what is remembered ---------------------------------------------------------------------------


def remembered(world: World, **difference: Any) -> State:
    return State(
        run_id="run_1",
        head_sha=world.git.work.rev("main"),
        base_sha=world.git.work.rev("main"),
        policy_digest="0" * 16,
        outcome=Outcome.CHANGES_REQUESTED,
        complete=True,
        blast=BlastRadius.LOW,
        **difference,
    )


def says(world: World, pull: Pull, state: State, *, by: str = APP) -> int:
    world.github.app_token("advisor")
    return world.github.comments(pull, by=by, body=f"{SUMMARY}\n{state_block(state)}").id


def test_earlier_attempts_count(world: World) -> None:
    pull = world.opens()
    state = remembered(world, fix_attempts=2)
    says(world, pull, state)
    change = world.open(named(pull))
    assert change.earlier is not None
    assert (change.earlier.head_sha, change.earlier.complete) == (state.head_sha, False), "no check vouches for it"
    assert change.prior_fix_attempts == 2


def test_a_first_review_remembers_nothing(world: World) -> None:
    assert world.open(named(world.opens())).earlier is None


def test_what_somebody_else_wrote_or_edited_is_not_the_bots_memory(world: World) -> None:
    pull = world.opens()
    says(world, pull, remembered(world, fix_attempts=9), by="mona")
    assert world.open(named(pull)).earlier is None
    says(world, pull, remembered(world, fix_attempts=9))
    world.github.edits(pull.comments[-1], by="mona", body=pull.comments[-1].body)
    change = world.open(named(pull))
    assert (change.earlier, change.prior_fix_attempts) == (None, 0)


# --- what is refused ------------------------------------------------------------------------------


def test_a_closed_or_merged_one(world: World) -> None:
    pull = world.opens()
    world.github.closes(pull)
    assert world.refused(named(pull)) == f"Pull request #{pull.number} is closed: only an open one is reviewed."
    pull.merged_at = 1
    assert world.refused(named(pull)) == f"Pull request #{pull.number} is merged: only an open one is reviewed."


def test_a_head_that_moved_between_api_and_fetch(world: World) -> None:
    pull = world.opens()
    world.git.work.write("app.py", "moved\n")
    moved = world.git.work.commit("Another push")
    world.git.push(f"topic:refs/pull/{pull.number}/head")
    said = f"The head of pull request #{pull.number} moved from {pull.head_sha[:12]} to {moved[:12]} while it was"
    assert world.refused(named(pull)).startswith(said)


def test_another_head_than_the_one_asked_for(world: World) -> None:
    pull = world.opens()
    name = f"{NAME}#{pull.number}"
    assert world.open(Selection("pull_request", name, pull.head_sha)).head_sha == pull.head_sha
    said = f"The head of pull request #{pull.number} is {pull.head_sha[:12]} by now, not {'c' * 12}: "
    assert world.refused(Selection("pull_request", name, "c" * 40)).startswith(said)


@pytest.mark.parametrize("name", [f"{NAME}#99", "octo/nothing#1"])
def test_what_is_not_there(world: World, name: str) -> None:
    number = name.partition("#")[2]
    said = world.refused(Selection("pull_request", name))
    assert said.startswith(f"GitHub could not read pull request #{number}: it is not there, ")


@pytest.mark.parametrize("name", ["", "7.", "octo/app", "octo/..#7", "octo/app#0", "--base=main"])
def test_what_names_nothing(world: World, name: str) -> None:
    assert repr(name.partition("#7")[0]) in world.refused(Selection("pull_request", name))


def test_no_token_or_a_wrong_one(world: World) -> None:
    pull = named(world.opens())
    assert world.refused(pull, {"GITHUB_TOKEN": ""}) == "There is no GitHub token: set GITHUB_TOKEN."
    assert world.refused(pull, {"GITHUB_TOKEN": "wrong"}).startswith("The token may not read pull request #1: ")


def test_addresses_that_are_none(world: World) -> None:
    pull = named(world.opens())
    assert world.refused(pull, {"GITHUB_SERVER_URL": "http://example.org"}).startswith("GITHUB_SERVER_URL must begin")
    assert "API URL" in world.refused(pull, {"GITHUB_API_URL": "http://example.org"})


def test_git_that_cannot_be_reached(world: World) -> None:
    pull = world.opens()
    (world.git.bare / "HEAD").unlink()
    assert world.refused(named(pull)).startswith(f"Pull request #{pull.number} cannot be fetched from file://")


def test_a_configuration_of_the_base_that_cannot_be_used(world: World) -> None:
    world.git.work.git("checkout", "--quiet", "main")
    world.git.work.write(".review-advisor.toml", "unknown = 1\n")
    world.github.commits(NAME, "main", {}, by="octo", sha=world.git.work.commit("Break it"))
    with pytest.raises(ConfigError, match=r"^\.review-advisor\.toml: unknown key 'unknown'; "):
        world.open(named(world.opens()))


def test_the_command_refuses_with_a_sentence_and_reads_no_head_of_anything_else(world: World) -> None:
    pull = world.opens()
    world.github.closes(pull)
    done = world.review("--pr", f"{NAME}#{pull.number}")
    said = f"Pull request #{pull.number} is closed: only an open one is reviewed."
    assert (done.code, done.sentence) == (2, said)
    done = world.review("--staged", "--head", "c" * 40)
    assert (done.code, done.sentence) == (2, "--head needs --pr: it names the head of a pull request.")
