"""How alike two texts are by their words."""

from __future__ import annotations

from review_advisor.lab.matching import LONGEST, alike_by_words

LEAK = "The file handle is never closed when parsing fails"


def test_the_same_words_in_another_order_are_nearly_the_same() -> None:
    near, far = alike_by_words(
        "when parsing fails the handle of the file stays open", [LEAK, "The total is rounded per line"]
    )
    assert near > 0.5
    assert far == 0


def test_words_that_every_text_has_make_nothing_alike() -> None:
    assert alike_by_words("It is not what you would do with that", ["That is what it would not do with you"]) == (0.0,)
    assert alike_by_words("It is the cache key", ["It is the time zone"]) == (0.0,)


def test_a_further_text_of_others_takes_nothing_from_the_same_words() -> None:
    assert alike_by_words(LEAK, [LEAK, "something else"])[0] > 0.999


def test_without_a_word_nothing_fails() -> None:
    assert alike_by_words("", [LEAK]) == (0.0,)
    assert alike_by_words(LEAK, []) == ()


def test_only_the_beginning_of_a_long_text_counts() -> None:
    padding = "x" * LONGEST

    assert alike_by_words(padding + " cache key", [LEAK + padding, "y cache key"]) == (0.0, 0.0)
    assert alike_by_words(LEAK + " " + padding, [LEAK])[0] > 0.8
