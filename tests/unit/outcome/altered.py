"""Reviews of every kind, and each of their events altered in each of its fields: what a hostile job could hand over."""

from __future__ import annotations

import copy
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import count
from typing import Any

from pydantic import TypeAdapter, ValidationError
from tests.unit.forge_text.stories import STORIES, told

from review_advisor.agents.calls import LostReason
from review_advisor.change.change import Status
from review_advisor.mockworld.agents import (
    approve,
    confirm,
    finding,
    garbage,
    lost,
    picture,
    picture_differs,
    plan,
    reject,
    veto,
    vote,
)
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.roster import ADR_ADVISOR, Advisor, Roster
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import Event

Json = dict[str, Any]
Tell = Callable[[MockWorld], object]

Path = tuple[str | int, ...]

EVENT: TypeAdapter[Event] = TypeAdapter(Event)
HUGE = 10**18
CLOSED = {
    "authority", "ended", "executor_verdict", "extent", "outcome", "radius", "reason", "result", "role", "severity",
    "state", "status", "surface", "verdict", "move",
}  # fmt: skip
_GONE = object()


def in_three_parts(world: MockWorld) -> None:
    world.rules = replace(world.rules, shard_tokens=180)
    world.change(*(edited(f"src/{name}.py") for name in "abc"))
    world.agents.script(Role.EXECUTOR, approve(), lost(LostReason.TIMEOUT), approve())


def of_the_bot_without_a_judge(world: MockWorld) -> None:
    world.change(edited(".claude/agents/a.md"), edited("src/app.py"))
    world.agents.script(Role.POST_VERIFY, lost())


def judged_alone_first(world: MockWorld) -> None:
    world.rules = replace(world.rules, metadata_blind=True)
    world.agents.script(Role.EXECUTOR, reject(finding("src/app.py", 3, "value = 3")), approve())


def of_pictures_and_records(world: MockWorld) -> None:
    world.change(edited("docs/adr/0007-keep.md", 12, status=Status.ADDED), edited("src/app.py", 5), spec="All primes.")
    world.source.texts["docs/adr/0007-keep.md"] = "# Keep\n\nNothing else.\n"
    world.pictures.stated = (picture_differs("a.png"), picture("b.png", "identical"))


def without_its_record(world: MockWorld) -> None:
    world.change(edited("docs/adr/0007-keep.md", 12, status=Status.ADDED), edited(".claude/agents/a.md"))
    world.switch("HYDRAFLOW_ADR_REVIEW_ADVISOR_ENABLED", "off")


def with_an_unread_picture(world: MockWorld) -> None:
    world.pictures.stated = (picture("a.png", "too_large", "17 MB"),)


def repaired_in_vain(world: MockWorld) -> None:
    world.checkout({"src/app.py": "x = rows[0]\n"}, {"src/app.py": "x = 1\n"})
    world.agents.script(Role.POST_VERIFY, veto("rows may be empty"))
    world.agents.script(Role.EXECUTOR, approve(), approve().repairing("src/other.py", "y = 1\n"))


def stubborn(world: MockWorld) -> None:
    world.change(edited("src/auth/login.py"))
    said = [approve(finding("src/auth/login.py", n, f"value = {n}", "low")) for n in range(1, 5)]
    world.agents.script(Role.EXECUTOR, *said)
    world.agents.script(Role.POST_VERIFY, *(veto(f"no {n}") for n in range(4)))


def recovered(world: MockWorld) -> None:
    world.agents.script(Role.PRE_FLIGHT, plan())
    world.agents.script(Role.EXECUTOR, garbage(), approve(), approve(finding("src/app.py", 1, "value = 1", "low")))
    world.agents.script(Role.POST_VERIFY, veto("too fast"), confirm())


def idle(world: MockWorld) -> None:
    world.agents.script(Role.POST_VERIFY, veto("look again"))


def asked_for_a_finding(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, reject(), reject(finding("src/app.py", 3, "value = 3")))


def without_a_finding(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, reject(finding("src/app.py", 3, "value = 999")), lost())


def taken_back(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, reject(), approve())


def strict_about_degraded(world: MockWorld) -> None:
    world.rules = replace(world.rules, fail_on_degraded=True)
    world.agents.script(Role.POST_VERIFY, lost())


def of_a_council(world: MockWorld) -> None:
    members = (Advisor("security", "You look for holes.", on="finish"), Advisor("tester", "You test.", on="finish"))
    world.rules = replace(world.rules, roster=Roster((ADR_ADVISOR, *members)))
    world.agents.script(Role.EXECUTOR, approve(), approve(finding("src/app.py", 1, "value = 1", "low")))
    world.agents.script(Role.POST_VERIFY, vote(0, 90), vote(90), advisor="security")
    world.agents.script(Role.POST_VERIFY, vote(0, 90), lost(), advisor="tester")


