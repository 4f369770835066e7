"""Several advisors judge: each finds by itself first, then votes; the votes come to one ruling."""

from dataclasses import replace

import pytest
from tests.unit.forge_text.stories import remembers

from review_advisor.agents.answers import MemberVote
from review_advisor.agents.calls import LostReason
from review_advisor.github.comment_text import summary_body
from review_advisor.github.sections import title_of
from review_advisor.mockworld.agents import Line, approve, finding, lost, reject, vote
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.roster import ADR_ADVISOR, DEFAULT_ROSTER, Advisor, Roster
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument, council_records, outcome_json, read_outcome
from review_advisor.review.events import CallEnded, CallStarted, MemberReviewed, PolicyFrozen, Verified, Voted
from review_advisor.review.report import headline, report_text
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound

SECURITY = Advisor("security", "You look for holes.", on="finish", scopes=("authentication", "secrets"))
TESTER = Advisor("tester", "You ask what is not tested.", on="finish", weight=2.0)
COUNCIL = Roster((ADR_ADVISOR, SECURITY, TESTER))
NAMES = (ADR_ADVISOR.id, "security", "tester")


@pytest.fixture
def world() -> MockWorld:
    found = MockWorld()
    found.rules = replace(found.rules, roster=COUNCIL)
    return found


def votes(world: MockWorld, *lines: Line) -> None:
    for name, line in zip(NAMES, lines, strict=True):
        world.agents.script(Role.POST_VERIFY, line, advisor=name)


def played(world: MockWorld) -> OutcomeDocument:
    document = world.review()
    world.finish()
    assert unsound(document.events) is None
    return document


def test_a_council_that_agrees_approves(world: MockWorld) -> None:
    document = played(world)
    assert document.outcome is Outcome.APPROVED
    assert not document.flags.degraded
    told = [type(event).__name__ for event in document.events if isinstance(event, MemberReviewed | Voted | Verified)]
    assert told == ["MemberReviewed", "Voted"] * 3 + ["Verified"]
    assert [record.counted.winner for record in council_records(document.events)] == ["approve"]


def test_members_find_by_themselves_before_they_see_the_report(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve(summary="the words of the executor"))
    world.agents.script(Role.EXECUTOR, approve(summary="the words of security"), advisor="security")
    played(world)
    first, then = [call for call in world.agents.asked if call.advisor == "security"]
    assert "the words of the executor" not in first.prompt
    assert "You look for holes." in first.prompt
    assert "Look first at: authentication; secrets." in first.prompt
    assert "value = 30" in first.prompt
    assert "the words of the executor" in then.prompt
    assert "the words of security" in then.prompt
    assert issubclass(then.answer, MemberVote)


def test_a_veto_of_the_council_hands_back_the_words_of_those_who_carry_it(world: MockWorld) -> None:
    votes(world, vote(60, 30), vote(0, 95, 20, why="it leaks"), vote(10, 90, 0, why="no test"))
    world.agents.script(Role.EXECUTOR, approve(), reject(finding("src/app.py", 3, "value = 3")))
    document = played(world)
    retried = world.calls(Role.EXECUTOR)[1].prompt
    assert "security: it leaks" in retried
    assert "tester: no test" in retried
    assert document.outcome is Outcome.CHANGES_REQUESTED
    assert [event.advisor for event in document.events if isinstance(event, MemberReviewed)] == [
        "post_verify",
        "security",
        "tester",
    ]


def test_a_split_council_calls_a_person(world: MockWorld) -> None:
    votes(world, vote(95), vote(40, 39, 0), vote(90))
    document = played(world)
    assert document.outcome is Outcome.ESCALATED
    assert "the council is split over the approval" in document.because[0]


def test_a_member_with_the_veto_right_blocks(world: MockWorld) -> None:
    votes(world, vote(10, 10, 85), vote(100), vote(100))
    world.agents.script(Role.EXECUTOR, approve(), reject(finding("src/app.py", 3, "value = 3")))
    assert played(world).outcome is Outcome.CHANGES_REQUESTED


@pytest.mark.parametrize(
    "reason, outcome, degraded",
    [
        (LostReason.SERVER_ERROR, Outcome.APPROVED, True),
        (LostReason.MODEL_REFUSED, Outcome.ESCALATED, True),
    ],
)
@pytest.mark.parametrize("as_what", [Role.EXECUTOR, Role.POST_VERIFY])
def test_a_missing_member_is_told_by_its_name(
    world: MockWorld, reason: LostReason, outcome: Outcome, degraded: bool, as_what: Role
) -> None:
    world.agents.script(as_what, lost(reason), advisor="security")
    document = played(world)
    assert (document.outcome, document.flags.degraded) == (outcome, degraded)
    assert any("pr_review/post_verify/security" in each for each in document.flags.lost)
    (record,) = council_records(document.events)
    assert record.counted.missing == ("security",)
    assert record.why_missing == (("security", f"lost: {reason.value}"),)


