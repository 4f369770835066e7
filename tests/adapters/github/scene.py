"""A repository on the simulated GitHub, and the adapter in front of it: what the tests of the adapter begin with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.adapters.github.door import Door, opened

from review_advisor.github.client import GitHubForge, connect
from review_advisor.github.writes import Annotation, Check, Conclusion
from review_advisor.mockworld.fake_forge import FakeForge
from review_advisor.mockworld.github import READING_ABILITIES, WORKFLOW_ABILITIES, GitHub
from review_advisor.mockworld.github_records import CheckRun, Pull, Token
from review_advisor.mockworld.world import FakeClock

REPOSITORY = "octo/app"
ABILITIES = WORKFLOW_ABILITIES | {"contents:write", "members:read"}
"""With what resolving threads and asking teams takes."""

HOSTILE_NAMES = (
    "src/\U0001f600 smile.py",
    "src/\u202egnp.exe",
    "src/zero\u200bwidth.py",
    "src/a b?c#d%2F&e;f.py",
    "src/~'\"<>&.py",
)
PATCH = "@@ -1,2 +1,3 @@\n one\n-two\n+TWO\n+three"
APPROVED = Check("review-advisor", "pr-1", "Approved", "All is well.", Conclusion.SUCCESS)


@dataclass
class Scene:
    """``forge`` is the adapter, ``fake`` MockWorld's own forge on the same GitHub: what they read must agree."""

    github: GitHub
    door: Door
    forge: GitHubForge
    fake: FakeForge

    def opens(self, **difference: Any) -> Pull:
        """A pull request by mona, unless said otherwise."""
        return self.github.opens(REPOSITORY, **{"by": "mona", **difference})

    def runs(self) -> list[CheckRun]:
        """All check runs, the oldest first."""
        return list(self.github.repository(REPOSITORY).checks.values())

    def check(self, check_id: int) -> CheckRun:
        """One check run."""
        return self.github.repository(REPOSITORY).checks[check_id]

    def as_app(self, slug: str) -> GitHubForge:
        """The adapter with the token of another app."""
        return _connected(self.door, self.github.app_token(slug))

    def reading(self) -> GitHubForge:
        """The adapter with a token that may only read, as on a pull request from a fork."""
        return _connected(self.door, self.github.app_token("reader", READING_ABILITIES))


@contextmanager
def open_scene() -> Iterator[Scene]:
    """GitHub with one repository of an organisation; every request is held against GitHub's description."""
    github = GitHub()
    github.user("mona")
    github.user("octo", kind="Organization")
    github.opens_repository(REPOSITORY, organization=True)
    token = github.workflow_token(ABILITIES)
    with opened(github) as door:
        yield Scene(github, door, _connected(door, token), FakeForge(github, REPOSITORY, token.account))


def annotated(annotations: tuple[Annotation, ...]) -> Check:
    """A check that fails with these annotations."""
    return Check("review-advisor", "pr-1", "Changes requested", "See below.", Conclusion.FAILURE, annotations)


def _connected(door: Door, token: Token) -> GitHubForge:
    return connect(REPOSITORY, token=token.value, api_url=door.url, clock=FakeClock())
