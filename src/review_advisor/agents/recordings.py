"""Recordings of calls: written on request, and played back."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from review_advisor.agents.answers import answer_schema
from review_advisor.agents.calls import AgentCall, Agents, Answered, ConsultReply, Consults, Granted, Lost
from review_advisor.agents.kept_replies import RunNames, renamed
from review_advisor.change.redaction import Redactor
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.safety.fence import legible, read_json
from review_advisor.safety.files import ignore_all
from review_advisor.safety.stop import Stop
from review_advisor.safety.wording import printable_line

RECORDINGS = ".recordings"
"""Begins with a dot: ``actions/upload-artifact`` leaves such folders out unless the workflow asks for them."""


_NAME = re.compile(r"run_[0-9A-Za-z_]+\.jsonl")


MOST_BYTES = 200_000_000
"""Of one recording."""


@dataclass(frozen=True, slots=True)
class KeptRecordings:
    """How many recordings there are, and their bytes. ``others_may_read``: the folder is open to other users."""

    recordings: int
    size: int
    others_may_read: bool


class RecordingFolder:
    """``<artefacts>/.recordings``, which only its owner can open. Files that are no recordings are left alone."""

    def __init__(self, artifacts: Path) -> None:
        self.path = artifacts / RECORDINGS

    def kept(self) -> KeptRecordings:
        """What is there."""
        sizes = [facts.st_size for _, facts in self._recordings()]
        return KeptRecordings(len(sizes), sum(sizes), bool(sizes) and bool(self.path.stat().st_mode & 0o077))

    def read(self, run: str) -> bytes:
        """The recording of the run whose id begins so. Raises ``LookupError``, and ``OSError`` if it cannot be read."""
        found = [path for path, _ in self._recordings() if path.name.startswith(run)]
        exact = [path for path in found if path.stem == run]
        match exact or found:
            case [path]:
                descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
                with os.fdopen(descriptor, "rb") as file:
                    return file.read()
            case []:
                raise LookupError(f"No recording in {self.path} is of a run {run!r}.")
            case more:
                raise LookupError(f"{len(more)} recordings are of runs that begin with {run!r}: give more of the id.")

    def prune(self, now: datetime, days: int) -> int:
        """Delete what was last written more than ``days`` ago; how many recordings that were."""
        oldest = (now - timedelta(days=days)).timestamp()
        gone = 0
        for path, facts in list(self._recordings()):
            if facts.st_mtime < oldest:
                with suppress(OSError):
                    path.unlink()
                    gone += 1
        return gone

    def make(self) -> None:
        """Make the folder, for its owner only. Raises ``OSError``."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self._is_linked():
            raise OSError(0, "it is a symbolic link")
        self.path.mkdir(mode=0o700, exist_ok=True)
        self.path.chmod(0o700)
        ignore_all(self.path)

    def _is_linked(self) -> bool:
        return self.path.is_symlink() or self.path.parent.is_symlink()

    def _recordings(self) -> Iterator[tuple[Path, os.stat_result]]:
        if self._is_linked():
            return
        try:
            paths = sorted(self.path.iterdir())
        except OSError:
            return
        for path in paths:
            with suppress(OSError):
                facts = path.lstat()
                if _NAME.fullmatch(path.name) and stat.S_ISREG(facts.st_mode):
                    yield path, facts


class RecordingFile:
    """The recording of one run, line by line. Whatever goes wrong is one sentence to ``warn``; no more is recorded."""

    def __init__(self, folder: RecordingFolder, run_id: str, warn: Callable[[str], None]) -> None:
        self._path = folder.path / f"{run_id}.jsonl"
        self._warn = warn
        self._lock = threading.Lock()
        self._lines = 0
        self._descriptor: int | None = None
        try:
            folder.make()
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            self._descriptor = os.open(self._path, flags, 0o600)
        except OSError as error:
            self._give_up(error)

    @property
    def is_open(self) -> bool:
        """Whether lines are still recorded."""
        return self._descriptor is not None

    def add(self, line: bytes) -> None:
        """Write a line, whole or not at all."""
        with self._lock:
            if self._descriptor is None:
                return
            before = os.lseek(self._descriptor, 0, os.SEEK_CUR)
            try:
                _write_all(self._descriptor, line, MOST_BYTES - before)
                self._lines += 1
            except OSError as error:
                with suppress(OSError):
                    os.ftruncate(self._descriptor, before)
                self.close()
                self._give_up(error)

    def close(self) -> None:
        """Close the file. One without a line is removed."""
        if self._descriptor is None:
            return
        os.close(self._descriptor)
        self._descriptor = None
        if not self._lines:
            with suppress(OSError):
                self._path.unlink()

    def _give_up(self, error: OSError) -> None:
        first = "call is" if self._lines == 1 else "calls are"
        had = f"Only its first {self._lines} {first}" if self._lines else "Nothing is"
        self._warn(f"This run cannot be recorded in {self._path.parent}: {error.strerror}. {had} recorded.")


def _write_all(descriptor: int, line: bytes, room: int) -> None:
    if len(line) > room:
        raise OSError(errno.EFBIG, "It would grow too large")
    rest = memoryview(line)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


_DIGEST = "sha256"


_OF_CALL = {"instance": "shard", "sequence": "number"}
"""Where a call calls it otherwise."""


@dataclass(frozen=True, slots=True)
class CallIdentity:
    """Which call of a run it is.

    ``instance`` is the part of the change, ``sequence`` the call's number within the run.
    """

    surface: Surface
    role: Role
    advisor: str
    instance: int
    sequence: int
    attempt: int
    asks_again: int
    further_try: int
    blind: bool


