"""What a maintainer is told of the rules around the check: whether it stops a merge, and who could forge it."""

from dataclasses import replace

import pytest

from review_advisor.github.branch_rules import (
    Gate,
    GateRemark,
    RequiredCheck,
    base_remarks,
    gate_remarks,
    memory_remark,
    mode_remark,
    money_remark,
    own_work_remark,
    shadow_remarks,
    workflow_remark,
)
from review_advisor.policy.pull_request_rules import ACTIONS_LOGIN, PublicationRules

CHECK = "review-advisor"
ACTIONS, OWN, OTHER = 15, 77, 99
BOT = "acme-reviewer[bot]"


def gate(
    *apps: int | None, strict: bool | None = True, queue: bool = False, own: int | None = OWN, check: str = CHECK
) -> Gate:
    """A branch that requires the check from these apps, each by a rule of its own."""
    required = tuple(RequiredCheck(check, app, f"rule {number}") for number, app in enumerate(apps))
    return Gate("main", required, strict=strict, merge_queue=queue, actions=ACTIONS, own=own)


def remarks(of: Gate) -> dict[str, GateRemark]:
    return {each.name: each for each in gate_remarks(of, CHECK, BOT)}


def source(*apps: int | None, own: int | None = OWN) -> GateRemark:
    return remarks(gate(*apps, own=own))["check's source"]


def test_a_check_that_no_rule_requires_stops_no_merge() -> None:
    (none,) = gate_remarks(gate(), CHECK, BOT)
    assert none == GateRemark(
        "required check",
        ok=False,
        says="No rule of main requires the check 'review-advisor', so it stops no merge (none is required)."
        " Require it by that name, in a ruleset or in the branch protection.",
    )
    (other,) = gate_remarks(gate(None, None, check="tests"), CHECK, BOT)
    assert (other.ok, "(required are: 'tests')" in other.says) == (False, True)
    several = replace(gate(), required=tuple(RequiredCheck(name, None, "rule") for name in "hgfedcbah"))
    (named,) = gate_remarks(several, CHECK, BOT)
    assert "(required are: 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h')" in named.says


def test_who_looks_for_the_mode_is_told_of_shadow() -> None:
    (every,) = mode_remark(PublicationRules().of_mode("shadow"))
    assert "Reviews are shown in the check" in every.says
    assert mode_remark(PublicationRules()) == ()


@pytest.mark.parametrize("required, words", [(CHECK, "never reports it"), (f"{CHECK} (shadow)", "neutral conclusion")])
def test_in_shadow_mode_neither_check_may_be_required(required: str, words: str) -> None:
    (remark,) = shadow_remarks(gate(OWN, check=required), PublicationRules().of_mode("shadow"))
    assert (remark.ok, f"{required!r} is required on main" in remark.says, words in remark.says) == (False, True, True)


def test_in_shadow_mode_both_required_checks_are_told() -> None:
    both = replace(gate(), required=tuple(RequiredCheck(name, None, "r") for name in (f"{CHECK} (shadow)", CHECK)))
    assert [each.ok for each in shadow_remarks(both, PublicationRules().of_mode("shadow"))] == [False, False]


def test_in_shadow_mode_a_branch_that_requires_other_checks_is_as_it_should_be() -> None:
    (remark,) = shadow_remarks(gate(OWN, check="tests"), PublicationRules().of_mode("shadow"))
    assert remark.ok


def test_a_rule_that_still_requires_the_shadow_check_is_told_once_reviews_are_enforced() -> None:
    (remark,) = gate_remarks(gate(OWN, check=f"{CHECK} (shadow)"), CHECK, BOT)
    assert (remark.ok, f"Require {CHECK!r} in its place" in remark.says) == (False, True)


def test_every_rule_that_requires_the_check_is_named_once() -> None:
    found = remarks(gate(OWN, OWN))["required check"]
    assert found == GateRemark(
        "required check", ok=True, says="'review-advisor' is required on main by rule 0 and rule 1"
    )
    twice = Gate("main", (RequiredCheck(CHECK, OWN, "rule"),) * 2, True, False, ACTIONS, OWN)
    assert remarks(twice)["required check"].says.endswith(" by rule")


@pytest.mark.parametrize(
    "apps, who",
    [
        ((None,), "any app"),
        ((ACTIONS,), "GitHub Actions"),
        ((ACTIONS, ACTIONS), "GitHub Actions"),
        ((ACTIONS, None), "any app"),
        ((None, ACTIONS), "any app"),
    ],
)
def test_a_check_that_a_workflow_may_write_can_be_forged(apps: tuple[int | None, ...], who: str) -> None:
    assert source(*apps) == GateRemark(
        "check's source",
        ok=False,
        says=f"The check may come from {who}: anyone who can push a branch can forge it with a workflow."
        " Let a GitHub App of your own publish it, and require the check from that app.",
    )


