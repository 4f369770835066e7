"""The model's records as GitHub's REST interface writes them: what webhooks do not know."""

import base64
from typing import Any

from tests.adapters.github.actions import ActionsRun, StoredArtifact
from tests.adapters.github.payloads import Payloads

from review_advisor.change.change import SYMLINK_MODE
from review_advisor.change.pull_request import Permission
from review_advisor.github.writes import Annotation
from review_advisor.mockworld.copies import FOLDER_MODE
from review_advisor.mockworld.github import moment
from review_advisor.mockworld.github_doors import StandingPath
from review_advisor.mockworld.github_records import CheckRun, Commit, PullFile, Push, Review

Json = dict[str, Any]

OLDER_WORDS = {Permission.MAINTAIN: "write", Permission.TRIAGE: "read"}
"""GitHub's ``permission`` knows four words only; ``role_name`` has the finer one."""


def file(shown: PullFile) -> Json:
    told = {
        "filename": shown.path,
        "status": shown.status,
    }
    optional = {"patch": shown.patch, "previous_filename": shown.previous_path}
    return {**told, **{name: value for name, value in optional.items() if value is not None}}


def review(write: Payloads, shown: Review) -> Json:
    return {
        "id": shown.id,
        "user": write.account(shown.author),
        "body": shown.body,
        "state": shown.state,
        "commit_id": shown.commit,
    }


def check_run(run: CheckRun) -> Json:
    return {
        "id": run.id,
        "head_sha": run.commit,
        "name": run.name,
        "details_url": run.details_url,
        "external_id": run.external_id,
        "status": run.status,
        "conclusion": run.conclusion,
        "output": {"title": run.title, "summary": run.summary, "annotations_count": len(run.annotations)},
        "app": {"slug": run.app},
    }


def annotation(shown: Annotation) -> Json:
    return {
        "path": shown.path,
        "start_line": shown.start_line,
        "end_line": shown.end_line,
        "annotation_level": shown.level,
        "title": shown.title,
        "message": shown.message,
    }


def content(path: str, found: tuple[str, bytes]) -> Json:
    """A file. Past 1 MB GitHub leaves the content out and says so by the encoding."""
    sha, raw = found
    small = len(raw) <= 1_000_000
    return {
        "type": "file",
        "encoding": "base64" if small else "none",
        "size": len(raw),
        "path": path,
        "content": base64.encodebytes(raw).decode() if small else "",
        "sha": sha,
    }


def standing(path: str, found: list[StandingPath]) -> Json | list[Json]:
    """A folder as a list, in which a submodule is told as a file; a link or a submodule that was asked for itself."""
    (first, *_) = found
    if first.path == path:
        link = {"type": "symlink", "target": "elsewhere"}
        module = {"type": "submodule", "submodule_git_url": "https://example.com/a.git"}
        return {**_standing(first), **(link if first.mode == SYMLINK_MODE else module)}
    return [_standing(each) for each in found]


def _standing(found: StandingPath) -> Json:
    kinds = {FOLDER_MODE: "dir", SYMLINK_MODE: "symlink"}
    name = found.path.rpartition("/")[2]
    return {"type": kinds.get(found.mode, "file"), "name": name, "path": found.path, "size": 0, "sha": found.name}


def git_commit(commit: Commit) -> Json:
    return {"sha": commit.sha, "tree": {"sha": commit.tree}, "message": commit.message}


def commit(write: Payloads, shown: Commit) -> Json:
    maker = write.account(shown.author) if shown.author else {}
    return {"sha": shown.sha, "author": maker, "committer": maker}


def compared_commit(write: Payloads, shown: Commit) -> Json:
    committer = shown.committer or shown.author
    signed = {"verified": shown.verified, "reason": "valid" if shown.verified else "unsigned"}
    return {
        "sha": shown.sha,
        "author": write.account(shown.author) if shown.author else {},
        "committer": write.account(committer) if committer else {},
        "parents": [{"sha": parent} for parent in shown.parents],
        "commit": {"message": shown.message, "verification": signed},
    }


def push(write: Payloads, made: Push) -> Json:
    return {
        "after": made.after,
        "ref": f"refs/heads/{made.branch}",
        "activity_type": "push",
        "actor": write.account(made.login),
    }


def eyes(comment_id: int) -> Json:
    return {"id": comment_id, "content": "eyes"}


def ref(branch: str, sha: str) -> Json:
    return {"ref": f"refs/heads/{branch}", "object": {"type": "commit", "sha": sha}}


def permission(write: Payloads, login: str, granted: Permission) -> Json:
    return {
        "permission": OLDER_WORDS.get(granted, granted.value),
        "role_name": granted.value,
        "user": {**write.account(login), "role_name": granted.value},
    }


def workflow_run(write: Payloads, repository: str, run: ActionsRun) -> Json:
    places = write.ground.repositories
    head = places.get(run.head_repository)
    return {
        "id": run.id,
        "path": run.path,
        "event": run.event,
        "status": run.status,
        "conclusion": run.conclusion,
        "run_attempt": run.attempt,
        "head_branch": run.head_branch,
        "created_at": moment(run.at),
        "pull_requests": [],
        "repository": write.repository(write.ground.repository(repository)),
        "head_repository": write.repository(head) if head else {},
    }


def artifact(write: Payloads, repository: str, stored: StoredArtifact) -> Json:
    place = write.ground.repository(repository)
    return {
        "id": stored.id,
        "name": stored.name,
        "size_in_bytes": len(stored.archive),
        "expired": stored.expired,
        "created_at": moment(stored.at),
        "expires_at": moment(stored.expires),
        "workflow_run": {"id": stored.run, "repository_id": place.id},
    }
