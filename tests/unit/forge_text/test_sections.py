"""The parts of the account that check page, summary comment and job summary share."""

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.forge_text.stories import STORIES, placed_nowhere, rejecting, remark, remembers, told

from review_advisor.agents.findings import MergedRemark, ordered
from review_advisor.change.change import FileChange, Status
from review_advisor.change.picture_pairs import PictureDifference
from review_advisor.github.comment_text import summary_body
from review_advisor.github.findings_text import Listed, disputes, listed
from review_advisor.github.log_text import job_summary
from review_advisor.github.sections import (
    MOST_NAMED_FILES,
    MOST_QUOTED_REPORTS,
    MOST_REASONS,
    Order,
    Section,
    account,
    cost,
    coverage,
    heading_of,
    learned,
    merged_remarks,
    notes_on,
    pictures,
    refused,
    repair,
    signature,
    size,
    stake,
    surfaces,
    whose_rules,
    why,
)
from review_advisor.mockworld.agents import picture, picture_differs, reject
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.risk import Guard
from review_advisor.policy.surfaces import Role
from review_advisor.review.events import CallEnded
from review_advisor.review.rulings import Outcome


def read_of(*pictures: PictureDifference) -> str:
    """The section on what was read of a change of ``src/app.py`` and these pictures."""

    def tell(world: MockWorld) -> None:
        world.rules = replace(world.rules, visual_paths=("shots/",))
        drawn = (FileChange(Status.MODIFIED, each.name, binary=True) for each in pictures)
        world.change(edited("src/app.py"), *drawn)
        world.pictures.stated = pictures

    return coverage(told(tell)).text


def test_a_file_that_was_judged_as_a_picture_is_told_from_one_that_was_read_as_text() -> None:
    assert read_of(picture_differs("shots/a.png"), picture("shots/b.png", "identical")) == (
        "**Read**: 3 of 3 files, 2 of them as pictures by visual_gate."
    )
    assert read_of() == "**Read**: 1 of 1 file."


def test_a_picture_that_nobody_could_look_at_is_no_such_file() -> None:
    read = read_of(picture_differs("shots/a.png"), picture("shots/c.png", "unreadable", "damaged"))
    assert "Read: 2 of 3 files, 1 of them as pictures by visual_gate" in read


def test_a_surface_repeats_no_reason_that_the_review_gives() -> None:
    document = told()
    (each,) = document.surfaces
    assert each.because == document.because
    assert "- pr_review:" not in surfaces(document).text
    other = replace(document, because=("something else",))
    assert f"- pr_review: {'; '.join(each.because)}" in surfaces(other).text


@pytest.mark.parametrize("length", [200, 201])
def test_the_title_of_a_page_for_the_wiki_has_at_most_200_characters(length: int) -> None:
    document = told(STORIES["taught"])
    changed = tuple(
        replace(each, stored=tuple(replace(one, title="w" * length) for one in each.stored))
        for each in document.surfaces
    )
    shown = learned(replace(document, surfaces=changed)).text
    assert "w" * 200 in shown
    assert "w" * 201 not in shown
    assert ("cut here: 1 more" in shown) is (length == 201)


def test_a_list_that_is_cut_says_how_many_it_leaves_out() -> None:
    document = told()
    lost = tuple(f"surface/{number}" for number in range(MOST_REASONS + 2))
    stated = replace(document, flags=replace(document.flags, lost=lost), cut=("a text",) * (MOST_NAMED_FILES + 3))
    assert f"`surface/{MOST_REASONS - 1}`, and 2 more." in stake(stated).text
    assert "\n- and 3 more texts shortened; outcome.json has all" in coverage(stated).text
    assert "more" not in stake(document).text


def test_the_words_of_the_first_parts_are_quoted_and_the_others_counted() -> None:
    def tell(world: MockWorld) -> None:
        world.rules = replace(world.rules, shard_tokens=180)
        world.change(*(edited(f"src/{number}.py") for number in range(MOST_QUOTED_REPORTS + 2)))
        reports = (
            reject({**remark(7), "path": f"src/{number}.py"}, summary=f"fault {number}")
            for number in range(MOST_QUOTED_REPORTS + 2)
        )
        world.agents.script(Role.EXECUTOR, *reports)

    text = why(told(tell)).text
    assert text.count("> fault ") == MOST_QUOTED_REPORTS
    assert text.endswith("\n\nAnd 2 more parts said why; outcome.json has their words.")


