"""Questions that other rules would have asked: nobody knows their answers, and what they cost at least is estimated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from review_advisor.core.metrics.call_estimate import CallEstimates
from review_advisor.core.metrics.prices import Price
from review_advisor.core.outcome.events import CallEnded, Event
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.report.wording import counted, printable_line


@dataclass(frozen=True, slots=True)
class WantedQuestion:
    """One question without a kept answer: its role, its model, and about how many characters it has, at least."""

    role: Role
    model: str
    characters: int
    day: date


@dataclass(frozen=True, slots=True)
class Unknown:
    """What the events of a review cannot tell, and the questions whose answers would."""

    why: str
    questions: tuple[WantedQuestion, ...] = ()


class WouldAsk(Exception):  # noqa: N818 (what is found, and no error)
    """A question would have been asked to which the events have no answer; its words say which."""

    def __init__(self, why: str, questions: Iterable[WantedQuestion] = ()) -> None:
        super().__init__(why)
        self.unknown = Unknown(why, tuple(questions))


@dataclass(frozen=True, slots=True)
class WantedMoney:
    """How many questions would have to be asked, and what those with a priced model cost at least, in US dollars."""

    questions: int = 0
    least_usd: float = 0.0
    unpriced: int = 0
    unpriced_models: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Its fields."""
        return asdict(self) | {"least_usd": round(self.least_usd, 6), "unpriced_models": list(self.unpriced_models)}

    def words(self) -> str:
        """One line for a person."""
        told = f"would have to ask: {counted(self.questions, 'question')}, at least ${self.least_usd:.4f}"
        if not self.unpriced:
            return told
        named = printable_line(", ".join(self.unpriced_models))
        return f"{told}; {self.unpriced} of them have no price ({named})"


def like(events: Iterable[Event], *roles: Role) -> tuple[WantedQuestion, ...]:
    """The questions of these events, as they would be asked once more; of these roles alone, if any is named."""
    calls = (each for each in events if isinstance(each, CallEnded) and not each.asks_again)
    return tuple(
        WantedQuestion(each.role, each.requested_model, each.prompt_characters, each.at.date())
        for each in calls
        if each.role in (roles or tuple(Role))
    )


def wanted_money(questions: Iterable[WantedQuestion], prices: Iterable[Price]) -> WantedMoney:
    """The estimate of a review's purse for each question, added up."""
    estimates = CallEstimates(prices)
    every = tuple(questions)
    usd = [estimates.fresh_usd(each.role, each.model, each.characters, each.day) for each in every]
    unpriced = [each.model for each, known in zip(every, usd, strict=True) if known is None]
    return WantedMoney(len(every), sum((each or 0.0 for each in usd), 0.0), len(unpriced), tuple(sorted(set(unpriced))))
