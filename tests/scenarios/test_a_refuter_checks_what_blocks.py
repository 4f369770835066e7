"""A refuter is asked about each finding that blocks: it can call a person, and can never approve."""

from dataclasses import replace

import pytest
from benchmarks._side_by_side import SharedClock
from tests.unit.forge_text.stories import remembers

from review_advisor.agents.calls import LostReason
from review_advisor.github.comment_text import summary_body
from review_advisor.github.log_text import job_summary
from review_advisor.mockworld.agents import FakeAdvisorRunner, Line, finding, garbage, lost, refutes, reject, stands
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.budgets import MOST_CHALLENGES, attempts_of, most_at_a_time
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.roster import REFUTER
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument, blocking_findings, outcome_json, read_outcome
from review_advisor.review.events import CallEnded, Challenged, PolicyFrozen
from review_advisor.review.report import report_text
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound

PROOF = "value = 7"
FIRST = finding("src/app.py", 3, "value = 3", title="three is wrong")
SECOND = finding("src/app.py", 5, "value = 5", "medium", title="five is wrong")
MILD = finding("src/app.py", 6, "value = 6", "low", title="six is ugly")


@pytest.fixture
def world() -> MockWorld:
    found = MockWorld()
    found.rules = replace(found.rules, refuter=True)
    return found


def played(world: MockWorld, *said: Line, findings: tuple[object, ...] = (FIRST, SECOND, MILD)) -> OutcomeDocument:
    world.agents.script(Role.EXECUTOR, reject(*findings))  # type: ignore[arg-type]
    world.agents.script(Role.POST_VERIFY, *said, advisor=REFUTER)
    document = world.review()
    world.finish()
    assert unsound(document.events) is None
    assert read_outcome(outcome_json(document)) == document
    return document


def challenges(document: OutcomeDocument) -> list[Challenged]:
    return [each for each in document.events if isinstance(each, Challenged)]


def blocking(document: OutcomeDocument) -> set[str]:
    """The titles of what blocks."""
    ids = blocking_findings(document)
    return {each.title for each in document.findings if each.id in ids}


def test_a_refuted_finding_stays_visible_and_does_not_block(world: MockWorld) -> None:
    document = played(world, refutes("src/app.py", PROOF, "seven shows it"), stands())
    assert document.outcome is Outcome.CHANGES_REQUESTED
    assert blocking(document) == {"five is wrong"}
    assert {each.title for each in document.findings} == {"three is wrong", "five is wrong", "six is ugly"}
    summary = summary_body(document, PublicationRules(), remembers(document))
    for text in (report_text(document), summary, job_summary(document)):
        assert "seven shows it" in text
        assert PROOF in text
        assert "refuted" in text
    assert document.because[0].endswith("; 1 finding refuted")


def test_every_blocking_finding_is_put_to_a_call_of_its_own_and_no_other(world: MockWorld) -> None:
    document = played(world)
    calls = [call for call in world.agents.asked if call.advisor == REFUTER]
    assert [("three is wrong" in call.prompt, "five is wrong" in call.prompt) for call in calls] == [
        (True, False),
        (False, True),
    ]
    judge = next(call for call in world.agents.asked if call.advisor == Role.POST_VERIFY.advisor)
    assert {call.blocks[0] for call in calls} == {judge.blocks[0]}
    assert all("The executor's report" not in call.prompt for call in calls)
    assert blocking(document) == {"three is wrong", "five is wrong"}


@pytest.mark.parametrize("said", [stands(), stands("unsure"), lost(LostReason.SERVER_ERROR), lost(LostReason.CRASH)])
def test_without_a_refutation_a_finding_stays_as_it_is(world: MockWorld, said: Line) -> None:
    document = played(world, said, findings=(FIRST,))
    assert (document.outcome, blocking(document)) == (Outcome.CHANGES_REQUESTED, {"three is wrong"})


def test_an_unusable_answer_is_asked_once_more_and_leaves_the_finding(world: MockWorld) -> None:
    document = played(world, garbage(), refutes("src/app.py", PROOF), findings=(FIRST, SECOND))
    assert blocking(document) == {"five is wrong"}
    again = MockWorld()
    again.rules = world.rules
    assert blocking(played(again, garbage(), garbage(), findings=(FIRST,))) == {"three is wrong"}


@pytest.mark.parametrize(
    "path, quote",
    [
        pytest.param("src/app.py", "nobody wrote this", id="a quote that stands nowhere"),
        pytest.param("src/other.py", PROOF, id="a quote of another file"),
        pytest.param("src/app.py", "value = 3", id="the lines that the finding quotes"),
        pytest.param("src/app.py", "", id="no quote"),
        pytest.param("src/app.py", "v", id="a quote that stands nearly anywhere"),
    ],
)
def test_a_refutation_without_a_verified_quote_leaves_the_finding(world: MockWorld, path: str, quote: str) -> None:
    document = played(world, refutes(path, quote), findings=(FIRST,))
    assert (document.outcome, blocking(document)) == (Outcome.CHANGES_REQUESTED, {"three is wrong"})
    assert [each.words for each in challenges(document)] == ["refuted without proof, so it stands"]


