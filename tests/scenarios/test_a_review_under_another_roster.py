"""A stored review is counted once more under another roster: by its recorded votes, and nobody is asked."""

from collections import Counter
from dataclasses import replace

import pytest

from review_advisor.lab.replay import OtherRules, Otherwise, decided_otherwise, usd_of
from review_advisor.mockworld.agents import Line, approve, credit_gone, evidence, vote
from review_advisor.mockworld.seeds import of_one_judge, with_council
from review_advisor.mockworld.stage import play
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.escalation_rules import EscalationRules, Threshold
from review_advisor.policy.risk import BlastRadius
from review_advisor.policy.roster import ADR_ADVISOR, DEFAULT_ROSTER, Advisor, MappedPaths, Roster
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import CallEnded, PolicyFrozen, Ruled, Verified, Voted
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound

SECURITY = Advisor("security", "You look for holes.", on="finish", weight=3.0)
TESTER = Advisor("tester", "You ask what is not tested.", on="finish")
COUNCIL = Roster((ADR_ADVISOR, SECURITY, TESTER))
CONFIRMED = (
    "the verdict is confirmed (approve has the highest mean (approve {}, request_changes {}, block 0; spread 10))"
)
NAMES = (ADR_ADVISOR.id, "security", "tester")
A_CALL_IS_GONE = "the numbers of the calls do not count from 1"
"""All that may be wrong with the events of a review that makes fewer calls: each keeps its recorded number."""


def judged(world: MockWorld, *lines: Line, roster: Roster = COUNCIL) -> OutcomeDocument:
    world.rules = replace(world.rules, roster=roster)
    for name, line in zip(NAMES, lines, strict=False):
        world.agents.script(Role.POST_VERIFY, line.costing(0.1), advisor=name)
    return world.review()


def under(document: OutcomeDocument, *advisors: Advisor) -> Otherwise:
    return decided_otherwise(document, OtherRules(roster=Roster(advisors)))


def known(found: Otherwise) -> OutcomeDocument:
    assert found.unknown == ()
    assert found.document is not None
    assert unsound(found.document.events) in (None, A_CALL_IS_GONE)
    return found.document


def narrowly(world: MockWorld) -> OutcomeDocument:
    """Two members are for the change, the third is a little against it."""
    document = judged(world, vote(60, 40), vote(55, 45), vote(50, 60))
    assert document.outcome is Outcome.APPROVED
    return document


def test_other_weights_count_the_same_votes_anew(world: MockWorld) -> None:
    document = narrowly(world)
    asked = len(world.asked)
    found = known(under(document, replace(ADR_ADVISOR, weight=7.0), SECURITY, TESTER))
    assert found.outcome is Outcome.APPROVED
    assert [rulings(each) for each in (document, found)] == [[CONFIRMED.format(55, 47)], [CONFIRMED.format(58, 43)]]
    assert len(world.asked) == asked, "nobody is asked"


def rulings(document: OutcomeDocument) -> list[str]:
    return [each.ruling.because for each in document.events if isinstance(each, Ruled)]


def test_a_heavier_voice_against_it_would_have_handed_the_change_back(world: MockWorld) -> None:
    document = narrowly(world)
    found = under(document, ADR_ADVISOR, SECURITY, replace(TESTER, weight=30.0))
    assert found.unknown == ("a retry would have been asked, and its answer is unknown",)
    assert [each.role for each in found.questions] == [Role.EXECUTOR, *[Role.POST_VERIFY] * 6]


def test_the_last_word_is_a_persons_where_the_heavier_voice_leaves_no_retry(world: MockWorld) -> None:
    document = narrowly(world)
    roster = Roster((ADR_ADVISOR, SECURITY, replace(TESTER, weight=30.0)))
    never = OtherRules(roster=roster, retries=dict.fromkeys(BlastRadius, 0))
    found = decided_otherwise(document, never).document
    assert found is not None
    assert found.outcome is Outcome.ESCALATED
    (judgement,) = [each.judged.result for each in found.events if isinstance(each, Verified)]
    assert judgement.verdict == "VETO"
    assert "tester: so it is" in judgement.reasoning


def test_without_a_member_neither_its_vote_counts_nor_its_calls(world: MockWorld) -> None:
    document = narrowly(world)
    found = known(under(document, ADR_ADVISOR, SECURITY))
    assert found.outcome is Outcome.APPROVED
    assert [each.advisor for each in found.events if isinstance(each, Voted)] == [Role.POST_VERIFY.advisor, "security"]
    assert not any(isinstance(each, CallEnded) and each.advisor == "tester" for each in found.events)
    costs = [sum(row.usage.cost_usd or 0.0 for row in each.cost) for each in (document, found)]
    assert costs[0] - costs[1] == pytest.approx(0.1)


def test_who_was_never_asked_would_have_to_be_asked_by_name(world: MockWorld) -> None:
    document = narrowly(world)
    lawyer = Advisor("lawyer", "You read licences.", on="finish", model="sonnet")
    found = under(document, *COUNCIL.advisors, lawyer)
    assert found.unknown == ("lawyer would have been asked to judge",)
    assert [each.model for each in found.questions] == ["sonnet", "sonnet"], "what it finds, and its vote"


@pytest.mark.parametrize(
    "advisors, why",
    [
        ((ADR_ADVISOR,), f"{ADR_ADVISOR.id} would have been asked to judge"),
        ((ADR_ADVISOR, SECURITY, replace(TESTER, persona="You are kind.")), "tester would have been asked to judge"),
        ((*COUNCIL.advisors, Advisor("early", "You see first.", on="start")), "early would speak first"),
        ((*COUNCIL.advisors, Advisor("quiet", "You wait.")), "quiet would be there to consult"),
        ((*COUNCIL.advisors, Advisor("aside", "You add.", inline=True)), "aside would speak inline"),
        ((replace(ADR_ADVISOR, persona="Another."), SECURITY, TESTER), "would have been asked in other words"),
    ],
)
def test_another_question_has_no_kept_answer(world: MockWorld, advisors: tuple[Advisor, ...], why: str) -> None:
    found = under(narrowly(world), *advisors)
    assert found.document is None
    assert why in " / ".join(found.unknown)


