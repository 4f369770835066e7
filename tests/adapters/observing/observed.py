"""Pull requests that are closed on the simulated GitHub, and what the command says of them, with real git."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.adapters.pull_request_world import APP, LINES, OTHER, Actions, WorkflowRun

from review_advisor.agents.findings import finding_id
from review_advisor.ledger.kpis import Kpi, kpis
from review_advisor.ledger.queries import Period
from review_advisor.ledger.sums import add_up
from review_advisor.ledger.transfer import merge
from review_advisor.mockworld.agents import finding
from review_advisor.mockworld.github_traffic import RequestMoment
from review_advisor.review.observed import ObservedLabel

FAULTY, RIGHT = LINES + "value = 31\n", LINES + "value = 32\n"
FAULT = finding(APP, 31, "value = 31", title="thirty-one is wrong")
FAULT_BELOW = finding(APP, 32, "value = 31", title="thirty-one is wrong")
ELSEWHERE = finding(OTHER, 31, "value = 32", title="thirty-two is wrong")
ODD = finding(APP, 31, "value = 31", "low", title="thirty-one is odd")
ID = finding_id(APP, "correctness", "value = 31")
ID_ELSEWHERE = finding_id(OTHER, "correctness", "value = 32")
READS = RequestMoment(kind="read", operation="get pull request")
OTHER_LABEL = ObservedLabel("f-01234567890123456789012345678901", "thread", "resolved", "@maria resolved its thread")
Labels = dict[tuple[str, str], str]


def observed(ran: WorkflowRun, *words: str | Path) -> Labels:
    """What the command prints as JSON: each label's value by finding and name."""
    named = words or ("--event", ran.place / "event.json")
    done = ran.observe(*named, "--json")
    assert done.code == 0, done.err
    told: dict[str, Any] = json.loads(done.out)
    assert all(label["source"] for label in told["labels"])
    return {(label["finding"], label["name"]): label["value"] for label in told["labels"]}


def sources(ran: WorkflowRun) -> Labels:
    """The source of each label, as the ledger has it."""
    with closing(sqlite3.connect(ran.ledger)) as connection:
        found = connection.execute("SELECT finding, label, source FROM labels").fetchall()
    return {(finding, label): source for finding, label, source in found}


def whole(actions: Actions) -> Path:
    """The ledgers of all runs folded into one, the newest first."""
    path = actions.folder / "whole.sqlite3"
    for ran in reversed(actions.runs):
        if ran.ledger.exists():
            merge(path, ran.ledger)
    return path


def kpi(path: Path, name: str, period: Period | None = None) -> Kpi:
    return next(each for each in kpis(add_up(path, period or Period()).sums) if each.name == name)
