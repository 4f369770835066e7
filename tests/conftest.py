"""No test reaches the network, none but the end-to-end ones starts the real CLI, and none is timed.

``make test`` runs one in n rows of a test that is marked ``one_in(n)``, and ``make test-all`` runs all.
"""

import gc
import ipaddress
import os
import sys
import tempfile
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ROOMS = ("adapters", "attacks", "e2e", "project", "scenarios", "simulation", "unit")
pytest.register_assert_rewrite(*(f"tests.{room}" for room in ROOMS))  # a helper that fails says what it saw

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("untimed"), max_examples=25)  # of make test
settings.register_profile("gate", settings.get_profile("untimed"), derandomize=True)
# A gate fails for what is wrong with a change, and not by a chance that its author cannot repeat.
settings.load_profile("gate" if os.environ.get("CI") else "untimed")


@pytest.hookimpl(tryfirst=True)  # before the tests are put into another order
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the other rows of tests that are marked ``one_in(n)`` to ``make test-all``."""
    rows = Counter[str]()
    for item in items:
        mark = item.get_closest_marker("one_in")
        if mark is not None:
            test, of = item.nodeid.partition("[")[0], mark.args[0]
            round_, place = divmod(rows[test], of)
            # Not the first of each n: where a parameter has n values, that row would always have the same one.
            if place != (zlib.crc32(f"{test} {round_}".encode()) % of if round_ else 0):
                item.add_marker("every_case")
                item.own_markers[:] = [each for each in item.own_markers if each.name != "one_of_its_kind"]
            rows[test] += 1


def pytest_collection() -> None:
    """Look for no garbage while tests are gathered: nearly everything that is made then stays."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Look for it from here on, and not among what was gathered."""
    gc.collect()
    gc.freeze()
    gc.enable()


INDOORS = ("tests/unit/", "tests/scenarios/")


def _is_loopback(host: object) -> bool:
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if not isinstance(host, str) or host in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _refuse_network(event: str, arguments: tuple[Any, ...]) -> None:
    host = arguments[0] if event == "socket.getaddrinfo" else arguments[1]
    if isinstance(host, tuple):
        host = host[0]
    elif event != "socket.getaddrinfo":
        return  # a Unix socket's path
    if not _is_loopback(host):
        raise RuntimeError(f"a test may not reach {host!r}")


def _refuse_claude(program: object) -> None:
    if not isinstance(program, str | bytes | os.PathLike):
        return
    path = Path(os.fsdecode(program))
    indoors = os.environ.get("PYTEST_CURRENT_TEST", "").startswith(INDOORS)
    if indoors and path.name == "claude" and not path.is_relative_to(tempfile.gettempdir()):
        raise RuntimeError(f"a unit or scenario test may not start {path}")


def _guard(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("socket.connect", "socket.getaddrinfo"):
        _refuse_network(event, arguments)
    elif event == "subprocess.Popen":
        _refuse_claude(arguments[0])
        command = arguments[1]
        _refuse_claude(command[0] if isinstance(command, list | tuple) and command else command)
    elif event in ("os.posix_spawn", "os.exec"):
        _refuse_claude(arguments[0])


sys.addaudithook(_guard)
