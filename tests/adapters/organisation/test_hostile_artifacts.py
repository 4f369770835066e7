"""Whoever controls the job that reviews controls what it uploads: nothing of that chooses a path, a size or a run."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.ledgers import meddle, record, told
from tests.adapters.organisation.workflows import BANK, LEDGER, SHOP, Fleet, fleet, ledger_bytes, zipped

from review_advisor.lab.collected import MOST_PACKED, MOST_RUNS, RefusedArtifact, unpack_ledger
from review_advisor.ledger.chain import LARGEST_RUN
from review_advisor.mockworld.world import MockWorld

pytestmark = pytest.mark.every_case

MIB = 1024**2
OTHERWISE_PACKED = "its archive is packed in a way that is not the action's"


@pytest.fixture
def octo(terminal: Terminal, tmp_path: Path) -> Iterator[Fleet]:
    """Two repositories of one organisation."""
    with fleet(terminal, tmp_path / "fleet", SHOP, BANK) as made:
        yield made


def refused(archive: bytes, folder: Path) -> str:
    """Why an archive is refused; nothing but a part of a ledger may be left in its folder, and nothing outside."""
    folder.mkdir()
    with pytest.raises(RefusedArtifact) as refusal:
        unpack_ledger(archive, folder)
    assert {each.name for each in folder.parent.iterdir()} == {folder.name}
    assert {each.name for each in folder.iterdir()} <= {LEDGER, f"{LEDGER}-wal"}
    return str(refusal.value)


def linked(name: str, target: str) -> bytes:
    """An archive with a symbolic link."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        link = zipfile.ZipInfo(name)
        link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, target)
    return made.getvalue()


def twice() -> bytes:
    """An archive with two files of one name."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(LEDGER, b"one")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr(LEDGER, b"two")
    return made.getvalue()


def lying() -> bytes:
    """A bomb whose list says that it is small."""
    bomb = bytearray(zipped({LEDGER: bytes(300 * MIB)}))
    for mark, place in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        at = bomb.rfind(mark) + place
        bomb[at : at + 4] = (4_096).to_bytes(4, "little")
    return bytes(bomb)


def encrypted() -> bytes:
    """An archive that says that its file is encrypted."""
    made = bytearray(zipped({LEDGER: b"text"}))
    for mark, place in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        made[made.rfind(mark) + place] |= 1
    return bytes(made)


def damaged_lzma() -> bytes:
    """An archive of a method of its own, whose content was changed."""
    made = bytearray(zipped({LEDGER: b"text" * 100}, zipfile.ZIP_LZMA))
    begins = made.find(LEDGER.encode()) + len(LEDGER)
    made[begins + 9 : begins + 14] = b"\xff" * 5
    return bytes(made)


def long_list() -> bytes:
    """An archive of ten thousand files."""
    return zipped({f"{number}.sqlite3": b"" for number in range(10_000)})


@pytest.mark.parametrize(
    "make, why",
    [
        (lambda: zipped({LEDGER: bytes(300 * MIB)}), "its archive unpacks to more than a ledger of its size can be"),
        (lying, "its archive cannot be read"),
        (lambda: zipped({LEDGER: b"", "more.txt": b""}), "its archive holds another file than a ledger"),
        (lambda: zipped({f"../{LEDGER}": b""}), "its archive holds another file than a ledger"),
        (lambda: zipped({f"/tmp/{LEDGER}": b""}), "its archive holds another file than a ledger"),
        (lambda: zipped({f"{LEDGER}?.txt": b""}).replace(b"?", b"\0"), "its archive holds another file than a ledger"),
        (lambda: zipped({f"{LEDGER}/": b""}), "its archive holds another file than a ledger"),
        (lambda: zipped({f"{LEDGER}-wal": b""}), f"its archive does not hold one {LEDGER}"),
        (lambda: linked(LEDGER, "/etc/passwd"), f"{LEDGER} in its archive is a link, or no file"),
        (lambda: linked(f"{LEDGER}-shm", "/etc/passwd"), f"{LEDGER}-shm in its archive is a link, or no file"),
        (twice, f"its archive does not hold one {LEDGER}"),
        (encrypted, "its archive is encrypted"),
        (lambda: zipped({LEDGER: bytes(300 * MIB)}, zipfile.ZIP_BZIP2), OTHERWISE_PACKED),
        (lambda: zipped({LEDGER: b"text"}, zipfile.ZIP_LZMA), OTHERWISE_PACKED),
        (damaged_lzma, OTHERWISE_PACKED),
        (long_list, "its archive holds more than a ledger"),
        (lambda: b"no archive at all", "it is no archive"),
        (lambda: b"", "it is no archive"),
        (lambda: b"PK\x05\x06" + bytes(18), f"its archive does not hold one {LEDGER}"),
        (lambda: zipped({LEDGER: b"text"})[10:], "its archive cannot be read"),
        (lambda: bytes(MOST_PACKED + 1), "its archive is larger than 64 MB"),
    ],
)
def test_an_archive_that_is_not_what_the_action_uploads_is_refused(
    tmp_path: Path, make: Callable[[], bytes], why: str
) -> None:
    assert refused(make(), tmp_path / "unpacked") == why


@pytest.mark.one_of_its_kind
def test_a_ledger_and_what_a_killed_run_left_beside_it_are_unpacked(tmp_path: Path) -> None:
    files = {LEDGER: b"ledger", f"{LEDGER}-wal": b"log", f"{LEDGER}-shm": b"memory"}
    assert unpack_ledger(zipped(files), tmp_path) == tmp_path / LEDGER
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {LEDGER: b"ledger", f"{LEDGER}-wal": b"log"}


def foreign(folder: Path) -> bytes:
    """A ledger with a run of another repository beside one of its own."""
    return ledger_bytes(folder, told(number=1, repository=SHOP), told(number=2, repository=BANK))


def local(folder: Path) -> bytes:
    """A review of a range, which is of no repository."""
    return ledger_bytes(folder, MockWorld().review())


def forged(folder: Path) -> bytes:
    """A chain in which a cost was changed."""
    ledger_bytes(folder, told(repository=SHOP))
    meddle(folder / LEDGER, "UPDATE events SET hash = previous WHERE position = 3")
    return (folder / LEDGER).read_bytes()


def triggered(folder: Path) -> bytes:
    """A ledger with a trigger of somebody else's."""
    ledger_bytes(folder, told(repository=SHOP))
    meddle(folder / LEDGER, "CREATE TRIGGER evil AFTER INSERT ON chains BEGIN DELETE FROM runs; END")
    return (folder / LEDGER).read_bytes()


