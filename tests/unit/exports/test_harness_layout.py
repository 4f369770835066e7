"""The rows of the run folder hold the format's own keys, and no others."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from review_advisor.core.answers.answers import Consult
from review_advisor.core.exports.harness_layout import ConsultRow

TOLD = {"id": "c-1", "run_id": "run-1", "turn": 1, "created_at": datetime(2026, 1, 5, 9, tzinfo=UTC)}


def test_a_row_takes_no_key_that_the_format_does_not_have() -> None:
    with pytest.raises(ValidationError, match="invented"):
        ConsultRow.of(Consult(question="why?"), **TOLD, invented=1)


def test_a_row_stays_as_it_was_written() -> None:
    row = ConsultRow.of(Consult(question="why?"), **TOLD)
    with pytest.raises(ValidationError, match="frozen"):
        row.turn = 2
