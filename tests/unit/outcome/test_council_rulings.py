"""A panel of one is today's post-verify in every cell; a panel of several never grants what its rule does not."""

import json
from dataclasses import replace
from itertools import product
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.agents.answers import ACTIONS, Disagreement, MemberVote, PostVerifyResult
from review_advisor.agents.calls import Cause, Lost, LostReason
from review_advisor.policy.budgets import RefusalReason, Refused
from review_advisor.policy.roster import ADR_ADVISOR, Advisor
from review_advisor.policy.surfaces import Authority
from review_advisor.review.rulings import Move, Ruling, Standing, Verdict, rule, rule_panel
from review_advisor.review.votes import MemberAnswer

BLOCKING = Disagreement(executor_claim="fine", advisor_assessment="not fine", severity="blocking")
CONCERN = Disagreement(executor_claim="fine", advisor_assessment="hardly fine", severity="concern")
BOOLS = (False, True)
MILDEST_FIRST = (Move.ACCEPT, Move.RETRY, Move.ESCALATE)
STANDINGS = [
    Standing(executor, authority, guarded, fail_as_veto, budget, used, rejected)
    for executor, authority, guarded, fail_as_veto, budget, used, rejected in product(
        get_args(Verdict), Authority, BOOLS, BOOLS, range(4), range(4), range(2)
    )
]
ANSWERS: list[PostVerifyResult | Lost | Refused] = [
    PostVerifyResult(verdict="APPROVE"),
    PostVerifyResult(verdict="APPROVE", reasoning="yes", disagreements=(CONCERN,), pre_existing=("one",)),
    PostVerifyResult(verdict="VETO"),
    PostVerifyResult(verdict="VETO", reasoning="no", suggested_fix_direction="there"),
    PostVerifyResult(verdict="VETO", disagreements=(CONCERN,)),
    PostVerifyResult(verdict="VETO", reasoning="no", disagreements=(BLOCKING, CONCERN)),
    *(Lost(reason, "gone") for reason in LostReason),
    *(Refused(reason, "no more") for reason in get_args(RefusalReason)),
]


@pytest.mark.parametrize("fallback", ["", "haiku"])
@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: repr(answer)[:60])
def test_a_panel_of_one_is_todays_table_in_every_cell(answer: PostVerifyResult | Lost | Refused, fallback: str) -> None:
    for standing in STANDINGS:
        ruling, joint = rule_panel(standing, [MemberAnswer(ADR_ADVISOR, answer, fallback)])
        assert ruling == rule(standing, answer, fallback)
        assert joint is None or joint is answer


# --- several ----------------------------------------------------------------------------------------------------------


def at(executor: Verdict = "approve", authority: Authority = Authority.VETO, **facts: bool) -> Standing:
    guarded, strict = facts.get("guarded", False), facts.get("fail_as_veto", False)
    return Standing(executor, authority, guarded, strict, 2, 0, 0)


def vote(approve: float, changes: float, block: float, executor: Verdict = "approve", **facts: object) -> MemberVote:
    for_it = approve > max(changes, block)
    verdict = "APPROVE" if for_it is (executor == "approve") else "VETO"
    calls = json.dumps(dict(zip(ACTIONS, (approve, changes, block), strict=True)))
    return MemberVote.model_validate({"verdict": verdict, "reasoning": "because", "calls": calls, **facts})


def member(name: str, answer: PostVerifyResult | Lost | Refused, fallback: str = "", **facts: object) -> MemberAnswer:
    return MemberAnswer(Advisor(id=name, persona=name, on="finish", **facts), answer, fallback)  # type: ignore[arg-type]


def ruled(standing: Standing, *answers: PostVerifyResult | Lost | Refused, veto: bool = False) -> Ruling:
    members = [member(f"member{at}", each) for at, each in enumerate(answers)]
    if veto:
        members[-1] = member("last", answers[-1], veto=True)
    return rule_panel(standing, members)[0]


YES, NO = vote(90, 5, 5), vote(0, 90, 60)
OUTAGE, CONTENT = Lost(LostReason.SERVER_ERROR, "503"), Lost(LostReason.MODEL_REFUSED, "no")
SPENT = Refused("money", "spent")


def test_votes_are_about_the_change_and_the_tables_then_hold() -> None:
    assert ruled(at(), YES, YES, YES).move is Move.ACCEPT
    assert ruled(at(), NO, NO, YES).move is Move.RETRY
    assert ruled(at("reject"), NO, NO, NO).move is Move.ACCEPT
    wrong = vote(90, 5, 5, "reject")
    assert (ruled(at("reject"), wrong, wrong).move, ruled(at("reject"), wrong, wrong).verdict) == (Move.RETRY, "VETO")


