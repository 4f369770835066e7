"""A review in which every text that comes from outside is markup: whatever shows it must show it as text."""

from __future__ import annotations

import json
from dataclasses import replace

from tests.adapters.ledgers import told

from review_advisor.mockworld.agents import Line, approve, evidence, finding, guidance, plan, veto
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument

MARKUP = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)>"
    "<a href=javascript:alert(4)>\"'&lt;</a><iframe src=//evil.example></iframe>\u2028\u202e{{7*7}}"
)
PATH = "src/<img src=x onerror=alert(5)>.py"


def said(what: str) -> str:
    """The markup, with a word by which its place is known."""
    return f"{what}{MARKUP}"


def markup_everywhere(world: MockWorld) -> None:
    """Planned, consulted, vetoed, contested and vetoed again."""
    world.change(edited(PATH))
    world.switch("HYDRAFLOW_REVIEW_PREFLIGHT_FORCE_ON", "true")
    world.agents.script(Role.PRE_FLIGHT, plan(said("risk"), focus=(said("focus"),), signals=(said("signal"),)))
    fault = finding(PATH, 7, "value = 7", severity="low", title=said("finding"))
    fault |= {"body": said("body"), "category": said("category"), "suggestion": said("suggestion")}
    refused = finding(said("nowhere"), 1, "not there", title=said("refused"))
    asked = {"question": said("question"), "context": said("context"), "options": [said("option")]}
    first = approve(fault, refused, summary=said("summary")).after_asking(
        json.dumps(asked | {"preferred_option": said("preferred")})
    )
    again = approve(fault, answers=(evidence("d0.1", PATH, "value = 7"),), summary=said("again"))
    world.agents.script(Role.EXECUTOR, first, again)
    advice = {"rationale": said("rationale"), "risk_flags": [said("flag")], "evidence": [said("proof")]}
    world.agents.script(Role.MID_FLIGHT, Line({**(guidance(said("guidance")).answer or {}), **advice}))
    vetoes = (veto(said(what), reasoning=said("reasoning"), direction=said("direction")) for what in ("one", "two"))
    world.agents.script(Role.POST_VERIFY, *vetoes)


def hostile_review(number: int = 1) -> OutcomeDocument:
    """The review as it ended, of a change that says the same of itself."""

    def story(world: MockWorld) -> None:
        markup_everywhere(world)
        world.source.stated = replace(world.source.stated, label="label<b>", title=said("title"))

    return told(story, number, repository="<b>acme</b>/shop")
