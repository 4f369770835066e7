from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from review_advisor.change.change import FileChange, Status
from review_advisor.mockworld.agents import (
    approve,
    confirm,
    credit_gone,
    evidence,
    finding,
    guidance,
    lost,
    plan,
    reject,
    veto,
)
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.document import OutcomeDocument, role_costs
from review_advisor.review.events import CallEnded
from review_advisor.review.report import disagreement_transcript, headline, progress_line, report_text
from review_advisor.review.session_rows import session_rows
from review_advisor.safety.stop import ModelUsage, Usage
from review_advisor.safety.terminal import WIDTH, printable, wrapped

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def told(tell: Callable[[MockWorld], object] = lambda world: None) -> OutcomeDocument:
    world = MockWorld()
    tell(world)
    document = world.review()
    world.finish()
    return document


def eventful(world: MockWorld) -> None:
    body = {"body": "It clashes.\n\nTwice.", "category": "clash"}
    wrong_line = {**finding("src/app.py", 99, "value = 7", "low", "seven is taken"), **body}
    invented = finding("src/app.py", 1, "value = 999", "low", "invented")
    world.agents.script(Role.PRE_FLIGHT, plan("values may clash", focus=("src/app.py",)))
    world.agents.script(
        Role.EXECUTOR,
        approve(summary="fine").after_asking("may seven repeat?", "may eight?"),
        approve(wrong_line, invented, answers=(evidence("d0.1", "src/app.py", "value = 7"),), summary="seven noted"),
    )
    world.agents.script(Role.MID_FLIGHT, guidance("it may"), lost())
    world.agents.script(
        Role.POST_VERIFY,
        veto("seven is taken", reasoning="a clash", direction="look at line 7"),
        veto("eight too", reasoning="another clash"),
    )


def test_the_report_tells_the_whole_story() -> None:
    text = report_text(told(eventful))
    for words in (
        "ESCALATED TO A HUMAN (retries exhausted)",
        "because vetoed after 1 of 1 retries",
        "pr-7  Add a value",
        "1 file, 30 changed lines of code, blast radius low",
        "pre-flight   values may clash",
        "look at look at src/app.py",
        "executor     approve, 0 findings, confidence 0.90: fine",
        "consult      asked: may seven repeat?",
        "advice: it may",
        "failed: scripted: crash",
        "post-verify  VETO: a clash",
        "d0.1 blocking: seven is taken",
        "direction: look at line 7",
        "ruling       retry: vetoed: retry 1 of 1",
        "refused: invented (src/app.py): its evidence does not stand",
        "answers d0.1, contested, with evidence: value = 7",
        "Findings: 1",
        "src/app.py:7  seven is taken\n",
        ", clash, confidence ",
        "It clashes.",
        "> value = 7",
        "(line 99 became 7: the quote stands there)",
        "Read: 1 of 1 file",
        "Calls: 5, with 2 consults inside them",
    ):
        assert words in text


def test_a_confirmed_approval_is_told_in_a_few_lines() -> None:
    text = report_text(told())
    assert text.startswith("APPROVED\n  because the verdict is confirmed\n")
    assert "Findings: none" in text
    assert "Calls: 3; executor: 1 turn in 1 call\n" in text


def test_the_report_counts_the_turns_of_the_executor() -> None:
    assert "Calls: 5, with 2 consults inside them; executor: 4 turns in 2 calls\n" in report_text(told(eventful))
    document = told()
    older = [replace(each, turns=0) if isinstance(each, CallEnded) else each for each in document.events]
    assert "Calls: 3\n" in report_text(replace(document, events=tuple(older)))


def asks_again(world: MockWorld) -> None:
    first, second = approve(summary="fine").after_asking("first?"), approve(summary="noted").after_asking("second?")
    world.agents.script(Role.EXECUTOR, first, second)
    world.agents.script(Role.POST_VERIFY, veto("seven is taken"))


def test_a_consult_is_told_with_the_attempt_that_asked() -> None:
    text = report_text(told(asks_again))
    places = [text.index(words) for words in (": fine", "asked: first?", "VETO", ": noted", "asked: second?")]
    assert places == sorted(places)


FAULT = finding("src/app.py", 1, "value = 1")


def asks_and_is_lost(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, lost().after_asking("may seven repeat?"))


def test_a_consult_of_an_attempt_without_a_report_is_told_too() -> None:
    assert "consult      asked: may seven repeat?" in report_text(told(asks_and_is_lost))


