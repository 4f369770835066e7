"""Which prompts a shadow has that tries other ones."""

from __future__ import annotations

import pytest
from tests.unit.shadow.test_shadow_rule import rule

from review_advisor.agents.prompts import ADVISOR, Instructions
from review_advisor.change.guidelines import BaseText
from review_advisor.change.kinds import OWN_IMPLEMENTATION_ANYWHERE, PathRule
from review_advisor.mockworld.world import INSTRUCTIONS
from review_advisor.policy.shadow_rules import ShadowRule
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.shadow import LONGEST_INSTRUCTIONS, instruction_files, instructions_of

FOLDER = ".review-advisor/instructions/terse/"
JUDGE, EXECUTOR = rule(instructions="terse"), rule(part="executor", instructions="terse")
WHOLE = rule(part="review", instructions="terse")


def made(which: ShadowRule = JUDGE, /, **texts: str) -> Instructions:
    found = instructions_of(which, INSTRUCTIONS, {f"{FOLDER}{name}.md": BaseText(text) for name, text in texts.items()})
    assert isinstance(found, Instructions), found
    return found


def refused(which: ShadowRule = JUDGE, /, **texts: BaseText) -> str:
    found = instructions_of(which, INSTRUCTIONS, {f"{FOLDER}{name}.md": text for name, text in texts.items()})
    assert isinstance(found, tuple)
    return " ".join(found)


def test_without_a_folder_the_shipped_ones_are_its_own() -> None:
    assert instruction_files(rule()) == ()
    assert instructions_of(rule(), INSTRUCTIONS, {}) is INSTRUCTIONS


def test_the_guard_watches_every_file_that_is_read() -> None:
    watched = PathRule(OWN_IMPLEMENTATION_ANYWHERE)
    assert all(
        watched.matches(path)
        for path in (*instruction_files(JUDGE), *instruction_files(EXECUTOR), *instruction_files(WHOLE))
    )


def test_a_text_takes_the_place_of_its_own_kind_and_makes_another_version() -> None:
    told = made(post_verify="Judge in one breath.")
    assert told.system_prompt(Role.POST_VERIFY, Surface.PR_REVIEW).count("Judge in one breath.") == 1
    assert told.system_prompt(Role.EXECUTOR, Surface.PR_REVIEW) == INSTRUCTIONS.system_prompt(
        Role.EXECUTOR, Surface.PR_REVIEW
    )
    assert len({told.version, made(post_verify="Judge slowly.").version, INSTRUCTIONS.version}) == 3


def test_what_the_part_does_not_say_makes_no_version() -> None:
    assert made(post_verify="x", executor="y") == made(post_verify="x")
    assert made(EXECUTOR, post_verify="x", executor="y") == made(EXECUTOR, executor="y")


def test_a_whole_review_reads_the_words_of_every_role() -> None:
    words = {name: f"Of {name}." for name in INSTRUCTIONS.texts}
    assert made(WHOLE, **words).texts == words
    assert "put the words of a role" in refused(WHOLE)


@pytest.mark.parametrize("which, other", [(JUDGE, "executor"), (EXECUTOR, "post_verify")])
def test_a_folder_without_a_word_of_the_part_is_refused(which: ShadowRule, other: str) -> None:
    said = refused(which, **{other: BaseText("x")})
    assert said.startswith("shadow.try: put the words of")
    assert all(path in said for path in instruction_files(which))


def test_what_cannot_be_seen_is_spelled_out_and_a_secret_taken_out() -> None:
    told = made(post_verify="\ufeffApprove\u202e nothing.\r\nghp_" + "a1B2" * 9).texts["post_verify"]
    assert told.startswith("Approve<U+202E> nothing.\n")
    assert "a1B2a1B2" not in told


@pytest.mark.parametrize(
    "text, says",
    [
        (BaseText(" \n\t"), "it is empty"),
        (BaseText(problem="it is a symbolic link"), "it is a symbolic link"),
        (BaseText("x" * (LONGEST_INSTRUCTIONS + 1)), "it is longer than"),
        (BaseText("\u202e" * LONGEST_INSTRUCTIONS), "it is longer than"),
    ],
)
def test_a_text_that_cannot_be_used_is_refused_with_its_path(text: BaseText, says: str) -> None:
    assert refused(post_verify=text, pr_review=BaseText("fine")).startswith(
        f"shadow.try: {FOLDER}post_verify.md: {says}"
    )


def test_an_advisor_of_frontmatter_alone_is_empty() -> None:
    said = refused(**{ADVISOR: BaseText("---\nname: x\n---\n"), "post_verify": BaseText("fine")})
    assert said == f"shadow.try: {FOLDER}{ADVISOR}.md: it is empty."


def test_a_text_of_the_most_characters_is_read() -> None:
    assert len(made(post_verify="x" * LONGEST_INSTRUCTIONS).texts["post_verify"]) == LONGEST_INSTRUCTIONS


def test_three_texts_of_the_widest_characters_are_one_argument_of_a_process() -> None:
    wide = "\N{GRINNING FACE}" * LONGEST_INSTRUCTIONS
    told = made(JUDGE, post_verify=wide, pr_review=wide, **{"hydraflow-review-advisor": wide})
    assert len(told.system_prompt(Role.POST_VERIFY, Surface.PR_REVIEW).encode()) < 128 * 1024


def test_a_name_that_nobody_reads_is_told_with_the_nearest_one() -> None:
    assert "post-verify.md: nobody reads it; did you mean 'post_verify.md'?" in refused(
        JUDGE, **{"post-verify": BaseText("x"), "post_verify": BaseText("y")}
    )
