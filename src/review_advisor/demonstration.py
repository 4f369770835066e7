"""What ``demo`` reviews: the last commits of a checkout, or a sample repository that it makes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from review_advisor.adapters.git.open import open_range
from review_advisor.adapters.git.sample import make_sample
from review_advisor.core.facts.kinds import changed_code_lines
from review_advisor.core.policy.trigger import MANY_CODE_LINES
from review_advisor.ports import SourceError

LONGEST = 20
MOST_LINES = 4_000


@contextmanager
def demonstration_range(repo: Path) -> Iterator[tuple[Path, str, str]]:
    """A repository, a range in it and words for it: the shortest range of last commits that deserves a plan.

    Without one (no repository, a single commit, commits too small or too large to show much) a sample
    repository is made in a temporary folder and removed afterwards.
    """
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
            yield repo, revisions, f"the last {count} commit{'s' if count > 1 else ''} of {repo.resolve()}"
            return
    with tempfile.TemporaryDirectory(prefix="review-advisor-sample-") as folder:
        yield Path(folder), make_sample(Path(folder)), "a sample repository made for this demonstration"
