"""Cut GitHub's own descriptions of its REST and GraphQL interfaces to what MockWorld's door speaks.

    python tools/cut_github_description.py PACKAGES tests/adapters/github/data

``PACKAGES`` is the folder into which npm has put ``@octokit/openapi`` and ``@octokit/graphql-schema`` (its
``node_modules/@octokit``). What is kept is kept as it is, but for what
``_amended`` adds and for values that may be null.
"""

import json
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from graphql import (
    EnumTypeDefinitionNode,
    InputObjectTypeDefinitionNode,
    InterfaceTypeDefinitionNode,
    NamedTypeNode,
    Node,
    ObjectTypeDefinitionNode,
    build_ast_schema,
    parse,
    print_ast,
)

Json = Any
_REPOSITORY = "/repos/{owner}/{repo}"
_USED = {
    _REPOSITORY: "get",
    f"{_REPOSITORY}/actions/artifacts": "get",
    f"{_REPOSITORY}/actions/artifacts/{{artifact_id}}/{{archive_format}}": "get",
    f"{_REPOSITORY}/actions/workflows/{{workflow_id}}/runs": "get",
    f"{_REPOSITORY}/activity": "get",
    f"{_REPOSITORY}/branches/{{branch}}": "get",
    f"{_REPOSITORY}/rules/branches/{{branch}}": "get",
    f"{_REPOSITORY}/check-runs": "post",
    f"{_REPOSITORY}/check-runs/{{check_run_id}}": "patch",
    f"{_REPOSITORY}/check-runs/{{check_run_id}}/annotations": "get",
    f"{_REPOSITORY}/collaborators/{{username}}/permission": "get",
    f"{_REPOSITORY}/commits/{{ref}}/check-runs": "get",
    f"{_REPOSITORY}/compare/{{basehead}}": "get",
    f"{_REPOSITORY}/contents/{{path}}": "get",
    f"{_REPOSITORY}/git/blobs": "post",
    f"{_REPOSITORY}/git/commits": "post",
    f"{_REPOSITORY}/git/commits/{{commit_sha}}": "get",
    f"{_REPOSITORY}/git/refs/{{ref}}": "patch",
    f"{_REPOSITORY}/git/trees": "post",
    f"{_REPOSITORY}/issues/{{issue_number}}/comments": "post",
    f"{_REPOSITORY}/issues/comments/{{comment_id}}": "patch delete",
    f"{_REPOSITORY}/issues/comments/{{comment_id}}/reactions": "post",
    f"{_REPOSITORY}/issues/{{issue_number}}/labels": "post",
    f"{_REPOSITORY}/issues/{{issue_number}}/labels/{{name}}": "delete",
    f"{_REPOSITORY}/pulls": "get",
    f"{_REPOSITORY}/pulls/{{pull_number}}": "get",
    f"{_REPOSITORY}/pulls/{{pull_number}}/commits": "get",
    f"{_REPOSITORY}/pulls/{{pull_number}}/files": "get",
    f"{_REPOSITORY}/pulls/{{pull_number}}/requested_reviewers": "post",
    f"{_REPOSITORY}/pulls/{{pull_number}}/reviews": "get post",
    f"{_REPOSITORY}/pulls/{{pull_number}}/reviews/{{review_id}}": "get delete",
    f"{_REPOSITORY}/pulls/{{pull_number}}/reviews/{{review_id}}/events": "post",
}
_USED_EVENTS = (
    "issue-comment-created",
    "issue-comment-edited",
    "merge-group-checks-requested",
    "pull-request-closed",
    "pull-request-converted-to-draft",
    "pull-request-edited",
    "pull-request-labeled",
    "pull-request-opened",
    "pull-request-ready-for-review",
    "pull-request-reopened",
    "pull-request-synchronize",
)
_ACTOR = "login"
_PAGE = "nodes pageInfo totalCount"
_USED_GRAPHQL = {
    "Query": "repository",
    "Mutation": "resolveReviewThread",
    "Actor": _ACTOR,
    "Bot": f"{_ACTOR} databaseId",
    "User": f"{_ACTOR} databaseId",
    "Organization": _ACTOR,
    "Repository": "nameWithOwner pullRequest pullRequests",
    "PullRequestConnection": _PAGE,
    "PullRequest": (
        "author closedAt closingIssuesReferences comments commits isCrossRepository number reviewThreads updatedAt"
    ),
    "PullRequestCommitConnection": _PAGE,
    "PullRequestCommit": "commit",
    "CheckSuiteConnection": _PAGE,
    "CheckSuite": "app checkRuns",
    "CheckRunConnection": _PAGE,
    "CheckRun": "conclusion externalId",
    "App": "slug",
    "IssueConnection": _PAGE,
    "Issue": "body number repository title",
    "IssueCommentConnection": _PAGE,
    "IssueComment": "author body databaseId editor fullDatabaseId lastEditedAt",
    "PullRequestReviewThreadConnection": _PAGE,
    "PullRequestReviewThread": (
        "comments diffSide id isOutdated isResolved line originalLine originalStartLine path resolvedBy"
    ),
    "PullRequestReviewCommentConnection": _PAGE,
    "PullRequestReviewComment": ("author body databaseId editor fullDatabaseId lastEditedAt originalCommit reactions"),
    "Commit": "checkSuites oid",
    "ReactionConnection": _PAGE,
    "Reaction": "content user",
    "PageInfo": "endCursor hasNextPage",
    "ResolveReviewThreadPayload": "clientMutationId thread",
}
_EMPTY = ""
"""The description that an answer must have."""
_PROSE = {"description", "example", "examples", "externalDocs", "summary", "tags", "title", "discriminator"}
"""A discriminator repeats what the schemas say. That of a repository's contents names a list, which has no field."""
_ERRORS = {"403": "basic-error", "404": "basic-error", "422": "validation-error-simple"}
_LABELS = ("paths", f"{_REPOSITORY}/issues/{{issue_number}}/labels", "post")
_ARRAY_OF_NAMES = {"type": "array", "items": {"type": "string"}}


