"""Plays a script of answers instead of looking: for tests and simulations."""

from __future__ import annotations

import fcntl
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from review_advisor.agents.answers import Guidance, PostVerifyResult, ReviewPlan, ReviewReport
from review_advisor.agents.prompts import crops_shown
from review_advisor.agents.static.agent import AgentTool, CliSession, Failed, Said, UsageError, read_picture, write_file

CONSULT = "consult"
"""The name under which a subagent's replies are listed."""


class Script:
    """The replies of a file, by question: an answer schema's title, or ``consult``.

    What was played is kept in the folder ``<file>.played``, one counter a question, under a lock: two
    processes never get the same reply. Nothing is ever invented for a question with no reply left.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            listed = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UsageError(f"Error: the script {file.name} cannot be read: {error}") from error
        if not isinstance(listed, dict) or not all(isinstance(replies, list) for replies in listed.values()):
            raise UsageError(f"Error: the script {file.name} must map each question to a list of replies")
        self._replies: dict[str, list[Any]] = listed

    def take(self, question: str) -> dict[str, Any]:
        """The next reply to ``question``, now played. Raises ``UsageError`` if there is none."""
        replies = self._replies.get(question, [])
        folder = self._file.with_name(self._file.name + ".played")
        folder.mkdir(exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            counter = folder / f"{question}.count"
            played = int(counter.read_text(encoding="ascii")) if counter.exists() else 0
            if played >= len(replies):
                raise UsageError(f"Error: the script {self._file.name} has no reply left for {question!r}")
            counter.write_text(str(played + 1), encoding="ascii")
        reply = replies[played]
        if not isinstance(reply, dict):
            raise UsageError(f"Error: reply {played} for {question!r} in {self._file.name} is not an object")
        return reply


ANSWERS: dict[str, type[BaseModel]] = {
    model.__name__: model for model in (ReviewPlan, ReviewReport, PostVerifyResult, Guidance)
}


_BUILT = ("value_error", "assertion_error")


def play(session: CliSession, script: Script) -> int:
    """Take the next reply to this session's question and play it. Returns the exit code.

    Its ``open`` names the crops that are opened as pictures first: all that the prompt shows, unless it says otherwise.
    """
    reply = script.take(session.options.question)
    session.init()
    for crop in reply.pop("open", crops_shown(session.prompt)):
        read_picture(session, str(crop))
    agent_tool = AgentTool(session, lambda _: _subagent(script))
    while "consult" in reply or "edit" in reply:
        if "consult" in reply:
            agent_tool.ask(_tool_input(session, reply["consult"]))
        for path, text in reply.get("edit", {}).items():
            write_file(session, str(path), str(text))
        reply = reply.get("then", {"truncate": True})
    return _play(session, reply)


def _play(session: CliSession, reply: dict[str, Any]) -> int:
    match reply:
        case {"answer": dict(answer)}:
            return _answer(session, answer)
        case {"text": str(text)}:
            session.assistant([{"type": "text", "text": text}])
            session.nudge()
            session.assistant([{"type": "text", "text": text}])
            session.result(result=text)
            return 0
        case {"error": str(error)}:
            status, message = reply.get("status"), str(reply.get("message", error))
            session.api_error(error, status, message, parent=None)
            ending = {"stop_reason": "stop_sequence", "terminal_reason": "api_error"}
            session.result(is_error=True, status=status, result=message, **ending)
            return 1
        case {"garbage": str(text)}:
            session.write_raw(text)
            return 0
        case {"truncate": True}:
            session.assistant([{"type": "text", "text": "This reply has no end"}])
            return 0
        case {"crash": _} | {"hang": _}:
            return _abrupt(reply)
        case _:
            raise UsageError(f"Error: not a reply that the embedded agent knows: {sorted(reply)}")


def _abrupt(reply: dict[str, Any]) -> int:
    """A crash with its exit code (its signal, if negative), or silence for some seconds and then the end."""
    if "hang" in reply:
        time.sleep(float(reply["hang"]))
        return 1
    sys.stderr.write("the script asked for a crash\n")
    if reply["crash"] < 0:
        os.kill(os.getpid(), -reply["crash"])
    return int(reply["crash"])


def _answer(session: CliSession, answer: dict[str, Any]) -> int:
    wrong = schema_errors(session.options.schema, answer)
    if not wrong:
        session.structured(answer)
        return 0
    session.refused_structure(answer, ", ".join(wrong))
    return 1


def schema_errors(schema: dict[str, Any], answer: dict[str, Any]) -> list[str]:
    """What the CLI's own validation would refuse: missing keys, wrong types, broken bounds.

    Rules that a JSON schema cannot state (a veto needs its reasoning) are not the CLI's to know.
    """
    missing = [f"must have required property '{key}'" for key in schema.get("required", []) if key not in answer]
    model = ANSWERS.get(str(schema.get("title")))
    if missing or model is None:
        return missing
    try:
        model.model_validate_json(json.dumps(answer), strict=True)
    except ValidationError as error:
        listed = error.errors(include_url=False, include_context=False, include_input=False)
        return [f"{'/'.join(map(str, one['loc']))}: {one['msg']}" for one in listed if one["type"] not in _BUILT]
    return []


def _tool_input(session: CliSession, consult: dict[str, Any]) -> dict[str, Any]:
    agents = session.options.agents
    return {
        "description": "consult the advisor",
        "prompt": str(consult.get("question", "")),
        "subagent_type": agents[0].name if agents else "general-purpose",
        **consult.get("tool_input", {}),
    }


def _subagent(script: Script) -> Said | Failed:
    reply = script.take(CONSULT)
    match reply:
        case {"answer": dict(answer)}:
            return Said(json.dumps(answer))
        case {"text": str(text)}:
            return Said(text)
        case {"error": str(error)}:
            return Failed(error, reply.get("status"), str(reply.get("message", error)))
        case {"crash": _} | {"hang": _}:
            raise SystemExit(_abrupt(reply))
        case _:
            raise UsageError(f"Error: not a reply that a subagent can give: {sorted(reply)}")
