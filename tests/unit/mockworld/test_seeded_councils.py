"""Councils in seeded worlds: they have dice of their own, so that the other worlds stay what they were."""

from collections import Counter

from review_advisor.mockworld.seeds import COUNCILS, LOSSES, MOST_MEMBERS, of_one_judge, with_council
from review_advisor.mockworld.story import Story

SEEDS = range(1, 3_001)
PLAIN = Story.model_validate({"story": "plain", "steps": [{"push": {}}, {"review": {}}]})


def test_a_share_of_the_worlds_has_a_council_of_each_size() -> None:
    sizes = Counter(len(with_council(PLAIN, seed).config.advisors) + 1 for seed in SEEDS)
    assert set(sizes) == set(range(1, MOST_MEMBERS + 1))
    councils = sum(number for size, number in sizes.items() if size > 1)
    assert 0.7 * COUNCILS < councils / len(SEEDS) < COUNCILS


def test_a_council_changes_nothing_else_of_its_world() -> None:
    """Who judges, what they say and how many calls run at a time: all else stays, and so do all other worlds."""
    councils = 0
    for seed in range(1, 400):
        before = of_one_judge(seed)
        story = with_council(before, seed)
        if not story.config.advisors:
            assert story == before
            continue
        councils += 1
        assert story.config.model_copy(update={"advisors": ()}) == before.config
        for now, then in zip(story.steps, before.steps, strict=True):
            if now.review is None or then.review is None:
                assert now == then
            else:
                assert now.review.votes
                assert now.review.model_copy(update={"votes": (), "jobs": then.review.jobs}) == then.review
    assert councils


def test_members_split_veto_object_and_are_lost_in_every_way() -> None:
    stories = [with_council(PLAIN, seed) for seed in SEEDS]
    votes = [vote for story in stories for step in story.steps if step.review for vote in step.review.votes]
    assert {vote.fault for vote in votes} == {None, *LOSSES}
    assert any(vote.block >= 80 for vote in votes)
    assert any(vote.points for vote in votes)
    assert any(member.veto for story in stories for member in story.config.advisors)
    assert any(member.weight == 0 for story in stories for member in story.config.advisors)
