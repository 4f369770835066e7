"""The command line and the environment of a call."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from review_advisor.agents.answers import ReviewReport, answer_schema
from review_advisor.agents.calls import AgentCall, ConsultGrant, EditGrant, NamedAdvisor, Withheld
from review_advisor.agents.claude_argv import (
    Limits,
    argv,
    child_environment,
    credential_present,
    credential_secret,
    hook_settings,
    user_message,
)
from review_advisor.policy.surfaces import Role, Surface

GRANT = ConsultGrant("the-advisor", "You advise.", "claude-opus-5-5", "<!-- s -->", "n0nce")
CALL = AgentCall(
    role=Role.EXECUTOR,
    advisor=Role.EXECUTOR.advisor,
    surface=Surface.PR_REVIEW,
    attempt=1,
    shard=0,
    model="sonnet",
    system_prompt="You review.",
    blocks=("THE PROMPT",),
    answer=ReviewReport,
    tree=Path("/tree"),
    consults=None,
    max_usd=1.5,
    timeout_seconds=10,
)


def option(words: list[str], name: str) -> str:
    return words[words.index(name) + 1]


def test_the_command_line_refuses_every_configuration_of_the_checkout_d41() -> None:
    words = argv(("/bin/claude",), CALL, None)
    assert words[:2] == ["/bin/claude", "-p"]
    assert option(words, "--setting-sources") == ""
    assert option(words, "--permission-mode") == "dontAsk"
    assert option(words, "--permission-prompts") == "none"
    flags = {"--restricted", "--strict-mcp-config", "--disable-slash-commands", "--no-session-persistence", "--verbose"}
    assert flags <= set(words)
    assert "--allowedTools" not in words
    assert "THE PROMPT" not in " ".join(words)


def test_the_call_decides_model_money_and_schema() -> None:
    words = argv(("c",), CALL, None, Limits(max_turns=7))
    assert option(words, "--model") == "sonnet"
    assert option(words, "--max-budget-usd") == "1.5000"
    assert option(words, "--max-turns") == "7"
    assert json.loads(option(words, "--json-schema")) == json.loads(answer_schema(ReviewReport))


def test_a_declared_advisor_is_an_agent_of_its_own_and_the_first_one_stays_as_it_is() -> None:
    alone = json.loads(option(argv(("c",), replace(CALL, consults=GRANT), hook_settings(("hook",))), "--agents"))
    others = (NamedAdvisor("dataSteward", "migrations", "You look after data.", "haiku"),)
    grant = replace(GRANT, others=others)
    agents = json.loads(option(argv(("c",), replace(CALL, consults=grant), hook_settings(("hook",))), "--agents"))
    steward = agents.pop("dataSteward")
    assert agents == alone
    assert (steward["prompt"], steward["model"]) == ("You look after data.", "haiku")
    assert steward["tools"] == alone["the-advisor"]["tools"]


@pytest.mark.parametrize(
    "tree,consults,tools",
    [
        (None, None, ""),
        (Path("/tree"), None, "Read,Grep,Glob"),
        (Path("/tree"), GRANT, "Read,Grep,Glob,Agent"),
        (None, GRANT, "Agent"),
    ],
)
def test_tools_follow_tree_and_grant_d43(tree: Path | None, consults: ConsultGrant | None, tools: str) -> None:
    hook = hook_settings(("hook",)) if consults else None
    words = argv(("c",), replace(CALL, tree=tree, consults=consults), hook)
    assert option(words, "--tools") == tools
    assert "Bash" in option(words, "--disallowedTools")


def test_the_grant_defines_the_advisor() -> None:
    hook = hook_settings(("python", "a b.py"))
    words = argv(("c",), replace(CALL, consults=GRANT), hook)
    advisor = json.loads(option(words, "--agents"))["the-advisor"]
    assert (advisor["prompt"], advisor["model"]) == ("You advise.", "claude-opus-5-5")
    assert advisor["tools"] == ["Read", "Grep", "Glob"]
    assert option(words, "--settings") == hook
    assert "--forward-subagent-text" in words
    assert "Agent(general-purpose)" in option(words, "--disallowedTools")
    commands = {event: entry[0]["hooks"][0]["command"] for event, entry in json.loads(hook)["hooks"].items()}
    assert set(commands) == {"PreToolUse", "PostToolUse", "PostToolUseFailure"}
    assert "python 'a b.py'" in commands["PreToolUse"]


@pytest.mark.parametrize(
    "call, hook, said",
    [
        (replace(CALL, consults=GRANT), None, "consult hook"),
        (CALL, "{}", "consult hook"),
        (replace(CALL, tree=None, edits=EditGrant(())), None, "only in a tree"),
        (replace(CALL, tree=None, withheld=Withheld(edits=True)), None, "only in a tree"),
    ],
)
def test_consults_without_their_hook_and_edits_without_a_tree_are_bugs(
    call: AgentCall, hook: str | None, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        argv(("c",), call, hook)


def deny_rules(words: list[str]) -> list[str]:
    rules: list[str] = json.loads(option(words, "--settings"))["permissions"]["deny"]
    return rules


def test_leave_to_edit_adds_two_tools_and_the_rules_of_what_stays_as_it_is() -> None:
    words = argv(("c",), replace(CALL, edits=EditGrant((".github", "/src/bot"))), None)
    assert option(words, "--tools") == "Read,Grep,Glob,Edit,Write"
    assert option(words, "--permission-mode") == "acceptEdits"
    assert option(words, "--permission-prompts") == "none"
    assert option(words, "--disallowedTools") == "Bash,NotebookEdit,WebFetch,WebSearch,Agent"
    assert deny_rules(words) == [
        "Edit(.github)",
        "Edit(.github/**)",
        "Edit(//tree/src/bot)",
        "Edit(//tree/src/bot/**)",
    ]


def test_without_leave_editing_is_refused_by_name() -> None:
    words = argv(("c",), CALL, None)
    assert {"Edit", "Write"} <= set(option(words, "--disallowedTools").split(","))
    assert "--settings" not in words


def test_hook_and_edit_rules_share_the_one_settings_option() -> None:
    hook = hook_settings(("hook",))
    words = argv(("c",), replace(CALL, consults=GRANT, edits=EditGrant((".claude",))), hook)
    assert words.count("--settings") == 1
    assert json.loads(option(words, "--settings"))["hooks"] == json.loads(hook)["hooks"]
    assert deny_rules(words) == ["Edit(.claude)", "Edit(.claude/**)"]
    assert json.loads(option(words, "--agents"))["the-advisor"]["tools"] == ["Read", "Grep", "Glob"]


def test_tools_that_only_another_call_may_use_are_listed_and_refused_twice() -> None:
    """By a hook, and editing by a rule, too. The tools are those of the call that may use them, in the same order."""
    may = argv(("c",), replace(CALL, consults=GRANT, edits=EditGrant((".github",))), hook_settings(("hook",)))
    may_not = argv(("c",), replace(CALL, withheld=Withheld(edits=True, consults=GRANT)), None)
    for alike in ("--tools", "--disallowedTools", "--agents", "--system-prompt", "--json-schema"):
        assert option(may, alike) == option(may_not, alike)
    assert option(may_not, "--permission-mode") == "dontAsk"
    assert deny_rules(may_not) == ["Edit(//**)"]
    (entry,) = json.loads(option(may_not, "--settings"))["hooks"]["PreToolUse"]
    assert entry["matcher"] == "Task|Agent|Edit|Write"
    said = subprocess.run(["/bin/sh", "-c", entry["hooks"][0]["command"]], capture_output=True, check=True).stdout
    assert json.loads(said)["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize(
    "consults,edits,withheld,refused",
    [
        (GRANT, None, Withheld(edits=True), ["Edit|Write"]),
        (None, EditGrant(()), Withheld(edits=True, consults=GRANT), ["Task|Agent"]),
        (GRANT, EditGrant(()), Withheld(edits=True), []),
        (None, None, Withheld(), []),
    ],
)
def test_what_a_call_may_use_is_not_refused(
    consults: ConsultGrant | None, edits: EditGrant | None, withheld: Withheld, refused: list[str]
) -> None:
    hook = hook_settings(("hook",)) if consults else None
    words = argv(("c",), replace(CALL, consults=consults, edits=edits, withheld=withheld), hook)
    settings = json.loads(option(words, "--settings")) if "--settings" in words else {}
    entries = settings.get("hooks", {}).get("PreToolUse", [])
    assert [each["matcher"] for each in entries][bool(consults) :] == refused


# --- the prompt -----------------------------------------------------------------------------------------


def content(*blocks: str) -> list[dict[str, Any]]:
    line = user_message(blocks)
    assert line.endswith(b"\n")
    assert len(line.splitlines()) == 1
    message = json.loads(line)
    assert (message["type"], message["message"]["role"]) == ("user", "user")
    told: list[dict[str, Any]] = message["message"]["content"]
    return told


def test_the_last_block_that_does_not_vary_is_marked_for_the_cache() -> None:
    marked = {"cache_control": {"type": "ephemeral"}}
    assert content("a", "b", "c") == [
        {"type": "text", "text": "a"},
        {"type": "text", "text": "b", **marked},
        {"type": "text", "text": "c"},
    ]
    assert content("all of it") == [{"type": "text", "text": "all of it"}]


def test_a_prompt_is_one_line_for_every_reader_of_lines() -> None:
    text = "a\nb\u2028c\u0085d\r\ud800"
    assert content("first", text)[1]["text"] == "a\nb\u2028c\u0085d\r?"


# --- environment ------------------------------------------------------------------------------------

PARENT = {
    "PATH": "/usr/bin:.::relative:/bin",
    "HOME": "/home/someone",
    "GITHUB_TOKEN": "secret-forge",
    "GH_TOKEN": "secret-forge",
    "CLAUDECODE": "1",
    "CLAUDE_CODE_ENTRYPOINT": "cli",
    "CLAUDE_CODE_MAX_RETRIES": "99",
    "AWS_SECRET_ACCESS_KEY": "secret-aws",
    "PYTHONPATH": "/evil",
    "NODE_OPTIONS": "--require /evil.js",
    "ANTHROPIC_BASE_URL": "http://gateway",
    "HTTPS_PROXY": "http://proxy",
}


def child(**more: str) -> dict[str, str]:
    made = child_environment({**PARENT, **more}, Path("/p/home"), Path("/p/config"), Path("/p/tmp"))
    return {**made.variables, **{f"fd:{name}": value for name, value in made.by_descriptor.items()}}


def test_the_child_knows_only_what_the_list_allows() -> None:
    environment = child()
    assert "secret" not in str(environment)
    assert not {"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "PYTHONPATH", "NODE_OPTIONS"} & set(environment)
    assert environment["PATH"] == "/usr/bin:/bin"
    assert environment["HOME"] == "/p/home"
    assert environment["CLAUDE_CONFIG_DIR"] == "/p/config"
    assert environment["TMPDIR"] == environment["CLAUDE_CODE_TMPDIR"] == "/p/tmp"
    assert environment["CLAUDE_CODE_MAX_RETRIES"] == "2"
    assert environment["ANTHROPIC_BASE_URL"] == "http://gateway"
    assert environment["HTTPS_PROXY"] == "http://proxy"
    assert environment["CLAUDE_CODE_DISABLE_FILE_MENTIONS"] == "1"


@pytest.mark.parametrize("cached,off", [(True, None), (False, "1")])
def test_a_call_of_one_turn_writes_no_cache(cached: bool, off: str | None) -> None:
    made = child_environment(PARENT, Path("/p/home"), Path("/p/config"), Path("/p/tmp"), cached=cached)
    assert made.variables.get("DISABLE_PROMPT_CACHING") == off


@pytest.mark.parametrize(
    "name,descriptor",
    [
        ("ANTHROPIC_API_KEY", "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR"),
        ("CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR"),
    ],
)
def test_keys_and_tokens_go_by_descriptor_only(name: str, descriptor: str) -> None:
    environment = child(**{name: " the-key\n"})
    assert name not in environment
    assert environment[f"fd:{descriptor}"] == "the-key"


TOKEN, KEY, OAUTH = "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"


@pytest.mark.parametrize(
    "given,used",
    [
        ((TOKEN, KEY, OAUTH), TOKEN),
        ((TOKEN, KEY), TOKEN),
        ((TOKEN, OAUTH), TOKEN),
        ((KEY, OAUTH), "fd:CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR"),
        ((OAUTH,), "fd:CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR"),
    ],
)
def test_of_several_credentials_one_is_passed_on_in_the_clis_own_order(given: tuple[str, ...], used: str) -> None:
    environment = child(**{name: f"value of {name}" for name in given})
    assert [name for name, value in environment.items() if value.startswith("value of")] == [used]


def test_a_blank_credential_is_none() -> None:
    assert child(ANTHROPIC_AUTH_TOKEN=" \n", ANTHROPIC_API_KEY="k")["fd:CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR"] == "k"
    assert not credential_present({TOKEN: " ", KEY: "", OAUTH: "\n"})


def test_of_two_clouds_one_is_passed_on() -> None:
    environment = child(CLAUDE_CODE_USE_BEDROCK="1", CLAUDE_CODE_USE_VERTEX="1", CLOUD_ML_REGION="r")
    assert "CLAUDE_CODE_USE_BEDROCK" in environment
    assert not {"CLAUDE_CODE_USE_VERTEX", "CLOUD_ML_REGION"} & set(environment)


def test_a_cloud_gets_its_own_credentials_and_no_other() -> None:
    environment = child(CLAUDE_CODE_USE_BEDROCK="1", AWS_REGION="r", ANTHROPIC_API_KEY="k", ANTHROPIC_AUTH_TOKEN="t")
    assert "ANTHROPIC_AUTH_TOKEN" not in environment
    assert environment["AWS_SECRET_ACCESS_KEY"] == "secret-aws"
    assert environment["AWS_REGION"] == "r"
    assert "ANTHROPIC_BASE_URL" not in environment
    assert not [name for name in environment if name.startswith("fd:")]


@pytest.mark.parametrize(
    "environ,present",
    [
        ({}, False),
        ({"ANTHROPIC_API_KEY": ""}, False),
        ({"CLAUDE_CODE_USE_BEDROCK": "0"}, False),
        ({"ANTHROPIC_API_KEY": "k"}, True),
        ({"CLAUDE_CODE_OAUTH_TOKEN": "t"}, True),
        ({"ANTHROPIC_AUTH_TOKEN": "t"}, True),
        ({"CLAUDE_CODE_USE_VERTEX": "true"}, True),
    ],
)
def test_a_credential_is_present_or_not(environ: dict[str, str], present: bool) -> None:
    assert credential_present(environ) is present


CLOUD = {"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "AKIA"}


@pytest.mark.parametrize(
    "environ, secret",
    [
        ({}, b""),
        ({"ANTHROPIC_API_KEY": "key", "GITHUB_TOKEN": "another"}, b"key"),
        ({"ANTHROPIC_API_KEY": "", "CLAUDE_CODE_OAUTH_TOKEN": "token"}, b"token"),
        ({"ANTHROPIC_AUTH_TOKEN": "gateway", "ANTHROPIC_BASE_URL": "http://gateway"}, b"gateway"),
        ({**CLOUD, "AWS_SECRET_ACCESS_KEY": "secret", "ANTHROPIC_API_KEY": "key"}, b"secret"),
        ({"ANTHROPIC_AUTH_TOKEN": "gateway", "ANTHROPIC_API_KEY": "unused"}, b"gateway"),
        ({**CLOUD, "AWS_PROFILE": "work"}, b""),
        ({"CLAUDE_CODE_USE_VERTEX": "1", "GOOGLE_APPLICATION_CREDENTIALS": "/file.json"}, b""),
    ],
)
def test_only_what_is_secret_tells_who_pays(environ: dict[str, str], secret: bytes) -> None:
    """What anybody may know, such as a region or a file's name, signs nothing."""
    assert credential_secret(environ) == secret
