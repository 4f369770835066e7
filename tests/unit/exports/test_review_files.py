"""Which files a review leaves, in which order, and in which form."""

from __future__ import annotations

import json

from review_advisor.ledger.artifacts import advisor_log, log_file, review_files
from review_advisor.mockworld.agents import approve, confirm, finding, veto
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument, outcome_json
from review_advisor.review.report import PATCH_FILE, report_text


def vetoed() -> OutcomeDocument:
    world = MockWorld()
    world.agents.script(Role.EXECUTOR, approve(), approve(finding("src/app.py", 7, "value = 7")))
    world.agents.script(Role.POST_VERIFY, veto("seven is taken"), confirm())
    return world.review()


def test_a_review_leaves_its_files_and_the_outcome_last() -> None:
    document = MockWorld().review()
    files = review_files(document)
    assert list(files) == ["report.txt", "advisor_session.jsonl", ".advisor/run-1.json", "outcome.json"]
    assert files["report.txt"] == report_text(document)
    assert files["outcome.json"] == outcome_json(document)
    rows = files["advisor_session.jsonl"].splitlines()
    assert rows
    assert all(isinstance(json.loads(row), dict) for row in rows)
    assert files["advisor_session.jsonl"].endswith("}\n")


def test_a_disagreement_that_calls_a_person_leaves_its_transcript() -> None:
    world = MockWorld()
    world.agents.script(Role.POST_VERIFY, veto("seven is taken"))
    files = review_files(world.review())
    assert "seven is taken" in files["transcript.md"]
    assert list(files)[-3:] == ["transcript.md", ".advisor/run-1.json", "outcome.json"]
    assert "transcript.md" not in review_files(vetoed())


def test_a_repair_leaves_its_patch_and_a_review_without_one_leaves_none() -> None:
    before, faulty, mended = ({"src/app.py": f"value = {n}\n"} for n in range(3))
    world = MockWorld()
    world.checkout(faulty, before)
    world.agents.script(
        Role.EXECUTOR, approve(), approve(summary="mended").repairing("src/app.py", mended["src/app.py"])
    )
    world.agents.script(Role.POST_VERIFY, veto("one is taken"), confirm())
    document = world.review()
    assert document.repair is not None
    assert "+value = 2" in document.repair.patch
    assert review_files(document)[PATCH_FILE] == document.repair.patch
    assert PATCH_FILE not in review_files(vetoed())


def test_the_advisors_log_is_json_that_a_person_can_read() -> None:
    log = advisor_log(vetoed().events)
    ((name, text),) = log_file(log).items()
    assert name == ".advisor/run-1.json"
    assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n"
    assert json.loads(text)["task_id"] == "run-1"
