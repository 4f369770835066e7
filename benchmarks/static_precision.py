"""How many of the embedded agent's findings on real ranges are useful, as somebody judged them line by line.

The judgements of each set of ranges stand beside this file. A set is blind for the rules that ran when it was judged,
and says nothing about rules that were chosen by it. With --checkouts DIR, which holds bare clones OWNER+NAME, the
checks run again over every range: findings that nobody has judged are listed, and those that are gone count no more.
With --draw N as well, the next N ranges there are printed instead, as _drawn_ranges.py chooses them.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from _drawn_ranges import draw
from _figures import Row, command_line, tell
from pydantic import TypeAdapter

from review_advisor.agents.static.checks import StaticChecks
from review_advisor.app.review import base_allows, base_checks, installed
from review_advisor.change.checker_settings import CHECKERS, RuffSettings
from review_advisor.change.diff_text import changed_lines, render_files
from review_advisor.change.redaction import shown_file
from review_advisor.change.sources import open_range
from review_advisor.ledger.kpis import wilson

HERE = Path(__file__)
SETS = {
    "first": ("static_precision.tsv", "not blind: its rules were chosen by it"),
    "second": ("static_precision_blind.tsv", "blind for the rules chosen by the first"),
    "third": ("static_precision_third.tsv", "blind for the rules chosen by the first two"),
    "fourth": ("static_precision_fourth.tsv", "blind for the rules chosen by the first three"),
    "fifth": ("static_precision_fifth.tsv", "blind for the rules chosen by the first four"),
    "sixth": ("static_precision_sixth.tsv", "blind for the rules chosen by the first five"),
    "seventh": ("static_precision_seventh.tsv", "blind for the rules that the first six chose"),
    "eighth": ("static_precision_eighth.tsv", "blind for the rules chosen by the first seven"),
    "ninth": ("static_precision_ninth.tsv", "blind for the rules chosen by the first eight"),
}
"""The judgements of each set of ranges, the newest last, and for which rules it was blind."""
LEAST = 0.8
FEWEST = 20
"""Fewer findings show nothing."""
USEFUL, NOISE = "useful", "noise"


@dataclass(frozen=True, slots=True)
class Judged:
    """One finding with its judgement; a range without a finding has one row that says so."""

    repository: str
    revisions: str
    path: str
    line: str
    rule: str
    judgement: str
    why: str

    @property
    def place(self) -> tuple[str, str, str, str]:
        """What the checks say of it, too."""
        return self.repository, self.path, self.line, self.rule


def judged(name: str) -> list[Judged]:
    """The rows of a set."""
    with HERE.with_name(SETS[name][0]).open(encoding="utf-8", newline="") as file:
        return [Judged(**row) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


def found(checkouts: Path, repository: str, revisions: str) -> set[tuple[str, str, str, str]]:
    """What the checks find in one range today, by the same code as a review."""
    source = open_range(checkouts / repository.replace("/", "+"), revisions)
    try:
        change = source.change()
        words = base_checks(change, source.base_file)
        settings = TypeAdapter(tuple[RuffSettings, ...]).validate_json(words[1] if words else "[]")
        allowed = {each.name: base_allows(each, source.base_file) for each in CHECKERS}
        lines = tuple(changed_lines(render_files(map(shown_file, change.files))))
        with source.head_tree() as tree:
            every = StaticChecks(lines, tree, settings, installed(), allowed).everything()
        return {(repository, one.path, str(one.line), one.rule) for one in every if not one.silenced}
    finally:
        source.close()


def useful(rows: Sequence[Judged]) -> tuple[int, int]:
    """How many of the findings are useful, and how many there are."""
    counts = Counter(row.judgement for row in rows)
    return counts[USEFUL], counts[USEFUL] + counts[NOISE]


def share(rows: Sequence[Judged]) -> tuple[str, str]:
    """The same in percent and in words."""
    good, every = useful(rows)
    return f"{good / every:.0%}" if every else "-", f"{good} of {every}"


def interval(rows: Sequence[Judged]) -> str:
    """Where the share lies with 95%, if findings were drawn one by one. Those of one range are not."""
    ends = wilson(*useful(rows))
    return "no interval" if ends is None else f"95% interval {ends[0]:.0%} to {ends[1]:.0%}"


def is_held(rows: Sequence[Judged]) -> bool:
    """Whether a set holds the bar, by enough findings."""
    good, every = useful(rows)
    return every >= FEWEST and good >= LEAST * every


def again(checkouts: Path) -> list[Row]:
    """The share of each set by today's rules. Prints what nobody has judged."""
    rows: list[Row] = []
    for name in SETS:
        ranges = dict.fromkeys((row.repository, row.revisions) for row in judged(name))
        now = {place for each in ranges for place in found(checkouts, *each)}
        for place in sorted(now - {row.place for row in judged(name)}):
            print("not judged:", *place)
        rows.append((name, *share([row for row in judged(name) if row.place in now])))
    return rows


def main() -> None:
    """Tell the shares. Exit 1 if the newest blind one misses its bar."""
    parser = command_line(__doc__)
    parser.add_argument("--checkouts", type=Path, metavar="DIR", help="run the checks over clones OWNER+NAME here")
    parser.add_argument("--draw", type=int, metavar="N", help="print the next N ranges of --checkouts, and stop")
    options = parser.parse_args()
    if options.draw is not None:
        known = {row.repository for name in SETS for row in judged(name)}
        for repository, revisions in draw(options.checkouts, known, options.draw):
            print(repository, revisions)
        return
    table = []
    for name, (_, blind) in SETS.items():
        percent, words = share(judged(name))
        count = len({row.repository for row in judged(name)})
        table.append((f"{name} set, {count} ranges", percent, f"{words}; {blind}"))
    newest = judged(list(SETS)[-1])
    percent, words = share(newest)
    verdict = f"bar {LEAST:.0%} of at least {FEWEST}: {'held' if is_held(newest) else 'MISSED'}"
    told = len({row.repository for row in newest if row.rule})
    table.append(("the newest blind figure", percent, f"{words} in {told} ranges; {interval(newest)}; {verdict}"))
    tell(HERE.stem, {"useful findings of static checks": table}, write=options.write)
    by_rule = Counter((row.rule, row.judgement) for name in SETS for row in judged(name) if row.rule)
    each = [
        (rule, f"{by_rule[rule, USEFUL]}", f"of {by_rule[rule, USEFUL] + by_rule[rule, NOISE]}")
        for rule in sorted({rule for rule, _ in by_rule})
    ]
    tell(HERE.stem, {"useful when judged, by rule, in all sets": each}, write=False)
    if options.checkouts is not None:
        tell(HERE.stem, {"by today's rules; not blind": again(options.checkouts)}, write=False)
    if not is_held(newest):
        raise SystemExit(f"the newest blind figure misses its bar of {LEAST:.0%}")


if __name__ == "__main__":
    main()
