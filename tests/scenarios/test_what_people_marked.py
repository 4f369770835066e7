"""Resolved threads and thumbs are read when a review is published, remembered and shown. They settle nothing."""

from __future__ import annotations

import pytest
from tests.scenarios.publishing import AUTHOR, BOT, LINES, MAINTAINER, PATH, REPOSITORY, Desk

from review_advisor.change.git_diff import GitPatcher
from review_advisor.change.pull_request import Permission, StandingRemark
from review_advisor.github.forge import ForgeDenied
from review_advisor.github.publish import PublishPhase
from review_advisor.github.state import KnownFinding, Marks
from review_advisor.mockworld.agents import finding, reject
from review_advisor.mockworld.fake_forge import FakeForge

WRITER, STRANGER, OTHER_BOT = "grace", "eve", "helper[bot]"


def rejected(severity: str = "high") -> tuple[Desk, dict[str, object]]:
    """A pull request with one finding that blocks."""
    fault = finding(PATH, 3, "value = 3", severity, title="three is wrong")
    desk = Desk()
    desk.github.grants(REPOSITORY, WRITER, Permission.WRITE)
    desk.github.grants(REPOSITORY, OTHER_BOT, Permission.WRITE)
    desk.github.user(STRANGER)
    desk.publish(desk.reviewed(reject(fault)))
    return desk, fault


def pushed(desk: Desk, fault: dict[str, object]) -> KnownFinding:
    """What is remembered of the finding after the next push, whose review raises it again."""
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 1\n"})
    desk.publish(desk.reviewed(reject(fault)))
    assert desk.state is not None
    (known,) = desk.state.findings
    return known


@pytest.mark.parametrize("severity", ["critical", "high", "medium", "low"])
def test_a_resolved_thread_and_a_thumb_are_remembered_and_dismiss_nothing(severity: str) -> None:
    desk, fault = rejected(severity)
    (thread,) = desk.threads
    desk.github.resolves(thread, by=MAINTAINER)
    desk.github.reacts(thread.comments[0], "THUMBS_DOWN", by=WRITER)
    known = pushed(desk, fault)
    assert (known.status, known.marks) == ("open", Marks(resolved=True, down=True))
    assert desk.checks[0].conclusion == "failure"
    assert ", thread resolved, thumbs down" in desk.summaries[0].body
    assert len(desk.threads) == 1, "and nothing is said twice"


def test_a_thumb_that_agrees_is_remembered_beside_one_that_does_not() -> None:
    desk, fault = rejected()
    (thread,) = desk.threads
    desk.github.reacts(thread.comments[0], "THUMBS_UP", by=AUTHOR)
    desk.github.reacts(thread.comments[0], "THUMBS_DOWN", by=MAINTAINER)
    assert pushed(desk, fault).marks == Marks(up=True, down=True)


@pytest.mark.parametrize(
    "login, thumb",
    [(BOT, "THUMBS_UP"), (OTHER_BOT, "THUMBS_DOWN"), (STRANGER, "THUMBS_DOWN"), (AUTHOR, "THUMBS_DOWN")],
)
def test_thumbs_of_bots_of_strangers_and_of_the_author_against_a_finding_do_not_count(login: str, thumb: str) -> None:
    desk, fault = rejected()
    desk.github.reacts(desk.threads[0].comments[0], thumb, by=login)  # type: ignore[arg-type]
    assert pushed(desk, fault).marks == Marks()
    assert "thumbs" not in desk.summaries[0].body


@pytest.mark.parametrize("login", [BOT, BOT.removesuffix("[bot]"), OTHER_BOT])
def test_a_thread_that_a_bot_resolved_is_not_marked(login: str) -> None:
    desk, fault = rejected()
    desk.github.resolves(desk.threads[0], by=login)
    assert pushed(desk, fault).marks == Marks()


def test_a_mark_that_is_taken_back_is_forgotten() -> None:
    desk, fault = rejected()
    desk.github.resolves(desk.threads[0], by=MAINTAINER)
    assert pushed(desk, fault).marks == Marks(resolved=True)
    desk.threads[0].resolved_by = None
    assert pushed(desk, fault).marks == Marks()


class Secretive(FakeForge):
    """A forge whose token may not read what people did with comments."""

    def remarks(self, number: int) -> tuple[StandingRemark, ...]:
        raise ForgeDenied(f"The token may not read the comments of #{number}.")


def test_a_token_that_may_not_read_them_publishes_all_the_same_and_forgets_nothing() -> None:
    desk, fault = rejected()
    desk.github.resolves(desk.threads[0], by=MAINTAINER)
    assert pushed(desk, fault).marks == Marks(resolved=True)
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 2\n"})
    walled = desk.bot(forge=Secretive(desk.github, REPOSITORY, BOT))
    PublishPhase(walled, GitPatcher()).publish(desk.pull.number, desk.reviewed(reject(fault)), asked=False)
    assert desk.state is not None
    assert [each.marks for each in desk.state.findings] == [Marks(resolved=True)]
    assert desk.checks[0].conclusion == "failure"
