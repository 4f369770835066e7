"""Ledgers of many repositories, out of their artifacts."""

from __future__ import annotations

import io
import re
import sqlite3
import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal

from review_advisor.github.artifacts import LedgerArtifact, WorkflowRun
from review_advisor.ledger.chain import LARGEST_RUN, LEDGER_FILE, Chain, LedgerError
from review_advisor.ledger.chains import read_chains, repository_of, unpacked_sizes
from review_advisor.ledger.database import one_moment, open_to_read, open_to_write, sentences
from review_advisor.ledger.transfer import Folded, fold, fold_into
from review_advisor.safety.wording import counted, printable_line, table

OWN_WORKFLOW = ".github/workflows/review-advisor.yml"
"""Where ``init`` puts the bot's workflow."""


_FileOf = Literal["default branch", "run's branch", "queue", "change"]


_FILE_OF: dict[str, _FileOf] = {
    "pull_request_target": "default branch",  # whatever is the head, also in a fork
    "issue_comment": "run's branch",  # which is the default branch, of the repository itself
    "merge_group": "queue",
    "pull_request": "change",
    "pull_request_review": "change",
    "pull_request_review_comment": "change",
}
"""Whose workflow file runs on an event. Only the first two review anything in the shipped workflow."""


@dataclass(frozen=True, slots=True)
class Belief:
    """Whether a run's artifacts count, and why: words behind "because"."""

    believed: bool
    because: str


@dataclass(frozen=True, slots=True)
class Believing:
    """Whose runs count: those of the file ``workflow`` in the repository of this id, as ``branches`` have it.

    ``branches`` are the default branch, and what else is believed, such as a former name of it.
    """

    repository: int
    workflow: str
    branches: AbstractSet[str]

    def of(self, run: WorkflowRun) -> Belief:
        """Whether a run is believed."""
        doubt = self._doubt(run)
        return Belief(doubt is None, doubt or f"on {run.event} GitHub runs the file of a believed branch")

    def _doubt(self, run: WorkflowRun) -> str | None:
        """Why a run is not believed; None if it is."""
        path, _, ref = run.path.partition("@")
        branch = ref.removeprefix("refs/heads/")
        if run.repository != self.repository:
            return "it is a run of another repository"
        if path != self.workflow:
            return f"its workflow is {path}, not {self.workflow}"
        if branch and branch not in self.branches:
            return f"its workflow file is that of the branch {branch}"
        match _FILE_OF.get(run.event):
            case "default branch":
                return None
            case "run's branch":
                return self._doubt_of_branch(run)
            case "queue":
                return "its workflow file may be a queued change's, and it reviews nothing"
            case "change":
                return f"on {run.event} the change brings its own workflow file"
            case _:
                return f"the shipped workflow does not run on {run.event}"

    def _doubt_of_branch(self, run: WorkflowRun) -> str | None:
        if run.head_repository != self.repository:
            return "its commit is in another repository"
        return None if run.head_branch in self.branches else f"it ran on the branch {run.head_branch}"


@dataclass(frozen=True, slots=True)
class CollectedRepository:
    """What came of one repository.

    ``ledgers`` were fetched and taken in, ``known`` had been before. ``refused`` says of each other artifact why it was
    not taken, ``unbelieved`` why runs do not count, with how often; ``gaps`` is what is gone, ``silent`` what perhaps
    never was; ``trouble`` why the repository could not be read to its end.
    """

    repository: str
    ledgers: int = 0
    added: int = 0
    grown: int = 0
    present: int = 0
    refused: tuple[str, ...] = ()
    unbelieved: tuple[tuple[str, int], ...] = ()
    gaps: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    trouble: str = ""

    @property
    def whole(self) -> bool:
        """Whether nothing of the period is missing that could have been there."""
        return not (self.refused or self.gaps or self.trouble)

    def notes(self) -> Iterator[str]:
        """Everything that is not as it should be, a sentence each."""
        name = self.repository
        if self.trouble:
            yield f"{name}: {self.trouble}"
        yield from (f"{name}: not taken: {each}." for each in self.refused)
        yield from (f"{name}: {each}." for each in (*self.gaps, *self.silent))
        yield from (f"{name}: {counted(times, 'run')} not believed: {why}." for why, times in self.unbelieved)

    def as_json(self) -> dict[str, Any]:
        """Its fields."""
        return asdict(self) | {"unbelieved": dict(self.unbelieved), "whole": self.whole}


