"""One lie for each promise: a played review that was forged so that exactly this promise must notice."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.simulation.forged import (
    NO,
    NOTED,
    OWN,
    again,
    again_late,
    answering,
    approved,
    approved_as_proposal,
    call,
    calls,
    consulting,
    decided_by_knowledge,
    document,
    flagged,
    from_before,
    grant,
    guidance_forgotten,
    half_read,
    handed_back_twice,
    in_two_parts,
    learned,
    lost_judge,
    mended,
    misreported,
    offering,
    patch_of,
    pictured,
    prompts,
    quoting,
    read,
    refused_honest,
    reported,
    reported_backwards,
    role,
    tier,
    told,
    ungated,
    unverified_idle_retry,
    vetoed,
    vetoed_once,
    wiki_of_an_escalation,
    without_reasons,
)

from review_advisor.mockworld.agents import Advice, guidance
from review_advisor.mockworld.promises.played_review import Reading
from review_advisor.mockworld.stage import PlayedReview
from review_advisor.policy.risk import BlastRadius
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import RoleCost
from review_advisor.review.events import CallEnded, Voted
from review_advisor.safety.fence import fence
from review_advisor.safety.stop import Usage

NO_NUMBER = RoleCost(Role.EXECUTOR, "sonnet", 1, Usage(cost_usd=float("nan")))
BLIND = {"metadata_blind": True}
COUNCIL = {"advisors": [{"id": "security", "veto": True}]}
BLOCKS = {"advisor": "security", "block": 90, "reasoning": "a hole"}
SPLIT = {"advisor": "security", "approve": 45, "request_changes": 40}
STOP_SIGNAL = guidance("call a human", stop=True)


def of_council(said: dict[str, Any] | None = None) -> PlayedReview:
    """A review that a council of two judges."""
    return told(said or {}, config=COUNCIL)


def with_voices() -> PlayedReview:
    """A review on which an inline member advises."""
    return told(config={"advisors": [{"id": "poet", "inline": True}]})


def without_a_vote() -> PlayedReview:
    """A document from which one member's vote is gone."""
    review = of_council()
    return document(review, events=tuple(each for each in review.events if not isinstance(each, Voted)))


