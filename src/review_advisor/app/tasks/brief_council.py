"""The composition root of ``council``: reads a brief and its advisors, and takes one vote. It writes no file."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from review_advisor.adapters.clock import SystemClock
from review_advisor.app.doctor import AgentChoice, agent_command
from review_advisor.app.review import ReviewBrokenError, opened_agents
from review_advisor.app.roster.of_source import prices_at_head
from review_advisor.app.settings import ConfigError
from review_advisor.app.tasks.named_advisors import read_advisors, text_of
from review_advisor.core.council.brief import LONGEST_BRIEF, BriefError, read_brief
from review_advisor.core.council.voices import counted_voices, vote_document
from review_advisor.core.policy.surfaces import Role, Surface
from review_advisor.core.policy.switches import MASTER, ROLE_SWITCHES, Switches, read_switches
from review_advisor.core.roles.calls import AuthenticationFailedError, CreditExhaustedError, ModelError
from review_advisor.core.safety.redaction import redactor
from review_advisor.lifetime.interruption import INTERRUPTION
from review_advisor.ports.review import Agents
from review_advisor.task.brief_votes import MODEL, CouncilRequest, FakeCouncil, ask_council

Backend = Literal["claude", "fake"]


@dataclass(frozen=True, slots=True)
class CouncilOptions:
    """What the user asked for. An empty model is the advisor's of ``pr_review``."""

    brief: Path
    advisors: Path
    inline: bool = False
    agent: Backend = "claude"
    max_usd: float = 3.0
    claude_bin: str = ""


def vote_on_brief(
    options: CouncilOptions, environ: Mapping[str, str], warn: Callable[[str], None], agents: Agents | None = None
) -> dict[str, Any]:
    """One vote, as the document of act 017. ``agents`` answer in the place of ``options.agent``.

    What can be refused is refused before the first call: ``ConfigError``, ``SwitchError`` and ``CliError``. If nobody
    gives a vote, or the account can pay for none, that is a ``ReviewBrokenError``.
    """
    try:
        brief = read_brief(text_of(options.brief, LONGEST_BRIEF))
    except BriefError as problem:
        raise ConfigError(str(problem)) from None
    advisors = read_advisors(options.advisors, warn)
    switches = read_switches(environ)
    _refuse_switched_off(switches)
    for each in brief.warnings:
        warn(each)
    with ExitStack() as stack:
        stack.enter_context(INTERRUPTION.taken(lambda _number: "The vote was interrupted."))
        if agents is None:
            if options.agent == "fake":
                agents = FakeCouncil(advisors, brief.actions)
            else:
                choice = AgentChoice(options.agent, options.claude_bin)
                agents = opened_agents(agent_command(choice, Path(), environ, warn), Path(), environ, stack)
        model = MODEL if options.agent == "fake" else switches.advisor_models[Surface.PR_REVIEW]
        nonce = secrets.token_hex(8)
        request = CouncilRequest(
            brief,
            advisors,
            options.inline,
            model,
            options.max_usd,
            nonce,
            redactor(environ),
            prices_at_head(Path()),
            SystemClock().now().date(),
        )
        try:
            reply = ask_council(request, agents)
        except (CreditExhaustedError, AuthenticationFailedError, ModelError) as stop:
            raise ReviewBrokenError(f"Nobody can vote. {stop.detail}") from None
    counted = counted_voices(brief, reply.voices, inline=options.inline)
    if counted.nobody:
        told = "; ".join(f"{each.advisor.id}: {each.lost}" for each in reply.voices)
        raise ReviewBrokenError(f"No advisor voted ({told}).")
    return vote_document(brief, reply.voices, counted, inline=options.inline, cost_usd=reply.cost_usd)


def _refuse_switched_off(switches: Switches) -> None:
    if not switches.master:
        raise ConfigError(f"{MASTER} is off: no advisor is asked.")
    if not switches.roles[Role.POST_VERIFY]:
        raise ConfigError(f"{ROLE_SWITCHES[Role.POST_VERIFY]} is off: no advisor is asked.")