# --- each section, word for word --------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [0, 1, 3])
def test_of_files_and_texts_that_were_not_read_thirty_are_named_and_the_others_counted(more: int) -> None:
    document = told()
    (one,) = document.coverage
    number = MOST_NAMED_FILES + more
    gaps = tuple(replace(one, path=f"src/{n}.py", read="not", why="too large") for n in range(number))
    text = coverage(replace(document, coverage=(one, *gaps))).text
    assert text.startswith(
        f"<details><summary>Read: 1 of {number + 1} files</summary>\n\n- `src/0.py` was not read: too"
    )
    assert text.count(" was not read: too large") == MOST_NAMED_FILES
    counted = f"\n- and {more} more file{'s' if more > 1 else ''}; outcome.json names them all"
    assert text.count("; outcome.json names them all") == text.count(counted) == bool(more)
    cut = coverage(replace(document, cut=("a text",) * number)).text
    assert cut.count("\n- Shortened in the prompts: a text") == MOST_NAMED_FILES
    counted = f"\n- and {more} more text{'s' if more > 1 else ''} shortened; outcome.json has all"
    assert cut.count("; outcome.json has all") == cut.count(counted) == bool(more)


def test_what_the_reasons_have_named_is_not_named_again() -> None:
    document = told()
    (one,) = document.coverage
    gap = replace(one, read="partly", why="too large")
    words = "src/app.py was read in part: too large"
    said = replace(document, coverage=(gap,), because=(words,))
    assert coverage(said).text == "**Read**: 0 of 1 file."
    later = replace(said, because=(*("x" for _ in range(MOST_REASONS)), words))
    assert "- `src/app.py` was read in part: too large" in coverage(later).text
    assert coverage(replace(document, coverage=())).text == ""


@pytest.mark.parametrize(
    "more, ends",
    [
        (0, ""),
        (1, " Answers that did not come: `a/0`."),
        (MOST_REASONS, f" Answers that did not come: {', '.join(f'`a/{n}`' for n in range(MOST_REASONS))}."),
        (
            MOST_REASONS + 1,
            f" Answers that did not come: {', '.join(f'`a/{n}`' for n in range(MOST_REASONS))}, and 1 more.",
        ),
    ],
)
def test_the_stake_says_how_much_was_changed_and_what_did_not_come(more: int, ends: str) -> None:
    document = told()
    lost = tuple(f"a/{n}" for n in range(more))
    told_stake = stake(replace(document, flags=replace(document.flags, lost=lost))).text
    assert told_stake == f"**Change**: 1 file, 30 changed lines of code, blast radius low.{ends}"


def test_the_stake_says_what_is_switched_off_and_that_the_bot_itself_is_touched() -> None:
    document = told()
    flags = replace(document.flags, advisor_disabled=("A_SWITCH", "B_SWITCH"))
    policy = replace(document.policy, guard=Guard(("CLAUDE.md",)))
    assert stake(replace(document, flags=flags, policy=policy)).text == (
        "**Change**: 1 file, 30 changed lines of code, blast radius low. "
        "The change touches the bot itself: a veto counts on every surface. "
        "Switched off: `A_SWITCH`, `B_SWITCH`."
    )


@pytest.mark.parametrize(
    "held, base, text",
    [
        (None, "main", ""),
        ("main", "main", ""),
        ("main", "dev", "**Configuration**: that of `main`. Its `github.trusted_bases` does not name `dev`."),
    ],
)
def test_whose_configuration_held_is_said_where_it_is_not_the_base_branchs(
    held: str | None, base: str, text: str
) -> None:
    assert whose_rules(replace(told(), rules_ref=held, base_ref=base)).text == text


@pytest.mark.parametrize("head, words", [("a" * 40, f"`{'a' * 40}`"), (None, "no commit")])
def test_a_signature_names_the_run_and_its_head(head: str | None, words: str) -> None:
    assert signature(replace(told(), head_sha=head)).text == f"Run `run-1`, head {words}."
    assert "cut here: 1 more" in signature(replace(told(), run_id="r" * 81)).text
    assert "cut here" not in signature(replace(told(), run_id="r" * 80)).text


