"""The parts of the account that check page, summary comment and job summary share."""

from dataclasses import replace

import pytest
from tests.unit.forge_text.stories import STORIES, told

from review_advisor.core.facts.change import FileChange, Status
from review_advisor.core.facts.pictures import PictureDifference
from review_advisor.core.forge_text.account import MOST_QUOTED_REPORTS, why
from review_advisor.core.forge_text.sections import MOST_NAMED_FILES, MOST_REASONS, coverage, learned, stake, surfaces
from review_advisor.core.policy.surfaces import Role
from review_advisor.mockworld.lines import picture, picture_differs, reject
from review_advisor.mockworld.world import MockWorld, edited


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
        world.rules = replace(world.rules, shard_tokens=400)
        world.change(*(edited(f"src/{number}.py") for number in range(MOST_QUOTED_REPORTS + 2)))
        reports = (reject(summary=f"fault {number}") for number in range(MOST_QUOTED_REPORTS + 2))
        world.agents.script(Role.EXECUTOR, *reports)

    text = why(told(tell)).text
    assert text.count("> fault ") == MOST_QUOTED_REPORTS
    assert text.endswith("\n\nAnd 2 more parts said why; outcome.json has their words.")
