"""Where a change says that its specification is."""

from __future__ import annotations

import posixpath
import re

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
