"""The seven stories of advisor-harness, and how they end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from review_advisor.safety.wording import counted
from review_advisor.tasks.fake import Scenario

CONSULTS = (0.0, 1.0)
"""Consults of a run on average. More are no improvement, and fewer are none: what leaves this band is a regression."""


@dataclass(frozen=True, slots=True)
class ScenarioCounts:
    """How a run ended, and its consults, guidances and malformed blocks."""

    status: str
    consults: int
    guidances: int
    malformed: int


EXPECTED: Mapping[Scenario, ScenarioCounts] = {
    "autonomous_consult": ScenarioCounts("completed", 1, 1, 0),
    "no_consult_completion": ScenarioCounts("completed", 0, 0, 0),
    "missing_done": ScenarioCounts("executor_stopped_without_done", 0, 0, 0),
    "malformed_consult": ScenarioCounts("malformed_block", 0, 0, 1),
    "malformed_guidance": ScenarioCounts("malformed_block", 1, 0, 1),
    "advisor_stop": ScenarioCounts("advisor_stop_signal", 1, 1, 0),
    "max_turns": ScenarioCounts("max_turns_reached", 2, 2, 0),
}
"""By advisor-harness, with two turns and two consults at most."""


MOST = 2


@dataclass(frozen=True, slots=True)
class PlayedScenario:
    """One story as it was played. ``applied``: guidances it applied."""

    name: Scenario
    counts: ScenarioCounts
    applied: int

    @property
    def passed(self) -> bool:
        """Whether it ended exactly as it should."""
        return self.counts == EXPECTED[self.name]


def metrics(played: Sequence[PlayedScenario]) -> dict[str, Any]:
    """advisor-harness's own. A rate is of runs; that of applied guidance is of the runs that got some."""
    runs = len(played)
    ends = Counter(each.counts.status for each in played)
    guided = [each for each in played if each.counts.guidances]
    return {
        "pass_rate": _rate(sum(each.passed for each in played), runs),
        "malformed_block_rate": _rate(sum(each.counts.malformed > 0 for each in played), runs),
        "completion_without_executor_done_rate": _rate(ends["executor_stopped_without_done"], runs),
        "average_advisor_consults_per_run": _rate(sum(each.counts.consults for each in played), runs),
        "max_turn_exhaustion_rate": _rate(ends["max_turns_reached"], runs),
        "advisor_guidance_application_rate": _rate(sum(each.applied > 0 for each in guided), len(guided)),
        "status_counts": dict(sorted(ends.items())),
    }


def _rate(part: float, whole: int) -> float:
    return round(part / whole, 3) if whole else 0.0


@dataclass(frozen=True, slots=True)
class ScenarioSummary:
    """What one evaluation of the stories came to. Two are comparable where everything but the results is the same."""

    schema: Literal["evaluation-summary.v1"]
    backends: tuple[str, str]
    most_turns: int
    most_consults: int
    results: tuple[PlayedScenario, ...]

    @property
    def terms(self) -> tuple[object, ...]:
        """Under which it was played: the names in their order, the backends and the limits."""
        return tuple(each.name for each in self.results), self.backends, self.most_turns, self.most_consults


_SUMMARY = TypeAdapter(ScenarioSummary)


def summary_of(played: Sequence[PlayedScenario]) -> ScenarioSummary:
    """The summary of stories that the fake backend played."""
    return ScenarioSummary("evaluation-summary.v1", ("fake", "fake"), MOST, MOST, tuple(played))


def read_summary(text: bytes) -> ScenarioSummary | None:
    """A kept summary; None if it is none."""
    try:
        return _SUMMARY.validate_json(text)
    except ValidationError:
        return None


def summary_json(summary: ScenarioSummary) -> dict[str, Any]:
    """The summary with its metrics."""
    form: dict[str, Any] = _SUMMARY.dump_python(summary, mode="json")
    return form | {"metrics": metrics(summary.results)}


Trend = Literal["stable", "improved", "regressed"]


def against(earlier: ScenarioSummary | None, now: ScenarioSummary) -> tuple[Trend, str]:
    """How it compares with an earlier time, and why.

    Any story that passed and fails now is a regression, whatever others gained. Consults are no measure of quality:
    their mean must stay within its band.
    """
    if earlier is None or earlier.terms != now.terms:
        return "stable", "there is no earlier evaluation under the same terms"
    failing = {each.name for each in now.results if not each.passed}
    lost = [each.name for each in earlier.results if each.passed and each.name in failing]
    if lost:
        return "regressed", f"passed before and fails now: {', '.join(lost)}"
    mean = metrics(now.results)["average_advisor_consults_per_run"]
    if not CONSULTS[0] < mean <= CONSULTS[1]:
        return "regressed", f"{mean:.3f} consults of a run are outside {CONSULTS[0]:g} to {CONSULTS[1]:g}"
    gained = [each.name for each in earlier.results if not each.passed and each.name not in failing]
    return (
        ("improved", f"failed before and passes now: {', '.join(gained)}") if gained else ("stable", "nothing differs")
    )


def scenarios_text(summary: ScenarioSummary, verdict: str, why: str) -> str:
    """A line for each story, then the metrics."""
    lines = [
        f"{'pass' if each.passed else 'FAIL'}  {each.name}: {each.counts.status}, "
        f"{counted(each.counts.consults, 'consult')}, {counted(each.counts.guidances, 'guidance')}, "
        f"{each.counts.malformed} malformed"
        for each in summary.results
    ]
    measured = metrics(summary.results)
    ends = measured.pop("status_counts")
    lines += ["", *(f"{name}: {value:.3f}" for name, value in measured.items())]
    lines += [f"ended {status}: {count}" for status, count in ends.items()]
    return "\n".join([*lines, f"{verdict}: {why}"]) + "\n"