def test_a_retry_after_other_words_would_have_been_another_question(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve(), approve(answers=(evidence("d0.1", "src/app.py", "value = 7"),)))
    for name in NAMES:
        world.agents.script(Role.POST_VERIFY, vote(0, 95, 20, "a fault"), vote(95), advisor=name)
    document = judged(world)
    assert document.outcome is Outcome.APPROVED
    found = under(document, ADR_ADVISOR, SECURITY)
    assert found.unknown == ("a retry would have been handed another judgement",)
    assert known(under(document, ADR_ADVISOR, replace(SECURITY, weight=9.0), TESTER)).outcome is document.outcome


def test_a_stop_in_the_call_of_a_member_that_is_gone_would_not_have_been(world: MockWorld) -> None:
    document = judged(world, vote(95), vote(95), credit_gone())
    assert document.outcome is Outcome.STOPPED
    (why,) = under(document, ADR_ADVISOR, SECURITY).unknown
    assert why == "the review was stopped, and would have gone another way"


def test_the_map_of_the_other_roster_and_the_labels_of_the_review_add_their_members(world: MockWorld) -> None:
    labelled = replace(TESTER, by_label=True)
    world.agents.script(Role.EXECUTOR, approve())
    document = judged(world, vote(95), vote(95), vote(95), roster=Roster((ADR_ADVISOR, SECURITY, labelled)))
    mapped = MappedPaths(("src/**",), advisors=(replace(SECURITY, by_path=True),))
    found = known(decided_otherwise(document, OtherRules(roster=replace(DEFAULT_ROSTER, mapped=(mapped,)))))
    first = found.events[0]
    assert isinstance(first, PolicyFrozen)
    assert [each.id for each in first.policy.roster.panel] == [ADR_ADVISOR.id, "security", "tester"]


def thresholds(*values: float) -> OtherRules:
    return OtherRules(thresholds=tuple(Threshold(value) for value in values))


def doubted(world: MockWorld) -> OutcomeDocument:
    world.rules = replace(world.rules, escalation=EscalationRules("attrition"))
    world.agents.script(Role.EXECUTOR, approve().sure(0.5), approve(summary="sure now").applying("r1"))
    return world.review()


def test_another_threshold_that_asks_nobody_changes_nothing(world: MockWorld) -> None:
    world.rules = replace(world.rules, escalation=EscalationRules("attrition"))
    world.agents.script(Role.EXECUTOR, approve().sure(0.75))
    document = world.review()
    assert known(decided_otherwise(document, thresholds(0.75))).outcome is document.outcome
    found = decided_otherwise(document, thresholds(0.8))
    assert found.unknown == ("a consult would have been due, for a confidence below the threshold",)
    assert [each.role for each in found.questions] == [Role.MID_FLIGHT, Role.EXECUTOR]


def test_a_consult_that_would_not_have_been_due_leaves_a_report_that_nobody_judged(world: MockWorld) -> None:
    document = doubted(world)
    found = decided_otherwise(document, thresholds(0.4))
    assert found.unknown == ("a consult would not have been due, and the report was made with its advice",)
    assert [each.role for each in found.questions] == [Role.POST_VERIFY]
    said = decided_otherwise(document, thresholds(0.6))
    assert said.unknown == ("a consult would have given other reasons",), "it tells the threshold"


def weighed_anew(first: int, last: int) -> Counter[str]:
    """What other weights make of the councils of these worlds, each held against the same world told with them."""
    counts: Counter[str] = Counter()
    for seed in range(first, last + 1):
        story = with_council(of_one_judge(seed), seed)
        if not story.config.advisors:
            continue
        members = tuple(
            each.model_copy(update={"weight": 7.0 - each.weight, "veto": not each.veto})
            for each in story.config.advisors
        )
        other = story.model_copy(update={"config": story.config.model_copy(update={"advisors": members})})
        roster = Roster((*DEFAULT_ROSTER.advisors, *(each.advisor() for each in members)))
        for told, again in zip(play(story).reviews, play(other).reviews, strict=True):
            if told.document is None or again.document is None or unsound(told.document.events) is not None:
                continue
            counts["reviews"] += 1
            found = decided_otherwise(told.document, OtherRules(roster=roster))
            if found.document is None:
                counts["unknown"] += 1
                assert found.unknown
                continue
            due, now = again.document, known(found)
            if (
                unsound(now.events) == A_CALL_IS_GONE
            ):  # lines are dealt in order: a later surface gets those of the call
                counts["dealt otherwise"] += 1
                continue
            assert (now.outcome, now.exit_code, now.flags) == (due.outcome, due.exit_code, due.flags), seed
            assert (usd_of(now), now.findings) == (usd_of(due), due.findings), seed
            counts["judged otherwise"] += rulings(now) != rulings(told.document)
    return counts


def test_what_other_weights_decide_is_what_a_fresh_simulation_decides() -> None:
    counts = weighed_anew(1, 160)
    assert counts["reviews"] > 10
    assert counts["judged otherwise"] > 3


@pytest.mark.every_case
def test_over_many_councils_other_weights_decide_what_a_fresh_simulation_decides() -> None:
    counts = weighed_anew(121, 700)
    assert counts["judged otherwise"] > 15
    assert counts["unknown"] + counts["dealt otherwise"] < counts["reviews"] / 4
