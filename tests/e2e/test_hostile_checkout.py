"""A whole review, consults and retry included, of a checkout that fights back, on the real CLI."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.e2e.hostile_checkout import LINKS, ODD_NAMES, READ_FILE, HostileCheckout
from tests.e2e.review_answers import confirm, guidance, plan, report, veto
from tests.e2e.review_world import (
    EXECUTOR,
    FORGE_TOKEN,
    KEY,
    MID_FLIGHT,
    POST_VERIFY,
    PRE_FLIGHT,
    Reviewed,
    ReviewWorld,
    processes_of,
)
from tests.e2e.stub_api import Request, after, consult, read, stub_api

from review_advisor.review.rulings import Outcome


def from_the_library(world: ReviewWorld) -> Reviewed:
    return world.review(environ={"SOME_PASSWORD": "hunter2-of-the-harness"})


def from_inside_the_checkout(world: ReviewWorld) -> Reviewed:
    """The console script, with the checkout as its folder and the checkout's programs first in PATH."""
    path = f"{world.repo.path}/bin:.:bin:{world.environ()['PATH']}"
    process = world.console(PATH=path, SOME_PASSWORD="hunter2-of-the-harness")
    out, err = process.communicate(timeout=110)
    assert process.returncode == 11, err
    assert not re.search(r"[\x1b\u202e]", out + err)
    return world.stored()


@contextmanager
def environments_of_children(folder: Path, seen: dict[str, bytes]) -> Iterator[None]:
    """Read, for as long as this is open, the environment of every process the harness starts."""
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            for process in processes_of(folder):
                if "review-advisor\0review" not in process.command:
                    try:
                        seen[process.command] = Path(f"/proc/{process.pid}/environ").read_bytes()
                    except OSError:
                        continue
            time.sleep(0.001)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def outside_of_fences(request: Request) -> str:
    """Everything of a request that no fence encloses; what a tool was asked to read is left out."""
    body = json.loads(json.dumps(request.body))
    for message in body["messages"]:
        if isinstance(message["content"], list):
            message["content"] = [block for block in message["content"] if block["type"] != "tool_result"]
    pattern = r"<<<UNTRUSTED (\w+) ([0-9a-f]{16})\n.*?\n\1 \2 UNTRUSTED>>>"
    texts = json.dumps(body, ensure_ascii=False).replace("\\n", "\n")
    return re.sub(pattern, "", texts, flags=re.DOTALL)


def files_below(folder: Path) -> dict[str, int]:
    return {str(path): path.lstat().st_mtime_ns for path in folder.rglob("*")}


@pytest.mark.timeout(240)
@pytest.mark.parametrize("review", [from_the_library, from_inside_the_checkout])
def test_a_checkout_that_fights_back(world: ReviewWorld, review: Callable[[ReviewWorld], Reviewed]) -> None:
    """D4, D5, D41: nothing of it runs, nothing is asked elsewhere, none of its words stand outside a fence."""
    (world.root / "outside.txt").write_text("canary-outside-the-tree")
    with stub_api() as trap:
        checkout = HostileCheckout(world.repo, world.root / "marks", trap.url)
        checkout.build()
        world.says(PRE_FLIGHT, plan())
        world.says(EXECUTOR, read(READ_FILE), *(read(link) for link in LINKS), consult("Which one?"), report("approve"))
        world.says(EXECUTOR, consult("And now?"), report("reject", "trap"))
        world.says(MID_FLIGHT, read(READ_FILE), after(1.0, guidance()), guidance())
        world.says(POST_VERIFY, read(READ_FILE), veto(), confirm())
        before = files_below(world.repo.path), files_below(world.home)
        environments: dict[str, bytes] = {}
        with environments_of_children(world.private, environments):
            done = review(world)
        assert (trap.requests, trap.strays, trap.unscripted) == ([], [], [])
    assert done.document.surfaces[0].outcome is Outcome.CHANGES_REQUESTED
    assert done.end == (Outcome.ESCALATED, 11), "what a submodule holds is read by nobody"
    assert "vendor was not read" in done.why
    assert done.document.policy.guard.holds
    assert list(checkout.marks.iterdir()) == [], "foreign code ran"
    assert (files_below(world.repo.path), files_below(world.home)) == before
    assert len(done.document.surfaces[0].parts[0].consults) == 2
    _check_requests(world, checkout)
    _check_environments(environments)


def test_its_traps_work_for_those_who_step_into_them(world: ReviewWorld) -> None:
    """The same checkout under the CLI's default flags: without this, the story above would prove nothing."""
    with stub_api() as trap:
        checkout = HostileCheckout(world.repo, world.root / "marks", trap.url)
        checkout.build()
        environment = {
            **world.environ(),
            "CLAUDE_CODE_MAX_RETRIES": "0",
            "CLAUDE_CONFIG_DIR": str(world.root / "config"),
        }
        subprocess.run(
            [str(world.claude), "-p", "hello"],
            cwd=world.repo.path,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
        for left in world.private.iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        assert {"hook-SessionStart", "mcp"} <= {mark.name for mark in checkout.marks.iterdir()}
        assert trap.requests or trap.strays, "its own address was asked"
        world.api.requests.clear()
        world.api.strays.clear()


def _check_requests(world: ReviewWorld, checkout: HostileCheckout) -> None:
    passwd = Path("/etc/passwd").read_text().splitlines()[0]
    for request in world.api.requests:
        outside = outside_of_fences(request)
        assert [canary for canary in checkout.canaries if canary in outside] == []
        body = json.dumps(request.body)
        for foreign in (passwd, "canary-outside-the-tree", "hunter2-of-the-harness"):
            assert foreign not in body
        if request in world.of(MID_FLIGHT):
            assert not any(canary in body for canary in checkout.canaries)
    whole = "".join(request.prompt for request in world.of(EXECUTOR))
    assert all(canary in whole for canary in checkout.canaries), "the reviewers were shown all of it, as data"
    refused = [result for request in world.of(EXECUTOR) for result in request.tool_results]
    assert sum("root:" in result for result in refused) == 0
    assert len(ODD_NAMES) == sum("CANARY-name" in canary for canary in checkout.canaries)


def _check_environments(environments: dict[str, bytes]) -> None:
    commands = " ".join(environments)
    assert "consult_hook.py" in commands, "no hook was caught in the act"
    assert "--restricted" in commands, "no CLI was caught in the act"
    for command, environment in environments.items():
        for secret in (KEY, FORGE_TOKEN, "hunter2-of-the-harness"):
            assert secret.encode() not in environment, command
