"""A change of CI that could take the gate away is judged as a change of the bot; any other is reviewed like code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.adapters.git_repository import Repo
from tests.attacks.workflow_edits import CI, HOSTILE, ORDINARY, OTHER, PATH, RELEASE, REVIEW, SHA
from tests.scenarios.publishing import AUTHOR, REPOSITORY, Desk

from review_advisor.agents.calls import LostReason
from review_advisor.app.ci import own_facts
from review_advisor.change.ci_files import CalledFiles
from review_advisor.change.sources import open_range
from review_advisor.mockworld.agents import lost
from review_advisor.mockworld.github_records import PullFile
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.policy import Policy, Rules, decide_policy
from review_advisor.policy.risk import BlastRadius
from review_advisor.policy.surfaces import Authority, Role
from review_advisor.policy.switches import read_switches
from review_advisor.review.own_facts import OwnFacts
from review_advisor.review.rulings import Outcome

REVIEWED = {".github/workflows/review.yml": REVIEW, ".github/workflows/ci.yml": CI, ".github/workflows/r.yml": RELEASE}


@pytest.fixture
def world() -> Iterator[MockWorld]:
    world = MockWorld()
    yield world
    world.finish()


@pytest.mark.parametrize("attack", HOSTILE)
def test_without_a_judgement_no_hostile_edit_is_approved(world: MockWorld, attack: str) -> None:
    world.source.stated = replace(HOSTILE[attack], title="Tidy up")
    world.agents.script(Role.POST_VERIFY, lost(LostReason.SERVER_ERROR))
    document = world.review()
    assert document.policy.guard.holds
    assert document.policy.blast.radius is BlastRadius.HIGH
    assert document.outcome is Outcome.ESCALATED


@pytest.mark.parametrize("edit", ORDINARY)
def test_an_ordinary_edit_is_no_change_of_the_bot(world: MockWorld, edit: str) -> None:
    world.source.stated = replace(ORDINARY[edit], title="Tidy up")
    document = world.review()
    assert not document.policy.guard.holds
    low = "bump" in edit or "script" in edit
    assert document.policy.blast.radius is (BlastRadius.LOW if low else BlastRadius.MEDIUM)
    assert document.outcome is Outcome.APPROVED


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "repo")
    for path, text in {**REVIEWED, "scripts/prepare.sh": "make\n", "scripts/other.sh": "make\n"}.items():
        repo.write(path, text)
    repo.commit("Begin")
    return repo


@pytest.mark.parametrize("hidden", ["", "\r      - run: make evil", "\u2028      - run: make evil"])
def test_the_forge_shows_publishing_what_hides_behind_a_bump(hidden: str) -> None:
    old, new = f"      - uses: actions/checkout@{SHA} # v4.1.0", f"      - uses: actions/checkout@{OTHER} # v5{hidden}"
    desk = Desk()
    desk.github.commits(REPOSITORY, "main", {PATH: RELEASE}, by=AUTHOR)
    listing = (PullFile(PATH, patch=f"@@ -12 +12 @@\n-{old}\n+{new}"),)
    pull = desk.github.opens(REPOSITORY, {PATH: RELEASE.replace(old, new)}, by=AUTHOR, listing=listing)
    stated = desk.forge.pull_request(pull.number)
    known = own_facts(desk.forge, stated, stated.base_sha, {})
    assert isinstance(known, OwnFacts)
    assert known.watched == ((PATH,) if hidden else ())


def decided(repo: Repo, path: str, text: str) -> Policy:
    repo.write(path, text)
    repo.commit("Change")
    return decide_policy(open_range(repo.path, "HEAD~1..HEAD").change(), Rules(), read_switches({}))


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "path, text",
    [
        (".github/workflows/ci.yml", CI.replace("contents: read", "checks: write")),
        (".github/workflows/ci.yml", CI.replace("name: ci", "name: review-advisor")),
        (".github/workflows/ci.yml", CI.replace("make test", "echo ${{ secrets.MODEL_KEY }}")),
        (".github/workflows/new.yml", CI),
        (".github/workflows/review.yml", REVIEW.replace("review:", "other:")),
        ("scripts/prepare.sh", "make evil\n"),
        (".github/actions/prepare/action.yml", "runs: evil\n"),
    ],
)
def test_git_shows_the_guard_what_it_looks_for(repo: Repo, path: str, text: str) -> None:
    policy = decided(repo, path, text)
    assert policy.guard.paths == (path,)
    assert {row.authority for row in policy.surfaces} == {Authority.VETO}


PREPARE, CREDS = ".github/actions/prepare/action.yml", "ci/creds/action.yaml"


@pytest.mark.one_in(5)
@pytest.mark.parametrize("path", [CREDS, "ci/creds/login.py", "tools/creds.sh", "tools/shared.sh", "tools/deep.sh"])
def test_what_the_bots_workflow_calls_is_watched_however_many_steps_away(repo: Repo, path: str) -> None:
    repo.write(PREPARE, "runs:\n  steps:\n    - uses: ./ci/creds\n    - uses: './.github/actions/none'\n")
    repo.write(CREDS, "runs:\n  steps:\n    - run: bash tools/creds.sh\n    - uses: ./.github/actions/prepare\n")
    repo.write(".github/workflows/shared.yml", "jobs: {a: {uses: ./.github/workflows/deep.yml}} # tools/shared.sh\n")
    repo.write(".github/workflows/deep.yml", "run: tools/deep.sh\n")
    repo.commit("Call further")
    assert decided(repo, path, "evil\n").guard.paths == (path,)
    assert not decided(repo, "tools/other.sh", "make\n").guard.holds


LINKS = {
    "an action's folder is a link": (".github/actions/linked", "../../ci/real", "- uses: ./.github/actions/linked\n"),
    "a folder above the action is a link": ("steps", "ci", "- uses: ./steps/real\n"),
    "a script's folder is a link": ("tasks", "ci/real", "- run: bash tasks/run.sh\n"),
    "a script is a link": ("tools/run.sh", "../ci/real/run.sh", "- run: bash tools/run.sh\n"),
    "the way leads through two links": ("steps", "more", "- uses: ./steps/real\n"),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("case", LINKS)
def test_what_the_bots_workflow_calls_through_a_link_is_watched(repo: Repo, case: str) -> None:
    link, target, text = LINKS[case]
    repo.write(PREPARE, f"runs:\n  steps:\n    {text}")
    repo.write("ci/real/action.yml", "runs: {steps: [{run: tools/deep.sh}]}\n")
    repo.write("ci/real/run.sh", "make\n")
    repo.write("ci/other.sh", "make\n")
    repo.symlink("more", "ci")
    repo.symlink(link, target)
    repo.commit("Call through a link")
    assert decided(repo, "ci/real/run.sh", "evil\n").guard.paths == ("ci/real/run.sh",)
    if "uses" in text:
        assert decided(repo, "tools/deep.sh", "evil\n").guard.paths == ("tools/deep.sh",)
    assert not decided(repo, "ci/other.sh", "make more\n").guard.holds
    repo.symlink(link, "scripts")
    repo.commit("Lead elsewhere")
    changed = decide_policy(open_range(repo.path, "HEAD~1..HEAD").change(), Rules(), read_switches({}))
    assert changed.guard.paths == (link,)


@pytest.mark.every_case
@pytest.mark.parametrize("target", ["/elsewhere/ci", "../outside", "none"])
def test_where_a_called_link_leads_nowhere_in_the_repository_all_of_ci_is_watched(repo: Repo, target: str) -> None:
    repo.write(PREPARE, "runs:\n  steps:\n    - uses: ./steps/real\n")
    repo.symlink("steps", target)
    repo.commit("Call through a link")
    ordinary = CI.replace("3.12", "3.13")
    held = decided(repo, ".github/workflows/ci.yml", ordinary).guard.holds
    assert held is (target != "none")


OWN_NAMES = {
    "an action": ("octo/demo/.github/actions/mine@main", ".github/actions/mine/run.sh"),
    "an action anywhere": ("octo/demo/steps@main", "steps/lib/run.js"),
    "a workflow": ("octo/demo/.github/workflows/deep.yml@v1", ".github/workflows/deep.yml"),
    "what that calls": ("octo/demo/.github/actions/mine@main", "tools/mine.sh"),
    "the action at the root": ("octo/demo@main", "action.yml"),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("case", OWN_NAMES)
def test_what_the_bots_workflow_calls_by_the_repositorys_own_name_is_watched(repo: Repo, case: str) -> None:
    name, path = OWN_NAMES[case]
    repo.write(PREPARE, f"runs:\n  steps:\n    - uses: {name}\n")
    repo.write(".github/actions/mine/action.yml", "runs: {steps: [{run: tools/mine.sh}]}\n")
    repo.write(".github/workflows/deep.yml", CI)
    repo.commit("Call by name")
    assert decided(repo, path, "evil\n").guard.paths == (path,)
    assert not decided(repo, "tools/other.sh", "make\n").guard.holds


def test_the_root_action_is_called_by_the_repositorys_own_name_only() -> None:
    text = "- uses: actions/checkout@v4\n- uses: octo/demo@main\n"
    for repository, called in (("Octo/Demo", True), ("octo/other", False), (None, True)):
        assert CalledFiles(((".github/workflows/r.yml", text),), repository).names("action.yml") is called


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    "text", ["".join(f"- uses: ./ci/{n}\n" for n in range(101)), "- uses: ./ci/large\n"], ids=["many", "large"]
)
@pytest.mark.parametrize("path", [".github/workflows/ci.yml", ".github/actions/another/run.sh", "lib/action.yml"])
def test_where_the_bots_workflow_calls_too_much_all_of_ci_is_watched(repo: Repo, text: str, path: str) -> None:
    repo.write(PREPARE, text)
    repo.write("ci/large/action.yml", "#" * 1_000_001 if "large" in text else "")
    repo.write(path, CI)
    repo.commit("Call much")
    assert decided(repo, path, CI.replace("3.12", "3.13")).guard.paths == (path,)
    assert not decided(repo, "src/app.py", "value = 1\n").guard.holds


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "path, text, radius",
    [
        (".github/workflows/ci.yml", CI.replace("3.12", "3.13"), BlastRadius.MEDIUM),
        (".github/workflows/r.yml", RELEASE.replace(SHA, "c" * 40), BlastRadius.LOW),
        ("scripts/other.sh", "make more\n", BlastRadius.LOW),
    ],
)
def test_git_shows_an_ordinary_edit_as_one(repo: Repo, path: str, text: str, radius: BlastRadius) -> None:
    policy = decided(repo, path, text)
    assert not policy.guard.holds
    assert policy.blast.radius is radius
