import socket
import subprocess

import pytest


def test_a_test_cannot_connect_to_another_machine() -> None:
    with socket.socket() as plug, pytest.raises(RuntimeError, match="may not reach"):
        plug.connect(("192.0.2.1", 443))


def test_a_test_cannot_look_up_another_machines_name() -> None:
    with pytest.raises(RuntimeError, match="may not reach"):
        socket.getaddrinfo("api.example.org", 443)


def test_a_test_may_talk_to_itself() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as plug:
        assert plug.getpeername() == server.getsockname()


@pytest.mark.parametrize("program", ["claude", "/usr/local/bin/claude"])
def test_a_test_cannot_start_the_real_cli(program: str) -> None:
    with pytest.raises(RuntimeError, match="may not start"):
        subprocess.run([program, "-p"], check=False)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("row", range(12))
def test_of_rows_alike_make_test_runs_one_in_so_many(row: int, request: pytest.FixtureRequest) -> None:
    """The first, and then one of each three, in another place: by the name of the test, and the same each time."""
    assert (request.node.get_closest_marker("every_case") is None) == (row in {0, 5, 8, 9})


@pytest.mark.one_in(2)
@pytest.mark.one_of_its_kind
@pytest.mark.parametrize("row", range(4))
def test_of_rows_one_of_a_kind_too_make_test_runs_one_in_so_many(row: int, request: pytest.FixtureRequest) -> None:
    assert (request.node.get_closest_marker("one_of_its_kind") is None) == (row in {1, 2})
