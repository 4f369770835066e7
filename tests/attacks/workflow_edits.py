"""Edits of CI, as changes: what a hostile author would do to the gate, and what anybody does every week."""

from __future__ import annotations

from difflib import ndiff

from review_advisor.change.change import SYMLINK_MODE, Change, FileChange, Hunk, Status, Workflows

SHA, OTHER = "a" * 40, "b" * 40
PATH = ".github/workflows/ci.yml"
CI = f"""\
name: ci
on: [push, pull_request]
permissions:
  contents: read
jobs:
  test:
    runs-on: ubuntu-24.04
    strategy:
      matrix:
        python: ["3.11", "3.12"]
    steps:
      - uses: actions/checkout@{SHA} # v4.1.0
      - run: make test
"""
RELEASE = CI.replace("contents: read", "contents: write")
REVIEW = """\
# What each part is for: docs/github.md
name: gate
on: pull_request_target
jobs:
  review:
    steps:
      - uses: owner/review-advisor@v1
        with:
          anthropic-api-key: ${{ secrets.MODEL_KEY }}
      - uses: ./.github/actions/prepare
      - run: bash scripts/prepare.sh && python notify.py
  after:
    uses: ./.github/workflows/shared.yml
"""
OURS = ((".github/workflows/review.yml", REVIEW),)


def edited_workflow(before: str, after: str, path: str = PATH, status: Status = Status.MODIFIED) -> Change:
    """The change that makes ``before`` into ``after``, in a repository whose workflow ``review.yml`` runs the bot."""
    lines = tuple(line[0] + line[2:] for line in ndiff(before.split("\n"), after.split("\n")) if line[0] in "+-")
    hunk = Hunk(1, 1, 1, 1, "", lines)
    added = sum(line[0] == "+" for line in lines)
    file = FileChange(status, path, added=added, removed=len(lines) - added, hunks=(hunk,))
    return _change(file, after)


def _change(file: FileChange, after: str) -> Change:
    heads = ((file.path, after),) if file.path.startswith(".github/workflows/") else ()
    return Change("pr-7", files=(file,), workflows=Workflows(running=OURS, heads=heads))


def _with(line: str, base: str = CI) -> Change:
    return edited_workflow(base, base.replace("    steps:\n", f"{line}\n    steps:\n"))


def _at(path: str) -> Change:
    return edited_workflow("make\n", "make evil\n", path)


HOSTILE: dict[str, Change] = {
    **{
        f"gives itself write leave: {line.strip()!r}": _with(line)
        for line in (
            "    permissions: write-all",
            "    permissions: {checks: write}",
            "    permissions:\n      checks: write",
            "    permissions:\n      statuses: 'write'",
            '    permissions:\n      "contents": "write"',
            "    permissions:\n      contents:\n        write",
            "    permissions: {issues: &w write, checks: *w}",
            '    permissions: {checks: "wr\\x69te"}',
            "    permissions: {CHECKS: WRITE}",
            '    permissions:\n      checks: "wr\\\n        ite"',
        )
    },
    "drops the limit of its permissions": edited_workflow(CI, CI.replace("permissions:\n  contents: read\n", "")),
    "uses the write leave that it has": edited_workflow(RELEASE, RELEASE.replace("make test", "make forge")),
    "posts a check under our name": _with("    name: review-advisor"),
    "starts the bot with other settings": _with("    env: {X: 'pip install review_advisor'}"),
    "takes the model's key": _with("    env: {K: '${{ secrets.ANTHROPIC_API_KEY }}'}"),
    "takes the model's key under the repository's own name": _with("    env: {K: '${{ secrets.model_key }}'}"),
    "takes every secret": _with("    env: {K: '${{ toJSON(secrets) }}'}"),
    "takes every secret as the operand of an expression": _with("    env: {K: '${{ toJSON(true && secrets) }}'}"),
    "takes a secret by a computed name": _with("    env: {K: '${{ secrets[matrix.name] }}'}"),
    "hands on every secret": _with("    secrets: inherit"),
    "runs with the base's rights on others' changes": edited_workflow(
        CI, CI.replace("[push, pull_request]", "pull_request_target")
    ),
    "runs with the base's rights under a folded name": edited_workflow(
        CI, CI.replace("[push, pull_request]", '\n  "pull_request_\\\n    target":')
    ),
    "is new": edited_workflow("", CI, status=Status.ADDED),
    "is a copy": edited_workflow("", CI, status=Status.COPIED),
    "is moved into place": _change(FileChange(Status.RENAMED, PATH, old_path="ci.yml"), CI),
    "is a link": _change(FileChange(Status.TYPE_CHANGED, PATH, new_mode=SYMLINK_MODE), CI),
    "links the whole folder": _change(FileChange(Status.ADDED, ".github/workflows", new_mode=SYMLINK_MODE), ""),
    "is no text": _change(FileChange(Status.MODIFIED, PATH, binary=True), CI),
    "unpins an action where it may write": edited_workflow(RELEASE, RELEASE.replace(SHA, "main")),
    "swaps an action for another where it may write": edited_workflow(
        RELEASE, RELEASE.replace(f"actions/checkout@{SHA}", f"evil/checkout@{OTHER}")
    ),
    "hides a permission behind a bump": edited_workflow(
        CI, CI.replace(f"{SHA} # v4.1.0", f"{OTHER} # v5\rpermissions: write-all")
    ),
    "is ours": edited_workflow(REVIEW, REVIEW.replace("review:", "other:"), ".github/workflows/review.yml"),
    "is ours and only bumped": edited_workflow(REVIEW, REVIEW.replace("@v1", "@v2"), ".github/workflows/review.yml"),
    "deletes ours": edited_workflow(REVIEW, "", ".github/workflows/review.yml", Status.DELETED),
    "a workflow that ours calls, only bumped": edited_workflow(
        CI, CI.replace(SHA, OTHER), ".github/workflows/shared.yml"
    ),
    "an action that ours calls": _at(".github/actions/prepare/action.yml"),
    "a script that ours calls": _at("scripts/prepare.sh"),
    "a script that ours calls from another folder": _at("ci/notify.py"),
}
"""What must not pass unwatched, whoever writes it."""

ORDINARY: dict[str, Change] = {
    "another version of Python": edited_workflow(CI, CI.replace('"3.12"]', '"3.12", "3.13"]')),
    "another command": edited_workflow(CI, CI.replace("make test", "make check")),
    "a pinned action is bumped": edited_workflow(CI, CI.replace(f"{SHA} # v4.1.0", f"{OTHER} # v4.2.0")),
    "a pinned action is bumped where it may write": edited_workflow(RELEASE, RELEASE.replace(SHA, OTHER)),
    "write leave for issues": _with("    permissions: {issues: write, pull-requests: write}"),
    "a command of two lines": edited_workflow(
        CI, CI.replace("make test", "|\n          make test \\\n            --fast")
    ),
    "less leave": _with("    permissions: {}"),
    "a formatter that writes files": edited_workflow(CI, CI.replace("make test", "npx prettier --write .")),
    "it is deleted": edited_workflow(CI, "", status=Status.DELETED),
    "a script of another workflow": _at("scripts/release.sh"),
}
"""What concerns nobody but its authors."""
