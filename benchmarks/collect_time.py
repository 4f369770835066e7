"""How long collecting the ledgers of an organisation takes, from a simulated GitHub on this machine."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from _figures import Row, command_line, tell
from _runs import seconds
from tests.adapters.github.door import Door, opened
from tests.adapters.organisation.workflows import ABILITIES, LEDGER, zipped

from review_advisor.adapters.ledger.database import open_to_write
from review_advisor.adapters.ledger.proving import verify
from review_advisor.adapters.ledger.rows import event_text
from review_advisor.adapters.ledger.transfer import fold
from review_advisor.app.organisation.collect import CollectOptions, collect_ledgers
from review_advisor.core.ledger.chain import Chain, links
from review_advisor.core.organisation.collection import CollectedRepository
from review_advisor.core.outcome.events import Event, PolicyFrozen
from review_advisor.mockworld.github.model import GitHub
from review_advisor.mockworld.world import MockWorld

SINCE, UNTIL = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
APART = timedelta(seconds=7)


def main() -> None:
    """Tell every time."""
    parser = command_line(__doc__)
    parser.add_argument("--repositories", type=int, default=200, help="how many repositories there are")
    parser.add_argument("--artifacts", type=int, default=50, help="how many ledgers each of them has")
    chosen = parser.parse_args()
    github, many = GitHub(), chosen.repositories * chosen.artifacts
    github.user("org", kind="Organization")
    names = [f"org/repository-{number}" for number in range(chosen.repositories)]
    with tempfile.TemporaryDirectory() as folder, opened(github) as door:
        made = seconds(lambda: _stored(github, names, chosen.artifacts, Path(folder)))
        options = CollectOptions(Path(folder, "whole.sqlite3"), SINCE, UNTIL)
        tables = {f"{chosen.repositories} repositories of {chosen.artifacts} ledgers": [
            *_collected(github, door, names, options, many),
            ("made", f"{made:.1f} s", f"{many:,} archives"),
        ]}  # fmt: skip
    tell(Path(__file__).stem, tables, write=chosen.write)


def _collected(github: GitHub, door: Door, names: list[str], options: CollectOptions, many: int) -> Iterator[Row]:
    token = github.app_token("collector", ABILITIES).value
    environ = {"GITHUB_TOKEN": token, "GITHUB_SERVER_URL": door.url, "GITHUB_API_URL": door.url}
    for what, expected in (("the first time", many), ("once more", 0)):
        found: list[CollectedRepository] = []
        door.received.clear()
        took = seconds(lambda found=found: found.extend(collect_ledgers(names, options, environ)))
        if not all(each.whole for each in found) or sum(each.added for each in found) != expected:
            raise SystemExit(f"not all was collected: {[each for each in found if not each.whole][:1]}")
        yield (what, f"{took:.1f} s", f"{len(door.received):,} requests")
    proof = verify(options.ledger)
    if not proof.whole or proof.runs != many:
        raise SystemExit(f"the ledger is not whole: {proof}")
    yield (
        "the ledger",
        f"{options.ledger.stat().st_size / 1e6:.0f} MB",
        f"{proof.runs:,} runs, {proof.events:,} events",
    )


def _stored(github: GitHub, names: list[str], artifacts: int, folder: Path) -> None:
    """Every repository with its runs and their ledgers: the same review, in each at another moment by another name."""
    events = MockWorld().review().events
    with _empty(folder) as empty:
        for number, name in enumerate(names):
            github.opens_repository(name, organization=True)
            for each in range(artifacts):
                chain = _chain(events, name, number * artifacts + each)
                run = github.runs_workflow(name, at=each * 60)
                github.uploads(name, run, "review-advisor-ledger-1", _archive(chain, empty, folder / LEDGER))


def _chain(events: tuple[Event, ...], repository: str, number: int) -> Chain:
    run_id, later = f"run_{number:09d}", number * APART
    first = events[0]
    if not isinstance(first, PolicyFrozen):
        raise TypeError("a review's events begin with PolicyFrozen")
    begun = replace(first, run_id=run_id, repository=repository, pull_request=1 + number)
    moved = (replace(event, at=event.at + later) for event in (begun, *events[1:]))
    return Chain(run_id, links(run_id, map(event_text, moved)))


@contextmanager
def _empty(folder: Path) -> Iterator[Path]:
    file = folder / f"empty-{LEDGER}"
    open_to_write(file).close()
    yield file
    file.unlink()


def _archive(chain: Chain, empty: Path, file: Path) -> bytes:
    shutil.copyfile(empty, file)
    fold(file, [chain], whole_runs=False)
    return zipped({LEDGER: file.read_bytes()})


if __name__ == "__main__":
    main()
