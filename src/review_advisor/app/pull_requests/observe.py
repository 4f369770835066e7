"""The composition root of ``observe``: opens a closed pull request and the ledger, and records what is seen."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from review_advisor.adapters.actions import GithubEnvironment, read_github
from review_advisor.adapters.git.fetch import Remote
from review_advisor.adapters.git.history.merged_history import LOOKED_AT, GitHistory, open_history
from review_advisor.adapters.ledger.observations import finding_places, keep, open_ended
from review_advisor.app.configuration import believed_base
from review_advisor.app.pull_requests.begin_and_publish import open_forge, rules_at
from review_advisor.core.facts.actions_event import PullRequestEvent
from review_advisor.core.facts.pull_request import PullRequest
from review_advisor.core.observation.labels import Observed
from review_advisor.core.safety.redaction import redactor
from review_advisor.observation.closed_pull_request import ObservePhase
from review_advisor.ports.forge import ForgeError
from review_advisor.ports.review import SourceError
from review_advisor.pull_request.believed_memory import peoples_word


@dataclass(frozen=True, slots=True)
class Observation:
    """What is known now. ``recorded`` is False if the ledger already holds the same."""

    observed: Observed
    recorded: bool


@dataclass(frozen=True, slots=True)
class NotSeen:
    """A pull request that could not be observed, and why: one sentence."""

    sentence: str


def observe_named(repo: Path, name: str, ledger: Path, environ: Mapping[str, str]) -> Observation:
    """Observe the closed pull request of this name. Raises ``SourceError``, ``ForgeError`` and ``LedgerError``.

    Nothing is recorded then, because a merge must not be observed in part.
    """
    return _observe(repo, read_github(environ).pull_request(name), ledger, environ)


def observe_of_event(repo: Path, event_file: str, ledger: Path, environ: Mapping[str, str]) -> Observation:
    """Observe the pull request that the event in this file closed. Raises as ``observe_named`` does."""
    event = read_github(environ).event(event_file)
    if not isinstance(event, PullRequestEvent) or event.action != "closed":
        raise SourceError("This event does not close a pull request: name one with --pr.")
    return _observe(repo, (event.repository, event.number), ledger, environ)


def observe_again(repo: Path, ledger: Path, environ: Mapping[str, str]) -> Iterator[Observation | NotSeen]:
    """Observe again every merge that is recent enough to be reverted and is not.

    Raises ``LedgerError``; a pull request that can no longer be read does not stop the others.
    """
    for named in open_ended(ledger, datetime.now(UTC) - LOOKED_AT):
        try:
            yield _observe(repo, named, ledger, environ)
        except (ForgeError, SourceError) as problem:
            yield NotSeen(str(problem))


def _observe(repo: Path, named: tuple[str, int], ledger: Path, environ: Mapping[str, str]) -> Observation:
    repository, number = named
    github = read_github(environ)
    forge = open_forge(github, repository)
    pull_request = forge.pull_request(number)
    if pull_request.state == "open":
        raise SourceError(f"Pull request #{number} is open: observe it once it is closed.")
    rules, _ = rules_at(forge, believed_base(forge, pull_request).commit)
    known = finding_places(ledger, repository, number)
    now = datetime.now(UTC)
    with ExitStack() as opened:
        history = _history(repo, pull_request, github, opened)
        listening = partial(peoples_word, forge, rules, number)
        phase = ObservePhase(forge, history, rules.login, known, now, listening=listening, silent=rules.is_shadow)
        labels = phase.observe(pull_request)
    observed = Observed(
        at=now,
        run_id=f"observed_{now:%Y%m%dT%H%M%SZ}_{secrets.token_hex(4)}",
        repository=repository,
        pull_request=number,
        head_sha=pull_request.head_sha,
        labels=labels,
    )
    return Observation(*keep(ledger, redactor(environ).everywhere(observed)))


def _history(repo: Path, pull_request: PullRequest, github: GithubEnvironment, opened: ExitStack) -> GitHistory | None:
    """The history of what was merged; None of what was not. Raises ``SourceError``, in a sentence."""
    if pull_request.state != "merged":
        return None
    remote = Remote(github.clone_url(pull_request.repository), github.token, github.network)
    try:
        history = open_history(repo, pull_request, remote)
    except SourceError as problem:
        because = str(problem).rstrip(".")
        raise SourceError(f"What became of pull request #{pull_request.number} cannot be seen: {because}.") from problem
    opened.callback(history.close)
    return history
