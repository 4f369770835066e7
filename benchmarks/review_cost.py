"""What a review costs: the requests of the pinned CLI, counted on the wire and priced by the shipped list of prices.

The CLI talks to a stub of the Messages API on loopback, so the prompts are real and the answers are not. A prefix that
an earlier request of the same model has marked for the cache counts as read from it. Needs the CLI of ``make e2e``.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import _pr_agent
from _changes import CHANGED_LINES_EACH, path_of
from _figures import ROOT, Row, command_line, every_row, tell
from _runs import BOT, git
from _watched import watch

from review_advisor.policy.prices import Price, Unpriced, cost, price_on, read_prices

sys.path.insert(0, str(ROOT))
from tests.e2e.prompt_cache import counted
from tests.e2e.review_answers import confirm, plan, report, veto
from tests.e2e.review_world import may_repair
from tests.e2e.stub_api import Reply, Request, read, several, stub_api, tool_use

CLI = ROOT / ".tools/claude/node_modules/@anthropic-ai/claude-code-linux-x64/claude"
CHARACTERS_A_TOKEN = 3.5
"""Of code and prose in English; no tokenizer of these models is public."""
FILES_READ = 4
ANSWER_TOKENS = {"ReviewPlan": 600, "ReviewReport": 1_500, "PostVerifyResult": 800}
READING_TOKENS = 150
"""What a model writes to read one file."""
SIZES = (30, 200, 1_000, 4_000, 20_000)
VETOES = (0, 1, 3)
LARGEST_REPAIRED = 1_000
"""A change of several parts is not repaired."""
BEFORE = "fa025c7"
KEPT = Path(__file__).with_name("review_cost_before.json")
"""The counts of the version before calls of a role began alike: ``--source`` and ``--save`` made them."""
ROLES = {"ReviewPlan": "pre-flight", "ReviewReport": "executor", "PostVerifyResult": "post-verify"}
_SHOWN_FILE = re.compile(r"^FILE (\S+)$", re.MULTILINE)
_ADDED_LINE = re.compile(r"^[\d ]*\+(.+)$", re.MULTILINE)
"""Of a rendered diff, with columns of numbers or without."""
ASSUMPTIONS = (
    f"Assumed: {CHARACTERS_A_TOKEN} characters a token; the executor reads {FILES_READ - 1} files, nobody else reads;"
    f" tokens of an answer: {ANSWER_TOKENS}; no consult, no repair. The cache lives as long as the review, and is read"
    " up to any block that is at most 20 before a mark."
)
ENDED = (0, 10, 11)


@dataclass(frozen=True, slots=True)
class Billed:
    """One request: its model, and its tokens as they are billed."""

    model: str
    fresh: int
    read: int
    written: int
    answer: int

    def usd(self, prices: Sequence[Price]) -> float:
        """By the list of prices of today."""
        today = datetime.now(UTC).date()
        price = price_on(self.model, today, prices)
        if price is None:
            raise SystemExit(f"the list of prices has none for {self.model}")
        return cost(Unpriced(self.model, today, 1, self.fresh, self.answer, self.read, self.written), price)


def answer_of(request: Request) -> str:
    """The title of the answer's schema, which says whose request it is."""
    (schema,) = (tool["input_schema"] for tool in request.body["tools"] if tool["name"] == "StructuredOutput")
    return str(schema["title"])


def found(request: Request, number: int) -> list[dict[str, object]]:
    """A mild finding on the ``number``-th added line that a request shows: without it a retry would change nothing."""
    path = _SHOWN_FILE.findall(request.prompt)[0]
    quote = _ADDED_LINE.findall(request.prompt)[number]
    named = {"path": path, "line": 1, "severity": "low", "category": "tests", "title": f"about line {number}"}
    return [{**named, "confidence": 0.5, "evidence": quote}]


class Models:
    """They plan, read some files, approve, and confirm; with ``vetoes`` so many approvals are refused.

    ``repairs``: an executor that may edit changes a line of the first file before it reports.
    """

    def __init__(self, paths: Sequence[str], *, vetoes: int, repairs: bool = False) -> None:
        self._paths = paths[:FILES_READ]
        self._vetoes = vetoes
        self._repairs = repairs
        self._reports = 0
        self.written: list[int] = []

    def reply(self, request: Request) -> Reply:
        """The next reply to a request, by what it already holds; its tokens are added to those written."""
        turn, answer = len(request.body["messages"]) // 2, answer_of(request)
        if answer == "ReviewReport" and turn < len(self._paths):
            self.written.append(READING_TOKENS)
            return read(self._paths[turn])
        if self._repairs and turn == len(self._paths) and may_repair(request):
            self.written.append(READING_TOKENS)
            line = "total_1 = price_0 * 1 + cost"
            return several(
                tool_use("Edit", file_path=self._paths[0], old_string=line, new_string=line.replace("+", "-"))
            )
        self.written.append(ANSWER_TOKENS[answer])
        if answer == "ReviewPlan":
            return plan()
        if answer == "ReviewReport":
            self._reports += 1
            return report("approve", findings=found(request, self._reports) if self._reports > 1 else [])
        self._vetoes -= 1
        return veto() if self._vetoes >= 0 else confirm()


