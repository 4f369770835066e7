"""Rules of the default branch, and whether they make the check a gate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import quote

from pydantic import AliasPath, Field

from review_advisor.change.change import OBJECT_NAME
from review_advisor.github.forge import ForgeDenied, ForgeMissing
from review_advisor.github.responses import Identified, Read, api_address, repository_name, token_value
from review_advisor.github.state import seal_in
from review_advisor.github.wire import Exchange, RepositoryReader, Wire
from review_advisor.policy.policy import shadow_name
from review_advisor.policy.pull_request_rules import ACTIONS_LOGIN, PublicationRules, SelfSettle
from review_advisor.review.ports import Clock


@dataclass(frozen=True, slots=True)
class RequiredCheck:
    """A check that must pass before a merge. ``app`` is the id of the app that must have made it, None for any."""

    name: str
    app: int | None
    source: str


@dataclass(frozen=True, slots=True)
class Gate:
    """The rules of one branch, as far as the token may see them."""

    branch: str
    required: tuple[RequiredCheck, ...]
    strict: bool | None
    """A branch must be up to date before its merge; None where that cannot be seen."""
    merge_queue: bool
    actions: int | None
    """The id of GitHub Actions on this server, the app behind every workflow's own token; None where unseen."""
    own: int | None
    """The id of the app that the bot writes as; None where it cannot be seen."""


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
    day = (
        "Nothing warns of what all reviews cost a day: set github.repository_day_usd."
        if rules.repository_day_usd is None
        else f"A warning says when the reviews that pushes start have cost {rules.repository_day_usd:,.2f} USD a day"
        " (github.repository_day_usd), as far as the checks of pull requests tell it. Reviews at a terminal and of"
        " other repositories are not counted."
    )
    says = (
        f"All reviews of one pull request may cost {rules.most_usd:,.2f} USD (github.most_usd). {day} Set a limit of"
        " spending for the credential as well."
    )
    return GateRemark("money", ok=True, says=says)


def mode_remark(rules: PublicationRules) -> tuple[GateRemark, ...]:
    """That the mode is shadow, and what that means; nothing in mode ``enforce``."""
    if not rules.is_shadow:
        return ()
    says = (
        f"The mode is shadow: nothing is enforced. Reviews are shown in the check {rules.check_name!r},"
        f' and the check {rules.enforcing_name!r} is never reported. Set mode = "enforce" to make it a gate.'
    )
    return (GateRemark("mode", ok=True, says=says),)


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


_ANY_APP = -1

MOST_LOOKED_AT = 5
"""The newest pull requests among which a sealed check is looked for."""


class _Collaborator(Read):
    type: str = "User"
    may_push: bool = Field(default=False, validation_alias=AliasPath("permissions", "push"))


class _ProtectedCheck(Read):
    context: str
    app_id: int | None = None

    def value(self) -> RequiredCheck:
        app = None if self.app_id in (None, _ANY_APP) else self.app_id
        return RequiredCheck(self.context, app, "branch protection")


class _ProtectedChecks(Read):
    strict: bool | None = None
    contexts: tuple[str, ...] = ()
    checks: tuple[_ProtectedCheck, ...] = ()

    def values(self) -> tuple[RequiredCheck, ...]:
        """Older servers name contexts only: any app may report on those."""
        checks = self.checks or tuple(_ProtectedCheck(context=name) for name in self.contexts)
        return tuple(check.value() for check in checks)


class _ProtectedBranch(Read):
    checks: _ProtectedChecks = Field(
        default=_ProtectedChecks(), validation_alias=AliasPath("protection", "required_status_checks")
    )


class _Pull(Read):
    head_sha: Annotated[str, Field(pattern=rf"^({OBJECT_NAME})$")] = Field(validation_alias=AliasPath("head", "sha"))


class _Run(Read):
    external_id: str | None = None


class _Runs(Read):
    check_runs: tuple[_Run, ...]


class _RuledCheck(Read):
    context: str
    integration_id: int | None = None


class _Rule(Read):
    """A rule of any kind: only those about required checks have these parameters."""

    type: str
    ruleset_id: int = 0
    strict: bool = Field(
        default=False, validation_alias=AliasPath("parameters", "strict_required_status_checks_policy")
    )
    checks: tuple[_RuledCheck, ...] = Field(
        default=(), validation_alias=AliasPath("parameters", "required_status_checks")
    )


