"""What `github.skip_authors` leaves unreviewed: the work of listed bots, and nothing that a person had a hand in."""

from dataclasses import replace

import pytest
from tests.scenarios.publishing import AUTHOR, BOT, LINES, MAINTAINER, PATH, REPOSITORY, Desk

from review_advisor.change.kinds import CriticalPaths
from review_advisor.change.pull_request import CommentEvent, PullRequestEvent
from review_advisor.github.begin import BeginPhase
from review_advisor.github.beginning import NeverLeftOut
from review_advisor.github.forge import Comparison, ListedFile
from review_advisor.mockworld.fake_forge import FakeForge
from review_advisor.mockworld.github_records import Push
from review_advisor.policy.pull_request_rules import PublicationRules

DEPENDABOT = "dependabot[bot]"
BRANCH = "dependabot/pip/urllib3-2.7"
LOCK, BUMPED, EVIL = "requirements.txt", "urllib3==2.7\n", "urllib3==2.7 # evil\n"
SKIPS = PublicationRules(skip_authors=(DEPENDABOT,))
LEFT_OUT = [("success", "Not reviewed: configured")]


@pytest.fixture
def desk() -> Desk:
    """Dependabot's pull request: one commit, made through GitHub's interface."""
    desk = Desk(SKIPS)
    github = desk.github
    github.user(DEPENDABOT)
    github.makes(REPOSITORY, BRANCH, {LOCK: BUMPED}, by=DEPENDABOT)
    desk.pull = github.opens(REPOSITORY, {LOCK: BUMPED}, by=DEPENDABOT, branch=BRANCH)
    tip = github.makes(REPOSITORY, "fresh", {LOCK: BUMPED}, by=DEPENDABOT)
    github.repository(REPOSITORY).pushes.append(Push(BRANCH, tip, DEPENDABOT))
    github.move_branch(github.repository(REPOSITORY), BRANCH, tip)
    return desk


def is_reviewed(desk: Desk, action: str = "opened") -> bool:
    event = PullRequestEvent(action, REPOSITORY, desk.pull.number, desk.pull.head_sha, DEPENDABOT, None)
    return BeginPhase(desk.bot()).begin(event).review


def stands(desk: Desk) -> list[tuple[str | None, str | None]]:
    return [(check.conclusion, check.title) for check in desk.checks]


@pytest.mark.parametrize("action", ["opened", "synchronize", "reopened"])
def test_what_a_listed_bot_made_and_pushed_alone_passes_under_its_own_title(desk: Desk, action: str) -> None:
    assert not is_reviewed(desk, action)
    assert stands(desk) == LEFT_OUT
    comment = CommentEvent("created", REPOSITORY, desk.pull.number, 77, MAINTAINER, "/advisor review", True)
    assert BeginPhase(desk.bot()).begin(comment).review


def test_by_default_a_bot_is_reviewed_like_anybody(desk: Desk) -> None:
    desk.rules = PublicationRules()
    assert is_reviewed(desk)


@pytest.mark.parametrize("author", [AUTHOR, "dependabot"])
def test_a_person_who_opens_it_is_no_bot(desk: Desk, author: str) -> None:
    desk.pull.author = desk.github.user(author).login
    assert is_reviewed(desk)


def test_an_account_that_is_no_bots_by_its_type_is_none_by_its_name(desk: Desk) -> None:
    desk.github.user(DEPENDABOT).kind = "User"
    assert is_reviewed(desk)


def test_another_bot_is_reviewed(desk: Desk) -> None:
    desk.rules = PublicationRules(skip_authors=("renovate[bot]",))
    assert is_reviewed(desk)


