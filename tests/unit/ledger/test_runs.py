"""How runs are told: in a table for people, in JSON for programs."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.ledger.queries import RunLine, RunRecord, letters, run_text, runs_text
from review_advisor.safety.wording import printable_line

RUN = RunLine(
    run_id="run_20260105T090000Z_0123abcd",
    started_at="2026-01-05T09:00:00+00:00",
    status="approved",
    repository="acme/shop",
    pull_request=7,
    label="pr-7",
    title="Add a value that has a rather long title",
    head_sha="a" * 40,
    cost_usd=0.25,
    unpriced=0,
    consults=2,
    findings=1,
    vetoes=1,
    degraded=True,
    disabled=True,
    recovered=True,
    exhausted=False,
    wall_ms=61_500,
    executor_ms=30_000,
    executor_tokens=12_000,
    advisor_tokens=1_500,
)


def other(**facts: object) -> RunLine:
    return RunLine(**{**RUN.as_json(), **facts})


def test_a_list_is_one_line_a_run() -> None:
    local = other(repository=None, pull_request=None, label="range-aa-bb", cost_usd=None, degraded=False)
    head, *lines = (re.split(r"\s{2,}", line) for line in runs_text([RUN, local]).splitlines())
    assert head == ["run", "started (UTC)", "status", "change", "cost", "consults", "findings", "flags", "title"]
    said = ["2026-01-05 09:00", "approved"]
    assert lines == [
        [RUN.run_id, *said, "acme/shop#7", "$0.2500", "2", "1", "degraded, advisor off, recovered", RUN.title],
        [RUN.run_id, *said, "range-aa-bb", "unknown", "2", "1", "advisor off, recovered", RUN.title],
    ]


def test_where_the_terminal_ends_the_title_gives_way() -> None:
    _, line = runs_text([RUN], 150).splitlines()
    assert line.endswith("  Add a value ...")
    assert len(line) == 150
    _, narrow = runs_text([RUN], 20).splitlines()
    assert narrow.endswith("  Add a val..."), "never shorter than a word"
    whole = len(runs_text([RUN]).splitlines()[1])
    assert runs_text([RUN], whole).splitlines()[1].endswith(f"  {RUN.title}")
    assert runs_text([RUN], whole - 1).splitlines()[1].endswith("...")


def test_one_run_is_told_line_by_line() -> None:
    assert run_text(RunRecord(RUN, {}, ())).splitlines() == [
        "run         run_20260105T090000Z_0123abcd",
        "started     2026-01-05T09:00:00+00:00",
        "change      acme/shop#7",
        f"title       {RUN.title}",
        f"head        {'a' * 40}",
        "status      approved",
        "flags       degraded, advisor off, recovered",
        "cost        $0.2500",
        "wall clock  61.5 s",
        "tokens      12000 executor, 1500 advisor",
        "events      0",
    ]
    local = other(repository=None, label="range-aa-bb", head_sha=None, degraded=False, disabled=False, recovered=False)
    told = run_text(RunRecord(local, {}, ()))
    assert [line in told.splitlines() for line in ("change      range-aa-bb", "head        -", "flags       -")] == [
        *(True, True, True),
    ]


def test_one_run_names_the_teams_own_rules() -> None:
    rules = [{"name": "REVIEW.md"}, {"name": "AGENTS.md", "cut": 1200}, {"name": "api.md", "problem": "too long"}]
    told = run_text(RunRecord(RUN, {}, ({"kind": "policy_frozen", "guidelines": rules},))).splitlines()
    assert [line.removeprefix("team rule   ") for line in told if line.startswith("team rule")] == [
        "REVIEW.md",
        "AGENTS.md, cut by 1,200 characters",
        "api.md not applied: too long",
    ]


def test_no_run_is_said() -> None:
    assert runs_text([]) == "No run matches.\n"


def test_one_run_is_told_with_the_tables_that_have_rows() -> None:
    tables = {
        "calls": ({"number": 2, "role": "executor", "cost_usd": None, "session_id": "hidden", "duration_ms": 1000},),
        "votes": (),
    }
    text = run_text(RunRecord(RUN, tables, ({"kind": "policy_frozen"},)))
    assert "wall clock  61.5 s\n" in text
    assert "tokens      12000 executor, 1500 advisor\n" in text
    assert "events      1\n" in text
    assert text.endswith("\ncalls\nnumber  role      cost_usd  duration_ms\n2       executor  -         1000\n")
    assert "wall clock  -\n" in run_text(RunRecord(other(wall_ms=None), {}, ()))
    assert "BROKEN" not in text
    assert "BROKEN      event 3: it is missing\n" in run_text(RunRecord(RUN, {}, (), "event 3: it is missing"))


@pytest.mark.parametrize(
    "cost, unpriced, words",
    [
        (0.21, 0, "$0.2100"),
        (0.21, 1, "$0.2100, and 1 call unknown"),
        (0.0, 1_200, "$0.0000, and 1,200 calls unknown"),
        (None, 2, "unknown"),
    ],
)
def test_a_cost_that_is_known_in_part_is_not_told_as_the_cost(cost: float | None, unpriced: int, words: str) -> None:
    run = other(cost_usd=cost, unpriced=unpriced)
    assert f"  {words}  " in runs_text([run])
    assert f"cost        {words}\n" in run_text(RunRecord(run, {}, ()))
    assert RunRecord(run, {}, ()).as_json()["run"]["unpriced"] == unpriced


def test_one_run_is_one_object_of_json() -> None:
    told = json.loads(json.dumps(RunRecord(RUN, {"votes": ()}, ({"kind": "x"},)).as_json()))
    assert told == {"run": RUN.as_json(), "votes": [], "events": [{"kind": "x"}], "broken": ""}


@pytest.mark.parametrize(
    "text, shown",
    [
        ("a\nb\tc", "a b c"),
        ("\x1b[2J", "\\x1b[2J"),
        ("\u202ereversed\u2066", "\\u202ereversed\\u2066"),
        ("\ud800", "\\ud800"),
        ("naïve 漢字", "naïve 漢字"),
    ],
)
def test_a_cell_is_one_line_in_which_nothing_hides(text: str, shown: str) -> None:
    assert printable_line(text) == shown


@given(st.text(), st.text(), st.text())
def test_a_text_that_stands_in_another_holds_no_other_pair_of_letters(before: str, text: str, after: str) -> None:
    for written in (text, text.swapcase() if text.isascii() else text):
        assert letters(written) & ~letters(before + text + after) == 0


def test_letters_fit_a_database_and_tell_words_apart() -> None:
    assert letters("") == letters("a") == 0
    assert 0 < letters("".join(map(chr, range(0x10FFFF // 64)))) < 2**63
    assert letters("no such words") & ~letters("fix the parser of the login queue") != 0


def test_letters_are_those_that_a_stored_run_was_found_by_before() -> None:
    """They stand in the ledgers of users: another number for a text would hide its runs from a search."""
    assert letters("ab") == letters("AB") == 1 << (ord("a") * 31 + ord("b")) % 63
    assert letters("abc") == letters("ab") | letters("bc")
