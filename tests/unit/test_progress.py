"""Progress on stderr: every event once, in a terminal and elsewhere, and never the review's undoing."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from rich.console import Console

from review_advisor.cli.output import put
from review_advisor.cli.problems import Ended
from review_advisor.cli.progress import LiveProgress, PlainProgress, progress
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.mockworld.lines import approve, credit_gone, lost, plan, veto
from review_advisor.mockworld.world import MockWorld


@pytest.fixture
def review() -> OutcomeDocument:
    """A plan, a veto, and an answer that does not come."""
    world = MockWorld()
    world.agents.pre_flight(plan())
    world.agents.executor(approve(), credit_gone())
    world.agents.post_verify(veto())
    return world.review()


def test_elsewhere_each_event_is_a_line(review: OutcomeDocument, capsys: pytest.CaptureFixture[str]) -> None:
    shown = PlainProgress()
    for event in review.events:
        shown.event(event)
    shown.warning("claude 3 is \x1b[31mnew\n::error::x")
    printed = capsys.readouterr()
    assert printed.out == ""
    assert [line.split(" in ")[0] for line in printed.err.splitlines()] == EXPECTED
