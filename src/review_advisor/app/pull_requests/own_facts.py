"""Gathers what publishing knows of a pull request without the outcome: its files, configuration and advisors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from review_advisor.app.configuration import base_config, files_of, mended_on
from review_advisor.app.roster.believed import believed_declarations
from review_advisor.app.roster.on_forge import declares_on
from review_advisor.app.settings import Config, ConfigError, make_settings
from review_advisor.core.facts.change import FileChange, Status
from review_advisor.core.facts.files.paths import (
    OWN_IMPLEMENTATION_HERE,
    OWN_PIPELINE,
    PYPROJECT,
    PathRule,
    may_configure,
)
from review_advisor.core.facts.files.workflows import WORKFLOWS, CiEdit, concern, own_names
from review_advisor.core.facts.patches.patch import PatchError, split_patch
from review_advisor.core.facts.pull_request import PullRequest
from review_advisor.core.outcome.own_facts import OwnFacts
from review_advisor.core.policy.guard import implementation_globs
from review_advisor.core.policy.switches import SwitchError
from review_advisor.core.roster.lenses import roster_for_paths
from review_advisor.core.safety.markdown import code
from review_advisor.core.safety.redaction import redactor
from review_advisor.core.safety.shown_change import added_secrets
from review_advisor.ports.forge import MOST_LISTED, Forge, ForgeRejected, ListedFile

NOT_ALL_LISTED = f"GitHub lists {MOST_LISTED:,} files of a pull request; the others were not compared with the review"


_HEADER = b"--- old\n+++ new\n"
"""GitHub's patches begin with their first hunk."""


def own_facts(
    forge: Forge,
    pull_request: PullRequest,
    commit: str,
    environ: Mapping[str, str],
    *,
    added: Iterable[str] = (),
    dismissed: Iterable[str] = (),
) -> OwnFacts | str:
    """What is known, by the configuration of ``commit``; or why nothing is. Raises ``ForgeError``.

    ``added`` are the ids of the advisors that a label has added, by the record. The label may be gone, so each is in
    the roster if the configuration offers it to a label. ``dismissed`` are the ids of findings, by the believed memory.
    """
    try:
        config, stands_at = _config(forge, pull_request, commit)
        files = forge.changed_files(pull_request.number)
        paths = tuple(dict.fromkeys(path for file in files for path in (file.path, file.old_path) if path is not None))
        declares = declares_on(forge, pull_request, commit, paths, files_of(forge, pull_request.head_sha))
        declares = replace(declares, wanted=tuple(dict.fromkeys((*declares.wanted, *added))))
        roster, thresholds, _ = believed_declarations(config, files_of(forge, commit), declares)
        settings = make_settings(
            config, environ, profile=None, config_path=stands_at, roster=roster, thresholds=thresholds
        )
    except (ConfigError, SwitchError) as problem:
        return f"The configuration cannot be used any more: {problem}"
    sides = (pull_request.base_sha, pull_request.head_sha)
    here = PathRule(OWN_IMPLEMENTATION_HERE)
    cleaned = redactor(environ)
    patches = [(file, _patched(file)) for file in files]
    return OwnFacts(
        paths=paths,
        rules=replace(settings.rules, roster=cleaned.everywhere(roster_for_paths(roster, paths))),
        of_map=cleaned.everywhere(tuple(each for rule in roster.mapped for each in rule.advisors)),
        implementation=implementation_globs(
            settings.rules.own_globs,
            here=any(map(here.matches, paths)) and any(_at(forge, OWN_PIPELINE, side) is not None for side in sides),
            pyproject=PYPROJECT in paths and any(may_configure(_at(forge, PYPROJECT, each)) for each in sides),
        ),
        fail_as_veto=settings.switches.fail_as_veto,
        redact=cleaned.redact,
        watched=tuple(_watched(forge, files, pull_request.head_sha, settings.rules.check_name)),
        modified=tuple(file.path for file in files if file.status == "modified"),
        cut=len(files) >= MOST_LISTED,
        committed=tuple(
            (mask.path, mask.kind)
            for _, patched in patches
            if patched is not None
            for mask in added_secrets(patched)
            if mask.certainty == "issued"
        ),
        dismissed=frozenset(dismissed),
        unseen=tuple(cleaned.redact(file.path) for file, patched in patches if patched is None and file.changed > 0),
    )


def not_shown(paths: Sequence[str]) -> str | None:
    """A note on the files whose patch the forge does not show whole; None without any."""
    if not paths:
        return None
    others = f" and {len(paths) - 1} more" if paths[1:] else ""
    which = f"{code(paths[0])}{others}"
    return f"GitHub shows no whole patch of {which}: the secrets there were not compared with the review"


def _patched(file: ListedFile) -> FileChange | None:
    """The file with the lines of its patch; None where the forge shows no whole one."""
    try:
        sections = split_patch(_HEADER + (file.patch or "").encode("utf-8", "replace"))
    except PatchError:
        return None
    hunks = tuple(hunk for section in sections for hunk in section.hunks)
    return FileChange(Status.MODIFIED, file.path, hunks=hunks) if hunks else None


def _config(forge: Forge, pull_request: PullRequest, commit: str) -> tuple[Config, str | None]:
    try:
        return base_config(files_of(forge, commit))
    except ConfigError:
        mended = mended_on(forge, pull_request, commit)
        if mended is None:
            raise
        return mended


def _watched(forge: Forge, files: Iterable[ListedFile], head: str, check_name: str) -> Iterator[str]:
    """The changed workflows that concern the bot, as far as the forge shows it."""
    names = own_names(check_name)
    for file in filter(lambda listed: WORKFLOWS.matches(listed.path), files):
        lines = None if file.patch is None else tuple(line for line in file.patch.split("\n") if line[:1] in {"+", "-"})
        gone = file.status == "removed"
        text = b"" if gone else _at(forge, file.path, head)
        after = None if text is None else text.decode("utf-8", "replace")
        edit = CiEdit(lines, in_place=gone or file.status in {"modified", "changed"}, after=after)
        if concern(edit, names) is not None:
            yield file.path


def _at(forge: Forge, path: str, commit: str) -> bytes | None:
    """A file of a commit; nothing of one that the forge does not hand out for its size."""
    try:
        return forge.file(path, commit)
    except ForgeRejected:
        return b""
