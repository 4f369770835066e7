"""``release-readiness`` as its users meet it: what it prints, its exit codes, its files, and its evidence."""

from __future__ import annotations

import json
import signal
import sqlite3
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.command_line import CLAUDE, CREDENTIAL, Done, Terminal, executable, project, wait_for
from tests.adapters.git_repository import Repo
from tests.adapters.ledgers import nothing, record, retold, told
from tests.adapters.tasks.test_other_clis import SPEAKER
from tests.adapters.tasks.test_run_task import FAKE, outcome, printed
from tests.scenarios.five_stories import three_parts_and_an_escalation

from review_advisor.ledger.recorder import keep
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.observed import Observed, ObservedLabel

pytestmark = pytest.mark.every_case

SAMPLE = ("release-readiness", "--sample", *FAKE)
# Speaks as claude does, in each role by the title of the answer's schema. Report and vote are in its folder.
_CLAUDE = """#!{python} -IS
import json, re, sys
from pathlib import Path

if "--version" in sys.argv:
    print("{version}")
    sys.exit()
words = dict(zip(sys.argv, sys.argv[1:]))
title = json.loads(words["--json-schema"])["title"]
prompt = "".join(block["text"] for block in json.loads(sys.stdin.buffer.read())["message"]["content"])
says = json.loads((Path(__file__).parent / "says.json").read_text())
nonce = (re.findall(r'nonce="([0-9a-f]{{16}})"', prompt) or [""])[0]
given = re.findall(r"adv_guidance_[0-9a-f]{{12}}", prompt)
block = lambda tag, body: f'<{{tag}} nonce="{{nonce}}">\\n{{json.dumps(body)}}\\n</{{tag}}>'
if title == "Opinion":
    answer = {{"opinion": "Is there a way back?", "concerns": []}}
elif title == "BriefVote":
    answer = {{"calls": json.dumps(says["vote"])}}
elif "You advise the executor" in words["--system-prompt"]:
    answer = {{"message": block("ADVISOR_GUIDANCE", {{"guidance": "Look at the migration."}})}}
elif not given:
    answer = {{"message": block("ADVISOR_CONSULT", {{"question": "What worries you?"}})}}
else:
    used = [{{"guidance": given[0], "disposition": "applied"}}]
    done = block("EXECUTOR_DONE", {{"status": "completed", "summary": "Judged.", "guidance": used}})
    answer = {{"message": done + "\\n" + block("RELEASE_READINESS_REPORT", says["report"])}}
say = lambda kind, **event: print(json.dumps({{"type": kind, **event}}), flush=True)
say("system", subtype="init", session_id="s", model="stub", tools=["StructuredOutput"])
say("result", subtype="success", is_error=False, structured_output=answer, total_cost_usd=0.01)
"""


def report(verdict: str, **more: Any) -> dict[str, Any]:
    said: dict[str, Any] = {"blockers": [], "risks": [], "required_actions": [], **more}
    counts = {f"{name[:-1]}_count": len(said[name]) for name in ("blockers", "risks", "required_actions")}
    usual = {"summary": "As it is.", "advisor_consulted": True, "confidence": 0.8, "measurable_outputs": counts}
    return {"verdict": verdict, **usual, **said}


def evaluation(done: Done) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(Path(printed(done)["evaluation"]).read_text(encoding="utf-8"))
    return told


@pytest.fixture
def models(terminal: Terminal, tmp_path: Path) -> Path:
    """A folder with an executable that speaks as claude does, in a repository with evidence."""
    project(terminal.folder)
    (terminal.folder / "evidence.md").write_text("All tests passed.\nThe migration has no way back.\n")
    place = tmp_path / "models"
    place.mkdir()
    executable(place / "claude", _CLAUDE.format(python=sys.executable, version=CLAUDE))
    return place


def judge(terminal: Terminal, models: Path, report: dict[str, Any], **vote: int) -> Done:
    (models / "says.json").write_text(json.dumps({"report": report, "vote": vote}))
    words = ("release-readiness", "--evidence", "evidence.md", "--claude-bin", models / "claude")
    return terminal.run(*words, env=CREDENTIAL)


# --- what it prints, and its exit codes ---


def test_the_sample_can_be_judged_without_a_model_and_is_never_let_go(terminal: Terminal) -> None:
    done = terminal.process(*SAMPLE)
    told = printed(done)
    names = ["run_id", "run_dir", "status", "vertical_passed", "verdict", "evaluation", "evidence", "required_action"]
    assert list(told) == names
    assert (done.code, told["vertical_passed"], told["verdict"]) == (10, "true", "conditional_go")
    assert Path(told["evaluation"]) == Path(told["run_dir"]) / "release_readiness_evaluation.json"


