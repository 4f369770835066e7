"""What started a GitHub Actions run: the payload of its event, read once into one of a few values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from review_advisor.core.facts.change import OBJECT_NAME
from review_advisor.core.facts.pull_request import GHOST

PULL_REQUEST_EVENTS = ("pull_request_target", "pull_request")


class EventError(ValueError):
    """An event that cannot be read, or that nothing here is for. One sentence."""


@dataclass(frozen=True, slots=True)
class PullRequestEvent:
    """Something happened to a pull request. ``label`` is the one put on or taken off, if that is what happened.

    ``head_sha`` is the head at that moment, ``sender`` the account that did it. ``before`` is the head that a push took
    the place of; empty where there was no push.
    """

    action: str
    repository: str
    number: int
    head_sha: str
    sender: str
    label: str | None = None
    before: str = ""


@dataclass(frozen=True, slots=True)
class CommentEvent:
    """A comment on an issue or, if ``on_pull_request``, on a pull request. ``body`` is hostile."""

    action: str
    repository: str
    number: int
    comment_id: int
    author: str
    body: str
    on_pull_request: bool


@dataclass(frozen=True, slots=True)
class MergeGroupEvent:
    """A merge queue asks for the checks of a commit that holds several pull requests."""

    action: str
    repository: str
    head_sha: str
    head_ref: str
    base_sha: str


ActionsEvent = PullRequestEvent | CommentEvent | MergeGroupEvent

_Commit = Annotated[str, Field(pattern=rf"^(?:{OBJECT_NAME})$")]
_Number = Annotated[int, Field(gt=0, strict=True)]
_Action = Annotated[str, Field(pattern=r"^[a-z_]{1,50}$")]


class _Account(BaseModel):
    login: str


class _Repository(BaseModel):
    full_name: str


class _Label(BaseModel):
    name: str


class _Head(BaseModel):
    sha: _Commit


class _PullRequest(BaseModel):
    number: _Number
    head: _Head


class _PullRequestPayload(BaseModel):
    action: _Action
    repository: _Repository
    sender: _Account
    pull_request: _PullRequest
    label: _Label | None = None
    before: _Commit | None = None


class _Issue(BaseModel):
    number: _Number
    pull_request: dict[str, object] | None = None


class _Comment(BaseModel):
    id: _Number
    user: _Account | None
    body: str | None


class _CommentPayload(BaseModel):
    action: _Action
    repository: _Repository
    issue: _Issue
    comment: _Comment


class _MergeGroup(BaseModel):
    head_sha: _Commit
    head_ref: str
    base_sha: _Commit


class _MergeGroupPayload(BaseModel):
    action: _Action
    repository: _Repository
    merge_group: _MergeGroup


def read_event(name: str, payload: str | bytes) -> ActionsEvent:
    """The event of this ``name`` (``GITHUB_EVENT_NAME``) from its payload's JSON (``GITHUB_EVENT_PATH``).

    Raises ``EventError`` for an event that nothing here is for, and for a payload that is not what GitHub sends.
    """
    try:
        if name in PULL_REQUEST_EVENTS:
            return _pull_request(_PullRequestPayload.model_validate_json(payload))
        if name == "issue_comment":
            return _comment(_CommentPayload.model_validate_json(payload))
        if name == "merge_group":
            return _merge_group(_MergeGroupPayload.model_validate_json(payload))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"]) or "the payload"
        raise EventError(
            f"The payload of the event {name} is not what GitHub sends: {where}: {first['msg']}."
        ) from None
    known = ", ".join((*PULL_REQUEST_EVENTS, "issue_comment", "merge_group"))
    raise EventError(f"The event {name!r} is none that a review can start from ({known}).")


def _pull_request(payload: _PullRequestPayload) -> PullRequestEvent:
    return PullRequestEvent(
        action=payload.action,
        repository=payload.repository.full_name,
        number=payload.pull_request.number,
        head_sha=payload.pull_request.head.sha,
        sender=payload.sender.login,
        label=payload.label.name if payload.label else None,
        before=payload.before or "",
    )


def _comment(payload: _CommentPayload) -> CommentEvent:
    comment = payload.comment
    return CommentEvent(
        action=payload.action,
        repository=payload.repository.full_name,
        number=payload.issue.number,
        comment_id=comment.id,
        author=comment.user.login if comment.user else GHOST,
        body=comment.body or "",
        on_pull_request=payload.issue.pull_request is not None,
    )


def _merge_group(payload: _MergeGroupPayload) -> MergeGroupEvent:
    group = payload.merge_group
    return MergeGroupEvent(
        action=payload.action,
        repository=payload.repository.full_name,
        head_sha=group.head_sha,
        head_ref=group.head_ref,
        base_sha=group.base_sha,
    )
