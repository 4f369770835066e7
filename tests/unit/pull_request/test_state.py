"""The block in which a summary keeps what the bot remembers: believed only whole, unedited and of a known version."""

import base64
import hashlib
import json
import zlib
from typing import Any

import pytest
from tests.unit.forge_text.stories import rejecting, remark, told

from review_advisor.change.redaction import redactor
from review_advisor.github.comment_text import amended
from review_advisor.github.memory import state_after
from review_advisor.github.state import (
    PREFIX,
    SUMMARY,
    StandingComment,
    State,
    names_base,
    not_against,
    own_summaries,
    read_state,
    state_block,
)
from review_advisor.policy.pull_request_rules import ACTIONS_LOGIN

REJECTED = told(rejecting(remark(1)))


def comment(body: str, *, by: str = ACTIONS_LOGIN, edited_by: str = "") -> StandingComment:
    return StandingComment(1, by, body, edited_by)


def read(block: str, **about: str) -> State | None:
    return read_state(comment(f"{SUMMARY}\nwords\n\n{block}", **about), ACTIONS_LOGIN)


def block_of(raw: bytes) -> str:
    """A block that holds together, whatever it says."""
    packed = base64.urlsafe_b64encode(zlib.compress(raw, 9)).decode()
    return f"{PREFIX}state {hashlib.sha256(raw).hexdigest()} {packed} -->"


@pytest.fixture
def state() -> State:
    return state_after(None, REJECTED, asked=False)


def test_only_what_nobody_else_has_edited_is_believed(state: State) -> None:
    block = state_block(state)
    assert read(block) == read(block, edited_by=ACTIONS_LOGIN.upper()) == state
    assert read(block, edited_by="maria") is None


def test_a_summary_is_the_bots_own_and_begins_with_its_mark(state: State) -> None:
    mine, theirs = comment(f"{SUMMARY}\nx"), comment(f"{SUMMARY}\nx", by="eve")
    quoted = comment(f"> {SUMMARY}\n{state_block(state)}")
    assert own_summaries((theirs, quoted, mine), ACTIONS_LOGIN) == (mine,)


@pytest.mark.parametrize("place", [30, 60, 95, 140, -8])
def test_a_block_that_was_altered_is_none(state: State, place: int) -> None:
    block = state_block(state)
    other = "0" if block[place] != "0" else "1"
    assert read(f"{block[:place]}{other}{block[place:][1:]}") is None


def test_two_blocks_or_none_are_no_memory(state: State) -> None:
    block = state_block(state)
    assert read(f"{block}\n{block}") is None
    assert read("") is None


@pytest.mark.parametrize(
    "difference",
    [
        {"version": 2},
        {"unknown": True},
        {"head_sha": "main"},
        {"policy_digest": "short"},
        {"outcome": "fine"},
        {"findings": [{"id": "f-1"}]},
    ],
)
def test_a_block_that_says_what_no_version_of_ours_would_is_none(state: State, difference: dict[str, Any]) -> None:
    told_by_us = json.loads(state.model_dump_json(exclude_defaults=True))
    assert read(block_of(json.dumps(told_by_us).encode())) == state
    assert read(block_of(json.dumps({**told_by_us, **difference}).encode())) is None


def test_a_small_block_that_unpacks_to_a_huge_one_is_none(state: State) -> None:
    long = state.model_copy(update={"run_id": "r" * 500_000})
    block = block_of(long.model_dump_json(exclude_defaults=True).encode())
    assert len(block) < 5_000
    assert read(block) is None


def test_an_answer_amends_the_summary_and_keeps_one_memory(state: State) -> None:
    body = f"{SUMMARY}\n### Changes requested\n\n{state_block(state)}"
    now = state.model_copy(update={"approved_by": "maria"})
    once = amended(body, now)
    assert once.startswith(f"{SUMMARY}\n### ✅ Overridden by `maria`")
    assert read_state(comment(once), ACTIONS_LOGIN) == now


TOKEN = "ghp_" + "q7Zt4mXw2Lk9Vb6Rn1Yc8Hd3Sf5Gj0Pa2Te4"
REDACTS = redactor({"GITHUB_TOKEN": TOKEN})


@pytest.mark.parametrize(
    "kept, base, same",
    [
        ("main", "main", True),
        ("main", "release", False),
        (None, "main", False),
        ("", "", False),
        (REDACTS.redact(f"a/{TOKEN}"), f"a/{TOKEN}", True),
    ],
)
def test_the_name_is_compared_as_the_redactor_leaves_it(kept: str | None, base: str, same: bool) -> None:
    assert names_base(kept, base, REDACTS) is same


def test_without_a_memory_it_is_not_known_and_has_to_be_reviewed_again() -> None:
    said = not_against(None, "main", REDACTS)
    assert said is not None
    assert "has to be reviewed again" in said
