"""GitHub's own descriptions, cut (see ``data/README.md``), and whether a request or an answer keeps to them."""

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from graphql import DocumentNode, GraphQLError, GraphQLSchema, build_schema, parse, validate
from openapi_core import Config, OpenAPI
from openapi_core.exceptions import OpenAPIError
from openapi_core.testing import MockRequest, MockResponse

DATA = Path(__file__).parent / "data"
# tests/project/test_github_description.py validates the description itself.
_TRUSTED = Config(spec_validator_cls=None)  # type: ignore[arg-type]  # None is documented: validate nothing
_NUMBER, _COMMIT = re.compile("[0-9]+"), re.compile("[0-9a-f]{40}")


@functools.cache
def schema() -> GraphQLSchema:
    """GitHub's GraphQL schema, as far as the bot uses it."""
    return build_schema((DATA / "schema.graphql").read_text(encoding="utf-8"))


@functools.cache
def query_problems(query: str) -> tuple[DocumentNode, tuple[GraphQLError, ...]]:
    """A query, and what GitHub's schema says against it. Raises ``GraphQLError`` for what is none."""
    document = parse(query)
    return document, tuple(validate(schema(), document))


@functools.cache
def _rest() -> OpenAPI:
    described = json.loads((DATA / "rest.json").read_text(encoding="utf-8"))
    return OpenAPI.from_dict(described, config=_TRUSTED)


@functools.cache
def _events() -> OpenAPI:
    described = json.loads((DATA / "rest.json").read_text(encoding="utf-8"))
    paths = {f"/{name}": event for name, event in described["x-webhooks"].items()}
    return OpenAPI.from_dict({**described, "paths": paths}, config=_TRUSTED)


def event_problems(name: str, event: object) -> list[str]:
    """What GitHub's description says against an event; ``name`` is such as ``pull-request-opened``."""
    headers = {
        "User-Agent": "GitHub-Hookshot/1",
        "X-Github-Hook-Id": "1",
        "X-Github-Event": name,
        "X-Github-Hook-Installation-Target-Id": "1",
        "X-Github-Hook-Installation-Target-Type": "repository",
        "X-GitHub-Delivery": "1",
        "X-Hub-Signature-256": "sha256",
    }
    body = json.dumps(event).encode()
    try:
        _events().validate_request(MockRequest("http://localhost", "post", f"/{name}", headers=headers, data=body))
    except OpenAPIError as error:
        return [f"event {name}: {_words(error)}"]
    return []


class Exchange:
    """One request and its answer, held against the description. ``steps`` are the path's parts, unquoted.

    A part that holds slashes (a file's path, a ref) is one part. A number or a commit in the path stands for every
    other: so what was asked and answered before, about another commit, is not validated again.
    """

    def __init__(self, method: str, steps: list[str], query: Mapping[str, str], body: bytes) -> None:
        alike = tuple(_alike(step) for step in steps)
        self._told = f"{method} /{'/'.join(steps)}"
        self._request = _Request(method.lower(), alike, tuple(query.items()), body)

    def request_problems(self) -> list[str]:
        """What GitHub's description says against the request."""
        return [f"request {self._told}: {each}" for each in _request_problems(self._request)]

    def answer_problems(self, status: int, body: bytes) -> list[str]:
        """What GitHub's description says against the answer."""
        found = _answer_problems(self._request, status, body)
        return [f"answer {status} to {self._told}: {each}" for each in found]


def _alike(step: str) -> str:
    if _NUMBER.fullmatch(step):
        return "1"
    return "0" * 40 if _COMMIT.fullmatch(step) else step


@dataclass(frozen=True)
class _Request:
    method: str
    steps: tuple[str, ...]
    query: tuple[tuple[str, str], ...]
    body: bytes

    def as_sent(self) -> MockRequest:
        path = "/".join(quote(step, safe="") for step in self.steps)
        about: dict[str, Any] = {"args": dict(self.query), "data": self.body or None}
        return MockRequest("http://localhost", self.method, f"/{path}", content_type="application/json", **about)


@functools.lru_cache(maxsize=4_096)
def _request_problems(request: _Request) -> tuple[str, ...]:
    try:
        _rest().validate_request(request.as_sent())
    except OpenAPIError as error:
        return (_words(error),)
    return ()


@functools.lru_cache(maxsize=1_024)
def _answer_problems(request: _Request, status: int, body: bytes) -> tuple[str, ...]:
    answer = MockResponse(body, status_code=status, content_type="application/json")
    try:
        _rest().validate_response(request.as_sent(), answer)
    except OpenAPIError as error:
        return (_words(error),)
    return ()


def _words(error: BaseException | None) -> str:
    told = []
    while error is not None:
        schema_errors = [
            f"{'.'.join(map(str, each.absolute_path))}: {each.message[:300]}"
            for each in getattr(error, "schema_errors", ())
        ]
        told.append("; ".join([str(error)[:300], *schema_errors]))
        error = error.__cause__
    return " < ".join(told)
