"""The HTTP door of MockWorld's GitHub, with PyGithub unpatched in front of it."""

from collections.abc import Iterator
from typing import Any

import pytest
import requests
from github import Auth, Github, GithubException, RateLimitExceededException
from github.ContentFile import ContentFile
from github.PullRequest import ReviewComment
from tests.adapters.github.door import Door, opened

from review_advisor.core.facts.pull_request import Permission
from review_advisor.mockworld.github.model import GitHub
from review_advisor.mockworld.github.records import Pull, RequiredStatusCheck, Token
from review_advisor.mockworld.github.traffic import Limited, Moment, Reset, ServerFailure

SHOP = "octo/shop"
BOT = "github-actions[bot]"


class Shop:
    """A repository with one pull request, the door to it, and a client at the door."""

    def __init__(self, github: GitHub, door: Door, token: Token) -> None:
        self.github = github
        self.door = door
        self.pull: Pull = github.opens(
            SHOP,
            {"till.py": "one\n2\nthree\nfour\n", "new.py": "x\n"},
            by="ann",
            title="Count again",
            body="It is wrong.",
        )
        self.client = _client(door, token)
        self.there = self.client.get_repo(SHOP)

    def get(self, path: str) -> Any:
        """What stands at a path of the repository."""
        return self._ask("GET", path)

    def post(self, path: str, body: object) -> Any:
        return self._ask("POST", path, body)

    def patch(self, path: str, body: object) -> Any:
        return self._ask("PATCH", path, body)

    def graph(self, query: str) -> Any:
        return self.client.requester.graphql_query(query, {})[1]["data"]

    def _ask(self, verb: str, path: str, body: object = None) -> Any:
        return self.client.requester.requestJsonAndCheck(verb, f"/repos/{SHOP}{path}", input=body)[1]


def _client(door: Door, token: Token) -> Github:
    return Github(
        auth=Auth.Token(token.value),
        base_url=door.url,
        retry=None,
        seconds_between_requests=None,
        seconds_between_writes=None,
    )


@pytest.fixture
def shop() -> Iterator[Shop]:
    github = GitHub()
    github.opens_repository(SHOP, {"till.py": "one\ntwo\nthree\n"}, organization=True)
    token = github.workflow_token()
    with opened(github) as door:
        made = Shop(github, door, token)
        yield made
        made.client.close()


def test_a_pull_request_its_files_and_its_commit_are_read(shop: Shop) -> None:
    pull = shop.there.get_pull(shop.pull.number)

    assert (pull.title, pull.user.login, pull.head.sha) == ("Count again", "ann", shop.pull.head_sha)
    assert {file.filename: file.status for file in pull.get_files()} == {"new.py": "added", "till.py": "modified"}
    listed = shop.there.get_pulls(state="open", sort="created", direction="asc")
    assert [each.number for each in listed] == [shop.pull.number]
    content = shop.there.get_contents("till.py", ref=pull.head.sha)
    assert isinstance(content, ContentFile)
    assert content.decoded_content == b"one\n2\nthree\nfour\n"


def test_lists_come_in_pages(shop: Shop) -> None:
    shop.github.force_pushes(shop.pull, {f"file {number:02}": "x\n" for number in range(65)})

    found = shop.there.get_pull(1).get_files()

    assert [file.filename for file in found] == [f"file {number:02}" for number in range(65)]


def test_a_comment_is_made_edited_and_deleted(shop: Shop) -> None:
    made = shop.there.get_pull(1).create_issue_comment("hello")
    made.edit("hello again")

    assert [(each.author, each.body, each.editor) for each in shop.pull.comments] == [
        (BOT, "hello again", BOT),
    ]

    made.delete()

    assert shop.pull.comments == []


def test_a_pending_review_is_seen_by_its_author_only_and_then_submitted(shop: Shop) -> None:
    pull = shop.there.get_pull(1)
    remark: ReviewComment = {"path": "till.py", "body": "why 2?", "line": 2, "side": "RIGHT"}

    review = pull.create_review(body="Look at this.", comments=[remark])

    assert review.state == "PENDING"
    assert [each.id for each in pull.get_reviews()] == [review.id]
    assert shop.github.visible_reviews(shop.pull, "ann") == ()

    shop.post(f"/pulls/1/reviews/{review.id}/events", {"event": "COMMENT", "body": "Look at this."})

    assert [each.state for each in shop.github.visible_reviews(shop.pull, "ann")] == ["COMMENTED"]
    with pytest.raises(GithubException, match="non-pending"):
        review.delete()


