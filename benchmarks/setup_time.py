"""The time before the first call of changes that are made to be slow, and of one of 100,000 lines."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter

from _changes import make_many
from _figures import Row, command_line, held, tell
from _runs import git

from review_advisor.app.agent_choice import AgentChoice
from review_advisor.app.review import ReviewOptions, Selection, run_review
from review_advisor.review.events import CallStarted, Event

BAR_SECONDS = 60.0
WORKFLOW = "on: push\njobs:\n  a:\n    steps:\n    - uses: {}\n"
SQL = 'x = "{}"\n'


class _FirstCall(BaseException):
    """The first call is about to be made: nothing after it is measured."""


def _edits(path: str, text: str, message: str = "change") -> Callable[[Path], str]:
    def make(folder: Path) -> str:
        folder.mkdir()
        git(folder, "init", "--quiet", "--initial-branch=main")
        for message_of, content in (("base", "x = 1\n"), (message, text)):
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
            (folder.parent / "message").write_text(message_of, encoding="utf-8")
            git(folder, "add", "--all")
            git(folder, "commit", "--quiet", f"--file={folder.parent / 'message'}")
        return "HEAD~1..HEAD"

    return make


def _many(files: int) -> Callable[[Path], str]:
    def make(folder: Path) -> str:
        make_many(folder, files)
        return f"base..files-{files}"

    return make


def seconds(make: Callable[[Path], str]) -> float:
    """How long it takes from the start of the review to its first call."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "repository")
        selection = Selection("range", make(folder))
        options = ReviewOptions(folder, selection, AgentChoice("embedded"), artifacts=Path(temporary, "artefacts"))
        started = perf_counter()
        with contextlib.suppress(_FirstCall):
            run_review(options, os.environ, _stop_at_the_first_call, print)
        return perf_counter() - started


def _stop_at_the_first_call(event: Event) -> None:
    if isinstance(event, CallStarted):
        raise _FirstCall


def main() -> None:
    """Tell the seconds of each change."""
    parser = command_line(__doc__)
    parser.add_argument("--part", type=int, default=1, help="make each change so many times as small")
    options = parser.parse_args()
    part = options.part
    changes: Mapping[str, Callable[[Path], str]] = {
        "a line of 1 MB, full of SQL": _edits("a.py", SQL.format("select " * (150_000 // part))),
        "a workflow with a word of 300 KB": _edits(".github/workflows/a.yml", WORKFLOW.format("a" * (300_000 // part))),
        "a commit message of 32 MB": _edits("a.py", "x = 2\n", "change\n\n" + "password: aaaa " * (2_200_000 // part)),
        "a line of 60 MB": _edits("a.py", SQL.format("ab cd " * (10_000_000 // part))),
        "100,000 lines in 1,000 files": _many(max(1, 1_000 // part)),
    }
    rows: list[Row] = []
    for name, make in changes.items():
        taken = seconds(make)
        rows.append((name, f"{taken:.1f} s", held(taken, BAR_SECONDS, "s")))
    tell(Path(__file__).stem, {"before the first call": rows}, write=options.write)


if __name__ == "__main__":
    main()
