"""How long a review keeps its author waiting, beside the executor alone, and what other orders of its calls would do.

A mix of pull requests goes through the real pipeline in MockWorld on a simulated clock. Models take the time that a
stated distribution draws for them, by seed. The other orders are a model over the same calls. They are not built.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from _figures import Row, command_line, every_row, held, tell
from _latencies import distribution, thinking
from _mix import MOST_LINES, Played, mix_rows, play
from _orders import HARNESS_SECONDS, Order
from _wire import wire_rows

REVIEWS = 1_000
LARGE = 4
SEED = 15
SEEN = (("a plan, no veto", 0, 2.1), ("a plan, one veto", 1, 3.6))
"""What was seen of the order in series, times the executor alone: what, its vetoes, and the ratio."""
NEAR = 0.1
WAIT_BAR = 1.5
MONEY_BAR = 1.1
CACHE_SECONDS = 300
WRITTEN, WRITTEN_FOR_AN_HOUR, READ = 1.25, 2.0, 0.1
"""What a token costs that the cache keeps for five minutes, or for an hour, or gives back: times a plain token."""

SERIES = Order()
BESIDE = "the plan beside the executor"
FREE_LOOK = "a first look is the plan, ruling looks again at 0%"
ORDERS: dict[str, Order] = {
    "in series": SERIES,
    "the harness hidden behind calls": Order(harness=0.0),
    "surfaces at the same time": Order(surfaces=True),
    "4 parts at a time": Order(places=4),
    "a plan later than 30 s is not waited for": Order(places=4, patience=30),
    BESIDE: Order(places=4, patience=0),
    **{
        f"a first look besides, ruling looks again at {again:.0%}": Order(4, patience=0, look=True, again=again)
        for again in (0.0, 0.5, 1.0)
    },
    **{
        f"a first look is the plan, ruling looks again at {again:.0%}": Order(
            4, patience=0, look=True, look_plans=True, again=again
        )
        for again in (0.0, 0.25, 0.5, 1.0)
    },
    "judged without the report, plan beside": Order(4, patience=0, unseen=True),
    "the judge reads, thinks and writes half as much": Order(4, judge=0.5),
    "the same, the plan beside the executor": Order(4, patience=0, judge=0.5),
}
FITS = {
    "the plan is thought about more, the judgement less": thinking(plan=900, judge=100),
    "the plan is thought about less, the judgement more": thinking(plan=100, judge=900),
}


def ratios(order: Order, reviews: Sequence[Played]) -> list[float]:
    """The wait of each, beside the executor alone."""
    return [order.waited(each) / order.alone(each) for each in reviews]


def median(order: Order, reviews: Sequence[Played]) -> float:
    """Of those."""
    return statistics.median(ratios(order, reviews))


def seen_rows(reviews: Sequence[Played]) -> Iterator[Row]:
    """Whether the distribution reproduces what was seen, in reviews of one part."""
    for name, vetoes, seen in SEEN:
        alike = [each for each in reviews if each.planned and each.vetoes == vetoes and each.parts == 1]
        ratio = median(SERIES, alike) if alike else 0.0
        near = "reproduced" if abs(ratio / seen - 1) <= NEAR else "NOT reproduced"
        yield name, f"{ratio:.2f} x", f"seen {seen} x: {near}"


def order_rows(reviews: Sequence[Played]) -> Iterator[Row]:
    """Each order: median and p90 of the wait, and the money beside today's."""
    paid = sum(SERIES.usd(each) for each in reviews)
    for name, order in ORDERS.items():
        waits, money = ratios(order, reviews), sum(order.usd(each) for each in reviews) / paid
        ok = "held" if statistics.median(waits) <= WAIT_BAR and money <= MONEY_BAR else "MISSED"
        high, seconds = statistics.quantiles(waits, n=10)[-1], statistics.median(map(order.waited, reviews))
        remark = f"p90 {high:.2f} x; {seconds:.0f} s; money {money:.2f} x; {ok}"
        yield name, f"{statistics.median(waits):.2f} x", remark


