"""One review in a process of its own: what ``eval run`` starts for each golden case."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from review_advisor.core.outcome.document import OutcomeDocument, read_outcome
from review_advisor.lifetime import belongings

_LONGEST = 7_200.0
"""Seconds. The review's own budget ends it long before."""
_LONGEST_SENTENCE = 300


def review_in_process(
    arguments: Sequence[str], environment: Mapping[str, str], output: Path, cwd: Path
) -> OutcomeDocument | str:
    """Run this program with ``arguments`` and read the outcome that it leaves at ``output``.

    What went wrong is told in a sentence. Raises ``ReviewInterrupted``.
    """
    output.unlink(missing_ok=True)
    try:
        done = belongings.run(
            [sys.executable, "-I", "-m", "review_advisor", *arguments], environment, cwd, seconds=_LONGEST
        )
    except OSError as error:
        return f"The review could not be run: {error.strerror or error}."
    try:
        return read_outcome(output.read_bytes())
    except OSError:
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2][:_LONGEST_SENTENCE]
        return f"The review ended with exit code {done.code} and no outcome: {last}"
    except ValueError:
        return "The review left an outcome that cannot be read."


def kept_outcome(path: Path) -> OutcomeDocument | None:
    """The outcome of an earlier review; None where there is none. Raises ``ValueError`` for what is none."""
    return read_outcome(path.read_bytes()) if path.is_file() else None
