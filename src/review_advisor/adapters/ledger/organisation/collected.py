"""Ledgers out of artifacts in the ledger of many repositories: taken in whole or not at all, and remembered."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from collections.abc import Set as AbstractSet
from contextlib import closing
from itertools import accumulate
from pathlib import Path

from review_advisor.adapters.ledger.chain_events import repository_of
from review_advisor.adapters.ledger.chains import read_chains, unpacked_sizes
from review_advisor.adapters.ledger.database import open_to_read, open_to_write, sentences
from review_advisor.adapters.ledger.organisation.archive import RefusedArtifact
from review_advisor.adapters.ledger.transactions import one_moment
from review_advisor.adapters.ledger.transfer import Folded, fold, fold_into
from review_advisor.core.ledger.chain import LARGEST_RUN, Chain, LedgerError
from review_advisor.core.organisation.shelf import LedgerArtifact
from review_advisor.core.report.wording import printable_line

MOST_RUNS = 1_000
"""A workflow run records one review, and what ran in shadow beside it."""
MOST_EVENTS = 4 * LARGEST_RUN
"""Characters of all its events, unpacked: a file of a few kB may hold any number of large ones."""


def collected_before(ledger: Path, server: str) -> dict[int, int]:
    """The artifacts of a server that the ledger holds already, each with its workflow run. Raises ``LedgerError``."""
    if not ledger.exists():
        return {}
    with sentences(ledger), closing(open_to_read(ledger)) as connection:
        return dict(connection.execute("SELECT artifact, run FROM collected WHERE server = ?", (server,)))


class CollectedLedgers:
    """The ledger of many repositories, while artifacts of one server are taken in; to be closed.

    ``known`` are the artifacts that it holds, each with its workflow run. Raises ``LedgerError`` for what is no ledger.
    """

    def __init__(self, ledger: Path, server: str) -> None:
        self.known = collected_before(ledger, server)
        self._ledger = ledger
        self._server = server
        self._connection: sqlite3.Connection | None = None

    def take_in(self, file: Path, names: AbstractSet[str], artifact: LedgerArtifact) -> Folded:
        """Fold the ledger of an artifact in, and remember the artifact if all of it was taken.

        All its runs must be of the repository with one of these ``names``, in lower case: else ``RefusedArtifact`` is
        raised, and nothing is taken. A run that is broken, impossible or another one here is left out and named.
        Raises ``LedgerError`` if the ledger cannot be written.
        """

        def remember(connection: sqlite3.Connection, folded: Folded) -> None:
            if not folded.left_out:
                values = (self._server, artifact.id, artifact.run)
                connection.execute("INSERT INTO collected VALUES (?, ?, ?) ON CONFLICT DO NOTHING", values)

        with closing(_own_chains(file, names)) as chains, sentences(self._ledger):
            if self._connection is None and self._ledger.exists():
                self._connection = open_to_write(self._ledger)
            if self._connection is None:
                folded = fold(self._ledger, chains, whole_runs=True, noting=remember)
            else:
                folded = fold_into(self._connection, chains, remember, whole_runs=True)
        if artifact.run is not None and not folded.left_out:
            self.known[artifact.id] = artifact.run
        return folded

    def close(self) -> None:
        """Let go of the ledger."""
        if self._connection is not None:
            self._connection.close()


def _own_chains(file: Path, names: AbstractSet[str]) -> Generator[Chain, None, None]:
    """The chains of an artifact's ledger; one that is broken is for its reader to name."""
    try:
        with sentences(file), closing(open_to_read(file)) as connection, one_moment(connection):
            _refuse_many(connection)
            for _, chain in read_chains(connection):
                _refuse_others(chain, names)
                yield chain
    except RefusedArtifact:
        raise
    except LedgerError as refusal:
        said = str(refusal).replace(f"The ledger {file}", "its ledger").replace(str(file), "its file")
        raise RefusedArtifact(said.rstrip(".")) from None


def _refuse_many(connection: sqlite3.Connection) -> None:
    """Refuse what would take long to read, before any chain of it is proven."""
    (runs,) = connection.execute("SELECT count(*) FROM chains").fetchone()
    if runs > MOST_RUNS:
        raise RefusedArtifact(f"it holds more than {MOST_RUNS:,} runs")
    for size in accumulate(unpacked_sizes(connection)):
        if size > MOST_EVENTS:
            raise RefusedArtifact(f"its events unpack to more than {MOST_EVENTS // 1024**2} MB")


def _refuse_others(chain: Chain, names: AbstractSet[str]) -> None:
    if chain.broken is not None:
        return
    repository = repository_of(chain)
    if repository is None or repository.casefold() not in names:
        of = "no repository" if repository is None else printable_line(repository[:140])
        raise RefusedArtifact(f"the run {chain.run_id} in it is of {of}")
