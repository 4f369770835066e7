"""What ADR-0059 promises, each as one function that reads a played review and says what is broken."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from review_advisor.mockworld.promises import (
    budgets,
    digests,
    ends,
    findings,
    matter,
    prompts,
    publication,
    repairs,
    switches,
    verdicts,
)
from review_advisor.mockworld.promises.reading import Reading
from review_advisor.mockworld.stories.stage import PlayedReview

Promise = Callable[[Reading], Iterable[str]]

PROMISES: tuple[Promise, ...] = (
    verdicts.no_approval_after_an_unanswered_veto,
    verdicts.a_vetoed_part_goes_to_a_human,
    verdicts.approval_is_judged_or_called_degraded,
    verdicts.the_executors_no_is_never_merged,
    verdicts.a_verdict_that_flips_calls_a_human,
    verdicts.a_diff_that_is_to_be_judged_alone_is,
    verdicts.changes_to_the_bot_are_judged_or_escalated,
    verdicts.a_refused_judgement_is_no_approval,
    verdicts.an_outage_is_a_veto_where_the_team_wants_it,
    verdicts.a_judge_that_the_change_may_have_silenced_does_not_approve,
    verdicts.a_judgement_is_what_was_said,
    verdicts.an_idle_retry_is_not_judged_again,
    verdicts.a_stop_signal_calls_a_human,
    verdicts.an_open_question_about_a_critical_path_calls_a_human,
    verdicts.nothing_is_remembered_without_a_verdict,
    verdicts.what_did_not_run_says_why,
    budgets.the_tier_is_not_too_low,
    budgets.retries_stay_within_the_blast_radius,
    budgets.a_rejection_is_retried_once,
    budgets.each_question_is_asked_once_and_repaired_once,
    budgets.consults_stay_within_the_cap,
    budgets.money_stays_within_the_purse,
    budgets.parallel_calls_share_what_is_left,
    budgets.time_stays_within_the_wall_clock,
    repairs.a_patch_holds_text_of_the_change_and_nothing_else,
    repairs.only_a_vetoed_approval_may_be_repaired,
    repairs.a_repair_never_approves_the_head,
    repairs.a_patch_is_offered_if_and_only_if_it_was_judged_right,
    repairs.a_repair_makes_nothing_milder,
    repairs.an_honest_repair_is_judged,
    matter.identical_pictures_cost_no_call,
    matter.a_picture_that_nobody_saw_is_never_approved,
    matter.knowledge_is_stored_only_after_its_gate,
    matter.knowledge_never_decides_a_verdict,
    switches.a_switch_off_means_no_call,
    switches.a_switch_on_at_the_start_stays_on,
    switches.a_change_that_deserves_a_plan_gets_one,
    switches.switched_off_is_never_silent,
    switches.surfaces_run_in_their_order,
    ends.trouble_with_the_account_stops,
    ends.the_exit_code_is_the_outcomes,
    ends.what_is_unread_is_never_approved,
    ends.what_is_called_read_was_shown,
    ends.coverage_names_every_file,
    ends.degraded_is_never_silent,
    ends.every_lost_answer_is_named,
    ends.every_call_is_accounted_for,
    ends.the_report_says_how_it_ended,
    ends.the_document_survives_json,
    ends.whoever_publishes_believes_it,
    ends.what_died_decided_nothing,
    ends.a_verdict_is_of_the_head_it_read,
    findings.no_finding_is_lost,
    findings.what_proves_nothing_is_refused,
    findings.a_finding_stands_where_its_quote_does,
    digests.the_same_settings_have_one_digest,
    digests.every_setting_is_in_the_policys_digest,
    publication.a_check_concludes_as_its_review_did,
    publication.what_was_not_verified_is_seen_on_the_check,
    publication.recovered_is_an_approval_that_answered_a_veto,
    publication.exhausted_is_a_veto_that_outlasted_the_retries,
    prompts.every_prompt_has_what_its_role_is_owed,
    prompts.a_diff_judged_alone_comes_with_nothing_that_is_said,
    prompts.the_plan_reaches_executor_and_judge,
    prompts.a_retry_is_handed_the_whole_transcript,
    prompts.the_judge_sees_the_report_it_judges,
    prompts.no_untrusted_text_stands_outside_a_fence,
    prompts.no_fence_holds_the_nonce,
    prompts.nothing_of_an_earlier_review_is_seen,
    prompts.a_planner_has_no_tools_and_only_executors_consult,
    prompts.guidance_is_carried_into_a_retry,
)

COSTLY: frozenset[Promise] = frozenset(
    {
        ends.the_report_says_how_it_ended,
        ends.the_document_survives_json,
        ends.whoever_publishes_believes_it,
        digests.every_setting_is_in_the_policys_digest,
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
        found += [Broken(review.number, promise.__name__, says) for promise in promises for says in promise(reading)]
    return tuple(found)