def test_a_degraded_approval_names_the_members_that_did_not_verify_it(world: MockWorld) -> None:
    members = tuple(replace(TESTER, id=f"dataSteward{number}") for number in range(3))
    world.rules = replace(world.rules, roster=Roster((ADR_ADVISOR, SECURITY, *members)))
    for lacking, words in ((1, "dataSteward0"), (3, "dataSteward0, dataSteward1 and 1 more")):
        for member in members[:lacking]:
            world.agents.script(Role.EXECUTOR, lost(LostReason.SERVER_ERROR), advisor=member.id)
        document = played(world)
        assert document.flags.degraded
        assert f"DEGRADED: not verified by {words}" in headline(document)
        assert f"degraded: not verified by {words}" in title_of(document)


def test_a_council_of_which_nobody_answers_calls_a_person(world: MockWorld) -> None:
    for name in NAMES:
        world.agents.script(Role.EXECUTOR, lost(LostReason.SERVER_ERROR), advisor=name)
    document = played(world)
    assert document.outcome is Outcome.ESCALATED
    assert document.because == ("no member of the council answered",)


@pytest.mark.parametrize("jobs", [2, 4])
def test_members_and_parts_side_by_side_tell_one_stream(world: MockWorld, jobs: int) -> None:
    world.change(*(edited(f"src/app{n}.py", 400) for n in range(3)))
    world.rules = replace(world.rules, shard_tokens=4_000)
    alone = MockWorld()
    alone.rules, alone.source.stated = world.rules, world.source.stated
    world.jobs = jobs
    one, other = played(world), played(alone)
    assert one.outcome is other.outcome

    def stream(document: OutcomeDocument) -> list[object]:
        return [(each.kind, getattr(each, "number", 0), getattr(each, "advisor", "")) for each in document.events]

    assert stream(one) == stream(other)


def test_a_panel_of_one_is_asked_as_ever() -> None:
    world, plain = MockWorld(), MockWorld()
    world.rules = replace(world.rules, roster=DEFAULT_ROSTER)
    for each in (world, plain):
        each.review()
    assert world.agents.asked == plain.agents.asked
    assert not any(isinstance(each, Voted | MemberReviewed) for each in world.journal.events)


def test_the_model_and_the_own_fields_of_a_member_are_asked_for_d39(world: MockWorld) -> None:
    own = '{"type": "object", "properties": {"risk_score": {"type": "number"}}, "required": ["risk_score"]}'
    world.rules = replace(world.rules, roster=Roster((ADR_ADVISOR, replace(SECURITY, model="haiku", answer=own))))
    line = vote(90)
    said = {**(line.answer or {}), "own": {"risk_score": -5}}
    world.agents.script(Role.POST_VERIFY, replace(line, answer=said), advisor="security")
    document = played(world)
    call = [each for each in world.agents.asked if each.advisor == "security"][1]
    schema = call.answer.model_json_schema()
    assert next(iter(schema["properties"])) == "own"
    assert {"own", "calls", "verdict"} <= set(schema["required"])
    assert schema["properties"]["own"]["required"] == ["risk_score"]
    assert [event.vote.own for event in document.events if isinstance(event, Voted)] == ["", '{"risk_score": -5.0}']
    assert {e.requested_model for e in document.events if isinstance(e, CallEnded) and e.advisor == "security"} == {
        "haiku"
    }


# --- what publishing refuses ------------------------------------------------------------------------------------------


def forged(document: OutcomeDocument, **changes: object) -> str | None:
    """Why the events are refused once the last vote of the member says something else."""
    events = list(document.events)
    at = max(place for place, event in enumerate(events) if isinstance(event, Voted))
    events[at] = replace(events[at], **changes)  # type: ignore[arg-type]
    return unsound(events)


def test_votes_that_do_not_give_the_ruling_are_refused(world: MockWorld) -> None:
    document = played(world)
    weak = MemberVote.model_validate(vote(0, 0, 100, "a hole").answer)
    assert forged(document, vote=weak) == "the judgement of a council does not follow from its votes"
    split = MemberVote.model_validate({**(vote(41).answer or {}), "verdict": "APPROVE"})
    judged = next(each for each in document.events if isinstance(each, Verified)).judged.result
    assert judged.verdict == "APPROVE"
    assert forged(document, vote=split) == "a ruling does not follow from the answer of the judge"


def test_a_vote_of_somebody_else_or_of_another_call_is_refused(world: MockWorld) -> None:
    document = played(world)
    assert forged(document, advisor="security") == "an answer names a call that did not give it"
    number = [each.number for each in document.events if isinstance(each, MemberReviewed)][-1]
    assert forged(document, number=number) == "what a member of the council says is read from another call"


