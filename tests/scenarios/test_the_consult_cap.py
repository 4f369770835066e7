from dataclasses import replace

import pytest

from review_advisor.agents.answers import Consult
from review_advisor.agents.calls import AgentCall, Answered, ConsultGrant, ConsultReply, Consults, Denied, Granted, Lost
from review_advisor.agents.mid_flight import ConsultNote, unanswered_critical
from review_advisor.change.change import FileChange, Status
from review_advisor.change.redaction import NO_SECRETS, Redactor, redactor
from review_advisor.mockworld.agents import FakeAdvisorRunner, approve, bug, finding, guidance, lost, veto
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.budgets import Budgets
from review_advisor.policy.escalation_rules import EscalationRules
from review_advisor.policy.surfaces import Role
from review_advisor.review.dispatch import Dispatch
from review_advisor.review.events import Consulted, Escalated, Event, PolicyFrozen
from review_advisor.review.ports import Ports
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import left_open, unsound

GRANT = ConsultGrant("advisor", "You advise.", "opus", "<!-- s -->", "n0nce")
CAP = "HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS"


def dispatch(world: MockWorld, own: Redactor = NO_SECRETS) -> Dispatch:
    """The calls of one review of this world, which may consult twice."""
    ports = Ports(world.agents, world.source, world.journal, world.artifacts, world.clock, world.pictures, world.wiki)
    return Dispatch(ports, Budgets(max_usd=1.0, max_consults=2), 1, own)


def questions(n: int) -> tuple[str, ...]:
    return tuple(f"Is value {k} right in src/app.py?" for k in range(n))


def statuses(world: MockWorld) -> list[str]:
    document = world.review()
    return [note.status for surface in document.surfaces for part in surface.parts for note in part.consults]


def test_the_sixth_question_is_denied_and_the_executor_decides_alone_d27(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve().after_asking(*questions(6)))
    document = world.review()
    assert [note.status for note in document.surfaces[0].parts[0].consults] == ["answered"] * 5 + ["denied"]
    assert document.outcome is Outcome.APPROVED
    assert world.consulted == list(questions(6))


def test_failed_consults_are_refunded_three_times_and_no_more(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve().after_asking(*questions(10)))
    world.agents.script(Role.MID_FLIGHT, lost(), lost(), lost(), lost())
    assert statuses(world) == ["failed"] * 4 + ["answered"] * 4 + ["denied"] * 2


def test_the_cap_counts_all_attempts_and_surfaces_together(world: MockWorld) -> None:
    world.change(edited("src/app.py"), spec="a spec")
    world.agents.script(
        Role.EXECUTOR,
        approve().after_asking(*questions(2)),
        approve(finding("src/app.py", 1, "value = 1", "low")).after_asking(*questions(2)),
        approve().after_asking(*questions(2)),
    )
    world.agents.script(Role.POST_VERIFY, veto("a fault"))
    assert statuses(world) == ["answered"] * 5 + ["denied"]


@pytest.mark.parametrize("cap", [1, 2, 7, 20])
def test_the_cap_is_what_the_variable_says(world: MockWorld, cap: int) -> None:
    world.switch(CAP, str(cap))
    world.agents.script(Role.EXECUTOR, approve().after_asking(*questions(cap + 1)))
    assert statuses(world) == ["answered"] * cap + ["denied"]


def test_a_cap_of_nothing_grants_nothing(world: MockWorld) -> None:
    world.switch(CAP, "0")
    world.review()
    (executor,) = world.calls(Role.EXECUTOR)
    assert executor.consults is None
    assert "Agent tool" not in executor.prompt


def test_a_denied_question_about_a_critical_path_calls_a_human(world: MockWorld) -> None:
    world.switch(CAP, "1")
    world.change(edited("src/app.py"), edited("src/auth/login.py", 1))
    world.agents.script(Role.EXECUTOR, approve().after_asking("easy", "Is src/auth/login.py safe?"))
    document = world.review()
    assert (document.outcome, document.exit_code) == (Outcome.ESCALATED, 11)
    assert document.because == (
        "a question about src/auth/login.py stayed unanswered at the consult cap: Is src/auth/login.py safe?",
    )
    assert world.asked == ["pre_flight", "executor"]


def test_a_denied_question_that_names_no_file_might_be_about_the_critical_one(world: MockWorld) -> None:
    world.switch(CAP, "1")
    world.change(edited("src/auth/login.py", 1), edited("e", 1))
    world.agents.script(Role.EXECUTOR, approve().after_asking("easy", "Is the session kept?"))
    assert world.review().outcome is Outcome.ESCALATED


def test_a_denied_question_about_another_file_is_left_to_the_executor(world: MockWorld) -> None:
    world.switch(CAP, "1")
    world.change(edited("src/app.py"), edited("src/auth/login.py", 1))
    world.agents.script(Role.EXECUTOR, approve().after_asking("easy", "Is src/app.py right?"))
    assert world.review().outcome is Outcome.APPROVED


def test_a_record_that_approves_with_a_critical_question_open_is_refused(world: MockWorld) -> None:
    world.switch(CAP, "1")
    world.change(edited("src/app.py"), edited("src/auth/login.py", 1))
    world.agents.script(Role.EXECUTOR, approve().after_asking("easy", "Is src/app.py right?"))
    events = world.review().events
    assert unsound(events) is None
    for question in ("Is src/auth/login.py safe?", "Is the session kept?"):
        forged = [_asking(event, question) for event in events]
        assert unsound(forged) == "a report was judged although the review had to stop and call a person"


