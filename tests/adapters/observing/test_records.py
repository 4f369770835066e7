"""What is recorded of a closed pull request, once, in whichever ledger; and what cannot be seen is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.git_remote import NAME
from tests.adapters.ledgers import exported, rows
from tests.adapters.observing.observed import ID, OTHER_LABEL, READS, kpi, observed, sources, whole
from tests.adapters.pull_request_world import APP, LINES, MAINTAINER, TOKENS, Actions

from review_advisor.change import git_history as history
from review_advisor.ledger.chain import LedgerError, canonical, links
from review_advisor.ledger.proving import verify
from review_advisor.ledger.queries import Period
from review_advisor.ledger.recorder import keep, open_ended
from review_advisor.ledger.run_queries import show_run
from review_advisor.ledger.sums import add_up
from review_advisor.ledger.transfer import Folded, import_lines, merge, rebuild
from review_advisor.mockworld.github import second_of
from review_advisor.mockworld.github_records import Pull
from review_advisor.mockworld.github_traffic import RefusedRequest
from review_advisor.review.observed import JUDGED_AFTER, Observed, ObservedLabel

pytestmark = pytest.mark.every_case  # `make test` runs the ones of their kind


def test_a_base_branch_that_is_gone_is_said_and_nothing_is_recorded(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    actions.merges(pull)
    actions.git.work.git("--git-dir", str(actions.git.bare), "update-ref", "refs/heads/main", f"{pull.head_sha}^")
    ran = actions.closed(pull)
    done = ran.observe()
    assert (done.code, done.out) == (2, "")
    because = "its merge is not in the history of the base branch"
    assert done.sentence == f"What became of pull request #{pull.number} cannot be seen: {because}."
    assert not ran.ledger.exists()


def test_outside_a_clone_nothing_that_was_known_is_lost(rejected: tuple[Actions, Pull], tmp_path: Path) -> None:
    actions, pull = rejected
    actions.merges(pull)
    ran = actions.closed(pull)
    assert observed(ran)[ID, "at_merge"] == "there"
    before = exported(ran.ledger)
    elsewhere = ("--ledger", ran.ledger, "--repo", tmp_path)
    done = actions.closed(pull).observe("--pr", f"{NAME}#{pull.number}", *elsewhere)
    assert (done.code, done.out) == (2, "")
    assert done.sentence.startswith(f"What became of pull request #{pull.number} cannot be seen: ")
    done = actions.closed(pull).observe("--again", *elsewhere)
    assert done.code == 12
    assert done.sentence == "Not every pull request could be observed: 1 could not."
    assert exported(ran.ledger) == before
    done = actions.closed(pull).observe("--again", "--ledger", ran.ledger)
    assert done.err == f"{NAME}#{pull.number}: nothing new: the ledger holds the same facts already\n"


def test_what_git_could_not_tell_once_is_asked_again_and_takes_nothing_from_what_is_known(
    rejected: tuple[Actions, Pull], monkeypatch: pytest.MonkeyPatch
) -> None:
    actions, pull = rejected
    actions.merges(pull)
    ran = actions.closed(pull)
    with monkeypatch.context() as troubled:
        troubled.setattr(history, "MOST_LISTED", -1)
        troubled.setattr(history, "MOST_BYTES", -1)
        labels = observed(ran)
    assert (labels["", "reverted"], labels[ID, "at_merge"], labels[ID, "thread"]) == ("unknown", "unknown", "open")
    again = actions.closed(pull).observe("--again", "--ledger", ran.ledger)
    assert (again.code, again.err) == (0, f"{NAME}#{pull.number}: recorded\n")
    with monkeypatch.context() as troubled:
        troubled.setattr(history, "MOST_LISTED", -1)
        troubled.setattr(history, "MOST_BYTES", -1)
        labels = observed(actions.closed(pull), "--pr", f"{NAME}#{pull.number}", "--ledger", ran.ledger)
    assert (labels["", "reverted"], labels[ID, "at_merge"]) == ("unknown", "there")
    assert kpi(whole(actions), "validated").judgement == "not measured", "that nothing happened is true of a moment"


def thumb_up(actions: Actions, pull: Pull) -> None:
    """A maintainer says that the finding is right."""
    (thread,) = actions.threads(pull)
    actions.github.reacts(thread.comments[0], "THUMBS_UP", by=MAINTAINER)


def test_the_same_facts_are_recorded_once_and_survive_everything(
    rejected: tuple[Actions, Pull], tmp_path: Path
) -> None:
    actions, pull = rejected
    thumb_up(actions, pull)
    actions.merges(pull)
    first = actions.closed(pull).observe()
    assert (first.code, first.err) == (0, f"{NAME}#{pull.number}: recorded\n")
    ran = actions.runs[-1]
    lines = exported(ran.ledger)
    again = actions.closed(pull).observe("--pr", f"{NAME}#{pull.number}", "--ledger", ran.ledger)
    nothing_new = f"{NAME}#{pull.number}: nothing new: the ledger holds the same facts already\n"
    assert (again.code, again.err) == (0, nothing_new)
    assert again.out == first.out
    assert exported(ran.ledger) == lines
    path, other = whole(actions), tmp_path / "other.sqlite3"
    for each in (run.ledger for run in actions.runs if run.ledger.exists()):
        merge(other, each)
    assert rows(other) == rows(path), "in whatever order they are folded"
    assert verify(path).broken == ()
    before = add_up(path, Period())
    assert before.sums.labelled == 1
    rebuild(path)
    assert add_up(path, Period()) == before
    (tmp_path / "export.jsonl").write_text("".join(exported(path)))
    import_lines(tmp_path / "again.sqlite3", tmp_path / "export.jsonl")
    assert add_up(tmp_path / "again.sqlite3", Period()) == before
    with pytest.raises(LedgerError, match="has no run 'observed_"):
        show_run(path, "observed_")


def test_labels_count_in_the_period_and_repository_of_the_review(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    thumb_up(actions, pull)
    actions.merges(pull)
    observed(actions.closed(pull))
    path = whole(actions)
    assert kpi(path, "validated", Period(repository=NAME.upper())).cases == 1
    assert kpi(path, "validated", Period(repository="octo/other")).cases == 0


def test_what_was_merged_lately_is_observed_again_all_at_once(actions: Actions) -> None:
    reverted, closed, kept, gone = (actions.opens({APP: LINES + f"value = {n}\n"}) for n in (41, 42, 43, 44))
    actions.github.closes(closed)
    merge_commit = actions.merges(reverted)
    actions.git.work.git("checkout", "--quiet", "main")
    for pull in (kept, gone):
        actions.git.work.at = at = datetime.now(UTC) - JUDGED_AFTER
        actions.git.work.git("merge", "--quiet", "--strategy=ours", "--no-edit", pull.head_sha)
        actions.git.push("main:refs/heads/main")
        actions.github.merges(pull, sha=actions.git.work.rev("main"), at=second_of(at))
    actions.git.work.at = None
    for pull in (reverted, closed, kept, gone):
        observed(actions.closed(pull))
    actions.reverts("-m", "1", merge_commit)
    del actions.github.repository(NAME).pulls[gone.number]
    ran = actions.closed(reverted)
    words = ("--again", "--ledger", whole(actions))
    done = ran.observe(*words)
    missing = f"GitHub could not read pull request #{gone.number}: it is not there, or not for this token (Not Found)."
    assert done.code == 12
    assert done.err.splitlines() == [
        f"{NAME}#{reverted.number}: recorded",
        f"{NAME}#{kept.number}: nothing new: the ledger holds the same facts already",
        f"Not observed: {missing}",
        "Error: Not every pull request could be observed: 1 could not.",
    ]
    again = actions.closed(reverted).observe(*words)
    assert f"#{reverted.number}" not in again.err, "what was reverted stays reverted"


ELSEWHERE = "f-01234567890123456789012345678901"


@pytest.mark.parametrize(
    "labels, again",
    [
        ((ObservedLabel("", "reverted", "unknown", "why"),), True),
        ((ObservedLabel("", "reverted", "not_reverted", "no commit"),), True),
        ((ObservedLabel("", "reverted", "reverted", "commit beef"),), True),
        (
            (ObservedLabel("", "judged", "judged", "it was"), ObservedLabel("", "reverted", "reverted", "commit beef")),
            False,
        ),
        (
            (
                ObservedLabel("", "merge", "closed", "without a merge"),
                ObservedLabel("f-1", "at_merge", "unknown", "why"),
            ),
            False,
        ),
    ],
)
def test_whatever_was_merged_and_is_not_proven_to_be_reverted_is_looked_at_again_for_a_while(
    tmp_path: Path, labels: tuple[ObservedLabel, ...], again: bool
) -> None:
    at, ledger = datetime(2026, 1, 5, 9, tzinfo=UTC), tmp_path / "ledger.sqlite3"
    seen = Observed(
        at=at, run_id="observed_1", repository=NAME, pull_request=7, head_sha="a" * 40, labels=(*labels, OTHER_LABEL)
    )
    assert keep(ledger, seen) == (seen, True)
    lately = replace(seen, at=at + timedelta(days=20), run_id="observed_2", labels=labels)
    assert keep(ledger, lately) == (replace(lately, labels=seen.labels), False), "nothing that was known is lost"
    found = replace(
        lately,
        labels=(*seen.labels, ObservedLabel(ELSEWHERE, "reaction", "up", f"@{MAINTAINER}")),
    )
    assert keep(ledger, found) == (found, True)
    assert open_ended(ledger, at) == (((NAME, 7),) if again else ())
    assert open_ended(ledger, at + timedelta(days=1)) == (), "by when it was first seen"


def test_what_was_closed_first_and_merged_later_is_looked_at_again_from_then_on(tmp_path: Path) -> None:
    at, ledger = datetime(2026, 1, 5, 9, tzinfo=UTC), tmp_path / "ledger.sqlite3"
    about: dict[str, Any] = {"repository": NAME, "pull_request": 7, "head_sha": "a" * 40}
    keep(
        ledger,
        Observed(at=at, run_id="observed_1", labels=(ObservedLabel("", "merge", "closed", "no merge"),), **about),
    )
    merged = (ObservedLabel("", "merge", "merged", "beef"), ObservedLabel("", "reverted", "unknown", "why"))
    keep(ledger, Observed(at=at + timedelta(days=30), run_id="observed_2", labels=merged, **about))
    assert open_ended(ledger, at + timedelta(days=1)) == ((NAME, 7),)


def test_what_one_ledger_knew_is_known_where_it_is_merged_with_another(
    rejected: tuple[Actions, Pull], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job that runs again has a ledger of its own, and may be unable to tell what the first one saw."""
    actions, pull = rejected
    merge_commit = actions.merges(pull)
    actions.reverts("-m", "1", merge_commit)
    assert observed(actions.closed(pull))["", "reverted"] == "reverted"
    monkeypatch.setattr(history, "MOST_LISTED", -1)
    monkeypatch.setattr(history, "MOST_BYTES", -1)
    labels = observed(actions.closed(pull))
    assert (labels["", "reverted"], labels[ID, "at_merge"]) == ("unknown", "unknown")
    path = whole(actions)
    assert kpi(path, "validated").value == 1.0
    assert verify(path).broken == ()
    rebuild(path)
    assert kpi(path, "validated").value == 1.0
    words = ("--pr", f"{NAME}#{pull.number}", "--ledger", path)
    assert observed(actions.closed(pull), *words)["", "reverted"] == "reverted"


