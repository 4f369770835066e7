"""The promises about budgets: retries, consults, calls, money and time, in literal numbers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from review_advisor.mockworld.agents import PlayedCall
from review_advisor.mockworld.promises.on_verdicts import OUTAGES, has_veto, in_critical_folder, touches_itself
from review_advisor.mockworld.promises.played_review import UNUSABLE, PartKey, Reading, answer_of
from review_advisor.policy.surfaces import Role
from review_advisor.review.events import AdviceOpen, Escalated, Repaired, Ruled, UnfoundedRejection

RETRIES = {"low": 1, "medium": 2, "high": 3}
LOOPING = {"pr_review", "pre_merge_spec_check"}
MANY_LINES = 200
CONSULTS = 5
REFUNDS = 3
ASKS = 2
PENNY = 1e-6
SECONDS_FOR_EACH_FURTHER_PART = 150
MOST_SECONDS = 3_000


def blast_of(reading: Reading) -> str:
    """The tier that the event stream froze; ``the_tier_is_not_too_low`` holds it against the paths."""
    document = reading.review.document
    return "high" if document is None else document.policy.blast.radius.value


def the_tier_is_not_too_low(reading: Reading) -> Iterator[str]:
    """A critical folder or the bot itself makes the blast radius high, more than 200 lines of Python medium."""
    if reading.review.document is None:
        return
    tier = blast_of(reading)
    if (in_critical_folder(reading) or touches_itself(reading)) and tier != "high":
        yield f"the blast radius is {tier}, not high"
    if reading.lines_of_python > MANY_LINES and tier == "low":
        yield f"the blast radius is low with {reading.lines_of_python} changed lines of code"


def retries_stay_within_the_blast_radius(reading: Reading) -> Iterator[str]:
    """A veto hands back 1, 2 or 3 times by blast radius on looping surfaces with veto authority, else never."""
    repaired: dict[PartKey, list[str]] = defaultdict(list)
    for event in reading.events(Repaired):
        if event.blast is not None:
            repaired[event.surface, event.shard].append(event.blast.radius.value)
    for (surface, shard), asked in reading.parts.items():
        attempts = {each.call.attempt for each in asked if each.call.role is Role.EXECUTOR}
        tiers = [blast_of(reading), *repaired.get((surface, shard), ())]
        may = max(map(RETRIES.__getitem__, tiers)) if surface in LOOPING and has_veto(reading, surface) else 0
        if attempts and attempts != set(range(len(attempts))):
            yield f"{surface}, part {shard + 1}: attempts {sorted(attempts)} are not counted from 0"
        if len(attempts) - 1 > may:
            yield f"{surface}, part {shard + 1}: {len(attempts) - 1} retries, {may} allowed"
    rulings = Counter((event.surface, event.shard) for event in reading.events(Ruled) if event.ruling.move == "retry")
    for (surface, shard), count in rulings.items():
        if count > RETRIES["high"]:
            yield f"{surface}, part {shard + 1}: {count} rulings of retry"


def a_rejection_is_retried_once(reading: Reading) -> Iterator[str]:
    """The executor's no is handed back at most once in each part."""
    for (surface, shard), asked in reading.parts.items():
        verdicts = [answer["verdict"] for each in asked if (answer := answer_of(each)) is not None]
        handed_back = [place for place in range(len(verdicts) - 2) if verdicts[place : place + 2] == ["reject", "VETO"]]
        if len(handed_back) > 1:
            yield f"{surface}, part {shard + 1}: a rejection was handed back {len(handed_back)} times"


