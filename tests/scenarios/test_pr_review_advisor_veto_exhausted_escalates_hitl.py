import pytest
from tests.scenarios.reading import moves, transcript

from review_advisor.mockworld.agents import approve, finding, reject, veto
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role
from review_advisor.review.rulings import Outcome

TIERS = pytest.mark.parametrize(
    "path, lines, judgements",
    [
        pytest.param("src/app.py", 30, 2, id="low blast: 2 judgements"),
        pytest.param("src/app.py", 250, 3, id="medium blast: 3 judgements"),
        pytest.param("src/auth/login.py", 30, 4, id="high blast: 4 judgements"),
    ],
)


def never_convinced(world: MockWorld, path: str, judgements: int) -> None:
    """Each attempt finds something new, and each time the advisor finds something else."""
    for n in range(1, judgements + 1):
        found = finding(path, n, f"value = {n}", severity="low", title=f"remark {n}")
        world.agents.script(Role.EXECUTOR, approve(found))
        world.agents.script(Role.POST_VERIFY, veto(f"fault {n} was missed"))


@TIERS
def test_a_veto_that_stands_goes_to_a_human(world: MockWorld, path: str, lines: int, judgements: int) -> None:
    world.change(edited(path, lines))
    never_convinced(world, path, judgements)
    document = world.review()
    assert (document.outcome, document.exit_code) == (Outcome.ESCALATED, 11)
    assert document.flags.exhausted
    assert not document.flags.recovered
    assert len(world.calls(Role.POST_VERIFY)) == judgements
    assert len(world.calls(Role.EXECUTOR)) == judgements
    assert moves(document) == ["retry"] * (judgements - 1) + ["escalate"]
    assert document.because == (f"vetoed after {judgements - 1} of {judgements - 1} retries",)


@TIERS
def test_the_human_gets_every_disagreement(world: MockWorld, path: str, lines: int, judgements: int) -> None:
    world.change(edited(path, lines))
    never_convinced(world, path, judgements)
    document = world.review()
    (part,) = document.surfaces[0].parts
    said = [d.advisor_assessment for attempt in part.post_verify for _, d in attempt.disagreements]
    assert said == [f"fault {n} was missed" for n in range(1, judgements + 1)]
    assert part.ended is not None
    assert part.ended.exhausted


def test_each_retry_hands_back_all_attempts_before_it(world: MockWorld) -> None:
    world.change(edited("src/auth/login.py"))
    never_convinced(world, "src/auth/login.py", 4)
    world.review()
    handed = [
        [a["reasoning"] and a["disagreements"][0]["id"] for a in transcript(c)] for c in world.calls(Role.EXECUTOR)[1:]
    ]
    assert handed == [["d0.1"], ["d0.1", "d1.1"], ["d0.1", "d1.1", "d2.1"]]


def test_an_escalation_stays_an_escalation_d10(world: MockWorld) -> None:
    """The executor's last report is a rejection that the advisor calls wrong: the human's route is not overwritten."""
    world.agents.script(Role.EXECUTOR, approve(), reject(finding("src/app.py", 1, "value = 1")))
    world.agents.script(Role.POST_VERIFY, veto("a miss"), veto("that is no fault"))
    document = world.review()
    assert document.outcome is Outcome.ESCALATED
    assert moves(document) == ["retry", "escalate"]


def test_the_budget_is_fixed_before_the_first_call_d20(world: MockWorld) -> None:
    world.change(edited("src/app.py", 200))
    never_convinced(world, "src/app.py", 2)
    document = world.review()
    assert document.policy.surfaces[0].retry_budget == 1
    assert len(world.calls(Role.POST_VERIFY)) == 2


def test_under_the_guard_the_budget_is_that_of_its_authority_and_blast_radius_d20(world: MockWorld) -> None:
    """The guard decides before the budget is computed: three retries, although hardly a line changed."""
    path = "src/review_advisor.py"
    world.change(edited(path, 5))
    notes = [finding(path, n, f"value = {n}", severity="low", title=f"note {n}") for n in range(1, 5)]
    world.agents.script(Role.EXECUTOR, *(approve(note) for note in notes))
    world.agents.script(Role.POST_VERIFY, *(veto(f"objection {n}") for n in range(4)))
    document = world.review()
    (row,) = document.policy.surfaces
    assert (row.authority, document.policy.blast.radius, row.retry_budget) == ("veto", "high", 3)
    assert moves(document) == ["retry", "retry", "retry", "escalate"]


def test_a_change_to_the_bot_that_its_one_judge_confirms_is_approved_d22(world: MockWorld) -> None:
    """No second model is needed: the verdict on it is a model's, never a rule's."""
    world.change(edited("src/review_advisor.py", 1))
    document = world.review()
    assert document.policy.guard.holds
    assert world.asked == ["pre_flight", "executor", "post_verify"]
    assert document.outcome is Outcome.APPROVED
