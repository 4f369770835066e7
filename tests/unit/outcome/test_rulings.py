import pytest

from review_advisor.agents.answers import PostVerifyResult
from review_advisor.agents.calls import Lost, LostReason
from review_advisor.policy.budgets import Refused
from review_advisor.policy.surfaces import Authority
from review_advisor.review.rulings import Disabled, Move, Standing, Verdict, rule

CONFIRMED = PostVerifyResult(verdict="APPROVE")
VETOED = PostVerifyResult(verdict="VETO", reasoning="it is wrong")
LOST = Lost(LostReason.CRASH, "it crashed")
REFUSED = Refused("money", "the purse is empty")
OFF = Disabled("HYDRAFLOW_REVIEW_POSTVERIFY_ENABLED")

ACCEPT, RETRY, ESCALATE = Move.ACCEPT, Move.RETRY, Move.ESCALATE


def standing(
    executor: Verdict = "approve",
    authority: Authority = Authority.VETO,
    *,
    guarded: bool = False,
    fail_as_veto: bool = False,
    budget: int = 1,
    used: int = 0,
    rejected: int = 0,
) -> Standing:
    return Standing(executor, authority, guarded, fail_as_veto, budget, used, rejected)


VERDICTS = [
    # the executor  the advisor  a veto here  a looping surface  on a one-shot surface
    ("approve", CONFIRMED, Authority.VETO, ACCEPT, ACCEPT),
    ("approve", VETOED, Authority.VETO, RETRY, ESCALATE),
    ("reject", CONFIRMED, Authority.VETO, ACCEPT, ACCEPT),
    ("reject", VETOED, Authority.VETO, RETRY, ESCALATE),
    ("approve", CONFIRMED, Authority.ADVISORY, ACCEPT, ACCEPT),
    ("approve", VETOED, Authority.ADVISORY, ACCEPT, ACCEPT),
    ("reject", CONFIRMED, Authority.ADVISORY, ACCEPT, ACCEPT),
    ("reject", VETOED, Authority.ADVISORY, ACCEPT, ACCEPT),
]


@pytest.mark.parametrize("executor, answer, authority, looping, one_shot", VERDICTS)
def test_the_table_of_verdicts(
    executor: Verdict, answer: PostVerifyResult, authority: Authority, looping: Move, one_shot: Move
) -> None:
    assert rule(standing(executor, authority, budget=1), answer).move is looping
    assert rule(standing(executor, authority, budget=0), answer).move is one_shot


@pytest.mark.parametrize("budget", [1, 2, 3])
def test_an_approval_is_retried_while_the_budget_lasts_and_not_once_more(budget: int) -> None:
    moves = [rule(standing(budget=budget, used=used), VETOED).move for used in range(budget + 1)]
    assert moves == [RETRY] * budget + [ESCALATE]
    assert rule(standing(budget=budget, used=budget), VETOED).exhausted
    assert not rule(standing(budget=budget, used=0), VETOED).exhausted


@pytest.mark.parametrize("budget", [1, 2, 3])
def test_a_rejection_is_thought_over_once_whatever_the_budget(budget: int) -> None:
    assert rule(standing("reject", budget=budget), VETOED).move is RETRY
    again = rule(standing("reject", budget=budget, used=1, rejected=1), VETOED)
    assert (again.move, again.exhausted) == (ESCALATE, True)


def test_a_rejection_after_a_spent_budget_is_not_thought_over() -> None:
    assert rule(standing("reject", budget=1, used=1), VETOED).move is ESCALATE


def test_a_first_rejection_after_a_vetoed_approval_is_thought_over_within_the_budget() -> None:
    assert rule(standing("reject", budget=2, used=1, rejected=0), VETOED).move is RETRY


def test_escalation_on_a_one_shot_surface_is_no_spent_budget() -> None:
    assert not rule(standing(budget=0), VETOED).exhausted
    assert not rule(standing("reject", budget=0), VETOED).exhausted


def test_an_advisory_veto_counts_as_an_approval_and_says_so() -> None:
    ruling = rule(standing(authority=Authority.ADVISORY, budget=0), VETOED)
    assert (ruling.move, ruling.verdict) == (ACCEPT, "APPROVE")
    assert ruling.because == "vetoed, but this surface's advisor is advisory"
    assert not ruling.degraded


