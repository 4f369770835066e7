"""Repositories whose workflow has stored ledgers, on the simulated GitHub behind its HTTP door."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.adapters.command_line import Done, Terminal
from tests.adapters.github.actions import GitHubWithActions, StoredArtifact
from tests.adapters.github.door import Door, opened
from tests.adapters.ledgers import database, record, told

from review_advisor.app.ledger import CollectOptions, collect_ledgers
from review_advisor.lab.collected import CollectedRepository
from review_advisor.mockworld.github_records import Token
from review_advisor.mockworld.world import FakeClock
from review_advisor.review.document import OutcomeDocument

ABILITIES = frozenset({"actions:read", "contents:read"})
LEDGER = "ledger.sqlite3"
SINCE = ("--since", "2026-01-01")
SHOP, BANK = "octo/shop", "octo/bank"


def zipped(files: dict[str, bytes], packed: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive of these files."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", packed) as opened_archive:
        for name, content in files.items():
            opened_archive.writestr(name, content)
    return made.getvalue()


def ledger_bytes(folder: Path, *documents: OutcomeDocument) -> bytes:
    """The file of a ledger with these reviews."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / LEDGER
    file.unlink(missing_ok=True)
    record(file, *documents)
    return file.read_bytes()


@dataclass
class Fleet:
    """Repositories, and somebody who collects their ledgers into ``whole``."""

    github: GitHubWithActions
    door: Door
    token: Token
    terminal: Terminal
    folder: Path
    number: int = 0

    @property
    def whole(self) -> Path:
        """The ledger of all of them."""
        return self.folder / "whole.sqlite3"

    @property
    def environ(self) -> dict[str, str]:
        """What whoever collects has in the environment."""
        return {"GITHUB_TOKEN": self.token.value, "GITHUB_SERVER_URL": self.door.url, "GITHUB_API_URL": self.door.url}

    def reviews(self, repository: str, *, named: str | None = None, **how: Any) -> StoredArtifact:
        """The bot's workflow reviews a pull request of a repository, whose run calls it so, and stores the ledger."""
        self.number += 1
        document = told(number=self.number, repository=named or repository, pull_request=self.number)
        return self.stores(repository, zipped({LEDGER: ledger_bytes(self.folder / "runner", document)}), **how)

    def stores(
        self, repository: str, content: bytes, *, name: str = "review-advisor-ledger-1", **how: Any
    ) -> StoredArtifact:
        """A run of the bot's workflow, or of another one, stores an archive."""
        run = self.github.runs_workflow(repository, **how)
        return self.github.uploads(repository, run, name, content)

    def collect(self, *words: str) -> Done:
        """What is typed."""
        return self.terminal.run("ledger", "collect", "--to", self.whole, *SINCE, *words, env=self.environ)

    def collected(self, *words: str) -> list[dict[str, Any]]:
        """What is told of each repository."""
        found: list[dict[str, Any]] = json.loads(self.collect(*words, "--json").out)
        return found

    def patiently(self, *names: str) -> list[CollectedRepository]:
        """The same with a clock of a story, on which waiting takes no time."""
        options = CollectOptions(self.whole, datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC))
        return list(collect_ledgers(names, options, self.environ, FakeClock()))

    def asked(self) -> list[str]:
        """The paths of all requests since this was asked last."""
        found = [each.address.partition("?")[0] for each in self.door.received]
        self.door.received.clear()
        return found

    def held(self) -> list[str]:
        """The repositories of the runs in the whole ledger, one for each run."""
        with database(self.whole) as connection:
            question = "SELECT name FROM runs JOIN repositories ON repositories.id = repository ORDER BY chain"
            return [name for (name,) in connection.execute(question)]


@contextmanager
def fleet(terminal: Terminal, folder: Path, *names: str) -> Iterator[Fleet]:
    """These repositories of an organisation, each with the bot's workflow."""
    github = GitHubWithActions()
    github.user("octo", kind="Organization")
    for name in names:
        github.opens_repository(name, organization=True)
    token = github.app_token("collector", ABILITIES)
    with opened(github) as door:
        yield Fleet(github, door, token, terminal, folder)
