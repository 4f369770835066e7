"""How long collecting the ledgers of an organisation takes, from a simulated GitHub on this machine."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from _figures import ROOT, Row, command_line, tell
from _runs import BOT, seconds
from _watched import watch

from review_advisor.ledger.chain import Chain, links
from review_advisor.ledger.database import open_to_write
from review_advisor.ledger.proving import verify
from review_advisor.ledger.recorder import event_text
from review_advisor.ledger.transfer import fold
from review_advisor.mockworld.world import MockWorld
from review_advisor.review.events import Event, PolicyFrozen

sys.path.insert(0, str(ROOT))
from tests.adapters.github.actions import GitHubWithActions
from tests.adapters.github.door import Door, opened
from tests.adapters.organisation.workflows import ABILITIES, LEDGER, zipped

APART = timedelta(seconds=7)


def main() -> None:
    """Tell every time."""
    parser = command_line(__doc__)
    parser.add_argument("--repositories", type=int, default=200, help="how many repositories there are")
    parser.add_argument("--artifacts", type=int, default=50, help="how many ledgers each of them has")
    chosen = parser.parse_args()
    github, many = GitHubWithActions(), chosen.repositories * chosen.artifacts
    github.user("org", kind="Organization")
    names = [f"org/repository-{number}" for number in range(chosen.repositories)]
    with tempfile.TemporaryDirectory() as folder, opened(github) as door:
        made = seconds(lambda: _stored(github, names, chosen.artifacts, Path(folder)))
        tables = {f"{chosen.repositories} repositories of {chosen.artifacts} ledgers": [
            *_collected(github, door, names, Path(folder), many),
            ("made", f"{made:.1f} s", f"{many:,} archives"),
        ]}  # fmt: skip
    tell(Path(__file__).stem, tables, write=chosen.write)


def _collected(github: GitHubWithActions, door: Door, names: list[str], folder: Path, many: int) -> Iterator[Row]:
    """The whole command, twice. Its exit code says whether anything is missing, and the ledger whether all is there."""
    token, whole = github.app_token("collector", ABILITIES).value, folder / "whole.sqlite3"
    github_here = {"GITHUB_TOKEN": token, "GITHUB_SERVER_URL": door.url, "GITHUB_API_URL": door.url}
    for what in ("the first time", "once more"):
        door.received.clear()
        words = [BOT, "ledger", "collect", *names, "--to", whole, "--since", "2026-01-01"]
        done = watch(words, folder, {**os.environ, **github_here})
        if done.code:
            raise SystemExit(f"not all was collected: {done.complaint}")
        yield (what, f"{done.seconds:.1f} s", f"{len(door.received):,} requests; {done.peak_mb:.0f} MB")
    proof = verify(whole)
    if not proof.whole or proof.runs != many:
        raise SystemExit(f"the ledger is not whole: {proof}")
    size = whole.stat().st_size / 1e6
    yield ("the ledger", f"{size:.0f} MB", f"{proof.runs:,} runs, {proof.events:,} events")


def _stored(github: GitHubWithActions, names: list[str], artifacts: int, folder: Path) -> None:
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