@pytest.mark.every_case
@pytest.mark.one_of_its_kind
def test_models_let_a_release_go(terminal: Terminal, models: Path) -> None:
    done = judge(terminal, models, report("go"), go=95, conditional_go=5, hold=0)
    told = printed(done)
    assert (done.code, told["vertical_passed"], told["verdict"], told["status"]) == (0, "true", "go", "completed")
    assert outcome(done)["council"]["action"] == "go"


def test_a_release_is_held_for_what_the_evidence_says(terminal: Terminal, models: Path) -> None:
    quote = "The migration has no way back."
    held = {"id": "B1", "severity": "high", "description": "It cannot be undone.", "evidence": quote}
    done = judge(terminal, models, report("hold", blockers=[held]), hold=95)
    assert (done.code, printed(done)["vertical_passed"], printed(done)["verdict"]) == (10, "true", "hold")
    assert "blocker: high, It cannot be undone.\n" in done.out


def test_the_advisors_veto_calls_a_person(terminal: Terminal, models: Path) -> None:
    done = judge(terminal, models, report("go"), hold=95)
    assert (done.code, printed(done)["vertical_passed"], outcome(done)["status"]) == (11, "false", "voted_down")
    assert "failure: The run is not completed: voted_down" in done.out


def test_a_rule_that_does_not_hold_calls_a_person(terminal: Terminal, models: Path) -> None:
    held = {"id": "B1", "severity": "high", "description": "It burns.", "evidence": "The server room burns."}
    done = judge(terminal, models, report("hold", blockers=[held]), hold=95)
    assert done.code == 11
    assert "failure: The evidence of blocker B1 is no quotation of the evidence.\n" in done.out


def test_json_is_the_evaluation(terminal: Terminal) -> None:
    done = terminal.run(*SAMPLE, "--json")
    assert json.loads(done.out)["verdict"] == "conditional_go"


@pytest.mark.parametrize(
    "name",
    [
        "HYDRAFLOW_RELEASE_READINESS_ADVISOR_ENABLED",
        "HYDRAFLOW_REVIEW_ADVISOR_ENABLED",
        "HYDRAFLOW_REVIEW_PREFLIGHT_ENABLED",
        "HYDRAFLOW_REVIEW_MIDFLIGHT_ENABLED",
        "HYDRAFLOW_REVIEW_POSTVERIFY_ENABLED",
    ],
)
def test_without_its_advisor_nothing_is_judged(terminal: Terminal, name: str) -> None:
    done = terminal.run(*SAMPLE, env={name: "false"})
    assert (done.code, printed(done)["status"], outcome(done)["executor_turn_count"]) == (12, "disabled", 0)
    assert name in done.out


def test_its_models_are_those_of_its_own_variables(terminal: Terminal, models: Path) -> None:
    (models / "says.json").write_text(json.dumps({"report": report("go"), "vote": {"go": 95}}))
    words = ("release-readiness", "--evidence", "evidence.md", "--claude-bin", models / "claude")
    own = {"HYDRAFLOW_RELEASE_READINESS_EXECUTOR_MODEL": "haiku", "HYDRAFLOW_RELEASE_READINESS_ADVISOR_MODEL": "fable"}
    done = terminal.run(*words, env=CREDENTIAL | own)
    folder = Path(printed(done)["run_dir"])
    models_of = [
        json.loads((folder / f"{who}_turn_1.raw.json").read_text())["raw_artifacts"]["model"]
        for who in ("executor", "advisor")
    ]
    assert models_of == ["haiku", "fable"]


def test_static_checks_judge_no_release(terminal: Terminal) -> None:
    project(terminal.folder)
    done = terminal.run("release-readiness", "--sample", "--executor", "embedded", "--advisor", "fake")
    assert (done.code, done.sentence) == (
        2,
        "The embedded agent holds static checks and does no task: use --executor with claude or fake.",
    )


