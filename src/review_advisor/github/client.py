"""GitHub over PyGithub: requests, their meaning, and their failures."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice, takewhile
from typing import Any, Protocol, TypeVar
from urllib.parse import parse_qs, quote, urlsplit

from github import Auth, Github
from github.Requester import HTTPSRequestsConnectionClass, RequestsResponse
from pydantic import TypeAdapter, ValidationError

from review_advisor.change.change import CommittedFile, Hunk
from review_advisor.change.patch import PatchError, split_patch
from review_advisor.change.pull_request import LinkedIssue, Makers, Permission, PullRequest, StandingRemark
from review_advisor.github import responses as queries
from review_advisor.github.forge import (
    MOST_COMPARED,
    MOST_IN_FOLDER,
    MOST_LISTED_COMMITS,
    MOST_RECENT,
    CommentableLines,
    Comparison,
    FolderEntry,
    ForgeDenied,
    ForgeError,
    ForgeMissing,
    ForgeRejected,
    ForgeUnavailable,
    ListedFile,
    ReviewPending,
)
from review_advisor.github.responses import (
    ActivityAnswer,
    AnnotationAnswer,
    ApiAddress,
    BranchAnswer,
    ChecksAnswer,
    CommentNode,
    CommitAnswer,
    ComparisonAnswer,
    ContentAnswer,
    EntryAnswer,
    FileAnswer,
    FoundAnswer,
    GraphAnswer,
    GraphProblem,
    Identified,
    IssueNode,
    PermissionAnswer,
    PullRequestAnswer,
    Read,
    RecentNodeOrNull,
    Refusal,
    RemarkNode,
    RepositoryAnswer,
    ReviewAnswer,
    Root,
    ThreadNode,
    api_address,
    commit_name,
    is_login,
    quoted,
    repository_name,
    token_value,
)
from review_advisor.github.state import RecentWork, StandingCheck, StandingComment, StandingReview, Thread
from review_advisor.github.writes import Annotation, Check, InlineComment, MadeCommit, in_requests, missing_annotations
from review_advisor.review.ports import Clock
from review_advisor.safety.secrets import REDACTED
from review_advisor.safety.terminal import one_line

NO_COMMIT = "No commit found"
"""How GitHub tells that it lacks the commit, not the file."""


NO_LABEL = "Label does not exist"
"""How GitHub tells that a label is not on the pull request, which itself is there."""


ONE_PENDING = "only have one pending review"
"""How GitHub tells that the account has a pending review on the pull request."""


_MOST_REASON = 200


_SECONDARY_SECONDS = 60
"""GitHub: where a secondary limit tells no time, wait at least a minute."""


_MULTIPLE_CHOICES, _UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _TIMEOUT, _GONE = 300, 401, 403, 404, 408, 410


_TOO_MANY, _SERVER_ERROR = 429, 500


_LIMIT_WORDS = ("rate limit", "abuse detection")


@dataclass(frozen=True, slots=True)
class Response:
    """One answer of GitHub's, unread. Names of ``headers`` are in lower case."""

    status: int
    headers: Mapping[str, str]
    text: str


class Unanswered(ForgeUnavailable):
    """A read may be tried again."""


def failure(doing: str, answer: Response, now: datetime) -> ForgeError | None:
    """What an answer's status says against it; None if it says nothing."""
    status = answer.status
    if status < _MULTIPLE_CHOICES:
        return None
    refusal = _refusal(answer.text)
    if _is_limit(answer, refusal.message):
        wait = _told_wait(answer.headers, now)
        return Unanswered(
            f"GitHub did not {doing}: its rate limit is reached, try again in {wait:.0f} seconds.", max(wait, 0)
        )
    if status == _TIMEOUT or status >= _SERVER_ERROR:
        return Unanswered(f"GitHub did not {doing}: it answered with status {status}.")
    if status in {_UNAUTHORIZED, _FORBIDDEN}:
        return ForgeDenied(f"The token may not {doing}: GitHub answers {_reason(refusal)!r}.")
    if status in {_NOT_FOUND, _GONE}:
        return ForgeMissing(f"GitHub could not {doing}: it is not there, or not for this token ({_reason(refusal)}).")
    kind = ReviewPending if ONE_PENDING in _reason(refusal) else ForgeRejected
    return kind(f"GitHub refused to {doing}: {_reason(refusal)}.")


def graph_failure(doing: str, problems: tuple[GraphProblem, ...]) -> ForgeError:
    """What GraphQL's errors come to; the first one decides."""
    first = problems[0]
    reason = _short(first.message)
    match first.type:
        case "NOT_FOUND":
            return ForgeMissing(f"GitHub could not {doing}: it is not there, or not for this token ({reason}).")
        case "FORBIDDEN" | "INSUFFICIENT_SCOPES":
            return ForgeDenied(f"The token may not {doing}: GitHub answers {reason!r}.")
        case "RATE_LIMITED":
            return Unanswered(f"GitHub did not {doing}: its rate limit is reached.", _SECONDARY_SECONDS)
        case None if not first.extensions:
            return Unanswered(f"GitHub did not {doing}: {reason}.")
        case _:
            return ForgeRejected(f"GitHub refused to {doing}: {reason}.")


