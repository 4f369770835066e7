"""Stored reviews decided once more under another configuration. Nothing is asked, and nothing is written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from review_advisor.adapters.ledger.browsing import RecordedRun, read_reviews
from review_advisor.adapters.ledger.run_queries import list_runs
from review_advisor.app.configuration import read_text
from review_advisor.app.settings import Config, make_settings, parse_config
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


def other_rules(config: Path, options: OtherRules) -> tuple[OtherRules, PublicationRules]:
    """The rules of a configuration file beside the given ``options``. Raises ``ConfigError``."""
    told = _config(config)
    rules = make_settings(told, {}, profile=None, config_path=None).rules
    return (
        replace(
            options,
            fail_on_degraded=rules.fail_on_degraded,
            max_usd=rules.max_usd,
            usd_by_blast=rules.usd_by_blast,
            exclude=rules.exclude,
        ),
        told.github,
    )


def publication_before(file: Path | None) -> PublicationRules:
    """What held for comments: what the file says, or the defaults. Raises ``ConfigError``."""
    return PublicationRules() if file is None else _config(file).github


def _config(file: Path) -> Config:
    return parse_config(read_text(file, "configuration"), str(file))


def replay_runs(
    ledger: Path, wanted: RunFilter, run_id: str | None, other: OtherRules, posts: tuple[PublicationRules, ...]
) -> Replayed:
    """The wanted runs, or the one, under both rules. ``posts`` are the rules of comments before and after.

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
            return Replayed(tuple(_under_both([about], other, posts)), (), more=False)
        wanted = RunFilter(repository=about.repository, pull_request=about.pull_request)
    names = [line.run_id for line in list_runs(ledger, replace(wanted, limit=MOST_REPLAYED + 1))]
    chosen = names[:MOST_REPLAYED][::-1]
    read = list(read_reviews(ledger, chosen))
    documents = [each.document for each in read if isinstance(each, RecordedRun) and each.document is not None]
    left_out = [each for each in read if isinstance(each, str)]
    reviews = _under_both(documents, other, posts)
    only_it = tuple(each for each in reviews if run_id in (None, each.before.run_id))
    return Replayed(only_it, tuple(left_out), more=len(names) > MOST_REPLAYED)


def _under_both(
    documents: Iterable[OutcomeDocument], other: OtherRules, posts: tuple[PublicationRules, ...]
) -> list[ReviewUnderBoth]:
    lives: dict[tuple[str, str], list[OutcomeDocument]] = {}
    for document in documents:
        key = (document.repository or "", str(document.pull_request or document.run_id))
        lives.setdefault(key, []).append(document)
    before, after = posts
    found = []
    for life in lives.values():
        again = [decided_otherwise(each, other) for each in life]
        shown = zip(posted_anew(life, before), posted_anew([each.document for each in again], after), strict=True)
        for document, other_end, (was, now) in zip(life, again, shown, strict=True):
            found.append(ReviewUnderBoth(document, other_end.document, other_end.unknown, was, now))
    return found
