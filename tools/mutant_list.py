"""The faults that ``make mutants`` puts into the rules, each with the test that has to notice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """``old`` stands exactly once in ``file`` (below the package) and becomes ``new``."""

    fault: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


SCENARIOS = "tests/scenarios/"
ADVISOR = f"{SCENARIOS}test_pr_review_advisor_"
UNIT = "tests/unit/"
GUARD = f"{UNIT}policy/test_guard.py::TestSelfModificationGuard::"
LARGE = f"{SCENARIOS}test_large_changes.py::"
MONEY = f"{SCENARIOS}test_budgets_are_checked_before_money_is_spent.py::"
REJECTIONS = f"{SCENARIOS}test_rejections_are_judged_too.py::"
TWICE = f"{SCENARIOS}test_two_reviews_of_one_change.py::"
RULINGS, DISPATCH, PHASE = "core/outcome/rulings.py", "dispatch.py", "review_phase.py"
BUDGETS, ADVISORS, ROLES = "core/policy/budgets.py", "core/roles/advisors.py", "core/roles/"

MUTANTS = (
    Mutant(
        "one retry more than the budget",
        RULINGS,
        "if standing.retries_used < standing.retry_budget:\n        left",
        "if standing.retries_used <= standing.retry_budget:\n        left",
        (f"{UNIT}outcome/test_rulings.py::test_an_approval_is_retried_while_the_budget_lasts_and_not_once_more",),
    ),
    Mutant(
        "a low blast radius has two retries",
        BUDGETS,
        "BlastRadius.LOW: 1, BlastRadius.MEDIUM: 2",
        "BlastRadius.LOW: 2, BlastRadius.MEDIUM: 2",
        (f"{UNIT}policy/test_budgets.py::test_the_adrs_retry_table",),
    ),
    Mutant(
        "a veto is ignored",
        RULINGS,
        'if result.verdict == "APPROVE":',
        "if result.verdict:",
        (f"{ADVISOR}veto_exhausted_escalates_hitl.py::test_a_veto_that_stands_goes_to_a_human",),
    ),
    Mutant(
        "an advisory veto blocks",
        RULINGS,
        "if standing.authority is Authority.ADVISORY:",
        "if standing.authority is None:",
        (f"{UNIT}outcome/test_rulings.py::test_an_advisory_veto_counts_as_an_approval_and_says_so",),
    ),
    Mutant(
        "the advisor alone overturns a rejection",
        RULINGS,
        'return Ruling(\n        Move.ESCALATE,\n        "the advisor calls',
        'return Ruling(\n        Move.ACCEPT,\n        "the advisor calls',
        (f"{REJECTIONS}test_the_advisor_alone_never_overturns_a_no",),
    ),
    Mutant(
        "a lost judgement is accepted under the guard",
        RULINGS,
        'ESCALATE, f"{what} while the self-modification guard holds", degraded',
        'ACCEPT, f"{what} while the self-modification guard holds", degraded',
        (f"{ADVISOR}post_verify_fails_degrades.py::test_a_lost_judgement_of_a_change_to_the_bot_goes_to_a_human_d16",),
    ),
    Mutant(
        "a judgement switched off is accepted under the guard",
        RULINGS,
        'return Ruling(Move.ESCALATE, f"{what} while the self-modification guard holds")',
        'return Ruling(Move.ACCEPT, f"{what} while the self-modification guard holds")',
        (f"{ADVISOR}kill_switch_master_off.py::test_nobody_switches_the_judge_off_for_a_change_to_the_judge_d16",),
    ),
    Mutant(
        "FAIL_AS_VETO turns an advisory surface into one with a veto",
        RULINGS,
        "if standing.fail_as_veto and standing.authority is Authority.VETO:",
        "if standing.fail_as_veto:",
        (f"{UNIT}outcome/test_rulings.py::test_the_table_of_missing_judgements_d6_d8_d13",),
    ),
    Mutant(
        "FAIL_AS_VETO is ignored",
        RULINGS,
        "if standing.fail_as_veto and standing.authority is Authority.VETO:",
        "if False:",
        (f"{UNIT}outcome/test_rulings.py::test_the_table_of_missing_judgements_d6_d8_d13",),
    ),
    Mutant(
        "a refused judgement is an approval",
        RULINGS,
        "return Ruling(Move.ESCALATE, what, degraded=True)",
        "return Ruling(Move.ACCEPT, what, degraded=True)",
        (f"{MONEY}test_a_judgement_nobody_can_pay_calls_a_human_d44",),
    ),
    Mutant(
        "a lost judgement is not marked as degraded",
        RULINGS,
        "the executor's verdict stands, unverified\", degraded=True)",
        "the executor's verdict stands, unverified\", degraded=False)",
        (f"{ADVISOR}post_verify_fails_degrades.py::test_a_lost_post_verify_leaves_the_executors_verdict_and_a_mark",),
    ),
    Mutant(
        "a call cut short by a cap counts as an outage",
        "core/roles/replies.py",
        "if lost.reason is LostReason.CALL_BUDGET:",
        "if lost.reason is None:",
        (
            f"{SCENARIOS}test_nobody_can_buy_an_approval.py::test_a_post_verify_that_reaches_its_money_cap_in_flight_escalates",
        ),
    ),
    Mutant(
        "the transcript holds only the last attempt",
        f"{ROLES}transcript.py",
        "[_as_json(attempt) for attempt in attempts]",
        "[_as_json(attempt) for attempt in attempts[-1:]]",
        (f"{ADVISOR}veto_exhausted_escalates_hitl.py::test_each_retry_hands_back_all_attempts_before_it",),
    ),
    Mutant(
        "the transcript is dropped",
        f"{ROLES}transcript.py",
        "if not attempts:",
        "if attempts:",
        (f"{ADVISOR}veto_retry_recovers.py::test_the_retry_carries_the_whole_transcript_not_a_summary_d23",),
    ),
    Mutant(
        "the specification is dropped from post-verify",
        ADVISORS,
        "        prompts.spec_section(seen.change, seen.nonce),\n        prompts.whole_change",
        "        prompts.whole_change",
        (f"{SCENARIOS}test_pre_merge_spec_check.py::test_the_spec_reaches_post_verify_d1",),
    ),
    Mutant(
        "the plan is dropped",
        ADVISORS,
        "if plan is not None:",
        "if plan is None and plan:",
        (f"{ADVISOR}happy_path.py::test_the_plan_reaches_the_executor_and_post_verify",),
    ),
    Mutant(
        "one consult more than the cap",
        BUDGETS,
        "return max(0, cap + min(",
        "return max(0, 1 + cap + min(",
        (f"{SCENARIOS}test_the_consult_cap.py::test_the_sixth_question_is_denied_and_the_executor_decides_alone_d27",),
    ),
    Mutant(
        "the hook lets one consult more through",
        "adapters/claude/consult_hook.py",
        "granted = used < cap",
        "granted = used <= cap",
        ("tests/adapters/test_consult_hook.py::test_twenty_at_once_under_a_cap_of_five_are_exactly_five",),
    ),
    Mutant(
        "refunds without end",
        BUDGETS,
        "min(failed, MAX_REFUNDS)",
        "failed",
        (f"{UNIT}policy/test_budgets.py::test_failed_consults_are_given_back_at_most_three_times",),
    ),
    Mutant(
        "the guard looks at one side of a rename",
        "core/facts/change.py",
        "(self.path,) if self.old_path is None else (self.path, self.old_path)",
        "(self.path,)",
        (f"{GUARD}test_moving_a_guarded_file_away_is_seen_d15_d17",),
    ),
    Mutant(
        "the guard tells upper case from lower",
        "core/facts/paths.py",
        "_covered(self.patterns, path.casefold())",
        "_covered(self.patterns, path)",
        (f"{GUARD}test_case_hides_nothing",),
    ),
    Mutant(
        "the guard does not force the veto",
        "core/policy/policy.py",
        "authority = Authority.VETO if held.holds else row.authority\n    return",
        "authority = row.authority\n    return",
        (f"{GUARD}test_it_turns_an_advisory_surface_into_one_with_a_veto_d16",),
    ),
    Mutant(
        "self-modification has a low blast radius",
        "core/policy/blast.py",
        'reasons += [f"the bot\'s own implementation touched: {path}" for path in own_implementation]',
        "",
        (f"{GUARD}test_it_forces_the_veto_and_a_high_blast_on_every_surface_d16",),
    ),
    Mutant(
        "twenty lines of code are planned",
        "core/policy/trigger.py",
        "if facts.code_lines > MANY_CODE_LINES:",
        "if facts.code_lines >= MANY_CODE_LINES:",
        (f"{UNIT}policy/test_trigger_and_blast.py::test_more_than_twenty_lines_of_code_are_planned",),
    ),
    Mutant(
        "an empty variable means off",
        "core/policy/switches.py",
        "if not value:\n        return default\n    if value.lower() in YES:",
        "if not value:\n        return False\n    if value.lower() in YES:",
        (f"{UNIT}policy/test_switches.py::test_every_yes_and_an_empty_value_leave_it_on_d28",),
    ),
    Mutant(
        "the master switch is not asked",
        "core/policy/switches.py",
        "if not self.master:",
        "if self.master is None:",
        (f"{ADVISOR}kill_switch_master_off.py::test_with_the_master_switch_off_the_executor_reviews_alone",),
    ),
    Mutant(
        "a switch is read again in mid-review",
        PHASE,
        "if row.post_verify.disabled_by is not None:",
        "if row.post_verify.disabled_by or 'HYDRAFLOW_REVIEW_ADVISOR_ENABLED' in __import__('os').environ:",
        (f"{TWICE}test_the_processs_own_environment_is_not_read_while_a_review_runs_d24",),
    ),
    Mutant(
        "a retry that changed nothing is judged again",
        "core/outcome/ends.py",
        "if before is None or before.state != now.state",
        "if before is None or before is not now or before.state != now.state",
        (f"{REJECTIONS}test_a_retry_that_changed_nothing_is_refused_before_the_second_question_d11",),
    ),
    Mutant(
        "a stop signal of the advisor is overheard",
        f"{ROLES}mid_flight.py",
        "note.guidance is not None and note.guidance.stop_signal",
        "note.guidance is None and note.guidance",
        (f"{ADVISOR}midflight_consult.py::test_the_advisors_stop_signal_calls_a_human_before_any_judgement",),
    ),
    Mutant(
        "an open question about a critical path is forgotten",
        f"{ROLES}mid_flight.py",
        'if note.status != "denied" or not critical:',
        "if True:",
        (f"{UNIT}roles/test_mid_flight.py::test_a_denied_question_may_concern_a_critical_path",),
    ),
    Mutant(
        "spent credit is swallowed",
        DISPATCH,
        "            self.halt(stop)\n            raise\n",
        "            return Asked(Refused('money', 'swallowed'))\n",
        (f"{SCENARIOS}test_when_the_review_cannot_go_on.py::test_a_stop_is_no_lost_answer_and_no_degraded_approval",),
    ),
    Mutant(
        "running calls are not ended after a stop",
        DISPATCH,
        "            self._ports.agents.end_running()",
        "            pass",
        (f"{LARGE}test_a_stop_in_one_part_starts_no_further_call_and_ends_the_running_ones_once",),
    ),
    Mutant(
        "a call starts after a stop",
        DISPATCH,
        "            if self._stopped is not None:\n                raise self._stopped\n",
        "",
        (f"{LARGE}test_a_stop_in_one_part_starts_no_further_call_and_ends_the_running_ones_once",),
    ),
    Mutant(
        "a call cannot time out",
        BUDGETS,
        "min(budgets.call_seconds, left_seconds)",
        "budgets.review_seconds * 99",
        (f"{MONEY}test_a_call_may_take_ten_minutes_and_never_longer_than_the_review",),
    ),
    Mutant(
        "the review's time is not looked at",
        BUDGETS,
        "if left_seconds <= 0:",
        "if left_seconds is None:",
        (f"{UNIT}policy/test_budgets.py::test_leave_for_one_call_d44",),
    ),
    Mutant(
        "calls in flight reserve nothing",
        BUDGETS,
        "budgets.max_usd - spending.spent_usd - spending.reserved_usd",
        "budgets.max_usd - spending.spent_usd",
        (f"{UNIT}policy/test_budgets.py::test_leave_for_one_call_d44",),
    ),
    Mutant(
        "what was not sent is approved",
        "core/outcome/ends.py",
        "    if unsent:\n",
        "    if unsent is None:\n",
        (f"{LARGE}test_a_line_too_long_to_send_is_named_and_never_approved_d3",),
    ),
    Mutant(
        "a lost part of several is forgotten",
        "core/outcome/ends.py",
        "outcome = worst(outcomes)",
        "outcome = outcomes[0]",
        (f"{LARGE}test_one_lost_part_among_several_calls_a_human_and_its_file_is_named",),
    ),
    Mutant(
        "the last part is not reviewed",
        "core/facts/shards.py",
        "    parts.append(tuple(current))\n    return",
        "    return",
        (f"{UNIT}facts/test_shards.py::test_every_line_is_sent_once_in_order_or_its_file_is_named_d3",),
    ),
    Mutant(
        "an answer without structured output is taken from its text",
        "adapters/claude/meaning.py",
        "        return Lost(LostReason.NO_STRUCTURED_OUTPUT,",
        "        return Answered({}, receipt) if summary.result else Lost(LostReason.NO_STRUCTURED_OUTPUT,",
        (f"{UNIT}test_claude_meaning.py::test_words_in_a_successful_result_are_not_believed",),
    ),
    Mutant(
        "an approval may carry a blocking disagreement",
        f"{ROLES}answers.py",
        'if self.verdict == "APPROVE" and any(',
        'if self.verdict == "no" and any(',
        (f"{UNIT}roles/test_answers.py::test_an_unsound_answer_is_lost_d7",),
    ),
    Mutant(
        "evidence is not held against the change",
        f"{ROLES}evidence.py",
        "if place is None:",
        "if place == 0:",
        (f"{UNIT}roles/test_evidence.py::test_a_quote_that_does_not_stand_in_the_change_is_refused",),
    ),
    Mutant(
        "words settle a disagreement",
        f"{ROLES}evidence.py",
        "< SHORTEST_PROOF:",
        "< 0:",
        (f"{UNIT}roles/test_evidence.py::test_a_disagreement_is_settled_by_a_quote_and_not_by_words",),
    ),
    Mutant(
        "the nonce stays in the text",
        f"{ROLES}fence.py",
        '.replace(nonce, "[nonce removed]")',
        "",
        (f"{UNIT}roles/test_fence.py::test_nothing_inside_can_end_its_fence_or_open_another_d4",),
    ),
    Mutant(
        "invisible characters stay invisible",
        f"{ROLES}fence.py",
        'return _INVISIBLE.sub(lambda m: f"<U+{ord(m[0]):04X}>", found)',
        "return found",
        (f"{UNIT}roles/test_fence.py::test_what_cannot_be_seen_is_shown",),
    ),
    Mutant(
        "tokens are not removed",
        f"{ROLES}fence.py",
        "_SECRETS.sub(REDACTED, text)",
        "text",
        (f"{UNIT}roles/test_fence.py::test_a_token_never_enters_a_prompt",),
    ),
    Mutant(
        "our own secrets go into prompts",
        DISPATCH,
        "self._reserve(replace(call, prompt=self._redactor.redact(call.prompt)))",
        "self._reserve(call)",
        (f"{SCENARIOS}test_secrets_stay_out.py::test_a_secret_that_is_everywhere_is_told_nowhere",),
    ),
    Mutant(
        "our own secrets go into events",
        DISPATCH,
        "told = self._redactor.everywhere(event)",
        "told = event",
        (f"{SCENARIOS}test_secrets_stay_out.py::test_a_secret_that_is_everywhere_is_told_nowhere",),
    ),
    Mutant(
        "the configuration comes from the head",
        "adapters/git/source.py",
        "blob(self._rules_tree, path, refuse_links=True)",
        "blob(self._sides.head_tree, path, refuse_links=True)",
        ("tests/adapters/test_git_hostile.py::test_a_file_of_the_base_is_not_the_heads",),
    ),
    Mutant(
        "a degraded approval exits as approved where a human is wanted",
        "core/outcome/document.py",
        "policy.fail_on_degraded and unverified",
        "policy.fail_on_degraded and not unverified",
        (f"{ADVISOR}post_verify_fails_degrades.py::test_a_team_may_ask_for_a_human_whenever_an_approval_is_degraded",),
    ),
    Mutant(
        "an escalation exits as approved",
        "core/outcome/outcomes.py",
        "Outcome.ESCALATED: 11",
        "Outcome.ESCALATED: 0",
        (f"{ADVISOR}veto_exhausted_escalates_hitl.py::test_a_veto_that_stands_goes_to_a_human",),
    ),
    Mutant(
        "claude finds programs in the checkout",
        "adapters/claude/locate.py",
        "if not any(place.is_relative_to(root) for place in its))",
        "if entry or its)",
        (f"{UNIT}test_claude_locate.py::test_what_claude_starts_is_not_looked_for_in_the_checkout",),
    ),
)
