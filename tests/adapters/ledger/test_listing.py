"""Which runs there are: every filter alone and together, and words that were meant to be more than words."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.ledgers import database, exported, five, record, retold, rows, told
from tests.scenarios.five_stories import an_approval_after_consults

from review_advisor.change.redaction import Redactor
from review_advisor.ledger.chain import LedgerError
from review_advisor.ledger.proving import verify
from review_advisor.ledger.queries import Between, Period, RunFilter, run_text, runs_text
from review_advisor.ledger.recorder import Rebuilt
from review_advisor.ledger.run_queries import chosen, list_runs, show_run
from review_advisor.ledger.sums import add_up
from review_advisor.ledger.transfer import rebuild
from review_advisor.mockworld.agents import approve, credit_gone, finding
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import REVIEW_ROLES, Role
from review_advisor.review.document import OutcomeDocument, outcome_document
from review_advisor.review.events import CallEnded, Consulted, Event

HOSTILE = "'; DROP TABLE runs; -- \" %_\\ \x00\x1b[2J\u202e <script>alert(1)</script>\r\nrun run_2 approved"


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The five stories, a pull request of another repository, one that is stopped, and one that was killed."""
    path = tmp_path_factory.mktemp("ledger") / "ledger.sqlite3"
    record(path, *five())
    record(path, told(number=6, repository="Other/Place", pull_request=99))
    record(path, told(lambda world: world.agents.script(Role.EXECUTOR, credit_gone()), 7))
    record(path, told(number=8), until=4)
    return path


def numbers(path: Path, wanted: RunFilter) -> list[int]:
    return [int(run.run_id.removeprefix("run-")) for run in list_runs(path, wanted)]