LIES: dict[str, Callable[[], Reading]] = {
    "an_unanswered_veto_goes_to_a_human": lambda: read(
        replace(told({"executor": [NO], "post_verify": ["veto"]}), ended="changes_requested", asked=vetoed_once())
    ),
    "approval_is_judged_or_called_degraded": lambda: read(flagged(lost_judge(), degraded=False)),
    "the_executors_no_is_never_merged": lambda: read(approved(told({"executor": [NO]}))),
    "a_rejection_says_what_to_change": lambda: read(
        replace(told({"executor": ["reject", "reject"]}), ended="changes_requested")
    ),
    "a_verdict_that_flips_calls_a_human": lambda: read(approved(told({"executor": [NO, "approve"]}, config=BLIND))),
    "a_diff_that_is_to_be_judged_alone_is": lambda: read(
        replace(told(), rules=replace(told().rules, metadata_blind=True))
    ),
    "changes_to_the_bot_are_judged_or_escalated": lambda: read(approved(lost_judge(files=OWN))),
    "a_refused_judgement_is_no_approval": lambda: read(approved(told({"post_verify": ["call_budget"]}))),
    "an_outage_is_a_veto_where_the_team_wants_it": lambda: read(
        approved(lost_judge(switches={"HYDRAFLOW_REVIEW_POSTVERIFY_FAIL_AS_VETO": "on"}))
    ),
    "a_judge_that_the_change_may_have_silenced_does_not_approve": lambda: read(
        approved(told({"post_verify": ["model_refused"]}))
    ),
    "a_judgement_is_what_was_said": lambda: read(answering(told(), Role.POST_VERIFY, verdict="VETO")),
    "an_idle_retry_is_not_judged_again": lambda: read(unverified_idle_retry()),
    "a_stop_signal_calls_a_human": lambda: read(consulting(told(), Advice("May I?", grant(told()), STOP_SIGNAL))),
    "an_open_question_about_a_critical_path_calls_a_human": lambda: read(
        consulting(
            told({}, [{"path": "src/auth/a.py", "added": 3}]), Advice("Is src/auth/a.py right?", grant(told()), None)
        )
    ),
    "nothing_is_remembered_without_a_verdict": lambda: read(wiki_of_an_escalation()),
    "what_did_not_run_says_why": lambda: read(without_reasons()),
    "the_tier_is_not_too_low": lambda: read(tier(told({}, OWN), BlastRadius.MEDIUM)),
    "retries_stay_within_the_blast_radius": lambda: read(
        replace(told(), asked=tuple(call(role(told(), Role.EXECUTOR), attempt=number) for number in range(3)))
    ),
    "a_rejection_is_retried_once": lambda: read(handed_back_twice()),
    "each_question_is_asked_once_and_repaired_once": lambda: read(again(told(), Role.EXECUTOR, 1)),
    "consults_stay_within_the_cap": lambda: read(
        consulting(told(), *(Advice(f"{n}?", grant(told()), guidance()) for n in range(6)))
    ),
    "money_stays_within_the_purse": lambda: read(calls(told(), lambda a: replace(a, line=a.line.costing(1.0)))),
    "time_stays_within_the_wall_clock": lambda: read(again_late()),
    "a_patch_holds_text_of_the_change_and_nothing_else": lambda: read(offering(patch_of("src/other.py"))),
    "only_a_vetoed_approval_may_be_repaired": lambda: read(replace(mended(), repair="off")),
    "a_repair_never_approves_the_head": lambda: read(approved(mended())),
    "a_patch_is_offered_if_and_only_if_it_was_judged_right": lambda: read(document(mended(), repair=None)),
    "a_repair_makes_nothing_milder": lambda: read(tier(mended(), BlastRadius.HIGH)),
    "an_honest_repair_is_judged": lambda: read(refused_honest()),
    "identical_pictures_cost_no_call": lambda: read(pictured("differs", "identical")),
    "a_picture_that_nobody_saw_is_never_approved": lambda: read(pictured("differs", "too_large")),
    "knowledge_is_stored_only_after_its_gate": lambda: read(ungated()),
    "only_what_its_advisor_approved_is_knowledge": lambda: read(approved_as_proposal()),
    "knowledge_never_decides_a_verdict": lambda: read(decided_by_knowledge()),
    "a_switch_off_means_no_call": lambda: read(
        replace(told(), environment={"HYDRAFLOW_PR_REVIEW_ADVISOR_ENABLED": " NO "})
    ),
    "a_switch_on_at_the_start_stays_on": lambda: read(
        replace(told({}, switches={"HYDRAFLOW_REVIEW_POSTVERIFY_ENABLED": "0"}), environment={})
    ),
    "a_change_that_deserves_a_plan_gets_one": lambda: read(
        replace(told(), events=tuple(e for e in told().events if getattr(e, "role", None) is not Role.PRE_FLIGHT))
    ),
    "switched_off_is_never_silent": lambda: read(
        flagged(told({}, switches={"HYDRAFLOW_REVIEW_ADVISOR_ENABLED": "0"}), advisor_disabled=())
    ),
    "surfaces_run_in_their_order": lambda: read(reported_backwards()),
    "trouble_with_the_account_stops": lambda: read(again(told({"pre_flight": ["credit_gone"]}), Role.PRE_FLIGHT, 1)),
    "the_exit_code_is_the_outcomes": lambda: read(replace(told({"executor": [NO]}), exit_code=0)),
    "what_is_unread_is_never_approved": lambda: read(document(told(), coverage=half_read())),
    "what_is_called_read_was_shown": lambda: read(prompts(told(), "value = 30", "value = 29")),
    "coverage_names_every_file": lambda: read(document(told(), coverage=())),
    "degraded_is_never_silent": lambda: misreported(lost_judge(), "DEGRADED", "fine"),
    "every_lost_answer_is_named": lambda: read(flagged(lost_judge(), lost=())),
    "every_call_is_accounted_for": lambda: read(
        replace(told(), events=tuple(e for e in told().events if not isinstance(e, CallEnded)))
    ),
    "the_report_says_how_it_ended": lambda: misreported(told({"executor": [NO]}), "CHANGES REQUESTED", "APPROVED"),
    "the_document_survives_json": lambda: read(document(told(), cost=(NO_NUMBER,))),
    "whoever_publishes_believes_it": lambda: read(document(told(), events=in_two_parts())),
    "what_died_decided_nothing": lambda: read(replace(told(), ended="died")),
    "a_verdict_is_of_the_head_it_read": lambda: read(document(told(), head_sha="c" * 40)),
    "no_finding_is_lost": lambda: read(reported(told({"executor": [{"findings": [NOTED]}]}), findings=())),
    "what_proves_nothing_is_refused": lambda: read(quoting(evidence=" v ")),
    "a_finding_stands_where_its_quote_does": lambda: read(quoting(line=7, end_line=7)),
    "the_same_settings_have_one_digest": lambda: Reading(
        told(), (replace(told(), environment={"HYDRAFLOW_REVIEW_POSTVERIFY_FAIL_AS_VETO": "on"}),)
    ),
    "a_check_concludes_as_its_review_did": lambda: read(replace(told(), exit_code=11)),
    "what_was_not_verified_is_seen_on_the_check": lambda: read(flagged(told(), degraded=True)),
    "recovered_is_an_approval_that_answered_a_veto": lambda: read(flagged(told(), recovered=True)),
    "exhausted_is_a_veto_that_outlasted_the_retries": lambda: read(flagged(told(), exhausted=True)),
    "every_prompt_has_what_its_role_is_owed": lambda: read(prompts(told(), "<<<UNTRUSTED DIFF", "<<<TRUSTED DIFF")),
    "a_diff_judged_alone_comes_with_nothing_that_is_said": lambda: read(
        calls(told(config=BLIND), lambda a: call(a, blocks=(f"{a.call.prompt} Add a value",)) if a.call.blind else a)
    ),
    "the_plan_reaches_executor_and_judge": lambda: read(prompts(told(), "a risk", "another")),
    "a_retry_is_handed_the_whole_transcript": lambda: read(prompts(vetoed(), "it breaks twice", "it breaks")),
    "the_judge_sees_the_report_it_judges": lambda: read(prompts(told(), "looks right", "looks wrong")),
    "no_untrusted_text_stands_outside_a_fence": lambda: read(
        calls(told(), lambda a: call(a, blocks=(f"{a.call.prompt}\nzqx says so",)))
    ),
    "no_fence_holds_the_nonce": lambda: read(prompts(told(), "looks right", "looks nonce0001")),
    "nothing_of_an_earlier_review_is_seen": lambda: from_before("as in nonce0001"),
    "a_planner_has_no_tools_and_only_executors_consult": lambda: read(
        calls(told(), lambda a: call(a, tree=Path("tree")))
    ),
    "the_calls_of_a_role_begin_alike": lambda: read(
        calls(vetoed(), lambda a: call(a, blocks=(f"Attempt {a.call.attempt}.", *a.call.blocks)))
    ),
    "guidance_is_carried_into_a_retry": lambda: read(guidance_forgotten()),
    "members_look_before_they_judge": lambda: read(
        calls(of_council(), lambda a: call(a, blocks=(*a.call.blocks, fence("REPORT", "{}", "nonce0001"))))
    ),
    "every_vote_is_recorded": lambda: read(replace(of_council(), events=told().events)),
    "no_right_to_block_is_passed_over": lambda: read(approved(of_council({"votes": [BLOCKS]}))),
    "an_approval_is_what_the_votes_come_to": lambda: read(approved(of_council({"votes": [SPLIT]}))),
    "publishing_counts_the_same": lambda: read(without_a_vote()),
    "who_only_advises_sees_no_report": lambda: read(
        calls(with_voices(), lambda a: call(a, blocks=(*a.call.blocks, fence("REPORT", "{}", "nonce0001"))))
    ),
}


