"""What ``init --agent`` writes into a repository: nothing outside of it, all or nothing, and the same if repeated."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from review_advisor.adapters.artifacts import write_whole
from review_advisor.adapters.user_file import LARGEST, UserFileError, read_user_file
from review_advisor.app.init import Put
from review_advisor.core.task.agent_files import (
    AGENTS_FILE,
    BLOCK,
    END,
    SKILL,
    SKILL_FILE,
    START,
    MarksError,
    with_block,
    with_line_ends_of,
)
from review_advisor.ports.review import ArtifactError


def put_agent_files(top: Path, *, dry_run: bool) -> tuple[Put, ...]:
    """Write the skill and the block of AGENTS.md. If one of them may not be written, neither is.

    A skill that is not ours, and whatever lies behind a symbolic link, stays as it is.
    """
    looked = (_look(top, SKILL_FILE), _look(top, AGENTS_FILE))
    if dry_run or any(each.end == "refused" for each, _ in looked):
        refused = any(each.end == "refused" for each, _ in looked)
        return tuple(_kept(each) if refused else each for each, _ in looked)
    return tuple(_written(top, each, text) for each, text in looked)


def _look(top: Path, path: str) -> tuple[Put, str]:
    """What is to become of a file, and its new text."""
    steps = PurePosixPath(path)
    link = next((each for each in (*reversed(steps.parents), steps) if (top / each).is_symlink()), None)
    if link is not None:
        return Put(path, "refused", f"{link} is a symbolic link"), ""
    try:
        there = read_user_file(top / path, LARGEST).decode() if (top / path).exists() else ""
        text = with_block(there, BLOCK) if path == AGENTS_FILE else _skill(there)
    except UnicodeDecodeError:
        return Put(path, "refused", "it is not UTF-8 text"), ""
    except UserFileError as problem:
        return Put(path, "refused", f"it cannot be read: {problem}"), ""
    except OSError as error:
        return Put(path, "refused", f"it cannot be read: {error.strerror}"), ""
    except MarksError as problem:
        return Put(path, "refused", str(problem)), ""
    return (Put(path, "left", "it is up to date"), "") if text == there else (Put(path, "written"), text)


def _skill(there: str) -> str:
    """Raises ``MarksError`` for one that is not ours."""
    if there and not (there.count(START) == there.count(END) == 1):
        raise MarksError("there is another one already")
    return with_line_ends_of(there, SKILL)


def _kept(each: Put) -> Put:
    """What becomes of a file while another one is refused."""
    return each if each.end != "written" else Put(each.path, "left", "the other file is refused")


def _written(top: Path, each: Put, text: str) -> Put:
    if each.end != "written":
        return each
    try:
        (top / each.path).parent.mkdir(parents=True, exist_ok=True)
        write_whole(top / each.path, text)
    except (ArtifactError, OSError) as problem:
        return Put(each.path, "refused", str(problem))
    return each