FILTERS = {
    "status, approved": (RunFilter(status="approved"), [6, 5, 3, 2, 1]),
    "status, escalated": (RunFilter(status="escalated"), [4]),
    "status, stopped": (RunFilter(status="stopped"), [7]),
    "status, unfinished": (RunFilter(status="unfinished"), [8]),
    "status, nonsense": (RunFilter(status="won"), []),
    "surface": (RunFilter(surface="pre_merge_spec_check"), [4]),
    "surface, also where nobody was asked": (RunFilter(surface="wiki_ingest"), [5]),
    "role": (RunFilter(role="pre_flight"), [8, 7, 6, 5, 4, 3, 2, 1]),
    "role, mid-flight": (RunFilter(role="mid_flight"), [2, 1]),
    "model": (RunFilter(model="opus"), [8, 7, 6, 5, 4, 3, 2, 1]),
    "model and role of a consult": (RunFilter(model="opus", role="mid_flight"), [2, 1]),
    "model and role of one call": (RunFilter(model="sonnet", role="post_verify"), []),
    "surface and role of one call": (RunFilter(surface="pre_merge_spec_check", role="pre_flight"), []),
    "error": (RunFilter(error="crash"), [3]),
    "error of one role": (RunFilter(error="crash", role="executor"), []),
    "error, spent credit": (RunFilter(error="CreditExhaustedError"), [7]),
    "error of a consult": (RunFilter(error="scripted: crash", role="mid_flight"), [1]),
    "error, any": (RunFilter(error="any"), [7, 3, 1]),
    "error, none": (RunFilter(error="none"), [8, 6, 5, 4, 2]),
    "cost, from": (RunFilter(cost_usd=Between(0.1)), [1]),
    "cost, both ends": (RunFilter(cost_usd=Between(0.22, 0.22)), [1]),
    "cost, up to": (RunFilter(cost_usd=Between(None, 0.1), limit=3), [8, 7, 6]),
    "consults": (RunFilter(consults=Between(1)), [2, 1]),
    "consults, exactly": (RunFilter(consults=Between(3, 3)), [1]),
    "consults, none": (RunFilter(consults=Between(0, 0), status="approved"), [6, 5, 3]),
    "repository": (RunFilter(repository="other/place"), [6]),
    "repository, unknown": (RunFilter(repository="other/plac"), []),
    "pull request": (RunFilter(pull_request=99), [6]),
    "repository and another's pull request": (RunFilter(repository="acme/shop", pull_request=99), []),
    "text": (RunFilter(text="ADD A val"), [8, 7, 6, 5, 4, 3, 2, 1]),
    "text, nowhere": (RunFilter(text="subtract"), []),
    "since": (RunFilter(since=datetime(2026, 1, 5, 15, tzinfo=UTC)), [8, 7, 6]),
    "until": (RunFilter(until=datetime(2026, 1, 5, 11, tzinfo=UTC)), [1]),
    "an hour": (
        RunFilter(since=datetime(2026, 1, 5, 11, tzinfo=UTC), until=datetime(2026, 1, 5, 12, tzinfo=UTC)),
        [2],
    ),
    "another zone": (RunFilter(since=datetime.fromisoformat("2026-01-05T18:00:00+02:00")), [8, 7]),
    "limit": (RunFilter(limit=2), [8, 7]),
    "everything at once": (
        RunFilter(
            status="approved",
            surface="pr_review",
            role="executor",
            model="sonnet",
            error="none",
            cost_usd=Between(0, 1),
            consults=Between(1, 1),
            repository="acme/shop",
            pull_request=7,
            text="value",
            since=datetime(2026, 1, 1, tzinfo=UTC),
            until=datetime(2027, 1, 1, tzinfo=UTC),
        ),
        [2],
    ),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("wanted, found", FILTERS.values(), ids=list(FILTERS))
def test_a_filter_finds_the_runs_that_are_all_of_it(ledger: Path, wanted: RunFilter, found: list[int]) -> None:
    assert numbers(ledger, wanted) == found


@pytest.mark.parametrize("wanted", [wanted for wanted, _ in FILTERS.values()], ids=list(FILTERS))
def test_a_list_ends_as_soon_as_it_is_full_and_needs_no_sorting(ledger: Path, wanted: RunFilter) -> None:
    """By the order of the runs, or by their pull request: never by an index that a rollup needs for its medians."""
    statement, values = chosen(wanted)
    with database(ledger) as connection:
        plan = [step for *_, step in connection.execute(f"EXPLAIN QUERY PLAN {statement}", values)]
    assert plan[0].startswith(("SCAN runs", "SEARCH runs"))
    unwanted = ("runs_by_wall", "runs_by_executor", "ORDER BY")
    assert [step for step in plan if any(word in step for word in unwanted)] == []


@pytest.mark.parametrize("spelling", ["acme/shop", "Acme/Shop", "ACME/SHOP"])
def test_a_repository_is_meant_in_every_spelling_that_the_ledger_has(tmp_path: Path, spelling: str) -> None:
    path = tmp_path / "ledger.sqlite3"
    record(path, told(number=1, repository="Acme/Shop"), told(number=2), told(number=3, repository="acme/other"))
    record(path, told(number=4, repository="ACME/shop"))
    assert numbers(path, RunFilter(repository=spelling)) == [4, 2, 1]
    assert add_up(path, Period(repository=spelling)).sums.runs == 3


def test_a_model_is_found_by_the_name_that_was_asked_for_and_by_the_one_that_answered(tmp_path: Path) -> None:
    """The CLI takes ``opus`` and answers as one of its versions; a lost call has no other name than that."""

    def resolved(event: Event) -> Event:
        if isinstance(event, CallEnded):
            return replace(event, resolved_model=f"claude-{event.requested_model}-5-5")
        if isinstance(event, Consulted) and event.note.resolved_model:
            return replace(event, note=replace(event.note, resolved_model="claude-opus-5-5"))
        return event

    path = tmp_path / "ledger.sqlite3"
    record(path, outcome_document([resolved(event) for event in told(an_approval_after_consults).events]))
    for model, roles in {
        "opus": {"pre_flight", "mid_flight", "post_verify"},
        "claude-opus-5-5": {"pre_flight", "mid_flight", "post_verify"},
        "sonnet": {"executor"},
        "claude-sonnet-5-5": {"executor"},
    }.items():
        found = {role.value for role in REVIEW_ROLES if numbers(path, RunFilter(model=model, role=role.value))}
        assert found == roles, model


WORDS = [
    "' OR '1'='1",
    "'; DROP TABLE runs; --",
    '" OR ""="',
    "%",
    "_",
    "\\",
    "a%b",
    "Add_a",
    "\x00",
    "\ud800",
    "? OR 1",
    "x' UNION SELECT 1, 2 --",
]


@pytest.mark.one_in(20)
@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("field", ["status", "surface", "role", "model", "error", "repository"])
def test_words_that_look_like_sql_are_words(ledger: Path, field: str, words: str) -> None:
    before = exported(ledger)
    asked: dict[str, Any] = {field: words}
    assert numbers(ledger, RunFilter(**asked)) == []
    assert exported(ledger) == before


@pytest.mark.one_in(4)
@pytest.mark.parametrize("words", WORDS)
def test_text_is_looked_for_letter_by_letter(ledger: Path, tmp_path: Path, words: str) -> None:
    assert numbers(ledger, RunFilter(text=words)) == []
    path = tmp_path / "ledger.sqlite3"
    record(path, titled(f"before {words} after", 1), titled("before after", 2))
    asked = words.encode("utf-8", "backslashreplace").decode()  # a half character is kept as its escape
    assert numbers(path, RunFilter(text=asked)) == [1]


def titled(title: str, number: int) -> OutcomeDocument:
    return retold(told(number=number), title=title)


# --- hostile words in every column ------------------------------------------------------------------------------------


class _Hostile(Redactor):
    """Puts hostile words behind every text that is long enough to be somebody's own."""

    def redact(self, text: str) -> str:
        return text if text.startswith("run-") else text + HOSTILE


def hostile_review(number: int) -> OutcomeDocument:
    def story(world: MockWorld) -> None:
        world.switch("HYDRAFLOW_REVIEW_EXECUTOR_MODEL", "a-model-with-a-name")
        world.source.stated = replace(world.source.stated, label="pull-request-7")
        fault = finding("src/app.py", 7, "value = 7", title="seven is taken")
        world.agents.script(Role.EXECUTOR, approve(fault).after_asking("May seven repeat?"))

    document = told(story, number)
    return outcome_document([_Hostile().everywhere(event) for event in document.events])


def test_hostile_words_in_every_column_stay_words(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    document = hostile_review(2)
    record(path, told(number=1), document, told(number=3))
    assert numbers(path, RunFilter()) == [3, 2, 1]
    assert verify(path).broken == ()
    before = rows(path)
    for table, column in (
        *(("titles", "title"), ("changes", "label"), ("findings", "path"), ("findings", "title")),
        *(("consults", "question"), ("consults", "action"), ("calls", "requested_model")),
    ):
        with database(path) as connection:
            (found,) = connection.execute(f"SELECT {column} FROM {table} WHERE {column} LIKE '%DROP TABLE%'").fetchone()
        assert "\0" not in found
        assert "\\x00" in found
    rebuild(path)
    assert rows(path) == before


def test_hostile_words_never_reach_the_terminal_as_more_than_words(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    record(path, hostile_review(2))
    listed = runs_text(list_runs(path, RunFilter()))
    shown = run_text(show_run(path, "run-2"))
    assert len(listed.splitlines()) == 2
    for text in (listed, shown):
        assert [c for c in text if not c.isprintable() and c != "\n"] == []
        assert "\\u202e" in text
        assert not any(line.startswith("run run_2") for line in text.splitlines())
    assert json.loads(json.dumps(show_run(path, "run-2").as_json()))["run"]["run_id"] == "run-2"


# --- one run ----------------------------------------------------------------------------------------------------------


def test_a_run_is_named_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    record(path, *(told(number=number) for number in (1, 10, 23)))
    assert show_run(path, "run-2").line.run_id == "run-23"
    assert show_run(path, "run-1").line.run_id == "run-1", "a whole id is that run"
    with pytest.raises(LedgerError, match="Several runs begin with 'run-': run-1, run-10 and maybe more"):
        show_run(path, "run-")
    for name in ("", "run-3", "%", "run_1", "RUN-1", "' OR 1", "\ud800", "\0"):
        with pytest.raises(LedgerError, match="has no run"):
            show_run(path, name)


def test_the_newest_run_comes_first_whenever_it_was_recorded(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    record(path, *(told(number=number) for number in (3, 1, 2)))
    assert numbers(path, RunFilter()) == [3, 2, 1]
    begun = [datetime.fromisoformat(run.started_at) for run in list_runs(path, RunFilter())]
    assert begun == [datetime(2026, 1, 5, 9, tzinfo=UTC) + timedelta(hours=number) for number in (3, 2, 1)]


def test_a_row_that_cannot_be_is_damage_not_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    record(path, told())
    for statement in ("UPDATE runs SET cost_usd = 'dear'", "UPDATE runs SET wall_ms = X'00'"):
        with database(path) as connection:
            connection.execute(statement)
        with pytest.raises(LedgerError, match="is damaged: a row of run-1 holds what it cannot hold"):
            list_runs(path, RunFilter())
    assert rebuild(path) == Rebuilt(1)
    assert numbers(path, RunFilter()) == [1]
