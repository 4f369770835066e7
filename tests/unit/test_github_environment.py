"""GitHub as the environment describes it: GitHub Actions' variables, and nonsense in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from review_advisor.change.change import SourceError
from review_advisor.change.pull_request import PullRequestEvent
from review_advisor.change.redaction import redactor
from review_advisor.github.actions import GithubEnvironment, read_github

GHE = {"GITHUB_SERVER_URL": "https://ghe.example.org"}
TOKEN = "ghs_0123456789abcdefghijABCDEFGHIJ012345"


def test_an_empty_environment_is_githubs_own_and_so_are_empty_variables() -> None:
    empty = dict.fromkeys(("GITHUB_TOKEN", "GITHUB_API_URL", "GITHUB_SERVER_URL", "GITHUB_REPOSITORY"), "")
    assert read_github({}) == read_github(empty) == GithubEnvironment()
    assert read_github({}).clone_url("octo/app") == "https://github.com/octo/app.git"


def test_what_a_workflow_sets() -> None:
    environment = {
        "GITHUB_TOKEN": f"{TOKEN}\n",
        "GITHUB_API_URL": "https://api.github.com",
        "GITHUB_SERVER_URL": "https://github.com/",
        "GITHUB_REPOSITORY": "octo/app",
        "HTTPS_PROXY": "http://proxy.example.org:8080",
        "SECRET": "x",
    }
    github = read_github(environment)
    assert (github.token, github.server_url, github.repository) == (TOKEN, "https://github.com", "octo/app")
    assert github.network == {"HTTPS_PROXY": "http://proxy.example.org:8080"}
    assert TOKEN not in repr(github)


def test_the_token_of_gh_comes_first_and_both_are_known_to_the_redactor() -> None:
    environment = {"GH_TOKEN": TOKEN, "GITHUB_TOKEN": "ghs_ZYXWVUTSRQPONMLKJIHGFEDCBA9876543210"}
    assert read_github(environment).token == TOKEN
    cleaned = redactor(environment).redact(" ".join(environment.values()))
    assert "0123456789" not in cleaned
    assert "ZYXWVUT" not in cleaned


def test_an_enterprise_server_has_its_api_below_itself() -> None:
    assert read_github(GHE).api_url == "https://ghe.example.org/api/v3"
    assert read_github({**GHE, "GITHUB_API_URL": "https://api.example.org/"}).api_url == "https://api.example.org"


def test_an_api_of_another_server_alone_is_refused_or_the_token_would_go_to_both() -> None:
    with pytest.raises(SourceError, match=r"set GITHUB_SERVER_URL too\.$"):
        read_github({"GITHUB_API_URL": "https://ghe.example.org/api/v3"})


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080", "http://localhost", "file:///srv/git"])
def test_this_machine_needs_no_https(url: str) -> None:
    assert read_github({"GITHUB_SERVER_URL": url}).server_url == url


@pytest.mark.parametrize(
    "url",
    [
        "http://github.com",
        "ssh://git@github.com",
        "ext::sh -c id",
        "--upload-pack=id",
        "github.com",
        "https://",
        "https://user:secret@github.com",
        "https://github.com?x=1",
        "https://github.com#x",
        "https://git hub.com",
        "https://github.com\n.evil",
        "https://github.com:port",
        "https://[github.com",
        "file://host/srv",
        "file:relative",
        "http://127.0.0.1.evil.org",
        "http://[::1]:80",
    ],
)
def test_a_server_that_is_none(url: str) -> None:
    with pytest.raises(SourceError, match=r"^GITHUB_SERVER_URL .*\.$") as refused:
        read_github({"GITHUB_SERVER_URL": url})
    assert "secret" not in str(refused.value)


# --- which pull request ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "octo/app#7",
        "7",
        "#7",
        "https://github.com/octo/app/pull/7",
        "https://github.com/octo/app/pull/7/files#diff-1",
        "https://github.com/octo/app/pull/7?w=1",
        "HTTPS://GitHub.com/octo/app/pull/7",
    ],
)
def test_ways_to_name_a_pull_request(name: str) -> None:
    assert read_github({"GITHUB_REPOSITORY": "octo/app"}).pull_request(name) == ("octo/app", 7)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "octo/app",
        "octo/app#0",
        "octo/app#-7",
        "octo/app#7\n",
        "octo/app#\u0667",
        "octo/app#99999999999",
        "octo app#7",
        "a/b/c#7",
        "--upload-pack=x",
        "https://github.com/octo/app/issues/7",
        "https://github.com/octo/app/pull/seven",
        "😀",
    ],
)
def test_what_names_no_pull_request(name: str) -> None:
    with pytest.raises(SourceError, match=f"^{re.escape(repr(name))} names no pull request: write OWNER/REPO#N"):
        read_github({"GITHUB_REPOSITORY": "octo/app"}).pull_request(name)


def test_a_number_alone_needs_a_repository() -> None:
    with pytest.raises(SourceError, match=r"^Say which repository '7' is in: .*GITHUB_REPOSITORY\.$"):
        read_github({}).pull_request("7")


def test_an_address_on_another_server() -> None:
    address = "https://github.com.evil.org/octo/app/pull/7"
    with pytest.raises(SourceError, match=r"is not on https://github.com: set GITHUB_SERVER_URL and GITHUB_API_URL"):
        read_github({}).pull_request(address)
    assert read_github(GHE).pull_request("https://ghe.example.org/octo/app/pull/7") == ("octo/app", 7)


# --- the event ------------------------------------------------------------------------------------

PAYLOAD = (
    '{"action": "opened", "repository": {"full_name": "octo/app"}, "sender": {"login": "mona"},'
    ' "pull_request": {"number": 7, "head": {"sha": "' + "a" * 40 + '"}}}'
)


def test_the_event_is_read_by_the_name_that_actions_gives_it(tmp_path: Path) -> None:
    file = tmp_path / "event.json"
    file.write_text(PAYLOAD)
    github = read_github({"GITHUB_EVENT_NAME": "pull_request_target"})
    assert github.event(str(file)) == PullRequestEvent("opened", "octo/app", 7, "a" * 40, "mona")
    with pytest.raises(SourceError, match=r"^The payload of the event merge_group is not what GitHub sends"):
        read_github({"GITHUB_EVENT_NAME": "merge_group"}).event(str(file))


@pytest.mark.parametrize("name", ["missing.json", "", "with\0null"])
def test_an_event_file_that_cannot_be_read(name: str, tmp_path: Path) -> None:
    place = str(tmp_path / name) if name else ""
    with pytest.raises(SourceError, match=r"^The event file .* cannot be read: "):
        read_github({"GITHUB_EVENT_NAME": "pull_request"}).event(place)


def test_a_file_without_the_events_name(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"GITHUB_EVENT_NAME is not set.*--pr\.$"):
        read_github({}).event(str(tmp_path))


@pytest.mark.parametrize("server", ["https://github.com", "https://github.example.com", "file:///srv/repositories"])
def test_links_lead_to_the_server_of_the_repository_or_nowhere(server: str) -> None:
    address = read_github({"GITHUB_SERVER_URL": server}).web_address
    assert address == ("" if server.startswith("file:") else server)
