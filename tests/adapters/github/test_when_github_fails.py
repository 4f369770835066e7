"""What becomes of failures: a read is tried again, a write is sent once, and every one ends as a sentence."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.adapters.github.scripted import PULL_REQUEST, TOKEN, Reply, github_answers

from review_advisor.change.pull_request import Permission
from review_advisor.github.client import GitHubForge
from review_advisor.github.forge import ForgeDenied, ForgeError, ForgeMissing, ForgeRejected, ForgeUnavailable
from review_advisor.github.writes import Check, Conclusion
from review_advisor.mockworld.world import FakeClock

HEAD = "a" * 40
READ = Reply(body={"permission": "read", "role_name": "read"})
CHECK = Check("review-advisor", "pr-1", "Approved", "All is well.", Conclusion.SUCCESS)

WRITES: dict[str, Callable[[GitHubForge], object]] = {
    "create_check": lambda forge: forge.create_check(HEAD, CHECK),
    "update_check": lambda forge: forge.update_check(5, CHECK),
    "create_comment": lambda forge: forge.create_comment(1, "body"),
    "update_comment": lambda forge: forge.update_comment(5, "body"),
    "delete_comment": lambda forge: forge.delete_comment(5),
    "start_review": lambda forge: forge.start_review(1, HEAD, "body", ()),
    "discard_review": lambda forge: forge.discard_review(1, 5),
    "add_label": lambda forge: forge.add_label(1, "needs-human-review"),
    "remove_label": lambda forge: forge.remove_label(1, "needs-human-review"),
    "request_review": lambda forge: forge.request_review(1, ("mona",)),
    "resolve_thread": lambda forge: forge.resolve_thread("PRRT_1"),
}
NO_ANSWERS = {
    "server error": Reply(500, {"message": "Server Error"}),
    "bad gateway": Reply(502, "<html>unicorn</html>"),
    "overloaded": Reply(503, "", {"Retry-After": "1"}),
    "timeout": Reply(504, {}),
    "too many": Reply(429, {"message": "slow down"}, {"Retry-After": "5"}),
    "primary limit": Reply(403, {"message": "API rate limit exceeded for installation ID 1."}),
    "secondary limit": Reply(403, {"message": "You have exceeded a secondary rate limit."}, {"Retry-After": "60"}),
    "connection ended": Reply(None),
    "nonsense in a header": Reply(200, {}, {"X-RateLimit-Remaining": "many", "X-RateLimit-Limit": "more"}),
    "endless number in a header": Reply(200, {}, {"X-RateLimit-Reset": "inf"}),
    "only taken": Reply(202, {}),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("trouble", NO_ANSWERS)
def test_a_write_is_sent_once_whatever_comes_back(write: str, trouble: str) -> None:
    clock = FakeClock()
    with github_answers(NO_ANSWERS[trouble]) as github, pytest.raises(ForgeUnavailable) as failed:
        WRITES[write](github.forge(clock))
    assert len(github.asked) == 1
    assert clock.seconds == 0
    _assert_one_sentence(failed.value)


@pytest.mark.parametrize("trouble", NO_ANSWERS)
def test_a_read_is_tried_again_until_an_answer_comes(trouble: str) -> None:
    with github_answers(NO_ANSWERS[trouble], READ) as github:
        assert github.forge().permission("mona") is Permission.READ
    assert len(github.asked) == 2


def test_a_read_is_given_up_after_its_fourth_try_and_has_waited_longer_each_time() -> None:
    clock = FakeClock()
    with github_answers(Reply(502, "<html>")) as github, pytest.raises(ForgeUnavailable, match="status 502"):
        github.forge(clock).permission("mona")
    assert len(github.asked) == 4
    assert clock.seconds == 1 + 2 + 4


@pytest.mark.parametrize("message", ["Something went wrong while executing your query.", ""])
def test_a_question_in_graphql_is_a_read_though_it_is_posted(message: str) -> None:
    trouble = Reply(body={"data": None, "errors": [{"message": message}]})
    with github_answers(trouble) as github, pytest.raises(ForgeUnavailable):
        github.forge().comments(1)
    assert len(github.asked) == 4


def test_a_limit_that_ends_soon_is_waited_for_once() -> None:
    clock = FakeClock()
    limit = Reply(429, {}, {"Retry-After": "40"})
    with github_answers(limit, READ) as github:
        github.forge(clock).permission("mona")
    assert clock.seconds == 40


@pytest.mark.parametrize("told", ["91", "3600", "99999999999999999999", "tomorrow"])
def test_a_limit_that_lasts_is_not_waited_out(told: str) -> None:
    clock = FakeClock(seconds=0.0)
    limit = Reply(403, {"message": "API rate limit exceeded"}, {"Retry-After": told})
    with github_answers(limit) as github, pytest.raises(ForgeUnavailable, match="rate limit is reached, try again in"):
        github.forge(clock).permission("mona")
    assert clock.seconds <= 90
    assert len(github.asked) <= 2


def test_a_limit_that_ends_in_a_minute_is_waited_for() -> None:
    clock = FakeClock()
    reset = str(int(clock.now().timestamp()) + 60)
    limit = Reply(403, {"message": "no"}, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset})
    with github_answers(limit, READ) as github:
        github.forge(clock).permission("mona")
    assert 60 <= clock.seconds <= 61


def test_the_sentence_about_a_limit_tells_how_long_it_lasts() -> None:
    clock = FakeClock()
    reset = str(int(clock.now().timestamp()) + 1_800)
    limit = Reply(403, {"message": "no"}, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset})
    with github_answers(limit) as github, pytest.raises(ForgeUnavailable, match="try again in 1801 seconds"):
        github.forge(clock).create_comment(1, "body")


@pytest.mark.parametrize(
    "reply, kind",
    [
        (Reply(401, {"message": "Bad credentials"}), ForgeDenied),
        (Reply(403, {"message": "Resource not accessible by integration"}), ForgeDenied),
        (Reply(404, {"message": "Not Found"}), ForgeMissing),
        (Reply(410, {"message": "Issues are disabled for this repo"}), ForgeMissing),
        (Reply(422, {"message": "Validation Failed", "errors": ["Line could not be resolved"]}), ForgeRejected),
        (Reply(422, {"message": "Validation Failed", "errors": "one text"}), ForgeRejected),
        (Reply(422, {"message": "no", "errors": [{"field": "body", "code": "missing_field"}]}), ForgeRejected),
        (Reply(422, {"message": None, "errors": {"not": "a list"}}), ForgeRejected),
        (Reply(409, "not even JSON"), ForgeRejected),
        (Reply(400, [1, 2, 3]), ForgeRejected),
    ],
)
def test_a_refusal_is_told_apart_and_not_asked_again(reply: Reply, kind: type[ForgeError]) -> None:
    with github_answers(reply) as github:
        forge = github.forge()
        for ask in (lambda: forge.pull_request(1), lambda: forge.create_comment(1, "body"), lambda: forge.comments(1)):
            with pytest.raises(kind) as refused:
                ask()
            assert type(refused.value) is kind
            _assert_one_sentence(refused.value)
    assert len(github.asked) == 3


def test_the_reason_for_a_rejection_is_githubs_own() -> None:
    errors = [{"resource": "Review", "code": "custom", "message": "Body is too long"}, "Line could not be resolved"]
    refusal = Reply(422, {"message": "Validation Failed", "errors": errors})
    said = "Validation Failed; Body is too long; Line could not be resolved"
    with github_answers(refusal) as github, pytest.raises(ForgeRejected, match=said):
        github.forge().create_comment(1, "body")


@pytest.mark.parametrize(
    "problem, kind",
    [
        ({"type": "NOT_FOUND", "message": "Could not resolve to a node"}, ForgeMissing),
        ({"type": "FORBIDDEN", "message": "Resource not accessible by integration"}, ForgeDenied),
        ({"type": "INSUFFICIENT_SCOPES", "message": "Your token has not been granted"}, ForgeDenied),
        ({"type": "RATE_LIMITED", "message": "API rate limit exceeded"}, ForgeUnavailable),
        ({"type": "UNPROCESSABLE", "message": "already resolved"}, ForgeRejected),
        ({"message": "Field 'x' doesn't exist", "extensions": {"code": "undefinedField"}}, ForgeRejected),
        ({"message": "Something went wrong while executing your query"}, ForgeUnavailable),
    ],
)
def test_graphql_refuses_with_status_200_and_is_understood_all_the_same(
    problem: dict[str, object], kind: type[ForgeError]
) -> None:
    with github_answers(Reply(body={"data": None, "errors": [problem]})) as github, pytest.raises(kind) as refused:
        github.forge().resolve_thread("PRRT_1")
    assert isinstance(refused.value, kind)
    assert len(github.asked) == 1
    _assert_one_sentence(refused.value)


def test_github_cannot_speak_through_a_reason() -> None:
    text = f"no\n::set-output name=x::y\u202e\u200b\x1b[31m {TOKEN} ghp_{'a' * 36} " + "long " * 20_000
    with github_answers(Reply(422, {"message": text})) as github, pytest.raises(ForgeRejected) as refused:
        github.forge().create_comment(1, "body")
    sentence = str(refused.value)
    _assert_one_sentence(refused.value)
    assert "::set-output" not in sentence
    assert "ghp_" not in sentence
    assert sentence.isascii()
    assert sentence.isprintable()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_never_followed_so_the_token_stays_here(status: int) -> None:
    with github_answers(READ) as elsewhere:
        reply = Reply(status, {"message": "Moved"}, {"Location": f"{elsewhere.url}/repos/octo/app"})
        with github_answers(reply) as github:
            forge = github.forge()
            for ask in (lambda: forge.pull_request(1), lambda: forge.create_comment(1, "body")):
                with pytest.raises(ForgeMissing, match="has moved; use the repository's present name"):
                    ask()
        assert len(github.asked) == 2
    assert not elsewhere.asked


def test_the_address_of_the_next_page_is_counted_not_followed() -> None:
    with github_answers(READ) as elsewhere:
        link = {"Link": f'<{elsewhere.url}/steal?page=2>; rel="next"'}
        with github_answers(Reply(200, [], link), Reply(200, [])) as github:
            assert github.forge().reviews(1) == ()
    assert [each.path for each in github.asked] == [
        "/repos/octo/app/pulls/1/reviews?page=1&per_page=100",
        "/repos/octo/app/pulls/1/reviews?page=2&per_page=100",
    ]
    assert not elsewhere.asked


@pytest.mark.every_case
def test_a_list_without_an_end_is_given_up() -> None:
    endless = Reply(200, [], {"Link": '<x>; rel="next"'})
    with github_answers(endless) as github, pytest.raises(ForgeError, match="does not end after 300 pages"):
        github.forge().reviews(1)
    assert len(github.asked) == 300


@pytest.mark.every_case
def test_a_list_of_graphql_without_an_end_is_given_up_too() -> None:
    page = {"nodes": [], "pageInfo": {"hasNextPage": True, "endCursor": "again"}}
    endless = Reply(body={"data": {"repository": {"pullRequest": {"page": page}}}})
    with github_answers(endless) as github, pytest.raises(ForgeError, match="does not end after 300 pages"):
        github.forge().threads(1)
    assert len(github.asked) == 300


@pytest.mark.parametrize("body", ["", "{", '{"number": ', "[" * 100_000, '"\\ud800"', "<html>"])
def test_an_answer_that_is_no_json_is_no_answer(body: str) -> None:
    with github_answers(Reply(200, body)) as github:
        forge = github.forge()
        for ask in (lambda: forge.pull_request(1), lambda: forge.create_comment(1, "body"), lambda: forge.comments(1)):
            with pytest.raises(ForgeUnavailable) as failed:
                ask()
            _assert_one_sentence(failed.value)
    assert len([each for each in github.asked if each.path.endswith("/issues/1/comments")]) == 1


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "ask",
    [
        lambda forge: forge.pull_request(1),
        lambda forge: forge.open_pull_requests(HEAD),
        lambda forge: forge.makers(PULL_REQUEST),
        lambda forge: forge.linked_issues(1),
        lambda forge: forge.permission("mona"),
        lambda forge: forge.changed_files(1),
        lambda forge: forge.commentable_lines(1),
        lambda forge: forge.checks(HEAD, "x"),
        lambda forge: forge.comments(1),
        lambda forge: forge.reviews(1),
        lambda forge: forge.threads(1),
        lambda forge: forge.create_comment(1, "body"),
        lambda forge: forge.create_check(HEAD, CHECK),
        lambda forge: forge.start_review(1, HEAD, "body", ()),
        lambda forge: forge.submit_review(1, 5),
    ],
)
@pytest.mark.parametrize(
    "body",
    [
        None,
        {},
        [None],
        [{}],
        {"id": None, "number": "one", "check_runs": [{}]},
        {"data": {"repository": None}},
        {"data": {"repository": {"pullRequest": {"page": {"nodes": [{}], "pageInfo": {}}}}}},
    ],
)
def test_an_answer_without_what_github_documents_is_a_sentence_not_a_crash(
    ask: Callable[[GitHubForge], object], body: object
) -> None:
    with github_answers(Reply(200, body)) as github, pytest.raises(ForgeError) as failed:
        ask(github.forge())
    _assert_one_sentence(failed.value)
    assert len(github.asked) == 1


def test_what_is_missing_is_named() -> None:
    found = Reply(200, {"number": 1, "title": "x", "body": None, "user": None, "base": {"ref": "main"}})
    with github_answers(found) as github, pytest.raises(ForgeUnavailable, match=r"base\.sha is missing or wrong"):
        github.forge().pull_request(1)


def test_writes_to_githubs_own_servers_keep_a_second_between_them() -> None:
    from review_advisor.github.responses import api_address
    from review_advisor.github.wire import Exchange, Wire

    clock = FakeClock()
    with github_answers(Reply(201, {"id": 1})) as github:
        paced = GitHubForge("octo/app", Wire(Exchange(api_address(github.url), TOKEN), clock, between_writes=1.0))
        for _ in range(3):
            paced.create_comment(1, "body")
        assert clock.seconds == 2
        clock.sleep(10)
        paced.delete_comment(1)
    assert clock.seconds == 12


def _assert_one_sentence(error: ForgeError) -> None:
    sentence = str(error)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert len(sentence) < 400
    assert TOKEN not in sentence
