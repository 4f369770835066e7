"""Opens a pull request for reading: its facts, its commits, and what the bot remembers of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from review_advisor.adapters.actions import GithubEnvironment, read_github
from review_advisor.adapters.clock import SystemClock
from review_advisor.adapters.git.fetch import Remote, open_pull_request
from review_advisor.adapters.git.source import About, GitSource
from review_advisor.adapters.github.connect import connect
from review_advisor.app.configuration import believed_base, load_config
from review_advisor.core.facts.event import CommentEvent, MergeGroupEvent, PullRequestEvent
from review_advisor.core.facts.pull_request import PullRequest
from review_advisor.core.pull_request.beginning import beginning
from review_advisor.core.pull_request.memory import earlier_review
from review_advisor.core.pull_request.rules import PublicationRules
from review_advisor.core.pull_request.seals import PeoplesWord, believed, needs_people, vouched_by_word
from review_advisor.core.pull_request.standing import StandingComment
from review_advisor.core.pull_request.state import State, own_summaries, read_state
from review_advisor.ports.forge import Forge, ForgeError
from review_advisor.ports.review import SourceError
from review_advisor.pull_request.peoples_word import peoples_word


@dataclass(frozen=True, slots=True)
class OpenedPullRequest:
    """A pull request that is open for reading, and what the bot remembers of it.

    ``state`` is of the bot's own summary comment, ``summary_comment_id``; both are None where there is none, the state
    also where it cannot be believed.
    """

    source: GitSource
    pull_request: PullRequest
    state: State | None
    summary_comment_id: int | None


@dataclass(frozen=True, slots=True)
class Named:
    """A pull request by its name. ``head`` is the only head that is reviewed; empty: whatever it is.

    ``memory`` is the word of ``begin`` on what is remembered of it; empty where it said none.
    """

    name: str
    head: str = ""
    memory: str = ""


def open_named(
    repo: Path, named: Named, about: About, config: Path | None, environ: Mapping[str, str]
) -> OpenedPullRequest:
    """Open the pull request of this name. Raises ``SourceError`` and ``ConfigError``."""
    github = read_github(environ)
    asked = _Asked(*github.pull_request(named.name), named.head, memory=named.memory)
    return _open(repo, asked, about, config, github)


def open_of_event(
    repo: Path, event_file: str, about: About, config: Path | None, environ: Mapping[str, str]
) -> OpenedPullRequest:
    """Open the pull request that the event in this file is about. Raises ``SourceError`` and ``ConfigError``."""
    github = read_github(environ)
    event = github.event(event_file)
    match event:
        case PullRequestEvent():
            asked = _Asked(event.repository, event.number, event.head_sha, event)
            return _open(repo, asked, about, config, github)
        case CommentEvent():
            raise SourceError("A comment starts no review by itself: name the pull request that it asks for with --pr.")
        case MergeGroupEvent():
            raise SourceError("A merge group is not reviewed: each of its pull requests was.")


@dataclass(frozen=True, slots=True)
class _Asked:
    """Which pull request is to be reviewed, and at which head, if that was said. ``by`` is the event, if one asks.

    ``memory`` is the word of ``begin`` on what is remembered of it; empty where it said none.
    """

    repository: str
    number: int
    head: str
    by: PullRequestEvent | None = None
    memory: str = ""


def _open(repo: Path, asked: _Asked, about: About, config: Path | None, github: GithubEnvironment) -> OpenedPullRequest:
    try:
        return _read(repo, asked, about, config, github)
    except ForgeError as problem:
        raise SourceError(str(problem)) from None


def _read(repo: Path, asked: _Asked, about: About, config: Path | None, github: GithubEnvironment) -> OpenedPullRequest:
    forge: Forge = connect(asked.repository, token=github.token, api_url=github.api_url, clock=SystemClock())
    pull_request = forge.pull_request(asked.number)
    _check(pull_request, asked)
    about = replace(about, issues=forge.linked_issues(asked.number))
    remote = Remote(github.clone_url(asked.repository), github.token, github.network)
    source = open_pull_request(repo, pull_request, remote, believed_base(forge, pull_request), about=about)
    rules = load_config(repo, config, source.base_file)[0].publication_rules()
    comments = forge.comments(asked.number)
    summaries = own_summaries(comments, rules.login)
    state = _believed(forge, rules, asked, summaries[0], comments) if summaries else None
    if asked.by is not None:
        labelled = asked.by.action == "labeled" and asked.by.label == rules.fork_label
        permitted = labelled and forge.permission(asked.by.sender).may_write
        begun = beginning(pull_request, state, rules, asked=permitted)
        if not begun.review:
            raise SourceError(f"Pull request #{asked.number} is not reviewed: {begun.because}.")
    if state is not None:
        source = source.after(state.fix_attempts, earlier_review(state))
    return OpenedPullRequest(source, pull_request, state, summaries[0].id if summaries else None)


def _believed(
    forge: Forge,
    rules: PublicationRules,
    asked: _Asked,
    summary: StandingComment,
    comments: tuple[StandingComment, ...],
) -> State | None:
    """The state in the summary, as far as ``begin`` and people vouch for it: this job holds no key."""
    state = read_state(summary, rules.login)
    if state is None:
        return None
    found = vouched_by_word(asked.memory, summary.body)
    needed = needs_people(state, found)
    people = peoples_word(forge, rules, asked.number, comments, state) if needed else PeoplesWord()
    return believed(state, found, people)


def _check(pull_request: PullRequest, asked: _Asked) -> None:
    """Refuse what nobody is to review, before anything is fetched. Raises ``SourceError``."""
    number, head = pull_request.number, pull_request.head_sha
    if pull_request.state != "open":
        raise SourceError(f"Pull request #{number} is {pull_request.state}: only an open one is reviewed.")
    if asked.head not in ("", head):
        raise SourceError(
            f"The head of pull request #{number} is {head[:12]} by now, not {asked.head[:12]}: the push that moved it "
            "starts a review of its own."
        )
