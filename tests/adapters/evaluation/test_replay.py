"""``replay``: a ledger's reviews under another configuration, without a question and without a write."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.ledgers import record, told

from review_advisor.app.configuration import roster_of, working_files
from review_advisor.mockworld.agents import approve, confirm, evidence, finding, lost, reject, veto, vote
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.escalation_rules import EscalationRules
from review_advisor.policy.roster import ADR_ADVISOR
from review_advisor.policy.surfaces import Role

NOTED = approve(
    finding("src/app.py", 7, "value = 7", severity="medium", title="seven is taken"),
    answers=(evidence("d0.1", "src/app.py", "value = 7"),),
).costing(0.1)


def recovers(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve().costing(0.1), NOTED)
    world.agents.script(Role.POST_VERIFY, veto("a fault"), confirm())


def notes(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, NOTED)


def unjudged(world: MockWorld) -> None:
    world.agents.script(Role.POST_VERIFY, lost())


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.sqlite3"
    stories = ((recovers, 7), (notes, 8), (notes, 8), (unjudged, 9))
    record(path, *(told(story, n, pull_request=pull) for n, (story, pull) in enumerate(stories, start=1)))
    return path


def replayed(terminal: Terminal, ledger: Path, config: str, *words: str) -> dict[str, Any]:
    file = ledger.with_name("other.toml")
    file.write_text(config)
    before = hashlib.sha256(ledger.read_bytes()).hexdigest()
    done = terminal.run("replay", *words, "--config", file, "--ledger", ledger, "--json")
    assert done.code == 0, done.err
    assert hashlib.sha256(ledger.read_bytes()).hexdigest() == before, "nothing is written"
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_under_the_defaults_everything_stays_as_it_was(terminal: Terminal, ledger: Path) -> None:
    found = replayed(terminal, ledger, "", "--all")
    assert [(each["before"], each["after"]) for each in found["reviews"]] == [("approved", "approved")] * 4
    sums = found["totals"]
    assert (sums["unknown"], sums["missed"]) == (0, 0)
    assert (sums["posted_before"], sums["posted_after"]) == (2, 2), "a comment that stands is not posted again"
    assert sums["usd_before"] == sums["usd_after"] > 0


def test_a_higher_threshold_posts_less_and_says_what_would_be_missed(terminal: Terminal, ledger: Path) -> None:
    found = replayed(terminal, ledger, "[github]\nleast_confidence = 1.0\n", "--all")
    assert (found["totals"]["posted_before"], found["totals"]["posted_after"], found["totals"]["missed"]) == (2, 0, 2)


def test_without_retries_the_veto_calls_a_person_for_less_money(terminal: Terminal, ledger: Path) -> None:
    found = replayed(terminal, ledger, 'fail_on = "degraded"\n', "--all", "--retries", "0", "0", "0")
    ends = [(each["before"], each["after"]) for each in found["reviews"]]
    at_person = ("approved", "escalated")
    assert ends == [at_person, ("approved", "approved"), ("approved", "approved"), at_person]
    assert found["totals"]["usd_after"] < found["totals"]["usd_before"]
    strict = replayed(terminal, ledger, "", "run-4", "--fail-as-veto")
    assert [(each["run_id"], each["after"]) for each in strict["reviews"]] == [("run-4", "escalated")]


def test_what_nobody_can_know_is_counted_apart_with_its_reason(terminal: Terminal, ledger: Path) -> None:
    file = ledger.with_name("lean.toml")
    file.write_text("[budget]\nmax_usd = 0.11\n")
    done = terminal.run("replay", "--all", "--config", file, "--ledger", ledger)
    assert done.code == 0, done.err
    assert "approved  unknown   1" in done.out
    assert "1 x the review cost $0.20: at $0.11 a call would have been refused or cut short" in done.out
    assert "would have to ask" not in done.out, "what nobody may pay is no question"


def test_one_run_or_all_and_a_run_that_is_there(terminal: Terminal, ledger: Path) -> None:
    file = ledger.with_name("other.toml")
    file.write_text("")
    for words in ((), ("run-1", "--all"), ("run-1", "--since", "7d"), ("run-none",)):
        done = terminal.run("replay", *words, "--config", file, "--ledger", ledger)
        assert done.code == 2
        assert "Traceback" not in done.err
    file.write_text("least = 1\n")
    assert terminal.run("replay", "--all", "--config", file, "--ledger", ledger).code == 2


UNTRIED = '[advisors]\npreset = "release"\nrefuter = true\n[budget]\nmax_usd = 3.0\ncall_seconds = 60.0\n'


def test_what_cannot_be_tried_is_refused_by_name(terminal: Terminal, ledger: Path) -> None:
    file, was = ledger.with_name("other.toml"), ledger.with_name("was.toml")
    words = ("replay", "--all", "--config", file, "--ledger", ledger)
    file.write_text(UNTRIED)
    refused = terminal.run(*words)
    assert refused.code == 2
    assert "differs from the defaults in what replay cannot try: " in refused.sentence
    assert "advisors.preset, advisors.refuter, budget.call_seconds." in refused.sentence

    was.write_text(UNTRIED.replace("3.0", "4.0"))
    assert terminal.run(*words, "--was", was).code == 0
    file.write_text("")
    refused = terminal.run(*words, "--was", was)
    assert f"other.toml differs from {was} in what replay cannot try: advisors.preset" in refused.sentence


def test_what_changes_no_decision_may_differ(terminal: Terminal, ledger: Path) -> None:
    told = 'recording = "full"\n[github]\nescalation_label = "look"\nreviewers = ["maria"]\n'
    assert replayed(terminal, ledger, told, "--all")["totals"]["unknown"] == 0


PRICES = """
[[prices]]
model = "{model}"
since = 2027-01-01
input = 1.0
output = {output}
cache_read = 0.1
cache_write = 1.25
"""


def prices_of(ledger: Path, **output: float) -> Path:
    file = ledger.with_name("prices.toml")
    file.write_text("".join(PRICES.format(model=model, output=usd) for model, usd in output.items()))
    return file


def tried(terminal: Terminal, ledger: Path, *words: str | Path) -> dict[str, Any]:
    done = terminal.run("replay", "--all", *words, "--ledger", ledger, "--json")
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def wordy(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, replace(NOTED, output_tokens=10_000))


@pytest.fixture
def wordy_ledger(tmp_path: Path) -> Path:
    path = tmp_path / "wordy.sqlite3"
    record(path, *(told(wordy, number, pull_request=7) for number in (1, 2, 3)))
    return path


def test_another_list_of_prices_recosts_every_call_by_its_tokens(terminal: Terminal, wordy_ledger: Path) -> None:
    found = tried(terminal, wordy_ledger, "--prices", prices_of(wordy_ledger, sonnet=50.0, opus=90.0))
    assert [each["usd_before"] for each in found["reviews"]] == [0.1] * 3
    assert [each["usd_after"] for each in found["reviews"]] == [0.5] * 3, "10,000 tokens at 50 dollars a million"
    assert found["totals"]["unknown"] == 0


def test_what_has_no_price_is_unknown_by_name(terminal: Terminal, wordy_ledger: Path) -> None:
    found = tried(terminal, wordy_ledger, "--prices", prices_of(wordy_ledger, haiku=50.0))
    assert {each["after"] for each in found["reviews"]} == {None}
    assert [each["unknown"] for each in found["reviews"]] == [["the list has no price of sonnet"]] * 3


def test_under_dearer_prices_the_budgets_are_decided_anew(terminal: Terminal, wordy_ledger: Path) -> None:
    lean = wordy_ledger.with_name("lean.toml")
    lean.write_text("[budget]\nmax_usd = 0.45\n")
    words = ("--config", lean, "--prices", prices_of(wordy_ledger, sonnet=50.0))
    first, *_ = tried(terminal, wordy_ledger, *words)["reviews"]
    assert first["unknown"] == [
        "the review would have cost $0.50: at $0.45 a call would have been refused or cut short"
    ]

    lean.write_text("[github]\nmost_usd = 1.1\n")
    found = tried(terminal, wordy_ledger, *words)
    assert [each["after"] for each in found["reviews"]] == ["approved", "approved", "not begun"]
    assert found["totals"]["usd_after"] == 1.0


def test_where_the_money_is_spent_no_push_begins_a_review(terminal: Terminal, wordy_ledger: Path) -> None:
    other = wordy_ledger.with_name("less.toml")
    other.write_text("[github]\nmost_usd = 0.4\n")
    found = tried(terminal, wordy_ledger, "--config", other)
    assert [each["after"] for each in found["reviews"]] == ["approved", "approved", "not begun"]
    assert (found["totals"]["usd_before"], found["totals"]["usd_after"]) == (0.3, 0.2)

    was = wordy_ledger.with_name("was.toml")
    was.write_text("[github]\nmost_usd = 0.4\n")
    other.write_text("[github]\nmost_usd = 0.3\n")
    found = tried(terminal, wordy_ledger, "--config", other, "--was", was)
    assert [each["after"] for each in found["reviews"]] == ["approved", "not begun", "approved"], (
        "a person asked for the third, and would again"
    )


def test_something_has_to_be_tried(terminal: Terminal, ledger: Path) -> None:
    done = terminal.run("replay", "--all", "--ledger", ledger)
    assert done.code == 2
    assert "Say what to try: --config, --prices" in done.sentence


MEMBER = "---\nid: security\non: finish\nscopes: [secrets]\n{more}---\n\nYou look for holes.\n"


def folder_with(place: Path, member: str) -> Path:
    declared = place / ".review-advisor" / "advisors"
    declared.mkdir(parents=True)
    (declared / "security.md").write_text(member)
    return place


def test_a_folder_declares_the_roster_that_counts_the_votes_anew(terminal: Terminal, tmp_path: Path) -> None:
    was, ledger = folder_with(tmp_path / "was", MEMBER.format(more="")), tmp_path / "councils.sqlite3"

    def doubts(world: MockWorld) -> None:
        world.rules = replace(world.rules, roster=roster_of("default", working_files(was)))
        world.agents.script(Role.POST_VERIFY, vote(85).costing(0.2), advisor=ADR_ADVISOR.id)
        world.agents.script(Role.POST_VERIFY, vote(50, 70).costing(0.3), advisor="security")

    record(ledger, told(doubts))
    same = tried(terminal, ledger, "--roster", was)
    assert [each["after"] for each in same["reviews"]] == ["approved"]
    heavy = folder_with(tmp_path / "heavy", MEMBER.format(more="weight: 9\n"))
    found = tried(terminal, ledger, "--roster", heavy)
    assert found["reviews"][0]["unknown"] == ["a retry would have been asked, and its answer is unknown"]
    asked = found["totals"]["would_ask"]
    assert (asked["questions"], asked["unpriced"], asked["unpriced_models"]) == (5, 5, ["opus", "sonnet"])
    prices = prices_of(ledger, sonnet=1000.0, opus=1000.0)
    priced = tried(terminal, ledger, "--roster", heavy, "--prices", prices)["totals"]["would_ask"]
    assert priced["least_usd"] == pytest.approx(1.5 + 4 * 0.8, rel=0.01), "of usual answers, and a little for prompts"

    done = terminal.run("replay", "--all", "--roster", heavy, "--ledger", ledger)
    assert "would have to ask: 5 questions, at least $0.0000; 5 of them have no price (opus, sonnet)" in done.out
    kind = folder_with(tmp_path / "kind", MEMBER.format(more="").replace("holes", "merits"))
    assert tried(terminal, ledger, "--roster", kind)["reviews"][0]["unknown"] == [
        "security would have been asked to judge"
    ]


def test_other_thresholds_are_held_against_every_turn(terminal: Terminal, tmp_path: Path) -> None:
    def surely(world: MockWorld) -> None:
        world.rules = replace(world.rules, escalation=EscalationRules("attrition"))
        world.agents.script(Role.EXECUTOR, approve().sure(0.75))

    ledger, file = tmp_path / "ledger.sqlite3", tmp_path / "proposed-thresholds.toml"
    record(ledger, told(surely))
    file.write_text("[[threshold]]\nvalue = 0.72\n")
    assert tried(terminal, ledger, "--thresholds", file)["totals"]["unknown"] == 0
    file.write_text('[[threshold]]\nvalue = 0.9\ncategory = "verdict"\n')
    assert tried(terminal, ledger, "--thresholds", file)["reviews"][0]["unknown"] == [
        "a consult would have been due, for a confidence below the threshold"
    ]


def test_a_finding_that_no_longer_blocks_is_told(terminal: Terminal, tmp_path: Path) -> None:
    def rejects(world: MockWorld) -> None:
        world.agents.script(Role.EXECUTOR, reject(finding("src/app.py", 3, "value = 3", "high")))

    ledger, lean = tmp_path / "ledger.sqlite3", tmp_path / "lean.toml"
    record(ledger, *(told(rejects, number) for number in (1, 2)))
    lean.write_text("[github]\nmost_usd = 0.2\n")
    done = terminal.run("replay", "--all", "--config", lean, "--ledger", ledger)
    assert "changes_requested  not begun          1" in done.out
    assert "0 findings would have had no comment, 1 would not have blocked" in done.out


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "option, text, says",
    [
        ("--prices", "[[prices]]\nmodel = 1\n", "is wrong at prices"),
        ("--thresholds", "threshold = 3\n", "broken.toml: "),
        ("--thresholds", "[[threshold]\n", "broken.toml is not valid TOML"),
        ("--roster", "", "has no folder .review-advisor that declares advisors"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_sentence(
    terminal: Terminal, ledger: Path, option: str, text: str, says: str
) -> None:
    file = ledger.with_name("broken.toml")
    file.write_text(text)
    done = terminal.run("replay", "--all", option, file if text else ledger.parent, "--ledger", ledger)
    assert done.code == 2
    assert says in done.sentence