ATTACKS: dict[str, dict[str, object]] = {
    "a person pushes onto the bot's branch": {"by": MAINTAINER},
    "a person states the bot as the author": {"by": MAINTAINER, "author": DEPENDABOT, "verified": False},
    "a person states the bot as author and committer": {
        "by": MAINTAINER, "author": DEPENDABOT, "committer": DEPENDABOT, "verified": False,
    },
    "a person signs a commit that states the bot as the author": {
        "by": DEPENDABOT, "author": DEPENDABOT, "committer": MAINTAINER,
    },
    "a commit of the bot is not signed": {"by": DEPENDABOT, "committer": DEPENDABOT, "verified": False},
    "a signed commit of the bot is pushed by a person": {"by": MAINTAINER, "author": DEPENDABOT},
    "a person commits the bot's suggestion": {"by": MAINTAINER, "message": "Apply\n\nCo-authored-by: dependabot"},
    "the bot commits what a person tells it to": {"by": DEPENDABOT, "message": "Do it\n\nCo-authored-by: Eve <eve@x>"},
    "another line end hides the co-author": {"by": DEPENDABOT, "message": "Do it\rco-AUTHORED-by : Eve <eve@x>"},
    "a commit whose author has no account": {"by": DEPENDABOT, "author": "ghost"},
    "another bot takes part": {"by": "helper[bot]"},
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_that_a_person_had_a_hand_in_is_left_out(desk: Desk, attack: str) -> None:
    desk.github.makes(REPOSITORY, BRANCH, {LOCK: EVIL}, **ATTACKS[attack])  # type: ignore[arg-type]
    assert is_reviewed(desk, "synchronize")
    assert [conclusion for conclusion, _ in stands(desk)] == [None]
    desk.github.makes(REPOSITORY, BRANCH, {LOCK: BUMPED}, by=DEPENDABOT)
    assert is_reviewed(desk, "synchronize"), "a later commit of the bot does not wash it"


def test_a_merge_may_hold_anything(desk: Desk) -> None:
    later = desk.github.commits(REPOSITORY, "main", {PATH: LINES}, by=MAINTAINER)
    desk.github.makes(REPOSITORY, BRANCH, {LOCK: EVIL, PATH: LINES}, by=DEPENDABOT, others=(later,))
    assert is_reviewed(desk, "synchronize")


def test_a_commit_beyond_the_first_page_counts(desk: Desk) -> None:
    desk.github.makes(REPOSITORY, BRANCH, {LOCK: EVIL}, by=MAINTAINER)
    for number in range(120):
        desk.github.makes(REPOSITORY, BRANCH, {LOCK: f"urllib3==3.{number}\n"}, by=DEPENDABOT)
    assert is_reviewed(desk, "synchronize")


def test_where_nobody_knows_who_pushed_it_is_reviewed(desk: Desk) -> None:
    desk.github.repository(REPOSITORY).pushes.clear()
    assert is_reviewed(desk)


@pytest.mark.parametrize("path", [".github/workflows/ci.yml", "CLAUDE.md", "src/auth/login.py", "ops/prepare.sh"])
def test_what_is_critical_or_guarded_is_reviewed_whoever_made_it(desk: Desk, path: str) -> None:
    desk.github.makes(REPOSITORY, BRANCH, {path: LINES}, by=DEPENDABOT)
    never = NeverLeftOut(critical=CriticalPaths(("**/auth/**", "ops/"))) if path.startswith("ops") else NeverLeftOut()
    event = PullRequestEvent("synchronize", REPOSITORY, desk.pull.number, desk.pull.head_sha, DEPENDABOT, None)
    assert BeginPhase(replace(desk.bot(), never_left_out=never)).begin(event).review


def test_a_base_of_ones_own_and_a_fork_are_reviewed(desk: Desk) -> None:
    desk.github.commits(REPOSITORY, "theirs", {PATH: LINES}, by=AUTHOR)
    desk.github.retargets(desk.pull, "theirs")
    assert is_reviewed(desk, "edited")
    fork = Desk(SKIPS)
    fork.github.user(DEPENDABOT)
    fork.github.forks(REPOSITORY, DEPENDABOT)
    fork.pull = fork.github.opens(REPOSITORY, {}, by=DEPENDABOT)
    is_reviewed(fork)
    assert [conclusion for conclusion, _ in stands(fork)] == ["action_required"]


def test_a_head_that_another_pull_request_has_does_not_pass_for_both(desk: Desk) -> None:
    desk.github.opens(REPOSITORY, by=AUTHOR, branch="theirs")
    desk.github.move_branch(desk.github.repository(REPOSITORY), "theirs", desk.pull.head_sha)
    assert not is_reviewed(desk)
    assert [conclusion for conclusion, _ in stands(desk)] == ["action_required"]


class Away(FakeForge):
    """The head is force-pushed away before each look at what it brings, and back after it."""

    def __init__(self, desk: Desk, innocent: str) -> None:
        super().__init__(desk.github, REPOSITORY, BOT)
        self._pull, self._place = desk.pull, desk.github.repository(REPOSITORY)
        self._evil, self._innocent, self._desk = desk.pull.head_sha, innocent, desk

    def _move(self, sha: str) -> None:
        self._desk.github.move_branch(self._place, self._pull.head_ref, sha)

    def changed_files(self, number: int) -> tuple[ListedFile, ...]:
        self._move(self._innocent)
        found = super().changed_files(number)
        self._move(self._evil)
        return found

    def compared(self, base: str, head: str) -> Comparison:
        self._move(self._innocent)
        found = super().compared(base, head)
        self._move(self._evil)
        return found


@pytest.mark.parametrize("rules", [SKIPS, PublicationRules(skip_paths=("docs/",))], ids=["authors", "paths"])
def test_a_head_that_is_away_at_each_look_is_judged_by_its_own_commits(desk: Desk, rules: PublicationRules) -> None:
    desk.rules = rules
    github, page = desk.github, {"docs/guide.md": LINES}
    innocent = github.makes(REPOSITORY, "innocent", page, by=DEPENDABOT)
    github.makes(REPOSITORY, BRANCH, {PATH: LINES + "evil = 1\n"}, by=MAINTAINER)
    event = PullRequestEvent("synchronize", REPOSITORY, desk.pull.number, desk.pull.head_sha, DEPENDABOT, None)
    assert BeginPhase(desk.bot(forge=Away(desk, innocent))).begin(event).review
    assert [conclusion for conclusion, _ in stands(desk)] == [None]


@pytest.mark.parametrize("name", ["dependabot", "eve", "*", "github-actions[bot]", "GitHub-Actions[bot]", "[bot]"])
def test_no_person_and_no_workflow_can_be_listed(name: str) -> None:
    with pytest.raises(ValueError, match="skip_authors"):
        PublicationRules(skip_authors=(name,))


def test_a_pass_of_a_left_out_base_is_taken_back_when_the_pull_request_goes_elsewhere() -> None:
    desk = Desk(PublicationRules(skip_bases=("playground",)))
    desk.github.commits(REPOSITORY, "playground", {"README.md": "# Another\n"}, by=MAINTAINER)
    desk.pull = desk.github.opens(REPOSITORY, {PATH: LINES}, by=AUTHOR, base="playground")
    assert not is_reviewed(desk)
    assert stands(desk) == LEFT_OUT
    for state, draft in (("open", False), ("open", True), ("closed", False)):
        desk.github.retargets(desk.pull, "main")
        desk.pull.state, desk.pull.draft = "open" if state == "open" else "closed", draft
        is_reviewed(desk, "edited")
        if state == "closed":
            desk.pull.state = "open"
            is_reviewed(desk, "reopened")
        assert [conclusion for conclusion, _ in stands(desk)] != ["success"], (state, draft)