def kind_rows(reviews: Sequence[Played]) -> Iterator[Row]:
    """What the mix came to, and whether the model of the order in series is what the pipeline took."""
    kinds: dict[str, Callable[[Played], bool]] = {
        "planned": lambda each: each.planned,
        "vetoed": lambda each: each.vetoes > 0,
        "with findings": lambda each: each.found,
        "plan need not be waited for": lambda each: each.free,
        "in several parts": lambda each: each.parts > 1,
    }
    for name, holds in kinds.items():
        those = [each for each in reviews if holds(each)]
        yield name, f"{len(those) / len(reviews):.1%}", f"median wait {median(SERIES, those):.2f} x" if those else ""
    yield from _model_rows("", SERIES, reviews)


def large_rows(seed: int) -> Iterator[Row]:
    """The same for large changes, in the pipeline with four calls at a time."""
    order = ORDERS["4 parts at a time"]
    reviews = [play(seed, number, least=MOST_LINES, jobs=order.places) for number in range(LARGE)]
    parts = statistics.median(each.parts for each in reviews)
    yield (
        f"{MOST_LINES:,} lines",
        f"{median(order, reviews):.2f} x",
        f"{LARGE} reviews of {parts:.0f} parts, 4 at a time",
    )
    yield from _model_rows(", 4 at a time", order, reviews)


def _model_rows(how: str, order: Order, reviews: Sequence[Played]) -> Iterator[Row]:
    off = max(abs(order.waited(each) - HARNESS_SECONDS - each.seconds) for each in reviews)
    dearer = max(abs(order.usd(each) - each.usd) for each in reviews)
    yield f"the model beside the pipeline{how}", f"{off:.3f} s", held(round(off, 3), 0, "s")
    yield f"its money{how}", f"{dearer:.4f} USD", held(round(dearer, 4), 0, "USD")


def fit_rows(seed: int, count: int) -> Iterator[Row]:
    """Other assumptions that come near what was seen: whether an order would reach the bar by one of these."""
    for name, habits in FITS.items():
        reviews = [play(seed, number, habits) for number in range(count)]
        seen = ", ".join(
            f"{value} (seen {each[2]})" for (_, value, _), each in zip(seen_rows(reviews), SEEN, strict=True)
        )
        orders = (
            f"{BESIDE} {median(ORDERS[BESIDE], reviews):.2f} x, {FREE_LOOK} {median(ORDERS[FREE_LOOK], reviews):.2f} x"
        )
        yield name, f"{median(SERIES, reviews):.2f} x", f"{orders}; {seen}"


def lifetime_rows(reviews: Sequence[Played]) -> Iterator[Row]:
    """How long a cached prompt waits for the retry that reads it, and what a longer lifetime would cost and save."""
    waited = sorted(seconds for each in reviews for seconds in each.until_repeated())
    late = sum(seconds > CACHE_SECONDS for seconds in waited)
    yield (
        f"retries later than {CACHE_SECONDS} s",
        f"{late} of {len(waited)}",
        f"the latest after {max(waited, default=0):.0f} s",
    )
    least = (WRITTEN_FOR_AN_HOUR - WRITTEN) / (WRITTEN - READ)
    yield "share of prompts that must be read that late for an hour to pay", f"{least:.0%}", ""


def main() -> None:
    """Play the mix, and tell its waits."""
    parser = command_line(__doc__)
    parser.add_argument("--reviews", type=int, default=REVIEWS, help="how many pull requests")
    parser.add_argument("--seed", type=int, default=SEED, help="another seed draws another mix")
    parser.add_argument("--cli", action="store_true", help="drive the pinned CLI against a slow stub instead")
    chosen = parser.parse_args()
    if chosen.cli:
        tell(Path(__file__).stem, {"the real CLI and a slow stub": list(wire_rows())}, write=False)
        return
    reviews = [play(chosen.seed, number) for number in range(chosen.reviews)]
    name = Path(__file__).stem
    tables = {
        "times are drawn": list(distribution()),
        "pull requests are drawn": list(mix_rows()),
        "the lifetime of the cache": list(lifetime_rows(reviews)),
        "what came of the mix": list(kind_rows(reviews)),
        "large changes": list(large_rows(chosen.seed)),
        "other assumptions": list(fit_rows(chosen.seed, chosen.reviews // 2)),
        f"orders of calls, bars {WAIT_BAR:g} x and {MONEY_BAR:g} x the money": list(order_rows(reviews)),
    }
    tell(name, tables, write=False)
    waits = [next(order_rows(reviews)), *seen_rows(reviews)]
    tell(name, {"wait beside the executor alone": waits}, write=chosen.write, on_page=every_row)


if __name__ == "__main__":
    main()
