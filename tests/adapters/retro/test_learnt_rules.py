"""What people dismissed again and again in a ledger becomes proposals for the rules of the team, without a model."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.ledgers import record, told

from review_advisor.ledger.recorder import keep
from review_advisor.mockworld.agents import finding, reject
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.review.observed import LabelName, Observed, ObservedLabel, Value
from review_advisor.tasks.retro import ImprovementProposals, checked_proposals

NOW = datetime(2027, 1, 1, tzinfo=UTC)
FILE = Path("review_logs/retro/observations/improvement_proposals.json")


def a_history(path: Path, *people: str, severity: str = "low") -> Path:
    """A ledger with a pull request for each of the people, who dismissed its one finding; ``+`` confirmed it."""

    def story(world: MockWorld) -> None:
        raised = finding("src/app.py", 4, "value = 4", severity=severity, title="a name that says little")
        grave = finding("src/app.py", 5, "value = 5", title="five is taken")
        world.agents.script(Role.EXECUTOR, reject(raised, grave))

    for number, who in enumerate(people, start=1):
        review = told(story, number, pull_request=number)
        record(path, review)
        mild = next(each for each in review.findings if each.title == "a name that says little")
        kind: tuple[LabelName, Value] = ("reaction", "up") if who == "+" else ("dismissal", "dismissed")
        label = ObservedLabel(mild.id, *kind, f"@{who}: not useful here")
        at = NOW + timedelta(hours=number)
        observed = Observed(
            at=at,
            run_id=f"observed-{number}",
            repository="acme/shop",
            pull_request=number,
            head_sha="b" * 40,
            labels=(label,),
        )
        keep(path, observed)
    return path


def learnt(terminal: Terminal) -> ImprovementProposals:
    written = json.loads((terminal.folder / FILE).read_text())
    return checked_proposals(written, written["source_run_id"])


def test_three_dismissals_by_two_people_are_proposed_as_a_rule_and_nothing_is_applied(terminal: Terminal) -> None:
    ledger = a_history(terminal.folder / "ledger.sqlite3", "maria", "maria", "jonas")
    files = sorted(terminal.folder.iterdir())
    done = terminal.run("retro", "--ledger", ledger)

    assert done.code == 0, done.err
    first, *rest = done.out.splitlines()
    assert first.endswith(
        "No mild correctness findings in /src/app.py. 3 findings were dismissed by 2 people, and none was confirmed."
    )
    assert rest == [f"proposals: {terminal.folder / FILE}", "improvement_proposals_valid: true"]
    found = learnt(terminal)
    assert (found.valid, found.source_run_id) == (True, "observations")
    assert first.startswith(f"{found.proposals[-1].id}: ")
    assert "raise no finding of the category `correctness` that is medium or low" in found.proposals[-1].proposed_change
    assert sorted(terminal.folder.iterdir()) == sorted([*files, terminal.folder / "review_logs"])


@pytest.mark.every_case
def test_what_one_person_dismissed_or_somebody_confirmed_teaches_nothing(terminal: Terminal) -> None:
    for place, people in enumerate((("maria", "maria", "maria"), ("maria", "maria", "jonas", "+"), ("maria", "jonas"))):
        ledger = a_history(terminal.folder / f"{place}.sqlite3", *people)
        done = terminal.run("retro", "--ledger", ledger)
        assert done.out.splitlines()[0] == f"proposals: {terminal.folder / FILE}"
        assert "People dismissed no kind of mild finding again and again." in done.err
        assert not any(each.changes_something for each in learnt(terminal).proposals)


def test_a_grave_finding_is_never_asked_for_less_however_often_it_was_dismissed(terminal: Terminal) -> None:
    a_history(terminal.folder / "ledger.sqlite3", "maria", "maria", "jonas", "ada", severity="high")
    assert terminal.run("retro", "--ledger", "ledger.sqlite3").code == 0
    assert not any(each.changes_something for each in learnt(terminal).proposals)


def test_only_reviews_since_a_date_and_of_one_repository_teach(terminal: Terminal) -> None:
    a_history(terminal.folder / "ledger.sqlite3", "maria", "maria", "jonas")
    words = ("retro", "--ledger", "ledger.sqlite3")
    assert terminal.run(*words, "--since", "2030-01-01").out.startswith("proposals: ")
    assert terminal.run(*words, "--repository", "acme/other").out.startswith("proposals: ")
    assert terminal.run(*words, "--repository", "acme/shop", "--since", "2020-01-01").out.startswith("rule-")


def test_no_ledger_is_said(terminal: Terminal) -> None:
    done = terminal.run("retro", "--ledger", "none.sqlite3")
    assert (done.code, done.out) == (2, "")
    assert "none.sqlite3" in done.sentence


def test_nothing_is_written_through_linked_artefacts(terminal: Terminal) -> None:
    ledger, elsewhere = a_history(terminal.folder / "ledger.sqlite3", "maria"), terminal.folder.parent / "elsewhere"
    elsewhere.mkdir()
    (terminal.folder / "review_logs").symlink_to(elsewhere)
    done = terminal.run("retro", "--ledger", ledger)
    assert done.code == 2
    assert done.sentence.startswith(f"{terminal.folder / 'review_logs'} is a symbolic link")
    assert not list(elsewhere.iterdir())


def test_a_pipe_in_the_place_of_a_file_is_replaced_and_not_written_to(terminal: Terminal) -> None:
    ledger, pipe = a_history(terminal.folder / "ledger.sqlite3", "maria"), terminal.folder.parent / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        (terminal.folder / FILE).parent.mkdir(parents=True)
        (terminal.folder / FILE).symlink_to(pipe)
        assert terminal.run("retro", "--ledger", ledger).code == 0
        assert os.read(reader, 1) == b""
    finally:
        os.close(reader)
    assert not (terminal.folder / FILE).is_symlink()
    assert learnt(terminal).valid
