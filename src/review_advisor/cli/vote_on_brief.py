"""``review-advisor council``: one vote of declared advisors on any brief."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import click

from review_advisor.cli.terminal.options import CLAUDE_BIN, PATH, BoundedNumber
from review_advisor.cli.terminal.output import note, put
from review_advisor.cli.terminal.problems import clear_refusals


@click.command(name="council", short_help="Let declared advisors vote on a brief; exit 0 if one voted.")
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

        from review_advisor.app.tasks.brief_council import CouncilOptions, vote_on_brief

        options = CouncilOptions(brief, advisors, mode == "inline", agent, max_usd, claude_bin)
        document = vote_on_brief(options, os.environ, note)
    put(json.dumps(document, indent=2) + "\n" if as_json else _text(document))


def _text(document: dict[str, Any]) -> str:
    from review_advisor.core.report.wording import printable_line

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