def test_one_line_outside_the_diff_refuses_the_whole_review(shop: Shop) -> None:
    good: ReviewComment = {"path": "till.py", "body": "fine", "line": 2, "side": "RIGHT"}
    bad: ReviewComment = {"path": "till.py", "body": "not there", "line": 99, "side": "RIGHT"}

    with pytest.raises(GithubException, match="Line could not be resolved") as refused:
        shop.there.get_pull(1).create_review(body="Two remarks.", comments=[good, bad])

    assert refused.value.status == 422
    assert shop.pull.reviews == []


def test_a_check_run_grows_and_ends(shop: Shop) -> None:
    head = shop.pull.head_sha
    run = shop.there.create_check_run("review-advisor", head, status="in_progress", external_id="pr-1")
    remarks = [
        {"path": "till.py", "start_line": 2, "end_line": 2, "annotation_level": "warning", "message": f"remark {each}"}
        for each in range(50)
    ]
    output = {"title": "Reading", "summary": "so far", "annotations": remarks}
    run.edit(output=output)
    run.edit(status="completed", conclusion="failure", output=output)

    assert (run.conclusion, run.output.annotations_count) == ("failure", 100)
    assert len(list(run.get_annotations())) == 100
    (stands,) = shop.github.repository(SHOP).checks.values()
    assert (stands.app.slug, stands.external_id, stands.status) == ("github-actions", "pr-1", "completed")
    found = shop.get(f"/commits/{head}/check-runs?check_name=review-advisor&filter=all")
    assert [each["id"] for each in found["check_runs"]] == [run.id]


def test_labels_are_made_when_they_are_put_on(shop: Shop) -> None:
    pull = shop.there.get_pull(1)
    pull.add_to_labels("needs human review")

    assert [label.name for label in shop.there.get_pull(1).labels] == ["needs human review"]

    pull.remove_from_labels("needs human review")

    assert shop.pull.labels == []
    with pytest.raises(GithubException, match="Label does not exist"):
        pull.remove_from_labels("needs human review")


def test_the_author_of_a_pull_request_is_not_asked_for_their_review(shop: Shop) -> None:
    shop.github.grants(SHOP, "ann", Permission.WRITE)
    shop.github.grants(SHOP, "bob", Permission.WRITE)
    pull = shop.there.get_pull(1)
    pull.create_review_request(reviewers=["bob"])

    with pytest.raises(GithubException, match="author"):
        pull.create_review_request(reviewers=["ann"])

    assert shop.pull.requested_users == ["bob"]


def test_a_team_is_asked_by_a_token_that_may_read_the_members_only(shop: Shop) -> None:
    shop.github.team("octo", "guards")
    pull = shop.there.get_pull(1)
    with pytest.raises(GithubException, match="not accessible by integration"):
        pull.create_review_request(team_reviewers=["guards"])

    shop.github.workflow_token({"pull_requests:write", "members:read"})
    pull.create_review_request(team_reviewers=["guards"])

    assert shop.pull.requested_teams == ["octo/guards"]


@pytest.mark.parametrize("permission", list(Permission))
def test_what_somebody_may_do_is_told_by_both_words(shop: Shop, permission: Permission) -> None:
    shop.github.grants(SHOP, "bob", permission)

    told = shop.get("/collaborators/bob/permission")

    assert told["role_name"] == permission
    assert (told["permission"] in {"write", "admin"}) == permission.may_write


def test_a_commit_is_made_of_objects_and_the_branch_moves_forward_only(shop: Shop) -> None:
    shop.github.workflow_token({"contents:write", "pull_requests:write"})
    before = shop.pull.head_sha
    blob = shop.there.create_git_blob("one\ntwo\nthree\nfour\n", "utf-8")
    entry = {"path": "till.py", "mode": "100644", "type": "blob", "sha": blob.sha}
    tree = shop.post("/git/trees", {"base_tree": shop.github.commit(before).tree, "tree": [entry]})
    made = shop.post("/git/commits", {"message": "Repair", "tree": tree["sha"], "parents": [before]})
    ref = f"/git/refs/heads/{shop.pull.head_ref}"

    shop.patch(ref, {"sha": made["sha"], "force": False})

    assert shop.pull.head_sha == made["sha"]
    assert [file.filename for file in shop.there.get_pull(1).get_files()] == ["new.py", "till.py"]
    with pytest.raises(GithubException, match="not a fast forward"):
        shop.patch(ref, {"sha": before, "force": False})


def test_what_guards_a_branch_is_told_to_those_who_may_ask(shop: Shop) -> None:
    shop.github.protects(SHOP, "main", RequiredStatusCheck("review-advisor"), by_ruleset=True)

    (rule,) = shop.get("/rules/branches/main")
    branch = shop.get("/branches/main")

    assert rule["parameters"]["required_status_checks"] == [{"context": "review-advisor"}]
    assert branch["protected"] is True


