"""The language that models write in. The bot's own words stay English."""

from __future__ import annotations

from dataclasses import replace

from tests.scenarios.reading import own_words

from review_advisor.github.check_text import check_of
from review_advisor.github.comment_text import inline_comments
from review_advisor.mockworld.agents import finding, reject
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.surfaces import Role

GERMAN = finding("src/app.py", 4, "value = 4", title="Der Wert ist doppelt")


def test_executor_and_judge_are_told_the_language(world: MockWorld) -> None:
    world.rules = replace(world.rules, language="German", metadata_blind=True)
    world.review()
    told = {(call.role, call.blind): " in German. Leave code, quotes" in own_words(call) for call in world.agents.asked}
    assert told == {
        (Role.PRE_FLIGHT, False): False,
        (Role.EXECUTOR, True): True,
        (Role.EXECUTOR, False): True,
        (Role.POST_VERIFY, False): True,
    }


def test_of_english_nothing_is_said(world: MockWorld) -> None:
    world.review()
    assert [call for call in world.agents.asked if "English" in call.prompt or "Write " in own_words(call)] == []


def test_the_bots_own_words_stay_english(world: MockWorld) -> None:
    world.rules = replace(world.rules, language="German")
    world.agents.script(Role.EXECUTOR, reject(GERMAN, summary="So geht es nicht."))
    document = world.review()
    (comment,) = inline_comments(document.findings)
    assert "Der Wert ist doppelt" in comment.body
    check = check_of(document, PublicationRules(), 7)
    assert check.title == "Changes requested: 1 high"
    assert "What next" in check.summary


def test_a_finding_has_one_id_in_every_language(world: MockWorld) -> None:
    english = finding("src/app.py", 4, "value = 4", title="The value is there twice")
    world.agents.script(Role.EXECUTOR, reject(GERMAN), reject(english))
    (first,), (second,) = world.review().findings, world.review().findings
    assert first.id == second.id
