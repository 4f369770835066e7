"""A ledger of any number of reviews with their events, as the recorder would have written it: ``ledger verify`` agrees.

MockWorld plays some hundred reviews. Every run is one of these at another moment, of another change: only what tells it
apart is put into its events, which are chained anew, and into its rows. Some pull requests are observed, too.
"""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

from tests.scenarios.five_stories import STORIES

from review_advisor.agents.calls import AgentCall, LostReason
from review_advisor.ledger.chain import FIRST as NO_HASH
from review_advisor.ledger.chain import link
from review_advisor.ledger.chains import add_link, begin_chain, packed
from review_advisor.ledger.database import open_to_write, transaction
from review_advisor.ledger.queries import letters
from review_advisor.ledger.recorder import event_text, write_casting, write_tables
from review_advisor.ledger.rows import microseconds, readings_of, readings_of_observation
from review_advisor.mockworld.agents import Line, approve, credit_gone, finding, lost, reject
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import outcome_document
from review_advisor.review.events import PolicyFrozen
from review_advisor.review.observed import Observed, ObservedLabel

FIRST = datetime(2025, 1, 1, tzinfo=UTC)
APART = timedelta(seconds=20)
"""From one run to the next."""
REPOSITORIES = 200
PULL_REQUESTS = 5_000
"""Of each repository: a million runs are about one of each."""
OBSERVED_OF = 500
"""Of so many runs, the pull request of one is observed."""
WORDS = [verb + what for verb, what in product(("", "re", "un"), ("fix", "parser", "cache", "login", "queue", "index"))]
_MARKED = {"run_id": "run-mark", "repository": "place-mark", "title": "title-mark"}
_MARKED |= {"label": "label-mark", "head_sha": "sha-mark"}
_NUMBER = 987_654_321
_EVENTS = "INSERT INTO events (chain, position, previous, hash, event) VALUES (?, ?, ?, ?, ?)"
_CHAINS = "INSERT INTO chains (id, run_id, events, last_hash) VALUES (?, ?, ?, ?)"
_TITLES = "INSERT INTO titles (chain, title) VALUES (?, ?)"
_CHANGES = "INSERT INTO changes (chain, label, head_sha) VALUES (?, ?, ?)"
Story = Callable[[MockWorld], None]


@dataclass(frozen=True, slots=True)
class Played:
    """A review that many runs repeat: ``events`` are texts with marks, each with what passed since the run began.

    ``run`` are the columns of its row, ``rows`` those of other tables: each with its statement, without its chain.
    """

    events: tuple[tuple[str, timedelta], ...]
    run: Mapping[str, Any]
    rows: tuple[tuple[str, tuple[Any, ...]], ...]


class Batch:
    """Rows that are written together: few, so that a table's rows lie as scattered as in a ledger that grew."""

    def __init__(self) -> None:
        self._rows: dict[str, list[tuple[Any, ...]]] = {}

    def add(self, statement: str, row: tuple[Any, ...]) -> None:
        """One more row."""
        self._rows.setdefault(statement, []).append(row)

    def write(self, connection: sqlite3.Connection) -> None:
        """All of them."""
        for statement, rows in self._rows.items():
            connection.executemany(statement, rows)
        self._rows.clear()


def _statement(table: str, columns: Iterable[str]) -> str:
    names = tuple(columns)
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"


def seed(ledger: Path, runs: int) -> None:
    """Write a ledger of so many runs, the same for the same number."""
    with closing(open_to_write(ledger)) as connection:
        for setting in ("journal_mode = OFF", "synchronous = OFF", "foreign_keys = OFF", "cache_size = -300000"):
            connection.execute(f"PRAGMA {setting}")
        triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        with transaction(connection):
            for name, _ in triggers:  # they look at each event once more
                connection.execute(f"DROP TRIGGER {name}")
            _write(connection, runs)
            for _, sql in triggers:
                connection.execute(sql)
    with closing(open_to_write(ledger)) as connection, transaction(connection):
        for number in range(0, runs, OBSERVED_OF):
            _observe(connection, number)


def _write(connection: sqlite3.Connection, runs: int) -> None:
    named = ((number, f"org/repository-{number}") for number in range(1, REPOSITORIES + 1))
    connection.executemany("INSERT INTO repositories (id, name) VALUES (?, ?)", named)
    chance, batch = random.Random(59), Batch()
    titles = [" ".join(chance.choices(WORDS, k=7)) for _ in range(20_000)]
    reviews = [[_played(connection, story, models, chance) for models in _models() for _ in range(2)] for story in ALL]
    for number in range(runs):
        (of_story,) = chance.choices(reviews, ALL.values())
        _repeat(batch, chance.choice(of_story), number, f"{chance.choice(titles)} (part {number})", chance)
        if number % 50 == 0:
            batch.write(connection)
    batch.write(connection)


def _repeat(batch: Batch, review: Played, number: int, title: str, chance: random.Random) -> None:
    begun, place, pull_request = _begun(number), chance.randint(1, REPOSITORIES), chance.randint(1, PULL_REQUESTS)
    late = timedelta(milliseconds=chance.randrange(20_000))
    chain, run_id = microseconds(begun), f"run_{begun:%Y%m%dT%H%M%SZ}_{number * 2654435761 % 2**32:08x}"
    label, head_sha = f"pr-{pull_request}", f"{number:040x}"
    of_repository = {
        "repository": f"org/repository-{place}",
        "pull_request": pull_request,
    }
    told = {"run_id": run_id, "title": title, "label": label, "head_sha": head_sha, **of_repository}
    last, ends = NO_HASH, len(review.events) - 1
    for index, (text, after) in enumerate(review.events):
        told["at"] = _moment(begun + after + late if index == ends else begun + after)
        made = link(run_id, index, last, text % told)
        batch.add(_EVENTS, (chain, index, last, made.hash, packed(made.event)))
        last = made.hash
    batch.add(_CHAINS, (chain, run_id, ends + 1, last))
    own = {"repository": place, "pull_request": pull_request, "letters": letters(title)}
    own["wall_ms"] = review.run["wall_ms"] + late // timedelta(milliseconds=1)
    run = {**review.run, **own}
    batch.add(_statement("runs", ("chain", *run)), (chain, *run.values()))
    batch.add(_TITLES, (chain, title))
    batch.add(_CHANGES, (chain, label, head_sha))
    for statement, row in review.rows:
        batch.add(statement, (chain, *row))


