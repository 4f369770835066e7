"""The advisors, thresholds and prices for reviewing a change, also one that mends those of the base."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from review_advisor.app.roster.declared_files import NOBODY, Declares, FileReader, HeadFiles, RosterError, roster_of
from review_advisor.app.settings import Config, ConfigError
from review_advisor.core.facts.files.declared import PRICES, is_declared, stands_for_prices
from review_advisor.core.facts.guidelines import BaseText
from review_advisor.core.metrics.price_list import NO_PRICES, OwnPrices, own_prices
from review_advisor.core.metrics.prices import PriceError
from review_advisor.core.policy.escalation_rules import Threshold
from review_advisor.core.policy.thresholds import THRESHOLDS_FILE, parse_thresholds
from review_advisor.core.roster.advisor import Roster

_NONE_IS_ENOUGH = (Threshold(1.0),)
"""The threshold if nobody can say which confidence is enough."""


class Believed(NamedTuple):
    """What the base declares beside its configuration."""

    roster: Roster
    thresholds: tuple[Threshold, ...]
    prices: OwnPrices


@dataclass(frozen=True, slots=True)
class _Broken:
    """Files of the base that cannot be used: why, which paths they have, and how the head's are read."""

    problem: ConfigError
    owns: Callable[[str], bool]
    read: Callable[[HeadFiles], object]


def believed_declarations(config: Config, base_file: FileReader, declares: Declares = NOBODY) -> Believed:
    """The roster, the thresholds and the prices of the base. Raises ``ConfigError`` with every mistake in them.

    A pull request that mends all that is broken, and touches nothing else, is reviewed all the same: by the preset
    alone where the advisors are broken, with the highest threshold where the thresholds are, and with the shipped
    prices alone where the prices are. These files steer the bot, so the guard holds.
    """
    preset = config.advisors.preset
    broken: list[_Broken] = []
    files = declares.base()
    try:
        roster = roster_of(preset, files, declares.wanted)
    except RosterError as problem:
        roster = roster_of(preset, {})
        broken.append(_Broken(problem, _declares_advisors, lambda head: roster_of(preset, head.declared())))
    try:
        thresholds = _thresholds(config, base_file, "base")
    except ConfigError as problem:
        thresholds = _NONE_IS_ENOUGH
        broken.append(_Broken(problem, THRESHOLDS_FILE.__eq__, lambda head: _thresholds(config, head.file, "head")))
    try:
        prices = prices_in(files)
    except ConfigError as problem:
        prices = NO_PRICES
        broken.append(_Broken(problem, PRICES.__eq__, lambda head: prices_in(head.declared())))
    if broken and not _are_mended(broken, declares):
        raise ConfigError(" ".join(str(each.problem) for each in broken))
    return Believed(roster, thresholds, prices)


def prices_in(files: Mapping[str, BaseText]) -> OwnPrices:
    """The repository's own prices, of its declared files. Raises ``ConfigError``."""
    wrong = next(filter(stands_for_prices, files), None)
    if wrong is not None:
        raise ConfigError(f"{wrong}: files there are not read: the list of prices is {PRICES}.")
    try:
        return own_prices(files.get(PRICES))
    except PriceError as problem:
        raise ConfigError(str(problem)) from None


def _declares_advisors(path: str) -> bool:
    return is_declared(path) and path != PRICES


def _are_mended(broken: Sequence[_Broken], declares: Declares) -> bool:
    """Whether the change touches nothing but broken files, and all of them can be used at its head."""
    if declares.head is None or not declares.paths:
        return False
    if not all(any(each.owns(path) for each in broken) for path in declares.paths):
        return False
    with suppress(ConfigError):
        for each in broken:
            each.read(declares.head)
        return True
    return False


def _thresholds(config: Config, file: FileReader, side: str) -> tuple[Threshold, ...]:
    """The thresholds of a commit, where a profile of escalation uses them."""
    raw = None if config.escalation.profile == "adr" else file(THRESHOLDS_FILE)
    try:
        return () if raw is None else parse_thresholds(raw.decode())
    except UnicodeDecodeError:
        raise ConfigError(f"{THRESHOLDS_FILE} of the {side} commit is not UTF-8 text.") from None
    except ValueError as problem:
        raise ConfigError(str(problem)) from None
