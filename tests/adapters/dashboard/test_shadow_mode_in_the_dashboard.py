"""The first page of the dashboard has the reviews in shadow mode, in the words of ``rollup --shadow``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.adapters.command_line import Terminal
from tests.adapters.dashboard.written_dashboard import WrittenDashboard
from tests.adapters.ledgers import five, record, told

from review_advisor.mockworld.world import MockWorld


def shadow_mode(terminal: Terminal) -> list[str]:
    done = terminal.run("ui", "--out", "site")
    assert done.code == 0, done.err
    lines: list[str] = WrittenDashboard(terminal.folder / "site").overview["shadow_mode"]
    return lines


def in_shadow(world: MockWorld) -> None:
    world.rules = replace(world.rules, mode="shadow")


def test_the_first_page_says_what_the_rollup_says_and_nothing_without_a_review_in_shadow_mode(
    terminal: Terminal,
) -> None:
    ledger: Path = terminal.folder / "review_logs" / "ledger" / "ledger.sqlite3"
    record(ledger, *five())
    assert shadow_mode(terminal) == []
    record(ledger, told(in_shadow, 9))
    lines = shadow_mode(terminal)
    assert lines == terminal.run("rollup", "--shadow", "--since", "2026-01-01").out.splitlines()
    assert lines[0].startswith("shadow mode: 1 review")
