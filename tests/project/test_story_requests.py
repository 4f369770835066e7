"""With the default roster and no configuration every request stays byte for byte as it is recorded."""

from pathlib import Path

import pytest
from story_requests import STORIES, recorded, requests

PATHS = sorted(STORIES.glob("*.yaml"))


def test_every_story_is_recorded() -> None:
    assert sorted(recorded()) == [path.stem for path in PATHS]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_calls_of_a_story_are_those_that_are_recorded(path: Path) -> None:
    assert requests(path) == recorded()[path.stem], "on purpose? python tools/story_requests.py --write"
