"""``--help --all``: it also shows what only CI uses."""

from __future__ import annotations

import click

ALL = "--all"


def take_all(context: click.Context, arguments: list[str]) -> list[str]:
    """The arguments without ``--all`` beside ``--help``, which the context then remembers."""
    words = {*arguments[:2]}
    if ALL not in words or words.isdisjoint(context.help_option_names):
        return arguments
    context.meta[ALL] = True
    return [word for word in arguments if word != ALL]


class OptionOfCI(click.Option):
    """An option that only CI uses."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Its row; None unless all options are asked for."""
        return super().get_help_record(ctx) if ALL in ctx.meta else None


class CommandWithOptionsOfCI(click.Command):
    """A verb that people use and CI uses with further options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take ``--all`` beside ``--help``."""
        return super().parse_args(ctx, take_all(ctx, args))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, and how to see the others."""
        super().format_options(ctx, formatter)
        if ALL not in ctx.meta:
            formatter.write_paragraph()
            formatter.write_text("--help --all also shows the options that only CI uses.")
