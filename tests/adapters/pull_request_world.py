"""Pull requests on the simulated GitHub, and the shipped workflow: an event in, its three commands, what then stands.

The API is the model behind its HTTP door, the repository a bare one that git fetches from, the models an executable
named ``claude`` that answers from a script. Each job has the token that the workflow grants it, and the variables that
GitHub Actions gives. The commands run in this process, through the command line's own entry: a process of its own for
each would take most of the time. ``Actions(by_steps=True)`` runs the steps of action.yml instead, as a runner does.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pytest
from tests.adapters.command_line import Done, executable, in_this_process, processes_that_know, wait_for
from tests.adapters.git_remote import NAME, Served
from tests.adapters.git_repository import Repo, made_once
from tests.adapters.github.door import Door, opened
from tests.adapters.github.webhook_events import Events, PullAction
from tests.adapters.scripted_models import Asked, Models
from tests.project.workflow_files import ROOT, action_step, own_workflow, parsed
from tests.unit.forge_text.sarif_standard import offences

from review_advisor.change.pull_request import Permission
from review_advisor.github import writer as patience
from review_advisor.github.state import SUMMARY, StandingComment, State, read_state
from review_advisor.ledger.chain import LEDGER_FILE
from review_advisor.mockworld.github import Contents, GitHub, second_of
from review_advisor.mockworld.github_records import CheckRun, IssueComment, Pull, Review, ReviewThread
from review_advisor.policy.pull_request_rules import ACTIONS_LOGIN
from review_advisor.review.observed import JUDGED_AFTER

Json = dict[str, Any]

OWNER, AUTHOR, MAINTAINER, STRANGER = "octo", "mona", "maria", "eve"
WORKFLOW = ".github/workflows/review-advisor.yml"
APP, OTHER = "src/app.py", "src/other.py"
LINES = "".join(f"value = {number}\n" for number in range(1, 31))
BASE: Contents = {APP: LINES, OTHER: LINES}
KEY = "sk-ant-" + "api03-Wq8_kT3-vN5mXz7RbL2pYc9JdH6sFg4A"
TOKENS = {
    "begin": "ghs_" + "Bq7ZkT3vN5mXw7RbL2pYc9JdH6sFg4A8eUa1",
    "review": "ghs_" + "Rj2YhV8cM4nKz6QtP9xWd3LsG7bFa5E1uOi0",
    "publish": "ghs_" + "Pd6XgC1bJ9mHr4TwS7zVk2NqL5yFe8A3iUo6",
    "observe": "ghs_" + "Ob3KtW8mZ5rYc1QhV6xNs9DgJ4pLf7E2aBu0",
}
SECRETS = (KEY, *TOKENS.values())
JOBS: Json = parsed(own_workflow())["jobs"]


@dataclass
class WorkflowRun:
    """One run of the workflow. ``told`` is what `begin` put out, ``done`` how each job that ran has ended."""

    actions: Actions
    name: str
    number: int
    place: Path
    told: dict[str, str] = field(default_factory=dict)
    done: dict[str, Done] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)

    @property
    def outcome(self) -> Path:
        """Where `review` leaves the outcome, and where `publish` finds the artifact."""
        return self.place / "review-advisor" / "outcome.json"

    @property
    def home(self) -> Path:
        return self.place / "review-advisor"

    def begin(self) -> WorkflowRun:
        """The first job."""
        ended = self.attempt_to_begin()
        assert ended.code == 0, ended.err
        self.told = dict(line.split("=", 1) for line in (self.place / "output").read_text().splitlines())
        return self

    def attempt_to_begin(self) -> Done:
        """The first job, which may fail."""
        return self._job("begin", "Read what the event asks for", ("begin", "--event", self.place / "event.json"))

    def review(self) -> WorkflowRun:
        """The second job: what is asked of the models stands in ``asked``."""
        before = len(self.actions.models.asked)
        self.actions.git.clone(self.place / "workspace")
        named = ("--pr", self.told["pull-request"], "--head", self.told["head-sha"], "--memory", self.told["memory"])
        most = ("--most-usd", usd) if (usd := self.told["most-usd"]) else ()
        consult = ("--consult",) if self.told.get("consult") == "true" else ()
        places = ("--artifacts", self.home / "logs", "--output", self.outcome, "--claude-bin", self.actions.models.path)
        self._job("review", "Review", ("review", *named, *most, *consult, "--repo", self.place / "workspace", *places))
        self.asked = self.actions.models.asked[before:]
        return self

    def publish(self) -> WorkflowRun:
        """The third job, with the artifact of the second, if it left one."""
        ended = self._job("publish", "Publish", self.publishing())
        assert ended.code == 0, ended.err
        return self

    def publishing(self) -> tuple[str | Path, ...]:
        """Its command; the artifact is fetched."""
        fetched = self.home / "fetched" / "outcome.json"
        fetched.parent.mkdir(parents=True, exist_ok=True)
        for left in self.outcome.parent.glob("outcome.*"):
            (fetched.parent / left.name).write_bytes(left.read_bytes())
        named = ("--pr", self.told["pull-request"], "--head", self.told["head-sha"])
        asked = ("--asked",) if self.told["asked"] == "true" else ()
        return ("publish", fetched, *named, *asked, "--sarif", self.home / "findings.sarif")

    def observe(self, *words: str | Path) -> Done:
        """The job of a closed pull request, or ``words`` in the place of its event."""
        self.actions.git.clone(self.place / "workspace")
        named = words or ("--event", self.place / "event.json")
        places = ("--repo", self.place / "workspace", "--ledger", self.ledger)
        return self._job("observe", "Observe what became of it", ("observe", *places, *named))

    @property
    def ledger(self) -> Path:
        """What the run leaves for whoever merges ledgers."""
        return self.home / "logs" / LEDGER_FILE

    @property
    def began(self) -> bool:
        """Whether there is something to review."""
        return self.told["review"] == "true"

    def _job(self, job: str, step: str, words: tuple[str | Path, ...]) -> Done:
        ended = self.done[job] = self.actions.perform(self, job, step, words)
        assert "Traceback" not in ended.err, ended.err
        return ended


@dataclass
class Actions:
    """GitHub, git and a runner, and everything that people do there in the words of a story."""

    github: GitHub
    door: Door
    git: Served
    models: Models
    folder: Path
    credentials: dict[str, str] = field(default_factory=lambda: {"ANTHROPIC_API_KEY": KEY})
    login: str = ACTIONS_LOGIN
    state_key: str = ""
    granted: frozenset[str] = frozenset()
    also: dict[str, str] = field(default_factory=dict)
    server: str = ""
    by_steps: bool = False
    runs: list[WorkflowRun] = field(default_factory=list)

    # --- what people do ---

    def opens(self, contents: Contents, *, by: str = AUTHOR, **about: Any) -> Pull:
        """Somebody opens a pull request against ``main``, or another ``base``."""
        self.git.work.git("checkout", "--quiet", "--detach", about.get("base", "main"))
        sha = self._commit(contents)
        pull = self.github.opens(NAME, contents, by=by, sha=sha, **about)
        self.git.push(f"{sha}:refs/pull/{pull.number}/head")
        return pull

    def pushes(self, pull: Pull, contents: Contents, **about: Any) -> str:
        """Somebody pushes to it; the new head."""
        self.git.work.git("checkout", "--quiet", "--detach", pull.head_sha)
        sha = self._commit(contents)
        self.git.push(f"{sha}:refs/pull/{pull.number}/head")
        return self.github.pushes(pull, contents, sha=sha, **about)

    def main_becomes(self, contents: Contents) -> str:
        """The default branch moves on; its new tip."""
        return self.branch_becomes("main", contents, by=OWNER)

    def branch_becomes(self, branch: str, contents: Contents, *, by: str = AUTHOR) -> str:
        """Somebody pushes to a branch, which is made from the default branch if it is new; its new tip."""
        known = branch in self.github.repository(NAME).branches
        self.git.work.git("checkout", "--quiet", *(() if known else ("-B",)), branch, *(() if known else ("main",)))
        sha = self._commit(contents)
        self.git.push(f"{branch}:refs/heads/{branch}")
        return self.github.commits(NAME, branch, contents, by=by, sha=sha)

    def merges(
        self, pull: Pull, how: Literal["merge", "squash", "rebase", "push"] = "merge", *, lately: bool = False
    ) -> str:
        """A maintainer merges it, so long ago that it is judged, or now; what the base branch ends with then."""
        work = self.git.work
        work.git("checkout", "--quiet", "main")
        work.at = None if lately else datetime.now(UTC) - JUDGED_AFTER
        if how == "merge":
            work.git("merge", "--quiet", "--no-ff", "--message", f"Merge #{pull.number}", pull.head_sha)
        elif how == "push":
            work.git("merge", "--quiet", "--ff-only", pull.head_sha)
        elif how == "squash":
            work.git("merge", "--quiet", "--squash", pull.head_sha)
            work.git("commit", "--quiet", "--message", f"A change (#{pull.number})")
        else:
            work.git("cherry-pick", f"main..{pull.head_sha}")
        at, work.at = second_of(work.at or datetime.now(UTC)), None
        self.git.push("main:refs/heads/main")
        return self.github.merges(pull, squashed=how != "merge", sha=work.rev("main"), at=at)

    def reverts(self, *arguments: str) -> str:
        """Somebody reverts a commit of the base branch, as git does it; the new tip."""
        self.git.work.git("checkout", "--quiet", "main")
        self.git.work.git("revert", "--no-edit", *arguments)
        self.git.push("main:refs/heads/main")
        return self.github.commits(NAME, "main", {}, by=OWNER, sha=self.git.work.rev("main"))

    def closed(self, pull: Pull, *, by: str = MAINTAINER) -> WorkflowRun:
        """The pull request is closed; the job that observes it has not run yet."""
        return self.event("pull_request_target", Events(self.github).pull_request("closed", pull, by=by))

    def _commit(self, contents: Contents) -> str:
        for path, content in contents.items():
            if content is None:
                (self.git.work.path / path).unlink()
            else:
                self.git.work.write(path, content)
        return self.git.work.commit()

    # --- the events they set off ---

    def starts(self, action: PullAction, pull: Pull, *, by: str = AUTHOR) -> WorkflowRun:
        """Something happened to the pull request; no job has run yet."""
        return self.event("pull_request_target", Events(self.github).pull_request(action, pull, by=by))

    def happens(self, action: PullAction, pull: Pull, *, by: str = AUTHOR) -> WorkflowRun:
        """Something happened to the pull request, and the workflow ran to its end."""
        return self.to_its_end(self.starts(action, pull, by=by))

    def pushed(self, pull: Pull, contents: Contents, *, by: str = AUTHOR) -> WorkflowRun:
        """Somebody pushed."""
        self.pushes(pull, contents, by=by)
        return self.happens("synchronize", pull, by=by)

    def labelled(self, pull: Pull, name: str, *, by: str) -> WorkflowRun:
        """Somebody put a label on."""
        self.github.labels(pull, name)
        return self.to_its_end(self.event("pull_request_target", Events(self.github).labeled(pull, name, by=by)))

    def said(self, pull: Pull, body: str, *, by: str) -> WorkflowRun:
        """Somebody commented."""
        comment = self.github.comments(pull, by=by, body=body)
        return self.to_its_end(self.event("issue_comment", Events(self.github).commented(pull, comment)))

    def queued(self, pull: Pull, *, behind: str = "") -> CheckRun:
        """A merge queue asks for the check of its commit; the check. ``behind`` is another queued commit below it."""
        sha = self.github.commits(NAME, f"gh-readonly-queue/main/pr-{pull.number}-{pull.head_sha}", {}, by=OWNER)
        payload = Events(self.github).queued(pull, by=OWNER, sha=sha)
        payload["merge_group"]["base_sha"] = behind or payload["merge_group"]["base_sha"]
        ran = self.event("merge_group", payload).begin()
        assert not ran.began
        (check,) = self.checks(sha)
        return check

    def event(self, name: str, payload: Json) -> WorkflowRun:
        """An event of which nothing has run yet."""
        number = len(self.runs) + 1
        place = self.folder / f"run-{number}"
        (place / "review-advisor").mkdir(parents=True)
        (place / "temporary").mkdir()
        (place / "of-the-user").mkdir(mode=0o700)
        (place / "event.json").write_text(json.dumps(payload))
        self.runs.append(WorkflowRun(self, name, number, place))
        return self.runs[-1]

    def to_its_end(self, ran: WorkflowRun) -> WorkflowRun:
        """All jobs that are due; a verdict is a result and no failure."""
        if ran.begin().began:
            ran.review().publish()
            assert ran.done["review"].code in (0, 10, 11, 12), ran.done["review"].err
        return ran

    # --- what stands ---

    def checks(self, commit: str) -> list[CheckRun]:
        """The bot's check runs on a commit."""
        return [run for run in self.github.repository(NAME).checks.values() if run.commit == commit]

    def check(self, pull: Pull) -> CheckRun:
        """The one check run on the present head."""
        (check,) = self.checks(pull.head_sha)
        return check

    def summaries(self, pull: Pull) -> list[IssueComment]:
        """The bot's sticky comments; there is never more than one."""
        return [each for each in pull.comments if each.author == self.login and each.body.startswith(SUMMARY)]

    def summary(self, pull: Pull) -> str:
        """What the one sticky comment says."""
        (summary,) = self.summaries(pull)
        return summary.body

    def state(self, pull: Pull) -> State:
        """What the bot remembers, as it stands hidden in that comment."""
        (summary,) = self.summaries(pull)
        comment = StandingComment(summary.id, summary.author, summary.body, summary.editor or "")
        found = read_state(comment, self.login)
        assert found is not None
        return found

    def statuses(self, pull: Pull) -> dict[str, str]:
        """The findings that it remembers, by their titles."""
        return {each.title: each.status for each in self.state(pull).findings}

    def answers(self, pull: Pull) -> list[str]:
        """What the bot said to people."""
        mine = [each.body for each in pull.comments if each.author == self.login]
        return [body for body in mine if not body.startswith(SUMMARY)]

    def reviews(self, pull: Pull) -> list[Review]:
        """The bot's reviews."""
        return [each for each in pull.reviews if each.author == self.login]

    def threads(self, pull: Pull) -> list[ReviewThread]:
        """The threads that its reviews opened."""
        return [thread for review in self.reviews(pull) for thread in review.threads]

    # --- the runner ---

    def perform(self, ran: WorkflowRun, job: str, step: str, words: tuple[str | Path, ...]) -> Done:
        """One job's command, with the variables and the token that the job has."""
        environ = self.environment(ran, job)
        if self.by_steps:
            return _step(step, environ, ran)
        return _in_process(words, environ, ran.place)

    def environment(self, ran: WorkflowRun, job: str) -> dict[str, str]:
        """The variables that a job has."""
        self._mint(job)
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(ran.place),
            "TMPDIR": str(ran.place / "temporary"),
            "XDG_RUNTIME_DIR": str(ran.place / "of-the-user"),
            "LC_ALL": "C.UTF-8",
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_REPOSITORY": NAME,
            "GITHUB_WORKFLOW_REF": f"{NAME}/{WORKFLOW}@refs/heads/main",
            "GITHUB_RUN_ID": str(9_000 + ran.number),
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_EVENT_NAME": ran.name,
            "GITHUB_EVENT_PATH": str(ran.place / "event.json"),
            "GITHUB_OUTPUT": str(ran.place / "output"),
            "GITHUB_STEP_SUMMARY": str(ran.place / "step-summary.md"),
            "GITHUB_WORKSPACE": str(ran.place / "workspace"),
            "GITHUB_SERVER_URL": self.server or f"file://{self.git.root}",
            "GITHUB_API_URL": self.door.url,
            "RUNNER_TEMP": str(ran.place),
            "GH_TOKEN": TOKENS[job],
            **self.also,
            **(self.credentials if job == "review" else {}),
            **({"REVIEW_ADVISOR_STATE_KEY": self.state_key} if job in ("begin", "publish") else {}),
        }

    def _mint(self, job: str) -> None:
        """The token of a job: what the workflow grants it, and nothing else."""
        slug = self.login.removesuffix("[bot]")
        granted = {f"{name.replace('-', '_')}:{kind}" for name, kind in JOBS[job]["permissions"].items()}
        made = self.github.app_token(slug, granted | (self.granted if job != "review" else frozenset()))
        self.github.tokens[made.account] = replace(made, value=TOKENS[job])

    # --- what holds at the end of every story ---

    def assert_sound(self) -> None:
        """One of everything, nothing unsaid, nothing left behind, and no secret anywhere."""
        assert self.models.unsaid == 0
        assert self.github.traffic.unmet == 0
        for pull in self.github.repository(NAME).pulls.values():
            assert len(self.summaries(pull)) <= 1
        checks = [
            (each.commit, each.name, each.external_id.partition("/")[0])
            for each in self.github.repository(NAME).checks.values()
        ]
        assert len(set(checks)) == len(checks)
        wait_for(lambda: processes_that_know(self.folder) == [])
        assert [path for ran in self.runs for path in (ran.place / "temporary").rglob("*")] == []
        for written in self.folder.rglob("*.sarif"):
            assert offences(written.read_text(encoding="utf-8")) == []
        self.assert_untold(*SECRETS)

    def assert_untold(self, *secrets: str) -> None:
        """None of these, in no usual spelling, reached GitHub, a file, the output or a model."""
        told = self.told()
        for secret in secrets:
            raw = secret.encode()
            for form in (raw, raw[::-1], raw.hex().encode(), base64.b64encode(raw).rstrip(b"=")[:-2], raw[12:]):
                assert [place for place, text in told.items() if form in text] == [], form

    def told(self) -> dict[str, bytes]:
        """Everything that left the commands, by where it went.

        Who pushed to a branch can only be asked by its name: GitHub gave that name, and is told nothing by it.
        """
        addresses = [
            each.address.partition("&ref=")[0] if "/activity?" in each.address else each.address
            for each in self.door.received
        ]
        bodies = [
            f"{each.method} {address}\n".encode() + each.body
            for each, address in zip(self.door.received, addresses, strict=True)
        ]
        told = {f"request {number}": body for number, body in enumerate(bodies)}
        for ran in self.runs:
            written = [path for path in ran.place.rglob("*") if path.is_file() and path.name != "event.json"]
            told |= {str(path): path.read_bytes() for path in written if "workspace" not in path.parts}
            told |= {f"{job} {ran.number}": (done.out + done.err).encode() for job, done in ran.done.items()}
        for number, asked in enumerate(self.models.asked):
            told[f"question {number}"] = json.dumps([asked.prompt, asked.environment]).encode()
        return told


