"""Every promise notices the lie that was forged for it, and says nothing of a review that kept it."""

import os
from dataclasses import replace
from typing import Any

import pytest
from tests.simulation.forged import (
    FORBIDDEN,
    HONEST,
    NO,
    NOTED,
    OWN,
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
from review_advisor.mockworld.promises.on_verdicts import OUTAGES
from review_advisor.mockworld.promises.played_review import Reading
from review_advisor.mockworld.seeds import SOUND_RECORD
from review_advisor.mockworld.stage import PlayedReview, play
from review_advisor.mockworld.story import Story
from review_advisor.policy.scope import policy_digest

NOT_ONE = "the digests of reviews 1 and 1 are two"
BY_NAME = {promise.__name__: promise for promise in PROMISES}


def test_every_promise_has_its_lie() -> None:
    assert sorted(LIES) == sorted(BY_NAME)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_caught(name: str) -> None:
    assert list(BY_NAME[name](LIES[name]()))


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
def test_a_promise_is_one_sentence(promise: Promise) -> None:
    said = promise.__doc__ or ""
    assert said.endswith(".")
    assert "\n" not in said


@pytest.mark.one_in(4)
@pytest.mark.parametrize("number", range(len(TRUTHS)))
def test_what_really_happens_breaks_no_promise(number: int) -> None:
    assert broken_promises([TRUTHS[number]()]) == ()


@pytest.mark.one_in(4)
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


@pytest.mark.one_in(2)
@pytest.mark.parametrize("first", ["approve", {**NO, "findings": [{**NOTED, "line": 2, "evidence": "value = 2"}]}])
def test_a_veto_is_answered_by_a_rejection_whose_judge_only_an_outage_took(first: Any) -> None:
    """The rejection stands as it would without a veto; whatever the change may have caused calls a person."""
    holds = BY_NAME["an_unanswered_veto_goes_to_a_human"]

    def lost_after_a_no(fault: str = "crash", **more: Any) -> PlayedReview:
        return told({"executor": [first, NO], "post_verify": ["veto", fault]}, **more)

    for fault in sorted(OUTAGES):
        left = lost_after_a_no(fault)
        assert left.ended == "changes_requested"
        assert list(holds(read(left))) == []
    counts_as_a_veto = {"HYDRAFLOW_REVIEW_POSTVERIFY_FAIL_AS_VETO": "on"}
    for due in (
        lost_after_a_no("model_refused"),
        lost_after_a_no("call_budget"),
        lost_after_a_no(switches=counts_as_a_veto),
        lost_after_a_no(files=[*OWN, {"path": "src/app.py", "added": 30}]),
        told({"executor": [first, NO], "post_verify": ["veto", "crash", "crash"]}, config={"outage_wait_minutes": 1}),
        told({"executor": [first, {"findings": [NOTED]}], "post_verify": ["veto", "crash"]}),
    ):
        assert due.ended == "escalated"
        assert list(holds(read(replace(due, ended="changes_requested"))))


def test_a_switch_under_another_one_counts_only_where_it_still_turns_something_off() -> None:
    """The wiki has a judge alone; of a decision record its own switch turns off the executor, too."""
    holds = BY_NAME["the_same_settings_have_one_digest"]

    def switched(files: list[dict[str, Any]], *off: str) -> PlayedReview:
        return told(files=files, config={"wiki_folder": "wiki"}, switches=dict.fromkeys(off, "off"))

    judge, master = "HYDRAFLOW_REVIEW_POSTVERIFY_ENABLED", "HYDRAFLOW_REVIEW_ADVISOR_ENABLED"
    wiki, record = "HYDRAFLOW_WIKI_INGEST_ADVISOR_ENABLED", "HYDRAFLOW_ADR_REVIEW_ADVISOR_ENABLED"
    code = [{"path": "src/app.py", "added": 30}]
    records = [{"path": "docs/adr/0001-a.md", "status": "added", "added": 9, "whole": SOUND_RECORD}]
    for files, first, then, same in (
        (code, (judge,), (judge, wiki), True),
        (code, (master,), (master, wiki), True),
        (code, (), (wiki,), False),
        (records, (master,), (master, record), False),
        (records, (judge,), (judge, record), False),
    ):
        one, other = switched(files, *first), switched(files, *then)
        assert one.document is not None
        assert other.document is not None
        assert (policy_digest(one.document.policy) == policy_digest(other.document.policy)) is same
        assert list(holds(Reading(other, (one,)))) == []
        assert list(holds(Reading(replace(other, environment=one.environment), (one,)))) == ([] if same else [NOT_ONE])


def test_a_call_that_may_spend_more_than_its_part_of_the_money_is_caught() -> None:
    greedy = replace(calls(told(), lambda a: call(a, max_usd=0.6 * a.call.max_usd)), events=in_two_parts())
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
