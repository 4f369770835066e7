"""Answers one question by real checks and no model, and says so."""

from __future__ import annotations

import json
from typing import assert_never

from pydantic import BaseModel, ValidationError

from review_advisor.core.answers.answers import Consult, Guidance, PostVerifyResult, ReviewPlan, ReviewReport
from review_advisor.embedded.checkers import StaticChecks, require_extra
from review_advisor.embedded.cli_session import CliSession
from review_advisor.embedded.cli_tools import AgentTool, Declined, Said
from review_advisor.embedded.command_line import UsageError
from review_advisor.embedded.executor import Ask, NoAdvice, report
from review_advisor.embedded.material import Material, material_of
from review_advisor.embedded.staged_advisor import guide, judge, plan

TASK = "TaskMessage"  # by name: its module reads Markdown, which no review needs
_ANSWERED = frozenset({ReviewPlan.__name__, ReviewReport.__name__, PostVerifyResult.__name__, TASK})
_NO_TASK = "These are static checks and no model: they do no task and give no advice."


def answer(session: CliSession, prompt: str) -> int:
    """Answer the session's question from ``prompt``. Returns the exit code; raises ``UsageError`` if it cannot."""
    if session.options.question not in _ANSWERED:
        raise UsageError(f"Error: the static checks have no answer of the kind {session.options.question!r}")
    if session.options.question == TASK:
        session.init()
        session.structured({"message": _NO_TASK})
        return 0
    checkers = require_extra(session.options.checkers)
    material = material_of(prompt)
    session.init()
    session.structured(_work(session, material, checkers).model_dump(mode="json"))
    return 0


def _work(session: CliSession, material: Material, checkers: str) -> BaseModel:
    if session.options.question == ReviewPlan.__name__:
        return plan(material, checkers)
    tree = session.cwd if "Read" in session.options.tools else None
    options = session.options
    checks = StaticChecks(material.lines, tree, options.base_ruff, options.checkers, options.base_allows)
    if session.options.question == ReviewReport.__name__:
        return report(
            material,
            checks,
            checkers,
            _ask(session),
            may_edit="Edit" in options.tools,
            allow_unchecked=options.allow_unchecked,
        )
    return judge(material, checks, checkers)


def _ask(session: CliSession) -> Ask | None:
    if "Agent" not in session.options.tools or not session.options.agents:
        return None
    advisor = session.options.agents[0].name
    agent_tool = AgentTool(session, lambda question: Said(guide(question).model_dump_json()))

    def ask(consult: Consult) -> Guidance | NoAdvice:
        reply = agent_tool.ask(
            {
                "description": "consult the advisor",
                "prompt": json.dumps(consult.model_dump(mode="json")),
                "subagent_type": advisor,
            }
        )
        match reply:
            case Declined(reason):
                return NoAdvice(reason)
            case Said(text):
                return _guidance(text)
            case _:
                assert_never(reply)

    return ask


def _guidance(text: str) -> Guidance | NoAdvice:
    try:
        return Guidance.model_validate_json(text)
    except ValidationError:
        return NoAdvice("its answer was not guidance")
