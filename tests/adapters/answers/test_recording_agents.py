"""A recording answers the review that it was made of, word for word, and no other question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from review_advisor.agents.calls import Answered, LostReason
from review_advisor.agents.kept_replies import RunNames
from review_advisor.agents.recordings import (
    RecordedAgents,
    RecordedCall,
    RecordingAgents,
    RecordingFile,
    RecordingFolder,
    WouldAsk,
    read_recording,
)
from review_advisor.change.redaction import NO_SECRETS
from review_advisor.mockworld.agents import approve, confirm, credit_gone, evidence, garbage, lost, veto, vote
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.budgets import Budgets
from review_advisor.policy.roster import ADR_ADVISOR, Advisor, Roster
from review_advisor.policy.surfaces import Role
from review_advisor.review.consults import ReviewConsults
from review_advisor.review.document import OutcomeDocument
from review_advisor.safety.clock import ReplayClock

Told = Callable[[MockWorld], None]
CAP = "HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS"
NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def names(world: MockWorld) -> RunNames:
    """Those of its next review."""
    return RunNames(f"run-{world.reviews + 1}", f"nonce{world.reviews + 1:04d}")


def recorded(
    story: Told, folder: Path, world: MockWorld | None = None
) -> tuple[OutcomeDocument, tuple[RecordedCall, ...]]:
    """A review and its recording."""
    world = world or MockWorld()
    story(world)
    file = RecordingFile(RecordingFolder(folder), "run_1", pytest.fail)
    world.agents = RecordedAgents(world.agents, file, names(world), NO_SECRETS, lambda: NOON)  # type: ignore[assignment]
    document = world.review()
    file.close()
    return document, read_recording(RecordingFolder(folder).read("run_1")).calls


def played_again(world: MockWorld, calls: tuple[RecordedCall, ...]) -> OutcomeDocument:
    """The next review of a world that is another run with another nonce, answered by the recording alone."""
    world.reviews = 7
    world.agents = RecordingAgents(calls, names(world), NO_SECRETS, NOON.date)  # type: ignore[assignment]
    return world.review()


def recovers(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve(), approve(answers=(evidence("d0.1", "src/app.py", "value = 7"),)))
    world.agents.script(Role.POST_VERIFY, veto("a fault"), confirm())


def consults(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve().after_asking("Is value 1 right in src/app.py?", "And 2?", "And 3?"))


def is_garbled_once(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, garbage(), approve())


def has_no_judge(world: MockWorld) -> None:
    world.agents.script(Role.POST_VERIFY, *(lost(LostReason.SERVER_ERROR) for _ in range(20)))


def votes(world: MockWorld) -> None:
    world.rules = replace(world.rules, roster=Roster((ADR_ADVISOR, Advisor("security", "Holes.", on="finish"))))
    world.agents.script(Role.POST_VERIFY, vote(90), advisor="security")


@pytest.mark.parametrize("story", [recovers, consults, is_garbled_once, has_no_judge, votes])
def test_a_review_played_again_by_its_recording_comes_to_the_same(story: Told, tmp_path: Path) -> None:
    document, calls = recorded(story, tmp_path)
    world = MockWorld()
    world.rules = replace(world.rules, roster=document.policy.roster)
    again = played_again(world, calls)
    same = (again.outcome, again.because, again.findings, again.flags, again.cost)
    assert same == (document.outcome, document.because, document.findings, document.flags, document.cost)
    assert [each.kind for each in again.events] == [each.kind for each in document.events]


def test_another_cap_of_consults_asks_the_executor_in_other_words(tmp_path: Path) -> None:
    _, calls = recorded(consults, tmp_path)
    world = MockWorld()
    world.switch(CAP, "2")
    with pytest.raises(WouldAsk, match="executor of pr_review would have been asked what is not recorded") as asked:
        played_again(world, calls)
    (question,) = asked.value.unknown.questions
    assert (question.role, question.model) == (Role.EXECUTOR, "sonnet")
    assert question.characters > 1_000


def test_consults_that_a_cap_would_have_refused_led_to_another_answer(tmp_path: Path) -> None:
    world = MockWorld()
    runner = world.agents
    _, calls = recorded(consults, tmp_path, world)
    (call,) = [each for each in runner.asked if each.role is Role.EXECUTOR]
    assert call.consults is not None
    for cap in (3, 2):
        leave = ReviewConsults(Budgets(1.0, max_consults=cap), NO_SECRETS).of_call(call.consults)
        agents = RecordingAgents(calls, RunNames("run-1", "nonce0001"), NO_SECRETS, NOON.date)
        if cap == 3:
            assert isinstance(agents.run(call, leave), Answered)
            assert [each.status for each in leave.end()] == ["answered"] * 3
        else:
            with pytest.raises(WouldAsk, match="another cap of consults would have led to another answer"):
                agents.run(call, leave)


def test_each_recorded_answer_is_given_once(tmp_path: Path) -> None:
    world = MockWorld()
    runner = world.agents
    _, calls = recorded(recovers, tmp_path, world)
    first = runner.asked[0]
    agents = RecordingAgents(calls, RunNames("run-1", "nonce0001"), NO_SECRETS, NOON.date)
    assert isinstance(agents.run(first), Answered)
    with pytest.raises(WouldAsk):
        agents.run(first)


def test_an_answer_is_for_the_advisor_that_gave_it(tmp_path: Path) -> None:
    world = MockWorld()
    runner = world.agents
    _, calls = recorded(votes, tmp_path, world)
    (asked, *_) = [each for each in runner.asked if each.advisor == "security"]
    agents = RecordingAgents(calls, RunNames("run-1", "nonce0001"), NO_SECRETS, NOON.date)
    with pytest.raises(WouldAsk):
        agents.run(replace(asked, advisor="somebody"))


def test_a_call_that_stopped_its_review_answers_nothing(tmp_path: Path) -> None:
    def stops(world: MockWorld) -> None:
        world.agents.script(Role.POST_VERIFY, credit_gone())

    _, calls = recorded(stops, tmp_path)
    with pytest.raises(WouldAsk, match="post_verify of pr_review"):
        played_again(MockWorld(), calls)


def test_the_clock_of_a_replay_goes_on_only_where_somebody_waits() -> None:
    clock = ReplayClock(NOON)
    assert (clock.now(), clock.monotonic()) == (NOON, 0.0)
    clock.sleep(60.0)
    assert (clock.now().minute, clock.monotonic()) == (1, 60.0)
