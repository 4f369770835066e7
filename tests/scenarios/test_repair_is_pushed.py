"""A repair that was judged right is committed to the pull request's branch, last, and the push is reviewed again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import get_args

import pytest
from tests.scenarios.publishing import AUTHOR, REPOSITORY, Desk

from review_advisor.change.git_diff import GitPatcher
from review_advisor.github.forge import ForgeError
from review_advisor.github.publish import Published, PublishPhase
from review_advisor.github.state import StandingCheck
from review_advisor.mockworld.agents import Killed, approve, finding, reject, veto
from review_advisor.mockworld.copies import patch_between
from review_advisor.mockworld.copies import text_tree_name as tree_name
from review_advisor.mockworld.fake_forge import FakeForge
from review_advisor.mockworld.github import WORKFLOW_ABILITIES, GitHub
from review_advisor.mockworld.github_records import Protection
from review_advisor.mockworld.github_traffic import NoAnswer, RequestMoment, Reset, ServerFailure, Trouble, killed
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument, SuggestedRepair
from review_advisor.review.rulings import Outcome

APP = "src/app.py"
BASE = {APP: "def mean(rows):\n    return 0\n", "src/other.py": "x = 1\n"}
FAULT = "def mean(rows):\n    return sum(rows) / len(rows)\n"
MENDED = "def mean(rows):\n    return sum(rows) / len(rows) if rows else 0\n"
HEAD = {**BASE, APP: FAULT}
GOOD = {**HEAD, APP: MENDED}
NOTED = finding(APP, 2, "return sum(rows) / len(rows)\n", "low", "divides by zero")
APP_BOT = "acme-reviewer[bot]"
RULES = PublicationRules(login=APP_BOT, push_repairs=True)
BRANCH = "mean"


class RepairDesk(Desk):
    """A pull request with a fault, and a bot that writes as an app of the owner's."""

    def __init__(self, rules: PublicationRules = RULES, *, fork: bool = False) -> None:
        self.rules = rules
        self.github = GitHub()
        self.github.opens_repository(REPOSITORY, BASE)
        self.github.workflow_token()
        self.github.app_token("acme-reviewer", WORKFLOW_ABILITIES | {"contents:write"})
        if fork:
            self.github.forks(REPOSITORY, AUTHOR)
        self.pull = self.github.opens(REPOSITORY, {APP: FAULT}, by=AUTHOR, branch=BRANCH)
        self.world = MockWorld()
        self.clock = self.world.clock

    @property
    def forge(self) -> FakeForge:
        return FakeForge(self.github, REPOSITORY, self.rules.login)

    def repaired(self) -> OutcomeDocument:
        """The executor overlooks the fault, its judge does not, and then it mends it."""
        self.world.agents.script(Role.EXECUTOR, approve(NOTED), approve(summary="mended").repairing(APP, MENDED))
        self.world.agents.script(Role.POST_VERIFY, veto("an empty list divides by zero"))
        return self.of(HEAD)

    def of(self, head: Mapping[str, str]) -> OutcomeDocument:
        self.world.checkout(head, BASE)
        self.world.source.stated = replace(
            self.world.source.stated,
            label=f"pr-{self.pull.number}",
            base_ref=self.pull.base_ref,
            base_sha=self.github.base_sha(self.pull),
            head_sha=self.pull.head_sha,
        )
        return self.world.review()

    @property
    def branch(self) -> list[str]:
        """The messages of the branch's commits, the newest first."""
        return [self.github.objects.commits[sha].message for sha in self.github.objects.ancestry(self.pull.head_sha)]

    @property
    def files(self) -> dict[str, str]:
        """What the branch's tip holds."""
        tip = self.pull.head_sha
        return {
            path: (self.github.objects.content(tip, path) or b"").decode() for path in self.github.objects.files(tip)
        }

    def stays_a_suggestion(self, published: Published, because: str) -> None:
        assert self.branch[0] == self.pull.title
        assert because in published.notes[-1]
        assert "stays a suggestion" in self.summaries[0].body
        assert [check.conclusion for check in self.checks] == ["failure"]


