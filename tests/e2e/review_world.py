"""A world for whole reviews: a real repository, the real CLI, and an API in which every role has its own script.

A role is recognised by what only the harness chooses: the schema of the StructuredOutput tool, and the CLI's
billing block for subagents. A reply that was scripted and never asked for fails the test, like a request that
nobody scripted.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from tests.adapters.git_repository import Repo
from tests.e2e.review_answers import CODE_FILE, code
from tests.e2e.stub_api import Reply, Request, StubApi

from review_advisor.agents.mid_flight import ConsultNote
from review_advisor.agents.transcript import Attempt
from review_advisor.app.agent_choice import AgentChoice
from review_advisor.app.review import ReviewOptions, Selection, run_review
from review_advisor.policy import settings
from review_advisor.policy.policy import RepairMode
from review_advisor.policy.surfaces import REVIEW_ROLES, Role
from review_advisor.review.document import OutcomeDocument, outcome_json, read_outcome
from review_advisor.review.events import CallEnded, ReviewStopped
from review_advisor.review.rulings import Outcome

PRE_FLIGHT, EXECUTOR, MID_FLIGHT, POST_VERIFY = Role.PRE_FLIGHT, Role.EXECUTOR, Role.MID_FLIGHT, Role.POST_VERIFY
KEY = "the-stubs-api-key-that-no-prompt-may-carry"
FORGE_TOKEN = "the-forge-token-that-no-prompt-may-carry"
HOME_CANARY = "canary-in-the-users-home"

_ROLE_BY_SCHEMA = {
    "ReviewPlan": PRE_FLIGHT,
    "ReviewReport": EXECUTOR,
    "Recommendation": MID_FLIGHT,
    "PostVerifyResult": POST_VERIFY,
    "BriefVotes": POST_VERIFY,
}
_READING = frozenset({"Read", "Grep", "Glob"})
_TOOLS: dict[Role, frozenset[str]] = {
    PRE_FLIGHT: frozenset({"StructuredOutput"}),
    EXECUTOR: _READING | {"StructuredOutput", "Agent"},
    MID_FLIGHT: _READING,
    POST_VERIFY: _READING | {"StructuredOutput"},
}
_MODELS: dict[Role, str] = {
    PRE_FLIGHT: "claude-opus-5-5",
    EXECUTOR: "claude-sonnet-5-5",
    MID_FLIGHT: "claude-opus-5-5",
    POST_VERIFY: "claude-opus-5-5",
}
_FENCE = re.compile(r"<<<UNTRUSTED (\w+) ([0-9a-f]+)\n(.*?)\n\1 \2 UNTRUSTED>>>", re.DOTALL)
_NONCE = re.compile(r"This is review run_\w+\. Its nonce is ([0-9a-f]+)\.$", re.MULTILINE)


def role_of(request: Request) -> Role:
    """Whose request it is."""
    if request.role == "advisor":
        return MID_FLIGHT
    (schema,) = (tool["input_schema"] for tool in request.body["tools"] if tool["name"] == "StructuredOutput")
    if "one of several advisors who judge alone" in request.prompt:
        return POST_VERIFY
    return _ROLE_BY_SCHEMA[schema["title"]]


def nonce_of(request: Request) -> str:
    """The nonce that the prompt of a main loop states."""
    return str(_NONCE.findall(request.prompt)[0])


def fences(request: Request) -> dict[str, str]:
    """What stands inside each fence of a prompt, by label; only fences with the prompt's own nonce count."""
    nonce = nonce_of(request)
    return {label: inside for label, its, inside in _FENCE.findall(request.prompt) if its == nonce}


def may_repair(request: Request) -> bool:
    """Whether our own words in the prompt give leave to edit."""
    return "\n\nYou may repair what the transcript rightly demands." in request.prompt


_IS_REPAIRED = "This is a review of the whole change"
"""The instructions of the surface on which an attempt may get leave to edit."""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A review that is over, as its reader finds it."""

    document: OutcomeDocument
    folder: Path

    @property
    def end(self) -> tuple[Outcome, int]:
        """Outcome and exit code."""
        return self.document.outcome, self.document.exit_code

    @property
    def why(self) -> str:
        """The reasons of the outcome, in one text."""
        return "\n".join(self.document.because)

    @property
    def stopped_by(self) -> str:
        """Why the review could not go on."""
        (stop,) = (event for event in self.document.events if isinstance(event, ReviewStopped))
        return stop.reason

    @property
    def consults(self) -> tuple[ConsultNote, ...]:
        """Every consult of the first surface's first part."""
        return self.document.surfaces[0].parts[0].consults

    @property
    def judged(self) -> tuple[Attempt, ...]:
        """Every judgement of the first surface's first part."""
        return self.document.surfaces[0].parts[0].post_verify

    @property
    def calls(self) -> list[tuple[str, str, str]]:
        """Each call that ended: role, how, and why."""
        ended = (event for event in self.document.events if isinstance(event, CallEnded))
        return [(call.role.value, call.ended, call.reason) for call in ended]

    def text(self, name: str) -> str:
        """One artefact."""
        return (self.folder / name).read_text(encoding="utf-8")


