"""What labels prove, and how a person reads them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from pydantic import TypeAdapter, ValidationError

from review_advisor.core.record.labels import (
    Label,
    Name,
    Observed,
    Value,
    observed_text,
    of_findings,
    of_pull_request,
    proved_right,
)
from review_advisor.core.record.observation_rows import readings_of_observation

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
SEEN = Observed(
    at=AT,
    run_id="observed_1",
    repository="octo/app",
    pull_request=7,
    head_sha="a" * 40,
    labels=(
        Label("", "merge", "merged", "cafe"),
        Label("", "reverted", "not_reverted", "no later commit"),
        Label("f-0000000001", "at_merge", "fixed", "the lines are gone"),
        Label("f-0000000002", "at_merge", "unknown", "its file is too large"),
        Label("f-0000000002", "reaction", "none", "nobody"),
    ),
)


@pytest.mark.parametrize(
    "known, right",
    [
        ({}, None),
        ({"at_merge": "fixed"}, True),
        ({"at_merge": "there"}, False),
        ({"at_merge": "there", "later": "there"}, False),
        ({"at_merge": "there", "later": "gone"}, True),
        ({"at_merge": "there", "later": "reverted", "dismissal": "dismissed", "reaction": "down"}, True),
        ({"at_merge": "fixed", "dismissal": "dismissed", "reaction": "up"}, False),
        ({"at_merge": "fixed", "dismissal": "none", "reaction": "down"}, False),
        ({"at_merge": "there", "reaction": "up"}, True),
        ({"at_merge": "there", "reaction": "both"}, False),
        ({"reaction": "none", "thread": "resolved"}, None),
        ({"reaction": "up"}, True),
        ({"thread": "resolved"}, None),
    ],
)
def test_what_happened_outweighs_opinions_and_these_what_was_merged(
    known: dict[Name, Value], right: bool | None
) -> None:
    assert proved_right(known) is right


def test_what_is_unknown_is_not_known() -> None:
    assert of_findings(SEEN.labels) == {"f-0000000001": {"at_merge": "fixed"}, "f-0000000002": {"reaction": "none"}}
    assert of_pull_request(SEEN.labels, "reverted") == "not_reverted"
    assert of_pull_request([Label("", "reverted", "unknown", "why")], "reverted") is None


def test_the_same_facts_are_the_same_whenever_and_in_whatever_order_they_are_seen() -> None:
    again = replace(
        SEEN, at=AT.replace(year=2027), run_id="observed_2", labels=SEEN.labels[::-1], repository="Octo/App"
    )
    assert again.facts == SEEN.facts
    assert replace(SEEN, labels=SEEN.labels[1:]).facts != SEEN.facts
    assert replace(SEEN, head_sha="b" * 40).facts != SEEN.facts


def test_the_ledgers_rows_say_what_is_proven() -> None:
    rows = readings_of_observation(SEEN)
    assert [dict(row) for row in rows["proofs"]] == [{"finding": "f-0000000001", "proved_right": 1}]
    (about,) = rows["observations"]
    assert (about["reverted"], about["overridden"]) == (0, None)
    assert len(rows["labels"]) == len(SEEN.labels)


def test_a_person_reads_one_line_for_each_label() -> None:
    lines = observed_text(
        replace(SEEN, labels=(*SEEN.labels, Label("", "merge", "merged", "two\nlines\x1b[2J")))
    ).splitlines()
    assert lines[0].split() == ["-", "merge", "merged", "cafe"]
    assert len(lines) == 6
    assert lines[-1].endswith("two lines\\x1b[2J")
    assert observed_text(replace(SEEN, labels=())) == ""


@pytest.mark.parametrize(
    "wrong",
    [
        {"labels": [{"finding": "", "name": "merge", "value": "great", "source": ""}]},
        {"run_id": "a/b"},
        {"at": "2026-01-05"},
    ],
)
def test_an_observation_that_somebody_made_up_is_none(wrong: dict[str, object]) -> None:
    types: TypeAdapter[Observed] = TypeAdapter(Observed)
    told = types.dump_python(SEEN, mode="json")
    assert types.validate_python(told) == SEEN
    with pytest.raises(ValidationError):
        types.validate_python({**told, **wrong})
