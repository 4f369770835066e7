"""Playing the seven stories of advisor-harness with the fake backend, and keeping what they came to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

from review_advisor.adapters.evaluation_folder import keep_text, make_folder
from review_advisor.adapters.user_file import LARGEST, UserFileError, read_user_file
from review_advisor.app.tasks.run_task import TaskOptions, run_task
from review_advisor.core.evaluation.trials.harness_scenarios import (
    MOST,
    PlayedScenario,
    ScenarioCounts,
    ScenarioSummary,
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


@dataclass(frozen=True, slots=True)
class PlayedStories:
    """Where the stories' summary is kept, how it compares with the newest comparable one, and why."""

    folder: Path
    summary: ScenarioSummary
    trend: Trend
    why: str

    @property
    def is_as_it_should_be(self) -> bool:
        """Whether every story ended as it says, and nothing is worse than before."""
        return self.trend != "regressed" and all(each.passed for each in self.summary.results)

    @property
    def text(self) -> str:
        """For people."""
        return scenarios_text(self.summary, self.trend, self.why)

    @property
    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return summary_json(self.summary) | {"verdict": self.trend, "why": self.why}


def play_scenarios(root: Path, environ: Mapping[str, str], now: datetime) -> PlayedStories:
    """Play the stories, and keep what they came to. Raises ``EvaluationError``, and as a task's run does."""
    summary = summary_of([_played(name, environ) for name in get_args(Scenario)])
    earlier = [_earlier(each) for each in sorted(root.glob(f"eval_scenarios_*/{_SUMMARY}"))]
    comparable = [each for each in earlier if each is not None and each.terms == summary.terms]
    trend, why = against(comparable[-1] if comparable else None, summary)
    folder = make_folder(root / f"eval_scenarios_{now:%Y%m%dT%H%M%S%fZ}")
    done = PlayedStories(folder, summary, trend, why)
    told = done.as_json
    keep_text(folder, _SUMMARY, json.dumps(told, indent=2) + "\n")
    keep_text(folder, "evaluation_summary.md", f"```text\n{done.text}```\n")
    keep_text(folder, "scenario_results.jsonl", "".join(json.dumps(each) + "\n" for each in told["results"]))
    return done


def _earlier(path: Path) -> ScenarioSummary | None:
    try:
        return read_summary(read_user_file(path, LARGEST))
    except UserFileError:
        return None


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
