"""What a review costs: the requests of the pinned CLI, counted on the wire and priced by the shipped list of prices.

The CLI talks to a stub of the Messages API on loopback, so the prompts are real and the answers are not. A prefix that
an earlier request of the same model has marked for the cache counts as read from it. Needs the CLI of ``make e2e``.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from _changes import CHANGED_LINES_EACH, make_many, path_of
from _figures import ROOT, Row, command_line, tell
from _runs import BOT
from _watched import watch

from review_advisor.adapters.price_file import read_prices
from review_advisor.core.metrics.prices import Price, Unpriced, cost, price_on

sys.path.insert(0, str(ROOT))
from tests.e2e.review_answers import confirm, plan, report, veto
from tests.e2e.stub_api import Reply, Request, read, stub_api

CLI = ROOT / ".tools/claude/node_modules/@anthropic-ai/claude-code-linux-x64/claude"
CHARACTERS_A_TOKEN = 3.5
"""Of code and prose in English; no tokenizer of these models is public."""
FILES_READ = 4
ANSWER_TOKENS = {"ReviewPlan": 600, "ReviewReport": 1_500, "PostVerifyResult": 800}
READING_TOKENS = 150
"""What a model writes to read one file."""
SIZES = (200, 1_000, 4_000)
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


class Models:
    """They plan, read some files, approve, and confirm; with ``vetoes`` the first approval is refused."""

    def __init__(self, paths: Sequence[str], *, vetoes: int) -> None:
        self._paths = paths[:FILES_READ]
        self._vetoes = vetoes
        self.written: list[int] = []

    def reply(self, request: Request) -> Reply:
        """The next reply to a request, by what it already holds; its tokens are added to those written."""
        turn, answer = len(request.body["messages"]) // 2, answer_of(request)
        if answer == "ReviewReport" and turn < len(self._paths):
            self.written.append(READING_TOKENS)
            return read(self._paths[turn])
        self.written.append(ANSWER_TOKENS[answer])
        if answer == "ReviewPlan":
            return plan()
        if answer == "ReviewReport":
            return report("approve", *(["second look"] if self._vetoes == 0 else []))
        self._vetoes -= 1
        return veto() if self._vetoes >= 0 else confirm()


def billed(requests: Sequence[Request], written: Sequence[int]) -> Iterator[Billed]:
    """Each request, given what the earlier ones have put into the cache, with the tokens of its answer."""
    cached: set[tuple[str, str]] = set()
    for request, answer in zip(requests, written, strict=True):
        blocks = list(_blocks(request.body))
        prefix, marks = "", []
        for block in blocks:
            prefix += json.dumps({name: value for name, value in block.items() if name != "cache_control"})
            if "cache_control" in block:
                marks.append(prefix)
        known = max((len(mark) for mark in marks if (request.model, mark) in cached), default=0)
        kept = max(map(len, marks), default=0)
        cached |= {(request.model, mark) for mark in marks}
        yield Billed(request.model, _tokens(len(prefix) - kept), _tokens(known), _tokens(kept - known), answer)


def _blocks(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All of a request in the order in which it is cached."""
    yield from body.get("tools", [])
    yield from body.get("system", [])
    for message in body["messages"]:
        content = message["content"]
        yield from [{"type": "text", "text": content}] if isinstance(content, str) else content


def _tokens(characters: int) -> int:
    return round(characters / CHARACTERS_A_TOKEN)


def review(folder: Path, lines: int, *, vetoes: int) -> tuple[Billed, ...]:
    """The requests of one review of so many changed lines."""
    files = lines // CHANGED_LINES_EACH
    models = Models([path_of(number) for number in range(files)], vetoes=vetoes)
    with stub_api() as api, tempfile.TemporaryDirectory(dir=folder) as home:
        api.script(models.reply)
        where = ("--base", "base", "--repo", folder / "change", "--claude-bin", CLI, "--artifacts", Path(home, "logs"))
        environment = {"PATH": os.environ["PATH"], "HOME": home, "ANTHROPIC_API_KEY": "none-needed"}
        run = watch([BOT, "review", *where], folder, {**environment, "ANTHROPIC_BASE_URL": api.url})
        if run.code not in ENDED:
            raise SystemExit(f"the review did not run to its end ({run.code}): {run.complaint}")
        return tuple(billed(api.requests, models.written))


def rows(folder: Path, sizes: Sequence[int]) -> Iterator[Row]:
    """The cost of each size, approved at once and after a veto."""
    prices = read_prices()
    for lines in sizes:
        make_many(folder / "change", lines // CHANGED_LINES_EACH)
        for vetoes, end in enumerate(("approved", "vetoed once, then approved")):
            made = review(folder, lines, vetoes=vetoes)
            tokens = sum(each.fresh + each.read + each.written + each.answer for each in made) / 1_000
            usd = sum(each.usd(prices) for each in made)
            yield f"{lines:,} changed lines, {end}", f"{usd:.2f} USD", f"{len(made)} requests, {tokens:.0f}k tokens"
        (folder / "change").rename(folder / f"{lines}")


def main() -> None:
    """Review each size with and without a veto, and tell what it costs."""
    parser = command_line(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="changed lines, in hundreds")
    chosen = parser.parse_args()
    if not CLI.is_file():
        raise SystemExit("needs the pinned CLI: run make e2e once")
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        tell(
            Path(__file__).stem,
            {"a review by the default models": list(rows(Path(name), chosen.sizes))},
            write=chosen.write,
        )


if __name__ == "__main__":
    main()
