"""Stored reviews decided once more under another configuration. Nothing is asked, and nothing is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel

from review_advisor.adapters.ledger.browsing import RecordedRun, read_reviews
from review_advisor.adapters.ledger.run_queries import list_runs
from review_advisor.adapters.price_file import read_prices
from review_advisor.app.configuration import read_text
from review_advisor.app.rollup import prices_of_user
from review_advisor.app.roster.declared_files import roster_of, working_files
from review_advisor.app.settings import Config, ConfigError, make_settings, parse_config
from review_advisor.core.facts.files.declared import DECLARED
from review_advisor.core.ledger.chain import LedgerError
from review_advisor.core.ledger.runs import RunFilter
from review_advisor.core.metrics.prices import Price
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.policy.escalation_rules import Threshold
from review_advisor.core.policy.thresholds import THRESHOLDS_FILE, parse_thresholds
from review_advisor.core.pull_request.counterfactual.counterfactual_table import ReviewUnderBoth
from review_advisor.core.pull_request.counterfactual.other_prices import for_the_past
from review_advisor.core.pull_request.counterfactual.other_rules import OtherRules
from review_advisor.core.pull_request.counterfactual.pull_request_otherwise import begun_otherwise, posted_anew
from review_advisor.core.pull_request.counterfactual.review_otherwise import Otherwise, decided_otherwise
from review_advisor.core.pull_request.rules import PublicationRules
from review_advisor.core.roster.advisor import Roster

MOST_REPLAYED = 10_000
_HANGS = Otherwise(None, ("whether it would have begun depends on an earlier review with an unknown result",))


@dataclass(frozen=True, slots=True)
class Replayed:
    """The reviews, the oldest first, and one sentence on each run that was left out. ``more``: not all were read."""

    reviews: tuple[ReviewUnderBoth, ...]
    left_out: tuple[str, ...]
    more: bool


_TRIED = {
    *("fail_on", "exclude", "budget.low_usd", "budget.medium_usd", "budget.high_usd", "budget.max_usd"),
    *("github.volume", "github.least_confidence", "github.least_confidence_for"),
    *("github.most_rounds", "github.most_usd"),
}
_WITHOUT_EFFECT = {
    *("jobs", "recording", "recording_days", "github.check_name", "github.login", "github.escalation_label"),
    *("github.fork_label", "github.reviewers", "github.settle_seconds"),
}
"""What changes no answer, no decision and no comment."""


@dataclass(frozen=True, slots=True)
class TriedFiles:
    """The files that are tried, each in the form in which a repository has it; None for what stays as it was.

    ``roster`` is a folder with a ``.review-advisor`` that declares advisors.
    """

    config: Path | None = None
    prices: Path | None = None
    thresholds: Path | None = None
    roster: Path | None = None


@dataclass(frozen=True, slots=True)
class TriedRules:
    """What is tried, what holds for comments and rounds, before and now, and the prices that estimates go by."""

    other: OtherRules
    posts: tuple[PublicationRules, PublicationRules]
    prices: tuple[Price, ...]


def tried_rules(files: TriedFiles, was: Path | None, options: OtherRules) -> TriedRules:
    """The rules of these files beside the given ``options``; ``was`` is the configuration that held, or the defaults.

    Raises ``PriceError``, and ``ConfigError``: also for what differs and cannot be tried, because other questions
    would have been asked.
    """
    before = Config() if was is None else _config(was)
    told = before if files.config is None else _config(files.config)
    tried = _TRIED | ({"advisors.preset"} if files.roster is not None else set())
    untried = [name for name in _differing(before, told) if name not in tried | _WITHOUT_EFFECT]
    if untried:
        held = "the defaults" if was is None else str(was)
        raise ConfigError(
            f"{files.config} differs from {held} in what replay cannot try: {', '.join(untried)}. "
            "Leave that out, or name with --was the configuration that held."
        )
    prices = None if files.prices is None else for_the_past(prices_of_user(files.prices))
    other = replace(
        options,
        prices=prices,
        thresholds=None if files.thresholds is None else _thresholds(files.thresholds),
        roster=None if files.roster is None else _roster(told, files.roster),
    )
    if files.config is not None:
        rules = make_settings(told, {}, profile=None, config_path=None).rules
        other = replace(
            other,
            fail_on_degraded=rules.fail_on_degraded,
            max_usd=rules.max_usd,
            usd_by_blast=rules.usd_by_blast,
            exclude=rules.exclude,
        )
    return TriedRules(other, (before.github, told.github), read_prices() if prices is None else prices)


def _thresholds(file: Path) -> tuple[Threshold, ...]:
    text = read_text(file, "list of thresholds")
    try:
        return parse_thresholds(text)
    except ValueError as problem:
        raise ConfigError(str(problem).replace(THRESHOLDS_FILE, str(file))) from None


def _roster(config: Config, folder: Path) -> Roster:
    files = working_files(folder)
    if not files:
        raise ConfigError(f"{folder} has no folder {DECLARED} that declares advisors.")
    return roster_of(config.advisors.preset, files)


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
    (told,) = read_reviews(ledger, [run_id])
    if isinstance(told, str):
        raise LedgerError(told)
    if told.document is None:
        raise LedgerError(f"The run {run_id} is not over.")
    return told.document


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
    begun: Sequence[bool | None] = [True] * len(life)
    caps = [(each.most_rounds, each.most_usd) for each in rules.posts]
    if rules.other.prices is not None or caps[0] != caps[1]:
        documents = [each.document for each in again]
        begun = begun_otherwise(list(zip(life, documents, strict=True)), before, after)
    found = [_HANGS if begins is None and each.document else each for each, begins in zip(again, begun, strict=True)]
    shown = [each.document for each, begins in zip(found, begun, strict=True) if begins is not False]
    posted = iter(posted_anew(shown, after))
    for document, was, each, begins in zip(life, posted_anew(life, before), found, begun, strict=True):
        now = frozenset[str]() if begins is False else next(posted)
        yield ReviewUnderBoth(document, each, was, now, begins=begins is not False)