def reconsidered(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, reject(FAULT), approve())
    world.agents.script(Role.POST_VERIFY, veto("no fault"))


HEADLINES: list[tuple[str, Callable[[MockWorld], object]]] = [
    ("APPROVED", lambda world: None),
    ("APPROVED (DEGRADED: not verified by the advisor)", lambda world: world.agents.script(Role.POST_VERIFY, lost())),
    (
        "APPROVED (ADVISOR SWITCHED OFF: pr_review/mid_flight)",
        lambda world: world.switch("HYDRAFLOW_REVIEW_MIDFLIGHT_ENABLED", "no"),
    ),
    ("APPROVED (after a veto was answered)", reconsidered),
    ("CHANGES REQUESTED", lambda world: world.agents.script(Role.EXECUTOR, reject(FAULT))),
    ("STOPPED: the review did not run to its end", lambda world: world.agents.script(Role.EXECUTOR, credit_gone())),
]


@pytest.mark.parametrize("words, tell", HEADLINES)
def test_the_headline_leaves_nothing_out_d13(words: str, tell: Callable[[MockWorld], object]) -> None:
    assert headline(told(tell)) == words


def test_a_stopped_review_says_what_did_not_finish() -> None:
    text = report_text(told(lambda world: world.agents.script(Role.EXECUTOR, credit_gone())))
    assert "pr_review: not finished" in text
    assert "Read: 0 of 1 file" in text
    assert "src/app.py was not read: no report came on its part of the change" in text


def test_a_guarded_change_in_parts_says_so() -> None:
    def tell(world: MockWorld) -> None:
        world.rules = replace(world.rules, shard_tokens=180)
        world.change(*(edited(path) for path in ("CLAUDE.md", ".mcp.json", ".claude/a", ".claude/b")))
        world.agents.script(Role.EXECUTOR, approve(), lost())

    text = report_text(told(tell))
    for words in (
        "self-modification guard holds: veto authority on every surface",
        "and 1 more",
        "answers lost or refused: pr_review/executor",
        "  part 1\n",
        "  part 4\n",
        "ended        stopped: no verdict: scripted: crash",
        "Read: 3 of 4 files",
    ):
        assert words in text


def test_an_empty_change_costs_and_covers_nothing() -> None:
    def tell(world: MockWorld) -> None:
        world.source.stated = replace(world.source.stated, files=())

    text = report_text(told(tell))
    assert "Calls: none" in text
    assert "Read:" not in text


def test_costs_are_told_or_said_to_be_unknown() -> None:
    def tell(world: MockWorld) -> None:
        world.agents.script(Role.PRE_FLIGHT, plan().costing(None))
        world.agents.script(Role.EXECUTOR, approve().costing(0.125))
        world.agents.script(Role.POST_VERIFY, confirm().costing(0.5))

    text = report_text(told(tell))
    assert "cost not reported" in text
    assert "$0.6250, and 1 call unknown\n" in f"{text}\n"
    (judge,) = [line for line in text.splitlines() if line.startswith("  post_verify")]
    assert judge.endswith("$0.5000")


def cost_rows(*calls: CallEnded) -> list[str]:
    """The rows of the table of costs, with single spaces."""
    text = report_text(replace(told(), cost=role_costs(calls)))
    table = text.partition("Calls: ")[2].splitlines()[1:]
    return [" ".join(line.split()) for line in table if line.startswith("  ")]


def consulting(executor: str, *used: ModelUsage, own: Usage | None = None) -> CallEnded:
    about = {"role": Role.EXECUTOR, "ended": "answered", "requested_model": executor, "resolved_model": executor}
    asked = {"by_model": used, "own": own, "consulted": ("opus", "opus")}
    return CallEnded(at=NOON, surface=Surface.PR_REVIEW, number=1, advisor="executor", **about, **asked)  # type: ignore[arg-type]


