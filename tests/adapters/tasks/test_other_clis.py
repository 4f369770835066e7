"""Backends that a file declares: real processes, without a shell, behind ``run`` only."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.command_line import Done, Terminal, wait_for
from tests.adapters.git_repository import Repo
from tests.unit.lessons.test_memory_record import record

from review_advisor.agents.prompts import MEMORY_FILE, memory_text
from review_advisor.change.kinds import PRICES

pytestmark = pytest.mark.every_case

ASKS = '<ADVISOR_CONSULT nonce="{nonce}">{{"question": "Which way?"}}</ADVISOR_CONSULT>'
ADVISES = '<ADVISOR_GUIDANCE nonce="{nonce}">{{"guidance": "This way."}}</ADVISOR_GUIDANCE>'
ENDS = (
    '<EXECUTOR_DONE nonce="{nonce}">{{"status": "completed", "guidance":'
    ' [{{"guidance": "{given}", "disposition": "applied"}}]}}</EXECUTOR_DONE>'
)
SPEAKER = """
import os, pathlib, re, sys
prompt = sys.stdin.read()
nonce = re.search(r'nonce="([0-9a-f]{16})"', prompt)[1]
given = re.findall(r"adv_guidance_[0-9a-f]{12}", prompt)
"""


class Shelf:
    """Scripts that stand for other CLIs, and the file that declares them."""

    def __init__(self, terminal: Terminal, folder: Path) -> None:
        self.terminal, self.folder = terminal, folder
        self.file = folder / "backends.toml"

    def declare(self, name: str, body: str, *more: str, environment: tuple[str, ...] = ()) -> None:
        script = self.folder / f"{name}.py"
        script.write_text(SPEAKER + body)
        words = [sys.executable, "-I", str(script), *more]
        with self.file.open("a") as file:
            file.write(f"[{name}]\ncommand = {json.dumps(words)}\nenvironment = {json.dumps(environment)}\n")

    def run(self, *words: str, **env: str) -> Done:
        return self.terminal.run("run", "Do it", "--adapter", self.file, *words, env=env)


@pytest.fixture
def shelf(terminal: Terminal, tmp_path: Path) -> Shelf:
    return Shelf(terminal, tmp_path)


def folder(done: Done) -> Path:
    return Path(dict(line.split(": ", 1) for line in done.out.splitlines())["run_dir"])


def outcome(done: Done) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((folder(done) / "outcome.json").read_text(encoding="utf-8"))
    return told


@pytest.mark.every_case
@pytest.mark.one_of_its_kind
def test_two_other_clis_keep_the_protocol(shelf: Shelf) -> None:
    shelf.declare("one", f"print(({ENDS!r} if given else {ASKS!r}).format(nonce=nonce, given=(given or [''])[0]))")
    shelf.declare("other", f"print({ADVISES!r}.format(nonce=nonce))")
    done = shelf.run("--executor", "one", "--advisor", "other", "--timeout", "60", "--max-advisor-calls", "2")
    told = outcome(done)
    assert (done.code, told["status"], told["advisor_guidance_count"]) == (0, "completed", 1)
    assert (told["executor_backend"], told["advisor_backend"]) == ("one", "other")
    assert told["usage"]["executor"]["cost_usd"] is None


def test_hints_to_a_model_are_words_of_its_command(shelf: Shelf) -> None:
    """The `claude` CLI takes no temperature; who knows a CLI that does gives it one, and the harness adds nothing."""
    given = ("--temperature", "0.2", "--max-output-tokens", "400", "--model", "{model}")
    shelf.declare("one", f"print(({ENDS!r} if given else {ASKS!r}).format(nonce=nonce, given=(given or [''])[0]))")
    shelf.declare(
        "other", f"print({ADVISES!r}.format(nonce=nonce) if sys.argv[1:-1] == {list(given[:-1])} else '')", *given
    )
    done = shelf.run("--executor", "one", "--advisor", "other", "--advisor-model", "k2")
    assert (done.code, outcome(done)["advisor_guidance_count"]) == (0, 1)


@pytest.mark.parametrize("side", ["executor", "advisor"])
def test_a_limit_of_money_is_refused_that_would_not_bind_a_command(shelf: Shelf, side: str) -> None:
    """A command reports no cost, and without a price none can be estimated. No word of the user is passed over."""
    shelf.declare("one", "print('Hello.')")
    words = ("--executor", "fake", "--advisor", "fake", f"--{side}", "one", f"--{side}-model", "k2")
    refused = shelf.run(*words, "--max-usd", "3")
    assert (refused.code, refused.out) == (2, "")
    assert refused.sentence == (
        "--max-usd cannot bind 'one': a command reports no cost, and the model 'k2' has no price to estimate it by."
    )
    assert not (shelf.terminal.folder / "runs").exists()
    unsaid = shelf.run(*words)
    assert folder(unsaid).is_dir()
    told = (
        "No limit of money binds 'one': a command reports no cost, and the model 'k2' has no price to estimate it by."
    )
    assert unsaid.err.splitlines().count(told) == 1
    priced = ("--executor", "fake", "--advisor", "fake", f"--{side}", "one", f"--{side}-model", "sonnet")
    bound = shelf.run(*priced, "--max-usd", "3")
    assert (folder(bound).is_dir(), "No limit" in bound.err) == (True, False)


def test_a_price_of_head_lets_a_limit_of_money_bind_a_command(shelf: Shelf) -> None:
    shelf.declare("one", "print('Hello.')")
    words = ("--executor", "one", "--advisor", "fake", "--executor-model", "k2", "--max-usd", "3")
    repo = Repo(shelf.terminal.folder)
    rates = "".join(f"{each} = 1\n" for each in ("input", "output", "cache_read", "cache_write"))
    repo.write(PRICES, f'[[prices]]\nmodel = "k2"\nsince = 2026-01-01\n{rates}')
    assert shelf.run(*words).code == 2, "it is not committed"
    repo.commit("Price k2")
    assert folder(shelf.run(*words)).is_dir()
    repo.write(PRICES, f'[[prices]]\nmodel = "k2"\nsince = 2026-01-01\nfree = true\n{rates.replace("1", "0")}')
    repo.commit("Call k2 free")
    free = "--max-usd cannot bind 'one': a command reports no cost, and the model 'k2' is free by the list of prices."
    assert shelf.run(*words).sentence == free
    repo.write(PRICES, "prices = 7\n")
    repo.commit("Break the prices")
    refused = shelf.run(*words).sentence
    assert refused.startswith(f"{PRICES} is wrong at prices: ")
    assert refused.endswith(f"This is the file at HEAD, {repo.rev('HEAD')[:12]}: mend it there.")


@pytest.mark.parametrize("name", ["Prices.toml", "prices.toml/mine.toml"])
def test_prices_that_nobody_reads_are_refused_by_a_task_too(shelf: Shelf, name: str) -> None:
    repo = Repo(shelf.terminal.folder)
    repo.write(f".review-advisor/{name}", "prices = []\n")
    repo.commit("Misplace the prices")
    refused = shelf.run("--executor", "claude", "--advisor", "fake")
    assert f".review-advisor/{name}: files there are not read: the list of prices is {PRICES}" in refused.sentence


def test_the_settings_of_head_hold_where_the_advisor_alone_is_real(shelf: Shelf) -> None:
    shelf.declare("other", f"print({ADVISES!r}.format(nonce=nonce))")
    repo = Repo(shelf.terminal.folder)
    words = ("--executor", "fake", "--advisor", "other", "--advisor-model", "k2")
    assert "No limit of money" in shelf.run(*words).err
    rates = "".join(f"{each} = 1\n" for each in ("input", "output", "cache_read", "cache_write"))
    repo.write(PRICES, f'[[prices]]\nmodel = "k2"\nsince = 2026-01-01\n{rates}')
    repo.write(".review-advisor.toml", 'recording = "full"\n')
    repo.commit("Price k2 and record all")
    done = shelf.run(*words)
    assert "No limit of money" not in done.err
    assert "UNTRUSTED" in (folder(done) / "advisor_turn_1.prompt.md").read_text(encoding="utf-8")


def test_the_executor_is_shown_the_memory_of_head_and_the_advisor_is_not(shelf: Shelf) -> None:
    repo = Repo(shelf.terminal.folder)
    repo.write(MEMORY_FILE, memory_text([record(content="Committed.")]))
    repo.commit("Remember")
    repo.write(MEMORY_FILE, memory_text([record(content="Not committed.")]))
    shelf.declare("one", f"print(({ENDS!r} if given else {ASKS!r}).format(nonce=nonce, given=(given or [''])[0]))")
    shelf.declare("other", f"print({ADVISES!r}.format(nonce=nonce))")
    kept = folder(shelf.run("--executor", "one", "--advisor", "other", "--recording", "full"))
    asked = {each.name: each.read_text(encoding="utf-8") for each in kept.glob("*_turn_*.prompt.md")}
    assert [name for name, prompt in asked.items() if '"Committed."' not in prompt] == ["advisor_turn_1.prompt.md"]
    assert not any("Not committed." in prompt for prompt in asked.values())


def test_a_command_sees_a_copy_of_the_tree_and_no_secret_that_it_does_not_name(shelf: Shelf) -> None:
    shelf.declare(
        "one",
        "print(sorted(os.environ), sorted(os.listdir()), sys.argv[1])",
        "{model}; $(touch hit)",
        environment=("NAMED_KEY",),
    )
    done = shelf.run("--executor", "one", "--advisor", "fake", "--executor-model", "k2", NAMED_KEY="1", OTHER_KEY="2")
    said = (folder(done) / "executor_turn_1.final.md").read_text(encoding="utf-8")
    assert "NAMED_KEY" in said
    assert "OTHER_KEY" not in said
    assert ".git'" not in said
    assert "k2; $(touch hit)" in said


def test_a_command_that_takes_too_long_has_124_and_is_gone(shelf: Shelf) -> None:
    shelf.declare("slow", "import time; time.sleep(600)")
    done = shelf.run("--executor", "slow", "--advisor", "fake", "--timeout", "1")
    assert (done.code, outcome(done)["status"]) == (12, "executor_failed")
    raw = json.loads((folder(done) / "executor_turn_1.raw.json").read_text(encoding="utf-8"))
    assert raw["exit_code"] == 124


def test_a_command_that_prints_without_end_is_ended_and_not_read_into_memory(shelf: Shelf) -> None:
    """It never ends by itself, and has the time of the call left."""
    shelf.declare("endless", "import time; sys.stdout.write('x' * 10_000_001); sys.stdout.flush(); time.sleep(600)")
    told = outcome(shelf.run("--executor", "endless", "--advisor", "fake", "--timeout", "60"))
    assert (told["status"], "printed more" in told["reason"]) == ("executor_failed", True)


def test_what_a_command_leaves_running_ends_with_its_call(shelf: Shelf) -> None:
    shelf.declare("one", "import subprocess; subprocess.Popen(['sleep', '600'], start_new_session=True)")
    shelf.run("--executor", "one", "--advisor", "fake")
    shelf.terminal.assert_nothing_left()


def test_a_zero_exit_is_no_completion_and_any_other_is_a_failure(shelf: Shelf) -> None:
    shelf.declare("silent", "sys.exit(0)")
    shelf.declare("broken", "sys.exit('no account')")
    assert outcome(shelf.run("--executor", "silent", "--advisor", "fake"))["status"] == "executor_stopped_without_done"
    told = outcome(shelf.run("--executor", "broken", "--advisor", "fake"))
    assert (told["status"], "no account" in told["reason"]) == ("executor_failed", True)


def test_an_other_cli_may_edit_a_throw_away_copy_only(shelf: Shelf) -> None:
    says = f"print({ENDS!r}.format(nonce=nonce, given=''))"
    shelf.declare("one", f"pathlib.Path('new.md').write_text('new\\n'); {says}")
    done = shelf.run("--executor", "one", "--advisor", "fake", "--edit")
    assert "+new" in (folder(done) / "executor.patch").read_text(encoding="utf-8")
    assert not (shelf.terminal.folder / "new.md").exists()
    without = outcome(shelf.run("--executor", "one", "--advisor", "fake"))
    assert (without["status"], "changed" in without["reason"]) == ("executor_failed", True)


def test_a_folder_that_is_gone_after_a_call_is_no_usage_error(shelf: Shelf) -> None:
    runs = shelf.terminal.folder / "runs"
    shelf.declare("one", "import shutil; shutil.rmtree(sys.argv[1]); print('Done.')", str(runs))
    done = shelf.run("--executor", "one", "--advisor", "fake")
    assert done.code == 12
    assert "The task did not run to its end." in done.err


@pytest.mark.one_in(2)
@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_command_and_leaves_the_run_unfinished(
    shelf: Shelf, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    reached = tmp_path / "reached"
    shelf.declare("slow", "import time; pathlib.Path(sys.argv[1]).touch(); time.sleep(600)", str(reached))
    words = ("run", "Do it", "--adapter", shelf.file, "--executor", "slow", "--advisor", "fake", "--json")
    process = shelf.terminal.start(*words)
    wait_for(reached.exists)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    shelf.terminal.assert_nothing_left()
    assert (process.returncode, "Traceback" in err) == (code, False)
    (outcome_file,) = (shelf.terminal.folder / "runs").glob("*/outcome.json")
    assert json.loads(outcome_file.read_text(encoding="utf-8"))["status"] == "running"
    assert "completed\n" not in out


@pytest.mark.parametrize(
    "text",
    [
        "[kimi]\ncommand = []\n",
        "[kimi]\ncommand = 'kimi'\n",
        "[kimi]\n",
        "[kimi]\ncommand = ['kimi']\nshell = true\n",
        "[claude]\ncommand = ['claude']\n",
        "[kimi]\ncommand = ['no-such-command-anywhere']\n",
        "[codex]\ncommand = ['true']\n",
        "no toml",
        "x = " + "[" * 100_000,
        "x = " + "9" * 6_000,
    ],
)
def test_what_cannot_be_a_backend_is_refused_before_anything_is_asked(shelf: Shelf, text: str) -> None:
    shelf.file.write_text(text)
    done = shelf.run("--executor", "fake", "--advisor", "kimi")
    assert (done.code, done.out, "Traceback" in done.err) == (2, "", False)
    assert not (shelf.terminal.folder / "runs").exists()


def test_a_program_inside_the_repository_is_no_backend(shelf: Shelf) -> None:
    program = shelf.terminal.folder / "kimi"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    shelf.file.write_text(f"[kimi]\ncommand = ['{program}']\n")
    assert "inside the repository" in shelf.run("--executor", "kimi", "--advisor", "fake").sentence
