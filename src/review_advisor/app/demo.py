"""What ``demo`` reviews: the last commits of a checkout, or a sample repository that it makes."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from review_advisor.adapters.git.open import open_range
from review_advisor.adapters.git.sample import make_sample
from review_advisor.core.facts.kinds import changed_code_lines
from review_advisor.core.policy.trigger import MANY_CODE_LINES
from review_advisor.lifetime.belongings import temporary_folder
from review_advisor.ports.review import SourceError

LONGEST = 20
MOST_LINES = 4_000


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A repository, a range in it and words for it. ``real_command`` is how the real models review such a range."""

    repo: Path
    revisions: str
    words: str
    real_command: str


@contextmanager
def demonstration_range(repo: Path) -> Iterator[Demonstration]:
    """The shortest range of ``repo``'s last commits that deserves a plan.

    Without one (no repository, a single commit, commits too small or too large to show much) a sample
    repository is made in a temporary folder and removed afterwards. Raises ``SourceError`` if ``repo`` is no folder.
    """
    if not repo.is_dir():
        raise SourceError(f"{repo} is not a folder: give the path of a git repository.")
    revisions, count = _worthy_range(repo)
    if revisions:
        where = "" if repo == Path() else f" --repo {shlex.quote(str(repo))}"
        words = f"the last {count} commit{'s' if count > 1 else ''} of {repo.resolve()}"
        yield Demonstration(repo, revisions, words, f"review-advisor review{where} --range {revisions}")
        return
    with temporary_folder("sample") as folder:
        words = "a sample repository made for this demonstration"
        yield Demonstration(folder, make_sample(folder), words, "review-advisor review --base main, in a repository")


def _worthy_range(repo: Path) -> tuple[str, int]:
    for count in range(1, LONGEST + 1):
        revisions = f"HEAD~{count}..HEAD"
        try:
            source = open_range(repo, revisions)
        except SourceError:
            break
        try:
            lines = changed_code_lines(source.change().files)
        finally:
            source.close()
        if MANY_CODE_LINES < lines <= MOST_LINES:
            return revisions, count
    return "", 0
