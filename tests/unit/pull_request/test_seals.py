"""What vouches for a state, and how much of one counts that less than a key vouches for."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from review_advisor.github.state import (
    LEAST_KEY,
    UNKNOWN_PLACES,
    Dismissal,
    Failing,
    KnownFinding,
    PeoplesWord,
    StandingComment,
    State,
    Vouched,
    believed,
    external_id,
    seal,
    seal_in,
    sealed_on,
    state_block,
    vouched,
    vouched_by_word,
    word_on,
)
from review_advisor.policy.risk import BlastRadius
from review_advisor.review.rulings import Outcome

OPEN = KnownFinding(id=f"f-{'1' * 32}", path="a.py", line=7, title="seven", severity="high", occurrences=2)
SETTLED = OPEN.model_copy(update={"id": f"f-{'9' * 32}", "status": "dismissed", "by": "ada", "reason": "it is meant"})
STATE = State(
    run_id="run-1",
    head_sha="a" * 40,
    base_sha="b" * 40,
    base_ref="main",
    policy_digest="0" * 16,
    outcome=Outcome.APPROVED,
    complete=True,
    blast=BlastRadius.LOW,
    findings=(OPEN, SETTLED),
    approved_by="Ada",
)
KEY = b"k" * LEAST_KEY


def comment_on(state: State, **more: Any) -> StandingComment:
    return replace(StandingComment(11, "bot", f"Approved.\n{state_block(state)}", "bot", "at noon"), **more)


def sealed(key: bytes | None = KEY, state: State = STATE, **more: Any) -> str:
    return seal(key, "octo/app", 7, state, comment_on(state, **more))


def halves(made: str) -> tuple[str, str, str]:
    found = re.fullmatch(r"(noted|signed)-([0-9a-f]{24})([0-9a-f]{24})", made)
    assert found is not None, made
    kind, review, whole = found.groups()
    return kind, review, whole


def test_a_seal_says_whether_a_key_made_it() -> None:
    assert halves(sealed(None))[0] == "noted"
    assert halves(sealed(KEY))[0] == "signed"
    assert len({sealed(None)[7:], sealed(KEY)[7:], sealed(b"j" * LEAST_KEY)[7:]}) == 3
    assert seal_in(external_id(7, "1", seal=sealed())) == sealed()


@pytest.mark.parametrize(
    "changed",
    [
        {"run_id": "run-2"},
        {"head_sha": "c" * 40},
        {"base_ref": "other"},
        {"outcome": Outcome.ESCALATED},
    ],
)
def test_the_first_half_binds_the_review(changed: dict[str, Any]) -> None:
    other = sealed(state=STATE.model_copy(update=changed))
    assert halves(other)[1] != halves(sealed())[1]
    assert halves(other)[2] != halves(sealed())[2], "the block is another one, too"


@pytest.mark.parametrize("changed", [{"id": 12}, {"edited_at": "later"}, {"body": state_block(STATE) * 2}])
def test_the_second_half_binds_the_comment_and_the_time_of_its_last_edit(changed: dict[str, Any]) -> None:
    other = sealed(**changed)
    assert halves(other)[1] == halves(sealed())[1]
    assert halves(other)[2] != halves(sealed())[2]


def test_a_seal_is_of_one_pull_request_of_one_repository() -> None:
    comment = comment_on(STATE)
    assert seal(KEY, "OCTO/App", 7, STATE, comment) == sealed()
    for other in (seal(KEY, "octo/other", 7, STATE, comment), seal(KEY, "octo/app", 8, STATE, comment)):
        assert halves(other)[1] != halves(sealed())[1]
        assert halves(other)[2] != halves(sealed())[2]


@pytest.mark.parametrize(
    "standing, says",
    [
        ([], ""),
        ([""], ""),
        ([sealed()], "signed"),
        ([sealed(state=STATE.model_copy(update={"run_id": "run-2"})), sealed()], "signed"),
        ([sealed(edited_at="later")], "reviewed"),
        ([sealed(b"j" * LEAST_KEY)], ""),
        ([sealed(None)], ""),
        ([sealed(state=STATE.model_copy(update={"run_id": "run-2"}))], ""),
    ],
)
def test_a_check_run_vouches_for_what_its_seal_is_of(standing: list[str], says: str) -> None:
    assert vouched(sealed(), [external_id(7, "1", seal=each) for each in standing]) == says


def test_without_a_key_a_check_run_notes_and_does_not_sign() -> None:
    assert vouched(sealed(None), [external_id(7, "1", seal=sealed(None))]) == "noted"


def test_the_seal_stands_on_the_head_of_the_last_run_also_of_one_that_failed() -> None:
    assert sealed_on(STATE) == "a" * 40
    failing = Failing(head_sha="c" * 40, reason="no credit", times=1)
    assert sealed_on(STATE.model_copy(update={"failing": failing})) == "c" * 40


@pytest.mark.parametrize("found, told", [("signed", "signed"), ("noted", "noted"), ("reviewed", ""), ("", "")])
def test_the_word_on_a_state_says_how_far_to_believe_that_state_and_no_other(found: Vouched, told: str) -> None:
    body, other = comment_on(STATE).body, comment_on(STATE.model_copy(update={"run_id": "run-2"})).body
    word = word_on(body, found)
    assert word.partition("-")[0] == told
    assert vouched_by_word(word, body) == told
    assert vouched_by_word(word, other) == ""
    assert vouched_by_word(f"{word} ", body) == ""


def test_there_is_no_word_on_a_comment_without_one_state() -> None:
    for body in ("", "Approved.", state_block(STATE) * 2):
        assert word_on(body, "signed") == ""
        assert vouched_by_word("signed-" + "0" * 64, body) == ""


SAID = PeoplesWord({SETTLED.id: Dismissal("grace", "it is a test")}, frozenset({"ada"}))


@pytest.mark.parametrize(
    "found, complete, base_ref, places",
    [("noted", True, "main", 2), ("reviewed", False, "main", UNKNOWN_PLACES), ("", False, "", UNKNOWN_PLACES)],
)
def test_of_an_unsigned_state_only_that_counts_which_something_else_says_as_well(
    found: Vouched, complete: bool, base_ref: str, places: int
) -> None:
    read = believed(STATE, found, SAID)
    assert (read.complete, read.base_ref, read.approved_by) == (complete, base_ref, "Ada")
    assert [each.occurrences for each in read.findings] == [places, places]
    assert [each.status for each in read.findings] == ["open", "dismissed"]
    assert (read.findings[1].by, read.findings[1].reason) == ("grace", "it is a test")
    nobody = believed(STATE, found, PeoplesWord())
    assert nobody.approved_by == ""
    assert [(each.status, each.by, each.reason) for each in nobody.findings] == [("open", "", ""), ("open", "", "")]


def test_a_signed_state_counts_whole() -> None:
    assert believed(STATE, "signed", PeoplesWord()) == STATE
