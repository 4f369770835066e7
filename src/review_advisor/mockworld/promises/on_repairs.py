"""The promises about repairs: who may edit, what no patch holds, and that a patch approves nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from review_advisor.agents.answers import GRAVE
from review_advisor.change.change import FileChange, Status
from review_advisor.mockworld.copies import Edit
from review_advisor.mockworld.promises.on_verdicts import is_its_own
from review_advisor.mockworld.promises.played_review import Reading, answer_of
from review_advisor.policy.surfaces import Role
from review_advisor.review.events import Repaired, Reported

TELLS_OTHERS = {
    ".github", ".gitlab-ci.yml", ".gitattributes", ".gitmodules", ".gitignore", ".husky", ".vscode", ".envrc",
    ".pre-commit-config.yaml", ".npmrc", "agents.md", "codeowners", "jenkinsfile", "action.yml",
}  # fmt: skip
"""What tells CI, git, an editor or an agent what to do, by the names of files and folders."""
ODD = re.compile(
    r"^(?:old mode|new mode|deleted file|rename|copy|similarity|Binary|new file mode (?!100644))", re.MULTILINE
)
SECTION = re.compile(r"^diff --git a/(.*) b/\1$", re.MULTILINE)
CHANGED_LINE = re.compile(r"^[+-](?!\+\+ |-- )", re.MULTILINE)
TEST = re.compile(r"tests/(?:\w+/)?test_\w+\.py")
FEW_LINES = 30
MOST_FILES = 10
MOST_LINES = 400
TIERS = ("low", "medium", "high")


def _is_guarded(path: str, reading: Reading) -> bool:
    return is_its_own(path, reading) or not TELLS_OTHERS.isdisjoint(path.casefold().split("/"))


def _patches(reading: Reading) -> Iterator[str]:
    """Every patch that was judged, and the one that was offered."""
    yield from (event.patch for event in reading.events(Repaired) if event.result == "accepted")
    if "repair.patch" in reading.review.files:
        yield reading.review.files["repair.patch"]


def a_patch_holds_text_of_the_change_and_nothing_else(reading: Reading) -> Iterator[str]:
    """No patch holds a guarded path, a link, a submodule, a mode, a deletion, a stranger's file, or too much."""
    inside = {file.path for file in reading.review.change.files if file.status is not Status.DELETED}
    for patch in _patches(reading):
        if odd := ODD.search(patch):
            yield f"a patch holds {odd[0]!r}"
        paths = SECTION.findall(patch)
        for path in paths:
            if _is_guarded(path, reading):
                yield f"a patch touches {path}"
            if path not in inside and "test" not in path:
                yield f"a patch touches {path}, which is no file of the change"
        lines = len(CHANGED_LINE.findall(patch))
        if not 0 < len(paths) <= MOST_FILES or lines > MOST_LINES:
            yield f"a patch of {len(paths)} files and {lines} lines"


def an_honest_repair_is_judged(reading: Reading) -> Iterator[str]:
    """Edits of text files of the change, and new tests, are not refused, while the judge can be shown them whole."""
    honest = {
        file.path for file in reading.review.change.files if _is_ordinary(file) and not _is_guarded(file.path, reading)
    }
    wrote: dict[tuple[object, ...], bool] = {}
    for asked in reading.review.asked:
        call = asked.call
        part = (call.surface, call.shard)
        for path, edit in asked.line.edits if call.edits is not None else ():
            wrote[part] = wrote.get(part, True) and isinstance(edit, Edit) and _is_honest(path, edit, honest)
    for event in reading.events(Repaired):
        told = [each.why for each in event.refused]
        if event.result == "refused" and wrote.get((event.surface, event.shard)) and not _too_large(told):
            yield f"an honest repair of {event.surface}, part {event.shard + 1}, was refused: {', '.join(told)}"


def _is_ordinary(file: FileChange) -> bool:
    plain = file.status in (Status.ADDED, Status.MODIFIED) and file.old_mode in ("100644", "000000")
    return plain and file.new_mode == "100644" and not file.binary


