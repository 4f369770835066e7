"""A finding stays the same one when its file gets another name or its lines another place, and is said in one place."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.scenarios.publishing import LINES, MAINTAINER, PATH, Desk

from review_advisor.conversation import Comment, Conversation
from review_advisor.core.facts.change import FileChange
from review_advisor.core.roles.evidence import finding_id
from review_advisor.mockworld.github.model import WORKFLOW_ABILITIES
from review_advisor.mockworld.github.traffic import Moment
from review_advisor.mockworld.lines import approve, finding, lost, reject
from review_advisor.mockworld.world import edited, renamed

FAULT = finding(PATH, 3, "value = 3", title="three is wrong")
FAULT_ID = finding_id(PATH, "correctness", "value = 3")
MOVED = "src/b.py"
THERE = finding(MOVED, 3, "value = 3", title="three is wrong")
THERE_ID = finding_id(MOVED, "correctness", "value = 3")
NEW_FILE = edited(MOVED, 30)
"""The pull request brought the file, so its new name is all that GitHub and git tell."""
RENAMED = replace(NEW_FILE, status=renamed(PATH, MOVED).status, old_path=PATH)


@pytest.fixture
def desk() -> Desk:
    """A pull request that was rejected, and whose next push gives its file another name."""
    desk = Desk()
    desk.publish(desk.reviewed(reject(FAULT)))
    return desk


def dismisses(desk: Desk, finding: str = FAULT_ID) -> str:
    talk = Conversation(desk.forge, desk.clock, desk.rules)
    return talk.hear(desk.pull.number, Comment(77, MAINTAINER, f"/advisor dismiss {finding} it is meant")).because


def moves(desk: Desk, *files: FileChange) -> None:
    desk.github.pushes(desk.pull, {PATH: None, MOVED: LINES})
    desk.publish(desk.reviewed(reject(THERE), files=files))


def known(desk: Desk) -> list[tuple[str, str]]:
    assert desk.state is not None
    return [(each.path, each.status) for each in desk.state.findings]


@pytest.mark.parametrize("file", [NEW_FILE, RENAMED], ids=["brought", "renamed"])
def test_a_dismissed_finding_stays_dismissed_when_its_file_is_renamed(desk: Desk, file: FileChange) -> None:
    dismisses(desk)
    moves(desk, file)
    assert len(desk.threads) == 1
    assert known(desk) == [(MOVED, "dismissed")]
    assert desk.state is not None
    assert (desk.state.findings[0].id, desk.state.findings[0].by) == (THERE_ID, MAINTAINER)


@pytest.mark.parametrize("file", [NEW_FILE, RENAMED], ids=["brought", "renamed"])
def test_an_open_finding_in_a_renamed_file_is_not_called_fixed(desk: Desk, file: FileChange) -> None:
    moves(desk, file)
    assert known(desk) == [(MOVED, "open")]
    assert "fixed" not in desk.summaries[0].body


def test_a_quote_that_stands_elsewhere_while_its_file_is_still_there_is_another_finding(desk: Desk) -> None:
    desk.github.pushes(desk.pull, {MOVED: LINES})
    desk.publish(desk.reviewed(reject(THERE), files=(edited(PATH, 30), NEW_FILE)))
    assert dict(known(desk)) == {PATH: "fixed", MOVED: "open"}


@pytest.mark.parametrize("file", [NEW_FILE, RENAMED], ids=["brought", "renamed"])
@pytest.mark.parametrize("settle", [lambda desk: None, dismisses], ids=["open", "dismissed"])
def test_what_is_known_of_a_renamed_file_that_was_not_read_stays_until_it_is(
    desk: Desk, file: FileChange, settle: Callable[[Desk], object]
) -> None:
    """Its part's report is lost; the next review reads the file, and raises the finding again."""
    settle(desk)
    before = known(desk)
    desk.github.pushes(desk.pull, {PATH: None, MOVED: LINES})
    desk.world.rules = replace(desk.world.rules, shard_tokens=400)
    unread = desk.reviewed(approve(), lost(), files=(edited("src/0.py", 30), file))
    assert [file.read for file in unread.coverage] == ["read", "not"]
    desk.publish(unread)
    assert known(desk) == before
    assert "fixed" not in desk.summaries[0].body
    desk.publish(desk.reviewed(reject(THERE), files=(file,)))
    assert known(desk) == [(MOVED, before[0][1])]


def test_a_finding_that_was_not_raised_in_the_renamed_file_is_fixed_though_another_was_not_read(desk: Desk) -> None:
    desk.github.pushes(desk.pull, {PATH: None, MOVED: LINES.replace("value = 3\n", "value = 4\n")})
    desk.world.rules = replace(desk.world.rules, shard_tokens=400)
    again = desk.reviewed(lost(), approve(), files=(edited("src/0.py", 30), RENAMED))
    assert [file.read for file in again.coverage] == ["not", "read"]
    desk.publish(again)
    assert known(desk) == [(PATH, "fixed")]


def test_a_finding_of_a_file_that_is_gone_from_the_change_is_fixed_though_a_picture_is_never_read(desk: Desk) -> None:
    desk.github.pushes(desk.pull, {PATH: None})
    picture = replace(edited("a.bin", 0), binary=True)
    desk.publish(desk.reviewed(approve(), files=(picture, edited("src/c.py", 3))))
    assert known(desk) == [(PATH, "fixed")]


