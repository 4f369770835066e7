"""Which of the bot's threads still say their finding."""

import pytest

from review_advisor.github.state import Thread, finding_marker
from review_advisor.github.threads import (
    about,
    finding_ids_ever_posted,
    finding_ids_with_open_thread,
    finding_ids_with_thread,
    left_behind,
)

ONE, TWO = "f-00000000000000000000000000000001", "f-00000000000000000000000000000002"


def thread(name: str = "T1", finding: str | None = ONE, *, resolved: bool = False, outdated: bool = False) -> Thread:
    body = "only words" if finding is None else f"{finding_marker(finding)}\nwords"
    return Thread(name, "github-actions[bot]", body, resolved, outdated)


@pytest.mark.parametrize(
    "resolved, outdated, is_said, is_shown",
    [(False, False, True, True), (True, False, True, False), (False, True, False, False), (True, True, False, False)],
)
def test_a_finding_is_said_by_its_last_thread(resolved: bool, outdated: bool, is_said: bool, is_shown: bool) -> None:
    last = thread("T2", resolved=resolved, outdated=outdated)
    for before in ((), (thread(),), (thread(resolved=True, outdated=True),)):
        threads = (*before, last, thread("T3", None))
        assert finding_ids_ever_posted(threads) == {ONE}
        assert finding_ids_with_thread(threads) == ({ONE} if is_said else set())
        assert finding_ids_with_open_thread(threads) == ({ONE} if is_shown else set())


def test_only_open_threads_about_a_finding_are_about_it() -> None:
    threads = (thread("T1"), thread("T2", resolved=True), thread("T3", TWO), thread("T4", None), thread("T5"))
    assert [each.id for each in about(threads, {ONE})] == ["T1", "T5"]
    assert about(threads, set()) == ()


def test_an_outdated_thread_is_left_behind_once_a_later_one_says_its_finding() -> None:
    assert [each.id for each in left_behind((thread("T1", outdated=True), thread("T2")), {ONE})] == ["T1"]
    assert left_behind((thread("T1", outdated=True),), {ONE}) == ()


def test_an_outdated_thread_is_left_behind_once_its_finding_has_another_id() -> None:
    assert [each.id for each in left_behind((thread("T1", outdated=True),), {TWO})] == ["T1"]


@pytest.mark.parametrize("resolved, outdated", [(True, True), (False, False), (True, False)])
def test_a_thread_that_is_resolved_or_keeps_its_lines_is_not_left_behind(resolved: bool, outdated: bool) -> None:
    assert left_behind((thread("T1", resolved=resolved, outdated=outdated), thread("T2")), set()) == ()


def test_a_thread_about_nothing_is_nobodys() -> None:
    assert left_behind((thread("T1", None, outdated=True),), set()) == ()
