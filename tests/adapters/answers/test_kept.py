"""A review that was killed goes on where it was: no answer is paid for twice, and it decides what it would have."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from freezegun import freeze_time
from tests.adapters.answers.restarts import (
    NOON,
    SECRET,
    killed_at,
    really_killed_at,
    remembering,
    restarted,
    retold,
    run,
    store_of,
)
from tests.adapters.full_disk import no_file_larger_than
from tests.scenarios.five_stories import STORIES, a_veto_then_a_recovery, answers_that_do_not_come
from tests.scenarios.publishing import PATH, Desk

from review_advisor.agents.calls import AgentCall, Answered, EditGrant, Lost
from review_advisor.agents.kept_replies import Concluded
from review_advisor.mockworld.agents import (
    Killed,
    approve,
    credit_gone,
    finding,
    garbage,
    interrupted,
    lost,
    picture_differs,
    plan,
    reject,
    text_only,
    veto,
)
from review_advisor.mockworld.github_traffic import RequestMoment, killed
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import CallEnded, Consulted
from review_advisor.review.report import progress_line
from review_advisor.review.rulings import Outcome

Story = Callable[[MockWorld], None]


def world_of(story: Story) -> MockWorld:
    world = MockWorld()
    story(world)
    return world


def undisturbed(story: Story, root: Path) -> tuple[MockWorld, OutcomeDocument]:
    world = world_of(story)
    return world, restarted(world, root / "undisturbed")


# --- killed -----------------------------------------------------------------------------------------------------------


@pytest.mark.every_case
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
@pytest.mark.parametrize("kernel", [False, True], ids=["raised", "SIGKILL"])
def test_killed_at_any_event_and_started_again(story: Story, kernel: bool, tmp_path: Path) -> None:
    calm, whole = undisturbed(story, tmp_path)
    for number in range(1, len(whole.events) + 1):
        world, root = world_of(story), tmp_path / str(number)
        if kernel:
            really_killed_at(story, world, root, number)
        else:
            killed_at(world, root, number)
        document = restarted(world, root)
        assert retold(document) == retold(whole)
        assert (document.outcome, document.because, document.flags) == (whole.outcome, whole.because, whole.flags)
        assert world.artifacts.files.keys() == calm.artifacts.files.keys()
        assert world.asked == calm.asked, "every question is asked once, by one run or the other"
        assert world.consulted == calm.consulted
        world.finish()


@pytest.mark.every_case
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_killed_again_and_again(story: Story, tmp_path: Path) -> None:
    """Each run gets three events further than the one before it."""
    calm, whole = undisturbed(story, tmp_path)
    world, root = world_of(story), tmp_path / "kept"
    for number in range(3, len(whole.events), 3):
        killed_at(world, root, number)
    assert retold(restarted(world, root)) == retold(whole)
    assert world.asked == calm.asked


def test_a_call_that_is_killed_in_flight_is_asked_again_and_nothing_else(tmp_path: Path) -> None:
    def story(world: MockWorld) -> None:
        world.agents.script(Role.PRE_FLIGHT, plan("values may clash"))

    _, whole = undisturbed(story, tmp_path)
    world = world_of(story)
    world.agents.script(Role.EXECUTOR, replace(approve(), bug=Killed()))
    with pytest.raises(Killed):
        run(world, store_of(world, tmp_path))
    document = restarted(world, tmp_path)
    assert retold(document) == retold(whole)
    assert world.asked == ["pre_flight", "executor", "executor", "post_verify"]
    ended = [event for event in document.events if isinstance(event, CallEnded)]
    assert [event.kept for event in ended] == [True, False, False]
    assert progress_line(ended[0]) == "pr_review: pre_flight answered in an earlier run"
    assert progress_line(ended[1]) == "pr_review: executor answered in 1.0 s"


@pytest.mark.every_case
def test_parts_that_run_in_parallel_are_each_asked_once(tmp_path: Path) -> None:
    def story(world: MockWorld) -> None:
        world.rules = replace(world.rules, shard_tokens=180)
        world.change(*(edited(f"src/{name}.py") for name in "abcdef"))

    calm, whole = undisturbed(story, tmp_path)
    for number in range(2, len(whole.events), 5):
        world, root = world_of(story), tmp_path / str(number)
        world.jobs = 3
        killed_at(world, root, number)
        document = restarted(world, root)
        assert document.outcome is whole.outcome
        once = len(calm.asked)
        flying = 2  # the other two may have been in flight when the process was killed
        assert once <= len(world.asked) <= once + flying
        assert sum(isinstance(event, CallEnded) for event in document.events) == once


# --- over -------------------------------------------------------------------------------------------------------------

ALL = ["pre_flight", "executor", "post_verify"]


def concluded(world: MockWorld, root: Path, **options: Any) -> OutcomeDocument:
    """A run to its end, by a process that then ends in whatever way."""
    store = store_of(world, root, **options)
    document = run(world, store)
    store.conclude(document.run_id)
    return document


def test_a_review_that_is_over_answers_for_itself_for_a_while(tmp_path: Path) -> None:
    world = MockWorld()
    with freeze_time(NOON) as clock:
        first = concluded(world, tmp_path)
        for minutes in (0, 30, 29):
            clock.tick(timedelta(minutes=minutes))
            again = concluded(world, tmp_path)
            assert retold(again) == retold(first)
            assert world.asked == ALL
        assert store_of(world, tmp_path).inherited_end == Concluded(NOON, first.run_id)
        clock.tick(timedelta(minutes=1))
        concluded(world, tmp_path)
        assert world.asked == ALL * 2


@pytest.mark.one_in(3)
@pytest.mark.parametrize("hours", [-1, -72, 10**5])
def test_a_review_that_ended_by_a_wrong_clock_is_paid_for_again(hours: int, tmp_path: Path) -> None:
    world = MockWorld()
    with freeze_time(NOON):
        concluded(world, tmp_path)
    with freeze_time(NOON + timedelta(hours=hours)):
        concluded(world, tmp_path)
    assert world.asked == ALL * 2


def test_a_fresh_review_hears_nothing_of_an_earlier_one(tmp_path: Path) -> None:
    world = MockWorld()
    concluded(world, tmp_path)
    concluded(world, tmp_path, fresh=True)
    assert world.asked == ALL * 2


def test_a_judge_that_was_lost_is_asked_again_and_nobody_else(tmp_path: Path) -> None:
    world = MockWorld()
    world.agents.script(Role.POST_VERIFY, lost())
    assert concluded(world, tmp_path).flags.degraded
    assert not concluded(world, tmp_path).flags.degraded
    assert world.asked == [*ALL, "post_verify"]


ANOTHER: dict[str, Callable[[MockWorld], object]] = {
    "head": lambda world: _stated(world, head_sha="c" * 40),
    "base": lambda world: _stated(world, base_sha="c" * 40),
    "title": lambda world: _stated(world, title="another"),
    "diff": lambda world: world.change(edited("src/app.py", 31)),
    "rules": lambda world: setattr(world, "rules", replace(world.rules, shard_tokens=50_000)),
    "model": lambda world: world.switch("HYDRAFLOW_REVIEW_EXECUTOR_MODEL", "haiku"),
    "repair": lambda world: setattr(world, "repair", "off"),
    "switch": lambda world: world.switch("HYDRAFLOW_REVIEW_POSTVERIFY_FAIL_AS_VETO", "true"),
}


def _stated(world: MockWorld, **facts: Any) -> None:
    world.source.stated = replace(world.source.stated, **facts)


@pytest.mark.parametrize("other", ANOTHER.values(), ids=list(ANOTHER))
@pytest.mark.parametrize("brought", [False, True], ids=["left alone", "put in its place"])
def test_of_another_head_policy_or_configuration_nothing_counts(
    other: Callable[[MockWorld], object], brought: bool, tmp_path: Path
) -> None:
    """Not even where somebody puts what is stored of the one review in the place of the other's."""
    world = MockWorld()
    concluded(world, tmp_path)
    (folder,) = tmp_path.iterdir()
    other(world)
    if brought:
        folder.rename(store_of(world, tmp_path)._folder)
    concluded(world, tmp_path, warn=lambda sentence: None)
    assert world.asked == ALL * 2


