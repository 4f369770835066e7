"""How much time a one-file review takes beyond its calls, beside the same calls made bare."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from _figures import command_line, held, tell
from _runs import BOT, command, git, least, medians

BAR_STARTS = 20.0
"""The processor time of a one-file review beyond its calls, in starts of a bare interpreter."""
STARTS_BEFORE = "fa025c7: 41 x by the clock"
BAR_PERCENT = 5.0
SLOW_CALLS_SECONDS = 8.0
ANSWERS = {
    "ReviewReport": {"verdict": "approve", "summary": "fine", "confidence": 0.9},
    "PostVerifyResult": {"verdict": "APPROVE", "reasoning": "so it is"},
}
# It notes how it was called, so that the same calls can be made again without the harness.
AGENT = """\
#!/bin/sh
if [ "$1" = --version ]; then echo '2.1.329 (Claude Code)'; exit; fi
case "$*" in
{cases}
*) exit 1;;
esac
if [ -d {records} ]; then
  printf '%s\\0' "$@" > {records}/$name.argv
  cat > {records}/$name.stdin
else
  cat > /dev/null
fi
{pause}
cat {folder}/$name.json
"""


def make_agent(folder: Path, pause: float) -> Path:
    """A `claude` that costs next to nothing: a shell script with two answers, each given after `pause` seconds."""
    for name, answer in ANSWERS.items():
        usage = {"input_tokens": 10, "output_tokens": 10}
        result = {"type": "result", "subtype": "success", "is_error": False, "result": "", "structured_output": answer}
        (folder / f"{name}.json").write_text(json.dumps({**result, "usage": usage, "total_cost_usd": 0.01}) + "\n")
    cases = "\n".join(f'*\'"title": "{name}"\'*) name={name};;' for name in ANSWERS)
    words = {"cases": cases, "folder": shlex.quote(str(folder)), "records": shlex.quote(str(folder / "records"))}
    agent = folder / "claude"
    agent.write_text(AGENT.format(pause=f"sleep {pause}" if pause else "", **words))
    agent.chmod(0o755)
    return agent


def make_repository(folder: Path) -> None:
    """Two commits, the second with one changed line."""
    git(folder, "init", "--quiet", "--initial-branch=main")
    for text in ("x = 1\n", "x = 1\ny = 2\n"):
        (folder / "a.py").write_text(text)
        git(folder, "add", "a.py")
        git(folder, "commit", "--quiet", "--message=x")


def review(agent: Path, repository: Path) -> Callable[[], object]:
    """One review through the whole command."""
    words = [str(BOT), "review", "--fresh", "--range", "HEAD~1..HEAD", "--claude-bin", str(agent)]
    words += ["--artifacts", "../logs"]
    environment = {"PATH": os.environ["PATH"], "ANTHROPIC_API_KEY": "none-needed"}
    return lambda: subprocess.run(words, cwd=repository, env=environment, check=True, capture_output=True)


def bare_calls(agent: Path) -> Callable[[], object]:
    """The calls of a recorded review: same arguments, same input, one after the other."""
    records = agent.with_name("recorded")
    (agent.with_name("records")).rename(records)
    calls = [
        ((records / f"{name}.argv").read_bytes().split(b"\0")[:-1], (records / f"{name}.stdin").read_bytes())
        for name in ANSWERS
    ]

    def run() -> None:
        for argv, stdin in calls:
            subprocess.run([bytes(agent), *argv], input=stdin, check=True, capture_output=True)

    return run


Measured = Callable[..., list[float]]


def measure(pause: float, runs: int, by: Measured = medians) -> list[float]:
    """Of the review, of its bare calls and of a bare interpreter: by default the medians by the clock."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        repository = folder / "repository"
        repository.mkdir()
        make_repository(repository)
        agent = make_agent(folder, pause)
        (folder / "records").mkdir()
        whole = review(agent, repository)
        whole()
        return by(runs, whole, bare_calls(agent), command(sys.executable, "-c", "pass"))


def main() -> None:
    """Tell both comparisons."""
    parser = command_line(__doc__)
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--slow-runs", type=int, default=2)
    chosen = parser.parse_args()
    whole, bare, start = measure(0, chosen.runs, least)
    slow_whole, slow_bare, _ = measure(SLOW_CALLS_SECONDS / len(ANSWERS), chosen.slow_runs)
    percent = 100 * (slow_whole - slow_bare) / slow_bare
    starts = (whole - bare) / start
    free = [
        ("one-file review", f"{whole:.3f} s", f"processor time, least of {chosen.runs}"),
        ("its two calls, bare", f"{bare:.3f} s", ""),
        ("python -c pass", f"{start:.3f} s", "all take turns"),
        ("harness time, in starts of python", f"{starts:.1f} x", f"{held(starts, BAR_STARTS, 'x')}; {STARTS_BEFORE}"),
    ]
    slow = [
        ("one-file review", f"{slow_whole:.3f} s", f"median of {chosen.slow_runs}"),
        ("its two calls, bare", f"{slow_bare:.3f} s", ""),
        ("overhead", f"{percent:.1f} %", held(percent, BAR_PERCENT, "%")),
    ]
    tell(Path(__file__).stem, {"calls that cost nothing": free, "calls that sum to 8 s": slow}, write=chosen.write)


if __name__ == "__main__":
    main()
