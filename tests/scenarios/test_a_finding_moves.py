"""A finding stays the same one when its file gets another name or its lines another place, and is said in one place."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.scenarios.publishing import AUTHOR, LINES, MAINTAINER, PATH, Desk
from tests.scenarios.reading import shown

from review_advisor.agents.findings import finding_id
from review_advisor.change.change import EXECUTABLE_MODE, FileChange
from review_advisor.github.begin import Comment, Conversation
from review_advisor.github.comment_text import STILL_OPEN
from review_advisor.github.memory import earlier_review
from review_advisor.github.publish import DidNotRun
from review_advisor.mockworld.agents import approve, finding, lost, reject
from review_advisor.mockworld.github import WORKFLOW_ABILITIES
from review_advisor.mockworld.github_traffic import RequestMoment
from review_advisor.mockworld.world import edited, renamed
from review_advisor.policy.surfaces import Role

FAULT = finding(PATH, 3, "value = 3", title="three is wrong")
FAULT_ID = finding_id(PATH, "correctness", "value = 3")
MOVED = "src/b.py"
THERE = finding(MOVED, 3, "value = 3", title="three is wrong")
THERE_ID = finding_id(MOVED, "correctness", "value = 3")
NEW_FILE = edited(MOVED, 30)
"""The pull request brought the file, so its new name is all that there is from the base to the head."""
RENAMED = replace(NEW_FILE, status=renamed(PATH, MOVED).status, old_path=PATH)
FILES = pytest.mark.parametrize("file", [NEW_FILE, RENAMED], ids=["brought", "renamed"])


@pytest.fixture
def desk() -> Desk:
    """A pull request that was rejected, and whose next push gives its file another name."""
    desk = Desk()
    desk.publish(desk.reviewed(reject(FAULT)))
    return desk


def dismisses(desk: Desk, finding: str = FAULT_ID) -> str:
    return desk.hears(MAINTAINER, f"/advisor dismiss {finding} it is meant", 77 if finding == FAULT_ID else 79).because


def explained(desk: Desk) -> str:
    talk = Conversation(desk.bot())
    return talk.hear(desk.pull.number, Comment(78, MAINTAINER, f"/advisor explain {THERE_ID}")).because


def moves(desk: Desk, *files: FileChange) -> None:
    desk.github.pushes(desk.pull, {PATH: None, MOVED: LINES})
    desk.publish(desk.reviewed(reject(THERE), files=files))


def git_names(desk: Desk, *renames: tuple[str, str]) -> None:
    """git says that since the last review these files were renamed."""
    assert desk.state is not None
    told = replace(earlier_review(desk.state), renames=frozenset(renames))
    desk.world.source.stated = replace(desk.world.source.stated, earlier=told)


def known(desk: Desk) -> list[tuple[str, str]]:
    assert desk.state is not None
    return [(each.path, each.status) for each in desk.state.findings]


@FILES
def test_a_dismissed_finding_stays_dismissed_when_git_says_that_its_file_was_renamed(
    desk: Desk, file: FileChange
) -> None:
    """From the base to the head, or, of a file that the pull request brought, since the last review."""
    dismisses(desk)
    if file is NEW_FILE:
        git_names(desk, (PATH, MOVED))
    moves(desk, file)
    assert len(desk.threads) == 1
    assert known(desk) == [(MOVED, "dismissed")]
    assert desk.state is not None
    assert (desk.state.findings[0].id, desk.state.findings[0].by) == (THERE_ID, MAINTAINER)


@pytest.mark.parametrize("elsewhere", [(), ((PATH, "src/c.py"),), (("src/c.py", MOVED),)])
def test_the_same_lines_in_another_file_do_not_inherit_what_was_dismissed(
    desk: Desk, elsewhere: tuple[tuple[str, str], ...]
) -> None:
    """A password in a fixture is dismissed; its author takes the fixture back and puts the password into the code."""
    dismisses(desk)
    git_names(desk, *elsewhere)
    moves(desk, NEW_FILE)
    assert known(desk) == [(PATH, "dismissed"), (MOVED, "open")]
    assert [thread.comments[0].path for thread in desk.threads] == [PATH, MOVED]
    (check,) = desk.checks
    assert check.title == "Changes requested: 1 high"
    assert f"(`{THERE_ID}`), dismissed under `{PATH}`\n" in desk.summaries[0].body
    assert "1 dismissed" in desk.summaries[0].body
    assert STILL_OPEN not in desk.summaries[0].body, "it is another finding than the dismissed one"
    assert f"dismissed under `{PATH}`" in explained(desk)


def test_what_was_dismissed_elsewhere_stays_open_and_says_so_until_it_is_dismissed_itself(desk: Desk) -> None:
    dismisses(desk)
    moves(desk, NEW_FILE)
    git_names(desk)
    desk.github.pushes(desk.pull, {"other.py": "x = 1\n"})
    desk.publish(desk.reviewed(reject(THERE), files=(NEW_FILE,)))
    assert known(desk) == [(PATH, "dismissed"), (MOVED, "open")]
    assert f"(`{THERE_ID}`), dismissed under `{PATH}`\n" in desk.summaries[0].body
    told = json.loads(shown(desk.world.calls(Role.EXECUTOR)[-1], "EARLIER"))
    assert [(each["path"], each["status"]) for each in told] == [(PATH, "dismissed"), (MOVED, "open")]
    desk.publish(DidNotRun("run-x", desk.pull.head_sha, "The credit is spent."))
    assert f"(`{THERE_ID}`), dismissed under `{PATH}`\n" in desk.summaries[0].body
    dismisses(desk, THERE_ID)
    desk.publish(desk.reviewed(reject(THERE), files=(NEW_FILE,)))
    assert known(desk) == [(PATH, "dismissed"), (MOVED, "dismissed")]
    assert "dismissed under" not in desk.summaries[0].body
    assert "dismissed under" not in explained(desk)


def test_of_two_files_with_the_same_lines_only_the_renamed_one_is_dismissed(desk: Desk) -> None:
    dismisses(desk)
    git_names(desk, (PATH, MOVED))
    twin = "src/aa.py"
    desk.github.pushes(desk.pull, {PATH: None, MOVED: LINES, twin: LINES})
    report = reject(finding(twin, 3, "value = 3", title="three is wrong"), THERE)
    desk.publish(desk.reviewed(report, files=(edited(twin, 30), NEW_FILE)))
    assert dict(known(desk)) == {MOVED: "dismissed", twin: "open"}


def test_of_two_dismissed_files_with_the_same_lines_the_one_that_git_calls_renamed_follows(desk: Desk) -> None:
    twin = "src/0.py"
    again = finding(twin, 3, "value = 3", title="three is wrong")
    desk.github.pushes(desk.pull, {twin: LINES})
    desk.publish(desk.reviewed(reject(again, FAULT), files=(edited(twin, 30), edited(PATH, 30))))
    dismisses(desk)
    dismisses(desk, finding_id(twin, "correctness", "value = 3"))
    git_names(desk, (PATH, MOVED))
    desk.github.pushes(desk.pull, {twin: None, PATH: None, MOVED: LINES})
    desk.publish(desk.reviewed(reject(THERE), files=(NEW_FILE,)))
    assert known(desk) == [(twin, "dismissed"), (MOVED, "dismissed")]


def test_an_open_finding_whose_lines_stand_in_two_other_files_is_open_in_both(desk: Desk) -> None:
    twin = "src/aa.py"
    desk.github.pushes(desk.pull, {PATH: None, MOVED: LINES, twin: LINES})
    report = reject(finding(twin, 3, "value = 3", title="three is wrong"), THERE)
    desk.publish(desk.reviewed(report, files=(edited(twin, 30), NEW_FILE)))
    assert known(desk) == [(twin, "open"), (MOVED, "open")]


@FILES
def test_an_open_finding_in_a_renamed_file_is_not_called_fixed(desk: Desk, file: FileChange) -> None:
    moves(desk, file)
    assert known(desk) == [(MOVED, "open")]
    assert "fixed" not in desk.summaries[0].body


def test_a_quote_that_stands_elsewhere_while_its_file_is_still_there_is_another_finding(desk: Desk) -> None:
    desk.github.pushes(desk.pull, {MOVED: LINES})
    desk.publish(desk.reviewed(reject(THERE), files=(edited(PATH, 30), NEW_FILE)))
    assert dict(known(desk)) == {PATH: "fixed", MOVED: "open"}


@FILES
@pytest.mark.parametrize("settle", [lambda desk: None, dismisses], ids=["open", "dismissed"])
def test_what_is_known_of_a_renamed_file_that_was_not_read_stays_until_it_is(
    desk: Desk, file: FileChange, settle: Callable[[Desk], object]
) -> None:
    """Its part's report is lost; the next review reads the file, and raises the finding again.

    By then git knows nothing of the rename of a file that the pull request brought: it is in no diff any more.
    """
    settle(desk)
    before = known(desk)
    desk.github.pushes(desk.pull, {PATH: None, MOVED: LINES})
    desk.world.rules = replace(desk.world.rules, shard_tokens=180)
    unread = desk.reviewed(approve(), lost(), files=(edited("src/0.py", 30), file))
    assert [file.read for file in unread.coverage] == ["read", "not"]
    desk.publish(unread)
    assert known(desk) == before
    assert "fixed" not in desk.summaries[0].body
    desk.publish(desk.reviewed(reject(THERE), files=(file,)))
    forgotten = file is NEW_FILE and before == [(PATH, "dismissed")]
    assert known(desk) == ([*before, (MOVED, "open")] if forgotten else [(MOVED, before[0][1])])


def test_a_finding_that_was_not_raised_in_the_renamed_file_is_fixed_though_another_was_not_read(desk: Desk) -> None:
    desk.github.pushes(desk.pull, {PATH: None, MOVED: LINES.replace("value = 3\n", "value = 4\n")})
    desk.world.rules = replace(desk.world.rules, shard_tokens=180)
    again = desk.reviewed(lost(), approve(), files=(edited("src/0.py", 30), RENAMED))
    assert [file.read for file in again.coverage] == ["not", "read"]
    desk.publish(again)
    assert known(desk) == [(PATH, "fixed")]


def test_a_finding_of_a_file_that_is_gone_from_the_change_is_fixed_though_a_picture_is_never_read(desk: Desk) -> None:
    desk.github.pushes(desk.pull, {PATH: None})
    picture = replace(edited("a.png", 0), binary=True)
    desk.publish(desk.reviewed(approve(), files=(picture, edited("src/c.py", 3))))
    assert known(desk) == [(PATH, "fixed")]


@pytest.mark.parametrize("path, mode", [(MOVED, "100644"), ("a.png", EXECUTABLE_MODE)], ids=["a script", "a picture"])
def test_a_finding_is_not_called_fixed_while_its_lines_may_stand_in_a_script_that_nobody_reads(
    desk: Desk, path: str, mode: str
) -> None:
    """A NUL byte makes a script binary to git, and its interpreter runs it all the same."""
    desk.github.pushes(desk.pull, {PATH: None, path: LINES + "\0"})
    script = replace(edited(path, 0), binary=True, new_mode=mode)
    desk.publish(desk.reviewed(approve(), files=(script, edited("src/c.py", 3))))
    assert known(desk) == [(PATH, "open")]


def test_a_finding_in_a_file_of_which_only_a_part_was_read_is_not_called_fixed(desk: Desk) -> None:
    desk.world.rules = replace(desk.world.rules, shard_tokens=180)
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
    desk.github.traffic.meanwhile(lambda: said.append(dismisses(desk)), RequestMoment(operation=operation, after=True))
    desk.publish(again)
    assert ["is dismissed" in each for each in said] == [True]
    assert known(desk) == [(MOVED, "dismissed")]
    (check,) = desk.checks
    assert "high" not in (check.title or "")


def test_a_review_that_ends_while_a_dismissal_is_written_is_not_undone(desk: Desk) -> None:
    """The command has read the summary of the first review; the second one's stands when it is written."""
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 1\n"})
    again = desk.reviewed(reject(FAULT))
    desk.github.traffic.meanwhile(lambda: desk.publish(again), RequestMoment(operation="list comments", after=True))
    dismisses(desk)
    assert desk.state is not None
    assert (desk.state.run_id, known(desk)) == (again.run_id, [(PATH, "dismissed")])


