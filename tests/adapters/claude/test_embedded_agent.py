"""The embedded agent as a program: the same words, events, hooks and exit codes as ``claude -p``."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from tests.changes import added_file

from review_advisor.agents import prompts
from review_advisor.agents.answers import Guidance, PostVerifyResult, ReviewPlan, ReviewReport
from review_advisor.agents.claude_argv import user_message
from review_advisor.change.diff_text import render_files, render_statistics
from review_advisor.safety.fence import fence

pytestmark = pytest.mark.every_case  # `make test` runs the ones of their kind

COMMAND = (sys.executable, "-I", "-m", "review_advisor.agents.static")
ADVISOR = "hydraflow-review-advisor"
AGENTS = {ADVISOR: {"description": "advises", "prompt": "You advise.", "model": "opus", "tools": ["Read"]}}
SHELL = "import subprocess\n\n\ndef run(command):\n    return subprocess.run([command, '-l'], shell=True)\n"
APPROVAL = {"verdict": "approve", "summary": "fine", "confidence": 0.9}


@dataclass(frozen=True)
class Ended:
    code: int
    events: list[dict[str, Any]]
    stderr: str

    @property
    def result(self) -> dict[str, Any]:
        results = [event for event in self.events if event["type"] == "result"]
        assert len(results) == 1
        assert self.events[-1] is results[0]
        return results[0]

    def system(self, subtype: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] == "system" and event["subtype"] == subtype]

    @property
    def errors(self) -> list[str]:
        blocks = [b for e in self.events if e["type"] == "user" for b in e["message"]["content"]]
        return [str(block["content"]) for block in blocks if block.get("is_error")]


def words(answer: type[BaseModel] | None = ReviewReport, tools: str = "Read,Grep,Glob,Agent", *more: str) -> list[str]:
    schema = [] if answer is None else ["--json-schema", json.dumps(answer.model_json_schema())]
    return [
        *("-p", "--restricted", "--setting-sources", "", "--strict-mcp-config", "--disable-slash-commands"),
        *("--no-session-persistence", "--permission-mode", "dontAsk", "--permission-prompts", "none"),
        *("--model", "sonnet", "--tools", tools, "--disallowedTools", "Bash,Agent(general-purpose),Agent(fork)"),
        *("--agents", json.dumps(AGENTS), "--system-prompt", "You review.", "--max-turns", "20"),
        *("--max-budget-usd", "2", "--input-format", "stream-json", "--output-format", "stream-json"),
        *("--verbose", "--forward-subagent-text"),
        *schema,
        *more,
    ]


def run(argv: list[str], cwd: Path, text: str = "Review this.", script: Path | None = None) -> Ended:
    scripted = [] if script is None else ["--script", str(script)]
    given = user_message([text]) if text else b""
    done = subprocess.run(
        [*COMMAND, *scripted, *argv], cwd=cwd, input=given, capture_output=True, timeout=60, check=False
    )
    events = [json.loads(line) for line in done.stdout.decode().split("\n") if line]
    return Ended(done.returncode, events, done.stderr.decode())


def script(folder: Path, **replies: list[Any]) -> Path:
    file = folder / "script.json"
    file.write_text(json.dumps(replies))
    return file


def hooks(**commands: str) -> tuple[str, str]:
    settings = {
        event: [{"matcher": "Task|Agent", "hooks": [{"type": "command", "command": command, "timeout": 5}]}]
        for event, command in commands.items()
    }
    return "--settings", json.dumps({"hooks": settings})


def saying(decision: str, **more: Any) -> str:
    answer = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision, **more}}
    return f"cat > /dev/null; printf '%s' {shlex.quote(json.dumps(answer))}"


def consult_then_approve(**tool_input: str) -> dict[str, Any]:
    return {"consult": {"question": "Which?", "tool_input": tool_input}, "then": {"answer": APPROVAL}}


def review_prompt(tree: Path, texts: dict[str, str], **sections: str) -> str:
    files = []
    for path, text in texts.items():
        (tree / path).write_text(text)
        files.append(added_file(path, text))
    fences = {prompts.FILES: render_statistics(files), prompts.DIFF: render_files(files), **sections}
    return "\n".join([prompts.opening("r-1", "n-1"), *(fence(label, text, "n-1") for label, text in fences.items())])


# --- the command line -----------------------------------------------------------------------------


@pytest.mark.one_of_its_kind
def test_version(tmp_path: Path) -> None:
    done = subprocess.run([*COMMAND, "--version"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "2.1.329 (review-advisor embedded agent)\n"


@pytest.mark.parametrize(
    "argv,text,said",
    [
        ([*words(), "--dangerous"], "x", "error: unknown option '--dangerous'"),
        ([*words(), "--model"], "x", "argument missing"),
        ([*words(), "words"], "x", "from stdin only"),
        (words(), "", "Input must be provided"),
        ([word for word in words() if word != "--verbose"], "x", "requires --verbose"),
        ([word for word in words() if word != "-p"], "x", "use -p"),
        ([*words(), "--output-format", "json"], "x", "--output-format stream-json only"),
        ([*words(), "--input-format", "text"], "x", "--input-format stream-json only"),
        (words(None), "x", "--json-schema only"),
        ([*words(None), "--json-schema", "{"], "x", "Invalid JSON"),
        ([*words(), "--settings", "{"], "x", "Invalid JSON"),
        ([*words(), "--agents", '{"a": {}}'], "x", "needs a prompt"),
        (words(Guidance), "x", "no answer of the kind 'Guidance'"),
        (words(), "not one of our prompts", "does not start with this product's opening"),
        (words(), "x" * 10_000_001, "exceeds 10MB"),
    ],
)
def test_a_usage_error_is_one_sentence_and_no_output(tmp_path: Path, argv: list[str], text: str, said: str) -> None:
    ended = run(argv, tmp_path, text)
    assert (ended.code, ended.events) == (1, [])
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("line", [b"Review this.\n", b"{}\n", b"[]", b'{"message": {"content": "text"}}'])
def test_input_that_is_no_message_of_blocks_is_refused(tmp_path: Path, line: bytes) -> None:
    done = subprocess.run([*COMMAND, *words()], cwd=tmp_path, input=line, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"no user message of text blocks" in done.stderr


# --- scripted replies -----------------------------------------------------------------------------


@pytest.mark.one_of_its_kind
def test_an_answer_as_the_real_one_shows_it(tmp_path: Path) -> None:
    ended = run(words(), tmp_path, script=script(tmp_path, ReviewReport=[{"answer": APPROVAL}]))
    (init,) = ended.system("init")
    assert init["tools"] == ["Read", "Grep", "Glob", "Task", "StructuredOutput"]
    assert (init["model"], init["claude_code_version"], init["agents"]) == ("embedded-sonnet", "2.1.329", [ADVISOR])
    assert init["permissionMode"] == "dontAsk"
    result = ended.result
    assert (ended.code, result["subtype"], result["is_error"]) == (0, "success", False)
    assert result["structured_output"] == APPROVAL == json.loads(result["result"])
    assert result["session_id"] == init["session_id"]
    used = result["modelUsage"]["embedded-sonnet"]
    assert used["inputTokens"] == result["usage"]["input_tokens"] > 0
    assert used["costUSD"] == result["total_cost_usd"] == 0
    assert (result["num_turns"], result["permission_denials"]) == (1, [])


def test_replies_are_played_once_in_order_across_processes(tmp_path: Path) -> None:
    file = script(tmp_path, ReviewReport=[{"answer": {**APPROVAL, "summary": f"reply {at}"}} for at in range(4)])
    with ThreadPoolExecutor(4) as pool:
        ended = list(pool.map(lambda _: run(words(), tmp_path, script=file), range(4)))
    assert {one.result["structured_output"]["summary"] for one in ended} == {f"reply {at}" for at in range(4)}
    last = run(words(), tmp_path, script=file)
    assert (last.code, last.events) == (1, [])
    assert "no reply left for 'ReviewReport'" in last.stderr


def test_text_is_no_answer(tmp_path: Path) -> None:
    ended = run(words(), tmp_path, script=script(tmp_path, ReviewReport=[{"text": "Looks good."}]))
    assert (ended.code, ended.result["is_error"], ended.result["result"]) == (0, False, "Looks good.")
    assert "structured_output" not in ended.result


def test_flags_may_carry_their_value(tmp_path: Path) -> None:
    file = script(tmp_path, ReviewReport=[{"answer": APPROVAL}])
    assert run([*words(), f"--script={file}", "--model=haiku"], tmp_path).events[0]["model"] == "embedded-haiku"


def test_an_api_error_has_its_class_and_status(tmp_path: Path) -> None:
    reply = {"error": "billing_error", "status": 400, "message": "Credit balance is too low"}
    ended = run(words(), tmp_path, script=script(tmp_path, ReviewReport=[reply]))
    synthetic = ended.events[1]
    assert (synthetic["message"]["model"], synthetic["error"]) == ("<synthetic>", "billing_error")
    assert (ended.code, ended.result["subtype"], ended.result["is_error"]) == (1, "success", True)
    assert (ended.result["api_error_status"], ended.result["result"]) == (400, "Credit balance is too low")


def test_an_answer_against_its_schema_is_refused_as_the_cli_does(tmp_path: Path) -> None:
    for wrong in ({"verdict": "approve"}, {**APPROVAL, "verdict": "maybe"}, {**APPROVAL, "confidence": "0.9"}):
        ended = run(words(), tmp_path, script=script(tmp_path, ReviewReport=[{"answer": wrong}]))
        assert (ended.code, ended.result["subtype"]) == (1, "error_max_structured_output_retries")
        assert len(ended.errors) == 5
        (tmp_path / "script.json.played" / "ReviewReport.count").unlink()


def test_a_rule_that_no_schema_can_state_is_left_to_the_harness(tmp_path: Path) -> None:
    veto = {"verdict": "VETO", "reasoning": ""}
    ended = run(words(PostVerifyResult), tmp_path, script=script(tmp_path, PostVerifyResult=[{"answer": veto}]))
    assert ended.result["structured_output"] == veto


def test_the_ways_to_end_without_a_result(tmp_path: Path) -> None:
    file = script(tmp_path, ReviewReport=[{"crash": 3}, {"truncate": True}, {"crash": -9}, {"hang": 0}, {"what": 1}])
    ended = [run(words(), tmp_path, script=file) for _ in range(5)]
    assert [one.code for one in ended] == [3, 0, -9, 1, 1]
    assert not any(event["type"] == "result" for one in ended for event in one.events)


def test_garbage_is_written_as_it_is(tmp_path: Path) -> None:
    file = script(tmp_path, ReviewReport=[{"garbage": "<html>no"}])
    command = [*COMMAND, "--script", str(file), *words()]
    done = subprocess.run(command, cwd=tmp_path, input=user_message(["x"]), capture_output=True, check=False)
    assert done.stdout.split(b"\n")[1] == b"<html>no"


@pytest.mark.parametrize("number,code", [(signal.SIGTERM, 143), (signal.SIGINT, 0)])
@pytest.mark.parametrize("before", [signal.SIG_DFL, signal.SIG_IGN], ids=["in front", "in the background"])
def test_signals_end_it_as_they_end_the_cli(
    tmp_path: Path, number: signal.Signals, code: int, before: signal.Handlers
) -> None:
    """From its first event on. A shell starts what is to run in the background with SIGINT ignored."""
    file = script(tmp_path, ReviewReport=[{"hang": 1_000}])
    command = [*COMMAND, "--script", str(file), *words()]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, before),  # noqa: PLW1509 (no thread is running here)
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(user_message(["x"]))
        child.stdin.close()
        assert json.loads(child.stdout.readline())["subtype"] == "init"
        child.send_signal(number)
        rest = child.stdout.read()
        assert child.wait() == code
    assert (b'"is_error": true' in rest) is (number is signal.SIGINT)


@pytest.mark.parametrize("text", ["{", "[]", '{"ReviewReport": 1}'])
def test_a_script_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "script.json").write_text(text)
    ended = run(words(), tmp_path, script=tmp_path / "script.json")
    assert (ended.code, ended.events) == (1, [])
    assert "the script script.json" in ended.stderr


# --- consults and hooks ---------------------------------------------------------------------------


def test_a_results_usage_is_the_main_loops_alone_also_where_the_advisor_has_the_same_model(tmp_path: Path) -> None:
    file = script(tmp_path, ReviewReport=[consult_then_approve()], consult=[{"text": "go on"}])
    ended = run([*words(), "--model=opus"], tmp_path, script=file)
    said = [event for event in ended.events if event["type"] == "assistant"]
    (used,) = ended.result["modelUsage"].values()
    for kind, of_all in (("input_tokens", "inputTokens"), ("output_tokens", "outputTokens")):
        main = sum(event["message"]["usage"][kind] for event in said if event["parent_tool_use_id"] is None)
        consult = sum(event["message"]["usage"][kind] for event in said if event["parent_tool_use_id"] is not None)
        assert consult > 0
        assert (ended.result["usage"][kind], used[of_all]) == (main, main + consult)


def test_a_consult_as_the_real_one_shows_it(tmp_path: Path) -> None:
    file = script(tmp_path, ReviewReport=[consult_then_approve()], consult=[{"answer": {"action": "go on"}}])
    ended = run(words(), tmp_path, script=file)
    (started,) = ended.system("task_started")
    assert (started["subagent_type"], started["is_backgrounded"], started["prompt"]) == (ADVISOR, False, "Which?")
    use = started["tool_use_id"]
    inner = [event for event in ended.events if event.get("parent_tool_use_id") == use]
    assert [event["type"] for event in inner] == ["user", "assistant"]
    (given,) = [event["tool_use_result"] for event in ended.events if "agentType" in event.get("tool_use_result", "")]
    assert (given["status"], given["agentType"], given["resolvedModel"]) == ("completed", ADVISOR, "embedded-opus")
    assert given["content"] == [{"type": "text", "text": '{"action": "go on"}'}]
    assert set(ended.result["modelUsage"]) == {"embedded-sonnet", "embedded-opus"}
    assert ended.result["structured_output"] == APPROVAL


def test_hooks_get_what_the_real_ones_get(tmp_path: Path) -> None:
    file = script(tmp_path, ReviewReport=[consult_then_approve()], consult=[{"text": "go on"}])
    keep = {event: f"cat > {shlex.quote(str(tmp_path / event))}" for event in ("PreToolUse", "PostToolUse")}
    ended = run([*words(), *hooks(**keep)], tmp_path, script=file)
    before, after = (json.loads((tmp_path / event).read_text()) for event in keep)
    assert before["hook_event_name"] == "PreToolUse"
    assert (before["tool_name"], before["permission_mode"]) == ("Agent", "dontAsk")
    assert before["cwd"] == str(tmp_path.resolve())
    assert before["tool_input"]["prompt"] == "Which?"
    assert before["session_id"] == after["session_id"] == ended.result["session_id"]
    assert before["tool_use_id"] == after["tool_use_id"] == ended.system("task_started")[0]["tool_use_id"]
    response = after["tool_response"]
    assert response["content"][0]["text"] == "go on"
    assert response["totalTokens"] == sum(response["usage"].values()) > 0
    assert response["totalToolUseCount"] == 0
    assert isinstance(response["totalDurationMs"], int)
    assert after["duration_ms"] == response["totalDurationMs"] >= 0


@pytest.mark.parametrize(
    "hook,reason",
    [
        (saying("deny", permissionDecisionReason="the cap is reached"), "hook error: the cap is reached"),
        ("echo not now >&2; exit 2", "not now"),
    ],
)
def test_a_denied_consult_goes_on_without_advice(tmp_path: Path, hook: str, reason: str) -> None:
    file = script(tmp_path, ReviewReport=[consult_then_approve()], consult=[])
    ended = run([*words(), *hooks(PreToolUse=hook)], tmp_path, script=file)
    assert ended.errors[0].startswith("PreToolUse:Agent hook error: ")
    assert reason in ended.errors[0]
    assert not ended.system("task_started")
    assert [denial["tool_name"] for denial in ended.result["permission_denials"]] == ["Task"]
    assert (ended.code, ended.result["structured_output"]) == (0, APPROVAL)


def test_a_hook_may_rewrite_the_call(tmp_path: Path) -> None:
    rewritten = {"description": "d", "prompt": "<!-- sentinel -->\nWhich?", "subagent_type": ADVISOR}
    file = script(
        tmp_path,
        ReviewReport=[consult_then_approve(subagent_type="general-purpose", model="haiku")],
        consult=[{"text": "ok"}],
    )
    ended = run([*words(), *hooks(PreToolUse=saying("allow", updatedInput=rewritten))], tmp_path, script=file)
    assert ended.system("task_started")[0]["prompt"] == rewritten["prompt"]
    assert "embedded-opus" in ended.result["modelUsage"]


@pytest.mark.parametrize("hook", ["exit 1", "no-such-command", "echo garbage", "kill -9 $$", "true"])
def test_hooks_fail_open(tmp_path: Path, hook: str) -> None:
    file = script(tmp_path, ReviewReport=[consult_then_approve()], consult=[{"text": "ok"}])
    ended = run([*words(), *hooks(PreToolUse=hook)], tmp_path, script=file)
    assert len(ended.system("task_started")) == 1


def test_a_hook_out_of_time_fails_open_and_is_ended(tmp_path: Path) -> None:
    entry = {"matcher": "Agent", "hooks": [{"type": "command", "command": "sleep 600 & wait", "timeout": 0.2}]}
    file = script(tmp_path, ReviewReport=[consult_then_approve()], consult=[{"text": "ok"}])
    settings = json.dumps({"hooks": {"PreToolUse": [entry]}})
    ended = run([*words(), "--settings", settings], tmp_path, script=file)
    assert len(ended.system("task_started")) == 1


@pytest.mark.parametrize(
    "settings", ['{"hooks": {"PreToolUse": "x"}}', '{"hooks": []}', '{"hooks": {"PreToolUse": [{"hooks": [{}]}]}}']
)
def test_settings_of_another_shape_have_no_hooks(tmp_path: Path, settings: str) -> None:
    file = script(tmp_path, ReviewReport=[consult_then_approve()], consult=[{"text": "ok"}])
    assert run([*words(), "--settings", settings], tmp_path, script=file).system("task_started")


@pytest.mark.parametrize(
    "wanted,said",
    [("general-purpose", "has been denied by permission rule"), ("nobody", "Agent type 'nobody' not found")],
)
def test_other_agents_are_not_to_be_had(tmp_path: Path, wanted: str, said: str) -> None:
    file = script(tmp_path, ReviewReport=[consult_then_approve(subagent_type=wanted)], consult=[])
    ended = run(words(), tmp_path, script=file)
    assert said in ended.errors[0]
    assert ended.result["structured_output"] == APPROVAL


@pytest.mark.parametrize("reply,code", [({"crash": 4}, 4), ({"hang": 0}, 1), ({"what": 1}, 1)])
def test_a_subagent_may_take_the_whole_process_down(tmp_path: Path, reply: dict[str, Any], code: int) -> None:
    ended = run(words(), tmp_path, script=script(tmp_path, ReviewReport=[consult_then_approve()], consult=[reply]))
    assert ended.code == code
    assert ended.system("task_started")
    assert not any(event["type"] == "result" for event in ended.events)


def test_without_the_agent_tool_nobody_is_asked(tmp_path: Path) -> None:
    file = script(tmp_path, ReviewReport=[consult_then_approve()], consult=[])
    assert "No such tool" in run(words(ReviewReport, "Read"), tmp_path, script=file).errors[0]


def test_an_advisor_without_credit_is_swallowed_as_the_cli_does(tmp_path: Path) -> None:
    failing = {"error": "billing_error", "status": 400, "message": "Credit balance is too low"}
    file = script(tmp_path, ReviewReport=[consult_then_approve()], consult=[failing])
    seen = tmp_path / "failure"
    ended = run([*words(), *hooks(PostToolUseFailure=f"cat > {shlex.quote(str(seen))}")], tmp_path, script=file)
    assert (ended.code, ended.result["is_error"]) == (0, False)
    assert "error type billing_error, HTTP 400" in ended.errors[0]
    assert "billing_error" in json.loads(seen.read_text())["error"]
    inner = [event for event in ended.events if event.get("error") == "billing_error"]
    assert inner[0]["parent_tool_use_id"] == ended.system("task_started")[0]["tool_use_id"]


# --- static checks --------------------------------------------------------------------------------


def test_a_plan_needs_no_tools(tmp_path: Path) -> None:
    ended = run(words(ReviewPlan, ""), tmp_path, review_prompt(tmp_path, {"app.py": SHELL}))
    plan = ReviewPlan.model_validate(ended.result["structured_output"])
    assert plan.focus_areas[0].files == ("app.py",)
    assert plan.risk_summary.startswith("Static checks, no model: ruff 0.")


def test_the_executor_consults_once_and_follows(tmp_path: Path) -> None:
    ended = run(words(), tmp_path, review_prompt(tmp_path, {"app.py": SHELL}))
    report = ReviewReport.model_validate(ended.result["structured_output"])
    assert len(ended.system("task_started")) == 1
    assert report.verdict == "reject"
    assert [finding.category for finding in report.findings] == ["security/S602"]


def test_a_hostile_tree_changes_nothing(tmp_path: Path) -> None:
    for name in ("json.py", "sitecustomize.py", "ruff.py", "pydantic.py"):
        (tmp_path / name).write_text("raise SystemExit(99)\n")
    (tmp_path / "review_advisor").mkdir()
    (tmp_path / "review_advisor" / "__init__.py").write_text("raise SystemExit(99)\n")
    ended = run(words(ReviewReport, "Read"), tmp_path, review_prompt(tmp_path, {"app.py": SHELL}))
    assert ended.code == 0


def test_a_missing_extra_is_named(tmp_path: Path) -> None:
    blocked = (
        "import importlib.metadata as m, sys, runpy\n"
        "def version(name): raise m.PackageNotFoundError(name)\n"
        "m.version = version\n"
        "sys.argv = ['embedded', *sys.argv[1:]]\n"
        "runpy.run_module('review_advisor.agents.static', run_name='__main__')\n"
    )
    command = [sys.executable, "-I", "-c", blocked, *words(ReviewReport, "Read")]
    text = user_message([review_prompt(tmp_path, {"app.py": SHELL})])
    done = subprocess.run(command, cwd=tmp_path, input=text, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"pip install 'review-advisor[embedded]'" in done.stderr


def test_it_needs_no_environment(tmp_path: Path) -> None:
    text = user_message([review_prompt(tmp_path, {"app.py": SHELL})])
    command = [*COMMAND, *words(ReviewReport, "Read")]
    kept = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
    done = subprocess.run(command, cwd=tmp_path, input=text, capture_output=True, env=kept, check=False)
    assert done.returncode == 0


# --- editing ----------------------------------------------------------------------------------------------------------


def editing(*denied: str, mode: str = "acceptEdits", tools: str = "Read,Grep,Glob,Edit,Write") -> list[str]:
    """The words of a call that may edit, but for ``denied``."""
    rules = json.dumps({"permissions": {"deny": [f"Edit({glob})" for glob in denied]}})
    given = words(ReviewReport, tools, "--settings", rules)
    given[given.index("--permission-mode") + 1] = mode
    return given


def scripted_edits(tmp_path: Path, edits: dict[str, str], given: list[str]) -> tuple[Ended, Path]:
    tree = tmp_path / "tree"
    tree.mkdir()
    replies = script(tmp_path, ReviewReport=[{"edit": edits, "then": {"answer": APPROVAL}}])
    return run(given, tree, script=replies), tree


def test_a_scripted_edit_is_made_in_the_current_folder(tmp_path: Path) -> None:
    ended, tree = scripted_edits(tmp_path, {"src/app.py": "x = 1\r\n"}, editing())
    assert (ended.code, ended.errors) == (0, [])
    assert (tree / "src/app.py").read_bytes() == b"x = 1\r\n"
    assert ended.result["structured_output"] == APPROVAL


@pytest.mark.parametrize(
    "path, denied",
    [
        ("CLAUDE.md", "CLAUDE.md"),
        ("sub/claude.md", "CLAUDE.md"),
        (".github/workflows/ci.yml", ".github/**"),
        ("../outside.py", "nothing"),
        ("src/bot.py", "/{tree}/src/bot.py"),
    ],
)
def test_a_denied_edit_is_refused_and_the_run_goes_on(tmp_path: Path, path: str, denied: str) -> None:
    glob = denied.replace("{tree}", str(tmp_path / "tree"))
    ended, tree = scripted_edits(tmp_path, {path: "x\n"}, editing(glob))
    assert ended.code == 0
    assert len(ended.errors) == len(ended.result["permission_denials"]) == 1
    assert not (tree / path).exists()


@pytest.mark.parametrize("mode, tools", [("dontAsk", "Read,Write"), ("acceptEdits", "Read,Grep,Glob")])
def test_without_leave_nothing_is_edited(tmp_path: Path, mode: str, tools: str) -> None:
    ended, tree = scripted_edits(tmp_path, {"a.py": "x\n"}, editing(mode=mode, tools=tools))
    assert (ended.code, len(ended.errors)) == (0, 1)
    assert list(tree.iterdir()) == []
