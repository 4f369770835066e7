"""What is taken for granted of a comment on the diff where the forge says nothing else."""

from review_advisor.change.pull_request import StandingRemark


def test_a_comment_has_no_reactions_unless_the_forge_says_so() -> None:
    remark = StandingRemark("maria", "words", "", "a.py", "c" * 40, 0, 1, False, False, "")
    assert (remark.reactions, remark.uncounted) == ((), False)