def test_a_row_of_the_mid_flight_advisor_counts_consults_and_says_where_their_cost_stands() -> None:
    whole, own = Usage(300, 60, cost_usd=0.75), Usage(200, 40)
    both = consulting("opus", ModelUsage("opus", whole), own=own)
    assert cost_rows(both)[:2] == [
        "executor opus 1 call 200 in 0 cache read 0 cache written 40 out $0.7500, consults included",
        "mid_flight opus 2 consults 100 in 0 cache read 0 cache written 20 out cost counted with the executor",
    ]
    assert cost_rows(replace(both, own=None))[:2] == [
        "executor opus 1 call 300 in 0 cache read 0 cache written 60 out $0.7500, consults included",
        "mid_flight opus 2 consults counted with the executor",
    ]
    apart = consulting("sonnet", ModelUsage("sonnet", Usage(7, cost_usd=0.5)), ModelUsage("opus", whole))
    assert cost_rows(apart)[:2] == [
        "executor sonnet 1 call 7 in 0 cache read 0 cache written 0 out $0.5000",
        "mid_flight opus 2 consults 300 in 0 cache read 0 cache written 60 out $0.7500",
    ]
    silent = consulting("sonnet", ModelUsage("sonnet", Usage(7, cost_usd=0.5)), ModelUsage("opus", own))
    assert cost_rows(apart, silent)[1] == (
        "mid_flight opus 4 consults 500 in 0 cache read 0 cache written 100 out $0.7500, and 2 consults unknown"
    )
    assert cost_rows(both, apart)[2].endswith(
        "opus 4 consults 400 in 0 cache read 0 cache written 80 out $0.7500, and the rest counted with the executor"
    )
    unpriced = replace(both, by_model=(ModelUsage("opus", replace(whole, cost_usd=None)),))
    assert cost_rows(unpriced)[:2] == [
        "executor opus 1 call 200 in 0 cache read 0 cache written 40 out cost not reported",
        "mid_flight opus 2 consults 100 in 0 cache read 0 cache written 20 out cost not reported",
    ]


@pytest.mark.parametrize(
    "hostile, printed",
    [
        ("\x1b[2Jgone", "<U+001B>[2Jgone"),
        ("::error::forged", ": :error::forged"),
        ("x\n  ::set-output", "x\n  : :set-output"),
        ("##[error]forged", "# #[error]forged"),
        ("a::b", "a::b"),
    ],
)
def test_nothing_printed_can_command_the_terminal_or_the_runner(hostile: str, printed: str) -> None:
    assert printable(hostile) == printed


def test_a_long_text_goes_on_below_its_first_line() -> None:
    lines = wrapped("  title: ", "word " * 40).split("\n")
    assert len(lines) == 3
    assert lines[0].startswith("  title: word word")
    assert {line[:9] for line in lines[1:]} == {" " * 9}
    assert max(map(len, lines)) <= WIDTH


@pytest.mark.parametrize("length, lines", [(WIDTH - 3, 1), (WIDTH - 2, 2)])
def test_a_text_stays_on_one_line_while_it_fits(length: int, lines: int) -> None:
    text = "a" * (length - 5) + " bcde"
    assert wrapped("x: ", text).count("\n") == lines - 1


def test_behind_a_long_prefix_there_is_room_for_words() -> None:
    prefix = "p" * WIDTH
    assert wrapped(prefix, "w" * 40) == prefix + "w" * 40
    assert wrapped(prefix, "ab " * 20).split("\n")[1].startswith(" " * 17 + "ab")


def test_a_title_cannot_forge_a_line_of_the_report() -> None:
    def tell(world: MockWorld) -> None:
        world.source.stated = replace(world.source.stated, title="x\nAPPROVED\n::error::")

    assert "\nAPPROVED\n::error" not in report_text(told(tell))


def test_progress_is_told_as_it_happens() -> None:
    def tell(world: MockWorld) -> None:
        world.switch("HYDRAFLOW_REVIEW_PREFLIGHT_ENABLED", "no")
        world.change(edited("src/app.py"))
        world.agents.script(Role.EXECUTOR, approve().after_asking("why?"), reject(FAULT))
        world.agents.script(Role.POST_VERIFY, veto("a fault"), lost())

    lines = [line for line in map(progress_line, told(tell).events) if line is not None]
    assert lines == [
        "1 file, blast radius low; surfaces: pr_review",
        "pr_review: pre_flight does not run: switched off by HYDRAFLOW_REVIEW_PREFLIGHT_ENABLED",
        "pr_review: executor (sonnet) ...",
        "pr_review: executor answered in 1.0 s",
        "pr_review: consult answered: why?",
        "pr_review: post_verify (opus) ...",
        "pr_review: post_verify answered in 1.0 s",
        "pr_review: post_verify says VETO",
        "pr_review: retry: vetoed: retry 1 of 1",
        "pr_review: executor, attempt 2 (sonnet) ...",
        "pr_review: executor, attempt 2 answered in 1.0 s",
        "pr_review: post_verify, attempt 2 (opus) ...",
        "pr_review: post_verify, attempt 2 lost: scripted: crash",
        "pr_review: accept: post-verify was lost (crash): the executor's verdict stands, unverified",
        "pr_review: changes_requested",
    ]


