"""What is said of the pictures of a change, and when no model has to look at them."""

import pytest

from review_advisor.agents.prompts import compared_report, picture_words, unread_pictures
from review_advisor.change.picture_pairs import PictureDifference
from review_advisor.mockworld.agents import picture


@pytest.mark.parametrize(
    "shown, words",
    [
        (picture("a.png", "identical"), "a.png: identical pixels"),
        (picture("a.png", "added"), "a.png: added, no before"),
        (picture("a.png", "removed"), "a.png: removed, no after"),
        (picture("a.png", "unreadable", "damaged"), "a.png: cannot be read: damaged"),
        (picture("a.png", "too_large", "17 MB"), "a.png: too large to compare: 17 MB"),
        (picture("a.svg", "vector"), "a.svg: vector, reviewed as text with the change"),
    ],
)
def test_each_picture_is_told_in_one_line(shown: PictureDifference, words: str) -> None:
    assert picture_words(shown) == words


def test_pictures_that_nobody_has_to_look_at_are_counted() -> None:
    shown = (
        *(picture("a.png", "identical"), picture("b.png", "identical"), picture("c.svg", "vector")),
        picture("d.png", "too_large", "17 MB"),
    )
    report = compared_report(shown)
    assert report is not None
    assert (report.verdict, report.confidence, report.findings) == ("approve", 1.0, ())
    assert report.summary == (
        "Pictures compared without a model: 2 of 4 with identical pixels, 1 reviewed as text,"
        " 1 that nobody could look at."
    )
    assert unread_pictures(shown) == ("d.png: too large to compare: 17 MB",)