def test_a_ruling_names_the_verdict_that_counts() -> None:
    assert rule(standing(), CONFIRMED).verdict == "APPROVE"
    assert rule(standing(), VETOED).verdict == "VETO"
    assert rule(standing("reject"), VETOED).verdict == "VETO"
    assert [rule(standing(), none).verdict for none in (LOST, REFUSED, OFF)] == [None] * 3


Missing = tuple[str, Lost | Refused | Disabled, Authority, bool, bool, Move, bool]
MISSING: list[Missing] = [
    # the judgement is  authority     guarded fail_as_veto  means     degraded
    ("lost", LOST, Authority.VETO, False, False, ACCEPT, True),
    ("lost", LOST, Authority.VETO, False, True, ESCALATE, True),
    ("lost", LOST, Authority.ADVISORY, False, False, ACCEPT, True),
    ("lost", LOST, Authority.ADVISORY, False, True, ACCEPT, True),
    ("lost", LOST, Authority.VETO, True, False, ESCALATE, True),
    ("lost", LOST, Authority.VETO, True, True, ESCALATE, True),
    ("refused", REFUSED, Authority.VETO, False, False, ESCALATE, True),
    ("refused", REFUSED, Authority.VETO, False, True, ESCALATE, True),
    ("refused", REFUSED, Authority.ADVISORY, False, False, ACCEPT, True),
    ("refused", REFUSED, Authority.ADVISORY, False, True, ACCEPT, True),
    ("refused", REFUSED, Authority.VETO, True, False, ESCALATE, True),
    ("switched off", OFF, Authority.VETO, False, False, ACCEPT, False),
    ("switched off", OFF, Authority.VETO, False, True, ACCEPT, False),
    ("switched off", OFF, Authority.ADVISORY, False, True, ACCEPT, False),
    ("switched off", OFF, Authority.VETO, True, False, ESCALATE, False),
    ("switched off", OFF, Authority.VETO, True, True, ESCALATE, False),
]


@pytest.mark.parametrize("executor", ["approve", "reject"])
@pytest.mark.parametrize("row", MISSING, ids=lambda row: f"{row[0]}-{row[2]}-guard={row[3]}-fail_as_veto={row[4]}")
def test_the_table_of_missing_judgements_d6_d8_d13(row: Missing, executor: Verdict) -> None:
    word, answer, authority, guarded, fail_as_veto, means, degraded = row
    ruling = rule(standing(executor, authority, guarded=guarded, fail_as_veto=fail_as_veto, budget=3), answer)
    assert (ruling.move, ruling.degraded) == (means, degraded)
    assert word in ruling.because
    assert not ruling.exhausted


@pytest.mark.parametrize("reason", LostReason)
@pytest.mark.parametrize("budget", [0, 1, 3])
def test_an_outage_never_burns_a_retry_d11(reason: LostReason, budget: int) -> None:
    for fail_as_veto in (True, False):
        ruling = rule(standing(fail_as_veto=fail_as_veto, budget=budget), Lost(reason, "gone"))
        assert ruling.move is not RETRY
        assert reason.value in ruling.because


@pytest.mark.parametrize("retries", [1, 2])
def test_a_veto_stands_when_the_judgement_of_its_answer_is_lost(retries: int) -> None:
    ruling = rule(standing(budget=3, used=retries), LOST)
    assert (ruling.move, ruling.degraded, ruling.exhausted) == (ESCALATE, True, False)
    assert ruling.because == "post-verify was lost (crash) after a veto that nobody took back"


def test_an_outage_after_a_veto_leaves_a_rejection_and_an_advisory_surface_as_they_are() -> None:
    assert rule(standing("reject", budget=3, used=1, rejected=1), LOST).move is ACCEPT
    assert rule(standing(authority=Authority.ADVISORY, used=1), LOST).move is ACCEPT


def test_under_the_guard_no_missing_judgement_is_ever_an_approval_d16() -> None:
    for answer in (LOST, REFUSED, OFF):
        assert rule(standing(guarded=True), answer).move is ESCALATE


def test_something_that_is_no_answer_is_a_bug() -> None:
    with pytest.raises(AssertionError):
        rule(standing(), "APPROVE")  # type: ignore[arg-type]
