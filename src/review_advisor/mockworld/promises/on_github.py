"""The promises about what stands on GitHub after each step of a story that is published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from review_advisor.mockworld.promises import Broken
from review_advisor.mockworld.promises.on_publication import CONCLUSIONS, title_due
from review_advisor.mockworld.snapshot import Snapshot
from review_advisor.mockworld.stage import PlayedReview, PlayedStep, PlayedStory
from review_advisor.mockworld.story import CommandStep
from review_advisor.review.document import OutcomeDocument, blocking_findings

ESCALATED = 11
LABEL = "needs-human-review"
LEAST_CONFIDENCE = 0.6
MILD_ALLOWED: Mapping[int, tuple[str, ...]] = {1: ("medium", "low"), 2: ("medium",)}
"""What may be posted on reworked lines, beside what is grave or blocks, in the complete review of this number."""


@dataclass(frozen=True, slots=True)
class After:
    """A step, what stands after it and what stood before it.

    ``passed`` says of each commit whether its last outcome lets it pass, by the review or by a person.
    """

    step: PlayedStep
    stands: Snapshot
    before: Snapshot | None
    passed: Mapping[str, bool]

    @property
    def concluded(self) -> PlayedReview | None:
        """The review that was published to its end at this step, whose check no other run is to conclude."""
        return None if self.step.mode == "shadow" else self._ended

    @property
    def shadowed(self) -> PlayedReview | None:
        """The same of a review in shadow mode."""
        return self._ended if self.step.mode == "shadow" else None

    @property
    def _ended(self) -> PlayedReview | None:
        review = self.step.review
        return None if review is None or self.step.killed or self.step.head in self.step.due else review

    @property
    def told(self) -> tuple[PlayedReview, OutcomeDocument] | None:
        """The same, if it is about the present head and came to an outcome: only then is anything said of it."""
        review = self.concluded
        return None if review is None or review.stale or review.document is None else (review, review.document)


def afters(story: PlayedStory) -> Iterator[After]:
    """Every step of a published story."""
    before: Snapshot | None = None
    passed: dict[str, bool] = {}
    for step in story.steps:
        if step.stands is None:
            return
        told = step.block.happening
        if step.mode == "shadow":
            pass  # nothing that happens then lets anything pass
        elif step.review is not None:
            passed[step.head] = step.review.exit_code == 0 and not step.review.stale
        elif isinstance(told, CommandStep) and told.says in ("override", "dismiss"):
            passed[step.head] = passed.get(step.head, False) or (told.may.may_write and _decidable(before, told.says))
        elif step.block.queue is not None:
            passed[step.head] = passed.get(step.stands.head, False)
        yield After(step, step.stands, before, dict(passed))
        before = step.stands


def _decidable(stands: Snapshot | None, command: str) -> bool:
    """Whether the last review left a person to decide: by an override any review, by a dismissal a rejection."""
    outcome = "" if stands is None or stands.memory is None else stands.memory.outcome.value
    return outcome in (
        ("changes_requested",) if command == "dismiss" else ("changes_requested", "escalated", "stopped")
    )


def one_check_concludes_the_head(after: After) -> Iterator[str]:
    """The reviewed head has one check, completed, with the outcome's conclusion, or cancelled where the head moved."""
    review = after.concluded
    if review is None:
        return
    found = [(run.status, run.conclusion) for run in after.stands.checks_on(after.step.head)]
    passed = review.exit_code == 0
    wanted = CONCLUSIONS.get(review.ended, "failure")
    wanted = wanted if passed else wanted.replace("success", "action_required")
    wanted = "cancelled" if review.stale else wanted
    if found != [("completed", wanted)]:
        yield f"{review.ended}, exit code {review.exit_code}: the checks are {found}, not {wanted}"
    title = after.stands.title_on(after.step.head)
    if not review.stale and not title.startswith(title_due(review)):
        yield f"{review.ended}, and the check's title is {title!r}"


def nothing_passes_that_was_not_approved(after: After) -> Iterator[str]:
    """No check is green, unless the last outcome of its commit is an approval, or a person approved it."""
    for run in after.stands.checks:
        if run.conclusion == "success" and not after.passed.get(run.commit):
            yield f"the check of {run.commit[:8]} is green: {run.title}"


def a_shadow_check_says_what_would_have_been(after: After) -> Iterator[str]:
    """It is neutral after a verdict, whose words are in its title, and a failure after no verdict; never a pass."""
    review = after.shadowed
    if review is None:
        return
    decided = review.ended in ("nothing_to_review", "approved", "changes_requested", "escalated")
    wanted = "cancelled" if review.stale else "neutral" if decided else "failure"
    if (found := after.stands.shadow_on(after.step.head)) != wanted:
        yield f"{review.ended}, and the check of shadow mode is {found}, not {wanted}"
    title = after.stands.title_on(after.step.head, "shadow")
    if wanted == "neutral" and not title.startswith(f"Would have been: {title_due(review)}"):
        yield f"{review.ended}, and its title is {title!r}"


def nothing_else_is_written_in_shadow_mode(after: After) -> Iterator[str]:
    """No check that may be required, no comment, no label and no memory comes or goes by a shadow review."""
    if after.shadowed is None or after.before is None:
        return
    now, before = (
        ([each for run in stands.checks for each in stands.checks_on(run.commit)], stands.comments, stands.summaries,
         stands.labels, stands.answers)
        for stands in (after.stands, after.before)
    )  # fmt: skip
    if now != before:
        yield "the review in shadow mode has written more than its own check"


