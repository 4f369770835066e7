"""An evaluation that was interrupted, ran out of money or got no answer goes on, and pays for nothing twice."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Barrier, Condition, Event

import pytest
from tests.adapters.command_line import CREDENTIAL, Terminal, executable, fake_claude, wait_for

from review_advisor.app.evaluations import REVIEW_USD, Evaluated, EvaluationPurse, evaluate, scored
from review_advisor.app.evaluations import merge_evaluations as merge
from review_advisor.lab.evaluation_folder import EvaluationError, results_so_far
from review_advisor.lab.golden_cases import FilesChange, GoldenCase, golden_set
from review_advisor.lab.manifests import ArmFacts, EvaluationManifest, spent_on
from review_advisor.lab.trials import Trial, TrialKey
from review_advisor.safety.stop import ReviewInterrupted

CASES = golden_set(
    "ours", "1", [GoldenCase(id=f"c{n}", group=f"g{n}", kind="clean", change=FilesChange(())) for n in range(6)]
)
MANIFEST = EvaluationManifest(
    schema="evaluation.v1",
    answers="live",
    set_name="ours",
    set_digest=CASES.digest,
    cases=tuple(case.id for case in CASES.cases),
    arms=(ArmFacts("paired", "paired"),),
)
Reply = Callable[[TrialKey], Trial]


def approved(key: TrialKey, usd: float = 0.1) -> Trial:
    return Trial(*key, "approved", "complete", usd=usd)


def lost(key: TrialKey) -> Trial:
    return Trial(*key, "none", "lost", why="A rate limit.")


@dataclass
class Reviewers:
    """Who answers in these stories, and what they were asked."""

    root: Path
    asked: list[str] = field(default_factory=list)
    paid: bool = False

    def review(self, reply: Reply, *, jobs: int = 1, fresh: bool = False) -> Evaluated:
        def answer(case: GoldenCase, key: TrialKey, begins: Callable[[], None]) -> Trial:
            self.asked.append(case.id)
            if self.paid:
                begins()
            return reply(key)

        return evaluate(MANIFEST, CASES, answer, self.root, lambda *_: None, jobs=jobs, fresh=fresh)

    @property
    def spent(self) -> float:
        return spent_on(results_so_far(self.root / MANIFEST.id), REVIEW_USD)


@pytest.fixture
def reviewers(tmp_path: Path) -> Reviewers:
    return Reviewers(tmp_path)


def out_of_money_after(number: int) -> Reply:
    left = list(range(number))

    def reply(key: TrialKey) -> Trial:
        if not left:
            raise EvaluationError("The money is spent.")
        left.pop()
        return approved(key)

    return reply


def test_what_got_no_answer_is_asked_again_and_what_it_cost_still_counts(reviewers: Reviewers) -> None:
    first = reviewers.review(lambda key: lost(key) if key.case in ("c1", "c4") else approved(key))
    reviewers.asked.clear()
    second = reviewers.review(approved)

    assert [(each.unanswered, each.why) for each in first.unanswered] == [(2, "A rate limit.")]
    assert reviewers.asked == ["c1", "c4"]
    assert second.unanswered == ()
    assert second.result.arms[0].sums.lost == 0
    assert reviewers.spent == pytest.approx(2 * REVIEW_USD + 6 * 0.1)
    assert reviewers.review(approved).asked == 0


def test_what_lost_tries_of_a_shard_cost_still_counts_in_the_whole(reviewers: Reviewers, tmp_path: Path) -> None:
    reviewers.review(lambda key: replace(lost(key), usd=0.3) if key.case == "c1" else approved(key))
    reviewers.review(lambda key: replace(lost(key), usd=0.4))
    reviewers.review(approved)
    assert reviewers.spent == pytest.approx(0.3 + 0.4 + 6 * 0.1)

    whole = merge([reviewers.root / MANIFEST.id], tmp_path / "whole")

    assert spent_on(results_so_far(whole.folder), REVIEW_USD) == pytest.approx(reviewers.spent)
    assert whole.result == scored(reviewers.root / MANIFEST.id)


@pytest.mark.every_case
def test_a_fresh_evaluation_takes_the_place_of_the_old_one_only_when_it_is_whole(reviewers: Reviewers) -> None:
    whole = reviewers.review(approved)
    with pytest.raises(EvaluationError):
        reviewers.review(out_of_money_after(0), fresh=True)
    assert reviewers.review(approved).asked == 0

    with pytest.raises(EvaluationError):
        reviewers.review(out_of_money_after(2), fresh=True)
    assert scored(whole.folder) == whole.result
    assert reviewers.spent == pytest.approx(0.2)

    reviewers.asked.clear()
    renewed = reviewers.review(lambda key: approved(key, usd=0.5))
    assert reviewers.asked == ["c2", "c3", "c4", "c5"]
    assert renewed.result.arms[0].sums.usd == pytest.approx(0.2 + 4 * 0.5)


def test_reviews_under_way_when_one_fails_are_kept(reviewers: Reviewers) -> None:
    failing = Event()

    def reply(key: TrialKey) -> Trial:
        if key.case == "c0":
            failing.set()
            raise EvaluationError("The money is spent.")
        failing.wait()
        return approved(key)

    with pytest.raises(EvaluationError, match="The money is spent"):
        reviewers.review(reply, jobs=5)

    kept = {each.trial.case for each in results_so_far(reviewers.root / MANIFEST.id)}
    assert kept >= {"c1", "c2", "c3", "c4"}


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_review_that_was_interrupted_counts_until_the_evaluation_is_over_and_after(
    reviewers: Reviewers, jobs: int
) -> None:
    reviewers.paid = True
    begun = Barrier(jobs)

    def reply(key: TrialKey) -> Trial:
        if jobs > 1:
            begun.wait()
        raise ReviewInterrupted("The review was interrupted.")

    for times in (1, 2):
        with pytest.raises(ReviewInterrupted):
            reviewers.review(reply, jobs=jobs)
        assert reviewers.spent == pytest.approx(times * jobs * REVIEW_USD)

    reviewers.asked.clear()
    whole = reviewers.review(approved)
    assert reviewers.asked == list(MANIFEST.cases)
    assert reviewers.spent == pytest.approx(2 * jobs * REVIEW_USD + 6 * 0.1)
    assert whole.result.arms[0].sums.lost == 0
    assert whole.result.arms[0].sums.usd == pytest.approx(0.6)
    assert reviewers.review(approved).asked == 0


def test_a_process_that_is_killed_leaves_what_is_under_way_as_lost(reviewers: Reviewers) -> None:
    """What is on disk while a review is under way is all that a killed process leaves."""
    reviewers.paid = True
    during: list[float] = []

    def reply(key: TrialKey) -> Trial:
        during.append(reviewers.spent)
        return approved(key)

    reviewers.review(reply)

    assert during == pytest.approx([REVIEW_USD + 0.1 * done for done in range(6)])
    assert reviewers.spent == pytest.approx(0.6)


def test_money_that_reviews_under_way_hold_is_waited_for() -> None:
    class EndOfAnother(Condition):
        """While one review waits, the other ends, and has cost little."""

        def wait(self, timeout: float | None = None) -> bool:
            purse.given_back(REVIEW_USD, 0.1)
            return timeout is None

    purse = EvaluationPurse(1.5 * REVIEW_USD, returned=EndOfAnother())
    purse.taken()

    assert purse.taken() == REVIEW_USD
    purse.given_back(REVIEW_USD, REVIEW_USD)
    with pytest.raises(EvaluationError, match=r"0\.90 dollars are left, and one review may need 2\.00"):
        purse.taken()


PATCH = "--- a/gone.py\n+++ b/gone.py\n@@ -1 +1 @@\n-one\n+two\n"
SUM = 'kind = "clean"\n[[files]]\npath = "a.py"\nafter = "total = 1 + 2\\n"\n'


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases/sum.toml").write_text(SUM, encoding="utf-8")
    return tmp_path / "cases"


def test_without_claude_no_live_review_begins(terminal: Terminal, cases: Path, tmp_path: Path) -> None:
    git = executable(tmp_path / "bin/git", '#!/bin/sh\nPATH=/usr/bin:/bin exec git "$@"\n')
    live = ("eval", "run", "--set", str(cases), "--answers", "live", "--max-usd", "5", "--out", str(tmp_path / "out"))
    done = terminal.run(*live, env={"PATH": str(git.parent)})

    assert done.code == 2
    assert done.sentence.startswith("There is no claude on PATH.")
    assert not list((tmp_path / "out").rglob("*.jsonl"))


@pytest.mark.every_case
def test_a_live_review_that_was_interrupted_has_spent_its_money(
    terminal: Terminal, cases: Path, tmp_path: Path
) -> None:
    """A call that was under way may have cost anything: the bound holds for both runs together."""
    claude = fake_claude(tmp_path / "bin", then=f"cat >/dev/null\n: >{tmp_path}/called-$$\nexec sleep 1000")
    live = ("eval", "run", "--set", cases, "--answers", "live", "--max-usd", "2", "--out", tmp_path / "out")
    words = (*live, "--arms", "executor-only")
    env = {**CREDENTIAL, "PATH": f"{claude.parent}:{os.environ['PATH']}"}

    process = terminal.start(*words, env=env)
    wait_for(lambda: list(tmp_path.glob("called-*")))
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 143
    terminal.assert_nothing_left()
    again = terminal.run(*words, env=env)

    assert again.code == 2
    assert again.sentence.startswith("Of --max-usd, 0.00 dollars are left, and one review may need 2.00.")
    assert len(list(tmp_path.glob("called-*"))) == 1


@pytest.mark.every_case
def test_an_arm_that_got_no_answer_is_told_with_the_reason_and_is_no_success(
    terminal: Terminal, cases: Path, tmp_path: Path
) -> None:
    case = cases / "sum.toml"
    case.write_text(f'kind = "clean"\npatch = """\n{PATCH}"""\n', encoding="utf-8")
    words = (
        "eval",
        "run",
        "--set",
        str(cases),
        "--answers",
        "embedded",
        "--arms",
        "paired",
        "--out",
        str(tmp_path / "o"),
    )
    done = terminal.run(*words)

    assert done.code == 12
    why = "The patch of the case sum does not apply: "
    assert f"1/1 sum by paired: none, refused: {why}" in done.err
    assert f"paired: 1 of 1 reviews got no answer. {why}" in done.err
    case.write_text(SUM, encoding="utf-8")
    assert terminal.run(*words).code == 0
