"""What a review has learned: of the surfaces that teach, the last report on each part."""

from dataclasses import replace
from datetime import UTC, datetime

from review_advisor.agents.evidence import CheckedReport, Knowledge
from review_advisor.agents.surface_inputs import SURFACE_INPUTS
from review_advisor.mockworld.agents import finding, reject
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.document import finding_behind, judgement_on, knowledge_of
from review_advisor.review.events import PartEnded, Reported
from review_advisor.review.rulings import Outcome

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
TEACHES = [surface for surface in Surface if SURFACE_INPUTS[surface].teaches]
SILENT = [surface for surface in Surface if not SURFACE_INPUTS[surface].teaches]


def reported(title: str, surface: Surface = Surface.PR_REVIEW, shard: int = 0, attempt: int = 0) -> Reported:
    entry = Knowledge(title, "Something that stays true.", "src/app.py", 3, "value = 3", ())
    report = CheckedReport("approve", "fine", 0.9, knowledge=(entry,))
    return Reported(at=NOON, surface=surface, shard=shard, attempt=attempt, report=report)


def titles(*events: Reported) -> list[str]:
    return [entry.title for entry in knowledge_of(events)]


def test_only_surfaces_that_teach_are_heard() -> None:
    assert TEACHES
    assert SILENT
    assert [titles(reported("x", surface)) for surface in TEACHES] == [["x"]] * len(TEACHES)
    assert [titles(reported("x", surface)) for surface in SILENT] == [[]] * len(SILENT)


def test_a_report_of_our_own_check_teaches_nothing() -> None:
    assert titles(replace(reported("x"), structural=True)) == []


def test_of_each_part_the_last_report_counts_and_parts_stand_in_order() -> None:
    told = (reported("c", shard=1), reported("a"), reported("b", attempt=1), reported("d", shard=2))
    assert titles(*told) == ["b", "c", "d"]


def test_a_surface_without_a_verdict_says_why() -> None:
    def ends(*, degraded: bool, surface: Surface = Surface.PR_REVIEW) -> PartEnded:
        return PartEnded(at=NOON, surface=surface, outcome=Outcome.APPROVED, because="x", degraded=degraded)

    assert judgement_on(Surface.PR_REVIEW, [ends(degraded=True), ends(degraded=False)]) == "lost"
    assert judgement_on(Surface.PR_REVIEW, [ends(degraded=False)]) == "not asked"
    assert judgement_on(Surface.PR_REVIEW, [ends(degraded=True, surface=Surface.ADR_REVIEW)]) == "not asked"
    assert judgement_on(Surface.PR_REVIEW, []) == "not asked"


def test_a_finding_that_an_entry_names_goes_before_the_one_on_its_lines() -> None:
    world = MockWorld()
    world.agents.script(Role.EXECUTOR, reject(*(finding("src/app.py", n, f"value = {n}", "medium") for n in (4, 7))))
    named, on_its_lines = world.review().findings
    entry = Knowledge("Values", f"As {named.id} shows.", "src/app.py", 7, "value = 7", ())
    assert finding_behind(entry, (named, on_its_lines)) == named.id
    assert finding_behind(replace(entry, body=f"As {named.id}x shows."), (named, on_its_lines)) == on_its_lines.id
    assert finding_behind(replace(entry, path="src/other.py"), (on_its_lines,)) == ""
    assert finding_behind(entry, ()) == "", "an id of no finding of the review is no finding"
