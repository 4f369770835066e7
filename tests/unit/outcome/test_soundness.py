"""Whoever publishes an outcome believes nothing of it that its own events do not lead to."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.outcome.altered import KINDS, alteration, alterations, reviewed

from review_advisor.github.sections import conclusion_of
from review_advisor.github.writes import Conclusion
from review_advisor.policy.scope import Scope
from review_advisor.policy.surfaces import Authority, Surface
from review_advisor.review.document import OutcomeDocument, outcome_document
from review_advisor.review.events import Event, PartEnded, PolicyFrozen, Reported, ReviewEnded, SurfaceEnded, Verified
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound

STEP = 5
"""Of the altered fields every fifth is tried, and in each kind of review others."""
CONFIGURED = "policy.fail_on_degraded"
"""Whether an approval that nobody verified passes, the configuration says: no other event could show it."""


WRONG_IN_ONE_PLACE = [
    (
        "a call asks a question again that was answered, is another one, or was asked again before",
        "approved",
        "1 call_started: asks_again = '1'",
    ),
    ("a call ended that had not started, or ended twice", "approved", "1 call_started left out"),
    (
        "a call is of another role or advisor than the one whose turn it is",
        "approved",
        "0 policy_frozen: policy.blind.runs = 'True'",
    ),
    ("a call names an advisor that is not declared", "approved", "1 call_started: role = 'executor'"),
    ("a call was lost for a reason that does not exist", "degraded", "8 call_ended: without reason"),
    ("a call was stopped but the review went on", "degraded", "8 call_ended: ended = 'stopped'"),
    ("a confidence is not between 0 and 1", "approved", "6 reported: report.confidence = '1.9'"),
    ("a consult names a call that it cannot be part of", "escalated", "5 call_ended left out"),
    ("a consult names an advisor that is not declared", "escalated", "6 consulted: advisor = ''"),
    ("a file is assigned to a part that does not exist", "approved", "0 policy_frozen: files.0.shards.0 = '1'"),
    ("a finding is on a file that is not part of the change", "changes requested", "0 policy_frozen: files = '[]'"),
    (
        "a judgement is about another report than the last one",
        "approved",
        "9 verified: judged.executor_verdict = 'reject'",
    ),
    (
        "a rejection without a finding that stands was not asked again",
        "approved",
        "6 reported: report.verdict = 'reject'",
    ),
    ("a knowledge entry is stored twice", "taught", "19 knowledge_stored doubled"),
    (
        "a surface is left out that no switch leaves out",
        "approved",
        "0 policy_frozen: policy.surfaces.0.left_out_by = 'aaaaaaaaaaaaaaaaaaaa'",
    ),
    (
        "a surface ran although it is switched off, or an earlier one had decided the review",
        "without its record",
        "13 role_skipped: without disabled_by",
    ),
    ("the judgement of a council names a call", "of a council", "25 verified: number = '1'"),
    ("a number is given to two calls", "approved", "1 call_started doubled"),
    ("a part has events after its end", "approved", "11 part_ended doubled"),
    (
        "a part was not reviewed, or a part was reviewed that does not exist",
        "approved",
        "0 policy_frozen: shards = '2'",
    ),
    ("a path holds a NUL character", "approved", "0 policy_frozen: files.0.path = '\\x00'"),
    (
        "a refused repair does not name the paths that it was refused for",
        "repair attached",
        "11 repaired: result = 'refused'",
    ),
    ("a repair was made that the policy does not allow", "repair attached", "0 policy_frozen: without policy.repair"),
    ("a report that needs a judgement has none", "judged alone first", "6 blind_judged: report.verdict = 'approve'"),
    (
        "a report was judged although the review had to stop and call a person",
        "escalated",
        "6 consulted: note.guidance.stop_signal = 'True'",
    ),
    (
        "a role runs although it is switched off",
        "approved",
        "0 policy_frozen: policy.surfaces.0.roles.pre_flight.disabled_by = 'x'",
    ),
    (
        "a role was skipped for another reason than the policy gives",
        "advisor disabled",
        "0 policy_frozen: policy.surfaces.0.roles.pre_flight.because = '[]'",
    ),
    ("a ruling does not follow from the answer of the judge", "approved", "9 verified: judged.result.verdict = 'VETO'"),
    ("a surface ended without having run", "approved", "12 surface_ended doubled"),
    (
        "a surface has another authority or retry budget than its rules give",
        "approved",
        "0 policy_frozen: policy.surfaces.0.retry_budget = '0'",
    ),
    ("a surface has events after its end", "approved", "11 part_ended moved"),
    ("a surface ran after the review had ended", "approved", "0 policy_frozen: files = '[]'"),
    ("an accepted repair has no blast radius or no guard", "repair attached", "11 repaired: without blast"),
    ("an accepted repair has no patch, no tree or no files", "repair attached", "11 repaired: without patch"),
    ("an answer names a call that did not give it", "approved", "2 call_ended left out"),
    ("an event has a time without a time zone", "approved", "0 policy_frozen: at = '0001-01-01T00:00:00'"),
    (
        "an event is missing, appears twice or is out of place",
        "approved",
        "0 policy_frozen: policy.surfaces.0.roles.pre_flight.runs = 'False'",
    ),
    (
        "the blast radius does not follow from the touched paths and the changed lines",
        "approved",
        "0 policy_frozen: policy.blast.radius = 'high'",
    ),
    ("the bot's own structural check names a call", "approved", "6 reported: structural = 'True'"),
    ("the end of a part does not follow from its events", "approved", "11 part_ended: outcome = 'changes_requested'"),
    ("the end of a surface does not follow from how its parts ended", "approved", "12 surface_ended left out"),
    ("the id of a finding is not valid", "changes requested", "6 reported: report.findings.0.id = ''"),
    ("the name of a commit is not valid", "approved", "0 policy_frozen: base_sha = ''"),
    ("the name of the run is not valid", "approved", "0 policy_frozen: run_id = ''"),
    (
        "the outcome does not follow from how the surfaces ended",
        "approved",
        "13 review_ended: outcome = 'changes_requested'",
    ),
    (
        "the policy does not begin with the review of the change (pr_review)",
        "approved",
        "0 policy_frozen: policy.surfaces = '[]'",
    ),
    ("the record does not begin with a policy and end with an outcome", "approved", "0 policy_frozen left out"),
    ("the record holds a number that is negative or too large", "approved", "0 policy_frozen: files.0.shards.0 = '-1'"),
    ("the record holds a second policy or a second outcome", "approved", "0 policy_frozen doubled"),
    ("the record says that the change has no parts", "approved", "0 policy_frozen: shards = '0'"),
    (
        "the review goes on after a stop, or has events of a surface that is not in its policy",
        "approved",
        "10 ruled: surface = 'adr_review'",
    ),
    (
        "the surfaces of the policy are out of order or listed twice",
        "approved",
        "0 policy_frozen: policy.surfaces = \"[{'surface': 'pr_rev\"",
    ),
]
"""Each reason with a kind of review, and what was altered in it."""


def test_no_record_of_a_review_has_the_surface_of_a_release() -> None:
    first, *others = reviewed("approved").events
    assert isinstance(first, PolicyFrozen)
    rows = (*first.policy.surfaces, replace(first.policy.surfaces[0], surface=Surface.RELEASE_READINESS))
    altered = replace(first, policy=replace(first.policy, surfaces=rows))
    assert unsound([altered, *others]) == "the policy holds a surface that no review has"


@pytest.mark.parametrize("why, kind, what", WRONG_IN_ONE_PLACE, ids=[row[0] for row in WRONG_IN_ONE_PLACE])
def test_a_record_that_is_wrong_in_one_place_is_refused_for_that(why: str, kind: str, what: str) -> None:
    assert unsound(alteration(reviewed(kind), what)) == why


@pytest.mark.parametrize("kind", KINDS)
def test_a_review_as_it_happened_is_believed(kind: str) -> None:
    assert unsound(reviewed(kind).events) is None


@pytest.mark.one_in(18)
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


@pytest.mark.parametrize(
    "kind", ["changes requested", "escalated", "stubborn", "idle", "an unread picture", "without its record"]
)
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
        ({"rules_sha": "x"}, "the name of a commit is not valid"),
        ({"scope": Scope("main", ("x",))}, "the name of a commit is not valid"),
        ({"scope": Scope(f"{'a' * 40}\n", ("x",))}, "the name of a commit is not valid"),
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


@pytest.mark.every_case
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
