"""What the configuration of the base records of the calls of ``review`` and ``run``, and who may read it."""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.command_line import CREDENTIAL, LAST_COMMIT, Done, Terminal, executable
from tests.adapters.git_repository import Repo

from review_advisor.agents.recordings import read_recording

pytestmark = pytest.mark.every_case

SECRET = "Zq7_pX2-mW9kLv4TbN8sYd3R"
TALKING = """#!{python} -IS
import json, os, sys

if "--version" in sys.argv:
    print("2.1.329 (Claude Code)")
    sys.exit()
question = json.loads(sys.argv[sys.argv.index("--json-schema") + 1])["title"]
sys.stdin.buffer.read()
answers = {{
    "ReviewReport": {{"verdict": "approve", "summary": "the key is {secret}", "confidence": 0.9}},
    "PostVerifyResult": {{"verdict": "APPROVE", "reasoning": "so it is"}},
    "TaskMessage": {{"message": "I read it."}},
}}
say = lambda kind, **event: print(json.dumps({{"type": kind, **event}}), flush=True)
say("system", subtype="init", session_id="s", model="stub", tools=["StructuredOutput"])
say("stream_event", event={{"type": "piece", "delta": "{half}"}})
say("assistant", message={{"model": "stub", "content": [{{"type": "text", "text": "I read {secret}"}}]}})
say("result", subtype="success", is_error=False, structured_output=answers[question], total_cost_usd=0.01)
"""


@pytest.fixture
def talking(terminal: Terminal, tmp_path: Path) -> Terminal:
    """A shell whose ``claude`` says a secret of the environment."""
    text = TALKING.format(python=sys.executable, secret=SECRET, half=SECRET[4:-4])
    executable(tmp_path / "talking" / "claude", text)
    terminal.environ |= {**CREDENTIAL, "SOME_API_KEY": SECRET, "PATH": f"{tmp_path / 'talking'}:{os.environ['PATH']}"}
    return terminal


def configured(terminal: Terminal, text: str) -> None:
    """Commit a configuration, and one further change to review."""
    repo = Repo(terminal.folder)
    repo.write(".review-advisor.toml", text)
    repo.commit("Configure")
    repo.write("app.py", "x = 1\ny = 2\nz = 3\n")
    repo.commit("Change")


def reviewed(terminal: Terminal, *words: str) -> Done:
    return terminal.run("review", *LAST_COMMIT, *words)


def recordings(terminal: Terminal) -> list[Path]:
    return sorted((terminal.folder / "review_logs" / ".recordings").glob("*.jsonl"))


def calls(terminal: Terminal) -> list[dict[str, Any]]:
    (path,) = recordings(terminal)
    told: list[dict[str, Any]] = json.loads(terminal.run("runs", "recording", path.stem[:12], "--json").out)
    return told


@pytest.mark.one_of_its_kind
def test_nothing_is_recorded_unless_the_configuration_says_so(talking: Terminal) -> None:
    assert reviewed(talking).code == 0
    assert not (talking.folder / "review_logs" / ".recordings").exists()


@pytest.mark.parametrize("mode", ["answers", "full"])
def test_a_recording_is_private_and_without_secrets(talking: Terminal, mode: str) -> None:
    configured(talking, f'recording = "{mode}"\n')
    done = reviewed(talking)
    assert done.code == 0
    (path,) = recordings(talking)
    assert str(path.parent) in done.err, "the user is told"
    assert (stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(path.parent.stat().st_mode)) == (0o600, 0o700)
    assert (path.parent / ".gitignore").read_text() == "*\n"
    text = path.read_text(encoding="utf-8")
    assert "[secret" in text
    for start in range(len(SECRET) - 8):
        assert SECRET[start : start + 9] not in text


