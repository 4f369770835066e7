"""A file from where GitHub stores it: which addresses are asked, and with what."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest
from tests.adapters.github.scripted import Reply, github_answers

from review_advisor.github.artifacts import fetch_stored
from review_advisor.github.forge import ForgeRejected, ForgeUnavailable
from review_advisor.github.responses import ApiAddress, api_address
from review_advisor.mockworld.world import FakeClock
from review_advisor.review.ports import Clock

GITHUB = api_address("")
HERE = api_address("http://127.0.0.1:1")


def fetch(location: str, api: ApiAddress = HERE, most: int = 1_000, clock: Clock | None = None) -> bytes:
    return fetch_stored("download the artifact 1", location, api, clock or FakeClock(), most)


class LongAfternoon(FakeClock):
    """A clock by which everything takes minutes."""

    def monotonic(self) -> float:
        self.sleep(400)
        return self.seconds


@contextmanager
def dripping_store() -> Iterator[str]:
    """A store that sends the first byte of many, and nothing more until it is left."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(10_000)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx")
                connection.recv(1)

        thread = Thread(target=drip, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/1"
        thread.join()


@pytest.mark.parametrize(
    "location",
    [
        "http://store.example.com/1",
        "ftp://store.example.com/1",
        "file:///etc/passwd",
        "https://",
        "https://user:word@store.example.com/1",
        "https://store.example.com/1\r\nEvil: 1",
        "https://store.example.com/a b",
        "https://[::1/1",
        "/etc/passwd",
        "",
    ],
)
def test_an_address_that_is_not_safe_is_never_asked(location: str) -> None:
    for api in (GITHUB, HERE):
        with pytest.raises(ForgeRejected, match="at an address that begins with https://") as refused:
            fetch(location, api)
        assert "store.example.com" not in str(refused.value)


def test_this_machine_is_asked_without_tls_only_if_github_is_here_too() -> None:
    with github_answers(Reply(body="an archive")) as store:
        assert fetch(store.url) == b"an archive"
        with pytest.raises(ForgeRejected):
            fetch(store.url, GITHUB)
    assert len(store.asked) == 1
    assert "authorization" not in store.asked[0].headers


def test_the_store_sends_nobody_on() -> None:
    sent_on = Reply(302, headers={"Location": "http://127.0.0.1:1/"})
    with github_answers(sent_on) as store, pytest.raises(ForgeRejected, match="its store answered with status 302"):
        fetch(store.url)


def test_what_is_too_large_is_not_read_to_its_end() -> None:
    with github_answers(Reply(body="x" * 1_001)) as store:
        with pytest.raises(ForgeRejected, match="is larger than"):
            fetch(store.url)
        assert fetch(store.url, most=1_001) == b"x" * 1_001


def test_a_store_that_breaks_off_is_an_outage() -> None:
    with github_answers(Reply(None)) as store, pytest.raises(ForgeUnavailable, match="its store gave no answer"):
        fetch(store.url)


def test_a_store_that_drips_is_left_in_time() -> None:
    with dripping_store() as address, pytest.raises(ForgeRejected, match="it took longer than 300 seconds"):
        fetch(address, clock=LongAfternoon())
