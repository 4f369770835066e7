"""What each command imports: nobody waits for code that the command does not need."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.adapters.command_line import Terminal, agreeing_claude, fake_claude
from tests.adapters.git_repository import Repo

from review_advisor.agents.static import roles as static_checks
from review_advisor.ledger.task_events import TaskMessage

HEAVY = {"PIL", "asyncio", "github", "google", "grpc", "opentelemetry", "requests", "rich", "yaml"}
OF_OTHERS = {
    "review_advisor.agents.static",
    "review_advisor.mockworld",
    "review_advisor.lab",
    "review_advisor.github.client",
    "review_advisor.app.init",
    "review_advisor.app.runs",
    "markdown_it",
}
"""What a review of a range needs nothing of; the command of another verb stands for all of them."""


TOLD = """
import atexit, runpy, sys
atexit.register(lambda: print("imported:", *sys.modules, file=sys.stderr))
runpy.run_module("review_advisor", run_name="__main__", alter_sys=True)
"""


def imported(terminal: Terminal, *words: str, code: int = 0) -> set[str]:
    """The name of every module that the command has imported by its end."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", TOLD, *words],
        cwd=terminal.folder,
        env=terminal.environment({"ANTHROPIC_API_KEY": "none-needed"}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return set(done.stderr.rpartition("imported:")[2].split())


def among(modules: set[str], unwanted: set[str]) -> set[str]:
    """Those of ``modules`` that are unwanted, or lie in an unwanted package."""
    return {name for name in modules if any(name == each or name.startswith(f"{each}.") for each in unwanted)}


def test_help_needs_neither_the_review_nor_its_libraries(terminal: Terminal) -> None:
    modules = imported(terminal, "--help")
    assert (
        among(modules, HEAVY | {"review_advisor.review", "pathspec", "pydantic", "pydantic_core", "subprocess"})
        == set()
    )


@pytest.mark.every_case
@pytest.mark.parametrize(
    "words", [("--range", "HEAD~1..HEAD"), ("--base", "HEAD~1"), ("--staged",), ("--patch", "../change.diff")]
)
def test_a_review_without_a_pull_request_knows_nothing_of_any(terminal: Terminal, words: tuple[str, ...]) -> None:
    repo = Repo(terminal.folder)
    (terminal.folder.parent / "change.diff").write_bytes(repo.git("diff", "HEAD~1", "HEAD"))
    repo.write("app.py", "x = 1\ny = 3\n")
    repo.git("add", "app.py")
    claude = agreeing_claude(terminal.folder.parent)
    modules = imported(terminal, "review", *words, "--claude-bin", str(claude))
    assert "review_advisor.review.phase" in modules
    assert among(modules, HEAVY | OF_OTHERS) == set()


@pytest.mark.every_case
def test_a_demonstration_is_such_a_review_put_on_the_simulated_github(terminal: Terminal) -> None:
    modules = imported(terminal, "demo")
    assert {"review_advisor.review.phase", "review_advisor.mockworld.publishing"} <= modules
    assert among(modules, HEAVY | {"review_advisor.agents.static", "review_advisor.app.init"}) == set()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("words", [("doctor", "--claude-bin", "../claude"), ("config", "show"), ("config", "check")])
def test_looking_at_the_machine_or_the_settings_imports_no_review(terminal: Terminal, words: tuple[str, ...]) -> None:
    fake_claude(terminal.folder.parent)
    modules = imported(terminal, *words)
    assert "review_advisor.policy.settings" in modules
    assert among(modules, HEAVY | {"review_advisor.app.review"}) == set()


@pytest.mark.every_case
def test_only_a_pull_request_needs_what_is_of_pull_requests(terminal: Terminal) -> None:
    modules = imported(terminal, "review", "--pr", "no name", code=2)
    assert {"github", "review_advisor.app.ci"} <= modules


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "words",
    [("-m", "review_advisor.agents.static", "--version"), ("-c", "import review_advisor.agents.static.roles")],
)
def test_one_call_of_the_embedded_agent_imports_what_it_needs(words: tuple[str, ...]) -> None:
    command = [sys.executable, "-I", "-X", "importtime", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    modules = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "review_advisor.agents.static" in modules
    assert among(modules, HEAVY | {"markdown_it", "ruff"}) == set()


def test_the_name_by_which_the_static_checks_know_a_task_is_that_of_its_answer() -> None:
    assert TaskMessage.__name__ == static_checks.TASK
