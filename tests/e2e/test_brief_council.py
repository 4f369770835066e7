"""One vote on a brief with the real CLI: two advisors are asked side by side, and one vote cannot be read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.e2e.stub_api import Reply, Request, StubApi, structured

from review_advisor.app.council import CouncilOptions
from review_advisor.app.council import take_vote as vote_on_brief

ADVISORS = [
    {
        "type": "advisor",
        "id": "riskAnalyst",
        "role": "Analyze risks and Vote for deployment actions.",
        "schema": {"type": "object", "properties": {"thought": {"type": "string"}}, "required": ["thought"]},
    },
    {"id": "optimist", "persona": "You like to ship."},
]
BRIEF = {
    "subject": "Deploy 2.0?",
    "actions": ["deploy", "delay", "rollback"],
    "mode": "report-only",
    "brief_version": 1,
}


def test_a_vote_with_the_real_cli_in_the_form_of_act_017(
    api: StubApi, claude_binary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = '{"deploy": 10, "rollback": 5, "delay": 95}'

    monkeypatch.chdir(tmp_path)

    def said(request: Request) -> Reply:
        if "you are the advisor riskAnalyst" in request.prompt:
            return structured({"thought": "Integration tests are missing.", "calls": calls})
        return structured({"calls": "ship it"})

    api.script(said)
    (tmp_path / "brief.json").write_text(json.dumps(BRIEF), encoding="utf-8")
    (tmp_path / "advisors.json").write_text(json.dumps(ADVISORS), encoding="utf-8")
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "ANTHROPIC_API_KEY": "none"}
    environ |= {"ANTHROPIC_BASE_URL": api.url}
    options = CouncilOptions(tmp_path / "brief.json", tmp_path / "advisors.json", claude_bin=str(claude_binary))
    warnings: list[str] = []
    document = vote_on_brief(options, environ, warnings.append)
    assert document["advisors"] == [{"id": "riskAnalyst", "thought": "Integration tests are missing.", "calls": calls}]
    assert document["calls"][0]["_tool"] == "delay"
    assert document["blind_spots"] == ["optimist gave no vote: calls are no JSON text"]
    assert document["cost_usd"] > 0
    assert [request.tools for request in api.requests] == [["StructuredOutput"]] * 2
    assert warnings == []
