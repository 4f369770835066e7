from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from review_advisor.agents.answers import DisagreementAnswer, KnowledgeEntry, ReportedFinding, ReviewReport
from review_advisor.agents.evidence import CheckedReport, DroppedKnowledge, Knowledge, ShownChange
from review_advisor.agents.findings import Finding
from review_advisor.change.change import FileChange, Hunk, Status
from review_advisor.change.diff_text import render_files

LINES = (
    " def pay(amount):",
    "-    check(amount)",
    "-    log(amount)",
    "+    total = amount * 2",
    "+",
    "+    if total > 10:",
    "+        refund(total)",
    "     return None",
    "\\ No newline at end of file",
)
PAY = FileChange(Status.MODIFIED, "src/pay.py", added=4, removed=2, hunks=(Hunk(10, 4, 10, 6, "", LINES),))
ODD = FileChange(Status.ADDED, 'odd "name".py', added=1, hunks=(Hunk(0, 0, 1, 1, "", ("+run()",)),))
TWICE = FileChange(Status.ADDED, "twice.py", added=9, hunks=(Hunk(0, 0, 1, 9, "", ("+same()",) * 9),))
CHANGE = (PAY, ODD, TWICE)


def remark(evidence: str, line: int = 11, path: str = "src/pay.py", **more: Any) -> ReportedFinding:
    facts = {"severity": "high", "category": "money", "title": "t", "confidence": 0.5, **more}
    return ReportedFinding(path=path, line=line, evidence=evidence, **facts)


def checked(*remarks: ReportedFinding) -> CheckedReport:
    report = ReviewReport(verdict="reject", summary="s", confidence=0.5, findings=remarks)
    return ShownChange(CHANGE).check(report)


def kept(*remarks: ReportedFinding) -> Finding:
    (found,) = checked(*remarks).findings
    return found


TOTAL, REFUND = "total = amount * 2", "if total > 10:\nrefund(total)"
PLACES: dict[str, tuple[ReportedFinding, tuple[int, int, bool]]] = {
    "on its line": (remark(TOTAL, 11), (11, 11, False)),
    "across a blank line": (remark(f"{TOTAL}\n\n    if total > 10:", 11), (11, 11, False)),
    "in other white space, half a line": (remark("  total   =\tamount", 11), (11, 11, False)),
    "half of two lines": (remark("amount * 2\n  if total", 11), (11, 11, False)),
    "of two lines, the first": (remark(REFUND, 13), (13, 13, False)),
    "of two lines, both": (remark(REFUND, 13, end_line=14), (13, 14, False)),
    "removed": (remark("check(amount)", 11), (11, 11, True)),
    "removed, two lines": (remark("check(amount)\n    log(amount)", 11), (11, 11, True)),
    "from an unchanged line on": (remark(f"def pay(amount):\n{TOTAL}", 10), (10, 10, False)),
    "up to an unchanged line": (remark("refund(total)\nreturn None", 14), (14, 14, False)),
    "removed, from an unchanged line on": (remark("def pay(amount):\ncheck(amount)", 11), (11, 11, True)),
    "one of equal lines": (remark("same()", 6, "twice.py"), (6, 6, False)),
}


@pytest.mark.parametrize("said, place", PLACES.values(), ids=PLACES)
def test_a_quote_that_stands_where_it_is_said_to_stand_keeps_its_place(
    said: ReportedFinding, place: tuple[int, int, bool]
) -> None:
    found = kept(said)
    assert (found.line, found.end_line, found.removed, found.corrected) == (*place, "")


@pytest.mark.parametrize(
    "said, place",
    [
        (remark("refund(total)", line=99), (14, 14)),
        (remark("same()", line=50, path="twice.py"), (9, 9)),
        (remark(REFUND, line=13, end_line=15), (13, 14)),
        (remark(REFUND, line=12, end_line=13), (13, 14)),
        (remark(REFUND, line=14, end_line=13), (13, 14)),
    ],
)
def test_a_wrong_place_is_corrected_to_the_nearest_of_the_quote_and_that_is_noted(
    said: ReportedFinding, place: tuple[int, int]
) -> None:
    found = kept(said)
    assert (found.line, found.end_line) == place
    assert found.corrected.startswith(f"line {said.line}")


