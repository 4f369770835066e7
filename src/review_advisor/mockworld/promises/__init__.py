"""What ADR-0059 promises, each as one function that reads a played review and says what is broken."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from inspect import isgeneratorfunction

from review_advisor.mockworld.promises import (
    on_budgets,
    on_councils,
    on_digests,
    on_endings,
    on_findings,
    on_matter,
    on_prompts,
    on_publication,
    on_repairs,
    on_switches,
    on_verdicts,
)
from review_advisor.mockworld.promises.played_review import Reading
from review_advisor.mockworld.stage import PlayedReview

Promise = Callable[[Reading], Iterable[str]]

_THEMES = (
    on_verdicts,
    on_budgets,
    on_repairs,
    on_matter,
    on_switches,
    on_endings,
    on_findings,
    on_digests,
    on_publication,
    on_prompts,
    on_councils,
)

PROMISES: tuple[Promise, ...] = tuple(
    each
    for theme in _THEMES
    for name, each in vars(theme).items()
    if isgeneratorfunction(each) and each.__module__ == theme.__name__ and not name.startswith("_")
)
"""A public function of a theme that yields what is broken is a promise."""

OF_ONE_JUDGE: frozenset[Promise] = frozenset(
    {
        on_verdicts.an_unanswered_veto_goes_to_a_human,
        on_verdicts.a_refused_judgement_is_no_approval,
        on_verdicts.a_judgement_is_what_was_said,
        on_repairs.only_a_vetoed_approval_may_be_repaired,
        on_repairs.a_patch_is_offered_if_and_only_if_it_was_judged_right,
        on_publication.recovered_is_an_approval_that_answered_a_veto,
        on_publication.exhausted_is_a_veto_that_outlasted_the_retries,
        on_verdicts.a_judge_that_the_change_may_have_silenced_does_not_approve,
        on_budgets.each_question_is_asked_once_and_repaired_once,
        on_endings.degraded_is_never_silent,
        on_matter.knowledge_never_decides_a_verdict,
        on_prompts.every_prompt_has_what_its_role_is_owed,
        on_prompts.a_retry_is_handed_the_whole_transcript,
        on_prompts.the_judge_sees_the_report_it_judges,
    }
)
"""Promises that read the calls of one judge. What they say of a council, its unit tests and its own promises hold."""

OF_THE_JUDGES: frozenset[Promise] = frozenset(
    {
        on_verdicts.a_judgement_is_what_was_said,
        on_budgets.each_question_is_asked_once_and_repaired_once,
        on_prompts.every_prompt_has_what_its_role_is_owed,
        on_prompts.a_retry_is_handed_the_whole_transcript,
        on_prompts.the_judge_sees_the_report_it_judges,
        on_budgets.a_rejection_is_retried_once,
        on_repairs.only_a_vetoed_approval_may_be_repaired,
        on_publication.recovered_is_an_approval_that_answered_a_veto,
        on_publication.exhausted_is_a_veto_that_outlasted_the_retries,
    }
)
"""Promises about whoever judges a verdict: inline members do not."""

COSTLY: frozenset[Promise] = frozenset(
    {
        on_endings.the_report_says_how_it_ended,
        on_endings.the_document_survives_json,
        on_endings.whoever_publishes_believes_it,
    }
)
"""Promises that cost a third of the time of a seeded world. Stories hold them all, seeded worlds these now and then."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A promise that a review broke, or a step on GitHub: its number is the ``place``."""

    place: int
    promise: str
    says: str

    def __str__(self) -> str:
        return f"{self.promise}: {self.says}"


def broken_promises(reviews: Sequence[PlayedReview], promises: Sequence[Promise] = PROMISES) -> tuple[Broken, ...]:
    """Every one of ``promises`` that one of the reviews of a story broke."""
    found: list[Broken] = []
    for place, review in enumerate(reviews):
        reading = Reading(review, reviews[:place])
        held = [each for each in promises if each not in OF_ONE_JUDGE or not reading.has_council]
        judges = reading.of_the_judges
        for promise in held:
            said = promise(judges if promise in OF_THE_JUDGES else reading)
            found += [Broken(review.number, promise.__name__, says) for says in said]
    return tuple(found)
