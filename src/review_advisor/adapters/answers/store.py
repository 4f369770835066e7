"""The kept replies of one review: a private folder, one signed file a reply."""

from __future__ import annotations

import hashlib
import hmac
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from review_advisor.core.roles.calls import ConsultRecord, Lost, LostReason
from review_advisor.core.roles.kept import KeptReply, ReviewIdentity, to_forget
from review_advisor.lifetime.interruption import INTERRUPTION

_VALUES: TypeAdapter[object] = TypeAdapter(object)
"""Writes any value; the adapter of replies, which is slow to make, is needed only to read one."""
_PURPOSE = b"review-advisor: kept replies, first layout"
_MOST_BYTES = 50_000_000
_ENDING = ".reply"
_SPENT = "-spent-"
"""In the name of a reply that is asked for again: no question has such a key."""


@cache
def _reader() -> TypeAdapter[KeptReply]:
    return TypeAdapter(KeptReply)


def _crashed(kept: KeptReply) -> bool:
    return isinstance(kept.reply, Lost) and kept.reply.reason in (LostReason.CRASH, LostReason.CRASHED_AGAIN)


class ReplyStore:
    """What an earlier run of the same review was answered, and what this one is.

    ``root`` holds a folder for each review. ``secret`` is known to whoever pays for the answers, and to nobody else: a
    file that was not signed with it is no reply, whoever put it there.
    Whatever goes wrong is one sentence to ``warn``; replies are then no longer kept, and the review goes on.
    """

    def __init__(self, root: Path, review: ReviewIdentity, secret: bytes, warn: Callable[[str], None]) -> None:
        self._root = root
        self._label = review.label
        self._folder = root / f"{review.label}-{review.key[:16]}"
        self._signing = hmac.digest(secret, _PURPOSE + review.key.encode("ascii"), hashlib.sha256)
        self._warn = warn
        self._lock = threading.Lock()
        self._given_up = False
        self._began = time.time()
        self._replies: dict[str, KeptReply] = {}
        self._read()
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
        return any(_SPENT in name and name.startswith(key) and _crashed(kept) for name, kept in self._replies.items())

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
                if reply.reply.receipt.consults or _crashed(reply):
                    self._write(f"{key}{_SPENT}{reply.number}", _VALUES.dump_json(reply))
                self._file(key).unlink(missing_ok=True)

    def clear(self) -> None:
        """The review is over: nothing of it is kept, nor of earlier reviews of the same change.

        What was kept since this one began belongs to a review that may be under way.
        """
        for folder in self._root.glob(f"{self._label}-" + "[0-9a-f]" * 16):
            if folder == self._folder or self._is_older(folder):
                shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # another change's replies are there
            self._root.rmdir()

    def _is_older(self, folder: Path) -> bool:
        try:
            return all(path.lstat().st_mtime < self._began for path in folder.iterdir())
        except OSError:
            return False

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
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(descriptor, "rb") as file:
                signature, _, body = file.read(_MOST_BYTES + 1).partition(b"\n")
        except OSError:  # a link, a folder: nothing that we have written
            return None
        if len(body) > _MOST_BYTES or not hmac.compare_digest(signature, self._signature(path.stem, body)):
            return None
        try:
            return _reader().validate_json(body)
        except ValidationError:
            return None

    def _write(self, key: str, body: bytes) -> None:
        self._refuse_links()
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not (self._folder / ".gitignore").exists():
            (self._folder / ".gitignore").write_text("*\n", encoding="ascii")
        descriptor, temporary = tempfile.mkstemp(dir=self._folder)  # for its owner only
        with INTERRUPTION.unfinished(Path(temporary)):
            with os.fdopen(descriptor, "wb") as file:
                file.write(self._signature(key, body) + b"\n" + body)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(self._file(key))

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
