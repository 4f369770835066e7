"""``doctor --github``: is the check a gate, and who could forge it?"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.github_rules import ACTIONS_APP, GithubRules, github_rules

from review_advisor.github.branch_rules import workflow_remark
from review_advisor.policy.pull_request_rules import ACTIONS_LOGIN

pytestmark = pytest.mark.every_case

OURS = "review-advisor"
OWN_APP = 271_828


@pytest.fixture
def github() -> Iterator[GithubRules]:
    with github_rules() as rules:
        rules.repository()
        yield rules
        assert rules.writes == []


def told(
    terminal: Terminal, github: GithubRules, token: str = "t0ken-value", **environment: str
) -> dict[str, tuple[bool, str]]:
    here = {"GITHUB_TOKEN": token, "GITHUB_SERVER_URL": github.url, "GITHUB_API_URL": github.url, **environment}
    done = terminal.run("doctor", "--json", "--github", "octo/demo", env=here)
    assert done.code == 0, "what GitHub says is advice: the embedded agent can review here"
    assert "t0ken-value" not in done.out + done.err
    rows = [row for row in json.loads(done.out)["checks"] if row["for"] == "github"]
    return {row["name"]: (row["ok"], row["says"]) for row in rows}


@pytest.mark.one_of_its_kind
def test_without_a_token_it_says_so(terminal: Terminal, github: GithubRules) -> None:
    assert told(terminal, github, token="") == {
        "token": (False, "There is no GitHub token: set GITHUB_TOKEN."),
    }
    assert github.authorizations == set()


def test_a_repository_that_the_token_may_not_see(terminal: Terminal, github: GithubRules) -> None:
    github.answers.clear()
    ok, says = told(terminal, github)["token"]
    assert not ok
    assert "not there, or not for this token" in says


def test_the_environment_is_read_as_every_other_command_reads_it(terminal: Terminal, github: GithubRules) -> None:
    """gh's own variable goes first, and the token goes to no API that is not the named server's."""
    told(terminal, github, GH_TOKEN="g0es-first")
    assert github.authorizations == {"token g0es-first"}
    github.authorizations.clear()
    rows = told(terminal, github, GITHUB_SERVER_URL="")
    says = "GITHUB_API_URL names another server than GitHub's own: set GITHUB_SERVER_URL too."
    assert (rows, github.authorizations) == ({"token": (False, says)}, set())


@pytest.mark.every_case
def test_a_token_that_cannot_publish_is_noticed(terminal: Terminal, github: GithubRules) -> None:
    github.repository(push=False)
    ok, says = told(terminal, github)["token"]
    assert (ok, "may not push" in says) == (False, True)


def test_a_check_that_nothing_requires_stops_no_merge(terminal: Terminal, github: GithubRules) -> None:
    github.protection({"context": "tests", "app_id": ACTIONS_APP})
    rows = told(terminal, github)
    ok, says = rows["required check"]
    assert not ok
    assert "No rule of main requires the check 'review-advisor'" in says
    assert "required are: 'tests'" in says
    assert "check's source" not in rows


@pytest.mark.one_in(4)
@pytest.mark.parametrize("required, ok", [(OURS, False), (f"{OURS} (shadow)", False), ("tests", True)])
def test_in_shadow_mode_nothing_is_enforced_and_neither_check_may_be_required(
    terminal: Terminal, github: GithubRules, required: str, ok: bool
) -> None:
    (terminal.folder / ".review-advisor.toml").write_text('mode = "shadow"\n')
    github.protection({"context": required, "app_id": ACTIONS_APP})
    rows = told(terminal, github)
    assert rows["required check"][0] is ok
    assert "nothing is enforced" in rows["mode"][1]
    assert {"check's source", "memory", "own work"}.isdisjoint(rows), "that is about a gate"


def test_a_branch_without_any_rule(terminal: Terminal, github: GithubRules) -> None:
    ok, says = told(terminal, github)["required check"]
    assert (ok, "none is required" in says) == (False, True)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("app,who", [(None, "any app"), (-1, "any app"), (ACTIONS_APP, "GitHub Actions")])
def test_a_check_that_a_workflow_can_forge_is_said_to_be_one(
    terminal: Terminal, github: GithubRules, app: int | None, who: str
) -> None:
    github.protection({"context": OURS, "app_id": app})
    ok, says = told(terminal, github)["check's source"]
    assert not ok
    assert f"may come from {who}: anyone who can push a branch can forge it" in says
    assert "Let a GitHub App of your own publish it" in says


def writes_as_its_own_app(terminal: Terminal, github: GithubRules) -> None:
    (terminal.folder / ".review-advisor.toml").write_text('[github]\nlogin = "acme-reviewer[bot]"\n')
    github.app("acme-reviewer", OWN_APP)


def test_actions_is_known_by_its_own_number_on_every_server(terminal: Terminal, github: GithubRules) -> None:
    github.app("github-actions", 29)
    github.protection({"context": OURS, "app_id": 29})
    ok, says = told(terminal, github)["check's source"]
    assert (ok, "may come from GitHub Actions" in says) == (False, True)


def test_a_check_that_is_pinned_to_another_app_than_the_bots_never_passes(
    terminal: Terminal, github: GithubRules
) -> None:
    github.protection({"context": OURS, "app_id": OWN_APP})
    ok, says = told(terminal, github)["check's source"]
    assert not ok
    assert f"the bot writes as github-actions[bot], which is the app {ACTIONS_APP}: it never passes." in says


def test_an_app_that_the_token_cannot_see_is_to_be_looked_up(terminal: Terminal, github: GithubRules) -> None:
    writes_as_its_own_app(terminal, github)
    del github.answers["/apps/acme-reviewer"]
    github.protection({"context": OURS, "app_id": OWN_APP})
    ok, says = told(terminal, github)["check's source"]
    assert (ok, "cannot see whether that is acme-reviewer[bot]" in says) == (False, True)


@pytest.mark.one_of_its_kind
def test_a_check_that_is_pinned_to_an_own_app_is_sound(terminal: Terminal, github: GithubRules) -> None:
    writes_as_its_own_app(terminal, github)
    github.ruleset({"context": OURS, "integration_id": OWN_APP}, strict=True)
    rows = told(terminal, github)
    assert all(ok for name, (ok, _) in rows.items() if name != "workflow's source")
    assert rows["required check"][1] == "'review-advisor' is required on main by ruleset 12"
    assert str(OWN_APP) in rows["check's source"][1]


def test_of_two_rules_the_stricter_one_decides(terminal: Terminal, github: GithubRules) -> None:
    """Both must be satisfied, so a check pinned by one of them cannot be forged."""
    writes_as_its_own_app(terminal, github)
    github.protection({"context": OURS, "app_id": None})
    github.ruleset({"context": OURS, "integration_id": OWN_APP})
    rows = told(terminal, github)
    assert rows["check's source"][0]
    assert "branch protection and ruleset 12" in rows["required check"][1]


@pytest.mark.parametrize(
    "strict,words",
    [(False, "may differ from the reviewed change"), (None, "cannot see whether a branch must be up to date")],
)
def test_branches_that_may_be_behind(terminal: Terminal, github: GithubRules, strict: bool | None, words: str) -> None:
    github.protection({"context": OURS, "app_id": OWN_APP}, strict=strict)
    ok, says = told(terminal, github)["up to date"]
    assert (ok, words in says) == (False, True)


def test_branches_that_must_be_up_to_date(terminal: Terminal, github: GithubRules) -> None:
    github.protection({"context": OURS, "app_id": OWN_APP}, strict=True)
    assert told(terminal, github)["up to date"][0]


def test_a_merge_queue_takes_its_place(terminal: Terminal, github: GithubRules) -> None:
    github.ruleset({"context": OURS, "integration_id": OWN_APP}, queue=True)
    rows = told(terminal, github)
    assert rows["merge queue"][0]
    assert "up to date" not in rows


def test_where_no_branch_is_named_only_the_default_branch_configures(terminal: Terminal, github: GithubRules) -> None:
    ok, says = told(terminal, github)["trusted bases"]
    assert (ok, says.startswith("only the file of main configures reviews")) == (True, True)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "branch,rules,words",
    [
        ({"commit": {"sha": "c" * 40}, "protected": True}, [], ""),
        ({"commit": {"sha": "c" * 40}, "protected": False}, [{"type": "deletion"}], ""),
        (
            {"commit": {"sha": "c" * 40}, "protected": False},
            [],
            "No rule guards the branch v1/x, which github.trusted_bases names",
        ),
        (None, [], "There is no branch v1/x, which github.trusted_bases names: whoever may push can make it"),
    ],
)
def test_a_trusted_base_that_nobody_guards_is_said_to_be_one(
    terminal: Terminal, github: GithubRules, branch: object, rules: object, words: str
) -> None:
    (terminal.folder / ".review-advisor.toml").write_text('[github]\ntrusted_bases = ["v1/x"]\n')
    github.answers |= {
        "/repos/octo/demo/branches/v1%2Fx": branch,
        "/repos/octo/demo/rules/branches/v1%2Fx": rules,
    }
    ok, says = told(terminal, github)["trusted bases"]
    assert (ok, words in says) == (not words, True)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "externals,login,said",
    [
        ([], ACTIONS_LOGIN, (True, "there is no check of a review yet")),
        ([None, "pr-1"], ACTIONS_LOGIN, (True, "there is no check of a review yet")),
        (["pr-1/run-7/signed-" + "a" * 48], ACTIONS_LOGIN, (True, "is signed, and nothing else is believed")),
        (["pr-1/run-7/noted-" + "a" * 48], ACTIONS_LOGIN, (False, "It counts as far as our checks and people's own")),
        (["pr-1/noted-" + "a" * 48], "acme[bot]", (True, "is not signed; only acme[bot] writes the checks")),
    ],
)
def test_how_far_memories_are_believed_is_said(
    terminal: Terminal, github: GithubRules, externals: list[str | None], login: str, said: tuple[bool, str]
) -> None:
    """By the newest pull request whose check bears a seal."""
    (terminal.folder / ".review-advisor.toml").write_text(f'[github]\nlogin = "{login}"\n')
    github.protection({"context": OURS, "app_id": OWN_APP}, strict=True)
    github.pull("c" * 40)
    github.pull("d" * 40, *externals)
    if externals[-1:] not in ([], ["pr-1"]):
        github.pull("e" * 40, "pr-1/signed-" + "b" * 48)
    ok, says = told(terminal, github)["memory"]
    assert (ok, said[1] in says) == (said[0], True)


def test_a_server_of_ones_own_may_run_the_bases_workflow(terminal: Terminal, github: GithubRules) -> None:
    ok, says = told(terminal, github)["workflow's source"]
    assert (ok, "An older server takes it from the base branch" in says) == (False, True)
    assert [each.ok for each in workflow_remark(own_server=False)] == []


def test_the_name_of_the_check_is_the_configured_one(terminal: Terminal, github: GithubRules) -> None:
    (terminal.folder / ".review-advisor.toml").write_text('[github]\ncheck_name = "advisor"\n')
    github.ruleset({"context": "advisor", "integration_id": OWN_APP}, strict=True)
    assert told(terminal, github)["required check"][0]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "parameters",
    [
        {"strict_required_status_checks_policy": "often"},
        {"required_status_checks": 3},
        {"required_status_checks": [{}]},
    ],
)
def test_an_answer_that_makes_no_sense_is_told_and_is_no_crash(
    terminal: Terminal, github: GithubRules, parameters: object
) -> None:
    rules = [{"type": "required_status_checks", "parameters": parameters}]
    github.answers["/repos/octo/demo/rules/branches/main"] = rules
    ok, says = told(terminal, github)["required check"]
    assert (ok, "cannot be used" in says) == (False, True)


def test_a_name_that_is_no_repository_is_refused_before_anything_is_sent(
    terminal: Terminal, github: GithubRules
) -> None:
    environment = {"GITHUB_TOKEN": "t", "GITHUB_SERVER_URL": github.url, "GITHUB_API_URL": github.url}
    done = terminal.run("doctor", "--github", "octo/../demo", env=environment)
    assert "is not the name of a repository" in done.out
    assert github.authorizations == set()


def a_collaborator(login: str, *, push: bool, kind: str = "User") -> dict[str, object]:
    return {"login": login, "type": kind, "permissions": {"pull": True, "push": push, "admin": False}}


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "others, offered",
    [
        ([], True),
        ([a_collaborator("eve", push=False)], True),
        ([a_collaborator("helper", push=True, kind="Bot")], True),
        ([a_collaborator("grace", push=True)], False),
    ],
    ids=["alone", "a reader", "a bot", "a second one"],
)
def test_one_who_alone_may_push_is_told_how_to_settle_their_own_work(
    terminal: Terminal, github: GithubRules, others: list[dict[str, object]], offered: bool
) -> None:
    github.answers["/repos/octo/demo/collaborators"] = [a_collaborator("octo", push=True), *others]
    ok, says = told(terminal, github)["own work"]
    assert ok
    assert ("One person may push here" in says) is offered


@pytest.mark.one_in(4)
@pytest.mark.parametrize("listed", [None, [], [{"login": "x"}] * 99 + [a_collaborator("octo", push=True)]])
def test_a_token_that_cannot_list_who_may_push_is_said_in_a_sentence(
    terminal: Terminal, github: GithubRules, listed: list[dict[str, object]] | None
) -> None:
    if listed is not None:
        github.answers["/repos/octo/demo/collaborators"] = listed
    _, says = told(terminal, github)["own work"]
    assert says.endswith("This token cannot list who may push: with one maintainer, set it to `admins`.")
