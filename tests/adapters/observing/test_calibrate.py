"""``calibrate``: the confidence of recorded reviews, held against what people did on their pull requests."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.ledgers import record, told

from review_advisor.ledger.kind_records import parse_kind_records
from review_advisor.ledger.recorder import keep
from review_advisor.mockworld.agents import finding, reject
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.policy.thresholds import parse_threshold_file, parse_thresholds
from review_advisor.review.observed import Observed, ObservedLabel

NOW = datetime(2027, 1, 1, tzinfo=UTC)
PROPOSAL = Path(".review-advisor/proposed-thresholds.toml")
KINDS = Path(".review-advisor/proposed-calibration.toml")


def ledger_of(path: Path, pulls: int, *, silent: int = 0) -> Path:
    """Reviews with two findings, which people call right half as often as stated; of ``silent`` ones nobody speaks."""
    chance = Random(1)
    for number in range(1, pulls + silent + 1):
        sure = [round(chance.uniform(0.6, 1), 2) for _ in range(2)]

        def story(world: MockWorld, sure: list[float] = sure) -> None:
            raised = [finding("src/app.py", 4 + n, f"value = {4 + n}", confidence=sure[n]) for n in range(2)]
            world.agents.script(Role.EXECUTOR, reject(*raised))

        review = told(story, number, pull_request=number)
        record(path, review)
        if number <= pulls:
            labels = tuple(
                ObservedLabel(e.id, "reaction", "up" if chance.random() < e.confidence / 2 else "down", "@maria")
                for e in review.findings
            )
            at = NOW + timedelta(hours=number)
            about = {"repository": "acme/shop", "pull_request": number, "head_sha": "b" * 40}
            keep(path, Observed(at=at, run_id=f"observed-{number}", labels=labels, **about))  # type: ignore[arg-type]
    return path


def test_a_few_labels_are_told_and_nothing_is_proposed(terminal: Terminal) -> None:
    ledger = ledger_of(terminal.folder / "ledger.sqlite3", 3, silent=2)
    done = terminal.run("calibrate", "--ledger", ledger, "--propose")

    assert done.code == 0, done.err
    assert done.out.splitlines()[0].split() == ["findings", "10", "on", "pull", "requests"]
    assert "40% of the findings" in done.out
    assert "No category shows a threshold, and no kind has 30 labels: nothing is proposed." in done.err
    assert not (terminal.folder / PROPOSAL).exists()


@pytest.mark.every_case
@pytest.mark.timeout(600)
def test_a_threshold_that_labels_show_is_proposed_and_nothing_else_is_written(terminal: Terminal) -> None:
    ledger = ledger_of(terminal.folder / "ledger.sqlite3", 130)
    (terminal.folder / ".review-advisor").mkdir()
    mine = terminal.folder / ".review-advisor/thresholds.toml"
    mine.write_text("[[threshold]]\nvalue = 0.5\n")
    words = ("calibrate", "--ledger", ledger)
    done = terminal.run(*words, "--propose")

    assert done.code == 0, done.err
    proposed = (terminal.folder / PROPOSAL).read_text()
    assert all(each.value == 1.0 for each in parse_thresholds(proposed))
    rests = parse_threshold_file(proposed)
    assert (rests.made, rests.labels_of) == (datetime.now(UTC).date(), "people")
    assert {each.labels for each in rests.threshold} == {260}
    (kind,) = parse_kind_records((terminal.folder / KINDS).read_text()).records
    assert (kind.labels, kind.kind.category, kind.kind.prompts) == (260, "correctness", "")
    assert 0.3 < kind.right / kind.labels < 0.5
    assert mine.read_text() == "[[threshold]]\nvalue = 0.5\n"
    one, other = (json.loads(terminal.run(*words, "--json").out) for _ in range(2))
    assert one == other
    assert [each["value"] for each in one["thresholds"]] == [1.0]
    assert json.loads(terminal.run(*words, "--labels", "revert", "--json").out)["thresholds"] == []
    (terminal.folder / PROPOSAL).unlink()
    (terminal.folder / PROPOSAL).symlink_to(mine)
    refused = terminal.run(*words, "--propose")
    assert (refused.code, refused.sentence) == (2, f"{PROPOSAL} leads through a symbolic link, so nothing is written.")
    assert mine.read_text() == "[[threshold]]\nvalue = 0.5\n"


def test_another_repository_has_no_findings(terminal: Terminal) -> None:
    ledger = ledger_of(terminal.folder / "ledger.sqlite3", 1)
    done = terminal.run("calibrate", "--ledger", ledger, "--repository", "acme/other", "--json")

    assert json.loads(done.out)["findings"] == 0


def test_some_forty_labels_show_no_threshold_and_tell_how_often_a_kind_was_right(terminal: Terminal) -> None:
    ledger = ledger_of(terminal.folder / "ledger.sqlite3", 20)
    done = terminal.run("calibrate", "--ledger", ledger, "--propose")

    assert not (terminal.folder / PROPOSAL).exists()
    assert f"{KINDS} is written; nothing reads it" in done.err
    (kind,) = parse_kind_records((terminal.folder / KINDS).read_text()).records
    assert kind.labels == 40
    assert kind.words.startswith("Findings of this kind were right ")
    terminal.run("calibrate", "--ledger", ledger, "--propose", "--labels", "revert")
    assert "people" in (terminal.folder / KINDS).read_text(), "reverts tell nothing of a kind"