def unreadable(doing: str, error: ValidationError, *, of_graph: bool = False) -> ForgeUnavailable:
    """An answer that is no JSON, or that lacks what GitHub documents.

    Worth another try is the first, and in GraphQL a null: it stands for what GitHub fails to show this time.
    """
    first = error.errors(include_url=False)[0]
    if first["type"] == "json_invalid":
        return Unanswered(f"GitHub did not {doing} in a way that can be read: its answer is no JSON.")
    where = ".".join(map(str, first["loc"]))
    kind = Unanswered if of_graph and first["input"] is None else ForgeUnavailable
    return kind(f"GitHub's answer to a request to {doing} cannot be used: {_short(where)} is missing or wrong.")


def _refusal(text: str) -> Refusal:
    try:
        return Refusal.model_validate_json(text)
    except ValidationError:
        return Refusal()


def _is_limit(answer: Response, message: str) -> bool:
    if answer.status == _TOO_MANY:
        return True
    return answer.status == _FORBIDDEN and (
        "retry-after" in answer.headers
        or answer.headers.get("x-ratelimit-remaining") == "0"
        or any(words in message.lower() for words in _LIMIT_WORDS)
    )


def _told_wait(headers: Mapping[str, str], now: datetime) -> float:
    told = _seconds(headers.get("retry-after", ""))
    if told is not None:
        return told
    reset = _seconds(headers.get("x-ratelimit-reset", ""))
    if reset is not None and headers.get("x-ratelimit-remaining") == "0":
        return max(reset - now.timestamp(), 0) + 1
    return _SECONDARY_SECONDS


def _seconds(value: str) -> float | None:
    digits = value.partition(".")[0]
    return float(digits) if digits.isdecimal() and len(digits) <= len("9999999999") else None


def _reason(refusal: Refusal) -> str:
    details = [each if isinstance(each, str) else each.words() for each in refusal.errors]
    return _short("; ".join(filter(None, [refusal.message, *details]))) or "no reason given"


def _short(text: str) -> str:
    line = one_line(text).rstrip(".")
    return line if len(line) <= _MOST_REASON else f"{line[:_MOST_REASON]}..."


_TIMEOUT_SECONDS = 15


_API_VERSION = "2022-11-28"


_HEADERS = {"Accept": "application/vnd.github+json"}


_ACCEPTED = 202


_FOUND = 302


_REDIRECTS = range(300, 400)


_REFUSED = 400


_NO_ANSWER = (OSError, ValueError, OverflowError)
"""requests' errors are OSErrors; what bad headers raise are the others."""


class Exchange:
    """Sends each request exactly once and hands back whatever came.

    PyGithub's retries repeat writes, its waits for limits and for status 202 have no end, and a redirect it follows
    has lost its query. So none of them is used.
    """

    def __init__(self, address: ApiAddress, token: str) -> None:
        self._token = token
        self._connection = _Connection(address)
        self._requester = Github(
            auth=Auth.Token(token),
            base_url=address.url,
            user_agent="review-advisor",
            retry=None,
            seconds_between_requests=None,
            seconds_between_writes=None,
            api_version=_API_VERSION,
        ).requester

    def rest(self, doing: str, verb: str, path: str, parameters: Mapping[str, str], body: object = None) -> Response:
        """The answer of a path below the base URL. Raises ``Unanswered``, and ``ForgeMissing`` for a redirect."""
        return self._send(doing, verb, path, parameters, body)

    def location(self, doing: str, path: str) -> str | Response:
        """Where the answer of a path sends whoever asks, which is not followed; or the answer that sends nobody on.

        Raises as above.
        """
        try:
            return self._ask("GET", path, {}, None)
        except _NotFollowed as error:
            if error.status == _FOUND:
                return error.location
            raise _refused(doing, error) from None
        except _NO_ANSWER as error:
            raise _no_answer(doing, error) from error

    def graph(self, doing: str, query: str, variables: Mapping[str, Any]) -> Response:
        """The same of GraphQL, whose address PyGithub derives: GitHub Enterprise has it at ``/api/graphql``."""
        return self._send(
            doing, "POST", self._requester.graphql_url, {}, {"query": query, "variables": dict(variables)}
        )

    def _send(self, doing: str, verb: str, url: str, parameters: Mapping[str, str], body: object) -> Response:
        try:
            return self._ask(verb, url, parameters, body)
        except _NotFollowed as error:
            raise _refused(doing, error) from None
        except _NO_ANSWER as error:
            raise _no_answer(doing, error) from error

    def _ask(self, verb: str, url: str, parameters: Mapping[str, str], body: object) -> Response:
        status, headers, text = self._requester.requestJson(
            verb, url, dict(parameters), dict(_HEADERS), body, self._connection
        )
        return Response(status, headers, text if status < _REFUSED else text.replace(self._token, REDACTED))


def _refused(doing: str, error: _NotFollowed) -> Unanswered | ForgeMissing:
    if error.status == _ACCEPTED:
        return Unanswered(f"GitHub did not {doing} yet: it only took the request.")
    return ForgeMissing(f"GitHub could not {doing}: it has moved; use the repository's present name.")


def _no_answer(doing: str, error: Exception) -> Unanswered:
    return Unanswered(f"GitHub did not {doing}: no answer came ({type(error).__name__}).")