def collection_text(found: Iterable[CollectedRepository]) -> str:
    """A line for each repository, and one for all."""
    every = tuple(found)
    rows = [
        (printable_line(each.repository), str(each.ledgers), str(each.added + each.grown), _word(each))
        for each in every
    ]
    runs = sum(each.added + each.grown for each in every)
    partly = sum(not each.whole for each in every)
    told = "1 repository" if len(every) == 1 else f"{len(every):,} repositories"
    whole = f"{counted(runs, 'run')} added from {told}; {partly or 'none'} with something missing\n"
    return table([("repository", "ledgers", "runs", "state"), *rows]) + whole


def _word(found: CollectedRepository) -> str:
    if found.trouble:
        return "not read"
    return "whole" if found.whole else "something is missing"


LEDGER_ARTIFACT = "review-advisor-ledger-"
"""How the action calls the artifact with a run's ledger; the number of the attempt follows."""


MOST_ATTEMPTS = 100
"""A run may be started again so often that nobody would ask for each attempt's artifacts."""


_RETENTION = timedelta(days=90)
"""So long GitHub keeps artifacts where no artifact shows otherwise."""


_NOTHING_RAN = ("cancelled", "skipped", "action_required", "startup_failure")


@dataclass(frozen=True, slots=True)
class Shelf:
    """What is to be fetched, the oldest first; why runs are not believed, with how often; and what is gone, in words.

    ``gaps`` are of reviews, ``silent`` of runs that were well without a ledger: perhaps they reviewed nothing.
    """

    wanted: tuple[LedgerArtifact, ...] = ()
    unbelieved: tuple[tuple[str, int], ...] = ()
    gaps: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()


def attempts(runs: Iterable[WorkflowRun]) -> range:
    """Which attempts there are artifacts of."""
    return range(1, min(max((run.attempt for run in runs), default=0), MOST_ATTEMPTS) + 1)


def sort_artifacts(
    runs: Iterable[WorkflowRun],
    artifacts: Iterable[LedgerArtifact],
    believing: Believing,
    collected: Mapping[int, int],
    now: datetime,
) -> Shelf:
    """What of a period's runs to fetch: artifacts of believed runs that are over, and were not collected before.

    ``collected`` has the run of each artifact that was. An artifact that has expired is a gap, unless it was collected.
    So is a believed run without any artifact that began before what the repository still keeps, unless one of its was;
    of one that ended well nobody can tell.
    """
    unbelieved: Counter[str] = Counter()
    of_run: dict[int, list[LedgerArtifact]] = {}
    for each in artifacts:
        if each.run is not None and each.repository == believing.repository and _is_ledger(each.name):
            of_run.setdefault(each.run, []).append(each)
    kept_for = max((each.expires - each.made for its in of_run.values() for each in its if each.expires), default=None)
    known = frozenset(collected.values())
    wanted: list[LedgerArtifact] = []
    expired: list[datetime] = []
    forgotten: list[datetime] = []
    silent: list[datetime] = []
    for run in runs:
        belief = believing.of(run)
        if not belief.believed:
            unbelieved[belief.because] += 1
        elif run.status == "completed":
            its = of_run.get(run.id, [])
            left = [each for each in its if each.id not in collected]
            wanted += [each for each in left if not each.expired]
            expired += [each.made for each in left if each.expired]
            missing = not its and run.id not in known and run.conclusion not in _NOTHING_RAN
            if missing and run.begun < now - (kept_for or _RETENTION):
                (silent if run.conclusion == "success" else forgotten).append(run.begun)
    return Shelf(
        tuple(sorted({each.id: each for each in wanted}.values(), key=lambda each: (each.made, each.id))),
        tuple(sorted(unbelieved.items())),
        tuple(_gaps(expired, forgotten, kept_for or _RETENTION)),
        tuple(_too_old(silent, "successful run", kept_for or _RETENTION)),
    )


def _is_ledger(name: str) -> bool:
    return re.fullmatch(rf"{LEDGER_ARTIFACT}[0-9]{{1,4}}", name) is not None


