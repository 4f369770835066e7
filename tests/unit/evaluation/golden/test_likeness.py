"""How alike two findings are, by their words alone."""

from __future__ import annotations

import pytest

from review_advisor.lab.matching import likeness, weights


def test_a_name_counts_by_its_parts_however_it_is_written() -> None:
    camel, snake, other = weights(["readAllLines", "read_all_lines", "write"])
    assert likeness(camel, snake) > 0.7
    assert likeness(camel, other) == 0


def test_a_text_is_wholly_like_itself_and_one_without_words_like_none() -> None:
    one, same, empty, sign = weights(["a leak", "a leak", "", "?!"])
    assert likeness(one, same) == pytest.approx(1)
    assert likeness(one, empty) == likeness(empty, sign) == 0


def test_a_rare_word_tells_more_than_one_that_all_have() -> None:
    texts = weights(["the leak", "the end", "a leak", "the list", "the map"])
    assert likeness(texts[0], texts[2]) > likeness(texts[0], texts[1])
