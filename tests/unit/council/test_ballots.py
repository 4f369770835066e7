"""The rule of the council, over any actions."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from review_advisor.agents.calls import Cause
from review_advisor.review.votes import Ballot, Tally, tally

SEED = ("deploy", "delay", "rollback")
ACTIONS = ("approve", "request_changes", "block")

NUMBERS = st.integers(0, 100).map(float) | st.floats(0, 100)
VOTES = st.tuples(NUMBERS, NUMBERS, NUMBERS)
MEMBERS = st.builds(
    Ballot,
    member=st.sampled_from("abcdefg"),
    votes=VOTES | st.sampled_from(Cause),
    weight=st.integers(0, 5).map(float) | st.floats(0, 100),
    veto=st.booleans(),
    objects=st.booleans(),
)
PANELS = st.lists(MEMBERS, min_size=1, max_size=7)


def voting(*votes: tuple[float, float, float], **facts: bool) -> list[Ballot]:
    return [Ballot(f"member{at}", each, **facts) for at, each in enumerate(votes)]


def test_the_seeds_risk_analyst_has_the_deployment_delayed() -> None:
    counted = tally(SEED, [Ballot("riskAnalyst", (10.0, 95.0, 5.0))])
    assert counted.calls == (
        {
            "_tool": "delay",
            "_reasoningForCall": "delay has the highest mean (deploy 10, delay 95, rollback 5; spread 0)",
        },
    )


def test_the_highest_mean_wins_and_weights_count_in_it() -> None:
    votes = voting((90, 10, 0), (20, 70, 10))
    assert tally(ACTIONS, votes).winner == "approve"
    heavier = [votes[0], replace(votes[1], weight=3.0)]
    assert tally(ACTIONS, heavier).winner == "request_changes"
    assert tally(ACTIONS, heavier).means == (37.5, 55.0, 7.5)


def test_of_equal_means_the_severest_wins() -> None:
    assert tally(ACTIONS, voting((50, 50, 0))).winner == "request_changes"
    assert tally(ACTIONS, voting((50, 0, 50), (50, 50, 50))).winner == "block"


def test_a_member_with_the_veto_right_blocks_from_80_on() -> None:
    crowd = voting((100, 0, 0), (100, 0, 0), (100, 0, 0))
    assert tally(ACTIONS, [*crowd, Ballot("x", (20, 0, 79.9), veto=True)]).winner == "approve"
    blocked = tally(ACTIONS, [*crowd, Ballot("x", (20, 0, 80), veto=True)])
    assert (blocked.winner, blocked.blocked_by) == ("block", ("x",))
    assert tally(ACTIONS, [*crowd, Ballot("x", (20, 0, 80))]).winner == "approve"


def test_a_blocking_disagreement_blocks_whatever_the_calls_if_the_member_has_the_right() -> None:
    assert tally(ACTIONS, voting((100, 0, 0), veto=True, objects=True)).winner == "block"
    assert tally(ACTIONS, voting((100, 0, 0), objects=True)).winner == "approve"


def test_the_spread_is_that_of_the_winner() -> None:
    assert not tally(ACTIONS, voting((90, 100, 0), (50, 0, 0))).is_split
    assert tally(ACTIONS, voting((91, 0, 0), (50, 0, 0))).is_split


def test_a_member_lost_to_content_has_its_part_in_the_spread_and_one_lost_to_an_outage_has_none() -> None:
    crowd = voting((90, 0, 0), (90, 0, 0))
    assert tally(ACTIONS, [*crowd, Ballot("x", Cause.CONTENT)]).spread == 90
    assert tally(ACTIONS, [*crowd, Ballot("x", Cause.OUTAGE)]).spread == 0


def test_a_missing_member_with_the_veto_right_blocks() -> None:
    for cause in (Cause.CONTENT, Cause.OUTAGE):
        assert tally(ACTIONS, [*voting((90, 0, 0)), Ballot("x", cause, veto=True)]).blocked_by == ("x",)


def test_the_loss_of_a_vote_for_changes_brings_no_approval() -> None:
    crowd = voting(*[(40, 35, 0)] * 4)
    assert tally(ACTIONS, [*crowd, Ballot("x", (0, 100, 0))]).winner == "request_changes"
    assert tally(ACTIONS, [*crowd, Ballot("x", Cause.CONTENT)]).winner == "request_changes"


def test_nobody_at_all_is_told_apart_and_the_severest_wins() -> None:
    for ballots in ([], [Ballot("x", Cause.OUTAGE)]):
        counted = tally(ACTIONS, ballots)
        assert (counted.nobody, counted.winner) == (True, "block")


def decided(counted: Tally) -> object:
    return counted.winner, counted.means, counted.spread, sorted(counted.blocked_by), sorted(counted.missing)


@given(PANELS, st.randoms(use_true_random=False))
def test_the_order_of_the_members_never_matters(panel: list[Ballot], dice: object) -> None:
    shuffled = list(panel)
    dice.shuffle(shuffled)  # type: ignore[attr-defined]
    assert decided(tally(ACTIONS, shuffled)) == decided(tally(ACTIONS, panel))


@given(PANELS)
def test_everything_is_bounded(panel: list[Ballot]) -> None:
    counted = tally(ACTIONS, panel)
    assert counted.winner in ACTIONS
    assert all(0 <= mean <= 100 for mean in counted.means)
    assert 0 <= counted.spread <= 100


@given(PANELS, st.data())
def test_less_for_approval_more_against_it_and_a_veto_right_never_bring_an_approval(
    panel: list[Ballot], data: st.DataObject
) -> None:
    before = tally(ACTIONS, panel)
    at = data.draw(st.integers(0, len(panel) - 1))
    one = panel[at]
    votes = one.votes
    if isinstance(votes, tuple):
        approve, changes, block = (data.draw(st.floats(0, 1)) for _ in votes)
        votes = (votes[0] * approve, votes[1] + (100 - votes[1]) * changes, votes[2] + (100 - votes[2]) * block)
        votes = tuple(min(100.0, each) for each in votes)
    severer = replace(
        one, votes=votes, veto=one.veto or data.draw(st.booleans()), objects=data.draw(st.booleans()) or one.objects
    )
    after = tally(ACTIONS, [*panel[:at], severer, *panel[at + 1 :]])
    assert before.winner == "approve" or after.winner != "approve"


@given(PANELS, st.data(), st.sampled_from((Cause.CONTENT, Cause.OUTAGE)))
def test_no_loss_makes_a_result_an_approval(panel: list[Ballot], data: st.DataObject, cause: Cause) -> None:
    before = tally(ACTIONS, panel)
    at = data.draw(st.integers(0, len(panel) - 1))
    after = tally(ACTIONS, [*panel[:at], replace(panel[at], votes=cause), *panel[at + 1 :]])
    assert before.winner == "approve" or after.winner != "approve"


@given(PANELS)
def test_a_member_that_a_rate_limit_took_casts_no_vote(panel: list[Ballot]) -> None:
    limited = Ballot("limited", Cause.RATE_LIMIT, weight=3.0, veto=True, objects=True)
    counted, without = tally(ACTIONS, [*panel, limited]), tally(ACTIONS, panel)
    assert (counted.means, counted.winner, counted.spread) == (without.means, without.winner, without.spread)
    assert counted.blocked_by == without.blocked_by
    assert "limited" in counted.rate_limited
    assert "limited" in counted.missing


@given(PANELS)
def test_the_mean_is_exact(panel: list[Ballot]) -> None:
    panel = [each for each in panel if each.is_cast]
    whole = sum(Fraction(each.weight) for each in panel)
    if whole:
        exact = sum(Fraction(each.weight) * Fraction(each.counted(ACTIONS)[0]) for each in panel) / whole
        assert tally(ACTIONS, panel).means[0] == float(exact)