@dataclass(frozen=True, slots=True)
class Case:
    """One kind of review: so many changed lines, so many vetoes before it is confirmed; three need a critical path."""

    lines: int
    vetoes: int
    repaired: bool = False

    @property
    def words(self) -> str:
        """For a table."""
        end = {0: "approved", 1: "vetoed once"}.get(self.vetoes, f"vetoed {self.vetoes} times")
        return f"{self.lines:,} lines, {end}{' and repaired' if self.repaired else ''}"


@dataclass(frozen=True, slots=True)
class Spent:
    """What one role of a review sends in all its requests, and what of it is not read from the cache."""

    characters: int
    full_price: int


def billed(requests: Sequence[Request], written: Sequence[int]) -> Iterator[Billed]:
    """Each request, given what the earlier ones have put into the cache, with the tokens of its answer."""
    for each, answer in zip(counted(requests), written, strict=True):
        yield Billed(each.request.model, tokens_of(each.fresh), tokens_of(each.read), tokens_of(each.written), answer)


def by_role(requests: Sequence[Request]) -> dict[str, Spent]:
    """The same by the title of the answer's form, in characters sent and tokens at full price."""
    found: dict[str, Spent] = {}
    for each in counted(requests):
        title = answer_of(each.request)
        before = found.get(title, Spent(0, 0))
        sent = before.characters + each.read + each.full_price
        found[title] = Spent(sent, before.full_price + tokens_of(each.full_price))
    return found


def tokens_of(characters: int) -> int:
    """About how many tokens so many characters are."""
    return round(characters / CHARACTERS_A_TOKEN)


@dataclass(frozen=True, slots=True)
class Counts:
    """One case as it was played."""

    billed: tuple[Billed, ...]
    roles: Mapping[str, Spent]

    @property
    def usd(self) -> float:
        """By the list of prices of today."""
        return sum(each.usd(read_prices()) for each in self.billed)


def make_change(folder: Path, case: Case) -> list[str]:
    """A repository whose last commit changes so many lines, of ordinary length, in files of a hundred; their paths.

    Every other file is new; of those between them, lines of an older one are changed, with three lines around.
    """
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    sizes = [min(CHANGED_LINES_EACH, case.lines - at) for at in range(0, case.lines, CHANGED_LINES_EACH)]
    paths = [path_of(number) for number in range(len(sizes))]
    if case.vetoes > 1:
        paths[0] = "auth/session.py"
    for old in (True, False):
        for number, (path, size) in enumerate(zip(paths, sizes, strict=True)):
            rewritten = number % 2 == 1
            if old and not rewritten:
                continue
            lines = [f"    total_{at} = price_{number} * {at} + cost\n" for at in range(size * 4)]
            if rewritten and not old:
                lines = [line.replace("+", "-") if at % 8 == 0 else line for at, line in enumerate(lines)]
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text("".join(lines if rewritten else lines[:size]))
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--allow-empty", "--message=change")
        git(folder, "tag", "base" if old else "head")
    return paths


def review(folder: Path, case: Case, source: Path | None) -> Counts:
    """The requests of one review; ``source`` is the package's parent folder of another version."""
    with stub_api() as api, tempfile.TemporaryDirectory(dir=folder) as home:
        paths = make_change(Path(home, "change"), case)
        models = Models(paths, vetoes=case.vetoes, repairs=case.repaired)
        api.script(models.reply)
        where = ("--base", "base", "--repo", Path(home, "change"), "--claude-bin", CLI, "--artifacts", Path(home, "l"))
        environment = {"PATH": os.environ["PATH"], "HOME": home, "ANTHROPIC_API_KEY": "none-needed"}
        environment |= {"ANTHROPIC_BASE_URL": api.url} | ({"PYTHONPATH": str(source)} if source else {})
        run = watch([BOT, "review", *where], folder, environment)
        if run.code not in ENDED:
            raise SystemExit(f"the review did not run to its end ({run.code}): {run.complaint}")
        return Counts(tuple(billed(api.requests, models.written)), by_role(api.requests))


def played(folder: Path, cases: Sequence[Case], source: Path | None) -> dict[str, Counts]:
    """Every case, by its words."""
    return {case.words: review(folder, case, source) for case in cases}


def read_counts(file: Path) -> dict[str, Counts]:
    """What ``--save`` of another version has kept."""
    told = json.loads(file.read_text(encoding="utf-8"))
    return {
        words: Counts(
            tuple(Billed(*each) for each in kept["billed"]),
            {role: Spent(*spent) for role, spent in kept["roles"].items()},
        )
        for words, kept in told.items()
    }