@pytest.mark.parametrize(
    "quote",
    [
        pytest.param("delete_everything()", id="not there"),
        pytest.param("return None", id="not changed"),
        pytest.param("refund(total)\nif total > 10:", id="in another order"),
        pytest.param("total = amount * 2\nrefund(total)", id="with a gap"),
        pytest.param("check(amount)\n    total = amount * 2", id="across the two sides"),
        pytest.param("\n \n", id="blank"),
    ],
)
def test_a_quote_that_does_not_stand_in_the_change_is_refused(quote: str) -> None:
    report = ShownChange(CHANGE).check(
        ReviewReport.model_construct(
            verdict="reject",
            summary="s",
            confidence=1.0,
            answers=(),
            findings=(ReportedFinding.model_construct(**{**remark("x").model_dump(), "evidence": quote}),),
        )
    )
    assert report.findings == ()
    (refused,) = report.refused
    assert (refused.severity, refused.why) == ("high", "its evidence does not stand in the changed lines of the file")


def test_a_file_outside_the_change_is_refused() -> None:
    (refused,) = checked(remark("x", path="src/other.py")).refused
    assert (refused.path, refused.why) == ("src/other.py", "its file is not part of the change")


def test_a_path_is_quoted_as_it_was_shown() -> None:
    found = kept(remark("run()", line=1, path='"odd \\"name\\".py"'))
    assert found.path == 'odd "name".py'


def test_an_invisible_character_is_quoted_as_it_was_shown() -> None:
    file = FileChange(Status.ADDED, "a.py", hunks=(Hunk(0, 0, 1, 1, "", ("+if user\u202e:",)),))
    report = ReviewReport(verdict="reject", summary="s", confidence=1, findings=(remark("user<U+202E>:", 1, "a.py"),))
    assert len(ShownChange((file,)).check(report).findings) == 1


@pytest.mark.parametrize(
    "path, quote, settled",
    [
        ("src/pay.py", "refund(total)", True),
        ("src/pay.py", "check(amount)", True),
        ("src/pay.py", "return None", False),
        ("src/pay.py", "trust me", False),
        ("src/pay.py", "", False),
        ("src/callers.py", "pay(amount=2)", True),
        ("src/callers.py", "pay(amount=3)", False),
        ("no/such/file.py", "totally made up", False),
        ("src/pay.py", "x", False),
        ("src/callers.py", "", False),
        ("", "trust me", False),
    ],
)
def test_a_disagreement_is_settled_by_a_quote_and_not_by_words(path: str, quote: str, settled: bool) -> None:
    answer = DisagreementAnswer(disagreement="d0.1", position="contested", path=path, evidence=quote)
    report = ReviewReport(verdict="approve", summary="s", confidence=1, answers=(answer,))
    outside = {"src/callers.py": "def f():\n    pay(amount=2)\n"}
    shown = ShownChange(CHANGE, head_text=outside.get)
    known, unknown = shown.check(report, {"d0.1"}), shown.check(report, {"d0.2"})
    assert known.settled == (("d0.1",) if settled else ())
    assert known.answers == (answer,)
    assert (unknown.settled, unknown.answers) == ((), ())


def test_a_report_changes_its_state_with_verdict_finding_severity_or_settled_disagreement_and_not_with_prose() -> None:
    report = checked(remark("refund(total)"))
    (one,) = report.findings
    assert replace(report, summary="other words", confidence=0.1).state == report.state
    changed = [
        replace(report, verdict="approve"),
        replace(report, findings=()),
        replace(report, findings=(replace(one, id="f-1"),)),
        replace(report, findings=(replace(one, severity="low"),)),
        replace(report, settled=("d-1",)),
    ]
    assert len({report.state, *(each.state for each in changed)}) == 6


