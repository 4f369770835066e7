"""Where reviews leave their files unless an option says otherwise: at the top of the repository."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource


def at_the_top(context: click.Context, parameter: click.Parameter, path: Path) -> Path:
    """The option's default, below the top of the repository in which the command runs. A given path stays as it is."""
    if context.get_parameter_source(parameter.name or "") is not ParameterSource.DEFAULT or Path(".git").exists():
        return path
    from review_advisor.app.doctor import repository_top

    return repository_top(Path()) / path
