"""Recorded reviews played again as a whole, under any configuration: their recordings answer, and nobody else."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from review_advisor.adapters.answers.recording_agents import RecordingAgents
from review_advisor.adapters.clock import ReplayClock
from review_advisor.adapters.git.open import open_range
from review_advisor.adapters.git.source import About, GitSource
from review_advisor.adapters.pictures.pairs import ComparedPictures
from review_advisor.adapters.price_file import read_prices
from review_advisor.adapters.worktree import NoFolder
from review_advisor.app.base_checks import installed
from review_advisor.app.configuration import load_config, load_settings
from review_advisor.app.diagnosis.recordings import read_recorded
from review_advisor.app.evaluation.replay_ledger import Replayed, finished_review, newest_runs
from review_advisor.app.roster.of_source import declares_of
from review_advisor.app.settings import Settings
from review_advisor.app.shadows.instruction_texts import load_instructions
from review_advisor.core.facts.checker_settings import languages_of
from review_advisor.core.ledger.chain import LedgerError
from review_advisor.core.ledger.recorded_call import Recording
from review_advisor.core.ledger.runs import RunFilter
from review_advisor.core.metrics.prices import Price
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import Event, PolicyFrozen, Repaired
from review_advisor.core.policy.static_review import PYTHON
from review_advisor.core.pull_request.counterfactual.counterfactual_table import ReviewUnderBoth
from review_advisor.core.pull_request.counterfactual.pull_request_otherwise import posted_anew
from review_advisor.core.pull_request.counterfactual.review_otherwise import Otherwise
from review_advisor.core.pull_request.counterfactual.would_ask import WouldAsk
from review_advisor.core.roles.reply_cache import RunNames
from review_advisor.ports.review import Ports, SourceError
from review_advisor.review.matter import ReviewRequest
from review_advisor.review.phase import ReviewPhase


@dataclass(frozen=True, slots=True)
class RecordedPlace:
    """Where recorded runs are: their ledger, the artefacts beside which their calls lie, and their repository."""

    ledger: Path
    artifacts: Path
    repo: Path


@dataclass(frozen=True, slots=True)
class _Nowhere:
    """Takes what a review writes, and keeps nothing."""

    def write(self, name: str, text: str) -> None:
        """An artefact."""

    def record(self, event: Event) -> None:
        """An event."""


def replay_recorded(
    place: RecordedPlace, wanted: RunFilter, run_id: str | None, config: Path | None, environ: Mapping[str, str]
) -> tuple[Replayed, tuple[Price, ...]]:
    """The run, or all that are wanted, under the configuration and the switches of ``environ``.

    Beside them the prices by which calls of the newest are estimated. Of all runs, those that cannot be played again
    are left out. Raises ``LedgerError``, ``ConfigError``, ``SwitchError`` and, of one run, ``SourceError``.
    """
    if run_id is not None:
        review, prices = _replayed(place, run_id, config, environ)
        return Replayed((review,), (), more=False), prices
    names, more = newest_runs(place.ledger, wanted)
    reviews: list[ReviewUnderBoth] = []
    left_out: list[str] = []
    prices = read_prices()
    for name in names:
        try:
            review, prices = _replayed(place, name, config, environ)
        except (LedgerError, SourceError) as problem:
            left_out.append(str(problem))
        else:
            reviews.append(review)
    return Replayed(tuple(reviews), tuple(left_out), more=more), prices


def _replayed(
    place: RecordedPlace, run_id: str, config: Path | None, environ: Mapping[str, str]
) -> tuple[ReviewUnderBoth, tuple[Price, ...]]:
    document = finished_review(place.ledger, run_id)
    first = _replayable(document)
    recording = read_recorded(place.artifacts, first.run_id)
    sides, rules = f"{first.base_sha}..{first.head_sha}", first.rules_sha or ""
    source = open_range(place.repo, sides, About(title=first.title), rules)
    with closing(source):
        settings = load_settings(place.repo, config, source.base_file, environ, None, declares=declares_of(source))
        was, now = (load_config(place.repo, named, source.base_file)[0].github for named in (None, config))
        prices = settings.prices.beside(read_prices())
        found = _played(first, recording, source, settings, prices)
    (posted_before,), (posted,) = posted_anew([document], was), posted_anew([found.document], now)
    return ReviewUnderBoth(document, found, posted_before, posted), prices


def _replayable(document: OutcomeDocument) -> PolicyFrozen:
    """What began a review whose questions can be made again. Raises ``LedgerError`` for any other."""
    first, run = document.events[0], f"The run {document.run_id}"
    if not isinstance(first, PolicyFrozen) or first.base_sha is None or first.head_sha is None:
        raise LedgerError(f"{run} is of no two commits, so its questions cannot be made again.")
    if first.pull_request is not None:
        raise LedgerError(f"{run} is of a pull request: what GitHub told of it is not recorded. Leave --recorded out.")
    if any(isinstance(each, Repaired) for each in document.events):
        raise LedgerError(f"{run} has a repair, and edits are not recorded. Leave --recorded out.")
    return first


def _played(
    first: PolicyFrozen, recording: Recording, source: GitSource, settings: Settings, prices: tuple[Price, ...]
) -> Otherwise:
    bounded = source.within(settings.rules.tree)
    clock, names = ReplayClock(first.at), RunNames(first.run_id, secrets.token_hex(8))
    redactor = settings.redactor.knowing(bounded.change().files)
    agents = RecordingAgents(recording.calls, names, redactor, lambda: clock.now().date())
    rules, nowhere, static = settings.rules, _Nowhere(), first.policy.static is not None
    if static:
        rules = replace(rules, static_languages=(PYTHON, *sorted(languages_of(installed()))))
    request = ReviewRequest(
        names.run_id,
        names.nonce,
        rules,
        replace(settings.switches, static=static),
        settings.redactor,
        "suggest" if first.policy.repair.runs else "off",
        priced_by=settings.prices.source,
    )
    with closing(ComparedPictures(bounded.base_part, bounded.head_part, rules.visual_paths)) as pictures:
        wiki = NoFolder("a review that is played again writes nothing")
        ports = Ports(agents, bounded, nowhere, nowhere, clock, pictures, wiki, prices)
        try:
            return Otherwise(ReviewPhase(ports, load_instructions(), 1).review(request))
        except WouldAsk as asked:
            return Otherwise(None, (asked.unknown.why,), asked.unknown.questions)