@pytest.mark.parametrize("look", [0, 1], ids=["before it is read again", "before it is written"])
def test_a_summary_that_a_person_deletes_while_a_dismissal_is_written_is_not_made_anew(desk: Desk, look: int) -> None:
    delete = lambda: desk.github.deletes_comment(desk.pull, desk.summaries[0])  # noqa: E731
    desk.github.traffic.meanwhile(delete, RequestMoment(look, operation="list comments", after=True))
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


@FILES
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


def test_a_finding_that_is_open_is_said_anew_where_somebody_resolved_its_outdated_thread(desk: Desk) -> None:
    desk.github.resolves(desk.threads[0], by=AUTHOR)
    desk.github.pushes(desk.pull, {PATH: LINES.replace("value = 3\n", "value = 3  # three\n")})
    for _ in range(2):
        desk.publish(desk.reviewed(reject(FAULT)))
    assert threads(desk) == [(PATH, True, AUTHOR), (PATH, False, None)]


def test_a_thread_on_its_lines_that_somebody_resolved_is_not_begun_again(desk: Desk) -> None:
    desk.github.resolves(desk.threads[0], by=MAINTAINER)
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 1\n"})
    desk.publish(desk.reviewed(reject(FAULT)))
    assert threads(desk) == [(PATH, False, MAINTAINER)]