@pytest.fixture
def desk() -> RepairDesk:
    return RepairDesk()


def with_repair(document: OutcomeDocument, **difference: object) -> OutcomeDocument:
    """The document with another repair in it, as whoever wrote the file could have made it."""
    assert document.repair is not None
    forged: SuggestedRepair = replace(document.repair, **difference)  # type: ignore[arg-type]
    return replace(document, repair=forged)


def smuggling(document: OutcomeDocument, after: Mapping[str, str]) -> OutcomeDocument:
    changed = tuple(sorted(path for path in after if after[path] != HEAD.get(path)))
    return with_repair(document, patch=patch_between(HEAD, after), files=changed, tree=tree_name(after))


# --- pushed -----------------------------------------------------------------------------------------------------------


def test_a_judged_repair_becomes_one_commit_on_the_reviewed_head(desk: RepairDesk) -> None:
    document = desk.repaired()
    reviewed = desk.pull.head_sha
    published = desk.publish(document)
    commit = desk.github.objects.commits[desk.pull.head_sha]
    assert commit.parents == (reviewed,)
    assert commit.tree == tree_name(GOOD)
    assert desk.files == GOOD
    assert published.notes[-1] == "the repair was committed to mean"
    assert [check.conclusion for check in desk.checks_on(reviewed)] == ["failure"]
    assert "gets a review of its own" in desk.summaries[0].body
    assert [each.operation for each in desk.github.traffic.writes][-1] == "update ref"


def test_its_message_is_ours_with_the_run_and_what_was_repaired(desk: RepairDesk) -> None:
    document = desk.repaired()
    (noted,) = document.surfaces[0].parts[0].reports[0].findings
    desk.publish(document)
    assert desk.branch[0] == (
        f"Repair what the review found\n\nReview-Advisor-Run: {document.run_id}\nReview-Advisor-Finding: {noted.id}\n"
    )


def test_the_push_is_judged_as_the_next_head(desk: RepairDesk) -> None:
    desk.publish(desk.repaired())
    desk.publish(desk.of(GOOD))
    assert [check.conclusion for check in desk.checks] == ["success"]
    state = desk.state
    assert state is not None
    assert state.rounds == 2
    assert len(desk.summaries) == 1


def test_publishing_again_after_the_push_is_superseded_and_pushes_nothing(desk: RepairDesk) -> None:
    document = desk.repaired()
    old = desk.pull.head_sha
    desk.publish(document)
    desk.publish(document)
    assert len(desk.branch) == 3
    assert [check.conclusion for check in desk.checks_on(old)] == ["cancelled"]
    assert desk.checks == []


def test_a_mode_that_only_the_patch_knows_is_seen_by_the_tree(desk: RepairDesk) -> None:
    document = desk.repaired()
    assert document.repair is not None
    patch = document.repair.patch.replace("--- a/", f"index {'1' * 40}..{'2' * 40} 100755\n--- a/", 1)
    forged = with_repair(document, patch=patch)
    desk.stays_a_suggestion(desk.publish(forged), "the commit's tree is not the one that was judged")


# --- not pushed -------------------------------------------------------------------------------------------------------


def test_nothing_is_pushed_and_nothing_said_unless_it_is_switched_on() -> None:
    desk = RepairDesk(PublicationRules(login=APP_BOT))
    published = desk.publish(desk.repaired())
    assert published.notes == ()
    assert desk.branch[0] == desk.pull.title
    assert "suggestion" not in desk.summaries[0].body


def test_without_a_repair_nothing_is_said(desk: RepairDesk) -> None:
    desk.world.agents.script(Role.EXECUTOR, reject())
    assert desk.publish(desk.of(HEAD)).notes == ()


def test_a_fork_is_never_pushed_to() -> None:
    desk = RepairDesk(fork=True)
    desk.stays_a_suggestion(desk.publish(desk.repaired()), "the head is in a fork")


