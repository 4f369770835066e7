"""What ``demo`` reviews: a small sample repository with faults in it, or a range of one's own."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from review_advisor.adapters.git.making.sample import make_sample
from review_advisor.adapters.git.open import open_range
from review_advisor.core.facts.change import Change
from review_advisor.lifetime.belongings import temporary_folder


@dataclass(frozen=True, slots=True)
class Demonstration:
    """The change to review: its repository and range, and what it is called in a sentence.

    ``real_command`` is the command that reviews such a change with real models.
    """

    repo: Path
    revisions: str
    change: Change
    words: str
    real_command: str


@contextmanager
def demonstration(repo: Path, revisions: str | None) -> Iterator[Demonstration]:
    """A range of ``repo``, or the sample repository where no range is named; that lies in a temporary folder.

    Raises ``SourceError`` for a range that cannot be opened.
    """
    if revisions is not None:
        where = "" if repo == Path() else f" --repo {shlex.quote(str(repo))}"
        command = f"review-advisor review{where} --range {shlex.quote(revisions)}"
        yield Demonstration(repo, revisions, _change(repo, revisions), revisions, command)
        return
    with temporary_folder("sample") as folder:
        made = make_sample(folder)
        words = "a small sample change, which has a fault in each of three files"
        command = "review-advisor review, in your repository"
        yield Demonstration(folder, made, _change(folder, made), words, command)


def _change(repo: Path, revisions: str) -> Change:
    source = open_range(repo, revisions)
    try:
        return source.change()
    finally:
        source.close()
