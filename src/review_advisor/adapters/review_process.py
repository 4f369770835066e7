"""One review in a process of its own: what ``eval run`` starts for each golden case."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from review_advisor.core.outcome.document import OutcomeDocument, read_outcome
from review_advisor.lifetime import belongings

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
