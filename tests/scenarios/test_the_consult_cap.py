import pytest

from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.policy.surfaces import Role
from review_advisor.mockworld.lines import approve, finding, guidance, lost, veto
from review_advisor.mockworld.world import MockWorld, edited

CAP = "HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS"


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


def test_a_stop_signal_counts_even_in_an_answer_that_is_not_the_asked_object(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve().after_asking("Is it right?"))
    unwrapped = guidance()
    world.agents.script(Role.MID_FLIGHT, unwrapped.__class__({"stop_signal": True}))
    document = world.review()
    (note,) = document.surfaces[0].parts[0].consults
    assert note.guidance is not None
    assert (note.wrapped, note.guidance.stop_signal) == (True, True)
    assert document.outcome is Outcome.ESCALATED
