"""What the bot remembers between pushes."""

import base64
import hashlib
from dataclasses import replace

import pytest
from tests.unit.forge_text.stories import STORIES, rejecting, remark, told

from review_advisor.github.memory import MOST_FINDINGS, earlier_review, failed, reopened, state_after
from review_advisor.github.state import (
    MOST_STATE_CHARACTERS,
    SUMMARY,
    KnownFinding,
    StandingComment,
    State,
    read_state,
    state_block,
)
from review_advisor.policy.pull_request_rules import ACTIONS_LOGIN
from review_advisor.review.document import FileCoverage, OutcomeDocument
from review_advisor.review.rulings import Outcome

REJECTED = told(rejecting(remark(1)))


def push(document: OutcomeDocument, number: int) -> OutcomeDocument:
    """The same said of another head, by another run."""
    return replace(document, run_id=f"run-{number}", head_sha=f"{number:040x}")


def comment(body: str, *, by: str = ACTIONS_LOGIN, edited_by: str = "") -> StandingComment:
    return StandingComment(1, by, body, edited_by)


def read(block: str, **about: str) -> State | None:
    return read_state(comment(f"{SUMMARY}\nwords\n\n{block}", **about), ACTIONS_LOGIN)


def test_attempts_to_fix_outlive_the_process_and_begin_anew_after_an_escalation_d25() -> None:
    """Each head that is rejected is one more; a review of the same head again is none."""
    state = None
    for number, attempts in ((1, 1), (1, 1), (2, 2), (3, 3)):
        state = state_after(state, replace(push(REJECTED, number), run_id=f"run-{number}-{attempts}"), asked=False)
        state = read(state_block(state))
        assert state is not None
        assert state.fix_attempts == attempts
    assert state_after(state, push(told(STORIES["escalated"]), 4), asked=False).fix_attempts == 0
    assert state_after(state, push(told(), 4), asked=False).fix_attempts == 0


def test_two_reviews_that_reject_one_head_are_one_attempt_to_fix_it() -> None:
    state = None
    for run, head, attempts in (("a", 1, 1), ("b", 1, 1), ("c", 2, 2), ("d", 2, 2)):
        state = state_after(state, replace(push(REJECTED, head), run_id=run), asked=False)
        assert state.fix_attempts == attempts


def test_an_approval_by_a_person_ends_with_the_next_run_of_any_end() -> None:
    approved = state_after(None, push(told(STORIES["escalated"]), 1), asked=False).model_copy(
        update={"approved_by": "maria"}
    )
    assert failed(approved, "run-2", "a" * 40, "no credit").approved_by == ""
    stopped = replace(push(told(), 2), outcome=Outcome.STOPPED)
    assert state_after(approved, stopped, asked=False).approved_by == ""
    assert state_after(approved, push(told(), 2), asked=False).approved_by == ""


def test_the_same_review_remembered_twice_changes_nothing() -> None:
    state = state_after(None, REJECTED, asked=False)
    assert state_after(state, REJECTED, asked=False) == state


def test_a_review_that_somebody_asked_for_is_no_round() -> None:
    state = state_after(None, push(REJECTED, 1), asked=False)
    state = state_after(state, push(REJECTED, 2), asked=True)
    assert (state.rounds, state_after(state, push(REJECTED, 3), asked=False).rounds) == (1, 2)


def test_what_a_review_was_of_is_remembered_and_handed_to_the_next_one() -> None:
    document = replace(REJECTED, base_sha="b" * 40, base_ref="release", rules_sha="c" * 40)
    state = state_after(None, document, asked=False, run="77")
    assert (state.run_id, state.head_sha, state.base_sha) == (document.run_id, document.head_sha, "b" * 40)
    assert (state.base_ref, state.rules_sha, state.reviewed_in) == ("release", "c" * 40, "77")
    assert (state.outcome, state.blast) == (document.outcome, document.policy.blast.radius)
    earlier = earlier_review(state)
    assert (earlier.head_sha, earlier.base_sha, earlier.rules_sha) == (document.head_sha, "b" * 40, "c" * 40)
    assert (earlier.policy_digest, earlier.complete, earlier.is_ancestor) == (state.policy_digest, True, False)
    assert [each.id for each in earlier.findings] == [each.id for each in document.findings]
    nothing = replace(document, head_sha=None, base_sha=None, base_ref=None, rules_sha=None)
    state = state_after(None, nothing, asked=False)
    assert (state.head_sha, state.base_sha, state.base_ref, state.rules_sha, state.reviewed_in) == ("",) * 5


@pytest.mark.parametrize(
    "status, places, returns",
    [("fixed", 1, True), ("open", 1, False), ("open", 2, False), ("dismissed", 1, False), ("dismissed", 2, True)],
)
@pytest.mark.parametrize("complete", [True, False])
def test_a_finding_comes_back_if_it_was_fixed_or_its_dismissal_does_not_hold_any_more(
    status: str, places: int, returns: bool, complete: bool
) -> None:
    state = state_after(None, REJECTED, asked=False)
    (known_before,) = state.findings
    before = known_before.model_copy(update={"status": status, "occurrences": known_before.occurrences + places - 1})
    state = state.model_copy(update={"findings": (before,), "complete": complete})
    assert reopened(state, REJECTED) == (frozenset({before.id}) if returns else frozenset())
    forgotten = state.model_copy(update={"findings": ()})
    assert reopened(forgotten, REJECTED) == (frozenset({before.id}) if complete else frozenset())
    assert reopened(None, REJECTED) == frozenset()


