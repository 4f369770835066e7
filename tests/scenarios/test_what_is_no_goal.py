"""What this bot is not for: advisors that edit, a policy that changes by itself, and copies of a ledger elsewhere."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from review_advisor.agents.claude_argv import argv
from review_advisor.change.kinds import OWN_IMPLEMENTATION_ANYWHERE
from review_advisor.mockworld.stage import PlayedReview, play
from review_advisor.mockworld.story_file import read_story
from review_advisor.policy.surfaces import Role
from review_advisor.review.events import PolicyFrozen

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "review_advisor"
STORIES = sorted((ROOT / "stories").glob("*.yaml"))


@cache
def reviews_of(path: Path) -> tuple[PlayedReview, ...]:
    return play(read_story(path.read_text(encoding="utf-8"), path.name)).reviews


@pytest.mark.one_in(4)
@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_no_advisor_edits_and_no_executor_edits_what_decides_about_it(path: Path) -> None:
    for call in (asked.call for review in reviews_of(path) for asked in review.asked):
        words = argv(("claude",), call, "{}" if call.consults is not None else None)
        tools = set(words[words.index("--tools") + 1].split(","))
        if call.role is not Role.EXECUTOR:
            assert not tools & {"Edit", "Write", "Agent"}
            assert call.edits is None
        if call.edits is not None:
            assert set(OWN_IMPLEMENTATION_ANYWHERE) <= set(call.edits.denied)


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_a_review_is_decided_by_the_one_policy_that_it_began_with(path: Path) -> None:
    for review in reviews_of(path):
        assert [number for number, event in enumerate(review.events) if isinstance(event, PolicyFrozen)] == [0]
        assert review.document is None or review.document.policy == review.events[0].policy  # type: ignore[union-attr]


NETWORKS = (
    "github",
    "requests",
    "http",
    "socket",
    "socketserver",
    "ssl",
    "urllib.request",
    "httpx",
    "opentelemetry",
    "grpc",
)
NETWORK_NAME = re.compile(rf"\b(?:{'|'.join(name.partition('.')[0] for name in NETWORKS)})\b")
REACH_ONE = {
    "adapters/github": "GitHub, which the bot reviews for",
    "adapters/claude": "the hook of a call, on this machine",
    "adapters/dashboard": "127.0.0.1, where a reader asked for it",
    "adapters/telemetry": "the collector that OTEL_* variables name",
}
"""Who opens a connection, and to what. Nobody sends ledger, memory or reports to a service."""


def test_nothing_but_four_adapters_reaches_a_network() -> None:
    reach = {path for path in PACKAGE.rglob("*.py") if any(map(is_network, imported(path.read_text(encoding="utf-8"))))}
    folders = {path.relative_to(PACKAGE).parent.as_posix() for path in reach}
    assert folders == set(REACH_ONE)


@pytest.mark.parametrize("hidden", ["import os, socket", "from urllib import request", "import so\uff43ket as os"])
def test_a_network_is_found_however_its_import_is_spelled(hidden: str) -> None:
    assert any(map(is_network, imported(f"def later():\n    {hidden}\n")))


def imported(text: str) -> Iterator[str]:
    """Every module that a file imports, also within a function, if one of them may be a network.

    Python reads letters that look alike as one, so that only in ASCII a name that is not there is not imported.
    """
    if text.isascii() and not NETWORK_NAME.search(text):
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_network(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in NETWORKS)