def of_another_version(folder: Path) -> bytes:
    """A ledger whose schema this version does not know."""
    ledger_bytes(folder, told(repository=SHOP))
    meddle(folder / LEDGER, "PRAGMA user_version = 99")
    return (folder / LEDGER).read_bytes()


def swollen(folder: Path) -> bytes:
    """A few kB whose events unpack to more than all memory, each of them damaged."""
    ledger_bytes(folder, told(repository=SHOP))
    packed = zlib.compress(b"0" * LARGEST_RUN).hex()
    meddle(folder / LEDGER, f"UPDATE events SET event = X'{packed}' WHERE position < 5")
    return (folder / LEDGER).read_bytes()


def crowded(folder: Path) -> bytes:
    """A ledger of more runs than one workflow run records, which all are empty."""
    ledger_bytes(folder, told(repository=SHOP))
    counting = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MOST_RUNS}) "
    meddle(folder / LEDGER, f"INSERT INTO chains (id, run_id) {counting} SELECT i, 'more-' || i FROM n")
    return (folder / LEDGER).read_bytes()


def cut(folder: Path) -> bytes:
    """Half of a ledger."""
    whole = ledger_bytes(folder, told(repository=SHOP))
    return whole[: len(whole) // 2]


@pytest.mark.parametrize(
    "make, why",
    [
        (foreign, f"in it is of {BANK}"),
        (local, "in it is of no repository"),
        (forged, "is not what was recorded: event 3"),
        (triggered, "its file is not a ledger: its tables are not those of schema"),
        (of_another_version, "its ledger was written by another version of review-advisor"),
        (cut, "its ledger is damaged"),
        (swollen, "its events unpack to more than 256 MB"),
        (crowded, "it holds more than 1,000 runs"),
        (lambda _: b"no database" * 100, "its file is not a ledger: it is no SQLite file"),
        (lambda _: b"", "its file is not a ledger: it is empty"),
    ],
)
def test_a_ledger_that_is_not_the_repositorys_own_is_named_and_nothing_of_it_is_taken(
    octo: Fleet, make: Callable[[Path], bytes], why: str
) -> None:
    octo.reviews(SHOP)
    hostile = octo.stores(SHOP, zipped({LEDGER: make(octo.folder / "evil")}))
    octo.reviews(SHOP)
    done = octo.collect(SHOP)
    assert done.code == 3
    assert f"octo/shop: not taken: artifact {hostile.id} of run {hostile.run}: " in done.err
    assert why in done.err
    assert str(octo.terminal.temporary) not in done.err
    assert octo.held() == [SHOP, SHOP]
    assert octo.terminal.run("ledger", "verify", "--ledger", octo.whole).code == 0


@pytest.mark.one_of_its_kind
def test_a_run_that_is_another_one_already_is_named_and_changes_nothing(octo: Fleet) -> None:
    octo.stores(SHOP, zipped({LEDGER: ledger_bytes(octo.folder / "one", told(repository=SHOP, pull_request=7))}))
    octo.stores(SHOP, zipped({LEDGER: ledger_bytes(octo.folder / "two", told(repository=SHOP, pull_request=8))}))
    done = octo.collect(SHOP)
    assert (done.code, "is another one here" in done.err) == (3, True)
    assert octo.held() == [SHOP]
    assert "is another one here" in octo.collect(SHOP).err, "nobody forgets it"


def test_a_run_of_a_killed_job_is_taken_from_the_log_beside_its_ledger(octo: Fleet) -> None:
    folder = octo.folder / "killed"
    folder.mkdir(parents=True)
    with_log = folder / LEDGER
    record(with_log, told(repository=SHOP), until=4)
    octo.stores(SHOP, zipped({each.name: each.read_bytes() for each in folder.glob(f"{LEDGER}*")}))
    assert octo.collect(SHOP).code == 0
    assert octo.held() == [SHOP]


def test_a_number_beyond_every_archive_is_not_downloaded_to_its_end(octo: Fleet) -> None:
    octo.stores(SHOP, bytes(MOST_PACKED + 1))
    done = octo.collect(SHOP)
    assert (done.code, "it is larger than 64 MB" in done.err) == (3, True)
