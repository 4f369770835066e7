"""What a run on a release adds to its folder: nothing in it acts when it is shown."""

from __future__ import annotations

from tests.scenarios.test_release_readiness import BLOCKER, EVIDENCE, HOLD, judged, played, report

from review_advisor.tasks.readiness import evaluation_text, readiness_files


def test_the_five_files_are_there_and_say_what_was_supplied() -> None:
    files = readiness_files(played(report("hold", blockers=[BLOCKER]), [HOLD]).events, EVIDENCE)
    assert list(files) == [
        "release_readiness_evidence.md",
        "release_readiness_prompt.md",
        "release_readiness_report.schema.json",
        "release_readiness_evaluation.json",
        "release_readiness_evaluation.md",
    ]
    assert files["release_readiness_evidence.md"].startswith(EVIDENCE.text)
    assert "RELEASE_READINESS_REPORT" in files["release_readiness_prompt.md"]


def test_a_reader_sees_verdict_failures_blockers_and_figures() -> None:
    text = evaluation_text(judged(played(report("go", blockers=[BLOCKER]))))
    for words in ("Verdict: **go**", "no, a person decides", "## Rules that do not hold", "## Blockers", "no way back"):
        assert words in text
    assert "consults answered: 1" in text


def test_words_of_models_do_not_act_in_the_page() -> None:
    hostile = "<img src=x> @everyone [click](https://evil.example)\n# A heading"
    text = evaluation_text(judged(played(report("go", summary=hostile))))
    assert "<img" not in text
    assert "\n# A heading" not in text
    assert "@everyone" not in text.replace("`@everyone`", "")
