"""The rules of a repository's default branch, read from both places where GitHub keeps them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated
from urllib.parse import quote

from pydantic import AliasPath, Field

from review_advisor.adapters.github.address import api_address, repository_name, token_value
from review_advisor.adapters.github.git_data import RepositoryReader
from review_advisor.adapters.github.rest_answers import Identified, Read
from review_advisor.adapters.github.transport import Exchange
from review_advisor.adapters.github.wire import Wire
from review_advisor.core.facts.change import OBJECT_NAME
from review_advisor.core.pull_request.gate import Gate, RequiredCheck
from review_advisor.core.pull_request.markers import seal_in
from review_advisor.core.pull_request.rules import ACTIONS_LOGIN
from review_advisor.ports.forge import ForgeDenied, ForgeMissing
from review_advisor.ports.review import Clock

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
            asked = {"affiliation": "all", "per_page": str(most)}
            found = self._wire.get("list the collaborators", path, list[_Collaborator], asked)
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
        asked = {"state": "all", "sort": "created", "direction": "desc", "per_page": str(MOST_LOOKED_AT)}
        for pull in self._wire.get("list the newest pull requests", f"{self._root}/pulls", list[_Pull], asked):
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
