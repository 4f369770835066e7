"""The dashboard's page of calibration, and what a run's page says of a finding's kind: by people's labels alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.dashboard.written_dashboard import WrittenDashboard
from tests.adapters.observing.test_calibrate import ledger_of


def written(terminal: Terminal, ledger: Path) -> WrittenDashboard:
    done = terminal.run("ui", "--ledger", ledger, "--out", "site")
    assert done.code == 0, done.err
    return WrittenDashboard(terminal.folder / "site")


def test_forty_labels_are_plotted_and_a_finding_names_its_kind(terminal: Terminal) -> None:
    site = written(terminal, ledger_of(terminal.folder / "ledger.sqlite3", 20, silent=2))
    told = site.overview["calibration"]

    assert (told["findings"], told["labelled"]) == (44, 40)
    assert [name for name, many, _ in told["sources"] if many] == ["people"]
    (plot,) = told["plots"]
    assert (plot["kind"], plot["labels"], plot["pull_requests"]) == ("all", 40, 20)
    assert sum(each[2] for each in plot["bins"]) == 40
    assert plot["curve"][-1][1:] == [1.0, 1 - plot["right"] / 40]
    (first, _) = site.page("run-1")["findings"]
    share = round(100 * plot["right"] / 40)
    said = f"Findings of this kind were right {share}% of the time, as people said (n = 40)."
    assert site.overview["kinds"] == {first["kind"]: said}


@pytest.mark.every_case
def test_with_fewer_labels_nothing_is_claimed(terminal: Terminal) -> None:
    site = written(terminal, ledger_of(terminal.folder / "ledger.sqlite3", 14))

    assert site.overview["calibration"]["labelled"] == 28
    assert (site.overview["calibration"]["plots"], site.overview["kinds"]) == ([], {})