def test_a_finding_in_a_file_of_which_only_a_part_was_read_is_not_called_fixed(desk: Desk) -> None:
    desk.world.rules = replace(desk.world.rules, shard_tokens=400)
    again = desk.reviewed(approve(), lost(), files=(edited(PATH, 60),))
    assert [file.read for file in again.coverage] == ["partly"]
    desk.publish(again)
    assert known(desk) == [(PATH, "open")]


@pytest.mark.parametrize("operation", ["list reviews", "create review", "list threads", "list comments"])
def test_a_dismissal_that_meets_the_publication_of_the_rename_holds(desk: Desk, operation: str) -> None:
    """A person dismisses the finding by its old id while the review that knows it by the new one is published."""
    desk.github.pushes(desk.pull, {PATH: None, MOVED: LINES})
    again = desk.reviewed(reject(THERE), files=(RENAMED,))
    said: list[str] = []
    desk.github.traffic.meanwhile(lambda: said.append(dismisses(desk)), Moment(operation=operation, after=True))
    desk.publish(again)
    assert ["is dismissed" in each for each in said] == [True]
    assert known(desk) == [(MOVED, "dismissed")]
    (check,) = desk.checks
    assert "high" not in (check.title or "")


def test_a_review_that_ends_while_a_dismissal_is_written_is_not_undone(desk: Desk) -> None:
    """The command has read the summary of the first review; the second one's stands when it is written."""
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 1\n"})
    again = desk.reviewed(reject(FAULT))
    desk.github.traffic.meanwhile(lambda: desk.publish(again), Moment(operation="list comments", after=True))
    dismisses(desk)
    assert desk.state is not None
    assert (desk.state.run_id, known(desk)) == (again.run_id, [(PATH, "dismissed")])


@pytest.mark.parametrize("look", [0, 1], ids=["before it is read again", "before it is written"])
def test_a_summary_that_a_person_deletes_while_a_dismissal_is_written_is_not_made_anew(desk: Desk, look: int) -> None:
    delete = lambda: desk.github.deletes_comment(desk.pull, desk.summaries[0])  # noqa: E731
    desk.github.traffic.meanwhile(delete, Moment(look, operation="list comments", after=True))
    assert "is known on this pull request" in dismisses(desk)
    assert desk.summaries == []


# --- where it is said -------------------------------------------------------------------------------------------------


def threads(desk: Desk) -> list[tuple[str, bool, str | None]]:
    """Where each thread was begun, whether GitHub calls it outdated, and who resolved it."""
    return [(each.comments[0].path, each.outdated, each.resolved_by) for each in desk.threads]


@pytest.fixture
def may_resolve() -> Desk:
    desk = Desk()
    desk.github.workflow_token(WORKFLOW_ABILITIES | {"contents:write"})
    desk.publish(desk.reviewed(reject(FAULT)))
    return desk


@pytest.mark.parametrize("file", [NEW_FILE, RENAMED], ids=["brought", "renamed"])
def test_the_old_thread_of_a_finding_in_a_renamed_file_is_resolved(may_resolve: Desk, file: FileChange) -> None:
    desk = may_resolve
    moves(desk, file)
    desk.publish(desk.reviewed(reject(THERE), files=(file,)))
    assert threads(desk) == [(PATH, True, desk.rules.login), (MOVED, False, None)]


def test_a_finding_whose_thread_is_outdated_is_said_at_its_new_place_and_the_old_thread_resolved(
    may_resolve: Desk,
) -> None:
    desk = may_resolve
    changed = LINES.replace("value = 3\n", "value = 3  # three\n")
    for _ in range(2):
        desk.github.pushes(desk.pull, {PATH: changed})
        desk.publish(desk.reviewed(reject(FAULT)))
    assert threads(desk) == [(PATH, True, desk.rules.login), (PATH, False, None)]


def test_a_thread_that_moved_with_its_line_stays_and_nothing_is_said_twice(may_resolve: Desk) -> None:
    desk = may_resolve
    desk.github.pushes(desk.pull, {PATH: "first = 0\n" + LINES})
    desk.publish(desk.reviewed(reject(FAULT)))
    assert threads(desk) == [(PATH, False, None)]


def test_a_token_that_may_not_resolve_threads_says_so_and_says_the_finding_once_more_only(desk: Desk) -> None:
    desk.github.pushes(desk.pull, {PATH: LINES.replace("value = 3\n", "value = 3  # three\n")})
    for _ in range(2):
        desk.publish(desk.reviewed(reject(FAULT)))
    assert threads(desk) == [(PATH, True, None), (PATH, False, None)]
    assert "threads of settled findings stay open" in desk.summaries[0].body


def test_an_outdated_thread_that_a_person_resolved_is_not_begun_again(desk: Desk) -> None:
    desk.github.resolves(desk.threads[0], by=MAINTAINER)
    desk.github.pushes(desk.pull, {PATH: LINES.replace("value = 3\n", "value = 3  # three\n")})
    desk.publish(desk.reviewed(reject(FAULT)))
    assert threads(desk) == [(PATH, True, MAINTAINER)]


def test_the_words_above_the_comments_count_nothing_that_was_dismissed(desk: Desk) -> None:
    dismisses(desk)
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 1\n"})
    desk.publish(desk.reviewed(reject(FAULT, finding(PATH, 7, "value = 7", "low"))))
    assert "**Changes requested: 1 low**" in desk.reviews[-1].body
