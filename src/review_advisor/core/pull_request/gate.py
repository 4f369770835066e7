"""Whether a repository's own rules make the check a gate, and who could forge it; worded for ``doctor``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from review_advisor.core.policy.mode import shadow_name
from review_advisor.core.pull_request.rules import ACTIONS_LOGIN, PublicationRules, SelfSettle


@dataclass(frozen=True, slots=True)
class RequiredCheck:
    """A check that must pass before a merge. ``app`` is the id of the app that must have made it, None for any."""

    name: str
    app: int | None
    source: str


@dataclass(frozen=True, slots=True)
class Gate:
    """What the rules of one branch say, as far as the token may see them.

    ``strict``: a branch must be up to date before its merge; None where that cannot be seen. ``actions`` is the id of
    GitHub Actions on this server, the app behind every workflow's own token, and ``own`` that of the app that the bot
    writes as; None where it cannot be seen.
    """

    branch: str
    required: tuple[RequiredCheck, ...]
    strict: bool | None
    merge_queue: bool
    actions: int | None
    own: int | None


@dataclass(frozen=True, slots=True)
class GateRemark:
    """One thing about the gate. ``ok`` is False where something is to be done, which ``says`` then names."""

    name: str
    ok: bool
    says: str


def own_work_remark(self_settle: SelfSettle, maintainers: int | None) -> GateRemark:
    """Who may settle the review of their own work, and what a repository with one maintainer sets.

    ``maintainers`` is how many people may push; None where the token cannot tell.
    """
    if self_settle != "never":
        says = f"All {self_settle} settle the review of their own work (github.self_settle)"
        return GateRemark("own work", ok=True, says=says)
    says = "Nobody settles the review of their own work (github.self_settle is `never`)"
    if maintainers is None:
        says += ". This token cannot list who may push: with one maintainer, set it to `admins`."
    elif maintainers <= 1:
        says += ". One person may push here, so nobody can settle that person's work: set it to `admins`."
    return GateRemark("own work", ok=True, says=says)


def money_remark(rules: PublicationRules) -> GateRemark:
    """What bounds the money of reviews, and what does not."""
    author = (
        "What one author costs a day is not bounded: set github.author_day_usd."
        if rules.author_day_usd is None
        else f"Pushes of one author may cost {rules.author_day_usd:,.2f} USD a day (github.author_day_usd), as far as"
        " the checks of pull requests tell it. Reviews at a terminal and of other repositories are not counted."
    )
    says = (
        f"All reviews of one pull request may cost {rules.most_usd:,.2f} USD (github.most_usd). {author} Set a limit of"
        " spending for the credential as well."
    )
    return GateRemark("money", ok=True, says=says)


def mode_remark(rules: PublicationRules) -> tuple[GateRemark, ...]:
    """That the mode is shadow, and what that means; nothing in mode ``enforce``."""
    if not rules.is_shadow:
        return ()
    says = (
        f"The mode is shadow: nothing is enforced. Reviews{_share(rules)} are shown in the check {rules.check_name!r},"
        f' and the check {rules.enforcing_name!r} is never reported. Set mode = "enforce" to make it a gate.'
    )
    return (GateRemark("mode", ok=True, says=says),)


def _share(rules: PublicationRules) -> str:
    percent = rules.shadow_percent
    return f" of {percent:g}% of pull requests (github.shadow_percent)" if percent < 100 else ""  # noqa: PLR2004


def shadow_remarks(gate: Gate, rules: PublicationRules) -> tuple[GateRemark, ...]:
    """What a maintainer should know of the branch's rules in shadow mode: neither check may be required."""
    consequences = {
        rules.enforcing_name: "shadow mode never reports it, so nothing can be merged. Do not require it until the"
        ' mode is "enforce".',
        rules.check_name: "GitHub takes its neutral conclusion for a pass, whatever the verdict would have been. Take"
        " it off the rule.",
    }
    found = {each.name: each for each in gate.required if each.name in consequences}
    if not found:
        says = f"{gate.branch} requires neither check of the bot, as it should be in shadow mode"
        return (GateRemark("required check", ok=True, says=says),)
    return tuple(
        GateRemark(
            "required check",
            ok=False,
            says=f"{name!r} is required on {gate.branch} by {found[name].source}, and {consequences[name]}",
        )
        for name in consequences
        if name in found
    )


def gate_remarks(gate: Gate, check_name: str, login: str) -> tuple[GateRemark, ...]:
    """What a maintainer should know about the check named ``check_name`` on this branch. The bot writes as ``login``.

    A check that no rule names stops no merge. One that any app may make, or GitHub Actions may make, can be made by
    whoever may push a branch: a workflow on it runs with a token that makes check runs of any name.
    """
    ours = [each for each in gate.required if each.name == check_name]
    shadows = [each for each in gate.required if each.name == shadow_name(check_name)]
    if shadows:
        says = (
            f"{shadows[0].name!r} is required on {gate.branch} by {shadows[0].source}, and only shadow mode reports it,"
            f" so nothing can be merged. Require {check_name!r} in its place."
        )
        return (GateRemark("required check", ok=False, says=says),)
    if not ours:
        others = _listed(gate.required)
        says = (
            f"No rule of {gate.branch} requires the check {check_name!r}, so it stops no merge ({others}). "
            f"Require it by that name, in a ruleset or in the branch protection."
        )
        return (GateRemark("required check", ok=False, says=says),)
    found = (
        f"{check_name!r} is required on {gate.branch} by {' and '.join(dict.fromkeys(each.source for each in ours))}"
    )
    return GateRemark("required check", ok=True, says=found), _source(gate, ours, login), _freshness(gate)


