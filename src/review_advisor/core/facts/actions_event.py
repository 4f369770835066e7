"""What started a GitHub Actions run: the payload of its event, read once into one of a few values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AliasPath, BeforeValidator, Field, TypeAdapter, ValidationError

from review_advisor.core.facts.change import OBJECT_NAME
from review_advisor.core.facts.files.value_mistake import value_mistake
from review_advisor.core.facts.pull_request import GHOST

PULL_REQUEST_EVENTS = ("pull_request_target", "pull_request")


class EventError(ValueError):
    """An event that cannot be read, or that nothing here is for. One sentence."""


def _at(*path: str) -> Any:
    """A field that the payload has at this path."""
    return Field(validation_alias=AliasPath(*path))


_Action = Annotated[str, Field(pattern=r"^[a-z_]{1,50}$")]
_Repository = Annotated[str, _at("repository", "full_name")]
_Number = Annotated[int, Field(gt=0, strict=True)]
_COMMIT = Field(pattern=rf"^(?:{OBJECT_NAME})$")


@dataclass(frozen=True, slots=True)
class PullRequestEvent:
    """Something happened to a pull request. ``label`` is the one put on or taken off, if that is what happened.

    ``head_sha`` is the head at that moment, ``sender`` the account that did it. ``before`` is the head that a push took
    the place of; empty where there was no push.
    """

    action: _Action
    repository: _Repository
    number: Annotated[_Number, _at("pull_request", "number")]
    head_sha: Annotated[str, _COMMIT, _at("pull_request", "head", "sha")]
    sender: Annotated[str, _at("sender", "login")]
    label: Annotated[str | None, _at("label", "name")] = None
    before: Annotated[str, Field(pattern=rf"^(?:{OBJECT_NAME})?$")] = ""


@dataclass(frozen=True, slots=True)
class CommentEvent:
    """A comment on an issue or, if ``on_pull_request``, on a pull request. ``body`` is hostile."""

    action: _Action
    repository: _Repository
    number: Annotated[_Number, _at("issue", "number")]
    comment_id: Annotated[_Number, _at("comment", "id")]
    author: Annotated[str, _at("comment", "user", "login")] = GHOST
    body: Annotated[str, BeforeValidator(lambda body: body or ""), _at("comment", "body")] = ""
    on_pull_request: Annotated[bool, BeforeValidator(lambda it: it is not None), _at("issue", "pull_request")] = False


@dataclass(frozen=True, slots=True)
class MergeGroupEvent:
    """A merge queue asks for the checks of a commit that holds several pull requests."""

    action: _Action
    repository: _Repository
    head_sha: Annotated[str, _COMMIT, _at("merge_group", "head_sha")]
    head_ref: Annotated[str, _at("merge_group", "head_ref")]
    base_sha: Annotated[str, _COMMIT, _at("merge_group", "base_sha")]


ActionsEvent = PullRequestEvent | CommentEvent | MergeGroupEvent
_KINDS: dict[str, type[ActionsEvent]] = {
    **dict.fromkeys(PULL_REQUEST_EVENTS, PullRequestEvent),
    "issue_comment": CommentEvent,
    "merge_group": MergeGroupEvent,
}


def read_event(name: str, payload: str | bytes) -> ActionsEvent:
    """The event of this ``name`` (``GITHUB_EVENT_NAME``) from its payload's JSON (``GITHUB_EVENT_PATH``).

    Raises ``EventError`` for an event that nothing here is for, and for a payload that is not what GitHub sends.
    """
    if name not in _KINDS:
        raise EventError(f"The event {name!r} is none that a review can start from ({', '.join(_KINDS)}).")
    try:
        return TypeAdapter[ActionsEvent](_KINDS[name]).validate_json(payload)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"]) or "the payload"
        said = value_mistake(first, block="an object")
        raise EventError(f"The payload of the event {name} is not what GitHub sends: {where}: {said}.") from None
