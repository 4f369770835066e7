"""The benchmarks' page names them all and holds the figures of each, and its plot shows what was measured."""

import importlib
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tests.adapters.git_repository import Repo

from review_advisor.ledger.proving import verify

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
PICTURE = ROOT / "docs" / "images" / "large-change.svg"
BENCHMARKS = {path.stem for path in (ROOT / "benchmarks").glob("[!_]*.py")}
SVG = "{http://www.w3.org/2000/svg}"


def test_the_page_names_every_benchmark_and_no_other() -> None:
    assert set(re.findall(r"\b(\w+)\.py\b", PAGE)) == BENCHMARKS


def test_every_benchmark_has_its_figures_in_the_page_or_is_said_to_print_them() -> None:
    blocks = dict(re.findall(r"<!-- figures:(\w+) -->\n(.*?)<!-- /figures:\1 -->", PAGE, re.DOTALL))
    (printing,) = re.findall(r"only print: (.*?)\.\n", PAGE, re.DOTALL)
    assert blocks.keys() | set(re.findall(r"(\w+)\.py", printing)) == BENCHMARKS
    assert [name for name, figures in blocks.items() if not re.match(r"Load [\d.]+ on \d+ cores[.,]", figures)] == []


def test_figures_of_another_machine_than_the_pages_name_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    bench = importlib.import_module("_figures")
    load = r"Load [\d.]+ on \d+ cores"
    (machine,) = re.findall(rf"^{load}, (.+)\.\n\n$", bench.measured("The machine is another.\n\n## First\n"))
    assert re.fullmatch(rf"{load}\.\n\n", bench.measured(f"The machine is {machine}.\n\n## First\n"))
    assert machine in bench.measured(f"The machine is another.\n\n## First\n\nLoad 1.0 on 2 cores, {machine}.\n")


def test_no_figure_stands_outside_the_figures() -> None:
    prose = re.sub(
        r"<!-- figures:(\w+) -->.*?<!-- /figures:\1 -->|^```.*?^```", "", PAGE, flags=re.DOTALL | re.MULTILINE
    )
    assert re.findall(r"\d[\d.,]* ?(?:s|ms|MB|GB|%|x)\b", prose) == []


def test_the_picture_shows_the_figures_of_the_page_and_fetches_nothing() -> None:
    text = PICTURE.read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[^\s\"'<>)]+", text)) == {"http://www.w3.org/2000/svg"}
    picture = ET.fromstring(text)
    (ink,) = {point.get("fill") for point in picture.iter(f"{SVG}circle")}
    labels = [label.text for label in picture.iter(f"{SVG}text") if label.get("fill") == ink]
    assert [labels[-1]] == re.findall(
        r"^\| facts, trigger, blast radius and guard \| ([\d.]+) s \|", PAGE, re.MULTILINE
    )


@pytest.mark.every_case
@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("large_change.py", "--files", "8", "--runs", "1"), id="large_change"),
        pytest.param(("large_review.py", "--files", "2", "--lines", "30"), id="large_review"),
    ],
)
def test_what_a_large_change_comes_to_is_told_of_a_small_one_too(words: tuple[str, ...]) -> None:
    script, *options = words
    command = [sys.executable, str(ROOT / "benchmarks" / script), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "bar 0 files: held" in done.stdout
    assert "bar 0 files: MISSED" not in done.stdout


@pytest.mark.every_case
def test_a_seeded_ledger_is_as_the_recorder_writes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    ledger = tmp_path / "ledger.sqlite3"
    importlib.import_module("_seeded_ledger").seed(ledger, 60)
    proof = verify(ledger)
    assert (proof.whole, proof.runs) == (True, 61), "sixty reviews, and what became of one"


@pytest.mark.every_case
def test_two_ledgers_are_collected_as_ten_thousand_are() -> None:
    words = ("collect_time.py", "--repositories", "2", "--artifacts", "1")
    command = [sys.executable, str(ROOT / "benchmarks" / words[0]), *words[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(r"the ledger +0 MB +2 runs, 28 events", done.stdout), done.stdout


@pytest.mark.every_case
def test_the_newest_blind_figure_of_the_static_checks_decides_whether_the_benchmark_fails() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "static_precision.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    (row,) = re.findall(
        r"^  the newest blind figure +\d+% +(\d+) of (\d+) in \d+ ranges; 95% interval \d+% to \d+%;"
        r" bar 80% of at least 20: (\w+)$",
        done.stdout,
        re.MULTILINE,
    )
    useful, every, verdict = int(row[0]), int(row[1]), row[2]
    is_held = every >= 20 and useful >= 0.8 * every
    assert (verdict, done.returncode) == (("held", 0) if is_held else ("MISSED", 1)), done.stderr


def test_few_findings_do_not_hold_the_bar_and_every_set_is_of_other_repositories(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    bench = importlib.import_module("static_precision")
    one = bench.Judged("owner/name", "a..b", "a.py", "1", "F821", "useful", "why")
    assert [bench.is_held([one] * number) for number in (0, 19, 20)] == [False, False, True]
    assert not bench.is_held([one] * 79 + [replace(one, judgement="noise")] * 21)
    sets = [{row.repository for row in bench.judged(name)} for name in bench.SETS]
    assert all(len(each) >= 20 for each in sets)
    assert len(set().union(*sets)) == sum(map(len, sets))


def test_blind_ranges_are_drawn_from_names_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    ranges = importlib.import_module("_drawn_ranges")
    monkeypatch.setattr(ranges, "FEWEST", 5)
    monkeypatch.setattr(ranges, "COMMITS", 2)
    for name, commits in {"a+x": 5, "a+y": 5, "b+z": 1}.items():
        repo = Repo(tmp_path / name)
        for number in range(commits):
            repo.write("app.py", f"x = {number}\n")
            repo.commit("more")
    drawn = ranges.draw(tmp_path, {"a/y"}, 3)
    assert [name for name, _ in drawn] == ["a/x"]
    base, head = drawn[0][1].split("..")
    between = Repo(tmp_path / "a+x").git("rev-list", "--first-parent", f"{base}..{head}").decode().split()
    assert len(between) == 2
    assert ranges.draw(tmp_path, {"a/y"}, 3) == drawn


@pytest.mark.every_case
def test_every_retry_comes_while_the_cache_still_keeps_its_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five minutes are enough."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    wait = importlib.import_module("wait")
    reviews = [wait.play(wait.SEED, number) for number in range(40)]
    waited = [seconds for each in reviews for seconds in each.until_repeated()]
    assert len(waited) >= 2
    assert max(waited) <= wait.CACHE_SECONDS
    (late, share) = wait.lifetime_rows(reviews)
    assert (late[1], share[1]) == (f"0 of {len(waited)}", "65%")


@pytest.mark.every_case
def test_the_model_of_the_wait_is_what_the_pipeline_takes_and_a_seed_says_the_same_twice() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "wait.py"), "--reviews", "24"]
    first, second = (subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2))
    assert first == second
    one_at_a_time_and_four = 2
    assert len(re.findall(r"the model beside the pipeline.*? +0\.000 s", first)) == one_at_a_time_and_four
    assert len(re.findall(r"its money.*? +0\.0000 USD", first)) == one_at_a_time_and_four


