"""An executable named ``claude`` that answers every call from a script, by question, and notes what it was asked.

``embedded --script`` speaks the whole contract instead, and takes many times as long to start: these stories make
hundreds of calls.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

from tests.adapters.command_line import CLAUDE, executable

from review_advisor.agents.prompts import nonce_of
from review_advisor.mockworld.agents import Line, approve, confirm, guidance, plan
from review_advisor.safety.fence import fenced

Json = dict[str, Any]

# Plays the replies that lie beside it, by question, and notes what it was asked. Calls run side by side: under the lock
# no two of them take one reply, and none reads what another is writing.
_MODEL = """#!{python} -IS
import fcntl, json, os, sys
from pathlib import Path

if "--version" in sys.argv:
    print("{version}")
    sys.exit()
place = Path(__file__).parent
words = dict(zip(sys.argv, sys.argv[1:]))
question = json.loads(words["--json-schema"])["title"]
blocks = json.loads(sys.stdin.buffer.read())["message"]["content"]
prompt = "".join(block["text"] for block in blocks)
system = words.get("--system-prompt", "")
asked = {{"question": question, "prompt": prompt, "environment": dict(os.environ), "system": system}}
with open(place / "lock", "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    with open(place / "asked.jsonl", "a") as log:
        log.write(json.dumps(asked) + "\\n")
    replies = json.loads((place / "replies.json").read_text())
    reply = replies[question].pop(0) if replies[question] else replies["else"][question]
    (place / "replies.json").write_text(json.dumps(replies))
if "meanwhile" in reply:
    open(reply["meanwhile"]).read()
for path, text in reply.get("edit", {{}}).items():
    Path(path).write_text(text)
say = lambda kind, **event: print(json.dumps({{"type": kind, **event}}), flush=True)
say("system", subtype="init", session_id="s", model="stub", tools=["StructuredOutput"])
if "error" in reply:
    say("assistant", error=reply["error"], api_error_status=400, message={{"model": "<synthetic>", "content": []}})
    say("result", subtype="success", is_error=True, api_error_status=400, result=reply["error"])
    sys.exit(1)
say("result", subtype="success", is_error=False, structured_output=reply["answer"], total_cost_usd=0.01)
"""
_AGREES = {
    "ReviewPlan": plan(),
    "ReviewReport": approve(),
    "PostVerifyResult": confirm(),
    "Recommendation": guidance(),
}


@dataclass(frozen=True)
class Asked:
    """One question to a model: ``question`` is the title of the answer's schema."""

    question: str
    prompt: str
    environment: dict[str, str]
    system: str

    def shown(self, label: str) -> str:
        """What stands in the prompt's fence of that label; nothing where there is none."""
        return fenced(self.prompt, label, nonce_of(self.prompt)) or ""


class Models:
    """The executable that answers every call, and what it was asked."""

    def __init__(self, place: Path) -> None:
        self.path = executable(place / "claude", _MODEL.format(python=sys.executable, version=CLAUDE))
        agrees = {question: _reply(line) for question, line in _AGREES.items()}
        self._set({**{question: [] for question in _AGREES}, "else": agrees})

    def executor_says(self, *lines: Line | Json) -> None:
        """The next reports; something else than a line is a reply as the executable understands it."""
        self._add("ReviewReport", lines)

    def executor_always_says(self, line: Line) -> None:
        """Every report that is not told otherwise."""
        replies = self._replies()
        replies["else"]["ReviewReport"] = _reply(line)
        self._set(replies)

    def judge_says(self, *lines: Line | Json) -> None:
        """The next judgements."""
        self._add("PostVerifyResult", lines)

    def plans(self, *lines: Line) -> None:
        """The next plans."""
        self._add("ReviewPlan", lines)

    @contextmanager
    def thinking(self, line: Line, happening: Callable[[], object]) -> Iterator[None]:
        """The executor says ``line``; ``happening`` happens while it thinks, in a thread of its own."""
        gate = self.path.with_name("gate")
        os.mkfifo(gate)

        def meanwhile() -> None:
            with gate.open("w"):  # opens once the model reads
                happening()

        self.executor_says({**_reply(line), "meanwhile": str(gate)})
        thread = Thread(target=meanwhile)
        thread.start()
        yield
        thread.join()
        gate.unlink()

    @property
    def asked(self) -> list[Asked]:
        """Every call so far."""
        log = self.path.with_name("asked.jsonl")
        return [Asked(**json.loads(line)) for line in log.read_text().splitlines()] if log.exists() else []

    @property
    def unsaid(self) -> int:
        """The replies that nobody has asked for."""
        return sum(len(self._replies()[question]) for question in _AGREES)

    def _add(self, question: str, lines: tuple[Line | Json, ...]) -> None:
        replies = self._replies()
        replies[question] += [_reply(each) if isinstance(each, Line) else each for each in lines]
        self._set(replies)

    def _replies(self) -> Json:
        found: Json = json.loads(self.path.with_name("replies.json").read_text())
        return found

    def _set(self, replies: Json) -> None:
        self.path.with_name("replies.json").write_text(json.dumps(replies))


def _reply(line: Line) -> Json:
    return {"answer": line.answer, "edit": dict(line.edits)}
