"""The consult cap: a hook around every use of the Agent tool. Standard library only, one file.

Run by the CLI as ``python -I consult_hook.py --state DIR ...`` with the event on stdin. Before a consult it
counts under a lock, records the question and rewrites the call (type, model, foreground, sentinel), or denies
it with a reason; afterwards it records what became of it. State is one JSON file per consult, renamed into
place, so that a reader never sees half of one. The harness reads the same files through ``records``.

The sentinel holds the run's nonce. It comes in a private file, because every user of the machine can read a command
line.

What looks like a secret is taken out of a question before the advisor is asked, what cannot be seen in it is spelled
out, and it is fenced as all untrusted text is: by the files that the rest of the product uses. The harness's own
secrets are not known here, and are not handed to a child of the CLI for this: the executor was shown none of them.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import importlib.util
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

ASKED, ANSWERED, FAILED, DENIED = "asked", "answered", "failed", "denied"
_KEPT = 100_000
_LARGEST = 10**12
_FOREIGN_SENTINEL = re.compile(r"<!--(?=\s*HYDRAFLOW_)", re.IGNORECASE)

Record = dict[str, str]


def records(state: Path) -> list[Record]:
    """Every consult so far, oldest first."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in state.glob("*.json")]
    return sorted(found, key=lambda record: (record["at"], record["tool_use_id"]))


def keep_private(folder: Path, words: dict[str, str]) -> Path:
    """Write what the hook has to know and no command line may show; gives the file for ``--private``."""
    path = folder / "private.json"
    path.touch(mode=0o600)
    path.write_text(json.dumps(words), encoding="utf-8")
    return path


def record_of(state: Path, call: str, tool_use_id: str) -> Record | None:
    """The record of one consult of one call, if the hook let it through or denied it."""
    try:
        found: Record = json.loads(_path(state, call, tool_use_id).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return found


def reserve(state: Path, record: Record, cap: int, max_refunds: int) -> bool:
    """Count one more consult, unless the cap is reached. Failed ones are refunded up to ``max_refunds``."""
    with _locked(state):
        if record_of(state, record["call"], record["tool_use_id"]) is not None:
            return False
        statuses = [known["status"] for known in records(state)]
        failed = statuses.count(FAILED)
        used = statuses.count(ASKED) + statuses.count(ANSWERED) + max(0, failed - max_refunds)
        granted = used < cap
        status = ASKED if granted else DENIED
        reason = "" if granted else _cap_reached(cap)
        _store(state, {**record, "status": status, "reason": reason, "at": f"{len(statuses):06d}"})
        return granted


def settle(state: Path, call: str, tool_use_id: str, **outcome: str) -> None:
    """Record what became of a consult that was let through; anything else is left as it is."""
    with _locked(state):
        record = record_of(state, call, tool_use_id)
        if record is not None and record["status"] == ASKED:
            _store(state, {**record, **{key: value[:_KEPT] for key, value in outcome.items()}})


def settle_unfinished(state: Path, call: str, reason: str) -> None:
    """Record as failed what a call that is over left open."""
    for record in records(state):
        if record["call"] == call and record["status"] == ASKED:
            settle(state, call, record["tool_use_id"], status=FAILED, reason=reason)


@contextmanager
def _locked(state: Path) -> Iterator[None]:
    descriptor = os.open(state / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _path(state: Path, call: str, tool_use_id: str) -> Path:
    return state / f"{hashlib.sha256(f'{call} {tool_use_id}'.encode()).hexdigest()[:40]}.json"


def _store(state: Path, record: Record) -> None:
    descriptor, name = tempfile.mkstemp(dir=state, suffix=".part")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(record, file)
    Path(name).replace(_path(state, record["call"], record["tool_use_id"]))


def _cap_reached(cap: int) -> str:
    return f"All {cap} consults of this review are used. Decide on your own, and say which question stayed open."


# --- the hook -------------------------------------------------------------------------------------


def _before(options: argparse.Namespace, event: dict[str, Any]) -> dict[str, Any]:
    asked = event["tool_input"]
    redact, frame = _loaded(options.secret_shapes).redact, _loaded(options.frame)
    question = _FOREIGN_SENTINEL.sub("<!- -", frame.visible(redact(str(asked.get("prompt", "")))))
    record = {
        "call": options.call,
        "tool_use_id": str(event["tool_use_id"]),
        "question": question[:_KEPT],
        "reply": "",
        "resolved_model": "",
        "tokens": "",
        "duration_ms": "",
    }
    if not question.strip():
        return _decision("deny", permissionDecisionReason="A consult needs a question.")
    if not reserve(options.state, record, options.cap, options.max_refunds):
        return _decision("deny", permissionDecisionReason=_cap_reached(options.cap))
    private = json.loads(options.private.read_text(encoding="utf-8"))
    # Rewritten from nothing: whatever else the executor asked for (model, effort, isolation) is dropped,
    # so that the agent's own definition decides.
    rewritten = {
        "description": frame.visible(redact(str(asked.get("description", ""))))[:200],
        "prompt": f"{private['opening']}\n{frame.framed(frame.QUESTION, question, private['nonce'])}",
        "subagent_type": options.subagent_type,
        "run_in_background": False,
    }
    return _decision("allow", updatedInput=rewritten)


def _loaded(path: Path) -> ModuleType:
    """The module or package in the file at ``path``: ``-I`` leaves our own package out of what can be imported."""
    package = path.name == "__init__.py"
    name = path.parent.name if package else path.stem
    places = [str(path.parent)] if package else None
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=places)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _decision(decision: str, **more: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision, **more}}


