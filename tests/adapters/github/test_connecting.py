"""Which addresses, names and tokens the GitHub adapter takes, before it sends anything."""

from __future__ import annotations

import pytest
from tests.adapters.github.scripted import TOKEN, Reply, github_answers

from review_advisor.change.pull_request import Permission
from review_advisor.github.client import connect
from review_advisor.github.forge import ForgeError, ForgeRejected
from review_advisor.mockworld.world import FakeClock

READ = Reply(body={"permission": "read", "role_name": "read"})
NO_THREADS = Reply(
    body={
        "data": {
            "repository": {
                "pullRequest": {"page": {"nodes": [], "pageInfo": {"hasNextPage": False, "endCursor": None}}}
            }
        }
    }
)


def test_rest_and_graphql_are_asked_with_the_token_below_a_github_enterprise_address() -> None:
    with github_answers(READ, NO_THREADS) as github:
        forge = github.forge(below="/api/v3/")
        forge.permission("mona")
        forge.threads(7)
    assert [(each.verb, each.path) for each in github.asked] == [
        ("GET", "/api/v3/repos/octo/app/collaborators/mona/permission"),
        ("POST", "/api/graphql"),
    ]
    assert {each.headers["authorization"] for each in github.asked} == {f"token {TOKEN}"}


def test_a_proxy_of_the_environment_never_sees_what_is_meant_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with github_answers(Reply(404)) as proxy, github_answers(READ) as github:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        assert github.forge().permission("mona") is Permission.READ
    assert not proxy.asked


@pytest.mark.parametrize(
    "url",
    [
        "http://ghe.example.com/api/v3",
        "ftp://api.github.com",
        "api.github.com",
        "https://",
        "https://user:hunter2hunter2@ghe.example.com/api/v3",
        "https://ghe.example.com/api/v3?token=hunter2hunter2",
        "https://ghe.example.com/api/v3#hunter2hunter2",
        "https://ghe.example.com:port/api",
        "https://ghe.example.com\\@evil.example/",
        "https://ghe.example.com/a b",
        "https://[::1]/api",
        "https://ghe.example.com\n.evil.example",
        "http://127.0.0.1.evil.example/",
        "http://localhost.evil.example/",
        "https://\u0261ithub.com",
    ],
)
def test_an_address_that_would_give_the_token_away_is_refused_in_one_sentence_without_repeating_it(url: str) -> None:
    with pytest.raises(ForgeError) as refused:
        connect("octo/app", token=TOKEN, api_url=url, clock=FakeClock())
    assert "GitHub's API URL" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("url", ["", "  ", "https://api.github.com/", "https://ghe.example.com:8443/api/v3"])
def test_a_usual_address_is_taken_and_an_empty_one_is_githubs_own(url: str) -> None:
    connect("octo/app", token=TOKEN, api_url=url, clock=FakeClock())


@pytest.mark.parametrize(
    "name", ["", "octo", "octo/", "/app", "octo/app/x", "octo/..", "../app", "octo/a b", "octo/app\n", "öcto/app"]
)
def test_a_name_that_no_repository_has_is_refused(name: str) -> None:
    with pytest.raises(ForgeError, match="is not the name of a repository: write OWNER/NAME"):
        connect(name, token=TOKEN, clock=FakeClock())


@pytest.mark.parametrize("token", ["", " \n", "hunter2\nhunter2", "hunter2 hunter2", "hunter2\u200bhunter2"])
def test_a_token_that_cannot_stand_in_a_header_is_refused_without_repeating_it(token: str) -> None:
    with pytest.raises(ForgeError, match="GitHub token") as refused:
        connect("octo/app", token=token, clock=FakeClock())
    assert "hunter2" not in str(refused.value)


def test_the_line_feed_behind_a_token_is_no_part_of_it() -> None:
    with github_answers(READ) as github:
        connect("octo/app", token=f"{TOKEN}\n", api_url=github.url, clock=FakeClock()).permission("mona")
    assert github.asked[0].headers["authorization"] == f"token {TOKEN}"


@pytest.mark.parametrize("login", ["", ".", "..", "../../user", "a/b", "mona?x=1", "mona\u202e", "[bot]"])
def test_a_name_that_no_account_has_is_never_part_of_a_path(login: str) -> None:
    with github_answers(READ) as github:
        assert github.forge().permission(login) is Permission.NONE
    assert not github.asked


@pytest.mark.parametrize("path", ["", ".", "..", "../../../user", "a//b", "/etc/passwd", "a/./b", "a/.."])
def test_a_path_that_no_file_has_is_never_asked_for(path: str) -> None:
    with github_answers(READ) as github:
        assert github.forge().file(path, "a" * 40) is None
    assert not github.asked


@pytest.mark.parametrize("commit", ["", "main", "abc", "A" * 40, "a" * 41, "../" + "a" * 37])
def test_only_a_full_object_name_is_a_commit(commit: str) -> None:
    with github_answers(READ) as github:
        forge = github.forge()
        for ask in (
            lambda: forge.file("a.txt", commit),
            lambda: forge.checks(commit, "review"),
            lambda: forge.open_pull_requests(commit),
            lambda: forge.start_review(1, commit, "body", ()),
        ):
            with pytest.raises(ForgeRejected, match="is not the full name of a commit"):
                ask()
    assert not github.asked


@pytest.mark.parametrize("label", ["", ".", ".."])
def test_a_label_whose_name_would_mean_all_labels_is_not_taken_off(label: str) -> None:
    with github_answers(Reply(200, [])) as github, pytest.raises(ForgeRejected, match="cannot stand in a request"):
        github.forge().remove_label(1, label)
    assert not github.asked


def test_a_team_of_another_organisation_is_refused_before_anything_is_sent() -> None:
    with github_answers(Reply(201, {})) as github, pytest.raises(ForgeRejected, match="teams of octo only"):
        github.forge().request_review(1, ("mona", "other/security"))
    assert not github.asked
