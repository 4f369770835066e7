"""How many of the embedded agent's findings on real ranges are useful, as somebody judged them line by line.

The judgements stand in static_precision.tsv beside this file. Those of twenty more ranges stand in
static_precision_blind.tsv: of all that was found there before any rule was changed because of it. With --checkouts DIR,
which holds bare clones OWNER+NAME, the checks run again over each range of the first: what nobody has judged is listed,
and what is found no longer counts no more.
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from _figures import command_line, tell
from pydantic import TypeAdapter

from review_advisor.adapters.git.open import open_range
from review_advisor.app.base_checks import base_checks
from review_advisor.core.facts.patches.diff_text import changed_lines, render_files
from review_advisor.core.facts.ruff_settings import RuffSettings
from review_advisor.core.safety.shown_change import shown_file
from review_advisor.embedded.checkers import StaticChecks

JUDGED = Path(__file__).with_suffix(".tsv")
BLIND = JUDGED.with_stem("static_precision_blind")
LEAST = 0.8
USEFUL, NOISE, NOTHING = "useful", "noise", "nothing"


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


def judged(table: Path = JUDGED) -> list[Judged]:
    """The rows of a file."""
    with table.open(encoding="utf-8", newline="") as file:
        return [Judged(**row) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


def found(checkouts: Path, repository: str, revisions: str) -> set[tuple[str, str, str, str]]:
    """What the checks find in one range today, by the same code as a review."""
    source = open_range(checkouts / repository.replace("/", "+"), revisions)
    try:
        change = source.change()
        words = base_checks(change, source.base_file)
        settings = TypeAdapter(tuple[RuffSettings, ...]).validate_json(words[1] if words else "[]")
        lines = tuple(changed_lines(render_files(map(shown_file, change.files))))
        with source.head_tree() as tree:
            every = StaticChecks(lines, tree, settings).everything()
        return {(repository, one.path, str(one.line), one.rule) for one in every if not one.silenced}
    finally:
        source.close()


def main() -> None:
    """Tell the share."""
    parser = command_line(__doc__)
    parser.add_argument(
        "--checkouts", type=Path, metavar="DIR", help="run the checks again over clones OWNER+NAME here"
    )
    options = parser.parse_args()
    rows = judged()
    ranges = dict.fromkeys((row.repository, row.revisions) for row in rows)
    if options.checkouts is not None:
        now = {place for each in ranges for place in found(options.checkouts, *each)}
        known = {row.place for row in rows}
        for place in sorted(now - known):
            print("not judged:", *place)
        rows = [row for row in rows if row.place in now]
    counts = Counter(row.judgement for row in rows)
    told = counts[USEFUL] + counts[NOISE]
    share = counts[USEFUL] / told if told else 0.0
    by_rule = Counter((row.rule, row.judgement) for row in rows if row.judgement != NOTHING)
    rules = sorted({rule for rule, _ in by_rule})
    verdict = "held" if share >= LEAST else "MISSED"
    table = [("useful", f"{share:.0%}", f"{counts[USEFUL]} of {told}; bar {LEAST:.0%}: {verdict}")]
    each = [(rule, f"{by_rule[rule, USEFUL]}", f"of {by_rule[rule, USEFUL] + by_rule[rule, NOISE]}") for rule in rules]
    blind = Counter(row.judgement for row in judged(BLIND))
    unseen = blind[USEFUL] + blind[NOISE]
    reached = "held" if blind[USEFUL] >= LEAST * unseen else "MISSED"
    table.append(("the same, blind", f"{blind[USEFUL] / unseen:.0%}", f"{blind[USEFUL]} of {unseen}: {reached}"))
    tell(Path(__file__).stem, {f"findings of static checks in {len(ranges)} ranges": table}, write=options.write)
    tell(Path(__file__).stem, {"useful, by rule": each}, write=False)


if __name__ == "__main__":
    main()
