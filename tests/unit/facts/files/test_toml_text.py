"""One reader of TOML: whatever the text is, it is a table or one error."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.change.checker_settings import ruff_settings
from review_advisor.safety.stated_values import TomlError, read_toml


@pytest.mark.parametrize(
    "text, says",
    [
        ("x = [", "Invalid value"),
        ("x = " + "[" * 9_000, "nested too deeply"),
        ("x = " + "9" * 6_000, "a number has too many digits"),
    ],
)
def test_a_text_that_is_no_toml_is_one_error_with_its_reason(text: str, says: str) -> None:
    with pytest.raises(TomlError, match=says):
        read_toml(text)
    assert ruff_settings(text, "", "ruff.toml") is None


@given(st.text(alphabet="ax=[]{}\"'.#9-:\n "))
def test_a_text_is_a_table_or_that_error(text: str) -> None:
    with suppress(TomlError):
        assert isinstance(read_toml(text), dict)