def save(file: Path, counts: Mapping[str, Counts]) -> None:
    """Keep these counts for ``read_counts``."""
    told = {
        words: {
            "billed": [astuple(one) for one in each.billed],
            "roles": {role: astuple(spent) for role, spent in each.roles.items()},
        }
        for words, each in counts.items()
    }
    file.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def cost_rows(counts: Mapping[str, Counts], before: Mapping[str, Counts]) -> Iterator[Row]:
    """The cost of each case, and how much cheaper it is than before."""
    for words, now in counts.items():
        remark = ""
        if words in before:
            then = before[words].usd
            remark = f"{now.usd / then - 1:+.0%} ({then:.2f})"
        yield words, f"{now.usd:.2f} USD", remark


def role_rows(counts: Mapping[str, Counts], before: Mapping[str, Counts]) -> Iterator[Row]:
    """Characters and tokens at full price of each role, before and after."""
    for words, now in counts.items():
        for title, spent in now.roles.items():
            then = before[words].roles.get(title) if words in before else None
            remark = f"{spent.characters:,} characters"
            if then is not None:
                remark += f"; {BEFORE}: {then.full_price:,} tokens, {then.characters:,} characters"
            yield f"{words}, {ROLES[title]}", f"{spent.full_price:,} tokens", remark


def what_if_rows(counts: Mapping[str, Counts]) -> Iterator[Row]:
    """What other behaviour of the models would bring: arithmetic on the counts, never a measurement."""
    for words, now in counts.items():
        if "vetoed once" not in words:
            continue
        for what, changed in (
            ("answers a third shorter", [replace(one, answer=round(one.answer * 2 / 3)) for one in now.billed]),
            ("low effort: half of the answers' tokens", [replace(one, answer=one.answer // 2) for one in now.billed]),
            ("no reading turn", [one for one in now.billed if one.answer != READING_TOKENS]),
        ):
            usd = sum(one.usd(read_prices()) for one in changed)
            yield f"{words}: {what}", f"{usd:.2f} USD", f"{1 - usd / now.usd:.0%} cheaper"


def repair_rows(counts: Mapping[str, Counts], repaired: Mapping[str, Counts]) -> Iterator[Row]:
    """What a review costs whose veto an edit of one line answers, beside a retry that edits nothing."""
    for words, now in repaired.items():
        without = counts[words.removesuffix(" and repaired")].usd
        yield words, f"{now.usd:.2f} USD", f"{now.usd - without:+.2f} USD"


def peer_rows(folder: Path, sizes: Sequence[int]) -> Iterator[Row]:
    """What pr-agent sends for the same diffs, as it comes: nothing of it is cached, and nobody judges its review."""
    executable = _pr_agent.installed()
    if executable is None:
        yield _pr_agent.NOT_INSTALLED
        return
    name = f"pr-agent {_pr_agent.version(executable)}"
    for lines in sizes:
        with tempfile.TemporaryDirectory(dir=folder) as home:
            make_change(Path(home, "change"), Case(lines, 0))
            diff = Path(home, "change.diff")
            git(Path(home, "change"), "diff", f"--output={diff}", "base", "head")
            prompts = _pr_agent.review_diff(executable, diff, _pr_agent.AS_IT_COMES).prompts
        sent = sum(map(len, prompts))
        yield f"{name}, {lines:,} lines", f"{tokens_of(sent):,} tokens", f"{sent:,} characters; calls: {len(prompts)}"


def main() -> None:
    """Review every case, and tell what it costs beside the version whose counts are kept."""
    parser = command_line(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="changed lines")
    parser.add_argument("--vetoes", type=int, nargs="+", default=VETOES, help="vetoes before it is confirmed")
    parser.add_argument("--source", type=Path, help="the src folder of another version")
    parser.add_argument("--save", type=Path, help="keep the counts in this file")
    chosen = parser.parse_args()
    if not CLI.is_file():
        raise SystemExit("needs the pinned CLI: run make e2e once")
    cases = [Case(lines, vetoes) for lines in chosen.sizes for vetoes in chosen.vetoes]
    repaired = [replace(case, repaired=True) for case in cases if case.vetoes == 1 and case.lines <= LARGEST_REPAIRED]
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        counts = played(Path(name), cases, chosen.source)
        mended = played(Path(name), repaired, chosen.source)
        beside = list(peer_rows(Path(name), chosen.sizes))
    if chosen.save is not None:
        save(chosen.save, counts)
    before = read_counts(KEPT) if KEPT.is_file() else {}
    print(ASSUMPTIONS)
    costs = list(cost_rows(counts, before))
    tell(Path(__file__).stem, {f"a review, and since {BEFORE}": costs}, write=chosen.write, on_page=every_row)
    more = {"at full price, by role": list(role_rows(counts, before)), "at full price, beside pr-agent": beside}
    if mended:
        more["with an accepted repair"] = list(repair_rows(counts, mended))
    if 1 in chosen.vetoes:
        more["what if (no measurement)"] = list(what_if_rows(counts))
    tell(Path(__file__).stem, more, write=False)


if __name__ == "__main__":
    main()
