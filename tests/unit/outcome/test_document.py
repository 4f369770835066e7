import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from review_advisor.agents.calls import total_usage
from review_advisor.change.change import Change, FileChange, Status
from review_advisor.change.shards import shards
from review_advisor.mockworld.agents import approve, confirm, credit_gone, finding, guidance, lost, veto
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.policy import Rules, decide_policy
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.policy.switches import read_switches
from review_advisor.review.document import (
    OutcomeDocument,
    file_facts,
    outcome_document,
    outcome_json,
    outcome_schema,
    read_outcome,
)
from review_advisor.review.events import CallEnded, Ended, Event, PolicyFrozen, ReviewEnded, RoleSkipped
from review_advisor.review.rulings import Outcome
from review_advisor.safety.stop import ModelUsage, Usage

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
CHANGE = Change("pr-7", files=(FileChange(Status.MODIFIED, "a.py"),))


def of(*events: Event, environment: dict[str, str] | None = None, rules: Rules | None = None) -> OutcomeDocument:
    """The document of a review in which only ``events`` happened."""
    policy = decide_policy(CHANGE, rules or Rules(), read_switches(environment or {}))
    parts, unsent = shards(CHANGE, 1000)
    first = PolicyFrozen(
        at=NOON,
        run_id="r",
        label="pr-7",
        title="",
        base_sha=None,
        head_sha=None,
        files=file_facts(CHANGE, parts),
        unsent=unsent,
        cut=(),
        shards=len(parts),
        policy=policy,
    )
    return outcome_document([first, *events, ReviewEnded(at=NOON, outcome=Outcome.APPROVED, because=())])


def call(
    role: Role = Role.EXECUTOR,
    ended: Ended = "answered",
    *,
    attempt: int = 0,
    usage: Usage | None = None,
    by_model: tuple[ModelUsage, ...] = (),
    resolved: str = "sonnet-5",
) -> CallEnded:
    return CallEnded(
        at=NOON,
        surface=Surface.PR_REVIEW,
        attempt=attempt,
        number=1,
        role=role,
        advisor=role.advisor,
        ended=ended,
        requested_model="sonnet",
        resolved_model=resolved,
        usage=usage or Usage(),
        by_model=by_model,
    )


def eventful() -> OutcomeDocument:
    world = MockWorld()
    world.change(edited("src/auth/login.py"), edited("docs/adr/0001-x.md"), spec="wish", prior_fix_attempts=1)
    noted = approve(finding("src/auth/login.py", 1, "value = 1", "low"), finding("zzz.py", 1, "gone", "low"))
    world.agents.script(Role.EXECUTOR, approve().after_asking("why?", "how?"), noted)
    world.agents.script(Role.MID_FLIGHT, guidance(), lost())
    world.agents.script(Role.POST_VERIFY, veto("a fault"), confirm("a concern"), lost())
    return world.review()


def test_a_review_survives_the_way_through_json_d30() -> None:
    document = eventful()
    text = outcome_json(document)
    assert text.endswith("}\n")
    assert read_outcome(text) == document
    assert read_outcome(text.encode()) == document


def test_the_json_is_what_the_documents_own_types_would_write() -> None:
    document = eventful()
    typed = TypeAdapter(OutcomeDocument).dump_json(document, indent=2).decode("utf-8")
    assert outcome_json(document) == f"{typed}\n"


def test_a_stopped_review_survives_it_too() -> None:
    world = MockWorld()
    world.agents.script(Role.EXECUTOR, credit_gone())
    document = world.review()
    assert read_outcome(outcome_json(document)) == document


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"schema_version": 3}'])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        read_outcome(text)


def test_a_document_of_another_version_is_refused() -> None:
    with pytest.raises(ValidationError):
        read_outcome(outcome_json(eventful()).replace('"schema_version": 2', '"schema_version": 1'))


def test_a_document_of_before_base_branch_and_old_paths_were_kept_is_read_and_follows_from_its_events() -> None:
    later = ("base_ref", "old_path", "earlier_path")

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(each) for key, each in value.items() if key not in later}
        return [without(each) for each in value] if isinstance(value, list) else value

    told = json.loads(outcome_json(eventful()))
    assert without(told) != told
    document = read_outcome(json.dumps(without(told)))
    assert document == eventful()
    assert outcome_document(document.events) == document


