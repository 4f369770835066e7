"""Reviews of MockWorld, written into ledgers."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from tests.scenarios.five_stories import STORIES

from review_advisor.ledger.chain import LedgerError, canonical, links
from review_advisor.ledger.recorder import MET, OTHER_TABLES, TABLES, Recorder
from review_advisor.ledger.transfer import export_runs
from review_advisor.mockworld.world import MemoryJournal, MockWorld
from review_advisor.review.document import OutcomeDocument, outcome_document
from review_advisor.review.events import Event, PolicyFrozen

Story = Callable[[MockWorld], None]


def nothing(world: MockWorld) -> None:
    """The default world."""


def told(
    story: Story = nothing, number: int = 1, *, repository: str = "acme/shop", pull_request: int = 7
) -> OutcomeDocument:
    """The ``number``-th review, an hour after the one before it."""
    world = MockWorld()
    world.reviews = number - 1
    world.clock.moment += timedelta(hours=number)
    world.source.stated = replace(world.source.stated, repository=repository, pull_request=pull_request)
    story(world)
    return world.review()


def retold(document: OutcomeDocument, **facts: str) -> OutcomeDocument:
    """The same review of a change of which something else was said."""
    first = document.events[0]
    assert isinstance(first, PolicyFrozen)
    about: dict[str, Any] = dict(facts)
    return outcome_document([replace(first, **about), *document.events[1:]])


def five() -> list[OutcomeDocument]:
    """The five stories, one an hour."""
    return list(_five())


@cache
def _five() -> tuple[OutcomeDocument, ...]:
    return tuple(told(story, number) for number, story in enumerate(STORIES, start=1))


@dataclass
class Heard(MemoryJournal):
    """A world's journal to which others listen, too."""

    listeners: list[Callable[[Event], None]] = field(default_factory=list)

    def record(self, event: Event) -> None:
        """Keep it, and tell everyone."""
        super().record(event)
        for listener in self.listeners:
            listener(event)


def refuse(sentence: str) -> None:
    """A ledger that is in order has nothing to say."""
    raise AssertionError(sentence)


def record(path: Path, *documents: OutcomeDocument, until: int | None = None) -> None:
    """Record reviews as they happened; ``until``: each is killed after so many events."""
    for document in documents:
        with closing(Recorder(path, refuse)) as recorder:
            for event in document.events[:until]:
                recorder(event)
            if until is None:
                recorder.finish(document)


@contextmanager
def database(path: Path) -> Iterator[sqlite3.Connection]:
    """The file, for somebody who goes round the ledger."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def meddle(path: Path, *statements: str) -> None:
    """Change the file behind the ledger's back: its triggers are taken away first, and put back afterwards."""
    with database(path) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
        for _, sql in triggers:
            connection.execute(sql)


def rows(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row that is read from the events, with names in the place of the ledger's own numbers."""
    of_one = "SELECT run_id, one.* FROM one JOIN chains ON chains.id = chain"
    questions = {
        "runs": (
            "SELECT run_id, runs.*, repositories.name, castings.key FROM runs JOIN chains ON chains.id = chain"
            " JOIN castings ON castings.id = casting LEFT JOIN repositories ON repositories.id = runs.repository"
        ),
        **{table: of_one.replace("one", table) for table in (*TABLES, *OTHER_TABLES, *MET)},
    }
    own = {"repository", "casting"}
    found: dict[str, list[tuple[Any, ...]]] = {}
    with database(path) as connection:
        for table, question in questions.items():
            cursor = connection.execute(question)
            wanted = [place for place, column in enumerate(cursor.description) if column[0] not in own]
            found[table] = sorted((tuple(row[place] for place in wanted) for row in cursor), key=repr)
    return found


def exported(path: Path) -> list[str]:
    """The lines of an export, of whole runs only."""
    lines: list[str] = []
    for each in export_runs(path):
        if isinstance(each, str):
            raise LedgerError(each)
        lines += each
    return lines


def events_as_json(path: Path, run: str) -> list[dict[str, Any]]:
    """A run's events as an export holds them."""
    lines = [json.loads(line) for line in exported(path)]
    return [line["event"] for line in lines if line["run"] == run]


def forge(file: Path, run: str, events: Iterable[dict[str, Any]]) -> Path:
    """An export of one run that holds these events in a sound chain: no key is needed for that."""
    told = list(events)
    made = zip(links(run, map(canonical, told)), told, strict=True)
    lines = (
        {"run": run, "index": link.index, "previous": link.previous, "hash": link.hash, "event": event}
        for link, event in made
    )
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file