def test_the_drawn_times_reproduce_the_waits_that_were_seen() -> None:
    (figures,) = re.findall(r"<!-- figures:wait -->\n(.*?)<!-- /figures:wait -->", PAGE, re.DOTALL)
    assert re.findall(r"seen ([\d.]+) x: (\w+)", figures) == [("2.1", "reproduced"), ("3.6", "reproduced")]


def test_the_costs_before_are_those_of_the_kept_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a review costs is compared with counts that a command made, and can make again."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    bench = importlib.import_module("review_cost")
    kept = bench.read_counts(bench.KEPT)
    told = dict(re.findall(r"^\| ([\d,]+ lines, [\w ]+) \| [\d.]+ USD \| -\d+% \(([\d.]+)\) \|", PAGE, re.MULTILINE))
    assert told == {words: f"{counts.usd:.2f}" for words, counts in kept.items()}


def test_a_review_is_cheaper_than_before_by_what_was_promised() -> None:
    """In one model of cost; of 4,000 lines, which are several parts, less was reached than was aimed at."""
    rows = re.findall(r"^\| ([\d,]+) lines, ([\w ]+) \| [\d.]+ USD \| -(\d+)%", PAGE, re.MULTILINE)
    cheaper = {(size, end): int(percent) for size, end, percent in rows}
    for size, bars in (("200", (10, 14, 16)), ("1,000", (18, 28, 34))):
        for end, bar in zip(("approved", "vetoed once", "vetoed 3 times"), bars, strict=True):
            assert cheaper[size, end] >= bar


def judged(right: list[tuple[str, str]], wrong: list[str], missed: list[str]) -> dict[str, list[dict[str, str]]]:
    return {
        "true_positives": [{"golden_comment": said, "matched_candidate": text} for said, text in right],
        "false_positives": [{"candidate": text} for text in wrong],
        "false_negatives": [{"golden_comment": said} for said in missed],
    }


def test_tools_of_a_public_benchmark_are_counted_as_published_and_one_to_one(tmp_path: Path) -> None:
    """One finding for two comments, two findings for one, and a comment that only calls a tool."""
    one = judged([("leak", "both"), ("zero", "both")], ["/tool review"], [])
    other = judged([("leak", "a leak"), ("leak", "the leak")], ["style"], ["zero"])
    files = {
        "golden_comments/alpha.json": [{"url": "u1"}],
        "golden_comments/beta.json": [{"url": "u2"}],
        "results/judge/evaluations.json": {
            "u1": {"tool": one, "other": other},
            "u2": {"tool": one, "other": {**other, "skipped": True}},
        },
        "analysis/benchmark_dashboard.json": {
            "models": {"judge": {"overall_metrics": {"tool": {"precision": 66.7, "recall": 100.0, "f1": 80.0}}}}
        },
    }
    for name, told in files.items():
        path = tmp_path / "offline" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(told))
    command = [sys.executable, str(ROOT / "benchmarks" / "_martian.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    judge, _, first, second, equal, _ = done.stdout.split("\n")[:6]
    assert judge == "Judge judge: 2 pull requests"
    assert first.split()[:7] == ["tool", "0.667", "1.000", "0.800", "1.000", "0.500", "0.667"]
    assert second.split()[:7] == ["other", "0.667", "0.667", "0.667", "0.333", "0.500", "0.400"]
    assert equal == "1 of 2 tools are as in the published table to the third decimal."
    gone = subprocess.run([*command[:2], str(tmp_path / "none")], capture_output=True, text=True, check=False)
    assert (gone.returncode, "holds no results of that benchmark" in gone.stderr) == (1, True)
