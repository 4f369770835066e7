"""The pictures of docs/github.md show what the bot writes today, and fetch nothing while they are drawn."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from draw_github import DIGEST, IMAGES, WIDTH, digest_in, drawn, file_of
from github_stories import PICTURES, Picture
from PIL import Image

from review_advisor.mockworld.github_page import POLICY, THEMES, markdown
from review_advisor.mockworld.github_records import IssueComment

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "github.md").read_text(encoding="utf-8")
MOST_BYTES = 150_000
DRAWN = [tell() for tell in PICTURES]
EVERY = pytest.mark.parametrize("picture", DRAWN, ids=lambda picture: picture.name)


@EVERY
@pytest.mark.parametrize("theme", THEMES)
def test_a_picture_is_of_the_texts_that_are_written_today(picture: Picture, theme: str) -> None:
    assert digest_in(file_of(picture.name, theme)) == picture.digest, "the texts have changed: run make pictures"


@EVERY
@pytest.mark.parametrize("theme", THEMES)
def test_a_picture_is_small_and_tells_nothing_of_the_machine(picture: Picture, theme: str) -> None:
    file = file_of(picture.name, theme)
    assert file.stat().st_size < MOST_BYTES
    with Image.open(file) as image:
        assert image.width == WIDTH
        assert image.info.keys() <= {DIGEST, "transparency"}


@EVERY
@pytest.mark.parametrize("theme", THEMES)
def test_the_page_behind_it_fetches_nothing(picture: Picture, theme: str) -> None:
    html = drawn(picture, theme)
    assert POLICY in html
    assert re.findall(r"<(?:script|link|img|iframe)|@import|url\(|https?:", html) == []


def test_every_picture_is_shown_with_words_for_those_who_do_not_see_it() -> None:
    shown = re.findall(r'srcset="(\S+)">\n<img src="(\S+)" alt="([^"]{40,})">', PAGE)
    assert [(light, dark) for dark, light, _ in shown] == [
        tuple(f"images/{file_of(picture.name, theme).name}" for theme in THEMES) for picture in DRAWN
    ]
    assert len({words for *_, words in shown}) == len(DRAWN)


def test_no_picture_is_left_over() -> None:
    files = {file_of(picture.name, theme) for picture in DRAWN for theme in THEMES}
    assert set(IMAGES.glob("github-*")) == files


def test_other_texts_have_another_digest_and_the_memory_is_no_text() -> None:
    picture = DRAWN[0]
    (comment,) = picture.shown
    assert isinstance(comment, IssueComment)
    forgotten = replace(comment, body=re.sub(r"<!-- review-advisor:state .*?-->", "", comment.body))
    assert replace(picture, shown=(forgotten,)).digest == picture.digest
    assert replace(picture, shown=(replace(comment, body=f"{comment.body}."),)).digest != picture.digest


@pytest.mark.parametrize("text", ["<img src=x>", "a <b onclick=x>b</b>", "<details open>", "<script>x</script>"])
def test_html_of_which_github_would_not_keep_all_is_not_drawn(text: str) -> None:
    with pytest.raises(ValueError, match="GitHub would not keep"):
        markdown(text)
