"""The whole command, killed with SIGKILL and started again: nothing that was answered is asked again."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import pytest
from tests.adapters.command_line import APPROVE, CONFIRM, project, script, scripted_review

from review_advisor.app.agent_choice import AgentChoice
from review_advisor.app.review import StoredReview
from review_advisor.ledger.chain import LEDGER_FILE
from review_advisor.ledger.proving import verify
from review_advisor.ledger.queries import RunFilter
from review_advisor.ledger.run_queries import list_runs
from review_advisor.mockworld.agents import Killed
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import CallEnded, Consulted, Event, Repaired, ReviewEnded, Verified
from review_advisor.review.rulings import Outcome

CREDENTIAL = {"ANTHROPIC_API_KEY": "sk-ant-api03-not-a-real-one-5d1f0a77"}
FAULT = "def mean(rows):\n    return sum(rows) / len(rows)\n" + "".join(f"value_{n} = {n}\n" for n in range(30))
MENDED = FAULT.replace("/ len(rows)", "/ len(rows) if rows else 0")
VETO = {
    "answer": {
        "verdict": "VETO",
        "reasoning": "no rows were thought of",
        "disagreements": [
            {"executor_claim": "fine", "advisor_assessment": "an empty list divides by zero", "severity": "blocking"}
        ],
    }
}
REPLIES: dict[str, list[Any]] = {
    "ReviewPlan": [{"answer": {"risk_summary": "a division"}}],
    "ReviewReport": [
        {"consult": {"question": "May rows be empty?"}, "then": APPROVE},
        {"edit": {"app.py": MENDED}, "then": APPROVE},
    ],
    "consult": [{"answer": {"action": "look at the callers", "rationale": "nobody checks"}}],
    "PostVerifyResult": [VETO, CONFIRM],
}


@dataclass(frozen=True)
class Place:
    """A folder with a repository, the replies to its review, and what the review leaves."""

    folder: Path

    def make(self) -> Self:
        """Before the first run: nothing has been asked."""
        project(self.folder / "project", "x = 1\n", FAULT)
        script(self.folder, **REPLIES)
        return self

    def review(self, subscriber: Callable[[Event], None] = lambda event: None, **environ: str) -> StoredReview:
        """One run."""
        replies = self.folder / "script.json"
        consulting = AgentChoice("embedded", embedded_script=replies)
        return scripted_review(
            self.folder / "project", replies, subscriber, {**CREDENTIAL, **environ}, agent=consulting
        )

    @property
    def logs(self) -> Path:
        """The artefact root."""
        return self.folder / "logs"

    @property
    def paid(self) -> dict[str, int]:
        """How often each question was answered, by whatever run."""
        counts = (self.folder / "script.json.played").glob("*.count")
        return {path.stem: int(path.read_text()) for path in counts}


def killed_after(folder: Path, number: int) -> None:
    """A process that ends itself, as the kernel would end it, after so many events."""
    (folder / "temporary").mkdir()
    os.environ["TMPDIR"] = str(folder / "temporary")
    place = Place(folder).make()
    heard: list[Event] = []

    def listen(event: Event) -> None:
        heard.append(event)
        if len(heard) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    place.review(listen)
    os.kill(os.getpid(), signal.SIGKILL)  # it is over, and nobody was told


def decided(document: OutcomeDocument) -> list[object]:
    """Everything that was decided, in order, without moments and names."""
    part = document.surfaces[0].parts[0]
    told: list[object] = [document.outcome, document.because, document.flags, document.findings, document.exit_code]
    told += [part.reports, part.post_verify, part.rulings]
    told += [replace(note, duration_ms=None) for note in part.consults]
    told += [event.kind for event in document.events]
    return [*told, document.repair and (document.repair.tree, document.repair.patch)]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> OutcomeDocument:
    place = Place(tmp_path_factory.mktemp("undisturbed")).make()
    document = place.review().document
    assert document.outcome is Outcome.CHANGES_REQUESTED
    assert document.repair is not None
    assert place.paid == {name: len(replies) for name, replies in REPLIES.items()}
    return document


MOMENTS: dict[str, Callable[[Event], bool]] = {
    "at its beginning": lambda event: True,
    "with a plan": lambda event: isinstance(event, CallEnded),
    "in a consult": lambda event: isinstance(event, Consulted),
    "with a veto": lambda event: isinstance(event, Verified),
    "before the repair was read": lambda event: isinstance(event, CallEnded) and event.attempt == 1,
    "with a repair": lambda event: isinstance(event, Repaired),
    "with its last answer": lambda event: (
        isinstance(event, CallEnded) and (event.role, event.attempt) == (Role.POST_VERIFY, 1)
    ),
    "with its verdict": lambda event: isinstance(event, ReviewEnded),
}


@pytest.mark.every_case
@pytest.mark.parametrize("moment", [*MOMENTS, "when it was over"])
def test_killed_and_started_again(moment: str, undisturbed: OutcomeDocument, tmp_path: Path) -> None:
    is_over = moment not in MOMENTS
    moments = [n for n, event in enumerate(undisturbed.events, 1) if not is_over and MOMENTS[moment](event)]
    number = moments[0] if moments else len(undisturbed.events) + 1
    process = multiprocessing.get_context("spawn").Process(target=killed_after, args=(tmp_path, number))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    place = Place(tmp_path)
    kept = list((place.logs / "answers").glob("*/*.reply"))
    assert len(kept) == sum(isinstance(event, CallEnded) for event in undisturbed.events[:number])
    review = place.review()
    document = review.document
    assert decided(document) == decided(undisturbed)
    assert place.paid == {name: len(replies) for name, replies in REPLIES.items()}
    assert (review.answered_from is not None) == is_over
    runs = list_runs(place.logs / LEDGER_FILE, RunFilter())
    assert [run.status for run in runs] == ["changes_requested", "changes_requested" if is_over else "unfinished"]
    assert verify(place.logs / LEDGER_FILE).broken == ()


@pytest.mark.every_case
def test_answers_that_led_to_a_crash_are_not_used_a_second_time(tmp_path: Path) -> None:
    """A kill is nobody's fault and costs nothing; after a bug, every answer so far may be what it was met on."""

    def met_a_bug(event: Event) -> None:
        if isinstance(event, Verified):
            raise KeyError("a bug that this answer leads to")

    place = Place(tmp_path).make()
    with pytest.raises(KeyError):
        place.review(met_a_bug)
    assert place.paid == {"ReviewPlan": 1, "ReviewReport": 1, "consult": 1, "PostVerifyResult": 1}
    document = place.review().document
    assert {event.kept for event in document.events if isinstance(event, CallEnded)} == {False}
    assert (place.paid["ReviewReport"], place.paid["PostVerifyResult"]) == (2, 2)


@pytest.mark.every_case
def test_a_consult_that_was_made_before_a_kill_counts_towards_the_cap(tmp_path: Path) -> None:
    def killed(event: Event) -> None:
        if isinstance(event, Verified):
            raise Killed

    place = Place(tmp_path).make()
    asking = {"consult": {"question": "May rows be empty in app.py?"}, "then": APPROVE}
    script(tmp_path, **{**REPLIES, "ReviewReport": [asking, asking]})
    with pytest.raises(Killed):
        place.review(killed, HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS="1")
    (part,) = place.review(HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS="1").document.surfaces[0].parts
    assert [note.status for note in part.consults] == ["answered", "denied"]
    assert place.paid["consult"] == 1