def each_question_is_asked_once_and_repaired_once(reading: Reading) -> Iterator[str]:
    """A role is asked once an attempt, and once more only for a usable reply, a missing finding or a due consult."""
    unfounded = {event.number for event in reading.events(UnfoundedRejection)}
    turns = Counter(event.place for event in reading.events(Escalated) if not event.refused)
    turns += Counter(event.place for event in reading.events(AdviceOpen))
    asks: dict[tuple[object, ...], list[PlayedCall]] = {}
    begun: Counter[tuple[object, ...]] = Counter()
    for asked in reading.review.asked:
        call = asked.call
        key = (call.role, call.surface, call.shard, call.attempt, call.blind, call.advisor)
        begun[key] += call.asks_again == 0
        turn = min(begun[key] - 1, turns[call.surface, call.attempt, call.shard])
        asks.setdefault((*key, turn), []).append(asked)
    for (role, surface, shard, attempt, *_), its in asks.items():
        first = its[0]
        unusable = first.line.fault in UNUSABLE and answer_of(first) is None
        bare = any(each.call.number in unfounded for each in its)
        tries = _tries_in_an_outage(reading, its) if role is Role.POST_VERIFY else 0
        if len(its) > (ASKS if unusable else 1) + bare + tries:
            after = first.line.fault
            yield f"{role}, {surface}, part {shard}, attempt {attempt}: asked {len(its)} times after {after!r}"
        named = [first.call.number] * (len(its) - 1) if tries else [each.call.number for each in its[:-1]]
        if [each.call.asks_again for each in its] != [0, *named]:
            yield f"{role}, {surface}, part {shard}, attempt {attempt}: a repeated question names another call"


def _tries_in_an_outage(reading: Reading, its: Sequence[PlayedCall]) -> int:
    """How often a judge may be asked beyond the first call: once for each outage, and no more than is configured."""
    rules = reading.review.rules.outage
    configured = bool(rules.wait_seconds) + len(set(rules.fallback_models))
    outages = [each.line.fault in OUTAGES for each in its]
    return min(configured, (*outages, False).index(False))


def consults_stay_within_the_cap(reading: Reading) -> Iterator[str]:
    """A review consults at most 5 times, or as the variable says; failed ones are refunded, at most 3 of them."""
    stated = reading.review.environment.get("HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS", "").strip()
    cap = int(stated) if stated else CONSULTS
    heard = [each.line for each in reading.advice if each.line is not None]
    failed = sum(line.lost is not None for line in heard)
    if len(heard) > cap + min(failed, REFUNDS):
        yield f"{len(heard)} consults were let through ({failed} failed), {cap} allowed"


def purse_of(reading: Reading) -> float:
    """The review's money: what the event stream froze, and never more than the configuration's cap."""
    document = reading.review.document
    most = reading.review.rules.max_usd
    return most if document is None else min(most, document.policy.budgets.max_usd)


def money_stays_within_the_purse(reading: Reading) -> Iterator[str]:
    """No call starts once the purse is empty, and of calls at a time none may spend more than its part of the rest."""
    if reading.review.document is None:
        return
    purse, spent = purse_of(reading), 0.0
    at_a_time = min(reading.review.jobs, _parts(reading))
    for number, asked in enumerate(reading.review.asked, start=1):
        if spent >= purse:
            yield f"call {number} started with ${spent:.2f} of ${purse:.2f} spent"
        if asked.call.max_usd > (purse - spent) / at_a_time + PENNY:
            yield f"call {number} of {at_a_time} at a time may spend ${asked.call.max_usd:.2f} of ${purse - spent:.2f}"
        spent += asked.line.cost_usd or 0.0


def _parts(reading: Reading) -> int:
    return max(1, getattr(reading.review.events[0], "shards", 1))


def time_stays_within_the_wall_clock(reading: Reading) -> Iterator[str]:
    """No call starts after the review's time, and none may take longer than its own time or what is left."""
    rules = reading.review.rules
    members = len(rules.roster.panel) if reading.has_council else 0
    grown = rules.review_seconds + SECONDS_FOR_EACH_FURTHER_PART * (_parts(reading) - 1 + members)
    seconds = max(rules.review_seconds, min(MOST_SECONDS, grown))
    for number, asked in enumerate(reading.review.asked, start=1):
        elapsed = asked.at - reading.review.asked[0].at
        if elapsed >= seconds:
            yield f"call {number} started after {elapsed:g} of {seconds:g} seconds"
        if asked.call.timeout_seconds > min(rules.call_seconds, seconds - elapsed) + PENNY:
            yield f"call {number} may take {asked.call.timeout_seconds:g} seconds"
