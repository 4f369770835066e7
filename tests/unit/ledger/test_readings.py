"""What a run's own row says of vetoes and consults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from benchmarks._side_by_side import SharedClock

from review_advisor.change.change import FileChange, Status
from review_advisor.ledger.rows import Participant, Row, readings_of, readings_so_far
from review_advisor.mockworld.agents import (
    approve,
    confirm,
    finding,
    garbage,
    learned,
    lost,
    picture_differs,
    reject,
    veto,
)
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.events import CallEnded, Consulted
from review_advisor.review.rulings import Outcome

FAULT = finding("src/app.py", 7, "value = 7")
OTHER = finding("src/app.py", 8, "value = 8")
LOGIN = "shots/login.png"


def row_of(story: Callable[[MockWorld], None]) -> Row:
    world = MockWorld()
    story(world)
    return readings_of(world.review()).run


def recovers(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve(), approve(FAULT))
    world.agents.script(Role.POST_VERIFY, veto("seven is taken"), confirm())


def changes_nothing(world: MockWorld) -> None:
    world.agents.script(Role.POST_VERIFY, veto("seven is taken"))


def loses_its_retry(world: MockWorld) -> None:
    world.rules = replace(world.rules, shard_tokens=180)
    world.change(*(edited(f"src/{name}.py") for name in "ab"))
    world.agents.script(Role.EXECUTOR, approve(), approve(), lost())
    world.agents.script(Role.POST_VERIFY, confirm(), veto("seven is taken"))


def loses_its_judge(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve(), approve(FAULT))
    world.agents.script(Role.POST_VERIFY, veto("seven is taken"), lost())


def has_no_retry(world: MockWorld) -> None:
    world.change(edited("src/app.py", 3), FileChange(Status.MODIFIED, LOGIN, binary=True))
    world.pictures.stated = (picture_differs(LOGIN),)
    world.agents.script(Role.POST_VERIFY, veto("the button is gone"), surface=Surface.VISUAL_GATE)


def insists_on_a_rejection(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, reject(FAULT), reject(FAULT, OTHER))
    world.agents.script(Role.POST_VERIFY, veto("seven is right"), veto("eight is, too"))


def rejects_it_itself(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve(), reject(FAULT))
    world.agents.script(Role.POST_VERIFY, veto("seven is taken"), confirm())


def rejects_it_itself_unverified(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve(), reject(FAULT))
    world.agents.script(Role.POST_VERIFY, veto("seven is taken"), lost())


def is_only_advised(world: MockWorld) -> None:
    world.rules = replace(world.rules, wiki_folder="docs/wiki")
    fact = learned("Values are numbered", "src/app.py", "value = 2")
    world.agents.script(Role.EXECUTOR, approve().teaching(fact), surface=Surface.PR_REVIEW)
    world.agents.script(Role.POST_VERIFY, veto("an opinion"), surface=Surface.WIKI_INGEST)


def agrees(world: MockWorld) -> None:
    """The default world."""


@pytest.mark.parametrize(
    "story, recovered",
    [
        (recovers, True),
        (changes_nothing, False),
        (loses_its_retry, False),
        (loses_its_judge, False),
        (has_no_retry, False),
        (insists_on_a_rejection, False),
    ],
)
def test_a_veto_is_a_case_of_self_repair_however_its_repair_failed(
    story: Callable[[MockWorld], None], recovered: bool
) -> None:
    row = row_of(story)
    assert (row["vetoed"], row["recovered"]) == (True, recovered)
    assert row["status"] in {Outcome.APPROVED.value, Outcome.ESCALATED.value}


@pytest.mark.parametrize("story", [agrees, is_only_advised, rejects_it_itself, rejects_it_itself_unverified])
def test_where_no_veto_counts_or_the_executor_rejects_itself_there_is_nothing_to_repair(
    story: Callable[[MockWorld], None],
) -> None:
    assert not row_of(story)["vetoed"]


def test_a_run_in_which_one_part_recovers_and_another_does_not_is_one_case() -> None:
    def story(world: MockWorld) -> None:
        world.rules = replace(world.rules, shard_tokens=180)
        world.change(*(edited(f"src/{name}.py") for name in "ab"))
        ours, other = (finding(f"src/{name}.py", 3, "value = 3") for name in "ab")
        world.agents.script(Role.EXECUTOR, approve(), approve(ours), approve(), approve(other))
        world.agents.script(Role.POST_VERIFY, veto("no"), confirm(), veto("nor this"), veto("nor that"))

    row = row_of(story)
    assert (row["vetoed"], row["recovered"], row["status"]) == (True, True, "escalated")


def test_what_does_not_begin_with_a_policy_is_no_run() -> None:
    with pytest.raises(TypeError):
        readings_so_far(MockWorld().review().events[1:])


def test_a_question_that_was_denied_is_no_consult_and_nobody_takes_part_in_it() -> None:
    world = MockWorld()
    world.switch("HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS", "1")
    world.agents.script(Role.EXECUTOR, approve().after_asking("one?"), approve(FAULT).after_asking("two?"))
    world.agents.script(Role.POST_VERIFY, veto("look again"))
    events = world.review().events
    denied = [event for event in events if isinstance(event, Consulted) and event.note.status == "denied"]
    only_denied = [event for event in events[:-1] if not isinstance(event, Consulted)] + denied
    assert readings_so_far(events[:-1]).run["consults"] == 1
    assert readings_so_far(only_denied).run["consults"] == 0
    consulted = Participant("pr_review", "mid_flight", "opus")
    assert consulted in readings_so_far(events[:-1]).casting
    assert consulted not in readings_so_far(only_denied).casting
    assert len(readings_so_far(only_denied).tables["consults"]) == 1, "it is told all the same"


def takes_its_time(world: MockWorld) -> None:
    world.rules = replace(world.rules, metadata_blind=True)
    blind, unusable, second, retried = (
        replace(line, seconds=seconds)
        for line, seconds in ((approve(), 1), (garbage(), 10), (approve(), 100), (approve(FAULT), 1_000))
    )
    world.agents.script(Role.EXECUTOR, blind, unusable, second, retried)
    world.agents.script(Role.POST_VERIFY, veto("seven is taken"), confirm())


def test_a_first_attempt_is_the_first_try_with_everything_in_view() -> None:
    assert row_of(takes_its_time)["executor_ms"] == 10_000


@pytest.mark.parametrize("jobs, alone", [(1, 15_000), (2, 9_000), (4, 6_000)])
def test_the_executor_alone_has_as_many_calls_at_a_time_as_the_review(jobs: int, alone: int) -> None:
    """Five parts of 1 to 5 s, with a judge of 1 s after each: what ran side by side is not summed."""
    clock = SharedClock()
    world = MockWorld(clock)
    world.threads, world.jobs = clock.threads, jobs
    world.rules = replace(world.rules, shard_tokens=180)
    world.change(*(edited(f"src/m{number}.py") for number in range(5)))
    world.agents.pace = lambda call, line: line.taking(call.shard + 1 if call.role is Role.EXECUTOR else 1)
    document = world.review()
    assert readings_of(document).run["executor_ms"] == alone
    assert (document.ended_at - document.started_at).total_seconds() * 1_000 > alone


def test_a_run_counts_what_it_used_so_far() -> None:
    world = MockWorld()
    world.agents.script(
        Role.EXECUTOR,
        replace(approve(), output_tokens=10).after_asking("one?"),
        replace(approve(FAULT), output_tokens=20).costing(0.5),
    )
    world.agents.script(
        Role.POST_VERIFY, replace(veto("seven is taken"), output_tokens=3), replace(confirm(), output_tokens=4)
    )
    events = world.review().events
    kept = [replace(event, kept=True) if isinstance(event, CallEnded) else event for event in events[:-1]]
    row = readings_so_far(events[:-1]).run
    assert (row["status"], row["cost_usd"], row["consults"], row["vetoes"]) == ("unfinished", 0.5, 1, 1)
    assert (row["executor_ms"], row["given"]) == (1_000, 0)
    assert (row["executor_tokens"], row["advisor_tokens"]) == (30, 7)
    assert (row["executor_turns"], row["executor_calls"]) == (3, 2), "the first call consulted, which is a turn"
    told = readings_so_far(kept).run
    assert (told["executor_turns"], told["executor_calls"]) == (0, 0), "an earlier run took them"
    assert readings_so_far(MockWorld().review().events[:-1]).run["vetoes"] == 0
    assert readings_so_far(kept).run["given"] == sum(isinstance(event, CallEnded) for event in kept) > 0


def test_a_run_has_its_title_its_head_and_its_findings_as_rows() -> None:
    world = MockWorld()
    world.agents.script(Role.EXECUTOR, approve(FAULT))
    document = replace(world.review(), title="x" * 201)
    (kept,) = document.findings
    tables = readings_of(document).tables
    assert tables["titles"] == ({"title": "x" * 200},)
    assert tables["changes"] == ({"label": document.label, "head_sha": document.head_sha},)
    assert tables["findings"] == (
        {
            "finding": kept.id,
            "path": "src/app.py",
            "line": 7,
            "end_line": kept.end_line,
            "removed": 0,
            "severity": "high",
            "category": "correctness",
            "title": "a fault",
            "confidence": 0.9,
        },
    )


def test_a_call_is_part_of_a_run_by_the_model_asked_for_and_by_the_one_that_answered() -> None:
    events = MockWorld().review().events
    for resolved, models in (("", {"asked"}), ("asked", {"asked"}), ("other", {"asked", "other"})):
        calls = [
            replace(event, requested_model="asked", resolved_model=resolved)
            for event in events
            if isinstance(event, CallEnded)
        ]
        casting = readings_so_far([events[0], *calls]).casting
        assert {part.model for part in casting if part.role == "executor"} == models
