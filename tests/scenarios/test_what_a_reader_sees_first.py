"""The summary in the order of a reader's interest: what the change does, what was found, the bot's own troubles."""

from dataclasses import replace

import pytest
from tests.scenarios.publishing import PATH, Desk

from review_advisor.mockworld.agents import approve, finding, reject, veto
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.review.rulings import Outcome

FAULT = finding(PATH, 3, "value = 3", title="three is wrong")


def test_what_the_change_does_comes_before_what_was_found() -> None:
    desk = Desk()
    desk.publish(
        desk.reviewed(
            replace(reject(FAULT), answer={**(reject(FAULT).answer or {}), "does": "It adds <thirty> values."})
        )
    )
    said = desk.summaries[0].body
    heading, does, finding_at = (
        said.index(words) for words in ("### ", "**What it does**: It adds &lt;thirty&gt;", "three")
    )
    assert heading < does < finding_at
    assert said.index("must not be merged") > does
    (check,) = desk.checks
    assert (check.summary or "").startswith("**What it does**: It adds &lt;thirty&gt; values.")


@pytest.mark.parametrize("said", [None, 7, ["a"], "x" * 601], ids=str)
def test_an_executor_that_does_not_say_what_the_change_does_is_heard_all_the_same(said: object) -> None:
    desk = Desk()
    answer = {**(approve().answer or {}), **({} if said is None else {"does": said})}
    document = desk.reviewed(replace(approve(), answer=answer))
    assert (document.outcome, desk.world.asked.count("executor")) == (Outcome.APPROVED, 1)
    desk.publish(document)
    assert desk.summaries[0].body.count("**What it does**") == isinstance(said, str)


def test_what_the_token_may_not_do_is_told_once_and_in_the_fold() -> None:
    desk = Desk(PublicationRules(reviewers=("acme/owners", "acme/owners")))
    desk.publish(desk.reviewed(approve(), approve(FAULT), judged=[veto("no"), veto("no")]))
    said = desk.summaries[0].body
    assert "**Notes**" not in said
    assert said.count("could not be asked for a review") == 1
    assert (
        said.index("How ")
        < said.index("could not be asked for a review")
        < said.index("</details>", said.index("How "))
    )
    (check,) = desk.checks
    assert "could not be asked" not in (check.summary or "")
