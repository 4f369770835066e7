"""``run`` with declared advisors as its users meet it: who takes part, what is printed, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.command_line import Done, Terminal, project
from tests.scenarios.act_017 import RISK_ANALYST

FAKE = ("--executor", "fake", "--advisor", "fake")
ACTIONS = ("--actions", "deploy,delay,rollback")
JUDGE = "---\nid: judge\n{on}: finish\n---\nYou are a judge.\n"


def printed(done: Done) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in done.out.partition("\n\n")[0].splitlines())


def council(done: Done) -> dict[str, Any]:
    told = json.loads((Path(printed(done)["run_dir"]) / "outcome.json").read_text(encoding="utf-8"))
    return dict(told["council"])


def written(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.every_case
def test_the_installed_command_prints_the_status_the_action_and_the_matrix_of_votes(terminal: Terminal) -> None:
    file = written(terminal.folder, "risk.json", RISK_ANALYST)
    done = terminal.process("run", "Deploy", "2.0?", *FAKE, "--advisors", file, *ACTIONS)
    told = printed(done)
    assert (done.code, told["status"], told["action"]) == (10, "voted_down", "rollback")
    _, matrix = done.out.split("\n\n")
    assert matrix.splitlines() == [
        "Vote on the end",
        "  member       deploy  delay  rollback",
        "  riskAnalyst  43      65     96",
        "  mean         43      65     96",
        "  Result: rollback has the highest mean (deploy 43, delay 65, rollback 96; spread 0).",
        "  riskAnalyst: thought fake",
    ]
    assert "turn 1, vote of who watches: rollback has the highest mean" in done.err
    listed = terminal.run("runs", "list", "--kind", "task", "--status", "voted_down")
    assert (listed.code, told["run_id"] in listed.out) == (0, True)


def test_exit_0_says_that_the_mildest_action_is_chosen(terminal: Terminal) -> None:
    file = written(terminal.folder, "risk.json", RISK_ANALYST)
    done = terminal.run("run", "Deploy 2.0?", *FAKE, "--advisors", file, "--actions", "rollback,delay,deploy")
    assert (done.code, printed(done)["status"], printed(done)["action"]) == (0, "completed", "rollback")


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "name, text",
    [
        ("judge.json", '[{"kind": "advisor", "id": "judge", "role": "You are a judge.", "on": "finish"}]'),
        ("judge.json", '{"type": "advisor", "id": "judge", "persona": "You are a judge.", "on": "finish"}'),
        ("judge.md", "---\nid: judge\non: finish\nrole: You are a judge.\n---\n"),
        ("judge.md", "---\nid: judge\non: finish\n---\nYou are a judge.\n"),
    ],
)
def test_old_and_new_names_say_the_same_to_run_council_and_config_check(
    terminal: Terminal, name: str, text: str
) -> None:
    project(terminal.folder)
    file = written(terminal.folder, f".review-advisor/advisors/{name}", text)
    brief = written(terminal.folder, "brief.json", '{"subject": "?", "actions": ["deploy", "delay"]}')
    of_run = council(terminal.run("run", "x", *FAKE, "--advisors", file, "--actions", "deploy,delay"))
    of_council = terminal.run("council", "--agent", "fake", "--json", "--brief", brief, "--advisors", file)
    assert of_run["means"] == json.loads(of_council.out)["means"]
    checked = terminal.run("config", "show")
    assert 'judge = "votes in post-verify' in checked.out
    assert terminal.run("config", "check").code == 0


def test_without_a_file_the_advisors_of_head_vote_and_those_of_the_working_tree_do_not(terminal: Terminal) -> None:
    repo = project(terminal.folder)
    repo.write(".review-advisor/advisors/judge.md", JUDGE.format(on="on"))
    repo.commit("Declare a judge")
    written(terminal.folder, ".review-advisor/advisors/other.md", JUDGE.format(on="on").replace("judge", "other"))
    done = terminal.run("run", "x", *FAKE, *ACTIONS)
    assert [each["id"] for each in council(done)["advisors"]] == ["judge"]


def test_declared_advisors_of_head_take_no_part_unless_the_user_says_so(terminal: Terminal) -> None:
    repo = project(terminal.folder)
    repo.write(".review-advisor/advisors/judge.md", JUDGE.format(on="on"))
    repo.commit("Declare a judge")
    done = terminal.run("run", "x", *FAKE)
    assert (done.code, "action" in printed(done)) == (0, False)


def test_a_mistake_in_the_advisors_of_head_is_named(terminal: Terminal) -> None:
    repo = project(terminal.folder)
    repo.write(".review-advisor/advisors/judge.md", JUDGE.format(on="onn"))
    repo.commit("Declare a judge")
    assert "unknown key 'onn'" in terminal.run("run", "x", *FAKE, *ACTIONS).sentence


@pytest.mark.parametrize(
    "advisors, words, told",
    [
        (RISK_ANALYST, (), "Name the actions with --actions"),
        (RISK_ANALYST, ("--actions", "deploy"), "name 2 to 10 actions"),
        (RISK_ANALYST, ("--actions", "deploy,Deploy"), "stands there twice"),
        (RISK_ANALYST, ("--actions", "deploy,no way"), "number 2"),
        ('[{"id": "a", "role": "A."}]', ACTIONS, "Nobody votes over the actions"),
        ("[]", ACTIONS, "declares no advisor"),
    ],
)
def test_what_cannot_be_voted_on_is_refused_before_anything_is_asked(
    terminal: Terminal, advisors: str, words: tuple[str, ...], told: str
) -> None:
    file = written(terminal.folder, "advisors.json", advisors)
    done = terminal.run("run", "x", *FAKE, "--advisors", file, *words)
    assert done.code == 2
    assert told in done.sentence
    assert not (terminal.folder / "runs").exists()


def test_a_command_has_no_form_for_votes_and_may_be_asked_by_id(terminal: Terminal) -> None:
    written(terminal.folder, "risk.json", RISK_ANALYST)
    written(terminal.folder, "askable.json", '[{"id": "a", "role": "A."}]')
    written(terminal.folder, "backends.toml", '[other]\ncommand = ["true"]\n')
    other = ("--executor", "fake", "--advisor", "other", "--adapter", "backends.toml")
    refused = terminal.run("run", "x", *other, "--advisors", "risk.json", *ACTIONS)
    assert "'other' has no form for opinions and votes" in refused.sentence
    done = terminal.run("run", "no consult completion", *other, "--advisors", "askable.json")
    assert (done.code, printed(done)["status"]) == (0, "completed")


def test_a_switch_that_turns_off_who_votes_makes_no_call(terminal: Terminal) -> None:
    file = written(terminal.folder, "risk.json", RISK_ANALYST)
    off = {"HYDRAFLOW_REVIEW_POSTVERIFY_ENABLED": "false"}
    done = terminal.run("run", "x", *FAKE, "--advisors", file, *ACTIONS, env=off)
    assert (done.code, printed(done)["status"]) == (12, "disabled")
    assert "HYDRAFLOW_REVIEW_POSTVERIFY_ENABLED is off" in done.err


@pytest.mark.every_case
def test_the_dashboard_shows_the_votes_of_a_task(terminal: Terminal) -> None:
    file = written(terminal.folder, "risk.json", RISK_ANALYST)
    run_id = printed(terminal.run("run", "Deploy 2.0?", *FAKE, "--advisors", file, *ACTIONS))["run_id"]
    assert terminal.run("ui", "--run", run_id, "--out", terminal.folder / "site").code == 0
    pages = "".join(each.read_text(encoding="utf-8") for each in (terminal.folder / "site").rglob("*.js*"))
    assert "Vote on the end" in pages
    assert "riskAnalyst speaks before the first turn" in pages
