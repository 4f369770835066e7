"""What is paid for the definitions and uses that stand beside the diff, and how many turns they must save.

As ``review_cost.py``, with its assumptions: the pinned CLI sends the real prompts to a stub of the Messages API. In
each function one line changes, and another file calls it. Needs the CLI of ``make e2e``.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from _changes import path_of
from _figures import Row, command_line, every_row, tell
from _runs import BOT, git
from _watched import watch
from review_cost import ASSUMPTIONS, CLI, ENDED, READING_TOKENS, Billed, Models, answer_of, billed, tokens_of
from tests.e2e.stub_api import Request, stub_api

from review_advisor.agents.prompts import look_around
from review_advisor.change.around import partly_shown
from review_advisor.change.sources import open_range
from review_advisor.policy.prices import Price, price_on, read_prices

SIZES = (15, 100, 500)
"""Changed functions: each has one line removed and one added."""
FUNCTION = 20
FUNCTIONS_EACH = 5
DRIVERS = {".py": "python", ".go": "golang", ".js": "default", ".rs": "rust", ".java": "java", ".c": "cpp", ".h": "cpp"}
NO_BOUND = 10**9
JUDGE = "PostVerifyResult"
_AROUND = re.compile(r"<<<UNTRUSTED AROUND (\S+)\n.*?\nAROUND \1 UNTRUSTED>>>", re.DOTALL)
_DIFF = re.compile(r"<<<UNTRUSTED DIFF (\S+)\n.*?\nDIFF \1 UNTRUSTED>>>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Beside:
    """What one review sent: the characters of the diff and beside it, and what its requests were billed."""

    diff: int
    around: int
    executor: tuple[Billed, ...]
    judge_model: str
    usd: float

    @property
    def tokens(self) -> int:
        """What stands beside the diff."""
        return tokens_of(self.around)

    def added_usd(self, model: str, turns: int) -> float:
        """What it costs to write so many tokens into the cache, and to read them again in each further turn."""
        price = priced(model)
        return self.tokens * (price.cache_write + (turns - 1) * price.cache_read) / 1_000_000

    @property
    def turn_usd(self) -> float:
        """A reading turn that comes back with a file: what all of them cost, but for the first request."""
        turns = [each for each in self.executor[1:] if each.answer == READING_TOKENS]
        return sum(each.usd(read_prices()) for each in turns) / len(turns)


def priced(model: str) -> Price:
    """Today's price."""
    price = price_on(model, datetime.now(UTC).date(), read_prices())
    if price is None:
        raise SystemExit(f"the list of prices has none for {model}")
    return price


