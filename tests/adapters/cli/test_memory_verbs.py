"""``memory`` as its users meet it: what it prints, and what it writes into the working tree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.git_repository import Repo
from tests.adapters.ledgers import record as keep
from tests.adapters.ledgers import told
from tests.scenarios.five_stories import judged_blind_with_something_learned
from tests.unit.lessons.test_memory_record import record

from review_advisor.agents.prompts import MEMORY_FILE, memory_text
from review_advisor.ledger.recorder import keep as observe
from review_advisor.mockworld.agents import finding, reject
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.review.observed import Observed, ObservedLabel

PROPOSAL = {"id": "mem_prop_a", "type": "fact", "content": "The parser is slow.", "source_run": "run_1", "tags": []}
APPROVE = ("memory", "approve", "mem_prop_a", "--from", "proposed", "--by", "ada", "--finding", "F3")


@pytest.fixture
def proposed(terminal: Terminal) -> Path:
    """The memory's place in a repository beside a run that proposed one entry."""
    Repo(terminal.folder)
    folder = terminal.folder / "proposed"
    folder.mkdir()
    propose(folder, PROPOSAL)
    return terminal.folder / MEMORY_FILE


def propose(folder: Path, *proposals: object) -> None:
    text = "".join(f"{json.dumps(each)}\n" for each in proposals)
    (folder / "memory_proposals.jsonl").write_text(text, encoding="utf-8")


def test_a_proposal_is_listed_approved_expired_and_rejected(terminal: Terminal, proposed: Path) -> None:
    listed = terminal.run("memory", "list", "--from", "proposed")
    assert listed.out == "mem_prop_a proposed fact: The parser is slow.\n"
    assert terminal.run(*APPROVE).code == 0
    (line,) = proposed.read_text(encoding="utf-8").splitlines()
    stored = json.loads(line)
    assert (stored["schema_version"], stored["approved_by"], stored["taught_by"]) == ("memory-record.v1", "ada", "F3")
    assert "mem_prop_a approved fact: The parser is slow. (taught by F3)" in terminal.run("memory", "list").out
    assert terminal.run("memory", "expire", "mem_prop_a").code == 0
    assert "mem_prop_a expired" in terminal.run("memory", "list").out
    assert terminal.run("memory", "reject", "mem_prop_a").code == 0
    assert proposed.read_text(encoding="utf-8") == ""
    assert [each.name for each in proposed.parent.iterdir()] == [proposed.name]


def test_a_secret_is_refused_in_a_sentence_and_nothing_is_written(terminal: Terminal, proposed: Path) -> None:
    propose(terminal.folder / "proposed", PROPOSAL | {"content": "ghp_" + "a1B2" * 9})
    done = terminal.run(*APPROVE)
    assert (done.code, proposed.exists()) == (2, False)
    assert "looks like a secret" in done.err
    assert "ghp_" not in done.err


def test_a_memory_with_a_line_that_cannot_be_read_is_not_edited(terminal: Terminal, proposed: Path) -> None:
    proposed.parent.mkdir()
    proposed.write_text("{half a line\n", encoding="utf-8")
    done = terminal.run(*APPROVE)
    assert (done.code, proposed.read_text(encoding="utf-8")) == (2, "{half a line\n")
    assert "line 1 is no JSON" in done.err


