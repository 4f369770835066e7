"""``review`` with a shadow: the outcome is on disk before it begins, and stands whatever becomes of it."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from tests.adapters.command_line import LAST_COMMIT, Terminal, lines
from tests.adapters.git_repository import Repo
from tests.adapters.scripted_models import Models

from review_advisor.app.ci import read_document
from review_advisor.github.money import with_cost
from review_advisor.ledger.proving import verify
from review_advisor.mockworld.agents import confirm, reject, veto
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.rulings import Outcome
from review_advisor.safety.interruption import INTERRUPTION

pytestmark = pytest.mark.every_case

CREDENTIAL = {"ANTHROPIC_API_KEY": "sk-ant-api03-not-a-real-one-5d1f0a77"}
SHADOW = '[[shadow]]\nid = "other"\npercent = 100\nmodel = "another"\n'


@pytest.fixture
def models(tmp_path: Path) -> Models:
    return Models(tmp_path / "models")


@pytest.fixture
def outcome(tmp_path: Path) -> Path:
    return tmp_path / "outcome.json"


@pytest.fixture
def words(terminal: Terminal, models: Models, outcome: Path) -> list[str | Path]:
    """A review by a configuration with one shadow."""
    file = terminal.folder / "shadow.toml"
    file.write_text(SHADOW)
    fixed: list[str | Path] = ["review", "--claude-bin", models.path, "--config", file, "--output", outcome]
    return [*fixed, *LAST_COMMIT]


def kept(file: Path) -> OutcomeDocument:
    document = read_document(file, {})
    assert isinstance(document, OutcomeDocument), document
    return document


def rows(terminal: Terminal) -> list[tuple[Any, ...]]:
    ledger = terminal.folder / "review_logs" / "ledger" / "ledger.sqlite3"
    assert verify(ledger).broken == ()
    with closing(sqlite3.connect(ledger)) as connection:
        return connection.execute("SELECT shadow, status, decision, calls FROM shadows").fetchall()


def questions(models: Models) -> list[str]:
    return [each.question for each in models.asked]


@contextmanager
def while_it_judges_in_shadow(models: Models, happening: Any) -> Iterator[None]:
    """The real judge confirms at once; ``happening`` happens while the shadow's judge thinks."""
    gate = models.path.with_name("gate")
    os.mkfifo(gate)
    models.judge_says(confirm(), {"answer": veto("no").answer, "meanwhile": str(gate)})

    def meanwhile() -> None:
        with gate.open("w"):  # opens once the model reads
            happening()

    thread = Thread(target=meanwhile, daemon=True)
    thread.start()
    yield
    thread.join()


@pytest.mark.one_of_its_kind
def test_a_veto_in_shadow_leaves_exit_code_and_outcome_and_is_rolled_up(
    terminal: Terminal, models: Models, words: list[str | Path], outcome: Path
) -> None:
    models.judge_says(confirm(), veto("it loses data"))
    done = terminal.run(*words, env=CREDENTIAL)
    assert done.code == 0, done.err
    document = kept(outcome)
    assert document.outcome is Outcome.APPROVED
    (cost,) = document.shadows
    assert (cost.shadow, cost.status, cost.calls, cost.usd) == ("other", "finished", 1, 0.01)
    assert rows(terminal) == [("other", "finished", "would_veto", 1)]
    assert "would have vetoed  1 of 1" in terminal.run("rollup", "--shadow").out
    assert "shadow" not in terminal.run("runs", "list").out


@pytest.mark.every_case
def test_a_shadow_that_agrees_never_turns_a_no_into_a_yes(
    terminal: Terminal, models: Models, words: list[str | Path], outcome: Path
) -> None:
    models.executor_always_says(reject())
    done = terminal.run(*words, env=CREDENTIAL)
    assert done.code in (10, 11)
    assert kept(outcome).outcome is not Outcome.APPROVED


def test_without_a_shadow_in_the_configuration_not_one_call_more_is_made(terminal: Terminal, models: Models) -> None:
    terminal.run("review", "--claude-bin", models.path, *LAST_COMMIT, env=CREDENTIAL)
    alone = questions(models)
    assert alone == ["ReviewReport", "PostVerifyResult"]
    (terminal.folder / "none.toml").write_text(SHADOW.replace("100", "0"))
    words = ("review", "--claude-bin", models.path, "--config", terminal.folder / "none.toml", "--fresh", *LAST_COMMIT)
    terminal.run(*words, env=CREDENTIAL)
    assert questions(models) == alone * 2
    assert rows(terminal) == []


