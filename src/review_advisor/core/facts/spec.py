"""Where a change says that its specification is, and what issues say of it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from review_advisor.core.facts.change import Spec
from review_advisor.core.facts.pull_request import LinkedIssue

_LINE = re.compile(r"^spec:[ \t]*(\S.*)$", re.IGNORECASE | re.MULTILINE)


def spec_path(body: str) -> str | None:
    """The path of the first ``spec: <path>`` line that names a file inside the repository, normalised; else None.

    The key stands at the start of its line, in any case. Absolute paths, paths with ``..`` or a backslash, and
    addresses are passed over.
    """
    for match in _LINE.finditer(body):
        path = match.group(1).strip().strip("`<>")
        if path.startswith("/") or "\\" in path or "://" in path or ".." in path.split("/") or not path.isprintable():
            continue
        normal = posixpath.normpath(path)
        if normal != "." and not path.endswith("/"):
            return normal
    return None


def spec_of_issues(issues: Sequence[LinkedIssue], repository: str) -> Spec | None:
    """The issues that a pull request of ``repository`` closes, as its specification; None without any.

    Each is a heading with its number and title, and its body.
    """
    if not issues:
        return None
    names = [_name(issue, repository) for issue in issues]
    texts = [f"# {name}: {issue.title}\n\n{issue.body}".strip() for name, issue in zip(names, issues, strict=True)]
    return Spec(f"issue{'s' if len(issues) > 1 else ''} {', '.join(names)}", "\n\n".join(texts))


def _name(issue: LinkedIssue, repository: str) -> str:
    elsewhere = issue.repository.casefold() != repository.casefold()
    return f"{issue.repository if elsewhere else ''}#{issue.number}"
