"""The folder of an evaluation."""

from __future__ import annotations

import fcntl
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from review_advisor.lab.manifests import (
    EvaluationManifest,
    in_order,
    is_settled,
    manifest_json,
    read_manifest,
    wanted_trials,
)
from review_advisor.lab.trials import CountedTrial, TrialKey, read_trial, trial_line
from review_advisor.review.document import OutcomeDocument, read_outcome
from review_advisor.safety import children as belongings
from review_advisor.safety.stop import Refusal

MANIFEST = "manifest.json"


RESULTS = "results.jsonl"


PARTIAL = "results.partial.jsonl"


BEGUN = "results.begun.jsonl"
"""Reviews under way, as lost: what a process leaves there that was interrupted or killed may have cost something."""


class EvaluationError(Refusal):
    """An evaluation cannot be read or kept. One sentence for the user."""


class EvaluationFolder:
    """One evaluation's folder, opened by one process at a time. Raises ``EvaluationError`` wherever a file fails.

    Whole results stay until others take their place at once. What is begun again begins with a copy of all lines: of
    one review the last line counts, and earlier ones are tries that were lost, whose cost still counts.
    """

    def __init__(self, folder: Path, manifest: EvaluationManifest) -> None:
        self.folder = folder
        self._manifest = manifest
        self._partial: IO[bytes] | None = None
        self._so_far: list[CountedTrial] = []
        self._under_way: dict[TrialKey, CountedTrial] = {}
        self._writing = threading.Lock()

    @property
    def is_whole(self) -> bool:
        """Whether all results are in their place. A shard without a case has none, and is whole once it says so."""
        return (self.folder / RESULTS).exists()

    @contextmanager
    def opened(self, *, fresh: bool = False) -> Iterator[dict[TrialKey, CountedTrial]]:
        """The results that need not be asked for again; with ``fresh`` none. Nothing that is kept is removed yet."""
        with _sentences(self.folder):
            for name in (MANIFEST, RESULTS, PARTIAL, BEGUN):
                if (self.folder / name).is_symlink():
                    raise EvaluationError(f"{self.folder / name} is a symbolic link: it is not written through.")
            make_folder(self.folder)
            lock = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise EvaluationError(f"Another process is evaluating in {self.folder}.") from None
            yield self._begun(fresh=fresh)
        finally:
            if self._partial is not None:
                self._partial.close()
            os.close(lock)

    def begin(self, lost: CountedTrial) -> None:
        """Note that a review is under way, from any thread: until its result is kept, it counts as ``lost``."""
        with self._writing:
            self._take_up()
            self._under_way[lost.trial.key] = lost
            self._note_under_way()

    def keep(self, trial: CountedTrial) -> None:
        """Append one result: it is there if the process dies right after."""
        with self._writing:
            partial = self._take_up()
            with _sentences(self.folder):
                partial.write(trial_line(trial))
                partial.flush()
            if self._under_way.pop(trial.trial.key, None) is not None:
                self._note_under_way()

    def _take_up(self) -> IO[bytes]:
        """The partial results, which begin with all that was there before."""
        if self._partial is None:
            # Written anew: half a line of a process that died would swallow the next one.
            _whole(self.folder, PARTIAL, b"".join(map(trial_line, self._so_far)))
            self._note_under_way()
            with _sentences(self.folder):
                self._partial = (self.folder / PARTIAL).open("ab")
        return self._partial

    def _note_under_way(self) -> None:
        _whole(self.folder, BEGUN, b"".join(map(trial_line, self._under_way.values())))

    def finish(self, trials: dict[TrialKey, CountedTrial]) -> None:
        """Put all results in the place of the partial ones, at once."""
        lost = [each for each in self._so_far if not is_settled(self._manifest, each)]
        _whole(self.folder, RESULTS, b"".join(map(trial_line, (*lost, *in_order(self._manifest, trials)))))
        with _sentences(self.folder):
            (self.folder / PARTIAL).unlink(missing_ok=True)
            (self.folder / BEGUN).unlink(missing_ok=True)

    def _begun(self, *, fresh: bool) -> dict[TrialKey, CountedTrial]:
        wanted = set(wanted_trials(self._manifest))
        if not fresh:
            self._so_far = [each for each in results_so_far(self.folder) if each.trial.key in wanted]
        with _sentences(self.folder, "read"):
            known = read_manifest(_bytes(self.folder / MANIFEST))
        if not self._so_far or known != self._manifest:
            _whole(self.folder, MANIFEST, manifest_json(self._manifest))
        return {each.trial.key: each for each in self._so_far if is_settled(self._manifest, each)}


