"""The consult cap is counted twice: by the hook, which stands alone in a process, and by the core. They agree."""

from pathlib import Path

import pytest

from review_advisor.adapters.claude.consult_hook import ANSWERED, FAILED, Record, reserve, settle
from review_advisor.core.policy.budgets import MAX_REFUNDS, consults_left


def _record(number: int) -> Record:
    return {"call": "call-1", "tool_use_id": f"toolu_{number}", "question": "", "reply": "", "reason": ""}


@pytest.mark.parametrize("failed", range(6))
@pytest.mark.parametrize("answered", range(5))
def test_the_hook_lets_a_consult_through_if_the_core_has_one_left(tmp_path: Path, answered: int, failed: int) -> None:
    statuses = [ANSWERED] * answered + [FAILED] * failed
    for number, status in enumerate(statuses):
        assert reserve(tmp_path, _record(number), 99, MAX_REFUNDS)
        settle(tmp_path, "call-1", f"toolu_{number}", status=status)
    caps = range(len(statuses) + 2)
    lowest = next(cap for cap in caps if reserve(tmp_path, _record(100 + cap), cap, MAX_REFUNDS))
    assert lowest == next(cap for cap in caps if consults_left(cap, len(statuses), failed) > 0)
