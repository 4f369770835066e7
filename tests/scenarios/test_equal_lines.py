"""Equal lines are findings of their own, and what a person dismissed settles the line that they saw and no other."""

import pytest
from tests.scenarios.publishing import MAINTAINER, PATH, Desk

from review_advisor.agents.findings import finding_id
from review_advisor.change.change import FileChange, Hunk, Status
from review_advisor.github.begin import Comment, Conversation
from review_advisor.github.state import finding_in
from review_advisor.mockworld.agents import finding, reject
from review_advisor.mockworld.github import WORKFLOW_ABILITIES
from review_advisor.policy.surfaces import Surface
from review_advisor.review.report import report_text

SAME = "verify = False"
FIRST, SECOND = (finding_id(PATH, "correctness", SAME, number) for number in (1, 2))


def fault(line: int, severity: str = "high", title: str = "nothing is verified") -> dict[str, object]:
    return finding(PATH, line, SAME, severity, title)


class Lines(Desk):
    """A pull request that adds one file."""

    def pushes(self, *texts: str) -> None:
        self.github.pushes(self.pull, {PATH: "".join(f"{text}\n" for text in texts)})
        body = tuple(f"+{text}" for text in texts)
        self.file = FileChange(Status.ADDED, PATH, added=len(texts), hunks=(Hunk(0, 0, 1, len(texts), "", body),))

    def rejected(self, *remarks: dict[str, object]) -> None:
        self.publish(self.reviewed(reject(*remarks), files=(self.file,)))

    def dismisses(self, identity: str) -> str:
        talk = Conversation(self.bot())
        said = talk.hear(self.pull.number, Comment(77, MAINTAINER, f"/advisor dismiss {identity} a fixture"))
        return said.because

    @property
    def known(self) -> dict[str, str]:
        assert self.state is not None
        return {each.id: each.status for each in self.state.findings}

    @property
    def title(self) -> str:
        (check,) = self.checks
        return check.title or ""


@pytest.fixture
def desk() -> Lines:
    desk = Lines()
    desk.github.workflow_token(WORKFLOW_ABILITIES | {"contents:write"})
    desk.pushes("first = 1", SAME, "second = 2", SAME)
    return desk


def test_a_critical_line_does_not_vanish_behind_an_equal_one(desk: Lines) -> None:
    document = desk.reviewed(reject(fault(2, "low"), fault(4, "critical")), files=(desk.file,))
    desk.publish(document)
    assert [(each.line, each.severity) for each in document.findings] == [(2, "low"), (4, "critical")]
    assert desk.title == "Changes requested: 1 critical, 1 low"
    assert len(desk.threads) == 2
    assert "Findings: 2\n  critical " in report_text(document)


def test_both_keep_their_dismissals_and_their_threads_when_their_lines_move(desk: Lines) -> None:
    desk.rejected(fault(2), fault(4))
    assert "is dismissed" in desk.dismisses(SECOND)
    desk.pushes("new = 0", "first = 1", SAME, "between = 0", "second = 2", SAME, "last = 3")
    desk.rejected(fault(3), fault(6))
    assert desk.known == {FIRST: "open", SECOND: "dismissed"}
    assert len(desk.threads) == 2


def test_an_open_line_does_not_inherit_the_dismissal_of_an_equal_one_that_was_removed(desk: Lines) -> None:
    """The fixture on line 2 was dismissed. Its removal makes the line in the code the first of its kind."""
    desk.rejected(fault(2), fault(4, "critical", "the code trusts anybody"))
    desk.dismisses(FIRST)
    desk.pushes("first = 1", "second = 2", SAME)
    desk.rejected(fault(3, "critical", "the code trusts anybody"))
    assert desk.known == {FIRST: "open", SECOND: "fixed"}
    assert desk.title == "Changes requested: 1 critical"
    assert f"(`{FIRST}`), dismissed before equal lines came or went in this file" in desk.summaries[0].body
    shown = [each for each in desk.threads if not each.resolved_by]
    assert [finding_in(each.comments[0].body) for each in shown] == [FIRST]
    assert "the code trusts anybody" in shown[0].comments[0].body


def test_a_new_line_above_a_dismissed_one_does_not_pass_for_it(desk: Lines) -> None:
    desk.pushes("first = 1", SAME)
    desk.rejected(fault(2))
    desk.dismisses(FIRST)
    desk.pushes(SAME, "first = 1", SAME)
    desk.rejected(fault(1, "critical"))
    assert desk.known == {FIRST: "open"}
    assert desk.title == "Changes requested: 1 critical"
    assert [each.resolved_by for each in desk.threads] == [desk.rules.login, None]


def test_what_came_back_can_be_dismissed_again_and_stays_so(desk: Lines) -> None:
    desk.pushes("first = 1", SAME)
    desk.rejected(fault(2))
    desk.dismisses(FIRST)
    desk.pushes(SAME, "first = 1", SAME)
    desk.rejected(fault(1))
    assert "is dismissed" in desk.dismisses(FIRST)
    for _ in range(2):
        desk.pushes(SAME, "first = 1", SAME, f"more = {len(desk.reviews)}")
        desk.rejected(fault(1))
        assert desk.known == {FIRST: "dismissed"}


def test_two_surfaces_that_speak_of_one_line_make_one_finding_with_both_texts() -> None:
    desk = Lines()
    desk.pushes("first = 1", SAME)
    desk.world.change(desk.file, spec="Everything is verified.")
    document = desk.reviewed(
        reject(fault(2, "low", "a name that says little")),
        reject(fault(2, "critical", "against the specification")),
        files=(desk.file,),
    )
    desk.publish(document)
    assert [each.surface for each in document.surfaces if each.parts] == [
        Surface.PR_REVIEW,
        Surface.PRE_MERGE_SPEC_CHECK,
    ]
    (found,) = document.findings
    assert (found.severity, found.title) == ("critical", "against the specification")
    assert [(each.severity, each.title) for each in found.also] == [("low", "a name that says little")]
    (thread,) = desk.threads
    for said in (thread.comments[0].body, report_text(document)):
        assert "against the specification" in said
        assert "a name that says little" in said
    assert "with 1 more remark on the same lines" in desk.summaries[0].body
