import pytest
from tests.scenarios.reading import is_shown, moves, own_words

from review_advisor.mockworld.agents import approve, confirm, evidence, finding, reject, veto
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role
from review_advisor.review.rulings import Outcome

FAULT = finding("src/app.py", 3, "value = 3")
OTHER = finding("src/app.py", 5, "value = 5")


def test_a_rejection_that_is_confirmed_stands_d38(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, reject(FAULT))
    world.agents.script(Role.POST_VERIFY, confirm())
    document = world.review()
    assert (document.outcome, document.exit_code) == (Outcome.CHANGES_REQUESTED, 10)
    assert world.asked == ["pre_flight", "executor", "post_verify"]
    assert "The executor rejected this change. Judge that verdict" in own_words(world.calls(Role.POST_VERIFY)[0])
    assert [each.title for each in document.findings] == ["a fault"]


def test_a_rejection_called_wrong_is_thought_over_once(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, reject(FAULT), approve(summary="I was wrong"))
    world.agents.script(Role.POST_VERIFY, veto("three is fine"), confirm())
    document = world.review()
    assert (document.outcome, document.exit_code) == (Outcome.APPROVED, 0)
    assert document.flags.recovered
    assert is_shown(world.calls(Role.EXECUTOR)[1], "TRANSCRIPT")


@pytest.mark.parametrize("path", ["src/app.py", "src/auth/login.py"])
def test_the_advisor_alone_never_overturns_a_no(world: MockWorld, path: str) -> None:
    world.change(edited(path))
    world.agents.script(Role.EXECUTOR, reject(finding(path, 3, "value = 3")), reject(finding(path, 5, "value = 5")))
    world.agents.script(Role.POST_VERIFY, veto("three is fine"), veto("five is fine"))
    document = world.review()
    assert (document.outcome, document.exit_code) == (Outcome.ESCALATED, 11)
    assert moves(document) == ["retry", "escalate"]
    assert "the advisor alone never overturns a no" in document.because[0]
    assert len(world.calls(Role.EXECUTOR)) == 2


def test_a_retry_that_ends_in_the_executors_own_no_is_neither_recovered_nor_exhausted_d31(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve(), reject(FAULT))
    world.agents.script(Role.POST_VERIFY, veto("three was missed"), confirm())
    document = world.review()
    assert document.outcome is Outcome.CHANGES_REQUESTED
    assert not document.flags.recovered
    assert not document.flags.exhausted


def test_a_retry_that_changed_nothing_is_refused_before_the_second_question_d11(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve(summary="fine"), approve(summary="still fine, in other words"))
    world.agents.script(Role.POST_VERIFY, veto("three was missed"))
    document = world.review()
    assert (document.outcome, document.exit_code) == (Outcome.ESCALATED, 11)
    assert world.asked == ["pre_flight", "executor", "post_verify", "executor"]
    assert document.because == ("the retry changed neither the verdict, nor the findings, nor the evidence",)
    assert not document.flags.exhausted


def test_prose_answers_no_disagreement(world: MockWorld) -> None:
    prose = evidence("d0.1", "src/app.py", "")
    invented = evidence("d0.1", "src/app.py", "this line does not exist")
    world.agents.script(Role.EXECUTOR, approve(), approve(answers=(prose, invented)))
    world.agents.script(Role.POST_VERIFY, veto("three was missed"))
    document = world.review()
    assert document.outcome is Outcome.ESCALATED
    assert len(world.calls(Role.POST_VERIFY)) == 1


def test_an_answer_to_a_disagreement_nobody_raised_counts_for_nothing(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve(), approve(answers=(evidence("d0.9", "src/app.py", "value = 3"),)))
    world.agents.script(Role.POST_VERIFY, veto("three was missed"))
    assert world.review().outcome is Outcome.ESCALATED
    assert len(world.calls(Role.POST_VERIFY)) == 1


def test_evidence_is_worth_a_second_question(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve(), approve(answers=(evidence("d0.1", "src/app.py", "value = 3"),)))
    world.agents.script(Role.POST_VERIFY, veto("three was missed"), confirm())
    document = world.review()
    assert document.outcome is Outcome.APPROVED
    assert document.surfaces[0].parts[0].reports[1].settled == ("d0.1",)


def test_a_changed_severity_is_a_change(world: MockWorld) -> None:
    milder = finding("src/app.py", 3, "value = 3", severity="low")
    graver = finding("src/app.py", 3, "value = 3", severity="high")
    world.agents.script(Role.EXECUTOR, approve(milder), approve(graver))
    world.agents.script(Role.POST_VERIFY, veto("three is grave"), confirm())
    assert world.review().outcome is Outcome.APPROVED


def test_a_finding_that_quotes_nothing_real_is_shown_to_nobody_as_a_finding(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, reject(FAULT, finding("src/app.py", 3, "value = 999", title="invented")))
    document = world.review()
    assert [each.title for each in document.findings] == ["a fault"]
    (refused,) = document.surfaces[0].parts[0].reports[0].refused
    assert (refused.title, refused.why) == ("invented", "its evidence does not stand in the changed lines of the file")
