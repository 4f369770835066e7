"""``review-advisor config``: show, check, and describe the configuration."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path, PurePosixPath

import click

from review_advisor.cli.terminal.options import AS_JSON, PATH
from review_advisor.cli.terminal.output import note, put
from review_advisor.cli.terminal.problems import clear_refusals

REPO = click.option("--repo", type=PATH, default=Path(), help="The repository's root.")


@click.group(short_help="Show, check or describe the configuration.")
def config() -> None:
    """Show, check or describe the configuration (.review-advisor.toml or [tool.review-advisor])."""


@config.command(short_help="Print the settings in effect.")
@REPO
@click.option("--for", "path", metavar="PATH", help="Print what applies to this path of the repository instead.")
@AS_JSON
def show(repo: Path, path: str | None, as_json: bool) -> None:
    """Print the settings that the working tree's file and the environment give, each with its source.

    With --for, print what applies to one path: its kind, the globs that match it, and your own rules as they are
    committed. A review reads the rules and the file of its base.
    """
    with clear_refusals():
        from review_advisor.app.applicable_rules import committed_rules, what_applies
        from review_advisor.app.configuration import working_config, working_prices, working_roster
        from review_advisor.app.settings import make_settings
        from review_advisor.cli.effective import applies_json, applies_text, settings_json, settings_text

        found, origin = working_config(repo)
        roster = working_roster(repo, found)
        settings = make_settings(found, os.environ, profile=None, config_path=origin, roster=roster)
        settings = replace(settings, prices=working_prices(repo))
        if path is None:
            put(
                settings_json(found, settings, origin, os.environ)
                if as_json
                else settings_text(found, settings, origin, os.environ)
            )
            return
        place = PurePosixPath(path).as_posix()
        committed = committed_rules(repo, settings.rules.guidelines, [place])
        applies = what_applies(place, found, settings, committed)
        put(applies_json(place, applies) if as_json else applies_text(place, applies))


@config.command(short_help="Exit 0 if file and environment are sound, else 2.")
@REPO
def check(repo: Path) -> None:
    """Exit 0 if file and environment are sound; otherwise say what is wrong and exit 2."""
    with clear_refusals():
        from review_advisor.app.configuration import (
            working_config,
            working_prices,
            working_remarks,
            working_roster,
        )
        from review_advisor.app.settings import make_settings
        from review_advisor.core.report.wording import printable_line

        found, origin = working_config(repo)
        make_settings(found, os.environ, profile=None, config_path=origin, roster=working_roster(repo, found))
        working_prices(repo)
        for remark in working_remarks(repo, found):
            note(printable_line(remark))
    put(f"{origin or 'no configuration file: defaults'}: ok\n")


@config.command(short_help="Print a JSON schema.")
@click.option("--outcome", is_flag=True, help="The schema of outcome.json instead.")
def schema(outcome: bool) -> None:
    """Print the JSON schema of the configuration, or of outcome.json."""
    from review_advisor.app.settings import Config, without_links
    from review_advisor.core.outcome.document import outcome_schema

    told = json.dumps(outcome_schema() if outcome else Config.model_json_schema(), indent=2)
    put(told + "\n" if outcome else without_links(told) + "\n")
