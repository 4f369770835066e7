"""Which rules of the team's own apply to which file, in which order, and what of them is sent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.change.guidelines import (
    LONGEST_GUIDELINE,
    MOST_GUIDELINES,
    BaseText,
    ConfiguredGuideline,
    FoundGuidelines,
    Guideline,
    GuidelineFact,
    GuidelineRules,
    cited,
    found_guidelines,
    looked_for,
)

API = "src/api/users.py"
PARTS = st.lists(st.sampled_from(["src", "api", "[x]", "a b", "web!"]), max_size=3)
PATHS = st.lists(PARTS.map(lambda parts: "/".join([*parts, "x.py"])), min_size=1, max_size=4)


def found(texts: dict[str, str], *paths: str, rules: GuidelineRules | None = None) -> FoundGuidelines:
    at_base = {path: BaseText(text) for path, text in texts.items()}
    return found_guidelines(rules or GuidelineRules(), paths, at_base, ".review-advisor.toml")


def names(these: FoundGuidelines) -> list[str]:
    return [each.name for each in these.applied]


def test_rules_are_looked_for_in_every_folder_above_a_changed_file() -> None:
    assert looked_for(GuidelineRules(), [API]) == ("src/api/REVIEW.md", "src/REVIEW.md", "REVIEW.md")


def test_a_file_with_a_folder_in_its_name_is_looked_for_at_the_root_alone() -> None:
    rules = GuidelineRules((".github/copilot-instructions.md",))
    assert looked_for(rules, [API]) == (".github/copilot-instructions.md",)


def test_the_nearest_folders_rules_come_first() -> None:
    texts = {"REVIEW.md": "root", "src/REVIEW.md": "middle", "src/api/REVIEW.md": "near", "web/REVIEW.md": "other"}
    assert names(found(texts, API)) == ["src/api/REVIEW.md", "src/REVIEW.md", "REVIEW.md"]


def test_a_file_in_a_folder_of_its_own_is_about_the_root_all_the_same() -> None:
    rules = GuidelineRules((".github/copilot-instructions.md", "REVIEW.md"))
    texts = {".github/copilot-instructions.md": "root", "src/REVIEW.md": "middle", "REVIEW.md": "root"}
    assert names(found(texts, API, rules=rules)) == ["src/REVIEW.md", ".github/copilot-instructions.md", "REVIEW.md"]


def test_rules_that_the_configuration_gives_by_globs_come_before_any_file() -> None:
    configured = (
        ConfiguredGuideline(("src/**/*.py",), text="no bare except"),
        ConfiguredGuideline(("*.md",), text="British English"),
        ConfiguredGuideline(("users.py",), file="docs/users.md"),
    )
    texts = {"REVIEW.md": "root", "docs/users.md": "users"}
    these = found(texts, API, rules=GuidelineRules(configured=configured))
    assert names(these) == ["guidelines[1]", "docs/users.md", "REVIEW.md"]
    assert [each.file for each in these.applied] == [".review-advisor.toml", "docs/users.md", "REVIEW.md"]


def test_a_document_that_is_named_twice_applies_once() -> None:
    configured = (ConfiguredGuideline(("*.py",), file="REVIEW.md"),)
    assert names(found({"REVIEW.md": "root"}, API, rules=GuidelineRules(configured=configured))) == ["REVIEW.md"]


def test_a_configured_file_that_is_not_there_is_a_problem_and_any_other_is_not() -> None:
    configured = (ConfiguredGuideline(("*.py",), file="docs/gone.md"),)
    these = found({}, API, rules=GuidelineRules(configured=configured))
    assert these.facts == (GuidelineFact("docs/gone.md", "docs/gone.md", problem="it does not exist at the base"),)


def test_a_symbolic_link_is_named_and_not_followed() -> None:
    these = found_guidelines(GuidelineRules(), [API], {"REVIEW.md": BaseText(problem="it is a symbolic link")}, None)
    assert these.applied == ()
    assert these.problems == (GuidelineFact("REVIEW.md", "REVIEW.md", problem="it is a symbolic link"),)


def test_an_empty_document_is_none() -> None:
    assert found({"REVIEW.md": " \n"}, API).facts == ()


def test_a_document_is_cut_at_its_bound_and_says_so() -> None:
    (one,) = found({"REVIEW.md": "x" * (LONGEST_GUIDELINE + 3)}, API).applied
    assert (len(one.text), one.cut) == (LONGEST_GUIDELINE, 3)


def test_what_does_not_fit_into_a_call_is_left_out_from_the_far_end() -> None:
    many = {
        f"{'a/' * depth}REVIEW.md": "x" * LONGEST_GUIDELINE for depth in range(MOST_GUIDELINES // LONGEST_GUIDELINE + 1)
    }
    sent, left = found(many, "a/a/a/a/x.py").for_files(["a/a/a/a/x.py"])
    assert sum(len(each.text) for each in sent) <= MOST_GUIDELINES
    assert [each.name for each in left] == ["REVIEW.md"]


@given(PATHS, PATHS)
def test_rules_hold_for_exactly_the_files_below_their_folder(ruled: list[str], changed: list[str]) -> None:
    texts = {path.replace("x.py", "REVIEW.md"): "a rule" for path in ruled}
    these = found(texts, *changed)
    for path in changed:
        sent, _ = these.for_files([path])
        above = [name for name in texts if path.startswith(name.removesuffix("REVIEW.md"))]
        assert sorted(each.name for each in sent) == sorted(above)
        assert [each.name.count("/") for each in sent] == sorted((n.count("/") for n in above), reverse=True)


GIVEN = (Guideline("REVIEW.md", "REVIEW.md", ("*",), "one\ntwo\nthree"), GuidelineFact("a:b.md", "a:b.md", lines=2))


@pytest.mark.parametrize(
    "citation, means",
    [
        ("REVIEW.md", ("REVIEW.md", 0, 0)),
        ("REVIEW.md:2", ("REVIEW.md", 2, 2)),
        ("REVIEW.md:1-3", ("REVIEW.md", 1, 3)),
        ("REVIEW.md#L2-L3", ("REVIEW.md", 2, 3)),
        ("a:b.md:2", ("a:b.md", 2, 2)),
    ],
)
def test_a_citation_names_a_document_and_its_lines(citation: str, means: tuple[str, int, int]) -> None:
    assert cited(citation, GIVEN) == means


@pytest.mark.parametrize(
    "citation",
    ["", "AGENTS.md", "AGENTS.md:1", "REVIEW.md:0", "REVIEW.md:4", "REVIEW.md:3-2", "REVIEW.md:2-9", "REVIEW.md:x",
     "review.md:1", "REVIEW.md:1 and more", "x/REVIEW.md", "REVIEW.md:9999999999999"],
)  # fmt: skip
def test_a_citation_of_what_was_not_given_is_none(citation: str) -> None:
    assert cited(citation, GIVEN) is None
