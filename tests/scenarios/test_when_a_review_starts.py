"""When a review starts, and what the believed configuration leaves unreviewed on purpose."""

from collections.abc import Callable

import pytest
from tests.scenarios.publishing import AUTHOR, BOT, LINES, MAINTAINER, PATH, REPOSITORY, Desk

from review_advisor.change.pull_request import CommentEvent, MergeGroupEvent, PullRequestEvent
from review_advisor.github.begin import BeginPhase, Begun
from review_advisor.github.forge import Comparison
from review_advisor.mockworld.agents import approve, finding, reject
from review_advisor.mockworld.fake_forge import FakeForge
from review_advisor.mockworld.world import edited
from review_advisor.policy.pull_request_rules import PublicationRules

PAGE = "docs/guide.md"


def happens(desk: Desk, action: str, label: str | None = None, by: str = AUTHOR) -> Begun:
    event = PullRequestEvent(action, REPOSITORY, desk.pull.number, desk.pull.head_sha, by, label)
    return BeginPhase(desk.bot()).begin(event)


def asks(desk: Desk) -> Begun:
    event = CommentEvent("created", REPOSITORY, desk.pull.number, 77, MAINTAINER, "/advisor review", True)
    return BeginPhase(desk.bot()).begin(event)


def stands(desk: Desk) -> list[tuple[str | None, str | None]]:
    return [(check.conclusion, check.title) for check in desk.checks]


def changing(*paths: str, rules: PublicationRules, base: str | None = None) -> Desk:
    desk = Desk(rules)
    if base is not None:
        desk.github.commits(REPOSITORY, base, {"README.md": "# Another\n"}, by=MAINTAINER)
    desk.pull = desk.github.opens(REPOSITORY, dict.fromkeys(paths, LINES), by=AUTHOR, base=base)
    return desk


@pytest.mark.parametrize(
    "when, started",
    [
        ("every_push", {"opened", "reopened", "ready_for_review", "synchronize", "edited"}),
        ("opened", {"opened", "reopened", "ready_for_review"}),
        ("on_request", set()),
    ],
)
def test_each_setting_starts_reviews_of_its_own_and_a_push_that_nobody_asked_to_review_never_passes(
    when: str, started: set[str]
) -> None:
    for action in ("opened", "reopened", "ready_for_review", "synchronize", "edited"):
        desk = Desk(PublicationRules.model_validate({"review": when}))
        assert happens(desk, action).review is (action in started), action
        waits = [("action_required", "Not reviewed: nobody asked for a review")]
        assert stands(desk) == ([(None, "The review is under way")] if action in started else waits), action


def test_a_passed_head_does_not_pass_the_push_after_it() -> None:
    desk = Desk(PublicationRules(review="opened"))
    happens(desk, "opened")
    desk.publish(desk.reviewed(approve()))
    assert stands(desk)[0][0] == "success"
    desk.github.pushes(desk.pull, {PATH: LINES + "evil = 1\n"})
    assert not happens(desk, "synchronize").review
    assert [conclusion for conclusion, _ in stands(desk)] == ["action_required"]


@pytest.mark.parametrize("when", ["opened", "on_request"])
def test_whoever_may_write_can_always_ask(when: str) -> None:
    desk = Desk(PublicationRules.model_validate({"review": when}))
    happens(desk, "synchronize")
    begun = asks(desk)
    assert (begun.review, begun.asked) == (True, True)


def test_what_the_configuration_leaves_out_passes_under_its_own_title_without_a_review() -> None:
    desk = changing(PAGE, rules=PublicationRules(skip_paths=("docs/",)))
    assert not happens(desk, "opened").review
    assert stands(desk) == [("success", "Not reviewed: configured")]
    assert "docs" not in (desk.checks[0].title or "")
    assert asks(desk).review


