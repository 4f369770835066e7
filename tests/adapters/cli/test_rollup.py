"""``review-advisor rollup`` and ``review-advisor alerts``: what is typed, and what a ledger of stories comes to."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.ledgers import five, meddle, record, told

from review_advisor.agents.findings import finding_id
from review_advisor.ledger import sums as adding
from review_advisor.ledger.chain import LedgerError
from review_advisor.ledger.kpis import Sums
from review_advisor.ledger.proving import verify
from review_advisor.ledger.queries import Period
from review_advisor.ledger.recorder import keep
from review_advisor.ledger.sums import add_up
from review_advisor.ledger.transfer import rebuild
from review_advisor.mockworld.agents import Line, approve, confirm, finding, guidance, lost, reject
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.prices import Price, PriceError, prices_of_user, read_prices
from review_advisor.policy.surfaces import Role
from review_advisor.review.observed import Observed, ObservedLabel

PRICES = """
[[prices]]
model = "sonnet"
since = 2026-01-01
input = 2
output = 10.0
cache_read = 0.1
cache_write = 2.5
"""


@pytest.fixture
def kept(terminal: Terminal) -> Path:
    """The ledger that the commands look at without being told: the five stories."""
    path = terminal.folder / "review_logs" / "ledger" / "ledger.sqlite3"
    record(path, *five())
    return path


def saying(line: Line, tokens: int, usd: float | None) -> Line:
    return replace(line, output_tokens=tokens).costing(usd)


def small(executor: Line, judge: Line) -> Callable[[MockWorld], None]:
    """A small change: the executor and its judge, and nobody else."""

    def story(world: MockWorld) -> None:
        world.change(edited("src/app.py", 3))
        world.agents.script(Role.EXECUTOR, executor)
        world.agents.script(Role.POST_VERIFY, judge)

    return story


PAID = small(saying(approve(), 900, 0.03), saying(confirm(), 100, 0.02))


def rolled(terminal: Terminal, *words: str | Path) -> dict[str, Any]:
    done = terminal.run("rollup", "--since", "2026-01-01", "--json", *words)
    assert done.code == 0, done.err
    told: dict[str, Any] = json.loads(done.out)
    return told


def sums(path: Path) -> Sums:
    return add_up(path, Period()).sums


# --- rollup ----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("kept")
def test_a_period_of_stories_with_its_targets(terminal: Terminal) -> None:
    done = terminal.run("rollup", "--since", "2026-01-01")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[:2] == [
        "5 runs: 5 with a verdict, 0 stopped, 0 unfinished",
        "cost: $0.2200 reported, $0.0000 by the list of prices",
    ]
    assert lines[4].split()[:5] == ["self_repair", "50.0%", ">=", "70.0%", "missed"]
    found = {each["name"]: each for each in rolled(terminal)["kpis"]}
    assert {name: each["value"] for name, each in found.items() if each["value"] is not None} == {
        "self_repair": 0.5,
        "wall_clock": 6.0,
        "executor_turns": 19 / 15,
        "consult_rate": 0.4,
        "degraded_share": 0.2,
        "conflicts": 200.0,
    }


@pytest.mark.one_in(3)
@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    "words, runs",
    [
        (("--until", "2026-01-05T11:00"), 1),
        (("--repository", "ACME/shop"), 5),
        (("--since", "1h"), 0),
    ],
)
def test_only_what_is_asked_for_is_added_up(terminal: Terminal, words: tuple[str, ...], runs: int) -> None:
    assert rolled(terminal, *words)["sums"]["runs"] == runs


@pytest.mark.usefixtures("kept")
def test_a_repository_that_the_ledger_does_not_know_is_named(terminal: Terminal) -> None:
    note = "The ledger review_logs/ledger/ledger.sqlite3 has no run of acme/shp"
    for words in (("rollup",), ("rollup", "--json"), ("runs", "list"), ("runs", "list", "--json")):
        done = terminal.run(*words, "--repository", "acme/shp")
        assert (done.code, done.err) == (0, f"{note}.\n")
        assert terminal.run(*words, "--repository", "Acme/Shop").err == "", "an empty period is no wrong name"
    done = terminal.run("alerts", "--repository", "acme/shp")
    assert (done.code, done.sentence) == (2, f"{note}. Check its name.")
    assert terminal.run("alerts", "--repository", "Acme/Shop").code == 0


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("words", [("rollup", "--until", "2026-01-06"), ("rollup", "--since", "2999-01-01")])
def test_a_period_that_ends_before_it_begins_is_refused(terminal: Terminal, words: tuple[str, ...]) -> None:
    """Also where only one end is given: the other is 30 days ago, or now."""
    done = terminal.run(*words)
    assert done.code == 2
    assert done.sentence.startswith("--since (2")


@pytest.mark.parametrize(
    "words, says",
    [
        (("rollup",), "There is no ledger review_logs/ledger/ledger.sqlite3."),
        (("alerts",), "There is no ledger review_logs/ledger/ledger.sqlite3."),
        (
            ("rollup", "--prices", "none.toml"),
            "The list of prices none.toml cannot be read: No such file or directory.",
        ),
        (("rollup", "--prices", "app.py"), "The list of prices app.py is "),
        (("rollup", "--since", "soon"), "Invalid value for '--since': 'soon' is not a date: "),
    ],
)
def test_a_question_that_cannot_be_answered_is_one_sentence(
    terminal: Terminal, words: tuple[str, ...], says: str
) -> None:
    done = terminal.run(*words)
    assert done.code == 2
    assert done.sentence.startswith(says)


@pytest.mark.parametrize("sorted_at_most", [0, 4])
def test_medians_are_the_middle_of_an_odd_and_of_an_even_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sorted_at_most: int
) -> None:
    """Whether few runs are sorted, or an index of many is read."""
    monkeypatch.setattr(adding, "_SORTED_AT_MOST", sorted_at_most)
    ledger = tmp_path / "ledger.sqlite3"
    for number, seconds in enumerate((10.0, 50.0, 20.0, 40.0), start=1):
        record(ledger, told(small(approve().taking(seconds), confirm().taking(5.0)), number))
        found = sums(ledger)
        middle = {1: 10, 2: 30, 3: 20, 4: 30}[number]
        assert (found.timed, found.executor_ms, found.wall_ms) == (number, middle * 1_000, middle * 1_000 + 5_000)


def test_only_an_answer_is_a_consult_before_an_approval_that_was_wrong(tmp_path: Path) -> None:
    """Nobody was asked, the advisor did not answer, it did: three merges that were taken back, two of them missed."""
    ledger = tmp_path / "ledger.sqlite3"
    advice: tuple[tuple[Line, ...], ...] = ((), (lost(),), (guidance(),))
    for number, lines in enumerate(advice, start=1):

        def story(world: MockWorld, lines: tuple[Line, ...] = lines) -> None:
            world.agents.script(Role.EXECUTOR, approve().after_asking(*("Is it right?" for _ in lines)))
            world.agents.script(Role.MID_FLIGHT, *lines)

        document = told(story, number, pull_request=number)
        record(ledger, document)
        judged, reverted = (
            ObservedLabel("", "judged", "judged", "it was merged"),
            ObservedLabel("", "reverted", "reverted", "beef"),
        )
        seen = (ObservedLabel("", "merge", "merged", "cafe"), judged, reverted)
        keep(ledger, _observed(number, document.head_sha or "", seen))
    assert (sums(ledger).merged_approvals, sums(ledger).missed) == (3, 2)
    assert sums(ledger).consulting == 2
    rebuild(ledger)
    assert sums(ledger).missed == 2


def test_comments_count_at_the_review_that_raised_their_finding_first(terminal: Terminal) -> None:
    """Three reviews of one pull request that was closed, and one of another that nobody observed."""
    ledger = terminal.folder / "ledger.sqlite3"

    def raising(*lines: int) -> Callable[[MockWorld], None]:
        said = [finding("src/app.py", line, f"value = {line}", title=f"odd {line}") for line in lines]
        return small(reject(*said), confirm())

    for number, lines in enumerate(((1, 2), (2, 3), ()), start=1):
        record(ledger, told(raising(*lines), number, pull_request=7))
    record(ledger, told(raising(1), 4, pull_request=8))
    ids = [finding_id("src/app.py", "correctness", f"value = {n}") for n in (1, 2, 3)]
    seen = (
        ObservedLabel(ids[0], "thread", "resolved", "by maria"),
        ObservedLabel(ids[0], "reaction", "up", "by maria"),
        ObservedLabel(ids[1], "thread", "resolved_by_bot", "by the bot"),
        ObservedLabel(ids[1], "dismissal", "dismissed", "by maria"),
        ObservedLabel(ids[2], "dismissal", "none", "it had no comment"),
    )
    keep(ledger, _observed(7, "f" * 40, seen))
    for _ in range(2):
        found = sums(ledger)
        assert (found.heard, found.comments, found.acted_on, found.dismissed) == (3, 2, 1, 1)
        assert (found.thumbs_up, found.thumbs_down) == (1, 0)
        rebuild(ledger)
    assert verify(ledger).broken == ()
    told_kpis = {each["name"]: each for each in rolled(terminal, "--ledger", ledger, "--since", "2026-01-01")["kpis"]}
    assert told_kpis["comments"]["value"] == pytest.approx(2 / 3)
    assert [told_kpis[name]["value"] for name in ("acted_on", "dismissed", "thumbs_up")] == [0.5, 0.5, 1.0]


def _in_shadow_mode(world: MockWorld) -> None:
    world.rules = replace(world.rules, mode="shadow")


def test_reviews_in_shadow_mode_are_rolled_up_apart_and_none_is_said(terminal: Terminal, kept: Path) -> None:
    words = ("rollup", "--shadow", "--since", "2026-01-01")
    assert terminal.run(*words).out == "No review of this period was in shadow mode.\n"
    record(kept, told(_in_shadow_mode, 9))
    assert "shadow mode: 1 review" in terminal.run(*words).out
    found = json.loads(terminal.run(*words, "--json").out)
    assert (found["reviews"], found["did_not_end"]) == (1, 0)
    refused = terminal.run("rollup", "--shadow", "--prices", "prices.toml")
    assert refused.code == 2
    assert "and --shadow exclude one another" in refused.err


def _observed(number: int, head_sha: str, seen: tuple[ObservedLabel, ...]) -> Observed:
    return Observed(
        at=datetime(2026, 2, 1, tzinfo=UTC),
        run_id=f"observed-{number}",
        repository="acme/shop",
        pull_request=number,
        head_sha=head_sha,
        labels=seen,
    )


# --- money -----------------------------------------------------------------------------------------------------------


def test_a_list_of_prices_counts_where_no_cost_was_reported(terminal: Terminal) -> None:
    ledger = terminal.folder / "ledger.sqlite3"
    record(ledger, told(small(saying(approve(), 1_000_000, None), saying(confirm(), 500, None))))
    record(ledger, told(PAID, 2), told(small(approve(), lost().costing(None)), 3))
    (terminal.folder / "prices.toml").write_text(PRICES)
    found = rolled(terminal, "--ledger", ledger, "--prices", "prices.toml")["money"]
    assert found["reported_usd"] == pytest.approx(0.05)
    assert found["by_price_usd"] == pytest.approx(10.0)
    assert (found["unknown_calls"], found["unknown_models"]) == (2, ["opus"])
    shipped = rolled(terminal, "--ledger", ledger)["money"]
    assert (shipped["by_price_usd"], shipped["unknown_models"]) == (0.0, ["opus", "sonnet"])


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE runs SET wall_ms = 'long'",
        "UPDATE runs SET cost_usd = 9e999",
        "UPDATE unreported SET model = x'00'",
        "UPDATE unreported SET input_tokens = 9e999",
    ],
)
def test_a_row_that_somebody_else_wrote_is_refused(tmp_path: Path, statement: str) -> None:
    ledger = tmp_path / "ledger.sqlite3"
    record(ledger, told(small(saying(approve(), 900, None), confirm())))
    meddle(ledger, statement)
    with pytest.raises(LedgerError, match="The ledger is damaged: one of its rows"):
        add_up(ledger, Period())


# --- lists of prices -------------------------------------------------------------------------------------------------


def test_the_shipped_list_knows_when_a_price_began() -> None:
    prices = read_prices()
    assert {price.model for price in prices} >= {"claude-opus-5-5", "claude-sonnet-5-5"}
    for price in prices:
        assert 0 < price.cache_read < price.input < price.cache_write < price.output


@pytest.mark.parametrize(
    "text, says",
    [
        ("prices = 7", "is wrong at prices: "),
        ("price = []", "is wrong at prices: "),
        ("[[prices]]\nmodel = 'x'", "is wrong at prices.0.since: "),
        (PRICES.replace("input = 2", "input = -2"), "is wrong at prices.0.input: "),
        (PRICES.replace("input = 2", "input = inf"), "is wrong at prices.0.input: "),
        (PRICES + "discount = 2\n", "is wrong at prices.0.discount: "),
        (PRICES + PRICES, "has two prices of one model from the same day."),
        ("prices = [", "is not valid TOML: "),
        ("prices = " + "[" * 9_000, "is not valid TOML: nested too deeply."),
        ("prices = " + "9" * 6_000, "is not valid TOML: a number has too many digits."),
    ],
)
def test_a_list_that_is_wrong_is_refused_by_its_first_fault(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text)
    with pytest.raises(PriceError) as refusal:
        prices_of_user(path)
    assert f"The list of prices {path} {says}" in str(refusal.value)


def test_a_list_of_ones_own_is_read_as_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(PRICES)
    (price,) = prices_of_user(path)
    assert price == Price("sonnet", price.since, input=2.0, output=10.0, cache_read=0.1, cache_write=2.5)
    assert price.since.isoformat() == "2026-01-01"


# --- alerts ----------------------------------------------------------------------------------------------------------


def test_nothing_to_be_alarmed_about_is_exit_code_0(terminal: Terminal, kept: Path) -> None:
    done = terminal.run("alerts", "--until", "2026-01-06")
    assert (done.code, done.err) == (0, "")
    assert {line.partition("  ")[0] for line in done.out.splitlines()[1:]} == {"too few"}


def test_ten_clean_approvals_of_the_default_setup_raise_nothing(terminal: Terminal) -> None:
    ledger = terminal.folder / "ledger.sqlite3"
    record(ledger, *(told(small(saying(approve(), 40, 0.1), saying(confirm(), 60, 0.1)), n) for n in range(1, 11)))
    done = terminal.run("alerts", "--ledger", ledger, "--until", "2026-01-06")
    assert (done.code, [line.split()[0] for line in done.out.splitlines()[1:]].count("raised")) == (0, 0)
    assert "10 runs in 24 h" in done.out


def test_ten_reviews_whose_judge_is_lost_are_exit_code_3(terminal: Terminal) -> None:
    ledger = terminal.folder / "ledger.sqlite3"
    story = small(saying(approve(), 60, 0.1), lost())
    record(ledger, *(told(story, number) for number in range(1, 10)))
    done = terminal.run("alerts", "--ledger", ledger, "--until", "2026-01-06")
    assert (done.code, done.out.splitlines()[1].split()[:2]) == (0, ["too", "few"]), "nine reviews are no day's work"
    record(ledger, told(story, 10))
    done = terminal.run("alerts", "--ledger", ledger, "--until", "2026-01-06")
    assert done.code == 3
    assert "  10 in 24 h (from 10 on)\n" in done.out
    told_json = json.loads(terminal.run("alerts", "--ledger", ledger, "--until", "2026-01-06", "--json").out)
    assert [each["name"] for each in told_json if each["state"] == "raised"] == ["degraded"]
    assert terminal.run("alerts", "--ledger", ledger, "--until", "2026-01-08").code == 0
