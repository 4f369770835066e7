"""Comments on the diff: which findings get one, what it says, and when one click may take its suggestion."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.forge_text.stories import rejecting, remark, told

from review_advisor.agents.findings import Finding, MergedRemark
from review_advisor.github.check_text import annotations_of
from review_advisor.github.comment_text import (
    MOST_COMMENT,
    finding_body,
    inline_comments,
    may_be_committed,
    review_body,
)
from review_advisor.mockworld.agents import reject
from review_advisor.mockworld.world import MockWorld, deleted
from review_advisor.policy.surfaces import Role


def found(*remarks: dict[str, object]) -> tuple[Finding, ...]:
    return told(rejecting(*remarks)).findings


def only(**more: object) -> Finding:
    (finding,) = found(remark(7, **more))
    return finding


FINDING = only()


def body(finding: Finding) -> str:
    (comment,) = inline_comments((finding,))
    return comment.body


def test_an_id_that_is_none_of_ours_marks_no_comment() -> None:
    assert inline_comments((replace(only(), id="f-0 --><b>"),)) == ()


def test_a_comment_says_what_is_wrong_and_how_to_disagree() -> None:
    finding = only(body="It clashes with `six`.")
    assert body(finding) == (
        f"<!-- review-advisor:finding {finding.id} -->\n"
        "**High: value 7 is taken**\n\n"
        "It clashes with `six`.\n\n"
        "<details><summary>Prompt for a coding agent</summary>\n\n"
        "```\n"
        "A review of this change reports for line 7 of src/app.py: value 7 is taken\n"
        "It clashes with `six`.\n"
        "Check first whether that is right. If it is, fix the cause with the smallest change, add a test that fails"
        " without it, and change nothing else.\n"
        "```\n\n"
        "</details>\n\n"
        "<sub>correctness, confidence 0.90. Wrong or accepted?"
        " Somebody with write permission, not the author, can post"
        f" `/advisor dismiss {finding.id} reason` in the conversation.</sub>"
    )


def test_a_prompt_for_a_coding_agent_is_there_where_it_takes_no_room_from_the_finding() -> None:
    long = "It clashes. " * 30
    made = finding_body(replace(FINDING, body=long))
    assert "Prompt for a coding agent" not in made
    assert "Not here" not in made
    assert long.strip() in made


def test_lines_and_side_are_those_of_the_finding() -> None:
    (one,) = inline_comments((only(),))
    assert (one.path, one.line, one.start_line, one.side) == ("src/app.py", 7, None, "RIGHT")
    (several,) = inline_comments((replace(only(), end_line=9),))
    assert (several.line, several.start_line) == (9, 7)

    def tell(world: MockWorld) -> None:
        world.change(deleted("src/app.py"))
        world.agents.script(Role.EXECUTOR, reject(remark(7)))

    (removed,) = inline_comments(told(tell).findings)
    assert removed.side == "LEFT"


def test_a_suggestion_can_be_committed_with_its_indentation() -> None:
    finding = only(suggestion="    value = 77  # @ada, see #12\n")
    assert "```suggestion\n    value = 77  # @ada, see #12\n```" in body(finding)


def test_a_suggestion_with_a_fence_in_it_gets_a_longer_one() -> None:
    finding = only(suggestion="```\n````suggestion\nx\n````")
    assert "`````suggestion\n```\n````suggestion\nx\n````\n`````" in body(finding)


def test_an_empty_line_for_a_line_is_no_deletion() -> None:
    assert "```suggestion\n\n```\n" in body(only(suggestion="\n"))
    assert "```suggestion\na\n\n```\n" in body(only(suggestion="a\n\n"))


@pytest.mark.parametrize(
    "suggestion",
    [
        "value = 7\u200b7",
        "value = '\u202e7'",
        "value = '⚠\ufe0f'",
        "a = 1\r\nb = 2",
        "key = 'ghp_" + "a" * 36 + "'",
        "::warning::x",
        "<!-- review-advisor:summary -->",
    ],
)
def test_a_suggestion_that_would_not_be_shown_as_it_is_cannot_be_committed(suggestion: str) -> None:
    finding = replace(only(), suggestion=suggestion)
    assert not may_be_committed(finding)
    assert "```suggestion" not in body(finding)
    assert "Suggested:\n\n```\n" in body(finding)


def test_a_suggestion_for_other_lines_than_those_it_was_made_for_cannot_be_committed() -> None:
    corrected = only(suggestion="value = 77", line=99)
    assert corrected.corrected
    assert not may_be_committed(corrected)
    assert not may_be_committed(replace(only(suggestion="value = 77"), removed=True))


def test_the_quote_is_shown_where_the_line_had_to_be_corrected() -> None:
    shown = body(only(line=99))
    assert "It is about this quote (line 99 became 7: the quote stands there):\n\n```\nvalue = 7\n```" in shown


HOSTILE = st.text(alphabet="`&<>|@#é\u202e\n -*_[](){}abc", max_size=3_000)


@given(
    st.fixed_dictionaries(dict.fromkeys(("title", "body", "suggestion", "evidence", "corrected", "category"), HOSTILE)),
    st.booleans(),
)
def test_no_comment_is_longer_than_a_thousand_characters_and_the_problem_comes_first(
    words: dict[str, str], removed: bool
) -> None:
    finding = replace(FINDING, removed=removed, rule="docs/" + "x" * 300 + ":3", **words)  # type: ignore[arg-type]
    made = finding_body(finding)
    assert len(made) <= MOST_COMMENT
    assert made.startswith(f"<!-- review-advisor:finding {finding.id} -->\n**High: ")
    assert made.endswith("in the conversation.</sub>")
    assert may_be_committed(finding) or "```suggestion\n" not in made


@given(HOSTILE, HOSTILE, HOSTILE)
def test_a_prompt_for_a_coding_agent_is_code_to_its_end(title: str, words: str, path: str) -> None:
    made = finding_body(replace(FINDING, title=title[:40], body=words[:100], path=path[:40]))
    _, _, prompt = made.partition("<summary>Prompt for a coding agent</summary>\n\n")
    if prompt:
        inside, closed, rest = prompt.rpartition("\n\n</details>")
        fence = inside.split("\n", 1)[0]
        assert set(fence) == {"`"}
        assert (closed, inside.count(f"{fence}\n"), inside.endswith(f"\n{fence}")) == ("\n\n</details>", 1, True)
        assert rest.startswith("\n\n<sub>")


def test_what_is_cut_is_named_and_the_page_that_has_it_too() -> None:
    remark = MergedRemark("low", "a nit", "It is milder.", None, 0.9)
    finding = replace(FINDING, body="It clashes. " * 100, suggestion="x = 1\n" * 10, also=(remark,))
    made = finding_body(finding)
    assert made.index("It clashes.") < made.index("more characters") < made.index("```suggestion\nx = 1")
    assert "a nit" not in made
    assert "*Not here: the end of this text, more remarks. The check's page has it.*" in made
    (annotation,) = annotations_of((finding,))
    assert "It is milder." in annotation.message
    assert "It clashes. " * 99 in annotation.message
    assert "`outcome.json` has it" in finding_body(replace(finding, removed=True))


def test_a_suggestion_is_whole_or_not_there() -> None:
    long = replace(FINDING, body="It clashes.", suggestion="value = 77\n" * 80)
    assert "```" not in finding_body(long)
    assert "*Not here: the suggestion. The check's page has it.*" in finding_body(long)
    (annotation,) = annotations_of((long,))
    assert "value = 77\n" * 79 in annotation.message
    short = replace(FINDING, body="It clashes.", suggestion="value = 77\n" * 40)
    assert "value = 77\n" * 40 in finding_body(short)


def test_the_review_has_one_line_of_its_own() -> None:
    document = told(rejecting(remark(7)))
    assert review_body(document, 1, ["medium"]) == (
        "**Changes requested: 1 medium**. 1 comment on the diff; the summary says what next."
    )


def test_no_part_of_a_comment_is_longer_than_its_room() -> None:
    category, title = "w" * 61, "t" * 201
    told = body(replace(only(), category=category, title=title))
    assert "<sub>" + "w" * 60 + r" \[cut here: 1 more characters\], confidence" in told
    assert "**High: " + "t" * 200 + r" \[cut here: 1 more characters\]**" in told
    fits = body(replace(only(), category=category[:60], title=title[:200]))
    assert "cut here" not in fits
    moved = body(replace(only(), corrected="m" * 201))
    assert "It is about this quote (" + "m" * 200 + r" \[cut here: 1 more characters\]):" in moved
    assert "cut here" not in body(replace(only(), corrected="m" * 200))


def test_a_comment_stands_on_the_lines_of_its_finding() -> None:
    finding = only()
    for lines, stands in (
        ((7, 7), (None, 7)),
        ((7, 9), (7, 9)),
        ((0, 0), (None, 1)),
        ((0, 2), (1, 2)),
        ((9, 7), (None, 9)),
    ):
        (comment,) = inline_comments((replace(finding, line=lines[0], end_line=lines[1]),))
        assert (comment.start_line, comment.line) == stands
        assert (comment.side, comment.path, comment.finding) == ("RIGHT", finding.path, finding.id)
    (removed,) = inline_comments((replace(finding, removed=True),))
    assert removed.side == "LEFT"