def test_members_that_stand_for_one_another_are_refused(world: MockWorld) -> None:
    names = {"security": "tester", "tester": "security"}
    events = [
        replace(each, advisor=names.get(each.advisor, each.advisor))
        if isinstance(each, CallStarted | CallEnded | MemberReviewed | Voted)
        else each
        for each in played(world).events
    ]
    assert unsound(events) == "a call is of another role or advisor than the one whose turn it is"


def test_a_member_that_is_left_out_is_missed(world: MockWorld) -> None:
    document = played(world)
    without = [each for each in document.events if getattr(each, "advisor", "") != "tester"]
    assert unsound(without) is not None


@pytest.mark.parametrize(
    "panel, why",
    [
        ((SECURITY, TESTER), "the council lacks the advisor of ADR-0059"),
        ((), "the council lacks the advisor of ADR-0059"),
        ((ADR_ADVISOR, SECURITY, replace(SECURITY, weight=50.0)), "a member of the council has the name of another"),
    ],
)
def test_a_council_that_nobody_may_declare_is_refused(world: MockWorld, panel: tuple[Advisor, ...], why: str) -> None:
    document = played(world)
    first = document.events[0]
    assert isinstance(first, PolicyFrozen)
    forged = replace(first, policy=replace(first.policy, roster=Roster(panel)))
    assert unsound([forged, *document.events[1:]]) == why


def test_the_judgement_of_a_council_belongs_to_no_call(world: MockWorld) -> None:
    document = played(world)
    events = [replace(each, number=1) if isinstance(each, Verified) else each for each in document.events]
    assert unsound(events) == "the judgement of a council names a call"


# --- what is shown ----------------------------------------------------------------------------------------------------


def test_report_and_comment_show_who_voted_how_who_dissents_and_who_is_missing(world: MockWorld) -> None:
    votes(world, vote(90, 5, 5), vote(40, 60, 0, why="a hole"), lost(LostReason.SERVER_ERROR))
    document = played(world)
    said = [
        "request_changes has the highest mean (approve 32, request_changes 66, block 51; spread 55).",
        "Dissent: hydraflow-review-advisor.",
        "Blind spot: tester did not judge (lost: server_error).",
    ]
    report = " ".join(report_text(document).split())
    row = "tester - - - weight 2; lost: server_error"
    assert all(words in report for words in (*said, row, "hydraflow-review-advisor 90 5 5 veto right"))
    summary = summary_body(document, PublicationRules(), remembers(document))
    assert "How the council voted" in summary
    assert "| `security` | 40 | 60 | 0 |" in summary
    assert "Blind spot: tester" in summary


@pytest.mark.parametrize("members", [(ADR_ADVISOR,), (ADR_ADVISOR, SECURITY)])
def test_a_label_that_would_outvote_the_declared_members_is_told_and_changes_nothing(
    world: MockWorld, members: tuple[Advisor, ...]
) -> None:
    obedient = replace(TESTER, weight=100.0, by_label=True)
    world.rules = replace(world.rules, roster=Roster((*members, obedient)))
    for member in members:
        world.agents.script(Role.POST_VERIFY, vote(30, 50, why="it leaks"), advisor=member.id)
    world.agents.script(Role.POST_VERIFY, vote(60), advisor="tester")
    world.agents.script(Role.EXECUTOR, approve(), reject(finding("src/app.py", 3, "value = 3")))
    document = played(world)
    assert document.outcome is Outcome.CHANGES_REQUESTED
    assert unsound(read_outcome(outcome_json(document)).events) is None
    first = " ".join(report_text(document).split())
    without = "request_changes has the highest mean (approve 30, request_changes 50, block 0; spread 0)."
    assert f"Without tester, added by a label: {without} The severer of the two rulings holds." in first
    assert "Without tester" in summary_body(document, PublicationRules(), remembers(document))


def test_where_one_advisor_judges_nothing_is_said_of_a_council() -> None:
    document = MockWorld().review()
    assert "ouncil" not in report_text(document)
    assert "ouncil" not in summary_body(document, PublicationRules(), remembers(document))


LIMITED = lost(LostReason.RATE_LIMITED)


@pytest.mark.parametrize("others", [(vote(90), vote(90)), (vote(0, 95, 20, why="it leaks"), vote(90))])
def test_an_approval_escalates_without_a_retry_where_a_rate_limit_took_a_member(
    world: MockWorld, others: tuple[Line, Line]
) -> None:
    votes(world, LIMITED, *others)
    document = played(world)
    assert (document.outcome, document.flags.degraded) == (Outcome.ESCALATED, True)
    assert len(world.calls(Role.EXECUTOR)) == 1
    assert "lost to a rate limit" in document.because[0]


def test_a_rejection_is_judged_by_the_members_that_no_rate_limit_took(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, reject(finding("src/app.py", 3, "value = 3")))
    votes(world, LIMITED, vote(0, 95, 20, why="it leaks"), vote(10, 90, 0, why="no test"))
    document = played(world)
    assert (document.outcome, document.flags.degraded) == (Outcome.CHANGES_REQUESTED, True)
