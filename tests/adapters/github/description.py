"""GitHub's own descriptions, cut (see ``data/README.md``), and whether a request or an answer keeps to them."""

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from graphql import GraphQLSchema, build_schema
from openapi_core import OpenAPI
from openapi_core.exceptions import OpenAPIError
from openapi_core.testing import MockRequest, MockResponse

DATA = Path(__file__).parent / "data"


@functools.cache
def schema() -> GraphQLSchema:
    """GitHub's GraphQL schema, as far as the bot uses it."""
    return build_schema((DATA / "schema.graphql").read_text(encoding="utf-8"))


@functools.cache
def _rest() -> OpenAPI:
    described = json.loads((DATA / "rest.json").read_text(encoding="utf-8"))
    return OpenAPI.from_dict(described)


@functools.cache
def _events() -> OpenAPI:
    described = json.loads((DATA / "rest.json").read_text(encoding="utf-8"))
    paths = {f"/{name}": event for name, event in described["x-webhooks"].items()}
    return OpenAPI.from_dict({**described, "paths": paths})


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

    A part that holds slashes (a file's path, a ref) is one part.
    """

    def __init__(self, method: str, steps: list[str], query: Mapping[str, str], body: bytes) -> None:
        self._told = f"{method} /{'/'.join(steps)}"
        self._request = MockRequest(
            "http://localhost",
            method.lower(),
            "/" + "/".join(quote(step, safe="") for step in steps),
            args=dict(query),
            data=body or None,
            content_type="application/json",
        )

    def request_problems(self) -> list[str]:
        """What GitHub's description says against the request."""
        try:
            _rest().validate_request(self._request)
        except OpenAPIError as error:
            return [f"request {self._told}: {_words(error)}"]
        return []

    def answer_problems(self, status: int, body: bytes) -> list[str]:
        """What GitHub's description says against the answer."""
        answer = MockResponse(body, status_code=status, content_type="application/json")
        try:
            _rest().validate_response(self._request, answer)
        except OpenAPIError as error:
            return [f"answer {status} to {self._told}: {_words(error)}"]
        return []


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
