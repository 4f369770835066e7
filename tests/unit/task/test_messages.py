"""What blocks say: required fields, defaults for the rest, and identities."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.agents.answers import Answer
from review_advisor.ledger.task_events import (
    BlockTag,
    IdKind,
    Malformed,
    MemoryProposal,
    OwedReport,
    ReadReport,
    TagBlock,
    TaskConsult,
    TaskDone,
    TaskGuidance,
    UsedGuidance,
    block_id,
    read_body,
)

OWED = OwedReport(BlockTag.READINESS, "Give it.", '{"verdict":"go"}', lambda _body: ReadReport("{}", "go"))
REQUIRED: dict[type[Answer], tuple[BlockTag, dict[str, Any]]] = {
    TaskConsult: (BlockTag.CONSULT, {"question": "Which one?"}),
    TaskGuidance: (BlockTag.GUIDANCE, {"guidance": "The first one."}),
    TaskDone: (BlockTag.DONE, {"status": "completed"}),
    MemoryProposal: (BlockTag.PROPOSAL, {"content": "Tests need git."}),
}


@pytest.mark.parametrize("kind, told", REQUIRED.items(), ids=[kind.__name__ for kind in REQUIRED])
def test_only_one_field_of_a_block_must_be_there(kind: type[Answer], told: tuple[BlockTag, dict[str, Any]]) -> None:
    tag, body = told
    assert isinstance(read_body(kind, TagBlock(tag, body)), kind)
    without = read_body(kind, TagBlock(tag, {}))
    assert isinstance(without, Malformed)
    assert without.error == f"{next(iter(body))}: is missing"


def test_missing_fields_have_defaults() -> None:
    consult = read_body(TaskConsult, TagBlock(BlockTag.CONSULT, {"question": "Which one?"}))
    assert isinstance(consult, TaskConsult)
    assert (consult.context, consult.options, consult.preferred_option, consult.urgency) == ("", (), "", "normal")
    guidance = read_body(TaskGuidance, TagBlock(BlockTag.GUIDANCE, {"guidance": "Go on."}))
    assert isinstance(guidance, TaskGuidance)
    assert (guidance.rationale, guidance.stop_signal) == ("", False)
    done = read_body(TaskDone, TagBlock(BlockTag.DONE, {"status": " Completed "}))
    assert done == TaskDone(status="completed", summary="", guidance=())
    proposal = read_body(MemoryProposal, TagBlock(BlockTag.PROPOSAL, {"content": "Tests need git."}))
    assert isinstance(proposal, MemoryProposal)
    assert (proposal.type, proposal.confidence, proposal.expires_at, proposal.tags) == ("fact", None, None, ())


@given(st.text() | st.integers() | st.none() | st.lists(st.text(), max_size=2))
def test_no_other_word_than_completed_completes(status: object) -> None:
    done = read_body(TaskDone, TagBlock(BlockTag.DONE, {"status": status}))
    said = status.strip().lower() if isinstance(status, str) else status
    if said not in ("completed", "failed", "needs_human"):
        assert isinstance(done, Malformed)


def test_optional_fields_that_cannot_be_read_have_their_defaults() -> None:
    body = {"question": "?", "options": "none", "urgency": 7}
    consult = read_body(TaskConsult, TagBlock(BlockTag.CONSULT, body))
    assert isinstance(consult, TaskConsult)
    assert (consult.options, consult.urgency) == ((), "normal")
    used = {"status": "completed", "guidance": [{"guidance": "adv_guidance_1", "disposition": "APPLIED"}, "rubbish"]}
    done = read_body(TaskDone, TagBlock(BlockTag.DONE, used))
    assert isinstance(done, TaskDone)
    assert done.guidance == (UsedGuidance(guidance="adv_guidance_1", disposition="applied"),)


def test_a_stop_signal_that_cannot_be_read_is_not_taken_for_leave_to_go_on() -> None:
    read = read_body(TaskGuidance, TagBlock(BlockTag.GUIDANCE, {"guidance": "Wait.", "stop_signal": "perhaps"}))
    assert isinstance(read, Malformed)


@given(kind=st.sampled_from(IdKind.__args__), run=st.text(max_size=20), number=st.integers(0, 1000))  # type: ignore[attr-defined]
def test_an_identity_is_its_kind_and_twelve_hexadecimal_digits(kind: IdKind, run: str, number: int) -> None:
    made = block_id(kind, run, number)
    assert re.fullmatch(rf"{kind}_[0-9a-f]{{12}}", made)
    assert made == block_id(kind, run, number) != block_id(kind, run, number + 1)


def test_its_block_is_asked_for_with_the_runs_nonce() -> None:
    told = '<RELEASE_READINESS_REPORT nonce="abc">\n{"verdict":"go"}\n</RELEASE_READINESS_REPORT>'
    assert OWED.section("abc") == f"Give it.\n{told}"


def test_its_version_changes_with_its_texts() -> None:
    assert OWED.version == replace(OWED).version
    assert OWED.version != replace(OWED, rules="Give it now.").version != replace(OWED, form="{}").version