def test_an_end_that_was_not_signed_by_us_takes_the_answers_with_it(tmp_path: Path) -> None:
    """Whoever could set the moment of the end anew would have the answers count for ever."""
    world = MockWorld()
    concluded(world, tmp_path)
    (end,) = tmp_path.glob("*/review.concluded")
    end.write_bytes(end.read_bytes() + b" ")
    concluded(world, tmp_path)
    assert world.asked == ALL * 2


def test_what_ended_too_long_ago_to_answer_goes_with_the_end_of_any_review(tmp_path: Path) -> None:
    world, other = MockWorld(), MockWorld()
    other.source.stated = replace(other.source.stated, label="pr-77")
    concluded(world, tmp_path)
    concluded(other, tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
    (end,) = tmp_path.glob("pr-77-*/review.concluded")
    os.utime(end, (1, 1))
    concluded(world, tmp_path)
    (left,) = tmp_path.iterdir()
    assert not left.name.startswith("pr-77-")


def test_what_is_kept_of_an_older_head_goes_with_the_review_of_the_newer_one(tmp_path: Path) -> None:
    world, other = MockWorld(), MockWorld()
    other.source.stated = replace(other.source.stated, label="pr-77")
    killed_at(world, tmp_path, 5)
    killed_at(other, tmp_path, 5)
    world.source.stated = replace(world.source.stated, head_sha="c" * 40)
    older = set(tmp_path.iterdir())
    concluded(world, tmp_path)
    left = set(tmp_path.iterdir())
    assert [path.name[:6] for path in left & older] == ["pr-77-"]
    assert len(left - older) == 1


def test_the_end_of_one_review_leaves_the_answers_of_another_that_is_under_way(tmp_path: Path) -> None:
    one, other = MockWorld(), MockWorld()
    first = store_of(one, tmp_path)
    run(one, first)
    other.source.stated = replace(other.source.stated, head_sha="c" * 40)
    killed_at(other, tmp_path, 5)
    before = kept_files(tmp_path)
    first.conclude("run-1")
    assert kept_files(tmp_path) == before


# --- crashes ----------------------------------------------------------------------------------------------------------


def test_a_second_crash_on_one_question_calls_a_human(tmp_path: Path) -> None:
    """The first run's crash is an outage, but it has stopped; the question is asked again, and crashes again."""
    world = MockWorld()
    world.change(edited("src/app.py"), spec="a spec, so that a second surface follows")
    world.agents.script(Role.POST_VERIFY, lost(), lost())
    world.agents.script(Role.EXECUTOR, approve(), credit_gone(), approve(), approve())
    store = store_of(world, tmp_path)
    assert run(world, store).outcome is Outcome.STOPPED
    store.forget_useless()
    document = restarted(world, tmp_path)
    assert document.outcome is Outcome.ESCALATED
    assert document.because[0] == "post-verify was lost (crashed_again), and the change itself may be the cause"


def test_a_crash_that_a_killed_run_has_kept_is_still_one(tmp_path: Path) -> None:
    def story(world: MockWorld) -> None:
        world.agents.script(Role.POST_VERIFY, lost())

    _, whole = undisturbed(story, tmp_path)
    world = world_of(story)
    killed_at(world, tmp_path / "kept", len(whole.events))
    document = restarted(world, tmp_path / "kept")
    assert (document.outcome, document.flags.degraded) == (Outcome.APPROVED, True)


def test_a_veto_before_a_crash_is_kept_with_it(tmp_path: Path) -> None:
    def story(world: MockWorld) -> None:
        said = veto("it breaks").answer or {}
        world.agents.script(Role.POST_VERIFY, replace(lost(), said=(said,)))
        world.agents.script(Role.EXECUTOR, approve(), approve())

    calm, whole = undisturbed(story, tmp_path)
    assert whole.outcome is Outcome.ESCALATED
    world = world_of(story)
    killed_at(world, tmp_path / "kept", len(whole.events))
    assert retold(restarted(world, tmp_path / "kept")) == retold(whole)
    assert world.asked == calm.asked


# --- consults ---------------------------------------------------------------------------------------------------------


@pytest.mark.every_case
def test_the_consults_of_a_kept_answer_are_its_own_and_count_towards_the_cap(tmp_path: Path) -> None:
    def story(world: MockWorld) -> None:
        world.switch("HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS", "4")
        world.agents.script(
            Role.EXECUTOR,
            approve().after_asking("one?", "two?", "three?"),
            approve(summary="again").after_asking("four?", "five?", "six?"),
        )
        world.agents.script(Role.MID_FLIGHT, *(lost() if n == 1 else approve() for n in range(4)))
        world.agents.script(Role.POST_VERIFY, veto("look again"))

    _, whole = undisturbed(story, tmp_path)
    statuses = [event.note.status for event in whole.events if isinstance(event, Consulted)]
    assert statuses == ["answered", "failed", "answered", "answered", "answered", "denied"]
    between = next(n for n, event in enumerate(whole.events, 1) if isinstance(event, CallEnded) and event.attempt)
    for number in range(1, between):
        world = world_of(story)
        killed_at(world, tmp_path / str(number), number)
        document = restarted(world, tmp_path / str(number))
        assert [event.note.status for event in document.events if isinstance(event, Consulted)] == statuses
        assert world.consulted == ["one?", "two?", "three?", "four?", "five?", "six?"]


# --- stopped ----------------------------------------------------------------------------------------------------------


@pytest.mark.every_case
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
@pytest.mark.parametrize("stop", [credit_gone, interrupted])
def test_stopped_at_any_call_and_started_again(story: Story, stop: Callable[[], object], tmp_path: Path) -> None:
    """Answers are not paid for again; what did not come is asked for again, unless an answer was built on its lack."""
    calm, whole = undisturbed(story, tmp_path)
    for number in range(1, len(calm.asked) + 1):
        world, root = world_of(story), tmp_path / str(number)
        world.agents.struck[number] = stop()  # type: ignore[assignment]
        store = store_of(world, root)
        assert run(world, store).outcome is Outcome.STOPPED
        store.forget_useless()
        answered = _answered(world)
        document = restarted(world, root)
        assert not (set(_answered(world)[len(answered) :]) & set(answered)), "no answer is paid for twice"
        if story is not answers_that_do_not_come:
            assert retold(document) == retold(whole)
            assert len(world.asked) == len(calm.asked) + 1
            world.finish()


def test_a_review_that_stopped_does_not_get_its_consults_back(tmp_path: Path) -> None:
    world = MockWorld()
    world.switch("HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS", "4")
    asks = lost().after_asking("one?", "two?", "three?")
    world.agents.script(Role.EXECUTOR, asks, asks, approve().after_asking("four?"))
    told = []
    for outcome in (Outcome.STOPPED, Outcome.STOPPED, Outcome.APPROVED):
        store = store_of(world, tmp_path)
        document = run(world, store)
        assert document.outcome is outcome
        told.append([event.note.status for event in document.events if isinstance(event, Consulted)])
        store.forget_useless()
    assert told == [["answered"] * 3, ["answered", "denied", "denied"], ["denied"]]


def _answered(world: MockWorld) -> list[tuple[object, ...]]:
    """The questions that were answered, whichever run asked them."""
    return [
        (call.role, call.surface, call.attempt, call.shard, call.blind, bool(call.asks_again))
        for each, call in ((each, each.call) for each in world.agents.played)
        if each.line.answer is not None
        and "certainly" not in each.line.answer
        and not isinstance(each.result, BaseException)
    ]


@pytest.mark.parametrize("useless", [(lost(),), (garbage(), garbage()), (text_only(), lost())])
def test_an_executor_without_an_answer_is_asked_again_when_the_review_is_started_again(
    useless: tuple[object, ...], tmp_path: Path
) -> None:
    world = MockWorld()
    world.agents.script(Role.EXECUTOR, *useless)  # type: ignore[arg-type]
    store = store_of(world, tmp_path)
    assert run(world, store).outcome is Outcome.STOPPED
    store.forget_useless()
    assert restarted(world, tmp_path).outcome is Outcome.APPROVED
    assert world.asked == ["pre_flight", *["executor"] * len(useless), "executor", "post_verify"]


def test_a_plan_that_did_not_come_is_not_asked_for_again_once_the_change_was_read_without_it(tmp_path: Path) -> None:
    world = MockWorld()
    world.agents.script(Role.PRE_FLIGHT, lost())
    world.agents.script(Role.POST_VERIFY, credit_gone())
    store = store_of(world, tmp_path)
    run(world, store)
    store.forget_useless()
    document = restarted(world, tmp_path)
    assert document.outcome is Outcome.APPROVED
    assert world.asked == ["pre_flight", "executor", "post_verify", "post_verify"]


def test_a_call_that_another_part_ended_is_no_answer(tmp_path: Path) -> None:
    """Spent credit in one part ends the calls of the others: nobody has lost these answers."""
    world = MockWorld()
    world.review()
    call = world.calls(Role.EXECUTOR)[0]
    agents = remembering(world, store_of(world, tmp_path))
    agents.end_running()
    world.agents.script(Role.EXECUTOR, lost(), approve())
    assert isinstance(agents.run(call), Lost)
    assert list(tmp_path.iterdir()) == []
    assert isinstance(agents.run(call), Answered)
    assert len(kept_files(tmp_path)) == 1


# --- the same review, and no other ------------------------------------------------------------------------------------


def test_a_gallery_whose_pictures_are_others_is_another_question(tmp_path: Path) -> None:
    world = MockWorld()
    world.rules = replace(world.rules, visual_paths=("*.png",))
    world.change(replace(edited("a.png", 0), binary=True))
    world.pictures.stated = (picture_differs("a.png"),)
    world.pictures.folder = tmp_path / "gallery"
    world.pictures.folder.mkdir()
    (world.pictures.folder / "a.png-1-after.png").write_bytes(b"red")
    first = restarted(world, tmp_path / "answers")
    seen = len(world.asked)
    (world.pictures.folder / "a.png-1-after.png").write_bytes(b"green")
    again = restarted(world, tmp_path / "answers")
    asked_again = [event.surface.value for event in again.events if isinstance(event, CallEnded) and not event.kept]
    assert first.outcome is again.outcome
    assert set(asked_again) == {"visual_gate"}
    assert len(world.asked) > seen


def test_an_answer_whose_edits_do_not_fit_the_copy_any_more_is_lost(tmp_path: Path) -> None:
    def story(folder: Path) -> tuple[MockWorld, AgentCall]:
        world = MockWorld()
        world.review()
        folder.mkdir()
        (folder / "src.py").write_text("x = 1\n")
        executor = world.calls(Role.EXECUTOR)[0]
        return world, replace(executor, tree=folder, edits=EditGrant(()), evidence="one tree")

    world, call = story(tmp_path / "copy")
    edits = replace(approve(), meanwhile=(tmp_path / "copy" / "src.py").unlink)
    world.agents.script(Role.EXECUTOR, edits)
    assert isinstance(remembering(world, store_of(world, tmp_path / "answers")).run(call), Answered)
    again, call = story(tmp_path / "other")
    (tmp_path / "other" / "src.py").unlink()
    reply = remembering(again, store_of(again, tmp_path / "answers")).run(call)
    assert isinstance(reply, Lost)
    assert reply.detail == "The edits of a kept answer cannot be made again: No such file or directory."


# --- what is on disk --------------------------------------------------------------------------------------------------


def kept_files(root: Path) -> list[Path]:
    return sorted(root.glob("*/*.reply"))


def test_answers_are_kept_for_their_owner_only(tmp_path: Path) -> None:
    killed_at(MockWorld(), tmp_path / "answers", 9)
    (folder,) = (tmp_path / "answers").iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept_files(tmp_path / "answers")} == {0o600}
    assert (folder / ".gitignore").read_text() == "*\n"
    assert [path.name for path in folder.iterdir() if path.suffix not in {".reply", ""}] == []


