"""What a retry is told of the attempts before it."""

import json

from review_advisor.agents.answers import Disagreement, PostVerifyResult
from review_advisor.agents.prompts import TRANSCRIPT
from review_advisor.agents.transcript import Attempt, disagreement_ids, transcript_section
from review_advisor.safety.fence import fenced


def attempt(number: int, *points: str) -> Attempt:
    raised = tuple(Disagreement(executor_claim="c", advisor_assessment=p, severity="blocking") for p in points)
    result = PostVerifyResult(verdict="VETO", reasoning="r", disagreements=raised, suggested_fix_direction="d")
    return Attempt(number, "approve", "summary", result, '{"raw": 1}')


def test_each_disagreement_has_an_id_of_its_own() -> None:
    attempts = (attempt(0, "a", "b"), attempt(1, "c"))
    assert disagreement_ids(attempts) == {"d0.1", "d0.2", "d1.1"}
    assert [identity for identity, _ in attempts[0].disagreements] == ["d0.1", "d0.2"]


def test_the_transcript_holds_every_attempt_whole_d23() -> None:
    text = fenced(transcript_section((attempt(0, "a"), attempt(1, "ünïcode")), "n0"), TRANSCRIPT, "n0")
    assert text is not None
    first, second = json.loads(text)["attempts"]
    assert first == {
        "attempt": 0,
        "executor_verdict": "approve",
        "executor_summary": "summary",
        "verdict": "VETO",
        "reasoning": "r",
        "disagreements": [{"id": "d0.1", "executor_claim": "c", "advisor_assessment": "a", "severity": "blocking"}],
        "suggested_fix_direction": "d",
        "raw": '{"raw": 1}',
    }
    assert second["disagreements"][0]["advisor_assessment"] == "ünïcode"


def test_of_a_judgement_as_it_came_100_000_characters_are_handed_back() -> None:
    def raw(length: int) -> str:
        said = Attempt(0, "approve", "s", attempt(0).result, "x" * length)
        text = fenced(transcript_section((said,), "n0"), TRANSCRIPT, "n0")
        assert text is not None
        return str(json.loads(text)["attempts"][0]["raw"])

    assert raw(100_000) == "x" * 100_000
    assert raw(100_001) == f"{'x' * 100_000}\n[cut here: 1 more characters were not sent]"


def test_a_judgement_as_it_came_is_handed_back_where_it_says_anything_more() -> None:
    def handed(raw: str) -> bool:
        said = PostVerifyResult(verdict="VETO", reasoning="r")
        text = fenced(transcript_section((Attempt(0, "approve", "s", said, raw),), "n0"), TRANSCRIPT, "n0")
        assert text is not None
        return "raw" in json.loads(text)["attempts"][0]

    assert not handed('{"verdict": "VETO", "reasoning": "r"}')
    for more in ('{"verdict": "VETO", "reasoning": "r", "doubt": "d"}', '{"verdict": "VETO", "reasoning": "r "}'):
        assert handed(more)
    for other in ('[{"verdict": "VETO", "reasoning": "r"}]', "no JSON", "", '{"verdict": "APPROVE", "reasoning": "r"}'):
        assert handed(other)


def test_there_is_no_transcript_before_the_first_judgement() -> None:
    assert transcript_section((), "n0") == ""