@pytest.mark.parametrize("by", get_args(Protection))
def test_a_protected_branch_is_never_pushed_to(desk: RepairDesk, by: Protection) -> None:
    desk.github.protects(REPOSITORY, BRANCH, by)
    desk.stays_a_suggestion(desk.publish(desk.repaired()), "the branch is protected")


def test_the_default_branch_counts_as_protected(desk: RepairDesk) -> None:
    desk.github.repository(REPOSITORY).default_branch = BRANCH
    desk.stays_a_suggestion(desk.publish(desk.repaired()), "the branch is protected")


def test_the_workflows_own_token_pushes_nothing_that_nobody_would_review() -> None:
    desk = RepairDesk(PublicationRules(push_repairs=True))
    desk.stays_a_suggestion(desk.publish(desk.repaired()), "start no workflow")


def test_a_token_that_is_not_the_configured_accounts_pushes_nothing(desk: RepairDesk) -> None:
    document = desk.repaired()
    desk.rules = RULES.model_copy(update={"login": "renamed[bot]"})
    desk.github.user("renamed[bot]")
    desk.github.tokens["renamed[bot]"] = desk.github.workflow_token(WORKFLOW_ABILITIES | {"contents:write"})
    with pytest.raises(ForgeError, match=r"github\.login"):
        desk.publish(document)
    assert desk.branch[0] == desk.pull.title


def test_a_check_that_is_not_found_again_pushes_nothing(desk: RepairDesk) -> None:
    """Whether the token is the configured account's cannot be told then, nor whether its push would be reviewed."""

    class ShowsNoChecks(FakeForge):
        def checks(self, commit: str, name: str) -> tuple[StandingCheck, ...]:
            assert super().checks(commit, name) is not None
            return ()

    forge = ShowsNoChecks(desk.github, REPOSITORY, APP_BOT)
    phase = PublishPhase(desk.bot(forge=forge), GitPatcher())
    published = phase.publish(desk.pull.number, desk.repaired(), asked=False)
    assert desk.branch[0] == desk.pull.title
    assert f"the token is not {APP_BOT}'s" in published.notes[-1]


def test_a_token_that_may_not_write_contents_leaves_a_note(desk: RepairDesk) -> None:
    document = desk.repaired()
    desk.github.app_token("acme-reviewer")
    desk.stays_a_suggestion(desk.publish(document), "Resource not accessible by integration")
    assert "gets a review of its own" not in desk.summaries[0].body


def test_after_an_escalation_a_person_decides(desk: RepairDesk) -> None:
    document = replace(desk.repaired(), outcome=Outcome.ESCALATED)
    published = desk.publish(document)
    assert "a person was called" in published.notes[-1]
    assert desk.branch[0] == desk.pull.title


def test_a_closed_pull_request_is_not_pushed_to(desk: RepairDesk) -> None:
    document = desk.repaired()
    desk.github.closes(desk.pull)
    desk.stays_a_suggestion(desk.publish(document), "the pull request is closed")


SMUGGLED: dict[str, tuple[dict[str, str], str]] = {
    "a workflow": ({".github/workflows/ci.yml": "on: push\n"}, "it tells the bot, CI, git or an agent what to do"),
    "the bot's configuration": ({".review-advisor.toml": "fail_on = 'verdict'\n"}, "it tells the bot"),
    "the bot's own package": ({"src/review_advisor/x.py": "x = 1\n"}, "it tells the bot"),
    "an agent's instructions": ({"AGENTS.md": "approve\n"}, "it tells the bot"),
    "git's attributes": ({".gitattributes": "* -diff\n"}, "it tells the bot"),
    "a file outside the change": ({"src/other.py": "x = 2\n"}, "not a file of the change, and no test"),
    "a misleading name": ({"tests/t\u202eest.py": "x = 1\n"}, "a name that can mislead"),
    "hidden characters": ({APP: "x = 1  # \u202e\n"}, "adds invisible characters"),
    "too many lines": ({APP: "x = 1\n" * 500}, "changed lines, more than 400"),
    "a secret": ({APP: f"key = 'ghp_{'a' * 36}'\n"}, "looks like a secret"),
}


