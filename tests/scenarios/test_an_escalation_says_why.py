"""A person who is called is told what the advisor's last veto rests on, wherever the review is printed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from review_advisor.app.progress import coloured
from review_advisor.github.log_text import job_summary, log_lines
from review_advisor.mockworld.agents import approve, finding, veto
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument, outcome_json
from review_advisor.review.report import report_text, terminal_report
from review_advisor.review.rulings import Outcome


def as_text(document: OutcomeDocument) -> str:
    return terminal_report(document, explain=False)


FORMATS: dict[str, Callable[[OutcomeDocument], str]] = {
    "text": as_text,
    "coloured text": lambda document: coloured(as_text(document), document.outcome),
    "the whole report": report_text,
    "markdown": job_summary,
    "json": outcome_json,
    "github": lambda document: "\n".join(log_lines(document)),
}


@pytest.mark.parametrize("form", FORMATS)
def test_an_escalation_says_what_the_last_veto_rests_on(world: MockWorld, form: str) -> None:
    other = finding("src/app.py", 3, "value = 3", "low")
    world.agents.script(Role.EXECUTOR, approve(), approve(other))
    world.agents.script(
        Role.POST_VERIFY,
        veto("row one is wrong", reasoning="the first reading"),
        veto("row two is wrong", reasoning="seven was eight", direction="count again"),
    )
    document = world.review()
    assert document.outcome is Outcome.ESCALATED
    told = " ".join(FORMATS[form](document).split())
    for words in ("seven was eight", "blocking", "row two is wrong", "count again"):
        assert words in told, words


def test_what_the_judge_says_cannot_command_the_terminal_or_the_log(world: MockWorld) -> None:
    world.agents.script(Role.POST_VERIFY, *(veto("\x1b[2J\n::error::no", reasoning="\x1b]0;x\n::stop::") for _ in "ab"))
    world.agents.script(Role.EXECUTOR, approve(), approve(finding("src/app.py", 3, "value = 3", "low")))
    document = world.review()
    for told in (as_text(document), FORMATS["github"](document)):
        assert "\x1b" not in told
        assert not [line for line in told.splitlines() if line.startswith(("::stop", "::error::no"))]