def test_threads_and_editors_are_told_by_graphql(shop: Shop) -> None:
    comment = shop.github.comments(shop.pull, by=BOT, body="mine")
    shop.github.edits(comment, by="mallory", body="not mine")
    remark: ReviewComment = {"path": "till.py", "body": "why 2?", "line": 2, "side": "RIGHT"}
    review = shop.there.get_pull(1).create_review(body="Look.", comments=[remark])
    shop.post(f"/pulls/1/reviews/{review.id}/events", {"event": "COMMENT", "body": "Look."})

    told = shop.graph(
        """{ repository(owner: "octo", name: "shop") { pullRequest(number: 1) {
        comments(first: 10) { nodes { fullDatabaseId author { __typename login } editor { login } } }
        reviewThreads(first: 10) { nodes { id isResolved isOutdated comments(first: 1) { totalCount } } } } } }"""
    )["repository"]["pullRequest"]

    (said,) = told["comments"]["nodes"]
    assert said["author"] == {"__typename": "Bot", "login": "github-actions"}
    assert said["editor"] == {"login": "mallory"}
    (thread,) = told["reviewThreads"]["nodes"]
    assert (thread["isResolved"], thread["isOutdated"]) == (False, False)

    shop.github.workflow_token({"contents:write", "pull_requests:write"})
    mutation = (
        f"mutation {{ resolveReviewThread(input: {{threadId: {thread['id']!r}}}) {{ thread {{ isResolved }} }} }}"
    )
    resolved = shop.graph(mutation.replace("'", '"'))

    assert resolved["resolveReviewThread"]["thread"] == {"isResolved": True}
    assert shop.pull.reviews[0].threads[0].resolved_by == BOT


def test_a_server_error_after_a_write_leaves_the_write(shop: Shop) -> None:
    pull = shop.there.get_pull(1)
    shop.github.traffic.meets(ServerFailure(), Moment(kind="write", after=True))

    with pytest.raises(GithubException) as failed:
        pull.create_issue_comment("once")

    assert failed.value.status == 502
    assert [comment.body for comment in shop.pull.comments] == ["once"]


def test_a_connection_breaks_before_a_write(shop: Shop) -> None:
    pull = shop.there.get_pull(1)
    shop.github.traffic.meets(Reset(), Moment(kind="write"))

    with pytest.raises(requests.ConnectionError):
        pull.create_issue_comment("never")

    assert shop.pull.comments == []


@pytest.mark.parametrize("secondary", [True, False])
def test_limits_are_told_as_github_tells_them(shop: Shop, secondary: bool) -> None:
    pull = shop.there.get_pull(1)
    shop.github.traffic.meets(Limited(secondary=secondary), Moment())

    with pytest.raises(RateLimitExceededException) as limited:
        pull.create_issue_comment("too much")

    headers = limited.value.headers or {}
    assert ("retry-after" in headers) == secondary
    assert (headers.get("x-ratelimit-remaining") == "0") != secondary


def test_a_pull_request_from_a_deleted_fork_has_no_head_repository(shop: Shop) -> None:
    fork = shop.github.forks(SHOP, "eve")
    pull = shop.github.opens(SHOP, by="eve")
    assert shop.there.get_pull(pull.number).head.repo.full_name == fork.name

    shop.github.deletes_repository(fork.name)

    assert shop.get(f"/pulls/{pull.number}")["head"]["repo"] is None


def test_a_request_that_github_does_not_describe_fails_the_test() -> None:
    remark = {"path": "a", "start_line": 1, "end_line": 1, "annotation_level": "fatal", "message": "m"}
    output = {"title": "t", "summary": "s", "annotations": [remark]}

    with pytest.raises(AssertionError, match="annotation_level"):
        _ask_once(f"/repos/{SHOP}/check-runs", {"name": "n", "head_sha": "0" * 40, "output": output})


def test_a_route_that_github_does_not_describe_fails_the_test() -> None:
    with pytest.raises(AssertionError, match="no such route"):
        _ask_once(f"/repos/{SHOP}/check-walks", {})


def test_a_query_that_github_does_not_describe_fails_the_test() -> None:
    with pytest.raises(AssertionError, match="nameWithOwners"):
        _ask_once("/graphql", {"query": '{ repository(owner: "octo", name: "shop") { nameWithOwners } }'})


def _ask_once(path: str, body: object) -> None:
    github = GitHub()
    github.opens_repository(SHOP)
    token = github.workflow_token()
    with opened(github) as door:
        client = _client(door, token)
        client.requester.requestJson("POST", path, input=body)
        client.close()