def test_a_stop_is_told_at_once() -> None:
    document = told(lambda world: world.agents.script(Role.PRE_FLIGHT, credit_gone()))
    lines = [line for line in map(progress_line, document.events) if line is not None]
    assert lines[-1] == "stopped: the account's credit is exhausted"


def test_the_human_who_is_called_gets_every_word_of_the_dispute_d34() -> None:
    text = disagreement_transcript(told(eventful))
    assert text is not None
    for words in (
        "# Disagreement transcript",
        "## pr_review, part 1: vetoed after 1 of 1 retries",
        "### Attempt 1: the executor says approve\n\n> fine",
        "Post-verify says VETO:\n\n> a clash",
        "- d0.1, blocking\n  - claim: the change is fine\n  - assessment: seven is taken",
        "Suggested direction:\n\n> look at line 7",
        "### Attempt 2: the executor says approve\n\n> seven noted",
        "- d1.1, blocking",
        "Consult, answered:\n\n> may seven repeat?\n\n> it may",
        "Consult, failed:\n\n> may eight?\n\n> scripted: crash",
    ):
        assert words in text
    order = ["### Attempt 1", "> a clash", "> look at line 7", "### Attempt 2", "> another clash", "Consult, answered"]
    assert [text.index(words) for words in order] == sorted(text.index(words) for words in order)


def test_no_words_of_a_model_forge_a_heading_or_a_line_of_their_own() -> None:
    def tell(world: MockWorld) -> None:
        world.agents.script(Role.EXECUTOR, approve().after_asking("why?\npr_review: approved"))
        world.agents.script(Role.MID_FLIGHT, guidance("stop\n# Approved by a human", stop=True))
        world.agents.script(Role.PRE_FLIGHT, plan())

    document = told(tell)
    text = disagreement_transcript(document)
    assert text is not None
    assert "\n# Approved" not in text
    assert all("\n" not in line for line in map(progress_line, document.events) if line)
    claimed = told(lambda world: world.agents.script(Role.POST_VERIFY, veto("x\n\n## Approved\n")))
    assert "\n## Approved" not in (disagreement_transcript(claimed) or "")


def test_without_an_escalation_there_is_no_dispute() -> None:
    assert disagreement_transcript(told()) is None


def rows(tell: Callable[[MockWorld], object]) -> list[dict[str, Any]]:
    return session_rows(told(tell))


def test_the_session_has_one_row_a_call_with_what_it_decided_d30() -> None:
    told_rows = rows(eventful)
    assert [(row["role"], row["attempt"], row["ended"], row["verdict"]) for row in told_rows] == [
        ("pre_flight", 0, "answered", None),
        ("executor", 0, "answered", "approve"),
        ("post_verify", 0, "answered", "VETO"),
        ("executor", 1, "answered", "approve"),
        ("post_verify", 1, "answered", "VETO"),
    ]
    assert {row["authority"] for row in told_rows} == {"veto"}
    assert all(len(row["prompt_sha256"]) == 64 and row["prompt_chars"] > 0 for row in told_rows)
    assert {(row["run_id"], row["label"], row["surface"]) for row in told_rows} == {("run-1", "pr-7", "pr_review")}
    assert [row["duration_ms"] for row in told_rows] == [1000] * 5


def test_every_row_has_the_calls_tokens_and_cost_d30() -> None:
    used = rows(lambda world: world.agents.script(Role.EXECUTOR, replace(approve(), output_tokens=40).costing(0.25)))
    assert [(row["role"], row["tokens_in"], row["tokens_out"], row["cost_usd"]) for row in used] == [
        ("pre_flight", 0, 0, 0.0),
        ("executor", 0, 40, 0.25),
        ("post_verify", 0, 0, 0.0),
    ]


def test_what_the_prompts_shortened_is_told_d3() -> None:
    def tell(world: MockWorld) -> None:
        world.source.stated = replace(world.source.stated, body="b" * 70_001)

    assert "shortened in the prompts: the description after its first 70000 characters" in report_text(told(tell))


def test_a_file_nobody_could_read_is_named_in_the_report() -> None:
    text = report_text(told(lambda world: world.change(FileChange(Status.ADDED, "a\nb.png", binary=True))))
    assert '"a\\nb.png" was not read: binary' in text
