"""A realistic mix of pull requests, each reviewed by the real pipeline in MockWorld on a simulated clock."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from _latencies import CONSULT_SECONDS, CONSULT_TOKENS, CONSULT_USD, HABITS, Habit, LogNormal, Pace, Work
from _side_by_side import SharedClock

from review_advisor.change.change import FileChange
from review_advisor.mockworld.agents import approve, finding, guidance, reject, veto
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.risk import BlastRadius
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.policy.switches import FORCE_ON
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import CallEnded, CallStarted, Reported, Verified

CHANGED_LINES = LogNormal(40, 1.6)
MOST_LINES = 30_000
LINES_A_FILE = 60
KINDS = (("code", 70), ("documentation", 14), ("tests", 8), ("critical", 5), ("workflow", 3))
PATHS = {
    "code": "src/shop{n}/basket{n}.py",
    "documentation": "docs/guide{n}.md",
    "tests": "tests/test_basket{n}.py",
    "critical": "src/auth/login{n}.py",
    "workflow": ".github/workflows/review-advisor{n}.yml",
}
VETOED = 0.15
VETOED_AGAIN = 0.25
REJECTED = 0.2
FOUND = 0.54
FOUND_IN_LARGE = 0.095
"""Reviews with findings: 54% of all and 84% of those of 1,000 lines are published of Claude Code Review."""
CONSULTED = 0.15
WITH_SPEC = 0.08
FORCED = 0.04
TEXT = "total_{n} = basket_{n} + postage_{n} * 3"


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a review. ``seconds`` include its consults, ``alone`` do not."""

    surface: Surface
    part: int
    role: Role
    attempt: int
    seconds: float
    alone: float
    work: Work


@dataclass(frozen=True, slots=True)
class Played:
    """One review that was played.

    ``free``: the blast radius is low, and neither the guard nor the switch asks more. ``found``: the executor's first
    report has findings.
    """

    steps: tuple[Step, ...]
    seconds: float
    usd: float
    consults_usd: float
    vetoes: int
    parts: int
    blast: BlastRadius
    free: bool
    found: bool

    @property
    def planned(self) -> bool:
        """Whether a plan was made."""
        return any(step.role is Role.PRE_FLIGHT for step in self.steps)

    def until_repeated(self) -> Iterator[float]:
        """For each retry of executor and judge: the seconds since the call before it of that role began.

        That is more than the cache waits: it keeps a prefix from the last turn that read it.
        """
        by_place = {(step.surface, step.part, step.role, step.attempt): step for step in self.steps}
        for surface, part, role, attempt in by_place:
            before = by_place.get((surface, part, role, attempt - 1))
            other = (Role.POST_VERIFY, attempt - 1) if role is Role.EXECUTOR else (Role.EXECUTOR, attempt)
            between = by_place.get((surface, part, *other))
            if before is not None and between is not None:
                yield before.seconds + between.seconds


def mix_rows() -> Iterator[tuple[str, str, str]]:
    """What is drawn, a row each."""
    yield "changed lines", f"{CHANGED_LINES.median:g} x e^N(0, {CHANGED_LINES.spread:g})", f"at most {MOST_LINES:,}"
    yield "kinds", " ", ", ".join(f"{name} {share}%" for name, share in KINDS)
    yield "vetoed", f"{VETOED:.0%}", f"of these once more {VETOED_AGAIN:.0%}"
    yield (
        "with findings",
        f"{FOUND:.0%}",
        f"plus {FOUND_IN_LARGE:g} for each e-fold of lines; a rejection has one anyway",
    )
    yield "rejected by the executor", f"{REJECTED:.0%}", "if it is not vetoed"
    yield "executor consults", f"{CONSULTED:.0%}", ""
    yield "linked specification", f"{WITH_SPEC:.0%}", "a second surface"
    yield "pre-flight forced", f"{FORCED:.0%}", FORCE_ON


def play(seed: int, number: int, habits: Mapping[Role, Habit] = HABITS, *, least: int = 1, jobs: int = 1) -> Played:
    """The review of one pull request of at least so many lines by models of these habits, so many calls at a time."""
    dice = random.Random(f"{seed} {number}")
    clock = SharedClock()
    world, pace = MockWorld(clock), Pace(f"{seed} {number}", habits)
    world.threads, world.jobs, world.agents.pace = clock.threads, jobs, pace
    (kind,) = dice.choices([name for name, _ in KINDS], [share for _, share in KINDS])
    lines = min(MOST_LINES, max(least, round(CHANGED_LINES.draw(dice))))
    spec = "The basket adds postage.\n" * 20 if dice.random() < WITH_SPEC else None
    world.change(*_files(kind, lines), spec=spec)
    forced = dice.random() < FORCED
    if forced:
        world.switch(FORCE_ON, "true")
    _script(world, dice, PATHS[kind].format(n=0), lines)
    return _played(world.review(), pace, forced=forced)


def _files(kind: str, lines: int) -> Iterator[FileChange]:
    for number, start in enumerate(range(0, lines, LINES_A_FILE)):
        yield edited(PATHS[kind].format(n=number), min(LINES_A_FILE, lines - start), TEXT)


def _script(world: MockWorld, dice: random.Random, path: str, lines: int) -> None:
    """What the models say: vetoes strike the first part, and each retry reports something new."""
    remarks = [finding(path, 1, TEXT.format(n=1), "low", f"remark {number}") for number in range(4)]
    vetoes = 0 if dice.random() >= VETOED else 2 if dice.random() < VETOED_AGAIN else 1
    rejected = not vetoes and dice.random() < REJECTED
    found = dice.random() < FOUND + FOUND_IN_LARGE * math.log(lines / CHANGED_LINES.median)
    first = reject(finding(path, 1, TEXT.format(n=1))) if rejected else approve(*remarks[:1] if found else ())
    if dice.random() < CONSULTED:
        first = first.after_asking("Is the postage added twice?")
        world.agents.script(
            Role.MID_FLIGHT,
            replace(guidance(), output_tokens=CONSULT_TOKENS).taking(CONSULT_SECONDS.draw(dice)).costing(CONSULT_USD),
        )
    retries = [approve(*remarks[: number + 2]) for number in range(vetoes)]
    world.agents.script(Role.EXECUTOR, first, *retries, surface=Surface.PR_REVIEW)
    world.agents.script(Role.POST_VERIFY, *[veto(f"point {n}") for n in range(vetoes)], surface=Surface.PR_REVIEW)


def _played(document: OutcomeDocument, pace: Pace, *, forced: bool) -> Played:
    policy, events = document.policy, document.events
    begun = {event.number: event.at for event in events if isinstance(event, CallStarted)}
    ended = [event for event in events if isinstance(event, CallEnded) and event.number in begun]
    steps = tuple(
        Step(
            each.surface,
            each.shard,
            each.role,
            each.attempt,
            (each.at - begun[each.number]).total_seconds(),
            each.duration_seconds,
            pace.works[each.surface, each.role, each.shard, each.attempt],
        )
        for each in ended
    )
    return Played(
        steps,
        (document.ended_at - document.started_at).total_seconds(),
        sum(each.usage.cost_usd or 0.0 for each in ended),
        CONSULT_USD * sum(len(each.consulted) for each in ended),
        sum(isinstance(event, Verified) and event.judged.result.verdict == "VETO" for event in events),
        1 + max(step.part for step in steps),
        policy.blast.radius,
        policy.blast.radius is BlastRadius.LOW and not policy.guard.holds and not forced,
        any(bool(event.report.findings) for event in events if isinstance(event, Reported) and event.attempt == 0),
    )
