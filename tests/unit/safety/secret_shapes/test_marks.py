"""The mark that stands where a secret was is recognised, and nothing else is."""

import pytest

from review_advisor.safety.secrets import REDACTED, holds_mark, is_mark, kind_marked, mark


@pytest.mark.parametrize("text, kind", [(mark("GitHub token"), "GitHub token"), (REDACTED, "")])
def test_a_mark_is_recognised_alone_and_in_a_text(text: str, kind: str) -> None:
    assert is_mark(text)
    assert holds_mark(f"a {text} b")
    assert not is_mark(f"{text} ")
    assert kind_marked(f"a {text} b") == kind


@pytest.mark.parametrize("text", ["", "[secret]", "[secret: ]", "secret: GitHub token", "[secret: a\nb]"])
def test_what_only_looks_like_a_mark_is_none(text: str) -> None:
    assert not holds_mark(text)
    assert kind_marked(text) == ""
