"""The test of a module of the core is found by its name, and no folder of tests is a heap."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE, UNIT = ROOT / "src/review_advisor/core", ROOT / "tests/unit"
MOST_TESTS_OF_A_FOLDER = 20
SMALL_FOLDERS = ("tests/unit", "tests/adapters")

TESTED_ELSEWHERE = {
    # one table of lock files and attacks on them
    **{
        f"facts/lockfiles/{module}": "tests/attacks/test_nothing_hides_in_a_lock_file.py"
        for module in (
            "go_sum",
            "lock_changes",
            "lock_entries",
            "lock_formats",
            "npm_lock",
            "pnpm_lock",
            "toml_locks",
            "yarn_lock",
        )
    },
    "roles/excluded_prompt": "tests/attacks/test_nothing_hides_in_a_lock_file.py",
    # values without a rule: the tests of those that use them say what they hold
    "pages/entry": "tests/unit/pages/test_entries.py",
    "pull_request/standing": "tests/unit/pull_request/test_state.py",
    "observation/observation_rows": "tests/unit/observation/test_labels.py",
    "policy/static_review": "tests/unit/policy/test_policy_digest.py",
    "policy/surfaces": "tests/unit/policy/test_policy.py",
    "facts/earlier_review": "tests/unit/roles/test_earlier_prompt.py",
    "facts/repair_edits": "tests/unit/roles/test_repair_law.py",
    # one rule over several modules, tested as one
    "facts/patches/touched_lines": "tests/unit/facts/test_line_ages.py",
    "facts/checker_settings": "tests/unit/test_other_languages.py",
    "facts/ruff_settings": "tests/unit/test_embedded_checks.py",
    "forge_text/account": "tests/unit/forge_text/test_every_kind_of_review.py",
    "ledger/checkpoint": "tests/adapters/ledger/test_checkpoints.py",
    "outcome/replay": "tests/unit/outcome/test_soundness.py",
    "pages/report_changes": "tests/unit/pages/test_pages.py",
    "pages/transcript_entries": "tests/unit/pages/test_entries.py",
    "safety/secret_shapes/assignments": "tests/unit/safety/secret_shapes/test_places.py",
    "safety/secret_shapes/private_keys": "tests/unit/safety/test_secret_shapes.py",
    # what a whole review makes of it is the promise
    "facts/files/called_files": "tests/attacks/test_workflow_edits_are_watched.py",
    "facts/files/languages": "tests/scenarios/test_static_checks_alone.py",
    "forge_text/rule_links": "tests/scenarios/test_the_teams_own_rules.py",
    "outcome/blocking": "tests/unit/forge_text/test_check.py",
    "outcome/coverage": "tests/unit/outcome/test_document.py",
    "outcome/pre_existing": "tests/scenarios/test_pre_existing.py",
    "policy/judge_retries": "tests/scenarios/test_a_judge_in_an_outage.py",
    "pull_request/dismissals": "tests/scenarios/test_conversation.py",
    "pull_request/unreviewed": "tests/scenarios/test_when_a_review_starts.py",
    "pull_request/waiting": "tests/unit/pull_request/test_beginning.py",
    "pull_request/writes": "tests/scenarios/test_two_publishers.py",
    "report/disagreement": "tests/scenarios/test_unusable_replies.py",
    "report/found_text": "tests/unit/forge_text/test_counts_add_up.py",
    "report/report_text": "tests/unit/forge_text/test_counts_add_up.py",
    "roles/advisors": "tests/scenarios/test_pr_review_advisor_happy_path.py",
    "roles/replies": "tests/unit/answers/test_answers.py",
    "roles/surface_inputs": "tests/scenarios/test_adr_review.py",
    "roles/team_rules": "tests/scenarios/test_the_teams_own_rules.py",
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