KINDS: dict[str, Tell] = {
    **{name: tell for name, tell in STORIES.items() if name not in ("300 findings", "hostile")},
    "in three parts": in_three_parts,
    "of the bot, without a judge": of_the_bot_without_a_judge,
    "judged alone first": judged_alone_first,
    "of pictures and records": of_pictures_and_records,
    "without its record": without_its_record,
    "an unread picture": with_an_unread_picture,
    "repaired in vain": repaired_in_vain,
    "stubborn": stubborn,
    "recovered": recovered,
    "idle": idle,
    "asked for a finding": asked_for_a_finding,
    "without a finding": without_a_finding,
    "taken back": taken_back,
    "strict about degraded": strict_about_degraded,
    "of a council": of_a_council,
}


@cache
def reviewed(kind: str) -> OutcomeDocument:
    return told(KINDS[kind])


@cache
def words() -> dict[str, list[str]]:
    """By the name of a field whose words are a closed list: those that the reviews have there, and all of some."""
    found: dict[str, set[str]] = defaultdict(set)
    for kind in KINDS:
        for event in reviewed(kind).events:
            for _, name, value in _leaves(EVENT.dump_python(event, mode="json")):
                if isinstance(value, str) and name in CLOSED:
                    found[name].add(value)
    found["surface"] |= {each.value for each in Surface}
    found["role"] |= {each.value for each in Role}
    found["reason"] |= {each.value for each in LostReason}
    return {name: sorted(said) for name, said in found.items()}


@dataclass(frozen=True)
class Altered:
    """The events of a review with one thing changed in them, which ``what`` names."""

    what: str
    events: tuple[Event, ...]


def alteration(document: OutcomeDocument, what: str) -> tuple[Event, ...]:
    """The events with this one thing changed in them."""
    return next(each.events for each in alterations(document, only=what) if each.what == what)


def alterations(document: OutcomeDocument, start: int = 0, step: int = 1, only: str = "") -> Iterator[Altered]:
    """Every event left out, doubled, moved, and altered in each of its fields, as far as it is an event still.

    Of the altered fields only every ``step``-th, from number ``start`` on, or ``only`` the one of that name.
    """
    kept = document.events
    number = count(-start)
    for at, event in enumerate(kept):
        name = f"{at} {event.kind}"
        yield Altered(f"{name} left out", (*kept[:at], *kept[at + 1 :]))
        yield Altered(f"{name} doubled", (*kept[: at + 1], *kept[at:]))
        yield Altered(f"{name} said again at the end", (*kept, event))
        if at + 1 < len(kept):
            yield Altered(f"{name} moved", (*kept[:at], kept[at + 1], event, *kept[at + 2 :]))
        for what, make in _altered(EVENT.dump_python(event, mode="json")):
            left_out = next(number) % step or only not in ("", f"{name}: {what}")
            fresh = None if left_out else _event(make())
            if fresh not in (None, event):
                yield Altered(f"{name}: {what}", (*kept[:at], fresh, *kept[at + 1 :]))


def _event(told: Json) -> Event | None:
    try:
        return EVENT.validate_json(json.dumps(told))
    except ValidationError:
        return None


def _altered(event: Json) -> Iterator[tuple[str, Callable[[], Json]]]:
    for path, name, value in _leaves(event):
        if path == ("kind",):
            continue
        where = ".".join(map(str, path))
        for other in (_GONE, *_others(name, value)):
            what = f"without {where}" if other is _GONE else f"{where} = {str(other)[:20]!r}"
            yield what, partial(_with, event, path, other)


def _leaves(value: Any, path: tuple[str | int, ...] = (), name: str = "") -> Iterator[tuple[Path, str, Any]]:
    """Every value within a value, the lists and objects too, with the name of its field; of a list the first only."""
    if path:
        yield path, name, value
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _leaves(each, (*path, key), key)
    elif isinstance(value, list) and value:
        yield from _leaves(value[0], (*path, 0), name)


def _others(name: str, value: Any) -> Iterator[Any]:
    """Values that could stand there instead."""
    match value:
        case bool():
            yield not value
        case int() | float():
            yield from (-1, 0, 1, value + 1, HUGE, 10**400, float("nan"), float("inf"))
        case str():
            yield from ("", "\0", "x -->\n/lgtm", "a" * 40, "0001-01-01T00:00:00", *words().get(name, ()))
        case list():
            yield from ([], value * 2)
        case None:
            yield from ("", "x", 0, HUGE, [], {}, "2026-01-05T09:00:00")
        case _:
            yield None


def _with(event: Json, path: Path, value: Any) -> Json:
    made = copy.deepcopy(event)
    place: Any = made
    for step in path[:-1]:
        place = place[step]
    if value is _GONE:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return made