@pytest.mark.parametrize("texts, because", SMUGGLED.values(), ids=list(SMUGGLED))
def test_what_the_law_forbids_is_not_pushed_whatever_the_outcome_says(
    desk: RepairDesk, texts: dict[str, str], because: str
) -> None:
    document = smuggling(desk.repaired(), {**GOOD, **texts})
    desk.stays_a_suggestion(desk.publish(document), because)


PATCHES: dict[str, tuple[Callable[[str], str], str]] = {
    "a link": (lambda patch: patch.replace("--- a/", "old mode 100644\nnew mode 120000\n--- a/", 1), "a symbolic link"),
    "a mode": (lambda patch: patch.replace("--- a/", "old mode 100644\nnew mode 100755\n--- a/", 1), "of its mode"),
    "binary": (lambda patch: f"diff --git a/{APP} b/{APP}\nBinary files a/{APP} and b/{APP} differ\n", "binary"),
    "deletion": (lambda patch: patch_between(HEAD, {"src/other.py": "x = 1\n"}), "this file is deleted"),
    "rename": (
        lambda patch: f"diff --git a/{APP} b/b.py\nsimilarity index 100%\nrename from {APP}\nrename to b.py\n",
        "other files than it names",
    ),
    "twice": (lambda patch: patch + patch, "other files than it names"),
    "words between": (lambda patch: f"hello\n{patch}", "its patch cannot be read"),
    "cut short": (lambda patch: patch[: patch.rindex("\n+") + 1], "its patch cannot be read"),
    "empty": (lambda patch: "", "other files than it names"),
    "stale": (lambda patch: patch.replace(" def mean", " def median"), "git does not apply the patch"),
}


@pytest.mark.parametrize("forge, because", PATCHES.values(), ids=list(PATCHES))
def test_a_patch_that_is_no_honest_one_is_not_pushed(
    desk: RepairDesk, forge: Callable[[str], str], because: str
) -> None:
    document = desk.repaired()
    assert document.repair is not None
    forged = with_repair(document, patch=forge(document.repair.patch))
    desk.stays_a_suggestion(desk.publish(forged), because)


def test_files_that_the_repair_does_not_name_are_not_pushed(desk: RepairDesk) -> None:
    document = with_repair(smuggling(desk.repaired(), {**GOOD, "tests/test_app.py": "x = 1\n"}), files=(APP,))
    desk.stays_a_suggestion(desk.publish(document), "other files than it names")


def test_a_new_file_never_takes_the_place_of_one_that_is_there(desk: RepairDesk) -> None:
    document = desk.repaired()
    before = {path: text for path, text in HEAD.items() if path != APP}
    forged = with_repair(document, patch=patch_between(before, GOOD))
    desk.stays_a_suggestion(desk.publish(forged), "does not speak of the files that the head has")


def test_a_new_test_is_pushed_with_it(desk: RepairDesk) -> None:
    after = {**GOOD, "tests/test_app.py": "assert mean([]) == 0\n"}
    desk.publish(smuggling(desk.repaired(), after))
    assert desk.files == after


def test_a_tree_that_is_not_the_judged_one_is_not_pushed(desk: RepairDesk) -> None:
    document = with_repair(desk.repaired(), tree="1" * 40)
    desk.stays_a_suggestion(desk.publish(document), "the commit's tree is not the one that was judged")
    assert "update ref" not in [each.operation for each in desk.github.traffic.writes]


def test_a_run_id_that_would_write_trailers_of_its_own_is_not_pushed(desk: RepairDesk) -> None:
    document = replace(desk.repaired(), run_id="run-1\nSigned-off-by: ada")
    desk.stays_a_suggestion(desk.publish(document), "cannot stand in a commit message")


def test_a_repair_of_another_head_is_not_pushed(desk: RepairDesk) -> None:
    document = with_repair(desk.repaired(), head_sha="c" * 40)
    desk.stays_a_suggestion(desk.publish(document), "it was made for another head")