def test_no_secret_of_the_environment_is_kept(tmp_path: Path) -> None:
    world = MockWorld()
    world.switch("SOME_TOKEN", "hunter2-hunter3-hunter4")
    world.agents.script(Role.EXECUTOR, approve(summary="I found hunter2-hunter3-hunter4 there"))
    killed_at(world, tmp_path, 9)
    texts = [path.read_text() for path in kept_files(tmp_path)]
    assert any("I found [secret removed] there" in text for text in texts)
    assert not any("hunter2" in text for text in texts)


def test_no_runs_nonce_is_kept_and_an_answer_that_quotes_it_is_the_next_runs(tmp_path: Path) -> None:
    def story(world: MockWorld) -> None:
        line = replace(approve(summary="the nonce is {nonce}"), quotes_nonce=True)
        world.agents.script(Role.EXECUTOR, line.after_asking("Is it so?"))

    _, whole = undisturbed(story, tmp_path)
    world = world_of(story)
    killed_at(world, tmp_path, 9)
    assert not any(f"{1:016x}" in path.read_text() for path in kept_files(tmp_path))
    document = restarted(world, tmp_path)
    assert len(world.asked) == 3
    reports = [part.reports[0].summary for surface in document.surfaces for part in surface.parts]
    assert reports == [f"the nonce is {2:016x}"]
    assert len(retold(document)) == len(retold(whole))


