"""``retro`` as its users meet it: what it prints, where it writes, and that it changes nothing else."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.command_line import Done, Terminal
from tests.adapters.git_repository import Repo
from tests.adapters.ledgers import record, told

from review_advisor.tasks.retro import REQUIRED_TARGETS
from review_advisor.tasks.run_files import is_prompt_digest

pytestmark = pytest.mark.every_case

FILES = {
    "post_run_review.prompt.md",
    "post_run_review.md",
    "post_run_review_advisor.stdout.txt",
    "post_run_review_advisor.stderr.txt",
    "post_run_review_advisor.raw.json",
    "policy_patch_proposal.md",
    "improvement_proposals.json",
    "improvement_proposals.md",
    "post_run_review_outcome.json",
}
ANSWERS = """
import json, re, sys
prompt = sys.stdin.read()
nonce = re.findall(r'<IMPROVEMENT_PROPOSALS nonce="([0-9a-f]{16})"', prompt)[-1]
targets = json.loads(sys.argv[1])
proposals = [{"id": each, "target": each, "title": "t", "rationale": "r", "evidence": "e", "proposed_change": "c",
    "validation_plan": "v", "requires_human_approval": True, "status": "proposed"} for each in targets]
body = json.dumps({"summary": "s", "proposals": proposals})
print(f'<IMPROVEMENT_PROPOSALS nonce="{nonce}">\\n{body}\\n</IMPROVEMENT_PROPOSALS>')
"""


def printed(done: Done) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in done.out.splitlines())


def outcome(done: Done) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(Path(printed(done)["outcome"]).read_text(encoding="utf-8"))
    return value


def a_run(terminal: Terminal, *words: str) -> Path:
    """The folder of a task that fake agents did."""
    done = terminal.run("run", "fake smoke task", "--executor", "fake", "--advisor", "fake", *words)
    assert done.code == 0, done.err
    return Path(printed(done)["run_dir"])


def prompts_are_kept(terminal: Terminal) -> None:
    """As the configuration at HEAD says."""
    repo = Repo(terminal.folder)
    repo.write(".review-advisor.toml", 'recording = "full"\n')
    repo.git("add", ".review-advisor.toml")
    repo.git("commit", "--quiet", "--message", "Configure")


def declared(terminal: Terminal, targets: list[str]) -> Path:
    """The file that declares another CLI, which proposes something for these targets."""
    script, file = terminal.folder.parent / "other.py", terminal.folder.parent / "backends.toml"
    script.write_text(ANSWERS)
    words = [sys.executable, "-I", str(script), json.dumps(targets)]
    file.write_text(f"[codex]\ncommand = {json.dumps(words)}\n")
    return file


@pytest.mark.one_of_its_kind
def test_a_run_is_looked_at_and_the_files_lie_beside_it(terminal: Terminal) -> None:
    folder = a_run(terminal)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = terminal.run("retro", "--run", folder.name, "--advisor", "fake")

    assert done.code == 0, done.err
    names = ["run_id", "retro_id", "status", "review", "proposals", "outcome", "improvement_proposals_valid"]
    assert list(printed(done)) == names
    assert printed(done)["improvement_proposals_valid"] == "true"
    assert {path.name for path in folder.iterdir()} == FILES | {path.name for path in before}
    assert all(path.read_bytes() == text for path, text in before.items()), "the run stays as it was"
    assert all(stat.S_IMODE((folder / name).stat().st_mode) == 0o600 for name in FILES)
    assert json.loads((folder / "improvement_proposals.json").read_text())["source_run_id"] == folder.name


@pytest.mark.every_case
@pytest.mark.one_of_its_kind
def test_what_it_cost_stands_in_the_ledger_under_its_own_id(terminal: Terminal) -> None:
    done = terminal.run("retro", "--run", a_run(terminal).name, "--advisor", "fake")
    tasks = terminal.run("runs", "list", "--kind", "task", "--json")

    newest = json.loads(tasks.out)[0]
    assert (newest["run_id"], newest["status"]) == (printed(done)["retro_id"], "completed")
    assert (newest["executor_backend"], newest["advisor_backend"], newest["cost_usd"]) == ("none", "fake", 0)
    assert outcome(done)["usage"]["calls"] == 1
    assert terminal.run("ledger", "verify").code == 0


def test_a_run_without_recordings_says_what_was_not_seen_and_one_with_them_shows_prompts(
    terminal: Terminal,
) -> None:
    prompts_are_kept(terminal)
    bare, recorded = a_run(terminal), a_run(terminal, "--recording", "full")
    first, second = (terminal.run("retro", "--run", each.name, "--advisor", "fake") for each in (bare, recorded))

    assert outcome(first)["not_seen"][0].startswith("The prompts: they were not recorded")
    assert not any("prompts" in each for each in outcome(second)["not_seen"])
    shown = (recorded / "post_run_review.prompt.md").read_text()
    assert "\nexecutor_turn_1.prompt.md:\n" in shown
    for name in ("outcome.json", "version_manifest.json", "advisor_consults.jsonl", "memory_schema.json"):
        assert f"\n{name}:\n" in shown


def test_a_review_of_the_ledger_is_looked_at_in_a_folder_of_the_artefacts(terminal: Terminal) -> None:
    record(terminal.folder / "ledger.sqlite3", told())
    done = terminal.run("retro", "--run", "run-1", "--advisor", "fake", "--ledger", "ledger.sqlite3")

    assert done.code == 0, done.err
    folder = terminal.folder / "review_logs" / "retro" / "run-1"
    assert {path.name for path in folder.iterdir()} == FILES | {".gitignore"}
    assert Path(printed(done)["review"]) == folder / "post_run_review.md"
    assert terminal.run("retro", "--run", "run-1", "--advisor", "fake", "--ledger", "ledger.sqlite3").code == 0, "again"


def test_a_folder_that_the_ledger_does_not_know_is_enough(terminal: Terminal) -> None:
    folder = a_run(terminal)
    done = terminal.run("retro", "--run", f"runs/{folder.name}", "--advisor", "fake", "--ledger", "none.sqlite3")

    assert done.code == 0, done.err
    assert outcome(done)["not_seen"][-1] == "The ledger's record of the run. There is no ledger none.sqlite3."


@pytest.mark.parametrize(
    "targets, code, valid", [(list(REQUIRED_TARGETS), 0, "true"), (["memory_schema", "kernel"], 10, "false")]
)
def test_another_cli_is_asked_as_a_file_declares_it(
    terminal: Terminal, targets: list[str], code: int, valid: str
) -> None:
    folder, file = a_run(terminal), declared(terminal, targets)
    words = (
        "--run",
        folder.name,
        "--advisor",
        "codex",
        "--adapter",
        file,
        "--timeout",
        "240",
        "--advisor-model",
        "unheard-of",
    )
    done = terminal.run("retro", *words)

    assert (done.code, printed(done)["improvement_proposals_valid"]) == (code, valid), done.err
    assert "No limit of money binds 'codex'" in done.err


def test_what_cannot_be_asked_is_refused_in_a_sentence(terminal: Terminal) -> None:
    folder = a_run(terminal)
    fake = ("--advisor", "fake")
    assert terminal.run("retro", "--run", "run_none", *fake).sentence.startswith("Nothing is kept of the run run_none:")
    assert terminal.run("retro", "--run", "a b", *fake).sentence == "'a b' is no id of a run and no folder of one."
    unknown = terminal.run("retro", "--run", folder.name, "--advisor", "gpt")
    assert unknown.sentence.startswith("There is no backend 'gpt'")
    embedded = terminal.run("retro", "--run", folder.name, "--advisor", "embedded")
    assert embedded.code == 2
    assert embedded.sentence.startswith("The embedded agent holds static checks and looks at no run: ")
    off = terminal.run("retro", "--run", folder.name, *fake, env={"HYDRAFLOW_REVIEW_ADVISOR_ENABLED": "false"})
    assert off.sentence == "HYDRAFLOW_REVIEW_ADVISOR_ENABLED is off: no advisor is asked."
    assert terminal.run("retro", "--run", folder.name, "--since", "7d").code == 2
    assert terminal.run("retro", *fake).code == 2
    assert not (folder / "post_run_review.md").exists(), "nothing was asked, so nothing is written"


def test_nothing_is_written_through_a_link(terminal: Terminal) -> None:
    folder = a_run(terminal)
    elsewhere = folder.rename(terminal.folder.parent / "elsewhere")
    folder.symlink_to(elsewhere)
    done = terminal.run("retro", "--run", folder.name, "--advisor", "fake")

    assert Path(printed(done)["review"]).parent == terminal.folder / "review_logs" / "retro" / folder.name
    (terminal.folder / "review_logs" / "retro").rename(terminal.folder.parent / "artefacts")
    (terminal.folder / "review_logs" / "retro").symlink_to(terminal.folder.parent / "artefacts")
    assert "is a symbolic link" in terminal.run("retro", "--run", folder.name, "--advisor", "fake").sentence
    assert not (elsewhere / "post_run_review.md").exists()


def test_a_link_among_the_files_of_a_run_is_not_read(terminal: Terminal) -> None:
    folder = a_run(terminal)
    prompts_are_kept(terminal)
    secret = terminal.folder.parent / "secret"
    secret.write_text("not for a model")
    (folder / "executor_turn_9.prompt.md").symlink_to(secret)
    assert terminal.run("retro", "--run", folder.name, "--advisor", "fake").code == 0
    assert "not for a model" not in (folder / "post_run_review.prompt.md").read_text()


def test_the_prompt_is_kept_only_where_prompts_are(terminal: Terminal) -> None:
    folder = a_run(terminal)
    prompt = folder / "post_run_review.prompt.md"
    assert terminal.run("retro", "--run", folder.name, "--advisor", "fake").code == 0
    assert prompt.read_text().startswith("A prompt of ")
    assert prompt.read_text().endswith('. recording = "full" keeps it.\n')
    assert is_prompt_digest(prompt.read_text())
    prompts_are_kept(terminal)
    assert terminal.run("retro", "--run", folder.name, "--advisor", "fake").code == 0
    assert "outcome.json:" in prompt.read_text()
