"""What GitHub's writing routes change in the model, and how they tell what came of it."""

import base64
from typing import Any

from tests.adapters.github import answers
from tests.adapters.github.calls import Call, Reply

from review_advisor.github.writes import Annotation, InlineComment
from review_advisor.mockworld.github_doors import CheckValues, TreeEntry

Json = dict[str, Any]


def create_comment(call: Call) -> Reply:
    made = call.session.conversation.create(call.number, call.body.get("body"))
    return Reply(201, call.write.comment(made))


def react(call: Call) -> Reply:
    seen = call.session.conversation.react(call.id("comment_id"))
    return Reply(201, answers.eyes(seen.id))


def update_comment(call: Call) -> Reply:
    changed = call.session.conversation.update(call.id("comment_id"), call.body.get("body"))
    return Reply(200, call.write.comment(changed))


def delete_comment(call: Call) -> Reply:
    call.session.conversation.delete(call.id("comment_id"))
    return Reply(204)


def add_labels(call: Call) -> Reply:
    names = call.body if isinstance(call.body, list) else call.body.get("labels", [])
    stand = call.session.conversation.add_labels(call.number, names)
    return Reply(200, [{"name": each} for each in stand])


def remove_label(call: Call) -> Reply:
    stand = call.session.conversation.remove_label(call.number, call.path["name"])
    return Reply(200, [{"name": each} for each in stand])


def request_reviewers(call: Call) -> Reply:
    users, teams = call.body.get("reviewers", []), call.body.get("team_reviewers", [])
    return Reply(201, call.write.pull_simple(call.session.conversation.request_reviewers(call.number, users, teams)))


def create_review(call: Call) -> Reply:
    remarks = [
        InlineComment(
            "", each["path"], each.get("line", 0), each.get("start_line"), each.get("side", "RIGHT"), each["body"]
        )
        for each in call.body.get("comments", [])
    ]
    assert "event" not in call.body, "the model makes pending reviews only"
    sha = call.body.get("commit_id", call.pull.head_sha)
    made = call.session.reviewing.create(call.number, sha, call.body.get("body", ""), remarks)
    return Reply(200, answers.review(call.write, made))


def submit_review(call: Call) -> Reply:
    assert call.body["event"] == "COMMENT", "the model submits comments only"
    shown = call.session.reviewing.submit(call.number, call.id("review_id"), call.body.get("body"))
    return Reply(200, answers.review(call.write, shown))


def delete_review(call: Call) -> Reply:
    gone = call.session.reviewing.delete(call.number, call.id("review_id"))
    return Reply(200, answers.review(call.write, gone))


def create_check(call: Call) -> Reply:
    run = call.session.checks.create(call.body["head_sha"], _values(call.body))
    return Reply(201, answers.check_run(run))


def update_check(call: Call) -> Reply:
    run = call.session.checks.update(call.id("check_run_id"), _values(call.body))
    return Reply(200, answers.check_run(run))


def _values(body: Json) -> CheckValues:
    output = body.get("output", {})
    found = [
        Annotation(
            each["path"],
            each["start_line"],
            each["end_line"],
            each["annotation_level"],
            each.get("title", ""),
            each["message"],
        )
        for each in output.get("annotations", [])
    ]
    told = {name: body.get(name) for name in ("name", "external_id", "status", "conclusion", "details_url")}
    return CheckValues(
        **told,
        title=output.get("title"),
        summary=output.get("summary"),
        annotations=found,
    )


def create_blob(call: Call) -> Reply:
    given = call.body["content"]
    raw = base64.b64decode(given) if call.body.get("encoding") == "base64" else given.encode()
    sha = call.session.git_data.create_blob(raw)
    return Reply(201, {"sha": sha})


def create_tree(call: Call) -> Reply:
    entries = [TreeEntry(each["path"], each["mode"], each["sha"]) for each in call.body["tree"]]
    sha = call.session.git_data.create_tree(call.body["base_tree"], entries)
    told = [
        {"path": path, "mode": mode, "type": "blob", "sha": blob}
        for path, (mode, blob) in call.github.objects.trees[sha].items()
    ]
    return Reply(201, {"sha": sha, "tree": told})


def create_commit(call: Call) -> Reply:
    made = call.session.git_data.create_commit(call.body["message"], call.body["tree"], call.body.get("parents", []))
    return Reply(201, answers.git_commit(made))


def update_ref(call: Call) -> Reply:
    branch = call.path["ref"].removeprefix("heads/")
    assert not call.body.get("force"), "the model moves branches forward only"
    sha = call.session.git_data.update_ref(branch, call.body["sha"])
    return Reply(200, answers.ref(branch, sha))