@dataclass(frozen=True, slots=True)
class QuestionDigest:
    """What a call asked. Two calls with equal digests asked the same question of the same model.

    The digests leave out the names of the run, so that two runs can have equal questions.
    """

    model: str
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
    return QuestionDigest(call.model, *map(_sha256, texts))


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


MOST_STREAM_BYTES = 8_000_000
"""Of one call's output. What is longer is cut, and the recording says so."""


class CliOutput:
    """What the CLI writes in each call under way, without the pieces of messages that it repeats whole."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: dict[int, list[str]] = {}
        self._room: dict[int, int] = {}

    def hear(self, call: AgentCall, line: bytes) -> None:
        """Take one line of a call. A secret may be cut between two pieces of a message, so no piece is kept."""
        if _is_piece(line):
            return
        with self._lock:
            lines, room = self._lines.setdefault(call.number, []), self._room.get(call.number, MOST_STREAM_BYTES)
            if 0 <= room < len(line):
                lines.append("[the rest is not recorded: the output is too long]")
            elif room >= 0:
                lines.append(line.decode("utf-8", "replace"))
            self._room[call.number] = room - len(line)

    def take(self, number: int) -> tuple[str, ...]:
        """All lines of the call with that number, which is over."""
        with self._lock:
            self._room.pop(number, None)
            return tuple(self._lines.pop(number, ()))


@dataclass(frozen=True, slots=True)
class RecordedAgents:
    """``agents`` whose calls are written to ``file`` once they are over, without secrets, also those that stop a run.

    With ``output`` everything is recorded: prompts, replies, and what the CLI wrote. Otherwise only replies and
    digests of the questions are.
    """

    agents: Agents
    file: RecordingFile
    names: RunNames
    redactor: Redactor
    now: Callable[[], datetime]
    output: CliOutput | None = None

    def run(self, call: AgentCall, consults: Consults | None = None) -> Answered | Lost:
        """The reply of the agents. Raises what they raise."""
        try:
            reply = self.agents.run(call, consults)
        except Stop as stop:
            self._record(call, stop)
            raise
        self._record(call, reply)
        return reply

    def check_interrupt(self) -> None:
        """As the agents do."""
        self.agents.check_interrupt()

    def end_running(self) -> None:
        """As the agents do."""
        self.agents.end_running()

    def _record(self, call: AgentCall, reply: Answered | Lost | Stop) -> None:
        stream = None if self.output is None else self.output.take(call.number)
        told = recorded_call(call, reply, self.names, self.redactor, self.now(), stream=stream)
        self.file.add(recording_line(told))


def _is_piece(line: bytes) -> bool:
    try:
        event = read_json(line)
    except ValueError:
        return False
    return isinstance(event, dict) and event.get("type") == "stream_event"


@dataclass(frozen=True, slots=True)
class WantedQuestion:
    """One question without a kept answer: its role, its model, and about how many characters it has, at least."""

    role: Role
    model: str
    characters: int
    day: date


@dataclass(frozen=True, slots=True)
class Unknown:
    """What the events of a review cannot tell, and the questions whose answers would."""

    why: str
    questions: tuple[WantedQuestion, ...] = ()


class WouldAsk(Exception):  # noqa: N818 (what is found, and no error)
    """A question would have been asked to which the events have no answer; its words say which."""

    def __init__(self, why: str, questions: Iterable[WantedQuestion] = ()) -> None:
        super().__init__(why)
        self.unknown = Unknown(why, tuple(questions))


_Asked = tuple[str, QuestionDigest]


class RecordingAgents:
    """The replies of ``calls``, each for the advisor and the question that it was recorded for; asked again, the next.

    ``names`` are those of the review that asks now. Raises ``WouldAsk`` for any other question.
    """

    def __init__(
        self, calls: Iterable[RecordedCall], names: RunNames, redactor: Redactor, today: Callable[[], date]
    ) -> None:
        self._names = names
        self._redactor = redactor
        self._today = today
        self._kept: dict[_Asked, deque[RecordedCall]] = defaultdict(deque)
        for each in calls:
            self._kept[each.identity.advisor, each.question].append(each)

    def run(self, call: AgentCall, consults: Consults | None = None) -> Answered | Lost:
        """The recorded reply."""
        question = question_digest(redacted_call(call, self._redactor), self._names)
        kept = self._kept[call.advisor, question]
        if not kept or isinstance(kept[0].reply, Stopped):
            what = f"{call.role.value} of {call.surface.value}"
            raise self._would_ask(call, f"{what} would have been asked what is not recorded")
        reply = renamed(kept.popleft().reply, self._names.put_in)  # type: ignore[arg-type]
        self._count(call, reply, consults)
        return reply

    def check_interrupt(self) -> None:
        """Nothing runs that could be interrupted."""

    def end_running(self) -> None:
        """Nothing runs."""

    def _count(self, call: AgentCall, reply: Answered | Lost, consults: Consults | None) -> None:
        """The consults of the reply, under the cap of this review, which has to allow what was allowed."""
        for each in reply.receipt.consults:
            leave = None if consults is None else consults.ask(each.tool_use_id, each.question, each.advisor)
            if isinstance(leave, Granted) is not (each.status != "denied"):
                raise self._would_ask(call, "another cap of consults would have led to another answer")
            if consults is not None and each.status != "denied":
                told = ConsultReply(
                    each.status == "answered",
                    each.reply,
                    each.reason,
                    each.resolved_model,
                    each.tokens,
                    each.duration_ms,
                )
                consults.settle(each.tool_use_id, told)

    def _would_ask(self, call: AgentCall, why: str) -> WouldAsk:
        characters = len(call.prompt) + len(call.system_prompt)
        return WouldAsk(why, [WantedQuestion(call.role, call.model, characters, self._today())])
