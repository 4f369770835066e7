"""Which agent can review here."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from review_advisor.agents.calls import CliError
from review_advisor.agents.claude import locate
from review_advisor.agents.claude_argv import credential_present
from review_advisor.change.change import SourceError
from review_advisor.change.git import (
    NoGitError,
    NoRepositoryError,
    checkout_around,
    git_version,
    nearest_checkout,
    open_repository,
)
from review_advisor.github.forge import ForgeError
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.switches import SwitchError, read_jobs, read_switches
from review_advisor.safety.clock import SystemClock

Agent = Literal["claude", "embedded"]


EMBEDDED_EXTRAS = ("ruff",)


NO_EXTRA = "Install review-advisor with its `embedded` extra."


NO_CREDENTIAL = "No model credential: set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN, or configure Bedrock or Vertex."


@dataclass(frozen=True, slots=True)
class AgentChoice:
    """Who answers: the real CLI (``claude_bin`` or from PATH), or the embedded agent, scripted or not.

    ``staged``: the embedded agent plays the advisor as well, for the demo. Without it, only a script has an advisor.
    """

    agent: Agent = "claude"
    claude_bin: str = ""
    embedded_script: Path | None = None
    staged: bool = False

    @property
    def static(self) -> bool:
        """Whether static checks answer, without an advisor."""
        return self.agent == "embedded" and self.embedded_script is None and not self.staged


def agent_command(
    choice: AgentChoice, repo: Path, environ: Mapping[str, str], warn: Callable[[str], None]
) -> tuple[str, ...]:
    """The command that answers calls. Raises ``CliError`` with what is missing and how to get it."""
    if choice.agent == "embedded":
        missing = [name for name in EMBEDDED_EXTRAS if find_spec(name) is None]
        if missing:
            raise CliError(f"The embedded agent needs {' and '.join(missing)}. {NO_EXTRA}")
        script = ("--script", str(choice.embedded_script)) if choice.embedded_script else ()
        return (sys.executable, "-I", "-m", "review_advisor.agents.static", *script)
    cli = locate(choice.claude_bin, environ, checkout_around(repo))
    if not cli.tested:
        warn(f"claude {cli.version} is newer than the version this was tested with.")
    if not credential_present(environ):
        raise CliError(f"{NO_CREDENTIAL} `--agent embedded` runs without a model.")
    return (str(cli.path),)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing a review needs, and who needs it: an agent, or both. Everything else is advice.

    ``ok`` is None where it is not measured.
    """

    agent: Literal["claude", "embedded", "both", "github", "rules", "privacy", "fit", "security"]
    name: str
    ok: bool | None
    says: str


def repository_top(repo: Path) -> Path:
    """The top folder of the repository that ``repo`` lies in; ``repo`` itself if it lies in none.

    A folder above is one if git takes it for one, or without git if it is the user's own: anybody may put a ``.git``
    into a folder that all can write. Raises ``SourceError`` for one that git refuses or cannot read, so that nothing
    that stands there is lost in silence.
    """
    root, around = repo.resolve(), nearest_checkout(repo)
    if around == root:
        return root
    try:
        return open_repository(around).work_tree() or around
    except NoRepositoryError:
        return root
    except NoGitError:
        if {path.lstat().st_uid for path in (around, around / ".git")} != {os.geteuid()}:
            raise
        return around


def examine(environ: Mapping[str, str], claude_bin: str, repo: Path) -> tuple[Diagnosis, ...]:
    """What is there and what is missing for a review of ``repo``, with how to get it."""

    def claude() -> str:
        cli = locate(claude_bin, environ, None)
        return f"{cli.path}, version {cli.version}"

    def switches() -> str:
        read_switches(environ)
        read_jobs(environ)
        return "every variable that configures a review is readable"

    checks = [
        _tried("both", "git", git_version),
        _tried("both", "repository", lambda: str(open_repository(repo).git.folder)),
        _tried("both", "environment", switches),
        _tried("claude", "claude CLI", claude),
    ]
    known = credential_present(environ)
    checks.append(Diagnosis("claude", "credential", known, "configured (not tried)" if known else NO_CREDENTIAL))
    for name in EMBEDDED_EXTRAS:
        there = find_spec(name) is not None
        checks.append(Diagnosis("embedded", name, there, "installed" if there else NO_EXTRA))
    return tuple(checks)


def examine_github(repository: str, rules: PublicationRules, environ: Mapping[str, str]) -> tuple[Diagnosis, ...]:
    """Whether the token suffices, whether the check that the rules name can be forged, whose configuration applies."""
    from review_advisor.github.actions import SERVER, read_github
    from review_advisor.github.branch_rules import (
        base_remarks,
        gate_remarks,
        memory_remark,
        money_remark,
        open_gate,
        own_work_remark,
        shadow_remarks,
        workflow_remark,
    )

    try:
        github = read_github(environ)
        reader = open_gate(repository, token=github.token, api_url=github.api_url, clock=SystemClock())
        may_push = reader.may_push()
    except (SourceError, ForgeError) as problem:
        return (Diagnosis("github", "token", False, str(problem)),)
    says = "may push" if may_push else "may not push: it can read for a review, and its `publish` would be refused"
    token = Diagnosis("github", "token", may_push, f"GitHub takes the token for {repository}; its account {says}")
    try:
        gate = reader.gate(rules.login)
        enforced = (
            ()
            if rules.is_shadow
            else (
                memory_remark(reader.sealed(rules.check_name), rules.login),
                own_work_remark(rules.self_settle, reader.maintainers()),
            )
        )
        remarks = (
            *(shadow_remarks(gate, rules) if rules.is_shadow else gate_remarks(gate, rules.check_name, rules.login)),
            *base_remarks(*reader.guarded(rules.trusted_bases)),
            *enforced,
            money_remark(rules),
            *workflow_remark(own_server=github.server_url != SERVER),
        )
    except ForgeError as problem:
        return token, Diagnosis("github", "required check", False, str(problem))
    return token, *(Diagnosis("github", each.name, each.ok, each.says) for each in remarks)


def ready(checks: Sequence[Diagnosis]) -> list[str]:
    """The agents that are ready to review."""
    return [
        agent for agent in ("claude", "embedded") if all(check.ok for check in checks if check.agent in (agent, "both"))
    ]


def _tried(agent: Agent | Literal["both"], name: str, find: Callable[[], str]) -> Diagnosis:
    """What ``find`` finds, or why it does not."""
    try:
        return Diagnosis(agent, name, True, find())
    except (SourceError, SwitchError, CliError) as problem:
        return Diagnosis(agent, name, False, str(problem))
