"""``run`` as its users meet it: what it prints, its exit codes, and its folder."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.command_line import Done, Terminal

FAKE = ("--executor", "fake", "--advisor", "fake")
ALWAYS = {
    ".gitignore",
    "task.md",
    "executor_initial.prompt.md",
    "session_events.jsonl",
    "advisor_consults.jsonl",
    "advisor_guidance.jsonl",
    "memory_proposals.jsonl",
    "malformed_blocks.jsonl",
    "outcome.json",
    "version_manifest.json",
    "policy.json",
    "memory_schema.json",
}
OF_A_TURN = ("prompt.md", "final.md", "stdout.txt", "stderr.txt", "raw.json")


def printed(done: Done) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in done.out.splitlines())


def outcome(done: Done) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((Path(printed(done)["run_dir"]) / "outcome.json").read_text(encoding="utf-8"))
    return told


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "task, code, counts",
    [
        ("fake smoke task", 0, ("completed", 1, 1, 0)),
        ("play autonomous_consult", 0, ("completed", 1, 1, 0)),
        ("no consult completion", 0, ("completed", 0, 0, 0)),
        ("missing-done", 10, ("executor_stopped_without_done", 0, 0, 0)),
        ("malformed_consult", 10, ("malformed_block", 0, 0, 1)),
        ("malformed_guidance", 10, ("malformed_block", 1, 0, 1)),
        ("advisor stop", 11, ("advisor_stop_signal", 1, 1, 0)),
        ("max turns", 10, ("max_turns_reached", 2, 2, 0)),
    ],
)
def test_each_scenario_of_the_fake_backend_ends_as_advisor_harness_says(
    terminal: Terminal, task: str, code: int, counts: tuple[str, int, int, int]
) -> None:
    done = terminal.run("run", *task.split(), *FAKE, "--max-turns", "2", "--max-advisor-calls", "2")
    told = outcome(done)
    keys = ("status", "advisor_consult_count", "advisor_guidance_count", "malformed_block_count")
    assert (done.code, tuple(told[key] for key in keys)) == (code, counts)


def test_it_prints_the_run_its_folder_its_status_and_its_counts(terminal: Terminal) -> None:
    words = ("fake smoke task", *FAKE, "--timeout", "240", "--max-turns", "3", "--max-advisor-calls", "3")
    done = terminal.run("run", *words)
    told = printed(done)
    assert list(told) == ["run_id", "run_dir", "status", "advisor_consults", "memory_proposals"]
    assert re.fullmatch(r"run_\d{8}T\d{6}Z_[0-9a-f]{8}", told["run_id"])
    assert Path(told["run_dir"]) == terminal.folder / "runs" / told["run_id"]
    assert (told["status"], told["advisor_consults"], told["memory_proposals"]) == ("completed", "1", "0")


def test_the_folder_holds_every_file_of_advisor_harness(terminal: Terminal) -> None:
    done = terminal.run("run", "fake smoke task", *FAKE)
    folder = Path(printed(done)["run_dir"])
    turns = {"executor_turn_1", "executor_turn_2", "advisor_turn_1"}
    assert {each.name for each in folder.iterdir()} == ALWAYS | {f"{t}.{end}" for t in turns for end in OF_A_TURN}
    assert (folder / "task.md").read_text(encoding="utf-8") == "fake smoke task\n"
    kinds = [line["type"] for line in lines(folder, "session_events.jsonl")]
    assert kinds == [
        "run_started",
        "executor_turn",
        "advisor_consult",
        "advisor_turn",
        "advisor_guidance",
        "executor_turn",
        "guidance_used",
        "run_completed",
    ]
    (consult,), (guidance,) = lines(folder, "advisor_consults.jsonl"), lines(folder, "advisor_guidance.jsonl")
    assert re.fullmatch("adv_consult_[0-9a-f]{12}", consult["id"])
    assert re.fullmatch("adv_guidance_[0-9a-f]{12}", guidance["id"])
    assert guidance["consult_id"] == consult["id"]


def test_the_outcome_and_the_manifest_have_the_keys_of_advisor_harness(terminal: Terminal) -> None:
    told = outcome(terminal.run("run", "fake smoke task", *FAKE))
    counts = {
        f"{what}_count"
        for what in ("executor_turn", "advisor_consult", "advisor_guidance", "memory_proposal", "malformed_block")
    }
    named = {"run_id", "status", "executor_backend", "advisor_backend", "executor_session_id", "malformed_blocks"}
    more = {"max_turns", "max_advisor_calls", "executor_done", "version_manifest", "completed_at"}
    assert counts | named | more <= told.keys()
    assert told["executor_done"]["status"] == "completed"
    manifest = told["version_manifest"]
    assert manifest["schema_version"] == "run-version-manifest.v1"
    assert set(manifest["prompt_versions"]) == {"executor_start", "advisor_guidance", "executor_resume"}
    assert manifest["memory_schema"]["version"] == "memory-record.v1"
    assert manifest["policy_files"]["routing_policy"]["path"] == "policy.json"


def test_a_run_is_private_and_its_folder_ignores_itself_in_git(terminal: Terminal) -> None:
    folder = Path(printed(terminal.run("run", "fake smoke task", *FAKE))["run_dir"])
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
    assert (folder / ".gitignore").read_text(encoding="ascii") == "*\n"


def test_prompts_are_digests_unless_the_user_wants_them_kept(terminal: Terminal) -> None:
    without = Path(printed(terminal.run("run", "fake smoke task", *FAKE))["run_dir"])
    assert "sha256" in (without / "executor_turn_1.prompt.md").read_text(encoding="utf-8")
    kept = Path(printed(terminal.run("run", "fake smoke task", *FAKE, "--recording", "full"))["run_dir"])
    assert "EXECUTOR_DONE" in (kept / "executor_initial.prompt.md").read_text(encoding="utf-8")
    assert "UNTRUSTED QUESTION" in (kept / "advisor_turn_1.prompt.md").read_text(encoding="utf-8")


def test_a_switch_that_is_off_makes_no_call(terminal: Terminal) -> None:
    done = terminal.run("run", "fake smoke task", *FAKE, env={"HYDRAFLOW_REVIEW_MIDFLIGHT_ENABLED": "false"})
    assert (done.code, outcome(done)["status"], outcome(done)["executor_turn_count"]) == (12, "disabled", 0)
    assert "HYDRAFLOW_REVIEW_MIDFLIGHT_ENABLED is off" in done.err


@pytest.mark.every_case
def test_the_static_checks_do_no_task_and_say_so(terminal: Terminal) -> None:
    done = terminal.run("run", "Fix it", "--executor", "fake", "--advisor", "embedded")
    assert (done.code, outcome(done)["status"]) == (0, "completed")
    folder = Path(printed(done)["run_dir"])
    (guidance,) = lines(folder, "advisor_guidance.jsonl")
    assert "no model" in guidance["guidance"]
    assert "no block" in guidance["note"]


def test_whoever_waits_is_told_each_call_and_how_it_ended(terminal: Terminal) -> None:
    told = terminal.run("run", "fake smoke task", *FAKE).err.splitlines()
    assert told == [
        "turn 1, executor: answered in 0 s, $0.0000",
        "turn 1, question: Which way is the right one?",
        "turn 1, advisor: answered in 0 s, $0.0000",
        "turn 1, guidance: Go on with the smallest change.",
        "turn 2, executor: answered in 0 s, $0.0000",
        "completed: The fake executor is done.",
    ]


def test_a_folder_that_cannot_be_made_is_refused_before_any_call(terminal: Terminal) -> None:
    (terminal.folder / "taken").write_text("a file")
    assert terminal.run("run", "fake smoke task", *FAKE, "--runs", "taken").code == 2


def test_json_is_the_outcome(terminal: Terminal) -> None:
    done = terminal.run("run", "fake smoke task", *FAKE, "--json")
    assert json.loads(done.out)["status"] == "completed"


@pytest.mark.parametrize(
    "words",
    [
        (),
        (" ", *FAKE),
        ("Do it", "--executor", "kimi"),
        ("Do it", *FAKE, "--max-turns", "0"),
        ("Do it", *FAKE, "--max-usd", "0"),
        ("Do it", *FAKE, "--timeout", "0"),
        ("Do it", *FAKE, "--max-usd", "nan"),
        ("Do it", *FAKE, "--timeout", "nan"),
        ("Do it", *FAKE, "--deadline", "nan"),
        ("Do it", *FAKE, "--repo", "nowhere"),
        ("Do it", "--executor", "embedded", "--advisor", "fake"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_asked(terminal: Terminal, words: tuple[str, ...]) -> None:
    done = terminal.run("run", *words)
    assert (done.code, done.out) == (2, "")
    assert not (terminal.folder / "runs").exists()


def test_a_real_executor_needs_a_repository(terminal: Terminal, tmp_path: Path) -> None:
    done = terminal.run("run", "Do it", "--executor", "claude", "--advisor", "fake", cwd=tmp_path)
    assert done.code == 2
    assert done.sentence == f"{tmp_path} is not in a git repository: run inside one, or name one with --repo."


def test_the_ledger_keeps_tasks_beside_reviews(terminal: Terminal) -> None:
    for task in ("fake smoke task", "advisor stop", "malformed consult"):
        terminal.run("run", task, *FAKE)
    listed = terminal.run("runs", "list", "--kind", "task")
    assert [line.split()[3] for line in listed.out.splitlines()[1:]] == [
        "malformed_block",
        "advisor_stop_signal",
        "completed",
    ]

    def found(*words: str) -> list[str]:
        told = json.loads(terminal.run("runs", "list", "--kind", "task", "--json", *words).out)
        return [each["task"] for each in told]

    assert found("--status", "completed") == ["fake smoke task"]
    assert found("--error", "malformed:ADVISOR_CONSULT") == ["malformed consult"]
    assert found("--consults", "1", "--text", "STOP") == ["advisor stop"]
    assert found("--backend", "kimi") == []
    assert terminal.run("ledger", "verify").code == 0
    assert terminal.run("runs", "list", "--json").out == "[]\n"


def test_who_looks_for_a_task_among_the_reviews_is_told_where_it_is(terminal: Terminal) -> None:
    run_id = printed(terminal.run("run", "fake smoke task", *FAKE))["run_id"]
    for words in (("show", run_id), ("show", run_id[:12]), ("export", run_id, "again")):
        assert f"{run_id} is a task: see `review-advisor ui --run {run_id}`" in terminal.run("runs", *words).sentence
    assert "has no run 'run_0'" in terminal.run("runs", "show", "run_0").sentence
    assert terminal.run("ui", "--run", run_id).code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("--backend", "fake"),
        ("--status", "completed"),
        ("--kind", "task", "--status", "approved"),
        ("--kind", "task", "--role", "executor"),
        ("--kind", "task", "--pr", "7"),
    ],
)
def test_what_only_the_other_kind_has_is_refused(terminal: Terminal, words: tuple[str, ...]) -> None:
    assert terminal.run("runs", "list", *words).code == 2
