"""The metrics of advisor-harness's stories, and when they are worse than before."""

from dataclasses import replace

from review_advisor.lab.harness_stories import EXPECTED, PlayedScenario, ScenarioCounts, against, metrics, summary_of

ALL_PASS = [PlayedScenario(name, counts, int(name == "autonomous_consult")) for name, counts in EXPECTED.items()]


def with_failing(*names: str) -> list[PlayedScenario]:
    failed = ScenarioCounts("failed", 1, 0, 0)
    return [replace(each, counts=failed) if each.name in names else each for each in ALL_PASS]


def test_the_metrics_are_those_that_were_measured_with_advisor_harness() -> None:
    assert metrics(ALL_PASS) == {
        "pass_rate": 1.0,
        "malformed_block_rate": 0.286,
        "completion_without_executor_done_rate": 0.143,
        "average_advisor_consults_per_run": 0.714,
        "max_turn_exhaustion_rate": 0.143,
        "advisor_guidance_application_rate": 0.333,
        "status_counts": {
            "advisor_stop_signal": 1,
            "completed": 2,
            "executor_stopped_without_done": 1,
            "malformed_block": 2,
            "max_turns_reached": 1,
        },
    }


def test_one_story_that_fails_now_outweighs_all_that_pass_now() -> None:
    earlier, now = summary_of(with_failing("max_turns", "missing_done")), summary_of(with_failing("advisor_stop"))

    assert against(earlier, now) == ("regressed", "passed before and fails now: advisor_stop")


def test_more_consults_are_no_improvement() -> None:
    often = [replace(each, counts=replace(each.counts, consults=2)) for each in ALL_PASS]
    now = summary_of([*often])

    assert against(summary_of(often), now)[0] == "regressed"
    assert against(summary_of(ALL_PASS), summary_of(ALL_PASS)) == ("stable", "nothing differs")


def test_what_failed_and_passes_is_an_improvement() -> None:
    assert against(summary_of(with_failing("max_turns")), summary_of(ALL_PASS))[0] == "improved"


def test_other_limits_are_not_compared() -> None:
    other = replace(summary_of(with_failing("max_turns")), most_turns=3)

    assert against(other, summary_of(ALL_PASS)) == ("stable", "there is no earlier evaluation under the same terms")
