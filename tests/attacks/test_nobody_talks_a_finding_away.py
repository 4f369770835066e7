"""The author of a change writes what an advisor is to quote. Advice that believes it takes no grave finding away."""

from dataclasses import replace

import pytest
from tests.attacks.test_nobody_refutes_a_finding import CLAIM, COMMENTS, FAULT, HOLE, added

from review_advisor.change.change import FileChange, Hunk, Status
from review_advisor.mockworld.agents import Json, approve, change, guidance, reject
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.escalation_rules import EscalationRules
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound


def world_of(*files: FileChange) -> MockWorld:
    world = MockWorld()
    world.rules = replace(world.rules, escalation=EscalationRules("attrition"))
    world.change(*files)
    return world


def advised(*files: FileChange, does: str, after: Json | None = None, **proof: str) -> OutcomeDocument:
    """The executor doubts its rejection, the advisor recommends with a quote, and the executor obeys and approves."""
    first = world_of(*files)
    first.agents.script(Role.EXECUTOR, reject(HOLE))
    (found,) = first.review().findings
    world = world_of(*files)
    world.agents.script(Role.EXECUTOR, reject(HOLE).sure(0.5), approve(*([after] if after else [])).applying("r1"))
    world.agents.script(Role.MID_FLIGHT, guidance("let it go", change(does, found.id, **proof)))
    document = world.review()
    assert unsound(document.events) is None
    return document


def stays(document: OutcomeDocument) -> bool:
    return document.outcome is Outcome.CHANGES_REQUESTED and [each.severity for each in document.findings] == ["high"]


@pytest.mark.parametrize("does", ["drop", "lower"])
@pytest.mark.parametrize("quoted", [FAULT, f"+{FAULT}", "user_input", f"  {FAULT}  "])
def test_the_lines_that_a_finding_quotes_disprove_nothing(does: str, quoted: str) -> None:
    assert stays(advised(added("src/app.py", FAULT, "done()"), does=does, quote=quoted))


@pytest.mark.parametrize("comment", COMMENTS)
def test_a_comment_in_the_diff_disproves_nothing(comment: str) -> None:
    assert stays(advised(added("src/app.py", FAULT, comment, "done()"), does="drop", quote=comment))


def test_documentation_in_the_diff_disproves_nothing() -> None:
    files = added("src/app.py", FAULT), added("docs/security.md", CLAIM)
    assert stays(advised(*files, does="drop", quote=CLAIM, path="docs/security.md"))


def test_a_line_that_the_change_takes_out_disproves_nothing() -> None:
    hunk = Hunk(1, 1, 1, 1, "", ("-checked(user_input)", f"+{FAULT}"))
    file = FileChange(path="src/app.py", status=Status.MODIFIED, hunks=(hunk,), added=1, removed=1)
    assert stays(advised(file, does="drop", quote="checked(user_input)"))


def test_what_is_proven_to_be_milder_is_not_proven_to_be_wrong() -> None:
    """A quote that lowers a finding does not let the executor leave it out."""
    file = added("src/app.py", FAULT, "guarded(user_input)")
    document = advised(file, does="lower", severity="medium", quote="guarded(user_input)")
    assert document.outcome is Outcome.CHANGES_REQUESTED
    assert [each.severity for each in document.findings] == ["medium"]


def test_what_is_proven_to_be_milder_is_as_mild_as_that_and_no_milder() -> None:
    file = added("src/app.py", FAULT, "guarded(user_input)")
    milder = {**HOLE, "severity": "low"}
    document = advised(file, does="lower", severity="medium", quote="guarded(user_input)", after=milder)
    assert document.outcome is Outcome.CHANGES_REQUESTED
    assert [each.severity for each in document.findings] == ["medium"]


def test_code_that_disproves_a_finding_takes_it_away() -> None:
    file = added("src/app.py", FAULT, "guarded(user_input)")
    document = advised(file, does="drop", quote="guarded(user_input)")
    assert (document.outcome, document.findings) == (Outcome.APPROVED, ())
