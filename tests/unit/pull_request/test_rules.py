"""What a repository may configure about pull requests: defaults, limits, and which names are accepted."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from review_advisor.policy.pull_request_rules import PublicationRules

DEFAULTS: dict[str, Any] = {
    "check_name": "review-advisor",
    "login": "github-actions[bot]",
    "escalation_label": "needs-human-review",
    "fork_label": "review-this-fork",
    "reviewers": (),
    "volume": "normal",
    "least_confidence": 0.6,
    "most_usd": 50.0,
    "repository_day_usd": None,
    "review": "every_push",
    "skip_paths": (),
    "skip_bases": (),
    "skip_authors": (),
    "push_repairs": False,
    "trusted_bases": (),
    "self_settle": "never",
}


def configured(key: str, value: object) -> Any:
    return getattr(PublicationRules.model_validate({key: value}), key)


def refused(key: str, value: object) -> str:
    with pytest.raises(ValidationError) as found:
        PublicationRules.model_validate({key: value})
    return str(found.value)


def test_the_defaults_are_the_products() -> None:
    assert PublicationRules().model_dump() == DEFAULTS


def test_each_setting_is_described_and_no_other_is_known() -> None:
    assert [key for key, field in PublicationRules.model_fields.items() if not field.description] == []
    assert "Extra inputs are not permitted" in refused("rounds", 3)


def test_the_rules_do_not_change_once_they_are_read() -> None:
    with pytest.raises(ValidationError):
        PublicationRules().most_usd = 3


@pytest.mark.parametrize("key, least, most", [("least_confidence", 0, 1)])
def test_a_number_lies_within_its_limits(key: str, least: int, most: int) -> None:
    assert [configured(key, each) for each in (least, most)] == [least, most]
    assert f"greater than or equal to {least}" in refused(key, least - 1)
    assert f"less than or equal to {most}" in refused(key, most + 1)


@pytest.mark.parametrize("key", ["check_name", "escalation_label", "fork_label"])
def test_a_name_has_1_to_100_characters_on_one_line(key: str) -> None:
    for name in ("a", "a" * 100, "a b: é"):
        assert configured(key, name) == name
    for name in ("", "a" * 101, "a\nb", "a\x1f", "a\x7f"):
        refused(key, name)


LOGINS = ["a", "a" * 39, "maria-7", "9lives"]
NO_LOGINS = ["", "a" * 40, "-maria", "ma ria", "ma_ria", "@maria", "maria\n"]


@pytest.mark.parametrize("key, suffix, longer", [("login", "[bot]", "x"), ("reviewers", "/team_1.x-y", "/")])
def test_an_account_is_spelt_as_the_forge_spells_it(key: str, suffix: str, longer: str) -> None:
    for login in LOGINS:
        for name in (login, login + suffix):
            given = [name] if key == "reviewers" else name
            assert configured(key, given) == ((name,) if key == "reviewers" else name)
    for name in (*NO_LOGINS, f"maria{suffix}{longer}", f"-{suffix}"):
        refused(key, [name] if key == "reviewers" else name)


def test_a_teams_name_has_1_to_100_characters() -> None:
    for team in ("a", "a" * 100):
        assert configured("reviewers", [f"org/{team}"]) == (f"org/{team}",)
    for team in ("", "a" * 101):
        refused("reviewers", [f"org/{team}"])


@pytest.mark.parametrize("volume", ["quiet", "normal", "thorough"])
def test_volume_is_one_word(volume: str) -> None:
    assert configured("volume", volume) == volume
    for other in ("loud", "Quiet", "", 3):
        refused("volume", other)


@pytest.mark.parametrize("branch", ["main", "release-1.x", "team/fix", "a" * 255, "a@b", "x.locked", "a.b"])
def test_a_base_branch_that_git_would_accept_is_one(branch: str) -> None:
    assert configured("trusted_bases", [branch]) == (branch,)


@pytest.mark.parametrize(
    "branch",
    [
        *("a b", "a\tb", "a\x7f", "a~1", "a^", "a:b", "a\\b", "a..b", "a@{1}", "a//b", "/a", "a/", "a.", "a.lock"),
        *("-a", "refs/heads/main"),
    ],
)
def test_what_is_no_branchs_name_is_refused(branch: str) -> None:
    assert "this is not the name of a branch" in refused("trusted_bases", [branch])


@pytest.mark.parametrize("branch", ["release-*", "release-?", "release-[1-3]", "*"])
def test_a_wildcard_is_refused_with_the_reason(branch: str) -> None:
    assert "name each branch exactly" in refused("trusted_bases", [branch])


@pytest.mark.parametrize("branch", ["", "a" * 256])
def test_a_base_branch_has_1_to_255_characters(branch: str) -> None:
    refused("trusted_bases", [branch])


def test_the_bot_knows_its_own_account_in_any_case() -> None:
    rules = PublicationRules(login="My-App[bot]")
    assert rules.is_ours("my-app[BOT]")
    assert not rules.is_ours("my-app")
