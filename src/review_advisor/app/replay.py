"""`replay`."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import click
from pydantic import BaseModel

from review_advisor.agents.kept_replies import RunNames
from review_advisor.agents.recordings import Recording, RecordingAgents, WouldAsk
from review_advisor.app.configuration import (
    declares_of,
    load_config,
    load_instructions,
    load_settings,
    read_recorded,
    read_text,
)
from review_advisor.app.options import AS_JSON, LEDGER, PATH, artifacts_option, moment
from review_advisor.app.review import installed
from review_advisor.app.terminal import clear_refusals, note_left_out, put
from review_advisor.change.change import SourceError
from review_advisor.change.checker_settings import languages_of
from review_advisor.change.pictures import ComparedPictures
from review_advisor.change.sources import About, GitSource, open_range
from review_advisor.change.work_folder import NoFolder
from review_advisor.lab.replay import (
    OtherRules,
    Otherwise,
    ReviewUnderBoth,
    both_as_json,
    both_text,
    decided_otherwise,
    posted_anew,
)
from review_advisor.ledger.chain import LedgerError
from review_advisor.ledger.queries import RunFilter
from review_advisor.ledger.run_queries import RecordedRun, list_runs, read_reviews
from review_advisor.policy.exclusion import PYTHON
from review_advisor.policy.prices import Price, read_prices
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.settings import Config, Settings, make_settings, parse_config
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import Event, PolicyFrozen, Repaired
from review_advisor.review.matter import ReviewRequest
from review_advisor.review.phase import ReviewPhase
from review_advisor.review.ports import Ports
from review_advisor.safety.clock import ReplayClock


@click.command()
@click.argument("run_id", metavar="[RUN]", required=False)
@click.option("--all", "every", is_flag=True, help="All runs instead of one.")
@click.option("--config", type=PATH, metavar="FILE", help="The other configuration, a file as a repository has it.")
@click.option("--was", type=PATH, metavar="FILE", help="The configuration that held. [default: the product's defaults]")
@click.option("--repository", metavar="OWNER/NAME", help="Only the pull requests of this repository.")
@click.option("--since", type=moment, metavar="WHEN", help="Only reviews from then on: a date, or 24h, 7d, 2w ago.")
@click.option("--recorded", type=PATH, metavar="REPO", help="Repeat whole runs in REPO; their recordings answer.")
@artifacts_option("Where recordings lie.")
@LEDGER
@AS_JSON
def replay(
    run_id: str | None,
    every: bool,
    config: Path | None,
    was: Path | None,
    repository: str | None,
    since: datetime | None,
    recorded: Path | None,
    artifacts: Path,
    ledger_file: Path,
    as_json: bool,
) -> None:
    """Decide stored reviews again under other rules, from their recorded answers.

    It asks no model and writes nothing. The first line says how many results it can know: the record is
    enough for another `fail_on`, `exclude`, `budget.max_usd`, `github.volume` and
    `github.least_confidence`. Where the new rules need an answer that was not recorded, the result is
    unknown: the table gives the reason, and the least that the missing answers would cost.

    With --recorded, you can change the whole configuration and the switches of the environment, for reviews of two
    commits. A question that was asked word for word gets its recorded answer. The replay of a run ends at the
    first question that was not recorded.
    """
    if recorded is None and config is None:
        raise click.UsageError("Say what to try: --config FILE.")
    if (run_id is None) is not every:
        raise click.UsageError("Name one RUN, or say --all.")
    if run_id is not None and (repository is not None or since is not None):
        raise click.UsageError("--repository and --since choose among --all runs.")
    if recorded is not None and was is not None:
        raise click.UsageError("--was is for reviews without --recorded.")
    with clear_refusals():
        wanted = RunFilter(repository=repository, since=since)
        if recorded is not None:
            place = RecordedPlace(ledger_file, artifacts, recorded)
            done, prices = replay_recorded(place, wanted, run_id, config, os.environ)
        else:
            done, prices = replay_runs(ledger_file, wanted, run_id, tried_rules(config, was)), read_prices()
    note_left_out(done.left_out, f"{MOST_REPLAYED:,} runs" if done.more else "")
    if as_json:
        put(json.dumps(both_as_json(done.reviews, done.left_out, prices), indent=2) + "\n")
    else:
        put(both_text(done.reviews, prices))


MOST_REPLAYED = 10_000


@dataclass(frozen=True, slots=True)
class Replayed:
    """The reviews, the oldest first, and one sentence on each run that was left out. ``more``: not all were read."""

    reviews: tuple[ReviewUnderBoth, ...]
    left_out: tuple[str, ...]
    more: bool


_TRIED = {
    *("fail_on", "exclude", "budget.max_usd"),
    *("github.volume", "github.least_confidence"),
}


_WITHOUT_EFFECT = {
    *("recording", "github.check_name", "github.login", "github.escalation_label"),
    *("github.fork_label", "github.reviewers"),
}
"""What changes no answer, no decision and no comment."""


@dataclass(frozen=True, slots=True)
class TriedRules:
    """What is tried, and what holds for comments, before and now."""

    other: OtherRules
    posts: tuple[PublicationRules, PublicationRules]


def tried_rules(config: Path | None, was: Path | None) -> TriedRules:
    """The rules of a file beside those of ``was``, the configuration that held; None for the defaults.

    Raises ``ConfigError``.
    """
    held, tried = (Config() if file is None else _config(file) for file in (was, config))
    rules = make_settings(tried, {}, profile=None, config_path=None).rules
    held_rules = make_settings(held, {}, profile=None, config_path=None).rules
    other = OtherRules(
        fail_on_degraded=rules.fail_on_degraded,
        exclude=rules.exclude,
        max_usd=rules.max_usd,
        held_usd=held_rules.max_usd,
        untried=tuple(name for name in _differing(held, tried) if name not in _TRIED | _WITHOUT_EFFECT),
    )
    return TriedRules(other, (held.github, tried.github))


def _differing(one: BaseModel, other: BaseModel, of: str = "") -> Iterator[str]:
    """The names of the settings that differ, with those of the tables that they stand in."""
    for name in type(one).model_fields:
        mine, its = getattr(one, name), getattr(other, name)
        if isinstance(mine, BaseModel):
            yield from _differing(mine, its, f"{of}{name}.")
        elif mine != its:
            yield f"{of}{name}"


def _config(file: Path) -> Config:
    return parse_config(read_text(file, "configuration"), str(file))


def replay_runs(ledger: Path, wanted: RunFilter, run_id: str | None, rules: TriedRules) -> Replayed:
    """The wanted runs, or the one, under both rules.

    Of the one run the earlier reviews of its pull request are read, too: what they posted is not posted again.
    Raises ``LedgerError``.
    """
    if run_id is not None:
        about = finished_review(ledger, run_id)
        if about.repository is None or about.pull_request is None:
            return Replayed(tuple(_under_both([about], rules)), (), more=False)
        wanted = RunFilter(repository=about.repository, pull_request=about.pull_request)
    names, more = newest_runs(ledger, wanted)
    read = list(read_reviews(ledger, names))
    documents = [each.document for each in read if isinstance(each, RecordedRun) and each.document is not None]
    left_out = [each for each in read if isinstance(each, str)]
    reviews = _under_both(documents, rules)
    only_it = tuple(each for each in reviews if run_id in (None, each.before.run_id))
    return Replayed(only_it, tuple(left_out), more=more)


def finished_review(ledger: Path, run_id: str) -> OutcomeDocument:
    """What a stored review came to. Raises ``LedgerError``, also where it is not over."""
    (read,) = read_reviews(ledger, [run_id])
    if isinstance(read, str):
        raise LedgerError(read)
    if read.document is None:
        raise LedgerError(f"The run {run_id} is not over.")
    return read.document


def newest_runs(ledger: Path, wanted: RunFilter) -> tuple[list[str], bool]:
    """The newest runs that are wanted, the oldest of them first, and whether there are more. Raises ``LedgerError``."""
    names = [line.run_id for line in list_runs(ledger, replace(wanted, limit=MOST_REPLAYED + 1))]
    return names[:MOST_REPLAYED][::-1], len(names) > MOST_REPLAYED


def _under_both(documents: Iterable[OutcomeDocument], rules: TriedRules) -> list[ReviewUnderBoth]:
    lives: dict[tuple[str, str], list[OutcomeDocument]] = {}
    for document in documents:
        key = (document.repository or "", str(document.pull_request or document.run_id))
        lives.setdefault(key, []).append(document)
    return [each for life in lives.values() for each in _life_under_both(life, rules)]


def _life_under_both(life: Sequence[OutcomeDocument], rules: TriedRules) -> Iterator[ReviewUnderBoth]:
    """The reviews of one pull request in their order, each with what it posts beside the earlier ones."""
    before, after = rules.posts
    again = [decided_otherwise(each, rules.other) for each in life]
    posted = zip(posted_anew(life, before), posted_anew((each.document for each in again), after), strict=True)
    for document, each, (was, now) in zip(life, again, posted, strict=True):
        yield ReviewUnderBoth(document, each, was, now)


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
    clock, names = ReplayClock(first.at), RunNames(first.run_id, secrets.token_hex(8))
    redactor = settings.redactor.knowing(source.change().files)
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
    with closing(ComparedPictures(source.base_part, source.head_part, rules.visual_paths)) as pictures:
        wiki = NoFolder("a review that is played again writes nothing")
        ports = Ports(agents, source, nowhere, nowhere, clock, pictures, wiki, prices)
        try:
            return Otherwise(ReviewPhase(ports, load_instructions(), 1).review(request))
        except WouldAsk as asked:
            return Otherwise(None, (asked.unknown.why,), asked.unknown.questions)
