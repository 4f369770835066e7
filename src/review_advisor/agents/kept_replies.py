"""Replies kept on disk before use, so that a killed review pays for none twice."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import shutil
import stat
import tempfile
import threading
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from review_advisor.agents.answers import answer_schema
from review_advisor.agents.calls import AgentCall, Agents, Answered, Consults, Lost, LostReason, TreeChangedError
from review_advisor.agents.replies import checked_reply
from review_advisor.change.change import Change
from review_advisor.change.redaction import Redactor
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.safety.fence import legible
from review_advisor.safety.files import ignore_all
from review_advisor.safety.interruption import INTERRUPTION
from review_advisor.safety.stop import ConsultRecord

_FACTS: TypeAdapter[object] = TypeAdapter(object)


_NONCE, _RUN = "\0nonce\0", "\0run\0"
"""No prompt holds a NUL of its own, and no reply: the fence and ``legible`` show it as an escape."""


_CRASHES = frozenset({LostReason.CRASH, LostReason.CRASHED_AGAIN, LostReason.CRASHED_AT_WORK})


@dataclass(frozen=True, slots=True)
class RunNames:
    """What only one run is called. Answers are kept without it, so that the next run can take them for its own."""

    run_id: str
    nonce: str

    def taken_out(self, text: str) -> str:
        """``text`` as every run of this review has it."""
        return text.replace(self.nonce, _NONCE).replace(self.run_id, _RUN)

    def put_in(self, text: str) -> str:
        """The inverse."""
        return text.replace(_NONCE, self.nonce).replace(_RUN, self.run_id)


@dataclass(frozen=True, slots=True)
class ReviewIdentity:
    """What makes two runs runs of one review: the change by its label, and a ``key`` of 64 hex digits for all of it."""

    label: str
    key: str


ANSWERS_FOR = timedelta(hours=1)
"""So long a review that is over answers for itself when it is started again."""


@dataclass(frozen=True, slots=True)
class Concluded:
    """That a review has come to its end, when, and in which run."""

    at: datetime
    run_id: str

    def answers_at(self, now: datetime) -> bool:
        """Whether its replies still count. Of an end that is yet to come, by a clock that was wrong, they do not."""
        return timedelta(0) <= now - self.at < ANSWERS_FOR


@dataclass(frozen=True, slots=True)
class EditedFile:
    """What an executor left in the place of one file of its copy; ``base64`` is None for a file that it deleted."""

    path: str
    mode: int
    base64: str | None


@dataclass(frozen=True, slots=True)
class KeptReply:
    """One reply as it is kept; ``number`` counts the replies of a review in the order in which they came.

    ``usable``: it is an answer that fits its schema. ``edits`` are what the executor did to its copy of the tree.
    ``paid_by`` is the run that was given it first.
    """

    number: int
    paid_by: str
    surface: Surface
    role: Role
    shard: int
    usable: bool
    reply: Answered | Lost
    edits: tuple[EditedFile, ...]
    advisor: str
    attempt: int


def review_identity(change: Change, *under: object) -> ReviewIdentity:
    """The review of ``change`` under everything that it goes by."""
    about = replace(change, files=(), earlier=None)  # trees and prompts tell what these say
    return ReviewIdentity(change.label, _digest((about, *under)))


def answer_key(call: AgentCall, names: RunNames, evidence: str) -> str:
    """Everything that is asked, as 64 hex digits: the same question of two runs of one review has the same key.

    ``evidence`` stands for what the call's tree holds. Money and time are no part of the question.
    """
    grant = call.consults
    advisor = () if grant is None else (grant.subagent_type, grant.advisor_model, grant.advisor_prompt, *grant.others)
    edits = None if call.edits is None else call.edits.denied
    leave = (edits, call.withheld.edits, call.withheld.consults is not None)
    asked = (call.role, call.advisor, call.surface, call.attempt, call.shard, call.blind, call.model, advisor, leave)
    words = (names.taken_out(call.system_prompt), names.taken_out(call.prompt), answer_schema(call.answer))
    return _digest((asked, words, call.tree is not None, evidence, call.further_try))


def renamed(reply: Answered | Lost, change: Callable[[str], str]) -> Answered | Lost:
    """``reply`` with every text in it changed: one run's names are taken out of it, or another's put in."""

    def other(value: Any) -> Any:
        if isinstance(value, str):
            return change(value)
        if isinstance(value, dict):
            return {other(key): other(inner) for key, inner in value.items()}
        return [other(inner) for inner in value] if isinstance(value, list | tuple) else value

    consults = tuple(
        replace(each, question=other(each.question), reply=other(each.reply), reason=other(each.reason))
        for each in reply.receipt.consults
    )
    receipt = replace(reply.receipt, consults=consults)
    said = tuple(other(each) for each in reply.said)
    if isinstance(reply, Answered):
        return Answered(other(reply.value), receipt, said)
    return replace(reply, detail=other(reply.detail), receipt=receipt, said=said)


def crashed(reply: Answered | Lost) -> bool:
    """Whether the CLI crashed on the question."""
    return isinstance(reply, Lost) and reply.reason in _CRASHES


def on_asking_again(reply: Answered | Lost, *, crashed_before: bool) -> Answered | Lost:
    """``reply`` to a question that an earlier run may have asked: the second crash on one may be the change's doing."""
    if crashed_before and isinstance(reply, Lost) and reply.reason is LostReason.CRASH:
        return replace(reply, reason=LostReason.CRASHED_AGAIN)
    return reply


