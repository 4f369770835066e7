"""What a change says of itself where its source states nothing."""

from __future__ import annotations

from dataclasses import replace

from review_advisor.change.change import SUBMODULE_MODE, SYMLINK_MODE, Change, FileChange, Status
from review_advisor.change.pull_request import StandingRemark
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.risk import guard
from review_advisor.policy.surfaces import Role


def test_what_a_source_does_not_state_is_not_claimed() -> None:
    change = Change("x")
    assert (change.own_repository, change.config_in_pyproject) == (False, False)
    assert (change.title, change.body, change.author, change.files, change.missing) == ("", "", "", (), ())
    assert (change.prior_fix_attempts, change.missing_files) == (0, 0)
    stated = (change.base_ref, change.base_sha, change.head_sha, change.tree, change.repository, change.pull_request)
    assert {*stated, change.rules_ref, change.rules_sha, change.earlier, change.spec} == {None}


def test_a_file_is_a_text_of_ordinary_mode_unless_its_source_says_more() -> None:
    file = FileChange(Status.MODIFIED, "src/app.py")
    assert (file.old_mode, file.new_mode, file.binary, file.changed_lines) == ("100644", "100644", False, 0)
    assert (file.generated, file.vendored, file.documentation) == (None, None, None)
    assert (file.is_symlink, file.is_submodule) == (False, False)


def test_a_link_or_a_submodule_on_either_side_is_one() -> None:
    for mode, kind in ((SYMLINK_MODE, (True, False)), (SUBMODULE_MODE, (False, True))):
        for file in (FileChange(Status.ADDED, "a", new_mode=mode), FileChange(Status.DELETED, "a", old_mode=mode)):
            assert (file.is_symlink, file.is_submodule) == kind


def test_the_reactions_to_a_remark_count_as_read_unless_more_are_there() -> None:
    remark = StandingRemark("bot", "text", "", "a.py", "", 0, 0, removed=False, resolved=False, resolved_by="")
    assert (remark.reactions, remark.uncounted) == ((), False)


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
