"""What the executor and its judge are told of the last review of the same pull request."""

from __future__ import annotations

from review_advisor.core.facts.change import Change, FileChange
from review_advisor.core.policy.scope import Scope, files_to_show
from review_advisor.core.roles.prompts import EARLIER
from review_advisor.core.safety.fence import fence_facts


def earlier_section(change: Change, nonce: str) -> str:
    """The findings that an earlier review left open or that people dismissed; empty without any."""
    findings = change.earlier.findings if change.earlier is not None else ()
    if not findings:
        return ""
    return (
        "Findings of earlier reviews of this pull request. Raise an open one again, with a quote from the diff, if it"
        " still stands, and leave it out once it is fixed. A dismissed one was settled by a person with write"
        " permission: do not raise it again, and do not let it decide the verdict.\n"
        + fence_facts(EARLIER, findings, nonce)
    )


def shown_files(files: tuple[FileChange, ...], change: Change, scope: Scope) -> tuple[FileChange, ...]:
    """Those of a part's files that the executor is shown."""
    wanted = {file.path for file in files_to_show(change, scope)}
    return tuple(file for file in files if file.path in wanted)


def scope_section(scope: Scope) -> str:
    """What the executor is told if its diff leaves out what an earlier review read; empty if it does not."""
    if scope.since is None:
        return ""
    return (
        f"The commit {scope.since} of this pull request was reviewed before. The diff above holds the files that differ"
        " since and those with an open finding, each whole; your verdict is on the whole change, and the rest of it can"
        " be read in the tree."
    )
