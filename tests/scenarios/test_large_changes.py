import threading
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.scenarios.reading import is_shown, own_words, shown

from review_advisor.change.change import FileChange, Hunk, Status
from review_advisor.mockworld.agents import (
    approve,
    bug,
    confirm,
    credit_gone,
    evidence,
    finding,
    garbage,
    lost,
    reject,
    veto,
)
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.events import CallEnded
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound

PATHS = ("src/a.py", "src/b.py", "src/c.py")
LONG = 60.0
"""Seconds that only a failure takes."""


@pytest.fixture
def large(world: MockWorld) -> MockWorld:
    """Three files, each of which fills a part of its own."""
    world.rules = replace(world.rules, shard_tokens=180)
    world.change(*(edited(path) for path in PATHS))
    return world


def test_each_part_is_executed_and_judged_by_itself_d3(large: MockWorld) -> None:
    document = large.review()
    assert large.asked == ["pre_flight"] + ["executor", "post_verify"] * 3
    for n, path in enumerate(PATHS):
        for role in (Role.EXECUTOR, Role.POST_VERIFY):
            call = large.calls(role)[n]
            assert [other in shown(call, "DIFF") for other in PATHS] == [other == path for other in PATHS]
            assert f"Part {n + 1} of 3 of the diff" in own_words(call)
            assert all(other in shown(call, "FILES") for other in PATHS)
    assert document.outcome is Outcome.APPROVED
    assert [(file.path, file.read) for file in document.coverage] == [(path, "read") for path in PATHS]


def test_the_planner_sees_statistics_only(large: MockWorld) -> None:
    large.review()
    (planner,) = large.calls(Role.PRE_FLIGHT)
    assert not is_shown(planner, "DIFF")
    assert "modified, +30 -0, code: src/b.py" in shown(planner, "FILES")
    assert all(is_shown(call, "PLAN") for call in large.calls(Role.EXECUTOR))


def test_the_worst_part_decides(large: MockWorld) -> None:
    large.agents.script(Role.EXECUTOR, approve(), reject(finding("src/b.py", 3, "value = 3")), approve())
    document = large.review()
    assert (document.outcome, document.exit_code) == (Outcome.CHANGES_REQUESTED, 10)
    assert document.because == ("part 2 of 3: the rejection is confirmed",)
    assert [each.path for each in document.findings] == ["src/b.py"]


def test_only_the_vetoed_part_is_tried_again(large: MockWorld) -> None:
    noted = approve(finding("src/a.py", 1, "value = 1", "low"))
    large.agents.script(Role.EXECUTOR, approve(), noted)
    large.agents.script(Role.POST_VERIFY, veto("one is missing"))
    document = large.review()
    assert [(call.shard, call.attempt) for call in large.calls(Role.EXECUTOR)] == [(0, 0), (0, 1), (1, 0), (2, 0)]
    assert not any("one is missing" in call.prompt for call in large.agents.asked if call.shard != 0)
    assert document.outcome is Outcome.APPROVED


def test_one_lost_part_among_several_calls_a_human_and_its_file_is_named(large: MockWorld) -> None:
    large.agents.script(Role.EXECUTOR, approve(), lost(), approve())
    document = large.review()
    assert (document.outcome, document.exit_code) == (Outcome.ESCALATED, 11)
    assert document.because == ("part 2 of 3: no verdict: scripted: crash",)
    assert [(file.path, file.read) for file in document.coverage] == [
        ("src/a.py", "read"),
        ("src/b.py", "not"),
        ("src/c.py", "read"),
    ]
    assert len(large.calls(Role.POST_VERIFY)) == 2


def test_a_review_of_which_every_part_is_lost_did_not_run(large: MockWorld) -> None:
    large.agents.script(Role.EXECUTOR, lost(), lost(), lost())
    document = large.review()
    assert (document.outcome, document.exit_code) == (Outcome.STOPPED, 12)


def test_a_change_in_parts_may_cost_more_but_not_more_than_the_cap(large: MockWorld) -> None:
    assert large.review().policy.budgets.max_usd == pytest.approx(3.0, abs=0.1)
    large.rules = replace(large.rules, max_usd=2.0)
    assert large.review().policy.budgets.max_usd == 2.0


def test_a_line_too_long_to_send_is_named_and_never_approved_d3(world: MockWorld) -> None:
    world.rules = replace(world.rules, shard_tokens=180)
    monster = Hunk(10, 0, 50, 1, "", ("+" + "x" * 5000,))
    file = edited("src/app.py", 5)
    world.change(replace(file, added=6, hunks=(*file.hunks, monster)), edited("src/b.py", 1))
    document = world.review()
    assert (document.outcome, document.exit_code) == (Outcome.ESCALATED, 11)
    assert len(document.because) == 1
    assert document.because[0].startswith("src/app.py was read in part: a line longer than")
    assert [(file.path, file.read) for file in document.coverage] == [("src/app.py", "partly"), ("src/b.py", "read")]
    for role in (Role.EXECUTOR, Role.POST_VERIFY):
        (call,) = world.calls(role)
        assert "xxxx" not in call.prompt
        assert shown(call, "NOT_SHOWN").startswith("src/app.py: a line longer than")


