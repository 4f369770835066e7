"""Critical paths: where a wrong approval costs most. Defaults that mean something in any repository, or one's own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from review_advisor.core.facts.change import FileChange
from review_advisor.core.facts.files.kinds import MEDIA, Kind, kind_of_path
from review_advisor.core.facts.files.paths import PathRule, path_words, touched_paths

_NEVER_BY_NAME = (Kind.DOCS, Kind.TESTS)


@dataclass(frozen=True, slots=True)
class CriticalPaths:
    """Globs, which always hold, and the product's own names, which never mean documentation, tests or media.

    ``words``, and their plurals, are compared with the whole words of each part of a path: ``auth`` is in
    ``user_auth.py``, not in ``author.py``.
    """

    globs: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def matches(self, path: str) -> bool:
        """Whether ``path`` is critical."""
        if PathRule(self.globs).matches(path):
            return True
        wanted = frozenset((*self.words, *(f"{word}s" for word in self.words)))
        named = any(path_words(part) & wanted for part in path.split("/")) or PathRule(self.names).matches(path)
        return named and kind_of_path(path) not in _NEVER_BY_NAME and not MEDIA.matches(path)

    def because(self, path: str) -> tuple[str, ...]:
        """The globs, names and words by which ``path`` is critical; none if it is not."""
        if not self.matches(path):
            return ()
        globs = [each for each in (*self.globs, *self.names) if PathRule((each,)).matches(path)]
        inside = {word for part in path.split("/") for word in path_words(part)}
        return (*globs, *(word for word in self.words if inside & {word, f"{word}s"}))

    def touched_by(self, files: Iterable[FileChange]) -> tuple[str, ...]:
        """The critical paths of these files (see ``touched_paths``)."""
        return touched_paths(files, self.matches)


_WORDS = (
    "auth authn authz authentication authorization oauth oidc saml sso jwt login session token password permission"
    " security crypto secret credential csrf payment billing"
)
_PLACES = (
    ".gitlab-ci.yml Jenkinsfile Dockerfile* docker-compose*.y*ml *.tf *.tfvars **/migrations/ **/db/migrate/"
    " **/infra/ **/terraform/ **/k8s/ **/helm/ **/deploy/ CODEOWNERS .gitattributes .gitmodules"
)
CRITICAL_PATHS_ADR = CriticalPaths(
    names=tuple(_PLACES.split()),
    words=tuple(_WORDS.split()),
)
"""What is critical in any repository, unless the configuration says otherwise."""

_OF_HYDRAFLOW = (
    "/src/orchestrator.py /src/service_registry.py /src/coordinator.py /src/review_phase.py"
    " /src/review_advisor.py /src/persistence/ /src/state/ /src/*_loop.py"
)
CRITICAL_PATHS_HYDRAFLOW = CriticalPaths(globs=tuple(_OF_HYDRAFLOW.split()))
"""ADR-0059's own list (profile ``hydraflow``)."""
