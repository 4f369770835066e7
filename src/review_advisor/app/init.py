"""What ``init`` puts into a repository: the workflow that reviews its pull requests, and a commented configuration."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from pydantic import BaseModel

from review_advisor.adapters.git.run import Git, find_git
from review_advisor.adapters.user_file import LARGEST, UserFileError, read_user_file
from review_advisor.adapters.worktree import WorkFolder
from review_advisor.app.settings import CONFIG_FILE, TABLE, Config, has_table, without_links
from review_advisor.core.facts.files.paths import PYPROJECT
from review_advisor.ports.review import SourceError

WORKFLOW_FILE = ".github/workflows/review-advisor.yml"
EVALUATION_FILE = ".github/workflows/review-advisor-eval.yml"
_TEMPLATE = Path(__file__).parents[1] / "templates" / "review-advisor.yml"
_PLACE = "REVIEW_ADVISOR_ACTION"
_ACTION = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}@[0-9a-f]{40}")
_PINNED_USE = re.compile(rf"^( *+(?:- )?uses: )(?!actions/){_ACTION.pattern}(?: #.*)?$", re.MULTILINE)
_REMOTE = re.compile(r"(?:https://(?:[^/@]+@)?[^/]+/|ssh://[^/]+/|[\w.-]+@[\w.-]+:)([\w.-]+/[\w.-]+?)(?:\.git)?/?")
_ABOUT = """\
# Settings of review-advisor, with their defaults: remove the # of a line to change it. `fail_on` is set already.
# Reviews read this file from the base branch: no pull request can configure its own review.
# More on each: docs/configuration.md in the repository of the action that your workflow runs.
"""


class StarterError(ValueError):
    """``init`` cannot tell what to write, or where. One or two sentences for the user."""


@dataclass(frozen=True, slots=True)
class Put:
    """What became of one file. ``says`` is why it was not written; empty if it was (or would be)."""

    path: str
    end: Literal["written", "left", "refused"]
    says: str = ""


def action_named(name: str) -> str:
    """The action, ``OWNER/REPOSITORY@COMMIT``, checked; empty means the one that this program was installed from.

    Raises ``StarterError``. A tag or a branch is refused: whoever moves it would run code in the user's workflow.
    """
    if not name:
        found = _own_action()
        if found is None:
            raise StarterError(
                "This installation does not know which published commit it is. Name the action's commit: "
                "--ref OWNER/REPOSITORY@COMMIT, with all forty digits."
            )
        return found
    if not _ACTION.fullmatch(name):
        raise StarterError(
            "--ref takes OWNER/REPOSITORY@COMMIT, with all forty digits of the commit: no tag, no branch."
        )
    return name


def starter_files(action: str, *, shadow: bool = False) -> dict[str, str]:
    """Every file by its path in the repository, in the order in which they are written."""
    return {WORKFLOW_FILE: workflow_text(action), CONFIG_FILE: config_text(shadow=shadow)}


def workflow_text(action: str) -> str:
    """The workflow, running this very action."""
    return _TEMPLATE.read_text(encoding="utf-8").replace(_PLACE, action)


def evaluation_text(action: str) -> str:
    """The workflow that reviews golden cases on several machines, with this very program."""
    repository, _, commit = action.partition("@")
    text = _TEMPLATE.with_name("review-advisor-eval.yml").read_text(encoding="utf-8")
    return text.replace("REVIEW_ADVISOR_REPOSITORY", repository).replace("REVIEW_ADVISOR_COMMIT", commit)


def config_text(*, shadow: bool = False) -> str:
    """A configuration file in which every setting is explained. Set are ``fail_on`` and, with ``shadow``, the mode.

    Its check is meant to be required, so an approval that nobody judged does not pass it.
    """
    text = "\n".join([_ABOUT, *_settings(Config, ()), ""]).replace('#fail_on = "verdict"', 'fail_on = "degraded"')
    return text.replace('#mode = "enforce"', 'mode = "shadow"') if shadow else text


def put_files(top: Path, files: dict[str, str], *, dry_run: bool) -> tuple[Put, ...]:
    """Write the missing files; replace nothing, and follow no symbolic link.

    ``top`` is the root of the user's repository. With ``dry_run`` nothing is written.
    """
    return tuple(_put(top, path, text, dry_run=dry_run) for path, text in files.items())


def drift(installed: str) -> str | None:
    """Where an installed workflow differs from what this version writes, as a phrase; None if nowhere.

    Another commit of the action is no difference; a tag or a branch is one.
    """
    there = _PINNED_USE.sub(rf"\g<1>{_PLACE}", installed).splitlines()
    ours = _TEMPLATE.read_text(encoding="utf-8").splitlines()
    changed: list[str] = []
    missing = 0
    for kind, first, last, start, end in SequenceMatcher(None, ours, there, autojunk=False).get_opcodes():
        if kind == "delete":
            missing += last - first
        elif kind != "equal":
            changed.append(f"{start + 1}" if end == start + 1 else f"{start + 1}-{end}")
    said = [f"not as it was written: line {', '.join(changed)}"] if changed else []
    said += [f"lines taken out: {missing}"] if missing else []
    return "; ".join(said) or None


def _put(top: Path, path: str, text: str, *, dry_run: bool) -> Put:
    if path == CONFIG_FILE and _configured_in_pyproject(top):
        return Put(path, "left", f"{PYPROJECT} has a table [tool.{TABLE}], which this file would override")
    steps = PurePosixPath(path)
    link = next((each for each in reversed(steps.parents) if (top / each).is_symlink()), None)
    if link is not None:
        return Put(path, "refused", f"{link} is a symbolic link")
    if (top / path).is_symlink() or (top / path).exists():
        return Put(path, "left", "there is one already")
    if dry_run:
        return Put(path, "written")
    problem = WorkFolder(top, str(steps.parent)).store(steps.name, text)
    return Put(path, "written") if problem is None else Put(path, "refused", problem)


def _configured_in_pyproject(top: Path) -> bool:
    try:
        return has_table(read_user_file(top / PYPROJECT, LARGEST).decode("utf-8", "replace"))
    except UserFileError:
        return False


def _settings(table: type[BaseModel], above: tuple[str, ...]) -> Iterator[str]:
    """The lines of a table: its own settings first, then the tables in it."""
    inner: list[tuple[str, type[BaseModel], str]] = []
    for name, field in table.model_fields.items():
        default = field.get_default(call_default_factory=True)
        if isinstance(default, BaseModel):
            inner.append((name, type(default), field.description or ""))
            continue
        yield f"# {without_links(field.description or '')}"
        yield f"#{name} = {_toml(default)}" if default is not None else f"# {name}: not set"
        yield ""
    for name, kind, description in inner:
        yield f"# {without_links(description)}"
        yield f"[{'.'.join((*above, name))}]"
        yield ""
        yield from _settings(kind, (*above, name))


def _toml(value: Any) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


def _own_action() -> str | None:
    """The published commit that this program was installed from, by pip's record or by the checkout it runs in."""
    try:
        record = distribution("review-advisor").read_text("direct_url.json")
        known = json.loads(record or "{}")
    except (PackageNotFoundError, ValueError):
        known = {}
    repository = repository_of(str(known.get("url", "")))
    commit = known.get("vcs_info", {}).get("commit_id", "")
    if repository is None or not commit:
        repository, commit = published_commit(Path(__file__).resolve().parents[3])
    action = f"{repository}@{commit}"
    return action if _ACTION.fullmatch(action) else None


def published_commit(folder: Path) -> tuple[str | None, str]:
    """The repository that a checkout was cloned from, and its commit; None and "" if it was not pushed."""
    if not (folder / ".git").exists():
        return None, ""
    try:
        git = Git(find_git(folder), folder)
        commit = git.run("rev-parse", "--verify", "HEAD").decode().strip()
        origin = git.run("config", "--get", "remote.origin.url").decode("utf-8", "replace").strip()
        published = git.run("for-each-ref", "--count=1", "--contains", commit, "refs/remotes/origin")
    except SourceError:
        return None, ""
    return (repository_of(origin), commit) if published else (None, "")


def repository_of(url: str) -> str | None:
    """``owner/name`` of a remote's URL on a forge; None for any other."""
    found = _REMOTE.fullmatch(url)
    return found[1] if found else None
