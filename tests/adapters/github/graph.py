"""GitHub's GraphQL interface: queries executed by graphql-core against GitHub's own schema, on the model."""

from collections.abc import Callable, Sequence
from typing import Any

from graphql import GraphQLError, execute_sync
from tests.adapters.github.description import query_problems, schema

from review_advisor.github.state import CheckMark
from review_advisor.mockworld.github import GitHub, moment
from review_advisor.mockworld.github_doors import RecentPull, Session
from review_advisor.mockworld.github_records import IssueComment, ReviewComment, ReviewThread, Token
from review_advisor.mockworld.github_traffic import RefusedRequest, Trouble

Json = dict[str, Any]

CHECK = "review-advisor"
"""The name of the checks that are asked for with a list of pull requests."""
TYPES = {401: "UNAUTHORIZED", 403: "FORBIDDEN", 404: "NOT_FOUND", 422: "UNPROCESSABLE"}


class Graph:
    """Answers one token's queries. Each field that reads or changes a pull request is one request to the model."""

    def __init__(self, github: GitHub, token: Token) -> None:
        self._github = github
        self._token = token

    def answer(self, body: Json) -> tuple[Json, list[str]]:
        """The envelope, and what GitHub's schema says against the query. Raises ``Trouble``."""
        root = {"repository": self._repository, "resolveReviewThread": self._resolve}
        document, wrong = query_problems(body["query"])
        if wrong:
            return {"errors": [_error(error) for error in wrong]}, [f"GraphQL: {error.message}" for error in wrong]
        found = execute_sync(schema(), document, root_value=root, variable_values=body.get("variables"))
        errors = found.errors or []
        for error in errors:
            if isinstance(error.original_error, Trouble):
                raise error.original_error
        unexpected = [error for error in errors if not isinstance(error.original_error, RefusedRequest)]
        envelope: Json = {"data": found.data}
        if errors:
            envelope["errors"] = [_error(error) for error in errors]
        return envelope, [f"GraphQL: {error.message}" for error in unexpected]

    def _repository(self, info: object, *, owner: str, name: str, **_: object) -> Json:
        repository = self._github.repository(f"{owner}/{name}")

        def pull_request(info: object, *, number: int) -> Json:
            if number not in repository.pulls:
                raise RefusedRequest(404, f"Could not resolve to a PullRequest with the number of {number}.")
            return self._pull(repository.name, number)

        def pull_requests(info: object, *, orderBy: Json, **paging: Any) -> Json:  # noqa: N803 (GitHub's word)
            assert orderBy == {"field": "UPDATED_AT", "direction": "DESC"}
            asked = Session(self._github, repository.name, self._token)
            return _paged(lambda: asked.facts.recent(CHECK), self._recent)(info, **paging)

        return {"nameWithOwner": repository.name, "pullRequest": pull_request, "pullRequests": pull_requests}

    def _recent(self, found: RecentPull) -> Json:
        def suites(info: object, *, filterBy: Json, **paging: Any) -> Json:  # noqa: N803
            assert filterBy == {"checkName": CHECK}
            return _paged(lambda: found.fact.checks or (), suite)(info, **paging)

        def suite(mark: CheckMark) -> Json:
            told = {"externalId": mark.external_id, "conclusion": None if mark.in_progress else "SUCCESS"}
            return {"app": {"slug": mark.app}, "checkRuns": _paged(lambda: (told,), dict)}

        return {
            "number": found.pull.number,
            "updatedAt": moment(found.at),
            "closedAt": None if found.pull.closed_at is None else moment(found.pull.closed_at),
            "isCrossRepository": found.pull.head_repository != found.pull.repository,
            "author": self._actor(found.pull.author),
            "commits": _paged_backwards([] if found.fact.checks is None else [{"commit": {"checkSuites": suites}}]),
        }

    def _pull(self, repository: str, number: int) -> Json:
        asked = Session(self._github, repository, self._token)
        return {
            "comments": _paged(lambda: asked.conversation.comments(number), self._comment),
            "reviewThreads": _paged(lambda: asked.reviewing.threads(number), self._thread),
            "closingIssuesReferences": _paged(
                lambda: asked.facts.closing_issues(number),
                lambda found: {
                    "number": found[1].number,
                    "title": found[1].title,
                    "body": found[1].body,
                    "repository": {"nameWithOwner": found[0].name},
                },
            ),
        }

    def _resolve(self, info: object, *, input: Json) -> Json:
        for pull, thread in self._github.every_thread():
            if thread.id == input["threadId"]:
                asked = Session(self._github, pull.repository, self._token)
                return {"thread": self._thread(asked.reviewing.resolve(thread.id))}
        raise RefusedRequest(404, f"Could not resolve to a node with the global id of '{input['threadId']}'")

    def _comment(self, comment: IssueComment) -> Json:
        return {
            "databaseId": comment.id,
            "fullDatabaseId": str(comment.id),
            "author": self._actor(comment.author),
            "body": comment.body,
            "editor": self._actor(comment.editor),
            "lastEditedAt": None if comment.edited_at is None else moment(comment.edited_at),
        }

    def _thread(self, thread: ReviewThread) -> Json:
        return {
            "id": thread.id,
            "path": thread.comments[0].path,
            "line": thread.comments[0].line,
            "isResolved": thread.resolved_by is not None,
            "isOutdated": thread.outdated,
            "diffSide": thread.comments[0].side,
            "originalLine": thread.comments[0].original_line,
            "originalStartLine": thread.comments[0].original_start_line,
            "resolvedBy": self._actor(thread.resolved_by),
            "comments": _paged(lambda: thread.comments, self._remark),
        }

    def _remark(self, comment: ReviewComment) -> Json:
        return {
            "databaseId": comment.id,
            "fullDatabaseId": str(comment.id),
            "author": self._actor(comment.author),
            "body": comment.body,
            "editor": self._actor(comment.editor),
            "lastEditedAt": None if comment.edited_at is None else moment(comment.edited_at),
            "originalCommit": {"oid": comment.commit},
            "reactions": _paged(lambda: comment.reactions, self._reaction),
        }

    def _reaction(self, reaction: tuple[str, str]) -> Json:
        return {"content": reaction[1], "user": self._actor(reaction[0])}

    def _actor(self, login: str | None) -> Json | None:
        """An account. GraphQL leaves out the ending of a bot's name, and shows a deleted one as null."""
        if login is None or login not in self._github.accounts:
            return None
        account = self._github.accounts[login]
        return {"__typename": account.kind, "login": login.removesuffix("[bot]"), "databaseId": account.id}


def _paged(items: Callable[[], Sequence[Any]], told: Callable[[Any], Json]) -> Callable[..., Json]:
    """A connection: its cursors are positions."""

    def page(info: object, *, first: int | None = None, after: str | None = None, **_: object) -> Json:
        if first is None or not 1 <= first <= 100:
            raise RefusedRequest(422, "You must provide a `first` value of at most 100 records.")
        found = items()
        start = int(after or 0)
        return {
            "nodes": [told(each) for each in found[start : start + first]],
            "totalCount": len(found),
            "pageInfo": {"endCursor": str(start + first), "hasNextPage": start + first < len(found)},
        }

    return page


def _paged_backwards(last_nodes: list[Json]) -> Callable[..., Json]:
    """A connection of which only the last node is asked."""

    def page(info: object, *, last: int) -> Json:
        assert last == 1
        return {"nodes": last_nodes}

    return page


def _error(error: GraphQLError) -> Json:
    refused = error.original_error
    if isinstance(refused, RefusedRequest):
        return {"type": TYPES[refused.status], "path": error.path, "message": refused.message}
    return {"message": error.message, "extensions": {"code": "undefinedField"}}
