"""Whatever a review came to, a person with write permission can let the head pass in their own name."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.scenarios.publishing import AUTHOR, BOT, LINES, MAINTAINER, PATH, REPOSITORY, Desk

from review_advisor.agents.findings import finding_id
from review_advisor.change.pull_request import Permission
from review_advisor.github.begin import CommentResult
from review_advisor.github.commands import still_blocking
from review_advisor.github.publish import DidNotRun
from review_advisor.github.writer import PullRequestWriter
from review_advisor.mockworld.agents import approve, confirm, credit_gone, finding, lost, reject, veto
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.review.document import blocking_findings
from review_advisor.review.rulings import Outcome

FAULT = finding(PATH, 3, "value = 3", title="three is wrong")
WORSE = finding(PATH, 5, "value = 5", "medium", title="five is wrong")
ODD = finding(PATH, 7, "value = 7", "low", title="seven is odd")
UNPROVEN = finding(PATH, 4, "os.system(user_input)", "critical", title="its quote stands nowhere")
IDS = {n: finding_id(PATH, "correctness", f"value = {n}") for n in (3, 5, 7)}


def rejected(desk: Desk) -> None:
    desk.publish(desk.reviewed(reject(FAULT)))


def escalated(desk: Desk) -> None:
    desk.publish(desk.reviewed(approve(), approve(ODD), judged=[veto("no"), veto("no")]))


def stopped(desk: Desk) -> None:
    desk.publish(desk.reviewed(credit_gone()))


def did_not_run(desk: Desk) -> None:
    desk.publish(DidNotRun("run-9", desk.pull.head_sha, "The model's service did not answer."))


def stopped_after_a_review_of_another_head(desk: Desk) -> None:
    rejected(desk)
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 1\n"})
    did_not_run(desk)


def unverified(desk: Desk) -> None:
    desk.world.rules = replace(desk.world.rules, fail_on_degraded=True)
    desk.publish(desk.reviewed(approve(), judged=[lost()]))


NOT_APPROVED = [rejected, escalated, stopped, did_not_run, stopped_after_a_review_of_another_head, unverified]


def conclusions(desk: Desk) -> list[str | None]:
    return [check.conclusion for check in desk.checks]


def titles(desk: Desk) -> list[str | None]:
    return [check.title for check in desk.checks]


def says(desk: Desk, login: str, body: str, number: int = 77) -> CommentResult:
    return desk.hears(login, f"/advisor {body}", number)


def dismisses(desk: Desk, line: int, login: str = MAINTAINER) -> CommentResult:
    return says(desk, login, f"dismiss {IDS[line]} it is meant", 100 + line)


def overrides(desk: Desk, login: str = MAINTAINER, number: int = 77) -> CommentResult:
    return says(desk, login, f"override {desk.pull.head_sha} we need it today", number)


def dismisses_the_last(desk: Desk, login: str) -> CommentResult:
    return dismisses(desk, 3, login)


@pytest.mark.parametrize("came", NOT_APPROVED, ids=lambda came: came.__name__)
def test_every_outcome_that_is_not_approved_can_be_overridden(came: object) -> None:
    desk = Desk()
    came(desk)  # type: ignore[operator]
    assert conclusions(desk) in (["failure"], ["action_required"])
    assert not overrides(desk).review
    assert (conclusions(desk), titles(desk)) == (["success"], [f"Overridden by @{MAINTAINER}"])
    (summary,) = desk.summaries
    assert f"Overridden by `{MAINTAINER}`" in summary.body
    assert "Approved" not in summary.body.partition("<details>")[0]
    assert desk.state is not None
    assert desk.state.approved_by == MAINTAINER
    overrides(desk)
    assert conclusions(desk) == ["success"], "the same comment heard again changes nothing"


@pytest.mark.parametrize("came", NOT_APPROVED, ids=lambda came: came.__name__)
def test_nobody_overrides_the_review_of_their_own_work(came: object) -> None:
    desk = Desk()
    came(desk)  # type: ignore[operator]
    before = conclusions(desk)
    overrides(desk, AUTHOR)
    assert conclusions(desk) == before


def test_the_earlier_name_of_the_command_still_works() -> None:
    desk = Desk()
    escalated(desk)
    says(desk, MAINTAINER, f"approve-escalation {desk.pull.head_sha} looked at it")
    assert titles(desk) == [f"Overridden by @{MAINTAINER}"]


def test_an_approved_head_needs_no_override() -> None:
    desk = Desk()
    desk.publish(desk.reviewed(approve()))
    overrides(desk)
    assert titles(desk) == ["Approved"]


def test_a_head_that_nobody_reviewed_is_not_overridden() -> None:
    desk = Desk()
    rejected(desk)
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 1\n"})
    overrides(desk)
    assert desk.checks == []


# --- the last dismissal -----------------------------------------------------------------------------------------------


def test_the_last_dismissal_lets_the_head_pass_at_once_and_is_not_called_an_approval() -> None:
    desk = Desk()
    desk.publish(desk.reviewed(reject(FAULT, WORSE, ODD)))
    assert not dismisses(desk, 3).review
    assert conclusions(desk) == ["failure"]
    asked = len(desk.world.asked)
    heard = dismisses(desk, 5)
    assert not heard.review, "no paid review"
    assert len(desk.world.asked) == asked
    assert (conclusions(desk), titles(desk)) == (["success"], [f"Dismissed by @{MAINTAINER}"])
    (summary,) = desk.summaries
    assert f"Dismissed by `{MAINTAINER}`" in summary.body
    assert "Approved" not in summary.body


def test_where_all_findings_are_low_each_of_them_blocks() -> None:
    desk = Desk()
    desk.publish(desk.reviewed(reject(ODD, {**ODD, "line": 9, "evidence": "value = 9"})))
    dismisses(desk, 7)
    assert conclusions(desk) == ["failure"]


def test_a_low_finding_blocks_beside_one_that_was_there_before() -> None:
    """The head passes for the finding that blocks, and for no other."""
    desk = Desk()
    there = {**WORSE, "pre_existing": True}
    desk.publish(desk.reviewed(reject(there, ODD), judged=[confirm(pre_existing=(IDS[5],))]))
    dismisses(desk, 5)
    assert conclusions(desk) == ["failure"]
    dismisses(desk, 7)
    assert conclusions(desk) == ["success"]


def test_what_blocks_is_what_the_last_review_rejects_for() -> None:
    """A low finding that stands alone blocks; beside a worse one it does not any more, and the other way round."""
    desk = Desk()
    for findings, blocking in (((ODD,), {7}), ((WORSE, ODD), {5}), ((ODD,), {7})):
        desk.github.pushes(desk.pull, {PATH: LINES + f"more = {len(findings)}{desk.pull.head_sha[:4]!r}\n"})
        document = desk.reviewed(reject(*findings))
        desk.publish(document)
        assert desk.state is not None
        assert {each.id for each in still_blocking(desk.state)} == {IDS[n] for n in blocking}
        assert blocking_findings(document) == {IDS[n] for n in blocking}


def not_confirmed(desk: Desk) -> None:
    desk.publish(desk.reviewed(reject(FAULT), judged=[lost()]))


def escalated_with_a_finding(desk: Desk) -> None:
    desk.publish(desk.reviewed(reject(FAULT), reject(FAULT), judged=[veto("no fault")]))


def rejected_with_a_finding_that_was_refused(desk: Desk) -> None:
    desk.publish(desk.reviewed(reject(FAULT, UNPROVEN)))


def rejected_with_a_finding_only_when_asked_again(desk: Desk) -> None:
    desk.publish(desk.reviewed(reject(UNPROVEN), reject(FAULT)))


def test_a_low_finding_that_was_refused_does_not_hold_a_dismissal_up() -> None:
    desk = Desk()
    desk.publish(desk.reviewed(reject(FAULT, {**UNPROVEN, "severity": "low"})))
    dismisses(desk, 3)
    assert conclusions(desk) == ["success"]


@pytest.mark.parametrize(
    "came",
    [
        not_confirmed,
        escalated_with_a_finding,
        rejected_with_a_finding_that_was_refused,
        rejected_with_a_finding_only_when_asked_again,
    ],
)
def test_where_the_findings_are_not_all_that_is_known_a_new_review_decides(came: object) -> None:
    desk = Desk()
    came(desk)  # type: ignore[operator]
    before = conclusions(desk)
    assert dismisses(desk, 3).review
    assert conclusions(desk) == before
    desk.publish(desk.reviewed(approve(), judged=[confirm()]), asked=True)
    assert titles(desk) == ["Approved"]


def test_the_dismissal_of_a_finding_of_another_head_lets_nothing_pass() -> None:
    desk = Desk()
    rejected(desk)
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 1\n"})
    heard = dismisses(desk, 3)
    assert not heard.review
    assert "The verdict stays" in heard.because
    assert desk.checks == []


def test_a_dismissal_while_another_pull_request_has_this_head_lets_nothing_pass() -> None:
    desk = Desk()
    rejected(desk)
    other = desk.github.opens(REPOSITORY, by=AUTHOR, branch="other")
    other.head_sha = desk.pull.head_sha
    dismisses(desk, 3)
    assert conclusions(desk) == ["failure"]


def test_a_state_that_nobody_vouches_for_does_not_let_a_dismissal_conclude() -> None:
    desk = Desk()
    rejected(desk)
    (summary,) = desk.summaries
    desk.github.edits(summary, body=summary.body + "\n", by=BOT)
    assert dismisses(desk, 3).review
    assert conclusions(desk) == ["failure"]


# --- one's own work ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("permission", [Permission.WRITE, Permission.MAINTAIN, Permission.ADMIN])
@pytest.mark.parametrize("rule", ["never", "admins", "writers"])
def test_the_configuration_says_who_settles_their_own_work(permission: Permission, rule: str) -> None:
    desk = Desk(PublicationRules.model_validate({"self_settle": rule}))
    desk.github.grants(REPOSITORY, AUTHOR, permission)
    rejected(desk)
    dismisses(desk, 3, AUTHOR)
    may = rule == "writers" or (rule == "admins" and permission is Permission.ADMIN)
    assert conclusions(desk) == (["success"] if may else ["failure"])
    assert (f"Dismissed by @{AUTHOR}" in titles(desk)) is may


@pytest.mark.parametrize("key", [b"k" * 32, None])
@pytest.mark.parametrize("rule", ["never", "admins"])
def test_the_next_review_believes_a_dismissal_as_the_configuration_says(rule: str, key: bytes | None) -> None:
    desk = Desk(PublicationRules.model_validate({"self_settle": rule}))
    desk.key = key
    desk.github.grants(REPOSITORY, AUTHOR, Permission.ADMIN)
    rejected(desk)
    dismisses(desk, 3, AUTHOR)
    state = PullRequestWriter(desk.bot(), desk.pull.number).remembered()
    assert state is not None
    assert [each.status for each in state.findings] == (["dismissed"] if rule == "admins" else ["open"])


@pytest.mark.parametrize("command", [dismisses_the_last, overrides], ids=["dismiss", "override"])
def test_whoever_made_or_pushed_any_commit_settles_nothing(command: Callable[[Desk, str], CommentResult]) -> None:
    desk = Desk()
    for login in ("Max", "Eve", "Mallory"):
        desk.github.grants(REPOSITORY, login, Permission.WRITE)
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 0\n"}, by="Mallory", maker=AUTHOR)
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 1\n"}, by="Max")
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 2\n"}, by="Eve", maker=AUTHOR)
    rejected(desk)
    for login in ("Max", "eve", "mallory"):
        assert "made or pushed a commit" in command(desk, login).because
        assert conclusions(desk) == ["failure"]
        desk.pull.comments[-2:] = []
    command(desk, MAINTAINER)
    assert conclusions(desk) == ["success"]


@pytest.mark.parametrize("command", [dismisses_the_last, overrides], ids=["dismiss", "override"])
def test_nobody_settles_a_pull_request_with_a_commit_of_an_unknown_maker(
    command: Callable[[Desk, str], CommentResult],
) -> None:
    desk = Desk()
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 0\n"}, by=AUTHOR, maker="")
    rejected(desk)
    assert "does not name everybody who made or pushed a commit" in command(desk, MAINTAINER).because
    assert conclusions(desk) == ["failure"]


def test_each_command_is_answered_at_once_by_a_reaction() -> None:
    desk = Desk()
    rejected(desk)
    for number, command in enumerate(("review", "help", f"explain {IDS[3]}", f"dismiss {IDS[3]} it is meant")):
        says(desk, MAINTAINER, command, number)
        says(desk, MAINTAINER, command, number)
    says(desk, "eve", "review", 50)
    said = {each.id: each.seen_by for each in desk.pull.comments if each.author in (MAINTAINER, "eve")}
    assert said == {**{number: [BOT] for number in range(4)}, 50: []}


def test_an_outcome_keeps_what_it_was_before_a_person_decided() -> None:
    desk = Desk()
    rejected(desk)
    dismisses(desk, 3)
    assert desk.state is not None
    assert desk.state.outcome is Outcome.CHANGES_REQUESTED
