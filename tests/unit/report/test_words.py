"""What a person reads of a review in the terminal: how findings are counted, repairs told and calls recorded."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

import pytest
from tests.unit.forge_text.stories import STORIES, told

from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.outcome.events import BlindJudged, Repaired
from review_advisor.core.policy.blast import Blast, BlastRadius
from review_advisor.core.policy.surfaces import Role, Surface
from review_advisor.core.report.blind_text import blind_words, flips, lacks_blind
from review_advisor.core.report.progress_lines import progress_line
from review_advisor.core.report.repair_text import no_repair_words, offered_repair, repair_words
from review_advisor.core.report.session_rows import session_rows
from review_advisor.core.report.wording import and_unknown, counted, counted_findings, printable_line
from review_advisor.mockworld.lines import approve, finding, lost, reject, veto
from review_advisor.mockworld.world import MockWorld

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "kept, merged, refused, words",
    [
        (0, 0, 0, "0 findings"),
        (1, 0, 0, "1 finding"),
        (2, 1, 0, "2 findings (1 merged into them)"),
        (2, 0, 3, "2 findings (3 refused)"),
        (1_000, 1_001, 1_002, "1,000 findings (1,001 merged into them, 1,002 refused)"),
    ],
)
def test_findings_are_counted_with_what_became_of_the_others(kept: int, merged: int, refused: int, words: str) -> None:
    assert counted_findings(kept, merged, refused) == words


def test_a_sum_says_what_it_lacks() -> None:
    assert [counted(number, "file") for number in (0, 1, 2, 1_000)] == ["0 files", "1 file", "2 files", "1,000 files"]
    assert [and_unknown(number) for number in (0, 1, 2)] == ["", ", and 1 call unknown", ", and 2 calls unknown"]
    assert and_unknown(1, "consult") == ", and 1 consult unknown"


def test_a_line_for_a_terminal_holds_nothing_that_acts() -> None:
    assert printable_line(" a\n b\x1b[2J\u202e ") == "a b\\x1b[2J\\u202e"


# --- the verdict by the diff alone ------------------------------------------------------------------------------------


def alone(*first: object) -> Callable[[MockWorld], None]:
    def tell(world: MockWorld) -> None:
        world.rules = replace(world.rules, metadata_blind=True)
        world.agents.script(Role.EXECUTOR, *first)  # type: ignore[arg-type]

    return tell


ONE = finding("src/app.py", 3, "value = 3")


def test_a_verdict_by_the_diff_alone_that_did_not_come_is_noticed() -> None:
    assert lacks_blind(told(alone(lost(), approve())))
    assert not lacks_blind(told(alone(reject(ONE), approve())))
    assert not lacks_blind(told())


def test_a_verdict_by_the_diff_alone_is_told_with_its_findings() -> None:
    report = CheckedReport("reject", "values clash", 0.9)
    said = BlindJudged(at=NOON, surface=Surface.PR_REVIEW, report=report)
    none = BlindJudged(at=NOON, surface=Surface.PR_REVIEW, missing="it crashed")
    assert [blind_words(said), blind_words(none)] == ["reject, 0 findings: values clash", "no verdict: it crashed"]
    assert progress_line(said) == "pr_review: by the diff alone: reject"
    assert progress_line(none) == "pr_review: by the diff alone: no verdict"


def test_only_a_verdict_that_changed_has_flipped() -> None:
    assert len(list(flips(told(alone(reject(ONE), approve()))))) == 1
    assert list(flips(told(alone(approve(), approve())))) == []
    assert list(flips(told())) == []


# --- repairs ----------------------------------------------------------------------------------------------------------


def repaired(result: Literal["accepted", "withdrawn", "refused"], **about: object) -> Repaired:
    return Repaired(at=NOON, surface=Surface.PR_REVIEW, result=result, **about)  # type: ignore[arg-type]


def test_each_end_of_a_repair_has_its_words() -> None:
    high = Blast(BlastRadius.HIGH, ("x",))
    assert repair_words(repaired("withdrawn")) == "the head is judged as it is"
    assert repair_words(repaired("accepted", files=("a.py", "b c.py"))) == "a.py, b c.py"
    assert repair_words(repaired("accepted", files=("a.py",), blast=high)) == "a.py, blast radius high"


def vetoed(*reports: object) -> Callable[[MockWorld], None]:
    def tell(world: MockWorld) -> None:
        world.agents.script(Role.EXECUTOR, *reports)  # type: ignore[arg-type]
        world.agents.script(Role.POST_VERIFY, veto("look again"))

    return tell


def test_a_vetoed_approval_without_leave_to_repair_says_why() -> None:
    words = no_repair_words(told(vetoed(approve(), approve(ONE))))
    assert words == "repair was off: a bare patch comes without a tree to repair"


@pytest.mark.parametrize("tell", [vetoed(reject(ONE), approve()), STORIES["approved"], STORIES["repair attached"]])
def test_where_no_approval_was_handed_back_without_leave_nothing_is_said(tell: Callable[[MockWorld], object]) -> None:
    assert no_repair_words(told(tell)) is None


def test_an_offered_patch_stands_whole_below_how_to_use_it() -> None:
    document = told(STORIES["repair attached"])
    assert document.repair is not None
    lines: Iterator[str] = offered_repair(replace(document, repair=replace(document.repair, patch="a\nb\n\n")))
    head, how, *patch = lines
    assert head.startswith("Repair: with this patch on ")
    assert head.endswith(", and only with it, pr_review is approved")
    assert how == "  (judged in attempt 2). Apply it with: git apply repair.patch"
    assert patch == ["    a", "    b", "    "]
    assert list(offered_repair(told())) == []


# --- the record of calls ----------------------------------------------------------------------------------------------


def test_a_call_that_was_answered_has_no_error() -> None:
    assert {row["error"] for row in session_rows(told())} == {None}
