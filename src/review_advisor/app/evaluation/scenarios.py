"""Playing the seven stories of advisor-harness with the fake backend, and keeping what they came to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import get_args

from review_advisor.adapters.evaluation_folder import keep_text, make_folder
from review_advisor.app.tasks.run_task import TaskOptions, run_task
from review_advisor.core.evaluation.trials.harness_scenarios import (
    MOST,
    PlayedScenario,
    ScenarioCounts,
    Trend,
    against,
    read_summary,
    scenarios_text,
    summary_json,
    summary_of,
)
from review_advisor.core.task.fake_speaker import Scenario
from review_advisor.core.task.task_events import TaskLimits
from review_advisor.lifetime.belongings import temporary_folder

_SUMMARY = "evaluation_summary.json"


def play_scenarios(root: Path, environ: Mapping[str, str], now: datetime) -> tuple[Path, str, Trend]:
    """Where it is kept, the text, and how it compares with the newest comparable one. Raises as a task's run does."""
    summary = summary_of([_played(name, environ) for name in get_args(Scenario)])
    earlier = [read_summary(each.read_bytes()) for each in sorted(root.glob(f"eval_scenarios_*/{_SUMMARY}"))]
    comparable = [each for each in earlier if each is not None and each.terms == summary.terms]
    trend, why = against(comparable[-1] if comparable else None, summary)
    folder = make_folder(root / f"eval_scenarios_{now:%Y%m%dT%H%M%S%fZ}")
    told, text = summary_json(summary), scenarios_text(summary, trend, why)
    keep_text(folder, _SUMMARY, json.dumps(told | {"verdict": trend, "why": why}, indent=2) + "\n")
    keep_text(folder, "evaluation_summary.md", f"```text\n{text}```\n")
    keep_text(folder, "scenario_results.jsonl", "".join(json.dumps(each) + "\n" for each in told["results"]))
    return folder, text, trend


def _played(name: Scenario, environ: Mapping[str, str]) -> PlayedScenario:
    limits = TaskLimits(max_turns=MOST, max_advisor_calls=MOST)
    with temporary_folder("scenario") as folder:
        options = TaskOptions(
            name, executor="fake", advisor="fake", limits=limits, runs=folder / "runs", ledger=folder / "ledger.sqlite"
        )
        told = run_task(options, environ, lambda _sentence: None).outcome
    counts = ScenarioCounts(
        told["status"], told["advisor_consult_count"], told["advisor_guidance_count"], told["malformed_block_count"]
    )
    applied = sum(how == "applied" for how in told["guidance_applied"].values())
    return PlayedScenario(name, counts, applied)
