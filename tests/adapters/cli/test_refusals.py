"""Bad input: one clear sentence on stderr, the documented exit code, nothing half-done and nothing left over."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.adapters.command_line import (
    BOT,
    CREDENTIAL,
    Terminal,
    executable,
    fake_claude,
    lines,
    project,
    script,
    scripted_review,
)
from tests.adapters.git_repository import Repo

from review_advisor.app.terminal import ReviewBrokenError
from review_advisor.ledger.artifacts import write_whole
from review_advisor.review.document import read_outcome
from review_advisor.review.events import CallEnded, Event
from review_advisor.review.ports import ArtifactError
from review_advisor.review.rulings import Outcome

pytestmark = pytest.mark.every_case

RANGE = ("review", "--range", "HEAD~1..HEAD")


def refused(terminal: Terminal, *words: str | Path, env: dict[str, str] | None = None, cwd: Path | None = None) -> str:
    done = terminal.run(*words, env=env, cwd=cwd)
    assert done.code == 2, done.err
    return done.sentence


# --- what to review -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ["review", "--staged", "--base", "main"],
        ["review", "--range", "a..b", "--patch", "x"],
    ],
)
def test_one_selection_at_most(terminal: Terminal, words: list[str]) -> None:
    said = "Name one change: --range, --base, --staged, --patch and --pr exclude one another."
    assert refused(terminal, *words) == said


def test_nothing_is_published_without_a_token(terminal: Terminal) -> None:
    said = refused(terminal, "publish", "outcome.json", "--pr", "a/b#1")
    assert said == "There is no GitHub token: set GITHUB_TOKEN."


@pytest.mark.parametrize("usd", ["nan", "inf", "0"])
def test_money_without_a_bound_is_no_bound(terminal: Terminal, usd: str) -> None:
    done = terminal.review("--most-usd", usd)
    assert (done.code, "'--most-usd'" in done.err) == (2, True)


@pytest.mark.parametrize(
    "words,said",
    [
        (["--range", "HEAD"], "'HEAD' is not a range: write A..B, or A...B to start from the merge base."),
        (["--range", "nowhere..HEAD"], "'nowhere' names no commit in this repository: "),
        (["--range", "--output=x..HEAD"], "'--output=x' names no commit in this repository: "),
        (["--base", "nowhere"], "'nowhere' names no commit in this repository: "),
        (["--patch", "missing.diff"], "The patch missing.diff cannot be read: No such file or directory."),
        (["--patch", "app.py"], "The patch holds no change: make it with `git diff` or `git format-patch`."),
        (["--staged", "--repo", "missing"], "missing is not a folder: give the path of a git repository."),
        (["--staged", "--spec", "missing.md"], "The specification missing.md cannot be read: No such file"),
        (["--staged", "--body-file", "."], "The body . cannot be read: Is a directory."),
        (["--staged", "--jobs", "0"], "Invalid value for '--jobs': 0 is not in the range 1<=x<=16."),
        (["--staged", "--gaet"], "No such option '--gaet'."),
    ],
)
def test_a_change_that_cannot_be_read(terminal: Terminal, words: list[str], said: str) -> None:
    assert refused(terminal, "review", "--agent", "embedded", *words).startswith(said)


@pytest.mark.one_of_its_kind
def test_no_repository(terminal: Terminal, tmp_path: Path) -> None:
    folder = tmp_path / "no_repository"
    folder.mkdir()
    said = refused(terminal, *RANGE, "--agent", "embedded", cwd=folder)
    assert said == f"{folder} is not in a git repository: run inside one, or name one with --repo."


@pytest.mark.one_of_its_kind
def test_a_folder_that_is_gone(terminal: Terminal, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = terminal.process("doctor", cwd=gone, before=gone.rmdir)
    assert (done.code, done.sentence) == (2, "The current folder cannot be used: No such file or directory.")


# --- who reviews ----------------------------------------------------------------------------------


def without_claude(tmp_path: Path) -> dict[str, str]:
    git = next(Path(place, "git") for place in os.environ["PATH"].split(":") if Path(place, "git").exists())
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").symlink_to(git)
    return {"PATH": str(tmp_path / "bin")}


def test_no_claude(terminal: Terminal, tmp_path: Path) -> None:
    said = refused(terminal, *RANGE, env={**without_claude(tmp_path), **CREDENTIAL})
    assert said.startswith(
        "There is no claude on PATH. Install it with `npm install --global @anthropic-ai/claude-code@"
    )


@pytest.mark.parametrize(
    "printed,said",
    [
        ("2.0.14 (Claude Code)", "is version 2.0.14, older than 2.1.329. Install it with"),
        ("hello", "does not say a Claude Code version. Install it with"),
    ],
)
def test_an_old_or_strange_claude(terminal: Terminal, tmp_path: Path, printed: str, said: str) -> None:
    claude = fake_claude(tmp_path, printed)
    assert refused(terminal, *RANGE, "--claude-bin", claude, env=CREDENTIAL).startswith(f"{claude} {said}")


def test_a_claude_of_the_repository_under_review(terminal: Terminal) -> None:
    claude = fake_claude(terminal.folder / "bin")
    said = "lies inside the repository under review, which must not choose what reviews it."
    assert refused(terminal, *RANGE, "--claude-bin", claude, env=CREDENTIAL) == f"{claude} {said}"


def test_no_credential(terminal: Terminal, tmp_path: Path) -> None:
    """D6: a missing credential is not a degraded approval."""
    said = refused(terminal, *RANGE, "--claude-bin", fake_claude(tmp_path))
    assert said.startswith("No model credential: set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN, or ")
    assert said.endswith("`--agent embedded` runs without a model.")


@pytest.mark.parametrize(
    "name", ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "GH_TOKEN", "HTTPS_PROXY", "REVIEW_ADVISOR_STATE_KEY"]
)
def test_a_value_of_the_environment_that_is_no_text_is_passed_on(terminal: Terminal, name: str) -> None:
    assert terminal.review(env={name: "/no/t\udcffxt"}).code == 0


def test_a_claude_newer_than_tested_is_a_warning(terminal: Terminal, tmp_path: Path) -> None:
    claude = fake_claude(tmp_path, "99.0.0 (Claude Code)")
    done = terminal.run(*RANGE, "--claude-bin", claude, env=CREDENTIAL)
    assert "warning: claude 99.0.0 is newer than the version this was tested with." in done.err.splitlines()


# --- configuration and switches -------------------------------------------------------------------


@pytest.mark.parametrize(
    "text,said",
    [
        (b"budgte = 3\n", "unknown key 'budgte'; did you mean 'budget'?"),
        (b"[budget]\nmax = 3\n", "unknown key 'budget.max'; did you mean 'max_usd'?"),
        (b"zzz = 3\n", "unknown key 'zzz'; known keys: mode, profile, critical_paths, adr_folders, "),
        (b"[budget]\nmax_usd = 0\n", "budget.max_usd: should be more than 0."),
        (b'profile = "mine"\n', "profile: should be 'adr' or 'hydraflow'."),
        (b"profile = \n", " is not valid TOML: Invalid value (at line 1, column 11)."),
        (b"x = " + b"[" * 5000, " is not valid TOML: nested too deeply."),
        (b"# \xff\n", " is not UTF-8 text."),
    ],
)
def test_a_configuration_that_cannot_be_used(terminal: Terminal, tmp_path: Path, text: bytes, said: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_bytes(text)
    answer = refused(terminal, *RANGE, "--agent", "embedded", "--config", file)
    assert str(file) in answer
    assert said in answer


def test_a_configuration_that_cannot_be_read(terminal: Terminal, tmp_path: Path) -> None:
    answers = [
        refused(terminal, *RANGE, "--agent", "embedded", "--config", name) for name in (tmp_path, tmp_path / "missing")
    ]
    assert answers == [
        f"The configuration {tmp_path} cannot be read: Is a directory.",
        f"The configuration {tmp_path / 'missing'} cannot be read: No such file or directory.",
    ]


@pytest.mark.parametrize(
    "name,value,said",
    [
        ("HYDRAFLOW_REVIEW_ADVISOR_ENABLED", "maybe", "use one of true, 1, yes, on or false, 0, no, off."),
        ("HYDRAFLOW_PR_REVIEW_ADVISOR_ENABLED", "2", "use one of true, 1, yes, on or false, 0, no, off."),
        ("HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS", "-1", "use a whole number from 0 to 20."),
        ("HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS", "many", "use a whole number from 0 to 20."),
        ("HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS", "21", "use a whole number from 0 to 20."),
    ],
)
def test_a_switch_that_means_nothing(terminal: Terminal, name: str, value: str, said: str) -> None:
    """D28: unknown text is neither ON nor OFF; variable, value and the accepted words are named."""
    assert refused(terminal, *RANGE, "--agent", "embedded", env={name: value}) == f"{name} is {value!r}: {said}"


def test_an_empty_switch_is_an_unset_one(terminal: Terminal) -> None:
    """D28: an undefined variable of Actions arrives as an empty string."""
    done = terminal.review("--json", env={"HYDRAFLOW_REVIEW_POSTVERIFY_ENABLED": ""})
    assert json.loads(done.out)["flags"]["advisor_disabled"] == []


# --- places that cannot be written ----------------------------------------------------------------


def test_a_file_in_the_way_of_the_artefacts(terminal: Terminal) -> None:
    (terminal.folder / "review_logs").write_text("mine")
    said = refused(terminal, *RANGE, "--agent", "embedded")
    assert said.startswith(f"The artefact folder {terminal.folder / 'review_logs'}/range-")
    assert said.endswith((" cannot be made: File exists.", " cannot be made: Not a directory."))
    assert (terminal.folder / "review_logs").read_text() == "mine"


def test_artefacts_are_not_written_through_a_link_of_the_checkout(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "victim").mkdir()
    (terminal.folder / "review_logs").symlink_to(tmp_path / "victim")
    said = refused(terminal, *RANGE, "--agent", "embedded")
    link = terminal.folder / "review_logs"
    assert said == f"{link} is a symbolic link; artefacts are only written to a real folder."
    assert list((tmp_path / "victim").iterdir()) == []


def test_output_is_not_written_through_a_link(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("mine")
    (terminal.folder / "outcome.json").symlink_to(tmp_path / "victim")
    said = refused(terminal, *RANGE, "--agent", "embedded", "--output", "outcome.json")
    assert said == "outcome.json is a symbolic link; name the file itself."
    assert (tmp_path / "victim").read_text() == "mine"


def test_an_output_that_cannot_be_written_costs_nothing(terminal: Terminal, tmp_path: Path) -> None:
    answers = [
        refused(terminal, *RANGE, "--agent", "embedded", "--output", name) for name in (tmp_path, tmp_path / "no" / "x")
    ]
    assert answers == [
        f"{tmp_path} is in the way and cannot be removed: Is a directory.",
        f"{tmp_path / 'no' / 'x'} cannot be written: No such file or directory.",
    ]


def test_a_refusal_leaves_no_outcome_of_an_earlier_run(terminal: Terminal, tmp_path: Path) -> None:
    output = tmp_path / "outcome.json"
    assert terminal.review("--output", output).code == 0
    nonsense = {"HYDRAFLOW_REVIEW_ADVISOR_ENABLED": "maybe"}
    refused(terminal, *RANGE, "--agent", "embedded", "--output", output, env=nonsense)
    assert not output.exists()
    assert list((terminal.folder / "review_logs").glob("*/*.json")) == []


@pytest.mark.every_case
def test_a_full_disk_before_the_first_call(terminal: Terminal, tmp_path: Path) -> None:
    """The folder is tried before anything is paid for."""
    (terminal.folder / "review_logs").mkdir()
    done = terminal.process(*RANGE, "--agent", "embedded", "--output", "/dev/full", before=file_size_limit(0))
    assert (done.code, "cannot be" in done.sentence) == (2, True)


def file_size_limit(size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.every_case
def test_a_full_disk_at_the_end_is_exit_12_and_leaves_nothing_half_written(terminal: Terminal) -> None:
    words = (*RANGE, "--claude-bin", terminal.agreeing)
    done = terminal.process(*words, env=CREDENTIAL, before=file_size_limit(3_000))
    assert (done.code, done.out) == (12, "")
    (folder,) = (terminal.folder / "review_logs").glob("range-*")
    said = f"{folder / 'outcome.json'} cannot be written: File too large. The review did not run to its end."
    assert done.err.splitlines()[-1] == f"Error: {said}"
    assert [path.name for path in folder.iterdir()] == [".gitignore"]


def test_a_full_device_as_output_is_exit_12(terminal: Terminal) -> None:
    done = terminal.review("--output", "/dev/full")
    said = "Error: /dev/full cannot be written: No space left on device. The review did not run to its end."
    assert (done.code, done.err.splitlines()[-1]) == (12, said)
    assert list((terminal.folder / "review_logs").glob("*/outcome.json")) == []


def test_a_folder_that_vanishes_in_mid_review(tmp_path: Path) -> None:
    repo = project(tmp_path / "project", "x = 1\n", lines(40))
    replies = script(tmp_path, ReviewPlan=[{"answer": {"risk_summary": "many values"}}])
    logs = tmp_path / "logs"

    def remove(event: Event) -> None:
        if isinstance(event, CallEnded):
            (folder,) = logs.glob("range-*")
            (folder / ".gitignore").unlink()
            folder.rmdir()

    with pytest.raises(ReviewBrokenError) as caught:
        scripted_review(repo.path, replies, remove)
    assert str(caught.value).endswith("No such file or directory. The review did not run to its end.")


def test_a_failed_write_leaves_no_half_file(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(ArtifactError, match="cannot be written: Is a directory"):
        write_whole(folder, "x")
    assert list(tmp_path.iterdir()) == [folder]


# --- who reads ------------------------------------------------------------------------------------


def review(terminal: Terminal) -> str:
    return f"{BOT} review --claude-bin {terminal.agreeing} --range HEAD~1..HEAD"


def in_shell(terminal: Terminal, line: str) -> list[str]:
    """A pipeline of bash; its exit codes and everything it said on stderr."""
    bash = executable(terminal.folder.parent / "pipeline", f"#!/bin/bash\n{line}\necho codes ${{PIPESTATUS[@]}} >&2\n")
    done = subprocess.run(
        [str(bash)],
        cwd=terminal.folder,
        env=terminal.environment(CREDENTIAL),
        capture_output=True,
        text=True,
        check=False,
    )
    terminal.assert_nothing_left()
    return done.stderr.splitlines()


@pytest.mark.every_case
def test_an_output_that_is_redirected_to_a_file_is_written_and_not_replaced(terminal: Terminal) -> None:
    line = f"{review(terminal)} --output /dev/fd/3 3>outcome.json >/dev/null"
    assert in_shell(terminal, line)[-1] == "codes 0"
    assert read_outcome((terminal.folder / "outcome.json").read_bytes()).outcome is Outcome.APPROVED


@pytest.mark.every_case
def test_a_reader_that_goes_away_does_not_change_the_verdict(terminal: Terminal) -> None:
    said = in_shell(terminal, f"{review(terminal)} | head -c 0")
    assert said[-1] == "codes 0 0"
    assert not [line for line in said if "Error" in line or "Traceback" in line or "Broken" in line]


@pytest.mark.every_case
def test_a_reader_of_the_progress_that_goes_away_does_not_end_the_review(terminal: Terminal) -> None:
    said = in_shell(terminal, f"{review(terminal)} 2>&1 >report | head -c 0")
    assert said == ["codes 0 0"]
    assert (terminal.folder / "report").read_text().startswith("APPROVED")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("words", ["config show", "config schema", "doctor --json", "review --help"])
def test_every_verb_can_be_read_in_part(terminal: Terminal, words: str) -> None:
    assert in_shell(terminal, f"{BOT} {words} | head -c 0")[-1] == "codes 0 0"


def test_a_report_that_cannot_be_printed_is_not_an_approval(terminal: Terminal) -> None:
    said = in_shell(terminal, f"{review(terminal)} >/dev/full")
    assert said[-2:] == ["Error: The result cannot be printed: No space left on device.", "codes 12"]


@pytest.mark.every_case
def test_closed_streams_are_no_reason_to_fail(terminal: Terminal) -> None:
    said = in_shell(terminal, f"{review(terminal)} >&- 2>&- <&-")
    assert said == ["codes 0"]


@pytest.mark.every_case
@pytest.mark.parametrize("env", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}])
def test_a_terminal_without_our_letters(terminal: Terminal, env: dict[str, str]) -> None:
    repo = Repo(terminal.folder)
    repo.write("caf\u00e9.py", "x = 1\n")
    repo.commit("Un caf\u00e9 \u4e16\u754c")
    words = (*RANGE, "--claude-bin", terminal.agreeing)
    shown = terminal.process(*words, env=CREDENTIAL | env)
    assert shown.code == 0, shown.err
    assert shown.out.startswith("APPROVED")
    document = json.loads(terminal.process(*words, "--json", env=CREDENTIAL | env).out)
    assert (document["title"], document["coverage"][0]["path"]) == ("Un caf\u00e9 \u4e16\u754c", "caf\u00e9.py")
