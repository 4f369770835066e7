"""Every promise notices the lie that was forged for it, and says nothing of a review that kept it."""

import os
from dataclasses import replace

import pytest
from tests.simulation.forged import (
    FORBIDDEN,
    HONEST,
    NOTED,
    approved,
    call,
    calls,
    from_before,
    in_two_parts,
    offering,
    read,
    told,
)
from tests.simulation.lies import LIES, TRUTHS

from review_advisor.mockworld.promises import PROMISES, Promise, broken_promises
from review_advisor.mockworld.promises.on_flips import broken_by_a_flip, told_still
from review_advisor.mockworld.stories.stage import play
from review_advisor.mockworld.stories.story import Story

BY_NAME = {promise.__name__: promise for promise in PROMISES}


def test_every_promise_has_its_lie() -> None:
    assert sorted(LIES) == sorted(BY_NAME)


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_caught(name: str) -> None:
    assert list(BY_NAME[name](LIES[name]()))


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
def test_a_promise_is_one_sentence(promise: Promise) -> None:
    said = promise.__doc__ or ""
    assert said.endswith(".")
    assert "\n" not in said


@pytest.mark.parametrize("number", range(len(TRUTHS)))
def test_what_really_happens_breaks_no_promise(number: int) -> None:
    assert broken_promises([TRUTHS[number]()]) == ()


@pytest.mark.parametrize("what", FORBIDDEN)
def test_a_patch_with_something_forbidden_in_it_is_caught(what: str) -> None:
    holds = BY_NAME["a_patch_holds_text_of_the_change_and_nothing_else"]
    assert list(holds(read(offering(FORBIDDEN[what]))))
    assert list(holds(read(offering(HONEST)))) == []


def test_a_veto_that_a_lost_judgement_follows_is_not_forgotten() -> None:
    holds = BY_NAME["an_unanswered_veto_goes_to_a_human"]
    vetoed_twice = told({"post_verify": ["veto", "veto"], "executor": ["approve", {"findings": [NOTED]}]})
    lost_later = told({"post_verify": ["veto", "crash"], "executor": ["approve", {"findings": [NOTED]}]})
    for review in (vetoed_twice, lost_later):
        assert list(holds(read(review))) == []
        assert list(holds(read(approved(review))))


def test_a_call_that_may_spend_more_than_its_part_of_the_money_is_caught() -> None:
    greedy = replace(calls(told(), lambda a: call(a, max_usd=1.1 * a.call.max_usd)), events=in_two_parts())
    holds = BY_NAME["money_stays_within_the_purse"]
    assert list(holds(read(greedy))) == []
    assert list(holds(read(replace(greedy, jobs=2))))


def test_a_second_review_that_knows_nothing_of_the_first_is_no_lie() -> None:
    assert list(BY_NAME["nothing_of_an_earlier_review_is_seen"](from_before(""))) == []


@pytest.mark.parametrize(
    "title",
    ["ghp_0123456789abcdefghijABCDEFGHIJ012345", "long " * 300, "\u202etfel ot thgir"],
    ids=["token", "long", "bidi"],
)
def test_a_text_that_is_rightly_shown_in_another_form_breaks_no_promise(title: str) -> None:
    said = [{"says": "approve", "summary": title[:600]}]
    review = {"executor": said, "post_verify": [{"says": "veto", "reasoning": title[:600]}, {"says": "confirm"}]}
    review["executor"] = said * 2
    story = {
        "story": "odd",
        "pull_request": {"title": title, "spec": title},
        "steps": [{"review": review}],
        "loose": True,
    }
    assert list(broken_promises(play(Story.model_validate(story)).reviews)) == []


FLIPPED = Story.model_validate(
    {
        "story": "flipped",
        "steps": [
            {
                "review": {
                    "pre_flight": [
                        {"says": "plan", "meanwhile": {"switches": {"HYDRAFLOW_REVIEW_ADVISOR_ENABLED": "off"}}}
                    ]
                }
            }
        ],
    }
)


def test_a_flip_changes_nothing() -> None:
    assert play(FLIPPED).reviews[0].flipped
    assert not play(FLIPPED, flips=False).reviews[0].flipped
    played = play(FLIPPED)
    assert broken_by_a_flip(played, told_still(played)) == ()
    assert "HYDRAFLOW_REVIEW_ADVISOR_ENABLED" not in os.environ, "what a story flips ends with its review"


def test_a_flip_that_changed_something_is_caught() -> None:
    honest = play(FLIPPED)
    lied = replace(honest, reviews=(replace(honest.reviews[0], exit_code=11),))
    (broken,) = broken_by_a_flip(lied, told_still(lied))
    assert broken.promise == "a_flip_changes_nothing"