def cut_rest(whole: Json) -> Json:
    """The used operations and events of an OpenAPI description, with what they refer to, without prose."""
    paths = {
        path: {method: _operation(whole["paths"][path][method]) for method in methods.split()}
        for path, methods in _USED.items()
    }
    events = {name: _event(whole["x-webhooks"][name]["post"]) for name in _USED_EVENTS}
    info = {"title": "GitHub", "version": whole["info"]["version"]}
    cut = {"openapi": whole["openapi"], "info": info, "paths": paths, "x-webhooks": events}
    _amended(cut)
    components: dict[str, dict[str, Json]] = {}
    waiting = sorted(_references([paths, events]))
    while waiting:
        _, _, kind, name = waiting.pop().split("/")
        if name not in components.setdefault(kind, {}):
            components[kind][name] = _plain(whole["components"][kind][name])
            if name in {"pull-request", "pull-request-simple"}:
                head = components[kind][name]["properties"]["head"]["properties"]
                head["repo"] = {"$ref": "#/components/schemas/nullable-repository"}
            if (kind, name) == ("parameters", "created"):
                components[kind][name]["schema"] = {"type": "string"}  # a range, by the page that its prose names
            waiting.extend(_references(components[kind][name]))
    return {**cut, "components": components}


def cut_graphql(whole: str) -> str:
    """The used fields of a GraphQL schema, with the types of their arguments. It is checked to be a schema."""
    known = {each.name.value: each for each in parse(whole, no_location=True).definitions if hasattr(each, "name")}
    kept: dict[str, Node] = {}
    waiting = sorted(_USED_GRAPHQL)
    while waiting:
        name = waiting.pop()
        if name in kept or name not in known:
            continue
        kept[name] = _cut_type(known[name])
        waiting.extend(_type_names(kept[name]))
    text = "\n\n".join(print_ast(kept[name]) for name in sorted(kept)) + "\n"
    build_ast_schema(parse(text))
    return text


def _operation(whole: Json) -> Json:
    kept = {name: whole[name] for name in ("operationId", "parameters", "requestBody") if name in whole}
    answers = {status: _answer(answer) for status, answer in whole["responses"].items()}
    wanted = {status: answer for status, answer in answers.items() if status[0] in "24" or _leads_away(status, answer)}
    return _plain({**kept, "responses": wanted})


def _leads_away(status: str, answer: Json) -> bool:
    """Whether this is how the operation answers: by the address of what was asked for, such as an artifact's."""
    return status == "302" and "$ref" not in answer


def _event(whole: Json) -> Json:
    kept = {name: whole[name] for name in ("operationId", "requestBody")}
    return {"post": _plain({**kept, "responses": {"200": {"description": _EMPTY}}})}


def _answer(answer: Json) -> Json:
    if "content" not in answer:
        return answer if "$ref" in answer else {"description": _EMPTY}
    json_only = {
        kind: {"schema": content["schema"]} for kind, content in answer["content"].items() if kind.endswith("/json")
    }
    return {"description": _EMPTY, "content": json_only}


