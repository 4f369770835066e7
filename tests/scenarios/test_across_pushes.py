"""A push after a review: what the executor is shown again, and what its judge always sees."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.scenarios.publishing import AUTHOR, LINES, MAINTAINER, PATH, Desk
from tests.scenarios.reading import is_shown, own_words, shown

from review_advisor.agents.findings import finding_id
from review_advisor.change.change import Earlier, EarlierFinding
from review_advisor.github.memory import MOST_FINDINGS
from review_advisor.github.publish import DidNotRun
from review_advisor.github.threads import MOST_GRAVE
from review_advisor.mockworld.agents import approve, confirm, finding, reject, veto
from review_advisor.mockworld.github import WORKFLOW_ABILITIES
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.scope import policy_digest
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.rulings import Outcome

FIRST_HEAD = "1" * 40
SETTLED_ID = "f-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
FOUND = EarlierFinding("f-01234567890123456789012345678901", "src/a.py", 3, "value is wrong", "high", "open")
SETTLED = EarlierFinding(SETTLED_ID, "src/b.py", 1, "value = 1 is odd", "low", "dismissed", "it is meant", "maria")

FAULT = finding(PATH, 3, "value = 3", title="three is wrong")
FAULT_ID = finding_id(PATH, "correctness", "value = 3")


def push(world: MockWorld, first: OutcomeDocument, **facts: Any) -> None:
    """A second push to the same pull request: only src/a.py differs since the first review."""
    told = Earlier(
        head_sha=FIRST_HEAD,
        base_sha=first.base_sha or "",
        policy_digest=policy_digest(first.policy),
        complete=True,
        is_ancestor=True,
        paths=frozenset({"src/a.py"}),
        findings=(FOUND, SETTLED),
    )
    world.source.stated = replace(world.source.stated, earlier=replace(told, **facts))


@pytest.fixture
def reviewed(world: MockWorld) -> tuple[MockWorld, OutcomeDocument]:
    """A change of two files that was reviewed once."""
    world.change(edited("src/a.py", 12), edited("src/b.py", 12))
    return world, world.review()


def test_the_executor_is_shown_what_differs_since_and_the_judge_everything(
    reviewed: tuple[MockWorld, OutcomeDocument],
) -> None:
    world, first = reviewed
    push(world, first)
    document = world.review()
    executor, judge = world.calls(Role.EXECUTOR)[-1], world.calls(Role.POST_VERIFY)[-1]
    assert "src/a.py" in shown(executor, "DIFF")
    assert "src/b.py" not in shown(executor, "DIFF")
    assert FIRST_HEAD in own_words(executor)
    assert "src/b.py" in shown(executor, "FILES")
    assert "src/a.py" in shown(judge, "DIFF")
    assert "src/b.py" in shown(judge, "DIFF")
    assert FIRST_HEAD not in own_words(judge)
    assert document.scope.since == FIRST_HEAD
    assert document.outcome is Outcome.APPROVED
    assert [(each.path, each.read, each.earlier) for each in document.coverage] == [
        ("src/a.py", "read", False),
        ("src/b.py", "read", True),
    ]
    assert FIRST_HEAD in document.coverage[1].why


def test_open_and_dismissed_findings_reach_executor_and_judge(reviewed: tuple[MockWorld, OutcomeDocument]) -> None:
    world, first = reviewed
    push(world, first)
    world.review()
    for role in (Role.EXECUTOR, Role.POST_VERIFY):
        told = shown(world.calls(role)[-1], "EARLIER")
        assert all(word in told for word in (FOUND.id, FOUND.title, SETTLED.id, "it is meant", "maria"))


def test_a_first_review_is_told_nothing_of_an_earlier_one(reviewed: tuple[MockWorld, OutcomeDocument]) -> None:
    world, first = reviewed
    assert first.scope.since is None
    assert not is_shown(world.calls(Role.EXECUTOR)[0], "EARLIER")
    assert not any(each.earlier for each in first.coverage)


@pytest.mark.parametrize(
    "facts,why",
    [
        ({"is_ancestor": False}, "the history was rewritten since the last review"),
        ({"base_sha": "e" * 40}, "the base has moved since the last review"),
        ({"policy_digest": "0" * 16}, "the policy has changed since the last review"),
        ({"complete": False}, "the last review was not complete"),
        ({"paths": frozenset()}, "nothing in the change differs since the last review"),
    ],
)
def test_everything_is_read_again_when_the_last_review_cannot_be_built_on(
    reviewed: tuple[MockWorld, OutcomeDocument], facts: dict[str, object], why: str
) -> None:
    world, first = reviewed
    push(world, first, **facts)
    document = world.review()
    assert (document.scope.since, document.scope.because) == (None, (why,))
    assert "src/b.py" in shown(world.calls(Role.EXECUTOR)[-1], "DIFF")
    assert is_shown(world.calls(Role.EXECUTOR)[-1], "EARLIER")


@pytest.mark.parametrize(
    "grow,why",
    [
        (lambda world: world.change(edited("src/a.py"), edited("auth/login.py")), "the blast radius is high"),
        (lambda world: world.switch("HYDRAFLOW_REVIEW_MIDFLIGHT_ENABLED", "off"), "the policy has changed"),
    ],
)
def test_a_risky_change_or_another_policy_is_read_whole(
    reviewed: tuple[MockWorld, OutcomeDocument], grow: Callable[[MockWorld], None], why: str
) -> None:
    world, first = reviewed
    grow(world)
    push(world, first)
    document = world.review()
    assert document.scope.since is None
    assert any(because.startswith(why) for because in document.scope.because)


def test_a_retry_is_still_shown_only_what_differs(reviewed: tuple[MockWorld, OutcomeDocument]) -> None:
    world, first = reviewed
    push(world, first)
    world.agents.script(Role.EXECUTOR, approve(), approve(finding("src/a.py", 1, "value = 1", "low")))
    world.agents.script(Role.POST_VERIFY, veto("the value is wrong"), confirm())
    world.review()
    *_, retry = world.calls(Role.EXECUTOR)
    assert is_shown(retry, "TRANSCRIPT")
    assert "src/b.py" not in shown(retry, "DIFF")


def test_a_file_with_an_open_finding_is_read_again(
    reviewed: tuple[MockWorld, OutcomeDocument],
) -> None:
    world, first = reviewed
    critical = replace(FOUND, path="src/b.py", severity="critical")
    push(world, first, findings=(critical,))
    document = world.review()
    assert "src/b.py" in shown(world.calls(Role.EXECUTOR)[-1], "DIFF")
    assert [(each.path, each.read, each.earlier) for each in document.coverage] == [
        ("src/a.py", "read", False),
        ("src/b.py", "read", False),
    ]


def test_an_open_finding_alone_is_no_new_delta(reviewed: tuple[MockWorld, OutcomeDocument]) -> None:
    world, first = reviewed
    push(world, first, paths=frozenset())
    assert world.review().scope.because == ("nothing in the change differs since the last review",)


def test_the_checks_title_counts_what_is_open_and_nothing_that_was_dismissed() -> None:
    desk = Desk()
    desk.publish(desk.reviewed(reject(FAULT)))
    desk.hears(MAINTAINER, f"/advisor dismiss {FAULT_ID} it is meant")
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 1\n"})
    desk.publish(desk.reviewed(reject(FAULT, finding(PATH, 7, "value = 7", "low"))))
    (check,) = desk.checks
    assert check.title == "Changes requested: 1 low"


@pytest.mark.parametrize("resolving", [True, False], ids=["its thread is closed", "its thread stands open"])
def test_a_fixed_finding_that_comes_back_is_said_in_one_open_thread(resolving: bool) -> None:
    """A token that may not resolve threads leaves the first one open, and its line is there again."""
    desk = Desk()
    desk.github.workflow_token(WORKFLOW_ABILITIES | ({"contents:write"} if resolving else set()))
    desk.publish(desk.reviewed(reject(FAULT)))
    desk.github.pushes(desk.pull, {PATH: LINES.replace("value = 3\n", "value = 4\n")})
    desk.publish(desk.reviewed(approve()))
    desk.github.pushes(desk.pull, {PATH: LINES})
    back = desk.reviewed(reject(FAULT))
    for _ in range(2):
        desk.publish(back)
    said = [False, True] if resolving else [False]
    assert [thread.comments[0].commit == desk.pull.head_sha for thread in desk.threads] == said
    desk.github.pushes(desk.pull, {PATH: LINES + "more = 1\n"})
    desk.publish(desk.reviewed(reject(FAULT)))
    assert [thread.resolved_by is None for thread in desk.threads] == ([False, True] if resolving else [True])


def resolved_after(desk: Desk, document: OutcomeDocument) -> int:
    """The review is published, and the author resolves every thread; how many there are."""
    desk.publish(document)
    for thread in desk.threads:
        desk.github.resolves(thread, by=AUTHOR)
    return len(desk.threads)


@pytest.mark.every_case
def test_what_a_full_memory_forgot_is_not_said_again_after_its_threads_were_resolved() -> None:
    most = MOST_FINDINGS + 5
    desk = Desk()
    desk.github.pushes(desk.pull, {PATH: "".join(f"value = {n}\n" for n in range(1, most + 1))})
    many = [finding(PATH, n, f"value = {n}", title=f"odd {n}") for n in range(1, most + 1)]
    for _ in range(2):
        assert resolved_after(desk, desk.reviewed(reject(*many), files=(edited(PATH, most),))) == MOST_GRAVE
    assert desk.state is not None
    assert (len(desk.state.findings), desk.state.complete) == (MOST_FINDINGS, False)


def test_what_a_lost_memory_does_not_know_is_not_said_again_after_its_thread_was_resolved() -> None:
    desk = Desk()
    assert resolved_after(desk, desk.reviewed(reject(FAULT))) == 1
    desk.github.edits(desk.summaries[0], by=MAINTAINER, body=desk.summaries[0].body + "\nNB")
    desk.publish(DidNotRun("run-2", desk.pull.head_sha, "The credit is spent."))
    assert desk.state is not None
    assert desk.state.findings == ()
    assert resolved_after(desk, desk.reviewed(reject(FAULT))) == 1
