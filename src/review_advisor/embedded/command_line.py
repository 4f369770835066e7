"""The command line of ``claude -p``, as far as this product uses it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import Any

from review_advisor.core.facts.checker_settings import RuffSettings
from review_advisor.embedded.hooks import Hook, hooks_of

VERSION = "2.1.329"
VERSION_LINE = f"{VERSION} (review-advisor embedded agent)"

_SWITCH_NAMES = (
    "--print --version --restricted --strict-mcp-config --disable-slash-commands --no-session-persistence"
    " --verbose --forward-subagent-text --include-partial-messages --allow-unchecked"
)
_SWITCHES = {
    "-p": "--print",
    "-v": "--version",
    **{name: name for name in _SWITCH_NAMES.split()},
}
_VALUED_NAMES = (
    "--script --base-ruff --base-allows --checkers --setting-sources --permission-mode --permission-prompts"
    " --model --effort --tools --disallowedTools --agents --settings --system-prompt --max-turns --max-budget-usd"
    " --json-schema --input-format --output-format"
)
_VALUED = frozenset(_VALUED_NAMES.split())
_RULE = re.compile(r"\w+(?:\([^()]*\))?")


class UsageError(Exception):
    """Nothing can be answered: exit 1, the sentence on stderr, nothing on stdout."""


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """One entry of ``--agents``."""

    name: str
    prompt: str
    model: str


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked on the command line. ``--max-turns`` and ``--max-budget-usd`` are accepted and never reached."""

    model: str
    tools: tuple[str, ...]
    denied_agents: frozenset[str]
    agents: tuple[AgentDefinition, ...]
    hooks: tuple[Hook, ...]
    system_prompt: str
    permission_mode: str
    denied_edits: tuple[str, ...]
    schema: dict[str, Any]
    script: Path | None
    base_ruff: tuple[RuffSettings, ...]
    base_allows: Mapping[str, tuple[str, ...]]
    checkers: Mapping[str, str]
    allow_unchecked: bool
    forward_subagent_text: bool

    @property
    def question(self) -> str:
        """The title of the answer's schema: which question this is."""
        return str(self.schema.get("title", ""))


def parse(words: Sequence[str]) -> Options | None:
    """The options, or None when only the version is asked for. Raises ``UsageError``."""
    given = dict(_pairs(words))
    if "--version" in given:
        return None
    _require_print_mode(given)
    disallowed = _RULE.findall(given.get("--disallowedTools", ""))
    tools = [_tool(name) for name in re.split(r"[,\s]+", given.get("--tools", "")) if name]
    settings = _table("--settings", given.get("--settings", "{}"))
    if "--json-schema" not in given:
        raise UsageError("Error: the embedded agent answers questions with a --json-schema only")
    return Options(
        model=given.get("--model", "opus"),
        tools=tuple(name for name in tools if name not in {_tool(rule) for rule in disallowed}),
        denied_agents=frozenset(rule[6:-1] for rule in disallowed if rule.startswith("Agent(")),
        agents=tuple(starmap(_agent, _table("--agents", given.get("--agents", "{}")).items())),
        hooks=hooks_of(settings),
        system_prompt=given.get("--system-prompt", ""),
        permission_mode=given.get("--permission-mode", "default"),
        denied_edits=tuple(_denied_edits(settings)),
        schema=_table("--json-schema", given["--json-schema"]),
        script=Path(given["--script"]) if "--script" in given else None,
        base_ruff=_base_ruff(given.get("--base-ruff", "[]")),
        base_allows=_table("--base-allows", given.get("--base-allows", "{}")),
        checkers=_table("--checkers", given.get("--checkers", "{}")),
        allow_unchecked="--allow-unchecked" in given,
        forward_subagent_text="--forward-subagent-text" in given,
    )


def _pairs(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if word in _SWITCHES:
            yield _SWITCHES[word], ""
        elif name in _VALUED and equals:
            yield name, value
        elif word in _VALUED:
            following = next(rest, None)
            if following is None:
                raise UsageError(f"error: option '{word} <value>' argument missing")
            yield word, following
        elif word.startswith("-"):
            raise UsageError(f"error: unknown option '{name}'")
        else:
            raise UsageError("error: the embedded agent takes its prompt from stdin only")


def _require_print_mode(given: dict[str, str]) -> None:
    if "--print" not in given:
        raise UsageError("Error: the embedded agent has no interactive mode; use -p")
    for option in ("--input-format", "--output-format"):
        if given.get(option) != "stream-json":
            raise UsageError(f"Error: the embedded agent speaks {option} stream-json only")
    if "--verbose" not in given:
        raise UsageError("Error: When using --print, --output-format=stream-json requires --verbose")


def _base_ruff(value: str) -> tuple[RuffSettings, ...]:
    if value == "[]":
        return ()
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415 - costs more than most calls' whole command line

    try:
        return TypeAdapter(tuple[RuffSettings, ...]).validate_json(value)
    except ValidationError as error:
        raise UsageError("Error: --base-ruff must be a JSON list of ruff settings") from error


def _tool(name: str) -> str:
    return "Agent" if name == "Task" else name


def _table(flag: str, value: str) -> dict[str, Any]:
    """The JSON object that an option is given, or whose file it names."""
    try:
        text = value if value.lstrip().startswith("{") else Path(value).read_text(encoding="utf-8")
        found = json.loads(text)
    except (OSError, ValueError) as error:
        raise UsageError(f"Error: Invalid JSON or missing file in {flag}") from error
    if not isinstance(found, dict):
        raise UsageError(f"Error: {flag} must be a JSON object")
    return found


def _agent(name: str, entry: Any) -> AgentDefinition:
    if not isinstance(entry, dict) or not isinstance(entry.get("prompt"), str):
        raise UsageError(f"Error: --agents: agent '{name}' needs a prompt")
    return AgentDefinition(name, entry["prompt"], str(entry.get("model", "")))


def _denied_edits(settings: Mapping[str, Any]) -> Iterator[str]:
    """The globs of the ``Edit(...)`` rules that the settings deny."""
    for rule in settings.get("permissions", {}).get("deny", []):
        if found := re.fullmatch(r"Edit\((.+)\)", str(rule)):
            yield found[1]
