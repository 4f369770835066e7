"""What GitHub's reading routes ask of the model, and how they tell what came."""

from tests.adapters.github import answers
from tests.adapters.github.actions import ActionsRequests, GitHubWithActions
from tests.adapters.github.calls import Call, Reply

STORED = "stored"
"""Below this the door hands out artifacts, as GitHub's storage does: without a token."""


def repository(call: Call) -> Reply:
    return Reply(200, call.write.repository(call.session.facts.repository()))


def branch(call: Call) -> Reply:
    branch = call.path["branch"]
    sha, guards = call.session.facts.branch(branch)
    told = {
        "name": branch,
        "commit": answers.commit(call.write, call.github.commit(sha)),
        "protected": bool(guards),
        "protection": {"enabled": "branch protection" in guards},
    }
    return Reply(200, told)


def rules(call: Call) -> Reply:
    guards = call.session.facts.rules(call.path["branch"])
    return Reply(200, [{"type": "required_status_checks"} for _ in guards], paged=True)


def pulls(call: Call) -> Reply:
    _is_asked(call, state="open", sort="created", direction="asc")
    found = call.session.facts.pulls()
    return Reply(200, [call.write.pull_simple(pull) for pull in found], paged=True)


def pull(call: Call) -> Reply:
    return Reply(200, call.write.pull(call.session.facts.pull(call.number)))


def commits(call: Call) -> Reply:
    found = call.session.facts.commits(call.number)
    return Reply(200, [answers.commit(call.write, each) for each in found], paged=True)


def compared(call: Call) -> Reply:
    base, _, head = call.path["basehead"].partition("...")
    files, commits = call.session.facts.compared(base, head)
    told = {
        "total_commits": len(commits),
        "commits": [answers.compared_commit(call.write, each) for each in commits],
        "base_commit": answers.compared_commit(call.write, call.github.commit(base)),
        "merge_base_commit": answers.compared_commit(call.write, call.github.commit(base)),
    }
    first = int(call.query.get("page", 1)) == 1
    return Reply(200, {**told, **({"files": [answers.file(each) for each in files]} if first else {})}, paged="commits")


def activity(call: Call) -> Reply:
    found = call.session.facts.pushes(call.repository, call.query["ref"].removeprefix("refs/heads/"))
    return Reply(200, [answers.push(call.write, each) for each in found], by_cursor=True)


def files(call: Call) -> Reply:
    files = call.session.facts.files(call.number)
    return Reply(200, [answers.file(each) for each in files], paged=True)


def permission(call: Call) -> Reply:
    account, granted = call.session.facts.permission(call.path["username"])
    return Reply(200, answers.permission(call.write, account.login, granted))


def content(call: Call) -> Reply:
    branch = call.github.repository(call.repository).default_branch
    path = call.path["path"]
    found = call.session.facts.content(path, call.query.get("ref", branch))
    return Reply(200, answers.standing(path, found) if isinstance(found, list) else answers.content(path, found))


def reviews(call: Call) -> Reply:
    found = call.session.reviewing.reviews(call.number)
    return Reply(200, [answers.review(call.write, each) for each in found], paged=True)


def review(call: Call) -> Reply:
    found = call.session.reviewing.review(call.number, call.id("review_id"))
    return Reply(200, answers.review(call.write, found))


def checks_of_commit(call: Call) -> Reply:
    _is_asked(call, filter="all")
    runs = call.session.checks.of_commit(call.path["ref"], call.query["check_name"])
    told = [answers.check_run(run) for run in runs]
    return Reply(200, {"total_count": len(told), "check_runs": told}, paged="check_runs")


def annotations(call: Call) -> Reply:
    found = call.session.checks.annotations(call.id("check_run_id"))
    return Reply(200, [answers.annotation(each) for each in found], paged=True)


def git_commit(call: Call) -> Reply:
    return Reply(200, answers.git_commit(call.session.git_data.commit(call.path["commit_sha"])))


def workflow_runs(call: Call) -> Reply:
    number, found = _actions(call).workflow_runs(call.path["workflow_id"], call.query["created"])
    told = [answers.workflow_run(call.write, call.repository, each) for each in found]
    return Reply(200, {"total_count": number, "workflow_runs": told}, paged="workflow_runs")


def artifacts(call: Call) -> Reply:
    found = _actions(call).artifacts(call.query["name"])
    told = [answers.artifact(call.write, call.repository, each) for each in found]
    return Reply(200, {"total_count": len(told), "artifacts": told}, paged="artifacts")


def download(call: Call) -> Reply:
    found = _actions(call).download(call.id("artifact_id"))
    place = call.github.repository(call.repository)
    return Reply(302, stored=f"/{STORED}/{place.id}/{found.id}?signature=of-the-store")


def _actions(call: Call) -> ActionsRequests:
    if not isinstance(call.github, GitHubWithActions):
        raise TypeError("no workflow runs on this GitHub")
    return ActionsRequests(call.github, call.repository, call.token)


def _is_asked(call: Call, **only: str) -> None:
    """The model knows this way of asking and no other."""
    assert call.query.items() >= only.items(), f"the model answers {only} only, and not {call.query}"