@pytest.mark.parametrize("evidence, line", [("refund(total)", 14), ("check(amount)", None), ("nowhere(amount)", None)])
def test_only_an_added_line_proves_what_is_to_be_remembered(evidence: str, line: int | None) -> None:
    entry = KnowledgeEntry(title="t", body="b", path="src/pay.py", evidence=evidence, tags=("money",))
    learned = ShownChange(CHANGE).learned(entry)
    report = ShownChange(CHANGE).check(ReviewReport(verdict="approve", summary="s", confidence=1, knowledge=(entry,)))
    assert (*report.knowledge, *report.dropped) == (learned,)
    if line is None:
        assert learned == DroppedKnowledge("t", "its evidence does not stand in the changed lines of its file")
    else:
        assert learned == Knowledge("t", "b", "src/pay.py", line, evidence, ("money",))
        assert report.dropped == ()


def test_of_equal_lines_the_first_proves_what_is_to_be_remembered() -> None:
    learned = ShownChange(CHANGE).learned(KnowledgeEntry(title="t", body="b", path="twice.py", evidence="same()"))
    assert isinstance(learned, Knowledge)
    assert learned.line == 1


LONG = tuple(f"{'+' if n % 3 else ' '}price_{n} = rate * {n} if rate else {n}" for n in range(1, 81))
SHOP = FileChange(
    Status.MODIFIED, "shop.py", added=54, hunks=(Hunk(1, 26, 1, 80, "", (*LONG, "\\ No newline at end of file")),)
)


@given(st.integers(0, 79), st.integers(1, 40), st.booleans())
def test_a_quote_of_the_diff_as_it_is_rendered_stands_where_its_lines_do(at: int, length: int, signs: bool) -> None:
    shown = render_files((SHOP,)).split("\n")
    first = shown.index(LONG[at])
    quote = [line for line in shown[first : first + length] if line]
    assume(any(line[0] == "+" for line in quote))
    text = "\n".join(quote if signs else [line if line[0] in "@\\" else line[1:] for line in quote])
    report = ReviewReport(
        verdict="reject", summary="s", confidence=0.5, findings=(remark(text, line=999, path="shop.py"),)
    )
    (found,) = ShownChange((SHOP,)).check(report).findings
    told = sum(line[0] in "+ " for line in quote)
    assert (found.line, found.end_line) == (at + 1, at + told)
    assert "@@" not in found.evidence


REPLACED = tuple(
    line
    for n in range(1, 41)
    for line in (f"-price_{n} = old_rate * {n}", f"+price_{n} = rate * {n} if rate else {n}", f" sum_{n} += price_{n}")
)
DEAR = FileChange(Status.MODIFIED, "dear.py", added=40, removed=40, hunks=(Hunk(1, 80, 1, 80, "", REPLACED),))


@given(st.integers(0, 119), st.integers(1, 20))
def test_a_quote_of_a_replaced_line_and_what_took_its_place_stands_where_the_new_one_does(at: int, length: int) -> None:
    quote = REPLACED[at : at + length]
    assume({"+", "-"} <= {line[0] for line in quote})
    report = ReviewReport(
        verdict="reject", summary="s", confidence=0.5, findings=(remark("\n".join(quote), line=999, path="dear.py"),)
    )
    (found,) = ShownChange((DEAR,)).check(report).findings
    before = sum(line[0] != "-" for line in REPLACED[:at])
    told = sum(line[0] != "-" for line in quote)
    assert (found.line, found.end_line, found.removed) == (before + 1, before + told, False)
    assert "old_rate" not in found.evidence


@pytest.mark.parametrize("quote", ["@@ -1 +1 @@", "+total = amount * 3", "+total = amount * 2\n+refund(total)", "+\n+"])
def test_a_sign_or_a_number_proves_nothing(quote: str) -> None:
    assert checked(remark(quote)).findings == ()
