"""``review-advisor score --martian DIR``: results in the benchmark's own form, and folders that hold something else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.evaluation.judged_changes import TOOLS, judged_changes, put, write_results

from review_advisor.app import score as martian_score
from review_advisor.lab.recorded_reviews import read_results

JUDGES = {"judge-1": judged_changes(agreeing=True), "judge-2": judged_changes(agreeing=False)}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return write_results(tmp_path / "benchmark", JUDGES)


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_what_is_read_is_what_was_recorded(results: Path) -> None:
    for read in read_results(results, Path.read_bytes):
        assert {(each.name, each.repository, each.golden) for each in read.changes} == {
            (each.name, each.repository, each.golden) for each in JUDGES[read.judge]
        }
        for each, recorded in zip(read.changes, sorted(JUDGES[read.judge], key=lambda one: one.name), strict=True):
            assert dict(each.loose) == dict(recorded.loose)
            assert sorted((one.tool, one.text, one.matches) for one in each.findings) == sorted(
                (one.tool, one.text, one.matches) for one in recorded.findings
            )


@pytest.mark.every_case
def test_the_table_says_for_which_judges_the_council_gains(terminal: Terminal, results: Path) -> None:
    done = terminal.run("score", "--martian", str(results))
    assert (done.code, done.err) == (0, "")
    assert "Judge judge-1: 12 pull requests, 24 golden comments" in done.out
    assert "for 1 of 2 judges the gain excludes 0 and beats the placebo. Bar (two thirds): not met." in done.out
    assert "The folder has no published table of this judge." in done.out


@pytest.mark.every_case
def test_json_has_every_number_and_the_same_bytes_again(terminal: Terminal, results: Path) -> None:
    first, second = (terminal.run("score", "--martian", str(results / "offline"), "--json") for _ in range(2))
    assert first.out == second.out
    told = json.loads(first.out)
    assert told["bar"] == {"fixed": False, "left_out": False}
    one, other = told["judges"]
    assert [each["tool"] for each in one["tools"]] == sorted(TOOLS)
    assert one["council"]["fixed"]["council"]["f1"] > one["council"]["fixed"]["single"]["f1"]
    assert one["council"]["fixed"]["beats_placebo"]
    assert not other["council"]["fixed"]["beats_placebo"]


def test_a_published_table_is_held_against_what_is_counted(terminal: Terminal, results: Path) -> None:
    wrong = {"precision": 1.0, "recall": 2.0, "f1": 3.0}
    table = {
        "judge-1": {"overall_metrics": {"lead": {"precision": 50.0, "recall": 100.0, "f1": 66.7}, "member-a": wrong}}
    }
    put(results / "offline" / "analysis" / "benchmark_dashboard.json", {"models": table})
    one, other = json.loads(terminal.run("score", "--martian", str(results), "--json").out)["judges"]
    assert one["published"] == {"of": 7, "equal": ["lead"]}
    assert other["published"] is None


def test_a_comment_that_only_calls_a_tool_counts_in_the_published_table_alone(results: Path) -> None:
    """Where nothing was extracted, the benchmark judges the raw comments; a command among them is no finding."""
    judge = results / "offline" / "results" / "judge-1"
    candidates, evaluations = read_json(judge / "candidates.json"), read_json(judge / "evaluations.json")
    url = next(iter(evaluations))
    del candidates[url]["member-f"]
    evaluations[url]["member-f"]["false_positives"] = [{"candidate": "/member review"}, {"candidate": "A raw comment."}]
    put(judge / "candidates.json", candidates)
    put(judge / "evaluations.json", evaluations)
    change = next(each for each in read_results(results, Path.read_bytes)[0].changes if each.name == url)
    assert [each.text for each in change.findings if each.tool == "member-f"] == ["A raw comment."]
    assert change.loose["member-f"].shown == 2


def spoil(path: str, value: Any) -> Callable[[Path], None]:
    return lambda offline: put(offline / path, value)


def change_evaluations(edit: Callable[[Any], None]) -> Callable[[Path], None]:
    def spoiling(offline: Path) -> None:
        path = offline / "results" / "judge-1" / "evaluations.json"
        told = read_json(path)
        edit(told)
        put(path, told)

    return spoiling


def foreign_hit(told: Any) -> None:
    next(iter(told.values()))["lead"]["true_positives"][0]["matched_candidate"] = "nobody said this"


def hostile_name(told: Any) -> None:
    next(iter(told.values()))["\x1b[31mtool"] = {}


def no_tools(told: Any) -> None:
    told.update({url: {} for url in told})


def all_skipped(told: Any) -> None:
    for by_tool in told.values():
        for each in by_tool.values():
            each["skipped"] = True


EVALUATIONS = "results/judge-1/evaluations.json"


@pytest.mark.parametrize(
    "spoiling, words",
    [
        (spoil(EVALUATIONS, "{"), "does not have the form of these results"),
        (spoil(EVALUATIONS, "[" * 100_000), "does not have the form of these results"),
        (spoil(EVALUATIONS, [1]), "does not have the form of these results"),
        (spoil(EVALUATIONS, {"https://forge.example/other/pull/1": {}}), "without golden comments"),
        (spoil(EVALUATIONS, {}), "fewer than two repositories"),
        (
            spoil("results/judge-1/candidates.json", {"url": {"lead": [{"text": "x" * 20_001}]}}),
            "does not have the form",
        ),
        (spoil("golden_comments/alpha.json", {"url": 1}), "does not have the form of these results"),
        (spoil("analysis/benchmark_dashboard.json", {"models": {"judge-1": {}}}), "does not have the form"),
        (change_evaluations(foreign_hit), "candidates.json does not have"),
        (change_evaluations(no_tools), "has no tool that was judged"),
        (change_evaluations(all_skipped), "has no tool that was judged"),
        (change_evaluations(hostile_name), "does not have the form of these results"),
        (
            lambda offline: (offline / "results/judge-1/candidates.json").unlink(),
            "cannot be read: No such file or directory.",
        ),
    ],
)
def test_what_is_not_that_data_is_refused_in_one_sentence(
    terminal: Terminal, results: Path, spoiling: Callable[[Path], None], words: str
) -> None:
    spoiling(results / "offline")
    done = terminal.run("score", "--martian", str(results))
    assert done.code == 2
    assert words in done.sentence
    assert "\x1b" not in done.err
    assert len(done.sentence) < 1_000


@pytest.mark.every_case
def test_a_judge_is_named_by_a_folder_and_moves_no_cursor(terminal: Terminal, results: Path) -> None:
    folder = results / "offline" / "results" / "judge-2"
    folder.rename(folder.with_name("judge\x1b[31m\n2"))
    done = terminal.run("score", "--martian", str(results))
    assert (done.code, "\x1b" in done.out, "\n2:" in done.out) == (0, False, False)


@pytest.mark.parametrize("folder", ["not-there", "."])
def test_a_folder_without_results_is_refused(terminal: Terminal, folder: str) -> None:
    done = terminal.run("score", "--martian", folder)
    assert (done.code, "holds no results of that benchmark" in done.sentence) == (2, True)


def test_a_folder_of_one_repository_leaves_none_to_choose_on(terminal: Terminal, results: Path) -> None:
    for repository in ("beta", "gamma"):
        (results / "offline" / "golden_comments" / f"{repository}.json").unlink()
    done = terminal.run("score", "--martian", str(results))
    assert (done.code, "fewer than two repositories" in done.sentence) == (2, True)


def test_a_file_beyond_the_bound_is_not_read(
    terminal: Terminal, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(martian_score, "MOST_BYTES", 1_000)
    done = terminal.run("score", "--martian", str(results))
    assert (done.code, "is larger than" in done.sentence) == (2, True)


def test_more_findings_on_one_pull_request_than_can_be_compared_are_refused(terminal: Terminal, results: Path) -> None:
    path = results / "offline" / "results" / "judge-1" / "candidates.json"
    told = read_json(path)
    told[next(iter(told))]["member-f"] = [{"text": f"finding {number}"} for number in range(401)]
    put(path, told)
    done = terminal.run("score", "--martian", str(results))
    assert (done.code, "more than 400 findings" in done.sentence) == (2, True)