def make_change(folder: Path, functions: int) -> list[str]:
    """A repository whose last commit changes a line in each of so many functions; the paths of their files."""
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    paths = [path_of(number) for number in range((functions + FUNCTIONS_EACH - 1) // FUNCTIONS_EACH)]
    for operator in ("+", "-"):
        for number, path in enumerate(paths):
            these = range(number * FUNCTIONS_EACH, min(functions, (number + 1) * FUNCTIONS_EACH))
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text("\n".join(_function(each, operator) for each in these))
        calls = "".join(f"    total += settle_account_{each}(cost, {each})\n" for each in range(functions))
        (folder / "callers.py").write_text(f"def settle_all(cost):\n    total = 0\n{calls}    return total\n")
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--message=change")
    return paths


def _function(number: int, operator: str) -> str:
    lines = [f"    total_{at} = price_{number} * {at} + cost" for at in range(FUNCTION)]
    lines[FUNCTION // 2] = lines[FUNCTION // 2].replace("+", operator)
    return "\n".join(
        (f"def settle_account_{number}(cost, price_{number}):", *lines, f"    return total_{number % 9}\n")
    )


def review(folder: Path, functions: int) -> Beside:
    """The requests of one review."""
    with stub_api() as api, tempfile.TemporaryDirectory(dir=folder) as home:
        place = Path(home, "change")
        models = Models(make_change(place, functions), vetoes=0)
        api.script(models.reply)
        where = ("--base", "HEAD~1", "--repo", place, "--claude-bin", CLI, "--artifacts", Path(home, "l"))
        environment = {"PATH": os.environ["PATH"], "HOME": home, "ANTHROPIC_API_KEY": "none-needed"}
        run = watch([BOT, "review", *where], folder, environment | {"ANTHROPIC_BASE_URL": api.url})
        if run.code not in ENDED:
            raise SystemExit(f"the review did not run to its end ({run.code}): {run.complaint}")
        every = list(zip(api.requests, billed(api.requests, models.written), strict=True))
        executor = [(request, paid) for request, paid in every if answer_of(request) == "ReviewReport"]
        (judge,) = {paid.model for request, paid in every if answer_of(request) == JUDGE}
        first, _ = executor[0]
        return Beside(
            diff=_length(_DIFF, first),
            around=_length(_AROUND, first),
            executor=tuple(paid for _, paid in executor),
            judge_model=judge,
            usd=sum(paid.usd(read_prices()) for _, paid in every),
        )


def _length(pattern: re.Pattern[str], request: Request) -> int:
    return sum(len(found[0]) for found in pattern.finditer(request.prompt))


def measured(found: Sequence[tuple[int, Beside]]) -> Iterator[Row]:
    """What was sent, and what it costs by the list of prices."""
    for functions, each in found:
        turns, model = len(each.executor), each.executor[0].model
        added = each.added_usd(model, turns)
        share = f"{each.around / each.diff:.0%} of the diff" if each.diff else ""
        words = f"{functions:,} changed functions"
        yield words, f"{each.tokens:,} tokens", f"{share}; {added:.4f} of {each.usd:.2f} USD in {turns} turns"


def what_ifs(found: Sequence[tuple[int, Beside]]) -> Iterator[Row]:
    """Arithmetic on what was measured: nobody knows how many turns it saves."""
    for functions, each in found:
        turns, model = len(each.executor), each.executor[0].model
        words = f"{functions:,} changed functions"
        saved = each.added_usd(model, turns) / each.turn_usd
        yield f"{words}: turns that it must save", f"{saved:.2f}", f"a reading turn costs {each.turn_usd:.4f} USD"
        judged = each.added_usd(each.judge_model, 1)
        yield f"{words}: if the judge had it, too", f"{judged:.4f} USD", f"{judged / each.usd:.0%} of the review"


def _told(repo: Path, *words: str) -> bytes:
    return subprocess.run(["git", "-C", str(repo), *words], check=True, capture_output=True).stdout


def beside_git(repo: Path, commits: int) -> Iterator[Row]:
    """What git's own function context adds to the last commits, and what the definitions add without any bound."""
    listed = _told(
        repo, "log", "--format=%H", f"-{commits}", "--no-merges", "HEAD", "--", *(f"*{end}" for end in DRIVERS)
    )
    diff = whole = ours = 0
    with tempfile.NamedTemporaryFile("w", suffix=".attributes") as drivers:
        drivers.writelines(f"*{end} diff={driver}\n" for end, driver in DRIVERS.items())
        drivers.flush()
        for commit in listed.decode().split():
            source = open_range(repo, f"{commit}~1..{commit}")
            files = partly_shown(source.change().files)
            paths = [file.path for file in files]
            if files:
                told = ("diff", "--no-ext-diff", f"{commit}~1", commit, "--", *paths)
                diff += len(_told(repo, *told))
                whole += len(_told(repo, "-c", f"core.attributesFile={drivers.name}", told[0], "-W", *told[1:]))
                around = look_around(files, source.head_texts(paths), lambda _collector: True, NO_BOUND)
                ours += sum(len(line) + 1 for passage in around.passages for line in passage.lines)
            source.close()
    yield "git's function context (-W)", f"{(whole - diff) / diff:.0%} of the diff", "with its drivers by extension"
    yield "definitions by indentation", f"{ours / diff:.0%} of the diff", "without any bound"


def main() -> None:
    """Review a change of each size."""
    parser = command_line(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="changed functions")
    parser.add_argument("--repo", type=Path, help="compare with git's function context on commits of this repository")
    parser.add_argument("--commits", type=int, default=60, help="so many of them")
    chosen = parser.parse_args()
    if chosen.repo is not None:
        rows = list(beside_git(chosen.repo, chosen.commits))
        tell(Path(__file__).stem, {f"lines beside the diff of {chosen.commits} commits": rows}, write=False)
        return
    if not CLI.is_file():
        raise SystemExit("needs the pinned CLI: run make e2e once")
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        found = [(size, review(Path(name), size)) for size in chosen.sizes]
    print(ASSUMPTIONS)
    name, beside = Path(__file__).stem, {"beside the diff, from the requests": list(measured(found))}
    tell(name, beside, write=chosen.write, on_page=every_row)
    tell(name, {"what if (no measurement)": list(what_ifs(found))}, write=False)


if __name__ == "__main__":
    main()
