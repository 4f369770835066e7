"""What a killed run leaves behind, and how the next run clears it away."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from review_advisor.safety.children import PROC, clear_away, folder_of, kill_marked, own_name, process
from review_advisor.safety.interruption import INTERRUPTION

_ENDING = ".owner"
_KEY_BYTES = 32
_MOST_BYTES = 4_096


@dataclass(frozen=True, slots=True)
class Owner:
    """A process that has children or temporary folders. Without /proc nothing is known of ``started`` and below."""

    name: str
    uid: int
    pid: int
    temporary: str
    started: int
    boot: str
    namespace: int

    @property
    def is_dead(self) -> bool:
        """Whether it has ended. A later process may have its number."""
        if self.started:
            found = process(self.pid)
            return found is None or found.started != self.started
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            pass
        return False


def sign_in(environ: Mapping[str, str], warn: Callable[[str], None]) -> None:
    """Sign for what this process is about to make, and clear away what dead ones have left.

    Whatever goes wrong is one sentence to ``warn``: the command runs without it.
    """
    try:
        folder = private_folder(environ)
        mine = folder / f"{own_name()}{_ENDING}"
        write_private(mine, _signed(_key(folder), this_owner()), 0o600)
        INTERRUPTION.at_the_end(lambda: _sign_out(mine))
        clear_after_the_dead(folder, warn)
    except OSError as error:
        where = f" ({os.fsdecode(error.filename)})" if error.filename else ""
        warn(f"If this run is killed, what it leaves is not removed: {error.strerror}{where}.")


def clear_after_the_dead(folder: Path, warn: Callable[[str], None]) -> None:
    """End the children of dead owners and remove their temporary folders. Raises ``OSError``."""
    key = _key(folder)
    strangers = 0
    for path in sorted(folder.glob(f"*{_ENDING}")):
        owner = _read(path, key)
        if owner is None:
            strangers += path.is_symlink() or path.exists()  # another run may have cleared it away
        elif _is_of_this_machine(owner) and owner.is_dead:
            _clear_after(owner)
            if not os.path.lexists(Path(owner.temporary) / folder_of(owner.name).name):
                path.unlink(missing_ok=True)
    if strangers:
        warn(f"{strangers} of the files in {folder} were not signed by a run of yours: they are not acted on.")


def private_folder(environ: Mapping[str, str]) -> Path:
    """Where the owners' files lie: the user's folder for what runs or, without one, a folder for temporary files.

    Raises ``OSError`` if that belongs to somebody else or is open to others.
    """
    given = environ.get("XDG_RUNTIME_DIR", "")
    base = Path(given) if Path(given).is_absolute() and is_private(Path(given)) else None
    folder = base / "review-advisor" if base else Path(tempfile.gettempdir()) / f"review-advisor-{os.getuid()}"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    if not is_private(folder):
        raise PermissionError(0, "the folder for that is not private to you", str(folder))
    return folder


def this_owner() -> Owner:
    """This process."""
    own = process(os.getpid())
    started, boot, namespace = 0, "", 0
    if own is not None:
        started, namespace = own.started, (PROC / "self" / "ns" / "pid").stat().st_ino
        boot = (PROC / "sys" / "kernel" / "random" / "boot_id").read_text(encoding="ascii").strip()
    return Owner(own_name(), os.getuid(), os.getpid(), tempfile.gettempdir(), started, boot, namespace)


def _is_of_this_machine(owner: Owner) -> bool:
    """Another container may share the folder, and its processes are not seen from here."""
    own = this_owner()
    return (owner.uid, owner.namespace, bool(owner.started)) == (own.uid, own.namespace, bool(own.started))


def _clear_after(owner: Owner) -> None:
    """After a restart of the machine no child is left. Folders are removed only below the present temporary folder."""
    own = this_owner()
    if owner.started and owner.boot == own.boot:
        kill_marked(owner.name, owner.started)
    if owner.temporary == own.temporary:
        clear_away(owner.name)


def _sign_out(mine: Path) -> None:
    """Remove this process's file, unless something is left for the next run to clear away."""
    if not os.path.lexists(folder_of(own_name())):
        mine.unlink(missing_ok=True)


# --- signing ----------------------------------------------------------------------------------------------------------


def _key(folder: Path) -> bytes:
    """The key of this user, made when it is needed first."""
    path = folder / "key"
    if not os.path.lexists(path):
        write_private(path, secrets.token_bytes(_KEY_BYTES), 0o600, keep=True)
    key = private_content(path)
    if key is None or len(key) != _KEY_BYTES:
        raise PermissionError(0, "the key is not private to you, or no key", str(path))
    return key


def _signed(key: bytes, owner: Owner) -> bytes:
    body = json.dumps(asdict(owner), sort_keys=True).encode("ascii")
    return hmac.digest(key, body, hashlib.sha256).hex().encode("ascii") + b"\n" + body


def _read(path: Path, key: bytes) -> Owner | None:
    """The owner whose file this is; None unless it was signed, as a whole and under this name."""
    signature, _, body = (private_content(path) or b"").partition(b"\n")
    if not hmac.compare_digest(signature, hmac.digest(key, body, hashlib.sha256).hex().encode("ascii")):
        return None
    try:
        owner = Owner(**json.loads(body))
        folder_of(owner.name)
    except (ValueError, TypeError):
        return None
    return owner if path.name == f"{owner.name}{_ENDING}" else None


def private_content(path: Path) -> bytes | None:
    """A small file that is private to this user; None for anything else."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.getuid() or facts.st_mode & 0o077:
                return None
            return file.read(_MOST_BYTES)
    except OSError:
        return None


def write_private(path: Path, content: bytes, mode: int, *, keep: bool = False) -> None:
    """Write a file whole or not at all. ``keep`` what another process has put there meanwhile. Raises ``OSError``."""
    temporary = path.with_name(f".{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    with INTERRUPTION.unfinished(temporary):
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        if keep:
            with suppress(FileExistsError):
                os.link(temporary, path)
            temporary.unlink()
        else:
            temporary.replace(path)


def is_private(folder: Path) -> bool:
    """Whether this is a real folder of this user, closed to everybody else."""
    try:
        facts = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.getuid() and not facts.st_mode & 0o077