def open_gate(repository: str, *, token: str, api_url: str, clock: Clock) -> GateReader:
    """The rules of ``owner/name``; nothing is sent yet. Raises ``ForgeError`` where a value cannot be used."""
    exchange = Exchange(api_address(api_url), token_value(token))
    return GateReader(repository_name(repository), Wire(exchange, clock, between_writes=0.0))


class GateReader(RepositoryReader):
    """Reads one repository's rules, and writes nothing. Every method raises ``ForgeError``."""

    def may_push(self) -> bool:
        """Whether GitHub says that the token's account may push: what the publishing job needs."""
        return self._read_repository().may_push

    def maintainers(self) -> int | None:
        """How many people may push, up to the first page of collaborators; None where the token cannot tell."""
        path, most = f"{self._root}/collaborators", 100
        try:
            parameters = {"affiliation": "all", "per_page": str(most)}
            found = self._wire.get("list the collaborators", path, list[_Collaborator], parameters)
        except (ForgeDenied, ForgeMissing):  # only whoever may push is shown them
            return None
        pushing = sum(each.may_push for each in found if each.type == "User")
        return None if pushing < 1 or (pushing == 1 and len(found) == most) else pushing

    def gate(self, login: str) -> Gate:
        """The rules of the default branch, for a bot that writes as ``login``."""
        name = self._read_repository().default_branch
        branch = quote(name, safe="")
        protected = self._wire.get("read the branch", f"{self._root}/branches/{branch}", _ProtectedBranch)
        rules = self._wire.pages("read the branch's rules", f"{self._root}/rules/branches/{branch}", list[_Rule])
        checks = protected.checks.values()
        found = [rule for page in rules for rule in page]
        ruled = [rule for rule in found if rule.type == "required_status_checks"]
        required = checks + tuple(
            RequiredCheck(check.context, check.integration_id, f"ruleset {rule.ruleset_id}")
            for rule in ruled
            for check in rule.checks
        )
        strict: bool | None = any(rule.strict for rule in ruled)
        if checks and not strict:
            strict = self._protected_strictly(branch)
        queue = any(rule.type == "merge_queue" for rule in found)
        return Gate(name, required, strict, queue, actions=self._app(ACTIONS_LOGIN), own=self._app(login))

    def guarded(self, names: Iterable[str]) -> tuple[str, dict[str, bool | None]]:
        """The default branch, and for each of these branches whether a rule guards it; None for one not there."""
        return self._read_repository().default_branch, {name: self._guarded(name) for name in names}

    def sealed(self, check_name: str) -> str:
        """How the newest reviewed pull request's state is sealed: ``signed``, ``noted``, or empty for not at all."""
        parameters = {"state": "all", "sort": "created", "direction": "desc", "per_page": str(MOST_LOOKED_AT)}
        for pull in self._wire.get("list the newest pull requests", f"{self._root}/pulls", list[_Pull], parameters):
            path = f"{self._root}/commits/{pull.head_sha}/check-runs"
            found = self._wire.get("read its checks", path, _Runs, {"check_name": check_name, "filter": "all"})
            seals = [seal_in(run.external_id or "") for run in found.check_runs]
            if any(seals):
                return next(each for each in seals if each).partition("-")[0]
        return ""

    def _guarded(self, name: str) -> bool | None:
        try:
            return self._has_rules(quote(name, safe=""))
        except ForgeMissing:
            return None

    def _app(self, login: str) -> int | None:
        """The id of the app whose bot this is, which differs from server to server; None if it cannot be seen."""
        slug = quote(login.removesuffix("[bot]"), safe="")
        try:
            return self._wire.get(f"read the app {slug}", f"/apps/{slug}", Identified).id
        except (ForgeDenied, ForgeMissing):  # a private app is shown to its owner only
            return None

    def _protected_strictly(self, branch: str) -> bool | None:
        path = f"{self._root}/branches/{branch}/protection/required_status_checks"
        try:
            return self._wire.get("read the branch protection", path, _ProtectedChecks).strict
        except (ForgeDenied, ForgeMissing):  # only an administrator's token may
            return None