TRUTHS: tuple[Callable[[], PlayedReview], ...] = (
    told,
    vetoed,
    lost_judge,
    lambda: lost_judge(files=OWN),
    lambda: told({"executor": [NO]}),
    lambda: told({"executor": ["reject", NO]}),
    lambda: told({"executor": ["reject", "approve"]}),
    lambda: told({"post_verify": ["call_budget"]}),
    lambda: told({"post_verify": ["model_refused"]}),
    lambda: told({"post_verify": [{"says": "veto", "fault": "two_answers"}]}),
    lambda: told({"executor": [{**NO, "fault": "misshapen"}]}),
    lambda: told({"pre_flight": ["credit_gone"]}),
    lambda: told({}, switches={"HYDRAFLOW_REVIEW_ADVISOR_ENABLED": "off"}),
    lambda: told(config=BLIND),
    lambda: told({"executor": [NO, "approve"]}, config=BLIND),
    lambda: told({"executor": ["crash", "approve"]}, config=BLIND),
    mended,
    lambda: mended(path=".github/workflows/ci.yml"),
    lambda: mended(does="links"),
    lambda: pictured("differs"),
    lambda: pictured("identical"),
    lambda: pictured("too_large"),
    learned,
    of_council,
    with_voices,
    lambda: told(config={"mode": "shadow"}),
    lambda: of_council({"votes": [BLOCKS]}),
    lambda: of_council({"votes": [{"advisor": "security", "fault": "crash"}]}),
)