def test_a_declared_veto_never_exceeds_the_authority_of_the_surface() -> None:
    ruling = ruled(at(authority=Authority.ADVISORY), YES, vote(0, 0, 100), veto=True)
    assert (ruling.move, ruling.verdict) == (Move.ACCEPT, "APPROVE")


def test_a_spread_turns_an_approval_and_nothing_else_into_a_person() -> None:
    far = vote(45, 10, 40)
    assert ruled(at(), YES, far).move is Move.ESCALATE
    assert "split" in ruled(at(), YES, far).because
    assert ruled(at(), YES, vote(50, 10, 40)).move is Move.ACCEPT
    assert ruled(at(authority=Authority.ADVISORY), YES, far).move is Move.ACCEPT
    assert ruled(at(), vote(0, 100, 0), vote(40, 50, 0)).move is Move.RETRY
    assert ruled(at("reject"), NO, vote(50, 60, 0, "reject")).move is Move.ACCEPT


def test_a_member_lost_to_an_outage_degrades_and_one_that_the_change_may_have_silenced_calls_a_person() -> None:
    degraded = ruled(at(), YES, YES, OUTAGE)
    assert (degraded.move, degraded.degraded) == (Move.ACCEPT, True)
    assert "the judgement of member2 is missing: the other members confirm the verdict" in degraded.because
    for silenced in (CONTENT, SPENT):
        assert ruled(at(), YES, YES, silenced).move is Move.ESCALATE
    assert ruled(at(fail_as_veto=True), YES, YES, OUTAGE).move is Move.ESCALATE


def test_a_missing_member_with_the_veto_right_calls_a_person_and_burns_no_retry() -> None:
    for missing in (OUTAGE, CONTENT, SPENT):
        for others in ((YES, YES), (YES, YES, NO)):
            ruling = ruled(at(), *others, missing, veto=True)
            assert (ruling.move, ruling.degraded, ruling.exhausted) == (Move.ESCALATE, True, False)


def test_while_the_guard_holds_any_missing_member_calls_a_person() -> None:
    for executor, weights in product(get_args(Verdict), ((90, 5, 5), (0, 90, 60))):
        answers = [vote(*weights, executor)] * 4
        moves = [ruled(at(executor, guarded=True), *answers, gone).move for gone in (OUTAGE, CONTENT, SPENT)]
        assert moves == [Move.ESCALATE] * 3


@pytest.mark.parametrize("authority", Authority)
@pytest.mark.parametrize("executor", get_args(Verdict))
def test_nobody_at_all_calls_a_person(executor: Verdict, authority: Authority) -> None:
    ruling = ruled(at(executor, authority), OUTAGE, OUTAGE)
    assert (ruling.move, ruling.because) == (Move.ESCALATE, "no member of the council answered")


def test_a_vote_milder_than_the_members_own_verdict_counts_as_a_block() -> None:
    two_faced = MemberVote(verdict="VETO", reasoning="it leaks", calls='{"approve": 100}')
    assert ruled(at(), YES, two_faced, veto=True).move is Move.RETRY
    confirms = MemberVote(verdict="APPROVE", calls='{"approve": 100}')
    assert ruled(at("reject"), confirms, confirms).move is Move.ACCEPT


def test_a_veto_without_a_vote_that_can_be_read_counts_as_a_block() -> None:
    bare = MemberVote(verdict="VETO", reasoning="it leaks")
    assert ruled(at(), YES, bare, veto=True).move is Move.RETRY
    assert ruled(at("reject"), bare, bare).move is Move.ACCEPT


def test_a_fallback_models_approval_is_no_members_and_its_veto_is() -> None:
    yes = [member("one", YES), member("two", YES)]
    assert rule_panel(at(), [*yes, member("three", YES, "haiku")])[0].degraded
    assert rule_panel(at(), [*yes, member("three", YES, "haiku", veto=True)])[0].move is Move.ESCALATE
    assert rule_panel(at(), [*yes, member("three", vote(0, 0, 100), "haiku", veto=True)])[0].move is Move.RETRY


