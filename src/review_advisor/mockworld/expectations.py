"""Whether a played story ended as it says: its ``expect`` blocks, its unsaid lines, and every promise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from review_advisor.core.outcome.events import Repaired
from review_advisor.core.report.wording import counted
from review_advisor.mockworld.promises.on_flips import told_still
from review_advisor.mockworld.promises.on_github import broken_on_github
from review_advisor.mockworld.seeds.sweep import judge
from review_advisor.mockworld.stories.snapshot import Snapshot
from review_advisor.mockworld.stories.stage import PlayedReview, PlayedStep, PlayedStory
from review_advisor.mockworld.stories.story_events import Deed
from review_advisor.mockworld.stories.story_expect import ExpectBlock


def unmet(played: PlayedStory) -> tuple[str, ...]:
    """What is not as the story says, or breaks a promise, one sentence each; empty if everything held."""
    broken = [f"review {each.place} breaks a promise, {each}" for each in judge(played, told_still(played))]
    broken += [f"step {each.place} breaks a promise, {each}" for each in broken_on_github(played)]
    return (*differences(played), *broken)


def differences(played: PlayedStory) -> tuple[str, ...]:
    """What is not as the story says, one sentence each."""
    found: list[str] = []
    before: Snapshot | None = None
    for step in played.steps:
        found += [f"{_name(step)}: {words}" for words in _of_step(step, before, loose=played.story.loose)]
        found += [f"{_name(step)}: {words}" for words in _of_the_whole_life(played, step)]
        before = step.stands
    return (*found, *(() if played.story.loose else played.unplayed))


def _name(step: PlayedStep) -> str:
    return f"step {step.number}, {step.told.kind.replace('_', ' ')}"


def _of_step(step: PlayedStep, before: Snapshot | None, *, loose: bool) -> Iterator[str]:
    if step.problem and not loose:
        yield step.problem
    happening = step.told.happening
    expect = happening.expect if happening is not None else ExpectBlock()
    if step.review is not None:
        yield from _of_review(expect, step.review)
        yield from (f"nobody asked for the line {line}" for line in step.review.unsaid)
        yield from step.review.spared
    elif expect.model_fields_set & OF_REVIEWS:
        yield from _of_no_review(expect)
    if expect.begins is not None and expect.begins is not step.begins:
        why = f": {step.because}" if step.because else ", and nothing begins one"
        yield f"expected {'a' if expect.begins else 'no'} review to begin{why}"
    if step.stands is not None:
        yield from _on_github(expect, step, step.stands, before)
    elif expect.model_fields_set & ON_GITHUB:
        yield "expected something on GitHub, and the story is not published"


def _of_the_whole_life(played: PlayedStory, step: PlayedStep) -> Iterator[str]:
    """What is counted over the life of the pull request so far, and not at this moment."""
    happening = step.told.happening
    if happening is None or step.stands is None:
        return
    expect = happening.expect
    most = max(Counter(each.finding for each in step.stands.said).values(), default=0)
    if expect.comments_per_finding is not None and expect.comments_per_finding != most:
        yield f"expected a finding to have {counted(expect.comments_per_finding, 'comment')} at most, were {most}"
    clicks = clicks_since_red(played, step)
    if expect.clicks is not None and expect.clicks != clicks:
        yield f"expected {counted(expect.clicks, 'click')} since the check first failed, were {clicks}"


def clicks_since_red(played: PlayedStory, until: PlayedStep) -> int:
    """How often somebody but the author did something since a review first left the check red, up to this step.

    A comment, a label, a reaction, a resolved thread, a draft and the merge are one each; typing is not counted.
    """
    red, clicks = False, 0
    for step in played.steps[: until.number]:
        red = red or (step.told.review is not None and step.stands is not None and not _passes(step, step.stands))
        told = step.told.happening
        clicks += red and isinstance(told, Deed) and told.by != played.pull.author
    return clicks


def _passes(step: PlayedStep, stands: Snapshot) -> bool:
    return stands.check_on(step.head) == "success"


OF_REVIEWS = frozenset(("outcome", "exit_code", "asked", "calls", "reads", "flags", "repairs", "because"))
ON_GITHUB = frozenset(ExpectBlock.model_fields) - OF_REVIEWS


def _of_no_review(expect: ExpectBlock) -> Iterator[str]:
    """Where no review runs, nobody is asked."""
    if expect.asked or any(expect.calls.values()):
        yield "expected somebody to be asked, and no review ran"
    if expect.model_fields_set & (OF_REVIEWS - {"asked", "calls"}):
        yield "expected a review, and none ran"


def _on_github(expect: ExpectBlock, step: PlayedStep, stands: Snapshot, before: Snapshot | None) -> Iterator[str]:
    check, shadow, title = (
        stands.check_on(step.head),
        stands.shadow_on(step.head),
        stands.title_on(step.head, step.mode),
    )
    if expect.check is not None and expect.check != check:
        yield f"expected the check to be {expect.check}, was {check} ({title})"
    if expect.shadow is not None and expect.shadow != shadow:
        yield f"expected the check of shadow mode to be {expect.shadow}, was {shadow} ({title})"
    if expect.title is not None and expect.title not in title:
        yield f"expected a check with {expect.title!r} in its title, was {title!r}"
    if expect.comments is not None and expect.comments != len(stands.said):
        yield f"expected {counted(expect.comments, 'comment')} in the diff, were {len(stands.said)}"
    are_open = sum(each.state == "open" for each in stands.said)
    if expect.open is not None and expect.open != are_open:
        yield f"expected {expect.open} of the comments in the diff to be open, were {are_open}"
    yield from _in_words(expect, step, stands, before)


def _in_words(expect: ExpectBlock, step: PlayedStep, stands: Snapshot, before: Snapshot | None) -> Iterator[str]:
    if expect.findings is not None and (twins := stands.twins):
        yield f"several findings are called {', '.join(map(repr, twins))}: give each a title of its own"
    elif expect.findings is not None and expect.findings != stands.findings:
        yield f"expected the findings {_listed(expect.findings)}, were {_listed(stands.findings)}"
    summary = "\n".join(stands.summaries)
    if expect.summary is not None and expect.summary not in summary:
        yield f"expected a summary with {expect.summary!r}"
    if expect.labels is not None and expect.labels != stands.labels:
        yield f"expected the labels {_named(expect.labels)}, were {_named(stands.labels)}"
    new = stands.answers[len(before.answers) if before is not None else 0 :]
    if expect.answer is not None and bool(expect.answer) is not any(expect.answer in each for each in new):
        yield f"expected {f'an answer with {expect.answer!r}' if expect.answer else 'no answer'}, said was: {list(new)}"
    for name, value in expect.observed.items():
        seen = [each.value for each in step.observed if each.name == name]
        if value not in seen:
            yield f"expected to observe {name}: {value}, was {', '.join(seen) or 'nothing'}"


def _listed(findings: Mapping[str, str]) -> str:
    return ", ".join(f"{title!r} {status}" for title, status in findings.items()) or "none"


def _of_review(expect: ExpectBlock, review: PlayedReview) -> Iterator[str]:
    if expect.outcome is not None and expect.outcome != review.ended:
        yield f"expected to be {expect.outcome}, was {review.ended} ({'; '.join(review.because)})"
    if expect.exit_code is not None and expect.exit_code != review.exit_code:
        yield f"expected exit code {expect.exit_code}, was {review.exit_code}"
    asked = tuple(each.call.role.value for each in review.asked)
    if expect.asked is not None and expect.asked != asked:
        yield f"expected to ask {', '.join(expect.asked) or 'nobody'}, asked {', '.join(asked) or 'nobody'}"
    counts = Counter(asked)
    counts["mid_flight"] += sum(said.line is not None for each in review.asked for said in each.advice)
    for role, count in expect.calls.items():
        if counts[role] != count:
            yield f"expected {count} of {role}, were {counts[role]}"
    document = review.document
    coverage = document.coverage if document is not None else ()
    reads = frozenset(each.path for each in coverage if each.read == "read" and not each.earlier)
    if expect.reads is not None and expect.reads != reads:
        yield f"expected to read {_named(expect.reads)}, read {_named(reads)}"
    if expect.flags is not None and expect.flags != flags_of(review):
        yield f"expected the flags {_named(expect.flags)}, were {_named(flags_of(review))}"
    yield from _of_its_shadows(expect, review)
    repairs = tuple(event.result for event in review.events if isinstance(event, Repaired))
    if expect.repairs is not None and expect.repairs != repairs:
        yield f"expected the repairs {', '.join(expect.repairs) or 'none'}, were {', '.join(repairs) or 'none'}"
    if expect.because is not None and not any(expect.because in words for words in review.because):
        yield f"expected a reason with {expect.because!r}, said was: {'; '.join(review.because)}"


def _of_its_shadows(expect: ExpectBlock, review: PlayedReview) -> Iterator[str]:
    told = ", ".join(f"{name} {decision}" for name, decision in review.in_shadow.items()) or "nothing"
    if expect.in_shadow is not None and expect.in_shadow != dict(review.in_shadow):
        yield f"expected in shadow {expect.in_shadow}, was {told}"


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
