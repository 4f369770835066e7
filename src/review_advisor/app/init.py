"""`init`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import click
from pydantic import BaseModel

from review_advisor.app.options import REPO
from review_advisor.app.terminal import NOTHING_ASKED, ExitWithCode, clear_refusals, put
from review_advisor.change.change import SourceError
from review_advisor.change.git import Git, find_git
from review_advisor.change.kinds import PYPROJECT
from review_advisor.change.work_folder import WorkFolder
from review_advisor.ledger.artifacts import write_whole
from review_advisor.policy.settings import CONFIG_FILE, TABLE, Config, has_table, without_links
from review_advisor.review.ports import ArtifactError
from review_advisor.safety.files import LARGEST, UserFileError, read_user_file
from review_advisor.tasks.run_files import (
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

_CREDENTIAL = """\

Next steps on GitHub:
  1. Store the model credential: a repository secret named ANTHROPIC_API_KEY.
"""


_SHADOW = """\
  2. Commit the files to the default branch, and open a pull request to see the check "review-advisor (shadow)" on it.
  3. Require neither that check nor review-advisor: in shadow mode nothing is enforced.
  4. Watch for some weeks what would have been. Then set mode = "enforce", and require the check review-advisor.
"""


_GATE = """\
  2. Commit the files to the default branch, and open a pull request to see the check review-advisor on it.
  3. Require that check, by its name, in a ruleset of the default branch. A job's name is not the gate.
  4. Anybody who may push a branch can forge a check that GitHub Actions makes. Let a GitHub App of your own publish it,
     and require the check from that app.
  5. review-advisor doctor --github OWNER/NAME looks at all of it. init does not ask GitHub who may push: if you
     are the only one, set github.self_settle to "admins", or you cannot settle the review of your own work.
  6. To watch the bot before it decides anything, set mode = "shadow", which init --shadow does.
"""


_TERMINAL = """\

Before a push, the same review from a Makefile (it passes on exit code 0 only):

    quality:
    \treview-advisor review --base origin/main --gate
"""


@click.command()
@REPO
@click.option(
    "--ref",
    default="",
    metavar="OWNER/NAME@SHA",
    help="The commit of the action that the workflow runs. [default: the one that this program was installed from]",
)
@click.option(
    "--agent",
    type=click.Choice(["claude-code"]),
    help="Write instead a skill for this coding agent, and a block in AGENTS.md: when to ask an advisor.",
)
@click.option("--shadow", is_flag=True, help="Set the mode to shadow: reviews are shown, and nothing is enforced.")
@click.option("--evaluation", is_flag=True, help="Write instead the workflow that evaluates golden cases.")
@click.option("--dry-run", is_flag=True, help="Print what would be written, and write nothing.")
@click.pass_context
def init(
    context: click.Context,
    repo: Path,
    ref: str,
    agent: str | None,
    shadow: bool,
    evaluation: bool,
    dry_run: bool,
) -> None:
    """Write .review-advisor.toml and .github/workflows/review-advisor.yml.

    The configuration is commented and sets fail_on = "degraded" alone, with --shadow the mode, too. Existing files stay
    as they are; --agent rewrites only its own block. Exit code 0 if every file is there afterwards, else 2.
    """
    from review_advisor.app.agent_choice import repository_top
    from review_advisor.policy.settings import CONFIG_FILE
    from review_advisor.safety.terminal import printable

    with clear_refusals():
        top = repository_top(repo)
    if not (top / ".git").exists():
        raise ExitWithCode(printable(f"{repo} is not in a git repository."), NOTHING_ASKED)
    words = {"written": "would write" if dry_run else "wrote", "left": "left", "refused": "REFUSED"}
    if agent is not None:
        if ref or shadow or evaluation:
            raise click.UsageError("--agent excludes --ref, --shadow and --evaluation, which are about workflows.")
        told = put_agent_files(top, dry_run=dry_run)
        put("".join(f"{words[each.end]:<11}  {each.path}{': ' if each.says else ''}{each.says}\n" for each in told))
        context.exit(NOTHING_ASKED if any(each.end == "refused" for each in told) else 0)
    try:
        action = action_named(ref)
        files = {EVALUATION_FILE: evaluation_text(action)} if evaluation else starter_files(action, shadow=shadow)
    except StarterError as problem:
        raise ExitWithCode(printable(str(problem)), NOTHING_ASKED) from None
    done = put_files(top, files, dry_run=dry_run)
    for each in done:
        put(f"{words[each.end]:<11}  {each.path}{': ' if each.says else ''}{each.says}\n")
        if dry_run and each.end == "written":
            put("".join(f"    {line}\n" if line else "\n" for line in files[each.path].splitlines()))
    if evaluation:
        put("\nStart it on GitHub under Actions. Live answers need the repository secret ANTHROPIC_API_KEY.\n")
        context.exit(NOTHING_ASKED if any(each.end == "refused" for each in done) else 0)
    put(_CREDENTIAL + (_SHADOW if shadow else _GATE) + _TERMINAL)
    if shadow and any(each.path == CONFIG_FILE and each.end == "left" for each in done):
        put('\nYour configuration was left as it is: write mode = "shadow" into it yourself, above its first table.\n')
    context.exit(NOTHING_ASKED if any(each.end == "refused" for each in done) else 0)


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
