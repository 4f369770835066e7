"""`config`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path, PurePosixPath
from typing import Any

import click
from pydantic import BaseModel

from review_advisor.app.configuration import Applies
from review_advisor.app.options import AS_JSON, PATH
from review_advisor.app.terminal import clear_refusals, note, plain, put
from review_advisor.policy.settings import Config, Settings
from review_advisor.policy.surfaces import Surface
from review_advisor.policy.switches import (
    FAIL_AS_VETO,
    FORCE_ON,
    MASTER,
    MAX_CONSULTS_VARIABLE,
    ROLE_SWITCHES,
    model_variables,
    surface_switch,
)

REPO = click.option("--repo", type=PATH, default=Path(), help="The repository's root.")


@click.group()
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
        from review_advisor.app.configuration import (
            committed_rules,
            what_applies,
            working_config,
            working_prices,
            working_roster,
        )
        from review_advisor.policy.settings import make_settings

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
        from review_advisor.app.agent_choice import repository_top
        from review_advisor.app.configuration import (
            roster_remarks,
            working_config,
            working_files,
            working_prices,
            working_roster,
        )
        from review_advisor.policy.settings import make_settings
        from review_advisor.safety.wording import printable_line

        found, origin = working_config(repo)
        make_settings(found, os.environ, profile=None, config_path=origin, roster=working_roster(repo, found))
        working_prices(repo)
        for remark in roster_remarks(working_files(repository_top(repo))):
            note(printable_line(remark))
    put(f"{origin or 'no configuration file: defaults'}: ok\n")


@config.command(short_help="Print a JSON schema.")
@click.option("--outcome", is_flag=True, help="The schema of outcome.json instead.")
def schema(outcome: bool) -> None:
    """Print the JSON schema of the configuration, or of outcome.json."""
    from review_advisor.policy.settings import Config, without_links
    from review_advisor.review.document import outcome_schema

    told = json.dumps(outcome_schema() if outcome else Config.model_json_schema(), indent=2)
    put(told + "\n" if outcome else without_links(told) + "\n")


def _shown(config: Config, settings: Settings) -> dict[str, Any]:
    switches, critical = settings.switches, settings.rules.critical_paths
    return {
        "config": config.model_dump(mode="json") | {"critical_paths": list(critical.globs or critical.names)},
        "critical": {"words": list(critical.words)},
        "switches": {
            MASTER: switches.master,
            **{name: switches.roles[role] for role, name in ROLE_SWITCHES.items()},
            **{surface_switch(surface): switches.surfaces[surface] for surface in Surface},
            FAIL_AS_VETO: switches.fail_as_veto,
            FORCE_ON: switches.force_pre_flight,
            MAX_CONSULTS_VARIABLE: switches.max_consults,
        },
        "models": {
            surface.value: {
                "executor": switches.executor_models[surface],
                "advisor": switches.advisor_models[surface],
            }
            for surface in Surface
        },
        "roster": {each.id: each.words for each in settings.rules.roster.advisors},
        "prices": {f"{each.model} since {each.since}": list(each.rates) for each in settings.prices.prices},
    }


def settings_json(config: Config, settings: Settings, origin: str | None, environ: Mapping[str, str]) -> str:
    """The effective settings as JSON, with the source of each by its name."""
    shown = _shown(config, settings)
    sources = {
        section: {name: _source(section, name, config, origin, environ) for name in _flat(section, values)}
        for section, values in shown.items()
        if section not in ("roster", "prices")
    }
    sources["roster"] = _declared_at(settings)
    sources["prices"] = dict.fromkeys(shown["prices"], settings.prices.source)
    return json.dumps({**shown, "sources": sources}, indent=2) + "\n"


def settings_text(config: Config, settings: Settings, origin: str | None, environ: Mapping[str, str]) -> str:
    """The effective settings for a person, one a line, each with its source."""
    lines = [f"from {origin or 'the defaults (no configuration file)'} and the environment"]
    shown = _shown(config, settings)
    declared = _declared_at(settings) | dict.fromkeys(shown["prices"], settings.prices.source)
    for section, values in shown.items():
        if section == "prices" and not values:
            continue
        lines += ["", f"[{section}]"]
        for name, value in _flat(section, values).items():
            source = (
                declared[name] if section in ("roster", "prices") else _source(section, name, config, origin, environ)
            )
            lines.append(f"{name} = {json.dumps(value)}  # {source}")
    return "\n".join(lines) + "\n"


def _declared_at(settings: Settings) -> dict[str, str]:
    """Where each advisor is declared, by its id."""
    first, *others = settings.rules.roster.advisors
    return {first.id: plain(first.source) or "ADR-0059"} | {
        each.id: plain(each.source) or "the preset" for each in others
    }


def _flat(section: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a section by their names; those of a table, and the models, are one each."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        is_table = section in ("config", "models") and isinstance(value, dict)
        flat |= {f"{key}.{inner}": each for inner, each in value.items()} if is_table else {key: value}
    return flat


def _source(section: str, name: str, config: Config, origin: str | None, environ: Mapping[str, str]) -> str:
    """Where a value comes from."""
    if section == "config":
        table: BaseModel = config
        *above, last = name.split(".")
        for step in above:
            inner = getattr(table, step)
            if not isinstance(inner, BaseModel):  # a table of the user's own names
                return _source("config", step, config, origin, environ)
            table = inner
        if last in table.model_fields_set:
            return origin or "default"
        return f"profile {config.profile}" if name == "critical_paths" else "default"
    if section == "critical":
        return _source("config", "critical_paths", config, origin, environ)
    variables: tuple[str, ...] = (name,)
    if section == "models":
        surface, _, who = name.partition(".")
        variables = model_variables(Surface(surface), "EXECUTOR" if who == "executor" else "ADVISOR")
    return next((each for each in variables if environ.get(each, "").strip()), "default")


def applies_text(path: str, applies: Iterable[Applies]) -> str:
    """What applies to a path, for a person."""
    lines = [f"{each.name} = {plain(each.value)}  # {plain(each.source)}" for each in applies]
    return "\n".join([plain(path), *lines]) + "\n"


def applies_json(path: str, applies: Iterable[Applies]) -> str:
    """The same as JSON."""
    return json.dumps({"path": path, "applies": [asdict(each) for each in applies]}, indent=2) + "\n"
