from collections.abc import Iterator

import pytest

from review_advisor.mockworld.world import MockWorld


@pytest.fixture
def world() -> Iterator[MockWorld]:
    """A small working world. When the story is over, nothing may be left unsaid."""
    world = MockWorld()
    yield world
    world.finish()