class _NotFollowed(Exception):  # noqa: N818 (it says what was done)
    def __init__(self, status: int, location: str) -> None:
        super().__init__(status)
        self.status = status
        self.location = location


class _Connection(HTTPSRequestsConnectionClass):
    """PyGithub's connection, which ends where PyGithub would go on: no redirect is followed, no 202 waited for."""

    def __init__(self, address: ApiAddress) -> None:
        port = address.port or (443 if address.scheme == "https" else 80)
        super().__init__(address.host, port, timeout=_TIMEOUT_SECONDS)
        self.protocol = address.scheme
        if address.loopback:
            self.session.trust_env = False  # a proxy would get the token in plain text

    def getresponse(self) -> RequestsResponse:
        response = super().getresponse()
        if response.status == _ACCEPTED or response.status in _REDIRECTS:
            raise _NotFollowed(response.status, str(response.headers.get("location", "")))
        return response


Value = TypeVar("Value")


Node = TypeVar("Node")


_PER_PAGE = 100


_MOST_PAGES = 300


_PAUSES = (1.0, 2.0, 4.0)
"""Seconds before each further try of a read."""


_MOST_WAITED = 90.0
"""Seconds that one read may wait in all, limits included: those that end within a minute are waited for."""


class Wire:
    """GitHub's REST and GraphQL, for one token.

    ``doing`` tells the user what was tried: a verb with its object. Every method raises ``ForgeError``. Writes keep
    ``between_writes`` seconds between them, as GitHub asks.
    """

    def __init__(self, exchange: Exchange, clock: Clock, *, between_writes: float) -> None:
        self._exchange = exchange
        self._clock = clock
        self._between_writes = between_writes
        self._last_write: float | None = None

    def get(self, doing: str, path: str, shape: type[Value], parameters: Mapping[str, str] | None = None) -> Value:
        """What stands at a path of the API."""
        return self._patiently(lambda: _read(doing, self._rest(doing, "GET", path, parameters or {}), shape))

    def pages(
        self, doing: str, path: str, shape: type[Value], parameters: Mapping[str, str] | None = None
    ) -> list[Value]:
        """Every page of a list, in order.

        Pages are counted, and of ``Link`` only counts whether there is a next one: its address is not followed.
        """
        found: list[Value] = []
        for number in range(1, _MOST_PAGES + 1):
            page, link = self._page(doing, path, shape, {**(parameters or {}), "page": str(number)})
            found.append(page)
            if 'rel="next"' not in link:
                return found
        raise _endless(doing)

    def newest(
        self, doing: str, path: str, shape: type[Value], parameters: Mapping[str, str], most: int
    ) -> tuple[list[Value], bool]:
        """The first pages of a list that is paged by cursors, ``most`` of them, and whether they are all of it.

        Of ``Link`` only the cursor counts: its address is not followed.
        """
        found: list[Value] = []
        cursor: str | None = ""
        for _ in range(most):
            page, link = self._page(doing, path, shape, {**parameters, **({"after": cursor} if cursor else {})})
            cursor = _next_cursor(link)
            found.append(page)
            if not cursor:
                break
        return found, cursor is None

    def _page(self, doing: str, path: str, shape: type[Value], parameters: Mapping[str, str]) -> tuple[Value, str]:
        """One page, and the ``Link`` that came with it."""

        def ask() -> tuple[Value, str]:
            answer = self._rest(doing, "GET", path, {**parameters, "per_page": str(_PER_PAGE)})
            return _read(doing, answer, shape), answer.headers.get("link", "")

        return self._patiently(ask)

    def stored(self, doing: str, path: str, fetch: Callable[[str], Value]) -> Value:
        """What a path stands for, from where GitHub stores it.

        ``fetch`` gets an address that GitHub signed, so no token belongs to it; each try gets a fresh one.
        """

        def ask() -> Value:
            answer = self._exchange.location(doing, path)
            if isinstance(answer, str):
                return fetch(answer)
            self._accepted(doing, answer)
            raise ForgeUnavailable(f"GitHub did not {doing}: it did not say where it is stored.")

        return self._patiently(ask)

    def graph_nodes(
        self, doing: str, query: str, variables: Mapping[str, Any], shape: type[Root[Node]], *, partly: bool = False
    ) -> Iterator[Node]:
        """Every node of a paged query; a page is asked for when its first node is wanted.

        ``partly``: what the token may not see is left out. Otherwise it is an error. If GitHub leaves it out without
        saying so, the page is asked for again first.
        """
        parts = self.graph_parts(doing, query, variables, shape, partly=partly, whole=not partly)
        return (node for node in parts if node is not None)

    def graph_parts(
        self,
        doing: str,
        query: str,
        variables: Mapping[str, Any],
        shape: type[Root[Node]],
        *,
        partly: bool = False,
        whole: bool = False,
    ) -> Iterator[Node | None]:
        """The same, with None for each node that GitHub does not show; ``whole``: one of those is an error."""
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            asked = {**variables, "after": cursor}

            def ask(asked: dict[str, Any] = asked) -> Root[Node]:
                found = _read(doing, self._graph(doing, query, asked, partly=partly), shape)
                if whole and None in found.page.nodes:
                    raise Unanswered(f"GitHub did not {doing}: it leaves out a part of the list.")
                return found

            page = self._patiently(ask).page
            yield from page.nodes
            cursor = page.cursor
            if not page.more:
                return
        raise _endless(doing)

    def make(self, doing: str, path: str, body: Mapping[str, Any], shape: type[Value]) -> Value:
        """POST, once, and read what was made."""
        self._pace()
        return _read(doing, self._rest(doing, "POST", path, {}, body), shape)

    def write(self, doing: str, verb: str, path: str, body: Mapping[str, Any] | None = None) -> None:
        """POST, PATCH or DELETE, once; what the answer says does not matter."""
        self._pace()
        self._rest(doing, verb, path, {}, body)

    def mutate(self, doing: str, mutation: str, variables: Mapping[str, Any]) -> None:
        """A GraphQL mutation, sent once."""
        self._pace()
        self._graph(doing, mutation, variables, partly=False)

    def _rest(self, doing: str, verb: str, path: str, parameters: Mapping[str, str], body: object = None) -> Response:
        return self._accepted(doing, self._exchange.rest(doing, verb, path, parameters, body))

    def _graph(self, doing: str, query: str, variables: Mapping[str, Any], *, partly: bool) -> dict[str, Any]:
        envelope = _read(doing, self._accepted(doing, self._exchange.graph(doing, query, variables)), GraphAnswer)
        unseen = partly and envelope.data is not None and all(each.type == "FORBIDDEN" for each in envelope.errors)
        if envelope.errors and not unseen:
            raise graph_failure(doing, envelope.errors)
        return envelope.data or {}

    def _accepted(self, doing: str, answer: Response) -> Response:
        found = failure(doing, answer, self._clock.now())
        if found is not None:
            raise found
        return answer

    def _patiently(self, ask: Callable[[], Value]) -> Value:
        waited = 0.0
        for pause in _PAUSES:
            try:
                return ask()
            except Unanswered as error:
                wait = max(pause, error.wait)
                if waited + wait > _MOST_WAITED:
                    raise
            self._clock.sleep(wait)
            waited += wait
        return ask()

    def _pace(self) -> None:
        now = self._clock.monotonic()
        if self._last_write is not None and now - self._last_write < self._between_writes:
            self._clock.sleep(self._between_writes - (now - self._last_write))
        self._last_write = self._clock.monotonic()


