"""Options that several verbs share."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from review_advisor.app.terminal import clear_refusals
from review_advisor.ledger.chain import LEDGER_FILE

Command = TypeVar("Command", bound=Callable[..., Any])


def at_the_top(context: click.Context, parameter: click.Parameter, path: Path) -> Path:
    """The option's default, below the top of the repository in which the command runs. A given path stays as it is."""
    is_given = context.get_parameter_source(parameter.name or "") is not ParameterSource.DEFAULT
    if is_given or os.path.exists(".git"):  # noqa: PTH110 - Path.exists may raise
        return path
    from review_advisor.app.agent_choice import repository_top

    with clear_refusals():
        return repository_top(Path()) / path


PATH = click.Path(path_type=Path)


AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


ARTIFACTS = Path("review_logs")
"""The folder of reviews' files."""


LEDGER = click.option(
    "--ledger",
    "ledger_file",
    type=PATH,
    metavar="FILE",
    default=ARTIFACTS / LEDGER_FILE,
    show_default=True,
    callback=at_the_top,
    help="The ledger.",
)


REPO = click.option("--repo", type=PATH, default=Path(), help="The repository. [default: this one]")


CLAUDE_BIN = click.option("--claude-bin", default="", metavar="PATH", help="The claude binary. [default: from PATH]")


def artifacts_option(purpose: str) -> Callable[[Command], Command]:
    """``--artifacts``, the folder of reviews' files. ``purpose`` is its help: what the verb does there."""
    return click.option(
        "--artifacts", type=PATH, metavar="DIR", default=ARTIFACTS, show_default=True, callback=at_the_top, help=purpose
    )


_AGO = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


_YEARS = (1970, 9998)
"""Runs begin in or after the first; a zone, or a window before it, leads out of the calendar beyond the second."""


def moment(text: str) -> datetime:
    """A day or a moment (ISO 8601; UTC where no zone is given), or how long ago: ``24h``, ``7d``, ``2w``."""
    ago = re.fullmatch(r"(\d{1,4})([hdw])", text, re.ASCII)
    if ago is not None:
        return datetime.now(UTC) - int(ago[1]) * _AGO[ago[2]]
    try:
        said = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a date: give one like 2026-01-31, or 24h, 7d, 2w ago.") from None
    if not _YEARS[0] <= said.year <= _YEARS[1]:
        raise click.BadParameter(f"{text!r} is out of reach: give a date from {_YEARS[0]} to {_YEARS[1]}.")
    return said if said.tzinfo else said.replace(tzinfo=UTC)


def in_order(since: datetime | None, until: datetime | None) -> None:
    """Refuse a period in which nothing can be."""
    if since is not None and until is not None and since >= until:
        raise click.UsageError(f"--since ({since.isoformat()}) is not before --until ({until.isoformat()}).")


class BoundedNumber(click.FloatRange):
    """A finite number within bounds."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number. Fails as click does."""
        try:
            number = float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number: give one such as 30 or 0.5.", param, ctx)
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number
