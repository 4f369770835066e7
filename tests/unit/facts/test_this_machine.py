"""Which names of a host stand for this machine."""

from __future__ import annotations

import pytest

from review_advisor.safety.this_machine import is_this_machine


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.255.0.254"])
def test_the_loopback_is_this_machine(host: str) -> None:
    assert is_this_machine(host)


@pytest.mark.parametrize(
    "host",
    [
        *("", "example.org", "128.0.0.1", "10.0.0.1", "0.0.0.0", "127.0.0", "127.0.0.1.5"),
        *("localhost.example.org", "127.0.0.1.example.org", "notlocalhost", "x127.0.0.1"),
    ],
)
def test_a_name_that_only_holds_the_loopbacks_may_be_anybody(host: str) -> None:
    assert not is_this_machine(host)
