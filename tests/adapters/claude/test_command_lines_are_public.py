"""Every user of the machine can read the command line of every process: none of ours holds the run's nonce.

Nor does an environment. What only the consulted advisor is told goes through a socket in a private folder.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.adapters.command_line import executable
from tests.adapters.consulting import consults_of_a_call

from review_advisor.agents.calls import AgentCall
from review_advisor.agents.claude import ClaudeAgents
from review_advisor.mockworld.agents import veto
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role

_NOSY = """#!{python} -IS
import json, os, sys
place = sys.argv[0] + ".seen"
folder = os.path.dirname(os.environ["TMPDIR"])
modes = [os.lstat(each).st_mode for each in (folder, os.path.join(folder, "s")) if os.path.exists(each)]
json.dump({{
    "argv": sys.argv, "environment": dict(os.environ), "prompt": sys.stdin.read(), "folder": folder, "modes": modes
}}, open(place, "w"))
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
            agents.run(call, None if call.consults is None else consults_of_a_call(grant=call.consults))
            seen = json.loads(nosy.with_name("claude.seen").read_text())
            assert "nonce0001" in seen["prompt"], "the prompt goes by stdin, and holds it"
            assert "nonce0001" not in " ".join([*seen["argv"], *seen["environment"].values()])
            assert stat.S_IMODE(seen["modes"][0]) == 0o700
            assert [stat.S_ISSOCK(mode) for mode in seen["modes"][1:]] == [True] * (call.consults is not None)
            assert not Path(seen["folder"]).exists(), "it is gone with the call"
    assert list(private.iterdir()) == []
