"""The Write tool: a file of the current folder, unless a rule or the mode forbids it, as the CLI has it."""

from __future__ import annotations

import uuid
from pathlib import Path

from review_advisor.core.facts.files.paths import PathRule
from review_advisor.embedded.cli_session import CliSession

_WRITING = "acceptEdits"


def write_file(session: CliSession, path: str, text: str) -> bool:
    """Write ``text`` to ``path`` and show it in the stream; whether it was done. A refusal is an answer too."""
    place = session.cwd / path
    use = f"toolu_{uuid.uuid4().hex[:24]}"
    tool_input = {"file_path": str(place), "content": text}
    session.assistant([{"type": "tool_use", "id": use, "name": "Write", "input": tool_input}])
    why = _refusal(session, place)
    if why is not None:
        session.denials.append({"tool_name": "Write", "tool_use_id": use, "tool_input": tool_input})
        session.tool_result(use, why, is_error=True, details=f"Error: {why}")
        return False
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8", newline="")
    session.tool_result(use, f"File written at: {place}")
    return True


def _refusal(session: CliSession, place: Path) -> str | None:
    if "Write" not in session.options.tools:
        return "Error: No such tool available: Write"
    resolved, root = place.resolve(), session.cwd.resolve()
    if session.options.permission_mode != _WRITING or not resolved.is_relative_to(root):
        return f"Claude requested permissions to write to {place}, but you haven't granted it yet."
    if _is_denied(session, root, resolved):
        return "File is in a directory that is denied by your permission settings."
    return None


def _is_denied(session: CliSession, root: Path, place: Path) -> bool:
    """A rule with two leading slashes is anchored at the disk, any other is a glob below the current folder."""
    within = place.relative_to(root).as_posix()
    anchored = f"/{root.as_posix()}/"
    globs = tuple(
        f"/{glob.removeprefix(anchored)}" if glob.startswith(anchored) else glob
        for glob in session.options.denied_edits
    )
    return PathRule(globs).matches(within)