def to_forget(kept: Iterable[KeptReply]) -> tuple[KeptReply, ...]:
    """What a review that has stopped must not hear again when it is started again.

    A reply that was of no use is asked for anew, unless an answer was built on it: one of the same part, or after
    a plan that did not come any of the same surface. That answer would be paid for twice. Two advisors who are asked
    side by side, in one role and attempt, build on one another in nothing.
    """
    replies = sorted(kept, key=lambda reply: reply.number)
    return tuple(
        reply
        for place, reply in enumerate(replies)
        if not reply.usable and not any(_builds_on(reply, later) for later in replies[place + 1 :])
    )


def _builds_on(reply: KeptReply, later: KeptReply) -> bool:
    same_part = reply.role is Role.PRE_FLIGHT or reply.shard == later.shard
    beside = (reply.role, reply.attempt) == (later.role, later.attempt) and reply.advisor != later.advisor
    return later.usable and later.surface is reply.surface and same_part and not beside


def _digest(facts: object) -> str:
    text = json.dumps(_FACTS.dump_python(facts, mode="json"), sort_keys=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


MOST_FILES = 200


MOST_BYTES = 5_000_000


DEEPEST = 100


Seen = Mapping[str, os.stat_result]
"""Every file below a folder, by its path."""


def seen(folder: Path) -> Seen:
    """What lies below ``folder``. No link is followed."""
    return dict(entries(folder))


def entries(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """The same, one file at a time."""
    ahead = [folder]
    while ahead:
        with os.scandir(ahead.pop()) as listed:
            for entry in listed:
                if entry.is_dir(follow_symlinks=False):
                    ahead.append(Path(entry.path))
                else:
                    yield str(Path(entry.path).relative_to(folder)), entry.stat(follow_symlinks=False)


def edited(folder: Path, before: Seen) -> tuple[EditedFile, ...] | None:
    """What differs below ``folder`` from what was there; None for edits that cannot be kept whole.

    These are more, larger or deeper ones than any repair may have, names that cannot be printed, and no plain files.
    """
    try:
        return _edited(folder, before, seen(folder))
    except OSError:  # what cannot be read is no plain file either
        return None


def _edited(folder: Path, before: Seen, after: Seen) -> tuple[EditedFile, ...] | None:
    changed = [path for path, facts in after.items() if path not in before or _differs(before[path], facts)]
    if len(changed) > MOST_FILES or sum(after[path].st_size for path in changed) > MOST_BYTES:
        return None
    if any(path.count(os.sep) > DEEPEST for path in changed):
        return None
    if not all(
        stat.S_ISREG(after[path].st_mode) and after[path].st_nlink == 1 and path.isprintable() for path in changed
    ):
        return None
    gone = [EditedFile(path, 0, None) for path in before if path not in after]
    kept = [
        EditedFile(path, stat.S_IMODE(after[path].st_mode), b64encode((folder / path).read_bytes()).decode("ascii"))
        for path in changed
    ]
    return (*gone, *kept)


def edit(folder: Path, edits: tuple[EditedFile, ...]) -> None:
    """Do the same in another copy of the same tree. Raises ``OSError``."""
    for each in edits:
        path = folder / each.path
        if each.base64 is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b64decode(each.base64))
            path.chmod(each.mode)


def _differs(before: os.stat_result, after: os.stat_result) -> bool:
    """The time of the last change of a file cannot be set back, as that of its last writing can."""
    return (before.st_ino, before.st_size, before.st_mode, before.st_ctime_ns) != (
        *(after.st_ino, after.st_size, after.st_mode, after.st_ctime_ns),
    )


_BYTES = 16


class ReadOnlyTrees:
    """``agents`` whose calls leave the exported tree as it is, unless they have leave to edit.

    Later calls read the same tree: after a difference nothing that they say about it counts, so the review stops.
    """

    def __init__(self, agents: Agents) -> None:
        self._agents = agents

    def run(self, call: AgentCall, consults: Consults | None = None) -> Answered | Lost:
        """The reply of the agents. Raises what they raise, and ``TreeChangedError``."""
        if call.tree is None or call.edits is not None:
            return self._agents.run(call, consults)
        before = _tree_digest(call.tree)
        if before is None:
            raise TreeChangedError("The tree under review cannot be read, so changes of it would not be noticed.")
        reply = self._agents.run(call, consults)
        after = _tree_digest(call.tree)
        if after is None:
            raise TreeChangedError("The tree under review cannot be read after a call.", reply.receipt)
        if after != before:
            raise TreeChangedError(
                "The tree under review changed during a call without leave to edit it.", reply.receipt
            )
        return reply

    def check_interrupt(self) -> None:
        """As the agents do."""
        self._agents.check_interrupt()

    def end_running(self) -> None:
        """As the agents do."""
        self._agents.end_running()


def _tree_digest(folder: Path) -> int | None:
    """What stands for everything below ``folder``, in whatever order the disk lists it; None if it cannot be read.

    A file's content is told by the time of its last change, which cannot be set back.
    """
    total = 0
    try:
        for path, facts in entries(folder):
            told = repr((path, facts.st_ino, facts.st_size, facts.st_mode, facts.st_ctime_ns))
            digest = hashlib.blake2b(told.encode("utf-8", "surrogateescape"), digest_size=_BYTES)
            total += int.from_bytes(digest.digest(), "big")
    except OSError:
        return None
    return total


_VALUES: TypeAdapter[object] = TypeAdapter(object)
"""Writes any value; the adapter of replies, which is slow to make, is needed only to read one."""


_PURPOSE = b"review-advisor: kept replies, first layout"


_MOST_BYTES = 50_000_000


_ENDING = ".reply"


_CONCLUDED = "review.concluded"


_SPENT = "-spent-"
"""In the name of a reply that is asked for again: no question has such a key."""


@cache
def _reader() -> TypeAdapter[KeptReply]:
    return TypeAdapter(KeptReply)


class ReplyStore:
    """What an earlier run of the same review was answered, and what this one is.

    ``root`` holds a folder for each review. ``secret`` is known to whoever pays for the answers, and to nobody else: a
    file that was not signed with it is no reply, whoever put it there. ``fresh``: what was kept does not count.
    Whatever goes wrong is one sentence to ``warn``; replies are then no longer kept, and the review goes on.
    """

    def __init__(
        self,
        root: Path,
        review: ReviewIdentity,
        secret: bytes,
        warn: Callable[[str], None],
        *,
        fresh: bool = False,
    ) -> None:
        self._root = root
        self._label = review.label
        self._folder = root / f"{review.label}-{review.key[:16]}"
        self._signing = hmac.digest(secret, _PURPOSE + review.key.encode("ascii"), hashlib.sha256)
        self._warn = warn
        self._lock = threading.Lock()
        self._given_up = False
        self._began = datetime.now(UTC)
        self._replies: dict[str, KeptReply] = {}
        self._read()
        self.concluded = self._concluded()
        if fresh or (self.concluded is not None and not self.concluded.answers_at(self._began)):
            self._forget()
        self.inherited_end = self.concluded
        self._inherited = tuple(self._replies.values())

    @property
    def inherited_consults(self) -> tuple[ConsultRecord, ...]:
        """The consults that earlier runs of this review were answered: they count towards its cap."""
        return tuple(record for kept in self._inherited for record in kept.reply.receipt.consults)

    def find(self, key: str) -> KeptReply | None:
        """The reply to the question with that key."""
        return self._replies.get(key)

    def crashed_before(self, key: str) -> bool:
        """Whether an earlier run asked the question with that key, and the CLI crashed on it."""
        return any(
            _SPENT in name and name.startswith(key) and crashed(kept.reply) for name, kept in self._replies.items()
        )

    def next_number(self) -> int:
        """The number of the next reply."""
        return 1 + max((reply.number for reply in self._replies.values()), default=0)

    def keep(self, key: str, reply: KeptReply) -> None:
        """Store a reply; when this returns it is on disk, unless that was said to be impossible."""
        with self._lock:
            self._replies[key] = reply
            if self._given_up:
                return
            try:
                self._write(key, _VALUES.dump_json(reply))
            except OSError as error:
                self._give_up(error)

    def forget_useless(self) -> None:
        """The review has stopped: what was of no use is asked for again when it is started again.

        The consults in it were had, and go on counting towards the cap. That the CLI crashed is remembered as well.
        """
        self._ask_again(to_forget(self._usable().values()))

    def forget_all(self) -> None:
        """A bug has ended the review, and any of the answers may have led to it: all are asked for again.

        The consults in them go on counting as well.
        """
        self._ask_again(self._usable().values())

    def _usable(self) -> dict[str, KeptReply]:
        return {key: reply for key, reply in self._replies.items() if _SPENT not in key}

    def _ask_again(self, forgotten: Collection[KeptReply]) -> None:
        for key, reply in self._usable().items():
            if reply not in forgotten:
                continue
            with suppress(OSError):
                if reply.reply.receipt.consults or crashed(reply.reply):
                    self._write(f"{key}{_SPENT}{reply.number}", _VALUES.dump_json(reply))
                self._file(key).unlink(missing_ok=True)

    def conclude(self, run_id: str) -> None:
        """The review is over. For a while it answers for itself; only what was of no use is asked for again.

        Nothing is kept of earlier reviews of the same change, nor of any that ended too long ago to answer. What was
        kept since this one began belongs to a review that may be under way.
        """
        self.forget_useless()
        if self.concluded is None and self._usable():
            self.concluded = Concluded(datetime.now(UTC), run_id)
            try:
                body = _VALUES.dump_json((self.concluded.at.timestamp(), run_id))
                self._write_signed(self._folder / _CONCLUDED, body)
            except OSError:  # without the moment of its end nothing of it may be heard again
                self._forget()
        for folder in self._root.glob("*-" + "[0-9a-f]" * 16):
            if folder != self._folder and self._is_left(folder):
                shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # replies are there
            self._root.rmdir()

    def _is_left(self, folder: Path) -> bool:
        is_same_change = folder.name[:-17] == self._label
        try:
            if is_same_change and all(path.lstat().st_mtime < self._began.timestamp() for path in folder.iterdir()):
                return True
            ended = datetime.fromtimestamp((folder / _CONCLUDED).lstat().st_mtime, UTC)
        except OSError:
            return False
        return not Concluded(ended, "").answers_at(self._began)

    def _forget(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._replies.clear()
        self.concluded = None

    def _concluded(self) -> Concluded | None:
        """The end of the review; where that cannot be read, one that is too long ago."""
        path = self._folder / _CONCLUDED
        if not os.path.lexists(path):
            return None
        body = self._signed_in(path)
        with suppress(ValidationError):
            if body is not None:
                at, run_id = TypeAdapter(tuple[float, str]).validate_json(body)
                return Concluded(datetime.fromtimestamp(at, UTC), run_id)
        return Concluded(datetime.fromtimestamp(0, UTC), "")

    def _file(self, key: str) -> Path:
        return self._folder / (key + _ENDING)

    def _read(self) -> None:
        strangers = 0
        try:
            self._refuse_links()
            for path in sorted(self._folder.glob("*" + _ENDING)):
                reply = self._reply_in(path)
                if reply is None:
                    strangers += 1
                else:
                    self._replies[path.stem] = reply
        except OSError as error:
            self._give_up(error)
        if strangers:
            self._warn(f"{strangers} of the kept answers in {self._folder} were not kept by us: they are not used.")

    def _reply_in(self, path: Path) -> KeptReply | None:
        body = self._signed_in(path)
        if body is None:
            return None
        try:
            return _reader().validate_json(body)
        except ValidationError:
            return None

    def _signed_in(self, path: Path) -> bytes | None:
        """What a file holds that we have signed under this name."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(descriptor, "rb") as file:
                signature, _, body = file.read(_MOST_BYTES + 1).partition(b"\n")
        except OSError:  # a link, a folder: nothing that we have written
            return None
        if len(body) > _MOST_BYTES or not hmac.compare_digest(signature, self._signature(path.stem, body)):
            return None
        return body

    def _write(self, key: str, body: bytes) -> None:
        self._write_signed(self._file(key), body)

    def _write_signed(self, path: Path, body: bytes) -> None:
        self._refuse_links()
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        ignore_all(self._folder)
        descriptor, temporary = tempfile.mkstemp(dir=self._folder)  # for its owner only
        with INTERRUPTION.unfinished(Path(temporary)):
            with os.fdopen(descriptor, "wb") as file:
                file.write(self._signature(path.stem, body) + b"\n" + body)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(path)

    def _signature(self, key: str, body: bytes) -> bytes:
        return (
            hmac.digest(self._signing, key.encode("utf-8", "surrogateescape") + b"\n" + body, hashlib.sha256)
            .hex()
            .encode("ascii")
        )

    def _refuse_links(self) -> None:
        for folder in (self._root, self._folder):
            if folder.is_symlink():
                raise OSError(0, f"{folder} is a symbolic link")

    def _give_up(self, error: OSError) -> None:
        self._given_up = True
        self._warn(f"Answers cannot be kept in {self._folder}: {error.strerror}. A killed review would pay them again.")


class RememberingAgents:
    """``agents`` for one review, behind its kept replies.

    A question that is answered there costs nothing, and its reply is what it was: answer, consults, what it cost, and
    the edits in its copy of the tree. Any other is asked, and its reply is on disk before this returns. A call that
    was ended because the review could not go on is no reply. Replies are kept without secrets, as ``redactor`` knows
    them.
    """

    def __init__(self, agents: Agents, store: ReplyStore, names: RunNames, redactor: Redactor) -> None:
        self._agents = agents
        self._store = store
        self._names = names
        self._redactor = redactor
        self._ending = False

    def run(self, call: AgentCall, consults: Consults | None = None) -> Answered | Lost:
        """The kept reply, or that of the agents. Raises what they raise."""
        key = answer_key(call, self._names, _evidence(call))
        kept = self._store.find(key)
        if kept is not None:
            return self._again(kept, call)
        before = seen(call.tree) if call.edits is not None and call.tree is not None else None
        reply = self._redactor.everywhere(legible(self._agents.run(call, consults)))
        reply = replace(reply, receipt=replace(reply.receipt, reply=key))
        reply = on_asking_again(reply, crashed_before=self._store.crashed_before(key))
        edits = self._edits(call, before)
        if edits is not None and (isinstance(reply, Answered) or not self._ending):
            self._keep(key, call, reply, edits)
        return reply

    def check_interrupt(self) -> None:
        """As the agents do."""
        self._agents.check_interrupt()

    def end_running(self) -> None:
        """As the agents do."""
        self._ending = True
        self._agents.end_running()

    def _again(self, kept: KeptReply, call: AgentCall) -> Answered | Lost:
        if call.tree is not None:
            try:
                edit(call.tree, kept.edits)
            except OSError as error:
                return Lost(LostReason.CRASH, f"The edits of a kept answer cannot be made again: {error.strerror}.")
        reply = renamed(kept.reply, self._names.put_in)
        return replace(reply, receipt=replace(reply.receipt, kept=True, paid_by=kept.paid_by))

    def _keep(self, key: str, call: AgentCall, reply: Answered | Lost, edits: tuple[EditedFile, ...]) -> None:
        usable = not isinstance(checked_reply(call.answer, reply).answer, Lost)
        number = self._store.next_number()
        bare = renamed(reply, self._names.taken_out)
        self._store.keep(
            key,
            KeptReply(
                number=number,
                paid_by=self._names.run_id,
                surface=call.surface,
                role=call.role,
                shard=call.shard,
                usable=usable,
                reply=bare,
                edits=edits,
                advisor=call.advisor,
                attempt=call.attempt,
            ),
        )

    def _edits(self, call: AgentCall, before: Seen | None) -> tuple[EditedFile, ...] | None:
        if before is None or call.tree is None:
            return ()
        return edited(call.tree, before)


def _evidence(call: AgentCall) -> str:
    """What the call's tree holds: by the name that the call gives it, or else by looking at every file."""
    if call.evidence or call.tree is None:
        return call.evidence
    digest = hashlib.sha256()
    for path in sorted(each for each in call.tree.rglob("*") if each.is_file()):
        digest.update(hashlib.sha256(str(path.relative_to(call.tree)).encode("utf-8", "surrogateescape")).digest())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