def _in_process(words: tuple[str | Path, ...], environ: Mapping[str, str], place: Path) -> Done:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patience, "WAITS", (0.0, 0.0, 0.0))  # how long it waits, the scenarios hold to their own clock
        patch.setattr(patience, "LAGS", (0.0, 0.0))
        return in_this_process(words, environ, place)


def _step(name: str, environ: Mapping[str, str], ran: WorkflowRun) -> Done:
    """A step of action.yml as a runner runs it, after its steps that install something."""
    step = action_step(name)
    executable(ran.home / "venv" / "bin" / "python", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    for machine in ("x64", "arm64"):
        binary = ran.home / "cli" / "node_modules" / "@anthropic-ai" / f"claude-code-linux-{machine}" / "claude"
        executable(binary, f'#!/bin/sh\nexec {ran.actions.models.path} "$@"\n')
    secrets = {"anthropic-api-key": "ANTHROPIC_API_KEY", "state-key": "REVIEW_ADVISOR_STATE_KEY"}
    given_secrets = {name: environ.get(variable, "") for name, variable in secrets.items()}
    inputs = {**ran.told, "token": environ["GH_TOKEN"], **given_secrets}
    given = {
        variable: inputs.get(value.removeprefix("${{ inputs.").removesuffix(" }}"), "")
        for variable, value in step.get("env", {}).items()
    }
    coverage = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
        cwd=ran.place,
        env={**coverage, **environ, "GITHUB_ACTION_PATH": str(ROOT), **given},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def _begun(folder: Path) -> None:
    git = Served(folder / "served", Repo(folder / "work"))
    git.work.git("init", "--quiet", "--bare", str(git.bare))
    git.work.commit("Begin")
    for path in (APP, OTHER):
        git.work.write(path, LINES)
    git.work.commit()
    git.push("main:refs/heads/main")


@contextmanager
def acting(folder: Path) -> Iterator[Actions]:
    """A repository with two files of thirty lines on ``main``; at the end everything holds that always holds."""
    made_once(folder, _begun)
    git = Served(folder / "served", Repo(folder / "work"))
    github = GitHub()
    github.opens_repository(NAME, BASE)
    for login, permission in ((AUTHOR, Permission.WRITE), (MAINTAINER, Permission.MAINTAIN)):
        github.grants(NAME, login, permission)
    github.user(STRANGER)
    with opened(github) as door:
        actions = Actions(github, door, git, Models(folder / "models"), folder / "runner")
        github.commits(NAME, "main", BASE, by=OWNER, sha=git.work.rev("main"))
        yield actions
        actions.assert_sound()