def copied(old: str, new: str) -> FileChange:
    return FileChange(Status.COPIED, new, old_path=old)


def test_a_copied_file_does_not_close_a_critical_question(world: MockWorld) -> None:
    world.switch(CAP, "1")
    world.change(edited("src/app.py"), edited("src/auth/login.py", 1), copied("lib/old.py", "lib/new.py"))
    world.agents.script(Role.EXECUTOR, approve().after_asking("easy", "Is lib/old.py right?"))
    document = world.review()
    assert document.outcome is Outcome.APPROVED
    assert unsound(document.events) is None, "the question is about the file that was copied"
    for question in ("Is src/auth/login.py safe?", "Is the session kept?"):
        forged = [_asking(event, question) for event in document.events]
        assert unsound(forged) == "a report was judged although the review had to stop and call a person"


def test_a_repair_does_not_close_a_critical_question(world: MockWorld) -> None:
    """Not even one that takes the critical file out of the change."""
    denied = ConsultNote(Consult(question="Is src/auth/login.py safe, or src/app.py?"), "denied")
    assert unanswered_critical([denied], ("src/auth/login.py",), ["src/app.py"]) is not None
    world.change(edited("src/auth/login.py", 1))
    first = world.review().events[0]
    assert isinstance(first, PolicyFrozen)
    assert left_open(first, first.policy, "a" * 40, [denied]) is not None
    other = ConsultNote(Consult(question="Is lib/new.py right?"), "denied")
    assert left_open(first, first.policy, "a" * 40, [other]) is None, "the repair may have made this file"


def test_a_copy_of_a_critical_file_is_watched_in_its_part(world: MockWorld) -> None:
    """The record names what was copied: publishing comes to the same reasons to consult."""
    world.rules = replace(world.rules, escalation=EscalationRules("attrition"), shard_tokens=180)
    world.change(edited("src/a.py"), edited("src/b.py"), copied("src/auth/login.py", "src/c.py"))
    world.agents.script(Role.EXECUTOR, *(approve().applying("r1") for _ in range(3)))
    document = world.review()
    assert len(document.surfaces[0].parts) > 1
    assert [each.reasons[0].kind.value for each in document.events if isinstance(each, Escalated)] == ["critical_step"]
    assert unsound(document.events) is None


def _asking(event: Event, question: str) -> Event:
    """The event, with another question if it is the consult that the cap refused."""
    if not isinstance(event, Consulted) or event.note.status != "denied":
        return event
    consult = event.note.consult.model_copy(update={"question": question})
    return replace(event, note=replace(event.note, consult=consult))


def test_a_stop_signal_counts_even_in_an_answer_that_is_not_the_asked_object(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve().after_asking("Is it right?"))
    unwrapped = guidance()
    world.agents.script(Role.MID_FLIGHT, unwrapped.__class__({"stop_signal": True}))
    document = world.review()
    (note,) = document.surfaces[0].parts[0].consults
    assert note.guidance is not None
    assert (note.wrapped, note.guidance.stop_signal) == (True, True)
    assert document.outcome is Outcome.ESCALATED


def test_the_advisor_is_asked_without_the_harness_own_secrets(world: MockWorld) -> None:
    consults = dispatch(world, redactor({"DEPLOY_PASSWORD": "correct-horse-battery-7"})).consults(GRANT)
    granted = consults.ask("t1", "Is correct-horse-battery-7 in use?")
    assert isinstance(granted, Granted)
    assert "Is [secret removed] in use?" in granted.prompt


def test_a_call_that_ends_in_a_bug_leaves_no_open_consult(world: MockWorld) -> None:
    """The bug is told, and the consult that it cut off is refunded."""
    world.agents.script(Role.EXECUTOR, approve().after_asking("Is it right?"))
    world.agents.script(Role.MID_FLIGHT, bug())
    kept: list[Consults] = []

    class Keeping(FakeAdvisorRunner):
        def run(self, call: AgentCall, consults: Consults | None = None) -> Answered | Lost:
            if consults is not None:
                kept.append(consults)
            return super().run(call, consults)

    scripted, world.agents = world.agents, Keeping(world.clock)
    world.agents._lines = scripted._lines
    with pytest.raises(KeyError, match="a bug in the harness"):
        world.review()
    (consults,) = kept
    assert isinstance(consults.ask("later", "And now?"), Denied)
    assert [record.status for record in consults.end()] == ["failed"]


def test_the_count_is_one_for_the_executor_and_whoever_else_asks_the_advisor(world: MockWorld) -> None:
    """A question of the harness itself, from a call that has no Agent tool, shares the cap."""
    review = dispatch(world)
    executor, harness = review.consults(GRANT), review.consults(GRANT)
    assert isinstance(executor.ask("t1", "one?"), Granted)
    assert isinstance(harness.ask("t1", "two?"), Granted)
    assert isinstance(executor.ask("t2", "three?"), Denied)
    harness.settle("t1", ConsultReply(False, reason="lost"))
    assert isinstance(executor.ask("t3", "four?"), Granted)
