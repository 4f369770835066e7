"""What a repair may touch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from review_advisor.agents import prompts
from review_advisor.agents.calls import EditGrant
from review_advisor.agents.transcript import Attempt
from review_advisor.change.change import (
    REGULAR_MODE,
    SUBMODULE_MODE,
    SYMLINK_MODE,
    WHOLE,
    Change,
    Edits,
    FileChange,
    RefusedPath,
    RepairState,
    Status,
)
from review_advisor.change.diff_text import shown_path
from review_advisor.change.kinds import NEVER_REPAIRED, TESTS, PathRule
from review_advisor.change.redaction import added_secrets, over_masks
from review_advisor.change.shards import shards
from review_advisor.policy.budgets import MOST_REPAIRED_FILES, MOST_REPAIRED_LINES
from review_advisor.policy.policy import Policy, Rules
from review_advisor.policy.risk import own_implementation
from review_advisor.policy.surfaces import SURFACE_DEFAULTS, Surface
from review_advisor.safety.fence import clean, fence
from review_advisor.safety.secrets import redact

LEAKS = "the patch would carry what looks like a secret"


_SHOWN_TO_EXECUTOR = 10


_DELETED_OR_MOVED = (Status.DELETED, Status.RENAMED, Status.COPIED)


def may_repair(policy: Policy, surface: Surface, attempts: Sequence[Attempt]) -> bool:
    """Only a vetoed approval is handed back with leave to repair: whoever rejects has nothing to approve."""
    return may_ever_repair(policy, surface) and bool(attempts) and attempts[-1].executor_verdict == "approve"


def may_ever_repair(policy: Policy, surface: Surface) -> bool:
    """Whether any attempt of an executor on this surface may get leave to edit."""
    return policy.repair.runs and SURFACE_DEFAULTS[surface].repair


def edit_grant(change: Change, own_globs: tuple[str, ...]) -> EditGrant:
    """Leave to edit. The globs are those of the law below; the CLI refuses such an edit while it is made."""
    return EditGrant((*own_implementation(change, own_globs), *NEVER_REPAIRED))


@dataclass(frozen=True, slots=True)
class PathLaw:
    """What a repair may do to each file. ``inside`` are the paths of the change, without those it deletes.

    ``own`` are globs of the bot's implementation.
    """

    inside: frozenset[str]
    own: tuple[str, ...]

    def refusals(self, touched: Sequence[FileChange]) -> tuple[RefusedPath, ...]:
        """Why these differences are no repair, each path once and by name, then what is wrong with them together."""
        named = [RefusedPath(file.path, why) for file in touched if (why := self._why(file)) is not None]
        return (*named, *(RefusedPath(WHOLE, why) for why in _too_much(touched)))

    def _why(self, file: FileChange) -> str | None:
        never = PathRule((*self.own, *NEVER_REPAIRED))
        reasons = (
            (bool(never.touched_by((file,))), "it tells the bot, CI, git or an agent what to do"),
            (file.is_symlink or SYMLINK_MODE in (file.old_mode, file.new_mode), "a symbolic link"),
            (file.is_submodule or SUBMODULE_MODE in (file.old_mode, file.new_mode), "a submodule"),
            (file.status in _DELETED_OR_MOVED, f"a repair changes text, and this file is {file.status.value}"),
            (_changes_mode(file), "a change of its mode"),
            (file.binary, "binary"),
            (file.status is Status.ADDED and not _is_plain(file.path), "a name that can mislead"),
            (file.path not in self.inside and not TESTS.matches(file.path), "not a file of the change, and no test"),
            (
                file.path not in self.inside and file.removed > 0,
                "removes lines of a test that the change does not touch",
            ),
            (_is_hidden(file), "adds invisible characters"),
        )
        return next((why for holds, why in reasons if holds), None)


def carries_secret(patch: str) -> bool:
    """Whether a patch holds what looks like a secret."""
    return redact(patch) != patch


@dataclass(frozen=True, slots=True)
class Law:
    """What a repair of ``change`` is held against. ``redact`` is the review's own: it knows the harness's secrets."""

    change: Change
    rules: Rules
    redact: Callable[[str], str]

    def refusals(self, edits: Edits) -> tuple[RefusedPath, ...]:
        """Why ``edits`` are refused, each path once and by name; nothing means that they may be judged."""
        if edits.unfit:
            return edits.unfit
        inside = frozenset(each.path for each in self.change.files if each.status is not Status.DELETED)
        law = PathLaw(inside, own_implementation(self.change, self.rules.own_globs))
        named = law.refusals(edits.touched)
        over = (each for each in self._over_masks(edits.touched) if each.path not in {one.path for one in named})
        return (*named, *over, *(RefusedPath(WHOLE, why) for why in self._unshowable(edits)))

    def _over_masks(self, touched: Sequence[FileChange]) -> Iterator[RefusedPath]:
        """The files in which a line goes that everybody is shown masked, or a mark is written."""
        changed = {file.path: file for file in self.change.files}
        for file in touched:
            known = changed.get(file.path)
            masks = () if known is None else added_secrets(known)
            hidden = {line for each in masks for line in range(each.line, each.end_line + 1)}
            kept = [*_lines_of(known, "+ "), *_lines_of(file, "- ")] if known is not None else _lines_of(file, "- ")
            why = over_masks("\n".join(kept), hidden, [(_removed_lines(file), _lines_of(file, "+"))])
            if why is not None:
                yield RefusedPath(file.path, why)

    def _unshowable(self, edits: Edits) -> Iterator[str]:
        if self.redact(edits.patch) != edits.patch:
            yield LEAKS
        if _does_not_fit(self.change, edits.change, self.rules.shard_tokens):
            yield "the repaired change cannot be shown to its judge whole"


@dataclass(frozen=True, slots=True)
class TaskPatch:
    """The patch and the files it touches; both empty where nothing was edited, and where ``refused`` says why not."""

    patch: str = ""
    files: tuple[str, ...] = ()
    refused: tuple[RefusedPath, ...] = ()


def patch_of(edits: Edits, own: tuple[str, ...], redact: Callable[[str], str]) -> TaskPatch:
    """The patch that edits of HEAD's tree come to. ``own`` are globs of the bot's implementation.

    A task may touch every file that a repair may touch in a change that touches all of them.
    """
    law = PathLaw(frozenset(path for file in edits.touched for path in file.paths), own)
    refused = edits.unfit or law.refusals(edits.touched)
    if redact(edits.patch) != edits.patch:
        refused = (*refused, RefusedPath(WHOLE, LEAKS))
    if refused:
        return TaskPatch(refused=refused)
    return TaskPatch(edits.patch, tuple(file.path for file in edits.touched))


def _too_much(touched: Sequence[FileChange]) -> Iterator[str]:
    lines = sum(file.changed_lines for file in touched)
    if len(touched) > MOST_REPAIRED_FILES:
        yield f"{len(touched)} files, more than {MOST_REPAIRED_FILES}"
    if lines > MOST_REPAIRED_LINES:
        yield f"{lines} changed lines, more than {MOST_REPAIRED_LINES}"


def _changes_mode(file: FileChange) -> bool:
    if file.status is Status.ADDED:
        return file.new_mode != REGULAR_MODE
    return file.old_mode != file.new_mode


def _is_plain(path: str) -> bool:
    if shown_path(path) != path or clean(path) != path or not path.isascii():
        return False
    return not any(part.startswith(("-", " ")) or part.endswith((".", " ")) for part in path.split("/"))


def _is_hidden(file: FileChange) -> bool:
    added = (line[1:].removesuffix("\r") for hunk in file.hunks for line in hunk.lines if line.startswith("+"))
    return any(clean(line) != redact(line) for line in added)


def _lines_of(file: FileChange, signs: str) -> list[str]:
    return [line[1:] for hunk in file.hunks for line in hunk.lines if line[:1] in signs]


def _removed_lines(file: FileChange) -> Iterator[int]:
    for hunk in file.hunks:
        number = hunk.old_start
        for line in hunk.lines:
            if line.startswith("-"):
                yield number
            number += line[:1] in ("-", " ")


def _does_not_fit(before: Change, after: Change, shard_tokens: int) -> bool:
    parts, unsent = shards(after, shard_tokens)
    return len(parts) > 1 or not set(unsent) <= set(shards(before, shard_tokens)[1])


def leave_words() -> str:
    """What an executor that may repair is told."""
    return (
        "You may repair what the transcript rightly demands. The current folder is a throw-away copy of the tree that"
        " the diff above shows: change it with Edit and Write, as little as will do. Touch only files of this change,"
        f" or tests (of which you may add some); at most {MOST_REPAIRED_FILES} files and {MOST_REPAIRED_LINES} lines."
        " Delete, move and link nothing, and leave alone what configures CI, git, editors, agents or this bot: one such"
        " edit and the whole repair is refused. The harness reads your edits back itself, and they are judged next, as"
        " a suggestion to the author. Your report must speak of the change as it is after your edits: verdict, lines"
        " and quotes. If the veto is wrong, edit nothing and contest it."
    )


def repair_sections(state: RepairState, nonce: str) -> list[str]:
    """What executor and judge are told of repairs in the version they see; nothing while there is none."""
    sections = []
    if state.patch:
        sections.append(
            "The executor repaired the head after an earlier veto. The diff above, and the tree, hold that repair; by"
            f" itself it is this patch, which is part of what is judged:\n{fence(prompts.REPAIR, state.patch, nonce)}"
        )
    if state.refused:
        named = "\n".join(f"{_place(each)}: {each.why}" for each in state.refused[:_SHOWN_TO_EXECUTOR])
        sections.append(
            "The executor's latest edits were refused as a whole and are not in what is judged, whatever its report"
            f" says about them:\n{fence(prompts.REPAIR_REFUSED, named, nonce)}"
        )
    return sections


def _place(refused: RefusedPath) -> str:
    return "the repair as a whole" if refused.path == WHOLE else shown_path(refused.path)