def test_a_file_of_one_monstrous_line_was_not_read_at_all(world: MockWorld) -> None:
    world.rules = replace(world.rules, shard_tokens=180)
    world.change(edited("src/app.py", 1, text="x" * 5000))
    document = world.review()
    assert document.outcome is Outcome.ESCALATED
    assert [(file.path, file.read) for file in document.coverage] == [("src/app.py", "not")]


def test_one_huge_file_is_read_in_parts_and_a_lost_one_leaves_it_partly_read(world: MockWorld) -> None:
    world.rules = replace(world.rules, shard_tokens=180)
    world.change(edited("src/app.py", 60))
    world.agents.script(Role.EXECUTOR, approve(), lost())
    document = world.review()
    assert [file.read for file in document.coverage] == ["partly"]
    assert document.outcome is Outcome.ESCALATED


def test_a_binary_file_may_be_approved_but_is_named_as_not_read(world: MockWorld) -> None:
    world.change(FileChange(Status.ADDED, "logo.png", binary=True))
    document = world.review()
    assert document.outcome is Outcome.APPROVED
    assert [(file.path, file.read, file.why) for file in document.coverage] == [("logo.png", "not", "binary")]


def test_an_empty_change_is_nothing_to_review_and_asks_nobody(world: MockWorld) -> None:
    world.source.stated = replace(world.source.stated, files=())
    document = world.review()
    assert (document.outcome, document.exit_code) == (Outcome.NOTHING_TO_REVIEW, 0)
    assert document.because == ("the change is empty",)
    assert world.asked == []
    assert document.coverage == ()


def meet(others: threading.Barrier) -> None:
    """Go on when all others are here too."""
    others.wait()


@pytest.fixture
def parallel(large: MockWorld) -> MockWorld:
    """The large change, its parts reviewed side by side."""
    large.jobs = 3
    return large


def test_parts_are_reviewed_side_by_side(parallel: MockWorld) -> None:
    meeting = threading.Barrier(3, timeout=LONG)
    parallel.agents.script(Role.EXECUTOR, *(approve().while_doing(lambda: meet(meeting)) for _ in PATHS))
    document = parallel.review()
    assert document.outcome is Outcome.APPROVED
    assert sorted(call.shard for call in parallel.calls(Role.POST_VERIFY)) == [0, 1, 2]
    assert [part.shard for part in document.surfaces[0].parts] == [0, 1, 2]


def test_calls_side_by_side_each_have_a_number(parallel: MockWorld) -> None:
    meeting = threading.Barrier(3, timeout=LONG)
    lines = [garbage().while_doing(lambda: meet(meeting)) for _ in PATHS]
    parallel.agents.script(Role.EXECUTOR, *lines, *(approve() for _ in PATHS))
    document = parallel.review()
    ends = {event.number: event for event in document.events if isinstance(event, CallEnded)}
    assert sorted(ends) == list(range(1, 11)), "a plan, three reports, each asked for again, and three judgements"
    assert sorted(call.number for call in parallel.agents.asked) == sorted(ends)
    again = {each.shard: ends[each.asks_again].shard for each in ends.values() if each.asks_again}
    assert again == {0: 0, 1: 1, 2: 2}
    assert unsound(document.events) is None


def test_parts_side_by_side_share_the_money(parallel: MockWorld) -> None:
    meeting = threading.Barrier(3, timeout=LONG)
    parallel.agents.script(Role.EXECUTOR, *(approve().while_doing(lambda: meet(meeting)) for _ in PATHS))
    parallel.review()
    assert sum(call.max_usd for call in parallel.calls(Role.EXECUTOR)) == pytest.approx(3.0, abs=0.1)


def test_a_change_of_one_part_has_the_whole_purse_however_many_jobs_there_are(parallel: MockWorld) -> None:
    parallel.change(edited("src/a.py"))
    parallel.review()
    assert [call.max_usd for call in parallel.agents.asked] == pytest.approx([1.0, 1.0, 1.0], abs=0.1)


def meeting_and_then_until_ended(world: MockWorld) -> tuple[threading.Barrier, Callable[[], None]]:
    """Where three parts meet, and work that goes on from there until the agents are told to end."""
    all_started = threading.Barrier(3, timeout=LONG)

    def work_until_ended() -> None:
        all_started.wait()
        deadline = time.monotonic() + LONG
        while not world.agents.ended_running and time.monotonic() < deadline:
            time.sleep(0.001)

    return all_started, work_until_ended