def test_the_cost_counts_calls_tokens_and_seconds() -> None:
    document = told()
    calls = sum(isinstance(event, CallEnded) for event in document.events)
    seconds = (document.ended_at - document.started_at).total_seconds()
    text = cost(document).text
    assert text.startswith("**Cost**: ")
    assert f"; {calls} calls, " in text
    assert f"; {seconds:,.0f} s. " in text
    assert "executor `sonnet`" in text
    assert "post_verify `opus`" in text
    backwards = replace(document, ended_at=document.started_at, started_at=document.ended_at)
    assert "; 0 s. " in cost(backwards).text
    refused_only = replace(
        document, events=tuple(replace(e, ended="refused") for e in document.events if isinstance(e, CallEnded))
    )
    assert cost(refused_only).text == "**Cost**: no model was asked."


def test_a_repair_says_where_it_belongs_and_is_shown() -> None:
    document = told(STORIES["repair attached"])
    made = document.repair
    assert made is not None
    text = repair(document).text
    assert text.startswith("<details><summary>Repair: 1 file</summary>\n\nWith this patch, and only with it, ")
    assert f"pr_review is approved (attempt {made.attempt + 1})." in text
    assert "```diff\n" in text
    assert made.patch.strip("\n") in text
    assert repair(told()).text == ""
    long = replace(document, repair=replace(made, patch="x" * 12_001))
    assert "[cut here: 1 more characters]" in repair(long).text
    assert "cut here" not in repair(replace(document, repair=replace(made, patch="x" * 12_000))).text


def test_remarks_that_are_not_believed_stand_with_their_reasons_the_worst_first() -> None:
    def tell(world: MockWorld) -> None:
        remarks = [remark(1, "low"), remark(2, "critical"), remark(3, "medium")]
        invented = [{**each, "evidence": f"invented = {n}"} for n, each in enumerate(remarks)]
        world.agents.script(Role.EXECUTOR, reject(remark(7), *invented))

    text = refused(told(tell)).text
    why_not = "its evidence does not stand in the changed lines of the file"
    assert text == (
        "<details><summary>Not believed: 3 remarks</summary>\n\n"
        + "\n".join(
            f"- **{severity}** `src/app.py`: value {n} is taken: {why_not}"
            for n, severity in ((2, "critical"), (3, "medium"), (1, "low"))
        )
        + "\n\n</details>"
    )


def merged(number: int, **more: Any) -> tuple[str, ...]:
    (finding,) = told(rejecting(remark(7, body="Why.", suggestion="x = 1"))).findings
    one = MergedRemark("low", "again", "Because.", "x = 2", 0.5)
    return merged_remarks(replace(finding, also=(replace(one, **more),) * number))


def test_what_was_merged_is_named_ten_times_and_three_times_in_full() -> None:
    named, said, offered = "**Low, on the same lines: again**", "Because.", "Suggested:\n\n```\nx = 2\n```"
    assert merged(0) == ()
    assert merged(1) == (named, said, offered)
    assert merged(4) == (named, said, offered) * 3 + (named,)
    assert merged(10) == (named, said, offered) * 3 + (named,) * 7
    assert merged(11) == (*merged(10), "And 1 more remark; outcome.json has them all.")
    assert merged(13)[-1] == "And 3 more remarks; outcome.json has them all."


def test_what_a_merged_remark_says_again_does_not_stand_twice() -> None:
    named = "**Low, on the same lines: again**"
    assert merged(1, body="Why.") == (named, "Suggested:\n\n```\nx = 2\n```")
    assert merged(1, suggestion="x = 1") == merged(1, suggestion=None) == (named, "Because.")
    for length in (1_000, 1_001):
        (_, body, offered) = merged(1, body="w" * length, suggestion="w" * length)
        assert ("cut here" in body) is ("cut here" in offered) is (length == 1_001)


