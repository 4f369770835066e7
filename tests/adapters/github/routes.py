"""GitHub's REST routes."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.adapters.github import reads, writes
from tests.adapters.github.calls import Call, Reply


@dataclass(frozen=True)
class Route:
    """A method and a path. The parts named ``path``, ``ref`` and ``branch`` may hold slashes."""

    method: str
    template: str
    answer: Callable[[Call], Reply]
    parts: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        pattern = re.sub(r"\{(path|ref|branch)\}", r"(?P<\1>.+)", self.template)
        object.__setattr__(self, "parts", re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", pattern)))

    def steps(self, path: dict[str, str]) -> list[str]:
        """The path's parts, as the description has them."""
        return [path[each[1:-1]] if each.startswith("{") else each for each in self.template.strip("/").split("/")]


_HERE = "/repos/{owner}/{repo}"
ROUTES = (
    Route("GET", f"{_HERE}/actions/artifacts", reads.artifacts),
    Route("GET", f"{_HERE}/actions/artifacts/{{artifact_id}}/{{archive_format}}", reads.download),
    Route("GET", f"{_HERE}/actions/workflows/{{workflow_id}}/runs", reads.workflow_runs),
    Route("GET", f"{_HERE}/branches/{{branch}}", reads.branch),
    Route("GET", f"{_HERE}/rules/branches/{{branch}}", reads.rules),
    Route("POST", f"{_HERE}/check-runs", writes.create_check),
    Route("PATCH", f"{_HERE}/check-runs/{{check_run_id}}", writes.update_check),
    Route("GET", f"{_HERE}/check-runs/{{check_run_id}}/annotations", reads.annotations),
    Route("GET", f"{_HERE}/collaborators/{{username}}/permission", reads.permission),
    Route("GET", f"{_HERE}/commits/{{ref}}/check-runs", reads.checks_of_commit),
    Route("GET", f"{_HERE}/compare/{{basehead}}", reads.compared),
    Route("GET", f"{_HERE}/contents/{{path}}", reads.content),
    Route("POST", f"{_HERE}/git/blobs", writes.create_blob),
    Route("POST", f"{_HERE}/git/commits", writes.create_commit),
    Route("GET", f"{_HERE}/git/commits/{{commit_sha}}", reads.git_commit),
    Route("PATCH", f"{_HERE}/git/refs/{{ref}}", writes.update_ref),
    Route("POST", f"{_HERE}/git/trees", writes.create_tree),
    Route("POST", f"{_HERE}/issues/comments/{{comment_id}}/reactions", writes.react),
    Route("POST", f"{_HERE}/issues/{{issue_number}}/comments", writes.create_comment),
    Route("PATCH", f"{_HERE}/issues/comments/{{comment_id}}", writes.update_comment),
    Route("DELETE", f"{_HERE}/issues/comments/{{comment_id}}", writes.delete_comment),
    Route("POST", f"{_HERE}/issues/{{issue_number}}/labels", writes.add_labels),
    Route("DELETE", f"{_HERE}/issues/{{issue_number}}/labels/{{name}}", writes.remove_label),
    Route("GET", f"{_HERE}/pulls", reads.pulls),
    Route("GET", f"{_HERE}/pulls/{{pull_number}}", reads.pull),
    Route("GET", f"{_HERE}/activity", reads.activity),
    Route("GET", f"{_HERE}/pulls/{{pull_number}}/commits", reads.commits),
    Route("GET", f"{_HERE}/pulls/{{pull_number}}/files", reads.files),
    Route("POST", f"{_HERE}/pulls/{{pull_number}}/requested_reviewers", writes.request_reviewers),
    Route("GET", f"{_HERE}/pulls/{{pull_number}}/reviews", reads.reviews),
    Route("POST", f"{_HERE}/pulls/{{pull_number}}/reviews", writes.create_review),
    Route("GET", f"{_HERE}/pulls/{{pull_number}}/reviews/{{review_id}}", reads.review),
    Route("DELETE", f"{_HERE}/pulls/{{pull_number}}/reviews/{{review_id}}", writes.delete_review),
    Route("POST", f"{_HERE}/pulls/{{pull_number}}/reviews/{{review_id}}/events", writes.submit_review),
    Route("GET", _HERE, reads.repository),
)