def one_summary_stands(after: After) -> Iterator[str]:
    """There is never more than one summary, and there is one once a review was published."""
    if len(after.stands.summaries) > 1 or (after.told is not None and not after.stands.summaries):
        yield f"there are {len(after.stands.summaries)} summaries"


def every_finding_is_said(after: After) -> Iterator[str]:
    """Each finding of the review stands in a comment on its lines, or in the summary by its title."""
    if after.told is None:
        return
    _, document = after.told
    placed = {each.finding for each in after.stands.comments}
    summary = "\n".join(after.stands.summaries)
    for finding in document.findings:
        if finding.id not in placed and finding.title not in summary:
            yield f"the finding {finding.title!r} is said nowhere"


def a_finding_is_said_once(after: After) -> Iterator[str]:
    """A finding gets one comment, and another one only after the first was resolved or lost its lines."""
    known = after.before.comments if after.before is not None else ()
    still = {each.finding for each in known if each.state == "open"}
    for said in after.stands.comments[len(known) :]:
        if said.finding in still:
            yield f"the finding {said.finding} has a second comment"
    for finding, count in Counter(each.finding for each in after.stands.comments if each.state == "open").items():
        if count > 1:
            yield f"the finding {finding} has {count} comments that are open"


def nothing_milder_than_the_round_allows_is_posted(after: After) -> Iterator[str]:
    """A new comment is about what blocks or is grave, or about what its lines and the number of the review allow."""
    if after.told is None:
        return
    _, document = after.told
    blocking = blocking_findings(document)
    known = {each.finding for each in after.before.comments} if after.before is not None else set()
    new = {each.finding for each in after.stands.comments} - known - blocking
    whole = after.stands.memory.whole if after.stands.memory is not None else None
    number = whole.number if whole is not None and whole.run_id == document.run_id else 1
    for finding in document.findings:
        allowed = {"new": ("medium", "low"), "reworked": MILD_ALLOWED.get(number, ()), "unchanged": ()}[finding.age]
        if finding.id not in new or finding.severity not in ("medium", "low"):
            continue
        if finding.severity not in allowed:
            yield f"{finding.title!r}, {finding.severity}, is posted on {finding.age} lines in review {number}"
        if finding.confidence < LEAST_CONFIDENCE:
            yield f"the finding {finding.title!r} is posted with a confidence of {finding.confidence}"


def a_person_is_called_to_an_escalation_alone(after: After) -> Iterator[str]:
    """The label stands after an escalation and after nothing else."""
    if after.told is None:
        return
    review, _ = after.told
    if (LABEL in after.stands.labels) != (review.ended == "escalated"):
        yield f"{review.ended}, and the labels are {sorted(after.stands.labels)}"


def publishing_again_writes_nothing(after: After) -> Iterator[str]:
    """A review that is published twice leaves what it left the first time."""
    if after.step.block.publish is None or after.before is None or _unfinished(after.before):
        return
    first, second = (
        (len(each.checks), len(each.comments), len(each.summaries), len(each.answers), each.labels)
        for each in (after.before, after.stands)
    )
    if first != second:
        yield f"{first} became {second}"


def _unfinished(stands: Snapshot) -> bool:
    return any(run.status != "completed" for run in stands.checks)


def nobody_elses_draft_is_touched(after: After) -> Iterator[str]:
    """A review that a person has not submitted stays as it is."""
    before = after.before.pending if after.before is not None else frozenset()
    if lost := before - after.stands.pending:
        yield f"{len(lost)} of {len(before)} pending reviews are gone or changed"


def the_memory_is_of_the_last_review(after: After) -> Iterator[str]:
    """The summary remembers the last review that ran to its end: its head, its outcome and its fix attempts."""
    if after.told is None or after.told[0].ended == "stopped":
        return
    review, document = after.told
    now, before = after.stands.memory, after.before.memory if after.before is not None else None
    if now is None or (now.run_id, now.head_sha) != (document.run_id, document.head_sha):
        yield f"the summary does not remember {document.run_id}"
        return
    wanted = "escalated" if review.exit_code == ESCALATED else review.ended
    if now.outcome != wanted:
        yield f"{review.ended}, exit code {review.exit_code}, is remembered as {now.outcome}"
    tried = 0 if before is None else before.fix_attempts
    again = before is None or before.head_sha != document.head_sha
    attempts = tried + again if review.ended == "changes_requested" else 0
    if now.fix_attempts != attempts:
        yield f"{now.fix_attempts} fix attempts are remembered, not {attempts}"
    if missing := {each.id for each in document.findings} - {each.id for each in now.findings}:
        yield f"the findings {', '.join(sorted(missing))} are not remembered"


PROMISES_ON_GITHUB: tuple[Callable[[After], Iterator[str]], ...] = (
    one_check_concludes_the_head,
    nothing_passes_that_was_not_approved,
    a_shadow_check_says_what_would_have_been,
    nothing_else_is_written_in_shadow_mode,
    one_summary_stands,
    every_finding_is_said,
    a_finding_is_said_once,
    nothing_milder_than_the_round_allows_is_posted,
    a_person_is_called_to_an_escalation_alone,
    publishing_again_writes_nothing,
    nobody_elses_draft_is_touched,
    the_memory_is_of_the_last_review,
)


def broken_on_github(story: PlayedStory) -> tuple[Broken, ...]:
    """Every promise about GitHub that a step of a published story broke; none where nothing is published."""
    return tuple(
        Broken(after.step.number, promise.__name__, says)
        for after in afters(story)
        for promise in PROMISES_ON_GITHUB
        for says in promise(after)
    )
