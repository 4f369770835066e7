"""What a killed run leaves behind, and what makes the next one clear it away: a signed file, and nothing else."""

from __future__ import annotations

import hmac
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.command_line import LAST_COMMIT, Terminal, fake_claude, processes_that_know, wait_for

from review_advisor.safety import leftovers as owner_file
from review_advisor.safety.leftovers import Owner, clear_after_the_dead, this_owner

# Signs in, makes a folder with a part that is read-only, and starts a child with a child in a session of its own.
RUN = """
import os, sys, time
from pathlib import Path
from review_advisor.safety import children as belongings, leftovers as owner_file
from review_advisor.safety.interruption import INTERRUPTION
INTERRUPTION.announce = lambda: owner_file.sign_in(os.environ, sys.exit)
folder = belongings.make_folder("tree")
(folder / "below").mkdir()
(folder / "below" / "file").write_text("x")
(folder / "below").chmod(0o500)
belongings.start(["/bin/sh", "-c", "setsid sleep 1000 & exec sleep 1000"], {"PATH": os.environ["PATH"]}, Path())
print(belongings.own_name(), flush=True)
time.sleep(1000)
"""
# Says its name, that of a fork, and its own again. In a process of its own: a fork of one with threads may hang.
FORK = """
import os
from review_advisor.safety import children as belongings
print(belongings.own_name(), flush=True)
if not (pid := os.fork()):
    print(belongings.own_name(), flush=True)
    os._exit(0)
os.waitpid(pid, 0)
print(belongings.own_name())
"""


