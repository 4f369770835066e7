"""Five reviews that hold every kind of event but a Stop and a repair: to be recorded, killed and restarted."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from review_advisor.mockworld.agents import (
    approve,
    confirm,
    evidence,
    finding,
    garbage,
    guidance,
    learned,
    lost,
    plan,
    reject,
    text_only,
    veto,
)
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role, Surface

PATHS = ("src/a.py", "src/b.py", "src/c.py")
QUESTION = json.dumps({"question": "May seven repeat?", "context": "value = 7", "options": ["yes", "no"]})


def an_approval_after_consults(world: MockWorld) -> None:
    """Planned, three consults of which one fails, approved."""
    world.agents.script(Role.PRE_FLIGHT, plan("values may clash", focus=("src/app.py",)).costing(0.02))
    low = finding("src/app.py", 7, "value = 7", severity="low")
    world.agents.script(Role.EXECUTOR, approve(low).after_asking(QUESTION, "And eight?", "And nine?").costing(0.2))
    world.agents.script(Role.MID_FLIGHT, guidance("seven may repeat"), lost(), guidance("nine may not"))


def a_veto_then_a_recovery(world: MockWorld) -> None:
    """The second attempt answers the veto with evidence."""
    world.agents.script(
        Role.EXECUTOR,
        approve(summary="nothing to see"),
        approve(answers=(evidence("d0.1", "src/app.py", "value = 7"),), summary="seven is noted").after_asking(
            "Seven?"
        ),
    )
    world.agents.script(Role.POST_VERIFY, veto("seven is taken", direction="look at line 7"), confirm("name it"))


def answers_that_do_not_come(world: MockWorld) -> None:
    """No plan, an executor that is asked twice, and no judge: approved, degraded."""
    world.agents.script(Role.PRE_FLIGHT, text_only(), lost())
    world.agents.script(Role.EXECUTOR, garbage(), approve())
    world.agents.script(Role.POST_VERIFY, lost())


def three_parts_and_an_escalation(world: MockWorld) -> None:
    """Three parts and a specification; one part is vetoed until the budget is spent."""
    world.rules = replace(world.rules, shard_tokens=180)
    world.change(*(edited(path) for path in PATHS), spec="every value shall be prime")
    b = [finding("src/b.py", n, f"value = {n}", title=f"fault {n}") for n in (3, 5)]
    world.agents.script(Role.EXECUTOR, approve(), approve(), approve(b[0]), reject(*b), surface=Surface.PR_REVIEW)
    world.agents.script(Role.POST_VERIFY, confirm(), veto("three is not prime"), veto("nor is nine"))


def judged_blind_with_something_learned(world: MockWorld) -> None:
    """The diff is judged alone first; an entry for the wiki is judged and stored."""
    world.rules = replace(world.rules, metadata_blind=True, wiki_folder="docs/wiki")
    world.agents.script(
        Role.EXECUTOR, approve(), approve().teaching(learned("Values are numbered", "src/app.py", "value = 7"))
    )


STORIES: tuple[Callable[[MockWorld], None], ...] = (
    an_approval_after_consults,
    a_veto_then_a_recovery,
    answers_that_do_not_come,
    three_parts_and_an_escalation,
    judged_blind_with_something_learned,
)
