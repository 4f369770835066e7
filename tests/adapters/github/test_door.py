"""The HTTP door of MockWorld's GitHub, with PyGithub unpatched in front of it.

What can be read and written there, the tests of the adapter show; here is what the door adds of its own.
"""

import pytest
from github import Auth, Github, RateLimitExceededException
from tests.adapters.github.door import Door, opened

from review_advisor.mockworld.github import GitHub
from review_advisor.mockworld.github_records import Token
from review_advisor.mockworld.github_traffic import Limited, RequestMoment

SHOP = "octo/shop"


def _client(door: Door, token: Token) -> Github:
    return Github(
        auth=Auth.Token(token.value),
        base_url=door.url,
        retry=None,
        seconds_between_requests=None,
        seconds_between_writes=None,
    )


@pytest.mark.parametrize("secondary", [True, False])
def test_limits_are_told_as_github_tells_them(secondary: bool) -> None:
    github = GitHub()
    github.opens_repository(SHOP)
    github.traffic.meets(Limited(secondary=secondary), RequestMoment())

    with opened(github) as door:
        client = _client(door, github.workflow_token())
        with pytest.raises(RateLimitExceededException) as limited:
            client.get_repo(SHOP)
        client.close()

    headers = limited.value.headers or {}
    assert ("retry-after" in headers) == secondary
    assert (headers.get("x-ratelimit-remaining") == "0") != secondary


def test_what_the_model_does_not_know_is_filled_in_as_github_describes_it() -> None:
    github = GitHub()
    github.opens_repository(SHOP)

    with opened(github) as door:
        client = _client(door, github.workflow_token())
        found = client.get_repo(SHOP)
        client.close()

    assert (found.full_name, found.has_wiki, found.forks_count) == (SHOP, False, 0)


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
