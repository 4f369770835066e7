"""What is bounded is the number of calls at a time. Whoever waits for the calls of others holds no place."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace

import pytest

from review_advisor.agents.answers import PostVerifyResult, ReviewReport
from review_advisor.agents.calls import AgentCall, CreditExhaustedError
from review_advisor.change.redaction import NO_SECRETS
from review_advisor.mockworld.agents import FakeAdvisorRunner, approve, confirm
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.budgets import Budgets, Refused
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.dispatch import Dispatch
from review_advisor.review.events import CallStarted
from review_advisor.review.ports import Ports
from review_advisor.review.rulings import Outcome
from review_advisor.safety.stop import ReviewInterrupted

LONG = 60.0
"""Seconds after which a test that hangs fails."""


def dispatch(world: MockWorld, jobs: int, max_usd: float = 10.0) -> Dispatch:
    """The calls of one review of this world, ``jobs`` at a time."""
    ports = Ports(world.agents, world.source, world.journal, world.artifacts, world.clock, world.pictures, world.wiki)
    return Dispatch(ports, Budgets(max_usd=max_usd), jobs, NO_SECRETS)


def executor(part: int) -> AgentCall:
    return _call(Role.EXECUTOR, part)


def judge(part: int, seat: int) -> AgentCall:
    return _call(Role.POST_VERIFY, part, attempt=seat)


def _call(role: Role, part: int, attempt: int = 0) -> AgentCall:
    answer = ReviewReport if role is Role.EXECUTOR else PostVerifyResult
    return AgentCall(
        role, role.advisor, Surface.PR_REVIEW, attempt, part, "m", "s", ("p",), answer, None, None, 0.0, 0.0
    )


def starts(calls: Dispatch) -> list[tuple[Role, int, int]]:
    return [(each.role, each.shard, each.attempt) for each in calls.events if isinstance(each, CallStarted)]


@dataclass
class Crowd:
    """How many calls run at the moment, and the most there ever were. The first ``meeting`` wait for one another."""

    meeting: threading.Barrier | None = None
    running: int = 0
    most: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self) -> None:
        with self.lock:
            self.running += 1
            self.most = max(self.most, self.running)
        if self.meeting is not None:
            self.meeting.wait()
        with self.lock:
            self.running -= 1


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_part_that_waits_for_two_judges_holds_no_place(world: MockWorld, jobs: int) -> None:
    """Three parts, each in a thread of its own, and each asks two judges from a pool inside it."""
    calls, crowd = dispatch(world, jobs), Crowd()
    world.agents.script(Role.EXECUTOR, *(approve().while_doing(crowd) for _ in range(3)))
    world.agents.script(Role.POST_VERIFY, *(confirm().while_doing(crowd) for _ in range(6)))

    def part(number: int) -> int:
        calls.ask(executor(number), ReviewReport)
        with ThreadPoolExecutor(2) as council:
            judged = [council.submit(calls.ask, judge(number, seat), PostVerifyResult) for seat in range(2)]
            return sum(isinstance(each.result(LONG).answer, PostVerifyResult) for each in judged)

    with ThreadPoolExecutor(3) as parts:
        done = [parts.submit(part, number) for number in range(3)]
        assert [each.result(LONG) for each in done] == [2, 2, 2]
    assert len(starts(calls)) == 9
    assert crowd.most <= jobs


def test_with_one_call_at_a_time_the_order_is_that_of_the_items_at_every_depth(world: MockWorld) -> None:
    calls = dispatch(world, jobs=1)

    def part(number: int) -> list[object]:
        calls.ask(executor(number), ReviewReport)
        return [*calls.together(range(2), lambda seat: calls.ask(judge(number, seat), PostVerifyResult).answer)]

    assert [len(each) for each in calls.together(range(3), part)] == [2, 2, 2]
    each_part = [(Role.EXECUTOR, 0), (Role.POST_VERIFY, 0), (Role.POST_VERIFY, 1)]
    assert starts(calls) == [(role, number, seat) for number in range(3) for role, seat in each_part]


def test_work_done_together_may_be_nested_and_keeps_the_items_order(world: MockWorld) -> None:
    calls = dispatch(world, jobs=2)
    nested = calls.together(range(4), lambda one: calls.together(range(3), lambda two: (one, two)))
    assert nested == [[(one, two) for two in range(3)] for one in range(4)]


@pytest.mark.parametrize("parts", [5, 60])
def test_never_more_calls_run_than_may_and_as_many_as_may_do(world: MockWorld, parts: int) -> None:
    calls, crowd = dispatch(world, jobs=2), Crowd(threading.Barrier(2, timeout=LONG))
    even = parts - parts % 2
    world.agents.script(Role.EXECUTOR, *(approve().while_doing(crowd) for _ in range(even)))
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda number: calls.ask(executor(number), ReviewReport), range(parts)))
    assert (crowd.most, len(starts(calls))) == (2, parts)


def test_a_third_call_waits_for_the_end_of_one_of_two(world: MockWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """The two go on until the third has begun, or looks a second time for an interrupt, as it does while it waits."""
    both, known, over = threading.Barrier(3, timeout=LONG), threading.Event(), list[int]()
    looks = iter([lambda: None] * 3)
    began_behind: list[int] = []

    def at_work() -> None:
        both.wait()
        assert known.wait(LONG)
        over.append(1)

    def third() -> None:
        began_behind.append(len(over))
        known.set()

    world.agents.script(Role.EXECUTOR, *(approve().while_doing(doing) for doing in (at_work, at_work, third)))
    monkeypatch.setattr(world.agents, "check_interrupt", lambda: next(looks, known.set)())  # noqa: PLW0108 (each its own)
    calls = dispatch(world, jobs=2)
    with ThreadPoolExecutor(3) as threads:
        asked = [threads.submit(calls.ask, executor(number), ReviewReport) for number in range(2)]
        both.wait()
        asked.append(threads.submit(calls.ask, executor(2), ReviewReport))
        assert all(isinstance(each.result(LONG).answer, ReviewReport) for each in asked)
    assert began_behind[0] >= 1


def test_a_change_of_sixty_parts_starts_no_sixty_threads(world: MockWorld) -> None:
    names: set[str] = set()
    calls = dispatch(world, jobs=3)
    calls.together(range(60), lambda _: names.add(threading.current_thread().name))
    assert len(names) <= 3


def waiting(calls: Dispatch, world: MockWorld, end: Callable[[], None], raised: type[Exception]) -> None:
    """One call runs and three wait; then ``end`` happens, and each that waited ends by what it raised."""
    started, finish = threading.Event(), threading.Event()

    def at_work() -> None:
        started.set()
        finish.wait(LONG)

    world.agents.script(Role.EXECUTOR, approve().while_doing(at_work))
    with ThreadPoolExecutor(4) as threads:
        first = threads.submit(calls.ask, executor(0), ReviewReport)
        assert started.wait(LONG)
        others = [threads.submit(calls.ask, executor(number), ReviewReport) for number in (1, 2, 3)]
        end()
        try:
            assert len(wait(others, timeout=LONG).done) == 3, "nobody waits for the call that goes on"
            assert not first.done()
        finally:
            finish.set()
    assert {type(each.exception()) for each in others} == {raised}
    assert len(starts(calls)) == 1


def test_a_stop_lets_every_waiting_call_go(world: MockWorld) -> None:
    calls = dispatch(world, jobs=1)
    waiting(calls, world, lambda: calls.halt(CreditExhaustedError("none left")), CreditExhaustedError)


def test_an_interrupt_lets_every_waiting_call_go(world: MockWorld) -> None:
    def interrupt() -> None:
        world.agents.interrupted = ReviewInterrupted("told to end")

    waiting(dispatch(world, jobs=1), world, interrupt, ReviewInterrupted)


def test_a_call_that_ends_in_a_bug_gives_its_place_and_its_money_back(world: MockWorld) -> None:
    calls = dispatch(world, jobs=1, max_usd=1.0)

    def broken() -> None:
        raise KeyError("a bug")

    world.agents.script(Role.EXECUTOR, approve().while_doing(broken), approve().costing(0.25))
    with pytest.raises(KeyError, match="a bug"):
        calls.ask(executor(0), ReviewReport)
    later = threading.Thread(target=calls.ask, args=(executor(1), ReviewReport), daemon=True)
    later.start()
    later.join(LONG)
    assert not later.is_alive(), "it waits for a place that nobody holds"
    assert world.agents.asked[-1].max_usd == 1.0


@dataclass
class Waited(FakeAdvisorRunner):
    """Agents that know when a second call waits: it has looked for an interrupt before it waited, and while it did."""

    looks: int = 0
    queued: threading.Event = field(default_factory=threading.Event)

    def check_interrupt(self) -> None:
        self.looks += 1
        if self.looks == 3:
            self.queued.set()


def test_money_and_time_are_those_of_the_moment_at_which_the_place_is_free(world: MockWorld) -> None:
    world.agents = Waited(world.clock)
    calls = dispatch(world, jobs=1, max_usd=1.0)
    started, queued = threading.Event(), world.agents.queued

    def at_work() -> None:
        started.set()
        assert queued.wait(LONG)

    world.agents.script(Role.EXECUTOR, approve().costing(0.75).taking(1500).while_doing(at_work), approve().taking(400))
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(calls.ask, executor(0), ReviewReport)
        assert started.wait(LONG)
        second = threads.submit(calls.ask, executor(1), ReviewReport)
        wait([first, second], timeout=LONG)
    late = world.agents.asked[-1]
    assert (late.max_usd, late.timeout_seconds) == (0.25, 300.0)
    assert isinstance(calls.ask(executor(2), ReviewReport).answer, Refused)


def test_a_review_of_many_parts_keeps_to_its_jobs(world: MockWorld) -> None:
    crowd = Crowd(threading.Barrier(2, timeout=LONG))
    world.rules = replace(world.rules, shard_tokens=180)
    world.change(*(edited(f"src/{name}.py") for name in "abcd"))
    world.agents.script(Role.EXECUTOR, *(approve().while_doing(crowd) for _ in range(4)))
    world.jobs = 2
    assert world.review().outcome is Outcome.APPROVED
    assert crowd.most == 2
