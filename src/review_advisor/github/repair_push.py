"""Commits a repair to the pull request's branch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from review_advisor.agents.findings import FINDING_ID
from review_advisor.agents.repair_law import LEAKS, PathLaw, carries_secret
from review_advisor.change.change import (
    EXECUTABLE_MODE,
    REGULAR_MODE,
    WHOLE,
    CommittedFile,
    FileChange,
    PatchRefused,
    Status,
)
from review_advisor.change.diff_text import shown_path
from review_advisor.change.patch import PatchError, files_of_patch, split_git_diff
from review_advisor.change.pull_request import PullRequest
from review_advisor.github.forge import ForgeError, Patcher
from review_advisor.github.writer import Bot, PullRequestWriter
from review_advisor.github.writes import MadeCommit
from review_advisor.policy.pull_request_rules import ACTIONS_LOGIN, PublicationRules
from review_advisor.policy.risk import every_implementation
from review_advisor.review.document import OutcomeDocument, SuggestedRepair
from review_advisor.review.rulings import Outcome

SUBJECT = "Repair what the review found"
RUN_TRAILER = "Review-Advisor-Run"
FINDING_TRAILER = "Review-Advisor-Finding"
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_FINDING = re.compile(FINDING_ID)
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class NotPushed:
    """The repair stays a suggestion, and why. ``is_noted``: somebody who switched pushing on has to know."""

    because: str
    is_noted: bool = True


@dataclass(frozen=True, slots=True)
class Wanted:
    """A repair that may be pushed as far as the outcome tells. ``touched`` is its patch as facts."""

    repair: SuggestedRepair
    touched: tuple[FileChange, ...]
    message: str

    @property
    def changed(self) -> tuple[FileChange, ...]:
        """The files that the head has already."""
        return tuple(file for file in self.touched if file.status is not Status.ADDED)


@dataclass(frozen=True, slots=True)
class Branch:
    """What the forge says about the head's branch.

    ``protected``: rules guard it, or it is the default branch. ``inside`` are the changed files whose lines it shows.
    """

    protected: bool
    inside: frozenset[str]


def wanted_push(document: OutcomeDocument, pull_request: PullRequest, rules: PublicationRules) -> Wanted | NotPushed:
    """What can be decided before the forge is asked anything."""
    repair = document.repair
    if repair is None:
        return NotPushed("there is no repair", is_noted=False)
    if not rules.push_repairs:
        return NotPushed("pushing repairs is not switched on", is_noted=False)
    reasons = (
        (document.outcome is not Outcome.CHANGES_REQUESTED, "a person was called, who decides"),
        (pull_request.state != "open", f"the pull request is {pull_request.state}"),
        (repair.head_sha != pull_request.head_sha, "it was made for another head"),
        (pull_request.from_fork, "the head is in a fork"),
        (
            rules.login.casefold() == ACTIONS_LOGIN,
            f"pushes of {ACTIONS_LOGIN} start no workflow, so nobody would review it",
        ),
        (_RUN.fullmatch(document.run_id) is None, "the run's name cannot stand in a commit message"),
    )
    because = next((why for holds, why in reasons if holds), None)
    if because is not None:
        return NotPushed(because)
    try:
        patch = repair.patch.encode()
        split_git_diff(patch)  # not a line that only git would make something of
        return Wanted(repair, files_of_patch(patch), commit_message(document))
    except (PatchError, UnicodeEncodeError):
        return NotPushed("its patch cannot be read")


def forbidden(wanted: Wanted, branch: Branch) -> NotPushed | None:
    """Why it is not pushed, now that the branch is known; None if it may be."""
    if branch.protected:
        return NotPushed("the branch is protected")
    paths = [file.path for file in wanted.touched]
    if not paths or sorted(paths) != sorted(wanted.repair.files):
        return NotPushed("its patch touches other files than it names")
    refused = PathLaw(branch.inside, every_implementation()).refusals(wanted.touched)
    if refused:
        named = [f"{shown_path(each.path)}: {each.why}" if each.path != WHOLE else each.why for each in refused]
        return NotPushed("; ".join(named[:_MOST_NAMED]))
    modes = {file.new_mode for file in wanted.touched}
    if not modes <= {REGULAR_MODE, EXECUTABLE_MODE}:
        return NotPushed("it holds something that is no regular file")
    return NotPushed(LEAKS) if carries_secret(wanted.repair.patch) else None


def not_as_patched(wanted: Wanted, after: Sequence[CommittedFile]) -> NotPushed | None:
    """Why the files that git made of the patch are not those that the patch speaks of; None if they are."""
    expected = sorted((file.path, file.new_mode) for file in wanted.touched)
    if sorted((file.path, file.mode) for file in after) == expected:
        return None
    return NotPushed("git reads its patch in another way")


def not_as_judged(wanted: Wanted, made: MadeCommit) -> NotPushed | None:
    """Why the commit is not what was judged; None if its tree is the very one."""
    if made.tree == wanted.repair.tree:
        return None
    return NotPushed("the commit's tree is not the one that was judged")


def commit_message(document: OutcomeDocument) -> str:
    """Our own words, and by their ids the run and the findings that the repaired version no longer has.

    Nothing that a model wrote is in it.
    """
    trailers = [f"{RUN_TRAILER}: {document.run_id}", *(f"{FINDING_TRAILER}: {each}" for each in _repaired(document))]
    return "\n".join((SUBJECT, "", *trailers)) + "\n"


def _repaired(document: OutcomeDocument) -> list[str]:
    """The ids of what was found before the repair and not in what was judged with it."""
    found: dict[str, None] = {}
    for surface in document.surfaces:
        for part in surface.parts:
            if part.ended is not None and part.ended.repaired:
                left = {finding.id for finding in part.reports[-1].findings}
                before = (finding.id for report in part.reports[:-1] for finding in report.findings)
                found |= dict.fromkeys(each for each in before if each not in left)
    return [each for each in found if _FINDING.fullmatch(each)]


def not_pushed_note(kept: NotPushed) -> str:
    """What the summary says of a repair that is not pushed, as plain words."""
    return f"the repair stays a suggestion: {kept.because}"


def coming_note(pull_request: PullRequest) -> str:
    """What the summary says before the push, which comes last."""
    return f"the repair is committed to {pull_request.head_ref}; that push gets a review of its own"


def pushed_note(pull_request: PullRequest) -> str:
    """What is said once it is done."""
    return f"the repair was committed to {pull_request.head_ref}"


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
        return frozenset(path for path, visible in lines.items() if visible.right)

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
        return not_as_patched(wanted, after) or Ready(wanted, after)

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