FORGERIES: dict[str, Callable[[Path], object]] = {
    "another verdict": lambda path: path.write_bytes(path.read_bytes().replace(b'"reject"', b'"approve"')),
    "no signature": lambda path: path.write_bytes(path.read_bytes().partition(b"\n")[2]),
    "nothing": lambda path: path.write_bytes(b""),
    "half of it": lambda path: path.write_bytes(path.read_bytes()[:-20]),
    "no text": lambda path: path.write_bytes(bytes(range(256))),
}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=list(FORGERIES))
def test_a_file_that_was_not_signed_by_us_is_no_answer(forge: Callable[[Path], object], tmp_path: Path) -> None:
    def story(world: MockWorld) -> None:
        world.agents.script(Role.EXECUTOR, reject(finding("src/app.py", 7, "value = 7")))

    world = world_of(story)
    killed_at(world, tmp_path, 9)
    for path in kept_files(tmp_path):
        forge(path)
    said: list[str] = []
    world.agents.script(Role.EXECUTOR, reject(finding("src/app.py", 7, "value = 7")))
    document = run(world, store_of(world, tmp_path, warn=said.append))
    assert document.outcome is Outcome.CHANGES_REQUESTED
    assert len(said) == 1
    assert "were not kept by us: they are not used." in said[0]


