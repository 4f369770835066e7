"""The check run: title, conclusion and page."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from review_advisor.agents.answers import Severity
from review_advisor.agents.findings import Finding, ordered
from review_advisor.change.pull_request import PullRequest
from review_advisor.change.redaction import Redactor
from review_advisor.github.beginning import LEFT_OUT, Waiting
from review_advisor.github.commands import WORD
from review_advisor.github.comment_text import shows_suggestion
from review_advisor.github.findings_text import disputes, finding_list, held_back, listed, with_next
from review_advisor.github.sections import (
    DID_NOT_RUN,
    MOST_TITLE,
    SUPERSEDED,
    Order,
    Section,
    Shrinks,
    account,
    conclusion_of,
    fitted,
    gaps,
    notes_on,
    pictures,
    refused,
    repair,
    secrets,
    title_of,
    what_it_does,
    what_next,
    whose_rules,
    why,
)
from review_advisor.github.state import external_id
from review_advisor.github.threads import Posting
from review_advisor.github.writes import MOST_CHARACTERS, Annotation, Check, Conclusion, Level
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.rulings import Outcome
from review_advisor.safety.fence import whole
from review_advisor.safety.markdown import code, phrase, plain_line, plain_text

MOST_ANNOTATIONS = 1_000
"""The worst findings get an annotation each: GitHub takes fifty in a request, and the requests a second apart."""

MOST_MESSAGE = 16_000
"""Characters of an annotation's message: at most 64 KB in any encoding."""

LEVELS: dict[Severity, Level] = {
    "critical": "failure",
    "high": "failure",
    "medium": "warning",
    "low": "notice",
}


def check_in_progress(rules: PublicationRules, number: int) -> Check:
    """The review has begun."""
    return Check(
        name=rules.check_name,
        external_id=external_id(number),
        title="The review is under way",
        summary="The result appears here when the review ends. Until then nothing is decided.",
    )


def check_of(
    document: OutcomeDocument,
    rules: PublicationRules,
    number: int,
    notes: Sequence[str] = (),
    *,
    run_page: str | None = None,
    found: Sequence[Severity] | None = None,
    held: Sequence[Posting] = (),
    dismissed: Collection[str] = (),
) -> Check:
    """The outcome, with an annotation for each finding on lines of the head; the others are listed.

    ``held`` are findings that a rule keeps off the diff, ``dismissed`` the ids of those that a person has settled:
    they get no annotation either. ``found`` is what is open on the pull request, which the title counts; without it
    the findings of this review.
    """
    unposted = {each.finding.id for each in held} | set(dismissed)
    posted = tuple(each for each in ordered(document.findings) if each.id not in unposted)
    contested, opened = disputes(document)
    annotated = f"{MOST_ANNOTATIONS:,} of {len(posted):,} findings" if len(posted) > MOST_ANNOTATIONS else ""
    sections: tuple[Shrinks, ...] = (
        what_it_does(document),
        why(document),
        *with_next(contested, what_next(document, rules, is_open=bool(document.findings if found is None else found))),
        whose_rules(document),
        notes_on(notes),
        Section((f"**Annotations**: the worst {annotated}; outcome.json holds all of them.",) if annotated else ()),
        Section(
            tuple(listed(each, document).item for each in posted if each.removed),
            "**Findings on removed lines**, which take no annotation:",
            gives_way=Order.FINDINGS,
            what="findings",
        ),
        held_back(held, document, "outcome.json"),
        *_after_the_findings(document, opened, run_page),
    )
    return Check(
        name=rules.check_name,
        external_id=external_id(number),
        title=title_of(document, found),
        summary=fitted(sections, MOST_CHARACTERS),
        conclusion=conclusion_of(document),
        annotations=annotations_of(posted),
    )


def shadow_check(
    document: OutcomeDocument,
    rules: PublicationRules,
    number: int,
    notes: Sequence[str] = (),
    run_page: str | None = None,
) -> Check:
    """The outcome as shadow mode tells it. ``rules`` are those of shadow mode.

    The check is neutral whatever the verdict, and its title says that verdict; a review that stopped is a failure. It
    has no annotations, because GitHub shows those in the diff: its page lists the findings.
    """
    stopped = document.outcome is Outcome.STOPPED
    contested, opened = disputes(document)
    findings = finding_list(
        f"**Findings**: {len(document.findings):,}",
        (listed(each, document) for each in ordered(document.findings)),
        "outcome.json",
    )
    sections: tuple[Shrinks, ...] = (
        Section((_shadow_lead(document, rules),)),
        what_it_does(document),
        why(document),
        contested,
        whose_rules(document),
        notes_on(notes),
        findings,
        *_after_the_findings(document, opened, run_page),
    )
    title = title_of(document)
    return Check(
        name=rules.check_name,
        external_id=external_id(number),
        title=title if stopped else plain_line(f"Would have been: {title}", MOST_TITLE),
        summary=fitted(sections, MOST_CHARACTERS),
        conclusion=DID_NOT_RUN if stopped else Conclusion.NEUTRAL,
    )


def _shadow_lead(document: OutcomeDocument, rules: PublicationRules) -> str:
    return (
        '**Shadow mode**: this check stops no merge and lets none through. With `mode = "enforce"` the check'
        f" {code(rules.enforcing_name)} would have concluded {code(conclusion_of(document).value)}."
    )


def _after_the_findings(document: OutcomeDocument, opened: Section, run_page: str | None) -> tuple[Shrinks, ...]:
    """The sections of a check's page below its findings; ``opened`` is what a reader opens of the disagreements."""
    return (
        repair(document),
        opened,
        secrets(document),
        pictures(document),
        refused(document),
        gaps(document),
        Section(account(document, run_page), gives_way=Order.HOW, between="\n\n"),
    )


