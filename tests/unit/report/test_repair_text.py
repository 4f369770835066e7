"""How the report tells a repair, or why there is none."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

import pytest
from tests.unit.forge_text.stories import STORIES, told

from review_advisor.mockworld.agents import approve, finding, reject, veto
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.risk import Blast, BlastRadius
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.events import Repaired
from review_advisor.review.report import no_repair_words, offered_repair, repair_words

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


ONE = finding("src/app.py", 3, "value = 3")


def repaired(result: Literal["accepted", "withdrawn", "refused"], **about: object) -> Repaired:
    return Repaired(at=NOON, surface=Surface.PR_REVIEW, result=result, **about)  # type: ignore[arg-type]


def test_each_end_of_a_repair_has_its_words() -> None:
    high = Blast(BlastRadius.HIGH, ("x",))
    assert repair_words(repaired("withdrawn")) == "the head is judged as it is"
    assert repair_words(repaired("accepted", files=("a.py", "b c.py"))) == "a.py, b c.py"
    assert repair_words(repaired("accepted", files=("a.py",), blast=high)) == "a.py, blast radius high"


def vetoed(*reports: object) -> Callable[[MockWorld], None]:
    def tell(world: MockWorld) -> None:
        world.agents.script(Role.EXECUTOR, *reports)  # type: ignore[arg-type]
        world.agents.script(Role.POST_VERIFY, veto("look again"))

    return tell


def test_a_vetoed_approval_without_leave_to_repair_says_why() -> None:
    words = no_repair_words(told(vetoed(approve(), approve(ONE))))
    assert words == "repair was off: a bare patch comes without a tree to repair"


@pytest.mark.parametrize("tell", [vetoed(reject(ONE), approve()), STORIES["approved"], STORIES["repair attached"]])
def test_where_no_approval_was_handed_back_without_leave_nothing_is_said(tell: Callable[[MockWorld], object]) -> None:
    assert no_repair_words(told(tell)) is None


def test_an_offered_patch_stands_whole_below_how_to_use_it() -> None:
    document = told(STORIES["repair attached"])
    assert document.repair is not None
    lines: Iterator[str] = offered_repair(replace(document, repair=replace(document.repair, patch="a\nb\n\n")))
    head, how, *patch = lines
    assert head.startswith("Repair: with this patch on ")
    assert head.endswith(", and only with it, pr_review is approved")
    assert how == "  (judged in attempt 2). Apply it with: git apply repair.patch"
    assert patch == ["    a", "    b", "    "]
    assert list(offered_repair(told())) == []