@pytest.mark.parametrize("kind", ["link", "folder"])
def test_what_cannot_be_an_answer_costs_none_of_those_that_are(kind: str, tmp_path: Path) -> None:
    world = MockWorld()
    killed_at(world, tmp_path, 7)
    stray = kept_files(tmp_path)[0].with_name("0.reply")
    stray.symlink_to("/") if kind == "link" else stray.mkdir()
    said: list[str] = []
    paid = list(world.asked)
    run(world, store_of(world, tmp_path, warn=said.append))
    assert world.asked[len(paid) :] == ["post_verify"]
    assert said == [f"1 of the kept answers in {stray.parent} were not kept by us: they are not used."]


def test_an_answer_to_one_question_is_none_to_another(tmp_path: Path) -> None:
    """A signed file is moved to another question's name."""
    world = MockWorld()
    killed_at(world, tmp_path, 7)
    first, second = kept_files(tmp_path)
    moved = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(moved)
    said: list[str] = []
    document = run(world, store_of(world, tmp_path, warn=said.append))
    assert said[0].startswith("2 of the kept answers")
    assert not any(event.kept for event in document.events if isinstance(event, CallEnded))


def test_answers_that_somebody_else_paid_for_are_not_used(tmp_path: Path) -> None:
    world = MockWorld()
    killed_at(world, tmp_path, 7)
    said: list[str] = []
    run(world, store_of(world, tmp_path, secret=b"another credential", warn=said.append))
    assert len(said) == 1
    assert world.asked == ["pre_flight", "executor", "pre_flight", "executor", "post_verify"]
    assert SECRET not in b"".join(path.read_bytes() for path in kept_files(tmp_path))


