"""Path rules as gitignore-style globs, matched on normalised paths, both sides of a rename, any case."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from pathspec import GitIgnoreSpec
from pydantic import AfterValidator

from review_advisor.core.facts.change import FileChange

_OWN_ANYWHERE = (
    ".review-advisor.toml .review-advisor .claude .mcp.json CLAUDE.md REVIEW.md /src/review_advisor.py"
    " /src/review_phase.py"
)
OWN_IMPLEMENTATION_ANYWHERE: tuple[str, ...] = tuple(_OWN_ANYWHERE.split())
"""The bot in any repository: config, advisors, agents, prompts, rules, the ADR's two files. See ``workflows``."""

_OWN_HERE = "/src/review_advisor /action.yml /Makefile /pyproject.toml /requirements /tools /.ci"
OWN_IMPLEMENTATION_HERE: tuple[str, ...] = tuple(_OWN_HERE.split())
"""What is added to it in the bot's own repository: the package, its build, its pins."""

OWN_PIPELINE = "src/review_advisor/review/phase.py"
"""A repository that holds this file, on either side, is the bot's own."""
OWN_NAME = "review-advisor"
PYPROJECT = "pyproject.toml"


def may_configure(pyproject: bytes | None) -> bool:
    """Whether a ``pyproject.toml`` of this content may configure the bot; None where there is none."""
    return OWN_NAME.encode() in (pyproject or b"")


LOOKED_UP_TOGETHER: tuple[str, ...] = (".review-advisor.toml", PYPROJECT, OWN_PIPELINE)
"""Every review looks for these in the trees that it compares."""


_TELLS_WHAT_TO_DO = (
    ".github .gitea .forgejo .gitlab .gitlab-ci*.y*ml .circleci Jenkinsfile* *.Jenkinsfile .travis.y*ml"
    " azure-pipelines*.y*ml .azure-pipelines .azuredevops bitbucket-pipelines.y*ml .drone.* .buildkite .woodpecker"
    " .woodpecker.y*ml appveyor.y*ml .appveyor.y*ml .cirrus.* .semaphore .teamcity .tekton .builds .build.y*ml"
    " buildspec*.y*ml cloudbuild*.y*ml action.yml action.yaml CODEOWNERS .gitattributes .gitmodules .gitignore"
    " .gitconfig .lfsconfig .husky .pre-commit-config.yaml .vscode .idea .devcontainer .envrc .npmrc .pypirc"
    " AGENTS.md GEMINI.md CLAUDE.local.md .cursor .cursorrules .windsurf .windsurfrules .clinerules .gemini .codex"
    " .agents"
)
NEVER_REPAIRED: tuple[str, ...] = tuple(_TELLS_WHAT_TO_DO.split())
"""What no repair may touch, next to the bot's own implementation: it tells CI, git, editors or agents what to do."""


def literal(path: str) -> str:
    """A pattern that matches ``path`` and nothing else, whatever glob characters it holds."""
    return re.sub(r"([\\*?\[\]!# ])", r"\\\1", path)


def globs_of(patterns: Iterable[str]) -> GitIgnoreSpec:
    """The patterns, each to be compared with paths as git compares it; ``ValueError`` or ``re.error`` if one cannot be.

    Signs such as ``[`` in a class are what they are: Python warns that its own expressions may read them otherwise.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return GitIgnoreSpec.from_lines(patterns)


def is_readable_glob(pattern: str) -> bool:
    """Whether a pattern can be compared with paths, as it is and in small letters. A blank one or a comment can."""
    try:
        globs_of([pattern, pattern.casefold()])
    except (ValueError, re.error):
        return False
    return True


def _readable(glob: str) -> str:
    if not is_readable_glob(glob):
        raise ValueError("it is not a glob")
    return glob


Glob = Annotated[str, AfterValidator(_readable)]
"""A glob of a configuration."""


def is_glob(pattern: str) -> bool:
    """Whether a pattern can match a path at all, or take one out again."""
    return is_readable_glob(pattern) and any(each.include is not None for each in globs_of([pattern]).patterns)


_PLAIN = re.compile(r"\*?[a-z0-9_.-]*[a-z0-9][a-z0-9_.-]*")
"""A pattern that names a file or folder at any depth, whole or by its end."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@lru_cache(maxsize=1_024)
def path_words(part: str) -> frozenset[str]:
    """The words of one part of a path, in small letters: of ``AuthToken_v2.py`` they are auth, token, v and py."""
    return frozenset(map(str.casefold, _WORD.findall(part)))