@pytest.mark.parametrize(
    "change, says",
    [
        (lambda event: [event, event], "The events of observed_x are those of no observation."),
        (lambda event: [event | {"run_id": "observed_y"}], "The events of observed_x are those of no observation."),
        (lambda event: [event | {"at": "2026-01-05"}], "Event 0 of observed_x is none that this version knows."),
        (lambda event: [event | {"labels": 7}], "Event 0 of observed_x is none that this version knows."),
        (lambda event: [event | {"pull_request": 0}], "The run observed_x names a pull request that cannot be."),
        (
            lambda event: [event | {"head_sha": "\ud800"}],
            "Event 0 of observed_x holds half a character: no file takes that.",
        ),
    ],
)
def test_an_observation_that_somebody_made_up_is_not_taken_in(
    tmp_path: Path, change: Callable[[dict[str, Any]], list[dict[str, Any]]], says: str
) -> None:
    about = {"repository": NAME, "pull_request": 7, "head_sha": "a" * 40, "labels": []}
    event = {"kind": "observed", "at": "2026-01-05T09:00:00Z", "run_id": "observed_x", **about}
    file, ledger = tmp_path / "made-up.jsonl", tmp_path / "ledger.sqlite3"
    with pytest.raises(LedgerError) as refusal:
        import_lines(ledger, _export(file, change(event)))
    assert str(refusal.value) == says
    assert import_lines(ledger, _export(file, [event])) == Folded(added=1, grown=0, present=0)


