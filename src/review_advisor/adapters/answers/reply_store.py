"""The kept replies of one review: a private folder, one signed file a reply."""

from __future__ import annotations

import hashlib
import hmac
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from review_advisor.core.roles.calls import ConsultRecord
from review_advisor.core.roles.reply_cache import Concluded, KeptReply, ReviewIdentity, crashed, to_forget
from review_advisor.lifetime.ignored_folder import ignore_all
from review_advisor.lifetime.interruption import INTERRUPTION

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
