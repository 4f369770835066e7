"""A review by static checks alone: one call, no advisor, and what no rule reads is named and not approved."""

from __future__ import annotations

from dataclasses import replace

import pytest

from review_advisor.change.change import FileChange
from review_advisor.change.kinds import language_of
from review_advisor.change.picture_pairs import PictureDifference
from review_advisor.github.sections import conclusion_of, title_of
from review_advisor.github.writes import Conclusion
from review_advisor.mockworld.agents import Line, approve
from review_advisor.mockworld.world import MockWorld, deleted, edited
from review_advisor.policy.policy import Rules
from review_advisor.policy.surfaces import Role
from review_advisor.review.report import headline
from review_advisor.review.rulings import Outcome


def static(world: MockWorld, *files: FileChange, allow_unchecked: bool = False, fail_on_degraded: bool = False) -> None:
    world.static = True
    world.rules = replace(Rules(), allow_unchecked=allow_unchecked, fail_on_degraded=fail_on_degraded)
    world.change(*files)


@pytest.mark.parametrize("path", ["src/app.py", "auth/login.py"])
def test_one_call_and_no_advisor(world: MockWorld, path: str) -> None:
    static(world, edited(path, 400))
    document = world.review()
    assert world.asked == ["executor"]
    assert all(call.consults is None for call in world.agents.asked)
    assert headline(document) == "NO OBJECTION (static checks, no model)"
    assert title_of(document) == "No objection (static checks, no model)"
    assert (document.outcome, document.exit_code) == (Outcome.APPROVED, 0)


def test_whoever_wants_a_verified_approval_gets_none_of_static_checks(world: MockWorld) -> None:
    static(world, edited("src/app.py"), fail_on_degraded=True)
    assert world.review().exit_code == 11


def test_a_change_of_the_bot_itself_goes_to_a_person(world: MockWorld) -> None:
    static(world, edited(".github/workflows/review.yml", text="key: {n}"), allow_unchecked=True)
    assert world.review().outcome is Outcome.ESCALATED


def test_code_that_no_rule_reads_is_named_and_goes_to_a_person(world: MockWorld) -> None:
    static(world, edited("src/app.py"), edited("cmd/main.go"), edited("src/lib.rs"), edited("data.json"))
    document = world.review()
    assert headline(document) == "ESCALATED TO A HUMAN (static checks, no model; not checked: Go, Rust)"
    assert document.exit_code == 11
    assert document.because == (
        "cmd/main.go was not checked: no rule reads Go",
        "src/lib.rs was not checked: no rule reads Rust",
    )
    assert {file.path: file.read for file in document.coverage} == {
        "src/app.py": "read",
        "cmd/main.go": "unchecked",
        "src/lib.rs": "unchecked",
        "data.json": "read",
    }


def test_where_the_configuration_allows_it_unchecked_code_is_named_and_passes(world: MockWorld) -> None:
    static(world, edited("cmd/main.go"), allow_unchecked=True)
    document = world.review()
    assert headline(document) == "NO OBJECTION (static checks, no model; not checked: Go)"
    assert (document.exit_code, conclusion_of(document)) == (0, Conclusion.SUCCESS)
    assert [file.read for file in document.coverage] == ["waived"]


def test_a_review_by_models_reads_every_language(world: MockWorld) -> None:
    world.change(edited("cmd/main.go"))
    assert headline(world.review()) == "APPROVED"


def test_what_needs_a_model_is_left_out_and_named(world: MockWorld) -> None:
    static(world)
    world.change(edited("docs/adr/0001-x.md"), spec="a wish")
    document = world.review()
    assert [row.surface.value for row in document.policy.surfaces] == ["pr_review"]
    assert headline(document).endswith("(static checks, no model; not checked: the specification, decision records)")
    assert document.exit_code == 0


def test_a_picture_that_differs_is_seen_by_no_rule(world: MockWorld) -> None:
    static(world)
    world.pictures.stated = (
        PictureDifference("a.png", "differs", crops=("a-1.png",)),
        PictureDifference("b.png", "identical"),
    )
    document = world.review()
    assert document.because == ("a.png was not checked: no rule sees a picture",)
    assert document.outcome is Outcome.ESCALATED


def test_a_deleted_file_leaves_no_code_to_check(world: MockWorld) -> None:
    static(world, edited("src/app.py"), deleted("cmd/main.go"))
    assert world.review().exit_code == 0


@pytest.mark.parametrize(
    "path, language",
    [
        ("a.py", "Python"),
        ("deep/down/Main.JAVA", "Java"),
        ("Dockerfile", "Dockerfile"),
        ("ci/Dockerfile.test", "Dockerfile"),
        (".github/workflows/ci.yml", "GitHub Actions"),
        ("values.yml", None),
        (".gitignore", None),
        ("bin/deploy", "files of an unknown kind"),
        ("x.unheard", "*.unheard"),
    ],
)
def test_a_name_that_says_nothing_counts_as_code(path: str, language: str | None) -> None:
    assert language_of(path) == language


def test_a_language_whose_checker_is_installed_counts_as_checked(world: MockWorld) -> None:
    static(world, edited("src/app.py"), edited("run.sh"), edited("cmd/main.go"))
    world.rules = replace(world.rules, static_languages=("Python", "Shell"))
    document = world.review()
    assert headline(document) == "ESCALATED TO A HUMAN (static checks, no model; not checked: Go)"
    assert [file.read for file in document.coverage] == ["read", "read", "unchecked"]


@pytest.mark.parametrize("waived", [False, True])
def test_a_file_that_its_checker_could_not_read_is_named_and_goes_to_a_person(
    world: MockWorld, *, waived: bool
) -> None:
    static(world, edited("src/app.py"), edited("src/b.py"), allow_unchecked=waived)
    gap = {"path": "src/b.py", "why": "line 3 cannot be parsed", "waived": waived}
    world.agents.script(Role.EXECUTOR, Line({**(approve().answer or {}), "unchecked": [gap]}))
    document = world.review()
    assert [file.read for file in document.coverage] == ["read", "waived" if waived else "unchecked"]
    assert headline(document).endswith("(static checks, no model; not checked: Python)")
    if waived:
        assert document.exit_code == 0
    else:
        assert document.because == ("not checked: src/b.py: line 3 cannot be parsed",)
        assert document.exit_code == 11
