"""Whole reviews of large changes by the embedded agent: whether every file is read or named, the memory, the time.

What was read is not taken from the review's word alone: the agent stands behind a shell script that keeps each
executor's prompt, and the changed lines are looked for in them. Where pr-agent is installed it reviews the same diffs.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import _pr_agent
from _changes import CHANGED_LINES_EACH, LONG_FILE, make_many, make_one, path_of, shown_lines
from _figures import Row, command_line, has_bar, held, tell
from _runs import BOT
from _watched import Watched, watch

from review_advisor.agents.claude import PINNED_VERSION

BAR_MEGABYTES = 64
REVIEWED = (0, 10, 11)
AGENT = """\
#!/bin/sh
case "$*" in
--version) echo "{version} (Claude Code)";;
*'"title": "ReviewReport"'*) cat > {prompts}/$$; exec {agent} "$@" < {prompts}/$$;;
*) exec {agent} "$@";;
esac
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A change to review: its repository, its tag, and how many changed lines each file has, by its number."""

    title: str
    repository: Path
    tag: str
    lines: Mapping[int, int]

    @property
    def diff(self) -> bytes:
        """The change as `git diff` shows it."""
        return self._git("diff", "base", self.tag)

    @property
    def paths(self) -> set[str]:
        """The changed files, as git tells them."""
        return set(self._git("diff", "--name-only", "-z", "base", self.tag).decode().split("\0")) - {""}

    def shown(self, prompts: Iterable[str]) -> tuple[set[str], int]:
        """The files of which every changed line stands in the prompts, and how many lines of all files do."""
        shown = shown_lines(prompts)
        whole = {path_of(number) for number, count in self.lines.items() if shown.get(number) == count}
        return whole, sum(shown.values())

    def _git(self, *words: str) -> bytes:
        return subprocess.run(["git", "-C", str(self.repository), *words], check=True, capture_output=True).stdout


def review(case: Case, folder: Path) -> tuple[Watched, dict[str, Any], list[str]]:
    """One review through the whole command: how it ran, its outcome.json, and its executors' prompts."""
    prompts = folder / "prompts"
    prompts.mkdir()
    agent = folder / "claude"
    embedded = shlex.join([sys.executable, "-I", "-m", "review_advisor.agents.static"])
    agent.write_text(AGENT.format(agent=embedded, prompts=shlex.quote(str(prompts)), version=PINNED_VERSION))
    agent.chmod(0o755)
    outcome = folder / "outcome.json"
    words = [BOT, "review", "--base", "base", "--repo", case.repository, "--claude-bin", agent]
    words += ["--artifacts", folder / "logs", "--output", outcome]
    environment = {"PATH": os.environ["PATH"], "ANTHROPIC_API_KEY": "none-needed"}
    run = watch(words, folder, environment)
    if run.code not in REVIEWED:
        raise SystemExit(f"the review did not run to its end ({run.code}): {run.complaint}")
    return run, json.loads(outcome.read_text()), [path.read_text() for path in prompts.iterdir()]


def review_rows(case: Case, run: Watched, outcome: Mapping[str, Any], prompts: list[str]) -> list[Row]:
    """What the review came to, and its bars."""
    coverage = {file["path"]: file for file in outcome["coverage"]}
    read = {path for path, file in coverage.items() if file["read"] == "read"}
    named = {path for path, file in coverage.items() if file["read"] != "read" and file["why"]}
    whole, lines = case.shown(prompts)
    unshown = len(read - whole)
    neither = len(case.paths - read - named)
    calls = [event for event in outcome["events"] if event["kind"] == "call_ended"]
    answering = sum(call["duration_seconds"] for call in calls)
    parts = outcome["events"][0]["shards"]
    return [
        ("outcome", outcome["outcome"].replace("_", " "), f"calls: {len(calls)}, parts: {parts}"),
        ("peak memory of the harness", f"{run.peak_mb:.0f} MB", held(run.peak_mb, BAR_MEGABYTES, "MB")),
        ("files neither read nor named", f"{neither:,}", held(neither, 0, "files")),
        ("files read", f"{len(read):,} of {len(case.lines):,}", f"{len(named):,} named as unread, or read in part"),
        ("changed lines in executors' prompts", f"{lines:,} of {sum(case.lines.values()):,}", ""),
        ("files said to be read, not shown whole", f"{unshown:,}", held(unshown, 0, "files")),
        ("time", f"{run.seconds:.1f} s", f"{answering:.1f} s of it are the embedded agent's answers"),
        ("time of the harness", f"{run.seconds - answering:.1f} s", "the rest"),
    ]


def peer_rows(case: Case, folder: Path) -> list[Row]:
    """The same diff through pr-agent, whose model answers at once; how it comes, and at its most thorough."""
    executable = _pr_agent.installed()
    if executable is None:
        return [_pr_agent.NOT_INSTALLED]
    diff = folder / "change.diff"
    diff.write_bytes(case.diff)
    rows: list[Row] = []
    name = f"pr-agent {_pr_agent.version(executable)}"
    for how, settings in (("as it comes", _pr_agent.AS_IT_COMES), ("in chunks", _pr_agent.IN_CHUNKS)):
        made = _pr_agent.review_diff(executable, diff, settings)
        whole, lines = case.shown(made.prompts)
        used = f"calls: {len(made.prompts)}, {made.run.seconds:.1f} s, {made.run.peak_mb:.0f} MB"
        review_said = "" if made.published else "; no review was published"
        shown = f"{len(whole):,} of {len(case.lines):,}"
        rows.append((f"{name}, {how}: files shown whole", shown, f"{lines:,} lines; {used}{review_said}"))
    return rows


def many(files: int) -> Callable[[Path], Case]:
    """So many files with 100 changed lines each."""

    def make(folder: Path) -> Case:
        make_many(folder / "many", files)
        title = f"{files:,} files, {files * CHANGED_LINES_EACH:,} changed lines"
        return Case(title, folder / "many", f"files-{files}", dict.fromkeys(range(files), CHANGED_LINES_EACH))

    return make


def one(lines: int) -> Callable[[Path], Case]:
    """One file with so many new lines."""

    def make(folder: Path) -> Case:
        make_one(folder / "one", lines)
        return Case(f"one file, {lines:,} changed lines", folder / "one", "head", {LONG_FILE: lines})

    return make


def compares(row: Row) -> bool:
    """Whether a row stands to a bar or tells the same of both bots."""
    return has_bar(row) or row[0] in ("files read", "time") or row[0].startswith("pr-agent")


def main() -> None:
    """Review both changes, and tell what came of it."""
    parser = command_line(__doc__)
    parser.add_argument("--files", type=int, default=1_000)
    parser.add_argument("--lines", type=int, default=120_000, help="of the one long file")
    chosen = parser.parse_args()
    tables: dict[str, list[Row]] = {}
    for make in (many(chosen.files), one(chosen.lines)):
        with tempfile.TemporaryDirectory(prefix="bench-") as name:
            folder = Path(name)
            case = make(folder)
            run, outcome, prompts = review(case, folder)
            tables[case.title] = [*review_rows(case, run, outcome, prompts), *peer_rows(case, folder)]
    tell(Path(__file__).stem, tables, write=chosen.write, on_page=compares)


if __name__ == "__main__":
    main()