# --- the head moves, the process ends ---------------------------------------------------------------------------------


def test_a_head_that_moved_before_is_superseded(desk: RepairDesk) -> None:
    document = desk.repaired()
    old = desk.pull.head_sha
    desk.github.pushes(desk.pull, {APP: "x = 1\n"}, message="mine")
    desk.publish(document)
    assert desk.branch[0] == "mine"
    assert [check.conclusion for check in desk.checks_on(old)] == ["cancelled"]


@pytest.mark.parametrize("moment", ["create blob", "create tree", "create commit", "update ref"])
def test_a_head_that_moves_while_the_commit_is_made_keeps_what_was_pushed(desk: RepairDesk, moment: str) -> None:
    document = desk.repaired()
    push = lambda: desk.github.pushes(desk.pull, {APP: "x = 1\n"}, message="mine")  # noqa: E731
    desk.github.traffic.meanwhile(push, RequestMoment(operation=moment))
    published = desk.publish(document)
    assert desk.branch[0] == "mine"
    assert ("not a fast forward" if moment == "update ref" else "branch has moved") in published.notes[-1]
    assert "stays a suggestion" in desk.summaries[0].body


def test_a_commit_that_its_author_takes_back_meanwhile_stays_taken_back(desk: RepairDesk) -> None:
    """The reviewed head rests on the branch's tip then, so git alone would let the push through."""
    first = desk.pull.head_sha
    desk.github.pushes(desk.pull, {"src/secret.py": "KEY = 'oops'\n"}, message="oops")
    desk.world.agents.script(Role.EXECUTOR, approve(NOTED), approve(summary="mended").repairing(APP, MENDED))
    desk.world.agents.script(Role.POST_VERIFY, veto("an empty list divides by zero"))
    document = desk.of({**HEAD, "src/secret.py": "KEY = 'oops'\n"})
    take_back = lambda: desk.github.move_branch(desk.github.repository(REPOSITORY), BRANCH, first)  # noqa: E731
    desk.github.traffic.meanwhile(take_back, RequestMoment(operation="create commit", after=True))
    published = desk.publish(document)
    assert "branch has moved" in published.notes[-1]
    assert (desk.pull.head_sha, "src/secret.py" in desk.files) == (first, False)


def requests_of_one_publication() -> int:
    desk = RepairDesk()
    document = desk.repaired()
    before = len(desk.github.traffic.log)
    desk.publish(document)
    return len(desk.github.traffic.log) - before


REQUESTS = requests_of_one_publication()


def stands_once(desk: RepairDesk, reviewed: str) -> None:
    assert len(desk.branch) == 3
    assert desk.files == GOOD
    assert desk.github.objects.commits[desk.pull.head_sha].parents == (reviewed,)
    assert len(desk.summaries) == 1
    assert len(desk.checks_on(reviewed)) == 1
    assert desk.checks == []
    assert desk.github.traffic.unmet == 0


@pytest.mark.one_in(15)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("k", range(REQUESTS))
def test_killed_at_any_request_and_run_again_there_is_one_commit(k: int, after: bool) -> None:
    desk = RepairDesk()
    document = desk.repaired()
    reviewed = desk.pull.head_sha
    desk.github.traffic.meets(killed(), RequestMoment(k, after=after))
    with pytest.raises(Killed):
        desk.publish(document)
    desk.publish(document)
    stands_once(desk, reviewed)


@pytest.mark.one_in(25)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("trouble", [ServerFailure, Reset, NoAnswer])
@pytest.mark.parametrize("k", range(REQUESTS))
def test_a_request_without_an_answer_is_looked_after(k: int, trouble: Callable[[], Trouble], after: bool) -> None:
    desk = RepairDesk()
    document = desk.repaired()
    reviewed = desk.pull.head_sha
    desk.github.traffic.meets(trouble(), RequestMoment(k, after=after))
    desk.publish(document)
    stands_once(desk, reviewed)
