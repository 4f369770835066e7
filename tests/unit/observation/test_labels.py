"""What labels prove, and how a person reads them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from review_advisor.ledger.rows import readings_of_observation
from review_advisor.review.observed import (
    JUDGED_AFTER,
    CommentFate,
    LabelName,
    Observed,
    ObservedLabel,
    Value,
    comment_fate,
    observed_text,
    of_findings,
    of_pull_request,
    proved_right,
)

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
F1 = "f-00000000000000000000000000000001"
F2 = "f-00000000000000000000000000000002"
F3 = "f-00000000000000000000000000000003"
F4 = "f-00000000000000000000000000000004"
SEEN = Observed(
    at=AT,
    run_id="observed_1",
    repository="octo/app",
    pull_request=7,
    head_sha="a" * 40,
    labels=(
        ObservedLabel("", "merge", "merged", "cafe"),
        ObservedLabel("", "judged", "judged", "it was merged on 2025-12-01"),
        ObservedLabel("", "reverted", "not_reverted", "no later commit"),
        ObservedLabel(F1, "at_merge", "fixed", "the lines are gone"),
        ObservedLabel(F2, "at_merge", "unknown", "its file is too large"),
        ObservedLabel(F2, "reaction", "none", "nobody"),
        ObservedLabel(F4, "reaction", "up", "@maria"),
    ),
)


@pytest.mark.parametrize(
    "known, reverted, right",
    [
        ({}, False, None),
        ({"at_merge": "gone"}, False, None),
        ({"at_merge": "there"}, False, None),
        ({"at_merge": "fixed", "later": "gone"}, False, None),
        ({"at_merge": "there", "later": "there"}, False, None),
        ({"at_merge": "there", "dismissal": "dismissed", "reaction": "down"}, True, True),
        ({"at_merge": "gone", "dismissal": "dismissed"}, True, True),
        ({"at_merge": "fixed", "reaction": "up"}, True, True),
        ({"at_merge": "gone"}, True, True),
        ({}, True, True),
        ({"dismissal": "dismissed", "reaction": "up"}, False, False),
        ({"dismissal": "none", "reaction": "down"}, False, False),
        ({"reaction": "up"}, False, True),
        ({"reaction": "both"}, False, None),
        ({"reaction": "none", "thread": "resolved"}, False, None),
    ],
)
def test_only_people_and_reverts_prove_a_finding(
    known: dict[LabelName, Value], right: bool | None, *, reverted: bool
) -> None:
    assert proved_right(known, reverted=reverted) is right


@pytest.mark.parametrize(
    "known, acted_on, dismissed, thumb",
    [
        ({"thread": "open"}, False, False, 0),
        ({"thread": "resolved"}, True, False, 0),
        ({"thread": "resolved_by_bot", "reaction": "up"}, True, False, 1),
        ({"thread": "open", "at_merge": "gone", "reaction": "down"}, True, False, -1),
        ({"thread": "open", "at_merge": "there", "reaction": "both"}, False, False, 0),
        ({"thread": "resolved_by_bot", "dismissal": "dismissed", "at_merge": "gone"}, False, True, 0),
        ({"thread": "resolved", "dismissal": "none"}, True, False, 0),
    ],
)
def test_a_comment_was_acted_on_or_dismissed_and_never_both(
    known: dict[LabelName, Value], acted_on: bool, dismissed: bool, thumb: int
) -> None:
    assert comment_fate(known) == CommentFate(acted_on, dismissed, thumb)


def test_what_had_no_comment_was_heard_by_nobody() -> None:
    assert comment_fate({"dismissal": "dismissed", "at_merge": "gone", "reaction": "none"}) is None


def test_a_revert_has_a_say_once_the_merge_is_judged() -> None:
    young = told(
        ObservedLabel("", "judged", "unknown", "7 days later"), ObservedLabel("", "reverted", "reverted", "commit beef")
    )
    judged = told(
        ObservedLabel("", "judged", "judged", "it was merged"), ObservedLabel("", "reverted", "reverted", "commit beef")
    )
    assert [readings_of_observation(each)["observations"][0]["reverted"] for each in (young, judged)] == [None, 1]


def test_what_is_unknown_is_not_known() -> None:
    assert of_findings(SEEN.labels) == {
        F1: {"at_merge": "fixed"}, F2: {"reaction": "none"}, F4: {"reaction": "up"},
    }  # fmt: skip
    assert of_pull_request(SEEN.labels, "reverted") == "not_reverted"
    assert of_pull_request([ObservedLabel("", "reverted", "unknown", "why")], "reverted") is None


def test_the_same_facts_are_the_same_whenever_and_in_whatever_order_they_are_seen() -> None:
    again = replace(
        SEEN, at=AT.replace(year=2027), run_id="observed_2", labels=SEEN.labels[::-1], repository="Octo/App"
    )
    assert again.facts == SEEN.facts
    assert replace(SEEN, labels=SEEN.labels[1:]).facts != SEEN.facts
    assert replace(SEEN, head_sha="b" * 40).facts != SEEN.facts


def told(*labels: ObservedLabel, head_sha: str = "a" * 40) -> Observed:
    return replace(SEEN, labels=labels, head_sha=head_sha, run_id="observed_2")


def test_what_happened_and_cannot_be_told_any_more_stays_known() -> None:
    why = "git ended while it was read"
    now = told(
        ObservedLabel("", "judged", "unknown", why),
        ObservedLabel("", "reverted", "unknown", why),
        ObservedLabel(F1, "at_merge", "unknown", why),
        ObservedLabel(F2, "at_merge", "unknown", why),
        ObservedLabel(F2, "reaction", "up", "@maria"),
        ObservedLabel(F3, "at_merge", "unknown", why),
    )
    there = (
        ObservedLabel(F3, "at_merge", "there", "they stand"),
        ObservedLabel(F3, "later", "gone", "beef"),
    )
    assert now.after(told(*SEEN.labels, *there)) == told(
        SEEN.labels[1],
        ObservedLabel("", "reverted", "unknown", why),
        ObservedLabel(F1, "at_merge", "fixed", "the lines are gone"),
        ObservedLabel(F2, "at_merge", "unknown", why),
        ObservedLabel(F2, "reaction", "up", "@maria"),
        there[0],
        SEEN.labels[6],
        there[1],
    )


@pytest.mark.parametrize("value", ["approved", "not_approved"])
def test_whether_an_escalation_was_approved_is_final_when_it_is_closed(value: Value) -> None:
    before = told(ObservedLabel("", "escalation", value, "by a command or none"))
    assert told(ObservedLabel("", "escalation", "unknown", "no summary")).after(before).labels == before.labels


def test_that_nothing_had_happened_was_true_of_its_moment_only() -> None:
    before = told(
        ObservedLabel("", "reverted", "not_reverted", "no"), ObservedLabel("f-1", "at_merge", "there", "they stand"),
        ObservedLabel("f-1", "later", "there", "no"), ObservedLabel("f-2", "at_merge", "there", "they stand"),
        ObservedLabel("f-2", "later", "gone", "beef"),
    )  # fmt: skip
    now = told(
        ObservedLabel("", "reverted", "unknown", "more than 200 later commits"),
        ObservedLabel("f-1", "later", "unknown", "why"),
        ObservedLabel("f-1", "at_merge", "there", "they stand"),
        ObservedLabel("f-2", "at_merge", "fixed", "the lines are gone"),
    )  # fmt: skip
    assert now.after(before) == now


def test_what_is_known_now_takes_the_place_of_what_was() -> None:
    before = told(
        ObservedLabel("", "reverted", "not_reverted", "no"), ObservedLabel("", "escalation", "not_approved", "nobody")
    )
    now = told(ObservedLabel("", "reverted", "reverted", "commit beef"))
    assert now.after(before) == now, "and of a pull request that is not escalated any more nothing is kept"


def test_what_was_known_of_another_head_is_not_known_of_this_one() -> None:
    before = told(
        ObservedLabel("", "escalation", "approved", "@maria"),
        ObservedLabel("f-1", "thread", "resolved", "n"),
        head_sha="b" * 40,
    )
    unknown = ObservedLabel("", "escalation", "unknown", "no summary")
    assert told(unknown).after(before).labels == (unknown, ObservedLabel("f-1", "thread", "resolved", "n"))


def test_the_ledgers_rows_say_what_is_proven() -> None:
    rows = readings_of_observation(SEEN)
    assert [dict(row) for row in rows["proofs"]] == [{"finding": F4, "proved_right": 1}]
    (about,) = rows["observations"]
    assert (about["reverted"], about["overridden"]) == (0, None)
    assert len(rows["labels"]) == len(SEEN.labels)


def test_a_person_reads_one_line_for_each_label() -> None:
    lines = observed_text(
        replace(SEEN, labels=(*SEEN.labels, ObservedLabel("", "merge", "merged", "two\nlines\x1b[2J")))
    ).splitlines()
    assert lines[0].split() == ["-", "merge", "merged", "cafe"]
    assert len(lines) == 8
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


def test_an_observation_is_told_with_all_its_fields() -> None:
    one = told(ObservedLabel("f-1", "reaction", "up", "@maria"))
    assert one.as_json() == {
        "run": "observed_2",
        "repository": "octo/app",
        "pull_request": 7,
        "at": "2026-01-05T09:00:00+00:00",
        "head_sha": "a" * 40,
        "labels": [{"finding": "f-1", "name": "reaction", "value": "up", "source": "@maria"}],
    }


def test_what_has_happened_stays_true() -> None:
    happened = {value for value in get_args(Value) if ObservedLabel("f-1", "thread", value, "").has_happened}
    assert happened == {
        *("judged", "reverted", "approved", "not_approved", "fixed", "gone", "resolved", "up", "down", "dismissed"),
    }
    assert ObservedLabel("f-1", "at_merge", "there", "").has_happened
    assert not ObservedLabel("f-1", "later", "there", "").has_happened


def test_what_is_known_of_a_finding_is_not_known_of_the_pull_request() -> None:
    labels = [ObservedLabel("f-1", "merge", "closed", "x"), ObservedLabel("", "merge", "merged", "x")]
    assert of_pull_request(labels, "merge") == "merged"
    assert of_pull_request(labels[:1], "merge") is None


def test_a_merge_counts_as_kept_after_a_week() -> None:
    assert timedelta(days=7) == JUDGED_AFTER


def test_the_ledgers_rows_of_an_observation_are_whole() -> None:
    seen = told(
        *(ObservedLabel("", "judged", "judged", "x"), ObservedLabel("", "reverted", "reverted", "beef")),
        *(ObservedLabel("", "escalation", "approved", "@m"), ObservedLabel("f-1", "reaction", "down", "@m")),
    )
    rows = readings_of_observation(seen)
    assert rows["observations"] == (
        {"repository": "octo/app", "pull_request": 7, "head_sha": "a" * 40, "reverted": 1, "overridden": 1},
    )
    assert rows["labels"][3] == {"finding": "f-1", "label": "reaction", "value": "down", "source": "@m"}
    assert rows["proofs"] == ({"finding": "f-1", "proved_right": 1},)