def annotations_of(findings: Sequence[Finding]) -> tuple[Annotation, ...]:
    """The findings, the worst first, as annotations; none on removed lines, which the head does not have."""
    return tuple(
        Annotation(
            path=whole(each.path),
            start_line=max(1, each.line),
            end_line=max(1, each.line, each.end_line),
            level=LEVELS[each.severity],
            title=plain_line(f"{each.severity.capitalize()}{each.marks}: {each.title}", MOST_TITLE),
            message=plain_text(_message(each), MOST_MESSAGE),
        )
        for each in findings[:MOST_ANNOTATIONS]
        if not each.removed
    )


def _message(finding: Finding) -> str:
    offered = "" if shows_suggestion(finding) else f"\n\nSuggested:\n{finding.suggestion}"
    facts = f"{finding.category}, confidence {finding.confidence:.2f}, {finding.id}"
    return f"{finding.words or finding.title}{offered}\n\n{facts}"


def check_superseded(rules: PublicationRules, now: PullRequest, head_sha: str, redactor: Redactor) -> Check:
    """What was reviewed, with the head ``head_sha``, is not what is there ``now``: another head, or another base."""
    if now.head_sha != head_sha:
        title = "Superseded: the head has moved"
        summary = f"The head is now {code(now.head_sha)}. This commit's review was dropped; the new head gets its own."
    else:
        title = "Superseded: the base branch has changed"
        base = code(redactor.redact(now.base_ref))
        summary = (
            f"The base branch is now {base}. The review of the change against another one was dropped."
            f" If none has begun since, `{WORD} review` in a comment starts it."
        )
    return _ended(rules, now.number, title, summary, SUPERSEDED)


def check_mode_changed(rules: PublicationRules, number: int) -> Check:
    """The review began in a mode that does not hold any more; the check of the other mode is told by now."""
    summary = "The configuration's `mode` was changed while the review ran, and the other mode has a check of its own."
    return _ended(rules, number, "Superseded: the mode has changed", summary, SUPERSEDED)


def check_did_not_run(rules: PublicationRules, number: int, reason: str) -> Check:
    """No review took place, and why: ``reason`` is one or two sentences."""
    summary = f"{phrase(reason)}\n\n**What next**: once that is settled, `{WORD} review` in a comment starts a review."
    return _ended(rules, number, "The review did not run", summary, DID_NOT_RUN)


def check_not_published(rules: PublicationRules, number: int, why: str) -> Check:
    """A review took place, perhaps, and could not be put on the pull request. ``why`` may be empty: the log says it."""
    summary = (
        f"{phrase(why or 'Publishing broke off by a fault of review-advisor; the log of the run has it.')}\n\n"
        f"**What next**: run the failed job again, or comment `{WORD} review` for another review."
    )
    return _ended(rules, number, "The review could not be published", summary, DID_NOT_RUN)


def check_waiting(rules: PublicationRules, number: int, waiting: Waiting) -> Check:
    """Somebody has to do something before a review takes place."""
    return _ended(rules, number, waiting.title, waiting.words, Conclusion.ACTION_REQUIRED)


def check_left_out(rules: PublicationRules, number: int, because: str) -> Check:
    """The configuration leaves this pull request unreviewed. The check passes, and does not say that it is approved."""
    summary = f"Nothing was read: {phrase(because)}. `{WORD} review` in a comment reviews this head."
    return _ended(rules, number, LEFT_OUT, summary, Conclusion.SUCCESS)


def check_overridden_by(rules: PublicationRules, number: int, login: str, reason: str) -> Check:
    """A person lets the head pass that the review did not approve."""
    return _passed_by(rules, number, f"Overridden by @{login}", f"{code(login)} lets this head pass: {phrase(reason)}")


def check_dismissed_by(rules: PublicationRules, number: int, login: str, reason: str) -> Check:
    """A person has dismissed the last finding for which the review rejected the head."""
    did = f"{code(login)} dismissed the last finding that stopped this head: {phrase(reason)}"
    return _passed_by(rules, number, f"Dismissed by @{login}", did)


def _passed_by(rules: PublicationRules, number: int, title: str, did: str) -> Check:
    summary = f"{did}\n\nThe review did not approve it. A new push is reviewed again."
    return _ended(rules, number, title, summary, Conclusion.SUCCESS)


def check_of_queue(rules: PublicationRules, number: int | None, missing: str | None) -> Check:
    """A merge queue's commit passes if the pull request that its branch names did, at its own head.

    ``missing`` says why that one did not; None if it did. ``number`` is None for a branch that names none: that one
    never passes.
    """
    if number is None:
        title, why = "Merge queue: no pull request is named", "Its branch names no pull request whose review it is."
    elif missing is None:
        title, why = "Merge queue: the review passed", f"Pull request {number} passed at its own head."
    else:
        title = "Merge queue: the review has not passed"
        why = f"Take pull request {number} out of the queue. {phrase(missing)}"
    good = number is not None and missing is None
    conclusion = Conclusion.SUCCESS if good else Conclusion.ACTION_REQUIRED
    summary = f"The queue's own commit is not reviewed again. {why}"
    return _ended(rules, number or 0, title, summary, conclusion)


def _ended(rules: PublicationRules, number: int, title: str, summary: str, conclusion: Conclusion) -> Check:
    return Check(
        name=rules.check_name,
        external_id=external_id(number),
        title=plain_line(title, MOST_TITLE),
        summary=summary,
        conclusion=conclusion,
    )
