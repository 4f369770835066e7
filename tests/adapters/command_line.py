"""The installed command as its users meet it: a process with an environment, a folder, and what it leaves behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.adapters.git_repository import Repo

from review_advisor.app import ReviewOptions, StoredReview, run_review
from review_advisor.core.outcome.events import Event
from review_advisor.examination import AgentChoice
from review_advisor.opening import Selection

BOT = Path(sys.executable).with_name("review-advisor")
APPROVE = {"answer": {"verdict": "approve", "summary": "fine", "confidence": 0.9}}
CONFIRM = {"answer": {"verdict": "APPROVE", "reasoning": "so it is"}}
CLAUDE = "2.1.329 (Claude Code)"


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """The one sentence of a refusal: nothing on stdout, no traceback, nothing after or before it."""
        assert self.out == ""
        lines = [line for line in self.err.splitlines() if line]
        assert [line for line in lines if line.startswith("Error: ")] == lines[-1:], self.err
        return lines[-1].removeprefix("Error: ")


@dataclass
class Terminal:
    """A user's shell: a current folder, an environment without anything of this machine, and a temporary folder."""

    folder: Path
    temporary: Path
    environ: dict[str, str] = field(default_factory=dict)

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """What the command gets, and what coverage and ``tools/mutants.py`` need to follow it."""
        followers = ("COVERAGE_", "PYTHONPATH")
        followed = {name: value for name, value in os.environ.items() if name.startswith(followers)}
        own = {"PATH": f"{BOT.parent}:{os.environ['PATH']}", "TMPDIR": str(self.temporary), "LC_ALL": "C.UTF-8"}
        own["XDG_RUNTIME_DIR"] = str(self.private)
        return {**followed, **own, **self.environ, **(more or {})}

    def run(
        self,
        *words: str | Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        before: Callable[[], None] | None = None,
    ) -> Done:
        """Run the command to its end; its temporary folder is empty again and nothing of it still runs.

        ``before`` happens in the new process; coverage does not follow it there, where it may not find its feet.
        """
        unmeasured = {name: "" for name in os.environ if name.startswith("COVERAGE_")} if before else {}
        done = subprocess.run(
            [str(BOT), *map(str, words)],
            cwd=cwd or self.folder,
            env=self.environment({**(env or {}), **unmeasured}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=90,
            check=False,
            preexec_fn=before,
        )
        self.assert_nothing_left()
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        return Done(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))

    @property
    def private(self) -> Path:
        """The user's own folder for what is running."""
        folder = self.temporary.with_name("of-the-user")
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def review(self, *words: str | Path, env: Mapping[str, str] | None = None) -> Done:
        """A review of the last commit by the embedded agent."""
        return self.run("review", "--agent", "embedded", "--range", "HEAD~1..HEAD", *words, env=env)

    def start(self, *words: str | Path, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """Start the command and go on."""
        return subprocess.Popen(
            [str(BOT), *map(str, words)],
            cwd=self.folder,
            env=self.environment(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            bufsize=1,
            preexec_fn=_hears_its_terminal,  # noqa: PLW1509 (no thread is running here)
        )

    def assert_nothing_left(self) -> None:
        """Neither files in the temporary folder nor processes that were told of it."""
        assert [str(path) for path in self.temporary.rglob("*")] == []
        assert [path.name for path in self.private.rglob("*") if path.is_file() and path.name != "key"] == []
        wait_for(lambda: processes_that_know(self.temporary) == [])  # what was killed may still be ending


def _hears_its_terminal() -> None:
    """Whoever runs these tests may ignore hang-ups (nohup does), and children inherit that."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def wait_for(condition: Callable[[], object]) -> None:
    """Go on once it holds, which may take a busy machine a while. What never comes fails."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)


def processes_that_know(place: Path) -> list[str]:
    """The command lines of all living processes with ``place`` in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.fsencode(place) in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_text().replace("\0", " "))
        except OSError:  # it has just ended
            continue
    return found


def project(path: Path, *texts: str) -> Repo:
    """A repository with a commit for each version of ``app.py``."""
    repo = Repo(path)
    for number, text in enumerate(texts or ("x = 1\n", "x = 1\ny = 2\n")):
        repo.write("app.py", text)
        repo.commit(f"Version {number}")
    return repo


def lines(count: int) -> str:
    """So many lines of code."""
    return "".join(f"value_{number} = {number}\n" for number in range(count))


def script(folder: Path, **replies: Sequence[Any]) -> Path:
    """Scripted replies; by default one report that approves and one verdict that confirms it."""
    file = folder / "script.json"
    file.write_text(json.dumps({"ReviewReport": [APPROVE], "PostVerifyResult": [CONFIRM], **replies}))
    return file


def scripted_review(
    repo: Path,
    replies: Path,
    subscriber: Callable[[Event], None] = lambda event: None,
    environ: Mapping[str, str] | None = None,
    **options: Any,
) -> StoredReview:
    """A review in this process, answered from a script."""
    chosen = ReviewOptions(
        repo=repo,
        selection=options.pop("selection", Selection("range", "HEAD~1..HEAD")),
        agent=AgentChoice("embedded", embedded_script=replies),
        artifacts=options.pop("artifacts", repo.parent / "logs"),
        **options,
    )
    return run_review(chosen, {"PATH": os.environ["PATH"], **(environ or {})}, subscriber, lambda sentence: None)


def executable(path: Path, text: str) -> Path:
    """A program made for one test."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def fake_claude(folder: Path, version: str = CLAUDE, then: str = "exit 1") -> Path:
    """A ``claude`` that says its version; what else it does is up to the test."""
    return executable(folder / "claude", f'#!/bin/sh\n[ "$1" = --version ] && echo "{version}" && exit\n{then}\n')


def agreeing_claude(folder: Path) -> Path:
    """A ``claude`` that approves, and confirms what it approved."""
    answers: dict[str, Any] = {"ReviewReport": APPROVE["answer"], "PostVerifyResult": CONFIRM["answer"]}
    cases = []
    for name, answer in answers.items():
        usage = {"input_tokens": 1, "output_tokens": 1}
        result = {"type": "result", "subtype": "success", "is_error": False, "result": "", "usage": usage}
        told = folder / f"{name}.json"
        told.write_text(json.dumps({**result, "structured_output": answer, "total_cost_usd": 0.01}) + "\n")
        cases.append(f"""*'"title": "{name}"'*) cat '{told}';;""")
    return fake_claude(folder, then="\n".join(["cat > /dev/null", 'case "$*" in', *cases, "*) exit 1;;", "esac"]))
