"""Stored reviews decided once more under another configuration. Nothing is asked, and nothing is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel

from review_advisor.adapters.ledger.browsing import RecordedRun, read_reviews
from review_advisor.adapters.ledger.run_queries import list_runs
from review_advisor.app.configuration import read_text
from review_advisor.app.settings import Config, ConfigError, make_settings, parse_config
from review_advisor.core.ledger.chain import LedgerError
from review_advisor.core.ledger.runs import RunFilter
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.pull_request.counterfactual.counterfactual_table import ReviewUnderBoth
from review_advisor.core.pull_request.counterfactual.other_rules import OtherRules
from review_advisor.core.pull_request.counterfactual.posted_otherwise import posted_anew
from review_advisor.core.pull_request.counterfactual.review_otherwise import decided_otherwise
from review_advisor.core.pull_request.rules import PublicationRules

MOST_REPLAYED = 10_000


@dataclass(frozen=True, slots=True)
class Replayed:
    """The reviews, the oldest first, and one sentence on each run that was left out. ``more``: not all were read."""

    reviews: tuple[ReviewUnderBoth, ...]
    left_out: tuple[str, ...]
    more: bool


_TRIED = {
    *("fail_on", "exclude", "budget.low_usd", "budget.medium_usd", "budget.high_usd", "budget.max_usd"),
    *("github.volume", "github.least_confidence", "github.least_confidence_for"),
}
_WITHOUT_EFFECT = {
    *("jobs", "recording", "recording_days", "github.check_name", "github.login", "github.escalation_label"),
    *("github.fork_label", "github.reviewers", "github.settle_seconds"),
}
"""What changes no answer, no decision and no comment."""


@dataclass(frozen=True, slots=True)
class TriedRules:
    """What is tried, and what holds for comments: before, and now."""

    other: OtherRules
    posts: tuple[PublicationRules, PublicationRules]


def tried_rules(config: Path, was: Path | None, options: OtherRules) -> TriedRules:
    """The rules of a configuration file beside the given ``options``; ``was`` is what held, or else the defaults.

    Raises ``ConfigError``: also for what differs and cannot be tried, because other questions would have been asked.
    """
    told, before = _config(config), Config() if was is None else _config(was)
    untried = [name for name in _differing(before, told) if name not in _TRIED | _WITHOUT_EFFECT]
    if untried:
        held = "the defaults" if was is None else str(was)
        raise ConfigError(
            f"{config} differs from {held} in what replay cannot try: {', '.join(untried)}. "
            "Leave that out, or name with --was the configuration that held."
        )
    rules = make_settings(told, {}, profile=None, config_path=None).rules
    other = replace(
        options,
        fail_on_degraded=rules.fail_on_degraded,
        max_usd=rules.max_usd,
        usd_by_blast=rules.usd_by_blast,
        exclude=rules.exclude,
    )
    return TriedRules(other, (before.github, told.github))


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
        (only,) = read_reviews(ledger, [run_id])
        if isinstance(only, str):
            raise LedgerError(only)
        about = only.document
        if about is None:
            raise LedgerError(f"The run {run_id} is not over.")
        if about.repository is None or about.pull_request is None:
            return Replayed(tuple(_under_both([about], rules)), (), more=False)
        wanted = RunFilter(repository=about.repository, pull_request=about.pull_request)
    names = [line.run_id for line in list_runs(ledger, replace(wanted, limit=MOST_REPLAYED + 1))]
    chosen = names[:MOST_REPLAYED][::-1]
    read = list(read_reviews(ledger, chosen))
    documents = [each.document for each in read if isinstance(each, RecordedRun) and each.document is not None]
    left_out = [each for each in read if isinstance(each, str)]
    reviews = _under_both(documents, rules)
    only_it = tuple(each for each in reviews if run_id in (None, each.before.run_id))
    return Replayed(only_it, tuple(left_out), more=len(names) > MOST_REPLAYED)


def _under_both(documents: Iterable[OutcomeDocument], rules: TriedRules) -> list[ReviewUnderBoth]:
    lives: dict[tuple[str, str], list[OutcomeDocument]] = {}
    for document in documents:
        key = (document.repository or "", str(document.pull_request or document.run_id))
        lives.setdefault(key, []).append(document)
    before, after = rules.posts
    found = []
    for life in lives.values():
        again = [decided_otherwise(each, rules.other) for each in life]
        shown = zip(posted_anew(life, before), posted_anew([each.document for each in again], after), strict=True)
        for document, other_end, (was, now) in zip(life, again, shown, strict=True):
            found.append(ReviewUnderBoth(document, other_end.document, other_end.unknown, was, now))
    return found