def _export(file: Path, events: list[dict[str, Any]]) -> Path:
    chain = links("observed_x", [canonical(event) for event in events])
    told = [
        {"run": "observed_x", "index": e.index, "previous": e.previous, "hash": e.hash, "event": json.loads(e.event)}
        for e in chain
    ]
    file.write_text("".join(json.dumps(each) + "\n" for each in told))
    return file


def test_the_step_of_the_action_does_the_same(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    actions.merges(pull)
    actions.by_steps = True
    ran = actions.closed(pull)
    done = ran.observe()
    assert (done.code, done.err) == (0, f"{NAME}#{pull.number}: recorded\n")
    assert sources(ran)[ID, "at_merge"] == "its lines are in the merged file"


@pytest.mark.one_of_its_kind
def test_what_is_open_or_was_not_closed_by_the_event_is_refused(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    ran = actions.closed(pull)
    done = ran.observe()
    assert done.code == 2
    assert done.sentence == f"Pull request #{pull.number} is open: observe it once it is closed."
    done = actions.starts("opened", pull).observe()
    assert done.code == 2
    assert done.sentence.startswith("This event does not close a pull request")
    assert not ran.ledger.exists()
    done = actions.closed(pull).observe("--pr", "7", "--event", "x")
    assert (done.code, done.out) == (2, "")


def test_a_token_that_may_not_read_is_told_so_in_one_sentence(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    actions.merges(pull)
    ran = actions.closed(pull)
    actions.github.traffic.meets(RefusedRequest(403, "Resource not accessible by integration"), READS)
    done = ran.observe()
    assert done.code == 12
    assert done.sentence.startswith("The token may not read pull request #")
    assert not ran.ledger.exists()


def test_a_ledger_that_cannot_be_used_is_told_so_in_one_sentence(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    actions.merges(pull)
    ran = actions.closed(pull)
    ran.ledger.parent.mkdir(parents=True)
    ran.ledger.write_text("no ledger at all, and long enough to be looked at" * 40)
    done = ran.observe()
    assert (done.code, done.sentence) == (2, f"{ran.ledger} is not a ledger: it is no SQLite file.")


def test_hostile_words_reach_the_terminal_on_one_line_and_no_secret_the_ledger(
    rejected: tuple[Actions, Pull],
) -> None:
    actions, pull = rejected
    secret = "ghp_" + "Zk4mQ9vXw2Ls7Rt1Yb8Nc5Jd3Hf6Pg0TaUeI"
    actions.said(pull, f"/advisor dismiss {ID} \x1b[2Jit is {secret}", by=MAINTAINER)
    actions.merges(pull)
    ran = actions.closed(pull)
    done = ran.observe()
    assert done.code == 0
    assert "\x1b" not in done.out
    assert len(done.out.splitlines()) == len(sources(ran))
    assert secret not in "".join(exported(ran.ledger)) + done.out
    assert TOKENS["observe"] not in done.out