def _gaps(expired: list[datetime], forgotten: list[datetime], kept_for: timedelta) -> Iterable[str]:
    if expired:
        yield f"{counted(len(expired), 'ledger')} expired before being collected{_between(expired)}"
    yield from _too_old(forgotten, "run", kept_for)


def _too_old(begun: list[datetime], what: str, kept_for: timedelta) -> Iterable[str]:
    if begun:
        kept = counted(kept_for.days, "day")
        yield f"{counted(len(begun), what)} older than what is kept ({kept}), with no ledger{_between(begun)}"


def _between(moments: list[datetime]) -> str:
    first, last = f"{min(moments):%Y-%m-%d}", f"{max(moments):%Y-%m-%d}"
    return f": {first}" if first == last else f": {first} to {last}"


MOST_PACKED = 64 * 1024**2
"""Bytes of the largest archive."""


MOST_UNPACKED = 256 * 1024**2
"""Bytes of all its files: four times the events of the largest run."""


MOST_RATIO = 200
"""An empty ledger, which is mostly zeros, unpacks to some forty times its archive; a bomb to a thousand times."""


_ALWAYS = 1024**2
"""So much may come out of the smallest archive."""


_NAME = LEDGER_FILE.rpartition("/")[2]


_LOG = f"{_NAME}-wal"


_TAKEN = (_NAME, _LOG)
"""What is written: the file, and what a killed run left beside it."""


_NAMES = frozenset({*_TAKEN, f"{_NAME}-shm"})


_END = struct.Struct("<4s4H2LH")
"""The record at the end of an archive: mark, disks, counts of entries, the list's length and place, a comment."""


_MOST_LIST = 4_096


_LARGER = b"PK\x06\x07"


_CHUNK = 1 << 16


_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Whatever else an archive can be packed by unpacks a chunk of any size at once."""


class RefusedArtifact(LedgerError):  # noqa: N818 (what was done with it)
    """An artifact is not what the action uploads, or not this repository's. A clause for the user."""


def unpack_ledger(archive: bytes, folder: Path) -> Path:
    """Write the ledger of an archive into an empty folder; its file. Raises ``RefusedArtifact``."""
    if len(archive) > MOST_PACKED:
        raise RefusedArtifact(f"its archive is larger than {MOST_PACKED // 1024**2} MB")
    _refuse_long_list(archive)
    left = min(MOST_UNPACKED, _ALWAYS + MOST_RATIO * len(archive))
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            members = opened.infolist()
            for member in members:
                _refuse_member(member)
            names = [member.filename for member in members]
            if len(set(names)) < len(names) or _NAME not in names:
                raise RefusedArtifact(f"its archive does not hold one {_NAME}")
            for member in members:
                if member.filename in _TAKEN:
                    left = _unpack(opened, member, folder / member.filename, left)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OverflowError):
        raise RefusedArtifact("its archive cannot be read") from None
    except OSError as error:
        raise LedgerError(f"The archive of a ledger cannot be unpacked in {folder}: {error.strerror}.") from None
    return folder / _NAME


def _refuse_long_list(archive: bytes) -> None:
    """Refuse an archive with a long list before anything reads it: entries take memory, and 64 MB hold a million."""
    place = archive.rfind(b"PK\x05\x06")
    if place < 0 or len(archive) < place + _END.size:
        raise RefusedArtifact("it is no archive")
    _, _, _, _, entries, length, _, _ = _END.unpack_from(archive, place)
    if entries > len(_NAMES) or length > _MOST_LIST or archive[max(place - 20, 0) :].startswith(_LARGER):
        raise RefusedArtifact("its archive holds more than a ledger")


def _refuse_member(member: zipfile.ZipInfo) -> None:
    kind = stat.S_IFMT(member.external_attr >> 16)
    if member.orig_filename not in _NAMES or member.filename not in _NAMES:
        raise RefusedArtifact("its archive holds another file than a ledger")
    if kind not in (0, stat.S_IFREG):
        raise RefusedArtifact(f"{member.filename} in its archive is a link, or no file")
    if member.flag_bits & 0x1:
        raise RefusedArtifact("its archive is encrypted")
    if member.compress_type not in _PACKED:
        raise RefusedArtifact("its archive is packed in a way that is not the action's")


