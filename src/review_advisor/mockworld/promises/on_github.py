"""The promises about a pull request on which the reviews of a story are published: what stands there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from review_advisor.core.pull_request.markers import finding_in
from review_advisor.mockworld.promises import Broken
from review_advisor.mockworld.promises.publication import CONCLUSIONS, VERDICTS
from review_advisor.mockworld.publishing import Standing, standings
from review_advisor.mockworld.stories.stage import PlayedStory

ESCALATED = 11
LABEL = "needs-human-review"


def one_check_concludes_the_head(standing: Standing) -> Iterator[str]:
    """The reviewed head has one check, completed, with the outcome's conclusion, or cancelled where the head moved."""
    found = [(run.status, run.conclusion) for run in standing.checks]
    passed = standing.review.ended == "approved" and standing.review.exit_code == 0
    wanted = "success" if passed else CONCLUSIONS[standing.review.ended].replace("success", "action_required")
    wanted = "cancelled" if standing.review.stale else wanted
    if found != [("completed", wanted)]:
        yield f"{standing.review.ended}, exit code {standing.review.exit_code}: the checks are {found}, not {wanted}"
    title = standing.checks[0].title or "" if standing.checks else ""
    if not standing.review.stale and not title.startswith(VERDICTS[standing.review.ended]):
        yield f"{standing.review.ended}, and the check's title is {title!r}"


def one_summary_stands(standing: Standing) -> Iterator[str]:
    """There is one summary, whatever was published how often; a review of a head that moved makes none."""
    if not standing.review.stale and len(standing.summaries) != 1:
        yield f"there are {len(standing.summaries)} summaries"


def every_finding_is_said(standing: Standing) -> Iterator[str]:
    """Each finding of the review stands in a comment on its lines, or in the summary by its title."""
    if standing.review.stale:
        return
    placed = {finding_in(body) for body in standing.threads}
    told = "\n".join(standing.summaries)
    for finding in standing.document.findings:
        if finding.id not in placed and finding.title not in told:
            yield f"the finding {finding.title!r} is said nowhere"


def nothing_is_said_twice(standing: Standing) -> Iterator[str]:
    """No finding has two comments that are open and in their place."""
    for finding, count in Counter(map(finding_in, standing.threads)).items():
        if count > 1:
            yield f"the finding {finding} has {count} comments"


def a_person_is_called_to_an_escalation_alone(standing: Standing) -> Iterator[str]:
    """The label stands after an escalation and after nothing else."""
    escalated = standing.review.ended == "escalated"
    if not standing.review.stale and (LABEL in standing.labels) != escalated:
        yield f"{standing.review.ended}, and the labels are {sorted(standing.labels)}"


def publishing_again_writes_nothing(standing: Standing) -> Iterator[str]:
    """A review that is published twice leaves what it left the first time."""
    if standing.written_again:
        yield f"{standing.written_again} things were written the second time"


def another_pull_requests_check_is_left_alone(standing: Standing) -> Iterator[str]:
    """A check run of another pull request on the same head stays as it was."""
    if (standing.foreign.status, standing.foreign.conclusion) != ("in_progress", None):
        yield f"the check run {standing.foreign.external_id} became {standing.foreign.conclusion}"


def the_memory_is_of_the_last_review(standing: Standing) -> Iterator[str]:
    """The summary remembers the last review that ran to its end: its head, its outcome and its fix attempts."""
    now, before, document = standing.memory, standing.before, standing.document
    if standing.review.stale or standing.review.ended == "stopped":
        return
    if now is None or (now.run_id, now.head_sha) != (document.run_id, document.head_sha):
        yield f"the summary does not remember {document.run_id}"
        return
    wanted = "escalated" if standing.review.exit_code == ESCALATED else standing.review.ended
    if now.outcome != wanted:
        yield f"{standing.review.ended}, exit code {standing.review.exit_code}, is remembered as {now.outcome}"
    tried = 0 if before is None else before.fix_attempts
    again = before is None or before.head_sha != document.head_sha
    attempts = tried + again if standing.review.ended == "changes_requested" else 0
    if now.fix_attempts != attempts:
        yield f"{now.fix_attempts} fix attempts are remembered, not {attempts}"
    open_now = {each.id for each in now.findings if each.status == "open"}
    if missing := {each.id for each in document.findings} - open_now:
        yield f"the findings {', '.join(sorted(missing))} are not remembered as open"


PROMISES_ON_GITHUB: tuple[Callable[[Standing], Iterator[str]], ...] = (
    one_check_concludes_the_head,
    one_summary_stands,
    every_finding_is_said,
    nothing_is_said_twice,
    a_person_is_called_to_an_escalation_alone,
    publishing_again_writes_nothing,
    another_pull_requests_check_is_left_alone,
    the_memory_is_of_the_last_review,
)


def broken_on_github(story: PlayedStory) -> tuple[Broken, ...]:
    """Every promise that the reviews of a story broke when they were published one after the other."""
    return tuple(
        Broken(standing.review.number, promise.__name__, says)
        for standing in standings(story.reviews)
        for promise in PROMISES_ON_GITHUB
        for says in promise(standing)
    )
