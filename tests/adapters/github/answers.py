"""The model's records as GitHub's REST interface writes them: what webhooks do not know."""

import base64
from typing import Any

from review_advisor.core.facts.pull_request import Permission
from review_advisor.core.pull_request.writes import Annotation
from review_advisor.mockworld.github.objects import Commit
from review_advisor.mockworld.github.payloads import Payloads, moment
from review_advisor.mockworld.github.records import (
    CheckRun,
    Protection,
    Pull,
    PullFile,
    Review,
)

Json = dict[str, Any]

OLDER_WORDS = {Permission.MAINTAIN: "write", Permission.TRIAGE: "read"}
"""GitHub's ``permission`` knows four words only; ``role_name`` has the finer one."""


def file(write: Payloads, pull: Pull, shown: PullFile) -> Json:
    page = f"{write.site}/{pull.repository}"
    told = {
        "sha": shown.blob or "0" * 40,
        "filename": shown.path,
        "status": shown.status,
        "additions": shown.additions,
        "deletions": shown.deletions,
        "changes": shown.additions + shown.deletions,
        "blob_url": f"{page}/blob/{pull.head_sha}/file",
        "raw_url": f"{page}/raw/{pull.head_sha}/file",
        "contents_url": f"{write.api}/repos/{pull.repository}/contents/file?ref={pull.head_sha}",
    }
    optional = {"patch": shown.patch, "previous_filename": shown.previous_path}
    return {**told, **{name: value for name, value in optional.items() if value is not None}}


def review(write: Payloads, pull: Pull, shown: Review) -> Json:
    page, url = f"{write.page(pull)}#pullrequestreview-{shown.id}", _pull(write, pull)
    told = {
        "id": shown.id,
        "node_id": f"PRR_{shown.id}",
        "user": write.account(shown.author),
        "body": shown.body,
        "state": shown.state,
        "html_url": page,
        "pull_request_url": url,
        "_links": {"html": {"href": page}, "pull_request": {"href": url}},
        "commit_id": shown.commit,
        "author_association": write.association(pull.repository, shown.author),
    }
    return told if shown.state == "PENDING" else {**told, "submitted_at": moment(shown.at)}


def check_run(write: Payloads, repository: str, run: CheckRun) -> Json:
    url = f"{write.api}/repos/{repository}/check-runs/{run.id}"
    return {
        "id": run.id,
        "node_id": f"CR_{run.id}",
        "head_sha": run.commit,
        "name": run.name,
        "url": url,
        "html_url": f"{write.site}/{repository}/runs/{run.id}",
        "details_url": run.details_url,
        "external_id": run.external_id,
        "status": run.status,
        "conclusion": run.conclusion,
        "started_at": moment(run.at),
        "completed_at": None if run.completed_at is None else moment(run.completed_at),
        "check_suite": {"id": run.app.id},
        "output": {
            "title": run.title,
            "summary": run.summary,
            "text": None,
            "annotations_count": len(run.annotations),
            "annotations_url": f"{url}/annotations",
        },
        "app": write.app(run.app),
        "pull_requests": [],
    }


def annotation(write: Payloads, repository: str, shown: Annotation) -> Json:
    return {
        "path": shown.path,
        "blob_href": f"{write.site}/{repository}/blob",
        "start_line": shown.start_line,
        "end_line": shown.end_line,
        "start_column": None,
        "end_column": None,
        "annotation_level": shown.level,
        "title": shown.title,
        "message": shown.message,
        "raw_details": None,
    }


def content(write: Payloads, repository: str, path: str, found: tuple[str, bytes]) -> Json:
    """A file. Past 1 MB GitHub leaves the content out and says so by the encoding."""
    sha, raw = found
    url = f"{write.api}/repos/{repository}/contents/file"
    small = len(raw) <= 1_000_000
    return {
        "type": "file",
        "encoding": "base64" if small else "none",
        "size": len(raw),
        "name": path.rpartition("/")[2],
        "path": path,
        "content": base64.encodebytes(raw).decode() if small else "",
        "sha": sha,
        "url": url,
        "git_url": f"{write.api}/repos/{repository}/git/blobs/{sha}",
        "html_url": f"{write.site}/{repository}/blob/file",
        "download_url": f"{write.site}/{repository}/raw/file",
        "_links": {"self": url, "git": None, "html": None},
    }


def git_commit(write: Payloads, repository: str, commit: Commit) -> Json:
    url = f"{write.api}/repos/{repository}/git"
    person = {"name": commit.author, "email": f"{commit.author}@example.com", "date": moment(commit.at)}
    return {
        "sha": commit.sha,
        "node_id": f"C_{commit.sha}",
        "url": f"{url}/commits/{commit.sha}",
        "html_url": f"{write.site}/{repository}/commit/{commit.sha}",
        "author": person,
        "committer": person,
        "tree": {"sha": commit.tree, "url": f"{url}/trees/{commit.tree}"},
        "message": commit.message,
        "parents": [
            {"sha": sha, "url": f"{url}/commits/{sha}", "html_url": f"{write.site}/{repository}/commit/{sha}"}
            for sha in commit.parents
        ],
        "verification": {
            "verified": False,
            "reason": "unsigned",
            "signature": None,
            "payload": None,
            "verified_at": None,
        },
    }


def commit(write: Payloads, repository: str, shown: Commit) -> Json:
    whole = git_commit(write, repository, shown)
    url = f"{write.api}/repos/{repository}/commits/{shown.sha}"
    inner = {name: whole[name] for name in ("author", "committer", "message", "tree", "url", "verification")}
    return {
        "url": url,
        "sha": shown.sha,
        "node_id": whole["node_id"],
        "html_url": whole["html_url"],
        "comments_url": f"{url}/comments",
        "commit": {**inner, "comment_count": 0},
        "author": write.account(shown.author),
        "committer": write.account(shown.author),
        "parents": whole["parents"],
    }


def ref(write: Payloads, repository: str, branch: str, sha: str) -> Json:
    url = f"{write.api}/repos/{repository}/git"
    return {
        "ref": f"refs/heads/{branch}",
        "node_id": f"REF_{sha}",
        "url": f"{url}/refs/heads/{branch}",
        "object": {"type": "commit", "sha": sha, "url": f"{url}/commits/{sha}"},
    }


def protection(guard: Protection) -> Json:
    checks = [{"context": check.name, "app_id": check.app_id} for check in guard.checks]
    required = {"strict": guard.strict, "contexts": [check.name for check in guard.checks], "checks": checks}
    return {"enabled": True, "required_status_checks": required}


def rule(repository: str, guard: Protection) -> Json:
    checks = [
        {"context": check.name, **({} if check.app_id is None else {"integration_id": check.app_id})}
        for check in guard.checks
    ]
    return {
        "type": "required_status_checks",
        "parameters": {"required_status_checks": checks, "strict_required_status_checks_policy": guard.strict},
        "ruleset_source_type": "Repository",
        "ruleset_source": repository,
        "ruleset_id": guard.ruleset,
    }


def permission(write: Payloads, login: str, granted: Permission) -> Json:
    return {
        "permission": OLDER_WORDS.get(granted, granted.value),
        "role_name": granted.value,
        "user": {**write.account(login), "role_name": granted.value},
    }


def _pull(write: Payloads, pull: Pull) -> str:
    return f"{write.api}/repos/{pull.repository}/pulls/{pull.number}"
