"""One review of a real change, put on a pull request of the simulated GitHub."""

from __future__ import annotations

from dataclasses import replace

from review_advisor.change.change import Change
from review_advisor.github.publish import PublishPhase
from review_advisor.github.writer import Bot
from review_advisor.mockworld.copies import NoPatcher
from review_advisor.mockworld.fake_forge import FakeForge
from review_advisor.mockworld.github import GitHub, listing_of
from review_advisor.mockworld.github_page import pull_page
from review_advisor.mockworld.world import FakeClock
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.review.document import OutcomeDocument, outcome_document
from review_advisor.review.events import PolicyFrozen

REPOSITORY = "acme/shop"
AUTHOR = "ada"


def page_of(change: Change, document: OutcomeDocument) -> str:
    """The page of a pull request with this change and nothing but this review."""
    rules, github = PublicationRules(), GitHub()
    github.opens_repository(REPOSITORY)
    github.workflow_token()
    pull = github.opens(
        REPOSITORY, {}, by=AUTHOR, title=change.title, body=change.body, listing=listing_of(change.files),
        sha=document.head_sha,
    )  # fmt: skip
    bot = Bot(forge=FakeForge(github, REPOSITORY, rules.login), clock=FakeClock(), rules=rules)
    PublishPhase(bot, NoPatcher()).publish(pull.number, _against(document, github.base_sha(pull)), asked=False)
    return pull_page(github, pull)


def _against(document: OutcomeDocument, base_sha: str) -> OutcomeDocument:
    """The review, of a change against the base branch as the simulated GitHub names it."""
    first, *others = document.events
    if not isinstance(first, PolicyFrozen):
        raise TypeError("a review begins with its policy")
    return outcome_document([replace(first, base_ref="main", base_sha=base_sha), *others])
