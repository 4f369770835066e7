"""The metadata-blind pass: the executor judges a part's diff before it sees the change's title and description."""

from __future__ import annotations

from review_advisor.core.answers.answers import ReviewReport
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.outcome.ends import missing_words
from review_advisor.core.outcome.events import BlindJudged
from review_advisor.core.policy.budgets import Refused
from review_advisor.core.roles.advisors import Executor
from review_advisor.core.roles.calls import Lost
from review_advisor.core.roles.surface_inputs import SURFACE_INPUTS
from review_advisor.review.dispatch import Dispatch
from review_advisor.review.repair_session import Version


def judged_blind(dispatch: Dispatch, head: Version) -> CheckedReport | Lost | Refused | None:
    """The report on the diff alone, or why it did not come; None if the policy or the surface has no such pass.

    One call, like any other: within the budgets, and recorded. Raises ``Stop``.
    """
    row, part = head.row, head.part
    if not head.briefing.policy.blind.runs or not SURFACE_INPUTS[row.surface].stands_alone:
        return None
    asked = dispatch.ask(Executor(head.briefing).blind_call(row, part), ReviewReport)
    answer = asked.answer
    found = head.check(answer, ()) if isinstance(answer, ReviewReport) else answer
    report = found if isinstance(found, CheckedReport) else None
    missing = "" if isinstance(found, CheckedReport) else missing_words(found)
    dispatch.record_step(BlindJudged, row, part, number=asked.number, report=report, missing=missing)
    return found
