"""The workflows that this project ships or writes, parsed, and the steps of its action, to be looked at or run."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from review_advisor.app.init import evaluation_text, workflow_text

ROOT = Path(__file__).parents[2]
ACTION_FILE = ROOT / "action.yml"
PINNED = "some-owner/review-advisor@" + "0123456789" * 4

Parsed = dict[str, Any]


def parsed(text: str) -> Parsed:
    """A workflow or an action. YAML 1.1 reads the key ``on`` as a truth value."""
    document: dict[Any, Any] = yaml.safe_load(text)
    return {"on" if key is True else key: value for key, value in document.items()}


def own_workflow() -> str:
    """The one that reviews this repository."""
    return (ROOT / ".github" / "workflows" / "review.yml").read_text(encoding="utf-8")


def written_workflow() -> str:
    """The one that ``init`` writes."""
    return workflow_text(PINNED)


def every_workflow() -> dict[str, str]:
    """All of them by name."""
    shipped = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / ".github" / "workflows").glob("*.yml")}
    return {**shipped, "written by init": written_workflow(), "written by init --evaluation": evaluation_text(PINNED)}


def strings(value: object, where: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a document, with the keys that lead to it; a step counts by its number."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from strings(inner, f"{where}.{key}".lstrip("."))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from strings(inner, f"{where}[{number}]")
    elif isinstance(value, str):
        yield where, value


def steps(document: Parsed) -> list[Parsed]:
    """Every step of every job, or of a composite action."""
    parts = document["jobs"].values() if "jobs" in document else [document["runs"]]
    return [step for part in parts for step in part["steps"]]


def action_step(name: str) -> Parsed:
    """A step of the action by its name."""
    action = parsed(ACTION_FILE.read_text(encoding="utf-8"))
    return next(step for step in steps(action) if step.get("name") == name)


@dataclass(frozen=True)
class Runner:
    """What a step finds on a runner: a workspace, a temporary folder, and only the variables that GitHub gives."""

    folder: Path

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    @property
    def temporary(self) -> Path:
        return self.folder / "temp"

    def prepare(self) -> None:
        for place in (self.workspace, self.temporary / "review-advisor"):
            place.mkdir(parents=True)

    def run(self, step: Parsed, values: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        """Run a step's script as GitHub does; ``values`` stand in for the expressions in its ``env``."""
        given = {name: self._filled(str(value), values) for name, value in step.get("env", {}).items()}
        known = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "RUNNER_TEMP": str(self.temporary),
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_REPOSITORY": "octo/demo",
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "GITHUB_RUN_ID": "4711",
        }
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
        environment = {**known, **given}
        return subprocess.run(command, cwd=self.workspace, env=environment, capture_output=True, text=True, check=False)

    @staticmethod
    def _filled(expression: str, values: Mapping[str, str]) -> str:
        name = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", expression)
        return values.get(name[1], "") if name else expression