@pytest.mark.parametrize(
    "others, notes", [(0, ""), (1, ", with 1 more remark on the same lines"), (2, ", with 2 more")]
)
def test_a_finding_in_a_list_says_how_many_remarks_are_merged_into_it(others: int, notes: str) -> None:
    document = told(rejecting(remark(7)))
    (finding,) = document.findings
    also = (MergedRemark("low", "again", "", None, 0.5),) * others
    line = listed(replace(finding, also=also, removed=True), document)
    assert line.notes.startswith(notes)
    assert bool(line.notes) is bool(others)
    assert (line.severity, line.path, line.line, line.title, line.id, line.removed) == (
        *("high", "src/app.py", 7, "value 7 is taken", finding.id),
        True,
    )


@pytest.mark.parametrize("removed, words", [(False, ""), (True, " (a removed line)")])
def test_a_listed_finding_is_an_item_or_a_row(removed: bool, words: str) -> None:
    line = Listed("high", "a|b.py", 7, "t", "f-1", removed, ", open")
    assert line.item == f"- **high** `a|b.py:7`{words}: t (`f-1`), open"
    assert line.row == f"| high | `a\\|b.py:7`{words} | t, open | `f-1` |"
    for form, most in (("item", 200), ("row", 100)):
        fits, over = (getattr(replace(line, title="w" * n), form) for n in (most, most + 1))
        assert "cut here" not in fits
        assert r"\[cut here: 1 more characters\]" in over


def test_a_section_without_a_block_is_none_and_what_it_lacks_is_counted() -> None:
    assert Section((), "head", "tail").text == ""
    assert Section(("a", "b"), "head", "tail").text == "head\n\na\nb\n\ntail"
    assert Section((), missing=2, what="lines").text == "\n*2 more lines are left out: a text here has a limit.*"
    assert notes_on(("a *b*",)).text == "**Notes**\n\n- a \\*b\\*"
    assert notes_on(()).text == ""


def test_a_section_gives_way_by_as_few_blocks_as_make_room() -> None:
    section = Section(tuple("x" * 100 for _ in range(10)), gives_way=Order.NOTES)
    said = size("\n*1 more paragraphs are left out: a text here has a limit.*") + 1
    for blocks in range(1, 10):
        over = blocks * 101 - said - 1
        if over > 0:
            shorter = section.without(over)
            assert (len(shorter.blocks), shorter.missing) == (10 - blocks, blocks)
            assert size(section.text) - size(shorter.text) >= over
    assert section.without(10_000).blocks == ()


# --- where they stand -------------------------------------------------------------------------------------------------


def places_of(page: str, sections: list[str]) -> list[int]:
    shown = [each for each in sections if each]
    for each in shown:
        assert each in page
    return [page.index(each) for each in shown]


@pytest.mark.parametrize("story", sorted(STORIES.keys() - {"300 findings", "hostile"}))
def test_a_page_and_a_comment_hold_every_section_in_its_place(story: str) -> None:
    document = replace(told(STORIES[story]), rules_ref="main", base_ref="dev")
    document = replace(document, pictures=(picture("shots/b.png", "identical"),), cut=("a text",))
    shown, opened = disputes(document)
    notes = ("A note.",)
    page = job_summary(document, notes)
    assert "\n\n\n" not in page
    first = [f"## {heading_of(document)}", why(document).text, shown.text, whose_rules(document).text]
    later = [opened.text, pictures(document).text, learned(document).text, refused(document).text]
    findings = [listed(each, document).item for each in ordered(document.findings)]
    head = [f"**Findings**: {len(findings)}"] if findings else []
    account_of = [each for each in account(document) if each]
    whole = [*first, notes_on(notes).text, *head, *findings, repair(document).text, *later, coverage(document).text]
    found = places_of(page, [*whole, *account_of])
    assert found == sorted(found)
    for text in (shown.text, opened.text, repair(document).text):
        assert not text or page.count(text) == 1
    state = remembers(document)
    body = summary_body(document, PublicationRules(), state, placed_nowhere(document), notes)
    ends = [] if document.outcome is Outcome.STOPPED else [coverage(document).text]
    said = places_of(
        body,
        [why(document).text, whose_rules(document).text, notes_on(notes).text, repair(document).text, *later, *ends],
    )
    assert said == sorted(said)
    assert not (document.outcome is Outcome.STOPPED and document.coverage) or coverage(document).text not in body