@pytest.mark.parametrize("apps", [(OWN,), (OWN, None), (OWN, OWN)])
def test_a_check_that_only_the_bots_own_app_may_write_is_safe(apps: tuple[int | None, ...]) -> None:
    says = f"only the app 77 can make it pass, which is {BOT}"
    assert source(*apps) == GateRemark("check's source", ok=True, says=says)


@pytest.mark.parametrize("apps, named", [((OTHER,), "99"), ((OTHER, OWN), "77, 99"), ((ACTIONS, OTHER), "15, 99")])
def test_a_check_that_another_app_must_write_never_passes(apps: tuple[int, ...], named: str) -> None:
    found = source(*apps)
    assert not found.ok
    assert found.says.startswith(
        f"Only the app {named} can make it pass, and the bot writes as {BOT}, which is the app 77"
    )


def test_an_app_that_the_token_cannot_see_is_to_be_looked_up() -> None:
    says = f"Only the app 99 can make it pass. This token cannot see whether that is {BOT}: look it up."
    assert source(OTHER, own=None) == GateRemark("check's source", ok=False, says=says)


def test_a_branch_has_to_be_up_to_date_or_a_queue_merges() -> None:
    queue = remarks(gate(OWN, queue=True, strict=None))
    assert ("up to date" in queue, queue["merge queue"].ok) == (False, True)
    assert remarks(gate(OWN, strict=True))["up to date"].ok
    behind, unseen = (remarks(gate(OWN, strict=strict))["up to date"] for strict in (False, None))
    assert (behind.ok, unseen.ok) == (False, False)
    assert behind.says.startswith("A branch may be merged that is behind main: the merge may differ from the reviewed")
    assert unseen.says.startswith("This token cannot see whether a branch must be up to date with main")
    assert {each.says.rpartition(". ")[2] for each in (behind, unseen)} == {
        "Require branches to be up to date, or use a merge queue."
    }


def test_each_branch_whose_file_is_trusted_needs_a_rule() -> None:
    (default,) = base_remarks("main", {})
    assert (default.ok, default.says.startswith("only the file of main configures reviews")) == (True, True)
    guarded, open_one, absent = base_remarks("main", {"release": True, "next": False, "gone": None})
    assert guarded == GateRemark(
        "trusted bases", ok=True, says="release has a configuration of its own, and a rule guards it"
    )
    for found, words in (
        (open_one, "No rule guards the branch next, which github.trusted_bases names: whoever may push can push to it"),
        (absent, "There is no branch gone, which github.trusted_bases names: whoever may push can make it"),
    ):
        assert (found.name, found.ok, found.says.startswith(words)) == ("trusted bases", False, True)


@pytest.mark.parametrize(
    "sealed, login, ok, words",
    [
        ("signed", ACTIONS_LOGIN, True, "what the summary comments remember is signed, and nothing else is believed"),
        ("", ACTIONS_LOGIN, True, "there is no check of a review yet, so its signature is unknown"),
        ("noted", BOT, True, f"is not signed; only {BOT} writes the checks that vouch for it"),
        ("noted", ACTIONS_LOGIN, False, "Give `begin` and `publish` a key in the secret REVIEW_ADVISOR_STATE_KEY."),
    ],
)
def test_a_memory_that_a_workflow_can_alter_is_to_be_signed(sealed: str, login: str, ok: bool, words: str) -> None:
    found = memory_remark(sealed, login)
    assert (found.name, found.ok, words in found.says) == ("memory", ok, True)


def test_an_older_server_may_take_the_workflow_from_a_branch_that_anybody_made() -> None:
    assert workflow_remark(own_server=False) == ()
    (found,) = workflow_remark(own_server=True)
    assert (found.name, found.ok) == ("workflow's source", False)
    assert "An older server takes it from the base branch, which whoever may push can make" in found.says


OFFER = "set it to `admins`"


@pytest.mark.parametrize(
    "maintainers, offered, words",
    [(1, True, "One person may push here"), (2, False, ""), (40, False, ""), (None, True, "cannot list who may push")],
)
def test_only_a_repository_with_one_maintainer_is_offered_to_let_admins_settle_their_own_work(
    maintainers: int | None, offered: bool, words: str
) -> None:
    found = own_work_remark("never", maintainers)
    assert found.ok
    assert (OFFER in found.says) is offered
    assert words in found.says


def test_a_repository_that_lets_admins_settle_their_own_work_is_offered_nothing() -> None:
    found = own_work_remark("admins", 1)
    assert found.says == "All admins settle the review of their own work (github.self_settle)"


def test_what_bounds_the_money_of_reviews_is_said_and_what_does_not() -> None:
    remark = money_remark(PublicationRules())
    assert remark.ok
    assert "All reviews of one pull request may cost 50.00 USD" in remark.says
    assert "Nothing warns of what all reviews cost a day: set github.repository_day_usd." in remark.says
    bounded = money_remark(PublicationRules(repository_day_usd=20.0)).says
    assert "have cost 20.00 USD a day (github.repository_day_usd)" in bounded
    assert "Reviews at a terminal and of other repositories are not counted." in bounded