@dataclass
class Run:
    """A run that is killed, and where it left what."""

    process: subprocess.Popen[str]
    name: str
    temporary: Path
    owners: Path

    @property
    def file(self) -> Path:
        return self.owners / f"{self.name}.owner"

    @property
    def folder(self) -> Path:
        return self.temporary / f"review-advisor-{self.name}"

    @property
    def owner(self) -> Owner:
        return Owner(**json.loads(self.file.read_bytes().partition(b"\n")[2]))

    @property
    def children(self) -> list[int]:
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if f"REVIEW_ADVISOR_OWNER={self.name}".encode() in (process / "environ").read_bytes():
                    found.append(int(process.name))
            except OSError:
                continue
        return found

    @property
    def is_running(self) -> bool:
        """Whether both children are what they are to become: in between the system tells no environment of theirs."""
        lines = [Path("/proc", str(number), "cmdline").read_bytes() for number in self.children]
        return lines == [b"sleep\x001000\x00"] * 2

    def killed(self) -> Run:
        self.process.kill()
        self.process.wait()
        return self

    def sign(self, **changes: Any) -> None:
        """What only somebody who knows the key can do."""
        self.file.write_bytes(owner_file._signed(owner_file._key(self.owners), replace(self.owner, **changes)))

    def clear(self) -> list[str]:
        """The next run begins; what it says."""
        said: list[str] = []
        clear_after_the_dead(self.owners, said.append)
        return said

    @property
    def is_whole(self) -> bool:
        return len(self.children) == 2 and (next(self.folder.iterdir()) / "below" / "file").is_file()

    @property
    def is_gone(self) -> bool:
        wait_for(lambda: not self.children)  # what was killed may still be ending
        return not self.folder.exists() and not self.file.exists()


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """A run with children and temporary folders, still alive."""
    temporary, runtime = tmp_path / "temporary", tmp_path / "runtime"
    temporary.mkdir()
    runtime.mkdir(mode=0o700)
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    environ = {"PATH": os.environ["PATH"], "TMPDIR": str(temporary), "XDG_RUNTIME_DIR": str(runtime)}
    process = subprocess.Popen([sys.executable, "-c", RUN], env=environ, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    made = Run(process, process.stdout.readline().strip(), temporary, runtime / "review-advisor")
    wait_for(lambda: made.is_running)
    try:
        yield made
    finally:
        made.killed()
        process.stdout.close()
        for pid in made.children:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def test_the_next_run_clears_away_after_a_dead_one(run: Run) -> None:
    assert run.killed().is_whole
    assert run.clear() == []
    assert run.is_gone


def test_a_living_run_is_left_alone(run: Run) -> None:
    assert run.clear() == []
    assert run.is_whole
    assert run.process.poll() is None


def test_a_number_that_has_become_another_processs_is_a_dead_run(run: Run) -> None:
    """Also the first process's: whoever has the number is not touched."""
    run.killed().sign(pid=os.getpid())
    assert run.clear() == []
    assert run.is_gone


def test_of_a_process_that_began_before_its_owner_nothing_is_believed(run: Run) -> None:
    """Who carries a name in the environment and is older is no child of the owner."""
    run.killed().sign(started=this_owner().started + 10**9)
    run.clear()
    assert len(run.children) == 2


SIGNED: dict[str, dict[str, Any]] = {
    "another user's": {"uid": os.getuid() + 1},
    "another container's": {"namespace": 1},
    "another machine's kind": {"started": 0},
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("changes", SIGNED.values(), ids=list(SIGNED))
def test_what_is_not_of_this_machine_and_user_is_left_alone(changes: dict[str, Any], run: Run) -> None:
    run.killed().sign(**changes)
    assert run.clear() == []
    assert run.is_whole
    assert run.file.exists()


def test_after_a_restart_of_the_machine_nobody_is_killed_and_the_folder_goes(run: Run) -> None:
    run.killed().sign(boot="another start of this machine")
    assert run.clear() == []
    assert len(run.children) == 2
    assert not run.folder.exists()


def test_a_folder_below_another_temporary_folder_waits_for_a_run_that_has_the_same(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(tmp_path / "other"))
        assert run.killed().clear() == []
    wait_for(lambda: not run.children)
    assert run.folder.is_dir()
    assert run.clear() == []
    assert run.is_gone


def _signed_by_another(run: Run) -> None:
    run.file.write_bytes(owner_file._signed(b"k" * 32, run.owner))


def _with_another_pid(run: Run) -> None:
    text = run.file.read_text()
    run.file.write_text(text.replace(f'"pid": {run.owner.pid}', '"pid": 1'))


def _renamed(run: Run) -> None:
    run.file.rename(run.owners / f"{'0' * 16}.owner")


def _named(name: str) -> Callable[[Run], None]:
    def forge(run: Run) -> None:
        """Even with the right key."""
        key, owner = owner_file._key(run.owners), replace(run.owner, name=name)
        run.file.unlink()
        (run.owners / "x.owner").write_bytes(owner_file._signed(key, owner))
        (run.owners / "x.owner").chmod(0o600)

    return forge


def _linked(run: Run) -> None:
    elsewhere = run.temporary / "elsewhere"
    shutil.move(run.file, elsewhere)
    run.file.symlink_to(elsewhere)


def _open_to_others(run: Run) -> None:
    run.file.chmod(0o666)


def _with_more_in_it(run: Run) -> None:
    key, told = owner_file._key(run.owners), {**asdict(run.owner), "folder": "/"}
    body = json.dumps(told).encode()
    run.file.write_bytes(hmac.digest(key, body, "sha256").hex().encode() + b"\n" + body)


FORGERIES = [
    _signed_by_another,
    _with_another_pid,
    _renamed,
    _linked,
    _open_to_others,
    _with_more_in_it,
    _named("../../elsewhere"),
    _named("."),
    _named(""),
]


@pytest.mark.one_in(12)
@pytest.mark.parametrize("forge", FORGERIES)
def test_a_file_that_no_run_of_ours_has_signed_does_nothing_and_is_told(forge: Callable[[Run], None], run: Run) -> None:
    run.killed()
    forge(run)
    (said,) = run.clear()
    assert said == f"1 of the files in {run.owners} were not signed by a run of yours: they are not acted on."
    assert run.is_whole


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", ["link", "file"])
def test_what_stands_in_the_place_of_the_folder_is_not_removed(kind: str, run: Run, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.move(run.killed().folder, elsewhere)
    if kind == "link":
        run.folder.symlink_to(elsewhere)
    else:
        run.folder.write_text("mine")
    run.clear()
    assert (next(elsewhere.iterdir()) / "below" / "file").is_file()
    assert run.folder.exists()


def test_no_link_below_the_folder_is_followed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("x")
    (next(run.folder.iterdir()) / "link").symlink_to(tmp_path / "precious")
    run.killed().clear()
    assert run.is_gone
    assert (tmp_path / "precious" / "file").is_file()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("what", ["folder", "key"])
def test_what_others_may_read_or_write_is_not_believed(what: str, run: Run) -> None:
    path = run.owners if what == "folder" else run.owners / "key"
    path.chmod(0o755)
    environ = {"XDG_RUNTIME_DIR": str(run.owners.parent)}
    run.killed()
    said: list[str] = []
    owner_file.sign_in(environ, said.append)
    assert len(said) == 1
    assert said[0].startswith("If this run is killed, what it leaves is not removed: the ")
    assert run.is_whole


def test_without_a_folder_of_the_users_own_the_files_lie_among_the_temporary_ones(run: Run) -> None:
    expected = run.temporary / f"review-advisor-{os.getuid()}"
    for given in ("", "relative", str(run.temporary / "missing"), str(run.temporary)):
        assert owner_file.private_folder({"XDG_RUNTIME_DIR": given}) == expected
    assert expected.stat().st_mode & 0o777 == 0o700


# --- the whole command ------------------------------------------------------------------------------------------------


@pytest.mark.every_case
def test_killed_in_a_call_the_next_command_ends_the_agent_and_removes_the_folders(
    terminal: Terminal, tmp_path: Path
) -> None:
    claude = fake_claude(tmp_path, then=f"cat >/dev/null\nsetsid sleep 1000 &\n: >{tmp_path}/started\nexec sleep 1000")
    words = ("review", "--range", "HEAD~1..HEAD", "--claude-bin", str(claude))
    process = terminal.start(*words, env={"ANTHROPIC_API_KEY": "none-needed"})
    wait_for((tmp_path / "started").exists)
    process.kill()
    process.communicate()
    left = [path.name.partition("-")[0] for root in terminal.temporary.iterdir() for path in root.iterdir()]
    assert sorted(left) == ["calls", "git", "tree"]
    wait_for(lambda: processes_that_know(terminal.temporary) == ["sleep 1000 "] * 2)
    done = terminal.process("review", "--agent", "embedded", *LAST_COMMIT)  # asserts that nothing of either run is left
    assert done.code == 0


def test_a_fork_has_a_name_of_its_own() -> None:
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, check=True)
    before, forked, after = done.stdout.split()
    assert len(forked) == len(before)
    assert forked != before == after
