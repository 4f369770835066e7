"""What people said of a finding: threads, thumbs, dismissals, approvals."""

from __future__ import annotations

from typing import Literal

import pytest
from tests.adapters.git_remote import NAME
from tests.adapters.observing.observed import (
    ELSEWHERE,
    FAULT,
    FAULTY,
    ID,
    ID_ELSEWHERE,
    RIGHT,
    kpi,
    observed,
    sources,
    whole,
)
from tests.adapters.pull_request_world import APP, AUTHOR, MAINTAINER, OTHER, STRANGER, Actions

from review_advisor.github import threads
from review_advisor.github.comment_text import amended
from review_advisor.github.state import SUMMARY, StandingComment, finding_in, finding_marker, read_state, with_dismissed
from review_advisor.github.writes import InlineComment
from review_advisor.mockworld.agents import reject
from review_advisor.mockworld.github_doors import Session
from review_advisor.mockworld.github_records import Pull
from review_advisor.policy.pull_request_rules import PublicationRules

pytestmark = pytest.mark.every_case  # `make test` runs the ones of their kind


def test_threads_say_who_resolved_them(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    (thread,) = actions.threads(pull)
    actions.github.resolves(thread, by=MAINTAINER)
    actions.merges(pull)
    ran = actions.closed(pull)
    assert observed(ran)[ID, "thread"] == "resolved"
    assert sources(ran)[ID, "thread"] == f"@{MAINTAINER} resolved its thread"
    actions.github.resolves(thread, by=actions.login)
    assert observed(actions.closed(pull))[ID, "thread"] == "resolved_by_bot"
    actions.github.resolves(thread, by="somebody")
    del actions.github.accounts["somebody"]
    assert observed(actions.closed(pull))[ID, "thread"] == "unknown"


@pytest.mark.parametrize(
    "thumbs, value",
    [
        (((MAINTAINER, "THUMBS_DOWN"),), "down"),
        (((MAINTAINER, "THUMBS_UP"), (MAINTAINER, "HEART")), "up"),
        (((MAINTAINER, "THUMBS_UP"), (MAINTAINER, "THUMBS_DOWN")), "both"),
        (((AUTHOR, "THUMBS_DOWN"),), "none"),
        (((AUTHOR, "THUMBS_UP"),), "up"),
        (((STRANGER, "THUMBS_DOWN"), ("helper[bot]", "THUMBS_UP"), (MAINTAINER, "EYES")), "none"),
    ],
)
def test_thumbs_count_if_their_owner_may_write(
    rejected: tuple[Actions, Pull], thumbs: tuple[tuple[str, Literal["THUMBS_UP"]], ...], value: str
) -> None:
    actions, pull = rejected
    (thread,) = actions.threads(pull)
    for login, thumb in thumbs:
        actions.github.reacts(thread.comments[0], thumb, by=login)
    actions.merges(pull)
    assert observed(actions.closed(pull))[ID, "reaction"] == value
    found = kpi(whole(actions), "validated")
    assert (found.cases, found.value) == {"up": (1, 1.0), "down": (1, 0.0)}.get(value, (0, None))


@pytest.mark.parametrize("crowd", [51, 101])
def test_a_crowd_of_reactions_is_not_asked_about_and_unknown(rejected: tuple[Actions, Pull], crowd: int) -> None:
    actions, pull = rejected
    (thread,) = actions.threads(pull)
    for number in range(crowd):
        actions.github.reacts(thread.comments[0], "THUMBS_DOWN", by=f"somebody-{number}")
    actions.github.closes(pull)
    assert observed(actions.closed(pull))[ID, "reaction"] == "unknown"


def test_a_crowd_drowns_no_thumb_that_counts_and_none_on_another_finding(actions: Actions) -> None:
    pull = actions.opens({APP: FAULTY, OTHER: RIGHT})
    actions.models.executor_says(reject(FAULT, ELSEWHERE))
    actions.happens("opened", pull)
    threads = {finding_in(each.comments[0].body): each.comments[0] for each in actions.threads(pull)}
    first, second = sorted((ID, ID_ELSEWHERE))
    for number in range(51):
        actions.github.reacts(threads[first], "THUMBS_UP", by=f"somebody-{number}")
    actions.github.reacts(threads[second], "THUMBS_DOWN", by=MAINTAINER)
    actions.merges(pull)
    labels = observed(actions.closed(pull))
    assert (labels[first, "reaction"], labels[second, "reaction"]) == ("unknown", "down")
    for number in range(51):
        actions.github.reacts(threads[second], "THUMBS_UP", by=f"somebody-else-{number}")
    ran = actions.closed(pull)
    assert observed(ran)[second, "reaction"] == "down"
    assert sources(ran)[second, "reaction"] == f"@{MAINTAINER}, among too many to ask about them all"


def test_only_so_many_people_are_asked_about_in_all(
    rejected: tuple[Actions, Pull], monkeypatch: pytest.MonkeyPatch
) -> None:
    actions, pull = rejected
    (thread,) = actions.threads(pull)
    actions.github.reacts(thread.comments[0], "THUMBS_DOWN", by=MAINTAINER)
    actions.merges(pull)
    monkeypatch.setattr(threads, "MOST_ASKED", 0)
    assert observed(actions.closed(pull))[ID, "reaction"] == "unknown"


def test_a_comment_that_somebody_else_edited_is_no_longer_the_bots_word(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    (thread,) = actions.threads(pull)
    actions.github.edits(thread.comments[0], by=MAINTAINER, body=thread.comments[0].body.replace("wrong", "fine"))
    actions.merges(pull)
    labels = observed(actions.closed(pull))
    assert (labels[ID, "thread"], labels[ID, "at_merge"]) == ("unknown", "unknown")


def test_a_person_who_is_called_as_the_bot_is_has_no_finding_of_its(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    namesake = actions.login.removesuffix("[bot]")
    theirs = Session(actions.github, NAME, actions.github.personal_token(namesake)).reviewing
    forged = InlineComment("", APP, 31, None, "RIGHT", finding_marker("f-01234567890123456789012345678901"))
    theirs.submit(pull.number, theirs.create(pull.number, pull.head_sha, "Look.", [forged]).id)
    actions.merges(pull)
    assert {finding for finding, _ in observed(actions.closed(pull))} == {"", ID}


def test_what_a_person_dismissed_did_not_prove_right_although_it_changed(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    actions.said(pull, f"/advisor dismiss {ID} it is the answer", by=MAINTAINER)
    actions.pushed(pull, {APP: RIGHT})
    actions.merges(pull)
    ran = actions.closed(pull)
    labels = observed(ran)
    assert (labels[ID, "dismissal"], labels[ID, "at_merge"]) == ("dismissed", "gone")
    assert sources(ran)[ID, "dismissal"] == f"@{MAINTAINER}: it is the answer"
    assert kpi(whole(actions), "validated").value == 0.0


@pytest.mark.parametrize("pushed", [True, False])
def test_the_author_of_a_change_who_dismisses_a_finding_decides_nothing(
    rejected: tuple[Actions, Pull], pushed: bool
) -> None:
    """The bot hears no such command of the author. A summary that says otherwise is not believed once it publishes."""
    actions, pull = rejected
    login = PublicationRules().login
    (summary,) = [each for each in pull.comments if each.body.startswith(SUMMARY)]
    state = read_state(StandingComment(summary.id, login, summary.body), login)
    assert state is not None
    theirs = with_dismissed(state, ID, by=AUTHOR, reason="it is the answer")
    actions.github.edits(summary, by=login, body=amended(summary.body, theirs))
    if pushed:
        actions.pushed(pull, {APP: RIGHT})
    actions.merges(pull)
    ran = actions.closed(pull)
    assert observed(ran)[ID, "dismissal"] == "none"
    assert sources(ran)[ID, "dismissal"] == "nobody dismissed it"
    assert kpi(whole(actions), "validated").cases == 0


def test_an_escalation_that_a_person_approved_is_an_override(escalated: tuple[Actions, Pull]) -> None:
    actions, pull = escalated
    actions.said(pull, f"/advisor override {pull.head_sha} I looked at it", by=MAINTAINER)
    actions.merges(pull)
    labels = observed(actions.closed(pull))
    assert (labels["", "escalation"], labels["", "merge"]) == ("approved", "merged")
    found = kpi(whole(actions), "overrides")
    assert (found.value, found.cases, found.judgement) == (1.0, 1, "no target")


def test_an_escalation_that_is_merged_unapproved_is_none(escalated: tuple[Actions, Pull]) -> None:
    actions, pull = escalated
    actions.merges(pull)
    labels = observed(actions.closed(pull))
    assert (labels["", "escalation"], labels["", "merge"]) == ("not_approved", "merged_against")
    assert (kpi(whole(actions), "overrides").value, kpi(whole(actions), "missed_escalations").cases) == (0.0, 0)


@pytest.mark.one_of_its_kind
def test_a_summary_that_somebody_edited_is_not_believed(rejected: tuple[Actions, Pull]) -> None:
    actions, pull = rejected
    (summary,) = actions.summaries(pull)
    actions.github.edits(summary, by=MAINTAINER, body=summary.body + "\nAll is well.")
    actions.merges(pull)
    labels = observed(actions.closed(pull))
    assert (labels["", "escalation"], labels[ID, "dismissal"]) == ("unknown", "unknown")
    assert labels["", "merge"] == "unknown", "it may have been merged against what was said"
    assert sources(actions.runs[-1])["", "merge"] == "it was merged, and no summary of the bot can be believed"
    assert labels[ID, "at_merge"] == "there", "GitHub's own facts about the comment are"