def _after(options: argparse.Namespace, event: dict[str, Any]) -> None:
    response = event.get("tool_response")
    answer = response if isinstance(response, dict) else {}
    reply = _said(answer)
    answered = answer.get("status") == "completed" and bool(reply.strip())
    settle(
        options.state,
        options.call,
        str(event["tool_use_id"]),
        status=ANSWERED if answered else FAILED,
        reply=reply,
        reason="" if answered else f"the advisor gave no answer ({answer.get('status', 'no status')})",
        resolved_model=str(answer.get("resolvedModel", "")),
        tokens=_digits(_tokens(answer)),
        duration_ms=_digits(whole_number(answer.get("totalDurationMs"))),
    )


def _said(answer: dict[str, Any]) -> str:
    """The advisor's own words. The CLI sets notes of its own before and after them, and says how many."""
    blocks = answer.get("content")
    every = blocks if isinstance(blocks, list) else []
    before, after = (whole_number(answer.get(name)) or 0 for name in ("harnessNoteCount", "harnessTailCount"))
    its_own = every[before : max(before, len(every) - after)]
    return "\n".join(str(block["text"]) for block in its_own if isinstance(block, dict) and "text" in block)


def _tokens(answer: dict[str, Any]) -> int | None:
    """What the advisor used, if it used no tool: otherwise the CLI counts the last of its requests alone."""
    return whole_number(answer.get("totalTokens")) if whole_number(answer.get("totalToolUseCount")) == 0 else None


def whole_number(value: object) -> int | None:
    """A count that can be one: None for anything that is no whole number, below zero, or beyond all measure."""
    return value if type(value) is int and 0 <= value <= _LARGEST else None


def _digits(number: int | None) -> str:
    return "" if number is None else str(number)


def _failed(options: argparse.Namespace, event: dict[str, Any]) -> None:
    settle(
        options.state,
        options.call,
        str(event["tool_use_id"]),
        status=FAILED,
        reason=str(event.get("error", "the consult failed")),
    )


def _options(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--call", required=True)
    parser.add_argument("--cap", type=int, required=True)
    parser.add_argument("--max-refunds", type=int, required=True)
    parser.add_argument("--subagent-type", required=True)
    parser.add_argument("--private", type=Path, required=True)
    parser.add_argument("--secret-shapes", type=Path, required=True)
    parser.add_argument("--frame", type=Path, required=True)
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    """Answer one event. An exception leaves by a non-zero exit code, which the hook's shell line turns into a no."""
    options = _options(argv)
    event = json.loads(sys.stdin.buffer.read())
    if event["hook_event_name"] == "PreToolUse":
        sys.stdout.write(json.dumps(_before(options, event)))
    elif event["hook_event_name"] == "PostToolUse":
        _after(options, event)
    elif event["hook_event_name"] == "PostToolUseFailure":
        _failed(options, event)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
