"""One recorded call as a line of text: who was asked, a digest of what was asked, and what came back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from review_advisor.core.answers.answers import answer_schema
from review_advisor.core.policy.surfaces import Role, Surface
from review_advisor.core.report.wording import printable_line
from review_advisor.core.roles.calls import AgentCall, Answered, Lost, Stop
from review_advisor.core.roles.reply_cache import RunNames, renamed
from review_advisor.core.safety.legible import legible, read_json
from review_advisor.core.safety.redaction import Redactor

_DIGEST = "sha256"
_OF_CALL = {"instance": "shard", "sequence": "number"}
"""Where a call calls it otherwise."""


@dataclass(frozen=True, slots=True)
class CallIdentity:
    """Which call of a run it is.

    ``instance`` is the part of the change, ``sequence`` the call's number within the run or the shadow. ``shadow`` is
    empty for a call with authority.
    """

    surface: Surface
    role: Role
    advisor: str
    instance: int
    sequence: int
    attempt: int
    asks_again: int = 0
    further_try: int = 0
    blind: bool = False
    shadow: str = ""


@dataclass(frozen=True, slots=True)
class QuestionDigest:
    """What a call asked. Two calls with equal digests asked the same question of the same model.

    The digests leave out the names of the run, so that two runs can have equal questions.
    """

    model: str
    effort: str
    prompt_sha256: str
    system_prompt_sha256: str
    schema_sha256: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """The call ended its run: ``kind`` is the name of the ``Stop``."""

    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One call and what came of it, without secrets and without the run's nonce.

    ``system_prompt``, ``prompt`` and ``stream`` are None unless everything is recorded. ``stream`` is what the CLI
    wrote, line by line, without the pieces of messages that it repeats whole.
    """

    run_id: str
    at: datetime
    identity: CallIdentity
    question: QuestionDigest
    ended: Literal["answered", "lost", "stopped"]
    reply: Answered | Lost | Stopped
    system_prompt: str | None = None
    prompt: str | None = None
    stream: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Recording:
    """The calls of a recording in order, and one sentence for each line that is not as it was written."""

    calls: tuple[RecordedCall, ...]
    problems: tuple[str, ...] = ()

    def as_text(self) -> str:
        """A line for each call."""
        return "".join(map(_line, self.calls))

    def as_json(self) -> list[Any]:
        """Everything that is recorded."""
        return [_adapter().dump_python(call, mode="json") for call in self.calls]


def question_digest(call: AgentCall, names: RunNames) -> QuestionDigest:
    """The digests of what ``call`` asks, as the redactor left it."""
    texts = (names.taken_out(call.prompt), names.taken_out(call.system_prompt), answer_schema(call.answer))
    return QuestionDigest(call.model, call.effort, *map(_sha256, texts))


def redacted_call(call: AgentCall, redactor: Redactor) -> AgentCall:
    """The call as its recording tells it."""
    prompt = redactor.in_prompt(call.prompt)
    return replace(call, system_prompt=redactor.in_prompt(call.system_prompt), blocks=(prompt,))


def recorded_call(
    call: AgentCall,
    reply: Answered | Lost | Stop,
    names: RunNames,
    redactor: Redactor,
    at: datetime,
    *,
    stream: Iterable[str] | None = None,
) -> RecordedCall:
    """The call with its reply. ``stream`` is what the CLI wrote; with it the prompts are recorded, too."""

    def shown(text: str) -> str:
        return names.taken_out(redactor.redact(text))

    texts = None if stream is None else tuple(_output_line(line, names, redactor) for line in stream)
    heard = redacted_call(call, redactor)
    if isinstance(reply, Stop):
        came: Answered | Lost | Stopped = Stopped(type(reply).__name__, shown(legible(reply.detail)))
    else:
        came = renamed(redactor.everywhere(legible(reply)), names.taken_out)
    return RecordedCall(
        run_id=names.run_id,
        at=at,
        identity=_identity(call),
        question=question_digest(heard, names),
        ended="stopped" if isinstance(came, Stopped) else "lost" if isinstance(came, Lost) else "answered",
        reply=came,
        system_prompt=None if texts is None else shown(heard.system_prompt),
        prompt=None if texts is None else shown(heard.prompt),
        stream=texts,
    )


def _output_line(line: str, names: RunNames, redactor: Redactor) -> str:
    """A line of the CLI's output, which stays the JSON that it is; each text in it is looked at as it reads.

    A number that JSON cannot spell becomes null.
    """
    try:
        event = read_json(line)
    except ValueError:
        return names.taken_out(redactor.redact(legible(line)))
    shown = json.loads(json.dumps(redactor.everywhere(event)), parse_constant=lambda _: None)
    bare = names.taken_out(redactor.redact(json.dumps(shown)))
    return bare.replace("\0", json.dumps("\0")[1:-1])


def recording_line(call: RecordedCall) -> bytes:
    """The call as one line of JSON that ends with the digest of everything before it."""
    body = _adapter().dump_json(call).decode()
    return f'{body[:-1]},"{_DIGEST}":"{_sha256(body)}"}}\n'.encode()


def read_recording(text: bytes) -> Recording:
    """The calls of a recording. A line that was cut off or changed is named and left out."""
    calls, problems = [], []
    for number, line in enumerate(text.splitlines(), start=1):
        call = _read(line)
        if call is None:
            problems.append(f"line {number} of the recording is incomplete or was changed")
        else:
            calls.append(call)
    return Recording(tuple(calls), tuple(problems))


def _line(call: RecordedCall) -> str:
    which, asked = call.identity, call.question
    place = f"{which.role.value} of {which.surface.value}, part {which.instance}, attempt {which.attempt}"
    who = f"{which.advisor}, {asked.model}" if which.advisor else asked.model
    told = f"{place}, {who}: {call.ended}, prompt {asked.prompt_sha256[:12]}"
    return f"{which.sequence:>3}  {printable_line(told)}\n"


def _read(line: bytes) -> RecordedCall | None:
    mark = f',"{_DIGEST}":"'.encode()
    body, found, rest = line.rpartition(mark)
    whole = body + b"}"
    if not found or rest != f'{hashlib.sha256(whole).hexdigest()}"}}'.encode():
        return None
    try:
        return _adapter().validate_json(whole)
    except ValidationError:
        return None


def _identity(call: AgentCall) -> CallIdentity:
    named = {each.name: _OF_CALL.get(each.name, each.name) for each in fields(CallIdentity)}
    return CallIdentity(**{name: getattr(call, its) for name, its in named.items()})


@cache
def _adapter() -> TypeAdapter[RecordedCall]:
    return TypeAdapter(RecordedCall)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
