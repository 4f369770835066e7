"""The test of a module of the core is found by its name, and no folder of tests is a heap."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE, UNIT = ROOT / "src/review_advisor/core", ROOT / "tests/unit"
MOST_TESTS_OF_A_FOLDER = 20
SMALL_FOLDERS = ("tests/unit", "tests/adapters")

TESTED_ELSEWHERE = {
    "retro/retro_files": "tests/scenarios/test_a_run_after_its_end.py",
    "policy/recording_rules": "tests/adapters/answers/test_recordings.py",
    "report/setting_complaints": "tests/unit/test_settings.py",
    "organisation/collection": "tests/adapters/organisation/test_collect.py",
    "organisation/organisation_file": "tests/unit/organisation/test_organisation.py",
    # one table of lock files and attacks on them
    **{
        f"facts/lockfiles/{module}": "tests/attacks/test_nothing_hides_in_a_lock_file.py"
        for module in (
            "go_sum",
            "composer_lock",
            "lock_changes",
            "lock_entries",
            "lock_formats",
            "lock_readers",
            "named_hosts",
            "npm_lock",
            "pipfile_lock",
            "pnpm_lock",
            "toml_locks",
            "yarn_lock",
        )
    },
    # values without a rule: the tests of those that use them say what they hold
    "pages/entry": "tests/unit/pages/test_entries.py",
    "pull_request/standing": "tests/unit/pull_request/test_state.py",
    "observation/observation_rows": "tests/unit/observation/test_labels.py",
    "policy/static_review": "tests/unit/policy/test_policy_digest.py",
    "task/task_events": "tests/scenarios/test_task_run.py",
    "task/task_status": "tests/unit/task/test_task_files.py",
    "policy/mode": "tests/attacks/test_shadow_mode_passes_nothing.py",
    "policy/surfaces": "tests/unit/policy/test_policy.py",
    "facts/repair_edits": "tests/unit/roles/test_repair_law.py",
    # one rule over several modules, tested as one
    "facts/patches/touched_lines": "tests/unit/facts/test_earlier_review.py",
    "facts/checker_settings": "tests/unit/test_other_languages.py",
    "forge_text/account": "tests/unit/forge_text/test_every_kind_of_review.py",
    "ledger/checkpoint": "tests/adapters/ledger/test_checkpoints.py",
    "outcome/replayed/part_replay": "tests/unit/outcome/test_soundness.py",
    "pages/transcript_entries": "tests/unit/pages/test_entries.py",
    "safety/secret_shapes/assignments": "tests/unit/safety/secret_shapes/test_places.py",
    "safety/secret_shapes/private_keys": "tests/unit/safety/test_secret_shapes.py",
    # what a whole review, or a whole task, makes of it is the promise
    "answers/challenge": "tests/attacks/test_nobody_refutes_a_finding.py",
    "answers/decision_card": "tests/scenarios/test_decision_cards.py",
    "answers/member_vote": "tests/unit/outcome/test_council_rulings.py",
    "answers/opinion": "tests/scenarios/test_declared_advisors_are_asked.py",
    "council/member_calls": "tests/scenarios/test_a_council_judges.py",
    "council/panel": "tests/unit/outcome/test_council_rulings.py",
    "escalation/after_advice": "tests/scenarios/test_escalation.py",
    "escalation/packet": "tests/scenarios/test_escalation.py",
    "evaluation/calibration/calibration_table": "tests/unit/evaluation/calibration/test_calibration.py",
    "evaluation/golden/match_table": "tests/adapters/evaluation/test_golden_match.py",
    "evaluation/golden/set_table": "tests/adapters/evaluation/test_golden_verbs.py",
    "evaluation/score_table": "tests/adapters/evaluation/test_score_martian.py",
    "exports/council_verdict": "tests/scenarios/test_what_a_council_leaves_for_machines.py",
    "exports/panel_log": "tests/scenarios/test_who_sits_in_councils.py",
    "exports/weekly_rollup": "tests/adapters/cli/test_rollup_of_advice.py",
    "facts/files/called_files": "tests/attacks/test_workflow_edits_are_watched.py",
    "facts/files/declared": "tests/unit/roster/test_declarations.py",
    "facts/files/languages": "tests/scenarios/test_static_checks_alone.py",
    "forge_text/council_votes": "tests/scenarios/test_a_council_judges.py",
    "ledger/advisor_views": "tests/adapters/dashboard/test_advisor_api.py",
    "ledger/task_lines": "tests/adapters/ledger/test_tasks.py",
    "ledger/task_rows": "tests/adapters/ledger/test_tasks.py",
    "pull_request/counterfactual/other_rules": "tests/scenarios/test_a_review_under_other_rules.py",
    "pull_request/counterfactual/part_otherwise": "tests/scenarios/test_a_review_under_other_rules.py",
    "pull_request/counterfactual/review_otherwise": "tests/scenarios/test_a_review_under_other_rules.py",
    "pull_request/counterfactual/other_prices": "tests/adapters/evaluation/test_replay.py",
    "pull_request/counterfactual/other_roster": "tests/scenarios/test_a_review_under_another_roster.py",
    "pull_request/counterfactual/would_ask": "tests/scenarios/test_a_review_under_another_roster.py",
    "pull_request/counterfactual/counterfactual_table": "tests/adapters/evaluation/test_replay.py",
    "pull_request/counterfactual/pull_request_otherwise": "tests/adapters/evaluation/test_replay.py",
    "outcome/blocking": "tests/unit/forge_text/test_check.py",
    "outcome/council_records": "tests/scenarios/test_a_council_judges.py",
    "outcome/coverage": "tests/unit/outcome/test_document.py",
    "outcome/pre_existing": "tests/scenarios/test_pre_existing.py",
    "outcome/replayed/replayed_advice": "tests/scenarios/test_escalation.py",
    "outcome/replayed/replayed_judges": "tests/scenarios/test_a_council_judges.py",
    "outcome/replayed/replayed_repair": "tests/unit/outcome/test_soundness.py",
    "outcome/replayed/steps_in_order": "tests/unit/outcome/test_soundness.py",
    "outcome/steps/advice_events": "tests/scenarios/test_escalation.py",
    "outcome/steps/happened": "tests/unit/outcome/test_soundness.py",
    "outcome/steps/voteless_events": "tests/scenarios/test_a_refuter_checks_what_blocks.py",
    "policy/escalation_rules": "tests/unit/policy/test_thresholds.py",
    "pull_request/money/counting": "tests/attacks/test_the_money_of_a_pull_request.py",
    "pull_request/money/day_spending": "tests/attacks/test_the_money_of_an_author.py",
    "pull_request/unreviewed": "tests/scenarios/test_when_a_review_starts.py",
    "pull_request/waiting": "tests/unit/pull_request/test_beginning.py",
    "pull_request/writes": "tests/scenarios/test_two_publishers.py",
    "report/advice_text": "tests/scenarios/test_escalation.py",
    "report/council_text": "tests/scenarios/test_a_council_judges.py",
    "report/disagreement": "tests/scenarios/test_unusable_replies.py",
    "report/found_text": "tests/unit/forge_text/test_counts_add_up.py",
    "report/report_text": "tests/unit/forge_text/test_counts_add_up.py",
    "roles/advisors": "tests/scenarios/test_pr_review_advisor_happy_path.py",
    "roles/opinions": "tests/scenarios/test_declared_advisors_are_asked.py",
    "roles/replies": "tests/unit/answers/test_answers.py",
    "roles/surface_inputs": "tests/scenarios/test_adr_review.py",
    "roles/team_rules": "tests/scenarios/test_the_teams_own_rules.py",
    "roster/answer_fields": "tests/unit/roster/test_declarations.py",
    "roster/declaration_text": "tests/unit/roster/test_declarations.py",
    "roster/layers": "tests/unit/roster/test_declarations.py",
    "roster/nearest": "tests/unit/roster/test_declarations.py",
    "roster/presets": "tests/unit/roster/test_declarations.py",
    "roster/roster_files": "tests/unit/roster/test_declarations.py",
    "roster/wanted": "tests/unit/roster/test_declarations.py",
    "shadow/shadow_events": "tests/adapters/ledger/test_shadows.py",
    "task/fake_speaker": "tests/adapters/tasks/test_run_task.py",
}
"""The test file of each module of the core that has none of its own name."""


def own_test(module: str) -> Path:
    """Where a reader looks first."""
    room, _, name = module.rpartition("/")
    return UNIT / room / f"test_{name}.py"


def modules() -> list[str]:
    """The modules of the core that hold something, by their place."""
    paths = (path.relative_to(CORE).with_suffix("") for path in CORE.rglob("*.py") if path.name != "__init__.py")
    return sorted(path.as_posix() for path in paths)


@pytest.mark.parametrize("module", modules())
def test_the_test_of_a_module_is_found_by_its_name_or_in_the_list(module: str) -> None:
    if own_test(module).exists():
        assert module not in TESTED_ELSEWHERE
    else:
        assert module in TESTED_ELSEWHERE, f"{own_test(module).relative_to(ROOT)} is missing"


def test_the_list_names_modules_and_files_that_there_are() -> None:
    assert sorted(TESTED_ELSEWHERE.keys() - set(modules())) == []
    assert [file for file in TESTED_ELSEWHERE.values() if not (ROOT / file).is_file()] == []


@pytest.mark.parametrize("folder", SMALL_FOLDERS)
def test_tests_are_grouped_by_what_they_test(folder: str) -> None:
    for place in (ROOT / folder, *(path for path in (ROOT / folder).rglob("*") if path.is_dir())):
        assert len(list(place.glob("test_*.py"))) <= MOST_TESTS_OF_A_FOLDER, place