def _unpack(opened: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path, left: int) -> int:
    """Write one file; how many bytes may still be unpacked after it."""
    with opened.open(member) as stream, path.open("xb") as file:
        while chunk := stream.read(_CHUNK):
            left -= len(chunk)
            if left < 0:
                raise RefusedArtifact("its archive unpacks to more than a ledger of its size can be")
            file.write(chunk)
    return left


MOST_RUNS = 1_000
"""A workflow run records one review."""


MOST_EVENTS = 4 * LARGEST_RUN
"""Characters of all its events, unpacked: a file of a few kB may hold any number of large ones."""


def collected_before(ledger: Path, server: str) -> dict[int, int]:
    """The artifacts of a server that the ledger holds already, each with its workflow run. Raises ``LedgerError``."""
    if not ledger.exists():
        return {}
    with sentences(ledger), closing(open_to_read(ledger)) as connection:
        return dict(connection.execute("SELECT artifact, run FROM collected WHERE server = ?", (server,)))


class CollectedLedgers:
    """The ledger of many repositories, while artifacts of one server are taken in; to be closed.

    ``known`` are the artifacts that it holds, each with its workflow run. Raises ``LedgerError`` for what is no ledger.
    """

    def __init__(self, ledger: Path, server: str) -> None:
        self.known = collected_before(ledger, server)
        self._ledger = ledger
        self._server = server
        self._connection: sqlite3.Connection | None = None

    def take_in(self, file: Path, names: AbstractSet[str], artifact: LedgerArtifact) -> Folded:
        """Fold the ledger of an artifact in, and remember the artifact if all of it was taken.

        All its runs must be of the repository with one of these ``names``, in lower case: else ``RefusedArtifact`` is
        raised, and nothing is taken. A run that is broken, impossible or another one here is left out and named.
        Raises ``LedgerError`` if the ledger cannot be written.
        """

        def remember(connection: sqlite3.Connection, folded: Folded) -> None:
            if not folded.left_out:
                values = (self._server, artifact.id, artifact.run)
                connection.execute("INSERT INTO collected VALUES (?, ?, ?) ON CONFLICT DO NOTHING", values)

        with closing(_own_chains(file, names)) as chains, sentences(self._ledger):
            if self._connection is None and self._ledger.exists():
                self._connection = open_to_write(self._ledger)
            if self._connection is None:
                folded = fold(self._ledger, chains, whole_runs=True, noting=remember)
            else:
                folded = fold_into(self._connection, chains, remember, whole_runs=True)
        if artifact.run is not None and not folded.left_out:
            self.known[artifact.id] = artifact.run
        return folded

    def close(self) -> None:
        """Let go of the ledger."""
        if self._connection is not None:
            self._connection.close()


def _own_chains(file: Path, names: AbstractSet[str]) -> Generator[Chain, None, None]:
    """The chains of an artifact's ledger; one that is broken is for its reader to name."""
    try:
        with sentences(file), closing(open_to_read(file)) as connection, one_moment(connection):
            _refuse_many(connection)
            for _, chain in read_chains(connection):
                _refuse_others(chain, names)
                yield chain
    except RefusedArtifact:
        raise
    except LedgerError as refusal:
        said = str(refusal).replace(f"The ledger {file}", "its ledger").replace(str(file), "its file")
        raise RefusedArtifact(said.rstrip(".")) from None


def _refuse_many(connection: sqlite3.Connection) -> None:
    """Refuse what would take long to read, before any chain of it is proven."""
    (runs,) = connection.execute("SELECT count(*) FROM chains").fetchone()
    if runs > MOST_RUNS:
        raise RefusedArtifact(f"it holds more than {MOST_RUNS:,} runs")
    for size in accumulate(unpacked_sizes(connection)):
        if size > MOST_EVENTS:
            raise RefusedArtifact(f"its events unpack to more than {MOST_EVENTS // 1024**2} MB")


def _refuse_others(chain: Chain, names: AbstractSet[str]) -> None:
    if chain.broken is not None:
        return
    repository = repository_of(chain)
    if repository is None or repository.casefold() not in names:
        of = "no repository" if repository is None else printable_line(repository[:140])
        raise RefusedArtifact(f"the run {chain.run_id} in it is of {of}")
