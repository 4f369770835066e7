"""Many seeded worlds: each is played, every promise is held against it, everything is counted."""

from __future__ import annotations

import gc
import multiprocessing
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from review_advisor.mockworld.promises import COSTLY, PROMISES, Broken, Promise, broken_promises
from review_advisor.mockworld.promises.on_flips import broken_by_a_flip, told_still
from review_advisor.mockworld.promises.on_github import broken_on_github
from review_advisor.mockworld.seeds.tally import ENOUGH, Cell, cells_of, empty_cells
from review_advisor.mockworld.seeds.worlds import story_of
from review_advisor.mockworld.stories.stage import PlayedStory, play
from review_advisor.mockworld.stories.story_file import story_text

CHUNK = 250
MOST_FAILURES = 20
_EVERY = 16
_CHEAP = tuple(promise for promise in PROMISES if promise not in COSTLY)


@dataclass(frozen=True, slots=True)
class Failure:
    """A seed that broke a promise, and its story as YAML that ``simulate`` replays."""

    seed: int
    broken: tuple[Broken, ...]
    story: str


@dataclass(slots=True)
class Sweep:
    """What a range of seeds came to. The same for the same seeds, however many processes played them.

    ``retold`` are reviews that were played once more without the flips of their story, for comparison; the table does
    not count them, ``calls`` counts theirs.
    """

    worlds: int = 0
    reviews: int = 0
    retold: int = 0
    calls: int = 0
    counts: Counter[Cell] = field(default_factory=Counter)
    broken: int = 0
    failures: list[Failure] = field(default_factory=list)

    def add(self, other: Sweep) -> None:
        """Take in the next seeds."""
        self.worlds += other.worlds
        self.reviews += other.reviews
        self.retold += other.retold
        self.calls += other.calls
        self.counts.update(other.counts)
        self.broken += other.broken
        self.failures = [*self.failures, *other.failures][:MOST_FAILURES]

    @property
    def empty(self) -> tuple[Cell, ...]:
        """Cells that ought not to be empty after so many worlds."""
        return empty_cells(self.counts) if self.worlds >= ENOUGH else ()

    @property
    def holds(self) -> bool:
        """No promise broken, no possible cell empty."""
        return not self.broken and not self.empty


def judge(story: PlayedStory, still: PlayedStory, promises: Sequence[Promise] = PROMISES) -> tuple[Broken, ...]:
    """Every promise that a played story broke; ``still`` is the same story told without its flips."""
    return (*broken_promises(story.reviews, promises), *broken_by_a_flip(story, still))


def promises_of(seed: int) -> Sequence[Promise]:
    """What the world of ``seed`` is held against: everything in each sixteenth, all but the costly in the others."""
    return PROMISES if seed % _EVERY == 0 else _CHEAP


@contextmanager
def _garbage_left_lying() -> Iterator[None]:
    """Look for cycles once at the end, among what is new by then, and not all the time: it saves a sixth of it."""
    were_on = gc.isenabled()
    gc.disable()
    gc.freeze()
    try:
        yield
    finally:
        gc.collect()
        gc.unfreeze()
        if were_on:
            gc.enable()


@_garbage_left_lying()
def sweep_seeds(first: int, last: int) -> Sweep:
    """Play the seeds from ``first`` to ``last``, both included, here."""
    found = Sweep()
    for seed in range(first, last + 1):
        played = play(story_of(seed))
        found.worlds += 1
        still = told_still(played)
        found.reviews += len(played.reviews)
        found.retold += len(still.reviews)
        found.calls += sum(len(review.asked) for review in (*played.reviews, *still.reviews))
        for review in played.reviews:
            found.counts.update(cells_of(review))
        broken = judge(played, still, promises_of(seed))
        broken += broken_on_github(played)
        if broken:
            found.broken += 1
            found.failures.append(Failure(seed, broken, story_text(played.story)))
    return found


def sweep(first: int, last: int, jobs: int = 1) -> Iterator[Sweep]:
    """The same in ``jobs`` processes: what came of each next few seeds, in their order."""
    chunks = [(at, min(at + CHUNK - 1, last)) for at in range(first, last + 1, CHUNK)]
    if jobs == 1:
        yield from (sweep_seeds(*chunk) for chunk in chunks)
        return
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap(_chunk, chunks)


def _chunk(bounds: tuple[int, int]) -> Sweep:
    return sweep_seeds(*bounds)
