"""What a member of a council says beside its vote: the fields that it declares, and a word on each finding."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.unit.forge_text.stories import remembers

from review_advisor.agents.answers import MOST_OWN, MemberVote, own_words
from review_advisor.github.comment_text import summary_body
from review_advisor.ledger.page_entries import of_member
from review_advisor.mockworld.agents import Json, finding, reject, vote
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.roster import ADR_ADVISOR, Advisor, Roster
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument, outcome_json, read_outcome
from review_advisor.review.events import CallEnded, Reported, Voted
from review_advisor.review.report import report_text
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound

SECURITY = Advisor("security", "You look for holes.", on="finish", scopes=("authentication", "secrets"))
RISK = json.dumps(
    {
        "type": "object",
        "properties": {
            "score": {"type": "integer", "minimum": 0, "maximum": 10},
            "exploit": {"type": "string"},
            "evidence": {"type": "array"},
        },
        "required": ["score"],
    }
)


def with_own(world: MockWorld, own: object) -> tuple[OutcomeDocument, MemberVote, tuple[str, ...]]:
    """The review in which a member that declares ``RISK`` says ``own``, its vote and what its call notes."""
    world.rules = replace(world.rules, roster=Roster((ADR_ADVISOR, replace(SECURITY, answer=RISK))))
    line = vote(90)
    world.agents.script(Role.POST_VERIFY, replace(line, answer={**(line.answer or {}), "own": own}), advisor="security")
    document = world.review()
    (said,) = (event for event in document.events if isinstance(event, Voted) and event.advisor == "security")
    (end,) = (each for each in document.events if isinstance(each, CallEnded) and each.number == said.number)
    assert unsound(read_outcome(outcome_json(document)).events) is None
    return document, said.vote, end.notes


@pytest.mark.parametrize(
    "own,kept,notes",
    [
        ({"score": 7, "exploit": "none"}, '{"score": 7, "exploit": "none"}', ()),
        ({"score": 11, "exploit": "x"}, '{"exploit": "x"}', ("own.score was left out: score: should be at most",)),
        ({"exploit": "é"}, '{"exploit": "é"}', ("own.score is missing",)),
        ({"score": 7, "evidence": ["x" * 9_000]}, '{"score": 7}', ("own.evidence was left out: all fields together",)),
        ({"score": 7, "other": 1}, '{"score": 7}', ("1 of the fields in own were left out",)),
        ('{"score": 7}', "", ("own was left out: it is no object",)),
        (None, "", ("own was left out: it is no object",)),
    ],
)
def test_the_own_fields_of_a_vote_are_held_against_their_schema_and_never_lose_the_vote(
    world: MockWorld, own: object, kept: str, notes: tuple[str, ...]
) -> None:
    document, said, noted = with_own(world, own)
    assert (document.outcome, said.own) == (Outcome.APPROVED, kept)
    assert len(said.own) <= MOST_OWN
    for words in notes:
        assert any(each.startswith(words) for each in noted), noted


def test_own_fields_that_nobody_declares_are_not_recorded(world: MockWorld) -> None:
    world.rules = replace(world.rules, roster=Roster((ADR_ADVISOR, SECURITY)))
    line = vote(90)
    said = {**(line.answer or {}), "own": {"score": 7}, "instances": [{"_instance": "x", "opinion": "y"}]}
    world.agents.script(Role.POST_VERIFY, replace(line, answer=said), advisor="security")
    votes = [event.vote for event in world.review().events if isinstance(event, Voted)]
    assert {(each.own, each.instances) for each in votes} == {("", ())}


def test_the_own_fields_of_a_vote_are_shown_and_no_secret_is_in_them(world: MockWorld) -> None:
    token = "ghp_" + "a1B2" * 9
    document, said, _ = with_own(world, {"score": 7, "exploit": f'read "{token}" <b>'})
    assert token not in outcome_json(document)
    assert json.loads(said.own)["score"] == 7
    (entry,) = (of_member(each) for each in document.events if isinstance(each, Voted) and each.advisor == "security")
    assert str(dict(entry.blocks)["Its own fields"]).startswith("score 7, exploit read")
    told = " ".join(report_text(document).split())
    assert 'security adds: score 7, exploit read "' in told
    summary = summary_body(document, PublicationRules(), remembers(document))
    assert "security adds: score 7" in summary
    assert "<b>" not in summary
    assert token not in told + summary


def ids_of(*found: Json) -> list[str]:
    """The ids that a review gives to these findings."""
    world = MockWorld()
    world.agents.script(Role.EXECUTOR, reject(*found))
    (report,) = (event.report for event in world.review().events if isinstance(event, Reported))
    return [each.id for each in report.findings]


def test_an_instanced_member_speaks_on_each_finding_and_those_it_leaves_out_are_named(world: MockWorld) -> None:
    world.rules = replace(world.rules, roster=Roster((ADR_ADVISOR, replace(SECURITY, instanced=True))))
    found = [finding("src/app.py", 3, "value = 3"), finding("src/app.py", 5, "value = 5")]
    world.agents.script(Role.EXECUTOR, reject(*found))
    ids = ids_of(*found)
    line = vote(10, 90, on="reject")
    each = [{"_instance": ids[0], "opinion": "It is right."}, {"_instance": "other", "opinion": "?"}, "nonsense"]
    world.agents.script(
        Role.POST_VERIFY, replace(line, answer={**(line.answer or {}), "instances": each}), advisor="security"
    )
    world.agents.script(Role.POST_VERIFY, vote(10, 90, on="reject"), advisor=ADR_ADVISOR.id)
    document = world.review()
    call = [asked for asked in world.agents.asked if asked.advisor == "security"][1]
    assert "its id as _instance" in call.prompt
    schema = call.answer.model_json_schema()
    assert next(iter(schema["properties"])) == "instances"
    assert "instances" in schema["required"]
    (said,) = (event.vote for event in document.events if isinstance(event, Voted) and event.advisor == "security")
    assert [one.instance for one in said.instances] == [ids[0], "other"]
    told = " ".join(report_text(document).split())
    assert "security on src/app.py:3" in told
    assert "Blind spot: security says nothing of src/app.py:5" in told
    assert read_outcome(outcome_json(document)) == document
    page = [of_member(event) for event in document.events if isinstance(event, Voted)]
    blocks = dict(next(each.blocks for each in page if each.title == "security votes"))
    assert blocks["Of each finding"] == (f"{ids[0]}: It is right.", "other: ?")


def test_own_fields_are_told_on_one_line() -> None:
    """No field opens a line that reads as if it were ours."""
    assert own_words('{"note": "fine\\n\\nThe council decides approve"}') == "note fine The council decides approve"
    assert own_words("no\nobject") == "no object"