def _read(doing: str, answer: Response | dict[str, Any], shape: type[Value]) -> Value:
    """An answer, or the data in one, as what it has to be. Raises ``ForgeError``."""
    reader = TypeAdapter(shape)
    try:
        return reader.validate_json(answer.text) if isinstance(answer, Response) else reader.validate_python(answer)
    except ValidationError as error:
        raise unreadable(doing, error, of_graph=not isinstance(answer, Response)) from None


def _next_cursor(link: str) -> str | None:
    """The cursor of the next page; None after the last one, and nothing where the next one has no cursor."""
    for part in link.split(","):
        address, _, relation = part.partition(";")
        if 'rel="next"' in relation:
            return (parse_qs(urlsplit(address.strip(" <>")).query).get("after") or [""])[0]
    return None


def _endless(doing: str) -> ForgeError:
    return ForgeError(f"GitHub could not {doing}: the list does not end after {_MOST_PAGES} pages.")


def check_body(check: Check) -> dict[str, Any]:
    """The body that brings one of ``in_requests`` about."""
    output: dict[str, Any] = {"title": check.title, "summary": check.summary}
    if check.annotations:
        output["annotations"] = [_annotation(each) for each in check.annotations]
    found: dict[str, Any] = {"name": check.name, "external_id": check.external_id, "output": output}
    if check.details_url is not None:
        found["details_url"] = check.details_url
    if check.conclusion is not None:
        return {**found, "status": "completed", "conclusion": check.conclusion.value}
    return {**found, "status": "in_progress"}


def _annotation(annotation: Annotation) -> dict[str, Any]:
    return {
        "path": annotation.path,
        "start_line": annotation.start_line,
        "end_line": annotation.end_line,
        "annotation_level": annotation.level,
        "title": annotation.title,
        "message": annotation.message,
    }


_HEADER = b"--- old\n+++ new\n"
"""GitHub's patches begin with their first hunk."""


def commentable(patch: str) -> CommentableLines | None:
    """Every line that the patch shows, unchanged ones on both sides; None for a patch that does not hold together."""
    try:
        sections = split_patch(_HEADER + patch.encode("utf-8", "replace"))
    except PatchError:
        return None
    right: set[int] = set()
    left: set[int] = set()
    for section in sections:
        for hunk in section.hunks:
            _walk(hunk, right, left)
    return CommentableLines(frozenset(right), frozenset(left))


def _walk(hunk: Hunk, right: set[int], left: set[int]) -> None:
    old, new = hunk.old_start, hunk.new_start
    for line in hunk.lines:
        mark = line[0]
        if mark in " -":
            left.add(old)
            old += 1
        if mark in " +":
            right.add(new)
            new += 1


class _Named(Read):
    sha: str


class _Commit(_Named):
    tree: _Named

    def value(self) -> MadeCommit:
        return MadeCommit(self.sha, self.tree.sha)


Shape = TypeVar("Shape")


