"""What a change says of itself where its source states nothing."""

from __future__ import annotations

from dataclasses import replace

from review_advisor.change.change import SUBMODULE_MODE, SYMLINK_MODE, Change, FileChange, Status
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.risk import guard
from review_advisor.policy.surfaces import Role


def test_a_link_or_a_submodule_on_either_side_is_one() -> None:
    for mode, kind in ((SYMLINK_MODE, (True, False)), (SUBMODULE_MODE, (False, True))):
        for file in (FileChange(Status.ADDED, "a", new_mode=mode), FileChange(Status.DELETED, "a", old_mode=mode)):
            assert (file.is_symlink, file.is_submodule) == kind


def test_an_ordinary_repositorys_build_files_are_not_the_bots() -> None:
    change = Change("x", files=tuple(FileChange(Status.MODIFIED, path) for path in ("Makefile", "pyproject.toml")))
    assert (guard(change, ()).paths, change.own_repository, change.config_in_pyproject) == ((), False, False)
    assert guard(replace(change, config_in_pyproject=True), ()).paths == ("pyproject.toml",)
    assert guard(replace(change, own_repository=True), ()).paths == ("Makefile", "pyproject.toml")


def test_a_change_that_states_no_earlier_attempts_has_had_none() -> None:
    change = Change("x", files=(edited("src/app.py", 3),))
    world = MockWorld()
    world.source.stated = change
    assert not [each for each in because_of_pre_flight(world) if "prior fix attempts" in each]
    world.source.stated = replace(change, prior_fix_attempts=1)
    assert "prior fix attempts: 1" in because_of_pre_flight(world)


def because_of_pre_flight(world: MockWorld) -> tuple[str, ...]:
    first = world.review().policy.surfaces[0]
    return tuple(first.roles[Role.PRE_FLIGHT].because)
