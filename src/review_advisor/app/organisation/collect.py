"""The composition root of ``ledger collect``: the ledgers of many repositories, out of their artifacts, into one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from review_advisor.adapters.actions import read_github
from review_advisor.adapters.clock import SystemClock
from review_advisor.adapters.github.workflow_artifacts import WorkflowArtifacts, workflow_artifacts
from review_advisor.adapters.ledger.organisation.archive import MOST_PACKED, RefusedArtifact, unpack_ledger
from review_advisor.adapters.ledger.organisation.collected import CollectedLedgers
from review_advisor.core.organisation.believed_runs import OWN_WORKFLOW, Believing
from review_advisor.core.organisation.collection import CollectedRepository
from review_advisor.core.organisation.organisation import NO_ORGANISATION, Organisation
from review_advisor.core.organisation.shelf import LEDGER_ARTIFACT, LedgerArtifact, Shelf, attempts, sort_artifacts
from review_advisor.lifetime.belongings import temporary_folder
from review_advisor.ports.forge import ForgeError, ForgeUnavailable
from review_advisor.ports.review import Clock, SourceError

_WORKFLOW = re.compile(r"\.github/workflows/[A-Za-z0-9._-]{1,100}\.ya?ml")
LIMITED = "it was not asked, because the limit of requests is reached: start again later"


@dataclass(frozen=True, slots=True)
class CollectOptions:
    """What is collected: of runs that began in a period, those of the file ``workflow``.

    ``branches`` are believed beside each default branch.
    """

    ledger: Path
    since: datetime
    until: datetime
    workflow: str = OWN_WORKFLOW
    branches: tuple[str, ...] = ()
    organisation: Organisation = field(default=NO_ORGANISATION)


def collect_ledgers(
    repositories: Sequence[str], options: CollectOptions, environ: Mapping[str, str], clock: Clock | None = None
) -> Iterator[CollectedRepository]:
    """Collect repository by repository, in the order in which they are named.

    Raises ``SourceError`` before anything is asked, if a name or the environment cannot be used, and ``LedgerError`` if
    the ledger cannot. What cannot be read of one repository does not stop the others, but for the
    limit of requests.
    """
    github, time = read_github(environ), clock or SystemClock()
    if not _WORKFLOW.fullmatch(options.workflow):
        raise SourceError("--workflow takes the path of a workflow's file, such as .github/workflows/review.yml.")
    try:
        opened = [
            (name, workflow_artifacts(name, token=github.token, api_url=github.api_url, clock=time))
            for name in {name.casefold(): name for name in repositories}.values()
        ]
    except ForgeError as problem:
        raise SourceError(str(problem)) from None
    limited = False
    with closing(CollectedLedgers(options.ledger, github.server_url)) as collected:
        for name, artifacts in opened:
            found = CollectedRepository(name, trouble=LIMITED)
            if not limited:
                reading = _Reading(name, artifacts, options, collected)
                limited = reading.read()
                found = reading.found
            yield found


class _Reading:
    """The work on one repository. ``found`` is what came of it so far."""

    def __init__(
        self, name: str, artifacts: WorkflowArtifacts, options: CollectOptions, collected: CollectedLedgers
    ) -> None:
        self.found = CollectedRepository(name)
        self._artifacts = artifacts
        self._options = options
        self._collected = collected
        renamed = options.organisation.renamed
        self._names = {name.casefold(), *(old for old, new in renamed.items() if new.casefold() == name.casefold())}

    def read(self) -> bool:
        """Collect it; whether the limit of requests is reached."""
        try:
            shelf = self._shelf()
            self.found = replace(self.found, unbelieved=shelf.unbelieved, gaps=shelf.gaps, silent=shelf.silent)
            for artifact in shelf.wanted:
                self._take(artifact)
        except ForgeError as problem:
            self.found = replace(self.found, trouble=str(problem))
            return isinstance(problem, ForgeUnavailable) and problem.wait > 0
        return False

    def _shelf(self) -> Shelf:
        identity, default = self._artifacts.repository()
        options = self._options
        believing = Believing(identity, options.workflow, {default, *options.branches})
        runs = self._artifacts.runs(options.workflow, options.since, options.until)
        numbers = attempts(run for run in runs if believing.of(run).believed)
        listed = [each for number in numbers for each in self._artifacts.artifacts(f"{LEDGER_ARTIFACT}{number}")]
        return sort_artifacts(runs, listed, believing, self._collected.known, options.until)

    def _take(self, artifact: LedgerArtifact) -> None:
        """Take in one artifact, or say why not; only a limit or a silent server ends the work on the repository."""
        found = self.found
        which = f"artifact {artifact.id} of run {artifact.run}"
        try:
            archive = self._artifacts.archive(artifact, MOST_PACKED)
            with temporary_folder("collected") as folder:
                file = unpack_ledger(archive, folder)
                folded = self._collected.take_in(file, self._names, artifact)
        except ForgeUnavailable:
            raise
        except (ForgeError, RefusedArtifact) as refusal:
            why = str(refusal).rstrip(".")
            self.found = replace(found, refused=(*found.refused, f"{which}: {why}"))
        else:
            self.found = replace(
                found,
                ledgers=found.ledgers + 1,
                added=found.added + folded.added,
                grown=found.grown + folded.grown,
                present=found.present + folded.present,
                refused=(*found.refused, *(f"{which}: {each.rstrip('.')}" for each in folded.left_out)),
            )