class RepositoryReader:
    """What all that is about one repository has to ask. Every method raises ``ForgeError``."""

    def __init__(self, repository: str, wire: Wire) -> None:
        self._root = f"/repos/{repository}"
        self._wire = wire

    def _read_repository(self) -> RepositoryAnswer:
        return self._wire.get("read the repository", self._root, RepositoryAnswer)

    def _has_rules(self, path: str) -> bool:
        """Whether branch protection or a ruleset guards the branch. Raises ``ForgeMissing`` if it is not there."""
        if self._wire.get("read the branch", f"{self._root}/branches/{path}", BranchAnswer).protected:
            return True
        return any(self._wire.pages("read the branch's rules", f"{self._root}/rules/branches/{path}", list[Any]))


class GitData(RepositoryReader):
    """Branches and git objects of one repository, as ``ports.Forge``. Every method raises ``ForgeError``."""

    def is_protected(self, branch: str) -> bool:
        """Whether any rule guards a branch, or it is the default one: branch protection and rulesets both count."""
        path = _path(branch)
        return self._read_repository().default_branch == branch or self._has_rules(path)

    def tip(self, branch: str) -> str:
        """The commit that a branch ends with."""
        doing = f"read the branch {quoted(branch)}"
        return self._wire.get(doing, f"{self._root}/branches/{_path(branch)}", BranchAnswer).tip

    def make_commit(self, parent: str, files: tuple[CommittedFile, ...], message: str) -> MadeCommit:
        """Make a commit on ``parent`` with these files put into its tree. No branch leads to it yet.

        The parent's own tree is asked for: a commit's name is no base of a tree by GitHub's word.
        """
        doing = f"read commit {quoted(parent)}"
        base = self._wire.get(doing, f"{self._root}/git/commits/{commit_name(parent)}", _Commit).tree.sha
        entries = [
            {"path": each.path, "mode": each.mode, "type": "blob", "sha": self._blob(each.content)} for each in files
        ]
        tree = self._make("store a tree", "trees", {"base_tree": base, "tree": entries}, _Named).sha
        body = {"message": message, "tree": tree, "parents": [parent]}
        return self._make("store a commit", "commits", body, _Commit).value()

    def advance_branch(self, branch: str, commit: str) -> None:
        """Move a branch forward to a commit, without force."""
        doing = f"move the branch {quoted(branch)}"
        path = f"{self._root}/git/refs/heads/{_path(branch)}"
        self._wire.write(doing, "PATCH", path, {"sha": commit_name(commit), "force": False})

    def _blob(self, content: bytes) -> str:
        body = {"content": base64.b64encode(content).decode("ascii"), "encoding": "base64"}
        return self._make("store a file", "blobs", body, _Named).sha

    def _make(self, doing: str, kind: str, body: dict[str, Any], shape: type[Shape]) -> Shape:
        return self._wire.make(doing, f"{self._root}/git/{kind}", body, shape)


def _path(branch: str) -> str:
    """A branch's name as a part of a path. Raises ``ForgeRejected`` for one that would lead somewhere else."""
    if any(part in {"", ".", ".."} for part in branch.split("/")):
        raise ForgeRejected(f"{quoted(branch)} is not the name of a branch.")
    return quote(branch)


_MOST_COMMIT_PAGES = 10
"""A branch with more pushes than these pages hold, a hundred each, has some that nobody knows."""


class Authorship(GitData):
    """The makers of commits on GitHub, as ``ports.Forge``. Every method raises ``ForgeError``."""

    def makers(self, pull_request: PullRequest) -> Makers:
        """The accounts that GitHub knows the commits' authors and committers by, and whoever pushed any of the commits.

        It goes by the mail addresses in a commit.
        """
        doing = f"list the commits of pull request #{pull_request.number}"
        pages = self._wire.pages(doing, f"{self._pull(pull_request.number)}/commits", list[CommitAnswer])
        commits = [each for page in pages for each in page]
        found = (login for each in commits for login in each.makers())
        pushed = self.pushers(pull_request, {each.sha for each in commits})
        named = all(each.names_author for each in commits)
        whole = named and pushed.whole and len(commits) < MOST_LISTED_COMMITS
        return Makers(tuple(dict.fromkeys((*found, *pushed.logins))), whole)

    def pushers(self, pull_request: PullRequest, commits: AbstractSet[str]) -> Makers:
        """Whoever pushed one of these commits to the head's branch.

        Not whole: a fork that the token cannot read, more pushes than are read, or a head that nobody is known to push.
        """
        every, whole = self._pushes("read who pushed the commits", pull_request, _MOST_COMMIT_PAGES)
        pushes = [each for each in every if each.after in commits]
        known = all(each.actor for each in pushes) and pull_request.head_sha in {each.after for each in pushes}
        return Makers(tuple(dict.fromkeys(each.actor.login for each in pushes if each.actor)), whole and known)

    def pushed_heads(self, pull_request: PullRequest) -> tuple[str, ...]:
        """The heads that pushes gave to its branch, the newest first, at most a hundred; none if unreadable."""
        pushes, _ = self._pushes("read what was pushed", pull_request, 1)
        return tuple(dict.fromkeys(each.after for each in pushes))

    def _pushes(self, doing: str, pull_request: PullRequest, pages: int) -> tuple[list[ActivityAnswer], bool]:
        """The newest pushes to the head's branch, and whether they are all; none where the token may not read them."""
        if pull_request.head_repository is None:
            return [], False
        path = f"/repos/{quote(pull_request.head_repository)}/activity"
        asked = {"ref": f"refs/heads/{pull_request.head_ref}"}
        try:
            found, whole = self._wire.newest(doing, path, list[ActivityAnswer], asked, pages)
        except (ForgeMissing, ForgeDenied):
            return [], False
        return [each for page in found for each in page], whole

    def compared(self, base: str, head: str) -> Comparison:
        """What ``head`` brings over its merge base with ``base``: both are commits, which no push moves."""
        path = f"{self._root}/compare/{commit_name(base)}...{commit_name(head)}"
        pages = self._wire.pages(f"compare the commit {head[:12]} with its base", path, ComparisonAnswer)
        commits = tuple(each.value() for page in pages for each in page.commits)
        told = pages[0].files
        files = tuple(each.value() for each in told or ())
        whole = told is not None and len(files) < MOST_COMPARED and len(commits) == pages[0].total_commits
        return Comparison(files, commits, whole)

    def _pull(self, number: int) -> str:
        return f"{self._root}/pulls/{number}"


