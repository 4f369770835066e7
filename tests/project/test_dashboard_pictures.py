"""The pictures of docs/dashboard.md are there, small, and tell nothing of the machine they were drawn on."""

import re
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "dashboard.md").read_text(encoding="utf-8")
NAMED = re.findall(r'<img src="images/(dashboard-[a-z-]+\.png)" alt="([^"]+)">', PAGE)
MOST_BYTES = 150_000


def test_every_picture_has_its_place_and_its_words() -> None:
    drawn = {file.name for file in (ROOT / "docs" / "images").glob("dashboard-*.png")}
    assert drawn == {name for name, _ in NAMED}
    assert all(len(words) > 60 for _, words in NAMED)


@pytest.mark.parametrize("name", [name for name, _ in NAMED])
def test_a_picture_is_small_and_tells_nothing_of_the_machine(name: str) -> None:
    file = ROOT / "docs" / "images" / name
    assert file.stat().st_size < MOST_BYTES
    with Image.open(file) as image:
        assert image.width <= 1_240
        assert image.info.keys() <= {"transparency"}