def base_remarks(branch: str, bases: Mapping[str, bool | None]) -> tuple[GateRemark, ...]:
    """Whose configuration holds. ``bases``: the branches that the file of ``branch``, the default one, names.

    Each with whether a rule guards it; None for one that is not there.
    """
    if not bases:
        says = f"only the file of {branch} configures reviews, whatever the base branch of a pull request is"
        return (GateRemark("trusted bases", ok=True, says=says),)
    return tuple(_base(name, guarded=guarded) for name, guarded in bases.items())


def _base(name: str, *, guarded: bool | None) -> GateRemark:
    if guarded:
        return GateRemark("trusted bases", ok=True, says=f"{name} has a configuration of its own, and a rule guards it")
    what = "There is no branch" if guarded is None else "No rule guards the branch"
    does = "make it" if guarded is None else "push to it"
    says = (
        f"{what} {name}, which github.trusted_bases names: whoever may push can {does}, and their file then configures"
        " the reviews of pull requests into it. Protect it, or take it off the list."
    )
    return GateRemark("trusted bases", ok=False, says=says)


def memory_remark(sealed: str, login: str) -> GateRemark:
    """How far what is remembered of pull requests is believed. ``sealed``: how the newest one's is; empty for none."""
    if sealed == "signed":
        says = "what the summary comments remember is signed, and nothing else is believed"
        return GateRemark("memory", ok=True, says=says)
    if not sealed:
        return GateRemark("memory", ok=True, says="there is no check of a review yet, so its signature is unknown")
    if login != ACTIONS_LOGIN:
        says = f"what the summary comments remember is not signed; only {login} writes the checks that vouch for it"
        return GateRemark("memory", ok=True, says=says)
    says = (
        "What the summary comments remember is not signed. It counts as far as our checks and people's own comments"
        " bear it out; any workflow that may write checks can still make the next review skip files. Give `begin` and"
        " `publish` a key in the secret REVIEW_ADVISOR_STATE_KEY."
    )
    return GateRemark("memory", ok=False, says=says)


def workflow_remark(*, own_server: bool) -> tuple[GateRemark, ...]:
    """Whose workflow file runs on ``pull_request_target``. ``own_server``: it is not github.com."""
    if not own_server:
        return ()
    says = (
        "github.com takes the workflow of a pull_request_target event from the default branch, since December 2025. An"
        " older server takes it from the base branch, which whoever may push can make: there, keep every secret in an"
        " environment that only the default branch may use, and require the check from a GitHub App."
    )
    return (GateRemark("workflow's source", ok=False, says=says),)


def _source(gate: Gate, ours: list[RequiredCheck], login: str) -> GateRemark:
    apps = {each.app for each in ours if each.app is not None}
    pinned = apps - {gate.actions}
    if pinned:
        return _pinned(gate, apps, login)
    who = "any app" if any(each.app is None for each in ours) else "GitHub Actions"
    says = (
        f"The check may come from {who}: anyone who can push a branch can forge it with a workflow. "
        "Let a GitHub App of your own publish it, and require the check from that app."
    )
    return GateRemark("check's source", ok=False, says=says)


def _pinned(gate: Gate, apps: set[int], login: str) -> GateRemark:
    required = f"the app {', '.join(map(str, sorted(apps)))}"
    if apps == {gate.own}:
        return GateRemark("check's source", ok=True, says=f"only {required} can make it pass, which is {login}")
    if gate.own is None:
        says = f"Only {required} can make it pass. This token cannot see whether that is {login}: look it up."
    else:
        says = (
            f"Only {required} can make it pass, and the bot writes as {login}, which is the app {gate.own}: it never "
            "passes. Let `github.login` and the required app be the same."
        )
    return GateRemark("check's source", ok=False, says=says)


def _freshness(gate: Gate) -> GateRemark:
    if gate.merge_queue:
        return GateRemark(
            "merge queue", ok=True, says="a queue merges: its check is answered from the pull request's own"
        )
    if gate.strict:
        return GateRemark("up to date", ok=True, says="a branch must be up to date before its merge")
    unseen = gate.strict is None
    says = (
        f"This token cannot see whether a branch must be up to date with {gate.branch} before its merge. "
        if unseen
        else f"A branch may be merged that is behind {gate.branch}: the merge may differ from the reviewed change. "
    ) + "Require branches to be up to date, or use a merge queue."
    return GateRemark("up to date", ok=False, says=says)


def _listed(required: tuple[RequiredCheck, ...]) -> str:
    names = sorted({each.name for each in required})
    return f"required are: {', '.join(map(repr, names))}" if names else "none is required"
