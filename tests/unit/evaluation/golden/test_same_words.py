"""How alike two texts are by their words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.core.evaluation.golden.same_words import LONGEST, KnownTexts
from review_advisor.core.evaluation.text_clusters import likeness, weights


def alike_to(text: str, others: list[str]) -> tuple[float, ...]:
    return KnownTexts(others).alike(text)


LEAK = "The file handle is never closed when parsing fails"


def test_the_same_words_in_another_order_are_nearly_the_same() -> None:
    near, far = alike_to(
        "when parsing fails the handle of the file stays open", [LEAK, "The total is rounded per line"]
    )
    assert near > 0.5
    assert far == 0


def test_words_that_every_text_has_make_nothing_alike() -> None:
    assert alike_to("It is not what you would do with that", ["That is what it would not do with you"]) == (0.0,)
    assert alike_to("It is the cache key", ["It is the time zone"]) == (0.0,)


def test_a_further_text_of_others_takes_nothing_from_the_same_words() -> None:
    assert alike_to(LEAK, [LEAK, "something else"])[0] > 0.999


def test_without_a_word_nothing_fails() -> None:
    assert alike_to("", [LEAK]) == (0.0,)
    assert alike_to(LEAK, []) == ()


@given(st.lists(st.text("abc d", max_size=12), max_size=4), st.text("abc d", max_size=12))
def test_it_is_the_likeness_of_the_weights_of_all_these_texts(others: list[str], text: str) -> None:
    told = [" ".join(word for word in each.split() if word != "a") for each in (text, *others)]
    mine, *weighed = weights(told)

    assert alike_to(text, others) == pytest.approx([likeness(mine, each) for each in weighed])


def test_only_the_beginning_of_a_long_text_counts() -> None:
    padding = "x" * LONGEST

    assert alike_to(padding + " cache key", [LEAK + padding, "y cache key"]) == (0.0, 0.0)
    assert alike_to(LEAK + " " + padding, [LEAK])[0] > 0.8