def read_evaluation(folder: Path) -> tuple[EvaluationManifest, list[CountedTrial]]:
    """A whole evaluation, or a whole shard of one. Raises ``EvaluationError``: also for a partial one."""
    with _sentences(folder, "read"):
        manifest = read_manifest(_bytes(folder / MANIFEST))
        if manifest is None:
            raise EvaluationError(f"{folder} holds no evaluation: {MANIFEST} is not there, or not ours.")
        if not (folder / RESULTS).exists():
            raise EvaluationError(f"The evaluation in {folder} is not over: run it again, and it goes on.")
        trials = {each.trial.key: each for each in _lines(folder / RESULTS)}
    ordered, wanted = in_order(manifest, trials), list(wanted_trials(manifest))
    if len(ordered) < len(wanted):
        first = next(key for key in wanted if key not in trials)
        many = len(wanted) - len(ordered)
        missing = "one review: that" if many == 1 else f"{many} of {len(wanted)} reviews, the first"
        raise EvaluationError(f"{folder / RESULTS} lacks {missing} of {first.case} by {first.arm}.")
    return manifest, ordered


def results_so_far(folder: Path) -> list[CountedTrial]:
    """Every line of an evaluation, whole or not: lost tries as well, and those that were interrupted.

    Raises ``EvaluationError``.
    """
    with _sentences(folder, "read"):
        kept = PARTIAL if (folder / PARTIAL).exists() else RESULTS
        return [*_lines(folder / kept), *_lines(folder / BEGUN)]


def earlier_tries(folder: Path) -> list[CountedTrial]:
    """The tries of a whole evaluation that others took the place of: they cost as well. Raises ``EvaluationError``."""
    with _sentences(folder, "read"):
        tries = list(_lines(folder / RESULTS))
    last = {each.trial.key: place for place, each in enumerate(tries)}
    return [each for place, each in enumerate(tries) if last[each.trial.key] != place]


def keep_evaluation(
    folder: Path,
    manifest: EvaluationManifest,
    trials: Sequence[CountedTrial],
    earlier: Sequence[CountedTrial] = (),
) -> None:
    """Write a whole evaluation, into a folder without other results: those were paid for. Raises ``EvaluationError``.

    ``earlier``: tries that others took the place of.
    """
    whole = b"".join(map(trial_line, (*earlier, *in_order(manifest, {each.trial.key: each for each in trials}))))
    with EvaluationFolder(folder, manifest).opened():
        is_begun = any((folder / name).exists() for name in (RESULTS, PARTIAL))
        if is_begun and ((folder / PARTIAL).exists() or _bytes(folder / RESULTS) != whole):
            raise EvaluationError(f"{folder} has results already, and nothing is written over them: use another --out.")
        _whole(folder, RESULTS, whole)


def make_folder(folder: Path) -> Path:
    """A folder that git ignores. Raises ``EvaluationError``."""
    with _sentences(folder):
        folder.mkdir(parents=True, exist_ok=True)
    _whole(folder, ".gitignore", b"*\n")
    return folder


def keep_text(folder: Path, name: str, text: str) -> None:
    """Write a reading of the results beside them. Raises ``EvaluationError``."""
    _whole(folder, name, text.encode("utf-8", "backslashreplace"))


def evaluations_in(root: Path) -> list[Path]:
    """The folders of whole evaluations below ``root``, in the order of their names; none if it is not there."""
    return sorted(each.parent for each in root.glob(f"*/{RESULTS}"))


def _lines(path: Path) -> Iterator[CountedTrial]:
    """Every line that is a result. The last one of a process that died may be half a line."""
    for line in _bytes(path).splitlines():
        told = read_trial(line)
        if told is not None:
            yield told


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _whole(folder: Path, name: str, content: bytes) -> None:
    beside = folder / f".{name}.{os.getpid()}"
    with _sentences(folder):
        try:
            beside.write_bytes(content)
            beside.replace(folder / name)
        finally:
            beside.unlink(missing_ok=True)


@contextmanager
def _sentences(folder: Path, what: Literal["kept", "read"] = "kept") -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise EvaluationError(f"The evaluation in {folder} cannot be {what}: {error.strerror}.") from None


_LONGEST = 7_200.0
"""Seconds. The review's own budget ends it long before."""


_LONGEST_SENTENCE = 300


_NOTHING_ASKED = 2
"""The exit code of a review that ended before its first call."""


@dataclass(frozen=True, slots=True)
class NoOutcome:
    """Why a review left no outcome, in a sentence. ``asked``: it may have made calls that cost something."""

    why: str
    asked: bool = True


def review_in_process(
    arguments: Sequence[str], environment: Mapping[str, str], output: Path, cwd: Path
) -> OutcomeDocument | NoOutcome:
    """Run this program with ``arguments`` and read the outcome that it leaves at ``output``.

    Raises ``ReviewInterrupted``.
    """
    output.unlink(missing_ok=True)
    try:
        done = belongings.run(
            [sys.executable, "-I", "-m", "review_advisor", *arguments], environment, cwd, seconds=_LONGEST
        )
    except OSError as error:
        return NoOutcome(f"The review could not be run: {error.strerror or error}.", isinstance(error, TimeoutError))
    try:
        return read_outcome(output.read_bytes())
    except OSError:
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2][:_LONGEST_SENTENCE]
        why = f"The review ended with exit code {done.code} and no outcome: {last}"
        return NoOutcome(why, done.code != _NOTHING_ASKED)
    except ValueError:
        return NoOutcome("The review left an outcome that cannot be read.")
