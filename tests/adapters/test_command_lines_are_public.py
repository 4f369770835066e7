"""Every user of the machine can read the command line of every process: none of ours holds the run's nonce."""

from __future__ import annotations

import json
import os
import stat
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.adapters.command_line import executable

from review_advisor.adapters.claude.agents import ClaudeAgents
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.roles.calls import AgentCall
from review_advisor.mockworld.lines import veto
from review_advisor.mockworld.world import MockWorld

_NOSY = """#!{python} -IS
import json, os, re, sys
place = sys.argv[0] + ".seen"
hook = re.search(r"--private=([^ '\\"]+)", " ".join(sys.argv))
told = hook and {{"text": open(hook[1]).read(), "mode": os.stat(hook[1]).st_mode}}
json.dump({{"argv": sys.argv, "prompt": sys.stdin.read(), "told": told, "path": hook and hook[1]}}, open(place, "w"))
"""


def calls_of_a_review(folder: Path) -> list[AgentCall]:
    """Every call of a review in which each role is asked, and the executor a second time."""
    world = MockWorld()
    world.switch("HYDRAFLOW_REVIEW_PREFLIGHT_FORCE_ON", "true")
    world.agents.script(Role.POST_VERIFY, veto("it breaks"))
    world.review()
    assert {call.role for call in world.agents.asked} == {Role.PRE_FLIGHT, Role.EXECUTOR, Role.POST_VERIFY}
    assert any(call.consults for call in world.agents.asked)
    return [replace(call, tree=folder if call.tree else None) for call in world.agents.asked]


def test_no_argument_of_any_call_holds_the_nonce(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private = tmp_path / "private"
    private.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(private))
    nosy = executable(tmp_path / "claude", _NOSY.format(python=sys.executable))
    with ClaudeAgents((str(nosy),), {"PATH": os.environ["PATH"]}) as agents:
        for call in calls_of_a_review(tmp_path):
            agents.run(call)
            seen = json.loads(nosy.with_name("claude.seen").read_text())
            assert "nonce0001" in seen["prompt"], "the prompt goes by stdin, and holds it"
            assert "nonce0001" not in " ".join(seen["argv"])
            if call.consults is not None:
                told = json.loads(seen["told"]["text"])
                assert told["opening"].startswith(f"{call.consults.sentinel}\n")
                assert told["nonce"] == call.consults.nonce
                assert stat.S_IMODE(seen["told"]["mode"]) == 0o600
                assert not Path(seen["path"]).exists(), "it is gone with the call"
            else:
                assert seen["told"] is None
