"""The command line as its users meet it: with an environment, a current folder, and what it leaves behind.

``Terminal.run`` runs a command in this process, because a process of its own would take most of a test's time.
``Terminal.process`` starts the installed command: for what a process has of its own, such as signals and streams.
"""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.git_repository import Repo, made_once

from review_advisor.app import main as cli
from review_advisor.app.agent_choice import AgentChoice
from review_advisor.app.review import ReviewOptions, Selection, StoredReview, run_review
from review_advisor.review.events import Event
from review_advisor.safety.interruption import INTERRUPTION

BOT = Path(sys.executable).with_name("review-advisor")
_PATIENT = "from review_advisor import __main__ as process; process._ALL_SECONDS = {}; {}process.main()"
STUCK_BOT = (sys.executable, "-P", "-c", _PATIENT.format(60.0, ""))
PATIENT_BOT = (sys.executable, "-P", "-c", _PATIENT.format(60.0, "process._GRACE_SECONDS = 60.0; "))
"""The same command for who sends it signals: a busy machine, on which it ends late, must not fail a test.

The stuck one gets no longer than usual to end by itself, because it never does.
"""
APPROVE = {"answer": {"verdict": "approve", "summary": "fine", "confidence": 0.9}}
CONFIRM = {"answer": {"verdict": "APPROVE", "reasoning": "so it is"}}
LAST_COMMIT = ("--range", "HEAD~1..HEAD")
CREDENTIAL = {"ANTHROPIC_API_KEY": "none-needed"}
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
        """What the command gets, and what coverage needs to follow it."""
        followers = ("COVERAGE_", "PYTHONPATH")
        followed = {name: value for name, value in os.environ.items() if name.startswith(followers)}
        own = {"PATH": f"{BOT.parent}:{os.environ['PATH']}", "TMPDIR": str(self.temporary), "LC_ALL": "C.UTF-8"}
        own |= {"XDG_RUNTIME_DIR": str(self.private), "XDG_STATE_HOME": str(self.temporary.with_name("state"))}
        return {**followed, **own, **self.environ, **(more or {})}

    def run(self, *words: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Done:
        """Run the command to its end; its temporary folder is empty again and nothing of it still runs."""
        done = in_this_process(words, self.environment(env), cwd or self.folder)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("tempfile.tempdir", str(self.temporary))
            INTERRUPTION.leave()  # as a process does at its end
        self.assert_nothing_left()
        return done

    def process(
        self,
        *words: str | Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        before: Callable[[], None] | None = None,
    ) -> Done:
        """The same by the installed command, in a process of its own.

        ``before`` happens in the new process. Coverage does not follow it there, where it may not find its feet, and
        no bytecode is kept: on a full disk Python stores half of a module and says nothing.
        """
        unmeasured = {name: "" for name in os.environ if name.startswith("COVERAGE_")} if before else {}
        alone = {**unmeasured, "PYTHONDONTWRITEBYTECODE": "1"} if before else {}
        done = subprocess.run(
            [str(BOT), *map(str, words)],
            cwd=cwd or self.folder,
            env=self.environment({**(env or {}), **alone}),
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
    def agreeing(self) -> Path:
        """A ``claude`` that approves and agrees."""
        claude = self.temporary.with_name("agreeing") / "claude"
        if not claude.exists():
            claude.parent.mkdir()
            agreeing_claude(claude.parent)
        return claude

    @property
    def private(self) -> Path:
        """The user's own folder for what is running."""
        folder = self.temporary.with_name("of-the-user")
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def review(
        self,
        *words: str | Path,
        of: Sequence[str | Path] = LAST_COMMIT,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Done:
        """A review by a ``claude`` that approves and agrees."""
        given = {**CREDENTIAL, **(env or {})}
        return self.run("review", "--claude-bin", self.agreeing, *of, *words, env=given, cwd=cwd)

    def examine(self, *words: str | Path, env: Mapping[str, str] | None = None) -> Done:
        """A review of the last commit by the embedded agent: real static checks, and many times as slow."""
        return self.run("review", "--agent", "embedded", *LAST_COMMIT, *words, env=env)

    def start(
        self,
        *words: str | Path,
        env: Mapping[str, str] | None = None,
        bot: Sequence[str] = PATIENT_BOT,
        stdin: int = subprocess.DEVNULL,
    ) -> subprocess.Popen[str]:
        """Start the command, to send it signals, and go on."""
        return subprocess.Popen(
            [*bot, *map(str, words)],
            cwd=self.folder,
            env=self.environment(env),
            stdin=stdin,
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


def in_this_process(words: Sequence[str | Path], environ: Mapping[str, str], folder: Path) -> Done:
    """Run the command line here, with this environment and current folder, until it returns its exit code."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(folder)
        patch.setattr("tempfile.tempdir", environ["TMPDIR"])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
        patch.setattr(sys, "excepthook", sys.excepthook)  # the command line puts its own there
        for name in tuple(os.environ):
            patch.delenv(name)
        for name, value in environ.items():
            patch.setenv(name, value)
        code = cli.run([str(word) for word in words])
    told = []
    for stream in (out, err):
        stream.flush()
        told.append(stream.buffer.getvalue().decode())
    assert "Traceback" not in told[1], told[1]
    return Done(code, *told)


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
    made_once(path, _versions, *(texts or ("x = 1\n", "x = 1\ny = 2\n")))
    return Repo(path)


def _versions(path: Path, *texts: str) -> None:
    repo = Repo(path)
    for number, text in enumerate(texts):
        repo.write("app.py", text)
        repo.commit(f"Version {number}")


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
    """A review in this process, answered from a script by a ``claude`` that plays it."""
    player = executable(replies.with_name("player") / "claude", _PLAYER.format(python=sys.executable, script=replies))
    chosen = ReviewOptions(
        repo=repo,
        selection=options.pop("selection", Selection("range", "HEAD~1..HEAD")),
        agent=options.pop("agent", AgentChoice("claude", str(player))),
        artifacts=options.pop("artifacts", repo.parent / "logs"),
        **options,
    )
    given = {"PATH": os.environ["PATH"], **CREDENTIAL, **(environ or {})}
    return run_review(chosen, given, subscriber, lambda sentence: None)


# As ``embedded --script`` does, which speaks the whole contract and takes ten times as long to start. What was played
# is counted the same way. A question without a reply left ends the call.
_PLAYER = """#!{python} -IS
import json, sys

if "--version" in sys.argv:
    print("2.1.329 (Claude Code)")
    sys.exit()
from pathlib import Path

question = json.loads(sys.argv[sys.argv.index("--json-schema") + 1])["title"]
sys.stdin.buffer.read()
counter = Path("{script}.played", question + ".count")
counter.parent.mkdir(exist_ok=True)
number = int(counter.read_text()) if counter.exists() else 0
reply = json.loads(Path("{script}").read_text())[question][number]
counter.write_text(str(number + 1))
say = lambda kind, **event: print(json.dumps({{"type": kind, **event}}), flush=True)
say("system", subtype="init", session_id="s", model="stub", tools=["StructuredOutput"])
if "edit" in reply:
    for path, text in reply["edit"].items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)
    reply = reply["then"]
if "error" in reply:
    failed = {{"api_error_status": reply["status"]}}
    say("assistant", error=reply["error"], **failed, message={{"model": "<synthetic>", "content": []}})
    say("result", subtype="success", is_error=True, **failed, result=reply["message"])
    sys.exit(1)
say("result", subtype="success", is_error=False, structured_output=reply["answer"], total_cost_usd=0.01)
"""


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
    """A ``claude`` that approves, and confirms what it approved, also as a member of a council."""
    weights = json.dumps({"approve": 90, "request_changes": 5, "block": 5, "_tool": "approve"})
    answers: dict[str, Any] = {"ReviewReport": APPROVE["answer"], "PostVerifyResult": CONFIRM["answer"]}
    answers["MemberVote"] = {**answers["PostVerifyResult"], "calls": weights}
    cases = []
    for name, answer in answers.items():
        usage = {"input_tokens": 1, "output_tokens": 1}
        result = {"type": "result", "subtype": "success", "is_error": False, "result": "", "usage": usage}
        told = folder / f"{name}.json"
        told.write_text(json.dumps({**result, "structured_output": answer, "total_cost_usd": 0.01}) + "\n")
        cases.append(f"""*'"title": "{name}"'*) cat '{told}';;""")
    return fake_claude(folder, then="\n".join(["cat > /dev/null", 'case "$*" in', *cases, "*) exit 1;;", "esac"]))