def test_the_schema_is_exported() -> None:
    schema = outcome_schema()
    assert {"outcome", "flags", "coverage", "policy", "events"} <= set(schema["required"])


@pytest.mark.parametrize("events", [[], ["first"], ["last"]])
def test_a_stream_without_its_ends_is_a_bug(events: list[str]) -> None:
    whole = eventful().events
    cut = {"first": whole[0], "last": whole[-1]}
    with pytest.raises((TypeError, IndexError)):
        outcome_document([cut[name] for name in events])


def test_the_journal_got_every_event_the_document_holds_d30() -> None:
    world = MockWorld()
    assert world.review().events == tuple(world.journal.events)


EXITS = [
    # environment                                      fail_on_degraded  exit code of an approval
    ({}, False, 0),
    ({}, True, 0),
    ({"HYDRAFLOW_REVIEW_ADVISOR_ENABLED": "no"}, False, 0),
    ({"HYDRAFLOW_REVIEW_ADVISOR_ENABLED": "no"}, True, 11),
]


@pytest.mark.parametrize("environment, strict, code", EXITS)
def test_an_unverified_approval_may_be_made_a_humans(environment: dict[str, str], strict: bool, code: int) -> None:
    assert of(environment=environment, rules=Rules(fail_on_degraded=strict)).exit_code == code


def test_an_answer_that_a_repair_ask_brought_is_not_lost() -> None:
    assert of(call(ended="lost"), replace(call(), number=2, asks_again=1)).flags.lost == ()
    lost_again = replace(call(ended="lost"), number=2, asks_again=1)
    assert of(call(ended="lost"), lost_again).flags.lost == ("pr_review/executor",)
    assert of(call(ended="lost"), replace(call(attempt=1), number=2)).flags.lost == ("pr_review/executor",)
    assert of(call(ended="refused")).flags.lost == ("pr_review/executor",)
    assert of(call(ended="stopped")).flags.lost == ()


def test_costs_are_summed_by_role_and_model_d32() -> None:
    one = call(usage=Usage(1, 2, 3, 4, 0.5))
    two = call(attempt=1, usage=Usage(10, 20, 30, 40, None))
    (cost,) = of(one, two).cost
    assert (cost.role, cost.model, cost.calls, cost.unpriced) == (Role.EXECUTOR, "sonnet-5", 2, 1)
    assert cost.usage == Usage(11, 22, 33, 44, 0.5)


def test_a_call_of_two_models_without_a_cost_is_one_call_of_which_it_is_unknown() -> None:
    priced, unpriced = (ModelUsage("sonnet-5", Usage(cost_usd=0.1)), ModelUsage("opus-5", Usage()))
    neither = call(by_model=(ModelUsage("sonnet-5", Usage()), unpriced))
    document = of(neither, call(attempt=1, by_model=(priced, unpriced)), call(attempt=2, by_model=(priced,)))
    assert [(cost.model, cost.calls, cost.unpriced) for cost in document.cost] == [("sonnet-5", 3, 1), ("opus-5", 2, 2)]
    assert document.unpriced == 2
    assert of(call(ended="refused")).unpriced == 0


def test_what_a_subagent_used_is_the_mid_flight_advisors() -> None:
    within = (ModelUsage("sonnet-5", Usage(cost_usd=0.1)), ModelUsage("opus-5", Usage(cost_usd=0.4)))
    costs = of(call(usage=Usage(cost_usd=0.5), by_model=within)).cost
    assert [(cost.role, cost.model, cost.usage.cost_usd) for cost in costs] == [
        (Role.EXECUTOR, "sonnet-5", 0.1),
        (Role.MID_FLIGHT, "opus-5", 0.4),
    ]


def test_a_model_nobody_resolved_is_named_as_it_was_asked_for() -> None:
    assert [cost.model for cost in of(call(resolved="")).cost] == ["sonnet"]


def test_a_refused_call_costs_nothing() -> None:
    assert of(call(ended="refused")).cost == ()


