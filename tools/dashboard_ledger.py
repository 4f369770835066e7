"""A ledger of invented reviews for the dashboard's pictures, tests and benchmark: the same for the same number of runs.

A few reviews of a shop are played in MockWorld; each run of the ledger is one of them, at another time, of another pull
request.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from github_shop import (
    AGAIN,
    BASE,
    CART,
    CART_AFTER,
    CART_MENDED,
    EMPTY,
    REFUNDS,
    REFUNDS_AFTER,
    TWICE,
    UNKNOWN,
    using,
    vetoed,
)

from review_advisor.ledger.chain import canonical, links
from review_advisor.ledger.chains import add_link, begin_chain
from review_advisor.ledger.database import open_to_write, transaction
from review_advisor.ledger.recorder import event_text, write_readings
from review_advisor.ledger.rows import microseconds, readings_of, readings_so_far
from review_advisor.mockworld.agents import Line, approve, confirm, credit_gone, lost, plan, reject
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import PolicyFrozen

LAST = datetime(2026, 6, 30, 17, 0, tzinfo=UTC)
DAYS = 60
REPOSITORIES = ("acme/shop", "acme/billing", "acme/warehouse")
TITLES = (
    "Let customers redeem vouchers",
    "Try refunds again when the bank times out",
    "Show the average price in the cart",
    "Round prices half to even",
    "Keep carts for thirty days",
    "Send the invoice before the parcel",
    "Count pieces once",
    "Ask for the country first",
)
BANK = json.dumps(
    {
        "question": "Does the bank know a refund by its order number?",
        "context": "send(order, cents) is called up to three times when the bank times out.",
        "options": ["yes: trying again is safe", "no: a refund may be paid twice"],
        "preferred_option": "yes: trying again is safe",
        "urgency": "high",
    }
)
SAID_OF_THE_BANK = {
    "action": "Take it for unsafe: report that a second try may pay twice.",
    "rationale": "Nothing in the change shows that the bank compares order numbers, and one order may have several "
    "refunds.",
    "risk_flags": ["money paid twice"],
    "evidence": ["send(order, cents)"],
    "confidence": 0.85,
}
ADVICE = using(Line(SAID_OF_THE_BANK), 0.034, 14, 2_600, 900, 380)
PLAN = plan(
    "Money is taken off a total by codes that customers type.", focus=(CART,), signals=("a code that counts twice",)
)
Story = Callable[[MockWorld, float], None]


def _executor(line: Line, k: float) -> Line:
    used = using(line, 0.05 * k, 40 * k, int(9_000 * k), int(21_000 * k), int(1_400 * k))
    return replace(used, questions=line.questions, edits=line.edits)


def _advisor(line: Line, k: float) -> Line:
    return using(line, 0.03 * k, 22 * k, int(1_900 * k), int(900 * k), int(420 * k))


def _cart(world: MockWorld) -> None:
    world.switch("HYDRAFLOW_REVIEW_PREFLIGHT_FORCE_ON", "true")
    world.checkout({**BASE, CART: CART_AFTER}, BASE)
    world.agents.script(Role.PRE_FLIGHT, using(PLAN, 0.011, 9, 900, 200, 180))


def _approved(world: MockWorld, k: float) -> None:
    _cart(world)
    world.agents.script(Role.EXECUTOR, _executor(approve(UNKNOWN, summary="It does what it says."), k))
    world.agents.script(Role.POST_VERIFY, _advisor(confirm(), k))


def _rejected(world: MockWorld, k: float) -> None:
    _cart(world)
    summary = "Vouchers can be redeemed more than once, and the average of an empty cart raises."
    world.agents.script(Role.EXECUTOR, _executor(reject(TWICE, EMPTY, UNKNOWN, summary=summary), k))
    world.agents.script(Role.POST_VERIFY, _advisor(confirm(), k))


def _mended(world: MockWorld, k: float) -> None:
    """A vetoed approval, and a repair that both take."""
    _cart(world)
    veto = vetoed(
        "a voucher takes its share off once",
        "Nothing remembers which codes were used: each further call takes the share off again.",
        "The approval overlooks that a voucher counts as often as it is redeemed.",
        "Keep the used codes, and look at a cart without pieces, too.",
    )
    first = approve(UNKNOWN, summary="Vouchers are taken off the total, and the average is right.")
    mended = approve(summary="Each code counts once now, and an empty cart costs nothing.").repairing(CART, CART_MENDED)
    world.agents.script(Role.EXECUTOR, _executor(first, k), _executor(mended, k))
    world.agents.script(Role.POST_VERIFY, _advisor(veto, k), _advisor(confirm(), k))


def _seen_at_last(world: MockWorld, k: float) -> None:
    """A vetoed approval that becomes a rejection."""
    _cart(world)
    world.repair = "off"
    veto = vetoed("the total is right", "A code that is redeemed twice counts twice.", "One fault was overlooked.")
    late = reject(TWICE, EMPTY, summary="A voucher counts as often as it is redeemed.")
    world.agents.script(Role.EXECUTOR, _executor(approve(UNKNOWN, summary="Fine."), k), _executor(late, k))
    world.agents.script(Role.POST_VERIFY, _advisor(veto, k), _advisor(confirm(), k))


def _escalated(world: MockWorld, k: float) -> None:
    """Asked, vetoed twice, and handed to a person."""
    world.checkout({**BASE, REFUNDS: REFUNDS_AFTER}, BASE)
    world.repair = "off"
    first = approve(summary="The tries are bounded, and the last failure is raised.").after_asking(BANK)
    second = approve(AGAIN, summary="The bank knows a refund by its order number.")
    world.agents.script(Role.EXECUTOR, _executor(first, k), _executor(second, k))
    world.agents.script(Role.MID_FLIGHT, ADVICE)
    twice = "`send` may have moved the money before it timed out, and the next try moves it again."
    vetoes = (vetoed("trying again is safe", twice, reasoning) for reasoning in (twice, "Nothing shows that it is."))
    world.agents.script(Role.POST_VERIFY, *(_advisor(each, k) for each in vetoes))


def _unverified(world: MockWorld, k: float) -> None:
    _cart(world)
    world.agents.script(Role.EXECUTOR, _executor(approve(summary="It does what it says."), k))
    world.agents.script(Role.POST_VERIFY, lost())


def _stopped(world: MockWorld, k: float) -> None:
    del k
    _cart(world)
    world.agents.script(Role.EXECUTOR, credit_gone())


STORIES: tuple[tuple[Story, int], ...] = (
    *((_approved, 52), (_rejected, 24), (_mended, 7), (_seen_at_last, 6), (_escalated, 6)),
    *((_unverified, 3), (_stopped, 2)),
)
"""Each story, and how many of a hundred runs it tells."""


@dataclass(frozen=True)
class Played:
    """A review as it was played: its document, and its events as JSON with the seconds since the first."""

    document: OutcomeDocument
    events: tuple[tuple[dict[str, Any], timedelta], ...]


def _play(story: Story, k: float) -> Played:
    world = MockWorld()
    story(world, k)
    world.source.stated = replace(world.source.stated, server="https://github.com")
    document = world.review()
    first = document.events[0].at
    return Played(document, tuple((json.loads(event_text(each)), each.at - first) for each in document.events))


def fill(ledger: Path, runs: int) -> None:
    """Record so many runs over the last ``DAYS``, the last one unfinished."""
    chance = random.Random(5)
    played = {story: [_play(story, k) for k in (0.6, 0.8, 1.0, 1.3, 1.9)] for story, _ in STORIES}
    chosen = chance.choices([story for story, _ in STORIES], [weight for _, weight in STORIES], k=runs)
    moments = sorted(LAST - timedelta(seconds=chance.randrange(DAYS * 86_400)) for _ in range(runs))
    with closing(open_to_write(ledger)) as connection, transaction(connection):
        for number, (story, moment) in enumerate(zip(chosen, moments, strict=True), start=1):
            review = chance.choice(played[story])
            about: dict[str, Any] = {
                "run_id": f"run_{moment:%Y%m%dT%H%M%SZ}_{number:06d}",
                "title": f"{chance.choice(TITLES)} ({number})",
                "repository": chance.choice(REPOSITORIES),
                "pull_request": number,
                "head_sha": hashlib.sha1(str(number).encode()).hexdigest(),
            }
            begun = begin_chain(connection, about["run_id"], microseconds(moment))
            whole = number < runs
            for link in links(about["run_id"], _texts(review, moment, about, whole=whole)):
                add_link(connection, begun, link)
            first, length = review.document.events[0], review.document.ended_at - review.document.started_at
            assert isinstance(first, PolicyFrozen)
            if whole:
                retold = replace(review.document, started_at=moment, ended_at=moment + length, **about)
                write_readings(connection, begun, readings_of(retold))
            else:
                write_readings(
                    connection, begun, readings_so_far([replace(first, **about), *review.document.events[1:4]])
                )


def _texts(review: Played, moment: datetime, about: dict[str, Any], *, whole: bool) -> Iterator[str]:
    for number, (event, since) in enumerate(review.events[: None if whole else 4]):
        yield canonical(
            {**event, **({} if number else about), "at": (moment + since).isoformat().replace("+00:00", "Z")}
        )