def test_what_is_on_disk_while_the_shadow_judges_is_the_whole_outcome(
    terminal: Terminal, models: Models, words: list[str | Path], outcome: Path
) -> None:
    seen: list[OutcomeDocument] = []
    with while_it_judges_in_shadow(models, lambda: seen.append(kept(outcome))):
        done = terminal.run(*words, env=CREDENTIAL)
    (during,) = seen
    assert (done.code, during.outcome, during.exit_code) == (0, Outcome.APPROVED, 0)
    (cost,) = during.shadows
    assert (cost.status, cost.usd) == ("running", 1.0)
    assert with_cost(None, during)["spent_usd"] == pytest.approx(1.0 + 0.02)
    assert with_cost(None, kept(outcome))["spent_usd"] == pytest.approx(0.03)


def test_who_reads_the_outcome_from_a_pipe_gets_it_once(
    terminal: Terminal, models: Models, words: list[str | Path], outcome: Path
) -> None:
    os.mkfifo(outcome)
    reader = os.open(outcome, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 1_000_000)
    models.judge_says(confirm(), veto("no"))
    assert terminal.run(*words, env=CREDENTIAL).code == 0
    with os.fdopen(reader, "rb") as pipe:
        assert json.loads(pipe.read())["outcome"] == "approved"
    assert rows(terminal) == [("other", "finished", "would_veto", 1)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_interrupt_ends_the_shadow_and_the_outcome_stands(
    terminal: Terminal, models: Models, words: list[str | Path], outcome: Path, number: signal.Signals
) -> None:
    """In this process, where nobody ends a review that takes its time to stop."""
    over = Event()

    def interrupt() -> None:
        INTERRUPTION.interrupt(number)
        over.wait(60)  # with the gate closed the model would answer

    with while_it_judges_in_shadow(models, interrupt):
        try:
            done = terminal.run(*words, env=CREDENTIAL)
        finally:
            over.set()
    assert done.code == 128 + number, done.err
    assert "The outcome stands." in done.err
    document = kept(outcome)
    assert (document.outcome, document.shadows[0].status) == (Outcome.APPROVED, "stopped")
    assert rows(terminal) == [("other", "stopped", "lost", 1)]


@pytest.mark.every_case
def test_a_review_that_is_answered_by_an_earlier_run_pays_for_no_shadow_again(
    terminal: Terminal, models: Models, words: list[str | Path]
) -> None:
    terminal.run(*words, env=CREDENTIAL)
    asked = len(models.asked)
    terminal.run(*words, env=CREDENTIAL)
    assert len(models.asked) == asked
    assert len(rows(terminal)) == 1


def test_no_reply_of_a_shadow_is_kept(terminal: Terminal, models: Models, words: list[str | Path]) -> None:
    models.judge_says(confirm(), veto("the words of the shadow"))
    terminal.run(*words, env=CREDENTIAL)
    answers = terminal.folder / "review_logs" / "answers"
    texts = [path.read_bytes() for path in answers.rglob("*") if path.is_file()]
    assert any(b"looks right" in text for text in texts)
    assert not any(b"the words of the shadow" in text for text in texts)


def test_a_change_cannot_put_itself_into_shadow(terminal: Terminal, models: Models) -> None:
    repo = Repo(terminal.folder)
    repo.write(".review-advisor.toml", SHADOW)
    repo.write("app.py", lines(3))
    repo.commit("Bring a shadow")
    terminal.run("review", "--claude-bin", models.path, *LAST_COMMIT, env=CREDENTIAL)
    asked = len(models.asked)
    repo.write("app.py", lines(4))
    repo.commit("Change something else")
    terminal.run("review", "--claude-bin", models.path, *LAST_COMMIT, env=CREDENTIAL)
    assert [each[0] for each in rows(terminal)] == ["other"]
    assert len(models.asked) > asked


def test_a_shadow_of_the_change_is_judged_under_the_guard(terminal: Terminal, models: Models) -> None:
    repo = Repo(terminal.folder)
    repo.write(".review-advisor.toml", SHADOW)
    repo.commit("Bring a shadow")
    output = terminal.folder / "outcome.json"
    terminal.run("review", "--claude-bin", models.path, "--output", output, *LAST_COMMIT, env=CREDENTIAL)
    assert kept(output).policy.guard.holds


@pytest.mark.parametrize(
    "table, says",
    [
        ('id = "other"\npercent = 10\nmodle = "x"', "unknown key 'shadow.0.modle'; did you mean 'model'?"),
        ('id = "other"\npercent = 200', "shadow.0.percent"),
    ],
)
def test_a_mistake_in_a_shadow_is_refused_before_the_first_call(
    terminal: Terminal, models: Models, table: str, says: str
) -> None:
    file = terminal.folder / ".review-advisor.toml"
    file.write_text(f"[[shadow]]\n{table}\n")
    words = ("review", "--claude-bin", models.path, "--config", file, *LAST_COMMIT)
    refused = terminal.run(*words, env=CREDENTIAL)
    assert (refused.code, models.asked) == (2, [])
    assert says in refused.sentence
    assert says in terminal.run("config", "check").sentence


def test_an_outcome_that_says_nonsense_of_a_shadow_is_not_read(
    terminal: Terminal, words: list[str | Path], outcome: Path
) -> None:
    terminal.run(*words, env=CREDENTIAL)
    told = json.loads(outcome.read_text())
    for usd in (-1, 1e300, "NaN"):
        told["shadows"][0]["usd"] = usd
        outcome.write_text(json.dumps(told))
        assert isinstance(read_document(outcome, {}), str)


def test_a_judge_whom_nobody_declares_refuses_no_review_and_fails_the_check_of_the_configuration(
    terminal: Terminal, models: Models
) -> None:
    file = terminal.folder / ".review-advisor.toml"
    file.write_text(f'{SHADOW}advisors = ["securityArchitekt"]\n')
    says = "shadow.other: nobody has the id 'securityArchitekt'; did you mean 'securityArchitect'?"
    done = terminal.run("review", "--claude-bin", models.path, "--config", file, *LAST_COMMIT, env=CREDENTIAL)
    assert done.code == 0
    assert f"{says} It does not run." in done.err
    assert rows(terminal) == []
    assert terminal.run("config", "check").sentence == says


@pytest.mark.parametrize(
    "error, statuses", [("model_not_found", ["stopped", "finished"]), ("billing_error", ["stopped"])]
)
def test_a_shadow_that_is_stopped_keeps_a_later_one_only_from_what_nobody_can_ask(
    terminal: Terminal, models: Models, error: str, statuses: list[str]
) -> None:
    file = terminal.folder / "shadow.toml"
    file.write_text(f"{SHADOW}{SHADOW.replace('other', 'later')}")
    models.judge_says(confirm(), {"error": error})
    done = terminal.run("review", "--claude-bin", models.path, "--config", file, *LAST_COMMIT, env=CREDENTIAL)
    assert done.code == 0
    assert [status for _, status, _, _ in rows(terminal)] == statuses
    left_out = "These shadows do not run either: later."
    assert (left_out in done.err) is (len(statuses) == 1)


@pytest.mark.parametrize(
    "text, says",
    [
        (f'{SHADOW}part = "consulted"\n', "shadow.other: it answers the consults of the review itself"),
        (
            f'{SHADOW}part = "consulted"\nsurfaces = ["adr_review"]\n[escalation]\nprofile = "attrition"\n',
            "shadow.other: nobody is consulted on adr_review.",
        ),
    ],
)
def test_a_setting_about_shadows_that_can_do_nothing_fails_the_check_of_the_configuration(
    terminal: Terminal, text: str, says: str
) -> None:
    (terminal.folder / ".review-advisor.toml").write_text(text)
    checked = terminal.run("config", "check")
    assert checked.code == 2
    assert says in checked.sentence


@pytest.mark.parametrize(
    "text",
    [
        f'{SHADOW}part = "consulted"\nsurfaces = ["adr_review", "pr_review"]\n[escalation]\nprofile = "attrition"\n',
        f'{SHADOW}part = "review"\n',
    ],
)
def test_what_can_do_something_passes_it(terminal: Terminal, text: str) -> None:
    (terminal.folder / ".review-advisor.toml").write_text(text)
    done = terminal.run("config", "check")
    assert (done.code, done.err) == (0, "")


def test_what_may_be_a_slip_is_told_and_passes(terminal: Terminal) -> None:
    (terminal.folder / ".review-advisor.toml").write_text('[[shadow]]\nid = "same"\npercent = 5\npart = "review"\n')
    folder = terminal.folder / ".review-advisor" / "advisors"
    folder.mkdir(parents=True)
    for name in ("a", "b"):
        (folder / f"{name}.md").write_text("---\nid: poet\non: finish\n---\nYou read names.\n")
    done = terminal.run("config", "check")
    assert done.code == 0
    twice, same = done.err.splitlines()
    assert twice.startswith(
        "The advisor 'poet' is declared 2 times, in .review-advisor/advisors/a.md, .review-advisor/"
    )
    assert same.startswith("shadow.same: the whole review differs in nothing from the real one")