_BETWEEN_WRITES = 1.0
"""Seconds. GitHub asks for them, or its secondary limits strike."""


class _Numbered(Protocol):
    @property
    def id(self) -> int: ...


_Item = TypeVar("_Item", bound=_Numbered)


class GitHubForge(Authorship):
    """One repository on GitHub or GitHub Enterprise, as ``ports.Forge``; ``connect`` opens it."""

    def __init__(self, repository: str, wire: Wire) -> None:
        super().__init__(repository, wire)
        self._repository = repository
        self._owner, _, self._name = repository.partition("/")

    def pull_request(self, number: int) -> PullRequest:
        """The pull request as it is now; ``base_sha`` is the base branch's tip as GitHub last recorded it."""
        answer = self._wire.get(f"read pull request #{number}", self._pull(number), PullRequestAnswer)
        return answer.value(self._repository)

    def open_pull_requests(self, head_sha: str) -> tuple[PullRequest, ...]:
        """The open pull requests whose head is this very commit, the lowest number first, out of all open ones.

        GitHub's list by commit is shorter, and names for a commit of the default branch only what brought it there.
        """
        head = commit_name(head_sha)
        asked = {"state": "open", "sort": "created", "direction": "asc"}
        pages = self._wire.pages("list the open pull requests", f"{self._root}/pulls", list[PullRequestAnswer], asked)
        found = {each.number: each for page in pages for each in page if each.state == "open" and each.head_sha == head}
        return tuple(found[number].value(self._repository) for number in sorted(found))

    def linked_issues(self, number: int) -> tuple[LinkedIssue, ...]:
        """The issues that it closes, the lowest number first; one that the token may not see is left out."""
        doing = f"list the issues that pull request #{number} closes"
        nodes = self._wire.graph_nodes(doing, queries.LINKED_ISSUES, self._asked(number), Root[IssueNode], partly=True)
        return tuple(sorted((node.value() for node in nodes), key=lambda issue: (issue.number, issue.repository)))

    def permission(self, login: str) -> Permission:
        """What this account may do here, by GitHub's word; none for an account that GitHub does not know."""
        if not is_login(login):
            return Permission.NONE
        path = f"{self._root}/collaborators/{quote(login, safe='')}/permission"
        try:
            return self._wire.get(f"read what {quoted(login)} may do", path, PermissionAnswer).value()
        except ForgeMissing:
            return Permission.NONE

    def file(self, path: str, commit: str) -> bytes | None:
        """A regular file of a commit, at most 1 MB; None if there is none, or a folder, a link or a submodule."""
        doing = f"read the file {quoted(path)}"
        found = self._found(doing, path, commit)
        if found is None or isinstance(found, list) or found.type != "file" or found.path != path:
            return None
        return _bytes(doing, found)

    def folder(self, path: str, commit: str) -> tuple[FolderEntry, ...]:
        """What lies directly in a folder of a commit. A link in its place is not followed."""
        doing = f"list the folder {quoted(path)}"
        found = self._found(doing, path, commit)
        if found is None:
            return ()
        if not isinstance(found, list):
            return (FolderEntry(path, "other"),)
        if len(found) >= MOST_IN_FOLDER:
            raise ForgeRejected(f"GitHub could not {doing}: it lists {MOST_IN_FOLDER:,} entries and no more.")
        return tuple(entry.value() for entry in found)

    def changed_files(self, number: int) -> tuple[ListedFile, ...]:
        """The files of the pull request. A copy leaves the file that it was made of as it was."""
        return tuple(file.value() for file in self._files(number))

    def commentable_lines(self, number: int) -> Mapping[str, CommentableLines]:
        """For each file whose patch GitHub shows: the lines on which it takes a comment. GitHub lists 3,000 files."""
        found = {file.filename: commentable(file.patch) for file in self._files(number) if file.patch}
        return {path: lines for path, lines in found.items() if lines is not None}

    def checks(self, commit: str, name: str) -> tuple[StandingCheck, ...]:
        """All check runs of this name on a commit, the lowest id first."""
        path = f"{self._root}/commits/{commit_name(commit)}/check-runs"
        asked = {"check_name": name, "filter": "all"}
        pages = self._wire.pages(f"list the checks of commit {commit[:12]}", path, ChecksAnswer, asked)
        return _in_order(each.value() for page in pages for each in page.check_runs if each.name == name)

    def comments(self, number: int) -> tuple[StandingComment, ...]:
        """All comments on the pull request itself, the lowest id first."""
        doing = f"list the comments of pull request #{number}"
        nodes = self._wire.graph_nodes(doing, queries.COMMENTS, self._asked(number), Root[CommentNode])
        return _in_order(node.value() for node in nodes)

    def reviews(self, number: int) -> tuple[StandingReview, ...]:
        """All reviews that the token's account can see, its own pending one too; the lowest id first."""
        path = f"{self._pull(number)}/reviews"
        pages = self._wire.pages(f"list the reviews of pull request #{number}", path, list[ReviewAnswer])
        return _in_order(each.value() for page in pages for each in page)

    def threads(self, number: int) -> tuple[Thread, ...]:
        """All threads of inline comments, the first begun first: in which order GitHub lists them is not promised."""
        doing = f"list the threads of pull request #{number}"
        nodes = self._wire.graph_nodes(doing, queries.THREADS, self._asked(number), Root[ThreadNode])
        return tuple(node.value() for node in sorted(nodes, key=lambda node: node.begun))

    def remarks(self, number: int) -> tuple[StandingRemark, ...]:
        """The first comment of each thread on the diff, with who resolved it and whose thumbs it has."""
        doing = f"list what became of the comments of pull request #{number}"
        nodes = self._wire.graph_nodes(doing, queries.REMARKS, self._asked(number), Root[RemarkNode])
        return tuple(remark for node in nodes if (remark := node.value()) is not None)

    def recent_work(self, check_name: str, since: datetime) -> RecentWork:
        """The pull requests that changed ``since`` then, at most ``MOST_RECENT``, one request for fifty of them.

        One that GitHub does not show whole is left out: it must not stop the reviews of all others.
        """
        asked = {"owner": self._owner, "name": self._name, "check": check_name}
        doing = "list the pull requests that changed lately"
        nodes = self._wire.graph_parts(doing, queries.RECENT, asked, Root[RecentNodeOrNull])
        lately = takewhile(lambda node: node is None or node.updated_at >= since, nodes)
        found = list(islice(lately, MOST_RECENT + 1))
        shown = tuple(node.value() for node in found[:MOST_RECENT] if node is not None)
        return RecentWork(shown, whole=len(found) <= MOST_RECENT and None not in found)

    def create_check(self, commit: str, check: Check) -> int:
        """Make a check run; its id. Its first fifty annotations come with it, the others and the conclusion after."""
        first, *rest = map(check_body, in_requests(check))
        whole = {**first, "head_sha": commit_name(commit)}
        doing = f"make the check {quoted(check.name)}"
        made = self._wire.make(doing, f"{self._root}/check-runs", whole, Identified).id
        self._bring_about(doing, made, rest)
        return made

    def update_check(self, check_id: int, check: Check) -> None:
        """Make a check run stand as ``check`` says. An annotation that already stands is not sent again."""
        doing = f"update the check {quoted(check.name)}"
        if check.annotations:
            pages = self._wire.pages(doing, f"{self._root}/check-runs/{check_id}/annotations", list[AnnotationAnswer])
            standing = (each.value() for page in pages for each in page)
            check = replace(check, annotations=missing_annotations(check.annotations, standing))
        self._bring_about(doing, check_id, map(check_body, in_requests(check)))

    def mark_check(self, check_id: int, external_id: str) -> None:
        """Give a check run another external id, and leave everything else of it."""
        self._bring_about("mark a check", check_id, [{"external_id": external_id}])

    def react(self, comment_id: int) -> None:
        """Show eyes at a comment on the pull request."""
        path = f"{self._root}/issues/comments/{comment_id}/reactions"
        self._wire.write("react to a comment", "POST", path, {"content": "eyes"})

    def create_comment(self, number: int, body: str) -> int:
        """Comment on the pull request; the comment's id."""
        doing = f"comment on pull request #{number}"
        return self._wire.make(doing, f"{self._issue(number)}/comments", {"body": body}, Identified).id

    def update_comment(self, comment_id: int, body: str) -> None:
        """Put another text in the comment's place."""
        self._wire.write("edit a comment", "PATCH", f"{self._root}/issues/comments/{comment_id}", {"body": body})

    def delete_comment(self, comment_id: int) -> None:
        """Delete a comment."""
        self._wire.write("delete a comment", "DELETE", f"{self._root}/issues/comments/{comment_id}")

    def start_review(self, number: int, commit: str, body: str, comments: tuple[InlineComment, ...]) -> int:
        """Make a pending review, which nobody else sees; its id. One line outside the diff rejects all of it."""
        review = {"commit_id": commit_name(commit), "body": body, "comments": [_inline(each) for each in comments]}
        return self._wire.make(f"review pull request #{number}", f"{self._pull(number)}/reviews", review, Identified).id

    def submit_review(self, number: int, review_id: int) -> None:
        """Show a pending review to everybody, as COMMENT, with the text it was started with."""
        doing = f"submit the review of pull request #{number}"
        path = f"{self._pull(number)}/reviews/{review_id}"
        # GitHub wants the text of a COMMENT with the event; whether a pending one's counts, it does not document.
        text = self._wire.get(doing, path, ReviewAnswer).body
        self._wire.write(doing, "POST", f"{path}/events", {"event": "COMMENT", **({"body": text} if text else {})})

    def discard_review(self, number: int, review_id: int) -> None:
        """Delete a pending review."""
        doing = f"discard the pending review of pull request #{number}"
        self._wire.write(doing, "DELETE", f"{self._pull(number)}/reviews/{review_id}")

    def add_label(self, number: int, label: str) -> None:
        """Put a label on; GitHub makes one that does not exist."""
        doing = f"label pull request #{number} with {quoted(label)}"
        self._wire.write(doing, "POST", f"{self._issue(number)}/labels", {"labels": [label]})

    def remove_label(self, number: int, label: str) -> None:
        """Take a label off; one that is not there is no error."""
        doing = f"take the label {quoted(label)} off pull request #{number}"
        if label in {"", ".", ".."}:  # as a part of a path these would mean all labels, or something else
            raise ForgeRejected(f"GitHub could not {doing}: its name cannot stand in a request.")
        try:
            self._wire.write(doing, "DELETE", f"{self._issue(number)}/labels/{quote(label, safe='')}")
        except ForgeMissing as error:
            if NO_LABEL not in str(error):
                raise

    def request_review(self, number: int, reviewers: tuple[str, ...]) -> None:
        """Ask people (``login``) and teams (``org/team``) for their review."""
        teams = [each.partition("/") for each in reviewers if "/" in each]
        for organization, _, _ in teams:
            if organization.casefold() != self._owner.casefold():
                raise ForgeRejected(f"GitHub takes teams of {self._owner} only, not of {quoted(organization)}.")
        asked = {
            "reviewers": [each for each in reviewers if "/" not in each],
            "team_reviewers": [t for _, _, t in teams],
        }
        self._wire.write(
            f"ask for reviews of pull request #{number}", "POST", f"{self._pull(number)}/requested_reviewers", asked
        )

    def resolve_thread(self, thread_id: str) -> None:
        """Mark a thread of inline comments as resolved."""
        self._wire.mutate("resolve a thread", queries.RESOLVE_THREAD, {"thread": thread_id})

    def _bring_about(self, doing: str, check_id: int, steps: Iterable[Mapping[str, Any]]) -> None:
        for body in steps:
            self._wire.write(doing, "PATCH", f"{self._root}/check-runs/{check_id}", body)

    def _found(self, doing: str, path: str, commit: str) -> ContentAnswer | list[EntryAnswer] | None:
        """What stands at a path of a commit; nothing for a path that no tree can hold."""
        if not path or any(part in {"", ".", ".."} for part in path.split("/")):
            return None
        ref = {"ref": commit_name(commit)}
        try:
            return self._wire.get(doing, f"{self._root}/contents/{quote(path)}", FoundAnswer, ref).root
        except ForgeMissing as error:
            if NO_COMMIT in str(error):
                raise
            return None

    def _files(self, number: int) -> Iterator[FileAnswer]:
        doing = f"list the files of pull request #{number}"
        for page in self._wire.pages(doing, f"{self._pull(number)}/files", list[FileAnswer]):
            yield from page

    def _issue(self, number: int) -> str:
        return f"{self._root}/issues/{number}"

    def _asked(self, number: int) -> dict[str, Any]:
        return {"owner": self._owner, "name": self._name, "number": number}


