"""``review-advisor demo``: it shows the same faults wherever it is run, and leaves nothing but its artefacts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.adapters.command_line import Terminal, lines
from tests.adapters.git_repository import Repo

SAMPLE = "Reviewing a small sample change, which has a fault in each of three files."


def test_a_sample_change_is_reviewed_and_shown_as_it_would_stand_on_github(terminal: Terminal, tmp_path: Path) -> None:
    here = tmp_path / "nothing"
    here.mkdir()
    done = terminal.run("demo", cwd=here)
    assert done.code == 0, done.err
    assert done.err.splitlines()[0] == SAMPLE
    assert "Staged: what the first report leaves out, the consult, and the veto." in done.err.splitlines()
    printed = done.out.splitlines()
    assert printed[0] == "CHANGES REQUESTED"
    findings = printed.index("Findings: 3")
    assert findings < printed.index("pr_review: changes_requested"), "what was found stands before how"
    told = ("  pre-flight ", "  consult ", "  post-verify  VETO", "  ruling       retry", "  post-verify  APPROVE")
    assert [words for words in told if words not in done.out] == []
    faults = ("delivery.py:8", "settings.py:10", "reports.py:11")
    assert [place for place in faults if place not in done.out] == []
    *_, page, last = done.err.splitlines()
    drawn = Path(page.removeprefix("As it would stand on GitHub: ")).read_text(encoding="utf-8")
    assert "<h1>" in drawn
    assert "Changes requested: 1 high, 2 medium" in drawn
    assert drawn.count('class="thread"') == 3
    assert "://" not in drawn, "the page fetches nothing"
    assert "exit with 10 here" in last


@pytest.mark.every_case
def test_a_second_run_gives_the_same_and_breaks_nothing(terminal: Terminal, tmp_path: Path) -> None:
    here = tmp_path / "nothing"
    here.mkdir()
    first, second = (terminal.run("demo", cwd=here) for _ in range(2))
    assert (first.code, second.code) == (0, 0)
    assert first.out == second.out
    assert [path.name for path in here.iterdir()] == ["review_logs"]
    assert len(list((here / "review_logs").glob("*/outcome.json"))) == 1
    listed = json.loads(terminal.run("runs", "list", "--json", cwd=here).out)
    assert [run["status"] for run in listed] == ["changes_requested", "changes_requested"]


@pytest.mark.every_case
def test_a_range_of_ones_own_is_reviewed_instead(terminal: Terminal) -> None:
    repo = Repo(terminal.folder)
    repo.write("values.py", lines(40))
    repo.commit("Forty values")
    done = terminal.run("demo", "--range", "HEAD~1..HEAD")
    assert done.code == 0, done.err
    assert done.err.startswith("Reviewing HEAD~1..HEAD.")
    assert "Static checks, no model" in done.out
    assert done.err.splitlines()[-1].endswith("review-advisor review --range 'HEAD~1..HEAD'")


def test_what_cannot_be_reviewed_is_not_replaced_by_the_sample(terminal: Terminal) -> None:
    done = terminal.run("demo", "--repo", "missing", "--range", "HEAD~1..HEAD")
    assert done.code == 2
    assert "missing" in done.sentence
    assert terminal.run("demo", "--repo", "missing").code == 2