@dataclass
class ReviewWorld:
    """One repository, one account, one folder for artefacts.

    ``models`` and ``tools`` are what a role's requests must show; ``without_consults`` are the executors'
    requests that may not offer the Agent tool.
    """

    api: StubApi
    claude: Path
    root: Path
    models: dict[Role, str] = field(default_factory=lambda: dict(_MODELS))
    tools: dict[Role, frozenset[str]] = field(default_factory=lambda: dict(_TOOLS))
    without_consults: list[Request] = field(default_factory=list)
    repairs: bool = True

    def __post_init__(self) -> None:
        self.repo = Repo(self.root / "repo")
        self.home = self.root / "home"
        self.private = self.root / "private"
        self.own = self.root / "own"
        self.own.mkdir(mode=0o700)
        for folder in (self.home, self.private):
            folder.mkdir()
        (self.home / "x").write_text(HOME_CANARY)
        self._queues: dict[Role, deque[Reply]] = {role: deque() for role in REVIEW_ROLES}
        self._functions: dict[Role, Callable[[], Reply]] = {}
        self.api.script(self._reply)
        self.repo.write("README.md", "a small library\n")
        self.repo.write(".review-advisor.toml", "")
        self.repo.commit("the beginning")

    # --- the change --------------------------------------------------------------------------------------

    def change(self, files: Mapping[str, str] | None = None, message: str = "a change") -> None:
        """Commit the change under review; by default 25 lines of code, enough for a plan, blast radius low."""
        for name, content in (files or {CODE_FILE: code(25)}).items():
            self.repo.write(name, content)
        self.repo.commit(message)

    # --- the script --------------------------------------------------------------------------------------

    def says(self, role: Role, *replies: Reply) -> None:
        """The next replies to one role's requests, in order."""
        self._queues[role].extend(replies)

    def answers(self, role: Role, function: Callable[[], Reply]) -> None:
        """Ask ``function`` for every reply to one role, however many requests it makes."""
        self._functions[role] = function

    def _reply(self, request: Request) -> Reply | None:
        if function := self._functions.get(role_of(request)):
            return function()
        queue = self._queues[role_of(request)]
        if not queue:
            return None
        return queue[0] if queue[0].forever else queue.popleft()

    # --- what was asked ----------------------------------------------------------------------------------

    @property
    def asked(self) -> list[str]:
        """The role of every request so far, in order."""
        return [role_of(request).value for request in list(self.api.requests)]

    def of(self, role: Role) -> list[Request]:
        """One role's requests so far."""
        return [request for request in list(self.api.requests) if role_of(request) is role]

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something to happen."""
        deadline = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < deadline, f"so far asked: {self.asked}"
            time.sleep(0.02)

    # --- reviews -----------------------------------------------------------------------------------------

    def environ(self, **more: str) -> dict[str, str]:
        """The environment of whoever starts a review."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TMPDIR": str(self.private),
            "XDG_RUNTIME_DIR": str(self.own),
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": self.api.url,
            "GITHUB_TOKEN": FORGE_TOKEN,
            **more,
        }

    def review(
        self,
        revisions: str = "HEAD~1..HEAD",
        *,
        config: str = "",
        body: str = "",
        spec: str = "",
        patch: bytes = b"",
        jobs: int = 1,
        repair: RepairMode = "suggest",
        outage_wait: float = 0.0,
        environ: Mapping[str, str] | None = None,
    ) -> Reviewed:
        """A whole review in this process. ``config``, ``body``, ``spec`` and ``patch`` are texts.

        It waits ``outage_wait`` seconds for an outage to end, and for no rate limit.
        """
        self.repairs = repair != "off"
        options = ReviewOptions(
            repo=self.repo.path,
            selection=Selection("patch", str(self._file("change.patch", patch)))
            if patch
            else Selection("range", revisions),
            agent=AgentChoice("claude", str(self.claude)),
            jobs=jobs,
            repair=repair,
            artifacts=self.root / "artefacts",
            config=self._file("config.toml", config.encode()) if config else None,
            body_file=self._file("body.md", body.encode()) if body else None,
            spec_file=self._file("spec.md", spec.encode()) if spec else None,
        )
        warnings: list[str] = []
        before = len(self.api.requests)
        with mock.patch.multiple(settings, BUSY_TRIES=0, WAIT_SECONDS=outage_wait):
            stored = run_review(options, self.environ(**(environ or {})), lambda event: None, warnings.append)
        assert warnings == []
        self._check_artefacts(stored.document, stored.folder)
        made = [request for request in self.api.requests[before:] if role_of(request) is not MID_FLIGHT]
        assert len({nonce_of(request) for request in made}) <= 1, "one review has one nonce"
        return Reviewed(stored.document, stored.folder)

    def console(self, *arguments: str, **environ: str) -> subprocess.Popen[str]:
        """The real console script, reviewing the same change from inside the repository."""
        script = Path(sys.executable).with_name("review-advisor")
        where = ("--range", "HEAD~1..HEAD", "--artifacts", str(self.root / "artefacts"))
        return subprocess.Popen(
            [str(script), "review", *where, "--claude-bin", str(self.claude), *arguments],
            cwd=self.repo.path,
            env=self.environ(**environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def stored(self) -> Reviewed:
        """What the console script left in its folder of artefacts."""
        (path,) = (self.root / "artefacts").glob("*/outcome.json")
        document = read_outcome(path.read_bytes())
        self._check_artefacts(document, path.parent)
        return Reviewed(document, path.parent)

    def clear_up_after_a_kill(self) -> None:
        """End and remove what a console script that got SIGKILL could not."""
        for process in processes_of(self.private):
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
        self.until(lambda: not processes_of(self.private))
        for left in self.private.iterdir():
            shutil.rmtree(left)

    def _file(self, name: str, content: bytes) -> Path:
        path = self.root / name
        path.write_bytes(content)
        return path

    # --- what holds in every story -----------------------------------------------------------------------

    def _check_artefacts(self, document: OutcomeDocument, folder: Path) -> None:
        assert (folder / "outcome.json").read_text(encoding="utf-8") == outcome_json(document)
        assert (folder / "report.txt").read_text(encoding="utf-8").strip()
        rows = [json.loads(row) for row in (folder / "advisor_session.jsonl").read_text().splitlines()]
        ended = [event for event in document.events if isinstance(event, CallEnded)]
        assert [(row["role"], row["ended"]) for row in rows] == [(call.role.value, call.ended) for call in ended]
        assert (folder / "preflight.json").exists() == (document.surfaces[0].plan is not None)
        offered = (folder / "repair.patch").read_text() if (folder / "repair.patch").exists() else None
        assert offered == (document.repair.patch if document.repair is not None else None)
        ends = [part.ended for surface in document.surfaces for part in surface.parts if part.ended]
        disagreed = any(end.outcome is Outcome.ESCALATED for end in ends)
        assert (folder / "transcript.md").exists() == disagreed
        kept = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
        assert KEY.encode() not in kept
        assert FORGE_TOKEN.encode() not in kept

    def check(self) -> None:
        """After every story: nothing unplayed, nothing left behind, and no request that any role may not make."""
        unplayed = {role.value: len(queue) for role, queue in self._queues.items() if queue and not queue[0].forever}
        assert not unplayed, f"scripted but never asked for: {unplayed}; asked: {self.asked}"
        assert list(self.private.iterdir()) == [], "no temporary folder may be left"
        assert processes_of(self.private) == [], "no process may be left"
        for request in self.api.requests:
            self._check_request(request)

    def _check_request(self, request: Request) -> None:
        role = role_of(request)
        assert request.model == self.models[role]
        tools = self.tools[role]
        if role is MID_FLIGHT and request.role != "advisor":  # the harness asks, by a call of its own
            tools = _READING | {"StructuredOutput"}
        offered = tools - {"Agent"} if request in self.without_consults else tools
        editing = frozenset(request.tools) - offered
        assert offered <= frozenset(request.tools)
        assert editing in (frozenset(), {"Edit", "Write"})
        assert not editing or (role is EXECUTOR and self.repairs and _IS_REPAIRED in request.system)
        assert editing or not may_repair(request)
        assert request.headers["x-api-key"] == KEY
        body = json.dumps(request.body)
        for secret in (KEY, FORGE_TOKEN, HOME_CANARY):
            assert secret not in body
        if role is not MID_FLIGHT:
            assert request.prompt.count(nonce_of(request)) == 1 + 2 * len(fences(request)), "a fence is open"


@dataclass(frozen=True, slots=True)
class Process:
    """A process that runs somewhere on this machine."""

    pid: int
    command: str


def processes_of(folder: Path) -> list[Process]:
    """All processes whose environment mentions ``folder``."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and str(folder).encode() in (entry / "environ").read_bytes():
                found.append(Process(int(entry.name), (entry / "cmdline").read_text()[:200]))
        except OSError:
            continue
    return found


def end(process: subprocess.Popen[str], *signals: signal.Signals) -> tuple[int, str, str]:
    """Send ``signals``, wait, and return exit code, stdout and stderr."""
    for each in signals:
        process.send_signal(each)
    try:
        out, err = process.communicate(timeout=110)
    finally:
        process.kill()
    return process.returncode, out, err
