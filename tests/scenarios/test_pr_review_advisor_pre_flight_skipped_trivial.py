import pytest
from tests.scenarios.reading import is_shown

from review_advisor.change.change import FileChange
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.review.rulings import Outcome

TRIVIAL = [
    pytest.param((edited("src/app.py", 20),), id="twenty lines of code"),
    pytest.param((edited("docs/guide.md", 500),), id="documentation only"),
    pytest.param((edited("tests/test_app.py", 500),), id="tests only"),
    pytest.param((edited("package-lock.json", 5000),), id="a lock file"),
    pytest.param((edited("src/app.py", 10), edited("tests/test_app.py", 300)), id="ten lines of code and many tests"),
]


@pytest.mark.parametrize("files", TRIVIAL)
def test_a_trivial_change_is_reviewed_without_a_plan(world: MockWorld, files: tuple[FileChange, ...]) -> None:
    world.change(*files)
    document = world.review()
    assert world.asked == ["executor", "post_verify"]
    assert document.outcome is Outcome.APPROVED
    assert not any(is_shown(call, "PLAN") for call in world.agents.asked)
    assert world.artifacts.files == {}


def test_no_plan_by_choice_is_not_a_switch_and_not_a_loss(world: MockWorld) -> None:
    world.change(edited("src/app.py", 3))
    document = world.review()
    (skip,) = document.surfaces[0].skipped
    assert skip.disabled_by is None
    assert skip.because == ("3 changed lines of code, no critical path, no prior attempt",)
    assert document.flags.advisor_disabled == ()
    assert document.flags.lost == ()
    assert not document.flags.degraded


def test_many_test_lines_do_not_raise_the_blast_radius_d18(world: MockWorld) -> None:
    world.change(edited("src/app.py", 1), edited("tests/test_app.py", 300))
    assert world.review().policy.blast.radius == "low"


@pytest.mark.parametrize(
    "path", ["services/billing/invoice.rb", "web/login/form.tsx", "Dockerfile", "db/migrations/7.sql"]
)
def test_a_critical_path_is_planned_in_any_repositorys_layout_d19(world: MockWorld, path: str) -> None:
    world.change(edited(path, 1))
    document = world.review()
    assert world.asked == ["pre_flight", "executor", "post_verify"]
    assert document.policy.blast.radius == "high"