@lru_cache(maxsize=64)
def _compiled(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    return globs_of(p.casefold() for p in patterns)


@lru_cache(maxsize=64)
def _by_form(patterns: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...], tuple[str, ...]]:
    """Whole names, ends of names, and the patterns that take more than a comparison: all of them if one takes out."""
    if any(pattern.startswith("!") for pattern in patterns):
        return frozenset(), (), patterns
    plain = [pattern for pattern in map(str.casefold, patterns) if _PLAIN.fullmatch(pattern)]
    ends = tuple(pattern[1:] for pattern in plain if pattern.startswith("*"))
    others = tuple(pattern for pattern in patterns if not _PLAIN.fullmatch(pattern.casefold()))
    return frozenset(pattern for pattern in plain if not pattern.startswith("*")), ends, others


@lru_cache(maxsize=1_024)
def _covered(patterns: tuple[str, ...], path: str) -> bool:
    names, ends, others = _by_form(patterns)
    parts = path.split("/")
    if not names.isdisjoint(parts) or any(part.endswith(ends) for part in parts):
        return True
    return bool(others) and _compiled(others).match_file(path)


def touched_paths(files: Iterable[FileChange], matches: Callable[[str], bool]) -> tuple[str, ...]:
    """The paths for which ``matches`` holds among both sides of every file, in order, each once.

    A symlink or a submodule that takes the place of such a folder counts as that folder.
    """
    hits: dict[str, None] = {}
    for file in files:
        as_folder = file.is_symlink or file.is_submodule
        hits.update((path, None) for path in file.paths if matches(path) or (as_folder and matches(f"{path}/x")))
    return tuple(hits)


@dataclass(frozen=True, slots=True)
class PathRule:
    """A list of globs. A pattern without a slash matches at any depth; a folder matches all below it."""

    patterns: tuple[str, ...]

    def matches(self, path: str) -> bool:
        """Whether ``path`` (forward slashes, relative) is covered, in any case."""
        return _covered(self.patterns, path.casefold())

    def touched_by(self, files: Iterable[FileChange]) -> tuple[str, ...]:
        """The covered paths of these files (see ``touched_paths``)."""
        return touched_paths(files, self.matches)


@lru_cache(maxsize=64)
def _by_depth(patterns: tuple[str, ...]) -> tuple[tuple[int, tuple[str, ...]], ...]:
    names = [pattern for pattern in patterns if not pattern.endswith("/")]
    depths = {pattern: pattern.removeprefix("**/").count("/") + 1 for pattern in names}
    return tuple((depth, tuple(p for p in names if depths[p] == depth)) for depth in sorted(set(depths.values())))


@lru_cache(maxsize=64)
def _folders(patterns: tuple[str, ...]) -> PathRule:
    return PathRule(tuple(pattern for pattern in patterns if pattern.endswith("/")))


@dataclass(frozen=True, slots=True)
class NameRule:
    """A list of globs of file names at any depth. Only a pattern that ends in a slash matches a folder."""

    patterns: tuple[str, ...]

    def matches(self, path: str) -> bool:
        """Whether the name of ``path``, or a folder of it that a pattern names as one, is covered, in any case."""
        if _folders(self.patterns).matches(path):
            return True
        parts = path.split("/")
        names = _by_depth(self.patterns)
        # The whole pattern has to match the tail, so that its last part cannot match a folder.
        return any(PathRule(globs).matches("/".join(parts[-depth:])) for depth, globs in names if len(parts) >= depth)