@pytest.mark.parametrize("number, code", [(signal.SIGTERM, 143)])
def test_a_run_that_is_killed_leaves_an_evaluation_that_has_not_passed(
    terminal: Terminal, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    project(terminal.folder)
    reached = tmp_path / "reached"
    body = f"import pathlib, time; pathlib.Path({str(reached)!r}).touch(); time.sleep(600)"
    file = tmp_path / "backends.toml"
    file.write_text(f"[slow]\ncommand = {json.dumps([sys.executable, '-I', '-c', body])}\n")
    words = ("release-readiness", "--sample", "--adapter", file, "--executor", "slow", "--advisor", "fake")
    process = terminal.start(*words)
    wait_for(reached.exists)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    terminal.assert_nothing_left()
    assert (process.returncode, "Traceback" in err) == (code, False)
    (file,) = (terminal.folder / "runs").glob("*/release_readiness_evaluation.json")
    left = json.loads(file.read_text(encoding="utf-8"))
    assert (left["passed"], left["status"], left["verdict"]) == (False, "running", "none")


def test_another_cli_may_be_the_executor(terminal: Terminal, models: Path, tmp_path: Path) -> None:
    script = tmp_path / "kimi.py"
    used = "[{'guidance': given[0], 'disposition': 'applied'}]"
    script.write_text(
        f"{SPEAKER}\nimport json\n"
        "block = lambda tag, body: print(f'<{tag} nonce=\"{nonce}\">\\n{json.dumps(body)}\\n</{tag}>')\n"
        "if given:\n"
        f"    block('EXECUTOR_DONE', {{'status': 'completed', 'guidance': {used}}})\n"
        f"    block('RELEASE_READINESS_REPORT', {report('go')!r})\n"
        "else:\n"
        "    block('ADVISOR_CONSULT', {'question': 'What worries you?'})\n"
    )
    backends = tmp_path / "backends.toml"
    backends.write_text(f"[kimi]\ncommand = {json.dumps([sys.executable, '-I', str(script)])}\n")
    (models / "says.json").write_text(json.dumps({"report": {}, "vote": {"go": 95}}))
    words = ("release-readiness", "--evidence", "evidence.md", "--adapter", backends, "--executor", "kimi")
    done = terminal.run(*words, "--timeout", "240", "--claude-bin", models / "claude", env=CREDENTIAL)
    assert (done.code, printed(done)["verdict"]) == (0, "go")
    assert outcome(done)["executor_backend"] == "kimi"


# --- its files ---


def test_the_folder_holds_evidence_prompt_schema_and_evaluation_beside_the_files_of_a_run(terminal: Terminal) -> None:
    done = terminal.run(*SAMPLE)
    folder = Path(printed(done)["run_dir"])
    for name in ("evidence.md", "prompt.md", "report.schema.json", "evaluation.json", "evaluation.md"):
        assert (folder / f"release_readiness_{name}").read_text(encoding="utf-8").strip()
    assert "sample shop" in (folder / "release_readiness_evidence.md").read_text(encoding="utf-8")
    assert outcome(done)["status"] == "completed"
    assert evaluation(done)["metrics"]["consults_answered"] == 1


def test_the_ledger_and_the_dashboard_know_the_run_as_a_task(terminal: Terminal) -> None:
    run_id = printed(terminal.run(*SAMPLE))["run_id"]
    assert run_id in terminal.run("runs", "list", "--kind", "task").out
    assert terminal.run("ledger", "verify", "--full").code == 0
    assert terminal.run("ui", "--run", run_id).code == 0


# --- evidence ---


@pytest.mark.parametrize(
    "words",
    [
        ("--sample", "--evidence", "evidence.md"),
        ("--sample", "--since", "HEAD~1"),
        ("--evidence", "evidence.md", "--since", "HEAD~1"),
        ("--evidence", "missing.md"),
        ("--evidence", "."),
        ("--since", "v9"),
        (),
        ("--sample", "--max-advisor-calls", "0"),
        ("--sample", "--advisor", "kimi"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_asked(terminal: Terminal, words: tuple[str, ...]) -> None:
    project(terminal.folder)
    (terminal.folder / "evidence.md").write_text("All tests passed.\n")
    done = terminal.run("release-readiness", *FAKE, *words)
    assert (done.code, done.out) == (2, "")
    assert not (terminal.folder / "runs").exists()


@pytest.mark.parametrize("content", [b"", b" \n\t", b"\xff\xfe", b"x" * 60_001, b"y" * 1_000_000])
def test_evidence_that_nobody_can_judge_by_is_refused(terminal: Terminal, content: bytes) -> None:
    (terminal.folder / "evidence.md").write_bytes(content)
    done = terminal.run("release-readiness", *FAKE, "--evidence", "evidence.md")
    assert (done.code, done.out) == (2, "")


def test_secrets_of_the_environment_do_not_get_into_the_evidence(terminal: Terminal) -> None:
    secret = "correct-horse-battery-staple"
    (terminal.folder / "evidence.md").write_text(f"The key is {secret}.\n")
    done = terminal.run("release-readiness", *FAKE, "--evidence", "evidence.md", env={"ANTHROPIC_API_KEY": secret})
    folder = Path(printed(done)["run_dir"])
    assert all(secret not in file.read_text(encoding="utf-8") for file in folder.iterdir())


def released(path: Path) -> Repo:
    """A repository with a tag, and since then a merged pull request, a squashed one, and a commit of nobody's."""
    repo = project(path)
    repo.git("remote", "add", "origin", "https://github.com/acme/shop.git")
    repo.git("tag", "-a", "-m", "1.0", "v1.0")
    repo.git("checkout", "-q", "-b", "topic")
    repo.write("topic.py", "x = 1\n")
    repo.commit("Work")
    repo.git("checkout", "-q", "-")
    repo.git("merge", "-q", "--no-ff", "-m", "Merge pull request #7 from acme/topic\n\nMove orders", "topic")
    repo.write("other.py", "y = 1\n")
    repo.commit("Retry payments (#8)")
    repo.write("third.py", "z = 1\n")
    repo.commit("Bump the version")
    return repo


def gathered(terminal: Terminal, *words: str) -> tuple[str, dict[str, Any]]:
    done = terminal.run("release-readiness", *FAKE, *words)
    folder = Path(printed(done)["run_dir"])
    return (folder / "release_readiness_evidence.md").read_text(encoding="utf-8"), evaluation(done)


def squash_of(terminal: Terminal, review: OutcomeDocument, *more: ObservedLabel) -> Observed:
    """What is seen of the squashed pull request, merged with the head that was reviewed."""
    commit = Repo(terminal.folder).rev("HEAD~1")
    about: Any = {"repository": "acme/shop", "pull_request": 8, "head_sha": review.head_sha or ""}
    merged = ObservedLabel("", "merge", "merged", commit[:12])
    at = review.events[-1].at + timedelta(days=1)
    return Observed(at=at, run_id="observed_1", labels=(merged, *more), **about)


def test_without_a_file_the_evidence_is_what_was_merged_since_the_last_tag_and_its_reviews(terminal: Terminal) -> None:
    released(terminal.folder)
    ledger = terminal.folder / "review_logs/ledger/ledger.sqlite3"
    review = told(nothing, 1, pull_request=8)
    record(ledger, review, told(three_parts_and_an_escalation, 2, pull_request=9))
    keep(ledger, squash_of(terminal, review))
    text, held = gathered(terminal)
    assert "# Changes since v1.0 (" in text
    assert held["evidence"].startswith("3 changes since v1.0 (")
    assert "## #8 Retry payments (#8)\n\n" in text
    assert "- review: approved" in text
    assert held["gaps"] == [
        "Bump the version: it came without a pull request",
        "#7 Move orders: the ledger has no review of it",
    ]


def test_an_escalation_that_nobody_settled_is_open(terminal: Terminal) -> None:
    released(terminal.folder)
    ledger = terminal.folder / "review_logs/ledger/ledger.sqlite3"
    review = told(three_parts_and_an_escalation, 1, pull_request=8)
    record(ledger, review)
    keep(ledger, squash_of(terminal, review))
    _, held = gathered(terminal)
    assert (
        "#8 Retry payments (#8): its last review ended as escalated, and nobody is known to have settled that"
        in (held["gaps"])
    )


def test_what_a_person_approved_over_the_bot_is_told_and_is_no_gap(terminal: Terminal) -> None:
    released(terminal.folder)
    ledger = terminal.folder / "review_logs/ledger/ledger.sqlite3"
    review = told(three_parts_and_an_escalation, 1, pull_request=8)
    record(ledger, review)
    approved = ObservedLabel("", "escalation", "approved", "ada approved it")
    keep(ledger, squash_of(terminal, review, approved))
    text, held = gathered(terminal)
    assert "overridden (its last review ended as escalated, and a person approved it)" in text
    assert not any(each.startswith("#8") for each in held["gaps"])


def test_a_review_of_another_repository_is_no_review_of_this_one(terminal: Terminal) -> None:
    repo = released(terminal.folder)
    repo.git("remote", "set-url", "origin", "https://github.com/acme/other.git")
    record(terminal.folder / "review_logs/ledger/ledger.sqlite3", told(nothing, 1, pull_request=8))
    _, held = gathered(terminal)
    assert "#8 Retry payments (#8): the ledger has no review of it" in held["gaps"]


def test_without_an_origin_only_a_review_of_the_merged_head_counts(terminal: Terminal) -> None:
    repo = released(terminal.folder)
    repo.git("remote", "remove", "origin")
    ledger = terminal.folder / "review_logs/ledger/ledger.sqlite3"
    reviews = [told(nothing, number, pull_request=number) for number in (7, 8)]
    record(ledger, retold(reviews[0], head_sha=repo.rev("topic")), reviews[1])
    keep(ledger, squash_of(terminal, reviews[1]))
    _, held = gathered(terminal)
    assert held["gaps"] == [
        "Bump the version: it came without a pull request",
        "#8 Retry payments (#8): the ledger has no review of it",
    ]


def test_a_squash_whose_head_nobody_saw_is_a_gap(terminal: Terminal) -> None:
    released(terminal.folder)
    record(terminal.folder / "review_logs/ledger/ledger.sqlite3", told(nothing, 1, pull_request=8))
    _, held = gathered(terminal)
    assert "#8 Retry payments (#8): nobody knows which head was merged" in held["gaps"]


def test_a_row_that_somebody_changed_settles_nothing(terminal: Terminal) -> None:
    released(terminal.folder)
    ledger = terminal.folder / "review_logs/ledger/ledger.sqlite3"
    review = told(three_parts_and_an_escalation, 1, pull_request=8)
    record(ledger, review)
    keep(ledger, squash_of(terminal, review))
    with closing(sqlite3.connect(ledger)) as connection, connection:
        connection.execute("UPDATE runs SET status = 'approved', vetoes = 0, degraded = 0")
    text, held = gathered(terminal)
    assert any(each.startswith("#8") and "ended as escalated" in each for each in held["gaps"])
    assert "vetoes 0" not in text


def test_a_merged_head_that_was_not_reviewed_is_a_gap(terminal: Terminal) -> None:
    released(terminal.folder)
    record(terminal.folder / "review_logs/ledger/ledger.sqlite3", told(nothing, 1, pull_request=7))
    _, held = gathered(terminal)
    assert any(each.startswith("#7 Move orders: its last review is of ") for each in held["gaps"])


def test_without_a_ledger_every_merge_is_a_gap_and_the_evidence_says_why(terminal: Terminal) -> None:
    released(terminal.folder)
    text, held = gathered(terminal, "--since", "v1.0")
    assert "The ledger could not be asked: There is no ledger" in text
    assert len(held["gaps"]) == 3


def test_what_is_open_and_what_is_required_is_printed(terminal: Terminal) -> None:
    repo = released(terminal.folder)
    repo.write("fourth.py", "a = 1\n")
    repo.commit("Say \x1b[2Jnothing")
    done = terminal.run("release-readiness", *FAKE)
    assert (done.code, printed(done)["verdict"]) == (10, "conditional_go")
    gaps = [line.removeprefix("gap: ") for line in done.out.splitlines() if line.startswith("gap: ")]
    assert gaps == evaluation(done)["gaps"]
    assert len(gaps) == 4
    assert "\x1b" not in done.out
    (action,) = evaluation(done)["report"]["required_actions"]
    assert f"required_action: {action}\n" in done.out


def test_a_tag_that_names_no_version_hides_nothing_and_is_named(terminal: Terminal) -> None:
    """Whoever may push tags pushes one right after their own unreviewed change."""
    repo = released(terminal.folder)
    repo.git("tag", "-a", "-m", "mid", "mid")
    repo.write("fourth.py", "a = 1\n")
    repo.commit("Add a feature (#9)")
    done = terminal.run("release-readiness", *FAKE)
    assert "gap: Bump the version: it came without a pull request\n" in done.out
    assert printed(done)["evidence"].endswith("; no version, and passed over: the tag mid")
    chosen = terminal.run("release-readiness", *FAKE, "--since", "mid")
    assert printed(chosen)["evidence"].startswith("1 change since mid (")
    assert "Bump the version" not in chosen.out


def test_a_tag_on_head_has_nothing_to_judge(terminal: Terminal) -> None:
    released(terminal.folder).git("tag", "-a", "-m", "1.1", "v1.1")
    done = terminal.run("release-readiness", *FAKE)
    assert done.code == 2
    assert "name an earlier tag with --since" in done.sentence