@pytest.mark.one_of_its_kind
def test_answers_are_bound_to_their_calls_and_hold_no_prompt(talking: Terminal) -> None:
    configured(talking, 'recording = "answers"\n')
    reviewed(talking)
    told = calls(talking)
    which = [(call["identity"]["role"], call["identity"]["sequence"], call["identity"]["attempt"]) for call in told]
    assert which == [("executor", 1, 0), ("post_verify", 2, 0)]
    assert [call["reply"]["value"]["verdict"] for call in told] == ["approve", "APPROVE"]
    assert [(call["prompt"], call["system_prompt"], call["stream"]) for call in told] == [(None, None, None)] * 2
    assert all(len(call["question"][f"{text}_sha256"]) == 64 for call in told for text in ("prompt", "schema"))


def test_a_full_recording_holds_prompts_and_the_output_of_the_cli(talking: Terminal) -> None:
    configured(talking, 'recording = "full"\n')
    reviewed(talking)
    executor, _ = calls(talking)
    assert "z = 3" in executor["prompt"]
    assert executor["system_prompt"]
    assert [json.loads(line)["type"] for line in executor["stream"]] == ["system", "assistant", "result"]


def test_the_same_question_of_two_runs_has_the_same_digest(talking: Terminal) -> None:
    configured(talking, 'recording = "full"\n')
    reviewed(talking)
    reviewed(talking, "--fresh")
    first, second = (read_recording(path.read_bytes()).calls for path in recordings(talking))
    assert [call.question for call in first] == [call.question for call in second]
    assert [call.prompt for call in first] == [call.prompt for call in second]
    assert len({call.question for call in first}) == 2


def test_a_change_cannot_have_its_own_review_recorded(talking: Terminal) -> None:
    repo = Repo(talking.folder)
    repo.write(".review-advisor.toml", 'recording = "full"\n')
    repo.commit("Record me")
    reviewed(talking)
    assert recordings(talking) == []


@pytest.mark.parametrize("mode", ["none", "answers"])
def test_recordings_that_are_too_old_are_deleted_and_the_user_is_told(talking: Terminal, mode: str) -> None:
    folder = talking.folder / "review_logs" / ".recordings"
    folder.mkdir(parents=True)
    old, young, foreign = (folder / name for name in ("run_1_a.jsonl", "run_2_b.jsonl", "notes.txt"))
    for path, days in ((old, 15), (young, 13), (foreign, 40)):
        path.write_text("{}\n")
        os.utime(path, (time.time() - days * 86_400,) * 2)
    configured(talking, f'recording = "{mode}"\n')
    done = reviewed(talking)
    assert "1 recording older than 14 days deleted" in done.err
    assert (old.exists(), young.exists(), foreign.exists()) == (False, True, True)


@pytest.mark.parametrize("trouble", ["a file", "a link"])
def test_a_review_goes_on_where_nothing_can_be_recorded(talking: Terminal, trouble: str, tmp_path: Path) -> None:
    configured(talking, 'recording = "full"\n')
    place = talking.folder / "review_logs" / ".recordings"
    place.parent.mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if trouble == "a link":
        place.symlink_to(elsewhere)
    else:
        place.write_text("in the way")
    done = reviewed(talking)
    assert done.code == 0
    assert done.err.count("Nothing is recorded.") == 1
    assert list(elsewhere.iterdir()) == []


@pytest.mark.one_in(2)
@pytest.mark.parametrize("folder", [".recordings", "answers/{label}"])
def test_no_link_that_a_change_brings_along_is_written_through(talking: Terminal, folder: str, tmp_path: Path) -> None:
    configured(talking, 'recording = "full"\n')
    reviewed(talking)
    logs = talking.folder / "review_logs"
    (place,) = logs.glob(folder.format(label="*"))
    victim = tmp_path / "victim"
    for name in (victim, tmp_path / "nothing yet"):
        (place / ".gitignore").unlink()
        (place / ".gitignore").symlink_to(name)
        victim.write_text("mine")
        assert reviewed(talking, "--fresh").code == 0
        if not place.exists():
            place.mkdir()
    assert victim.read_text() == "mine"
    assert not (tmp_path / "nothing yet").exists()