def test_a_quote_from_elsewhere_at_the_head_proves_a_refutation(world: MockWorld) -> None:
    world.source.texts["src/other.py"] = "def guarded():\n    return True\n"
    document = played(world, refutes("src/other.py", "def guarded():"))
    assert blocking(document) == {"five is wrong"}


def test_a_rejection_of_which_nothing_is_left_goes_to_a_person(world: MockWorld) -> None:
    proof = refutes("src/app.py", PROOF)
    document = played(world, proof, proof)
    assert document.outcome is Outcome.ESCALATED
    assert document.because[0].startswith("every finding that the rejection rests on is refuted: a person decides")
    assert blocking(document) == {"three is wrong", "five is wrong"}


@pytest.mark.parametrize("path", ["src/auth/login.py", ".review-advisor.toml"])
def test_on_critical_paths_and_under_the_guard_a_refutation_calls_a_person(world: MockWorld, path: str) -> None:
    world.change(edited("src/app.py"), edited(path))
    document = played(world, refutes("src/app.py", PROOF))
    assert document.outcome is Outcome.ESCALATED
    assert "1 finding refuted where the blast radius is high" in document.because[0]
    assert blocking(document) == {"three is wrong", "five is wrong"}


def test_the_worst_findings_are_put_to_the_refuter_and_the_others_stand(world: MockWorld) -> None:
    many = [finding("src/app.py", n, f"value = {n}", "medium", title=f"number {n}") for n in range(1, 8)]
    document = played(world, *[refutes("src/app.py", "value = 9")] * MOST_CHALLENGES, findings=tuple(many))
    assert len(challenges(document)) == MOST_CHALLENGES
    assert document.outcome is Outcome.CHANGES_REQUESTED
    assert len(blocking(document)) == len(many) - MOST_CHALLENGES


def test_nobody_is_asked_where_it_is_off_or_nothing_blocks() -> None:
    off, approved, switched = MockWorld(), MockWorld(), MockWorld()
    for each in (approved, switched):
        each.rules = replace(each.rules, refuter=True)
    switched.switch("HYDRAFLOW_REVIEW_POSTVERIFY_ENABLED", "false")
    for each in (off, switched):
        each.agents.script(Role.EXECUTOR, reject(FIRST))
    for each in (off, approved, switched):
        document = each.review()
        each.finish()
        assert unsound(document.events) is None
        assert not any(call.advisor == REFUTER for call in each.agents.asked)


def test_the_calls_of_the_refuter_run_side_by_side_and_count() -> None:
    clock = SharedClock()
    world = MockWorld(clock, FakeAdvisorRunner(clock, pace=lambda _call, line: line.taking(60.0)))
    world.rules = replace(world.rules, refuter=True)
    world.threads, world.jobs = clock.threads, 4
    document = played(world)
    assert (document.ended_at - document.started_at).total_seconds() == 240.0
    assert sum(isinstance(each, CallEnded) and each.advisor == REFUTER for each in document.events) == 2
    assert most_at_a_time(2, 1, 0, refuter=True) == 2 * MOST_CHALLENGES
    assert attempts_of([1, 0], blind=False, refuter=True) == attempts_of([1, 0], blind=False) + 6


# --- what publishing refuses ------------------------------------------------------------------------------------------


def test_a_record_cannot_leave_out_or_change_what_the_refuter_said(world: MockWorld) -> None:
    document = played(world, refutes("src/app.py", PROOF), refutes("src/app.py", PROOF))
    (at, told), (other, second) = [(n, each) for n, each in enumerate(document.events) if isinstance(each, Challenged)]
    events = list(document.events)

    def with_one(place: int, event: object) -> str | None:
        return unsound([*events[:place], event, *events[place + 1 :]])  # type: ignore[list-item]

    assert unsound([*events[:at], *events[at + 1 :]]) is not None
    assert with_one(at, replace(told, proven=False)) == "the end of a part does not follow from its events"
    elsewhere = "the refuter answers about another finding, or in another call"
    assert with_one(at, replace(told, finding=second.finding)) == elsewhere
    assert with_one(at, replace(told, number=second.number)) is not None
    first = events[0]
    assert isinstance(first, PolicyFrozen)
    without = replace(first, policy=replace(first.policy, refuter=False))
    assert with_one(0, without) == "a call names an advisor that is not declared"
    assert other > at
