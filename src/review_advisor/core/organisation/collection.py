"""What came of collecting ledgers, as values and in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from review_advisor.core.report.wording import counted, printable_line, table


@dataclass(frozen=True, slots=True)
class CollectedRepository:
    """What came of one repository.

    ``ledgers`` were fetched and taken in, ``known`` had been before. ``refused`` says of each other artifact why it was
    not taken, ``unbelieved`` why runs do not count, with how often; ``gaps`` is what is gone, ``silent`` what perhaps
    never was; ``trouble`` why the repository could not be read to its end.
    """

    repository: str
    ledgers: int = 0
    added: int = 0
    grown: int = 0
    present: int = 0
    refused: tuple[str, ...] = ()
    unbelieved: tuple[tuple[str, int], ...] = ()
    gaps: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    trouble: str = ""

    @property
    def whole(self) -> bool:
        """Whether nothing of the period is missing that could have been there."""
        return not (self.refused or self.gaps or self.trouble)

    def notes(self) -> Iterator[str]:
        """Everything that is not as it should be, a sentence each."""
        name = self.repository
        if self.trouble:
            yield f"{name}: {self.trouble}"
        yield from (f"{name}: not taken: {each}." for each in self.refused)
        yield from (f"{name}: {each}." for each in (*self.gaps, *self.silent))
        yield from (f"{name}: {counted(times, 'run')} not believed: {why}." for why, times in self.unbelieved)

    def as_json(self) -> dict[str, Any]:
        """Its fields."""
        return asdict(self) | {"unbelieved": dict(self.unbelieved), "whole": self.whole}


def collection_text(found: Iterable[CollectedRepository]) -> str:
    """A line for each repository, and one for all."""
    every = tuple(found)
    rows = [
        (printable_line(each.repository), str(each.ledgers), str(each.added + each.grown), _word(each))
        for each in every
    ]
    runs = sum(each.added + each.grown for each in every)
    partly = sum(not each.whole for each in every)
    told = "1 repository" if len(every) == 1 else f"{len(every):,} repositories"
    whole = f"{counted(runs, 'run')} added from {told}; {partly or 'none'} with something missing\n"
    return table([("repository", "ledgers", "runs", "state"), *rows]) + whole


def _word(found: CollectedRepository) -> str:
    if found.trouble:
        return "not read"
    return "whole" if found.whole else "something is missing"
