"""The judge in an outage: one bounded wait and another try, then the fallback models. No other loss is asked again."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from review_advisor.core.answers.answers import Answer
from review_advisor.core.policy.outage_rules import OutageRules, further_tries
from review_advisor.core.roles.calls import AgentCall, Cause, Lost, LostReason
from review_advisor.core.roles.replies import lost_twice
from review_advisor.review.dispatch import CallResult, Dispatch

Checked = TypeVar("Checked", bound=Answer)


def asked_through_outage(
    dispatch: Dispatch, call: AgentCall, answer: type[Checked], rules: OutageRules
) -> CallResult[Checked]:
    """The answer to ``call``; after an outage, the answer to the tries that ``rules`` allow. Raises ``Stop``.

    Only an outage is tried again: an answer that the change may have silenced stays lost, and so does one for which the
    review has no time left. Whatever is tried is a call like any other, within the budgets, and recorded.
    """
    came = dispatch.ask(call, answer)
    first, crashed = came.first, False
    for number, further in enumerate(further_tries(rules, call.model), 1):
        lost = came.answer
        if not isinstance(lost, Lost) or lost.cause is not Cause.OUTAGE or not dispatch.wait(further.wait_seconds):
            break
        crashed = crashed or lost.reason is LostReason.CRASH
        again = replace(call, model=further.model, asks_again=first, further_try=number, crashed_before=crashed)
        came = dispatch.ask(again, answer)
        if isinstance(came.answer, Lost):
            came = replace(came, answer=lost_twice(lost, came.answer))
    return came
