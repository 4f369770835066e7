"""One review by the pinned CLI against a stub that answers as slowly as models would: the chain of calls, measured."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from _changes import CHANGED_LINES_EACH, make_many, path_of
from _figures import Row
from _latencies import FILE_TOKENS, HABITS, READ_TOKENS_A_SECOND, SPEEDS
from _runs import BOT
from _watched import watch
from review_cost import CHARACTERS_A_TOKEN, CLI, ENDED, READING_TOKENS, Models, answer_of
from tests.e2e.stub_api import Reply, Request, after, stub_api

from review_advisor.policy.surfaces import Role

LINES = 400
FASTER = 10
"""The stub answers so many times faster than the model would."""
WHO = {"ReviewPlan": Role.PRE_FLIGHT, "ReviewReport": Role.EXECUTOR, "PostVerifyResult": Role.POST_VERIFY}


@dataclass
class SlowModels:
    """The models of ``review_cost.py``. If ``slow``, each answer takes the median time of the distribution."""

    models: Models
    slow: bool
    delays: list[tuple[Role, float]] = field(default_factory=list)

    def reply(self, request: Request) -> Reply:
        """The next reply, and its delay."""
        role = WHO[answer_of(request)]
        reply = self.models.reply(request)
        written = self.models.written[-1]
        thought = 0.0 if written == READING_TOKENS else HABITS[role].thinking.median
        shown = FILE_TOKENS if request.tool_results else len(request.prompt) / CHARACTERS_A_TOKEN
        speed = next(speed for speed in SPEEDS.values() if speed.model == request.model)
        seconds = speed.first_token + shown / READ_TOKENS_A_SECOND + (written + thought) / speed.tokens_a_second
        delay = seconds / FASTER if self.slow else 0.0
        self.delays.append((role, delay))
        return after(delay, reply)


def wire_rows() -> Iterator[Row]:
    """What slow models add to a small review, approved at once and after a veto, beside the sum of their delays.

    The same review without delays is subtracted: the machine's load is in both.
    """
    if not CLI.is_file():
        raise SystemExit("needs the pinned CLI: run make e2e once")
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        make_many(Path(name, "change"), LINES // CHANGED_LINES_EACH)
        for vetoes, end in enumerate(("approved", "vetoed once, then approved")):
            bare, _ = _review(Path(name), vetoes, slow=False)
            whole, delays = _review(Path(name), vetoes, slow=True)
            added, chain, alone = whole - bare, sum(seconds for _, seconds in delays), _first_attempt(delays)
            remark = (
                f"{len(delays)} delays of {chain:.1f} s: {added / chain:.2f} x; executor alone: {added / alone:.2f} x"
            )
            yield f"{LINES} changed lines, {end}, {FASTER} times faster", f"{added:.1f} s", remark


def _first_attempt(delays: Sequence[tuple[Role, float]]) -> float:
    """Seconds of the executor's requests before anybody judges."""
    before = takewhile(lambda delay: delay[0] is not Role.POST_VERIFY, delays)
    return sum(seconds for role, seconds in before if role is Role.EXECUTOR)


def _review(folder: Path, vetoes: int, *, slow: bool) -> tuple[float, list[tuple[Role, float]]]:
    paths = [path_of(number) for number in range(LINES // CHANGED_LINES_EACH)]
    models = SlowModels(Models(paths, vetoes=vetoes), slow)
    with stub_api() as api, tempfile.TemporaryDirectory(dir=folder) as home:
        api.script(models.reply)
        where = ("--base", "base", "--repo", folder / "change", "--claude-bin", CLI, "--artifacts", Path(home, "logs"))
        environment = {"PATH": os.environ["PATH"], "HOME": home, "ANTHROPIC_API_KEY": "none-needed"}
        run = watch([BOT, "review", *where], folder, {**environment, "ANTHROPIC_BASE_URL": api.url})
        if run.code not in ENDED:
            raise SystemExit(f"the review did not run to its end ({run.code}): {run.complaint}")
        return run.seconds, models.delays
