"""A task with the real CLI on both sides: question, guidance, edits, and an end."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.git_repository import Repo
from tests.e2e.stub_api import Reply, Request, StubApi, several, structured, text, tool_use

from review_advisor.app.run import RanTask, TaskOptions
from review_advisor.app.run import perform_task as run_task
from review_advisor.ledger.task_events import TaskLimits

Said = Callable[[Request], Reply]
KEY = "the-stubs-api-key-that-no-prompt-may-carry"


def block(request: Request, tag: str, body: dict[str, Any]) -> str:
    """A block with the nonce that the prompt states."""
    nonce = re.findall(rf'<{tag} nonce="([0-9a-f]{{16}})">', request.prompt)[0]
    return f'<{tag} nonce="{nonce}">\n{json.dumps(body)}\n</{tag}>'


def says(tag: str, body: dict[str, Any]) -> Said:
    return lambda request: structured({"message": f"Here it is.\n\n{block(request, tag, body)}"})


def completes(request: Request) -> Reply:
    """The end, with what became of each guidance that the prompt shows."""
    ids = sorted(set(re.findall(r"\badv_guidance_[0-9a-f]{12}", request.prompt)))
    used = [{"guidance": each, "disposition": "applied"} for each in ids]
    done = {"status": "completed", "summary": "It is done.", "guidance": used}
    return structured({"message": block(request, "EXECUTOR_DONE", done)})


class TaskWorld:
    """A repository, the real CLI, and a script for each side."""

    def __init__(self, api: StubApi, claude: Path, root: Path) -> None:
        self.api, self.claude, self.root = api, claude, root
        self.repo = Repo(root / "repo")
        self.repo.write("a.py", "x = 1\n")
        self.repo.write("b.py", "y = 2\n")
        self.repo.commit("the beginning")
        self.executor: list[Said] = []
        self.advisor: list[Said] = []
        api.script(self._reply)

    def _reply(self, request: Request) -> Reply | None:
        queue = self.executor if "You are the executor of a task" in request.system else self.advisor
        return queue.pop(0)(request) if queue else None

    def run(self, **options: Any) -> RanTask:
        environ = {"PATH": os.environ["PATH"], "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": self.api.url}
        environ |= {"HOME": str(self.root), "GITHUB_TOKEN": "the-forge-token"}
        warnings: list[str] = []
        asked = TaskOptions(
            task="Say which module sets x.",
            repo=self.repo.path,
            claude_bin=str(self.claude),
            limits=TaskLimits(call_seconds=60),
            runs=self.root / "runs",
            **options,
        )
        ran = run_task(asked, environ, warnings.append)
        assert warnings == []
        assert (self.executor, self.advisor) == ([], []), "a reply was not asked for"
        kept = b"".join(path.read_bytes() for path in ran.folder.iterdir())
        assert KEY.encode() not in kept
        return ran


@pytest.fixture
def task(api: StubApi, claude_binary: Path, tmp_path: Path) -> TaskWorld:
    return TaskWorld(api, claude_binary, tmp_path)


def test_the_executor_asks_reads_goes_on_with_the_guidance_and_completes(task: TaskWorld) -> None:
    task.executor += [
        lambda _request: several(tool_use("Grep", pattern="x = ", output_mode="content")),
        says("ADVISOR_CONSULT", {"question": "Do I look into tests, too?"}),
        completes,
    ]
    task.advisor += [says("ADVISOR_GUIDANCE", {"guidance": "No.", "rationale": "There are none."})]
    ran = task.run()
    assert ran.outcome["status"] == "completed"
    assert (ran.outcome["executor_turn_count"], ran.outcome["advisor_guidance_count"]) == (2, 1)
    assert ran.outcome["usage"]["executor"]["input_tokens"] > 0
    assert ran.outcome["usage"]["executor"]["cost_usd"] > 0
    tools = [sorted(request.tools) for request in task.api.requests]
    reading = ["Glob", "Grep", "Read", "StructuredOutput"]
    assert tools == [reading, reading, reading, reading]
    assert "a.py" in task.api.requests[1].tool_results[0]
    assert "No." in task.api.requests[3].prompt


def test_a_message_without_blocks_ends_nothing(task: TaskWorld) -> None:
    task.executor += [lambda _request: structured({"message": "EXECUTOR_DONE, I think."})]
    assert task.run().outcome["status"] == "executor_stopped_without_done"


def test_an_executor_that_never_gives_its_message_has_failed(task: TaskWorld) -> None:
    task.api.script(lambda _request: text("Done."))
    assert task.run().outcome["status"] == "executor_failed"


def test_edits_become_a_patch_and_leave_the_checkout_alone(task: TaskWorld) -> None:
    task.executor += [
        lambda _request: several(tool_use("Read", file_path="a.py")),
        lambda request: several(
            tool_use("Edit", file_path=_read_path(request), old_string="x = 1", new_string="x = 3")
        ),
        completes,
    ]
    ran = task.run(edit=True)
    assert ran.outcome["status"] == "completed"
    assert "+x = 3" in (ran.folder / "executor.patch").read_text(encoding="utf-8")
    assert (task.repo.path / "a.py").read_text() == "x = 1\n"


def test_a_patch_with_a_secret_is_refused_whole_and_the_run_is_not_completed(task: TaskWorld) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "F6g7H8"
    task.executor += [
        lambda _request: several(tool_use("Write", file_path="token.py", content=f'TOKEN = "{secret}"\n')),
        completes,
    ]
    ran = task.run(edit=True)
    assert not (ran.folder / "executor.patch").exists()
    assert ran.outcome["status"] == "conflict_needs_human"
    assert "looks like a secret" in ran.outcome["reason"]


def _read_path(request: Request) -> str:
    """The file as the CLI named it when it was read."""
    uses = [part for message in request.body["messages"] for part in message["content"] if isinstance(part, dict)]
    (path,) = [use["input"]["file_path"] for use in uses if use.get("type") == "tool_use"]
    return str(path)
