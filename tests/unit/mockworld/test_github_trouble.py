"""What goes wrong on the way to MockWorld's GitHub, and what happens there meanwhile."""

from collections.abc import Callable

import pytest
from tests.unit.mockworld.shop import DONE, NUMBER, SHOP, Shop, remark

from review_advisor.change.pull_request import Permission
from review_advisor.github.forge import Forge, ForgeDenied, ForgeMissing, ForgeRejected, ForgeUnavailable
from review_advisor.mockworld.agents import Killed
from review_advisor.mockworld.fake_forge import MOST_READS, FakeForge
from review_advisor.mockworld.github import READING_ABILITIES
from review_advisor.mockworld.github_traffic import (
    Limited,
    NoAnswer,
    RequestMoment,
    Reset,
    ServerFailure,
    Trouble,
    denied,
    killed,
    missing,
)

TROUBLE = (ServerFailure(), ServerFailure(503), Reset(), NoAnswer(), Limited(), Limited(secondary=True))
WRITES: tuple[Callable[[Shop, Forge], object], ...] = (
    lambda shop, forge: forge.create_check(shop.pull.head_sha, DONE),
    lambda shop, forge: forge.create_comment(NUMBER, "said"),
    lambda shop, forge: forge.start_review(NUMBER, shop.pull.head_sha, "Look.", (remark(),)),
    lambda shop, forge: forge.add_label(NUMBER, "needs-human-review"),
    lambda shop, forge: forge.request_review(NUMBER, ("bob",)),
)
NAMES = ["check", "comment", "review", "label", "reviewer"]


@pytest.fixture
def shop() -> Shop:
    made = Shop()
    made.github.grants(SHOP, "bob", Permission.WRITE)
    return made


def stands(shop: Shop) -> int:
    """How much the bot has written."""
    pull = shop.pull
    said = len(pull.comments) + len(pull.reviews) + len(pull.labels) + len(pull.requested_users)
    return said + len(shop.github.repository(SHOP).checks)


@pytest.mark.parametrize("write", WRITES, ids=NAMES)
@pytest.mark.parametrize("trouble", TROUBLE, ids=str)
@pytest.mark.parametrize("after", [False, True])
def test_nobody_knows_whether_a_write_took_effect(
    shop: Shop, write: Callable[[Shop, Forge], object], trouble: Trouble, after: bool
) -> None:
    shop.github.traffic.meets(trouble, RequestMoment(kind="write", after=after))

    with pytest.raises(ForgeUnavailable):
        write(shop, shop.forge)

    assert stands(shop) == after
    (sent,) = shop.github.traffic.writes
    assert sent.effect == after


@pytest.mark.parametrize("write", WRITES, ids=NAMES)
@pytest.mark.parametrize("after", [False, True])
def test_a_kill_is_caught_by_nobody(shop: Shop, write: Callable[[Shop, Forge], object], after: bool) -> None:
    shop.github.traffic.meets(killed(), RequestMoment(kind="write", after=after))

    with pytest.raises(Killed):
        write(shop, shop.forge)

    assert stands(shop) == after


@pytest.mark.parametrize("write", WRITES, ids=NAMES)
def test_a_token_that_may_only_read_writes_nothing(shop: Shop, write: Callable[[Shop, Forge], object]) -> None:
    shop.github.workflow_token(READING_ABILITIES)

    with pytest.raises(ForgeDenied):
        write(shop, shop.forge)

    assert stands(shop) == 0
    assert [request.effect for request in shop.github.traffic.writes] == [False]


def test_every_write_of_a_story_can_be_the_last_one(shop: Shop) -> None:
    for write in WRITES:
        write(shop, shop.forge)
    for last in range(len(shop.github.traffic.writes)):
        again = Shop()
        again.github.grants(SHOP, "bob", Permission.WRITE)
        again.github.traffic.meets(killed(), RequestMoment(last, "write"))
        with pytest.raises(Killed):
            _all_of(again)
        assert stands(again) == last


def _all_of(shop: Shop) -> None:
    for write in WRITES:
        write(shop, shop.forge)


def test_a_read_is_tried_again(shop: Shop) -> None:
    for number in range(MOST_READS - 1):
        shop.github.traffic.meets(ServerFailure(), RequestMoment(number, "read"))

    assert shop.forge.pull_request(NUMBER).title == "Count again"
    assert len(shop.github.traffic.log) == MOST_READS
    assert shop.github.traffic.unmet == 0


def test_a_read_is_not_tried_for_ever(shop: Shop) -> None:
    for number in range(MOST_READS):
        shop.github.traffic.meets(Reset(), RequestMoment(number, "read"))

    with pytest.raises(ForgeUnavailable):
        shop.forge.comments(NUMBER)

    assert len(shop.github.traffic.log) == MOST_READS


