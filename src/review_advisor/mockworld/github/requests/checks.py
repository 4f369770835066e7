"""Requests about check runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from review_advisor.core.pull_request.writes import ANNOTATIONS_PER_REQUEST, Annotation, Check
from review_advisor.mockworld.github.records import CheckRun
from review_advisor.mockworld.github.requests.access import Access, not_too_long
from review_advisor.mockworld.github.traffic import RefusedRequest, invalid, missing, refused

_LONGEST_TITLE = 255
_LONGEST_MESSAGE = 64 * 1024


@dataclass(frozen=True, slots=True)
class CheckValues:
    """What a request says of a check run; None is left as it is."""

    name: str | None = None
    external_id: str | None = None
    status: str | None = None
    conclusion: str | None = None
    title: str | None = None
    summary: str | None = None
    details_url: str | None = None
    annotations: Sequence[Annotation] = ()


class CheckRequests(Access):
    """Check runs as one token reaches them."""

    def of_commit(self, sha: str, name: str) -> tuple[CheckRun, ...]:
        """Every check run of this name on a commit, the newest first."""
        with self.request("list check runs", "checks:read") as repository:
            found = [run for run in repository.checks.values() if (run.commit, run.name) == (sha, name)]
            return tuple(reversed(found))

    def annotations(self, check_id: int) -> tuple[Annotation, ...]:
        """The annotations of a check run, in the order they came."""
        with self.request("list annotations", "checks:read") as repository:
            return tuple(_known(repository.checks.get(check_id)).annotations)

    def create(self, commit: str, values: CheckValues) -> CheckRun:
        """Make a check run."""
        with self.request("create check run", "checks:write") as repository:
            app = self._app()
            if commit not in self.github.objects.commits:
                raise refused(f"No commit found for SHA: {commit}")
            if not values.name:
                raise invalid("name is missing")
            _check(values)
            github = self.github
            run = CheckRun(
                github.next_id(), values.name, commit, app, values.external_id or "", "queued", None, github.tick()
            )
            self._set(run, values)
            repository.checks[run.id] = run
            return run

    def update(self, check_id: int, values: CheckValues) -> CheckRun:
        """Change a check run; its annotations grow by those of the request."""
        with self.request("update check run", "checks:write") as repository:
            app = self._app()
            run = _known(repository.checks.get(check_id))
            if run.app != app:
                raise RefusedRequest(403, f"Invalid app_id `{app}` - check run can only be modified by its own app.")
            _check(values)
            self._set(run, values)
            return run

    def _app(self) -> str:
        if self.token.app is None:
            raise RefusedRequest(403, "You must authenticate via a GitHub App.")
        return self.token.app

    def _set(self, run: CheckRun, values: CheckValues) -> None:
        run.name = values.name or run.name
        run.external_id = values.external_id if values.external_id is not None else run.external_id
        run.details_url = values.details_url or run.details_url
        run.title = values.title if values.title is not None else run.title
        run.summary = values.summary if values.summary is not None else run.summary
        run.annotations.extend(values.annotations)
        if values.conclusion is not None:
            self.github.tick()
            run.status, run.conclusion = "completed", values.conclusion
        elif values.status is not None:
            run.status, run.conclusion = values.status, None


def _known(run: CheckRun | None) -> CheckRun:
    if run is None:
        raise missing()
    return run


def _check(values: CheckValues) -> None:
    """The rules for a check run's values. Raises GitHub's 422."""
    if values.status == "completed" and values.conclusion is None:
        raise invalid("a completed check run needs a conclusion")
    if len(values.annotations) > ANNOTATIONS_PER_REQUEST:
        raise invalid(f"annotations exceeds a maximum quantity of {ANNOTATIONS_PER_REQUEST}")
    not_too_long(values.summary or "", "summary")
    for each in values.annotations:
        if not 1 <= each.start_line <= each.end_line:
            raise invalid("annotations: start_line must be at least 1 and at most end_line")
        if len(each.title) > _LONGEST_TITLE or len(each.message.encode()) > _LONGEST_MESSAGE or not each.message:
            raise invalid("annotations: a title has at most 255 characters, a message at most 64 KB and is not empty")


def values_of(check: Check) -> CheckValues:
    """What a request says that brings one of ``in_requests`` about."""
    return CheckValues(
        name=check.name,
        external_id=check.external_id,
        status="in_progress" if check.conclusion is None else "completed",
        conclusion=check.conclusion and check.conclusion.value,
        title=check.title,
        summary=check.summary,
        details_url=check.details_url,
        annotations=check.annotations,
    )
