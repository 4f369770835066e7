"""No finding is lost: each one is kept, merged into a named one, or refused with a reason."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.agents.answers import SEVERITIES, DisagreementAnswer, ReportedFinding, ReviewReport
from review_advisor.agents.evidence import ShownChange
from review_advisor.agents.findings import FINDING_ID, Finding, finding_id, id_at, merged, ordered
from review_advisor.change.change import Change, FileChange, Hunk, Status
from review_advisor.change.shards import shards
from review_advisor.safety.fence import clean

TEXTS = ("same()", "other()", "deeply.same()", "x")
SEVERITY = st.sampled_from(SEVERITIES)


def added(path: str, *texts: str) -> FileChange:
    lines = tuple(text if text[:1] in "+- " else f"+{text}" for text in texts)
    return FileChange(Status.MODIFIED, path, added=len(lines), hunks=(Hunk(1, 0, 1, len(lines), "", lines),))


def remark(evidence: str, line: int = 1, path: str = "a.py", **more: Any) -> ReportedFinding:
    facts: dict[str, Any] = {"severity": "low", "category": "c", "title": "t", "confidence": 0.5, **more}
    return ReportedFinding(path=path, line=line, evidence=evidence, **facts)


def report_of(*remarks: ReportedFinding) -> ReviewReport:
    return ReviewReport(verdict="reject", summary="s", confidence=0.5, findings=remarks)


def found(shown: ShownChange, *remarks: ReportedFinding) -> tuple[Finding, ...]:
    return shown.check(report_of(*remarks)).findings


REMARKS = st.lists(
    st.builds(
        remark,
        evidence=st.sampled_from(["same()", "other()\nsame()", "same()\nother()", "x", "gone()", " same() "]),
        line=st.integers(0, 9),
        path=st.sampled_from(["a.py", "b.py", "c.py"]),
        severity=SEVERITY,
        category=st.sampled_from(["c", "C", "d"]),
        title=st.sampled_from(["one", "two"]),
    ),
    max_size=12,
)
FILES = st.tuples(*(st.lists(st.sampled_from(["+", "-", " "]).flatmap(
    lambda sign: st.sampled_from(TEXTS).map(lambda text: sign + text)
), max_size=8) for _ in "ab"))  # fmt: skip


@given(FILES, REMARKS)
def test_every_remark_is_kept_or_merged_into_a_named_finding_or_refused_with_a_reason(
    files: tuple[list[str], ...], remarks: list[ReportedFinding]
) -> None:
    shown = ShownChange(added(path, *texts) for path, texts in zip(("a.py", "b.py"), files, strict=True))
    checked = shown.check(report_of(*remarks))
    told = [(each.severity, each.title) for each in checked.findings]
    told += [(also.severity, also.title) for each in checked.findings for also in each.also]
    told += [(each.severity, each.title) for each in checked.refused]
    assert sorted(told) == sorted((each.severity, each.title) for each in remarks)
    assert len({each.id for each in checked.findings}) == len(checked.findings)
    assert all(each.why for each in checked.refused)
    for each in checked.findings:
        rank = SEVERITIES.index(each.severity)
        assert [rank, *(SEVERITIES.index(also.severity) for also in each.also)] == sorted(
            [rank, *(SEVERITIES.index(also.severity) for also in each.also)]
        )


@pytest.mark.every_case
@given(st.lists(st.tuples(st.sampled_from(["f-1", "f-2"]), SEVERITY, st.text("ab", max_size=2)), max_size=8))
def test_findings_of_several_parts_are_merged_as_those_of_one_report(raw: list[tuple[str, Any, str]]) -> None:
    one = Finding("f-0", "a.py", 1, 1, False, "low", "c", "t", "", None, 0.5, "quote")
    every = [replace(one, id=name, severity=severity, title=title) for name, severity, title in raw]
    at_once, in_turn = merged(every), merged([*merged(every[:4]), *merged(every[4:])])
    for result in (at_once, in_turn):
        told = sorted(
            (each.id, severity, title)
            for each in result
            for severity, title in ((each.severity, each.title), *((also.severity, also.title) for also in each.also))
        )
        assert told == sorted((name, severity, title) for name, severity, title in raw)
    assert [(each.id, each.severity) for each in at_once] == [(each.id, each.severity) for each in in_turn]


def test_a_critical_remark_does_not_vanish_behind_a_mild_one_on_the_same_lines() -> None:
    shown = ShownChange([added("a.py", "same()")])
    mild = remark("same()", title="odd name", body="Rename it.")
    grave = remark("same()", severity="critical", title="injection", body="It runs what it reads.")
    (finding,) = found(shown, mild, grave)
    assert (finding.severity, finding.title) == ("critical", "injection")
    assert finding.words == "It runs what it reads.\n\nAlso raised here, low: odd name\n\nRename it."


def test_the_words_of_a_remark_that_says_the_same_stand_once_and_its_suggestion_too() -> None:
    shown = ShownChange([added("a.py", "same()")])
    one = remark("same()", title="first", body="Why.", suggestion="x = 1")
    same, other = one.model_copy(update={"title": "again"}), remark("same()", title="third", suggestion="x = 2")
    (finding,) = found(shown, one, same, other)
    assert finding.words == (
        "Why.\n\nAlso raised here, low: again\n\nAlso raised here, low: third\n\nSuggested:\nx = 2"
    )


def test_a_remark_without_a_suggestion_offers_none() -> None:
    shown = ShownChange([added("a.py", "same()")])
    (finding,) = found(shown, remark("same()", body="Why.", suggestion="x = 1"), remark("same()", title="again"))
    assert finding.words == "Why.\n\nAlso raised here, low: again"


# --- what an id names -------------------------------------------------------------------------------------------------


@given(st.integers(0, 3), st.integers(1, 3))
def test_an_id_stays_when_its_line_moves_and_whatever_else_is_added(place: int, many: int) -> None:
    texts = ["same()", "x = 1", "same()"]
    moved = [*texts[:place], *(f"new = {number}" for number in range(many)), *texts[place:]]
    before, after = (
        {each.id for each in found(ShownChange([added("a.py", *each)]), *(remark("same()", n) for n in (1, 9)))}
        for each in (texts, moved)
    )
    assert len(before) == 2
    assert before == after


def test_an_unchanged_line_is_no_place() -> None:
    """Which unchanged lines a diff shows depends on the edits beside them."""
    (finding,) = found(ShownChange([added("a.py", " same()", "+same()")]), remark("same()", 2))
    assert (finding.occurrence, finding.occurrences) == (1, 1)
    assert finding.id == finding_id("a.py", "c", "same()")


def test_a_removed_line_and_an_added_one_are_two_findings() -> None:
    new, old = finding_id("a.py", "c", "same()"), finding_id("a.py", "c", "same()", removed=True)
    assert new != old
    (finding,) = found(ShownChange([added("a.py", "-same()", "+other()")]), remark("same()", 1))
    assert finding.id == old


def test_equal_lines_are_counted_over_the_whole_file_whatever_part_of_it_is_shown() -> None:
    file = added("a.py", *["same()", *(f"value = {number}" for number in range(40))] * 6)
    parts, _ = shards(Change("c", files=(file,)), 250)
    assert len(parts) > 3
    whole = ShownChange([file])
    every = [
        finding
        for part in parts
        for line in range(1, 42 * 6, 41)
        for finding in found(ShownChange(part.files, whole), remark("same()", line))
    ]
    assert {each.occurrence: each.line for each in every} == {n + 1: n * 41 + 1 for n in range(6)}
    assert len({each.id for each in every}) == 6
    assert {each.occurrences for each in every} == {6}


@pytest.mark.parametrize(
    "one, other",
    [
        (("a.py\0b", "c", "q"), ("a.py", "b\0c", "q")),
        (("a.py", "c\0d", "q"), ("a.py", "c", "d\0q")),
        (("a", '","', "q"), ('a","', "", "q")),
        (("a.py", "c", "x\ny"), ("a.py", "c", "x y")),
        (("a.py", "c", "q", 1), ("a.py", "c", "q", 2)),
        (("half\ud83d.py", "c", "q"), ("half?.py", "c", "q")),
    ],
)
def test_no_text_reaches_over_into_its_neighbour(one: tuple[Any, ...], other: tuple[Any, ...]) -> None:
    assert finding_id(*one) != finding_id(*other)


def test_an_id_has_128_bits() -> None:
    name = finding_id("a.py", "c", "same()")
    assert re.fullmatch(FINDING_ID, name)
    assert len(name) == len("f-") + 128 // 4
    assert re.fullmatch(FINDING_ID, name[:-1]) is None


def test_a_finding_has_the_id_under_another_path_that_it_would_be_given_there() -> None:
    texts = ("-same()", "same()", "x", "same()")
    raised = [remark("same()", 1), remark("same()", 4), remark("-same()", 1), remark("x\n  same()", 3)]
    here = found(ShownChange([added("a.py", *texts)]), *raised)
    there = [each.model_copy(update={"path": "b.py"}) for each in raised]
    assert [id_at("b.py", each) for each in here] == [
        each.id for each in found(ShownChange([added("b.py", *texts)]), *there)
    ]


def test_two_files_that_are_shown_under_one_name_are_both_looked_at() -> None:
    """A path is shown without the secrets in it, so an author can give two files one name."""
    names = [f"src/ghp_{letter * 36}.py" for letter in "ab"]
    shown = ShownChange([added(names[0], "first()"), added(names[1], "second()")])
    assert clean(names[0]) == clean(names[1])
    findings = found(shown, *(remark(text, path=clean(names[0])) for text in ("first()", "second()")))
    assert [each.path for each in findings] == names


# --- what proves ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("quote, enough", [("abc", False), (" a  b", False), ("abcd", True), ("ab\nc", True)])
def test_a_quote_of_four_characters_is_evidence_and_one_of_three_is_none(quote: str, enough: bool) -> None:
    shown = ShownChange([added("a.py", "abcd", "a b", "ab", "c")], head_text={"b.py": "abcd a b ab\nc"}.get)
    checked = shown.check(report_of(remark(quote)))
    assert (len(checked.findings), len(checked.refused)) == ((1, 0) if enough else (0, 1))
    for path in ("a.py", "b.py"):
        answer = DisagreementAnswer(disagreement="d0.1", position="contested", path=path, evidence=quote)
        settled = shown.check(ReviewReport(verdict="approve", summary="s", confidence=1, answers=(answer,)), {"d0.1"})
        assert settled.settled == (("d0.1",) if enough else ())


def test_the_worst_finding_comes_first_then_the_place_decides() -> None:
    (one,) = found(ShownChange((added("a.py", "same()"),)), remark("same()"))
    wanted = [
        replace(one, severity="critical", path="z.py"),
        replace(one, severity="high", path="y.py", line=9),
        replace(one, path="a.py", line=1, id="f-1"),
        replace(one, path="a.py", line=1, id="f-2"),
        replace(one, path="a.py", line=2, id="f-0"),
        replace(one, path="b.py", line=1, id="f-0"),
    ]
    assert ordered(reversed(wanted)) == tuple(wanted)


def test_blank_lines_white_space_and_the_case_of_a_category_make_no_other_id() -> None:
    plain = finding_id("a.py", "money", "x = 1\ny = 2")
    assert finding_id("a.py", "Money", " x  = 1\n\n \t\n\ty = 2\n") == plain
    others = [
        finding_id("b.py", "money", "x = 1\ny = 2"),
        finding_id("a.py", "style", "x = 1\ny = 2"),
        finding_id("a.py", "money", "x = 1"),
        finding_id("a.py", "money", "x = 1\ny = 2", 2),
        finding_id("a.py", "money", "x = 1\ny = 2", removed=True),
    ]
    assert len({plain, *others}) == 6
