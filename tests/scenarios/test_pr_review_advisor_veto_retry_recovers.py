import json

from tests.scenarios.reading import is_shown, moves, own_words, shown, transcript

from review_advisor.mockworld.agents import approve, confirm, evidence, finding, plan, veto
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.rulings import Outcome


def recovered(world: MockWorld) -> OutcomeDocument:
    world.agents.script(Role.PRE_FLIGHT, plan("values may clash"))
    noted = finding("src/app.py", 7, "value = 7", severity="low", title="seven is taken")
    world.agents.script(
        Role.EXECUTOR,
        approve(summary="nothing to see"),
        approve(noted, answers=(evidence("d0.1", "src/app.py", "value = 7"),), summary="seven is noted"),
    )
    world.agents.script(
        Role.POST_VERIFY,
        veto("seven is taken", reasoning="the report misses a clash", direction="look at line 7"),
        confirm(),
    )
    return world.review()


def test_a_veto_hands_back_and_the_second_attempt_is_approved(world: MockWorld) -> None:
    document = recovered(world)
    assert (document.outcome, document.exit_code) == (Outcome.APPROVED, 0)
    assert document.flags.recovered
    assert not document.flags.exhausted
    assert not document.flags.degraded
    assert moves(document) == ["retry", "accept"]
    assert world.asked == ["pre_flight", "executor", "post_verify", "executor", "post_verify"]


def test_the_retry_carries_the_whole_transcript_not_a_summary_d23(world: MockWorld) -> None:
    recovered(world)
    first, second = world.calls(Role.EXECUTOR)
    assert not is_shown(first, "TRANSCRIPT")
    (attempt,) = transcript(second)
    assert attempt["executor_verdict"] == "approve"
    assert attempt["executor_summary"] == "nothing to see"
    assert attempt["verdict"] == "VETO"
    assert attempt["reasoning"] == "the report misses a clash"
    assert attempt["suggested_fix_direction"] == "look at line 7"
    assert [(d["id"], d["advisor_assessment"], d["severity"]) for d in attempt["disagreements"]] == [
        ("d0.1", "seven is taken", "blocking")
    ]
    assert "raw" not in attempt, "it says nothing that was not read of it, and nothing is sent twice"
    assert "seven is taken" not in own_words(second)


def test_the_retry_is_a_fresh_call_with_the_plan_and_the_earlier_report(world: MockWorld) -> None:
    recovered(world)
    second = world.calls(Role.EXECUTOR)[1]
    assert second.attempt == 1
    assert json.loads(shown(second, "PLAN"))["risk_summary"] == "values may clash"
    assert json.loads(shown(second, "REPORT"))["summary"] == "nothing to see"


def test_the_second_judgement_sees_the_first_one(world: MockWorld) -> None:
    recovered(world)
    first, second = world.calls(Role.POST_VERIFY)
    assert not is_shown(first, "TRANSCRIPT")
    assert [attempt["verdict"] for attempt in transcript(second)] == ["VETO"]
    report = json.loads(shown(second, "REPORT"))
    assert report["settled"] == ["d0.1"]
    assert [each["title"] for each in report["findings"]] == ["seven is taken"]
    assert "attempt 2" in own_words(second)


def test_the_document_keeps_both_judgements_and_the_last_reports_findings(world: MockWorld) -> None:
    document = recovered(world)
    (part,) = document.surfaces[0].parts
    assert [attempt.result.verdict for attempt in part.post_verify] == ["VETO", "APPROVE"]
    assert [report.summary for report in part.reports] == ["nothing to see", "seven is noted"]
    assert [each.title for each in document.findings] == ["seven is taken"]


def test_pre_flight_is_paid_once_however_many_attempts(world: MockWorld) -> None:
    recovered(world)
    assert len(world.calls(Role.PRE_FLIGHT)) == 1
    assert list(world.artifacts.files) == ["preflight.json"]


def test_a_veto_without_disagreements_can_be_answered_too(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve(), approve(answers=(evidence("d0.0", "src/app.py", "value = 7"),)))
    world.agents.script(Role.POST_VERIFY, veto(reasoning="seven is not covered"), confirm())
    document = world.review()
    assert document.outcome is Outcome.APPROVED
    (attempt,) = transcript(world.calls(Role.EXECUTOR)[1])
    assert [(d["id"], d["advisor_assessment"]) for d in attempt["disagreements"]] == [("d0.0", "seven is not covered")]


def test_a_quote_too_short_to_prove_anything_settles_nothing(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve(), approve(answers=(evidence("d0.1", "src/app.py", "v"),)))
    world.agents.script(Role.POST_VERIFY, veto("one"))
    document = world.review()
    assert document.outcome is Outcome.ESCALATED
    assert "the retry changed neither" in document.because[0]
