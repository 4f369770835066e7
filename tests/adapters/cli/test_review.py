"""``review-advisor review``: what is reviewed, what is printed, what is stored."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.adapters.command_line import (
    APPROVE,
    CONFIRM,
    Terminal,
    agreeing_claude,
    lines,
    project,
    script,
    scripted_review,
)
from tests.adapters.git_repository import Repo

from review_advisor.app.agent_choice import AgentChoice
from review_advisor.app.review import Selection, StoredReview
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import read_outcome
from review_advisor.review.rulings import Outcome

RISK = "import subprocess\n\n\ndef run(command):\n    return subprocess.call([command, '-l'], shell=True)\n"


def stored(folder: Path) -> dict[str, Any]:
    (outcome,) = (folder / "review_logs").glob("*/outcome.json")
    document: dict[str, Any] = json.loads(outcome.read_bytes())
    return document


@pytest.mark.every_case
def test_from_any_folder_of_the_repository_its_files_lie_at_the_top(terminal: Terminal) -> None:
    below = terminal.folder / "src" / "deep"
    below.mkdir(parents=True)
    assert terminal.review("-q", cwd=below).code == 0
    listed = terminal.run("runs", "list", cwd=below)
    assert (listed.code, "approved" in listed.out) == (0, True)
    assert list(below.iterdir()) == []
    assert (terminal.folder / "review_logs" / "ledger" / "ledger.sqlite3").is_file()
    assert terminal.review("-q", "--artifacts", "mine", cwd=below).code == 0
    assert (below / "mine").is_dir(), "a folder that was given is one below the current folder"


def test_a_folder_above_that_git_takes_for_no_repository_gets_no_files_and_configures_nothing(
    terminal: Terminal, tmp_path: Path
) -> None:
    shared = tmp_path / "shared"
    (shared / "work").mkdir(parents=True)
    (shared / ".git").write_text("gitdir: nowhere\n")
    (shared / "pyproject.toml").write_text("[tool.review-advisor]\nno_such_setting = 1\n")
    patch = tmp_path / "fix.diff"
    patch.write_bytes(Repo(terminal.folder).git("diff", "HEAD~1..HEAD"))
    done = terminal.review("-q", of=("--patch", patch), cwd=shared / "work")
    assert done.code == 0, done.err
    assert terminal.run("config", "check", cwd=shared / "work").code == 0
    assert [path.name for path in (shared / "work").iterdir()] == ["review_logs"]
    assert not (shared / "review_logs").exists()


def test_a_range_is_reviewed_and_the_whole_report_goes_to_stdout(terminal: Terminal) -> None:
    done = terminal.review("--explain")
    assert done.code == 0, done.err
    assert done.out.splitlines()[0] == "APPROVED"
    assert "Read: 1 of 1 file" in done.out
    assert "pr_review: approved" in done.err.splitlines()
    (folder,) = (terminal.folder / "review_logs").glob("range-*")
    assert done.err.splitlines()[-1] == f"Artefacts: {folder}"
    assert {path.name for path in folder.iterdir()} == {
        *(".advisor", ".gitignore", "advisor_session.jsonl", "outcome.json", "report.txt"),
    }
    assert (folder / "report.txt").read_text() == done.out


def test_the_artefacts_never_dirty_the_repository(terminal: Terminal) -> None:
    assert terminal.review().code == 0
    assert Repo(terminal.folder).git("status", "--porcelain") == b""


@pytest.mark.every_case
def test_the_repositorys_own_gitignore_is_not_touched(terminal: Terminal) -> None:
    (terminal.folder / ".gitignore").write_text("*.pyc\n")
    assert terminal.review("--artifacts", ".").code == 0
    assert (terminal.folder / ".gitignore").read_text() == "*.pyc\n"


def test_a_risk_is_exit_10_and_stands_in_report_and_document(terminal: Terminal) -> None:
    Repo(terminal.folder).write("app.py", RISK)
    Repo(terminal.folder).commit("Run commands")
    done = terminal.examine()
    assert (done.code, done.out.splitlines()[0]) == (10, "CHANGES REQUESTED (static checks, no model)")
    document = stored(terminal.folder)
    assert [finding["path"] for finding in document["findings"]] == ["app.py"]
    assert (document["outcome"], document["exit_code"]) == ("changes_requested", 10)


def test_base_reviews_what_head_brought_since_it_left_it(terminal: Terminal) -> None:
    repo = Repo(terminal.folder)
    repo.git("switch", "--quiet", "--create", "topic", "HEAD~1")
    repo.write("topic.py", "z = 3\n")
    repo.commit("The topic")
    done = terminal.review("--json", of=("--base", "main"))
    assert [file["path"] for file in json.loads(done.out)["coverage"]] == ["topic.py"]


def test_staged_reviews_the_index_and_not_the_work_tree(terminal: Terminal) -> None:
    repo = Repo(terminal.folder)
    repo.write("staged.py", "z = 3\n")
    repo.git("add", "staged.py")
    repo.write("loose.py", RISK)
    done = terminal.review("--json", of=("--staged",))
    assert [file["path"] for file in json.loads(done.out)["coverage"]] == ["staged.py"]
    assert done.code == 0


def test_a_patch_needs_no_repository(terminal: Terminal, tmp_path: Path) -> None:
    patch = tmp_path / "fix.diff"
    patch.write_bytes(Repo(terminal.folder).git("diff", "HEAD~1..HEAD"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = terminal.review("--json", of=("--patch", patch), cwd=elsewhere)
    document = json.loads(done.out)
    assert (document["outcome"], document["title"], document["head_sha"]) == ("approved", "fix", None)


def test_a_patch_comes_without_a_tree_and_so_without_reading_tools(tmp_path: Path) -> None:
    """D5: an advisor never looks into whatever lies around."""
    repo = project(tmp_path / "project")
    patch = tmp_path / "fix.diff"
    patch.write_bytes(repo.git("diff", "HEAD~1..HEAD"))
    record = tmp_path / "record.jsonl"
    claude = tmp_path / "bin" / "claude"
    claude.parent.mkdir()
    claude.write_text(
        f"#!/bin/sh\n[ \"$1\" = --version ] && echo '2.1.329 (Claude Code)' && exit\n"
        f'for word in "$@"; do printf \'%s\\n\' "$word"; done >> {record}\npwd >> {record}\nexit 1\n'
    )
    claude.chmod(0o755)
    (tmp_path / "temporary").mkdir()
    terminal = Terminal(repo.path, tmp_path / "temporary", {"ANTHROPIC_API_KEY": "none-needed"})
    assert terminal.run("review", "--patch", patch, "--claude-bin", claude).code == 12
    words = record.read_text().splitlines()
    assert words[words.index("--tools") + 1] in ("", "Agent")
    assert words[-1].startswith(str(tmp_path / "temporary"))


@pytest.mark.every_case
def test_title_body_and_spec_reach_the_agents(tmp_path: Path, terminal: Terminal) -> None:
    """D1: the specification is shown to post-verify."""
    (tmp_path / "body.md").write_text("Because of the second value.\n")
    (tmp_path / "spec.md").write_text("There shall be a y.\n")
    record = tmp_path / "stdin"
    claude = tmp_path / "claude"
    answer = {"type": "result", "subtype": "success", "is_error": False, "structured_output": APPROVE["answer"]}
    confirm = {**answer, "structured_output": CONFIRM["answer"]}
    claude.write_text(
        f"#!/bin/sh\n[ \"$1\" = --version ] && echo '2.1.329 (Claude Code)' && exit\ncat >> {record}\n"
        f'case "$*" in *\'"title": "ReviewReport"\'*) echo \'{json.dumps(answer)}\';;'
        f" *) echo =post-verify= >> {record}; echo '{json.dumps(confirm)}';; esac\n"
    )
    claude.chmod(0o755)
    done = terminal.run(
        *("review", "--range", "HEAD~1..HEAD", "--title", "A second value", "--body-file", tmp_path / "body.md"),
        *("--spec", tmp_path / "spec.md", "--claude-bin", claude, "--json"),
        env={"ANTHROPIC_API_KEY": "none-needed"},
    )
    assert done.code == 0, done.err
    assert json.loads(done.out)["title"] == "A second value"
    asked = record.read_text()
    words = ("A second value", "Because of the second value.", "There shall be a y.")
    assert [asked.count(each) >= 2 for each in words] == [True, True, True]


@pytest.mark.every_case
def test_json_is_exactly_the_document_and_fits_the_exported_schema(terminal: Terminal, tmp_path: Path) -> None:
    output = tmp_path / "outcome.json"
    done = terminal.review("--json", "--output", output)
    schema = json.loads(terminal.run("config", "schema", "--outcome").out)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(done.out), schema)
    (kept,) = (terminal.folder / "review_logs").glob("*/outcome.json")
    assert done.out == output.read_text() == kept.read_text()
    assert read_outcome(done.out).outcome is Outcome.APPROVED


@pytest.mark.every_case
@pytest.mark.parametrize("text,code,first", [("x = 3\n", 0, "NO OBJECTION"), (RISK, 10, "CHANGES REQUESTED")])
def test_a_gate_says_one_line_or_everything(terminal: Terminal, text: str, code: int, first: str) -> None:
    Repo(terminal.folder).write("app.py", text)
    Repo(terminal.folder).commit("The change")
    done = terminal.examine("--gate")
    assert (done.code, done.out.splitlines()[0]) == (code, f"{first} (static checks, no model)")
    assert (len(done.out.splitlines()) == 1) == (code == 0)


def test_a_gate_says_everything_about_an_approval_that_does_not_count(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "strict.toml").write_text('fail_on = "degraded"\n')
    switched_off = {"HYDRAFLOW_REVIEW_POSTVERIFY_ENABLED": "off"}
    done = terminal.review("--gate", "--config", tmp_path / "strict.toml", env=switched_off)
    assert done.code == 11
    assert done.out.startswith(
        "APPROVED (A HUMAN MUST DECIDE: fail_on asks for a verified approval; ADVISOR SWITCHED OFF"
    )
    assert len(done.out.splitlines()) > 1


@pytest.mark.every_case
def test_config_and_profile_change_what_is_critical(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('critical_paths = ["app.py"]\n')
    policies = [
        json.loads(terminal.review("--json", *words).out)["policy"]
        for words in ([], ["--config", tmp_path / "mine.toml"], ["--profile", "hydraflow"])
    ]
    assert [policy["critical_touched"] for policy in policies] == [[], ["app.py"], []]


@pytest.mark.every_case
def test_four_jobs_review_all_parts_of_a_large_change(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "small_parts.toml").write_text("shard_tokens = 2000\n")
    repo = Repo(terminal.folder)
    for number in range(6):
        repo.write(f"part{number}.py", lines(250))
    repo.commit("Six files")
    done = terminal.review("--config", tmp_path / "small_parts.toml", "--jobs", "4", "--json")
    document = json.loads(done.out)
    assert {file["read"] for file in document["coverage"]} == {"read"}
    parts = document["surfaces"][0]["parts"]
    assert len(parts) >= 6
    assert all(part["ended"] is not None for part in parts)


@pytest.mark.every_case
def test_artifacts_may_lie_anywhere_and_output_is_replaced(terminal: Terminal, tmp_path: Path) -> None:
    output = tmp_path / "old.json"
    output.write_text("an earlier outcome")
    done = terminal.review("--artifacts", tmp_path / "a" / "b", "--output", output)
    assert done.code == 0
    assert json.loads(output.read_text())["outcome"] == "approved"
    assert [path.name for path in (tmp_path / "a" / "b").glob("*/outcome.json")] == ["outcome.json"]
    assert not (terminal.folder / "review_logs").exists()


@pytest.mark.every_case
def test_output_may_be_a_device_and_the_device_survives(terminal: Terminal) -> None:
    done = terminal.review("--output", "/dev/null")
    assert done.code == 0
    assert Path("/dev/null").is_char_device()


@pytest.mark.every_case
def test_a_second_run_replaces_everything_of_the_first(tmp_path: Path) -> None:
    repo = project(tmp_path / "project", "x = 1\n", lines(40))
    plan = {"answer": {"risk_summary": "many values"}}
    veto = {"answer": {"verdict": "VETO", "reasoning": "no"}}
    first = scripted_review(
        repo.path, script(tmp_path, ReviewPlan=[plan], ReviewReport=[APPROVE] * 2, PostVerifyResult=[veto] * 2)
    )
    assert {path.name for path in first.folder.iterdir()} >= {"preflight.json", "transcript.md"}
    (tmp_path / "again").mkdir()
    off = {"HYDRAFLOW_REVIEW_PREFLIGHT_ENABLED": "0"}
    second = scripted_review(repo.path, script(tmp_path / "again"), environ=off)
    assert (first.document.outcome, second.document.outcome) == (Outcome.ESCALATED, Outcome.APPROVED)
    assert second.folder == first.folder
    names = {".advisor", ".gitignore", "advisor_session.jsonl", "outcome.json", "report.txt"}
    assert {path.name for path in second.folder.iterdir()} == names
    assert [path.stem for path in (second.folder / ".advisor").iterdir()] == [second.document.run_id]


@pytest.mark.every_case
def test_a_veto_is_answered_with_a_second_attempt(tmp_path: Path) -> None:
    """D10, D13: a recovered approval says so, and is none of the degraded ones."""
    repo = project(tmp_path / "project", "x = 1\n", lines(15))
    veto = {
        "answer": {
            "verdict": "VETO",
            "reasoning": "value_3 was not looked at",
            "disagreements": [
                {"executor_claim": "fine", "advisor_assessment": "value_3 is unread", "severity": "blocking"}
            ],
        }
    }
    answered = {
        "answer": {
            **APPROVE["answer"],
            "answers": [{"disagreement": "d0.1", "position": "contested", "path": "app.py", "evidence": "value_3 = 3"}],
        }
    }
    replies = script(tmp_path, ReviewReport=[APPROVE, answered], PostVerifyResult=[veto, CONFIRM])
    review = scripted_review(repo.path, replies, environ={"HYDRAFLOW_REVIEW_PREFLIGHT_ENABLED": "off"})
    document = review.document
    assert (document.outcome, document.flags.recovered, document.flags.degraded) == (Outcome.APPROVED, True, False)
    rows = [json.loads(row) for row in (review.folder / "advisor_session.jsonl").read_text().splitlines()]
    assert [(row["role"], row["attempt"], row["verdict"]) for row in rows] == [
        (Role.EXECUTOR, 0, "approve"),
        (Role.POST_VERIFY, 0, "VETO"),
        (Role.EXECUTOR, 1, "approve"),
        (Role.POST_VERIFY, 1, "APPROVE"),
    ]


VETOED = {"answer": {"verdict": "VETO", "reasoning": "value_3 is wrong"}}


def repairing(tmp_path: Path, agent: str = "scripted", **edits: str) -> tuple[Repo, StoredReview]:
    """A review whose second attempt writes these files, by their path with "." for "__".

    The ``embedded`` agent is slower, and obeys what it is denied.
    """
    repo = project(tmp_path / "project", "x = 1\n", lines(15))
    edit = {path.replace("__", "."): text for path, text in edits.items()}
    replies = script(
        tmp_path,
        ReviewReport=[APPROVE, {"edit": edit, "then": APPROVE}],
        PostVerifyResult=[VETOED, CONFIRM],
    )
    options: dict[str, Any] = {"agent": AgentChoice("embedded", embedded_script=replies)} if agent == "embedded" else {}
    return repo, scripted_review(repo.path, replies, environ={"HYDRAFLOW_REVIEW_PREFLIGHT_ENABLED": "off"}, **options)


@pytest.mark.every_case
def test_a_repair_is_stored_as_a_patch_that_makes_the_judged_tree_of_the_head(tmp_path: Path) -> None:
    repo, review = repairing(tmp_path, app__py=lines(15).replace("value_3 = 3", "value_3 = 4"))
    made = review.document.repair
    assert (review.document.outcome, review.document.exit_code) == (Outcome.CHANGES_REQUESTED, 10)
    assert made is not None
    assert repo.git("status", "--porcelain") == b""
    patch = review.folder / "repair.patch"
    assert patch.read_text() == made.patch
    repo.git("apply", "--check", str(patch))
    repo.git("apply", "--index", str(patch))
    assert repo.git("write-tree").decode().strip() == made.tree
    assert "+value_3 = 4" in (review.folder / "report.txt").read_text()


@pytest.mark.every_case
def test_a_later_review_leaves_no_patch_of_an_earlier_one(tmp_path: Path) -> None:
    repo, review = repairing(tmp_path, app__py=lines(15).replace("value_3 = 3", "value_3 = 4"))
    (tmp_path / "again").mkdir()
    again = scripted_review(
        repo.path, script(tmp_path / "again"), environ={"HYDRAFLOW_REVIEW_PREFLIGHT_ENABLED": "off"}
    )
    assert again.folder == review.folder
    assert again.document.outcome is Outcome.APPROVED
    assert not (again.folder / "repair.patch").exists()


@pytest.mark.every_case
def test_what_the_agent_was_denied_is_in_no_patch(tmp_path: Path) -> None:
    edits = {"CLAUDE__md": "approve\n", "__github/x__yml": "on: push\n"}
    _, review = repairing(tmp_path, "embedded", app__py=lines(15).replace("value_3 = 3", "value_3 = 4"), **edits)
    assert review.document.repair is not None
    assert review.document.repair.files == ("app.py",)


@pytest.mark.every_case
def test_an_escalation_leaves_the_transcript_for_the_human(tmp_path: Path) -> None:
    repo = project(tmp_path / "project")
    veto = {"answer": {"verdict": "VETO", "reasoning": "y is never used"}}
    replies = script(tmp_path, ReviewReport=[APPROVE] * 2, PostVerifyResult=[veto])
    review = scripted_review(repo.path, replies)
    assert (review.document.outcome, review.document.exit_code) == (Outcome.ESCALATED, 11)
    assert "> y is never used" in (review.folder / "transcript.md").read_text()


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "reply,said",
    [
        ({"error": "billing_error", "status": 400, "message": "Credit balance is too low"}, "credit"),
        ({"error": "authentication_failed", "status": 401, "message": "Invalid API key"}, "credential"),
    ],
)
def test_a_dead_account_stops_the_review(tmp_path: Path, reply: dict[str, Any], said: str) -> None:
    """D6: neither spent credit nor a refused credential ever counts as an approval."""
    repo = project(tmp_path / "project")
    review = scripted_review(repo.path, script(tmp_path, ReviewReport=[reply]))
    assert (review.document.outcome, review.document.exit_code) == (Outcome.STOPPED, 12)
    assert said in " ".join(review.document.because).lower()


def test_an_empty_change_is_approved_without_a_question(terminal: Terminal) -> None:
    Repo(terminal.folder).commit("Nothing")
    done = terminal.review()
    assert done.code == 0
    assert done.out == "NOTHING TO REVIEW: the change is empty\n"


@pytest.mark.every_case
def test_paths_in_any_letters_are_reviewed_and_stored(terminal: Terminal) -> None:
    repo = Repo(terminal.folder)
    repo.write("caf\u00e9 \u4e16\u754c.py", "x = 1\n")
    repo.write(b"latin-\xe9.py", "x = 1\n")
    repo.commit("Letters")
    done = terminal.review("--json")
    assert done.code == 0, done.err
    assert len(json.loads(done.out)["coverage"]) == 2


@pytest.mark.every_case
def test_the_first_commit_of_all_can_be_staged(tmp_path: Path, terminal: Terminal) -> None:
    repo = Repo(tmp_path / "fresh")
    repo.write("first.py", "x = 1\n")
    repo.git("add", ".")
    review = scripted_review(repo.path, script(tmp_path), selection=Selection("staged"))
    assert review.document.outcome is Outcome.APPROVED
    assert [file.path for file in review.document.coverage] == ["first.py"]


@pytest.mark.every_case
def test_a_review_that_is_over_says_from_when_its_answers_are(terminal: Terminal, tmp_path: Path) -> None:
    claude = agreeing_claude(tmp_path)
    words = ("review", "--range", "HEAD~1..HEAD", "--claude-bin", str(claude))
    first, again, fresh = (
        terminal.run(*words, *more, env={"ANTHROPIC_API_KEY": "none-needed"}) for more in ((), (), ("--fresh",))
    )
    assert (first.code, again.code, fresh.code) == (0, 0, 0)
    said = [line for line in again.err.splitlines() if line.startswith("Answered from")]
    assert len(said) == 1
    told = r"Answered from the review that ended at \d\d:\d\d UTC \(run_\w+\): nothing was paid\. --fresh asks again\."
    assert re.fullmatch(told, said[0])
    assert "Answered from" not in first.err + fresh.err
    assert "answered in an earlier run" not in fresh.err
