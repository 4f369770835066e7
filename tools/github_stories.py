"""What the pictures of docs/github.md show: a few stories on MockWorld's GitHub, and the records that each left there.

Every text in them is the real one: a review is played, published and answered, and nothing is written for a picture.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cache, partial
from pathlib import Path

from github_shop import (
    AGAIN,
    BASE,
    CART,
    CART_AFTER,
    CART_MENDED,
    EMPTY,
    REFUNDS,
    REFUNDS_AFTER,
    TWICE,
    UNKNOWN,
    doing,
    using,
    vetoed,
)

from review_advisor.agents.calls import CreditExhaustedError
from review_advisor.change.git_diff import GitPatcher
from review_advisor.change.pull_request import Permission
from review_advisor.github.begin import Comment as SaidComment
from review_advisor.github.begin import Conversation
from review_advisor.github.publish import PublishPhase
from review_advisor.github.writer import Bot
from review_advisor.mockworld.agents import Line, approve, confirm, reject
from review_advisor.mockworld.fake_forge import FakeForge
from review_advisor.mockworld.github import WORKFLOW_ABILITIES, GitHub
from review_advisor.mockworld.github_page import Record, conversation, patches_of
from review_advisor.mockworld.github_records import CheckRun, IssueComment, Review, TimelineEntry
from review_advisor.mockworld.stage import play
from review_advisor.mockworld.story_file import read_story
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument

REPOSITORY = "acme/shop"
AUTHOR, MAINTAINER = "ada", "maria"
VOUCHERS_DO = "Customers can redeem voucher codes in the cart and see what one piece costs on average."
REFUNDS_DO = "A refund is sent up to three times when the bank times out."
STORIES = Path(__file__).resolve().parents[1] / "stories"
HIDDEN = re.compile(r"<!--.*?-->", re.DOTALL)
RULES = PublicationRules(reviewers=(MAINTAINER,))


class Story:
    """One pull request on MockWorld's GitHub, the world in which it is reviewed, and the bot that publishes."""

    def __init__(self, title: str, head: dict[str, str]) -> None:
        self.github = GitHub()
        self.github.opens_repository(REPOSITORY, BASE)
        self.github.grants(REPOSITORY, MAINTAINER, Permission.MAINTAIN)
        self.github.grants(REPOSITORY, AUTHOR, Permission.WRITE)
        self.github.workflow_token(WORKFLOW_ABILITIES | {"contents:write"})
        self.pull = self.github.opens(REPOSITORY, head, by=AUTHOR, title=title)
        self.world = MockWorld()
        forge = FakeForge(self.github, REPOSITORY, RULES.login)
        self.bot = Bot(forge=forge, clock=self.world.clock, rules=RULES)
        self.head = {**BASE, **head}

    def pushes(self, head: dict[str, str]) -> None:
        """The author pushes again."""
        self.github.pushes(self.pull, head)
        self.head |= head

    def reviewed(self, **said: tuple[Line, ...]) -> OutcomeDocument:
        """The present head is reviewed; each role says its lines."""
        self.world.checkout(self.head, BASE)
        self.world.source.stated = replace(
            self.world.source.stated,
            label=f"pr-{self.pull.number}",
            title=self.pull.title,
            author=AUTHOR,
            base_ref=self.pull.base_ref,
            base_sha=self.github.base_sha(self.pull),
            head_sha=self.pull.head_sha,
            repository=REPOSITORY,
            pull_request=self.pull.number,
        )
        for role, lines in said.items():
            self.world.agents.script(Role(role), *lines)
        document = self.world.review()
        self.world.finish()
        return document

    def publish(self, outcome: OutcomeDocument) -> None:
        """What the bot writes."""
        PublishPhase(self.bot, GitPatcher()).publish(self.pull.number, outcome, asked=False)

    def says(self, login: str, body: str) -> None:
        """Somebody comments, and the bot hears it."""
        said = self.github.comments(self.pull, by=login, body=body)
        Conversation(self.bot).hear(self.pull.number, SaidComment(said.id, login, body))

    @property
    def check(self) -> CheckRun:
        """The bot's check on the head."""
        runs = self.github.repository(REPOSITORY).checks.values()
        return next(run for run in runs if run.commit == self.pull.head_sha)

    def patch(self, path: str) -> str:
        """What GitHub shows of a file."""
        return next(file.patch or "" for file in self.github.listed_files(self.pull) if file.path == path)


@dataclass(frozen=True)
class Picture:
    """One picture: what it shows, from the top.

    ``patches`` are the diffs below which inline comments stand. ``opened``: a reader has opened what is folded.
    """

    name: str
    shown: tuple[Record, ...]
    patches: dict[str, str] = field(default_factory=dict)
    opened: bool = False

    @property
    def digest(self) -> str:
        """What tells texts from other texts; what nobody sees of them, the bot's memory, is left out."""
        seen = json.dumps([[HIDDEN.sub("", text) for text in texts(each)] for each in self.shown])
        return hashlib.sha256(seen.encode()).hexdigest()