@pytest.mark.parametrize(
    "paths",
    [
        (PAGE, PATH),
        ("docs/auth/login.py",),
        ("docs/CLAUDE.md",),
        (".github/workflows/ci.yml",),
        (".review-advisor.toml",),
        (".gitattributes",),
    ],
)
def test_one_other_path_a_critical_one_or_one_of_the_bots_own_brings_the_review_back(paths: tuple[str, ...]) -> None:
    desk = changing(*paths, rules=PublicationRules(skip_paths=("docs/", ".github/", ".*")))
    assert happens(desk, "opened").review


def test_code_that_is_moved_into_a_skipped_folder_is_reviewed() -> None:
    desk = Desk(PublicationRules(skip_paths=("docs/",)))
    desk.github.pushes(desk.pull, {PATH: LINES})
    assert happens(desk, "synchronize").review


def test_a_base_branch_that_is_left_out_passes_and_another_base_is_reviewed() -> None:
    desk = changing(PATH, rules=PublicationRules(skip_bases=("playground",)), base="playground")
    assert not happens(desk, "opened").review
    assert stands(desk) == [("success", "Not reviewed: configured")]
    desk.pull.base_ref = "main"
    assert happens(desk, "edited").review
    assert [conclusion for conclusion, _ in stands(desk)] == [None]


def test_paths_are_left_out_only_against_the_base_whose_configuration_is_believed() -> None:
    desk = Desk(PublicationRules(skip_paths=("docs/",)))
    desk.github.commits(REPOSITORY, "adas-own", {PATH: LINES + "evil = 1\n"}, by=AUTHOR)
    desk.pull = desk.github.opens(REPOSITORY, {PAGE: LINES}, by=AUTHOR, base="adas-own")
    assert [each.path for each in desk.forge.changed_files(desk.pull.number)] == [PAGE]
    assert happens(desk, "opened").review
    desk.github.retargets(desk.pull, "main")
    assert [conclusion for conclusion, _ in stands(desk)] == [None]


EVIL = LINES + "evil = 1\n"


@pytest.mark.parametrize("read", [1, 2])
def test_files_of_a_later_push_do_not_pass_the_head_before_it(read: int) -> None:
    desk = Desk(PublicationRules(skip_paths=("docs/",)))
    desk.pull = desk.github.opens(REPOSITORY, {PATH: EVIL} if read == 1 else {PAGE: LINES}, by=AUTHOR)
    head, later = desk.pull.head_sha, PAGE if read == 1 else PATH
    racing = Meanwhile(desk, read, lambda: desk.github.force_pushes(desk.pull, {later: LINES}))
    begun = BeginPhase(desk.bot(forge=racing)).begin(opened(desk, head))
    assert not begun.review
    assert [check.conclusion for check in desk.checks_on(head)] == ["cancelled"]


def test_a_base_branch_that_changes_while_the_head_passes_is_looked_at_again() -> None:
    desk = changing(PATH, rules=PublicationRules(skip_paths=("src/",)))
    desk.github.commits(REPOSITORY, "release", {"README.md": "x"}, by=MAINTAINER)
    racing = Meanwhile(desk, 2, lambda: desk.github.retargets(desk.pull, "release"))
    BeginPhase(desk.bot(forge=racing)).begin(opened(desk, desk.pull.head_sha))
    assert [conclusion for conclusion, _ in stands(desk)] == ["cancelled"]


def opened(desk: Desk, head: str) -> PullRequestEvent:
    return PullRequestEvent("opened", REPOSITORY, desk.pull.number, head, AUTHOR, None)


class Meanwhile(FakeForge):
    """Something happens right before the commits are compared for the n-th time."""

    def __init__(self, desk: Desk, read: int, happening: Callable[[], object]) -> None:
        super().__init__(desk.github, REPOSITORY, BOT)
        self._left, self._happening = read, happening

    def compared(self, base: str, head: str) -> Comparison:
        self._left -= 1
        if self._left == 0:
            self._happening()
        return super().compared(base, head)


def test_a_head_that_another_pull_request_has_does_not_pass_for_both() -> None:
    desk = changing(PATH, rules=PublicationRules(skip_bases=("playground",)), base="playground")
    desk.github.opens(REPOSITORY, by=AUTHOR, branch=desk.pull.head_ref, sha=desk.pull.head_sha)
    assert not happens(desk, "opened").review
    ((conclusion, title),) = stands(desk)
    assert conclusion == "action_required"
    assert "has the same head" in (title or "")


