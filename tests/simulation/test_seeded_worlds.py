"""Seeded worlds: no promise breaks, the same seed is the same story, a failure replays, the table is honest."""

import json
import random
from collections import Counter

import pytest
from tests.simulation.command import simulate

from review_advisor.mockworld import seeds as sweeping
from review_advisor.mockworld.promises import COSTLY, PROMISES, Broken
from review_advisor.mockworld.promises.on_flips import told_still
from review_advisor.mockworld.seeds import (
    ENOUGH,
    OUTCOMES,
    Dice,
    Sweep,
    empty_cells,
    in_shadow_mode,
    judge,
    of_one_judge,
    possible_cells,
    promises_of,
    story_of,
    sweep,
    sweep_seeds,
    table,
    with_council,
)
from review_advisor.mockworld.stage import play
from review_advisor.mockworld.story_file import read_story, story_text

SEEDS = [(at, at + 24) for at in range(1, 400, 25)]


@pytest.mark.one_in(16)
@pytest.mark.parametrize("first, last", SEEDS)
def test_no_promise_is_broken(first: int, last: int) -> None:
    found = sweep_seeds(first, last)
    assert [(failure.seed, failure.broken) for failure in found.failures] == []
    assert found.worlds == 25


@pytest.mark.parametrize("seed", [1, 7, 99, 2024])
def test_a_seed_is_one_story_and_its_yaml_replays_it(seed: int) -> None:
    story = story_of(seed)
    assert story == story_of(seed)
    read = read_story(story_text(story), "seed.yaml")
    assert read == story
    first, second = play(story), play(read)
    assert [(review.events, review.document) for review in first.reviews] == [
        (review.events, review.document) for review in second.reviews
    ]


@pytest.mark.every_case
def test_worlds_without_inline_members_tell_what_they_told_before_those_came() -> None:
    told = {seed: story_of(seed) for seed in range(1, 400)}
    before = {seed: in_shadow_mode(with_council(of_one_judge(seed), seed), seed) for seed in told}
    inline = {seed for seed, story in told.items() if any(each.inline for each in story.config.advisors)}
    assert {seed for seed in told if told[seed] != before[seed]} == inline
    assert inline


@pytest.mark.every_case
def test_some_worlds_are_in_shadow_mode_and_differ_in_nothing_else() -> None:
    stories = {seed: in_shadow_mode(with_council(of_one_judge(seed), seed), seed) for seed in range(1, 400)}
    enforced = {seed: with_council(of_one_judge(seed), seed) for seed in stories}
    in_shadow = {seed for seed, story in stories.items() if story.config.mode == "shadow"}
    assert {seed for seed, story in stories.items() if story != enforced[seed]} == in_shadow
    assert in_shadow


@pytest.mark.one_in(3)
@pytest.mark.parametrize("first", [1, 1001, 2001])
def test_every_seed_makes_a_story_that_can_be_written_and_read(first: int) -> None:
    for seed in range(first, first + 60):
        story = story_of(seed)
        assert read_story(story_text(story), "seed.yaml") == story


@pytest.mark.every_case
def test_the_world_around_has_no_say() -> None:
    random.seed(1)
    before = sweep_seeds(1, 5)
    random.seed(2)
    assert sweep_seeds(1, 5) == before


@pytest.mark.every_case
def test_two_processes_come_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "CHUNK", 3)
    one, two = Sweep(), Sweep()
    for total, jobs in ((one, 1), (two, 2)):
        for part in sweep(1, 12, jobs):
            total.add(part)
    assert one == two
    assert one.worlds == 12


def test_chance_is_the_generator_whose_sequence_python_promises() -> None:
    dice = Dice(7)
    assert [dice.whole(1, 6) for _ in range(10)] == [2, 1, 4, 1, 4, 3, 1, 4, 1, 3]


@pytest.mark.every_case
def test_a_broken_promise_is_printed_with_a_story_that_replays(monkeypatch: pytest.MonkeyPatch) -> None:
    lie = (Broken(1, "a_promise", "it was broken"),)
    monkeypatch.setattr(
        sweeping, "judge", lambda played, still, promises: lie if played.story.story == "seed 3" else ()
    )
    found = sweep_seeds(1, 5)
    assert not found.holds
    (failure,) = found.failures
    assert failure.seed == 3
    played = play(read_story(failure.story, "seed.yaml"))
    assert judge(played, told_still(played)) == ()


def test_what_is_costly_is_held_against_every_sixteenth_world_and_the_rest_against_all() -> None:
    held = [set(promises_of(seed)) for seed in range(1, 33)]
    assert [promises == set(PROMISES) for promises in held] == ([False] * 15 + [True]) * 2
    assert {frozenset(set(PROMISES) - promises) for promises in held} == {frozenset(), COSTLY}
    assert {promise.__name__ for promise in COSTLY} == {
        "the_report_says_how_it_ended",
        "the_document_survives_json",
        "whoever_publishes_believes_it",
    }


def test_an_empty_cell_fails_only_where_there_were_enough_worlds() -> None:
    few, many = Sweep(worlds=ENOUGH - 1), Sweep(worlds=ENOUGH)
    assert few.holds
    assert not many.holds
    assert many.empty == possible_cells()
    full = Counter(dict.fromkeys(possible_cells(), 1))
    assert Sweep(worlds=ENOUGH, counts=full).holds
    assert empty_cells(full) == ()


def test_the_table_shows_zeros_where_something_could_be_and_dots_elsewhere() -> None:
    rows = {tuple(line.split()[:2]): line.split()[2:] for line in table(Counter()).splitlines()}
    assert rows["credit_gone", "executor"] == [".", ".", ".", "0", ".", "."]
    assert rows["none", "-"] == ["0", "0", "0", ".", ".", "."]
    assert rows["fault", "struck"] == list(OUTCOMES)


def test_the_command_plays_seeds() -> None:
    done = simulate("--seeds", "1..10", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert (told["worlds"], told["broken"], told["failures"]) == (10, 0, [])
    assert sum(row["reviews"] for row in told["counts"]) >= told["reviews"]
    assert "reviews a second" in done.err
