"""``replay``: a ledger's reviews under another configuration, without a question and without a write."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.ledgers import record, told

from review_advisor.mockworld.agents import approve, confirm, evidence, finding, lost, veto
from review_advisor.mockworld.world import MockWorld
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


def test_a_degraded_review_calls_a_person_once_the_rules_say_so(terminal: Terminal, ledger: Path) -> None:
    found = replayed(terminal, ledger, 'fail_on = "degraded"\n', "--all")
    ends = [(each["before"], each["after"]) for each in found["reviews"]]
    assert ends == [("approved", "approved")] * 3 + [("approved", "escalated")]


def test_what_nobody_can_know_is_counted_apart_with_its_reason(terminal: Terminal, ledger: Path) -> None:
    file = ledger.with_name("lean.toml")
    file.write_text("[budget]\nmax_usd = 0.11\n")
    done = terminal.run("replay", "--all", "--config", file, "--ledger", ledger)
    assert done.code == 0, done.err
    assert done.out.startswith("known: 3 of 4 reviews\n")
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


UNTRIED = '[advisors]\npreset = "release"\n[github]\nmost_usd = 7.0\n[budget]\nmax_usd = 3.0\n'


def test_what_no_record_tells_is_counted_with_what_it_would_ask(terminal: Terminal, ledger: Path) -> None:
    found = replayed(terminal, ledger, UNTRIED, "--all")
    whys = [f"what another {name} would have led to is not recorded" for name in ("advisors.preset", "github.most_usd")]
    assert [each["unknown"] for each in found["reviews"]] == [whys] * 4
    asked = sum(each["would_ask"]["questions"] for each in found["reviews"])
    assert found["totals"]["would_ask"]["questions"] == asked > 4
    done = terminal.run("replay", "--all", "--config", ledger.with_name("other.toml"), "--ledger", ledger)
    assert done.out.startswith("known: 0 of 4 reviews\n")
    assert f"  4 x {whys[0]}\n" in done.out
    assert f"would have to ask: {asked} questions, at least $" in done.out

    was = ledger.with_name("was.toml")
    was.write_text(UNTRIED.replace("3.0", "4.0"))
    assert replayed(terminal, ledger, UNTRIED, "--all", "--was", str(was))["totals"]["unknown"] == 0


def test_what_changes_no_decision_may_differ(terminal: Terminal, ledger: Path) -> None:
    told = 'recording = "full"\n[github]\nescalation_label = "look"\nreviewers = ["maria"]\n'
    assert replayed(terminal, ledger, told, "--all")["totals"]["unknown"] == 0


def test_something_has_to_be_tried(terminal: Terminal, ledger: Path) -> None:
    done = terminal.run("replay", "--all", "--ledger", ledger)
    assert (done.code, done.sentence) == (2, "Say what to try: --config FILE.")
