"""``review-advisor golden``: sets of changes whose faults are known."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from review_advisor.cli.terminal.options import AS_JSON, CLAUDE_BIN, LEDGER, PATH, BoundedNumber, moment
from review_advisor.cli.terminal.output import note, note_left_out, put
from review_advisor.cli.terminal.problems import clear_refusals

if TYPE_CHECKING:
    from datetime import datetime

    from review_advisor.core.evaluation.golden.golden_case import GoldenSet

SET = click.argument("path", type=PATH, metavar="SET")


@click.group(short_help="List, check, match or gather changes whose faults are known.")
def golden() -> None:
    """List, check, match or gather golden cases: changes whose faults are known.

    SET is a folder with a TOML file for each case, a file of JSON lines, or a checkout of Martian's
    code-review-benchmark or of AACR-Bench; docs/evaluation.md explains them.
    """


@golden.command(name="list", short_help="Print the cases of a set.")
@SET
@AS_JSON
def list_cases(path: Path, as_json: bool) -> None:
    """Print one line for each case of SET: its id, kind, language, number of labels and title."""
    from review_advisor.core.evaluation.golden.set_table import cases_text, set_as_json

    known = _read(path)
    put(json.dumps(set_as_json(known), indent=2) + "\n" if as_json else cases_text(known))


@golden.command(short_help="Check every case of a set.")
@SET
@AS_JSON
def check(path: Path, as_json: bool) -> None:
    """Check every case of SET, and print what the set holds and what it lacks.

    It builds each change that the set contains: labels must point to changed lines. An unusable set ends with exit
    code 2 and one sentence.
    """
    from review_advisor.core.evaluation.golden.set_table import check_text, set_as_json

    known = _read(path, checked=True)
    put(json.dumps(set_as_json(known), indent=2) + "\n" if as_json else check_text(known))


@golden.command(short_help="Compare findings of any reviewer with a set.")
@SET
@click.argument("findings", type=PATH, metavar="FINDINGS")
@click.option("--judge", metavar="MODEL", help="Also ask this model through claude which texts mean the same fault.")
@click.option("--max-usd", type=BoundedNumber(0.01, 1_000), default=5, show_default=True, help="Money of the judge.")
@CLAUDE_BIN
@AS_JSON
def match(path: Path, findings: Path, judge: str | None, max_usd: float, claude_bin: str, as_json: bool) -> None:
    """Compare the findings of any reviewer with SET: which labels they match, and which findings are wrong.

    FINDINGS has one JSON object a line: `case`, `text`, and if known `file`, `first_line`, `last_line` and
    `severity`. A line with only a `case` says that the reviewer found nothing in it. A judge must first answer
    three examples correctly; otherwise nothing is counted, and the exit code is 12.
    """
    with clear_refusals():
        from review_advisor.app.evaluation.match_findings import JudgeChoice, match_findings
        from review_advisor.core.evaluation.golden.match_table import judge_line, matchings_as_json, matchings_text

        choice = None if judge is None else JudgeChoice(judge, max_usd, claude_bin)
        done = match_findings(path, findings, choice, environ=os.environ, warn=note)
    if done.judge is not None:
        note(judge_line(done.judge))
    text = matchings_text(done.known, done.of_cases)
    put(json.dumps(matchings_as_json(done.known, done.of_cases), indent=2) + "\n" if as_json else text)


@golden.command(name="from-ledger", short_help="Write cases from what people decided in your repository.")
@click.argument("folder", type=PATH, metavar="FOLDER")
@click.option("--repository", metavar="OWNER/NAME", help="Only the pull requests of this repository.")
@click.option("--since", type=moment, metavar="WHEN", help="Only reviews from then on: a date, or 24h, 7d, 2w ago.")
@LEDGER
@AS_JSON
def from_ledger(folder: Path, repository: str | None, since: datetime | None, ledger_file: Path, as_json: bool) -> None:
    """Write a case into FOLDER for each observed pull request with decisions by people.

    A finding becomes a label if people agreed with it or the pull request was reverted. It becomes refuted if
    people dismissed it or marked it as wrong, as `observe` recorded. The author's word against a finding never
    counts. Existing cases do not change.
    """
    with clear_refusals():
        from review_advisor.app.evaluation.golden_from_ledger import MOST_GOLDEN_REVIEWS, write_cases_from
        from review_advisor.core.evaluation.golden.set_table import observed_as_json, observed_text
        from review_advisor.core.ledger.runs import RunFilter

        done = write_cases_from(ledger_file, folder, RunFilter(repository=repository, since=since))
    note_left_out(done.left_out, f"{MOST_GOLDEN_REVIEWS:,} reviews" if done.more else "")
    if as_json:
        told = {**observed_as_json(done.found), "written": list(done.written), "kept": list(done.kept)}
        put(json.dumps(told, indent=2) + "\n")
        return
    put(observed_text(done.found))
    put(f"{len(done.written)} written to {folder}, {len(done.kept)} were there already\n")


def _read(path: Path, *, checked: bool = False) -> GoldenSet:
    from review_advisor.app.evaluation.golden_sets import checked_golden_set, read_golden_set

    with clear_refusals():
        return checked_golden_set(path) if checked else read_golden_set(path)
