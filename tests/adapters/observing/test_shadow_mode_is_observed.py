"""What became of pull requests reviewed in shadow mode: the bot said nothing there, and the ledger knows it."""

from __future__ import annotations

import pytest
from tests.adapters.git_remote import NAME
from tests.adapters.observing.observed import FAULT, FAULTY, ID, observed, whole
from tests.adapters.pull_request_world import APP, Actions

from review_advisor.ledger.kpis import WouldHave
from review_advisor.ledger.queries import Period
from review_advisor.ledger.sums import shadow_mode_sums
from review_advisor.mockworld.agents import reject

pytestmark = pytest.mark.every_case  # `make test` runs the ones of their kind


@pytest.mark.every_case
@pytest.mark.one_of_its_kind
def test_a_change_that_shadow_mode_would_have_blocked_was_merged_and_reverted(actions: Actions) -> None:
    actions.main_becomes({".review-advisor.toml": 'mode = "shadow"\n'})
    pull = actions.opens({APP: FAULTY})
    actions.models.executor_says(reject(FAULT))
    reviewed = actions.happens("opened", pull)
    merge_commit = actions.merges(pull)
    assert observed(actions.closed(pull))["", "merge"] == "merged"
    sums = shadow_mode_sums(whole(actions), Period())
    assert (sums.reviews, sums.blocked) == (1, WouldHave(reviews=1, closed=1, merged=1))

    actions.reverts("-m", "1", merge_commit)
    again = actions.closed(pull)
    again.place.joinpath("review-advisor", "logs", "ledger").mkdir(parents=True)
    again.ledger.write_bytes(reviewed.ledger.read_bytes())
    labels = observed(again, "--pr", f"{NAME}#{pull.number}")
    assert labels["", "merge"] == "merged", "no summary is missed where shadow mode writes none"
    assert (ID, "at_merge") in labels, "the ledger knows the finding"
    assert shadow_mode_sums(whole(actions), Period()).blocked == WouldHave(reviews=1, closed=1, merged=1, reverted=1)