def test_nobody_follows_a_link_out_of_the_repository(terminal: Terminal, proposed: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    proposed.parent.symlink_to(outside)
    assert terminal.run(*APPROVE).code == 2
    assert list(outside.iterdir()) == []


def test_a_proposal_that_is_not_there_is_refused(terminal: Terminal, proposed: Path) -> None:
    done = terminal.run("memory", "approve", "other", "--from", "proposed", "--by", "ada")
    assert (done.code, proposed.exists()) == (2, False)
    assert "has no proposal other" in done.err


# --- reviews ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def ledger(terminal: Terminal, proposed: Path) -> Path:
    """The default ledger beside the repository of ``proposed``."""
    assert not proposed.exists()
    return terminal.folder / "review_logs" / "ledger" / "ledger.sqlite3"


def test_what_a_review_learned_is_a_proposal_by_the_reviews_id(terminal: Terminal, ledger: Path) -> None:
    keep(ledger, told(judged_blind_with_something_learned))
    (line,) = terminal.run("memory", "list", "--from", "run-1").out.splitlines()
    name, state, kind, *words = line.split()
    assert (state, kind, words[:3]) == ("proposed", "fact:", ["Values", "are", "numbered"])
    done = terminal.run(
        "memory", "approve", name, "--from", "run-1", "--by", "ada", "--content", "Values are numbered."
    )
    assert done.code == 0, done.err
    (stored,) = map(json.loads, (terminal.folder / MEMORY_FILE).read_text(encoding="utf-8").splitlines())
    assert (stored["source_run"], stored["type"], stored["content"]) == ("run-1", "fact", "Values are numbered.")
    assert stored["source_excerpt"] == "value = 7"


def test_the_finding_of_a_reviews_proposal_taught_the_entry_unless_the_user_names_another(
    terminal: Terminal, proposed: Path
) -> None:
    propose(terminal.folder / "proposed", PROPOSAL | {"source_finding": "F1"})
    *approve, _option, _finding = APPROVE
    assert terminal.run(*approve).code == 0
    assert json.loads(proposed.read_text(encoding="utf-8"))["taught_by"] == "F1"
    assert terminal.run("memory", "reject", "mem_prop_a").code == 0
    assert terminal.run(*APPROVE).code == 0
    assert json.loads(proposed.read_text(encoding="utf-8"))["taught_by"] == "F3"


def test_a_run_that_nobody_knows_is_refused(terminal: Terminal, ledger: Path) -> None:
    keep(ledger, told())
    done = terminal.run("memory", "list", "--from", "run-9")
    assert done.code == 2
    assert "run-9 is no folder and no review." in done.err


def citing(world: MockWorld) -> None:
    world.agents.script(
        Role.EXECUTOR,
        reject(
            finding("src/app.py", 4, "value = 4") | {"body": "As mem_prop_1 says."},
            finding("src/app.py", 5, "value = 5") | {"body": "mem_prop_1"},
        ),
    )


def test_hits_come_from_the_ledger_and_can_be_written_into_the_file(terminal: Terminal, ledger: Path) -> None:
    document = told(citing)
    keep(ledger, document)
    place = terminal.folder / MEMORY_FILE
    place.parent.mkdir()
    place.write_text(memory_text([record(created_at=document.started_at)]), encoding="utf-8")
    assert "[2 hits, 0 false]" in terminal.run("memory", "list").out
    labels = (ObservedLabel(document.findings[0].id, "dismissal", "dismissed", "ada"),)
    at = document.ended_at
    seen = Observed(
        at=at, run_id="seen", repository="acme/shop", pull_request=7, head_sha=document.head_sha or "", labels=labels
    )
    observe(ledger, seen)
    assert "[1 hit, 1 false]" in terminal.run("memory", "list").out
    assert terminal.run("memory", "count").code == 0
    ledger.unlink()
    assert "[1 hit, 1 false]" in terminal.run("memory", "list").out


@pytest.mark.parametrize("counted_before", [True, False])
def test_a_finding_that_people_prove_wrong_later_is_counted_once(
    terminal: Terminal, ledger: Path, counted_before: bool
) -> None:
    """As a hit or as a false one: the two numbers of an entry are always of the same findings."""
    document = told(citing)
    keep(ledger, document)
    place = terminal.folder / MEMORY_FILE
    place.parent.mkdir()
    place.write_text(memory_text([record(created_at=document.started_at)]), encoding="utf-8")
    if counted_before:
        terminal.run("memory", "count")
    wrong = tuple(ObservedLabel(each.id, "dismissal", "dismissed", "ada") for each in document.findings)
    sha = document.head_sha or ""
    observe(
        ledger,
        Observed(
            at=document.ended_at, run_id="seen", repository="acme/shop", pull_request=7, head_sha=sha, labels=wrong
        ),
    )
    terminal.run("memory", "count")
    (stored,) = map(json.loads, place.read_text(encoding="utf-8").splitlines())
    assert (stored["hits"], stored["false_hits"]) == (0, 2)


@pytest.mark.parametrize("named", ["review_logs/ledger/ledger.sqlite3", "x" * 300, "review_logs"])
def test_a_ledger_that_cannot_be_read_is_one_sentence_beside_the_entries(
    terminal: Terminal, ledger: Path, named: str
) -> None:
    ledger.parent.mkdir(parents=True)
    ledger.write_text("no database", encoding="utf-8")
    place = terminal.folder / MEMORY_FILE
    place.parent.mkdir()
    place.write_text(memory_text([record(hits=3)]), encoding="utf-8")
    words = () if named == ledger.relative_to(terminal.folder).as_posix() else ("--ledger", named)
    done = terminal.run("memory", "list", *words)
    assert (done.code, done.out.count("\n"), done.err.count("\n")) == (0, 1, 1)
    assert done.out.startswith("mem_prop_1 approved")
    assert "hits" not in done.out, "what is not known is not told"
    assert done.err.endswith("The entries are listed without their hits.\n")


def test_without_a_ledger_the_hits_are_those_of_the_file(terminal: Terminal, proposed: Path) -> None:
    proposed.parent.mkdir()
    proposed.write_text(memory_text([record(hits=3)]), encoding="utf-8")
    done = terminal.run("memory", "list")
    assert (done.code, done.err) == (0, "")
    assert "[3 hits, 0 false]" in done.out