def test_a_resolved_thread_is_not_begun_again_because_the_memory_was_lost(desk: Desk) -> None:
    desk.github.resolves(desk.threads[0], by=MAINTAINER)
    desk.github.edits(desk.summaries[0], by=MAINTAINER, body=desk.summaries[0].body)
    assert desk.state is None
    desk.publish(desk.reviewed(reject(FAULT)))
    assert threads(desk) == [(PATH, False, MAINTAINER)]


def test_a_finding_is_said_anew_when_its_file_gets_its_first_name_back(may_resolve: Desk) -> None:
    """The bot itself has resolved what it said under that name."""
    desk = may_resolve
    moves(desk, NEW_FILE)
    desk.github.pushes(desk.pull, {PATH: LINES, MOVED: None})
    for _ in range(2):
        desk.publish(desk.reviewed(reject(FAULT)))
    assert known(desk) == [(PATH, "open")]
    mine = desk.rules.login
    assert [(path, by) for path, _, by in threads(desk)] == [(PATH, mine), (MOVED, mine), (PATH, None)]


def test_nothing_is_said_twice_though_github_lists_the_newest_thread_first(may_resolve: Desk) -> None:
    desk = may_resolve
    desk.pull.newest_threads_first = True
    desk.github.pushes(desk.pull, {PATH: LINES.replace("value = 3\n", "value = 3  # three\n")})
    for _ in range(2):
        desk.publish(desk.reviewed(reject(FAULT)))
    assert threads(desk) == [(PATH, True, desk.rules.login), (PATH, False, None)]


def test_the_words_above_the_comments_count_nothing_that_was_dismissed(desk: Desk) -> None:
    dismisses(desk)
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 1\n"})
    desk.publish(desk.reviewed(reject(FAULT, finding(PATH, 7, "value = 7", "low"))))
    assert "**Changes requested: 1 low**" in desk.reviews[-1].body
