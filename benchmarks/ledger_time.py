"""How long questions to a large ledger take, and how much memory: runs list, rollup, ledger verify, ui."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from _figures import ROOT, Row, command_line, held, tell
from _runs import BOT, medians, seconds
from _watched import Watched, watch

from review_advisor.app.rollup import look_for_alarms, roll_up_repositories
from review_advisor.ledger.chain import Checkpoint, Heads
from review_advisor.ledger.database import open_to_read
from review_advisor.ledger.proving import READER, checkpoints_of, verify
from review_advisor.ledger.queries import Between, Period, RunFilter
from review_advisor.ledger.recorder import Recorder
from review_advisor.ledger.rows import moment_of
from review_advisor.ledger.run_queries import list_runs
from review_advisor.ledger.sums import add_up
from review_advisor.mockworld.world import MockWorld

sys.path.insert(0, str(ROOT))
from _seeded_ledger import APART, FIRST, seed

BAR_LIST = 0.2
BAR_SUMS = 1.0
BAR_DASHBOARD = 10.0
LATER = 100
Filters = Mapping[str, tuple[RunFilter, tuple[str, ...]]]
"""By what is asked: the filter, and the same on the command line."""


def main() -> None:
    """Tell every time."""
    parser = command_line(__doc__)
    parser.add_argument("--runs", type=int, default=100_000, help="how many runs the ledger holds")
    parser.add_argument("--times", type=int, default=5, help="how often each question is asked")
    parser.add_argument("--ledger", type=Path, help="where it is kept; one that is there is used again")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ledger = chosen.ledger or Path(folder, "ledger.sqlite3")
        made = 0.0 if ledger.exists() else seconds(lambda: seed(ledger, chosen.runs))
        runs, events = _counts(ledger)
        bench = Bench(ledger, Path(folder), chosen.times)
        answers = list(bench.lists(filters(runs)))
        tell(Path(__file__).stem, {"runs list, by filter": answers}, write=False)
        tables = {
            f"runs list of {runs:,} runs with events": fastest_and_slowest(answers),
            f"rollup of {runs:,} runs with events": list(bench.sums(FIRST + APART * runs)),
            "by repository": [bench.by_repository()],
            "beside them": [bench.dashboard(), *bench.from_a_checkpoint()],
        }
        size = ledger.stat().st_size / 1e6
        tables["the ledger"] = [("made", f"{made:.1f} s", f"{size:,.0f} MB; {runs:,} runs, {events:,} events")]
    tell(Path(__file__).stem, tables, write=chosen.write)


def filters(runs: int) -> Filters:
    """One question for each filter: most with few answers or none, for which every run is looked at."""
    middle = FIRST + APART * (runs // 2)
    since, until = middle, middle + timedelta(hours=1)
    return {
        "no filter": (RunFilter(), ()),
        "status, common": (RunFilter(status="approved"), ("--status", "approved")),
        "status, nowhere": (RunFilter(status="unfinished"), ("--status", "unfinished")),
        "surface": (RunFilter(surface="wiki_ingest"), ("--surface", "wiki_ingest")),
        "role": (RunFilter(role="mid_flight"), ("--role", "mid_flight")),
        "model, unknown": (RunFilter(model="none-such"), ("--model", "none-such")),
        "surface, role, model, error": (
            RunFilter(surface="pr_review", role="post_verify", model="model-5", error="timeout"),
            ("--surface", "pr_review", "--role", "post_verify", "--model", "model-5", "--error", "timeout"),
        ),
        "error, any": (RunFilter(error="any"), ("--error", "any")),
        "cost, nowhere": (RunFilter(cost_usd=Between(900.0, 901.0)), ("--cost", "900..901")),
        "consults, nowhere": (RunFilter(consults=Between(99)), ("--consults", "99..")),
        "repository": (RunFilter(repository="org/repository-7"), ("--repository", "org/repository-7")),
        "repository and pull request": (
            RunFilter(repository="org/repository-7", pull_request=4711),
            ("--repository", "org/repository-7", "--pr", "4711"),
        ),
        "text, common": (RunFilter(text="parser"), ("--text", "parser")),
        "text, nowhere": (RunFilter(text="no such words"), ("--text", "no such words")),
        "an hour": (
            RunFilter(since=since, until=until),
            ("--since", since.isoformat(), "--until", until.isoformat()),
        ),
        "all at once, nowhere": (
            RunFilter("approved", "pr_review", "executor", cost_usd=Between(0.1), consults=Between(0, 2), text="zz zz"),
            (
                *("--status", "approved", "--surface", "pr_review", "--role", "executor"),
                *("--cost", "0.1..", "--consults", "0..2", "--text", "zz zz"),
            ),
        ),
    }


@dataclass(frozen=True)
class Bench:
    """A ledger that is asked: each question ``times`` times, and its median told. ``folder`` is for what is written."""

    ledger: Path
    folder: Path
    times: int

    def lists(self, asked: Filters) -> Iterator[Row]:
        """A row for each filter."""
        for what, (wanted, words) in asked.items():
            yield self._asked(what, BAR_LIST, partial(list_runs, self.ledger, wanted), "runs", "list", *words)

    def sums(self, newest: datetime) -> Iterator[Row]:
        """A row for each period."""
        week = newest - timedelta(weeks=1)
        one = "org/repository-7"
        questions = {
            "every run": (Period(), ("--since", FIRST.isoformat())),
            "every run since a moment": (Period(FIRST), ("--since", FIRST.isoformat())),
            "the last week": (Period(week), ("--since", week.isoformat())),
            "every run of one repository": (
                Period(repository=one),
                ("--since", FIRST.isoformat(), "--repository", one),
            ),
        }
        for what, (period, words) in questions.items():
            yield self._asked(what, BAR_SUMS, partial(add_up, self.ledger, period), "rollup", *words)
        (alone,) = medians(self.times, partial(look_for_alarms, self.ledger, newest))
        yield ("every alert", f"{alone:.3f} s", held(alone, BAR_SUMS, "s"))

    def by_repository(self) -> Row:
        """The whole command, once. The repositories and the whole must agree."""
        whole = add_up(self.ledger, Period()).sums
        found = [each.rollup.sums for each in roll_up_repositories(self.ledger, Period())]
        if (sum(each.runs for each in found), sum(each.labelled for each in found)) != (whole.runs, whole.labelled):
            raise SystemExit("the repositories are not the whole")
        done = self._command("rollup", "--by-repository", "--since", FIRST.isoformat())
        return ("by repository", f"{done.seconds:.1f} s", f"{len(found)} repositories; {done.peak_mb:.0f} MB")

    def from_a_checkpoint(self) -> Iterator[Row]:
        """The whole command, without and with new reviews. Of the earlier runs a thousand are read again."""
        checkpoints, known = checkpoints_of({"XDG_STATE_HOME": str(self.folder)}), checkpoint(self.ledger)
        checkpoints.keep(self.ledger, known)
        nothing = self._command("ledger", "verify")
        record_later(self.ledger, known)
        checkpoints.keep(self.ledger, known)
        later = self._command("ledger", "verify")
        proof = verify(self.ledger, known)
        if not proof.whole or proof.earlier is None:
            raise SystemExit(f"the verification did not begin at the checkpoint: {proof}")
        for what, done in (("nothing later", nothing), (f"{LATER} later runs", later)):
            yield (f"verify {what}", f"{done.seconds:.1f} s", f"{done.peak_mb:.0f} MB; from a checkpoint of all others")

    def dashboard(self) -> Row:
        """The whole command."""
        done = self._command("ui", "--out", self.folder / "pages")
        return (
            "dashboard",
            f"{done.seconds:.1f} s",
            f"{held(done.seconds, BAR_DASHBOARD, 's')}; {done.peak_mb:.0f} MB",
        )

    def _asked(self, what: str, bar: float, alone: Callable[[], object], *words: str) -> Row:
        """Opening the ledger, asking, closing it; in the remark the whole command with its start."""
        took, busy, whole = [], [], []
        for _ in range(self.times):
            began = time.process_time()
            took.append(seconds(alone))
            busy.append(time.process_time() - began)
            whole.append(self._command(*words))
        value, command = statistics.median(took), statistics.median(each.seconds for each in whole)
        beside = f"{min(busy):.3f} s of the processor; the whole command {command:.3f} s"
        return (
            what,
            f"{value:.3f} s",
            f"{held(value, bar, 's')}; {beside}, {max(each.peak_mb for each in whole):.0f} MB",
        )

    def _command(self, *words: str | Path) -> Watched:
        environment = {**os.environ, "XDG_STATE_HOME": str(self.folder)}
        done = watch([BOT, *words, "--ledger", self.ledger], self.folder, environment)
        if done.code:
            raise SystemExit(f"{words} failed: {done.complaint}")
        return done


def fastest_and_slowest(rows: list[Row]) -> list[Row]:
    """The rows with the least and the most seconds, each named so."""
    by_seconds = sorted(rows, key=lambda row: float(row[1].removesuffix(" s")))
    ends = {f"fastest of {len(rows)} filters": by_seconds[0], "slowest": by_seconds[-1]}
    return [(f"{which}: {what}", value, remark) for which, (what, value, remark) in ends.items()]


def checkpoint(ledger: Path) -> Checkpoint:
    """What a verification of the whole ledger would leave, which takes an hour for a million runs."""
    heads, last = Heads(), 0
    with closing(open_to_read(ledger)) as connection:
        for chain in connection.execute("SELECT id, run_id, events, last_hash FROM chains ORDER BY id"):
            heads.add(*chain)
            last = chain[0]
    return heads.checkpoint(datetime.now(UTC), last, READER)


def record_later(ledger: Path, known: Checkpoint) -> None:
    """Reviews that begin after all others."""
    world = MockWorld()
    world.reviews = known.runs
    world.clock.moment = moment_of(known.through) + timedelta(hours=1)
    for _ in range(LATER):
        document = world.review()
        with closing(Recorder(ledger, _refuse)) as recorder:
            for event in document.events:
                recorder(event)
            recorder.finish(document)


def _refuse(sentence: str) -> None:
    raise SystemExit(sentence)


def _counts(ledger: Path) -> tuple[int, int]:
    """How many runs and events it holds."""
    with closing(open_to_read(ledger)) as connection:
        questions = ("SELECT count(*) FROM runs", "SELECT sum(events) FROM chains")
        runs, events = (int(connection.execute(question).fetchone()[0]) for question in questions)
    return runs, events


if __name__ == "__main__":
    main()
