"""`council`."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import click

from review_advisor.agents.calls import Agents, AuthenticationFailedError, CreditExhaustedError, ModelError
from review_advisor.app.agent_choice import AgentChoice, agent_command
from review_advisor.app.configuration import prices_at_head
from review_advisor.app.options import CLAUDE_BIN, PATH, BoundedNumber
from review_advisor.app.review import opened_agents
from review_advisor.app.run import read_advisors, text_of
from review_advisor.app.terminal import ReviewBrokenError, clear_refusals, note, put
from review_advisor.change.redaction import redactor
from review_advisor.policy.settings import ConfigError
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.policy.switches import MASTER, ROLE_SWITCHES, Switches, read_switches
from review_advisor.safety.clock import SystemClock
from review_advisor.safety.interruption import INTERRUPTION
from review_advisor.tasks.brief import LONGEST_BRIEF, BriefError, counted_voices, read_brief, vote_document
from review_advisor.tasks.brief_council import MODEL, CouncilRequest, FakeCouncil, ask_council


@click.command(name="council")
@click.option("--brief", type=PATH, required=True, metavar="FILE", help="JSON or YAML.")
@click.option("--advisors", type=PATH, required=True, metavar="PATH", help="A file or folder of advisors.")
@click.option(
    "--mode",
    type=click.Choice(["independent", "inline"]),
    default="independent",
    show_default=True,
    help="inline: one call speaks for all, and its vote is advisory.",
)
@click.option("--agent", type=click.Choice(["claude", "fake"]), default="claude", show_default=True, help="Who votes.")
@CLAUDE_BIN
@click.option(
    "--max-usd", type=BoundedNumber(0.01, 1_000), default=3, show_default=True, help="Money of the whole vote."
)
@click.option("--json", "as_json", is_flag=True, help="Print the vote as JSON, in the form of act 017.")
def vote_on_brief(
    brief: Path,
    advisors: Path,
    mode: Literal["independent", "inline"],
    agent: Literal["claude", "fake"],
    claude_bin: str,
    max_usd: float,
    as_json: bool,
) -> None:
    """Let the advisors of PATH vote on the brief: subject, actions (mildest first), context, mode, brief_version.

    Exit codes: 0 an advisor voted, whatever the result; 12 no advisor voted, or the account cannot be used, and
    nothing is printed; 2 usage or setup error.
    """
    with clear_refusals():
        import json

        vote_on_brief = take_vote

        options = CouncilOptions(brief, advisors, mode == "inline", agent, max_usd, claude_bin)
        document = vote_on_brief(options, os.environ, note)
    put(json.dumps(document, indent=2) + "\n" if as_json else _text(document))


def _text(document: dict[str, Any]) -> str:
    from review_advisor.safety.wording import printable_line

    (chosen,) = document["calls"]
    cost = "not reported" if document["cost_usd"] is None else f"{document['cost_usd']:.4f} USD"
    lines = [
        f"vote: {chosen['_reasoningForCall']}",
        *(line for each in document["advisors"] for line in _voice(each)),
        *(
            [f"split: the votes for {chosen['_tool']} are {document['spread']:.0f} apart"]
            if document["is_split"]
            else []
        ),
        *(f"dissent: {each}" for each in document["dissent"]),
        *(f"blind spot: {each}" for each in document["blind_spots"]),
        f"cost: {cost}",
    ]
    return "".join(f"{printable_line(each)}\n" for each in lines)


def _voice(said: dict[str, Any]) -> Iterator[str]:
    """An advisor's vote, then the fields of its own."""
    yield f"{said['id']}: {said['calls']}"
    yield from (f"  {name}: {value}" for name, value in said.items() if name not in ("id", "calls"))


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


def take_vote(
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
