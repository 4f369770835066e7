"""Whether a played story ended as it says: its ``expect`` blocks, its unsaid lines, and every promise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from review_advisor.core.outcome.events import Repaired
from review_advisor.mockworld.promises.flips import told_still
from review_advisor.mockworld.promises.on_github import broken_on_github
from review_advisor.mockworld.seeds.sweep import judge
from review_advisor.mockworld.stories.stage import PlayedReview, PlayedStory
from review_advisor.mockworld.stories.story import ExpectBlock


def unmet(played: PlayedStory) -> tuple[str, ...]:
    """What is not as the story says, one sentence each; empty if everything held."""
    told = [step.review for step in played.story.steps if step.review is not None]
    found: list[str] = []
    for block, review in zip(told, played.reviews, strict=True):
        found += [f"review {review.number}: {words}" for words in _differences(block.expect, review)]
        found += [f"review {review.number}: nobody asked for the line {line}" for line in review.unsaid]
    found += [
        f"review {each.review} breaks a promise, {each.promise}: {each.says}"
        for each in (*judge(played, told_still(played)), *broken_on_github(played))
    ]
    return tuple(found)


def _differences(expect: ExpectBlock, review: PlayedReview) -> Iterator[str]:
    if expect.outcome is not None and expect.outcome != review.ended:
        yield f"expected to be {expect.outcome}, was {review.ended} ({'; '.join(review.because)})"
    if expect.exit_code is not None and expect.exit_code != review.exit_code:
        yield f"expected exit code {expect.exit_code}, was {review.exit_code}"
    asked = tuple(each.call.role.value for each in review.asked)
    if expect.asked is not None and expect.asked != asked:
        yield f"expected to ask {', '.join(expect.asked) or 'nobody'}, asked {', '.join(asked) or 'nobody'}"
    counts = Counter(asked)
    counts["mid_flight"] = sum(len(each.advice) for each in review.asked)
    for role, count in expect.calls.items():
        if counts[role] != count:
            yield f"expected {count} of {role}, were {counts[role]}"
    if expect.flags is not None and expect.flags != flags_of(review):
        yield f"expected the flags {_named(expect.flags)}, were {_named(flags_of(review))}"
    repairs = tuple(event.result for event in review.events if isinstance(event, Repaired))
    if expect.repairs is not None and expect.repairs != repairs:
        yield f"expected the repairs {', '.join(expect.repairs) or 'none'}, were {', '.join(repairs) or 'none'}"
    if expect.because is not None and not any(expect.because in words for words in review.because):
        yield f"expected a reason with {expect.because!r}, said was: {'; '.join(review.because)}"


def _named(flags: frozenset[str]) -> str:
    return ", ".join(sorted(flags)) or "none"


def flags_of(review: PlayedReview) -> frozenset[str]:
    """The flags that are set, by their words in a story."""
    found = {"stale"} if review.stale else set()
    if review.document is not None:
        flags = review.document.flags
        found |= {
            name
            for name, is_set in (
                ("degraded", flags.degraded),
                ("recovered", flags.recovered),
                ("exhausted", flags.exhausted),
                ("advisor_disabled", bool(flags.advisor_disabled)),
                ("lost", bool(flags.lost)),
            )
            if is_set
        }
    return frozenset(found)
