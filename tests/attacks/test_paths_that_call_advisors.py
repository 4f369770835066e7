"""The author of a change chooses its paths: whoever joins by one never outvotes the repository's own advisors."""

from __future__ import annotations

from dataclasses import replace

import pytest

from review_advisor.agents.calls import LostReason
from review_advisor.change.guidelines import BaseText
from review_advisor.change.kinds import LENS_MAP
from review_advisor.mockworld.agents import Line, approve, finding, lost, reject, vote
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.roster import ADR_ADVISOR, Roster
from review_advisor.policy.roster_layers import declared_roster
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import outcome_json, read_outcome
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound

AT = ".review-advisor/advisors"
FRIENDLY = "---\nid: friendly\non: finish\nweight: 100\n---\nYou like documentation.\n"
STRICT = "---\nid: strict\non: finish\n---\nYou look for holes.\n"
MAP = '[[map]]\npaths = ["/docs/"]\nadvisors = ["friendly"]\n'
HOLE = finding("src/app.py", 3, "value = 3")


def mapped(*declared: str) -> Roster:
    files = {f"{AT}/{n}.md": text for n, text in enumerate(declared)}
    texts = {**files, f"{AT}/optional/friendly.md": FRIENDLY, LENS_MAP: MAP}
    roster, problems = declared_roster("default", {path: BaseText(text) for path, text in texts.items()})
    assert problems == ()
    return roster


def outcome(declared: tuple[str, ...], *, beside: bool, says: Line) -> Outcome:
    """How a review ends whose declared advisors find a hole; with a changed page ``beside`` it a friend joins."""
    world = MockWorld()
    world.rules = replace(world.rules, roster=mapped(*declared))
    world.change(edited("src/app.py"), *([edited("docs/page.md")] if beside else []))
    world.agents.script(Role.EXECUTOR, approve(), reject(HOLE))
    judges = (vote(20, 60, 0, "a hole"), vote(0, 90, on="reject"))
    if declared or beside:
        for name in (ADR_ADVISOR.id, *(["strict"] if declared else [])):
            world.agents.script(Role.POST_VERIFY, *judges, advisor=name)
    else:
        world.agents.script(Role.POST_VERIFY, *judges)
    if beside:
        world.agents.script(Role.POST_VERIFY, says, advisor="friendly")
    document = world.review()
    assert unsound(read_outcome(outcome_json(document)).events) is None
    assert [each.id for each in document.policy.roster.panel if each.by_path] == ["friendly"] * beside
    return document.outcome


@pytest.mark.parametrize("says", [vote(100), lost(LostReason.SERVER_ERROR)], ids=["approves", "lost"])
@pytest.mark.parametrize("declared", [(), (STRICT,)], ids=["the ADR's advisor alone", "a council"])
def test_a_page_of_documentation_beside_a_hole_brings_no_approval(declared: tuple[str, ...], says: Line) -> None:
    assert outcome(declared, beside=False, says=says) is Outcome.CHANGES_REQUESTED
    assert outcome(declared, beside=True, says=says) is not Outcome.APPROVED