def connect(repository: str, *, token: str, api_url: str = "", clock: Clock) -> GitHubForge:
    """The forge of ``owner/name``; nothing is sent yet.

    ``token`` is a workflow's own, a person's, or an app installation's. ``api_url`` is the base of the REST API
    (``GITHUB_API_URL``, such as ``https://ghe.example.com/api/v3``); empty is GitHub's own. Raises ``ForgeError``
    where one of them cannot be used.
    """
    name = repository_name(repository)
    address = api_address(api_url)
    exchange = Exchange(address, token_value(token))
    return GitHubForge(name, Wire(exchange, clock, between_writes=0.0 if address.loopback else _BETWEEN_WRITES))


def _in_order(items: Iterable[_Item]) -> tuple[_Item, ...]:
    """The lowest id first, each once: a page may repeat what the one before has shown."""
    return tuple(sorted({item.id: item for item in items}.values(), key=lambda item: item.id))


def _inline(comment: InlineComment) -> dict[str, Any]:
    found = {"path": comment.path, "line": comment.line, "side": comment.side, "body": comment.body}
    if comment.start_line is None or comment.start_line == comment.line:
        return found
    return {**found, "start_line": comment.start_line, "start_side": comment.side}


def _bytes(doing: str, found: ContentAnswer) -> bytes:
    if found.encoding != "base64":
        raise ForgeRejected(f"GitHub could not {doing}: it is larger than 1 MB.")
    try:
        content = base64.b64decode(found.content)
    except binascii.Error:
        content = b""
    if len(content) != found.size:
        raise ForgeUnavailable(f"GitHub could not {doing} whole.")
    return content
