"""What goes to stdout and stderr, also where the reader has gone, the disk is full or letters are missing."""

from __future__ import annotations

import os
import sys

import click

from review_advisor.cli.problems import Ended


def put(result: str | bytes, *, otherwise: int = 2) -> None:
    """Print a result. A reader that has gone needs none; ``otherwise`` is the code when it cannot be printed."""
    try:
        click.echo(result, nl=False)
    except BrokenPipeError:
        drop(1)
    except OSError as error:
        drop(1)
        raise Ended(f"The result cannot be printed: {error.strerror}.", otherwise) from None


def note(sentence: str) -> None:
    """Say something on stderr; nobody has to hear it."""
    try:
        click.echo(sentence, err=True)
    except OSError:
        drop(2)


def prepare() -> None:
    """Letters that the terminal does not know are shown as escapes."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)  # a closed stream is None
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def drop(descriptor: int) -> None:
    """What is still buffered goes nowhere, so that the interpreter does not stumble over it at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
