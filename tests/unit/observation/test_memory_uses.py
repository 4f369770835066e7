"""Hits and false hits of the entries of a memory, as reviews and observations tell them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.adapters.ledgers import retold, told
from tests.unit.lessons.test_memory_record import record

from review_advisor.agents.prompts import MemoryRecord
from review_advisor.mockworld.agents import finding, reject
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.observed import LabelName, ObservedLabel, Value, memory_uses


def citing(body: str) -> OutcomeDocument:
    def story(world: MockWorld) -> None:
        world.agents.script(Role.EXECUTOR, reject(finding("src/app.py", 4, "value = 4") | {"body": body}))

    return told(story)


REVIEW = citing("As mem_prop_1 says.")
ENTRY = record(created_at=REVIEW.started_at - timedelta(days=1))
FINDING = REVIEW.findings[0].id


def label(name: LabelName, value: Value, of: str = FINDING) -> ObservedLabel:
    return ObservedLabel(of, name, value, "somebody")


@pytest.mark.parametrize(
    "labels, uses",
    [
        ((), (1, 0)),
        ((label("dismissal", "dismissed"),), (0, 1)),
        ((label("reaction", "down"),), (0, 1)),
        ((label("reaction", "up"),), (1, 0)),
        ((label("dismissal", "dismissed"), label("reverted", "reverted", "")), (1, 0)),
    ],
)
def test_a_finding_that_cites_an_entry_is_a_hit_unless_people_proved_it_wrong(
    labels: tuple[ObservedLabel, ...], uses: tuple[int, int]
) -> None:
    assert memory_uses([ENTRY], [(REVIEW, labels)]) == {"mem_prop_1": uses}


def test_a_finding_that_a_push_repeats_counts_once_and_of_another_change_again() -> None:
    elsewhere = retold(REVIEW, repository="acme/other")
    dismissed = (label("dismissal", "dismissed"),)
    assert memory_uses([ENTRY], [(REVIEW, ()), (REVIEW, dismissed), (elsewhere, ())]) == {"mem_prop_1": (1, 1)}


@pytest.mark.parametrize(
    "entry",
    [
        record(created_at=REVIEW.started_at + timedelta(seconds=1)),
        ENTRY.model_copy(update={"expires_at": REVIEW.started_at}),
        ENTRY.model_copy(update={"id": "mem_prop"}),
        ENTRY.model_copy(update={"id": "em_prop_1"}),
    ],
    ids=["younger than the review", "expired", "the id of another begins so", "the id of another ends so"],
)
def test_an_entry_that_nobody_was_shown_or_named_has_no_use(entry: MemoryRecord) -> None:
    assert memory_uses([entry], [(REVIEW, ())]) == {entry.id: (0, 0)}
