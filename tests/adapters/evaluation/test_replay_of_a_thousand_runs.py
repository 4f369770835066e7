"""A thousand recorded runs under other rules: nobody is asked, and the totals are those of a fresh simulation."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice
from pathlib import Path

import pytest
from tests.adapters.command_line import Terminal, executable
from tests.adapters.ledgers import record, retold

from review_advisor.app.configuration import roster_of, working_files
from review_advisor.lab.replay import concluded, posted_anew, usd_of
from review_advisor.mockworld.agents import approve, vote
from review_advisor.mockworld.seeds import story_of
from review_advisor.mockworld.stage import play
from review_advisor.mockworld.story import Story
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.roster import ADR_ADVISOR
from review_advisor.policy.settings import Config
from review_advisor.policy.surfaces import Role
from review_advisor.policy.switches import FAIL_AS_VETO
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import CallEnded
from review_advisor.review.soundness import unsound

RUNS, STORIES = 1_000, 100
LEAST = 0.95
Twin = tuple[OutcomeDocument, OutcomeDocument]


def played(story: Story) -> list[OutcomeDocument | None]:
    return [review.document for review in play(story).reviews]


def under_other_rules(story: Story) -> Story:
    """The same world, where a lost judgement is a veto and every setting that `replay` takes is the default."""
    config = story.config.model_copy(update={"fail_on": Config().fail_on})
    return story.model_copy(update={"config": config, "switches": {**story.switches, FAIL_AS_VETO: "1"}})


def twins() -> Iterator[Twin]:
    """Reviews that can be recorded, each beside the same one under the other rules."""
    for seed in count(1):
        story = story_of(seed)
        for told, fresh in zip(played(story), played(under_other_rules(story)), strict=True):
            if told is not None and fresh is not None and unsound(told.events) is None:
                yield told, fresh


def a_thousand() -> Iterator[Twin]:
    """A hundred of them, each ten times as the review of a pull request of its own: to play them takes the time."""
    for number, (told, fresh) in enumerate([*islice(twins(), STORIES)] * (RUNS // STORIES), start=1):
        own = {"run_id": f"run-{number}", "repository": "acme/shop", "pull_request": number}
        yield retold(told, **own), retold(fresh, **own)  # type: ignore[arg-type]


@pytest.mark.every_case
@pytest.mark.timeout(600)  # most of it is making the ledger
def test_the_totals_of_a_thousand_runs_are_those_of_a_fresh_simulation(terminal: Terminal, tmp_path: Path) -> None:
    ledger, config = tmp_path / "ledger.sqlite3", tmp_path / "other.toml"
    every = list(a_thousand())
    record(ledger, *(told for told, _ in every))
    config.write_text(f"[github]\nleast_confidence = {LEAST}\n")
    asked = executable(tmp_path / "bin" / "claude", f"#!/bin/sh\ntouch '{tmp_path}/asked'\nexit 1\n")
    done = terminal.run(
        *("replay", "--all", "--fail-as-veto", "--config", config, "--ledger", ledger, "--json"),
        env={"PATH": f"{asked.parent}:/usr/bin:/bin"},
    )
    assert done.code == 0, done.err
    found = json.loads(done.out)

    assert not (tmp_path / "asked").exists()
    assert len(found["reviews"]) == RUNS
    known = {each["run_id"]: each for each in found["reviews"] if each["after"] is not None}
    fresh = [again for told, again in every if told.run_id in known]
    assert len(fresh) == RUNS
    rules = PublicationRules(least_confidence=LEAST)
    posted = sum(len(ids or ()) for again in fresh for ids in posted_anew([again], rules))
    totals = found["totals"]
    assert Counter(each["after"] for each in known.values()) == Counter(concluded(each).value for each in fresh)
    assert totals["usd_after"] == pytest.approx(sum(map(usd_of, fresh)), abs=1e-4)
    assert (totals["unknown"], totals["posted_after"]) == (0, posted)
    assert totals["posted_after"] < totals["posted_before"]
    assert any(each["before"] != each["after"] for each in found["reviews"])


MEMBER = (
    "---\nid: {id}\non: finish\nweight: {weight}\nscopes: [{scope}]\n---\n\nYou look for what is wrong with {scope}.\n"
)
SCOPES = {"security": "secrets", "tester": "tests"}
NAMES = (ADR_ADVISOR.id, *SCOPES)
DOLLARS = {"sonnet": 15.0, "opus": 25.0}
PRICE = """
[[prices]]
model = "{model}"
since = 2026-01-01
input = 1.0
output = {usd}
cache_read = 0.1
cache_write = 1.25
"""
SHARES = (30, 45, 55, 70, 90)
"""How much of its vote a member gives to approval."""


def declared(folder: Path, **weights: int) -> Path:
    """A folder that declares two members of a council, with these weights."""
    place = folder / ".review-advisor" / "advisors"
    place.mkdir(parents=True)
    for name, weight in weights.items():
        (place / f"{name}.md").write_text(MEMBER.format(id=name, weight=weight, scope=SCOPES[name]))
    return folder


def judged(folder: Path, number: int) -> OutcomeDocument:
    """The ``number``-th combination of votes, counted by the council of this folder."""
    world = MockWorld()
    world.rules = replace(world.rules, roster=roster_of("default", working_files(folder)))
    world.agents.script(Role.EXECUTOR, replace(approve(), output_tokens=100 * number + 1, cost_usd=0.02))
    for place, name in enumerate(NAMES):
        share = SHARES[number // len(SHARES) ** place % len(SHARES)]
        line = replace(vote(share, 95 - share), output_tokens=7 * number + place + 1, cost_usd=0.01)
        world.agents.script(Role.POST_VERIFY, line, advisor=name)
    return world.review()


def usd_by_tokens(document: OutcomeDocument) -> float:
    calls = [each for each in document.events if isinstance(each, CallEnded)]
    return sum(each.usage.output_tokens * DOLLARS[each.requested_model] / 1e6 for each in calls)


@pytest.mark.every_case
@pytest.mark.timeout(600)  # most of it is making the ledger
def test_a_thousand_councils_at_other_prices_and_weights_come_to_what_fresh_ones_come_to(
    terminal: Terminal, tmp_path: Path
) -> None:
    ledger, prices = tmp_path / "ledger.sqlite3", tmp_path / "prices.toml"
    was = declared(tmp_path / "was", security=1, tester=1)
    now = declared(tmp_path / "now", security=9, tester=0)
    prices.write_text("".join(PRICE.format(model=model, usd=usd) for model, usd in DOLLARS.items()))
    combinations = range(len(SHARES) ** len(NAMES))
    told, fresh = [judged(was, each) for each in combinations], [judged(now, each) for each in combinations]
    names = [f"run-{number}" for number in range(RUNS)]
    owned = [{"run_id": name, "repository": "acme/shop", "pull_request": at + 1} for at, name in enumerate(names)]
    record(ledger, *(retold(told[at % len(told)], **own) for at, own in enumerate(owned)))  # type: ignore[arg-type]
    done = terminal.run("replay", "--all", "--prices", prices, "--roster", now, "--ledger", ledger, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)

    ends = {each["run_id"]: each["after"] for each in found["reviews"]}
    known = {name: fresh[at % len(fresh)] for at, name in enumerate(names) if ends[name] is not None}
    assert {name: ends[name] for name in known} == {name: concluded(each).value for name, each in known.items()}
    totals = found["totals"]
    assert totals["unknown"] == RUNS - len(known) < RUNS / 3
    assert totals["usd_after"] == pytest.approx(sum(map(usd_by_tokens, known.values())), abs=1e-4)
    assert any(each["before"] != each["after"] for each in found["reviews"] if each["after"] is not None)
    whys = {why for each in found["reviews"] for why in each["unknown"]}
    assert whys == {"a retry would have been asked, and its answer is unknown"}
    assert totals["would_ask"]["questions"] == totals["unknown"] * (1 + 2 * len(NAMES))
