"""Whoever publishes an outcome believes nothing of it that its own events do not lead to."""

import ast
import inspect
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.outcome.altered import KINDS, alterations, reviewed

from review_advisor.core.forge_text.conclusion import conclusion_of
from review_advisor.core.outcome import numbering, replay, soundness
from review_advisor.core.outcome.document import OutcomeDocument, outcome_document
from review_advisor.core.outcome.events import Event, PartEnded, Reported, ReviewEnded, SurfaceEnded, Verified
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.outcome.soundness import unsound
from review_advisor.core.policy.surfaces import Authority, Surface
from review_advisor.core.pull_request.writes import Conclusion

STEP = 5
"""Of the altered fields every fifth is tried, and in each kind of review others."""
CONFIGURED = "policy.fail_on_degraded"
"""Whether an approval that nobody verified passes, the configuration says: no other event could show it."""


def test_each_reason_names_the_part_of_the_record_that_is_wrong() -> None:
    """A user reads it in the check's summary, behind "The outcome is not that of a review"."""
    said: list[object] = []
    for module in (soundness, replay, numbering):
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ("require", "Unsound")
            ):
                said += [each.value for each in node.args if isinstance(each, ast.Constant)]
    assert len(said) > 40
    riddles = [each for each in said if not re.fullmatch(r"(a|an|the) [a-z].*[^.]", str(each))]
    assert riddles == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_review_as_it_happened_is_believed(kind: str) -> None:
    assert unsound(reviewed(kind).events) is None


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_altered_in_one_place_is_refused_or_concludes_as_before(kind: str) -> None:
    due = conclusion_of(reviewed(kind))
    start = list(KINDS).index(kind) % STEP
    tried = 0
    for altered in alterations(reviewed(kind), start, STEP):
        tried += 1
        if unsound(altered.events) is None and CONFIGURED not in altered.what:
            assert conclusion_of(outcome_document(altered.events)) is due, altered.what
    assert tried > 30


@pytest.mark.parametrize("kind", ["approved", "escalated", "repair attached", "recovered", "in three parts"])
def test_what_decides_is_there_once_and_in_its_place(kind: str) -> None:
    decisive = ("reported", "verified", "ruled", "repaired", "part_ended", "review_ended", "call_", "policy_frozen")
    moved = ("part_ended moved", "surface_ended moved")  # after another part's end, or before another surface begins
    believed = {
        each.what.split(" ", 1)[1] for each in alterations(reviewed(kind), 0, 10**9) if not unsound(each.events)
    }
    assert not {each for each in believed if each.startswith(decisive)} - set(moved)


def forged(kind: str, **changes: Any) -> tuple[Event, ...]:
    """The review with the last of its events that have these fields changed."""
    events = list(reviewed(kind).events)
    at = max(index for index, each in enumerate(events) if all(hasattr(each, name) for name in changes))
    events[at] = replace(events[at], **changes)
    return tuple(events)


def ended(events: tuple[Event, ...], outcome: Outcome) -> tuple[Event, ...]:
    """The same, with every end said to be this one."""
    return tuple(
        replace(each, outcome=outcome) if isinstance(each, PartEnded | SurfaceEnded | ReviewEnded) else each
        for each in events
    )


def test_a_repair_that_was_never_made_is_offered_by_nobody() -> None:
    events = forged("changes requested", repaired=True)
    assert unsound(events) == "the end of a part does not follow from its events"
    assert outcome_document(events).repair is None


@pytest.mark.parametrize("kind", ["changes requested", "escalated", "stubborn", "idle", "an unread picture"])
def test_an_approval_follows_from_the_events_or_there_is_none(kind: str) -> None:
    assert unsound(ended(reviewed(kind).events, Outcome.APPROVED)) is not None


def test_an_approval_without_its_judge_is_refused() -> None:
    judge = [each for each in reviewed("approved").events if getattr(each, "role", None) == "post_verify"]
    events = tuple(
        each for each in reviewed("approved").events if each not in judge and each.kind not in ("verified", "ruled")
    )
    assert unsound(events) == "a report that needs a judgement has none"


@pytest.mark.parametrize(
    "changes, why",
    [
        ({"run_id": "x -->\n/lgtm"}, "the name of the run is not valid"),
        ({"base_sha": "main"}, "the name of a commit is not valid"),
        ({"head_sha": "x" * 40}, "the name of a commit is not valid"),
        ({"shards": 10**16}, "the record holds a number that is negative or too large"),
        ({"shards": 2}, "a part was not reviewed, or a part was reviewed that does not exist"),
    ],
)
def test_what_no_run_of_ours_is_about_is_refused(changes: dict[str, Any], why: str) -> None:
    assert unsound(forged("approved", **changes)) == why


def test_a_finding_may_be_on_any_file_or_picture_and_on_nothing_else() -> None:
    def with_finding_on(path: str, kind: str = "changes requested", surface: Surface = Surface.PR_REVIEW) -> str | None:
        (one, *_) = reviewed("changes requested").findings
        events: list[Event] = []
        for each in reviewed(kind).events:
            if isinstance(each, Reported) and each.surface is surface:
                events.append(replace(each, report=replace(each.report, findings=(replace(one, path=path),))))
            else:
                events.append(each)
        return unsound(events)

    nowhere = "a finding is on a file that is not part of the change"
    assert with_finding_on("src/app.py") != nowhere
    assert with_finding_on("src/elsewhere.py") == nowhere
    assert with_finding_on("a.png", "of pictures and records", Surface.VISUAL_GATE) != nowhere
    assert with_finding_on("c.png", "of pictures and records", Surface.VISUAL_GATE) == nowhere


def is_supported(document: OutcomeDocument) -> bool:
    """Whether an approval can be read out of the bare answers, by other words than those of the product."""
    veto = {row.surface for row in document.policy.surfaces if row.authority is Authority.VETO}
    for surface in document.surfaces:
        if surface.surface in veto and not surface.parts:
            return False
        for part in surface.parts:
            said = [each for each in document.events if getattr(each, "surface", None) is surface.surface]
            its = [each for each in said if getattr(each, "shard", None) == part.shard]
            reports = [each.report.verdict for each in its if isinstance(each, Reported)]
            judged = [each.judged.result.verdict for each in its if isinstance(each, Verified)]
            if reports[-1:] != ["approve"] or (surface.surface in veto and judged[-1:] == ["VETO"]):
                return False
            own = [each for each in its if isinstance(each, Reported) and each.structural]
            if not judged and not own and not (document.flags.degraded or document.flags.advisor_disabled):
                return False
    return not any(file.read == "partly" for file in document.coverage)


@given(
    st.sampled_from(sorted(KINDS)), st.lists(st.tuples(st.integers(0, 10**6), st.booleans()), min_size=2, max_size=4)
)
def test_no_alterations_together_make_an_approval_that_the_answers_do_not_support(
    kind: str, picks: list[tuple[int, bool]]
) -> None:
    events = reviewed(kind).events
    for pick, approves in picks:
        document = replace(reviewed(kind), events=ended(events, Outcome.APPROVED) if approves else events)
        step = 211  # of some thousands, these
        found = list(alterations(document, pick % step, step))
        events = found[pick % len(found)].events if found else events
    if unsound(events) is None:
        document = outcome_document(events)
        assert is_supported(document) or not document.coverage or conclusion_of(document) is not Conclusion.SUCCESS