def texts(record: Record) -> Iterator[str]:
    """Every text of a record that is in the picture."""
    match record:
        case IssueComment():
            yield from (record.author, record.body)
        case Review():
            yield from (record.author, record.body)
            for thread in record.threads:
                yield from ("resolved",) if thread.resolved_by else ()
                for each in thread.comments:
                    yield from (each.path, str(each.start_line), str(each.line), each.body)
        case CheckRun():
            yield from (record.name, record.title or "", record.conclusion or "", record.summary or "")
            for note in record.annotations:
                yield from (note.path, str(note.start_line), note.level, note.title or "", note.message)
        case TimelineEntry():
            yield from (record.by, record.text)


def _rejected() -> Story:
    story = Story("Let customers redeem vouchers", {CART: CART_AFTER})
    summary = (
        "Vouchers can be redeemed more than once, which gives goods away. The average of an empty cart raises. The "
        "rest of the change does what its description says."
    )
    story.publish(
        story.reviewed(
            executor=(
                using(
                    doing(VOUCHERS_DO, reject(TWICE, EMPTY, UNKNOWN, summary=summary)),
                    0.0713,
                    48,
                    9_412,
                    21_330,
                    1_874,
                ),
            ),
            post_verify=(using(confirm(), 0.0926, 31, 11_020, 18_112, 655),),
        )
    )
    return story


def _escalated() -> Story:
    story = Story("Try refunds again when the bank times out", {REFUNDS: REFUNDS_AFTER})
    first = vetoed(
        "trying again is bounded and therefore safe",
        "`send` may have moved the money before it timed out, and the next try moves it again.",
        "A time-out does not say whether the money went. Trying again may pay a refund twice.",
        "Give the bank one key for all tries of a refund, or look the refund up before the next try.",
    )
    second = vetoed(
        "the bank knows a refund by its order number",
        "One order may have several refunds, so the bank cannot. Nothing in the change shows that it does.",
        "The answer rests on something that the code does not show. A refund may still be paid twice.",
    )
    story.publish(
        story.reviewed(
            executor=(
                using(
                    doing(REFUNDS_DO, approve(summary="The tries are bounded, and the last failure is raised.")),
                    0.0391,
                    24,
                    6_120,
                    21_330,
                    611,
                ),
                using(
                    doing(
                        REFUNDS_DO,
                        approve(AGAIN, summary="The bank knows a refund by its order number, so trying again is safe."),
                    ),
                    0.0534,
                    33,
                    8_954,
                    21_330,
                    902,
                ),
            ),
            post_verify=(using(first, 0.0888, 29, 10_871, 18_112, 702), using(second, 0.0902, 27, 12_204, 18_112, 588)),
        )
    )
    return story


def _summary() -> Picture:
    return Picture("summary", tuple(_rejected().pull.comments))


def _inline() -> Picture:
    story = _rejected()
    (review,) = story.pull.reviews
    return Picture("inline", (replace(review, threads=review.threads[:2]),), {CART: story.patch(CART)})


def _check() -> Picture:
    return Picture("check", (_rejected().check,))


def _escalation() -> Picture:
    story = _escalated()
    label = TimelineEntry(RULES.login, f"added the {story.pull.labels[0]} label")
    asked = TimelineEntry(RULES.login, f"requested a review from {story.pull.requested_users[0]}")
    return Picture("escalation", (*story.pull.comments, label, asked))


def _did_not_run() -> Picture:
    story = _rejected()
    story.pushes({CART: CART_MENDED})
    at = story.world.clock.now() + timedelta(hours=7)
    spent = CreditExhaustedError("the account's credit is spent", resume_at=at)
    story.publish(story.reviewed(executor=(Line(stop=spent),)))
    return Picture("did-not-run", tuple(story.pull.comments))


@cache
def _after(steps: int) -> Picture:
    """The whole life of a pull request after so many of its steps."""
    story = read_story((STORIES / "whole_life.yaml").read_text(encoding="utf-8"), "whole_life.yaml")
    life = play(story.model_copy(update={"steps": story.steps[:steps]}))
    return Picture("", conversation(life.github, life.pull), patches_of(life.github, life.pull))


def _life(name: str, after: int, before: int = 0) -> Picture:
    """What a reader finds in the conversation after a step, and did not find there after an earlier one."""
    known = _after(before).shown if before else ()
    said = [list(texts(each)) for each in known]
    reviews = {each.id for each in known if isinstance(each, Review)}  # theirs change place, and say the same
    now = _after(after)
    new = (each for each in now.shown if not (isinstance(each, Review) and each.id in reviews))
    shown = tuple(each for each in new if not isinstance(each, CheckRun) and list(texts(each)) not in said)
    return replace(now, name=name, shown=shown)


FIRST_PUSH, SECOND_PUSH, MERGED = 3, 6, 10
"""The steps of the life after which its pictures are drawn."""

PICTURES: tuple[Callable[[], Picture], ...] = (
    _summary,
    _inline,
    _check,
    _escalation,
    _did_not_run,
    partial(_life, "life-rejected", FIRST_PUSH),
    partial(_life, "life-dismissed", SECOND_PUSH, FIRST_PUSH),
    partial(_life, "life-overridden", MERGED, SECOND_PUSH),
)
