"""What one call of the embedded agent takes of the processor, beside a bare interpreter."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from _figures import Row, command_line, held, tell
from _runs import command, least

from review_advisor.agents import prompts
from review_advisor.agents.answers import ReviewReport, answer_schema
from review_advisor.agents.claude_argv import user_message
from review_advisor.app.review import installed
from review_advisor.change.change import FileChange, Hunk, Status
from review_advisor.change.diff_text import render_files, render_statistics
from review_advisor.safety.fence import fence

BAR_SECONDS = 0.25
NONCE = "n-1"
FUNCTIONS = "".join(f"def step_{number}(value):\n    return value + {number}\n\n\n" for number in range(20))
WORKFLOW = "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo hello\n"
CASES: Mapping[str, Mapping[str, str]] = {
    "three files of Python": {f"part_{number}.py": FUNCTIONS for number in range(3)},
    "Python, JavaScript and a workflow": {
        "part.py": FUNCTIONS,
        "part.js": "export const step = (value) => value + 1;\n" * 20,
        ".github/workflows/ci.yml": WORKFLOW,
    },
}
BARRED = "three files of Python"
"""The other case starts a program for each language: their time is theirs."""
WORDS = (
    *("--print", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json"),
    *("--model", "sonnet", "--tools", "Read,Grep,Glob", "--json-schema", answer_schema(ReviewReport)),
    *("--checkers", json.dumps(dict(installed()))),
)


def added(path: str, text: str) -> FileChange:
    """A new file."""
    lines = tuple(f"+{line}" for line in text.rstrip("\n").split("\n"))
    hunk = Hunk(0, 0, 1, len(lines), "", lines)
    return FileChange(Status.ADDED, path, old_mode="000000", added=len(lines), hunks=(hunk,))


def call(tree: Path, texts: Mapping[str, str]) -> Callable[[], object]:
    """One question to the executor about new files, which are put into ``tree``."""
    for path, text in texts.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text, encoding="utf-8")
    files = [added(path, text) for path, text in texts.items()]
    sections = {prompts.FILES: render_statistics(files), prompts.DIFF: render_files(files)}
    fences = [fence(label, text, NONCE) for label, text in sections.items()]
    given = user_message(["\n".join([prompts.opening("r-1", NONCE), *fences])])
    words = [sys.executable, "-I", "-m", "review_advisor.agents.static", *WORDS]
    return lambda: subprocess.run(words, cwd=tree, input=given, check=True, capture_output=True)


def main() -> None:
    """Tell both cases."""
    parser = command_line(__doc__)
    parser.add_argument("--runs", type=int, default=15)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        calls = [call(Path(name) / str(number), texts) for number, texts in enumerate(CASES.values())]
        start, *taken = least(chosen.runs, command(sys.executable, "-I", "-c", "pass"), *calls)
    rows: list[Row] = [
        (case, f"{seconds:.3f} s", f"{seconds / start:.0f} x a bare interpreter{_bar(case, seconds)}")
        for case, seconds in zip(CASES, taken, strict=True)
    ]
    rows.append(("python -c pass", f"{start:.3f} s", f"least of {chosen.runs}, taking turns"))
    tell(Path(__file__).stem, {"one call, processor time": rows}, write=chosen.write)


def _bar(case: str, seconds: float) -> str:
    return f"; {held(seconds, BAR_SECONDS, 's')}" if case == BARRED else ""


if __name__ == "__main__":
    main()
