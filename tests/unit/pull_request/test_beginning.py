"""What an event on a pull request begins, and what its check says where nothing begins."""

from dataclasses import replace
from typing import Literal

import pytest

from review_advisor.change.pull_request import PullRequest
from review_advisor.github.beginning import Beginning, approval_fell, beginning, queued_pull_request, same_head
from review_advisor.github.memory import OPENS_BREAKER, failed
from review_advisor.github.state import State
from review_advisor.policy.pull_request_rules import ACTIONS_LOGIN, PublicationRules

HEAD, OLDER = "a" * 40, "b" * 40
RULES = PublicationRules()
PULL = PullRequest("octo/demo", 7, "A title", "", "ada", "main", "c" * 40, "topic", HEAD, "octo/demo")
FORK = replace(PULL, head_repository="eve/demo")


def begins(pull: PullRequest = PULL, state: State | None = None, *, asked: bool = False) -> Beginning:
    return beginning(pull, state, RULES, asked=asked)


def said(found: Beginning) -> str:
    assert found.waiting is not None
    return f"{found.waiting.title}\n{found.waiting.words}"


def after(failures: int, head: str = HEAD) -> State:
    """What is remembered after so many failures of one kind on one head."""
    state = None
    for number in range(failures):
        state = failed(state, f"run-{number}", head, "no <credit>")
    assert state is not None
    return state


def test_an_open_pull_request_is_reviewed() -> None:
    assert begins() == Beginning(review=True, because="its head is to be reviewed", most_usd=50.0)


@pytest.mark.parametrize("ended", ["closed", "merged"])
def test_one_that_is_not_open_is_not_reviewed_whoever_asks(ended: Literal["closed", "merged"]) -> None:
    found = begins(replace(PULL, state=ended), asked=True)
    assert found == Beginning(review=False, because=f"the pull request is {ended}")


@pytest.mark.parametrize("pull, state", [(FORK, None), (replace(PULL, draft=True), None), (PULL, after(9))])
def test_whoever_may_push_can_ask_for_a_review(pull: PullRequest, state: State | None) -> None:
    assert begins(pull, state, asked=True) == Beginning(review=True, because="a person asked for it")


@pytest.mark.parametrize("repository", ["eve/demo", None])
def test_a_fork_waits_for_a_maintainer(repository: str | None) -> None:
    found = begins(replace(FORK, head_repository=repository))
    assert (found.review, found.because, found.drop_fork_label) == (False, "its head is in a fork", False)
    assert said(found) == (
        "Not reviewed: a fork waits for a maintainer\n"
        f"This pull request comes from a fork. A maintainer looks at `{HEAD}` and puts the label"
        " `review-this-fork` on it; then it is reviewed. Each push takes the label off again."
    )


def test_a_label_on_a_fork_falls_with_the_next_push() -> None:
    assert begins(replace(FORK, labels=("bug", "review-this-fork"))).drop_fork_label
    assert not begins(replace(FORK, labels=("bug",))).drop_fork_label


def test_a_head_in_the_repository_is_no_fork_however_its_name_is_written() -> None:
    assert begins(replace(PULL, head_repository="Octo/Demo")).review
    assert begins(replace(PULL, repository="OCTO/demo")).review


def test_a_draft_waits_until_it_is_ready() -> None:
    found = begins(replace(PULL, draft=True))
    assert (found.review, found.because) == (False, "it is a draft")
    assert said(found) == (
        "Not reviewed: this is a draft\nIt is reviewed when it is marked as ready."
        " `/advisor review` in a comment reviews it now."
    )


def test_the_same_failure_again_and_again_stops_the_reviews_of_a_head() -> None:
    assert OPENS_BREAKER == 3
    assert begins(state=after(OPENS_BREAKER - 1)).review
    for times in (OPENS_BREAKER, OPENS_BREAKER + 1):
        found = begins(state=after(times))
        assert (found.review, found.because) == (False, "the same failure came again and again")
        assert said(found) == (
            f"Not reviewed: the same failure {times} times\n"
            f"On this head the review failed {times} times in the same way: no &lt;credit&gt;\n\n"
            "Once the cause is gone, `/advisor review` in a comment starts it again; so does a new push."
        )
    assert begins(state=after(OPENS_BREAKER, OLDER)).review


def test_pushes_start_ten_reviews_and_no_more() -> None:
    assert begins(state=after(1).model_copy(update={"rounds": 9})).review
    found = begins(state=after(1).model_copy(update={"rounds": 10}))
    assert (found.review, found.because) == (False, "its automatic reviews are used up")
    assert said(found) == (
        "Not reviewed: 10 automatic reviews are used up\nPushes to this pull request have started 10 reviews, and start"
        " no more. `/advisor review` in a comment reviews this head."
    )


def test_a_check_says_why_nothing_is_decided() -> None:
    twin = same_head(12)
    assert twin.title == "Not decided: pull request 12 has the same head"
    assert twin.words.startswith("This commit is also the head of pull request 12, and a check belongs to a commit")
    fell = approval_fell("The <label> is gone.")
    assert fell.title == "Not decided: a person's decision did not hold"
    assert fell.words.endswith("at the same moment something changed. The &lt;label&gt; is gone.")


@pytest.mark.parametrize(
    "ref, number",
    [
        (f"gh-readonly-queue/main/pr-7-{HEAD}", 7),
        (f"refs/heads/gh-readonly-queue/release/1.0/pr-1234567890-{HEAD}", 1234567890),
        (f"gh-readonly-queue/main/pr-12345678901-{HEAD}", None),
        (f"gh-readonly-queue/main/pr-0-{HEAD}", None),
        (f"gh-readonly-queue/main/pr-7-{HEAD[1:]}", None),
        (f"gh-readonly-queue/main/pr-7-{HEAD}x", None),
        (f"x/gh-readonly-queue/main/pr-7-{HEAD}", None),
        ("main", None),
    ],
)
def test_the_branch_of_a_merge_queue_names_a_pull_request(ref: str, number: int | None) -> None:
    assert queued_pull_request(ref) == number


def test_the_defaults_of_publishing_are_the_ones_in_the_manual() -> None:
    assert (
        PublicationRules(
            check_name="review-advisor",
            login="github-actions[bot]",
            escalation_label="needs-human-review",
            fork_label="review-this-fork",
            reviewers=(),
            volume="normal",
            least_confidence=0.6,
            push_repairs=False,
        )
        == PublicationRules()
    )


@pytest.mark.parametrize(
    "login, ours", [(ACTIONS_LOGIN, True), ("GitHub-Actions[BOT]", True), ("github-actions", False)]
)
def test_an_account_is_ours_however_its_name_is_written(login: str, ours: bool) -> None:
    assert RULES.is_ours(login) is ours
    assert PublicationRules(login="Acme[bot]").is_ours("acme[bot]")
