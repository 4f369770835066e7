"""Committing a repair that was judged right to the pull request's own branch: all of it looked at again first.

Whatever is in the way, the repair stays a suggestion and the summary says why: nothing here fails a publication.
"""

from __future__ import annotations

from dataclasses import dataclass

from review_advisor.core.facts.pull_request import PullRequest
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.pull_request.repair_push import (
    Branch,
    NotPushed,
    Wanted,
    forbidden,
    not_as_judged,
    not_as_said,
    wanted_push,
)
from review_advisor.core.pull_request.writes import CommittedFile
from review_advisor.ports.forge import ForgeError, Patcher, PatchRefused
from review_advisor.pull_request.bot import Bot
from review_advisor.pull_request.writer import PullRequestWriter


@dataclass(frozen=True, slots=True)
class Ready:
    """What a push would put on the branch; nothing of it is written yet."""

    wanted: Wanted
    files: tuple[CommittedFile, ...]


class Committer:
    """Pushes at most one commit for a review: once its branch has moved, the review is of another head."""

    def __init__(self, bot: Bot, writer: PullRequestWriter, patcher: Patcher) -> None:
        self._forge, self._rules = bot.forge, bot.rules
        self._writer = writer
        self._patcher = patcher

    def prepare(self, pull_request: PullRequest, document: OutcomeDocument) -> Ready | NotPushed:
        """Decide, and make the files. Only reads the forge."""
        wanted = wanted_push(document, pull_request, self._rules)
        if isinstance(wanted, NotPushed):
            return wanted
        try:
            branch = Branch(self._forge.is_protected(pull_request.head_ref), self._inside(pull_request))
            return forbidden(wanted, branch) or self._patched(wanted)
        except (ForgeError, PatchRefused) as problem:
            return NotPushed(str(problem))

    def _inside(self, pull_request: PullRequest) -> frozenset[str]:
        lines = self._forge.commentable_lines(pull_request.number)
        return frozenset(path for path, shown in lines.items() if shown.right)

    def _patched(self, wanted: Wanted) -> Ready | NotPushed:
        head = wanted.repair.head_sha or ""
        before = []
        for file in wanted.touched:
            content = self._forge.file(file.path, head)
            if file in wanted.changed and content is not None:
                before.append(CommittedFile(file.path, file.old_mode, content))
            elif file in wanted.changed or content is not None:
                return NotPushed("its patch does not speak of the files that the head has")
        after = self._patcher.apply(wanted.repair.patch, tuple(before))
        return not_as_said(wanted, after) or Ready(wanted, after)

    def push(self, pull_request: PullRequest, ready: Ready) -> NotPushed | None:
        """Commit, and move the branch as the very last step; why it was not done, if it was not."""
        try:
            return self._push(pull_request.head_ref, ready)
        except ForgeError as refused:
            return NotPushed(str(refused))

    def _push(self, branch: str, ready: Ready) -> NotPushed | None:
        head = ready.wanted.repair.head_sha or ""
        if not self._writer.checks.conclusions(head, self._rules.check_name):
            return NotPushed(
                f"the token is not {self._rules.login}'s, so it is unknown whether its push would be reviewed"
            )
        made = self._writer.make_commit(head, ready.files, ready.wanted.message)
        kept = not_as_judged(ready.wanted, made)
        if kept is None:
            self._writer.advance(branch, head, made.sha)
        return kept