def _is_honest(path: str, edit: Edit, honest: set[str]) -> bool:
    if edit.does == "undoes":
        return True
    few = len(edit.lines) + edit.removed <= FEW_LINES and all(line.isascii() for line in edit.lines)
    secret = any("ghp_" in line for line in edit.lines)
    new_test = edit.does == "creates" and TEST.fullmatch(path) is not None
    return few and not secret and (new_test or (edit.does == "writes" and path in honest))


def _too_large(reasons: list[str]) -> bool:
    return any("cannot be shown to its judge whole" in why for why in reasons)


def only_a_vetoed_approval_may_be_repaired(reading: Reading) -> Iterator[str]:
    """Leave to edit goes to the executor of pr_review alone, after a veto of its approval, where repair is on."""
    said: dict[int, tuple[str, str]] = {}
    for asked in reading.review.asked:
        call, answer = asked.call, answer_of(asked)
        before = said.get(call.shard, ("", ""))
        vetoed = call.role is Role.EXECUTOR and call.surface == "pr_review" and before == ("approve", "VETO")
        if call.edits is not None and not (
            vetoed and reading.review.repair == "suggest" and reading.review.change.tree
        ):
            yield f"{call.role} on {call.surface}, attempt {call.attempt}, was given leave to edit after {before}"
        if answer is not None and call.surface == "pr_review" and call.role in (Role.EXECUTOR, Role.POST_VERIFY):
            verdict = str(answer["verdict"])
            said[call.shard] = (verdict, "") if call.role is Role.EXECUTOR else (before[0], verdict)


def a_repair_never_approves_the_head(reading: Reading) -> Iterator[str]:
    """What was judged right only with edits, or with edits that were refused, is never an approval."""
    for (surface, shard), asked in reading.parts.items() if reading.approved else ():
        last = max(each.call.attempt for each in asked)
        mine = [event for event in reading.events(Repaired) if (event.surface, event.shard) == (surface, shard)]
        standing = [event.result for event in mine if event.result != "refused"][-1:]
        refused = any(event.result == "refused" and event.attempt == last for event in mine)
        if standing == ["accepted"] or refused:
            yield f"approved although {surface}, part {shard + 1}, was {'refused its edits' if refused else 'repaired'}"


def a_patch_is_offered_if_and_only_if_it_was_judged_right(reading: Reading) -> Iterator[str]:
    """The patch that the last judgement confirmed is offered, whole and in the report, and no other."""
    review, document = reading.review, reading.review.document
    if document is None or review.ended == "stopped":
        if "repair.patch" in review.files or (document is not None and document.repair is not None):
            yield f"{review.ended}, and a patch is offered"
        return
    last = {(e.surface, e.shard): e for e in reading.events(Repaired) if e.result != "refused"}
    refused = {(e.surface, e.shard, e.attempt) for e in reading.events(Repaired) if e.result == "refused"}
    reports = {(e.surface, e.shard): e.report for e in reading.events(Reported)}
    right = [
        event.patch
        for key, event in last.items()
        if event.result == "accepted"
        and (reading.verdicts[key], reading.judgements[key]) == ("approve", "APPROVE")
        and (*key, reading.parts[key][-1].call.attempt) not in refused
        and not any(each.severity in GRAVE for each in reports[key].refused)
    ]
    offered = [] if document.repair is None else [document.repair.patch]
    stored = [review.files["repair.patch"]] if "repair.patch" in review.files else []
    if not right == offered == stored:
        yield f"{len(right)} patches were judged right, {len(offered)} are offered and {len(stored)} stored"
    if offered and "a repair is attached" not in reading.report.partition("\n")[0]:
        yield "a patch is offered, and the report's first line does not say so"


def a_repair_makes_nothing_milder(reading: Reading) -> Iterator[str]:
    """Blast radius and guard of a repaired change are at least those of the head."""
    document = reading.review.document
    for event in reading.events(Repaired) if document is not None else ():
        if document is None or event.blast is None or event.guard is None:
            continue
        if TIERS.index(event.blast.radius) < TIERS.index(document.policy.blast.radius):
            yield f"the blast radius became {event.blast.radius} by a repair"
        if document.policy.guard.holds and not event.guard.holds:
            yield "the guard was lifted by a repair"