def test_an_unknown_cost_is_unknown_and_not_zero() -> None:
    assert total_usage([]).cost_usd is None
    assert total_usage([Usage(), Usage()]).cost_usd is None
    assert total_usage([Usage(cost_usd=0.0), Usage()]).cost_usd == 0.0


def test_coverage_is_complete_or_named_d3() -> None:
    (covered,) = of().coverage
    assert (covered.path, covered.read, covered.why) == ("a.py", "not", "no report came on its part of the change")


def test_a_specification_that_was_cut_is_named_and_never_approved_d3() -> None:
    world = MockWorld()
    world.change(edited("src/app.py"), spec="x" * 100_001)
    document = world.review()
    assert document.outcome is Outcome.ESCALATED
    assert [(each.path, each.read) for each in document.coverage] == [
        ("src/app.py", "read"),
        ("specification docs/spec.md", "partly"),
    ]


@pytest.mark.parametrize("path", ["run.sh", "bin/deploy", "requirements.txt", "docs/adr/0001-x.md", "lib.so", "a.zip"])
def test_binary_content_that_may_run_or_be_read_is_never_approved_unread(path: str) -> None:
    world = MockWorld()
    world.change(FileChange(Status.ADDED, path, binary=True))
    document = world.review()
    assert document.outcome is Outcome.ESCALATED
    assert document.because == (
        f"{path} was not read: binary content that is not an image, a sound, a font or a document",
    )


@pytest.mark.parametrize("path, mode", [("logo.png", "100644"), ("docs/Manual.PDF", "100644")])
def test_a_picture_may_be_approved_and_is_named_as_not_read(path: str, mode: str) -> None:
    world = MockWorld()
    world.change(FileChange(Status.ADDED, path, new_mode=mode, binary=True))
    document = world.review()
    assert document.outcome is Outcome.APPROVED
    assert [(file.path, file.read, file.why) for file in document.coverage] == [(path, "not", "binary")]


@pytest.mark.parametrize(
    "path, mode", [("logo.png", "100755"), (".github/workflows/a.png", "100644"), (".claude/a.png", "100644")]
)
def test_a_picture_that_may_run_or_lies_where_everything_is_read_is_not(path: str, mode: str) -> None:
    world = MockWorld()
    world.change(FileChange(Status.ADDED, path, new_mode=mode, binary=True))
    assert world.review().outcome is Outcome.ESCALATED


def test_what_a_submodule_brings_is_never_approved_unseen() -> None:
    world = MockWorld()
    bump = FileChange(Status.MODIFIED, "lib", old_mode="160000", new_mode="160000", added=1, removed=1)
    world.change(bump)
    document = world.review()
    assert document.outcome is Outcome.ESCALATED
    assert document.because == ("lib was not read: a submodule: its content is not part of the change",)


def test_what_was_skipped_is_told_with_its_surface() -> None:
    skip = RoleSkipped(at=NOON, surface=Surface.PR_REVIEW, role=Role.PRE_FLIGHT, because=("trivial",))
    assert of(skip).surfaces[0].skipped == (skip,)


def test_a_finding_on_two_surfaces_is_one_finding() -> None:
    world = MockWorld()
    world.change(edited("src/app.py"), spec="wish")
    same = approve(finding("src/app.py", 1, "value = 1", "low"))
    world.agents.script(Role.EXECUTOR, same, same)
    assert len(world.review().findings) == 1


def test_a_document_is_a_reading_of_its_events_alone() -> None:
    document = eventful()
    assert outcome_document(document.events) == document
    assert replace(document, events=()) != document


def test_what_happened_on_a_surface_that_the_policy_does_not_have_is_in_no_record() -> None:
    """No review of ours does that; a chain that somebody hands in may."""
    here, elsewhere = (
        RoleSkipped(at=NOON, surface=each, role=Role.EXECUTOR, because=("so",))
        for each in (Surface.PR_REVIEW, Surface.VISUAL_GATE)
    )
    (record,) = of(here, elsewhere).surfaces
    assert (record.surface, record.skipped) == (Surface.PR_REVIEW, (here,))
