from review_advisor.change.change import Change, FileChange, Status
from review_advisor.change.picture_pairs import (
    PictureDifference,
    changed_pictures,
    is_compared,
    is_picture,
    judged_pictures,
)


def test_both_sides_of_a_rename_count() -> None:
    moved = FileChange(Status.RENAMED, "shots/a.png", old_path="a.png")
    away = FileChange(Status.RENAMED, "a.bin", old_path="shots/a.png")
    outside = FileChange(Status.MODIFIED, "b.png")
    assert changed_pictures(Change("x", files=(moved, away, outside)), ("shots/",)) == (moved, away)
    assert changed_pictures(Change("x", files=(moved,)), ()) == ()


def test_what_nobody_can_see_is_unread() -> None:
    assert PictureDifference("a", "unreadable").unread
    assert PictureDifference("a", "too_large").unread
    assert PictureDifference("a", "differs", crops=("c",), partly=True).unread
    assert not PictureDifference("a", "vector").unread
    assert judged_pictures([PictureDifference("a", "identical"), PictureDifference("b", "added", crops=("c",))]) == (
        PictureDifference("b", "added", crops=("c",)),
    )


def test_the_pictures_that_are_compared_and_those_that_are_not() -> None:
    compared = ("png", "jpg", "jpeg", "gif", "webp", "bmp")
    others = ("apng", "avif", "heic", "heif", "ico", "jxl", "svgz", "tif", "tiff", "svg")
    assert [kind for kind in compared if not (is_picture(f"a.{kind}") and is_compared(f"a.{kind}"))] == []
    assert [kind for kind in others if not is_picture(f"a.{kind}") or is_compared(f"a.{kind}")] == []
