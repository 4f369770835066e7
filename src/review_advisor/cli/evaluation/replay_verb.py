"""``review-advisor replay``: what stored reviews would have come to under other rules."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from review_advisor.cli.terminal.options import AS_JSON, LEDGER, PATH, artifacts_option, moment
from review_advisor.cli.terminal.output import note_left_out, put
from review_advisor.cli.terminal.problems import clear_refusals

if TYPE_CHECKING:
    from datetime import datetime

    from review_advisor.app.evaluation.replay_ledger import Replayed
    from review_advisor.core.metrics.prices import Price

MOST_RETRIES = 9
MOST_CONSULTS = 20


@click.command(short_help="Decide stored reviews once more under other rules.")
@click.argument("run_id", metavar="[RUN]", required=False)
@click.option("--all", "every", is_flag=True, help="All runs instead of one.")
@click.option("--config", type=PATH, metavar="FILE", help="The other configuration.")
@click.option("--was", type=PATH, metavar="FILE", help="The configuration that held. [default: the product's defaults]")
@click.option("--prices", type=PATH, metavar="FILE", help="Price the recorded tokens by this list instead.")
@click.option("--thresholds", type=PATH, metavar="FILE", help="Other thresholds of escalation, as a thresholds.toml.")
@click.option("--roster", type=PATH, metavar="FOLDER", help="A folder whose .review-advisor/ declares other advisors.")
@click.option(
    "--retries",
    type=(click.IntRange(0, MOST_RETRIES),) * 3,
    metavar="LOW MEDIUM HIGH",
    help="Other retries by blast radius.",
)
@click.option("--fail-as-veto/--no-fail-as-veto", default=None, help="Count a lost judgement as a veto, or do not.")
@click.option("--max-consults", type=click.IntRange(0, MOST_CONSULTS), help="Another cap of consults.")
@click.option("--repository", metavar="OWNER/NAME", help="Only the pull requests of this repository.")
@click.option("--since", type=moment, metavar="WHEN", help="Only reviews from then on: a date, or 24h, 7d, 2w ago.")
@click.option("--recorded", type=PATH, metavar="REPO", help="Repeat whole runs in REPO; their recordings answer.")
@artifacts_option("Where recordings lie.")
@LEDGER
@AS_JSON
def replay(
    run_id: str | None,
    every: bool,
    config: Path | None,
    was: Path | None,
    prices: Path | None,
    thresholds: Path | None,
    roster: Path | None,
    retries: tuple[int, int, int] | None,
    fail_as_veto: bool | None,
    max_consults: int | None,
    repository: str | None,
    since: datetime | None,
    recorded: Path | None,
    artifacts: Path,
    ledger_file: Path,
    as_json: bool,
) -> None:
    """Decide stored reviews again under other rules, from their recorded answers.

    It asks no model and writes nothing. You can change `fail_on`, `exclude`, the money of `budget` and, of
    `github`, `volume`, `least_confidence`, `least_confidence_for`, `most_rounds` and `most_usd`; it refuses any
    other setting that differs, by name. If the new rules need an answer that was not recorded, the result is
    unknown: the table gives the reason, and the least that the missing answers would cost.

    With --recorded, you can change the whole configuration and the switches of the environment, for reviews of two
    commits. A question that was asked word for word gets its recorded answer. The first other question ends the
    replay of its run.
    """
    rules_named = (prices, thresholds, roster, retries, fail_as_veto, max_consults)
    nothing_named = all(each is None for each in rules_named)
    if recorded is None and config is None and nothing_named:
        raise click.UsageError("Say what to try: --config, --prices, --thresholds, --roster, or one of the rules.")
    if (run_id is None) is not every:
        raise click.UsageError("Name one RUN, or say --all.")
    if run_id is not None and (repository is not None or since is not None):
        raise click.UsageError("--repository and --since choose among --all runs.")
    if recorded is not None and (was is not None or not nothing_named):
        raise click.UsageError("With --recorded, only --config chooses the rules.")
    with clear_refusals():
        from review_advisor.core.ledger.runs import RunFilter

        wanted = RunFilter(repository=repository, since=since)
        if recorded is not None:
            from review_advisor.app.evaluation.replay_recording import RecordedPlace, replay_recorded

            place = RecordedPlace(ledger_file, artifacts, recorded)
            _tell(*replay_recorded(place, wanted, run_id, config, os.environ), as_json=as_json)
            return
        from review_advisor.app.evaluation.replay_ledger import TriedFiles, replay_runs, tried_rules
        from review_advisor.core.policy.blast import BlastRadius
        from review_advisor.core.pull_request.counterfactual.other_rules import OtherRules

        options = OtherRules(
            retries=None if retries is None else dict(zip(BlastRadius, retries, strict=True)),
            fail_as_veto=fail_as_veto,
            max_consults=max_consults,
        )
        rules = tried_rules(TriedFiles(config, prices, thresholds, roster), was, options)
        done = replay_runs(ledger_file, wanted, run_id, rules)
    _tell(done, rules.prices, as_json=as_json)


def _tell(done: Replayed, prices: tuple[Price, ...], *, as_json: bool) -> None:
    from review_advisor.app.evaluation.replay_ledger import MOST_REPLAYED
    from review_advisor.core.pull_request.counterfactual.counterfactual_table import both_as_json, both_text

    note_left_out(done.left_out, f"{MOST_REPLAYED:,} runs" if done.more else "")
    if as_json:
        put(json.dumps(both_as_json(done.reviews, done.left_out, prices), indent=2) + "\n")
    else:
        put(both_text(done.reviews, prices))
