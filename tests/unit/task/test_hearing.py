"""What a message comes to by its blocks, before anybody acts on it."""

import itertools

import pytest
from tests.scenarios.task_runs import NONCE, block, consult, done, guidance, proposal

from review_advisor.ledger.task_events import MOST_BLOCKS, BlockTag, Malformed, TagBlock
from review_advisor.tasks.protocol import AdvisorSaid, ExecutorSaid, hear_advisor, hear_executor

BROKEN = block("ADVISOR_CONSULT", "{no object")


@pytest.mark.parametrize("parts", list(itertools.permutations([consult(), done(), proposal()])))
def test_beside_a_question_there_is_no_end_in_whatever_order(parts: tuple[str, ...]) -> None:
    said = hear_executor(["\n".join(parts)], NONCE)
    assert (said.consult is not None, said.done, len(said.proposals)) == (True, None, 1)
    assert [each.tag for each in said.ignored] == [BlockTag.DONE]


@pytest.mark.parametrize(
    "parts", list(itertools.permutations([done("completed"), done("needs_human"), done("failed")]))
)
def test_the_worst_end_counts_in_whatever_order(parts: tuple[str, ...]) -> None:
    said = hear_executor(["\n".join(parts)], NONCE)
    assert said.done is not None
    assert said.done.status == "failed"


def test_a_question_or_an_end_that_nobody_can_read_makes_the_message_unusable() -> None:
    for message in (BROKEN, f"{BROKEN}\n{done()}", f"{done()}\n{block('EXECUTOR_DONE', '[]')}"):
        assert hear_executor([message], NONCE).unusable is not None
    assert hear_executor([f"{BROKEN}\n{consult()}"], NONCE).unusable is None
    assert hear_executor([f"{block('MEMORY_PROPOSAL', '7')}\n{done()}"], NONCE).unusable is None


def test_without_blocks_an_executor_says_nothing_and_an_advisor_advises_in_prose() -> None:
    assert hear_executor(["Done."], NONCE) == ExecutorSaid()
    assert hear_executor(["Done."], NONCE).is_mute
    said = hear_advisor(["Go on."], NONCE)
    assert (said.wrapped, said.is_mute, said.guidance and said.guidance.guidance) == (True, True, "Go on.")
    assert hear_advisor([""], NONCE) == AdvisorSaid(wrapped=True)
    assert not hear_advisor([guidance()], NONCE).is_mute


@pytest.mark.parametrize(
    "body",
    [
        '{"guidance": "Stop.", "stop_signal": true}',
        '{"stop_signal": true}',
        '{"guidance": "Stop.", "stop_signal": "a person must look"}',
        '{"guidance": "Stop.", "signals": {"Stop-Signal": true}}',
    ],
)
@pytest.mark.parametrize("beside", ["", guidance(), block("ADVISOR_GUIDANCE", "[]")], ids=["alone", "advice", "broken"])
def test_no_stop_signal_is_lost_with_a_block_that_cannot_be_read(body: str, beside: str) -> None:
    for parts in itertools.permutations([block("ADVISOR_GUIDANCE", body), beside]):
        said = hear_advisor(["\n".join(parts)], NONCE)
        assert said.guidance is not None
        assert (said.guidance.stop_signal, said.unusable) == (True, None)


def test_guidance_behind_a_flood_of_blocks_is_asked_for_again() -> None:
    stop = block("ADVISOR_GUIDANCE", '{"guidance": "Stop.", "stop_signal": true}')
    said = hear_advisor(["\n".join([*[guidance()] * MOST_BLOCKS, stop])], NONCE)
    assert said.guidance is None
    assert [each.tag for each in said.malformed] == [BlockTag.GUIDANCE]


@pytest.mark.parametrize(
    "parts",
    [
        (guidance("Stop.", stop=True), block("ADVISOR_GUIDANCE", "[]")),
        (block("ADVISOR_GUIDANCE", "[]"), guidance(), guidance("Stop.", stop=True)),
        (guidance("Stop.", stop=True), *[guidance()] * MOST_BLOCKS),
        (block("ADVISOR_GUIDANCE", '{"guidance": "Stop.", "stop_signal": true,}'),),
        (guidance(), block("ADVISOR_GUIDANCE", '{"guidance": "Stop.", "stop_signal": true,}')),
    ],
)
def test_a_stop_signal_in_an_answer_that_cannot_be_used_is_a_stop_signal(parts: tuple[str, ...]) -> None:
    said = hear_advisor(["\n".join(parts)], NONCE)
    assert said.unusable is None
    assert said.guidance is not None
    assert said.guidance.stop_signal


@pytest.mark.parametrize("status, usable", [("failed", True), ("needs_human", True), ("completed", False)])
def test_an_end_that_is_no_completion_counts_beside_one_that_nobody_can_read(status: str, usable: bool) -> None:
    said = hear_executor([f"{done(status)}\n{block('EXECUTOR_DONE', '[]')}"], NONCE)
    assert (said.unusable is None) == usable
    assert hear_executor([f"{done(status)}\n{BROKEN}"], NONCE).unusable is not None, "a question voids any end"


def test_a_report_is_heard_whatever_stands_around_it() -> None:
    report = block("RELEASE_READINESS_REPORT", {"verdict": "hold"})
    alone = hear_executor([report], NONCE)
    assert [each.body for each in alone.reports if isinstance(each, TagBlock)] == [{"verdict": "hold"}]
    asked = hear_executor([f"{block('ADVISOR_CONSULT', {'question': '?'})}\n{report}"], NONCE)
    assert (asked.reports, [each.tag for each in asked.ignored]) == (alone.reports, ["RELEASE_READINESS_REPORT"])
    swallowed = hear_executor([f'<EXECUTOR_DONE nonce="{NONCE}">\n{{\n{report}'], NONCE)
    assert (swallowed.reports, swallowed.done) == (alone.reports, None)
    (unread,) = hear_executor([block("RELEASE_READINESS_REPORT", "no JSON")], NONCE).reports
    assert isinstance(unread, Malformed)
    assert isinstance(hear_executor([f"{report}\n" * 41], NONCE).reports[-1], Malformed)
    assert [each.tag for each in hear_advisor([report], NONCE).ignored] == ["RELEASE_READINESS_REPORT"]
