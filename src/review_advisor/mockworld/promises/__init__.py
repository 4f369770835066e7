"""What ADR-0059 promises, each as one function that reads a played review and says what is broken."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

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
    on_shadows,
    on_switches,
    on_verdicts,
)
from review_advisor.mockworld.promises.played_review import Reading
from review_advisor.mockworld.stories.stage import PlayedReview

Promise = Callable[[Reading], Iterable[str]]

PROMISES: tuple[Promise, ...] = (
    on_verdicts.an_unanswered_veto_goes_to_a_human,
    on_verdicts.approval_is_judged_or_called_degraded,
    on_verdicts.the_executors_no_is_never_merged,
    on_verdicts.a_rejection_says_what_to_change,
    on_verdicts.a_verdict_that_flips_calls_a_human,
    on_verdicts.a_diff_that_is_to_be_judged_alone_is,
    on_verdicts.changes_to_the_bot_are_judged_or_escalated,
    on_verdicts.a_refused_judgement_is_no_approval,
    on_verdicts.an_outage_is_a_veto_where_the_team_wants_it,
    on_verdicts.a_judge_that_the_change_may_have_silenced_does_not_approve,
    on_verdicts.a_judgement_is_what_was_said,
    on_verdicts.an_idle_retry_is_not_judged_again,
    on_verdicts.a_stop_signal_calls_a_human,
    on_verdicts.an_open_question_about_a_critical_path_calls_a_human,
    on_verdicts.nothing_is_remembered_without_a_verdict,
    on_verdicts.what_did_not_run_says_why,
    on_budgets.the_tier_is_not_too_low,
    on_budgets.retries_stay_within_the_blast_radius,
    on_budgets.a_rejection_is_retried_once,
    on_budgets.each_question_is_asked_once_and_repaired_once,
    on_budgets.consults_stay_within_the_cap,
    on_budgets.money_stays_within_the_purse,
    on_budgets.time_stays_within_the_wall_clock,
    on_repairs.a_patch_holds_text_of_the_change_and_nothing_else,
    on_repairs.only_a_vetoed_approval_may_be_repaired,
    on_repairs.a_repair_never_approves_the_head,
    on_repairs.a_patch_is_offered_if_and_only_if_it_was_judged_right,
    on_repairs.a_repair_makes_nothing_milder,
    on_repairs.an_honest_repair_is_judged,
    on_matter.identical_pictures_cost_no_call,
    on_matter.a_picture_that_nobody_saw_is_never_approved,
    on_matter.knowledge_is_stored_only_after_its_gate,
    on_matter.only_what_its_advisor_approved_is_knowledge,
    on_matter.knowledge_never_decides_a_verdict,
    on_switches.a_switch_off_means_no_call,
    on_switches.a_switch_on_at_the_start_stays_on,
    on_switches.a_change_that_deserves_a_plan_gets_one,
    on_switches.switched_off_is_never_silent,
    on_switches.surfaces_run_in_their_order,
    on_endings.trouble_with_the_account_stops,
    on_endings.the_exit_code_is_the_outcomes,
    on_endings.what_is_unread_is_never_approved,
    on_endings.what_is_called_read_was_shown,
    on_endings.coverage_names_every_file,
    on_endings.degraded_is_never_silent,
    on_endings.every_lost_answer_is_named,
    on_endings.every_call_is_accounted_for,
    on_endings.the_report_says_how_it_ended,
    on_endings.the_document_survives_json,
    on_endings.whoever_publishes_believes_it,
    on_endings.what_died_decided_nothing,
    on_endings.a_verdict_is_of_the_head_it_read,
    on_findings.no_finding_is_lost,
    on_findings.what_proves_nothing_is_refused,
    on_findings.a_finding_stands_where_its_quote_does,
    on_digests.the_same_settings_have_one_digest,
    on_digests.every_setting_is_in_the_policys_digest,
    on_publication.a_check_concludes_as_its_review_did,
    on_publication.what_was_not_verified_is_seen_on_the_check,
    on_publication.recovered_is_an_approval_that_answered_a_veto,
    on_publication.exhausted_is_a_veto_that_outlasted_the_retries,
    on_prompts.every_prompt_has_what_its_role_is_owed,
    on_prompts.a_diff_judged_alone_comes_with_nothing_that_is_said,
    on_prompts.the_plan_reaches_executor_and_judge,
    on_prompts.a_retry_is_handed_the_whole_transcript,
    on_prompts.the_judge_sees_the_report_it_judges,
    on_prompts.no_untrusted_text_stands_outside_a_fence,
    on_prompts.no_fence_holds_the_nonce,
    on_prompts.nothing_of_an_earlier_review_is_seen,
    on_prompts.a_planner_has_no_tools_and_only_executors_consult,
    on_prompts.the_calls_of_a_role_begin_alike,
    on_prompts.guidance_is_carried_into_a_retry,
    on_councils.members_look_before_they_judge,
    on_councils.every_vote_is_recorded,
    on_councils.no_right_to_block_is_passed_over,
    on_councils.an_approval_is_what_the_votes_come_to,
    on_councils.publishing_counts_the_same,
    on_councils.who_only_advises_sees_no_report,
    on_councils.a_refuter_approves_nothing,
    on_shadows.a_call_of_the_review_is_no_shadows,
    on_shadows.no_word_of_a_shadow_is_heard,
    on_shadows.a_shadow_stays_within_its_caps,
    on_shadows.an_outcome_is_what_its_own_events_say,
)

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
"""Promises about whoever judges a verdict: inline members and a refuter do not."""

COSTLY: frozenset[Promise] = frozenset(
    {
        on_endings.the_report_says_how_it_ended,
        on_endings.the_document_survives_json,
        on_endings.whoever_publishes_believes_it,
        on_digests.every_setting_is_in_the_policys_digest,
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
