"""How long models take and what they cost, for reviews on a simulated clock: stated assumptions, drawn by seed."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cache

from review_cost import ANSWER_TOKENS, CHARACTERS_A_TOKEN, READING_TOKENS

from review_advisor.agents.calls import AgentCall
from review_advisor.mockworld.agents import Line
from review_advisor.policy.prices import Price, Unpriced, cost, price_on, read_prices
from review_advisor.policy.surfaces import Role, Surface

CLI_SECONDS = 0.4
"""The start of the pinned CLI, measured."""
READ_TOKENS_A_SECOND = 5_000
"""How fast a model takes in a prompt that is not in the cache."""
FILE_TOKENS = 1_200
"""What a model is given when it reads a file."""
SPREAD_OF_A_DAY = 0.2
"""The provider's load: one factor for each call, as the deviation of its logarithm."""


@dataclass(frozen=True, slots=True)
class Speed:
    """One model's: seconds to the first token of each turn, and the tokens of its output in a second."""

    model: str
    first_token: float
    tokens_a_second: float


SPEEDS = {"sonnet": Speed("claude-sonnet-5-5", 1.8, 63), "opus": Speed("claude-opus-5-5", 2.67, 45)}
"""Published for Sonnet 4.5 and Opus 4.1 (Artificial Analysis); nothing is published for the present ones."""


@dataclass(frozen=True, slots=True)
class LogNormal:
    """A median, and the deviation of the logarithm."""

    median: float
    spread: float

    def draw(self, dice: random.Random) -> float:
        """One value."""
        return self.median * math.exp(dice.gauss(0, self.spread))


@dataclass(frozen=True, slots=True)
class Habit:
    """What one role does in a call: files it reads, tokens it thinks, tokens of its answer; characters around it."""

    files_read: LogNormal
    thinking: LogNormal
    answer: LogNormal
    around: int


HABITS: dict[Role, Habit] = {
    Role.PRE_FLIGHT: Habit(
        LogNormal(0, 0), LogNormal(450, 0.5), LogNormal(ANSWER_TOKENS["ReviewPlan"], 0.3), around=6_000
    ),
    Role.EXECUTOR: Habit(
        LogNormal(4, 0.4), LogNormal(1_000, 0.5), LogNormal(ANSWER_TOKENS["ReviewReport"], 0.3), around=20_000
    ),
    Role.POST_VERIFY: Habit(
        LogNormal(1, 0.6), LogNormal(550, 0.5), LogNormal(ANSWER_TOKENS["PostVerifyResult"], 0.3), around=15_000
    ),
}
"""The thinking is fitted to the waits that were seen; answers and readings are those of ``review_cost.py``."""


def thinking(plan: float, judge: float) -> Mapping[Role, Habit]:
    """The same habits, but for how much the advisor thinks."""
    other = {Role.PRE_FLIGHT: plan, Role.POST_VERIFY: judge}
    return HABITS | {role: replace(HABITS[role], thinking=LogNormal(tokens, 0.5)) for role, tokens in other.items()}


CONSULT_SECONDS = LogNormal(25, 0.4)
CONSULT_TOKENS = 300
CONSULT_USD = 0.03


@dataclass(frozen=True, slots=True)
class Work:
    """What one call does. ``load`` is the provider's; ``cached`` of the prompt was kept by an earlier call."""

    speed: Speed
    prompt: int
    files: int
    thinking: int
    answer: int
    load: float
    cached: int = 0

    @property
    def seconds(self) -> float:
        """From the start of the CLI to its end."""
        given = self.prompt - self.cached + self.files * FILE_TOKENS
        waited = (self.files + 1) * self.speed.first_token + given / READ_TOKENS_A_SECOND
        return CLI_SECONDS + self.load * (waited + self._output / self.speed.tokens_a_second)

    @property
    def usd(self) -> float:
        """By the list of prices: each turn writes what is new into the cache and reads the rest from there."""
        written = self.prompt - self.cached + self.files * FILE_TOKENS
        read = self.cached + sum(self.prompt + turn * FILE_TOKENS for turn in range(self.files))
        return _usd(self.speed.model, self._output, read, written)

    @property
    def _output(self) -> int:
        return self.files * READING_TOKENS + self.thinking + self.answer


class Pace:
    """Draws what each call does, by the call and not by its turn: the order of calls changes no draw."""

    def __init__(self, seed: str, habits: Mapping[Role, Habit]) -> None:
        self._seed = seed
        self._habits = habits
        self.works: dict[tuple[Surface, Role, int, int], Work] = {}

    def __call__(self, call: AgentCall, line: Line) -> Line:
        """The line with its time and price."""
        work = self._drawn(call)
        self.works[call.surface, call.role, call.shard, call.attempt] = work
        return line.taking(work.seconds).costing(work.usd)

    def _drawn(self, call: AgentCall) -> Work:
        dice = random.Random(f"{self._seed} {call.role} {call.surface} {call.shard} {call.attempt}")
        habit = self._habits[call.role]
        return Work(
            SPEEDS[call.model],
            prompt=round((len(call.prompt) + habit.around) / CHARACTERS_A_TOKEN),
            files=round(habit.files_read.draw(dice)),
            thinking=round(habit.thinking.draw(dice)),
            answer=round(habit.answer.draw(dice)),
            load=LogNormal(1, SPREAD_OF_A_DAY).draw(dice),
        )


def distribution() -> Iterator[tuple[str, str, str]]:
    """The assumptions, a row each."""
    for name, speed in SPEEDS.items():
        yield f"{name}, output", f"{speed.tokens_a_second:g} tokens/s", f"{speed.first_token:g} s to the first token"
    for role, habit in HABITS.items():
        remark = (
            f"files read {_told(habit.files_read)}; answer {_told(habit.answer)}; {habit.around:,} characters around"
        )
        yield f"{role.value}, tokens of thinking", _told(habit.thinking), remark
    yield "a consult, seconds", _told(CONSULT_SECONDS), f"{CONSULT_USD} USD"
    yield "load of the provider, factor", _told(LogNormal(1, SPREAD_OF_A_DAY)), "for each call"
    yield (
        "reading",
        f"{READ_TOKENS_A_SECOND:,} tokens/s",
        f"{FILE_TOKENS:,} tokens a file; a turn writes {READING_TOKENS}",
    )
    yield "start of the CLI", f"{CLI_SECONDS} s", "measured"


def _told(drawn: LogNormal) -> str:
    return f"{drawn.median:,g} x e^N(0, {drawn.spread:g})" if drawn.median else "0"


@cache
def _price(model: str) -> Price:
    price = price_on(model, date.max, read_prices())
    if price is None:
        raise SystemExit(f"the list of prices has none for {model}")
    return price


def _usd(model: str, output: int, read: int, written: int) -> float:
    return cost(Unpriced(model, date.max, 1, 0, output, read, written), _price(model))