def test_the_joint_judgement_has_the_words_of_those_who_carry_it() -> None:
    against = vote(0, 100, 0, disagreements=(BLOCKING.model_dump(),), suggested_fix_direction="there")
    for_it = vote(60, 0, 0, disagreements=(CONCERN.model_dump(),))
    _, joint = rule_panel(at(), [member("strict", against), member("mild", for_it)])
    assert joint is not None
    assert (joint.verdict, joint.reasoning, joint.suggested_fix_direction) == (
        "VETO",
        "strict: because",
        "strict: there",
    )
    assert [each.advisor_assessment for each in joint.disagreements] == ["strict: not fine"]


def test_what_does_not_fit_into_the_joint_judgement_is_said_to_be_cut_and_the_record_reads_back_the_same() -> None:
    long = {"executor_claim": "fine", "advisor_assessment": "w" * 8_000, "severity": "blocking"}
    wordy = vote(0, 100, 0, reasoning="r" * 8_000, suggested_fix_direction="f" * 8_000, disagreements=(long,) * 50)
    _, joint = rule_panel(at(), [member(f"{at:m<64}", wordy) for at in ("a", "b", "c")])
    assert joint is not None
    assert joint.reasoning.count("[cut here: ") == (joint.suggested_fix_direction or "").count("[cut here: ") == 3
    assert "disagreements was cut to 50 of its 150 items" in joint.reasoning
    assert all("[cut here: " in each.advisor_assessment for each in joint.disagreements)
    assert PostVerifyResult.model_validate_json(joint.model_dump_json()) == joint


def test_a_disagreement_that_the_panel_did_not_follow_is_kept_as_a_concern() -> None:
    against = vote(0, 51, 0, disagreements=(BLOCKING.model_dump(),))
    _, joint = rule_panel(at(), [member("strict", against), member("mild", YES), member("mild2", YES)])
    assert joint is not None
    assert (joint.verdict, [each.severity for each in joint.disagreements]) == ("APPROVE", ["concern"])


def test_a_finding_is_older_than_the_change_only_if_every_member_says_so() -> None:
    both = [member("one", vote(90, 0, 0, pre_existing=("a", "b"))), member("two", vote(90, 0, 0, pre_existing=("b",)))]
    assert [rule_panel(at(), some)[1].pre_existing for some in (both, [*both, member("x", OUTAGE)])] == [("b",), ()]  # type: ignore[union-attr]


def test_members_that_a_label_adds_never_make_a_ruling_milder() -> None:
    declared = [member("one", vote(50, 60, 0)), member("two", vote(60, 55, 0))]
    obedient = [member(f"label{n}", vote(80, 0, 0), by_label=True, weight=100.0) for n in range(5)]
    assert rule_panel(at(), declared)[0].move is Move.RETRY
    ruling, joint = rule_panel(at(), [*declared, *obedient])
    assert (ruling.move, joint and joint.verdict) == (Move.RETRY, "VETO")
    strict = member("label", vote(0, 0, 100), by_label=True, veto=True)
    assert rule_panel(at(), [member("one", YES), strict])[0].move is Move.RETRY
    wrong = [member(f"label{n}", vote(100, 0, 0, "reject"), by_label=True) for n in range(5)]
    assert rule_panel(at("reject"), [member("one", vote(0, 90, 0, "reject")), *wrong])[0].move is Move.ACCEPT


def test_a_label_gives_no_second_attempt_where_a_person_decides() -> None:
    harsh = member("label", vote(0, 0, 100), by_label=True, veto=True)
    far = [member("one", YES), member("two", vote(45, 10, 40))]
    for declared in ([MemberAnswer(ADR_ADVISOR, CONTENT)], [MemberAnswer(ADR_ADVISOR, SPENT)], far):
        assert rule_panel(at(), declared)[0].move is Move.ESCALATE
        assert rule_panel(at(), [*declared, harsh])[0].move is Move.ESCALATE


WEIGHTS = st.integers(0, 100)
VOTES = st.builds(
    lambda approve, changes, block, verdict, objects: MemberVote(
        verdict="VETO" if objects else verdict,
        reasoning="because",
        disagreements=(BLOCKING,) if objects else (),
        calls=json.dumps(dict(zip(ACTIONS, (approve, changes, block), strict=True))),
    ),
    WEIGHTS,
    WEIGHTS,
    st.integers(1, 100),
    st.sampled_from(["APPROVE", "VETO"]),
    st.booleans(),
)
MISSING = st.sampled_from([OUTAGE, CONTENT, SPENT])
PANELS = st.lists(
    st.builds(
        lambda answer, weight, veto, fallback: member("m", answer, fallback, weight=weight, veto=veto),
        VOTES | MISSING,
        st.sampled_from([0.5, 1.0, 3.0]),
        st.booleans(),
        st.sampled_from(["", "", "", "haiku"]),
    ),
    min_size=2,
    max_size=6,
).map(lambda panel: [member(f"m{at}", each.answer, each.fallback, weight=each.advisor.weight, veto=each.advisor.veto)
                     for at, each in enumerate(panel)])  # fmt: skip