def test_a_link_in_the_place_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "answers").symlink_to(tmp_path / "elsewhere")
    said: list[str] = []
    world = MockWorld()
    document = run(world, store_of(world, tmp_path / "answers", warn=said.append))
    assert document.outcome is Outcome.APPROVED
    assert len(said) == 1
    assert said[0].endswith("answers is a symbolic link. A killed review would pay them again.")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_full_disk_is_said_once_and_the_review_goes_on(tmp_path: Path) -> None:
    said: list[str] = []
    world = world_of(a_veto_then_a_recovery)
    store = store_of(world, tmp_path, warn=said.append)
    with no_file_larger_than(100):
        document = run(world, store)
    assert document.outcome is Outcome.APPROVED
    assert len(said) == 1
    assert said[0].endswith("File too large. A killed review would pay them again.")
    assert kept_files(tmp_path) == []


# --- through to the pull request --------------------------------------------------------------------------------------


def test_killed_while_reviewing_and_while_publishing_there_is_one_of_everything(tmp_path: Path) -> None:
    fault = finding(PATH, 3, "value = 3", title="three is taken")
    for number in range(1, 16):
        desk = Desk(PublicationRules())
        world = desk.world
        world.source.stated = replace(
            world.source.stated,
            label=f"pr-{desk.pull.number}",
            base_sha=desk.github.base_sha(desk.pull),
            base_ref=desk.pull.base_ref,
            head_sha=desk.pull.head_sha,
            files=(edited(PATH, 30),),
        )
        world.agents.script(Role.EXECUTOR, reject(fault))
        killed_at(world, tmp_path / str(number), min(number, 13))
        document = restarted(world, tmp_path / str(number))
        desk.github.traffic.meets(killed(), RequestMoment(number, after=True))
        try:
            desk.publish(document)
        except Killed:
            desk.publish(document)
        desk.publish(document)
        assert world.asked == ["pre_flight", "executor", "post_verify"]
        assert [check.conclusion for check in desk.checks] == ["failure"]
        assert (len(desk.reviews), len(desk.threads), len(desk.summaries)) == (1, 1, 1)
