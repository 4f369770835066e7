"""The check run of shadow mode: what the review would have come to, on a page that gates nothing."""

from __future__ import annotations

from collections.abc import Sequence

from review_advisor.core.answers.findings import ordered
from review_advisor.core.forge_text.account import what_it_does, why
from review_advisor.core.forge_text.check import after_the_findings
from review_advisor.core.forge_text.conclusion import DID_NOT_RUN, MOST_TITLE, conclusion_of, title_of
from review_advisor.core.forge_text.disputes import disputes
from review_advisor.core.forge_text.finding_list import finding_list, listed
from review_advisor.core.forge_text.fitting import Section, Shrinks, fitted
from review_advisor.core.forge_text.sections import notes_on, whose_rules
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.pull_request.markers import external_id
from review_advisor.core.pull_request.rules import PublicationRules
from review_advisor.core.pull_request.writes import MOST_CHARACTERS, Check, Conclusion
from review_advisor.core.safety.markdown import code, plain_line


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
    shown, opened = disputes(document)
    findings = finding_list(
        f"**Findings**: {len(document.findings):,}",
        (listed(each, document) for each in ordered(document.findings)),
        "outcome.json",
    )
    sections: tuple[Shrinks, ...] = (
        Section((_lead(document, rules),)),
        what_it_does(document),
        why(document),
        shown,
        whose_rules(document),
        notes_on(notes),
        findings,
        *after_the_findings(document, opened, run_page),
    )
    title = title_of(document)
    return Check(
        name=rules.check_name,
        external_id=external_id(number),
        title=title if stopped else plain_line(f"Would have been: {title}", MOST_TITLE),
        summary=fitted(sections, MOST_CHARACTERS),
        conclusion=DID_NOT_RUN if stopped else Conclusion.NEUTRAL,
    )


def _lead(document: OutcomeDocument, rules: PublicationRules) -> str:
    return (
        '**Shadow mode**: this check stops no merge and lets none through. With `mode = "enforce"` the check'
        f" {code(rules.enforcing_name)} would have concluded {code(conclusion_of(document).value)}."
    )