def test_an_answer_can_be_planned_for_one_operation(shop: Shop) -> None:
    shop.github.traffic.meets(denied(), RequestMoment(operation="add labels"))
    shop.github.traffic.meets(missing(), RequestMoment(1, operation="create comment"))

    shop.forge.create_comment(NUMBER, "first")
    with pytest.raises(ForgeDenied):
        shop.forge.add_label(NUMBER, "late")
    with pytest.raises(ForgeMissing):
        shop.forge.create_comment(NUMBER, "second")

    assert ([each.body for each in shop.pull.comments], shop.pull.labels) == (["first"], [])


def test_a_person_deletes_a_comment_between_two_requests(shop: Shop) -> None:
    mine = shop.forge.create_comment(NUMBER, "mine")
    (comment,) = shop.pull.comments
    shop.github.traffic.meanwhile(lambda: shop.github.deletes_comment(shop.pull, comment), RequestMoment(after=True))

    shop.forge.pull_request(NUMBER)

    with pytest.raises(ForgeMissing):
        shop.forge.update_comment(mine, "mine again")


def test_the_head_moves_between_two_requests(shop: Shop) -> None:
    read = shop.pull.head_sha
    push = {"till.py": "everything is new\n"}
    shop.github.traffic.meanwhile(lambda: shop.github.force_pushes(shop.pull, push), RequestMoment(after=True))

    assert shop.forge.pull_request(NUMBER).head_sha == read
    with pytest.raises(ForgeRejected):
        shop.forge.start_review(NUMBER, read, "Look.", ())

    assert shop.forge.open_pull_requests(read) == ()


def test_something_happens_after_a_refused_request_too(shop: Shop) -> None:
    shop.github.traffic.meanwhile(lambda: shop.github.closes(shop.pull), RequestMoment(kind="write", after=True))

    with pytest.raises(ForgeRejected):
        shop.forge.create_comment(NUMBER, "")

    assert shop.pull.state == "closed"


def test_a_deleted_branch_closes_its_pull_request(shop: Shop) -> None:
    shop.github.deletes_branch(SHOP, shop.pull.head_ref)

    assert shop.forge.pull_request(NUMBER).state == "closed"


def test_a_deleted_fork_leaves_its_pull_request(shop: Shop) -> None:
    fork = shop.github.forks(SHOP, "eve")
    pull = shop.github.opens(SHOP, by="eve")
    assert shop.forge.pull_request(pull.number).head_repository == fork.name

    shop.github.deletes_repository(fork.name)

    assert shop.forge.pull_request(pull.number).from_fork
    assert shop.forge.pull_request(pull.number).head_repository is None


def test_who_edited_a_comment_last_is_told(shop: Shop) -> None:
    shop.forge.create_comment(NUMBER, "mine")
    shop.github.edits(shop.pull.comments[0], by="mallory", body="not mine")

    (comment,) = shop.forge.comments(NUMBER)
    assert (comment.author, comment.edited_by, comment.body) == ("github-actions[bot]", "mallory", "not mine")


def test_issues_that_a_pull_request_closes_are_told_in_order(shop: Shop) -> None:
    first, second = (shop.github.opens_issue(SHOP, by="bob", title=title) for title in ("One", "Two"))
    pull = shop.github.opens(SHOP, by="ann", closes=[second.number, first.number])

    assert [issue.title for issue in shop.forge.linked_issues(pull.number)] == ["One", "Two"]


def test_what_is_not_there_is_missing_or_none(shop: Shop) -> None:
    with pytest.raises(ForgeMissing):
        shop.forge.pull_request(99)
    with pytest.raises(ForgeMissing):
        FakeForge(shop.github, "octo/nothing", shop.token.account).pull_request(NUMBER)
    with pytest.raises(ForgeMissing):
        shop.forge.file("till.py", "0" * 40)
    assert shop.forge.file("nothing.py", shop.pull.head_sha) is None
    assert shop.forge.permission("nobody") is Permission.NONE
    shop.forge.remove_label(NUMBER, "never put on")


def test_a_file_of_more_than_a_megabyte_is_refused(shop: Shop) -> None:
    head = shop.github.pushes(shop.pull, {"big": b"x" * 1_000_001})

    with pytest.raises(ForgeRejected):
        shop.forge.file("big", head)


def test_two_models_told_the_same_are_the_same() -> None:
    stories = (Shop(), Shop())
    for shop in stories:
        shop.forge.submit_review(NUMBER, shop.reviewed(remark()))

    assert stories[0].pull == stories[1].pull
    assert stories[0].github.traffic.log == stories[1].github.traffic.log
