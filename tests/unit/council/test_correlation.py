"""How alike two members of councils vote, and when nothing is said of that."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.agents.answers import ACTIONS
from review_advisor.agents.calls import Cause
from review_advisor.ledger.kpis import LEAST_VOTES, Correlation, MemberPair, chosen_actions, pair_rows
from review_advisor.review.votes import Ballot, tally

YES, NO, BLOCK = ACTIONS


def of(*votes: dict[str, str]) -> tuple[MemberPair, ...]:
    found = Correlation()
    for each in votes:
        found.add(each)
    return found.pairs


def test_two_members_who_always_vote_alike_are_one_voice() -> None:
    (pair,) = of(*[{"a": action, "b": action} for action in (YES, NO) * 15])
    assert pair == MemberPair("a", "b", 30, 1.0, 1.0)


def test_members_who_always_contradict_one_another_agree_less_than_by_chance() -> None:
    (pair,) = of(*[{"a": YES, "b": NO}, {"a": NO, "b": YES}] * 15)
    assert (pair.agreement, pair.kappa) == (0.0, -1.0)


def test_agreement_that_chance_would_bring_counts_for_nothing() -> None:
    """Both approve four changes of five, and neither follows the other."""
    votes = [{"a": YES, "b": YES}] * 64 + [{"a": YES, "b": NO}, {"a": NO, "b": YES}] * 16 + [{"a": NO, "b": NO}] * 4
    (pair,) = of(*votes)
    assert pair.agreement == 0.68
    assert pair.kappa == 0.0


def test_a_known_table_gives_the_known_kappa() -> None:
    """The textbook's: 20 times both yes, 15 both no, 5 and 10 apart. Agreement 0.7, by chance 0.5, kappa 0.4."""
    votes = [{"a": YES, "b": YES}] * 20 + [{"a": NO, "b": NO}] * 15
    votes += [{"a": YES, "b": NO}] * 5 + [{"a": NO, "b": YES}] * 10
    (pair,) = of(*votes)
    assert (pair.votes, pair.agreement, pair.kappa) == (50, 0.7, 0.4)


@pytest.mark.parametrize("votes, said", [(LEAST_VOTES - 1, False), (LEAST_VOTES, True)])
def test_of_too_few_votes_nothing_is_said(votes: int, said: bool) -> None:
    (pair,) = of(*[{"a": YES, "b": NO}] * votes)
    assert (pair.agreement is not None, pair.votes) == (said, votes)
    assert pair_rows([pair])[0][2] == ("0%" if said else "too few")


def test_two_who_only_ever_approve_have_no_kappa() -> None:
    (pair,) = of(*[{"a": YES, "b": YES}] * 40)
    assert (pair.agreement, pair.kappa) == (1.0, None)
    assert pair_rows([pair]) == [("a, b", "40", "100%", "not known")]


def test_a_member_that_is_missing_has_no_part_in_the_vote() -> None:
    votes = of(*[{"a": YES, "b": YES}, {"a": NO, "c": NO}] * 20)
    assert [(each.one, each.other, each.votes) for each in votes] == [("a", "b", 20), ("a", "c", 20)]


@given(st.lists(st.dictionaries(st.sampled_from("abcd"), st.sampled_from(ACTIONS)), max_size=60), st.randoms())
def test_order_never_matters_and_all_is_bounded(votes: list[dict[str, str]], chance: object) -> None:
    pairs = of(*votes)
    shuffled = [dict(reversed(each.items())) for each in votes]
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert of(*shuffled) == pairs
    for each in pairs:
        assert each.agreement is None or 0 <= each.agreement <= 1
        assert each.kappa is None or -1 <= each.kappa <= 1
    for mine, its in permutations("ab"):
        renamed = of(*[{{"a": mine, "b": its}.get(who, who): action for who, action in each.items()} for each in votes])
        assert [each for each in renamed if (each.one, each.other) == ("a", "b")] == [
            each for each in pairs if (each.one, each.other) == ("a", "b")
        ]


def test_a_member_chooses_what_it_gives_most_and_of_equals_the_severest() -> None:
    ballots = [
        Ballot("mild", (90.0, 10.0, 0.0)),
        Ballot("torn", (50.0, 50.0, 10.0)),
        Ballot("strict", (0.0, 0.0, 100.0)),
        Ballot("gone", Cause.OUTAGE),
    ]
    assert chosen_actions(tally(ACTIONS, ballots)) == {"mild": YES, "torn": NO, "strict": BLOCK}