def approves(standing: Standing, panel: list[MemberAnswer]) -> bool:
    return standing.executor == "approve" and rule_panel(standing, panel)[0].move is Move.ACCEPT


@given(st.sampled_from([each for each in STANDINGS if each.authority is Authority.VETO]), PANELS, st.data(), MISSING)
def test_no_loss_but_that_of_a_spread_to_an_outage_turns_anything_into_an_approval(
    standing: Standing, panel: list[MemberAnswer], data: st.DataObject, missing: Lost | Refused
) -> None:
    place = data.draw(st.integers(0, len(panel) - 1))
    gone = MemberAnswer(panel[place].advisor, missing)
    before, after = panel, [*panel[:place], gone, *panel[place + 1 :]]
    if approves(standing, after) and not approves(standing, before):
        assert isinstance(missing, Lost)
        assert missing.cause is Cause.OUTAGE
        assert "split" in rule_panel(standing, before)[0].because


@given(st.sampled_from(STANDINGS), PANELS, st.randoms(use_true_random=False))
def test_the_order_of_the_members_changes_no_ruling(
    standing: Standing, panel: list[MemberAnswer], dice: object
) -> None:
    shuffled = list(panel)
    dice.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = (rule_panel(standing, each)[0] for each in (panel, shuffled))
    assert (one.move, one.degraded, one.exhausted, one.verdict) == (
        other.move,
        other.degraded,
        other.exhausted,
        other.verdict,
    )


@given(
    st.sampled_from(STANDINGS),
    PANELS,
    st.integers(1, 5),
    st.sampled_from([1.0, 100.0]),
    st.booleans(),
)
def test_no_label_and_no_path_makes_the_result_of_a_panel_milder(
    standing: Standing, panel: list[MemberAnswer], declared: int, weight: float, path: bool
) -> None:
    known, others = panel[:declared], panel[declared:]
    added = [
        replace(each, advisor=replace(each.advisor, weight=weight, by_label=not path, by_path=path)) for each in others
    ]
    (before, _), (after, _) = rule_panel(standing, known), rule_panel(standing, [*known, *added])
    if standing.executor == "approve":
        assert MILDEST_FIRST.index(after.move) >= MILDEST_FIRST.index(before.move)
    else:
        assert before.verdict == "VETO" or after.verdict != "VETO"


@pytest.mark.parametrize("path", [False, True])
def test_a_member_that_the_author_can_add_outvotes_nobody(path: bool) -> None:
    against = MemberAnswer(ADR_ADVISOR, vote(55, 60, 0))
    declared = member("ux", vote(55, 60, 0))
    obedient = member("yes", vote(80, 0, 0), weight=100.0, by_label=not path, by_path=path)
    assert rule_panel(at(), [against, declared])[0].move is Move.RETRY
    assert rule_panel(at(), [against, declared, obedient])[0].move is Move.RETRY
    plain = MemberAnswer(replace(obedient.advisor, by_label=False, by_path=False), vote(80, 0, 0))
    assert rule_panel(at(), [against, declared, plain])[0].move is not Move.RETRY, "a declared one would"


def test_an_advisor_that_a_label_adds_can_still_block() -> None:
    labelled = member("ux", vote(0, 0, 90), by_label=True, veto=True)
    assert rule_panel(at(), [MemberAnswer(ADR_ADVISOR, vote(90, 0, 0)), labelled])[0].move is Move.RETRY


def test_one_declared_member_beside_labels_is_judged_by_its_vote_and_not_by_its_word() -> None:
    """Its answer came as a member's: a confirmation whose votes are against the change confirms nothing."""
    torn = MemberVote(verdict="APPROVE", reasoning="it leaks", calls='{"approve": 10, "block": 60}')
    obedient = member("label", vote(45, 0, 0), by_label=True, weight=100.0)
    ruling, joint = rule_panel(at(), [MemberAnswer(ADR_ADVISOR, torn), obedient])
    assert (ruling.move, type(joint), joint and joint.verdict) == (Move.RETRY, PostVerifyResult, "VETO")
    assert "counted without the members that a label or a path added" in ruling.because