@pytest.mark.parametrize("folder", [".recordings", "answers/{label}"])
def test_no_file_that_a_change_brings_along_makes_git_see_the_folder(talking: Terminal, folder: str) -> None:
    configured(talking, 'recording = "full"\n')
    reviewed(talking)
    (place,) = (talking.folder / "review_logs").glob(folder.format(label="*"))
    (place / ".gitignore").write_text("!*\n")
    assert reviewed(talking, "--fresh").code == 0
    assert (place / ".gitignore").read_text() == "*\n"


def test_a_run_is_recorded_as_its_option_or_else_head_says(terminal: Terminal) -> None:
    fake = ("run", "fake smoke task", "--executor", "fake", "--advisor", "fake")
    terminal.run(*fake)
    assert recordings(terminal) == []
    terminal.run(*fake, "--recording", "answers")
    told = calls(terminal)
    which = [(call["identity"]["role"], call["identity"]["sequence"], call["ended"]) for call in told]
    assert which == [("executor", 1, "answered"), ("mid_flight", 2, "answered"), ("executor", 3, "answered")]


def test_a_run_that_reads_no_configuration_deletes_no_recording(terminal: Terminal) -> None:
    kept = terminal.folder / "review_logs" / ".recordings" / "run_1_a.jsonl"
    kept.parent.mkdir(parents=True)
    kept.write_text("{}\n")
    os.utime(kept, (time.time() - 40 * 86_400,) * 2)
    configured(terminal, 'recording = "full"\n')
    done = terminal.run("run", "fake smoke task", "--executor", "fake", "--advisor", "fake")
    assert (done.code, kept.exists()) == (0, True)


@pytest.mark.parametrize("words, count", [((), 1), (("--recording", "none"), 0)])
def test_the_configuration_at_head_records_a_task(talking: Terminal, words: tuple[str, ...], count: int) -> None:
    configured(talking, 'recording = "full"\n')
    talking.run("run", "Do it", "--advisor", "fake", *words)
    assert len(recordings(talking)) == count


@pytest.mark.parametrize("mode, kept", [("none", False), ("answers", False), ("full", True)])
def test_the_folder_of_a_task_says_where_the_output_is_kept_and_has_each_reply(
    talking: Terminal, mode: str, kept: bool
) -> None:
    talking.run("run", "Do it", "--advisor", "fake", "--recording", mode)
    (folder,) = (talking.folder / "runs").glob("run_*")
    said = (folder / "executor_turn_1.stdout.txt").read_text(encoding="utf-8")
    where = f"`review-advisor runs recording {folder.name}`"
    assert (where in said, "is not kept" in said) == (kept, not kept)
    assert not kept or talking.run("runs", "recording", folder.name).out
    assert (folder / "executor_turn_1.final.md").read_text(encoding="utf-8").strip()


def test_a_changed_line_is_named_and_left_out(talking: Terminal) -> None:
    configured(talking, 'recording = "answers"\n')
    reviewed(talking)
    (path,) = recordings(talking)
    path.write_bytes(path.read_bytes().replace(b'"sequence":1', b'"sequence":7'))
    done = talking.run("runs", "recording", path.stem)
    assert (done.code, len(done.out.splitlines())) == (3, 1)
    assert "Line 1 of the recording is incomplete or was changed." in done.err


@pytest.mark.parametrize("run", ["run_9", "../ledger/ledger", "*"])
def test_a_run_without_a_recording_is_refused(terminal: Terminal, run: str) -> None:
    done = terminal.run("runs", "recording", run)
    assert (done.code, done.sentence[:12]) == (2, "No recording")


def test_doctor_tells_what_is_recorded_where_and_how_much(talking: Terminal) -> None:
    def row() -> str:
        return next(line for line in talking.run("doctor").out.splitlines() if " recording " in line)

    assert row().split(maxsplit=3)[3] == 'recording = "none" keeps nothing.'
    configured(talking, 'recording = "answers"\n')
    reviewed(talking)
    (path,) = recordings(talking)
    assert f"1 recording, {path.stat().st_size:,} bytes, in {path.parent}, kept for 14 days" in row()
    assert row().startswith("ok")
    path.parent.chmod(0o755)
    assert row().startswith("ADVICE")