def test_no_label_and_no_branch_name_leaves_anything_out() -> None:
    desk = Desk(PublicationRules(skip_paths=("docs/",), skip_bases=("playground",)))
    desk.pull.head_ref = "playground"
    desk.github.labels(desk.pull, "docs/")
    assert happens(desk, "synchronize").review


def rejected(base: str | None) -> Desk:
    """What is left out, and was rejected all the same, because a person asked for a review."""
    desk = changing(PAGE, rules=PublicationRules(skip_paths=("docs/",), skip_bases=("playground",)), base=base)
    happens(desk, "opened")
    assert asks(desk).review
    fault = finding(PAGE, 3, "value = 3", title="three is wrong")
    desk.publish(desk.reviewed(reject(fault), files=(edited(PAGE, 30),)), asked=True)
    assert [conclusion for conclusion, _ in stands(desk)] == ["failure"]
    return desk


@pytest.mark.parametrize("action", ["edited", "reopened", "synchronize", "ready_for_review"])
@pytest.mark.parametrize("base", [None, "playground"])
def test_no_event_of_the_author_turns_a_rejection_into_a_pass(action: str, base: str | None) -> None:
    desk = rejected(base)
    assert happens(desk, action).review
    assert queued(desk) == "action_required"
    assert [conclusion for conclusion, _ in stands(desk)] == [None]


@pytest.mark.parametrize("action", ["edited", "reopened"])
def test_no_event_of_the_author_passes_a_head_whose_review_is_in_progress(action: str) -> None:
    desk = changing(PAGE, rules=PublicationRules(skip_paths=("docs/",)))
    happens(desk, "opened")
    assert asks(desk).review
    happens(desk, action)
    assert [conclusion for conclusion, _ in stands(desk)] == [None]


def test_a_remembered_rejection_holds_where_its_check_is_gone() -> None:
    desk = rejected(None)
    desk.key = None
    desk.github.repository(REPOSITORY).checks.clear()
    assert happens(desk, "reopened").review


def test_what_is_left_out_stays_so_at_the_next_event() -> None:
    desk = changing(PAGE, rules=PublicationRules(skip_paths=("docs/",)))
    for action in ("opened", "edited", "reopened"):
        assert not happens(desk, action).review
        assert stands(desk) == [("success", "Not reviewed: configured")]


def test_a_merge_queue_takes_no_left_out_head_that_a_remembered_review_rejects() -> None:
    desk = rejected(None)
    (check,) = desk.checks
    check.conclusion, check.title = "success", "Not reviewed: configured"
    assert queued(desk) == "action_required"


def test_a_merge_queue_takes_what_is_left_out() -> None:
    desk = changing(PAGE, rules=PublicationRules(skip_paths=("docs/",)))
    happens(desk, "opened")
    assert queued(desk) == "success"
    desk.rules = PublicationRules()
    assert queued(desk) == "action_required"


def queued(desk: Desk) -> str | None:
    """What the check of the merge queue's commit concludes."""
    queue = f"gh-readonly-queue/main/pr-{desk.pull.number}-{'b' * 40}"
    head = desk.github.commits(REPOSITORY, queue, {PAGE: LINES}, by="github-merge-queue[bot]")
    BeginPhase(desk.bot()).begin(MergeGroupEvent("checks_requested", REPOSITORY, head, f"refs/heads/{queue}", "b" * 40))
    (check,) = desk.checks_on(head)
    return check.conclusion


def test_a_draft_that_is_left_out_passes_and_any_other_draft_waits() -> None:
    left_out = changing(PAGE, rules=PublicationRules(skip_paths=("docs/",)))
    left_out.pull.draft = True
    happens(left_out, "opened")
    assert stands(left_out) == [("success", "Not reviewed: configured")]
    draft = Desk(PublicationRules(review="on_request"))
    draft.pull.draft = True
    happens(draft, "opened")
    assert stands(draft) == [("action_required", "Not reviewed: this is a draft")]
