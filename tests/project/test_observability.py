"""The dashboard and the alert rules name only what exists, as Prometheus names it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from review_advisor.ledger.telemetry import METRICS, Metric

FOLDER = Path(__file__).parents[2] / "docs" / "observability"
DASHBOARD = json.loads((FOLDER / "grafana-dashboard.json").read_text(encoding="utf-8"))
RULES = yaml.safe_load((FOLDER / "prometheus-rules.yml").read_text(encoding="utf-8"))
FUNCTIONS = {"sum", "increase", "histogram_quantile", "vector", "label_values"}
WORDS = {"by", "on", "and", "or"}
UNITS = {"s": "seconds"}


def prometheus_names(metric: Metric) -> set[str]:
    """A metric's series after ``UnderscoreEscapingWithSuffixes``, the default translation of OTLP in Prometheus.

    A unit in braces is dropped, any other is put behind the name unless a word of it says so already; then a counter
    ends with ``total``, once.
    """
    words = re.findall(r"[A-Za-z0-9:]+", metric.name)
    unit = "" if "{" in metric.unit else UNITS[metric.unit]
    if unit and unit not in words:
        words.append(unit)
    if metric.kind == "counter":
        words = [*(word for word in words if word != "total"), "total"]
        return {"_".join(words)}
    return {f"{'_'.join(words)}_{suffix}" for suffix in ("bucket", "sum", "count")}


SERIES = {name: metric for metric in METRICS for name in prometheus_names(metric)}


def test_the_translation_leaves_the_nine_names_as_they_are() -> None:
    duration = "review_advisor_call_duration_seconds"
    counters = {metric.name for metric in METRICS if metric.kind == "counter"}
    assert SERIES.keys() == counters | {f"{duration}_{suffix}" for suffix in ("bucket", "sum", "count")}


# --- what is asked for -------------------------------------------------------------------------------------------


def expressions(value: Any) -> Iterator[str]:
    """Everything below an ``expr``, and the dashboard's own query."""
    if isinstance(value, dict):
        for key, each in value.items():
            if key in ("expr", "query") and isinstance(each, str) and "(" in each:
                yield each
            else:
                yield from expressions(each)
    elif isinstance(value, list):
        for each in value:
            yield from expressions(each)


ASKED = sorted({*expressions(DASHBOARD), *expressions(RULES)})


def outside_strings(expression: str) -> str:
    """An expression without its strings, ranges and Grafana's variables."""
    return re.sub(r'"[^"]*"|\[[^\]]*\]|\$\w+', "", expression)


@pytest.mark.parametrize("expression", ASKED)
def test_an_expression_names_only_series_labels_and_functions_that_exist(expression: str) -> None:
    bare = outside_strings(expression)
    series = set(re.findall(r"\breview_advisor_\w+", bare))
    assert series
    assert series - SERIES.keys() == set()
    assert set(re.findall(r"\b([a-z_]+)\s*\(", bare)) - {"by", "on", "and", "or"} <= FUNCTIONS
    known = {"le"}.union(*(SERIES[name].attributes for name in series))
    labels = {label for group in re.findall(r"\b(?:by|on) \(([^)]*)\)", bare) for label in group.split(", ")}
    labels |= {each for group in re.findall(r"\{([^}]*)\}", bare) for each in re.findall(r"(\w+)\s*[!=]", group)}
    assert labels - known == set()
    words = set(re.findall(r"\b[a-z]\w*", bare)) - series - labels - FUNCTIONS - WORDS
    assert words <= {"surface"}, "every word of it is known"


@pytest.mark.parametrize("expression", ASKED)
def test_an_expressions_brackets_are_closed(expression: str) -> None:
    bare = re.sub(r'"[^"]*"', "", expression)
    for opening, closing in ("()", "[]", "{}"):
        depth = 0
        for character in bare:
            depth += (character == opening) - (character == closing)
            assert depth >= 0
        assert depth == 0


@pytest.mark.parametrize("expression", ASKED)
def test_a_value_that_is_compared_with_can_occur(expression: str) -> None:
    values = {"attempt": {"1", "2", "3", "exhausted"}, "outcome": {"success", "error", "parse_error"}}
    for label, value in re.findall(r'(\w+)!?="([^"]*)"', expression):
        assert value in values[label]


# --- the dashboard -----------------------------------------------------------------------------------------------


def test_every_metric_is_on_the_dashboard() -> None:
    shown = " ".join(expressions(DASHBOARD))
    assert [metric.name for metric in METRICS if metric.name not in shown] == []


def test_the_dashboard_belongs_to_no_installation() -> None:
    panels = DASHBOARD["panels"]
    assert {panel["datasource"]["uid"] for panel in panels} == {"${datasource}"}
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert all(panel["title"] and panel["description"] for panel in panels)
    assert [variable["name"] for variable in DASHBOARD["templating"]["list"]] == ["datasource", "surface"]


def test_no_panel_covers_another() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken
        assert place["x"] + place["w"] <= 24
        taken |= cells


def test_a_legend_shows_only_labels_that_the_panel_keeps() -> None:
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            kept = {label for group in re.findall(r"\bby \(([^)]*)\)", target["expr"]) for label in group.split(", ")}
            assert set(re.findall(r"\{\{(\w+)\}\}", target.get("legendFormat", ""))) <= kept


# --- the rules ---------------------------------------------------------------------------------------------------


def rules() -> list[dict[str, Any]]:
    return [rule for group in RULES["groups"] for rule in group["rules"]]


def test_every_alert_has_a_name_a_severity_and_says_what_it_means() -> None:
    names = [rule["alert"] for rule in rules()]
    assert len(set(names)) == len(names)
    for rule in rules():
        assert rule["labels"]["severity"] in {"info", "warning", "critical"}
        assert rule["annotations"]["summary"]
        assert rule["annotations"]["description"].endswith(".")


def test_an_alert_speaks_only_of_labels_that_its_expression_keeps() -> None:
    for rule in rules():
        kept = {label for group in re.findall(r"\bby \(([^)]*)\)", rule["expr"]) for label in group.split(", ")}
        assert set(re.findall(r"\$labels\.(\w+)", json.dumps(rule["annotations"]))) <= kept