def _amended(cut: Json) -> None:
    """What the description leaves out: labels as a bare array, refusals that every operation knows, a deleted fork."""
    operation = cut
    for step in _LABELS:
        operation = operation[step]
    choices = operation["requestBody"]["content"]["application/json"]["schema"].get("oneOf", [])
    if _ARRAY_OF_NAMES not in choices:
        choices.append(_ARRAY_OF_NAMES)
    for methods in cut["paths"].values():
        for each in methods.values():
            for status, error in _ERRORS.items():
                schema = {"$ref": f"#/components/schemas/{error}"}
                answer = {"description": _EMPTY, "content": {"application/json": {"schema": schema}}}
                each["responses"].setdefault(status, answer)


def _plain(node: Json, *, names: bool = False) -> Json:
    """The same without prose and extensions; below ``properties`` the keys are names, not words of the format."""
    if isinstance(node, list):
        return [_plain(each) for each in node]
    if not isinstance(node, dict):
        return node
    prose = {key for key in node if (key in _PROSE and node[key] != _EMPTY) or key.startswith("x-")}
    kept = {key: each for key, each in node.items() if names or key not in prose}
    found = {key: _plain(each, names=not names and key == "properties") for key, each in kept.items()}
    if found.get("nullable") is True and None not in found.get("enum", [None]):
        found["enum"] = [*found["enum"], None]  # GitHub says that null may come, and forgets it among the values
    if not names and "content" in node and "description" in node:
        found["description"] = _EMPTY
    return found


def _references(node: Json) -> set[str]:
    if isinstance(node, list):
        return {found for each in node for found in _references(each)}
    if not isinstance(node, dict):
        return set()
    own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
    return own.union(*(_references(each) for each in node.values()))


def _cut_type(node: Any) -> Node:
    name = node.name.value
    if isinstance(node, ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode):
        wanted = _USED_GRAPHQL.get(name, "").split()
        fields = tuple(_bare(field) for field in node.fields or () if field.name.value in wanted)
        interfaces = tuple(each for each in node.interfaces or () if each.name.value in _USED_GRAPHQL)
        return replace(node, description=None, directives=(), fields=fields, interfaces=interfaces)
    if isinstance(node, InputObjectTypeDefinitionNode):
        return replace(node, description=None, directives=(), fields=tuple(_bare(field) for field in node.fields or ()))
    if isinstance(node, EnumTypeDefinitionNode):
        return replace(node, description=None, directives=(), values=tuple(_bare(value) for value in node.values or ()))
    return cast("Node", replace(node, description=None, directives=()))


def _bare(part: Any) -> Any:
    inner = getattr(part, "arguments", None)
    arguments = {"arguments": tuple(_bare(each) for each in inner)} if inner else {}
    return replace(part, description=None, directives=(), **arguments)


def _type_names(node: Node) -> Iterable[str]:
    if isinstance(node, NamedTypeNode):
        yield node.name.value
    for key in node.keys:
        part = getattr(node, key, None)
        for each in part if isinstance(part, tuple | list) else (part,):
            if isinstance(each, Node):
                yield from _type_names(each)


def main(packages: Path, into: Path) -> None:
    """Write the two cuts, and a page that says where they come from."""
    openapi, graphql = packages / "openapi", packages / "graphql-schema"
    rest = cut_rest(json.loads((openapi / "generated/api.github.com.json").read_text(encoding="utf-8")))
    into.mkdir(parents=True, exist_ok=True)
    (into / "rest.json").write_text(
        json.dumps(rest, indent=0, separators=(",", ":"), sort_keys=True) + "\n", encoding="utf-8"
    )
    schema = cut_graphql((graphql / "schema.graphql").read_text(encoding="utf-8"))
    (into / "schema.graphql").write_text(schema, encoding="utf-8")
    versions = {each.name: json.loads((each / "package.json").read_text())["version"] for each in (openapi, graphql)}
    licences = [(openapi / "LICENSE").read_text().strip(), (graphql / "LICENSE.md").read_text().strip()]
    (into / "README.md").write_text(_page(versions, licences), encoding="utf-8")


def _page(versions: dict[str, str], licences: list[str]) -> str:
    names = "\n".join(f"- `@octokit/{name}` {version}" for name, version in versions.items())
    texts = "\n\n".join(licences)
    return (
        "# GitHub's own descriptions, cut\n\n"
        "`rest.json` and `schema.graphql` are the parts of GitHub's published descriptions that the door in the tests\n"
        "speaks. `tools/cut_github_description.py` cut them, and says what it adds. They come from npm packages:\n\n"
        f"{names}\n\n## Licences\n\n{texts}\n"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
