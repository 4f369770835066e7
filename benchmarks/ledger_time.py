"""How long questions to a large ledger take: a list of runs with each filter, and rollups of its runs."""

from __future__ import annotations

import random
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import product
from pathlib import Path

from _figures import Row, command_line, held, tell
from _runs import BOT, command, medians, seconds

from review_advisor.adapters.ledger.database import open_to_read, open_to_write
from review_advisor.adapters.ledger.proving import READER, verify
from review_advisor.adapters.ledger.recorder import Recorder
from review_advisor.adapters.ledger.rows import write_casting
from review_advisor.adapters.ledger.sums import add_up
from review_advisor.adapters.ledger.transactions import transaction
from review_advisor.app.organisation.groups import roll_up_groups
from review_advisor.app.rollup import look_for_alarms
from review_advisor.app.runs import list_runs
from review_advisor.core.ledger.checkpoint import Heads
from review_advisor.core.ledger.periods import Period
from review_advisor.core.ledger.row import Participant
from review_advisor.core.ledger.runs import Between, RunFilter, letters
from review_advisor.core.organisation.group_rollup import GROUPINGS, GroupRollup
from review_advisor.core.organisation.organisation import Organisation
from review_advisor.mockworld.world import MockWorld

BAR_LIST = 0.2
BAR_SUMS = 1.0
BAR_DASHBOARD = 10.0
LATER = 100
FIRST = datetime(2025, 1, 1, tzinfo=UTC)
APART = 20_000_000
"""Microseconds from one run to the next."""
REPOSITORIES = 200
TEAMS = 20
AUTHORS = 500
OBSERVED_OF = 10
"""Of so many runs, the pull request of one is observed."""
WORDS = [verb + what for verb, what in product(("", "re", "un"), ("fix", "parser", "cache", "login", "queue", "index"))]
Filters = Mapping[str, tuple[RunFilter, tuple[str, ...]]]
"""By what is asked: the filter, and the same on the command line."""


def main() -> None:
    """Tell every time."""
    parser = command_line(__doc__)
    parser.add_argument("--runs", type=int, default=1_000_000, help="how many runs the ledger holds")
    parser.add_argument("--times", type=int, default=5, help="how often each question is asked")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder, "ledger.sqlite3")
        made = seconds(lambda: generate(ledger, chosen.runs))
        size = ledger.stat().st_size / 1e6
        answers = list(lists(ledger, filters(chosen.runs), chosen.times))
        tell(Path(__file__).stem, {"runs list, by filter": answers}, write=False)
        tables = {
            f"runs list of {chosen.runs:,} runs": fastest_and_slowest(answers),
            f"rollup of {chosen.runs:,} runs": list(sums(ledger, chosen.times)),
        }
        tables["by group"] = list(groups(ledger))
        tables["beside them"] = [*from_a_checkpoint(ledger, chosen.times), dashboard(ledger, Path(folder, "pages"))]
        tables["the ledger"] = [("made", f"{made:.1f} s", f"{size:.0f} MB without events")]
    tell(Path(__file__).stem, tables, write=chosen.write)


