"""``review-advisor ledger collect``: what is typed, and what comes of many repositories."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.adapters.command_line import Terminal
from tests.adapters.github.actions import MOST_FOUND, gone
from tests.adapters.ledgers import database
from tests.adapters.organisation.workflows import BANK, SHOP, Fleet, fleet

from review_advisor.app.ledger import LIMITED
from review_advisor.mockworld.github_traffic import Limited, RequestMoment, Reset, denied

pytestmark = pytest.mark.every_case


@pytest.fixture
def octo(terminal: Terminal, tmp_path: Path) -> Iterator[Fleet]:
    """Two repositories of one organisation."""
    with fleet(terminal, tmp_path / "fleet", SHOP, BANK) as made:
        yield made


@pytest.mark.one_of_its_kind
def test_the_ledgers_of_many_repositories_become_one(octo: Fleet) -> None:
    octo.reviews(SHOP)
    octo.reviews(BANK)
    octo.reviews(SHOP)
    done = octo.collect(SHOP, BANK)
    assert done.out == (
        "repository  ledgers  runs  state\n"
        "octo/shop   2        2     whole\n"
        "octo/bank   1        1     whole\n"
        "3 runs added from 2 repositories; none with something missing\n"
    )
    assert (done.code, done.err) == (0, "")
    assert sorted(octo.held()) == [BANK, SHOP, SHOP]
    verified = octo.terminal.run("ledger", "verify", "--ledger", octo.whole)
    assert verified.code == 0, verified.out


@pytest.mark.one_of_its_kind
def test_what_was_added_before_is_not_fetched_again(octo: Fleet) -> None:
    octo.reviews(SHOP)
    assert octo.collect(SHOP).code == 0
    octo.asked()
    octo.reviews(SHOP)
    (found,) = octo.collected(SHOP)
    assert (found["ledgers"], found["added"]) == (1, 1)
    assert len([path for path in octo.asked() if path.startswith("/stored/")]) == 1
    assert octo.collect(SHOP).out.startswith("repository  ledgers  runs  state\nocto/shop   0        0     whole\n")


@pytest.mark.one_of_its_kind
def test_each_attempt_of_a_run_has_a_ledger_of_its_own(octo: Fleet) -> None:
    octo.reviews(SHOP)
    octo.reviews(SHOP, name="review-advisor-ledger-2", attempt=2)
    octo.reviews(SHOP, name="review-advisor-ledger-3")  # no run says that it has a third attempt
    (found,) = octo.collected(SHOP)
    assert found["added"] == 2


def test_who_stops_it_loses_nothing(octo: Fleet) -> None:
    """The server breaks off at the third artifact: what was added stays, and a second start asks for the rest."""
    for _ in range(4):
        octo.reviews(SHOP)
    for number in range(2, 6):  # a read is tried four times
        octo.github.traffic.meets(Reset(), RequestMoment(number, operation="download artifact"))
    (found,) = octo.patiently(SHOP)
    assert (found.added, found.whole) == (2, False)
    assert "no answer came" in found.trouble
    octo.asked()
    (found,) = octo.patiently(SHOP)
    assert (found.ledgers, found.added, found.present, found.whole) == (2, 2, 0, True)
    assert len([path for path in octo.asked() if path.startswith("/stored/")]) == 2
    assert len(octo.held()) == 4


def test_what_is_forgotten_is_taken_in_again_and_changes_nothing(octo: Fleet) -> None:
    stored = octo.reviews(SHOP)
    assert octo.collect(SHOP).code == 0
    with database(octo.whole) as connection:
        connection.execute("DELETE FROM collected")
    (found,) = octo.collected(SHOP)
    assert (found["ledgers"], found["added"], found["present"]) == (1, 0, 1)
    with database(octo.whole) as connection:
        assert connection.execute("SELECT server, artifact FROM collected").fetchall() == [(octo.door.url, stored.id)]


def test_who_may_not_read_one_repository_is_told_and_gets_the_others(octo: Fleet) -> None:
    octo.reviews(SHOP)
    octo.reviews(BANK)
    octo.github.traffic.meets(denied(), RequestMoment(0, operation="list workflow runs"))
    done = octo.collect("octo/none", SHOP, BANK)
    assert done.code == 3
    assert octo.held() == [BANK]
    assert [line.split(": ")[0] for line in done.err.splitlines()] == ["octo/none", SHOP]
    assert "it is not there, or not for this token" in done.err
    assert "The token may not list the workflow's runs" in done.err
    assert "octo/none   0        0     not read" in done.out


def test_a_repository_that_was_renamed_is_asked_for_by_its_present_name(octo: Fleet) -> None:
    octo.reviews(SHOP)
    octo.github.renames_repository(SHOP, "octo/store")
    done = octo.collect(SHOP)
    assert (done.code, "it has moved; use the repository's present name" in done.err) == (3, True)
    done = octo.collect("octo/store")
    assert (done.code, f"is of {SHOP}" in done.err) == (3, True)
    done = octo.collect("octo/store", "--renamed", f"{BANK}=octo/store", "--renamed", f"{SHOP}={BANK}")
    assert (done.code, f"is of {SHOP}" in done.err) == (3, True), "another repository was called so"
    done = octo.collect("octo/store", "--renamed", f"{SHOP}=octo/store")
    assert (done.code, octo.held()) == (0, [SHOP])


@pytest.mark.parametrize("words", ["octo/shop", "octo/shop=", "octo/shop=octo/a=b", "shop=store"])
def test_a_renaming_names_two_repositories(octo: Fleet, words: str) -> None:
    done = octo.collect("octo/store", "--renamed", words)
    assert (done.code, f"'{words}' is not OLD=NEW, both as OWNER/NAME." in done.err) == (2, True)


def test_a_limit_of_requests_ends_it_and_names_what_was_not_asked(octo: Fleet) -> None:
    octo.reviews(SHOP)
    octo.reviews(BANK)
    octo.github.traffic.meets(Limited(seconds=3_600), RequestMoment(0, operation="download artifact"))
    first, second = octo.patiently(SHOP, BANK)
    assert "rate limit is reached" in first.trouble
    assert second.trouble == LIMITED
    assert {path.split("/")[3] for path in octo.asked()} == {"shop"}


def test_what_expired_is_a_gap_unless_it_was_collected_in_time(octo: Fleet) -> None:
    before, after = octo.reviews(SHOP), octo.reviews(SHOP)
    before.expired = True
    done = octo.collect(SHOP)
    assert done.code == 3
    assert done.err == "octo/shop: 1 ledger expired before being collected: 2026-01-05.\n"
    after.expired = True
    (found,) = octo.collected(SHOP)
    assert len(found["gaps"]) == 1
    del octo.github.actions[octo.github.repository(SHOP).id].artifacts[before.id]
    (found,) = octo.collected(SHOP)
    assert found["silent"] == ["1 successful run older than what is kept (90 days), with no ledger: 2026-01-05"]
    assert (found["gaps"], found["whole"]) == ([], True)


def test_an_artifact_that_expires_meanwhile_stops_no_other(octo: Fleet) -> None:
    octo.reviews(SHOP)
    octo.reviews(SHOP)
    octo.github.traffic.meets(gone(), RequestMoment(0, operation="download artifact"))
    (found,) = octo.collected(SHOP)
    assert (found["added"], len(found["refused"])) == (1, 1)
    assert "it is not there, or not for this token (Artifact has expired)" in found["refused"][0]


def test_an_artifact_that_the_store_refuses_stops_no_other(octo: Fleet) -> None:
    octo.reviews(SHOP)
    octo.reviews(SHOP)
    octo.door.store_answers = [404]
    (found,) = octo.collected(SHOP)
    assert (found["added"], found["trouble"], len(found["refused"])) == (1, "", 1)
    assert "its store answered with status 404" in found["refused"][0]


def test_each_try_at_the_store_asks_for_a_fresh_address(octo: Fleet) -> None:
    octo.reviews(SHOP)
    octo.door.store_answers = [503, 500]
    (found,) = octo.patiently(SHOP)
    assert (found.added, found.whole) == (1, True)
    assert [path.rpartition("/")[2] == "zip" for path in octo.asked()][-6:] == [True, False] * 3


@pytest.mark.parametrize(
    "how, why",
    [
        ({"event": "pull_request", "head": "evil/shop"}, "on pull_request the change brings its own workflow file"),
        ({"event": "push", "branch": "main"}, "the shipped workflow does not run on push"),
        ({"event": "merge_group"}, "its workflow file may be a queued change's, and it reviews nothing"),
        ({"event": "issue_comment", "branch": "evil"}, "it ran on the branch evil"),
        ({"event": "issue_comment", "branch": "main", "head": "evil/shop"}, "its commit is in another repository"),
    ],
)
def test_nothing_is_fetched_of_a_run_that_is_not_believed(octo: Fleet, how: dict[str, str], why: str) -> None:
    octo.github.opens_repository("evil/shop")
    octo.reviews(SHOP)
    octo.reviews(SHOP, **how)
    done = octo.collect(SHOP)
    assert (done.code, len(octo.held())) == (0, 1)
    assert done.err == f"octo/shop: 1 run not believed: {why}.\n"


def test_the_head_of_a_fork_is_no_reason_where_the_base_brings_the_workflow(octo: Fleet) -> None:
    octo.github.opens_repository("mona/shop")
    octo.reviews(SHOP, event="pull_request_target", head="mona/shop", branch="main")
    octo.reviews(SHOP, event="issue_comment", branch="main")
    assert octo.collect(SHOP).code == 0
    assert len(octo.held()) == 2


def test_any_workflow_may_call_an_artifact_so(octo: Fleet) -> None:
    octo.reviews(SHOP)
    octo.reviews(SHOP, path=".github/workflows/evil.yml")
    octo.reviews(SHOP, path=".github/workflows/other/review-advisor.yml")
    assert octo.collect(SHOP).code == 0
    assert len(octo.held()) == 1


def test_a_workflow_with_another_path_is_named(octo: Fleet) -> None:
    octo.reviews(SHOP, path=".github/workflows/advice.yml")
    assert octo.collect(SHOP).code == 3
    assert octo.collect(SHOP, "--workflow", ".github/workflows/advice.yml").code == 0
    done = octo.collect(SHOP, "--workflow", "advice.yml")
    assert (done.code, "--workflow takes the path of a workflow's file" in done.sentence) == (2, True)


def test_more_runs_than_github_lists_are_asked_for_in_halves(octo: Fleet) -> None:
    for second in range(MOST_FOUND + 5):
        octo.github.runs_workflow(SHOP, event="push", at=second * 60)
    octo.reviews(SHOP, at=30)
    octo.reviews(SHOP, at=MOST_FOUND * 60)
    done = octo.collect(SHOP)
    assert f"octo/shop: {MOST_FOUND + 5:,} runs not believed: the shipped workflow does not run on push." in done.err
    assert len(octo.held()) == 2


def test_what_is_needed_is_asked_for_before_anything_is_sent(octo: Fleet) -> None:
    assert "Missing argument 'OWNER/NAME...'" in octo.collect().err
    done = octo.collect(SHOP, "octo")
    assert (done.code, "is not the name of a repository" in done.sentence) == (2, True)
    done = octo.terminal.run("ledger", "collect", "--to", octo.whole, SHOP, env=octo.environ | {"GITHUB_TOKEN": ""})
    assert (done.code, "There is no GitHub token" in done.sentence) == (2, True)
    done = octo.collect(SHOP, "--since", "9000-01-01")
    assert (done.code, "--since (9000-01-01T00:00:00+00:00) is in the future." in done.err) == (2, True)
    octo.whole.parent.mkdir(exist_ok=True)
    octo.whole.write_text("no ledger")
    done = octo.collect(SHOP)
    assert (done.code, "is not a ledger" in done.sentence) == (2, True)
    assert octo.asked() == []
