"""What reviewers are told of files that the base's configuration leaves unread: facts, made without a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from review_advisor.core.facts.change import FileChange
from review_advisor.core.policy.exclusion import ExcludedFile, Exclusion
from review_advisor.core.safety.fence import fence

NOT_READ = "NOT_READ"
_MOST_DOUBTS = 20


def excluded_section(excluded: Exclusion, files: Iterable[FileChange], nonce: str) -> str:
    """The facts about those of ``files`` that are left unread, fenced; empty without any."""
    here = {file.path for file in files}
    told = [_facts(each) for each in excluded.files if each.path in here]
    if not told:
        return ""
    return (
        "The base's configuration leaves these files unread, which is no objection. Do not read them. Judge these"
        " facts, which the harness made from their lines. What is unusual in them stands in the diff.\n"
        + fence(NOT_READ, "\n\n".join(told), nonce)
    )


def _facts(file: ExcludedFile) -> str:
    return "\n".join((f"{file.path} ({file.ecosystem or 'no lock file'}): {file.why}", *_brings(file)))


def _brings(file: ExcludedFile) -> Iterator[str]:
    brings = file.brings
    if file.ecosystem:
        yield f"  packages new or changed: {brings.changed}"
        yield f"  packages new: {', '.join(brings.packages) or 'none'}"
    yield f"  hosts in added lines: {', '.join(brings.hosts) or 'none'}"
    yield from (f"  shown in the diff, because {doubt}" for doubt in brings.doubts[:_MOST_DOUBTS])
    if len(brings.doubts) > _MOST_DOUBTS:
        yield f"  and for {len(brings.doubts) - _MOST_DOUBTS} more reasons"