def test_a_stop_in_one_part_starts_no_further_call_and_ends_the_running_ones_once(parallel: MockWorld) -> None:
    all_started, work_until_ended = meeting_and_then_until_ended(parallel)
    parallel.agents.script(
        Role.EXECUTOR,
        approve().while_doing(work_until_ended),
        approve().while_doing(work_until_ended),
        credit_gone().while_doing(lambda: meet(all_started)),
    )
    document = parallel.review()
    assert (document.outcome, document.exit_code) == (Outcome.STOPPED, 12)
    assert parallel.calls(Role.POST_VERIFY) == []
    assert parallel.agents.ended_running == 1


def test_a_bug_in_one_part_is_told_although_another_met_a_stop_first(parallel: MockWorld) -> None:
    all_started, work_until_ended = meeting_and_then_until_ended(parallel)
    parallel.agents.script(
        Role.EXECUTOR,
        bug().while_doing(work_until_ended),
        bug().while_doing(work_until_ended),
        credit_gone().while_doing(lambda: meet(all_started)),
    )
    with pytest.raises(KeyError, match="a bug in the harness"):
        parallel.review()


def test_two_stops_at_once_are_one_stop(parallel: MockWorld) -> None:
    both = threading.Barrier(2, timeout=LONG)
    parallel.agents.script(Role.EXECUTOR, approve(), *(credit_gone().while_doing(lambda: meet(both)) for _ in range(2)))
    document = parallel.review()
    assert document.outcome is Outcome.STOPPED
    assert parallel.agents.ended_running == 1


def test_several_surfaces_of_a_large_change_each_have_their_parts(large: MockWorld) -> None:
    large.change(*(edited(path) for path in PATHS), spec="a spec")
    document = large.review()
    assert [len(surface.parts) for surface in document.surfaces] == [3, 3]
    assert [call.surface for call in large.calls(Role.POST_VERIFY)] == [Surface.PR_REVIEW] * 3 + [
        Surface.PRE_MERGE_SPEC_CHECK
    ] * 3


def test_parts_that_recover_or_fall_behind_are_shown_by_flags(large: MockWorld) -> None:
    large.agents.script(Role.POST_VERIFY, confirm(), lost(), confirm())
    document = large.review()
    assert document.flags.degraded
    assert [part.ended.degraded for part in document.surfaces[0].parts if part.ended] == [False, True, False]


def test_a_bug_in_one_part_lets_no_other_part_start_a_call(parallel: MockWorld) -> None:
    meeting = threading.Barrier(3, timeout=LONG)

    def until_ended() -> None:
        meet(meeting)
        deadline = time.monotonic() + LONG
        while not parallel.agents.ended_running and time.monotonic() < deadline:
            time.sleep(0.005)

    parallel.agents.script(
        Role.EXECUTOR,
        bug().while_doing(lambda: meet(meeting)),
        approve().while_doing(until_ended),
        approve().while_doing(until_ended),
    )
    with pytest.raises(KeyError, match="a bug in the harness"):
        parallel.review()
    assert parallel.agents.ended_running == 1
    assert parallel.calls(Role.POST_VERIFY) == []


def test_an_answer_may_quote_another_part_of_the_change_but_only_what_stands_there(large: MockWorld) -> None:
    large.rules = replace(large.rules, shard_tokens=180)
    quote = (evidence("d0.1", "src/b.py", "value = 3"), evidence("d0.2", "src/b.py", "not in it"))
    large.agents.script(Role.EXECUTOR, approve(), approve(answers=quote))
    large.agents.script(Role.POST_VERIFY, veto("one", "two"), confirm())
    document = large.review()
    assert document.surfaces[0].parts[0].reports[1].settled == ("d0.1",)


def test_what_the_money_leaves_unread_is_the_least_dangerous_and_is_named(large: MockWorld) -> None:
    large.change(edited("docs/guide.md"), edited("src/app.py"), edited("src/auth/login.py"))
    large.rules = replace(large.rules, max_usd=1.0)
    large.agents.script(Role.POST_VERIFY, confirm(), confirm().costing(1.0))
    document = large.review()
    assert (document.outcome, document.exit_code) == (Outcome.ESCALATED, 11)
    assert {file.path: file.read for file in document.coverage} == {
        "src/auth/login.py": "read",
        "src/app.py": "read",
        "docs/guide.md": "not",
    }
    assert document.because == ("part 3 of 3: not reviewed: what is left of $1.00 is too little for another call",)


def test_a_change_of_more_parts_has_more_time(large: MockWorld) -> None:
    assert large.review().policy.budgets.review_seconds == 2_100