def _begun(number: int) -> datetime:
    return FIRST + number * APART


def _moment(at: datetime) -> str:
    return f"{at.replace(tzinfo=None).isoformat()}Z"


def _played(connection: sqlite3.Connection, story: Story, models: tuple[str, str], chance: random.Random) -> Played:
    world = MockWorld()
    for who, model in zip(("EXECUTOR", "ADVISOR"), models, strict=True):
        world.switch(f"HYDRAFLOW_REVIEW_{who}_MODEL", model)

    def at_its_pace(_: AgentCall, line: Line) -> Line:
        cost = None if line.cost_usd is None else chance.random() / 4  # no review reaches its cap of money
        return replace(line, cost_usd=cost, seconds=chance.randint(2, 200), output_tokens=chance.randint(200, 3_000))

    world.agents.pace = at_its_pace
    story(world)
    first, *others = world.review().events
    if not isinstance(first, PolicyFrozen):
        raise TypeError("a review's events begin with PolicyFrozen")
    marks: dict[str, Any] = {**_MARKED, "pull_request": _NUMBER}
    document = outcome_document([replace(first, **marks), *others])
    texts = [(_marked(event_text(event)), event.at - first.at) for event in document.events]
    readings = readings_of(document)
    run = {**readings.run, "casting": write_casting(connection, readings.casting)}
    rows = (
        (_statement(table, ("chain", *row)), tuple(row.values()))
        for table, its in readings.tables.items()
        if table not in ("titles", "changes")
        for row in its
    )
    return Played(tuple(texts), run, tuple(rows))


def _marked(text: str) -> str:
    """An event's text with places for what differs from run to run."""
    at = f'"at":"{json.loads(text)["at"]}"'
    if text.count(at) != 1:
        raise ValueError(f"an event tells another moment than its own: {text}")
    text = text.replace("%", "%%").replace(at, '"at":"%(at)s"')
    for name, mark in _MARKED.items():
        text = text.replace(mark, f"%({name})s")
    return text.replace(str(_NUMBER), "%(pull_request)d")


def _models() -> list[tuple[str, str]]:
    return [(f"model-{number}", f"model-{number + 1}") for number in range(0, 12, 2)]


def _findings(many: int) -> list[dict[str, Any]]:
    lines = range(11, 11 + many)
    return [finding("src/app.py", n, f"value = {n}", severity="low", title=f"value {n} is a guess") for n in lines]


def _approved(many: int) -> Story:
    return lambda world: world.agents.script(Role.EXECUTOR, approve(*_findings(many)))


def _rejected(many: int) -> Story:
    return lambda world: world.agents.script(Role.EXECUTOR, reject(*_findings(many)))


def _not_judged(reason: LostReason) -> Story:
    return lambda world: world.agents.script(Role.POST_VERIFY, lost(reason))


def _stopped(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, credit_gone())


ALL: Mapping[Story, float] = {
    **{_approved(many): 60 / 9 for many in range(9)},
    **{_rejected(many): 20 / 8 for many in range(1, 9)},
    **dict.fromkeys(STORIES, 3),
    **{_not_judged(reason): 4 / len(LostReason) for reason in LostReason},
    _stopped: 1,
}
"""What happens in reviews, and how often of a hundred."""


def _observe(connection: sqlite3.Connection, number: int) -> None:
    """Somebody looks an hour later at what became of the pull request of a run."""
    chain = microseconds(_begun(number))
    repository, pull_request, head_sha = connection.execute(
        "SELECT name, pull_request, head_sha FROM runs JOIN changes USING (chain)"
        " JOIN repositories ON repositories.id = repository WHERE chain = ?",
        (chain,),
    ).fetchone()
    found = connection.execute("SELECT finding FROM findings WHERE chain = ?", (chain,)).fetchall()
    labels = list(_labels([finding for (finding,) in found], number))
    at = _begun(number) + timedelta(hours=1, milliseconds=500)
    observed = Observed(
        at=at,
        run_id=f"observed_{number}",
        repository=repository,
        pull_request=pull_request,
        head_sha=head_sha,
        labels=tuple(labels),
    )
    row = begin_chain(connection, observed.run_id, microseconds(at))
    add_link(connection, row, link(observed.run_id, 0, NO_HASH, event_text(observed)))
    write_tables(connection, row, readings_of_observation(observed))


def _labels(findings: list[str], number: int) -> Iterator[ObservedLabel]:
    yield ObservedLabel("", "merge", "merged", "the pull request")
    yield ObservedLabel("", "reverted", "reverted" if number % 13 == 0 else "not_reverted", "the base branch")
    for place, finding_id in enumerate(findings):
        yield ObservedLabel(finding_id, "thread", "resolved" if place % 2 else "open", "the thread")
        yield ObservedLabel(finding_id, "reaction", ("up", "down", "none")[place % 3], "the comment")
