"""How the report tells the verdict by the diff alone."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from tests.unit.forge_text.stories import told

from review_advisor.agents.evidence import CheckedReport
from review_advisor.mockworld.agents import approve, finding, lost, reject
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.events import BlindJudged
from review_advisor.review.report import blind_words, flips, lacks_blind, progress_line

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def alone(*first: object) -> Callable[[MockWorld], None]:
    def tell(world: MockWorld) -> None:
        world.rules = replace(world.rules, metadata_blind=True)
        world.agents.script(Role.EXECUTOR, *first)  # type: ignore[arg-type]

    return tell


ONE = finding("src/app.py", 3, "value = 3")


def test_a_verdict_by_the_diff_alone_that_did_not_come_is_noticed() -> None:
    assert lacks_blind(told(alone(lost(), approve())))
    assert not lacks_blind(told(alone(reject(ONE), approve())))
    assert not lacks_blind(told())


def test_a_verdict_by_the_diff_alone_is_told_with_its_findings() -> None:
    report = CheckedReport("reject", "values clash", 0.9)
    said = BlindJudged(at=NOON, surface=Surface.PR_REVIEW, report=report)
    none = BlindJudged(at=NOON, surface=Surface.PR_REVIEW, missing="it crashed")
    assert [blind_words(said), blind_words(none)] == ["reject, 0 findings: values clash", "no verdict: it crashed"]
    assert progress_line(said) == "pr_review: by the diff alone: reject"
    assert progress_line(none) == "pr_review: by the diff alone: no verdict"


def test_only_a_verdict_that_changed_has_flipped() -> None:
    assert len(list(flips(told(alone(reject(ONE), approve()))))) == 1
    assert list(flips(told(alone(approve(), approve())))) == []
    assert list(flips(told())) == []