def filters(runs: int) -> Filters:
    """One question for each filter: most with few answers or none, for which every run is looked at."""
    middle = FIRST + timedelta(microseconds=APART * runs // 2)
    since, until = middle, middle + timedelta(hours=1)
    return {
        "no filter": (RunFilter(), ()),
        "status, common": (RunFilter(status="approved"), ("--status", "approved")),
        "status, nowhere": (RunFilter(status="unfinished"), ("--status", "unfinished")),
        "surface": (RunFilter(surface="visual_gate"), ("--surface", "visual_gate")),
        "role": (RunFilter(role="mid_flight"), ("--role", "mid_flight")),
        "model, unknown": (RunFilter(model="none-such"), ("--model", "none-such")),
        "surface, role, model, error": (
            RunFilter(surface="adr_review", role="post_verify", model="model-5", error="timeout"),
            ("--surface", "adr_review", "--role", "post_verify", "--model", "model-5", "--error", "timeout"),
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


def lists(ledger: Path, asked: Filters, times: int) -> Iterator[Row]:
    """A row for each filter: opening the ledger, asking, closing it; in the remark the whole command with its start."""
    for what, (wanted, words) in asked.items():
        whole, alone = medians(times, command(BOT, "runs", "list", "--ledger", ledger, *words), _ask(ledger, wanted))
        yield (what, f"{alone:.3f} s", f"{held(alone, BAR_LIST, 's')}; the whole command {whole:.3f} s")


def fastest_and_slowest(rows: list[Row]) -> list[Row]:
    """The rows with the least and the most seconds, each named so."""
    by_seconds = sorted(rows, key=lambda row: float(row[1].removesuffix(" s")))
    ends = {f"fastest of {len(rows)} filters": by_seconds[0], "slowest": by_seconds[-1]}
    return [(f"{which}: {what}", value, remark) for which, (what, value, remark) in ends.items()]


def _ask(ledger: Path, wanted: RunFilter) -> Callable[[], object]:
    return lambda: list_runs(ledger, wanted)


def sums(ledger: Path, times: int) -> Iterator[Row]:
    """A row for each period: opening the ledger, adding up, closing it; in the remark the whole command."""
    newest = FIRST + timedelta(microseconds=APART * _runs_in(ledger))
    week = newest - timedelta(weeks=1)
    questions = {
        "every run": (Period(), ("--since", FIRST.isoformat())),
        "every run since a moment": (Period(FIRST), ("--since", FIRST.isoformat())),
        "the last week": (Period(week), ("--since", week.isoformat())),
        "every run of one repository": (
            Period(repository="org/repository-7"),
            ("--since", FIRST.isoformat(), "--repository", "org/repository-7"),
        ),
    }
    for what, (period, words) in questions.items():
        whole, alone = medians(
            times, command(BOT, "rollup", "--ledger", ledger, *words), partial(add_up, ledger, period)
        )
        yield (what, f"{alone:.3f} s", f"{held(alone, BAR_SUMS, 's')}; the whole command {whole:.3f} s")
    alerts = partial(look_for_alarms, ledger, newest)
    (alone,) = medians(times, alerts)
    yield ("every alert", f"{alone:.3f} s", held(alone, BAR_SUMS, "s"))


def groups(ledger: Path) -> Iterator[Row]:
    """A row for each way of grouping all runs: once, as it takes seconds. Groups and the whole must agree."""
    whole = add_up(ledger, Period())
    organisation = Organisation(
        teams={f"org/repository-{number}": f"team {number % TEAMS}" for number in range(1, REPOSITORIES + 1)},
        author_groups={f"author-{number}": f"group {number % 5}" for number in range(AUTHORS)},
    )
    for by in GROUPINGS:
        found: list[GroupRollup] = []
        took = seconds(lambda by=by, found=found: found.append(roll_up_groups(ledger, Period(), by, organisation)))
        rollups = [row.rollup for row in found[0].rows if row.rollup is not None]
        if [sum(each.sums.labelled for each in rollups), sum(each.sums.runs for each in rollups)] != [
            *(whole.sums.labelled, whole.sums.runs)
        ]:
            raise SystemExit(f"the groups by {by} are not the whole")
        yield (f"by {by}", f"{took:.1f} s", f"{len(rollups)} groups")


def from_a_checkpoint(ledger: Path, times: int) -> Iterator[Row]:
    """A verification for which only reviews with their events are new. The earlier runs have none to be read again."""
    heads = Heads()
    connection = open_to_read(ledger)
    for chain in connection.execute("SELECT id, run_id, events, last_hash FROM chains ORDER BY id"):
        heads.add(*chain)
        last = chain[0]
    connection.close()
    known = heads.checkpoint(datetime.now(UTC), last, READER)
    world = MockWorld()
    world.clock.moment = FIRST + timedelta(microseconds=2 * (last - int(FIRST.timestamp()) * 1_000_000))
    for _ in range(LATER):
        document = world.review()
        recorder = Recorder(ledger, _refuse)
        for event in document.events:
            recorder(event)
        recorder.finish(document)
        recorder.close()
    proof = verify(ledger, known, spot_checks=0)
    if not proof.whole or proof.earlier is None:
        raise SystemExit(f"the verification did not begin at the checkpoint: {proof}")
    (alone,) = medians(times, partial(verify, ledger, known, spot_checks=0))
    yield (f"verify {LATER} later runs", f"{alone:.3f} s", "from a checkpoint of all others; in full about an hour")


def _refuse(sentence: str) -> None:
    raise SystemExit(sentence)


def dashboard(ledger: Path, folder: Path) -> Row:
    """The whole command."""
    took = seconds(command(BOT, "ui", "--ledger", ledger, "--out", folder))
    return ("dashboard", f"{took:.1f} s", held(took, BAR_DASHBOARD, "s"))


def _runs_in(ledger: Path) -> int:
    connection = open_to_read(ledger)
    try:
        return int(connection.execute("SELECT count(*) FROM runs").fetchone()[0])
    finally:
        connection.close()


def generate(ledger: Path, runs: int) -> None:
    """A ledger of so many runs, the same for the same number; their events are left out, no list reads them."""
    connection = open_to_write(ledger)
    connection.execute("PRAGMA cache_size = -300000")  # indexes grow where the values happen to be
    with transaction(connection):
        connection.executemany(
            "INSERT INTO repositories (id, name) VALUES (?, ?)",
            [(number, f"org/repository-{number}") for number in range(1, REPOSITORIES + 1)],
        )
        connection.executemany(
            "INSERT INTO authors (id, login) VALUES (?, ?)",
            [(number + 1, f"author-{number}") for number in range(AUTHORS)],
        )
        castings = [write_casting(connection, parts) for parts in every_casting()]
        connection.executemany("INSERT INTO chains (id, run_id) VALUES (?, ?)", _chains(runs))
        _insert(connection, _rows(runs, castings))
        connection.executemany("INSERT INTO titles (chain, title) VALUES (?, ?)", _titles(runs))
        connection.executemany(
            "INSERT INTO changes (chain, label, head_sha) VALUES (?, ?, ?)",
            ((chain, f"change-{number}", f"{number:040x}") for number, (chain, _) in enumerate(_chains(runs))),
        )
        _observe(connection)
    connection.close()


def every_casting() -> Iterator[tuple[Participant, ...]]:
    """Who may take part: one surface or two, models that change with the years, an answer that does not come."""
    errors = ("", "", "timeout", "crash", "rate_limited", "call_budget")
    surfaces = (("pr_review",), ("pr_review", "adr_review"), ("pr_review", "visual_gate"))
    for which, (executor, advisor), error in product(surfaces, _models(), errors):
        for roles in (("executor", "post_verify"), ("pre_flight", "executor", "mid_flight", "post_verify")):
            asked = product(which, roles)
            parts = {
                Participant(s, r, executor if r == "executor" else advisor, error if r == "post_verify" else "")
                for s, r in asked
            }
            yield tuple(sorted(parts, key=lambda part: (part.surface, part.role)))


def _models() -> list[tuple[str, str]]:
    return [(f"model-{number}", f"model-{number + 1}") for number in range(0, 12, 2)]


def _chains(runs: int) -> Iterator[tuple[int, str]]:
    start = int(FIRST.timestamp()) * 1_000_000
    return ((start + number * APART, f"run_{number:012d}_{number * 2654435761 % 2**32:08x}") for number in range(runs))


def _rows(runs: int, castings: list[int]) -> Iterator[tuple[object, ...]]:
    chance = random.Random(59)
    some = chance.random
    statuses = ("approved",) * 6 + ("changes_requested",) * 2 + ("escalated", "stopped")
    for chain, title in _titles(runs):
        roll = some()
        pull_request = 1 + int(some() * 5_000)
        yield (
            chain,
            statuses[int(roll * 10)],
            1 + int(some() * REPOSITORIES),
            pull_request,
            castings[int(some() * len(castings))],
            letters(title),
            some() * 3,
            int(some() * 4),
            int(some() * 9),
            int(roll * 1.1),
            int(some() * 1.05),
            int(some() * 1.1),
            int(roll * 1_000_000),
            int(roll * 600_000),
            int(some() * 200_000),
            int(some() * 30_000),
            1 + pull_request % AUTHORS,
        )


def _insert(connection: sqlite3.Connection, rows: Iterator[tuple[object, ...]]) -> None:
    connection.executemany(
        "INSERT INTO runs (chain, status, repository, pull_request, casting, letters, cost_usd, consults, findings,"
        " vetoes, degraded, recovered, wall_ms, executor_ms, executor_tokens, advisor_tokens, author)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )


def _observe(connection: sqlite3.Connection) -> None:
    """What an observation of the pull request of every tenth run came to: one finding that proves something."""
    seen = f"FROM runs WHERE chain / {APART} % {OBSERVED_OF} = 0"
    connection.execute(
        "INSERT INTO validations (chain, finding, proved_right, repository)"
        f" SELECT chain, 'f-0123456789', chain % 2, repository {seen}"
    )
    connection.execute(
        "INSERT INTO fates (chain, repository, approved, consulted, reverted, overridden)"
        f" SELECT chain, repository, status = 'approved', consults > 0, chain % 3 = 0, NULL {seen}"
    )


def _titles(runs: int) -> Iterator[tuple[int, str]]:
    chance = random.Random(118)
    titles = [" ".join(chance.choices(WORDS, k=7)) for _ in range(20_000)]
    return (
        (chain, f"{titles[number * 7919 % 20_000]} (part {number})") for number, (chain, _) in enumerate(_chains(runs))
    )


if __name__ == "__main__":
    main()
