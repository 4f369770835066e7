"""Opens a pull request for reading: its facts, its commits, and what the bot remembers of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from review_advisor.adapters.actions import GithubEnvironment, read_github
from review_advisor.adapters.clock import SystemClock
from review_advisor.adapters.git.fetch import Remote, open_pull_request
from review_advisor.adapters.git.source import About, GitSource
from review_advisor.adapters.github.forge import connect
from review_advisor.app.configuration import believed_base, load_config, mended_by, publication_rules
from review_advisor.app.settings import ConfigError
from review_advisor.core.facts.pull_request import PullRequest
from review_advisor.core.pull_request.memory import earlier_review
from review_advisor.ports.forge import Forge, ForgeError
from review_advisor.ports.review import SourceError
from review_advisor.pull_request.believed_memory import believed_memory
from review_advisor.pull_request.retries import settled_head


@dataclass(frozen=True, slots=True)
class Named:
    """A pull request by its name.

    ``head`` is the only head that is reviewed; empty: any. ``memory`` is what ``begin`` said of the state; empty if it
    said nothing. ``settle_seconds``: how long to wait for a newer push.
    """

    name: str
    head: str = ""
    memory: str = ""
    settle_seconds: int = 0


def open_named(repo: Path, named: Named, about: About, config: Path | None, environ: Mapping[str, str]) -> GitSource:
    """Open the pull request of this name. Raises ``SourceError`` and ``ConfigError``."""
    github = read_github(environ)
    try:
        return _opened(repo, named, about, config, github)
    except ForgeError as problem:
        raise SourceError(str(problem)) from None


def _opened(repo: Path, named: Named, about: About, config: Path | None, github: GithubEnvironment) -> GitSource:
    repository, number = github.pull_request(named.name)
    clock = SystemClock()
    forge: Forge = connect(repository, token=github.token, api_url=github.api_url, clock=clock)
    pull_request = settled_head(forge, clock, number, named.settle_seconds)
    _check(pull_request, named.head)
    about = replace(about, issues=forge.linked_issues(number), server=github.web_address)
    remote = Remote(github.clone_url(repository), github.token, github.network)
    source = open_pull_request(repo, pull_request, remote, believed_base(forge, pull_request), about)
    try:
        rules = publication_rules(load_config(repo, config, source.base_file)[0])
    except ConfigError:
        mended = mended_by(source)
        if mended is None or config is not None:
            raise
        rules = publication_rules(mended[0])
    state = believed_memory(forge, rules, number, named.memory)
    return source if state is None else source.after(state.fix_attempts, earlier_review(state))


def _check(pull_request: PullRequest, head: str) -> None:
    """Refuse what nobody is to review, before anything is fetched. Raises ``SourceError``."""
    number, now = pull_request.number, pull_request.head_sha
    if pull_request.state != "open":
        raise SourceError(f"Pull request #{number} is {pull_request.state}: only an open one is reviewed.")
    if head not in ("", now):
        raise SourceError(
            f"The head of pull request #{number} is {now[:12]} by now, not {head[:12]}: the push that moved it "
            "starts a review of its own."
        )
