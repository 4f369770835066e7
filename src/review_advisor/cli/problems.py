"""Which exceptions are clear refusals and not bugs: one sentence on stderr, and the documented exit code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

NOTHING_ASKED = 2
NOT_TO_ITS_END = 12


class Ended(click.ClickException):
    """Ends the command with a sentence and a code of its own."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@contextmanager
def clear_refusals() -> Iterator[None]:
    """Turn the product's own refusals into sentences; let bugs pass."""
    from review_advisor.app import ReviewBrokenError
    from review_advisor.core.outcome.terminal import said
    from review_advisor.core.policy.switches import SwitchError
    from review_advisor.core.roles.calls import ReviewInterrupted
    from review_advisor.ports import ArtifactError, CliError, ForgeError, SourceError
    from review_advisor.settings import ConfigError

    try:
        yield
    except (CliError, SwitchError, ConfigError, SourceError, ArtifactError) as refusal:
        raise Ended(said(str(refusal)), NOTHING_ASKED) from None
    except ForgeError as problem:
        raise Ended(said(str(problem)), NOT_TO_ITS_END) from None
    except ReviewBrokenError as broken:
        raise Ended(said(str(broken)), NOT_TO_ITS_END) from None
    except ReviewInterrupted as interrupt:
        raise Ended(interrupt.detail, 128 + interrupt.signal_number) from None
