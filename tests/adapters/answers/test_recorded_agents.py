"""A recording holds every call whole, whatever its words are, and what cannot be written ends only the recording."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.adapters.full_disk import no_file_larger_than
from tests.unit.ledger.test_recorded_call import NAMES, NOON, answer, call

from review_advisor.agents import recordings as recording_folder
from review_advisor.agents.calls import AgentCall, Answered, AuthenticationFailedError, Consults, Lost
from review_advisor.agents.recordings import (
    MOST_STREAM_BYTES,
    CliOutput,
    RecordedAgents,
    RecordingFile,
    RecordingFolder,
    Stopped,
    read_recording,
)
from review_advisor.change.redaction import NO_SECRETS, redactor
from review_advisor.safety.stop import Stop

TOKEN = "ghp_" + "A1b2C3d4" * 5


class Says:
    """Agents that give, or raise, one reply after the other."""

    def __init__(self, *replies: Answered | Lost | Stop) -> None:
        self._replies: Iterator[Answered | Lost | Stop] = iter(replies)

    def run(self, call: AgentCall, consults: Consults | None = None) -> Answered | Lost:
        reply = next(self._replies)
        if isinstance(reply, Stop):
            raise reply
        return reply

    def check_interrupt(self) -> None: ...

    def end_running(self) -> None: ...


def opened(tmp_path: Path, said: list[str]) -> RecordingFile:
    return RecordingFile(RecordingFolder(tmp_path), NAMES.run_id, said.append)


def test_neither_nonce_nor_secret_is_written(tmp_path: Path) -> None:
    said: list[str] = []
    file, output = opened(tmp_path, said), CliOutput()
    asked = call(prompt=f"[{NAMES.nonce}] {TOKEN}")
    output.hear(asked, f'{{"type": "result", "text": "{TOKEN} {NAMES.nonce}"}}'.encode())
    agents = RecordedAgents(Says(answer(f"{TOKEN} {NAMES.nonce}")), file, NAMES, redactor({}), lambda: NOON, output)
    agents.run(asked)
    file.close()
    (path,) = (tmp_path / ".recordings").glob("*.jsonl")
    text = path.read_text()
    assert TOKEN not in text
    assert NAMES.nonce not in text
    assert text.count("[secret: GitHub token]") == 3


def test_a_call_that_stops_the_run_is_recorded_and_stops_it(tmp_path: Path) -> None:
    said: list[str] = []
    file = opened(tmp_path, said)
    agents = RecordedAgents(
        Says(AuthenticationFailedError(f"no key for {NAMES.nonce}")), file, NAMES, NO_SECRETS, lambda: NOON
    )
    with pytest.raises(AuthenticationFailedError):
        agents.run(call())
    file.close()
    (told,) = read_recording(RecordingFolder(tmp_path).read(NAMES.run_id)).calls
    assert (told.ended, told.reply) == ("stopped", Stopped("AuthenticationFailedError", "no key for \0nonce\0"))


def test_a_full_disk_ends_the_recording_behind_its_last_whole_line(tmp_path: Path) -> None:
    said: list[str] = []
    file = opened(tmp_path, said)
    agents = RecordedAgents(Says(answer(), answer("x" * 5_000), answer()), file, NAMES, NO_SECRETS, lambda: NOON)
    agents.run(call(1))
    with no_file_larger_than(4_096):
        agents.run(call(2))
    agents.run(call(3))
    read = read_recording(RecordingFolder(tmp_path).read(NAMES.run_id))
    assert ([each.identity.sequence for each in read.calls], read.problems) == ([1], ())
    assert len(said) == 1
    assert said[0].endswith("File too large. Only its first 1 call is recorded.")


def test_a_recording_does_not_grow_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording_folder, "MOST_BYTES", 4_096)
    said: list[str] = []
    file = opened(tmp_path, said)
    agents = RecordedAgents(Says(answer(), answer("x" * 5_000), answer()), file, NAMES, NO_SECRETS, lambda: NOON)
    for number in (1, 2, 3):
        agents.run(call(number))
    read = read_recording(RecordingFolder(tmp_path).read(NAMES.run_id))
    assert ([each.identity.sequence for each in read.calls], read.problems) == ([1], ())
    assert [sentence.partition(": ")[2] for sentence in said] == [
        "It would grow too large. Only its first 1 call is recorded."
    ]


def test_of_an_endless_output_only_the_beginning_is_kept() -> None:
    output = CliOutput()
    line = b'{"type": "assistant", "text": "' + b"x" * 1_000_000 + b'"}'
    for _ in range(20):
        output.hear(call(), line)
    kept = output.take(1)
    assert sum(map(len, kept)) <= MOST_STREAM_BYTES + 100
    assert kept[-1] == "[the rest is not recorded: the output is too long]"
    assert output.take(1) == ()
