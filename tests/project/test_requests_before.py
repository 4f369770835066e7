"""With the default roster and no configuration the calls are byte for byte those from before advisors were declared.

The stories of that commit are replayed. A few things came with other themes; each is named here, undone, and counted:
a difference that nobody named fails, and so does a named one that no longer occurs.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from requests_before import COMPONENTS, StoryRequests, digest, instructions, recorded, replayed
from story_requests import STORIES

from review_advisor.policy.surfaces import Role

STORIES_THEN = sorted(recorded().stories)

LENGTHS = {
    ("KnowledgeEntry", "title"): (None, "at most 12 words"),
    ("KnowledgeEntry", "body"): (None, "at most 80 words"),
    ("KnowledgeEntry", "evidence"): (
        "a verbatim quote of the changed lines that prove it",
        "a verbatim quote of the changed lines that prove it, one to three lines",
    ),
    ("DisagreementAnswer", "evidence"): (
        "a verbatim quote that settles it",
        "a verbatim quote that settles it, one to three lines",
    ),
    ("finding", "suggestion"): (None, "at most 30 lines"),
}
"""A schema asks for the length of each text. The description of each of these fields, then and now."""
COMPARED = [name for name in COMPONENTS if name != "money"]
"""The stories then stated a round sum for each part; now a part has what one of its size was measured to cost."""
FINDINGS = ("ReportedFinding", "RuledFinding")
"""A finding, without and with the team's own rules."""
ADVISORS_FOLDER = ["Edit(.review-advisor)", "Edit(.review-advisor/**)"]
"""ADR-0115: what the base says about advisors and memory is the bot's own, so no repair may edit it."""
FINER_PARTS = ("config: {shard_tokens: 180}", "config: {shard_tokens: 400}")
"""Parts are cut by what is shown, no longer by a bound above it. The room of the same parts."""
ONLY_OUTAGES = ("[server_error, server_error, confirm]", "[server_error, rate_limited, confirm]")
"""Issue 1: a rate limit is no outage any more, so another failure of the server takes the judge's second answer."""
PLANNED_SINCE = {"self_modification_lost_judge": 2}
"""ADR-0061: the guard fires pre-flight. In these stories the first call plans, and so many next are shown the plan."""
OCCUR: dict[object, int] = {
    **dict.fromkeys(LENGTHS, 61),
    "a repair's denied edits": 5,
    "the room of a part": 1,
    "a second outage": 1,
}
"""How often each named difference occurs in all stories together."""


class Differences:
    """What undoes the named differences of a text, and counts each."""

    def __init__(self) -> None:
        self.seen: Counter[object] = Counter()

    def in_answer(self, schema: str) -> str:
        """The schema of an answer as it asked for lengths then."""
        told = json.loads(schema)
        for where, (then, now) in LENGTHS.items():
            fields = [field for field in _fields(told, *where) if field.get("description") == now]
            self.seen[where] += bool(fields)
            for field in fields:
                if then is None:
                    del field["description"]
                else:
                    field["description"] = then
        return _as_written(told, schema)

    def in_settings(self, settings: str) -> str:
        """The settings of a call without the rules about the folder of advisors."""
        told = json.loads(settings) if settings else {}
        denied = told.get("permissions", {}).get("deny", [])
        if all(rule in denied for rule in ADVISORS_FOLDER):
            self.seen["a repair's denied edits"] += 1
            told["permissions"]["deny"] = [rule for rule in denied if rule not in ADVISORS_FOLDER]
            return json.dumps(told)
        return settings

    def in_story(self, text: str) -> str:
        """A story with the room that its parts had then."""
        for name, (now, then) in (("the room of a part", FINER_PARTS), ("a second outage", ONLY_OUTAGES)):
            self.seen[name] += now in text
            text = text.replace(now, then)
        return text


UNDO: dict[str, Callable[[Differences, str], str]] = {
    "answer": Differences.in_answer,
    "settings": Differences.in_settings,
}


@cache
def now(story: str) -> StoryRequests:
    return replayed(STORIES / f"{story}.yaml")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("story", STORIES_THEN)
def test_a_story_asks_what_it_asked_before_advisors_were_declared(story: str) -> None:
    of_the_story, *of_calls = recorded().stories[story]
    assert digest(Differences().in_story(now(story).story)) == of_the_story, "another story cannot be compared"
    then = [dict(zip(COMPONENTS, line.split(), strict=True)) for line in of_calls]
    shown_the_plan = PLANNED_SINCE.get(story, 0)
    calls = now(story).calls[bool(shown_the_plan) :]
    assert len(calls) == len(then)
    for number, (call, before) in enumerate(zip(calls, then, strict=True), 1):
        differ = [name for name in COMPARED if digest(_undone(name, call[name])) != before[name]]
        if number <= shown_the_plan:
            assert "The plan of this review." in call["prompt"]
            differ.remove("prompt")
        assert differ == [], f"call {number}, {call['asked as']}: on purpose? name the difference above"


def test_every_named_difference_still_occurs_and_only_where_it_is_expected() -> None:
    differences = Differences()
    for story in map(now, STORIES_THEN):
        differences.in_story(story.story)
        for call in story.calls:
            before = Counter(differences.seen)
            for name, undo in UNDO.items():
                undo(differences, call[name])
            assert differences.seen == before or json.loads(call["asked as"])[0] == Role.EXECUTOR
    assert {name: count for name, count in differences.seen.items() if count} == OCCUR


@pytest.mark.parametrize("story", PLANNED_SINCE)
def test_what_the_guard_has_planned_since_is_one_call(story: str) -> None:
    first, *others = (json.loads(call["asked as"])[0] for call in now(story).calls)
    assert first == Role.PRE_FLIGHT
    assert Role.PRE_FLIGHT not in others


def test_the_shipped_instructions_are_those_from_then() -> None:
    now = instructions()
    assert {name: digest(now[name]) for name in recorded().instructions} == recorded().instructions


def test_a_difference_that_nobody_named_is_seen() -> None:
    call = now("happy_path").calls[1]
    schema, settings = call["answer"], call["settings"]
    assert _undone("answer", schema) != schema
    for other in (schema.replace("at most 30 lines", "at most 31 lines"), schema.replace('"body": {', '"text": {')):
        assert digest(_undone("answer", other)) != digest(_undone("answer", schema))
    one_rule = settings.replace("Edit(//**)", ADVISORS_FOLDER[0])
    assert _undone("settings", one_rule) == one_rule != settings


def _undone(name: str, text: str) -> str:
    undo = UNDO.get(name)
    return undo(Differences(), text) if undo else text


def _fields(schema: dict[str, Any], of: str, name: str) -> list[dict[str, Any]]:
    """The field ``name`` of a kind of answer; a finding may be of either kind."""
    kinds = FINDINGS if of == "finding" else (of,)
    kept = schema.get("$defs", {})
    return [kept[kind]["properties"][name] for kind in kinds if name in kept.get(kind, {}).get("properties", {})]


def _as_written(told: dict[str, Any], text: str) -> str:
    """Put together again as the command line has it; a form that this cannot make would hide a difference."""
    assert json.dumps(json.loads(text)) == text
    return json.dumps(told)
