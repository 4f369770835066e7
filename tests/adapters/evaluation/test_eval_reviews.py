"""``eval run`` over the real pipeline: each golden case is reviewed in a process of its own, and kept."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree
from threading import Thread

import pytest
from tests.adapters.command_line import Terminal

from review_advisor.app.evaluations import REVIEW_USD, EvaluationPurse, PlayedStories
from review_advisor.lab.evaluation_folder import EvaluationError
from review_advisor.lab.harness_stories import PlayedScenario, ScenarioCounts, Trend, summary_of

pytestmark = pytest.mark.every_case

SHELL = '''
kind = "faulty"
group = "shop/delivery"
language = "Python"
title = "Deliver reports"
exhaustive = true

[[files]]
path = "delivery.py"
after = """
import subprocess


def deliver(name):
    return subprocess.call(["cp", name, "/srv/archive"], shell=True)
"""

[[labels]]
file = "delivery.py"
first_line = 5
severity = "high"
category = "security"
text = "A name with shell characters runs any command."
'''
CLEAN = '''
kind = "clean"
group = "shop/accounts"
language = "Python"
title = "Add up"

[[files]]
path = "accounts.py"
after = """
def total(rows):
    return sum(row["amount"] for row in rows)
"""
'''


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    folder = tmp_path / "cases"
    folder.mkdir()
    (folder / "shell.toml").write_text(SHELL, encoding="utf-8")
    (folder / "total.toml").write_text(CLEAN, encoding="utf-8")
    return folder


def test_every_case_goes_through_the_real_pipeline_and_can_be_scored_again(
    terminal: Terminal, cases: Path, tmp_path: Path
) -> None:
    made = terminal.run(
        *("eval", "run", "--set", str(cases), "--answers", "embedded", "--arms", "executor-only,paired"),
        *("--out", str(tmp_path / "made"), "--json", "--jobs", "2"),
    )
    told = json.loads(made.out)
    reviews = next((tmp_path / "made").glob("eval_*")) / "reviews"
    again = terminal.run(
        *("eval", "run", "--set", str(cases), "--answers", "recorded", "--recorded", str(reviews)),
        *("--arms", "executor-only,paired,council", "--out", str(tmp_path / "again"), "--json"),
    )
    retold = json.loads(again.out)

    assert (made.code, again.code) == (0, 12)
    assert "council: 2 of 2 reviews got no answer. shell/council/1 is not recorded." in again.err
    for arm, rearm in zip(told["arms"], retold["arms"], strict=False):
        measures = {name: each["value"] for name, each in arm["measures"].items()}
        assert (measures["recall"], measures["correct"], measures["usd_per_review"]) == (1.0, 1.0, 0.0), arm["name"]
        assert rearm["measures"] == arm["measures"]
    assert told["label"] == "the embedded agent, with static checks. No model answered."
    assert told["chance"] == retold["chance"]
    assert (told["chance"]["recall"], told["chance"]["correct"], told["chance"]["false_alarms"]) == (0.2, 0.1, 1.0)
    (folder,) = (tmp_path / "made").glob("eval_*")
    by_chance = "By chance (one remark on any new line of each case, and changes requested): reviewed correctly 0.100,"
    assert by_chance in terminal.run("eval", "show", str(folder)).out
    assert {gate["answer"] for gate in told["gates"]} == {"not_applicable"}
    (lost,) = (arm for arm in retold["arms"] if arm["name"] == "council")
    assert (lost["lost"], lost["measures"]["recall"]["value"]) == (2, 0.0)


@pytest.mark.one_of_its_kind
def test_live_reviews_need_a_bound_of_money(terminal: Terminal, cases: Path) -> None:
    refused = terminal.run("eval", "run", "--set", str(cases), "--answers", "live")

    assert refused.code == 2
    assert "Live reviews cost money: say with --max-usd how much all of them may spend." in refused.err


@pytest.mark.parametrize(
    "given,says",
    [
        (("--answers", "embedded"), "--set names the golden set"),
        (("--matrix", "haiku,opus"), "--arm, --models and --matrix are about reviews"),
        (("--max-usd", "3"), "--max-usd is for --answers live"),
        (("--clone", "."), "--clone is for reviews that are made now"),
        (("--recorded", "."), "--answers recorded and --recorded DIR belong together."),
        (("--arms", "nobody"), "--arms has 'nobody': there are executor-only, advisor-only, paired, council."),
        (("--arms", ","), "No arm is named"),
        (("--arms", ""), "No arm is named"),
        (("--set", "nowhere", "--answers", "embedded", "--matrix", ","), "No arm is named"),
        (
            ("--set", "nowhere", "--answers", "embedded", "--seed", "18"),
            "--groups and --seed are for simulated answers",
        ),
        (("--set", "nowhere", "--answers", "embedded", "--seed", "0"), "--groups and --seed are for simulated answers"),
        (
            ("--set", "nowhere", "--answers", "embedded", "--groups", "7"),
            "--groups and --seed are for simulated answers",
        ),
    ],
)
def test_what_does_not_go_together_is_told(terminal: Terminal, given: tuple[str, ...], says: str) -> None:
    refused = terminal.run("eval", "run", *given)

    assert refused.code == 2
    assert says in refused.err


def test_a_review_is_begun_only_with_enough_money_for_a_whole_one() -> None:
    purse = EvaluationPurse(2 * REVIEW_USD)
    purse.given_back(purse.taken(), 0.5)
    purse.given_back(purse.taken(), None)

    assert purse.left == pytest.approx(REVIEW_USD - 0.5)
    with pytest.raises(EvaluationError, match=r"1\.50 dollars are left, and one review may need 2\.00"):
        purse.taken()


def test_reviews_at_a_time_share_one_purse() -> None:
    purse = EvaluationPurse(8 * REVIEW_USD)
    threads = [Thread(target=lambda: purse.given_back(purse.taken(), 1.0)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert purse.left == pytest.approx(8 * REVIEW_USD - 8)


def test_the_seven_stories_of_advisor_harness_end_as_it_says_and_stay_so(terminal: Terminal, tmp_path: Path) -> None:
    first, second = (terminal.run("eval", "scenarios", "--out", str(tmp_path / "kept")) for _ in range(2))

    assert (first.code, second.code) == (0, 0)
    assert first.out.count("pass  ") == 7
    assert "average_advisor_consults_per_run: 0.714" in first.out
    assert second.out.endswith("stable: nothing differs\n")
    assert {each.name for each in next((tmp_path / "kept").iterdir()).iterdir()} == {
        ".gitignore",
        "evaluation_summary.json",
        "evaluation_summary.md",
        "scenario_results.jsonl",
    }


def test_golden_cases_say_whether_stated_confidence_came_true(terminal: Terminal, cases: Path, tmp_path: Path) -> None:
    embedded = ("--set", str(cases), "--answers", "embedded", "--arms", "paired", "--out", str(tmp_path / "made"))
    assert terminal.run("eval", "run", *embedded).code == 0
    (folder,) = (tmp_path / "made").glob("eval_*")
    done = terminal.run("calibrate", "--labels", "golden", "--evaluation", folder, "--json")

    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert (told["labels_of"], set(told["sources"])) == ("golden", {"golden"}), "sources stay apart"
    assert told["findings"] == told["sources"]["golden"]["labels"] > 0, "both cases know every fault"
    assert told["sources"]["golden"]["right"] == 1
    (kind, *_) = [each["kind"] for each in told["cells"] if each["kind"]]
    assert (kind["advisor"], kind["surface"]) == ("executor", "pr_review")


@pytest.mark.every_case
def test_a_label_counts_once_however_often_its_case_was_reviewed(
    terminal: Terminal, cases: Path, tmp_path: Path
) -> None:
    def reviewed(root: str, arms: str) -> Path:
        asked = ("--set", str(cases), "--answers", "embedded", "--arms", arms, "--out", str(tmp_path / root))
        assert terminal.run("eval", "run", *asked).code == 0
        (folder,) = (tmp_path / root).glob("eval_*")
        return folder

    def calibrated(*folders: Path) -> tuple[int, str]:
        named = [word for each in folders for word in ("--evaluation", str(each))]
        done = terminal.run("calibrate", "--labels", "golden", *named, "--json")
        return json.loads(done.out)["sources"]["golden"]["labels"], done.err

    one, two = reviewed("one", "paired"), reviewed("two", "executor-only,paired")
    copy = copytree(one, tmp_path / "copy")

    assert calibrated(one) == (1, "")
    again = "that other reviews of the same case count for\n"
    assert calibrated(one, one, copy, one) == (1, f"left out: 3 findings {again}")
    assert calibrated(two) == (1, f"left out: 1 finding {again}")


@pytest.mark.parametrize(
    "words, said",
    [
        (("--labels", "golden"), "--labels golden and --evaluation DIR go together: give both, or neither."),
        (("--evaluation", "made"), "--labels golden and --evaluation DIR go together: give both, or neither."),
        (
            ("--labels", "golden", "--evaluation", "made", "--since", "7d"),
            "--since and --repository choose reviews, and an evaluation has none.",
        ),
        (
            ("--labels", "golden", "--evaluation", "made"),
            "made holds no evaluation: manifest.json is not there, or not ours.",
        ),
    ],
)
def test_golden_labels_come_of_an_evaluation_and_of_nothing_else(
    terminal: Terminal, words: tuple[str, ...], said: str
) -> None:
    refused = terminal.run("calibrate", *words)

    assert (refused.code, refused.sentence) == (2, said)


def test_what_is_no_earlier_summary_is_no_reason_to_fail(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "eval_scenarios_1/evaluation_summary.json").mkdir(parents=True)
    (tmp_path / "eval_scenarios_2").mkdir()
    (tmp_path / "eval_scenarios_2/evaluation_summary.json").write_text("[]")

    done = terminal.run("eval", "scenarios", "--out", str(tmp_path), "--json")

    told = json.loads(done.out)
    assert (done.code, told["verdict"], told["why"]) == (
        0,
        "stable",
        "there is no earlier evaluation under the same terms",
    )
    assert [each["name"] for each in told["results"]][:2] == ["autonomous_consult", "no_consult_completion"]


@pytest.mark.parametrize("status,trend,right", [("completed", "stable", True), ("max_turns_reached", "stable", False)])
def test_one_story_that_ends_otherwise_is_not_as_it_should_be(status: str, trend: Trend, *, right: bool) -> None:
    story = PlayedScenario("no_consult_completion", ScenarioCounts(status, 0, 0, 0), 0)

    assert PlayedStories(Path(), summary_of([story]), trend, "").is_as_it_should_be is right
    assert not PlayedStories(Path(), summary_of([story]), "regressed", "").is_as_it_should_be