def test_a_failure_is_counted_for_one_head_and_one_reason() -> None:
    def times(*failures: tuple[str, str]) -> int:
        state = None
        for number, (head, reason) in enumerate(failures):
            state = failed(state, f"run-{number}", head * 40, reason)
        assert state is not None
        assert state.failing is not None
        return state.failing.times

    assert times(("a", "no credit"), ("a", "no credit")) == 2
    assert times(("a", "no credit"), ("b", "no credit")) == 1
    assert times(("a", "no credit"), ("a", "no answer")) == 1


def test_a_review_that_did_not_run_leaves_nothing_to_rest_on() -> None:
    state = failed(state_after(None, told(), asked=False), "run-9", "a" * 40, "no credit")
    assert (state.complete, state.outcome) == (False, Outcome.STOPPED)


@pytest.mark.parametrize("story", ["degraded", "advisor disabled"])
def test_a_review_that_was_not_whole_is_nothing_to_rest_on(story: str) -> None:
    assert state_after(None, told(), asked=False).complete
    assert not state_after(None, told(STORIES[story]), asked=False).complete


def test_a_finding_in_a_file_that_was_not_read_again_is_not_called_fixed() -> None:
    before = state_after(None, push(REJECTED, 1), asked=False)
    calm = push(told(), 2)
    assert [each.status for each in state_after(before, calm, asked=False).findings] == ["fixed"]
    unread = replace(calm, coverage=tuple(replace(each, read="not", why="no budget") for each in calm.coverage))
    earlier = replace(calm, coverage=tuple(replace(each, earlier=True) for each in calm.coverage))
    for document in (unread, earlier):
        assert [each.status for each in state_after(before, document, asked=False).findings] == ["open"]


def known(number: int, status: str, severity: str = "low", path: str = "") -> KnownFinding:
    """A finding under a path that no compression shortens."""
    noise = base64.b64encode(hashlib.sha512(f"{number}".encode()).digest()).decode()
    return KnownFinding.model_validate(
        {
            "id": f"f-{number:032x}",
            "path": path or f"{number}/{noise}",
            "line": 1,
            "title": "t",
            "severity": severity,
            "status": status,
        }
    )


def test_what_does_not_fit_gives_way_from_the_least_weighty_on() -> None:
    before = state_after(None, REJECTED, asked=False)
    assert before.complete
    open_ones = [known(number, "open", "critical" if number % 2 else "low") for number in range(400)]
    crowded = before.model_copy(
        update={"findings": (*open_ones, known(999, "dismissed")), "rounds": 9, "approved_by": "maria"}
    )
    block = state_block(crowded)
    state = read(block)
    assert state is not None
    assert len(block) <= MOST_STATE_CHARACTERS
    assert (state.rounds, state.fix_attempts, state.approved_by, state.complete) == (9, 1, "maria", False)
    kept = [(each.status, each.severity) for each in state.findings]
    assert kept[0] == ("dismissed", "low")
    assert 50 < len(kept) < 200
    assert set(kept[1:]) == {("open", "critical")}


def test_paths_that_alone_are_too_long_cost_no_count() -> None:
    before = state_after(None, REJECTED, asked=False)
    noise = "".join(hashlib.sha512(f"{number}".encode()).hexdigest() for number in range(300))
    state = read(state_block(before.model_copy(update={"findings": (known(1, "open", path=noise),), "rounds": 7})))
    assert state is not None
    assert (state.rounds, state.findings, state.complete) == (7, (), False)


def test_more_findings_than_are_remembered_leave_nothing_to_rest_on() -> None:
    before = state_after(None, REJECTED, asked=False)
    many = tuple(known(number, "open", path="src/elsewhere.py") for number in range(MOST_FINDINGS + 1))
    unread = replace(
        push(told(), 2),
        coverage=(FileCoverage("src/elsewhere.py", "read", earlier=True),),
    )
    state = state_after(before.model_copy(update={"findings": many}), unread, asked=False)
    assert (len(state.findings), state.complete, state.forgotten) == (MOST_FINDINGS, False, 1)


def test_history_that_is_left_out_does_no_harm() -> None:
    before = state_after(None, push(told(), 1), asked=False)
    fixed = tuple(known(number, "fixed", path="src/elsewhere.py") for number in range(MOST_FINDINGS + 1))
    state = state_after(before.model_copy(update={"findings": fixed}), push(told(), 2), asked=False)
    assert (len(state.findings), state.complete, state.forgotten) == (MOST_FINDINGS, True, 0)
    kept = read(state_block(state.model_copy(update={"findings": tuple(known(n, "fixed") for n in range(400))})))
    assert kept is not None
    assert kept.complete
    assert 50 < len(kept.findings) < 400


def test_a_dismissal_that_says_no_number_of_places_is_of_one_place() -> None:
    once = told(rejecting(remark(7)))
    before = state_after(None, push(once, 1), asked=False)
    (each,) = before.findings
    fields = each.model_dump(exclude={"occurrences"}) | {"status": "dismissed"}
    dismissed = before.model_copy(update={"findings": (KnownFinding.model_validate(fields),)})
    (again,) = state_after(dismissed, push(once, 2), asked=False).findings
    assert (again.status, again.occurrences) == ("dismissed", 1)
